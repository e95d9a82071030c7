"""Laws of the stage itself: the clock, the coupling, pushes, damping of joints that turn too fast."""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import law
from poise.compiled.layout import at
from poise.dynamics.body_kernels import Body, update_body
from poise.stage.coupling.kernels import (
    Coupling,
    add_pushes,
    couple_exact,
    couple_paper,
    hand_on_pressed,
    hand_on_pushes,
    hand_to_connectors,
)
from poise.stage.coupling.paper import EVERY
from poise.stage.coupling.paper_kernels import choose_filter, find_ratio

# c below. Of 40 runs of slapped arms and ragdolls with little damping, at 1 to 10 ms, 21 explode with 0, none with 1.
OVERSPEED_DAMPING = 2.0
OVERSPEED = 0.1  # rad per step, up to which an engine's own error is small
MASSLESS_TIME = 0.5  # s: an arm on a collar bone is braked less than by `Loose()`


@law
def start_clock(body: int, _block: int) -> None:
    """Set the time of the step; motions are evaluated at its midpoint."""
    b = at(body, Body)
    b.t = b.steps * b.dt
    b.at = b.t + 0.5 * b.dt


@law
def couple_exactly(body: int, block: int) -> None:
    """Compute all poses, and the wrench of the prescribed motion on what carries it.   [mix, eq 1]"""
    b, x = at(body, Body), at(block, Coupling)
    update_body(b)
    _clear(b.wrench)
    couple_exact(b, x, b.wrench)
    hand_to_connectors(b.parents, x.accelerating, b.p, b.wrench)
    _copy(b.wrench, b.coupling)


@law
def couple_as_published(body: int, block: int) -> None:
    """Like `couple_exactly`, from the connectors' accelerations of the steps before.   [mix, eq 2-7]"""
    b, x = at(body, Body), at(block, Coupling)
    update_body(b)
    _clear(b.wrench)
    couple_paper(b, x)
    hand_to_connectors(b.parents, x.accelerating, b.p, b.wrench)
    _copy(b.wrench, b.coupling)
    _clear(b.reaction)
    couple_exact(b, x, b.reaction)
    hand_to_connectors(b.parents, x.accelerating, b.p, b.reaction)


@law
def differentiate(body: int, block: int) -> None:
    """Filter the accelerations of the physical bodies over the last steps, which the `paper` coupling reads."""
    b, x = at(body, Body), at(block, Coupling)
    om, vel, al, acc, om_before, vel_before = b.om, b.vel, x.al, x.acc, x.om_before, x.vel_before
    _copy(om, om_before)
    _copy(vel, vel_before)
    update_body(b)
    if x.filter_is_fixed == 0 and b.steps % EVERY == EVERY - 1:
        x.filter_factor[0] = choose_filter(find_ratio(b, x.given, b.R, b.p, x.torque_only == 1), x.gain)
    s = x.filter_factor[0]
    for i in range(b.joints):
        for k in range(3):
            al[i, k] += s * ((om[i, k] - om_before[i, k]) / b.dt - al[i, k])
            acc[i, k] += s * ((vel[i, k] - vel_before[i, k]) / b.dt - acc[i, k])


@law
def push(body: int, block: int) -> None:
    """Add the pushes of this step, and move them to what carries prescribed joints, as the coupling is."""
    b, x = at(body, Body), at(block, Coupling)
    add_pushes(b, x)
    hand_on_pushes(b.parents, x.accelerating, b.p, b.wrench, x.felt)


@law
def hand_on_contacts(body: int, block: int) -> None:
    """Sum what contacts press on each prescribed joint by all prescribed segments outboard of it.

    A physical segment passes nothing on, since its joint yields by itself.
    """
    b, x = at(body, Body), at(block, Coupling)
    hand_on_pressed(b.parents, x.accelerating, b.p, x.pressed)


@law
def clear_commands(body: int, _block: int) -> None:
    """Reset torques, damping and nudges; keep the velocities, to compare them with those after the step."""
    b = at(body, Body)
    damping, nudged, v, v_before = b.damping, b.nudged, b.v, b.v_before
    _clear(b.torque)
    for i in range(b.joints):
        damping[i] = 0.0
        nudged[i] = 0
    for k in range(3):
        v_before[k] = v[k]
    _copy(b.w, b.w_before)


@law
def damp_overspeed(body: int, block: int) -> None:
    """Raise the damping of physical joints to a minimum, which takes back energy that an engine's step adds.

    Engines take gyroscopic forces at the step's beginning, which lets a rotation at w grow by up to (w dt)^2 per step,
    more where a light limb hangs from a long one. A damper of

        d = c I (w^2 - w_0^2) dt        I: of what the joint carries, w: of the faster of its two bodies

    takes that back, from w_0 = OVERSPEED / dt on, 20 rad/s at 5 ms; no slower limb is affected. At 50 rad/s it brakes
    within 50 ms.   [calm, 1]

    A segment with next to no mass, such as a collar bone between chest and arm, can turn about itself while the arm
    turns back: nothing resists that, and the least torque would make it infinitely fast. Its joint has a damper of at
    least I / MASSLESS_TIME.   [calm, 2]

    Stance legs turn the hips by torques that fit the weight of the whole body, and step by step: hips under a loose
    trunk, which are light, would shake. What ties the trunk to them resists only changes of its velocity: a damper,

        t = e w(n) - e w(n+1)           e: by how much the joint's own damping is below `trunk_damping`

    which is an inertia of e dt, and zero where the trunk is held firmly.   [calm, 3]
    """
    b, x = at(body, Body), at(block, Coupling)
    parents, om, damping, torque, w, R = b.parents, b.om, b.damping, b.torque, b.w, b.R
    given, inertia, massless, trunk_damping = x.given, x.inertia, x.massless, x.trunk_damping
    slow = (OVERSPEED / b.dt) ** 2
    for i in range(1, b.joints):
        if not given[i]:
            k = parents[i]
            own = om[i, 0] * om[i, 0] + om[i, 1] * om[i, 1] + om[i, 2] * om[i, 2]
            base = om[k, 0] * om[k, 0] + om[k, 1] * om[k, 1] + om[k, 2] * om[k, 2]
            least = OVERSPEED_DAMPING * inertia[i] * (max(own, base) - slow) * b.dt
            if massless[i]:
                least = max(least, inertia[i] / MASSLESS_TIME)
            if least > damping[i]:  # never below 0
                damping[i] = least
            lack = trunk_damping[i] - damping[i]
            if lack > 0.0:
                damping[i] += lack
                for c in range(3):
                    torque[i, c] += lack * (R[i, c, 0] * w[i, 0] + R[i, c, 1] * w[i, 1] + R[i, c, 2] * w[i, 2])


@law
def advance_clock(body: int, _block: int) -> None:
    """Count the step."""
    b = at(body, Body)
    b.steps += 1


@kernel
def _clear(x: np.ndarray) -> None:
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            x[i, k] = 0.0


@kernel
def _copy(x: np.ndarray, to: np.ndarray) -> None:
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            to[i, k] = x[i, k]
