"""Where a point is to be over time, and how what is there is to be turned: a path of one's own.   [strength, O3]

Splines through the samples, smooth in acceleration; before the first sample and after the last one it stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from poise.errors import InputError
from poise.frozen import Portable
from poise.spatial import rotation

MOST_SAMPLES = 1_000_000
FARTHEST = 1e4  # m


class PathPoint(NamedTuple):
    """A path at one time: place (3,) m, turn (4,), velocity (3,) m/s and spin (3,) rad/s, all in the world."""

    place: np.ndarray
    turn: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray


@dataclass(frozen=True, eq=False)
class PointPath(Portable):
    """Samples of a path.

    times   (F,) s, increasing
    places  (F, 3) m, in the world
    turns   (F, 4) in the world, of the joint that goes there; None: it is led by its place alone
    """

    times: np.ndarray
    places: np.ndarray
    turns: np.ndarray | None = None

    def __post_init__(self) -> None:
        times, places = np.array(self.times, float), np.array(self.places, float)
        if times.ndim != 1 or not 1 <= len(times) <= MOST_SAMPLES:
            raise InputError(f"a path has 1 to {MOST_SAMPLES} times; {np.shape(self.times)} given.")
        if places.shape != (len(times), 3):
            raise InputError(f"a path of {len(times)} times has as many places of 3 numbers; {places.shape} given.")
        if not (np.isfinite(times).all() and np.isfinite(places).all() and np.abs(places).max() <= FARTHEST):
            raise InputError(f"times and places of a path must be finite, and within {FARTHEST:g} m.")
        if np.any(np.diff(times) <= 0.0):
            k = int(np.argmax(np.diff(times) <= 0.0)) + 1
            raise InputError(f"times of a path must increase; {times[k]:g} s comes after {times[k - 1]:g} s.")
        fields: dict[str, Any] = {"times": times, "places": places}
        if self.turns is not None:
            turns = np.array(self.turns, float)
            sizes = np.linalg.norm(turns, axis=-1) if turns.shape == (len(times), 4) else np.zeros(1)
            if not (np.isfinite(sizes).all() and sizes.min() > 1e-6):
                raise InputError("turns of a path are quaternions w, x, y, z, one a time, none of them zero.")
            fields["turns"] = rotation.make_continuous(turns / sizes[:, None])
        for name, array in fields.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @cached_property
    def _curves(self) -> tuple[Any, Any]:
        """The spline through places and turns, and its derivative; None each where there is one sample."""
        from scipy.interpolate import CubicSpline

        if len(self.times) == 1:
            return None, None
        columns = self.places if self.turns is None else np.concatenate([self.places, self.turns], axis=1)
        curve = CubicSpline(self.times, columns, bc_type="natural" if len(self.times) < 4 else "not-a-knot")
        return curve, curve.derivative()

    def at(self, t: float) -> PathPoint:
        """Where it is at a time (s)."""
        curve, slope = self._curves
        inside = min(max(t, float(self.times[0])), float(self.times[-1]))
        value = self._first if curve is None else curve(inside)
        rate = np.zeros_like(value) if slope is None or inside != t else slope(inside)
        turn, spin = rotation.identity(), np.zeros(3)
        if self.turns is not None:
            q = value[3:] / np.linalg.norm(value[3:])
            # of a quaternion that is not normalised, what changes its length turns nothing
            spin = 2.0 * rotation.multiply(rate[3:], rotation.conjugate(q))[1:] / np.linalg.norm(value[3:])
            turn = q
        return PathPoint(value[:3].copy(), turn, rate[:3].copy(), spin)

    @property
    def _first(self) -> np.ndarray:
        if self.turns is None:
            return np.asarray(self.places[0])
        return np.concatenate([self.places[0], self.turns[0]])

    def shifted(self, seconds: float) -> PointPath:
        """The same, later."""
        return PointPath(self.times + seconds, self.places, self.turns)
