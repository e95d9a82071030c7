"""The body while it is built: the markers, what is known of its size, and the segments so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from poise.motion.markers.ways import Way

MARKER_RADIUS = 0.007  # m: the usual ball of 14 mm


@dataclass(frozen=True, eq=False)
class PlacedJoint:
    """A joint with its segment: where it is, its axes, and its parent's joint."""

    parent: str | None
    center: np.ndarray  # (F, 3) m
    axes: np.ndarray  # (F, 3, 3) columns: the body's left, up and front as the segment carries them
    tip: np.ndarray | None = None  # (3,) m in those axes


@dataclass(eq=False)
class Cast:
    """Markers (F, 3) m by standard name, what is known of the body, and what was made of them.

    stature   m, that breadths and regressions go by
    segments  role -> its joint and axes
    how       role -> how its centre was found, a few words
    """

    m: dict[str, np.ndarray]
    measures: Mapping[str, float]
    stature: float
    segments: dict[str, PlacedJoint] = field(default_factory=dict)
    how: dict[str, str] = field(default_factory=dict)

    def add(self, role: str, segment: PlacedJoint, way: Way | None = None) -> None:
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
