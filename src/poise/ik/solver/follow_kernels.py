"""Poses that follow goals frame after frame, smoothly: compiled.

The pose of every frame is the one that makes

    sum_i w_i e_i^2 + sum_j s_j (c (q_j - r_j)^2 + barrier_j)      least, with every angle in its range      [follow, 1]

e_i being the goals' errors, r the comfortable pose, c the comfort and s_j the stiffness of an angle. The pose is so a
function of the goals, and as smooth as they are; it depends neither on the frame rate nor on the poses before. A frame
takes a fixed number of Gauss-Newton rounds from the pose of the last one: no step is judged, and the weight of primary
goals is constant. Each round is damped by

    SLOW c + E^2 / AWAY^2                                                                                [follow, 2]

with E the largest error (m): goals that jump, or are out of reach, are approached without oscillation. The first part
covers what the gradient does not contain: the pull of comfort on the goals changes as these are met by another pose.

Near the end of its range an angle is pushed back, gently at first, so that it does not run into it: within z of the
end, at a distance g,

    barrier' = 2 K (z - g)^2 / g,      z the least of ZONE and the comfortable pose's own distance          [follow, 3]

A pose that is comfortable and meets its goals is therefore left exactly as it is, at the ends of its ranges too.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.block_kernels import sweep_blocks
from poise.ik.solver.model_kernels import find_angles, set_matrix, set_quaternion, set_turn
from poise.ik.solver.records import (
    FollowedPoses,
    GoalFrames,
    IkGoals,
    IkModel,
    IkWorkspace,
    LinearSystem,
    Prescribed,
)
from poise.ik.solver.row_kernels import write_rows
from poise.ik.solver.step_kernels import turn_joints

_HEAVY = 1e4  # weight of a goal of weight 1, compared with a comfort of 1
_PRIMARY = 1e4  # times the weight of primary goals
_SLOW, _AWAY = 1.0, 0.03  # 1; m: an error that damps as much as a comfort of 1
_ZONE, _LEAST, _STEEP = 0.15, 2e-3, 1.0  # rad, rad, and K
_SWEEPS, _MOST = 24, 0.5  # at most; rad that an angle changes by per round


@kernel
def follow_frames(
    model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, prescribed: Prescribed,
    frames: GoalFrames, rounds: int, out: FollowedPoses,
) -> None:  # fmt: skip
    """Pose a body frame after frame: `work` has the pose before the first one, and is left with the last."""
    for f in range(frames.frames):
        _set_goals(goals, frames, f)
        _set_base(work, frames, f)
        _prescribe(model, work, prescribed, frames.given[f])
        for _ in range(rounds):
            write_rows(model, goals, work, system)
            worst = max(system.primary_error, system.secondary_error)
            _weigh(model, work, system, prescribed, frames.rest[f], frames.comfort[f], worst)
            sweep_blocks(system, _SWEEPS)
            turn_joints(model, work, system.step)
        write_rows(model, goals, work, system)
        _write_pose(model, work, prescribed, f, out)
        out.first[f], out.second[f] = system.primary_error, system.secondary_error


@kernel
def _set_goals(goals: IkGoals, frames: GoalFrames, f: int) -> None:
    """Write the targets and weights of a frame into the goals."""
    points, orientations = goals.point_count, goals.orientation_count
    goals.point_target[:], goals.look_target[:] = frames.places[f], frames.looks[f]
    goals.edges[:], goals.center[:] = frames.edges[f], frames.center[f]
    weights = frames.weights[f]
    for i in range(points):
        goals.point_weight[i] = _HEAVY * weights[i]
    for i in range(orientations):
        goals.orientation_weight[i] = _HEAVY * weights[points + i]
        set_matrix(frames.turns[f, i], goals.orientation_matrix[i])
    for i in range(goals.look_count):
        goals.look_weight[i] = _HEAVY * weights[points + orientations + i]
    for a in range(3):
        goals.center_weight[a] = _HEAVY * frames.center_weight[f, a]


@kernel
def _set_base(work: IkWorkspace, frames: GoalFrames, f: int) -> None:
    """Change the base if another joint is held: its body stays where it is, unless the frame says where it is."""
    held = frames.held[f]
    if held != work.base:
        work.base = held
        work.base_position[:], work.base_orientation[:] = work.p[max(held, 0)], work.R[max(held, 0)]
    if frames.has_base:
        work.base_position[:] = frames.base_place[f]
        set_matrix(frames.base_turn[f], work.base_orientation)


@kernel
def _prescribe(model: IkModel, work: IkWorkspace, prescribed: Prescribed, rotations: np.ndarray) -> None:
    """Turn the prescribed joints by rotations (G, 4)."""
    for g in range(prescribed.count):
        i = prescribed.joint[g]
        prescribed.rotations[i] = rotations[g]
        set_matrix(rotations[g], work.local[i])
        find_angles(rotations[g], model.before[i], model.after[i], work.angles[i])


@kernel
def _push_back(gap: float, zone: float) -> tuple[float, float]:
    """Return the force of an angle's end on it, and its derivative.   [follow, 3]"""
    gap = max(gap, _LEAST)
    deep = max(zone - gap, 0.0)
    ratio = deep / gap
    return _STEEP * deep * ratio, _STEEP * ratio * (2.0 + ratio)


@kernel
def _weigh(
    model: IkModel, work: IkWorkspace, system: LinearSystem, prescribed: Prescribed, rest: np.ndarray, comfort: float,
    error: float,
) -> None:  # fmt: skip
    """Write compliance, ranges and preferred changes of a round.   [follow, 1 to 3]"""
    for i in range(system.rows):
        if system.is_primary[i]:
            system.weight[i] *= _PRIMARY
    for j in range(model.dofs):
        k, a = model.joint[j], model.axis[j]
        hard = _SLOW * comfort + error * error / (_AWAY * _AWAY)
        if k < 0:
            system.compliance[j], system.preferred[j], system.low[j], system.high[j] = 1.0 / hard, 0.0, -_MOST, _MOST
            continue
        if prescribed.is_prescribed[k]:
            system.compliance[j], system.preferred[j], system.low[j], system.high[j] = 0.0, 0.0, 0.0, 0.0
            continue
        angle, low, high = work.angles[k, a], model.low[j], model.high[j]
        comfortable = min(max(rest[k, a], low), high)
        hard += comfort
        force = comfort * (comfortable - angle)
        zone = min(_ZONE, comfortable - low)
        if angle - low < zone:
            near, steep = _push_back(angle - low, zone)
            hard, force = hard + steep, force + near
        zone = min(_ZONE, high - comfortable)
        if high - angle < zone:
            near, steep = _push_back(high - angle, zone)
            hard, force = hard + steep, force - near
        system.compliance[j] = model.compliance[j] / hard
        system.low[j] = max(low - angle, -_MOST)
        system.high[j] = max(min(high - angle, _MOST), system.low[j])
        system.preferred[j] = min(max(force / hard, system.low[j]), system.high[j])


@kernel
def _write_pose(model: IkModel, work: IkWorkspace, prescribed: Prescribed, f: int, out: FollowedPoses) -> None:
    """Write the pose of frame f."""
    rotations = prescribed.rotations
    for i in range(1, model.joints):
        if model.has_angles[i] and not prescribed.is_prescribed[i]:
            set_turn(work.angles[i], model.before[i], model.after[i], rotations[i])
    set_quaternion(work.R[0], rotations[0].copy(), rotations[0])
    out.root[f], out.rotations[f] = work.p[0], rotations
    for a in range(3):
        out.center[f, a] = work.masses_under[0, 1 + a] / work.masses_under[0, 0]
