"""Axes of segments from directions: what every part of the body that is built from markers shares."""

from __future__ import annotations

import numpy as np

_BENT = np.sin(np.radians(15.0))
_FEWEST_BENT = 10  # frames


def into(axes: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (F, 3) in axes (F, 3, 3) whose columns are given in the world."""
    return np.asarray(np.einsum("fij,fi->fj", axes, vectors))


def unit(v: np.ndarray) -> np.ndarray:
    """(F, 3) directions; a vector of no length takes its neighbours' place by the caller's weights, and is 0 here."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.asarray(v / np.where(length > 1e-9, length, 1.0))


def across(v: np.ndarray, along: np.ndarray) -> np.ndarray:
    """(F, 3) unit: the part of v that is normal to `along`."""
    d = unit(along)
    return unit(v - np.sum(v * d, axis=-1, keepdims=True) * d)


def axes_from(
    first: str, x: np.ndarray | None = None, y: np.ndarray | None = None, z: np.ndarray | None = None
) -> np.ndarray:
    """(F, 3, 3) columns left, up, front from two of the three directions; the `first` is kept as it is.

    Where two directions are parallel the axes are undefined; those frames take the nearest before or after them.
    """
    given = {key: value for key, value in (("x", x), ("y", y), ("z", z)) if value is not None}
    main = unit(given.pop(first))
    ((second, direction),) = given.items()
    other = across(direction, main)
    columns = {first: main, second: other}
    (third,) = {"x", "y", "z"} - set(columns)
    before, after = {"x": ("y", "z"), "y": ("z", "x"), "z": ("x", "y")}[third]
    columns[third] = np.cross(columns[before], columns[after])
    axes = np.stack([columns["x"], columns["y"], columns["z"]], axis=-1)
    good = np.abs(np.linalg.det(axes) - 1.0) < 1e-6
    return axes if good.all() else axes[_nearest(good)] if good.any() else np.tile(np.eye(3), (len(axes), 1, 1))


def _nearest(good: np.ndarray) -> np.ndarray:
    """(F,) index of each frame itself where it is good, else of the good frame nearest to it."""
    there = np.flatnonzero(good)
    frames = np.arange(len(good))
    after = np.clip(np.searchsorted(there, frames), 0, len(there) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.abs(there[before] - frames) < np.abs(there[after] - frames)
    return np.asarray(np.where(nearer, there[before], there[after]))


def median_length(v: np.ndarray) -> float:
    """m, the median length of vectors (F, 3)."""
    return float(np.median(np.linalg.norm(v, axis=-1)))


def bending_axis(
    upper: np.ndarray,
    lower: np.ndarray,
    on_segment: np.ndarray | None,
    hinge: np.ndarray,
    fallback: np.ndarray,
    sign: float = 1.0,
) -> np.ndarray:
    """(F, 3) unit: sign times the axis upper x lower about which a hinge bends, normal to the upper segment.

    upper, lower  (F, 3) m, along the two segments
    on_segment    (F, 3) m, a marker on the upper segment that turns with it, or None
    hinge         (F, 3) m, the hinge's marker
    fallback      (F, 3) the axis where the hinge is straight
    """
    along = unit(upper)
    normal = sign * np.cross(along, unit(lower))
    bend = np.linalg.norm(normal, axis=-1)
    straight = across(fallback, along)
    if on_segment is None:
        # Trust in the plane grows with the bend; 15 degrees count as much as the fallback.
        return across(normal + _BENT * straight, along)
    reference = across(on_segment - hinge, along)
    aside = np.cross(along, reference)
    source = normal if np.sum(bend > _BENT) >= _FEWEST_BENT else straight
    weight = np.where(bend > _BENT, 1.0, 0.0)[:, None] if source is normal else 1.0
    # The axis is at one angle from the marker's direction, about the segment: the mean over the frames, as a vector.
    c = float(np.sum(weight * source * reference))
    s = float(np.sum(weight * source * aside))
    length = np.hypot(c, s)
    if length < 1e-9:
        return straight
    return across((c * reference + s * aside) / length, along)
