"""Marker sets: tables of labels, in `sets.toml`, which is read with the first marker file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

_FILE = Path(__file__).with_suffix(".toml")
_SIDES = (("L", "LEFT"), ("R", "RIGHT"))
# Words for the outer and the inner side of a joint, and ways in which a joint is said to be meant itself.
_PLACES = {
    "outer": ("LATERAL", "LAT", "OUTER", "OUTSIDE", "OUT"),
    "inner": ("MEDIAL", "MED", "INNER", "INSIDE", "IN"),
}
_CENTERS = ("JC", "JOINT", "CENTER", "CENTRE", "JOINTCENTER", "JOINTCENTRE", "JNT")


@dataclass(frozen=True, eq=False)
class MarkerSet:
    """The labels of one marker set; `sets.toml` says how they are written.

    labels  standard name (`*` is the side's letter) -> spellings
    joints  whether its points are joint centres
    needs   standard names without which the set is not meant
    """

    name: str
    source: str
    labels: Mapping[str, tuple[str, ...]]
    joints: bool = False
    needs: frozenset[str] = frozenset()

    @cached_property
    def meanings(self) -> dict[str, str]:
        """Clean label -> standard name."""
        found: dict[str, str] = {}
        for standard, spellings in self.labels.items():
            for spelling in spellings:
                for label, meaning in _spell(standard, spelling):
                    found.setdefault(label, meaning)
        return found


@cache
def load_sets() -> tuple[MarkerSet, ...]:
    """All sets, in the order in which ties between them are broken."""
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))["set"]
    return tuple(
        MarkerSet(
            table["name"],
            table["source"],
            {
                name: tuple(s for word in words.split() for s in _expand(word))
                for name, words in table["labels"].items()
            },
            table.get("joints", False),
            frozenset(table.get("needs", "").split()),
        )
        for table in tables
    )


def _expand(words: str) -> tuple[str, ...]:
    """The spellings that a line of the file stands for: several where a place is before a word, as in {outer}KNEE."""
    found: list[str] = []
    for word in words.split():
        place, _, stem = word.rpartition("}")
        if place == "{center":
            found += [*(stem + end for end in _CENTERS), f"J*{stem}"]
        elif place:
            found += [spelling for side in _PLACES[place[1:]] for spelling in (side + stem, stem + side)]
        else:
            found.append(word)
    return tuple(found)


def _spell(standard: str, spelling: str) -> list[tuple[str, str]]:
    """Every label that a spelling stands for, with the standard name that it means."""
    if "*" not in standard:
        return [(spelling, standard)]
    out = []
    for letter, word in _SIDES:
        meaning = standard.replace("*", letter)
        if "*" in spelling:
            out.append((spelling.replace("*", letter), meaning))
        else:
            out += [(label, meaning) for label in (letter + spelling, word + spelling)]
            out += [(label, meaning) for label in (spelling + letter, spelling + word)]
    return out
