"""Which functions of Poise the cases run.

A Python function was run if it was called. A kernel was run if Python called it, or if a kernel or law that was run
names it: what compiled code calls cannot be watched. Not counted are declarations without a body (protocols, abstract
methods, overloads).
"""

from __future__ import annotations

import ast
import json
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

# Layers that the cases leave out: they measure speed, or are pages that somebody looks at.
LEFT_OUT = ("bench", "studio")
DECLARED = ("overload", "abstractmethod")
COMPILED = ("kernel", "law", "intrinsic")
Place = tuple[str, int]
_called: set[Place] = set()
_source = ""


def watch(source: Path) -> None:
    """Note every Python function of a source folder that is called from now on, in all threads."""
    global _source
    _source = str(source)
    seen: set[Any] = set()

    def note(frame: FrameType, event: str, _arg: object) -> None:
        code = frame.f_code
        if event == "call" and code not in seen:
            seen.add(code)
            if code.co_filename.startswith(_source):
                _called.add((code.co_filename, code.co_firstlineno))

    threading.setprofile(note)
    sys.setprofile(note)


def save(path: Path) -> None:
    """Write which functions were run."""
    sys.setprofile(None)
    found = _called | _find_kernels()
    rows = sorted((str(Path(file).relative_to(_source)), line) for file, line in found if file.startswith(_source))
    path.write_text(json.dumps(rows), encoding="utf-8")


def _find_kernels() -> set[Place]:
    """Kernels and laws that Python called, and those that they name."""
    waiting = [
        function
        for name, module in list(sys.modules.items())
        if name.startswith("poise.")
        for thing in list(vars(module).values())
        if (function := _function_of(thing)) is not None and _is_called(thing)
    ]
    found: dict[Place, None] = {}
    while waiting:
        function = waiting.pop()
        place = (function.__code__.co_filename, function.__code__.co_firstlineno)
        if place in found:
            continue
        found[place] = None
        names = function.__code__.co_names
        for name in names:
            thing = function.__globals__.get(name)
            things = [getattr(thing, each, None) for each in names] if isinstance(thing, ModuleType) else [thing]
            waiting += [each for each in map(_function_of, things) if each is not None]
    return set(found)


def _function_of(thing: Any) -> Any:
    """The Python function of a kernel or law."""
    if type(thing).__module__.startswith("numba.") and hasattr(thing, "py_func"):
        return thing.py_func
    return thing.function if type(thing).__name__ == "Law" else None


def _is_called(thing: Any) -> bool:
    """Whether there is machine code of it that Python asked for."""
    return bool(getattr(thing, "overloads", None)) or "_compiled" in vars(thing)


def list_functions(source: Path) -> dict[Place, str]:
    """All functions of a source folder: (file, first line) -> `python` or `compiled`."""
    found: dict[Place, str] = {}
    for path in sorted((source / "poise").rglob("*.py")):
        name = str(path.relative_to(source))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                marks = [ast.unparse(each).split("(")[0].split(".")[-1] for each in node.decorator_list]
                if not (set(marks) & set(DECLARED) or _is_empty(node)):
                    line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                    found[name, line] = "compiled" if set(marks) & set(COMPILED) else "python"
    return found


def _is_empty(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it has nothing but a docstring or `...`."""
    return all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in node.body)


def list_functions_run(source: Path, folder: Path) -> list[str]:
    """How many functions were run, by layer, and the files with the least."""
    run = {
        (file, line) for path in folder.glob("*.json") for file, line in json.loads(path.read_text(encoding="utf-8"))
    }
    known = list_functions(source)
    counts: dict[str, Counter[str]] = {}
    for (file, line), kind in known.items():
        layer = file.split("/")[1].removesuffix(".py")
        groups = ["all", f"all {kind}", f"layer {layer}", f"file {file}"]
        groups += [] if layer in LEFT_OUT else ["counted", f"counted {kind}"]
        for group in groups:
            counts.setdefault(group, Counter()).update(all=1, run=(file, line) in run)
    lines = [f"Functions that the cases run, without {' and '.join(LEFT_OUT)}:"]
    for group in ("counted", "counted python", "counted compiled", "all"):
        name = {"counted": "all of them", "all": f"with {' and '.join(LEFT_OUT)}"}.get(group, group.split()[-1])
        lines.append(f"  {name:<24} {_share(counts[group])}")
    layers = {name: count for name, count in counts.items() if name.startswith("layer ")}
    lines += [f"  {name:<24} {_share(count)}" for name, count in sorted(layers.items(), key=lambda row: _of(row[1]))]
    files = {name[5:]: count for name, count in counts.items() if name.startswith("file ")}
    files = {name: count for name, count in files.items() if name.split("/")[1] not in LEFT_OUT}
    lines.append("Files of which the least is run:")
    rows = sorted(files.items(), key=lambda row: (_of(row[1]), -row[1]["all"]))
    lines += [f"  {name:<44} {_share(count)}" for name, count in rows if _of(count) < 0.5]
    return lines


def _of(count: Counter[str]) -> float:
    return count["run"] / count["all"]


def _share(count: Counter[str]) -> str:
    return f"{count['run']:5} of {count['all']:5}  {100.0 * _of(count):3.0f} %"
