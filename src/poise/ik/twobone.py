"""A limb of two bones put onto a target in closed form: hip-knee-ankle, shoulder-elbow-wrist.

Symbols: a, b are the bones' lengths, d the distance from the limb's root to the target, all in metres. The law of
cosines gives the angle A between the first bone and the line to the target, cos A = (a^2 + d^2 - b^2) / (2 a d); a
hinge axis n, normal to that line, says to which side the middle joint goes. Any leading axes are a batch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.spatial import rotation
from poise.spatial.length import length, lengths

# The reach is kept this fraction away from both singular ends (stretched out, folded flat), where the angle's
# derivative is infinite.
_MARGIN = 1e-9


class TwoBone(NamedTuple):
    """World orientations (..., 4) of the two bones' joints, and how far the end is off its target, (...) m."""

    upper: np.ndarray
    lower: np.ndarray
    miss: np.ndarray


def solve_two_bone(
    root: np.ndarray,
    target: np.ndarray,
    hinge: np.ndarray,
    upper_offset: np.ndarray,
    lower_offset: np.ndarray,
    rest_hinge: np.ndarray,
) -> TwoBone:
    """Orientations that bring the limb's end to `target`; out of reach it points there, stretched or folded.

    root          (..., 3) m, world position of the limb's first joint
    target        (..., 3) m, world position wanted for its end
    hinge         (..., 3) world axis about which the second bone turns positively as the limb bends; made normal to the
                  line from root to target
    upper_offset  (3,) m, rest vector of the first bone; lower_offset (3,) m, of the second
    rest_hinge    (3,) the hinge's axis in the rest pose, made normal to each bone
    """
    root, target = np.asarray(root, float), np.asarray(target, float)
    a, b = length(upper_offset), length(lower_offset)
    to_target = target - root
    wanted = lengths(to_target)
    d = np.clip(wanted, abs(a - b) * (1 + _MARGIN) + _MARGIN * (a + b), (a + b) * (1 - _MARGIN))
    line = to_target / np.maximum(wanted, _MARGIN * (a + b))[..., None]
    n = _normal_part(np.broadcast_to(hinge, line.shape), line)

    # cos A = (a^2 + d^2 - b^2) / (2 a d)
    cosine = np.clip((a**2 + d**2 - b**2) / np.maximum(2 * a * d, 1e-150), -1.0, 1.0)
    # A positive turn about n bends the second bone; the first leans the other way by A.
    upper_line = rotation.rotate(rotation.exp(-np.arccos(cosine)[..., None] * n), line)
    lower_line = (d[..., None] * line - a * upper_line) / b if b > 0.0 else line
    return TwoBone(
        upper=_orient(upper_line, n, np.asarray(upper_offset, float), rest_hinge),
        lower=_orient(lower_line, n, np.asarray(lower_offset, float), rest_hinge),
        miss=np.abs(wanted - d),
    )


def _normal_part(v: np.ndarray, line: np.ndarray) -> np.ndarray:
    """The unit vector along the part of v that is normal to the unit vector `line`."""
    part = v - np.sum(v * line, axis=-1, keepdims=True) * line
    size = lengths(part, keepdims=True)
    if np.any(size <= 1e-9 * lengths(v, keepdims=True)):  # along the line: any normal will do
        other = np.where(np.abs(line[..., :1]) < 0.9, [1.0, 0.0, 0.0], [0.0, 0.0, 1.0])
        part = np.where(size > 1e-9 * lengths(v, keepdims=True), part, rotation.cross(line, other))
        size = lengths(part, keepdims=True)
    return np.asarray(part / np.maximum(size, 1e-300))


def _orient(line: np.ndarray, n: np.ndarray, rest_bone: np.ndarray, rest_hinge: np.ndarray) -> np.ndarray:
    """The orientation (..., 4) that turns the rest bone onto `line` and the rest hinge onto n."""
    size = length(rest_bone)
    rest_line = rest_bone / size if size > 0.0 else np.array([0.0, -1.0, 0.0])
    rest = _frame(rest_line, _normal_part(np.asarray(rest_hinge, float), rest_line))
    # R [rest] = [world]  =>  R = [world] [rest]^T
    return rotation.from_matrix(_frame(line, n) @ rest.T)


def _frame(line: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The rotation matrix (..., 3, 3) with columns n, line, n x line."""
    frame = np.empty((*line.shape, 3))
    frame[..., 0], frame[..., 1], frame[..., 2] = n, line, rotation.cross(n, line)
    return frame
