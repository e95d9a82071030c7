"""Motions joined: blended, chained, and layered part by part.   [tracking, section 6: Z8]

Rotations go from one to the other by slerp, the root's position and the joints' shifts on a straight line. The weight
rises by the sinusoidal ease w(u) = 1/2 - 1/2 cos(pi u): no jump in pose or velocity at either end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.motion.clip import Clip, interpolate
from poise.motion.edits.ground import compute_heading, place
from poise.motion.edits.timing import check_lasts, frame_times
from poise.motion.motion import Pose
from poise.motion.parts import part_joints
from poise.spatial import rotation
from poise.spatial.rotation import lengths


def ease(u: np.ndarray | float) -> np.ndarray:
    """0 before u = 0, 1 after u = 1, and 1/2 - 1/2 cos(pi u) between."""
    return 0.5 - 0.5 * np.cos(np.pi * np.clip(u, 0.0, 1.0))


def blend(a: Clip, b: Clip, weight: np.ndarray | float) -> Clip:
    """Between a (weight 0) and b (weight 1), frame for frame of a; b is asked at the same times and holds its ends.

    weight  one number, or (F,) one for each frame of a, within [0, 1]
    """
    weight = np.asarray(weight, float)
    if weight.shape not in ((), (len(a),)) or not np.all((weight >= 0) & (weight <= 1)):
        raise InputError(f"a blend's weight is one number or {len(a)} of them, from 0 to 1; given {_range(weight)}.")
    check_same_joints(a.skeleton, b.skeleton)
    weight = np.broadcast_to(weight, (len(a),))
    there = interpolate(b, b.times[0] + a.times - a.times[0], "spline")
    return a.replace(**mix_poses(a.poses, on_bones(there, b.skeleton, a.skeleton), weight, False)._asdict())


def concatenate(clips: Sequence[Clip], blend: float = 0.3, align: bool = True) -> Clip:
    """The clips one after the other at the first one's frame rate, each overlapping the one before by `blend` s.

    blend  s; 0 plays them end to end. The clips must last at least as long (the inner ones twice as long)
    align  turn and move each clip on the ground so that, in the middle of the overlap, its hips stand and face where
           those of the clip before do; heights are kept. False leaves the clips where they are
    """
    if not clips:
        raise InputError("concatenate needs at least one clip; none given.")
    if not np.isfinite(blend) or blend < 0:
        raise InputError(f"a blend takes a finite number of seconds, not negative; given {blend:g}.")
    for i, clip in enumerate(clips):
        check_lasts(clip, "concatenating")
        check_same_joints(clips[0].skeleton, clip.skeleton)
        overlaps = (i > 0) + (i < len(clips) - 1)
        if clip.duration < overlaps * blend - 1e-9:
            raise InputError(
                f"clip '{clip.name}' lasts {clip.duration:g} s, too short for {overlaps} blend(s) of {blend:g} s. "
                f"Shorten the blend."
            )
    result = clips[0]
    for clip in clips[1:]:
        begin = result.duration - blend
        if align:
            now = result.pose(result.times[-1] - 0.5 * blend, "spline")
            hips = result.skeleton.find_role("hips") or 0
            positions, orientations = result.skeleton.pose(*now)
            heading = float(compute_heading(orientations[hips]))
            clip = place(clip, positions[hips], heading, clip.times[0] + 0.5 * blend)
        result = _join(result, clip, begin, begin, blend)
    return result


def _join(a: Clip, b: Clip, b_begins: float, start: float, duration: float) -> Clip:
    """a, then b from `b_begins` on, the weight easing from `start` within `duration`; all in s from a's start."""
    times = frame_times(b_begins + b.duration, a.fps, len(a.skeleton), len(a) + len(b))
    u = (times - start) / duration if duration > 0 else np.where(times > start, 1.0, 0.0)
    there = interpolate(b, b.times[0] + times - b_begins, "spline")
    mixed = mix_poses(interpolate(a, a.times[0] + times, "spline"), on_bones(there, b.skeleton, a.skeleton), ease(u))
    return a.replace(times=times, **mixed._asdict())


def layer(
    base: Clip,
    over: Clip,
    part: str | Iterable[str],
    *,
    start: float = 0.0,
    ease_in: float = 0.0,
    ease_out: float = 0.0,
    weight: float = 1.0,
) -> Clip:
    """`base` with the joints of a part taken from `over`, which begins at `start` s and eases in and out.

    part      a part's name ("arms", "upperBody"), or joint names or roles; joints are matched by role, else by name
    ease_in   s from no effect to full; ease_out s before over's end back to none. With 0 it sets in at once; without
              ease_out over's last pose is held to the end of base
    weight    1 puts the part wholly under `over`, 0 leaves base
    The root's position follows `over` only where the part has the root in it.
    """
    if not 0 <= weight <= 1:
        raise InputError(f"a layer's weight is a number from 0 to 1; given {weight:g}.")
    if not np.isfinite([start, ease_in, ease_out]).all() or min(ease_in, ease_out) < 0:
        raise InputError(
            f"a layer's times are finite and its eases not negative; given {start:g}, {ease_in:g}, {ease_out:g} s."
        )
    if ease_in + ease_out > over.duration + 1e-9:
        raise InputError(
            f"clip '{over.name}' lasts {over.duration:g} s: easing in for {ease_in:g} s and out for {ease_out:g} s "
            f"takes longer. Shorten them."
        )
    joints = part_joints(base.skeleton, part)
    from_joints = [_same_joint(base.skeleton, over.skeleton, joint) for joint in joints]
    t = base.times - base.times[0] - start
    there = interpolate(over, over.times[0] + t, "spline")
    w = np.where(t >= 0, weight, 0.0)
    if ease_in > 0:
        w = w * ease(t / ease_in)
    if ease_out > 0:
        w = w * ease((over.duration - t) / ease_out)
    rotations = base.rotations.copy()
    rotations[:, joints] = rotation.slerp(rotations[:, joints], there.rotations[:, from_joints], w[:, None])
    root = base.root + w[:, None] * (there.root - base.root) if 0 in joints else base.root
    return base.replace(root=root, rotations=rotations, shifts=_layer_shifts(base, there, joints, from_joints, w))


def _layer_shifts(
    base: Clip, there: Pose, joints: list[int], from_joints: list[int], weight: np.ndarray
) -> np.ndarray | None:
    """(F, J, 3) m: those of the part's joints go over to the other motion's, weight (F,)."""
    if base.shifts is None and there.shifts is None:
        return None
    shifts = _or_zeros(base.poses).copy()
    shifts[:, joints] += weight[:, None, None] * (_or_zeros(there)[:, from_joints] - shifts[:, joints])
    shifts[:, 0] = 0.0
    return shifts


def mix_poses(a: Pose, b: Pose, weight: np.ndarray, is_steady: bool = True) -> Pose:
    """Between two batches of poses (F, ...) along time, weight (F,).

    is_steady  each joint goes the shorter way where the weights are nearest to half, and does not change sides in time:
               near half a turn the shorter way may change from frame to frame, and the pose would jump. False: each
               frame goes its own shorter way
    """
    root = a.root + weight[:, None] * (b.root - a.root)
    turn = rotation.multiply(rotation.conjugate(a.rotations), b.rotations)
    sides = turn
    if is_steady:
        turn = rotation.make_continuous(turn)
        sides = turn[int(np.argmin(np.abs(weight - 0.5)))]
    turn = np.where(sides[..., :1] < 0.0, -turn, turn)
    rotations = rotation.multiply(a.rotations, rotation.exp(weight[:, None, None] * long_log(turn)))
    if a.shifts is None and b.shifts is None:
        return Pose(root, rotations)
    here = _or_zeros(a)
    return Pose(root, rotations, here + weight[:, None, None] * (_or_zeros(b) - here))


def long_log(q: np.ndarray) -> np.ndarray:
    """(..., 3) the rotation vector of q by its own sign: up to a whole turn."""
    u = q[..., 1:]
    size = lengths(u, keepdims=True)
    tiny = size < 1e-9
    scale = np.where(
        tiny,
        2.0 / np.where(q[..., :1] < 0.0, -1.0, 1.0),
        2.0 * np.arctan2(size, q[..., :1]) / np.where(tiny, 1.0, size),
    )
    return np.asarray(scale * u)


def _or_zeros(pose: Pose) -> np.ndarray:
    """Shifts (F, J, 3) m, zeros where there are none."""
    return np.zeros((*pose.rotations.shape[:-1], 3)) if pose.shifts is None else pose.shifts


def on_bones(pose: Pose, own: Skeleton, other: Skeleton) -> Pose:
    """A pose of one skeleton for another of the same joints, whose bones may have other lengths.

    Where a joint from the root to the hips slides, it says where the body is: that is kept, whatever its rest offset.
    """
    if pose.shifts is None:
        return pose
    shifts = pose.shifts.copy()
    for joint in own.chain(own.find_role("hips") or 0)[1:]:
        if np.any(shifts[:, joint]):
            shifts[:, joint] += own.offsets[joint] - other.offsets[joint]
    return pose._replace(shifts=shifts)


def check_same_joints(a: Skeleton, b: Skeleton) -> None:
    """Refuse two skeletons whose joints do not correspond one to one."""
    if a.labels != b.labels or not np.array_equal(a.parents, b.parents):
        odd = sorted(set(a.labels) ^ set(b.labels))
        what = f"only one has {', '.join(odd)}" if odd else "their joints come in different orders"
        raise InputError(f"these clips move different skeletons: {what}. Retarget one of them first.")


def _same_joint(a: Skeleton, b: Skeleton, joint: int) -> int:
    """The index in b of a's joint, by role or name."""
    label = a.labels[joint]
    if label not in b.labels:
        raise unknown_name("joint", label, b.labels, "the clip to layer")
    return b.labels.index(label)


def _range(values: np.ndarray) -> str:
    return f"{values.size} from {values.min():g} to {values.max():g}" if values.size else "none"
