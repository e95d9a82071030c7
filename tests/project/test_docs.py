"""What the documents say is there: links, features, commands, and the files that a table names."""

from __future__ import annotations

import inspect
import re
import shlex
from pathlib import Path

import pytest

import poise
from poise.cli.commands import COMMANDS
from poise.demos import DEMOS

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
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
        for name in re.findall(r"`([^`]+)`", cell):
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
