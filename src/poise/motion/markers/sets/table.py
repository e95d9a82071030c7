"""What a table of labels is, and how labels are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

_SIDES = (("L", "LEFT"), ("R", "RIGHT"))


@dataclass(frozen=True, eq=False)
class MarkerSet:
    """The labels of one marker set.

    name    as people call it
    source  where its labels are published
    labels  standard name (`*` is the side's letter) -> labels as `clean_label` gives them. In a label `*` is the side's
            letter; a label of a sided marker without one may have L, R, LEFT or RIGHT before or after it
    """

    name: str
    source: str
    labels: Mapping[str, tuple[str, ...]]
    only_with: frozenset[str] = field(default_factory=frozenset)  # standard names without which the set is not meant

    @cached_property
    def meanings(self) -> dict[str, str]:
        """Clean label -> standard name."""
        found: dict[str, str] = {}
        for standard, spellings in self.labels.items():
            for spelling in spellings:
                for label, meaning in _spell(standard, spelling):
                    found.setdefault(label, meaning)
        return found


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


def clean_label(label: str) -> str:
    """A label without its subject's prefix, blanks and marks, in capitals: `Takeo:L_Knee` to LKNEE."""
    return "".join(c for c in label.rpartition(":")[2].upper() if c.isalnum())
