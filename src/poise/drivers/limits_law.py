"""Joints kept in their ranges, as a law."""

from __future__ import annotations

import numpy as np

from poise.drivers.limits_kernels import LOOK, STEEP, ZONE, find_angles, is_near, keep_in_range, spread_damping
from poise.dynamics.body_kernels import BODY
from poise.dynamics.instant import turn, turn_back
from poise.spatial.addresses import blocks, floats, integers, record, vectors
from poise.spatial.law import fields, law

# quick (K, 6): a rotation, the turn from it (rad) up to which a joint surely is free, and whether it was aimed then
# work (WORK,): room
WORK = 33
LIMITS = fields(
    arrays="joints quick P C turns lower upper low high stiffness tau weight work",
    integers="count isotropic",
)


@law
def keep_ranges(body: int, block: int) -> None:
    """What keeps joints in their ranges, on top of what their drivers ask for."""
    b, x = record(body, BODY), record(block, LIMITS)
    j, count = b.joints, x.count
    joints, quick, q = integers(x.joints, count), vectors(x.quick, count, 6), vectors(b.q, j, 4)
    stops, axial, aims = vectors(b.stops, j, 3), vectors(b.axial, j, 3), vectors(b.aim, j, 4)
    firm, weight = floats(b.firm, j), floats(x.weight, count)
    rows, more, work = vectors(x.work, 5, 3), vectors(x.work + 8 * 15, 2, 5), vectors(x.work + 8 * 25, 2, 4)
    ahead = STEEP * LOOK * b.dt
    for n in range(count):
        i = joints[n]
        near, now, w, is_aimed = quick[n], q[i], vectors(b.w, j, 3)[i], firm[i] >= weight[n]
        # one that is near where it was surely free, and whose aim is, is free, as far as it gets before the next looks
        left = near[4] - max(ahead * np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) - ZONE, 0.0)
        is_known = left > 0.0 and (near[5] == 1.0) == is_aimed and is_near(near, now, left)
        if is_known and (not is_aimed or is_near(near, aims[i], near[4])):
            continue
        P, C, turns = vectors(x.P, count, 4), vectors(x.C, count, 4), blocks(x.turns, count, 3, 3)
        om, t, F, angles, aim = rows[0], rows[1], rows[2:5], more[0], more[1]
        find_angles(P[n], now, C[n], work, angles)
        if is_aimed:
            find_angles(P[n], aims[i], C[n], work, aim)
        om[0], om[1], om[2] = turn(turns[n], w)
        free = keep_in_range(
            vectors(x.lower, count, 4)[n], vectors(x.upper, count, 4)[n], vectors(x.low, count, 4)[n],
            vectors(x.high, count, 4)[n], angles, aim, is_aimed, om, floats(x.stiffness, count)[n],
            floats(x.tau, count)[n], b.dt, t, F,
        )  # fmt: skip
        for a in range(4):
            near[a] = now[a]
        near[5] = 1.0 if is_aimed else 0.0
        is_free = F[0, 0] + F[1, 1] + F[2, 2] == 0.0
        # one that is braked for its speed alone is looked at in the next step: else its brake would stay
        near[4] = free if is_free else 0.0
        if is_free:
            for a in range(3):
                stops[i, a] = axial[i, a] = 0.0
            continue
        spread_damping(turns[n], F, x.isotropic == 1, axial[i])
        om[0], om[1], om[2] = turn_back(turns[n], t)
        torque = vectors(b.torque, j, 3)
        stops[i, 0], stops[i, 1], stops[i, 2] = turn(blocks(b.R, j, 3, 3)[i], om)
        for a in range(3):
            torque[i, a] += stops[i, a]
        if x.isotropic == 1:
            floats(b.damping, j)[i] += axial[i, 0]
            for a in range(3):
                axial[i, a] = 0.0
