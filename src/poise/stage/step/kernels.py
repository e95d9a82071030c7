"""Laws of the stage itself: the clock, the coupling, pushes, damping of joints that turn too fast."""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import blocks, flags, floats, integers, record, vectors
from poise.dynamics.body_kernels import BODY, update_body
from poise.engines.contact_log import PRESSED
from poise.stage.coupling.kernels import (
    PUSH_COLUMNS,
    add_pushes,
    couple_exact,
    couple_paper,
    hand_on_pressed,
    hand_on_pushes,
    hand_to_connectors,
)
from poise.stage.coupling.paper import EVERY
from poise.stage.coupling.paper_kernels import choose_share, find_ratio

# Who accelerates whom (`Actor`), how strongly that is coupled, and pushes as rows.
# felt   (J, 3) N m, world axes: what pushes put on joints whose motion is given, for players that take it
# pressed (J, PRESSED): see `Body.pressed`
# share  (1,) of the last step in the accelerations that the `paper` coupling goes by; the rest is of those before it
COUPLING = fields(
    arrays="given accelerating touched work al acc om_before vel_before pushes felt pressed inertia bare tied share",
    integers="push_count torque_only keeps_share",
    floats="gain",
)
# c below. Of 40 runs of slapped arms and ragdolls with little damping, at 1 to 10 ms, 21 explode with 0, none with 1.
CALM = 2.0
WHIRL = 0.1  # rad a step, up to which an engine's own error is small
BARE = 0.5  # s: an arm on a collar bone is braked less than by `Loose()`


@law
def begin(body: int, _block: int) -> None:
    """The clock: motions are asked for the middle of the step."""
    b = record(body, BODY)
    b.t = b.steps * b.dt
    b.at = b.t + 0.5 * b.dt


@law
def couple_exactly(body: int, block: int) -> None:
    """Where everything is, and what the given motion puts on what carries it.   [mix, eq 1]"""
    b, x = record(body, BODY), record(block, COUPLING)
    j = b.joints
    update_body(b)
    parents, p, wrench = integers(b.parents, j), vectors(b.p, j, 3), vectors(b.wrench, j, 6)
    accelerating = flags(x.accelerating, j)
    _clear(wrench)
    couple_exact(
        parents, floats(b.masses, j), vectors(b.centers, j, 3), blocks(b.inertias, j, 3, 3), accelerating,
        flags(x.touched, j), blocks(b.R, j, 3, 3), p, vectors(b.w, j, 3), vectors(b.dw, j, 3), floats(b.a, 3),
        vectors(b.om, j, 3), x.gain, blocks(x.work, 3, j, 3), wrench,
    )  # fmt: skip
    hand_to_connectors(parents, accelerating, p, wrench)
    _copy(wrench, vectors(b.coupling, j, 6))


@law
def couple_as_published(body: int, block: int) -> None:
    """The same by the connectors' accelerations of the steps before.   [mix, eq 2-7]"""
    b, x = record(body, BODY), record(block, COUPLING)
    j = b.joints
    update_body(b)
    parents, p, wrench = integers(b.parents, j), vectors(b.p, j, 3), vectors(b.wrench, j, 6)
    _clear(wrench)
    couple_paper(
        parents, floats(b.masses, j), vectors(b.centers, j, 3), blocks(b.inertias, j, 3, 3), flags(x.given, j),
        blocks(b.R, j, 3, 3), p, vectors(b.w, j, 3), vectors(b.dw, j, 3), vectors(b.om, j, 3), vectors(x.al, j, 3),
        vectors(x.acc, j, 3), floats(b.gravity, 3), x.gain, x.torque_only == 1, vectors(b.f, j, 3),
        vectors(b.n, j, 3), wrench,
    )  # fmt: skip
    accelerating, reaction = flags(x.accelerating, j), vectors(b.reaction, j, 6)
    hand_to_connectors(parents, accelerating, p, wrench)
    _copy(wrench, vectors(b.coupling, j, 6))
    _clear(reaction)
    couple_exact(
        parents, floats(b.masses, j), vectors(b.centers, j, 3), blocks(b.inertias, j, 3, 3), accelerating,
        flags(x.touched, j), blocks(b.R, j, 3, 3), p, vectors(b.w, j, 3), vectors(b.dw, j, 3), floats(b.a, 3),
        vectors(b.om, j, 3), x.gain, blocks(x.work, 3, j, 3), reaction,
    )  # fmt: skip
    hand_to_connectors(parents, accelerating, p, reaction)


@law
def differentiate(body: int, block: int) -> None:
    """World accelerations of the physical bodies over the last steps, which the paper's coupling asks for."""
    b, x = record(body, BODY), record(block, COUPLING)
    j = b.joints
    om, vel, al, acc = vectors(b.om, j, 3), vectors(b.vel, j, 3), vectors(x.al, j, 3), vectors(x.acc, j, 3)
    om_before, vel_before = vectors(x.om_before, j, 3), vectors(x.vel_before, j, 3)
    _copy(om, om_before)
    _copy(vel, vel_before)
    update_body(b)
    share = floats(x.share, 1)
    if x.keeps_share == 0 and b.steps % EVERY == EVERY - 1:
        ratio = find_ratio(
            integers(b.parents, j), floats(b.masses, j), vectors(b.centers, j, 3), blocks(b.inertias, j, 3, 3),
            flags(x.given, j), blocks(b.R, j, 3, 3), vectors(b.p, j, 3), x.torque_only == 1,
        )  # fmt: skip
        share[0] = choose_share(ratio, x.gain)
    s = share[0]
    for i in range(j):
        for k in range(3):
            al[i, k] += s * ((om[i, k] - om_before[i, k]) / b.dt - al[i, k])
            acc[i, k] += s * ((vel[i, k] - vel_before[i, k]) / b.dt - acc[i, k])


@law
def push(body: int, block: int) -> None:
    """Pushes of this step, handed on like the coupling."""
    b, x = record(body, BODY), record(block, COUPLING)
    j = b.joints
    wrench = vectors(b.wrench, j, 6)
    add_pushes(
        vectors(x.pushes, x.push_count, PUSH_COLUMNS), b.t, b.dt, blocks(b.R, j, 3, 3), vectors(b.centers, j, 3), wrench
    )
    accelerating, felt = flags(x.accelerating, j), vectors(x.felt, j, 3)
    hand_on_pushes(integers(b.parents, j), accelerating, vectors(b.p, j, 3), wrench, felt)


@law
def hand_on_contacts(body: int, block: int) -> None:
    """What contacts press on each given joint by all that is given further out.

    A physical segment hands nothing on: its joint gives way by itself.
    """
    b, x = record(body, BODY), record(block, COUPLING)
    j = b.joints
    hand_on_pressed(
        integers(b.parents, j), flags(x.accelerating, j), vectors(b.p, j, 3), vectors(x.pressed, j, PRESSED)
    )


@law
def clear(body: int, _block: int) -> None:
    """Nothing is asked of the engine yet; velocities are kept, to be compared with those after the step."""
    b = record(body, BODY)
    j = b.joints
    torque, damping, nudged = vectors(b.torque, j, 3), floats(b.damping, j), integers(b.nudged, j)
    v, v_before = floats(b.v, 3), floats(b.v_before, 3)
    _clear(torque)
    for i in range(j):
        damping[i] = 0.0
        nudged[i] = 0
    for k in range(3):
        v_before[k] = v[k]
    _copy(vectors(b.w, j, 3), vectors(b.w_before, j, 3))


@law
def calm(body: int, block: int) -> None:
    """The least damping of physical joints: what an engine's step adds to the energy of limbs that whirl.

    Engines take gyroscopic forces at the step's beginning, which lets a turn at w grow by up to (w dt)^2 a step, more
    where a light limb hangs from a long one. A damper of

        d = c I (w^2 - w_0^2) dt        I: of what the joint carries, w: how fast the two bodies turn in the world

    takes that back, from w_0 = WHIRL / dt on, 20 rad/s at 5 ms: no slower limb feels it. At 50 rad/s it brakes within
    50 ms.   [calm, 1]

    What has next to no mass of its own, a collar bone between chest and arm, can turn about itself and the arm back:
    nothing resists that, and the least torque would make it infinitely fast. Its joint has a damper of I / BARE at
    the least.   [calm, 2]

    Legs that stand turn the hips by what the whole body weighs, and step by step: hips under a loose trunk, which are
    light, would shake. What ties them to it resists only that its speed changes: a damper that is lacking,

        t = e w(n) - e w(n+1)           e: as much as the joint's own is less than `tied`

    which is an inertia of e dt, and nothing where the trunk is held firmly.   [calm, 3]
    """
    b, x = record(body, BODY), record(block, COUPLING)
    j = b.joints
    parents, given, inertia = integers(b.parents, j), flags(x.given, j), floats(x.inertia, j)
    om, damping, bare = vectors(b.om, j, 3), floats(b.damping, j), flags(x.bare, j)
    tied, torque, w, R = floats(x.tied, j), vectors(b.torque, j, 3), vectors(b.w, j, 3), blocks(b.R, j, 3, 3)
    slow = (WHIRL / b.dt) ** 2
    for i in range(1, j):
        if not given[i]:
            k = parents[i]
            own = om[i, 0] * om[i, 0] + om[i, 1] * om[i, 1] + om[i, 2] * om[i, 2]
            base = om[k, 0] * om[k, 0] + om[k, 1] * om[k, 1] + om[k, 2] * om[k, 2]
            least = CALM * inertia[i] * (max(own, base) - slow) * b.dt
            if bare[i]:
                least = max(least, inertia[i] / BARE)
            if least > damping[i]:  # never below 0
                damping[i] = least
            lack = tied[i] - damping[i]
            if lack > 0.0:
                damping[i] += lack
                for c in range(3):
                    torque[i, c] += lack * (R[i, c, 0] * w[i, 0] + R[i, c, 1] * w[i, 1] + R[i, c, 2] * w[i, 2])


@law
def end(body: int, _block: int) -> None:
    """The clock goes on."""
    b = record(body, BODY)
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
