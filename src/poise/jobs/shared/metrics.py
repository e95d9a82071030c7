"""Metrics of a motion that was written: feet, effort, hits, and how well and how late it follows another.

All are of the poses that were written, not of those that were meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import build_footing
from poise.body.roles import SIDES
from poise.drivers.balance.support_polygon import find_outline
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import Tree
from poise.errors import FileError
from poise.files.reading.pipeline import Reading
from poise.ik.support_polygon import find_outline as trace_outline
from poise.motion.clip import Clip, interpolate
from poise.motion.contacts.stepping import Step
from poise.spatial import rotation
from poise.stage.take.take import ActorTake, Take
from poise.world.foot_boxes import find_corners, find_drawn_soles, find_standing_region, place_corners
from poise.world.ground.floor import Floor

FEET = ("foot_slip_mm", "com_margin_m", "sway_mm")  # see `measure_feet`
_COLLIDED = 0.2  # N s per kg of the body: a collision of its own segments that is harder gets a warning
_DOWN = 0.02  # m over the ground: a sole whose corners are all below is planted
_NEAR = 0.01  # m over a sole's lowest point, of those that touch: soles of simulated and recorded bodies tilt a little


def list_steps(steps: Sequence[Step]) -> dict[str, Any]:
    """`stepping`, `first_step_s` and `step_times_s`: whether and when a clip steps, on its own clock."""
    starts = [step.start for step in steps]
    return {"stepping": bool(starts), "first_step_s": starts[0] if starts else None, "step_times_s": starts}


def read_written(path: Path, clip: Clip, model: Reading | None = None) -> Clip | None:
    """The motion in a file that Poise has written of a clip, on the clip's skeleton; None where it cannot be read.

    model  a model's own file that it was written onto: it keeps its units, axes and rest pose
    """
    from poise.files.registry import find_format, read_recording
    from poise.files.writing.round_trip import find_order

    entry = find_format(path)
    if entry is None or entry.read is None:
        return None
    recording = read_recording(path)
    if model is None:
        motion, unit = recording.clip, recording.unit or 1.0
    else:
        motion, unit = model.placement.from_file(recording.clip), 1.0
    there = _at_frames(motion, clip)
    order = find_order(path, clip.skeleton, there.skeleton.names, there.skeleton.parents.tolist())
    turns = there.rotations[:, order]
    if len(turns) != len(clip):
        raise FileError(path, f"{len(clip)} frames were written, {len(turns)} are there.")
    shifts = None
    if clip.shifts is not None or there.shifts is not None:  # from where the clip's bones end
        bones = np.broadcast_to(there.skeleton.offsets, (len(there), len(there.skeleton), 3))
        shifts = unit * (bones if there.shifts is None else bones + there.shifts)[:, order] - clip.skeleton.offsets
        shifts[:, 0] = 0.0
    return Clip(clip.skeleton, clip.times, there.root * unit, turns, clip.name, shifts)


def _at_frames(motion: Clip, clip: Clip) -> Clip:
    """A motion at the frames of a clip as long as it: glTF's reader samples keys that are far apart at another rate.

    Where that rate's frames miss the keys, poses are blended between them, and seem a little off.
    """
    if len(motion) <= len(clip) or abs(motion.duration - clip.duration) > 1e-5 * max(1.0, clip.duration):
        return motion
    times = motion.times[0] + np.minimum(clip.times - clip.times[0], motion.duration)
    pose = interpolate(motion, times, "slerp")
    return motion.replace(
        times=clip.times - clip.times[0], root=pose.root, rotations=pose.rotations, shifts=pose.shifts
    )


def measure_error(result: Clip, clip: Clip, joints: list[int]) -> float | None:
    """rad, RMS geodesic angle of some joints between two clips over all frames; None where there is no joint."""
    if not joints:
        return None
    apart = rotation.log(rotation.multiply(rotation.conjugate(clip.rotations[:, joints]), result.rotations[:, joints]))
    return float(np.sqrt(np.mean(np.sum(apart**2, axis=-1))))


def find_sole_corners(clip: Clip) -> np.ndarray:
    """(F, 2, 4, 3) m, corners of the left and the right sole in the world."""
    positions, orientations = clip.world
    corners = []
    for side, box in zip(SIDES, build_footing(clip.skeleton), strict=True):
        foot = clip.skeleton.index(side + "Foot")
        corners.append(place_corners(positions[:, foot], orientations[:, foot], find_corners(box)))
    return np.stack(corners, axis=1)


def find_supports(clip: Clip, down: np.ndarray, ground: float = 0.0) -> list[np.ndarray]:
    """The support polygon (N, 2) m at each frame, of the feet that stand on level ground; down: (F, 2) which do."""
    soles, outlines = [sole.place(*clip.world) for sole in find_drawn_soles(clip.skeleton)], list[np.ndarray]()
    for frame, feet in enumerate(np.asarray(down, bool)):
        regions = [
            find_standing_region(sole[frame], ground) for sole, is_down in zip(soles, feet, strict=True) if is_down
        ]
        outlines.append(trace_outline(np.concatenate([np.zeros((0, 2)), *regions])))
    return outlines


def measure_feet(clip: Clip, tree: Tree, ground: float | Floor) -> dict[str, float | None]:
    """`foot_slip_mm`, `com_margin_m` and `sway_mm` of a motion on level ground at a height (m), or on a floor.

    A sole slips while all its corners are on the ground; its travel is the farthest that any corner gets, seen from
    above, from where it was when the sole came down. The margin is to the outline of all points of the soles, as they
    are drawn, that are near the ground. The sway is the farthest that the centre of mass gets from its mean place. All
    of it as seen from the floor, if that moves.
    """
    corners, points = find_sole_corners(clip), _find_flat_points(clip)
    center = compute_center_of_mass(tree, *clip.poses)[:, [0, 2]]
    if isinstance(ground, Floor):
        times = np.asarray(clip.times) - clip.times[0]
        under, _ = ground.find_under(points, times)
        heights, shifts = ground.find_under(corners, times)
        corners, center = corners - shifts[:, None, None], center - shifts[:, [0, 2]]
        heights, points, under = (
            heights - shifts[:, None, None, 1],
            points - shifts[:, None, None],
            under - shifts[:, None, None, 1],
        )
    else:
        heights, under = np.full(corners.shape[:-1], ground), np.full(points.shape[:-1], ground)
    down = np.asarray((corners[..., 1] < heights + _DOWN).all(axis=-1))
    sway = float(np.linalg.norm(center - center.mean(axis=0), axis=1).max())
    return {
        "foot_slip_mm": _measure_slip(corners[..., [0, 2]], down),
        "com_margin_m": _measure_margin(points, center, under),
        "sway_mm": 1000.0 * sway,
    }


def _find_flat_points(clip: Clip) -> np.ndarray:
    """(F, 2, N, 3) m, corners of the outlines of both soles, which their feet and toes move; some are there twice."""
    left, right = (sole.pick_flat().place(*clip.world) for sole in find_drawn_soles(clip.skeleton))
    picked = np.arange(max(left.shape[1], right.shape[1]))
    return np.stack([each[:, picked % each.shape[1]] for each in (left, right)], axis=1)


def _measure_slip(corners: np.ndarray, down: np.ndarray) -> float:
    most = 0.0
    for side in range(2):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], down[:, side].astype(int), [0]])))
        for start, end in edges.reshape(-1, 2):
            path = corners[start:end, side]
            most = max(most, float(np.linalg.norm(path - path[0], axis=-1).max()))
    return 1000.0 * most


def _measure_margin(points: np.ndarray, center: np.ndarray, heights: np.ndarray) -> float | None:
    """m, the least over all frames in which any of points (F, 2, N, 3) is down; None where nothing ever is.

    A sole that is a little above the ground, as in recordings, touches it with its lowest points.
    """
    least = None
    for frame, under, spot in zip(points, heights, center, strict=True):
        over = frame[..., 1] - under
        over = over - np.clip(over.min(axis=1, keepdims=True), 0.0, 2.0 * _DOWN)
        low = frame[over < _NEAR]
        if not len(low):
            continue
        margin = find_outline(low).find_margin(spot[0], spot[1])
        least = margin if least is None else min(least, margin)
    return least


def list_hits(take: Take) -> list[dict[str, Any]]:
    """Return `hits` of a take for JSON; see `Event`. A hit of two actors is there once."""
    return [
        {
            "time_s": each.time,
            "actor": each.actor,
            "joint": each.joint,
            "other": each.other,
            "impulse_ns": each.impulse,
            "peak_force_n": each.force,
        }
        for each in take.events
        if each.kind == "hit"
    ]


def find_self_collision(take: Take) -> str | None:
    """Return a warning about the hardest collision of an actor's own segments, if it is a hard one; else None."""
    own = [
        each
        for each in take.events
        if each.kind == "hit"
        and each.other.startswith(f"{each.actor}/")
        and each.impulse > _COLLIDED * take.actors[each.actor].character.mass
    ]
    if not own:
        return None
    worst = max(own, key=lambda each: each.impulse)
    other = worst.other.partition("/")[2]
    more = "" if len(own) == 1 else f", the hardest of {len(own)} such collisions"
    return (
        f"{worst.joint} and {other} of the same body collide at {worst.time:.2f} s with {worst.impulse:.3g} N s{more}. "
        "Check that the motion keeps them apart, or let the segments of the body pass through one another: "
        "[touch] itself = false in the stage file."
    )


def describe_body(character: Character) -> dict[str, Any]:
    """`mass_kg` and `stature_m`."""
    return {"mass_kg": character.mass, "stature_m": character.height}


def describe_effort(record: ActorTake, physical: list[int], kinematic: list[int]) -> dict[str, Any]:
    """`peak_torque_nm` of the physical joints and where it is, and `peak_effort`: of any joint, over its strength."""
    labels = record.character.skeleton.labels
    found: dict[str, Any] = {"peak_torque_nm": None, "peak_torque_joint": None, "peak_effort": None}
    joints = [i for i in physical if i != 0]
    sizes = np.nan_to_num(np.linalg.norm(record.torque[:, joints], axis=-1))
    if sizes.size:
        at = int(np.argmax(sizes.max(axis=0)))
        found |= {"peak_torque_nm": float(sizes[:, at].max()), "peak_torque_joint": labels[joints[at]]}
    effort = record.effort[:, [i for i in (*joints, *kinematic) if i != 0]]
    if effort.size:
        found["peak_effort"] = float(np.nanmax(np.where(np.isfinite(effort), effort, 0.0)))
    return found


LONGEST = 0.5  # s, the longest lag that is looked for
_FINER = 8  # times a frame, at which a correlation is looked at
_STILL = 1e-6  # rad/s RMS: what turns no more than this has no lag


def find_angles(result: Clip, clip: Clip, joints: list[int]) -> np.ndarray:
    """(F, K) rad, the geodesic angles of some joints between two clips."""
    apart = rotation.multiply(rotation.conjugate(clip.rotations[:, joints]), result.rotations[:, joints])
    return np.asarray(np.linalg.norm(rotation.log(apart), axis=-1))


def sum_error(result: Clip, clip: Clip, joints: list[int]) -> float:
    """rad, over joints and frames.   [tracking, eq 3]"""
    return float(find_angles(result, clip, joints).sum())


def find_spins(clip: Clip, joints: list[int]) -> np.ndarray:
    """(F - 1, K, 3) rad/s of some joints between frames, in their axes."""
    turns = clip.rotations[:, joints]
    steps = rotation.log(rotation.multiply(rotation.conjugate(turns[:-1]), turns[1:]))
    return np.asarray(steps / np.diff(clip.times)[:, None, None])


def find_lag(result: Clip, clip: Clip, joints: list[int]) -> float | None:
    """s by which the joints of one clip turn later than those of another; None where nothing turns.

    Where the correlation of their angular velocities, summed over joints and axes, is greatest. It is made from its
    spectrum at eighths of a frame, and a parabola finds its peak between those.
    """
    n = len(clip)
    if n < 3 or not joints:
        return None
    wanted, found = (find_spins(each, joints).reshape(n - 1, -1) for each in (clip, result))
    if min(np.sqrt(np.mean(each**2)) for each in (wanted, found)) < _STILL:
        return None
    size = 1 << int(np.ceil(np.log2(2 * n)))
    spectrum = np.sum(np.conj(np.fft.rfft(wanted, size, axis=0)) * np.fft.rfft(found, size, axis=0), axis=1)
    curve = np.fft.irfft(spectrum, _FINER * size)
    rate = _FINER / float(np.mean(np.diff(clip.times)))
    reach = int(min(LONGEST, 0.5 * clip.duration) * rate)
    near = np.concatenate([curve[-reach:], curve[: reach + 1]])
    k = int(np.clip(np.argmax(near), 1, len(near) - 2))
    a, b, c = near[k - 1 : k + 2]
    bend = a - 2.0 * b + c
    return float((k - reach + (0.5 * (a - c) / bend if bend < 0.0 else 0.0)) / rate)
