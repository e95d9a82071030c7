"""Springs that give way where something hits what they carry, and come back, as a law.

What pushes a joint from outside is what its motion in the last step took, less what its spring gave:

    t = |inverse dynamics of the accelerations that were - torque + damping w|      N m

It is a push on the segment and on any further out, with its lever: a blow at the hand is felt in wrist, elbow, shoulder
and trunk, each beside the weight that it holds. What has pushed for longer, a load or a table, is used to: T.

    x = (t - T) / m g l,   T' = (t - T) / LATE      s = 0 to 1 as x goes from FELT to HARD, and in proportion above
    m: the mass that the joint carries, at most HEAVY of the body's: a trunk yields to a blow that a person feels
    soft' = (s - soft) / YIELD where that is more,  - soft / BACK where it is less;  soft is 1 at most

A hard thing hits for a step or two, with a force that depends on the step. s has no upper limit, so that such a blow
softens by its impulse, whatever the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.drivers.loose_law import SPRINGS
from poise.drivers.track_kernels import ask_dynamics
from poise.drivers.track_law import FOLLOWED
from poise.dynamics.body_kernels import BODY
from poise.dynamics.instant import turn_back
from poise.spatial.addresses import blocks, floats, integers, record, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import law

FELT, HARD = 0.1, 1.0  # of m g l
YIELD, BACK, LATE = 0.01, 0.15, 0.5  # s


@law
def feel(body: int, block: int) -> None:
    """After the step: how far each spring gives way in the next."""
    b, x = record(body, BODY), record(block, FOLLOWED)
    s = record(x.springs, SPRINGS)
    j, k = b.joints, s.count
    joints, soft, late, weight = integers(s.joints, k), floats(x.soft, k), floats(x.late, k), floats(x.weight, k)
    n = _ask_last(b, x)
    R, torque, damping = blocks(b.R, j, 3, 3), vectors(b.torque, j, 3), floats(b.damping, j)
    w, axial, out = vectors(b.w, j, 3), vectors(b.axial, j, 3), np.empty(3)
    for i in range(k):
        at = joints[i]
        for c in range(3):
            out[c] = n[at, c] - torque[at, c]
        out[0], out[1], out[2] = turn_back(R[at], out)
        size = 0.0
        for c in range(3):
            out[c] += (damping[at] + axial[at, c]) * w[at, c]
            size += out[c] * out[c]
        late[i], soft[i] = soften(np.sqrt(size) / weight[i], late[i], soft[i], b.dt)


@kernel
def soften(blow: float, late: float, soft: float, dt: float) -> tuple[float, float]:
    """Return T / m g l and the softness (0 to 1) after a step with a blow of t / m g l."""
    u = max((blow - late - FELT) / (HARD - FELT), 0.0)
    hit = u * u * (3.0 - 2.0 * u) if u < 1.0 else u
    late += min(dt / LATE, 1.0) * (blow - late)
    if hit > soft:
        return late, min(soft + min(dt / YIELD, 1.0) * (hit - soft), 1.0)
    return late, max(hit, soft * np.exp(-dt / BACK))


@kernel
def _ask_last(b: Any, x: Any) -> np.ndarray:
    """(J, 3) N m, world axes: what the last step's accelerations took of the joints.

    Who is given has the same velocity before and after the step, and says how it accelerates.
    """
    j = b.joints
    w, w_before, dw = vectors(b.w, j, 3), vectors(b.w_before, j, 3), vectors(b.dw, j, 3)
    v, v_before, a = floats(b.v, 3), floats(b.v_before, 3), floats(b.a, 3)
    work, n, a0 = blocks(x.work, 3, j, 3), vectors(b.n, j, 3), np.empty(3)
    was = work[2]
    for i in range(j):
        moved = w[i, 0] != w_before[i, 0] or w[i, 1] != w_before[i, 1] or w[i, 2] != w_before[i, 2]
        for c in range(3):
            was[i, c] = (w[i, c] - w_before[i, c]) / b.dt if moved else dw[i, c]
    moved = v[0] != v_before[0] or v[1] != v_before[1] or v[2] != v_before[2]
    for c in range(3):
        a0[c] = (v[c] - v_before[c]) / b.dt if moved else a[c]
    ask_dynamics(
        integers(b.parents, j), floats(b.masses, j), vectors(b.centers, j, 3), blocks(b.inertias, j, 3, 3),
        blocks(b.R, j, 3, 3), vectors(b.p, j, 3), vectors(b.om, j, 3), w_before, was, a0, b.gravity, False, work[0],
        work[1], vectors(b.f, j, 3), n,
    )  # fmt: skip
    return n
