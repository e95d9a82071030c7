"""The body while it is built: the markers, what is known of its size, and the segments so far.

How a joint is found: alternatives in the order of trust, of which the first that the markers support is used.

A way names the markers that it needs and the function that makes a centre (or axes, or a whole pelvis) of them.
Adding a way to find a joint is adding a line to its table; adding a marker set is adding a table of labels
(`sets.toml`), and no code.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

MARKER_RADIUS = 0.007  # m: the usual ball of 14 mm


@dataclass(frozen=True, eq=False)
class JointFrame:
    """A joint with its segment: where it is, its axes, and its parent's joint."""

    parent: str | None
    center: np.ndarray  # (F, 3) m
    axes: np.ndarray  # (F, 3, 3) columns: the body's left, up and front as the segment carries them
    tip: np.ndarray | None = None  # (3,) m in those axes


@dataclass(eq=False)
class MarkerBody:
    """Markers (F, 3) m by standard name, what is known of the body, and what was made of them.

    stature   m, that breadths and regressions go by
    segments  role -> its joint and axes
    how       role -> how its centre was found, a few words
    """

    m: dict[str, np.ndarray]
    measures: Mapping[str, float]
    stature: float
    segments: dict[str, JointFrame] = field(default_factory=dict)
    how: dict[str, str] = field(default_factory=dict)

    def add(self, role: str, segment: JointFrame, way: JointEstimator | None = None) -> None:
        """Put a segment under its role."""
        self.segments[role] = segment
        if way is not None:
            self.how[role] = way.how

    def mean(self, *names: str) -> np.ndarray | None:
        """(F, 3) the middle of those of these markers that are there, or None."""
        there = [self.m[name] for name in names if name in self.m]
        return np.mean(there, axis=0) if there else None

    def has(self, *names: str) -> bool:
        """Whether all these markers are there."""
        return set(names) <= self.m.keys()

    def half(self, joint: str, side: str, fraction: float) -> float:
        """m from a joint's outer marker to its centre: half its measured breadth, or a fraction of the stature."""
        return 0.5 * self.measures.get(side + joint, fraction * self.stature) + MARKER_RADIUS

    def cloud(self, letter: str, stems: tuple[str, ...]) -> np.ndarray | None:
        """(F, M, 3) those of a side's markers that are there, None where they are fewer than three."""
        there = [self.m[letter + stem] for stem in stems if letter + stem in self.m]
        return np.stack(there, axis=1) if len(there) >= 3 else None


Made = TypeVar("Made")
LETTERS = {"left": "L", "right": "R"}
SIGNS = {"left": 1.0, "right": -1.0}


@dataclass(frozen=True)
class JointEstimator(Generic[Made]):
    """One way to find something.

    needs   standard names of the markers; "*" stands for the letter of the side
    make    gives it, or None where the markers are there but do not tell (a knee that never bends)
    how     a few words, for people
    """

    needs: tuple[str, ...]
    make: Callable[..., Made | None]
    how: str


def name_on(pattern: str, side: str | None) -> str:
    """A standard name for one side: `*KNE` is LKNE on the left."""
    return pattern if side is None else pattern.replace("*", LETTERS[side])


def is_supported(way: JointEstimator[Made], have: Container[str], side: str | None = None) -> bool:
    """Whether all the markers that a way needs are there."""
    return all(name_on(need, side) in have for need in way.needs)


def follow(
    ways: Iterable[JointEstimator[Made]], have: Container[str], side: str | None, *given: object
) -> tuple[Made, JointEstimator[Made]] | None:
    """What the first supported way makes of `given`, and which way that was; None where none is supported."""
    for way in ways:
        if is_supported(way, have, side):
            made = way.make(*given) if side is None else way.make(*given, side)
            if made is not None:
                return made, way
    return None
