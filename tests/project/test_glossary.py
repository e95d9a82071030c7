"""The glossary: it has every public class, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import poise

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
][1:]


def test_every_public_class_has_a_row() -> None:
    classes = {name for home in (poise, poise.extend) for name in home.__all__ if isinstance(getattr(home, name), type)}
    assert classes
    missing = classes - {name for row in ROWS for name in re.findall(r"`(\w+)`", row[0])}
    assert not missing, f"docs/glossary.md has no row for {sorted(missing)}"


def test_each_row_is_true() -> None:
    """Its class is in its file, or in its folder's."""
    for word, what, where in ROWS:
        place = ROOT / "src" / "poise" / where.strip("`")
        assert place.exists(), f"{word} is said to be in {where}"
        for name in re.findall(r"`(\w+)`", word) if place.is_file() else ():
            assert re.search(rf"^class {name}\b", place.read_text(encoding="utf-8"), re.MULTILINE), (
                f"{where}: no {name}"
            )
        assert what


def test_no_word_is_there_twice() -> None:
    words = [re.sub(r" `.*", "", row[0]) for row in ROWS]
    assert len(words) == len(set(words))
