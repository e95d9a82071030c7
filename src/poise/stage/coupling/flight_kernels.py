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

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import blocks, call_with_two, floats, record, tables, vectors
from poise.dynamics.body_kernels import BODY, cross, spin, turn, turn_back, update_body

# gives     (count, 3) laws that give motions, each with body and block
# kept      (7,) L* and P*, and whether they are known
# steer     the engine's law that takes the root's velocity, and its block; 0: that is done in Python
FLIGHT = fields(arrays="gives kept", integers="count steer block")
KNOWN = 6
_FLAT = 1e-12  # of its largest moments' product: so little is a line or a point of mass, which has no spin of its own


@law
def weigh(body: int, block: int) -> None:
    """The momentum as it is now, to be kept from now on."""
    b, x = record(body, BODY), record(block, FLIGHT)
    update_body(b)
    kept = floats(x.kept, 7)
    _, _, linear, angular = find_momentum(b)
    for a in range(3):
        kept[a], kept[3 + a] = angular[a], linear[a]
    kept[KNOWN] = 1.0


@law
def conserve(body: int, block: int) -> None:
    """After the engine's step: the root's velocity with which the body has the momentum that it must have."""
    b, x = record(body, BODY), record(block, FLIGHT)
    kept = floats(x.kept, 7)
    if b.aloft == 0:
        kept[KNOWN] = 0.0
        return
    force, torque = _find_pushed(b)
    gives = tables(x.gives, x.count, 3)
    b.at = b.t + b.dt
    for i in range(x.count):
        call_with_two(gives[i, 0], gives[i, 1], gives[i, 2])
    update_body(b)
    mass, inertia, linear, angular = find_momentum(b)
    if kept[KNOWN] == 1.0:
        v, w, p, R = floats(b.v, 3), vectors(b.w, b.joints, 3), vectors(b.p, b.joints, 3), blocks(b.R, b.joints, 3, 3)
        for a in range(3):
            kept[a] += b.dt * torque[a]
            kept[3 + a] += b.dt * (force[a] + mass * floats(b.gravity, 3)[a])
        dom = _solve(inertia, kept[:3] - angular)
        lx, ly, lz = cross(dom, floats(b.c, 3) - p[0])
        v[0] += (kept[3] - linear[0]) / mass - lx
        v[1] += (kept[4] - linear[1]) / mass - ly
        v[2] += (kept[5] - linear[2]) / mass - lz
        x0, x1, x2 = turn_back(R[0], dom)
        w[0, 0] += x0
        w[0, 1] += x1
        w[0, 2] += x2
        if x.steer != 0:
            call_with_two(x.steer, body, x.block)
        return
    for a in range(3):
        kept[a], kept[3 + a] = angular[a], linear[a]
    kept[KNOWN] = 1.0


@kernel
def _find_pushed(b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Force and torque about the centre of mass of what pushed from outside in the last step; poses are still those."""
    wrench, coupling = vectors(b.wrench, b.joints, 6), vectors(b.coupling, b.joints, 6)
    p, c = vectors(b.p, b.joints, 3), floats(b.c, 3)
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
    # what others that float put on it, as the engine counts it: about the root, torque in its axes
    for a in range(3):
        f[a] = floats(b.outside, 6)[a]
        force[a] += f[a]
    tx, ty, tz = turn(blocks(b.R, b.joints, 3, 3)[0], floats(b.outside, 6)[3:])
    x, y, z = cross(p[0] - c, f)
    torque[0] += tx + x
    torque[1] += ty + y
    torque[2] += tz + z
    return force, torque


@kernel
def find_momentum(b: Any) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Mass, inertia (3, 3) about the centre of mass, linear and angular momentum of a body that is up to date."""
    j = b.joints
    masses, centers, inertias = floats(b.masses, j), vectors(b.centers, j, 3), blocks(b.inertias, j, 3, 3)
    R, p, om, vel = blocks(b.R, j, 3, 3), vectors(b.p, j, 3), vectors(b.om, j, 3), vectors(b.vel, j, 3)
    c, dc = floats(b.c, 3), floats(b.dc, 3)
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
