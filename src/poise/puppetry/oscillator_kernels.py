"""One joint that swings: a spring towards a target, gravity, a damper and stops. Compiled.

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
"""

from __future__ import annotations

import numpy as np

from poise.spatial.compile import kernel

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
