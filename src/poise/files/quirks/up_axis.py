"""Which axis of a file is up: as it states, else as the rest pose stands, else as the motion does.

Rest pose and motion may disagree: some files stand along Y at rest and turn the whole body by the root's channels,
which are Z-up. People also lie, and a clip of someone who lies all the time looks just like that. The two are told
apart by the floor: whoever lies has the floor, at height zero, right under the body; whoever stands has it under the
feet, or the origin in the hips.
"""

from __future__ import annotations

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.files.quirks.stance import UPRIGHT, find_body_axis
from poise.motion.clip import Clip
from poise.spatial import rotation

AXES = ("X", "Y", "Z", "-X", "-Y", "-Z")
_VECTORS = np.concatenate([np.eye(3), -np.eye(3)])
_MOST_FRAMES = 240
# The motion overrules the rest pose if this share of frames stands along its axis, and less than that along the rest's.
_STANDING, _NEVER = 0.6, 0.02
# Heights in statures: of a lying body's middle over the floor; of standing feet over the origin, be it the floor or the
# hips.
_LYING = (0.0, 0.15)
_FEET = ((-0.25, 0.25), (-0.65, -0.4))


def check_up(up: str) -> str:
    """The name of an axis, checked."""
    if up not in AXES:
        allowed = ", ".join(f"'{axis}'" for axis in AXES)
        raise InputError(f"up axis '{up}' is not known; allowed: {allowed}. Leave it out to have it found.")
    return up


def turn_to_y(up: str) -> np.ndarray:
    """(4,) the rotation that turns a file's up axis into +Y."""
    return rotation.between(_VECTORS[AXES.index(up)], np.array([0.0, 1.0, 0.0]))


def nearest_axis(direction: np.ndarray) -> str | None:
    """The signed axis that a direction (3,) is nearest to, or None where it is near none."""
    if not np.isfinite(direction).all():
        return None
    best = int(np.argmax(_VECTORS @ direction))
    return AXES[best] if _VECTORS[best] @ direction > UPRIGHT else None


def find_rest_up(skeleton: Skeleton) -> str | None:
    """The axis along which the body stands in its rest pose, or None where it does not stand."""
    return nearest_axis(find_body_axis(skeleton, skeleton.rest_positions()))


def find_up(clip: Clip, stature: float, stated: str | None = None) -> tuple[str, str, str | None]:
    """The vertical axis of a motion in file units, why, and a warning where that is unusual or contradicts the file."""
    rest = find_rest_up(clip.skeleton)
    frames = np.linspace(0, len(clip) - 1, min(len(clip), _MOST_FRAMES)).astype(int)
    positions = clip.positions[frames]
    shares = _count_axes(clip.skeleton, positions)
    moving = max(shares, key=lambda axis: shares[axis])
    if stated is not None:
        if rest is not None and rest == moving != stated and shares[moving] > _STANDING and shares[stated] < _NEVER:
            return rest, f"the body stands along {rest} at rest and in motion", _contradiction(stated, rest)
        return stated, "the file says so", None if stated == "Y" else f"up axis: the file is {stated}-up."
    if rest is None:
        if shares[moving] == 0.0:
            return "Y", "the body does not stand at rest or in motion, so the usual axis is assumed", None
        return moving, f"in motion the body stands along {moving}", _name_axis(moving)
    overruled = moving != rest and shares[moving] >= _STANDING and shares[rest] < _NEVER
    if overruled and _stands(positions, moving, stature) and not _lies(positions, rest, stature):
        return (
            moving,
            f"in {shares[moving]:.0%} of the frames the body stands along {moving}",
            f"up axis: the rest pose stands along {rest}, the motion along {moving}; the motion is believed. "
            "Override with --up.",
        )
    return rest, f"at rest the head is above the feet along {rest}", _name_axis(rest)


def _name_axis(up: str) -> str | None:
    return None if up == "Y" else f"up axis: the body stands along {up}; it is turned to Y."


def _contradiction(stated: str, found: str) -> str:
    return (
        f"up axis: the file says {stated}, but the body stands along {found} at rest and in motion; {found} is used. "
        "Override with --up."
    )


def _count_axes(skeleton: Skeleton, positions: np.ndarray) -> dict[str, float]:
    """The share of frames in which the body stands, or lies straight, along each axis."""
    body = find_body_axis(skeleton, positions)
    near = np.nan_to_num(body) @ _VECTORS.T > UPRIGHT
    return dict(zip(AXES, near.mean(axis=0).tolist(), strict=True))


def _heights(positions: np.ndarray, up: str, stature: float) -> np.ndarray:
    """(K, J) heights in statures, were this axis up."""
    return np.asarray(positions @ _VECTORS[AXES.index(up)] / stature)


def _lies(positions: np.ndarray, up: str, stature: float) -> bool:
    """Whether the body's middle is, were this axis up, where a lying body's is: just above zero."""
    return _LYING[0] < float(np.median(_heights(positions, up, stature))) < _LYING[1]


def _stands(positions: np.ndarray, up: str, stature: float) -> bool:
    """Whether the lowest joint is, were this axis up, where a standing body's is."""
    lowest = float(np.median(_heights(positions, up, stature).min(axis=1)))
    return any(low < lowest < high for low, high in _FEET)
