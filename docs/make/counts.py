"""Counts the code: how long files, functions and classes are, which names mean two things, and who imports whom.

    .venv/bin/python docs/make/counts.py [FOLDER]

FOLDER is a checkout; this one if not given. Sources are read and never run. Public names have no leading underscore. A
cycle is a set of modules each of which reaches every other one by imports that are written in it: those of the module
itself, then with those inside functions, then with those for type checkers too. That importing a module runs the
`__init__` of its package does not count. A name is used where it is read, imported (by other than an `__init__`) or
given as `module:name`; whether it is the same one is not looked at, so a name that is listed as not used surely is not.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

MOST = 10  # of the longest
PACKAGE = "poise"
NOW, LATE, TYPES = "by their modules alone", "with late imports", "with imports for types too"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """A file of source.

    name     dotted; a package's own is the package's
    imports  when (NOW, LATE or TYPES) -> dotted names, which may be of things in modules
    used     identifiers that it reads or imports, and names of the form `module:name`
    """

    name: str
    path: Path
    tree: ast.Module
    lines: int
    imports: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    used: set[str] = field(default_factory=set)

    @property
    def is_package(self) -> bool:
        """Whether it is an `__init__`."""
        return self.path.name == "__init__.py"


def read_modules(folder: Path, base: Path) -> list[Module]:
    """All modules below a folder, named from `base` on."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(base).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        module = Module(name, path, ast.parse(text), len(text.splitlines()))
        visit(module, module.tree, NOW)
        found.append(module)
    return found


def visit(module: Module, node: ast.AST, when: str) -> None:
    """Note the imports and uses below a node."""
    for child in ast.iter_child_nodes(node):
        inner = when
        if isinstance(child, Function | ast.Lambda) and when == NOW:
            inner = LATE
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            inner = TYPES
        if isinstance(child, ast.Import | ast.ImportFrom):
            note_import(module, child, when)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
            module.used.add(child.id)
        elif isinstance(child, ast.Attribute):
            module.used.add(child.attr)
        elif isinstance(child, ast.Constant) and isinstance(child.value, str) and child.value.startswith(PACKAGE + "."):
            module.used.update(child.value.split(":"))
        visit(module, child, inner)


def note_import(module: Module, node: ast.Import | ast.ImportFrom, when: str) -> None:
    """Note one import."""
    if isinstance(node, ast.Import):
        module.imports[when].update(alias.name for alias in node.names)
        return
    parts = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    base = ".".join(parts[: len(parts) + 1 - node.level]) if node.level else ""
    source = ".".join(filter(None, (base, node.module)))
    module.imports[when].update(f"{source}.{alias.name}" for alias in node.names)
    if not module.is_package:
        module.used.update(alias.name for alias in node.names)


def list_functions(modules: Iterable[Module]) -> Iterator[tuple[Module, Function]]:
    """All functions and methods, inner ones too."""
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, Function):
                yield module, node


def count_lines(node: Function | ast.ClassDef) -> int:
    """From `def` or `class` to its last line; decorators do not count."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def count_size(title: str, modules: list[Module]) -> list[str]:
    """Files, lines and their medians."""
    functions = [count_lines(node) for _, node in list_functions(modules)]
    return [
        f"{title}: {sum(m.lines for m in modules)} lines in {len(modules)} files; the median file has "
        f"{statistics.median(m.lines for m in modules):g} lines, the median of {len(functions)} functions "
        f"{statistics.median(functions):g}"
    ]


def list_longest(modules: list[Module]) -> list[str]:
    """The longest functions and classes."""
    functions = sorted(list_functions(modules), key=lambda pair: -count_lines(pair[1]))[:MOST]
    classes = [(m, node) for m in modules for node in ast.walk(m.tree) if isinstance(node, ast.ClassDef)]
    classes = sorted(classes, key=lambda pair: -count_lines(pair[1]))[:MOST]
    arguments = sorted(list_functions(modules), key=lambda pair: -count_arguments(pair[1]))[:MOST]
    return [
        "longest functions (lines):",
        *(f"  {count_lines(node):4d}  {m.name}.{node.name}" for m, node in functions),
        "longest classes (lines, methods):",
        *(f"  {count_lines(node):4d} {count_methods(node):3d}  {m.name}.{node.name}" for m, node in classes),
        "most arguments:",
        *(f"  {count_arguments(node):4d}  {m.name}.{node.name}" for m, node in arguments),
    ]


def count_methods(node: ast.ClassDef) -> int:
    """Functions of a class's own, properties too."""
    return sum(isinstance(child, Function) for child in node.body)


def count_arguments(node: Function) -> int:
    """All that a function takes."""
    return len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])


def list_public(module: Module) -> Iterator[Function | ast.ClassDef]:
    """A module's own public classes and functions; of overloads the last."""
    found = {node.name: node for node in module.tree.body if isinstance(node, Function | ast.ClassDef)}
    return (node for name, node in found.items() if not name.startswith("_"))


def list_shared(title: str, found: Mapping[str, list[str]]) -> list[str]:
    """Names that stand for more than one thing, with where each is."""
    shared = {name: sorted(set(places)) for name, places in sorted(found.items()) if len(set(places)) > 1}
    return [f"{title}: {len(shared)}", *(f"  {name}: {', '.join(places)}" for name, places in shared.items())]


def list_collisions(modules: list[Module]) -> list[str]:
    """Names of classes, functions and modules that are used twice."""
    classes, functions, names = (defaultdict[str, list[str]](list) for _ in range(3))
    for module in modules:
        for node in list_public(module):
            (classes if isinstance(node, ast.ClassDef) else functions)[node.name].append(module.name)
        if not module.path.stem.startswith("__"):
            package, _, last = module.name.rpartition(".")
            names[last].append(package)
    return [
        *list_shared("classes of one name in more than one module", classes),
        *list_shared("functions of one name in more than one module", functions),
        *list_shared("modules of one name in more than one package", names),
    ]


def build_graph(modules: list[Module], kinds: Iterable[str]) -> dict[str, set[str]]:
    """Who imports whom, of these modules."""
    known = {module.name for module in modules}
    graph: dict[str, set[str]] = {}
    for module in modules:
        asked = {name for kind in kinds for name in module.imports[kind]}
        ends = {name if name in known else name.rpartition(".")[0] for name in asked}
        graph[module.name] = (ends & known) - {module.name}
    return graph


def find_cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Sets of modules that reach one another."""
    reached = {start: reach(graph, start) for start in graph}
    cycles = {frozenset(b for b in reached[a] if a in reached[b]) for a in graph if a in reached[a]}
    return sorted(sorted(cycle) for cycle in cycles)


def reach(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """All that can be come to from a module; itself only where a way leads back."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph[name]
    return found


def list_cycles(modules: list[Module]) -> list[str]:
    """Import cycles, as more and more imports count."""
    lines = []
    for kinds in ((NOW,), (NOW, LATE), (NOW, LATE, TYPES)):
        cycles = find_cycles(build_graph(modules, kinds))
        lines.append(f"import cycles {kinds[-1]}: {len(cycles)}, of {sum(map(len, cycles))} modules")
        lines += [f"  {', '.join(cycle)}" for cycle in cycles]
    return lines


def list_unused(modules: list[Module], tests: list[Module]) -> list[str]:
    """Public names that only tests use, module by module, and those that nobody uses."""
    inside = {name for module in modules for name in module.used} | find_exports(modules)
    outside = {name for module in tests for name in module.used}
    tested, dead, whole = [], [], []
    for module in modules:
        names = [node.name for node in list_public(module)]
        unused = [name for name in names if name not in inside]
        some = [name for name in unused if name in outside]
        if some:
            tested.append(f"  {module.name}: {', '.join(some)}")
        if some and len(unused) == len(names):
            whole.append(f"  {module.name}")
        dead += [f"  {module.name}.{name}" for name in unused if name not in outside]
    graph = build_graph(modules, (NOW, LATE, TYPES))
    imported = {end for ends in graph.values() for end in ends} | inside
    by_tests = {start for test in tests for names in test.imports.values() for name in names for start in heads(name)}
    alone = [
        f"  {m.name}{' (tests do)' if m.name in by_tests else ''}"
        for m in modules
        if m.name not in imported and not m.path.stem.startswith("__")
    ]
    return [
        f"modules whose public names only tests use: {len(whole)}", *whole,
        f"modules that no other one imports or names: {len(alone)}", *alone,
        f"modules with public names that only tests use: {len(tested)}", *tested,
        f"public names that nobody uses: {len(dead)}", *dead,
    ]  # fmt: skip


def heads(name: str) -> tuple[str, str]:
    """A dotted name, and what it is in."""
    return name, name.rpartition(".")[0]


def find_exports(modules: list[Module]) -> set[str]:
    """What the package itself offers: its `__all__`."""
    for module in modules:
        for node in module.tree.body if module.name == PACKAGE else ():
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return set(ast.literal_eval(node.value))
    return set()


def main() -> None:
    """Print the counts of a checkout."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2]
    source = read_modules(folder / "src" / PACKAGE, folder / "src")
    tests = read_modules(folder / "tests", folder)
    for lines in (
        count_size("src", source) + count_size("tests", tests),
        list_longest(source),
        list_collisions(source),
        list_cycles(source),
        list_unused(source, tests),
    ):
        print("\n".join(lines), end="\n\n")


if __name__ == "__main__":
    main()
