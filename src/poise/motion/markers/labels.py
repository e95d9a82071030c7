"""What labels stand for: whose they are, and which marker of which set.

Labels of several sets look alike, so that a set is read as a whole: the one that explains most labels goes first, and
the others only add what it has not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from poise.motion.markers.sets import MarkerSet, load_sets

_PELVIS = ("LASI", "RASI", "LPSI", "RPSI", "SACR")
_LONGEST = 200  # letters of a label with a name in it
_FEWEST = 3  # labels that make a prefix a person's
_SIDE_WORDS = {"L", "R", "LEFT", "RIGHT"}
_MARKS = "_.- "


def clean_label(label: str) -> str:
    """A label without its subject's prefix, blanks and marks, in capitals: `Takeo:L_Knee` to LKNEE."""
    return "".join(c for c in label.rpartition(":")[2].upper() if c.isalnum())


def find_markers(labels: Sequence[str], seen: Sequence[float] | None = None) -> dict[str, int]:
    """Standard name -> index of the label that means it. Each label means one marker; exact names win over others.

    seen  how often each label's point was seen, 0 to 1: of two labels with one meaning the more often seen wins
    """
    cleaned = [clean_label(label) for label in labels]
    order = range(len(labels)) if seen is None else sorted(range(len(labels)), key=lambda i: -seen[i])
    found: dict[str, int] = {}
    for table in _rank_sets(cleaned):
        meanings, taken = table.meanings, set(found.values())
        for exact in (True, False):
            for i in order:
                marker = meanings.get(cleaned[i])
                if marker is not None and (cleaned[i] == marker) == exact and i not in taken and marker not in found:
                    found[marker] = i
                    taken.add(i)
    return found


def _rank_sets(cleaned: Sequence[str]) -> list[MarkerSet]:
    """The sets that may be meant, the likeliest first. Keypoints stand for joints only where no pelvis has spines."""
    on_skin = sorted(
        (table for table in load_sets() if not table.joints), key=lambda table: -len(_explain(table, cleaned))
    )
    spines = {marker for table in on_skin for marker in _explain(table, cleaned)} & set(_PELVIS)
    joints = [table for table in load_sets() if table.joints and not table.needs]
    unsaid = [table for table in load_sets() if table.needs and table.needs <= _explain(table, cleaned)]
    if unsaid and not spines:
        return [*joints, *unsaid, *on_skin]
    return [*on_skin, *joints]


def _explain(table: MarkerSet, cleaned: Iterable[str]) -> set[str]:
    return {table.meanings[label] for label in cleaned if label in table.meanings}


@cache
def _vocabulary() -> frozenset[str]:
    return frozenset(label for table in load_sets() for label in table.meanings)


def split_subjects(labels: Sequence[str], stated: Iterable[str] = ()) -> list[tuple[str, str]]:
    """(subject, label without it) for every label: `Ada:LASI` and `Ada_LASI` are Ada's.

    A colon always ends a subject. Another mark does where at least three labels have the same words before it and a
    known marker after it, and are not known as they stand. stated: prefixes that the file itself names.
    """
    known = _vocabulary()
    prefixes = {word for word in stated if word and not word.endswith(":")}
    votes: Counter[str] = Counter()
    for label in labels:
        if ":" not in label and len(label) <= _LONGEST and clean_label(label) not in known:
            votes.update(
                label[: i + 1]
                for i, mark in enumerate(label)
                if mark in _MARKS and label[:i].upper() not in _SIDE_WORDS and clean_label(label[i + 1 :]) in known
            )
    prefixes |= {prefix for prefix, count in votes.items() if count >= _FEWEST}
    ordered = sorted(prefixes, key=lambda prefix: -len(prefix))
    split = []
    for label in labels:
        if ":" in label:
            subject, _, bare = label.rpartition(":")
        else:
            prefix = next((p for p in ordered if label.startswith(p) and len(label) > len(p)), "")
            subject, bare = prefix.rstrip(_MARKS), label[len(prefix) :]
        split.append((subject, bare))
    return split if ":" in "".join(labels) else _join_segments(split)


def _join_segments(split: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same with one subject where several prefixes never name one marker twice: they are segments, not people."""
    groups: dict[str, set[str]] = {}
    for subject, bare in split:
        groups.setdefault(subject, set()).add(clean_label(bare))
    groups.pop("", None)
    if len(groups) < 2 or sum(map(len, groups.values())) > len(set().union(*groups.values())):
        return split
    return [("", bare) for _, bare in split]


def share_seen(positions: np.ndarray) -> np.ndarray:
    """(M,) the share of frames in which each of (F, M, 3) was seen."""
    return np.asarray(np.isfinite(positions).all(axis=-1).mean(axis=0))
