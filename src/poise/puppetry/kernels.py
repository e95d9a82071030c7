"""The marionette's physics, compiled: every joint swings towards its target by a spring, gravity, a damper and stops.

One joint:

Source: [marionette, 5.2 and 6.3]. With the joint's angle th (rad), what it carries of mass m, centre r from the joint
and inertia I about it, the target psi, and the angle `hang` at which it hangs straight down:

    I th'' = push - m g r sin(th - hang) + k (psi - th) - b th'                          [marionette, eq 5, 7-10]

Differences from the source. The angle in gravity's torque is that to the world's vertical, and it pulls towards
hanging; the source prints the joint's own angle without a sign. What is accelerated is the inertia about the joint. The
source's Euler steps are of the velocity before the step, which gains energy. Here the equation is made linear about
where the joint is, and a step of that is exact:

    x'' + d x' + k x = c    =>    x = c/k + e^(-d t / 2) (...)                           [oscillator, 1]

so that no spring and no damper is too stiff for any step, a joint that rests stays where it is to the last bit, and the
error of the swing is of the third power of the step. Steps are cut into pieces of LONGEST at most.

`push` is a steady torque. With push = m g r sin(psi - hang) the joint bears its own weight where it is wanted: it rests
at the target itself. Without it, it rests off by m g r sin(th - hang) / k, as the source's does.

A body on strings, a frame further:

Rows are the joints that have a role, carriers first; row 0 is the root. A joint's angles (x, y, z) are those of
`body/joints.py`: zero hangs, x bends, y turns about the long axis, z goes to the side; E = exp(x, 0, z) exp(0, y, 0).
With W the orientation of a segment against how it hangs,

    W_i = W_carrier E_i,      q_i = P_i^-1 E_i C_i                                                 [marionette, rows]

A target is three angles, or an *aim*: the orientation of the segment, against the way that the body faces or against
what carries it. A foot that is down has a pose against the ground instead, F = G Ry(yaw) Rx(pitch) Rz(roll), with G the
ground's slope: pitch as in `tread`, no roll, and the yaw that it came down with, as far as the
ankle goes.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.motion.playback.part_kernels import multiply, set_exp

LONGEST = 0.004  # s: of a swing of 1 rad a minute long, at any frame step up to 33 ms, the period is off by 1e-5
NEAR, FAR = np.pi / 20.0, np.pi / 10.0  # rad: a foot this near to level stays level for targets this far from its pitch
BRAKE = 0.02  # s: what comes to a stop of a joint's range slows down within it, and is not thrown back
TAU = 2.0 * np.pi


@kernel
def swing(
    angle: float, speed: float, dt: float, inertia: float, pull: float, hang: float, stiffness: float, damping: float,
    target: float, push: float, low: float, high: float,
) -> tuple[float, float]:  # fmt: skip
    """Angle (rad) and speed after dt seconds.

    inertia    kg m2;  pull: m g r, N m;  hang: rad;  push: N m
    stiffness  N m/rad: 0 swings freely;  damping: N m s/rad;  target: rad
    low, high  rad, the joint's range
    """
    steps = max(int(np.ceil(dt / LONGEST - 1e-9)), 1)
    h, d = dt / steps, damping / inertia
    for _ in range(steps):
        lean = angle - hang
        # c = th'' at rest where it is,  k = -d th'' / d th
        c = (push - pull * np.sin(lean) + stiffness * (target - angle)) / inertia
        k = (stiffness + pull * np.cos(lean)) / inertia
        way, speed = _move(speed, c, k, d, h)
        angle, speed = _stop(angle + way, speed, low, high)
    return angle, speed


@kernel
def _move(speed: float, c: float, k: float, d: float, t: float) -> tuple[float, float]:
    """How far, and how fast then, t seconds after x = 0 with a speed, by x'' + d x' + k x = c.   [oscillator, 1]"""
    if abs(k) < 1e-7:
        k = 1e-7
    y, a = -c / k, 0.5 * d
    bend = k - a * a
    if bend * t * t > 1e-9:
        w, fade = np.sqrt(bend), np.exp(-a * t)
        cos, sin = fade * np.cos(w * t), fade * np.sin(w * t) / w
    elif bend * t * t < -1e-9:
        r = np.sqrt(-bend)
        slow, fast = np.exp((r - a) * t), np.exp(-(r + a) * t)
        cos, sin = 0.5 * (slow + fast), 0.5 * (slow - fast) / r
    else:
        cos = np.exp(-a * t)
        sin = cos * t
    return y * cos + (speed + a * y) * sin - y, speed * cos - (k * y + a * speed) * sin


@kernel
def _stop(angle: float, speed: float, low: float, high: float) -> tuple[float, float]:
    """Keep in the range: what nears its end does so no faster than it can come to rest there."""
    if angle <= low:
        return low, max(speed, 0.0)
    if angle >= high:
        return high, min(speed, 0.0)
    return angle, min(max(speed, (low - angle) / BRAKE), (high - angle) / BRAKE)


@kernel
def follow(
    angle: float, speed: float, dt: float, frequency: float, ratio: float, target: float, low: float, high: float
) -> tuple[float, float]:
    """A joint on a spring alone: of a frequency (Hz) and a damping ratio (1: no overshoot)."""
    w = TAU * frequency
    return swing(angle, speed, dt, 1.0, 0.0, 0.0, w * w, 2.0 * ratio * w, target, 0.0, low, high)


@kernel
def find_hang(down_y: float, down_z: float, center_y: float, center_z: float) -> tuple[float, float]:
    """Of a hinge about x: the angle (rad) at which its centre hangs lowest, and the share of gravity in its plane.

    down    y and z of the world's down, in the axes of what carries the hinge
    center  y and z (m) of the centre of what it carries, at angle 0
    """
    share = np.sqrt(down_y * down_y + down_z * down_z)
    if share < 1e-9:
        return 0.0, 0.0
    hang = np.arctan2(-down_z, -down_y) - np.arctan2(-center_z, -center_y)
    return (hang + np.pi) % TAU - np.pi, share


@kernel
def find_firmness(target: float, hang: float, share: float, width: float) -> float:
    """From 0, where the target hangs down and the joint may swing, to 1, where it is meant.   [marionette, 6.3.1]

    share  of gravity in the hinge's plane: where there is little, nothing brings it back, and the spring has to
    """
    u = ((target - hang + np.pi) % TAU - np.pi) / width
    return 1.0 - share * np.exp(-0.5 * u * u)


@kernel
def swing_hinge(
    angle: float, speed: float, dt: float, mass: float, inertia: float, center_y: float, center_z: float, down_y: float,
    down_z: float, target: float, frequency: float, ratio: float, width: float, passive: float, bears: float,
    gravity: float, low: float, high: float,
) -> tuple[float, float]:  # fmt: skip
    """A hinge in the air: a free swing where its target hangs down, a spring where it does not.

    frequency, ratio  Hz and damping ratio of the spring at its firmest; the damper goes along with the spring
    width             rad, of the Gaussian in which it is soft
    passive           damping ratio of the free swing: what tissue takes
    bears             0: rests off its target, as the source's; 1: bears its own weight there
    """
    hang, share = find_hang(down_y, down_z, center_y, center_z)
    pull = mass * gravity * share * np.sqrt(center_y * center_y + center_z * center_z)
    firm = find_firmness(target, hang, share, width)
    stiffness = firm * inertia * (TAU * frequency) ** 2
    damping = 2.0 * ratio * np.sqrt(stiffness * inertia) + 2.0 * passive * np.sqrt(pull * inertia)
    push = bears * pull * np.sin(target - hang)
    return swing(angle, speed, dt, inertia, pull, hang, stiffness, damping, target, push, low, high)


@kernel
def swing_support(
    angle: float, speed: float, dt: float, target: float, frequency: float, ratio: float, locked: float, near: float,
    low: float, high: float,
) -> tuple[float, float]:  # fmt: skip
    """A knee that carries: gravity is left out, and what remains is a spring; stiff where it is straight. [a2]

    frequency, ratio  Hz and damping ratio of the spring
    locked            Hz, of a straight one, without overshoot
    near              rad from straight, below which it begins to lock
    """
    steps = max(int(np.ceil(dt / LONGEST - 1e-9)), 1)
    for _ in range(steps):
        bent = min(max(max(angle, target) - low, 0.0) / near, 2.0)
        lock = 1.0 - bent * bent * (3.0 - bent) * 0.25  # 1 where it is straight, 0 from twice `near` on
        w = TAU * (frequency + lock * (locked - frequency))
        z = ratio + lock * (1.0 - ratio)
        angle, speed = swing(angle, speed, dt / steps, 1.0, 0.0, 0.0, w * w, 2.0 * z * w, target, 0.0, low, high)
    return angle, speed


@kernel
def is_held(held: bool, pitch: float, target: float) -> bool:
    """Whether the target of a foot that is down holds it off level; otherwise the foot levels out.  [marionette, 6.3.2]

    As printed, a foot within NEAR of level is levelled while its target is within FAR of its pitch. A target beyond FAR
    lifts the foot, and so does one beyond NEAR that the foot is beyond NEAR with, to the same side. Without a memory, a
    target of 20 degrees would release the foot and catch it again for ever, and a spring that swings would lose a foot
    that it holds at 10 degrees. So what is held stays held until foot and target are both within NEAR of level.

    held  whether it was held a frame ago
    """
    if abs(pitch) < NEAR:
        return abs(target) >= NEAR and (held or abs(target - pitch) >= FAR)
    return held or (abs(target) >= NEAR and target * pitch > 0.0)


@kernel
def tread(
    pitch: float, speed: float, dt: float, target: float, held: bool, lever_y: float, lever_z: float, shin_y: float,
    shin_z: float, gravity: float, frequency: float, ratio: float, level: float, loose: float, bears: float,
) -> tuple[float, float]:  # fmt: skip
    """The pitch (rad, toes down is positive) of a foot that is down, against the ground.   [marionette, 6.2, 6.3.2]

    lever   m, y and z from the hinge to the ankle with the foot level: from the heel where toes are up, else the ball
    shin    y and z of the direction of the shin, from the knee down, in the axes of the level foot
    target  rad, against the ground;  held: whether it holds the foot off level, see `is_held`
    frequency, ratio  Hz and damping ratio, where the target is meant;  loose: 1/s, damping where it is not
    level   Hz, how fast a foot that is nearly level becomes so
    """
    if abs(pitch) < NEAR and not held:
        # The foot stays level, whatever the shin does. The source sets it level at once; here it comes to be level.
        w = TAU * level
        low, high = 0.0 if pitch >= 0.0 else -FAR, 0.0 if pitch <= 0.0 else FAR
        return swing(pitch, speed, dt, 1.0, 0.0, 0.0, w * w, 2.0 * w, 0.0, 0.0, low, high)
    firm = 1.0 if abs(target) >= NEAR else 0.0  # held where the target has it, or falling flat
    steps = max(int(np.ceil(dt / LONGEST - 1e-9)), 1)
    h = dt / steps
    stiffness = firm * (TAU * frequency) ** 2
    damping = 2.0 * ratio * np.sqrt(stiffness) + (1.0 - firm) * loose
    borne = bears * firm * press(target, lever_y, lever_z, shin_y, shin_z, gravity)
    low, high = -np.pi, np.pi
    if target < NEAR and pitch <= 0.0:
        high = 0.0  # the ground stops the toes
    if target > -NEAR and pitch >= 0.0:
        low = 0.0  # and the heel
    for _ in range(steps):
        weight = press(pitch, lever_y, lever_z, shin_y, shin_z, gravity) if abs(pitch) > 1e-3 else 0.0
        pitch, speed = swing(
            pitch, speed, h, 1.0, 0.0, 0.0, stiffness, damping, target, weight - borne, low, high
        )  # fmt: skip
    return pitch, speed


@kernel
def press(pitch: float, lever_y: float, lever_z: float, shin_y: float, shin_z: float, gravity: float) -> float:
    """How the body's weight turns a foot about its hinge, rad/s2.   [marionette, eq 11 and 12]

    Of gravity only what goes along the shin is used, f = g cos(alpha), so that nobody can fall. On the ankle, off the
    hinge by r, it has the torque r x f, of a mass m whose inertia about the hinge is m r^2: the mass, which the source
    leaves out, goes away.
    """
    cos, sin = np.cos(pitch), np.sin(pitch)
    y, z = lever_y * cos - lever_z * sin, lever_y * sin + lever_z * cos
    f = gravity * max(-shin_y, 0.0)
    return (y * f * shin_z - z * f * shin_y) / (lever_y * lever_y + lever_z * lever_z)


BALL, HINGE, FOOT, TOES, ROOT = range(5)
ANGLES, FACING, CARRIED = range(3)  # what a target is: angles, an aim against the way it faces, or what carries it
# Columns of `tune`, and of `weight`.
FREQUENCY, RATIO, WIDTH, PASSIVE, DOWN_FREQUENCY, DOWN_RATIO, LOCKED, NEAR_LEVEL, LEVEL, LOOSE, BEARS = range(11)
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
                        tune[i, DOWN_RATIO], tune[i, LOCKED], tune[i, NEAR_LEVEL], lower[i, 0], upper[i, 0],
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
