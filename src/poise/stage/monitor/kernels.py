"""Joint torques of a body at an instant, compiled, and how much of the joints' strength they are.

Letters as in `dynamics/body_kernels.py`.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.layout import Flags, Floats, Layout, at
from poise.dynamics.body_kernels import Body, accelerate_bodies, gather_inward, net_forces


class JointLoads(Layout):
    """Joint torques of one body compared with its strength."""

    joints: int
    given: Annotated[Flags, "joints"]  # joints whose motion is prescribed
    strength: Annotated[Floats, "joints"]  # N m
    strained: Annotated[Flags, "joints"]  # joints that are overloaded: see `is_over`
    torque: Annotated[Floats, "joints", 3]  # N m, in the bodies' axes
    effort: Annotated[Floats, "joints"]  # torque over strength
    # Work space: accelerations of the joints (rad/s2, bodies' axes), of the bodies and of the joints in the world,
    # forces and torques.
    dw: Annotated[Floats, "joints", 3]
    al: Annotated[Floats, "joints", 3]
    acc: Annotated[Floats, "joints", 3]
    f: Annotated[Floats, "joints", 3]
    n: Annotated[Floats, "joints", 3]


@kernel
def measure_at(body: int, loads: int) -> int:
    """Call `measure` with the layouts at two addresses: from Python that is quicker."""
    return measure(at(body, Body), at(loads, JointLoads))


@kernel
def measure(b: Body, x: JointLoads) -> int:
    """Write torque and effort in the last step; return the number of joints whose overload begins or ends.

    Torques at given joints follow from inverse dynamics, those at the others from drivers and dampers. A servo's torque
    and its damper, which acts at the step's end, may be large and nearly cancel: the torque is their sum.
    """
    _find_net_torques(b, x)
    given, strength, strained, torque, effort, n = x.given, x.strength, x.strained, x.torque, x.effort, x.n
    R, w, driven, damping, axial = b.R, b.w, b.torque, b.damping, b.axial
    changed = 0
    for i in range(b.joints):
        tx, ty, tz = driven[i, 0], driven[i, 1], driven[i, 2]
        if given[i]:
            tx, ty, tz = n[i, 0], n[i, 1], n[i, 2]
        for c in range(3):
            torque[i, c] = 0.0 + R[i, 0, c] * tx + R[i, 1, c] * ty + R[i, 2, c] * tz
            if not given[i]:
                torque[i, c] -= (damping[i] + axial[i, c]) * w[i, c]
        size = np.sqrt(torque[i, 0] * torque[i, 0] + torque[i, 1] * torque[i, 1] + torque[i, 2] * torque[i, 2])
        effort[i] = size / strength[i]
        changed += is_over(effort[i], given[i], strained[i]) != strained[i]
    return changed


@kernel
def _find_net_torques(b: Body, x: JointLoads) -> None:
    """Write the torques n (J, 3) that all joints need, from the accelerations in the last step; world axes."""
    given, w, w_before, dw, v, v_before, gravity = x.given, b.w, b.w_before, b.dw, b.v, b.v_before, b.gravity
    a0 = np.empty(3)
    for i in range(b.joints):
        for c in range(3):
            x.dw[i, c] = dw[i, c] if given[i] else (w[i, c] - w_before[i, c]) / b.dt
    for c in range(3):
        a0[c] = (v[c] - v_before[c]) / b.dt - gravity[c]
    accelerate_bodies(b.parents, b.R, b.p, w, x.dw, b.om, a0, x.al, x.acc)
    net_forces(b.masses, b.centers, b.inertias, b.R, b.om, x.al, x.acc, x.f, x.n)
    gather_inward(b.parents, b.p, x.f, x.n)


@kernel
def is_over(effort: float, is_given: bool, was_over: bool) -> bool:
    """Return whether a joint is overloaded: a given joint above its strength, and until it is back below 0.9 of it."""
    return is_given and effort > (0.9 if was_over else 1.0)
