"""The head: the joint of the skull, between the ear canals, and its axes.

A band of four markers lies about 0.03 of the stature above the ear canals (a plain estimate). Ear canals 0.074 of the
stature below the vertex: `body/segments/proportions.py`.
"""

from __future__ import annotations

import numpy as np

from poise.body.segments.tables import SKULL_BELOW_VERTEX
from poise.motion.markers.body import JointEstimator, JointFrame, MarkerBody, follow
from poise.motion.markers.geometry import axes_from, unit
from poise.motion.markers.trunk import Chest
from poise.spatial import rotation

_BAND = ("LFHD", "RFHD", "LBHD", "RBHD")
_BAND_HEIGHT = 0.03  # of the stature, over the ear canals
_UPRIGHT = np.cos(np.radians(30.0))
_LARGEST_TILT = np.radians(35.0)

Head = tuple[np.ndarray, np.ndarray]  # its joint (F, 3) m and axes (F, 3, 3)


def _four(cast: MarkerBody, chest: Chest) -> Head:
    return _from_band(cast, chest, {name: cast.m[name] for name in _BAND})


def _three(missing: str) -> JointEstimator[Head]:
    def make(cast: MarkerBody, chest: Chest) -> Head:
        """The fourth corner of the parallelogram."""
        here = {name: cast.m[name] for name in _BAND if name != missing}
        opposite = _BAND[3 - _BAND.index(missing)]
        here[missing] = sum((p for name, p in here.items() if name != opposite), -here[opposite])
        return _from_band(cast, chest, here)

    return JointEstimator(tuple(name for name in _BAND if name != missing), make, "three markers of a head band")


def _from_band(cast: MarkerBody, chest: Chest, band: dict[str, np.ndarray]) -> Head:
    left_front, right_front, left_back, right_back = (band[name] for name in _BAND)
    axes = axes_from(
        x=left_front + left_back - right_front - right_back,
        z=left_front + right_front - left_back - right_back,
        first="x",
    )
    axes = axes @ _find_tilt(chest, axes)
    return 0.25 * sum(band.values(), np.zeros(3)) - _BAND_HEIGHT * cast.stature * axes[..., 1], axes


def _sides_and_top(cast: MarkerBody, chest: Chest) -> Head:
    middle = 0.5 * (cast.m["LHDS"] + cast.m["RHDS"])
    axes = axes_from(x=cast.m["LHDS"] - cast.m["RHDS"], y=cast.m["HTOP"] - middle, first="x")
    axes = axes @ _find_tilt(chest, axes)
    return cast.m["HTOP"] - SKULL_BELOW_VERTEX * cast.stature * axes[..., 1], axes


def _sides_and_front(cast: MarkerBody, chest: Chest) -> Head:
    middle = 0.5 * (cast.m["LHDS"] + cast.m["RHDS"])
    axes = axes_from(x=cast.m["LHDS"] - cast.m["RHDS"], z=cast.m["HFRO"] - middle, first="x")
    axes = axes @ _find_tilt(chest, axes)
    return middle - 0.5 * _BAND_HEIGHT * cast.stature * axes[..., 1], axes


def _top_and_front(cast: MarkerBody, chest: Chest) -> Head:
    """Front is where the forehead's marker is from the line neck to vertex; the neck bends, so it is levelled after."""
    up = unit(cast.m["HTOP"] - chest.neck)
    axes = axes_from(y=up, z=cast.m["HFRO"] - cast.m["HTOP"], first="y")
    axes = axes @ _find_tilt(chest, axes)
    return cast.m["HTOP"] - SKULL_BELOW_VERTEX * cast.stature * axes[..., 1], axes


def _joint(cast: MarkerBody, chest: Chest) -> Head:
    """A point only: the head goes on from the neck, and faces where the chest does, or the nose points."""
    center = cast.m["HJP"]
    front = cast.m["HFRO"] - center if "HFRO" in cast.m else chest.axes[..., 2]
    return center, axes_from(y=center - chest.neck, z=front, first="y")


def _vertex(cast: MarkerBody, chest: Chest) -> Head:
    axes = axes_from(y=cast.m["HTOP"] - chest.neck, z=chest.axes[..., 2], first="y")
    return cast.m["HTOP"] - SKULL_BELOW_VERTEX * cast.stature * axes[..., 1], axes


HEADS: tuple[JointEstimator[Head], ...] = (
    JointEstimator(_BAND, _four, "the four markers of a head band"),
    *(_three(missing) for missing in _BAND),
    JointEstimator(("LHDS", "RHDS", "HTOP"), _sides_and_top, "both sides and the top of the head"),
    JointEstimator(("LHDS", "RHDS", "HFRO"), _sides_and_front, "both sides and the front of the head"),
    JointEstimator(("HTOP", "HFRO"), _top_and_front, "the top and the front of the head"),
    JointEstimator(("HJP",), _joint, "the head's own point"),
    JointEstimator(("HTOP",), _vertex, "the top of the head"),
)


def add_head(cast: MarkerBody, chest: Chest) -> None:
    """The head, and the neck turned towards it."""
    found = follow(HEADS, cast.m, None, cast, chest)
    if found is None:
        return
    (center, axes), way = found
    neck = cast.segments["neck"]
    toward = axes_from(y=center - neck.center, x=neck.axes[..., 0] + axes[..., 0], first="y")
    cast.segments["neck"] = JointFrame(neck.parent, neck.center, toward)
    cast.add("head", JointFrame("neck", center, axes, np.array([0.0, SKULL_BELOW_VERTEX * cast.stature, 0.0])), way)


def _find_tilt(chest: Chest, axes: np.ndarray) -> np.ndarray:
    """(3, 3) from the head's axes to those of its markers, which sit higher in front or behind.

    People who stand look straight ahead in the median; where nobody stands, nothing is known and nothing is done.
    """
    upright = chest.axes[:, 1, 1] > _UPRIGHT
    if not upright.any():
        return np.eye(3)
    raised = np.median(np.arcsin(np.clip(axes[upright, 1, 2], -1.0, 1.0)))
    tilt = float(np.clip(raised, -_LARGEST_TILT, _LARGEST_TILT))
    return np.asarray(rotation.to_matrix(rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), tilt)))
