"""Limbs of two bones in closed form: posed onto a target from nothing, or corrected by changing as little as that
takes.

Posed: hip-knee-ankle, shoulder-elbow-wrist.

Symbols: a, b are the bones' lengths, d the distance from the limb's root to the target, all in metres. The law of
cosines gives the angle A between the first bone and the line to the target, cos A = (a^2 + d^2 - b^2) / (2 a d); a
hinge axis n, normal to that line, says to which side the middle joint goes. Any leading axes are a batch.

Corrected:

`correct_two_bone` takes a limb that is posed already: it bends or stretches about the axis it is bent about, then
swings as a whole until its end is at the target. Twist and side of the bend stay the limb's own, and a limb whose end
is at the target already stays as it is, so that small corrections are small turns.

Symbols: a, b are the bones' lengths and d the distance from the limb's root to its end, all in metres; B is the bend,
0 when stretched: d^2 = a^2 + b^2 + 2 a b cos B. Leading axes are a batch of frames.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.spatial import one_rotation as one
from poise.spatial import rotation
from poise.spatial.rotation import length, lengths

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


# Sine of the bend below which the given hinge outweighs the axis that the limb is bent about: 6 degrees.
_STRAIGHT = 0.1
_ROUNDS = 12  # each leaves less than a fifth of the bend's error, also where hinge and bend differ by 50 degrees


class LimbSolution(NamedTuple):
    """World orientations (F, 4) of the two bones' joints, and how far the end is off its target, (F,) m."""

    upper: np.ndarray
    lower: np.ndarray
    miss: np.ndarray


def correct_two_bone(
    upper: np.ndarray,
    lower: np.ndarray,
    upper_bone: np.ndarray,
    lower_bone: np.ndarray,
    reach: np.ndarray,
    hinge: np.ndarray,
) -> LimbSolution:
    """The limb's orientations with its end at `reach`; out of reach it points there, stretched or folded.

    upper, lower            (F, 4) world orientations of the limb's two joints as they are
    upper_bone, lower_bone  (3,) m, rest vectors of the two bones
    reach                   (F, 3) m, where the end should be, from the limb's root, in the world
    hinge                   (F, 3) world axis about which the second bone turns positively as the limb bends: decides
                            where the limb is so straight that it does not say itself
    """
    a, b = length(upper_bone), length(lower_bone)
    if np.size(reach) == 3 and (found := _reach_one(upper, lower, upper_bone, lower_bone, reach, hinge, a, b)):
        return found
    wanted = lengths(reach)
    d = np.clip(wanted, abs(a - b) + _MARGIN * (a + b), (a + b) * (1 - _MARGIN))
    # cos B = (d^2 - a^2 - b^2) / (2 a b)
    bend = np.arccos(np.clip((d**2 - a**2 - b**2) / max(2 * a * b, 1e-300), -1.0, 1.0))

    first = _unit(rotation.rotate(upper, upper_bone))
    for _ in range(_ROUNDS):
        second = _unit(rotation.rotate(lower, lower_bone))
        cross = rotation.cross(first, second)
        now = np.arctan2(lengths(cross), np.sum(first * second, axis=-1))
        axis = cross + _STRAIGHT * _unit(hinge)
        axis = _unit(axis - np.sum(axis * first, axis=-1, keepdims=True) * first)
        lower = rotation.multiply(rotation.exp((bend - now)[..., None] * axis), lower)

    end = rotation.rotate(upper, upper_bone) + rotation.rotate(lower, lower_bone)
    swing = rotation.between(end, np.where(wanted[..., None] > _MARGIN * (a + b), reach, end))
    miss = lengths(rotation.rotate(swing, end) - reach)
    return LimbSolution(rotation.multiply(swing, upper), rotation.multiply(swing, lower), miss)


def _reach_one(
    upper: np.ndarray, lower: np.ndarray, upper_bone: np.ndarray, lower_bone: np.ndarray, reach: np.ndarray,
    hinge: np.ndarray, a: float, b: float,
) -> LimbSolution | None:  # fmt: skip
    """`correct_two_bone` for one frame, in Python's own numbers: the same bits in a tenth of the time.

    None where they are not for it (`one_rotation`).
    """
    first, second, to = upper.ravel().tolist(), lower.ravel().tolist(), reach.ravel().tolist()
    bone = lower_bone.tolist()
    wanted = math.sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2])
    if wanted != wanted:
        return None
    d = min(max(wanted, abs(a - b) + _MARGIN * (a + b)), (a + b) * (1 - _MARGIN))
    # cos B = (d^2 - a^2 - b^2) / (2 a b)
    bend = float(np.arccos(min(max((d * d - a**2 - b**2) / max(2 * a * b, 1e-300), -1.0), 1.0)))
    ux, uy, uz = one.rotate(first, upper_bone.tolist())
    second = _bend_one(one.unit([ux, uy, uz]), second, bone, bend, one.unit(hinge.ravel().tolist()))
    lx, ly, lz = one.rotate(second, bone)
    end = [ux + lx, uy + ly, uz + lz]
    swing = one.between(end, to if wanted > _MARGIN * (a + b) else end)
    if swing is None:
        return None
    x, y, z = (at - by for at, by in zip(one.rotate(swing, end), to, strict=True))
    shape = np.shape(reach)[:-1]
    return LimbSolution(
        np.array(one.multiply(swing, first)).reshape(*shape, 4),
        np.array(one.multiply(swing, second)).reshape(*shape, 4),
        np.array(math.sqrt(x * x + y * y + z * z)).reshape(shape),
    )


def _bend_one(first: one.Numbers, turn: one.Numbers, bone: one.Numbers, bend: float, hinge: one.Numbers) -> one.Numbers:
    """The rounds of `correct_two_bone` for one frame; what a round leaves as it is, the others do, too."""
    (fx, fy, fz), (hx, hy, hz) = first, hinge
    for _ in range(_ROUNDS):
        sx, sy, sz = one.unit(one.rotate(turn, bone))
        cx, cy, cz = fy * sz - fz * sy, fz * sx - fx * sz, fx * sy - fy * sx
        now = float(np.arctan2(math.sqrt(cx * cx + cy * cy + cz * cz), fx * sx + fy * sy + fz * sz))
        ax, ay, az = cx + _STRAIGHT * hx, cy + _STRAIGHT * hy, cz + _STRAIGHT * hz
        along = ax * fx + ay * fy + az * fz
        x, y, z = one.unit([ax - along * fx, ay - along * fy, az - along * fz])
        before, turn = turn, one.multiply(one.exp([(bend - now) * x, (bend - now) * y, (bend - now) * z]), turn)
        if turn == before:
            break
    return turn


def find_hinge(upper: np.ndarray, lower: np.ndarray, upper_bone: np.ndarray, lower_bone: np.ndarray) -> np.ndarray:
    """(3,) the axis a limb bends about over a motion, in the rest axes of its first joint; short where it hardly bends.

    The mean of sin B times the axis: frames count by how clearly they show it.
    """
    cross = rotation.cross(_unit(rotation.rotate(upper, upper_bone)), _unit(rotation.rotate(lower, lower_bone)))
    return np.asarray(rotation.rotate(rotation.conjugate(upper), cross).mean(axis=0))


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.maximum(lengths(v, keepdims=True), 1e-300)
