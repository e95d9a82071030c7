"""What the documents say is there: links, features, commands, quotations, and every file and name of Python."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import io
import re
import shlex
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import poise
from poise.cli.commands import COMMANDS
from poise.demos import DEMOS

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/**/*.md")]
FEATURES = [
    *(f"W{i}" for i in range(1, 17)),
    *(f"O{i}" for i in range(1, 10)),
    *(f"M{i}" for i in range(1, 10)),
    *(f"Z{i}" for i in range(1, 11)),
    *(f"K{i}" for i in range(1, 12)),
    "K4b",
]


def read(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def anchor(heading: str) -> str:
    """A heading's address, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.relative_to(ROOT).as_posix())
def test_links_resolve(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", read(document)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        place = (document.parent / path).resolve() if path else document
        assert place.exists(), f"{document.name} links to {target}, which is not there"
        if fragment:
            headings = re.findall(r"^#+ (.+)$", read(place), re.MULTILINE)
            assert fragment in map(anchor, headings), f"{document.name} links to {target}: no such heading"


def test_every_document_is_reachable_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        document = waiting.pop()
        if document in reached:
            continue
        reached.add(document)
        links = re.findall(r"\]\(([^)#\s]+\.md)", read(document))
        waiting += [(document.parent / link).resolve() for link in links if ":" not in link]
    lost = {d for d in DOCUMENTS if d.parent.name != "decisions"} - reached
    assert not lost, f"no link leads to {sorted(d.name for d in lost)}"


def rows() -> dict[str, list[str]]:
    """id -> the other cells of its row in docs/papers.md."""
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in read(ROOT / "docs/papers.md").splitlines()]
    return {row[0]: row[1:] for row in cells if row[0] in FEATURES and len(row) == 6}


def test_every_feature_has_one_row_in_order() -> None:
    assert sorted(rows(), key=list(rows()).index) == list(rows())
    assert set(rows()) == set(FEATURES)
    text = read(ROOT / "docs/papers.md")
    assert all(len(re.findall(rf"^\| {feature} \|", text, re.MULTILINE)) == 1 for feature in FEATURES)


@pytest.mark.parametrize("feature", FEATURES)
def test_what_a_feature_claims_is_there(feature: str) -> None:
    _, code, test, demo, state = rows()[feature]
    assert re.match(r"(works$|partly: .+|not yet)", state), f"{feature}: {state}"
    for cell, folder in ((code, ROOT / "src/poise"), (test, ROOT / "tests")):
        names = re.findall(r"`([^`]+)`", cell)
        assert len(names) == len(set(names)), f"{feature} names a file twice"
        for name in names:
            assert (folder / name).exists(), f"{feature} names {name}, which is not there"
    for name in re.findall(r"`([^`]+)`", demo):
        assert name in DEMOS, f"{feature} names the demo {name}, which is not there"
    if not state.startswith("not yet"):
        assert code and test, f"{feature} is said to work: name its code and its test"


def commands() -> list[str]:
    """Every `poise ...` in a block of commands of the README."""
    blocks = re.findall(r"^```\n(.*?)^```", read(ROOT / "README.md"), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [m.group(1).split("#")[0].strip() for line in lines if (m := re.match(r"\S*poise (.+)", line))]


@pytest.mark.parametrize("command", commands())
def test_the_readme_shows_commands_that_parse(command: str) -> None:
    from poise.cli.parser import build_app

    words = shlex.split(command)
    assert words[0] in COMMANDS
    build_app().parse_args(words, print_error=False, exit_on_error=False)


def test_the_readme_has_commands() -> None:
    assert len(commands()) >= 4


def test_the_page_of_mixes_lists_what_is_called_otherwise_in_python() -> None:
    from poise.cli.console import Report
    from poise.jobs.mix.job import MixOptions
    from poise.options import list_options

    words = {each.flag.strip("-").replace("-", "_") for each in list_options(MixOptions).values() if each.flag}
    words |= {*Report.__dataclass_fields__, "clip"}
    python = set(inspect.signature(poise.mix).parameters)
    table = re.search(
        r"^\| command \| Python \| recipe \|\n(.*?)\n\n", read(ROOT / "docs/mix.md"), re.MULTILINE | re.DOTALL
    )
    assert table is not None
    rows = [line.strip("|").split("|") for line in table[1].splitlines()[1:]]
    listed = {word.replace("-", "_") for row in rows for word in re.findall(r"`--([\w-]+)`", row[0])}
    assert words - python <= listed <= words
    renamed = {word for row in rows for word in re.findall(r"`(\w+)`", row[1])}
    assert python - words <= renamed <= python | {"figures", "notes", "warnings"}


def test_the_readme_names_what_the_package_has() -> None:
    for name in re.findall(r"\bpoise\.([A-Za-z_]+)\(", read(ROOT / "README.md")):
        assert callable(getattr(poise, name))


def test_make_has_the_targets_that_are_named() -> None:
    targets = set(re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    for document in DOCUMENTS:
        named = set(re.findall(r"\bmake (?!CONSTRAINTS)([a-z-]+)\b(?=[`\s]*(?:#|`|$))", read(document), re.MULTILINE))
        assert named <= targets, f"{document.name} names {named - targets}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.relative_to(ROOT).as_posix())
def test_documents_name_no_folder_outside_the_project(document: Path) -> None:
    assert "../shared" not in read(document)
    assert not re.search(r"(?<![\w.])/(home|root|work|Users)/", read(document))


# Paths and names.

PACKAGE = ROOT / "src" / "poise"
SETTINGS = [ROOT / ".ci" / "run", ROOT / "Makefile", ROOT / "pyproject.toml"]
# Decisions and the changelog tell what was, some of it by the names that it had.
HISTORY = {ROOT / "CHANGELOG.md", *ROOT.glob("docs/decisions/*.md")}
# A path from the root of the project, whole; a path of a module below src/poise, in code.
FROM_ROOT = re.compile(r"(?<![\w./-])((?:src|tests|docs)/[\w./*-]*[\w*])")
OF_A_MODULE = re.compile(r"`([a-z_0-9]+(?:/[a-z_0-9]+)*\.py)(?::(\w+))?`")


@cache
def tracked() -> frozenset[str]:
    """Every file of the project, and every folder that has one."""
    try:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        files = listed.splitlines()
    except (OSError, subprocess.CalledProcessError):  # a copy without Git
        files = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file()]
    there = {file for file in files if (ROOT / file).exists()}
    return frozenset({*there, *(parent.as_posix() for file in there for parent in Path(file).parents)})


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of a document; of a module its strings and comments, docstrings among them."""
    source = read(path)
    if path.suffix != ".py":
        yield from enumerate(source.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield from enumerate(token.string.splitlines(), token.start[0])


def is_path(name: str) -> bool:
    """Whether a path from the root is there; one with a star, or with NAME for any name, stands for at least one."""
    name = name.replace("NAME", "*")
    if "*" in name:
        return any(ROOT.glob(name))
    return name.rstrip("/.") in tracked() or (ROOT / name).exists()


def find_lost_paths(path: Path) -> list[str]:
    """Paths from the root that a file names and that are not there."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for line, text in texts(path)
        for name in FROM_ROOT.findall(re.sub(r"https?://\S+", "", text))
        if not is_path(name)
    ]


def find_lost_modules(path: Path) -> list[str]:
    """Modules in code that are not there, or that lack the name after a colon.

    They are below src/poise, beside the file, or anywhere if a document names no folder.
    """
    lost = []
    for line, text in texts(path):
        for name, attribute in OF_A_MODULE.findall(text):
            places = [PACKAGE / name, path.parent / name, ROOT / name, ROOT / "tests" / name]
            if path.suffix == ".md" and "/" not in name:
                places += PACKAGE.rglob(name)
            place = next((each for each in places if each.is_file()), None)
            if place is None or (attribute and not re.search(rf"\b{attribute}\b", read(place))):
                lost.append(f"{path.relative_to(ROOT)}:{line}: {name}{attribute and ':' + attribute}")
    return lost


def list_sources(*folders: str) -> list[Path]:
    """The modules of the project below some folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def test_every_path_that_is_named_is_there() -> None:
    """In documents, settings, and the strings and comments of modules. Tests may name paths that they make."""
    named = [*(set(DOCUMENTS) - HISTORY), *SETTINGS, *list_sources("src", "docs")]
    assert [lost for path in sorted(named) for lost in find_lost_paths(path)] == []


def test_every_module_that_is_named_in_code_is_there() -> None:
    named = [*(set(DOCUMENTS) - HISTORY), *list_sources("src")]
    lost = [each for path in sorted(named) for each in find_lost_modules(path)]
    assert not lost, f"no such files (paths count from src/poise, or from the folder of the file): {lost}"


def test_a_lost_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("see src/poise/gone.py and `errors.py` and `gone/away.py` and `errors.py:Gone`", encoding="utf-8")
    assert [each.split(": ")[1] for each in find_lost_paths(page)] == ["src/poise/gone.py"]
    assert [each.split(": ")[1] for each in find_lost_modules(page)] == ["gone/away.py", "errors.py:Gone"]


def find(name: str) -> object:
    """What a dotted name of Poise means; raises where it means nothing."""
    found: object = poise
    for k, part in enumerate(name.split(".")[1:], 2):
        if isinstance(found, ModuleType) and not hasattr(found, part):
            found = importlib.import_module(".".join(name.split(".")[:k]))
        else:
            found = getattr(found, part)
    return found


def list_names(document: Path) -> set[str]:
    """Dotted names of Poise in a document: as they stand, and what blocks of Python import."""
    text = read(document)
    names = set(re.findall(r"(?<![\w.\[-])(poise(?:\.[A-Za-z_]\w*)+)(?![\w/])", text))
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in re.findall(r"^ *(from poise[\w.]* import [\w, ]+)", block, re.MULTILINE):
            node = ast.parse(line.strip()).body[0]
            assert isinstance(node, ast.ImportFrom)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("document", sorted(set(DOCUMENTS) - HISTORY), ids=lambda d: d.relative_to(ROOT).as_posix())
def test_every_name_of_python_is_there(document: Path) -> None:
    # `poise.plugins` is a group of entry points
    lost = []
    for name in sorted(list_names(document) - {"poise.plugins"}):
        try:
            find(name)
        except (AttributeError, ImportError):
            lost.append(name)
    assert not lost, f"{document.name} names {lost}, which Poise does not have"


def test_every_dotted_name_in_code_is_there() -> None:
    """Names in code that begin with a layer, as `motion.edits.blend`; `body` and `stage` are variables, too."""
    layers = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - {"body", "stage"}
    lost = []
    for path in sorted([*(set(DOCUMENTS) - HISTORY), *list_sources("src")]):
        for line, text in texts(path):
            for name in re.findall(rf"`((?:{'|'.join(sorted(layers))})(?:\.\w+)+)`", text):
                try:
                    if not name.endswith(".py"):
                        find(f"poise.{name}")
                except (AttributeError, ImportError):
                    lost.append(f"{path.relative_to(ROOT)}:{line}: {name}")
    assert not lost


# Quotations.


def list_quotations() -> list[tuple[str, list[str]]]:
    """(file, lines) of every piece of source in docs/tour.md; the file is the one that was linked last before it."""
    pieces, file = [], ""
    for link, block in re.findall(
        r"\]\(\.\./(src/[^)]+\.py)\)|^```python\n(.*?)^```", read(ROOT / "docs/tour.md"), re.MULTILINE | re.DOTALL
    ):
        file = link or file
        pieces += [
            (file, piece.strip("\n").splitlines()) for piece in re.split(r"^ *\.\.\.,?\n", block, flags=re.M) if piece
        ]
    return pieces


def stands_in(lines: list[str], source: str) -> bool:
    """Whether lines follow one another in a source, at any depth of indentation."""
    stripped, there = [line.strip() for line in lines], [line.strip() for line in source.splitlines()]
    return any(there[k : k + len(stripped)] == stripped for k in range(len(there)))


def test_the_tour_quotes_the_source_as_it_is() -> None:
    quotations = list_quotations()
    assert len({file for file, _ in quotations}) >= 12
    wrong = [(file, lines[0]) for file, lines in quotations if not stands_in(lines, read(ROOT / file))]
    assert not wrong, f"docs/tour.md quotes what does not stand there: {wrong}"


def test_a_wrong_quotation_is_found() -> None:
    assert stands_in(["if a:", "    b = 1"], "def f():\n    if a:\n        b = 1\n")
    assert not stands_in(["if a:", "    b = 1"], "def f():\n    if a:\n        b = 2\n")


# Pictures of the house.


@cache
def load_house() -> ModuleType:
    """`docs/make/house.py`, which draws them."""
    spec = importlib.util.spec_from_file_location("house", ROOT / "docs/make/house.py")
    assert spec is not None and spec.loader is not None
    house = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(house)
    return house


def test_the_pictures_of_the_house_are_as_they_are_drawn() -> None:
    house = load_house()
    assert read(ROOT / "docs/pictures/layers.svg") == house.draw_layers()
    assert read(ROOT / "docs/pictures/step.svg") == house.draw_step()


def test_the_picture_of_the_layers_has_their_order() -> None:
    from test_layers import RANK

    drawn = [name for _, names, _ in reversed(load_house().LAYERS) for name in names]
    assert sorted(drawn, key=lambda name: RANK[name]) == drawn and set(drawn) == set(RANK)


def test_the_picture_of_the_step_has_the_order_of_the_list() -> None:
    from poise.stage.step.step import list_step

    source = inspect.getsource(list_step).partition('"""')[2].partition('"""')[2]
    found = [re.search(rf"(?:Call\(|= |\*){re.escape(name)}[(,]", source) for name, _, _ in load_house().STEP]
    assert all(found)
    places = [match.start() for match in found if match is not None]
    assert sorted(places) == places
    listed = set(re.findall(r"(?:\+= |\*)(_\w+)\(|Call\((laws\.\w+|couple)", source))
    assert {one or other for one, other in listed} == {name for name, _, _ in load_house().STEP}
