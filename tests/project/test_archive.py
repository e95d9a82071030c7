"""The source archive has all that a clone has: whoever unpacks it can run its tests, make its docs and build it."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def kept() -> set[str]:
    """What lies in the project's folder and is not made there: no output, no environment, no history."""
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split()]
    made = [*ignored, ".git", "PKG-INFO", "pyproject.toml"]
    return {path.name for path in ROOT.iterdir() if not any(fnmatch.fnmatch(path.name, each) for each in made)}


def included() -> set[str]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {name.strip("/") for name in table["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}


def test_the_archive_has_all_that_is_kept() -> None:
    assert included() >= kept() - {".editorconfig", ".gitattributes", ".github", ".idea", ".vscode"}
    assert all((ROOT / name).exists() for name in included())


@pytest.mark.parametrize("file", ["Makefile", ".ci/run"])
def test_what_is_built_with_needs_only_what_is_there(file: str) -> None:
    """Files of the project's own folder that the Makefile and the checks name."""
    text = (ROOT / file).read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w./$-])((?:tests/(?:\w+/)*)?[\w.-]+\.(?:toml|txt|md|py))\b", text))
    assert {"Makefile": "constraints.txt", ".ci/run": "tests/project/test_external.py"}[file] in named
    for name in named:
        assert (ROOT / name).exists(), name
        assert name.split("/")[0] in included() | {"pyproject.toml"}
