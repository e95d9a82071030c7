"""A body in flight keeps its momentum, as laws.

Nothing inside a body changes its momentum: not its drivers' torques, not what is given of its motion. The
accelerations that are solved for say so to round-off, but a step of dt follows them to first order in it. What is lost
or won in a step is taken back at the root, whose velocity moves the whole body as one rigid piece:

    dom = I_c^-1 (L* - L)        dv = (P* - P) / m - dom x (c - p_0)

    P, L    N s, N m s: linear momentum, and angular momentum about the centre of mass c, at the end of the step
    P*, L*  what they were before it, and the impulse of gravity and of what pushes from outside
    I_c, m  inertia of the whole body about c, and its mass;  p_0: the root's place

World axes. Motions are asked for the end of the step, where everybody who looks finds them.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import law
from poise.compiled.layout import Floats, Ints, Layout, at
from poise.compiled.views import call_with_two
from poise.dynamics.body_kernels import Body, cross, spin, turn, turn_back, update_body


class Momentum(Layout):
    """The momentum that one body must have in flight."""

    count: int
    writes: Annotated[Ints, "count", 3]  # law, body and block of what writes prescribed motion
    set_root_velocity: int  # address of the engine's law that takes the root's velocity; 0: that is done in Python
    engine_block: int  # address of that law's block
    target: Annotated[Floats, 7]  # N m s and N s: L* about the centre of mass, P*; and 1 if they are known


KNOWN = 6
_FLAT = 1e-12  # of its largest moments' product: so little is a line or a point of mass, which has no spin of its own


@law
def keep_momentum(body: int, block: int) -> None:
    """Keep the present momentum from now on."""
    b, x = at(body, Body), at(block, Momentum)
    update_body(b)
    _, _, linear, angular = find_momentum(b)
    _set_target(x.target, linear, angular)


@kernel
def _set_target(target: np.ndarray, linear: np.ndarray, angular: np.ndarray) -> None:
    for a in range(3):
        target[a], target[3 + a] = angular[a], linear[a]
    target[KNOWN] = 1.0


@law
def conserve(body: int, block: int) -> None:
    """After the engine's step, give the root the velocity with which the body has the momentum that it must have."""
    b, x = at(body, Body), at(block, Momentum)
    target, writes = x.target, x.writes
    if b.airborne == 0:
        target[KNOWN] = 0.0
        return
    force, torque = _find_external(b)
    b.at = b.t + b.dt
    for i in range(x.count):
        call_with_two(writes[i, 0], writes[i, 1], writes[i, 2])
    update_body(b)
    mass, inertia, linear, angular = find_momentum(b)
    if target[KNOWN] != 1.0:
        _set_target(target, linear, angular)
        return
    v, w, gravity = b.v, b.w, b.gravity
    for a in range(3):
        target[a] += b.dt * torque[a]
        target[3 + a] += b.dt * (force[a] + mass * gravity[a])
    dom = _solve(inertia, target[:3] - angular)
    lx, ly, lz = cross(dom, b.c - b.p[0])
    v[0] += (target[3] - linear[0]) / mass - lx
    v[1] += (target[4] - linear[1]) / mass - ly
    v[2] += (target[5] - linear[2]) / mass - lz
    x0, x1, x2 = turn_back(b.R[0], dom)
    w[0, 0] += x0
    w[0, 1] += x1
    w[0, 2] += x2
    if x.set_root_velocity != 0:
        call_with_two(x.set_root_velocity, body, x.engine_block)


@kernel
def _find_external(b: Body) -> tuple[np.ndarray, np.ndarray]:
    """Return external force and torque about the centre of mass in the last step; poses are those of its start."""
    wrench, coupling, external, p, c = b.wrench, b.coupling, b.external_wrench, b.p, b.c
    force, torque = np.zeros(3), np.zeros(3)
    f = np.empty(3)
    for i in range(b.joints):
        for a in range(3):
            f[a] = wrench[i, 3 + a] - coupling[i, 3 + a]
            force[a] += f[a]
            torque[a] += wrench[i, a] - coupling[i, a]
        x, y, z = cross(p[i] - c, f)
        torque[0] += x
        torque[1] += y
        torque[2] += z
    # contact forces of other floating bodies, as the engine has them: about the root, torque in its axes
    for a in range(3):
        f[a] = external[a]
        force[a] += f[a]
    tx, ty, tz = turn(b.R[0], external[3:])
    x, y, z = cross(p[0] - c, f)
    torque[0] += tx + x
    torque[1] += ty + y
    torque[2] += tz + z
    return force, torque


@kernel
def find_momentum(b: Body) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Return mass, inertia (3, 3) about the centre of mass, linear and angular momentum of an updated body."""
    j, masses, centers, inertias = b.joints, b.masses, b.centers, b.inertias
    R, p, om, vel, c, dc = b.R, b.p, b.om, b.vel, b.c, b.dc
    mass, inertia, angular = 0.0, np.zeros((3, 3)), np.zeros(3)
    d, u = np.empty(3), np.empty(3)
    for i in range(j):
        m = masses[i]
        if m == 0.0:
            continue
        mass += m
        u[0], u[1], u[2] = turn(R[i], centers[i])
        x, y, z = cross(om[i], u)
        for a in range(3):
            d[a] = p[i, a] + u[a] - c[a]
        u[0], u[1], u[2] = vel[i, 0] + x - dc[0], vel[i, 1] + y - dc[1], vel[i, 2] + z - dc[2]
        x, y, z = cross(d, u)
        sx, sy, sz = spin(R[i], inertias[i], om[i, 0], om[i, 1], om[i, 2])
        angular[0] += sx + m * x
        angular[1] += sy + m * y
        angular[2] += sz + m * z
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        for a in range(3):
            e = np.zeros(3)
            e[a] = 1.0
            column = spin(R[i], inertias[i], e[0], e[1], e[2])
            for k in range(3):
                inertia[k, a] += column[k] - m * d[k] * d[a]
            inertia[a, a] += m * square
    return mass, inertia, mass * dc, angular


@kernel
def _solve(A: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A^-1 y for a symmetric A (3, 3) by its adjugate; zero where A is singular."""
    out, adjugate = np.zeros(3), np.empty((3, 3))
    for a in range(3):
        i, k = (a + 1) % 3, (a + 2) % 3
        for b in range(3):
            r, s = (b + 1) % 3, (b + 2) % 3
            adjugate[b, a] = A[i, r] * A[k, s] - A[i, s] * A[k, r]
    det = A[0, 0] * adjugate[0, 0] + A[0, 1] * adjugate[1, 0] + A[0, 2] * adjugate[2, 0]
    if det <= _FLAT * A[0, 0] * A[1, 1] * A[2, 2]:
        return out
    for a in range(3):
        for b in range(3):
            out[a] += adjugate[a, b] * y[b] / det
    return out
