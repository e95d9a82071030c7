"""A body on strings, a frame further: every joint swings towards its target. Compiled.

Rows are the joints that have a role, carriers first; row 0 is the root. A joint's angles (x, y, z) are those of
`body.limits`: zero hangs, x bends, y turns about the long axis, z goes to the side; E = exp(x, 0, z) exp(0, y, 0). With
W the orientation of a segment against how it hangs,

    W_i = W_carrier E_i,      q_i = P_i^-1 E_i C_i                                                 [marionette, rows]

A target is three angles, or an *aim*: the orientation of the segment, against the way that the body faces or against
what carries it. A foot that is down has a pose against the ground instead, F = G Ry(yaw) Rx(pitch) Rz(roll), with G the
ground's slope: pitch as in `oscillator_kernels.tread`, no roll, and the yaw that it came down with, as far as the
ankle goes.
"""

from __future__ import annotations

import numpy as np

from poise.motion.part_kernels import multiply, set_exp
from poise.puppetry.oscillator_kernels import follow, is_held, swing_hinge, swing_support, tread
from poise.spatial.compile import kernel

BALL, HINGE, FOOT, TOES, ROOT = range(5)
ANGLES, FACING, CARRIED = range(3)  # what a target is: angles, an aim against the way it faces, or what carries it
# Columns of `tune`, and of `weight`.
FREQUENCY, RATIO, WIDTH, PASSIVE, DOWN_FREQUENCY, DOWN_RATIO, LOCKED, NEAR, LEVEL, LOOSE, BEARS = range(11)
MASS, INERTIA, CENTER_Y, CENTER_Z = range(4)
_GROW, _SHRINK = 0.08, 0.15  # s, in which toes come to lie flat under a heel that is up, and come back
_ENDLESS = 1e9
_LIFTED, _LOWERED = 0.85, 0.2  # of a shin's tilt: see `_find_hanging`


@kernel
def step(
    dt: float, gravity: float, carrier: np.ndarray, kind: np.ndarray, side: np.ndarray, P: np.ndarray, C: np.ndarray,
    lower: np.ndarray, upper: np.ndarray, weight: np.ndarray, tune: np.ndarray, levers: np.ndarray, sort: np.ndarray,
    target: np.ndarray, aim: np.ndarray, tension: np.ndarray, down: np.ndarray, slope: np.ndarray, angles: np.ndarray,
    speeds: np.ndarray, W: np.ndarray, foot: np.ndarray, q: np.ndarray,
) -> None:  # fmt: skip
    """One frame of dt seconds.

    carrier, kind, side  (R,) rows; side 0 left, 1 right, -1 neither
    P, C                 (R, 4);  lower, upper (R, 3) rad
    weight, tune         (R, 4), (R, 11): columns above
    levers               (2, 2, 2) m: of each foot, from heel and from ball to the ankle, y and z
    sort, target, aim    (R,), (R, 3), (R, 4): what is wanted;  tension (R,): of its springs, 1 is usual
    down, slope          (2,) whether feet are down, (2, 4) the ground's slope there
    angles, speeds       (R, 3) state;  W (R, 4): written
    foot                 (2, 12) state: pose against the ground (yaw, pitch, roll), its speeds, the pose one frame ago,
                         the yaw that it came down with, whether it was down (1) and held off level by its target (2),
                         how far toes lie flat
    q                    (R, 4) rotations of the joints: written
    """
    E, work, turn = np.empty(4), np.empty(4), np.empty(4)
    wanted = np.empty(3)
    for i in range(len(carrier)):
        k = kind[i]
        stiff = np.sqrt(max(tension[i], 0.0))
        f, z = tune[i, FREQUENCY] * stiff, tune[i, RATIO]
        if k == ROOT:
            for a in range(3):
                angles[i, a], speeds[i, a] = follow(
                    angles[i, a], speeds[i, a], dt, f, z, target[i, a], -_ENDLESS, _ENDLESS
                )
            # W = Ry(y) exp(x, 0, z): it leans in the way it faces
            _set_yaw(angles[i, 1], work)
            set_exp(np.array([angles[i, 0], 0.0, angles[i, 2]]), turn)
            multiply(work, turn, W[i])
            q[i] = W[i]
            continue
        c = carrier[i]
        if sort[i] == ANGLES:
            wanted[:] = target[i]
        else:
            if sort[i] == FACING:
                # E = W_carrier^-1 Ry(facing) aim
                _set_yaw(angles[0, 1], work)
                multiply(work, aim[i], turn)
                _multiply_back(W[c], turn, E)
            else:
                E[:] = aim[i]
            _find_angles(E, wanted)
        is_down = side[i] >= 0 and down[max(side[i], 0)]
        if k == FOOT and not is_down and sort[i] == ANGLES:
            wanted[0] -= _find_hanging(W[c], C[i], slope[side[i]])
        for a in range(3):
            wanted[a] = min(max(wanted[a], lower[i, a]), upper[i, a])
        if k == FOOT and is_down:
            _tread(
                i, c, dt, gravity, wanted[0], C, lower, upper, tune, levers[side[i]], slope[side[i]], angles, speeds, W,
                foot[side[i]], stiff,
            )  # fmt: skip
        elif k == TOES:
            _lie(dt, is_down, foot[side[i]])
            u = foot[side[i], 11]
            flat = -max(foot[side[i], 1], 0.0) * u * u * (3.0 - 2.0 * u)
            angles[i, 0], speeds[i, 0] = follow(
                angles[i, 0], speeds[i, 0], dt, f, z, flat + wanted[0] * (1.0 - u), lower[i, 0], upper[i, 0]
            )
        else:
            first = 0
            if k == HINGE:
                first = 1
                if is_down:
                    angles[i, 0], speeds[i, 0] = swing_support(
                        angles[i, 0], speeds[i, 0], dt, wanted[0], tune[i, DOWN_FREQUENCY] * stiff,
                        tune[i, DOWN_RATIO], tune[i, LOCKED], tune[i, NEAR], lower[i, 0], upper[i, 0],
                    )  # fmt: skip
                else:
                    # The world's down in the axes of what carries it: the second column of W, turned round.
                    w, x, y, r = W[c, 0], W[c, 1], W[c, 2], W[c, 3]
                    down_y, down_z = -(1.0 - 2.0 * (x * x + r * r)), -2.0 * (y * r - w * x)
                    angles[i, 0], speeds[i, 0] = swing_hinge(
                        angles[i, 0], speeds[i, 0], dt, weight[i, MASS], weight[i, INERTIA], weight[i, CENTER_Y],
                        weight[i, CENTER_Z], down_y, down_z, wanted[0], f, z, tune[i, WIDTH], tune[i, PASSIVE],
                        tune[i, BEARS], gravity, lower[i, 0], upper[i, 0],
                    )  # fmt: skip
            for a in range(first, 3):
                angles[i, a], speeds[i, a] = follow(
                    angles[i, a], speeds[i, a], dt, f, z, wanted[a], lower[i, a], upper[i, a]
                )
        _set_turn(angles[i], E)
        multiply(W[c], E, W[i])
        if k == FOOT:
            _see(dt, is_down, W[i], C[i], slope[side[i]], foot[side[i]])
        _multiply_back(P[i], E, work)
        multiply(work, C[i], q[i])


@kernel
def _tread(
    i: int, c: int, dt: float, gravity: float, target: float, C: np.ndarray, lower: np.ndarray, upper: np.ndarray,
    tune: np.ndarray, levers: np.ndarray, slope: np.ndarray, angles: np.ndarray, speeds: np.ndarray, W: np.ndarray,
    foot: np.ndarray, stiff: float,
) -> None:  # fmt: skip
    """A foot that is down: its pose against the ground, and the angles of the ankle that give it."""
    E, work, turn = np.empty(4), np.empty(4), np.empty(4)
    if foot[10] == 0.0:  # it has just come down: its pose and its speeds are those that it had in the air
        _set_turn(angles[i], E)
        multiply(W[c], E, work)
        multiply(work, C[i], turn)
        before = foot[:3].copy()
        _find_pose(slope, turn, foot)
        for a in range(3):
            foot[3 + a] = _wrap(foot[a] - before[a]) / dt
        foot[4] += speeds[i, 0]
        foot[5] += speeds[i, 2]
        foot[9] = foot[0]
    # The shin's direction in the axes of the level foot: -y of W, turned back by slope and yaw.
    _set_yaw(foot[0], work)
    multiply(slope, work, turn)
    _multiply_back(turn, W[c], E)
    w, x, y, r = E[0], E[1], E[2], E[3]
    shin_y, shin_z = -(1.0 - 2.0 * (x * x + r * r)), -2.0 * (y * r + w * x)
    hinge = 0 if foot[1] < 0.0 or (foot[1] == 0.0 and target < 0.0) else 1
    foot[10] = 2.0 if is_held(foot[10] == 2.0, foot[1], target) else 1.0
    foot[1], foot[4] = tread(
        foot[1], foot[4], dt, target, foot[10] == 2.0, levers[hinge, 0], levers[hinge, 1], shin_y, shin_z, gravity,
        tune[i, DOWN_FREQUENCY] * stiff, tune[i, DOWN_RATIO], tune[i, LEVEL], tune[i, LOOSE], tune[i, BEARS],
    )  # fmt: skip
    foot[2], foot[5] = follow(foot[2], foot[5], dt, tune[i, LEVEL], 1.0, 0.0, -_ENDLESS, _ENDLESS)
    foot[0], foot[3] = foot[9], 0.0
    # E = W_shin^-1 F C^-1, within the ankle's range: what that does not allow, the ground has to
    _set_pose(slope, foot, turn)
    _multiply_back(W[c], turn, work)
    conjugate = C[i] * np.array([1.0, -1.0, -1.0, -1.0])
    multiply(work, conjugate, E)
    found = np.empty(3)
    _find_angles(E, found)
    cut = False
    for a in range(3):
        inside = min(max(found[a], lower[i, a]), upper[i, a])
        cut = cut or inside != found[a]
        speeds[i, a] = (inside - angles[i, a]) / dt
        angles[i, a] = inside
    if cut:
        _set_turn(angles[i], E)
        multiply(W[c], E, work)
        multiply(work, C[i], turn)
        old = foot[1]
        _find_pose(slope, turn, foot)
        foot[9] = foot[0]
        if foot[1] != old:
            foot[4] = 0.0


@kernel
def _find_hanging(shin: np.ndarray, C: np.ndarray, slope: np.ndarray) -> float:
    """By how much (rad) of its shin's tilt a foot in the air is turned back: its target is against the ground, too.

    Toes that would hang are lifted, so that they clear the ground. Toes that would point up, as before a heel comes
    down, are left where they are for the most part.
    """
    turn, pose = np.empty(4), np.empty(3)
    multiply(shin, C, turn)
    _find_pose(slope, turn, pose)
    return pose[1] * (_LIFTED if pose[1] > 0.0 else _LOWERED)


@kernel
def _see(dt: float, is_down: bool, W: np.ndarray, C: np.ndarray, slope: np.ndarray, foot: np.ndarray) -> None:
    """Note how a foot is against the ground, which is where it begins when it comes down."""
    if is_down:
        return
    foot[10] = 0.0
    turn = np.empty(4)
    multiply(W, C, turn)
    _find_pose(slope, turn, foot)


@kernel
def _lie(dt: float, is_down: bool, foot: np.ndarray) -> None:
    foot[11] = min(foot[11] + dt / _GROW, 1.0) if is_down else max(foot[11] - dt / _SHRINK, 0.0)


@kernel
def _set_turn(angles: np.ndarray, E: np.ndarray) -> None:
    """E = exp(x, 0, z) exp(0, y, 0)."""
    swing, twist = np.empty(4), np.empty(4)
    set_exp(np.array([angles[0], 0.0, angles[2]]), swing)
    _set_yaw(angles[1], twist)
    multiply(swing, twist, E)


@kernel
def _find_angles(E: np.ndarray, out: np.ndarray) -> None:
    """The angles of E: its twist about y, and the swing that is left."""
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
def _set_pose(slope: np.ndarray, pose: np.ndarray, out: np.ndarray) -> None:
    """F = G Ry(yaw) Rx(pitch) Rz(roll)."""
    a, b = np.empty(4), np.empty(4)
    _set_yaw(pose[0], a)
    multiply(slope, a, b)
    multiply(b, np.array([np.cos(0.5 * pose[1]), np.sin(0.5 * pose[1]), 0.0, 0.0]), a)
    multiply(a, np.array([np.cos(0.5 * pose[2]), 0.0, 0.0, np.sin(0.5 * pose[2])]), out)


@kernel
def _find_pose(slope: np.ndarray, F: np.ndarray, out: np.ndarray) -> None:
    """Yaw, pitch and roll of F against the ground, into the first three of `out`."""
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
