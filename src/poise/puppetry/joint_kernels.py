"""One joint of a marionette, compiled: a pendulum with a spring, a damper and stops.   [marionette, 5.2 and 6.3]

With the joint's angle th (rad), the mass m that it carries, at distance r from the joint and with inertia I about it,
the target psi, and the angle `hang` at which it hangs straight down:

    I th'' = push - m g r sin(th - hang) + k (psi - th) - b th'                          [marionette, eq 5, 7-10]

Differences from the source. The angle in gravity's torque is the angle to the world's vertical, and gravity pulls
towards hanging; the source prints the joint's own angle without a sign. The accelerated inertia is the one about the
joint. The source's Euler steps use the velocity before the step, which gains energy. Here the equation is linearised
about the present angle, and a step of the linear equation is exact:

    x'' + d x' + k x = c    =>    x = c/k + e^(-d t / 2) (...)                           [oscillator, 1]

So no spring and no damper is too stiff for any step, a joint at rest stays there to the last bit, and the error of the
swing is of third order in the step. Steps are divided into parts of at most LONGEST.

`push` is a steady torque. With push = m g r sin(psi - hang) the joint is compensated for gravity at its target and
rests there. Without it, the joint rests off the target by m g r sin(th - hang) / k, as in the source.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel

LONGEST = 0.004  # s: for swings of 1 rad for a minute, at frame steps up to 33 ms, the period is off by 1e-5
NEAR, FAR = np.pi / 20.0, np.pi / 10.0  # rad: a foot this near to level stays level for targets this far from its pitch
BRAKE = 0.02  # s, within which a joint slows down before the end of its range, so that the stop does not throw it back
TAU = 2.0 * np.pi


class Pendulum(NamedTuple):
    """Coefficients of one joint's equation.

    inertia    kg m2
    pull       N m, m g r: gravity's largest torque
    hang       rad, at which the joint hangs straight down
    stiffness  N m/rad; 0 swings freely
    damping    N m s/rad
    target     rad
    push       N m, steady torque
    """

    inertia: float
    pull: float
    hang: float
    stiffness: float
    damping: float
    target: float
    push: float


class Hinge(NamedTuple):
    """Knee or elbow in the air.

    mass, inertia       kg and kg m2 about the joint, of all that it carries
    center_y, center_z  m, centre of mass from the joint at angle 0
    frequency, ratio    Hz and damping ratio of the spring at its stiffest; the damper is proportional to the spring
    width               rad, of the Gaussian about hanging in which the spring is soft
    passive_damping     damping ratio of the free swing, caused by tissue
    compensation        0: rests off its target as in the source; 1: gravity is compensated at the target
    """

    mass: float
    inertia: float
    center_y: float
    center_z: float
    frequency: float
    ratio: float
    width: float
    passive_damping: float
    compensation: float


class FootSpring(NamedTuple):
    """Ankle of a foot on the ground.

    gravity          m/s2
    frequency, ratio  Hz and damping ratio, where the target holds the foot off level
    level            Hz, how fast a nearly level foot becomes level
    loose            1/s, damping of a foot that falls flat
    compensation     0: the foot rests off its target by the body's weight; 1: at its target
    """

    gravity: float
    frequency: float
    ratio: float
    level: float
    loose: float
    compensation: float


class Shin(NamedTuple):
    """Direction of the shin and lever of the foot on the ground.

    lever_y, lever_z  m, from the foot's hinge (heel or ball) to the ankle, with the foot level
    y, z              direction of the shin, from the knee down, in the axes of the level foot
    """

    lever_y: float
    lever_z: float
    y: float
    z: float


@kernel
def step_pendulum(
    angle: float, speed: float, dt: float, joint: Pendulum, low: float, high: float
) -> tuple[float, float]:
    """Return angle (rad) and speed after dt seconds, within the range from low to high."""
    steps = max(int(np.ceil(dt / LONGEST - 1e-9)), 1)
    h, d = dt / steps, joint.damping / joint.inertia
    for _ in range(steps):
        lean = angle - joint.hang
        # c = th'' at rest at the present angle,  k = -d th'' / d th
        c = (joint.push - joint.pull * np.sin(lean) + joint.stiffness * (joint.target - angle)) / joint.inertia
        k = (joint.stiffness + joint.pull * np.cos(lean)) / joint.inertia
        way, speed = _move(speed, c, k, d, h)
        angle, speed = _stop(angle + way, speed, low, high)
    return angle, speed


@kernel
def _move(speed: float, c: float, k: float, d: float, t: float) -> tuple[float, float]:
    """Return x and x' at time t of x'' + d x' + k x = c from x = 0 and a speed.   [oscillator, 1]"""
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
    """Keep an angle within its range; near an end, limit the speed to what comes to rest there."""
    if angle <= low:
        return low, max(speed, 0.0)
    if angle >= high:
        return high, min(speed, 0.0)
    return angle, min(max(speed, (low - angle) / BRAKE), (high - angle) / BRAKE)


@kernel
def step_spring(
    angle: float, speed: float, dt: float, frequency: float, ratio: float, target: float, low: float, high: float
) -> tuple[float, float]:
    """Return angle and speed after dt seconds on a spring alone (frequency in Hz, damping ratio 1: no overshoot)."""
    w = TAU * frequency
    return step_pendulum(angle, speed, dt, Pendulum(1.0, 0.0, 0.0, w * w, 2.0 * ratio * w, target, 0.0), low, high)


@kernel
def find_hanging_angle(down_y: float, down_z: float, center_y: float, center_z: float) -> tuple[float, float]:
    """Return the angle (rad) at which a hinge about x hangs lowest, and the fraction of gravity in its plane.

    down    y and z of the world's down, in the axes of the hinge's parent
    center  y and z (m) of the centre of mass of what it carries, at angle 0
    """
    fraction = np.sqrt(down_y * down_y + down_z * down_z)
    if fraction < 1e-9:
        return 0.0, 0.0
    hang = np.arctan2(-down_z, -down_y) - np.arctan2(-center_z, -center_y)
    return (hang + np.pi) % TAU - np.pi, fraction


@kernel
def find_stiffness_factor(target: float, hang: float, fraction: float, width: float) -> float:
    """Return 0 if the target hangs down, so that the joint swings freely, to 1 far from there.   [marionette, 6.3.1]

    fraction  of gravity in the hinge's plane: if it is small, nothing but the spring returns the joint to its target
    """
    u = ((target - hang + np.pi) % TAU - np.pi) / width
    return 1.0 - fraction * np.exp(-0.5 * u * u)


@kernel
def find_hinge_pendulum(hinge: Hinge, down_y: float, down_z: float, target: float, gravity: float) -> Pendulum:
    """Return the equation of a hinge in the air: a free swing if its target hangs down, otherwise a spring."""
    hang, fraction = find_hanging_angle(down_y, down_z, hinge.center_y, hinge.center_z)
    distance = np.sqrt(hinge.center_y * hinge.center_y + hinge.center_z * hinge.center_z)
    pull = hinge.mass * gravity * fraction * distance
    factor = find_stiffness_factor(target, hang, fraction, hinge.width)
    stiffness = factor * hinge.inertia * (TAU * hinge.frequency) ** 2
    tissue = 2.0 * hinge.passive_damping * np.sqrt(pull * hinge.inertia)
    damping = 2.0 * hinge.ratio * np.sqrt(stiffness * hinge.inertia) + tissue
    push = hinge.compensation * pull * np.sin(target - hang)
    return Pendulum(hinge.inertia, pull, hang, stiffness, damping, target, push)


@kernel
def is_tilted(was_tilted: bool, pitch: float, target: float) -> bool:
    """Return whether the target holds a foot on the ground off level; else the foot levels out.  [marionette, 6.3.2]

    As printed, a foot within NEAR of level is levelled while its target is within FAR of its pitch. A target beyond FAR
    lifts the foot, and so does a target beyond NEAR if the foot is beyond NEAR on the same side. Without a memory, a
    target of 20 degrees would release the foot and catch it again for ever, and an oscillating spring would lose a foot
    that it holds at 10 degrees. So a tilted foot stays tilted until foot and target are both within NEAR of level.

    was_tilted  the result one frame ago
    """
    if abs(pitch) < NEAR:
        return abs(target) >= NEAR and (was_tilted or abs(target - pitch) >= FAR)
    return was_tilted or (abs(target) >= NEAR and target * pitch > 0.0)


@kernel
def step_foot_pitch(
    pitch: float, speed: float, dt: float, target: float, tilted: bool, shin: Shin, spring: FootSpring
) -> tuple[float, float]:
    """Return pitch (rad, positive with toes down) and speed of a foot on the ground.   [marionette, 6.2, 6.3.2]

    target  rad, relative to the ground
    tilted  whether the target holds the foot off level, see `is_tilted`
    """
    if abs(pitch) < NEAR and not tilted:
        # The foot stays level whatever the shin does. The source sets it level at once; here a spring levels it.
        w = TAU * spring.level
        low, high = 0.0 if pitch >= 0.0 else -FAR, 0.0 if pitch <= 0.0 else FAR
        return step_pendulum(pitch, speed, dt, Pendulum(1.0, 0.0, 0.0, w * w, 2.0 * w, 0.0, 0.0), low, high)
    firm = 1.0 if abs(target) >= NEAR else 0.0  # 1: held at the target, 0: falling flat
    steps = max(int(np.ceil(dt / LONGEST - 1e-9)), 1)
    h = dt / steps
    stiffness = firm * (TAU * spring.frequency) ** 2
    damping = 2.0 * spring.ratio * np.sqrt(stiffness) + (1.0 - firm) * spring.loose
    compensated = spring.compensation * firm * compute_foot_torque(target, shin, spring.gravity)
    low, high = _find_pitch_range(pitch, target)
    for _ in range(steps):
        weight = compute_foot_torque(pitch, shin, spring.gravity) if abs(pitch) > 1e-3 else 0.0
        pendulum = Pendulum(1.0, 0.0, 0.0, stiffness, damping, target, weight - compensated)
        pitch, speed = step_pendulum(pitch, speed, h, pendulum, low, high)
    return pitch, speed


@kernel
def _find_pitch_range(pitch: float, target: float) -> tuple[float, float]:
    """Return the range (rad) of a foot's pitch: the ground stops the toes, and the heel."""
    low, high = -np.pi, np.pi
    if target < NEAR and pitch <= 0.0:
        high = 0.0
    if target > -NEAR and pitch >= 0.0:
        low = 0.0
    return low, high


@kernel
def compute_foot_torque(pitch: float, shin: Shin, gravity: float) -> float:
    """Return the acceleration (rad/s2) of a foot about its hinge by the body's weight.   [marionette, eq 11 and 12]

    Only gravity's component along the shin is used, f = g cos(alpha), so that the body cannot fall. At the ankle, at
    distance r from the hinge, it has the torque r x f on a mass m with inertia m r^2 about the hinge: the mass, which
    the source leaves out, cancels.
    """
    cos, sin = np.cos(pitch), np.sin(pitch)
    y, z = shin.lever_y * cos - shin.lever_z * sin, shin.lever_y * sin + shin.lever_z * cos
    f = gravity * max(-shin.y, 0.0)
    return (y * f * shin.z - z * f * shin.y) / (shin.lever_y * shin.lever_y + shin.lever_z * shin.lever_z)
