"""The trunk: spine, chest and neck.

Sources
  neck    M. Reed, M. Manary, L. Schneider (1999), SAE 1999-01-0959: C7/T1 0.55 of the depth between C7's and the
          breastbone's markers in front of C7's marker (their 8 degrees of slope left out).
  height  of the neck over the shoulder joints: de Leva (1996), as in `body/segments/proportions.py`.
Where nothing is cited, a number is a plain estimate; those move a joint by a centimetre or two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.segments.proportions import compute_proportions
from poise.motion.markers.body import JointEstimator, JointFrame, MarkerBody, follow
from poise.motion.markers.geometry import axes_from, median_length
from poise.motion.markers.pelvis import Pelvis

_DEPTH = 0.07  # of the stature: C7's to the breastbone's marker
_CHEST = 0.16  # of the stature: neck to chest, where no marker shows it
_ACROMION = 0.03  # of the stature: the acromion's marker over the shoulder joint


@dataclass(frozen=True, eq=False)
class Chest:
    """axes (F, 3, 3), the joint C7/T1 (F, 3) m, and the depth from C7's to the breastbone's marker, m."""

    axes: np.ndarray
    neck: np.ndarray
    depth: float


Ahead = np.ndarray  # (F, 3), to the body's front


def _given_neck(cast: MarkerBody, ahead: Ahead, up: np.ndarray) -> np.ndarray:
    return cast.m["NJC"]


def _between(cast: MarkerBody, ahead: Ahead, up: np.ndarray) -> np.ndarray:
    return np.asarray(cast.m["C7"] + 0.55 * (cast.m["CLAV"] - cast.m["C7"]))


def _before_c7(cast: MarkerBody, ahead: Ahead, up: np.ndarray) -> np.ndarray:
    return np.asarray(cast.m["C7"] + 0.55 * _DEPTH * cast.stature * ahead)


def _behind_breastbone(cast: MarkerBody, ahead: Ahead, up: np.ndarray) -> np.ndarray:
    return np.asarray(cast.m["CLAV"] - 0.45 * _DEPTH * cast.stature * ahead)


def _over_joints(cast: MarkerBody, ahead: Ahead, up: np.ndarray) -> np.ndarray:
    usual = compute_proportions()
    rise = (1.0 - usual.shoulder) * usual.trunk * cast.stature
    return np.asarray(0.5 * (cast.m["LSJC"] + cast.m["RSJC"]) + rise * up)


def _over_acromia(cast: MarkerBody, ahead: Ahead, up: np.ndarray) -> np.ndarray:
    usual = compute_proportions()
    rise = ((1.0 - usual.shoulder) * usual.trunk - _ACROMION) * cast.stature
    return np.asarray(0.5 * (cast.m["LSHO"] + cast.m["RSHO"]) + rise * up)


NECKS: tuple[JointEstimator[np.ndarray], ...] = (
    JointEstimator(("NJC",), _given_neck, "the neck's own point"),
    JointEstimator(("C7", "CLAV"), _between, "between C7 and the breastbone"),
    JointEstimator(("C7",), _before_c7, "in front of C7"),
    JointEstimator(("CLAV",), _behind_breastbone, "behind the breastbone"),
    JointEstimator(("LSJC", "RSJC"), _over_joints, "above the shoulders, by usual proportions"),
    JointEstimator(("LSHO", "RSHO"), _over_acromia, "above the shoulders, by usual proportions"),
)


def _across(cast: MarkerBody, pelvis: Pelvis | None) -> np.ndarray | None:
    """(F, 3) to the body's left, by the shoulders."""
    for stem in ("SJC", "SHO", "CLA", "BAK"):
        if cast.has("L" + stem, "R" + stem):
            return np.asarray(cast.m["L" + stem] - cast.m["R" + stem])
    return None if pelvis is None else pelvis.axes[..., 0]


def _find_axes(
    cast: MarkerBody, pelvis: Pelvis | None
) -> tuple[np.ndarray, np.ndarray, JointEstimator[np.ndarray]] | None:
    """The chest's axes, the neck, and how the neck was found.

    Up goes to the neck from the chest's lower markers, or the lumbar joint; the neck is found along these axes, so both
    are found in turns.
    """
    base = _find_base(cast, pelvis)
    front, back = cast.mean("CLAV", "STRN"), cast.mean("C7", "T10")
    left = _across(cast, pelvis)
    ahead = front - back if front is not None and back is not None else None
    if base is None:
        return _find_level_axes(cast, ahead, left)
    top = next((p for p in (_mean_top(cast), cast.m.get("NJC"), *_shoulders(cast)) if p is not None), None)
    if top is None or (ahead is None and left is None):
        return None
    aside = {"x": left} if ahead is None else {"z": ahead}
    turns = 1 if cast.has("C7", "CLAV") else 3
    for turn in range(turns):
        axes = axes_from(y=top - base, first="y", **aside)
        found = follow(NECKS, cast.m, None, cast, axes[..., 2], axes[..., 1])
        if found is None or turn == turns - 1:
            return None if found is None else (axes, *found)
        top = found[0]
    return None


def _find_base(cast: MarkerBody, pelvis: Pelvis | None) -> np.ndarray | None:
    """(F, 3) m, the middle of the chest's lower markers, or the lumbar joint."""
    low = cast.mean("T10", "STRN") if cast.has("T10", "STRN") else None
    return low if low is not None else None if pelvis is None else pelvis.lumbar


def _find_level_axes(
    cast: MarkerBody, ahead: np.ndarray | None, left: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, JointEstimator[np.ndarray]] | None:
    """Like `_find_axes`, of a body without anything below the chest: C7 to T10, or else level."""
    axes = _level_axes(cast, ahead, left)
    found = None if axes is None else follow(NECKS, cast.m, None, cast, axes[..., 2], axes[..., 1])
    return None if axes is None or found is None else (axes, *found)


def _level_axes(cast: MarkerBody, ahead: np.ndarray | None, left: np.ndarray | None) -> np.ndarray | None:
    """The chest's axes without anything below the chest."""
    for top, low in (("C7", "T10"), ("CLAV", "STRN")):
        if cast.has(top, low) and left is not None:
            return axes_from(y=cast.m[top] - cast.m[low], x=left, first="y")
    return None if ahead is None or left is None else axes_from(x=left, z=ahead, first="x")


def _mean_top(cast: MarkerBody) -> np.ndarray | None:
    return cast.mean("C7", "CLAV")


def _shoulders(cast: MarkerBody) -> list[np.ndarray | None]:
    return [cast.mean("L" + s, "R" + s) if cast.has("L" + s, "R" + s) else None for s in ("SJC", "SHO")]


def _find_chest(cast: MarkerBody, neck: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(F, 3) m the joint between the lower and the upper trunk, at the height of T10."""
    if cast.has("T10", "STRN"):
        return np.asarray(0.65 * cast.m["T10"] + 0.35 * cast.m["STRN"])
    return np.asarray(neck - _CHEST * cast.stature * axes[..., 1])


def add_trunk(cast: MarkerBody, pelvis: Pelvis | None) -> Chest | None:
    """Spine, chest and neck; the chest is the root where there is no pelvis. None where markers do not give them."""
    if "CLAV" not in cast.m and cast.has("LCLA", "RCLA"):
        cast.m["CLAV"] = 0.5 * (cast.m["LCLA"] + cast.m["RCLA"])
    found = _find_axes(cast, pelvis)
    if found is None:
        return None
    axes, neck, way = found
    depth = median_length(cast.m["CLAV"] - cast.m["C7"]) if cast.has("C7", "CLAV") else _DEPTH * cast.stature
    chest = _find_chest(cast, neck, axes)
    if pelvis is not None:
        spine = axes_from(y=chest - pelvis.lumbar, x=pelvis.axes[..., 0] + axes[..., 0], first="y")
        cast.add("spine", JointFrame("hips", pelvis.lumbar, spine))
    cast.add("chest", JointFrame(None if pelvis is None else "spine", chest, axes))
    cast.add("neck", JointFrame("chest", neck, axes), way)
    return Chest(axes, neck, depth)
