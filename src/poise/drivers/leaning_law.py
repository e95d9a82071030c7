"""Springs whose aims lean against the arms, as laws: `leaning.py` says what for."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.drivers.counterpoise_law import bend_rate, find_leans
from poise.drivers.loose_law import SPRINGS, carry_weight, go_along, pull_to
from poise.dynamics.body_kernels import BODY
from poise.motion.part_kernels import multiply, set_exp, take_over
from poise.spatial.addresses import blocks, floats, integers, record, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

# springs     address of a block of SPRINGS, of K joints
# goal, rate  (K, 4) and (K, 3) rad/s, own axes: what the springs were last told to aim at, and how fast that turns
# is_on       (1,) 1 where they lean, 0 where not
# the rest    as of COUNTERPOISE
LEANING = fields(arrays="goal rate is_on shares rates", integers="springs shift part", floats="most")


@kernel
def find_goals(b: Any, x: Any, t: float) -> None:
    """Write where the springs aim at time t into `goal`, and how fast that turns into `rate`."""
    s = record(x.springs, SPRINGS)
    k = s.count
    aim, offset, span = vectors(s.aim, k, 4), blocks(s.offset, 3, k, 3), vectors(s.span, k, 2)
    goal, rate, shares = vectors(x.goal, k, 4), vectors(x.rate, k, 3), vectors(x.shares, k, 2)
    leans, e, tilt, dw, part = np.zeros((2, 3, 3)), np.empty((2, 3)), np.empty(4), np.zeros((1, 3)), np.zeros(5)
    if floats(x.is_on, 1)[0] > 0.0:
        find_leans(b, x, vectors(b.q, b.joints, 4), t, leans)
    for n in range(k):
        for c in range(3):
            for r in range(2):
                e[r, c] = shares[n, 0] * leans[0, r, c] + shares[n, 1] * leans[1, r, c]
        set_exp(e[0], tilt)
        multiply(aim[n], tilt, goal[n])
        rate[n, 0], rate[n, 1], rate[n, 2] = bend_rate(e[0], e[1])
        if t < span[n, 0] + span[n, 1]:
            part[3], part[4] = span[n, 0], span[n, 1]
            take_over(part, offset[:, n : n + 1], t, goal[n : n + 1], rate[n : n + 1], dw)


@law
def aim(body: int, block: int) -> None:
    """Where the springs aim at the body's `at`."""
    b = record(body, BODY)
    find_goals(b, record(block, LEANING), b.at)


@law
def pull(body: int, block: int) -> None:
    """Torques and damping of springs whose aims lean, and the weight of what hangs from them."""
    b, x = record(body, BODY), record(block, LEANING)
    s = record(x.springs, SPRINGS)
    find_goals(b, x, b.t + b.dt)
    pull_to(b, s, vectors(x.goal, s.count, 4))
    go_along(b, s, vectors(x.rate, s.count, 3))
    if floats(s.carries, 1)[0] > 0.0:
        carry_weight(b, integers(s.joints, s.count))
        carry_reaction(b, integers(s.joints, s.count))


@kernel
def carry_reaction(b: Any, joints: np.ndarray) -> None:
    """Add the torques (N m, world axes) that resist what the motion of given segments puts on what carries them.

    It is known in the step. How the segments are carried along is no part of it: that is of the steps before, and
    resisting it would feed accelerations back.
    """
    j = b.joints
    parents, p, torque = integers(b.parents, j), vectors(b.p, j, 3), vectors(b.torque, j, 3)
    reaction, f, n = vectors(b.reaction, j, 6), vectors(b.f, j, 3), vectors(b.n, j, 3)
    for i in range(j):
        for c in range(3):
            n[i, c], f[i, c] = reaction[i, c], reaction[i, 3 + c]
    for i in range(j - 1, 0, -1):
        k = parents[i]
        rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
        n[k, 0] += n[i, 0] + ry * f[i, 2] - rz * f[i, 1]
        n[k, 1] += n[i, 1] + rz * f[i, 0] - rx * f[i, 2]
        n[k, 2] += n[i, 2] + rx * f[i, 1] - ry * f[i, 0]
        for c in range(3):
            f[k, c] += f[i, c]
    for i in joints:
        for c in range(3):
            torque[i, c] -= n[i, c]
