"""One body at one instant, compiled: where its bodies are, how they move, and what that asks of its joints.

The algorithms of this layer work on whole clips at once; a simulation asks for one pose at a time, thousands of times a
second. These kernels do, on plain arrays that the caller keeps, so that they can run in a loop over many characters
without touching Python. Everything is in world axes: a tree this small is cheaper without changes of frame.

    parents, offsets, masses, centers, inertias   of the tree, see `tree.py`
    q (J, 4), w (J, 3), dw (J, 3)   joint rotations, angular velocities and accelerations in the bodies' own axes
    R (J, 3, 3), p (J, 3)           world orientations of the bodies, world positions of their joints
    om (J, 3), v (J, 3)             world angular velocities of the bodies, velocities of their joints

`tests/oracles/spatial_vectors.py` and `newton_euler.py` are the oracles of what is here.

Kernels and laws see a body as the layout `Body`; `drivers/body.py` says what is meant by each field.

`update_body` finds where everything of a body is, from its state.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import law
from poise.compiled.layout import Floats, Ints, Layout, at


@kernel
def cross(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def turn(R: np.ndarray, x: np.ndarray) -> tuple[float, float, float]:
    """R x."""
    return (
        R[0, 0] * x[0] + R[0, 1] * x[1] + R[0, 2] * x[2],
        R[1, 0] * x[0] + R[1, 1] * x[1] + R[1, 2] * x[2],
        R[2, 0] * x[0] + R[2, 1] * x[1] + R[2, 2] * x[2],
    )


@kernel
def turn_back(R: np.ndarray, x: np.ndarray) -> tuple[float, float, float]:
    """R^T x."""
    return (
        R[0, 0] * x[0] + R[1, 0] * x[1] + R[2, 0] * x[2],
        R[0, 1] * x[0] + R[1, 1] * x[1] + R[2, 1] * x[2],
        R[0, 2] * x[0] + R[1, 2] * x[1] + R[2, 2] * x[2],
    )


@kernel
def matrix_of(q: np.ndarray) -> tuple[float, float, float, float, float, float, float, float, float]:
    """The matrix of the unit quaternion q (wxyz), row by row."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@kernel
def pose_bodies(
    parents: np.ndarray, offsets: np.ndarray, root: np.ndarray, q: np.ndarray, R: np.ndarray, p: np.ndarray
) -> None:
    """R and p from the root's place (3,) m and the joint rotations."""
    for i in range(len(parents)):
        k = parents[i]
        a, b, c, d, e, f, g, h, j = matrix_of(q[i])
        if k < 0:
            R[i, 0, 0], R[i, 0, 1], R[i, 0, 2] = a, b, c
            R[i, 1, 0], R[i, 1, 1], R[i, 1, 2] = d, e, f
            R[i, 2, 0], R[i, 2, 1], R[i, 2, 2] = g, h, j
            p[i, 0], p[i, 1], p[i, 2] = root[0], root[1], root[2]
            continue
        for s in range(3):
            x, y, z = R[k, s, 0], R[k, s, 1], R[k, s, 2]
            R[i, s, 0], R[i, s, 1], R[i, s, 2] = x * a + y * d + z * g, x * b + y * e + z * h, x * c + y * f + z * j
            p[i, s] = p[k, s] + x * offsets[i, 0] + y * offsets[i, 1] + z * offsets[i, 2]


@kernel
def move_bodies(
    parents: np.ndarray, R: np.ndarray, p: np.ndarray, v0: np.ndarray, w: np.ndarray, om: np.ndarray, v: np.ndarray
) -> None:
    """Om and v from the root's velocity v0 (3,) m/s, world axes, and the joints' angular velocities."""
    om[0, 0], om[0, 1], om[0, 2] = turn(R[0], w[0])
    for a in range(3):
        v[0, a] = v0[a]
    for i in range(1, len(parents)):
        k = parents[i]
        x, y, z = turn(R[i], w[i])
        om[i, 0], om[i, 1], om[i, 2] = om[k, 0] + x, om[k, 1] + y, om[k, 2] + z
        rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
        v[i, 0] = v[k, 0] + om[k, 1] * rz - om[k, 2] * ry
        v[i, 1] = v[k, 1] + om[k, 2] * rx - om[k, 0] * rz
        v[i, 2] = v[k, 2] + om[k, 0] * ry - om[k, 1] * rx


@kernel
def center_of_mass(
    masses: np.ndarray,
    centers: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    om: np.ndarray,
    v: np.ndarray,
    c: np.ndarray,
    dc: np.ndarray,
) -> float:
    """C (3,) m and dc (3,) m/s in the world; returns the mass."""
    c[:] = 0.0
    dc[:] = 0.0
    mass = 0.0
    for i in range(len(masses)):
        m = masses[i]
        if m == 0.0:
            continue
        mass += m
        x, y, z = turn(R[i], centers[i])
        c[0] += m * (p[i, 0] + x)
        c[1] += m * (p[i, 1] + y)
        c[2] += m * (p[i, 2] + z)
        dc[0] += m * (v[i, 0] + om[i, 1] * z - om[i, 2] * y)
        dc[1] += m * (v[i, 1] + om[i, 2] * x - om[i, 0] * z)
        dc[2] += m * (v[i, 2] + om[i, 0] * y - om[i, 1] * x)
    for a in range(3):
        c[a] /= mass
        dc[a] /= mass
    return mass


@kernel
def spin(R: np.ndarray, inertia: np.ndarray, x: float, y: float, z: float) -> tuple[float, float, float]:
    """R I R^T (x, y, z): what an inertia in body axes makes of a world vector."""
    a = R[0, 0] * x + R[1, 0] * y + R[2, 0] * z
    b = R[0, 1] * x + R[1, 1] * y + R[2, 1] * z
    c = R[0, 2] * x + R[1, 2] * y + R[2, 2] * z
    d = inertia[0, 0] * a + inertia[0, 1] * b + inertia[0, 2] * c
    e = inertia[1, 0] * a + inertia[1, 1] * b + inertia[1, 2] * c
    f = inertia[2, 0] * a + inertia[2, 1] * b + inertia[2, 2] * c
    return (
        R[0, 0] * d + R[0, 1] * e + R[0, 2] * f,
        R[1, 0] * d + R[1, 1] * e + R[1, 2] * f,
        R[2, 0] * d + R[2, 1] * e + R[2, 2] * f,
    )


@kernel
def accelerate_bodies(
    parents: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    om: np.ndarray,
    a0: np.ndarray,
    al: np.ndarray,
    acc: np.ndarray,
) -> None:
    """World angular accelerations al (J, 3) and accelerations acc (J, 3) of the joints.

    a0  (3,) m/s2, of the root joint in world axes; add the upward 9.81 to have gravity in all of them
    """
    al[0, 0], al[0, 1], al[0, 2] = turn(R[0], dw[0])
    for a in range(3):
        acc[0, a] = a0[a]
    for i in range(1, len(parents)):
        k = parents[i]
        x, y, z = turn(R[i], w[i])
        # d/dt (R w) = R dw + om_parent x (R w), since w x w is nothing
        ax, ay, az = turn(R[i], dw[i])
        al[i, 0] = al[k, 0] + ax + om[k, 1] * z - om[k, 2] * y
        al[i, 1] = al[k, 1] + ay + om[k, 2] * x - om[k, 0] * z
        al[i, 2] = al[k, 2] + az + om[k, 0] * y - om[k, 1] * x
        rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
        x, y, z = point_acceleration(om[k], al[k], rx, ry, rz)
        acc[i, 0], acc[i, 1], acc[i, 2] = acc[k, 0] + x, acc[k, 1] + y, acc[k, 2] + z


@kernel
def point_acceleration(om: np.ndarray, al: np.ndarray, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Al x r + om x (om x r): what a body's turning adds to the acceleration of a point at r (world axes)."""
    ux, uy, uz = om[1] * z - om[2] * y, om[2] * x - om[0] * z, om[0] * y - om[1] * x
    return (
        al[1] * z - al[2] * y + om[1] * uz - om[2] * uy,
        al[2] * x - al[0] * z + om[2] * ux - om[0] * uz,
        al[0] * y - al[1] * x + om[0] * uy - om[1] * ux,
    )


@kernel
def net_forces(
    masses: np.ndarray,
    centers: np.ndarray,
    inertias: np.ndarray,
    R: np.ndarray,
    om: np.ndarray,
    al: np.ndarray,
    acc: np.ndarray,
    f: np.ndarray,
    n: np.ndarray,
) -> None:
    """Force f (J, 3) N and torque n (J, 3) N m about each body's joint that its motion asks for.   [mix, eq 4]"""
    for i in range(len(masses)):
        m = masses[i]
        x, y, z = turn(R[i], centers[i])
        ax, ay, az = point_acceleration(om[i], al[i], x, y, z)
        # f = m a_c,   n = I al + om x I om + c x f
        fx, fy, fz = m * (acc[i, 0] + ax), m * (acc[i, 1] + ay), m * (acc[i, 2] + az)
        hx, hy, hz = spin(R[i], inertias[i], om[i, 0], om[i, 1], om[i, 2])
        tx, ty, tz = spin(R[i], inertias[i], al[i, 0], al[i, 1], al[i, 2])
        f[i, 0], f[i, 1], f[i, 2] = fx, fy, fz
        n[i, 0] = tx + om[i, 1] * hz - om[i, 2] * hy + y * fz - z * fy
        n[i, 1] = ty + om[i, 2] * hx - om[i, 0] * hz + z * fx - x * fz
        n[i, 2] = tz + om[i, 0] * hy - om[i, 1] * hx + x * fy - y * fx


@kernel
def gather_inward(parents: np.ndarray, p: np.ndarray, f: np.ndarray, n: np.ndarray) -> None:
    """Every joint's force and torque with all that it carries: the inward half of Newton-Euler.   [mix, eq 5]"""
    for i in range(len(parents) - 1, 0, -1):
        add_to_parent(parents[i], i, p, f, n)


@kernel
def add_to_parent(k: int, i: int, p: np.ndarray, f: np.ndarray, n: np.ndarray) -> None:
    """What joint i carries, added to joint k, with the moment of the force."""
    rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
    n[k, 0] += n[i, 0] + ry * f[i, 2] - rz * f[i, 1]
    n[k, 1] += n[i, 1] + rz * f[i, 0] - rx * f[i, 2]
    n[k, 2] += n[i, 2] + rx * f[i, 1] - ry * f[i, 0]
    f[k, 0] += f[i, 0]
    f[k, 1] += f[i, 1]
    f[k, 2] += f[i, 2]


class Body(Layout):
    """A body that is simulated: its tree, its state, and what drivers ask of the engine. See `drivers/body.py`."""

    joints: int  # number of joints
    steps: int  # since the run began
    request: int  # 1: the run ends after this step, see `Player.handle_request`
    floor: int  # address of the ground, see `world/ground/floor.py`
    airborne: int  # 1 if nothing that is fixed touched the body in the last step: see `stage/coupling/coupling.py`
    dt: float  # s
    t: float  # s, when the step began
    at: float  # s, the time at which a motion is evaluated
    parents: Annotated[Ints, "joints"]
    offsets: Annotated[Floats, "joints", 3]  # m, from the parent joint, in its axes
    masses: Annotated[Floats, "joints"]  # kg
    centers: Annotated[Floats, "joints", 3]  # m, centres of mass, in the body's axes
    inertias: Annotated[Floats, "joints", 3, 3]  # kg m2, about the centre of mass, in the body's axes
    root: Annotated[Floats, 3]  # m, position of the root
    q: Annotated[Floats, "joints", 4]  # rotations of the joints; the root's in the world
    v: Annotated[Floats, 3]  # m/s, velocity of the root
    w: Annotated[Floats, "joints", 3]  # rad/s, of the joints, in the bodies' axes
    dw: Annotated[Floats, "joints", 3]  # rad/s2
    a: Annotated[Floats, 3]  # m/s2, of the root
    R: Annotated[Floats, "joints", 3, 3]  # orientations of the bodies in the world
    p: Annotated[Floats, "joints", 3]  # m, positions of the joints in the world
    om: Annotated[Floats, "joints", 3]  # rad/s, of the bodies, world axes
    vel: Annotated[Floats, "joints", 3]  # m/s, of the joints
    c: Annotated[Floats, 3]  # m, centre of mass
    dc: Annotated[Floats, 3]  # m/s, its velocity
    torque: Annotated[Floats, "joints", 3]  # N m, world axes
    damping: Annotated[Floats, "joints"]  # N m s/rad
    wrench: Annotated[Floats, "joints", 6]  # N and N m about the joint, world axes
    nudges: Annotated[Floats, "joints", 3]
    nudged: Annotated[Ints, "joints"]
    stops: Annotated[Floats, "joints", 3]  # N m, part of `torque`: what keeps joints in their ranges
    axial: Annotated[Floats, "joints", 3]  # N m s/rad, its damping about the body's own axes
    aim: Annotated[Floats, "joints", 4]  # rotations towards which drivers pull the joints
    firm: Annotated[Floats, "joints"]  # N m/rad, how stiffly
    coupling: Annotated[Floats, "joints", 6]
    w_before: Annotated[Floats, "joints", 3]
    v_before: Annotated[Floats, 3]
    f: Annotated[Floats, "joints", 3]
    n: Annotated[Floats, "joints", 3]
    reaction: Annotated[Floats, "joints", 6]
    gravity: Annotated[Floats, 3]  # m/s2
    # N in the world and N m about the root in its axes: contact forces of other floating bodies on an airborne body
    external_wrench: Annotated[Floats, 6]


BODY = Body.dtype  # of the same record, with addresses in place of arrays


@kernel
def update_body(body: Body) -> None:
    """Compute world poses and velocities from the state: R, p, om, vel, c and dc."""
    parents, R, p, om, vel = body.parents, body.R, body.p, body.om, body.vel
    pose_bodies(parents, body.offsets, body.root, body.q, R, p)
    move_bodies(parents, R, p, body.v, body.w, om, vel)
    center_of_mass(body.masses, body.centers, R, p, om, vel, body.c, body.dc)


@law
def update(body: int, _block: int) -> None:
    """World poses and velocities, and the centre of mass."""
    update_body(at(body, Body))
