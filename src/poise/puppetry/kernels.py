"""The joints of a marionette, compiled: every joint swings towards its target, parents first.

Rows are the joints that have a role, parents first; row 0 is the root. A joint's angles (x, y, z) are those of
`body/joints.py`: zero hangs, x bends, y twists about the long axis, z goes to the side; E = exp(x, 0, z) exp(0, y, 0).
With W the orientation of a segment relative to its hanging orientation, and P, C the orientations of parent and child
at zero,

    W_i = W_parent E_i,      q_i = P_i^-1 E_i C_i                                                  [marionette, rows]

A target is three angles, or the orientation of the segment, relative to the facing direction or to the parent. A foot
on the ground has a pose relative to the ground instead, F = G Ry(yaw) Rx(pitch) Rz(roll), with G the ground's slope:
the pitch follows `step_foot_pitch`, the roll is zero, and the yaw stays as at contact, within the ankle's range.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.layout import Flags, Floats, Ints, Layout
from poise.motion.playback.part_kernels import multiply, set_exp
from poise.puppetry.joint_kernels import (
    LONGEST,
    TAU,
    FootSpring,
    Hinge,
    Pendulum,
    Shin,
    find_hinge_pendulum,
    is_tilted,
    step_foot_pitch,
    step_pendulum,
    step_spring,
)  # fmt: skip

BALL, HINGE, FOOT, TOES = range(4)  # kinds of joints
ANGLES, FACING, RELATIVE = range(3)  # kinds of targets: angles, or an orientation relative to the facing or the parent
IN_AIR, LEVEL, TILTED = range(3)  # contact of a foot: none, flat or becoming so, held off level by its target
_TOES_FLATTEN, _TOES_RETURN = 0.08, 0.15  # s, in which toes come to lie flat under a raised heel, and return
_ENDLESS = 1e9  # rad: no range
_TOES_DOWN, _TOES_UP = 0.85, 0.2  # fraction of the foot's tilt in the air that is corrected: see `_find_air_tilt`


class Joints(Layout):
    """Constant properties of a marionette's joints, one row each; springs are those of `springs.py`."""

    count: int
    gravity: float  # m/s2, downwards
    parents: Annotated[Ints, "count"]  # row of the parent; -1 for the root
    kind: Annotated[Ints, "count"]  # BALL, HINGE, FOOT or TOES
    side: Annotated[Ints, "count"]  # of shins, feet and toes: 0 left, 1 right; -1 for others
    parent_zero: Annotated[Floats, "count", 4]  # P above
    child_zero: Annotated[Floats, "count", 4]  # C above
    lower: Annotated[Floats, "count", 3]  # rad
    upper: Annotated[Floats, "count", 3]  # rad
    mass: Annotated[Floats, "count"]  # kg that a hinge carries
    inertia: Annotated[Floats, "count"]  # kg m2 of it about the hinge
    center: Annotated[Floats, "count", 2]  # m, y and z of its centre of mass from the hinge at angle 0
    levers: Annotated[Floats, 2, 2, 2]  # m, of each foot, from heel and from ball to the ankle, y and z
    frequency: Annotated[Floats, "count"]
    ratio: Annotated[Floats, "count"]
    width: Annotated[Floats, "count"]
    passive_damping: Annotated[Floats, "count"]
    down_frequency: Annotated[Floats, "count"]
    down_ratio: Annotated[Floats, "count"]
    locked: Annotated[Floats, "count"]
    lock_range: Annotated[Floats, "count"]
    level: Annotated[Floats, "count"]
    loose: Annotated[Floats, "count"]
    gravity_compensation: Annotated[Floats, "count"]


class State(Layout):
    """Targets and state of a marionette's joints."""

    count: int
    target_kind: Annotated[Ints, "count"]  # ANGLES, FACING or RELATIVE
    target: Annotated[Floats, "count", 3]  # rad, if the kind is ANGLES
    target_orientation: Annotated[Floats, "count", 4]  # otherwise
    tension: Annotated[Floats, "count"]  # factor of the springs' stiffness
    in_contact: Annotated[Flags, 2]  # whether each foot is on the ground
    slope: Annotated[Floats, 2, 4]  # orientation of the ground under each foot
    angles: Annotated[Floats, "count", 3]  # rad
    speeds: Annotated[Floats, "count", 3]  # rad/s
    world: Annotated[Floats, "count", 4]  # W above
    rotations: Annotated[Floats, "count", 4]  # q above, of the joints relative to their parents
    foot_pose: Annotated[Floats, 2, 3]  # rad, yaw, pitch and roll of each foot relative to the ground
    foot_speed: Annotated[Floats, 2, 3]  # rad/s
    contact: Annotated[Ints, 2]  # IN_AIR, LEVEL or TILTED, in the last frame
    contact_yaw: Annotated[Floats, 2]  # rad, yaw at which each foot came down
    toes_flat: Annotated[Floats, 2]  # 0 to 1: how far the toes have come to lie flat


@kernel
def step(joints: Joints, state: State, dt: float) -> None:
    """Advance every joint by a frame of dt seconds."""
    _step_root(joints, state, dt)
    angles, speeds, target = state.angles, state.speeds, np.empty(3)
    for i in range(1, joints.count):
        side = joints.side[i]
        is_down = side >= 0 and state.in_contact[max(side, 0)]
        _find_target(joints, state, i, is_down, target)
        kind, first = joints.kind[i], 0
        if kind == FOOT and is_down:
            _step_planted_foot(joints, state, i, target[0], dt)
            first = 3
        elif kind == TOES:
            _step_toes(joints, state, i, target[0], dt)
            first = 3
        elif kind == HINGE:
            _step_hinge(joints, state, i, target[0], dt)
            first = 1
        f, z = joints.frequency[i] * np.sqrt(max(state.tension[i], 0.0)), joints.ratio[i]
        for a in range(first, 3):
            angles[i, a], speeds[i, a] = step_spring(
                angles[i, a], speeds[i, a], dt, f, z, target[a], joints.lower[i, a], joints.upper[i, a]
            )
        _write_orientation(joints, state, i)
        if kind == FOOT and not is_down:
            _follow_foot_in_air(joints, state, i)


@kernel
def _step_root(joints: Joints, state: State, dt: float) -> None:
    """Advance the root, which follows its target on springs without a range: W = Ry(y) exp(x, 0, z)."""
    angles, speeds, turn, lean = state.angles[0], state.speeds[0], np.empty(4), np.empty(4)
    f, z = joints.frequency[0] * np.sqrt(max(state.tension[0], 0.0)), joints.ratio[0]
    for a in range(3):
        angles[a], speeds[a] = step_spring(angles[a], speeds[a], dt, f, z, state.target[0, a], -_ENDLESS, _ENDLESS)
    _set_yaw(angles[1], turn)
    set_exp(np.array([angles[0], 0.0, angles[2]]), lean)
    multiply(turn, lean, state.world[0])
    state.rotations[0] = state.world[0]


@kernel
def _find_target(joints: Joints, state: State, i: int, is_down: bool, target: np.ndarray) -> None:
    """Write the target angles (3,) of a joint, within its range."""
    parent, kind = state.world[joints.parents[i]], state.target_kind[i]
    if kind == ANGLES:
        target[:] = state.target[i]
        if joints.kind[i] == FOOT and not is_down:
            target[0] -= _find_air_tilt(parent, joints.child_zero[i], state.slope[joints.side[i]])
    elif kind == FACING:
        # E = W_parent^-1 Ry(facing) O
        facing, turn, E = np.empty(4), np.empty(4), np.empty(4)
        _set_yaw(state.angles[0, 1], facing)
        multiply(facing, state.target_orientation[i], turn)
        _multiply_back(parent, turn, E)
        _find_angles(E, target)
    else:
        _find_angles(state.target_orientation[i], target)
    for a in range(3):
        target[a] = min(max(target[a], joints.lower[i, a]), joints.upper[i, a])


@kernel
def _find_air_tilt(shin: np.ndarray, zero: np.ndarray, slope: np.ndarray) -> float:
    """Return the angle (rad) by which a foot in the air is turned back from its shin's tilt, towards the ground.

    Hanging toes are lifted, so that they clear the ground. Toes that would point up, as before heel contact, are mostly
    left there.
    """
    turn, pose = np.empty(4), np.empty(3)
    multiply(shin, zero, turn)
    find_foot_pose(slope, turn, pose)
    return pose[1] * (_TOES_DOWN if pose[1] > 0.0 else _TOES_UP)


@kernel
def _step_hinge(joints: Joints, state: State, i: int, target: float, dt: float) -> None:
    """Advance a knee or an elbow about its x axis."""
    side, low, high = joints.side[i], joints.lower[i, 0], joints.upper[i, 0]
    angle, speed = state.angles[i, 0], state.speeds[i, 0]
    if side >= 0 and state.in_contact[max(side, 0)]:
        angle, speed = _step_stance_knee(joints, state, i, target, dt)
    else:
        stiff = np.sqrt(max(state.tension[i], 0.0))
        hinge = Hinge(
            joints.mass[i], joints.inertia[i], joints.center[i, 0], joints.center[i, 1], joints.frequency[i] * stiff,
            joints.ratio[i], joints.width[i], joints.passive_damping[i], joints.gravity_compensation[i],
        )  # fmt: skip
        # The world's down in the axes of the parent: the second column of W, negated.
        W = state.world[joints.parents[i]]
        w, x, y, r = W[0], W[1], W[2], W[3]
        down_y, down_z = -(1.0 - 2.0 * (x * x + r * r)), -2.0 * (y * r - w * x)
        pendulum = find_hinge_pendulum(hinge, down_y, down_z, target, joints.gravity)
        angle, speed = step_pendulum(angle, speed, dt, pendulum, low, high)
    state.angles[i, 0], state.speeds[i, 0] = angle, speed


@kernel
def _step_stance_knee(joints: Joints, state: State, i: int, target: float, dt: float) -> tuple[float, float]:
    """Return angle and speed of a knee that bears weight: a spring without gravity, stiff when straight.   [a2]"""
    angle, speed, low, high = state.angles[i, 0], state.speeds[i, 0], joints.lower[i, 0], joints.upper[i, 0]
    frequency = joints.down_frequency[i] * np.sqrt(max(state.tension[i], 0.0))
    ratio, locked = joints.down_ratio[i], joints.locked[i]
    steps = max(int(np.ceil(dt / LONGEST - 1e-9)), 1)
    for _ in range(steps):
        bent = min(max(max(angle, target) - low, 0.0) / joints.lock_range[i], 2.0)
        lock = 1.0 - bent * bent * (3.0 - bent) * 0.25  # 1 when straight, 0 from twice the lock range on
        w = TAU * (frequency + lock * (locked - frequency))
        z = ratio + lock * (1.0 - ratio)
        pendulum = Pendulum(1.0, 0.0, 0.0, w * w, 2.0 * z * w, target, 0.0)
        angle, speed = step_pendulum(angle, speed, dt / steps, pendulum, low, high)
    return angle, speed


@kernel
def _step_toes(joints: Joints, state: State, i: int, target: float, dt: float) -> None:
    """Advance toes: flat on the ground under a raised heel, otherwise at their target."""
    side = joints.side[i]
    flat = state.toes_flat[side]
    u = min(flat + dt / _TOES_FLATTEN, 1.0) if state.in_contact[side] else max(flat - dt / _TOES_RETURN, 0.0)
    state.toes_flat[side] = u
    level = -max(state.foot_pose[side, 1], 0.0) * u * u * (3.0 - 2.0 * u)
    state.angles[i, 0], state.speeds[i, 0] = step_spring(
        state.angles[i, 0], state.speeds[i, 0], dt, joints.frequency[i] * np.sqrt(max(state.tension[i], 0.0)),
        joints.ratio[i], level + target * (1.0 - u), joints.lower[i, 0], joints.upper[i, 0],
    )  # fmt: skip


@kernel
def _step_planted_foot(joints: Joints, state: State, i: int, target: float, dt: float) -> None:
    """Advance a foot on the ground: its pose relative to the ground, and the ankle's angles that result in it."""
    side = joints.side[i]
    if state.contact[side] == IN_AIR:
        _land_foot(joints, state, i, dt)
    pose, speed = state.foot_pose[side], state.foot_speed[side]
    tilted = is_tilted(state.contact[side] == TILTED, pose[1], target)
    state.contact[side] = TILTED if tilted else LEVEL
    spring = FootSpring(
        joints.gravity, joints.down_frequency[i] * np.sqrt(max(state.tension[i], 0.0)), joints.down_ratio[i],
        joints.level[i], joints.loose[i], joints.gravity_compensation[i],
    )  # fmt: skip
    shin = _find_shin(joints, state, i, target)
    pose[1], speed[1] = step_foot_pitch(pose[1], speed[1], dt, target, tilted, shin, spring)
    pose[2], speed[2] = step_spring(pose[2], speed[2], dt, joints.level[i], 1.0, 0.0, -_ENDLESS, _ENDLESS)
    pose[0], speed[0] = state.contact_yaw[side], 0.0
    _turn_ankle(joints, state, i, dt)


@kernel
def _land_foot(joints: Joints, state: State, i: int, dt: float) -> None:
    """Begin the contact of a foot with the pose and the speeds that it had in the air."""
    side = joints.side[i]
    pose, speed = state.foot_pose[side], state.foot_speed[side]
    before, world = pose.copy(), np.empty(4)
    _find_foot_orientation(joints, state, i, world)
    find_foot_pose(state.slope[side], world, pose)
    for a in range(3):
        speed[a] = _wrap(pose[a] - before[a]) / dt
    speed[1] += state.speeds[i, 0]
    speed[2] += state.speeds[i, 2]
    state.contact_yaw[side] = pose[0]


@kernel
def _find_shin(joints: Joints, state: State, i: int, target: float) -> Shin:
    """Return the shin's direction in the axes of the level foot, and the foot's lever about its hinge."""
    side = joints.side[i]
    pose, yaw, turn, E = state.foot_pose[side], np.empty(4), np.empty(4), np.empty(4)
    # -y of W, turned back by slope and yaw
    _set_yaw(pose[0], yaw)
    multiply(state.slope[side], yaw, turn)
    _multiply_back(turn, state.world[joints.parents[i]], E)
    w, x, y, r = E[0], E[1], E[2], E[3]
    hinge = 0 if pose[1] < 0.0 or (pose[1] == 0.0 and target < 0.0) else 1
    lever = joints.levers[side, hinge]
    return Shin(lever[0], lever[1], -(1.0 - 2.0 * (x * x + r * r)), -2.0 * (y * r + w * x))


@kernel
def _turn_ankle(joints: Joints, state: State, i: int, dt: float) -> None:
    """Write the ankle's angles and speeds for the foot's pose: E = W_shin^-1 F C^-1, within the ankle's range."""
    side, angles, speeds = joints.side[i], state.angles[i], state.speeds[i]
    turn, work, E, found = np.empty(4), np.empty(4), np.empty(4), np.empty(3)
    set_foot_orientation(state.slope[side], state.foot_pose[side], turn)
    _multiply_back(state.world[joints.parents[i]], turn, work)
    conjugate = joints.child_zero[i] * np.array([1.0, -1.0, -1.0, -1.0])
    multiply(work, conjugate, E)
    _find_angles(E, found)
    is_limited = False
    for a in range(3):
        inside = min(max(found[a], joints.lower[i, a]), joints.upper[i, a])
        is_limited = is_limited or inside != found[a]
        speeds[a] = (inside - angles[a]) / dt
        angles[a] = inside
    if is_limited:  # the ankle's range determines the foot's pose
        pose = state.foot_pose[side]
        pitch = pose[1]
        _find_foot_orientation(joints, state, i, turn)
        find_foot_pose(state.slope[side], turn, pose)
        state.contact_yaw[side] = pose[0]
        if pose[1] != pitch:
            state.foot_speed[side, 1] = 0.0


@kernel
def _find_foot_orientation(joints: Joints, state: State, i: int, out: np.ndarray) -> None:
    """Write the orientation (4,) of a foot in the world, from its parent and its own angles."""
    E, work = np.empty(4), np.empty(4)
    _set_turn(state.angles[i], E)
    multiply(state.world[joints.parents[i]], E, work)
    multiply(work, joints.child_zero[i], out)


@kernel
def _follow_foot_in_air(joints: Joints, state: State, i: int) -> None:
    """Write the pose of a foot in the air relative to the ground, at which its contact will begin."""
    side, turn = joints.side[i], np.empty(4)
    state.contact[side] = IN_AIR
    multiply(state.world[i], joints.child_zero[i], turn)
    find_foot_pose(state.slope[side], turn, state.foot_pose[side])


@kernel
def _write_orientation(joints: Joints, state: State, i: int) -> None:
    """Write a joint's rotation, and its segment's orientation in the world.   [marionette, rows]"""
    E, work = np.empty(4), np.empty(4)
    _set_turn(state.angles[i], E)
    multiply(state.world[joints.parents[i]], E, state.world[i])
    _multiply_back(joints.parent_zero[i], E, work)
    multiply(work, joints.child_zero[i], state.rotations[i])


# Rotations.


@kernel
def _set_turn(angles: np.ndarray, E: np.ndarray) -> None:
    """E = exp(x, 0, z) exp(0, y, 0)."""
    swing, twist = np.empty(4), np.empty(4)
    set_exp(np.array([angles[0], 0.0, angles[2]]), swing)
    _set_yaw(angles[1], twist)
    multiply(swing, twist, E)


@kernel
def _find_angles(E: np.ndarray, out: np.ndarray) -> None:
    """Write the angles of E: its twist about y, and the remaining swing."""
    norm = np.sqrt(E[0] * E[0] + E[2] * E[2])
    twist, swing = np.array([1.0, 0.0, 0.0, 0.0]), np.empty(4)
    if norm > 1e-12:
        twist[0], twist[2] = E[0] / norm, -E[2] / norm
    multiply(E, twist, swing)
    if swing[0] < 0.0:
        swing *= -1.0
    size = np.sqrt(swing[1] * swing[1] + swing[3] * swing[3])
    scale = 2.0 * np.arctan2(size, swing[0]) / size if size > 1e-12 else 2.0
    out[0], out[2] = scale * swing[1], scale * swing[3]
    out[1] = _wrap(2.0 * np.arctan2(-twist[2], twist[0]))


@kernel
def set_foot_orientation(slope: np.ndarray, pose: np.ndarray, out: np.ndarray) -> None:
    """F = G Ry(yaw) Rx(pitch) Rz(roll)."""
    a, b = np.empty(4), np.empty(4)
    _set_yaw(pose[0], a)
    multiply(slope, a, b)
    multiply(b, np.array([np.cos(0.5 * pose[1]), np.sin(0.5 * pose[1]), 0.0, 0.0]), a)
    multiply(a, np.array([np.cos(0.5 * pose[2]), 0.0, 0.0, np.sin(0.5 * pose[2])]), out)


@kernel
def find_foot_pose(slope: np.ndarray, F: np.ndarray, out: np.ndarray) -> None:
    """Write yaw, pitch and roll (3,) of F relative to the ground."""
    E = np.empty(4)
    _multiply_back(slope, F, E)
    w, x, y, z = E[0], E[1], E[2], E[3]
    # With R = Ry Rx Rz:  R12 = -sin(pitch),  R02 / R22 = tan(yaw),  R10 / R11 = tan(roll)
    out[1] = np.arcsin(min(max(-2.0 * (y * z - w * x), -1.0), 1.0))
    out[0] = np.arctan2(2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y))
    out[2] = np.arctan2(2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z))


@kernel
def _set_yaw(angle: float, q: np.ndarray) -> None:
    q[0], q[1], q[2], q[3] = np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0


@kernel
def _multiply_back(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Out = a^-1 b."""
    multiply(np.array([a[0], -a[1], -a[2], -a[3]]), b, out)


@kernel
def _wrap(angle: float) -> float:
    return (angle + np.pi) % (2.0 * np.pi) - np.pi
