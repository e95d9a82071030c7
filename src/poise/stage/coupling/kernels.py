"""The wrench of a kinematic part on the body that carries it (W3), for one body at one instant, compiled.

Every acceleration inside a kinematic part K is given, so the wrench that its connector C must put on it is affine in
the connector's own acceleration:

    W = I_K(q) a_C + b          I_K: K as one rigid body, locked in its present pose

`exact` (the default) gives the engine I_K as inertia of the connector, in every step, and applies only -k (W - R),
with W the wrench of K as it moves and R that of K locked, both at the connector's present velocity. Gravity and a_C
cancel in the difference, so nothing of the next step need be known: the physical part's equation of motion is then
eq 1 of the mix paper, solved exactly (k = 1), in time linear in the joints and on an engine that knows nothing of it.

`paper` applies -k W itself, with the connector's acceleration of the *previous* step. It diverges once k times K's
inertia over that of the physical part, as felt at the connector, is more than about one.

`tests/oracles/coupling.py` finds the wrench part by part; here it is found body by body, which covers bases that move
as well as parts that hang: what a body's motion asks for, less what it would ask for if everything given stood still,

    f_i(q, u, given accelerations) - f_i(q, u without the given velocities, 0)

put on every body with the opposite sign. Summed up to a connector this is -(W - R). Letters as in
`dynamics/body_kernels.py`.

Both have the same accelerations of the physical joints, so only differences are followed outwards, and a body that no
given joint moves has none.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.layout import Flags, Floats, Ints, Layout
from poise.dynamics.body_kernels import Body, add_to_parent, point_acceleration, spin, turn

_ROUND = 1e-9  # of a step


class Coupling(Layout):
    """Which joints of a body are prescribed, how they act on what carries them, and the pushes on the body."""

    joints: int  # number of joints
    gain: float  # k: 1 is physics
    given: Annotated[Flags, "joints"]  # joints whose motion is prescribed
    accelerating: Annotated[Flags, "joints"]  # those of them that accelerate by themselves; not a root on a prop
    touched: Annotated[Flags, "joints"]  # bodies that an accelerating joint moves, its own or one further in
    inertia: Annotated[Floats, "joints"]  # kg m2, of what each joint carries, about the joint
    massless: Annotated[Flags, "joints"]  # segments with next to no mass beside what hangs from them
    trunk_damping: Annotated[Floats, "joints"]  # N m s/rad: see `stage/step/kernels.py:damp_overspeed`
    # `exact`: differences of angular accelerations (rad/s2) and of accelerations (m/s2) between moving and locked, and
    # angular velocities (rad/s) with the prescribed joints locked; world axes
    al_difference: Annotated[Floats, "joints", 3]
    acc_difference: Annotated[Floats, "joints", 3]
    om_locked: Annotated[Floats, "joints", 3]
    # `paper`
    torque_only: int  # 1: the torque alone acts on the connector, without the force that goes with it
    filter_is_fixed: int  # 1: the user chose the filter; else it follows from the pose
    filter_factor: Annotated[Floats, 1]  # fraction of the last step in `al` and `acc`; the rest is that of earlier ones
    al: Annotated[Floats, "joints", 3]  # rad/s2, angular accelerations in the last steps, world axes
    acc: Annotated[Floats, "joints", 3]  # m/s2, of the joints
    om_before: Annotated[Floats, "joints", 3]  # rad/s, at the beginning of the step
    vel_before: Annotated[Floats, "joints", 3]  # m/s
    # Pushes, sorted by their start.
    push_count: int
    push_joint: Annotated[Ints, "push_count"]
    push_force: Annotated[Floats, "push_count", 3]  # N, world axes
    push_start: Annotated[Floats, "push_count"]  # s
    push_seconds: Annotated[Floats, "push_count"]
    felt: Annotated[Floats, "joints", 3]  # N m, world axes: what pushes put on prescribed joints, for players to take
    pressed: Annotated[Floats, "joints", 8]  # see `Body.pressed`


@kernel
def couple_exact(b: Body, x: Coupling, wrench: np.ndarray) -> None:
    """Add -k (moving - locked) of every body to wrench (J, 6), [torque, force] about its joint in world axes."""
    _find_differences(b, x)
    touched, masses, centers, inertias, R, om = x.touched, b.masses, b.centers, b.inertias, b.R, b.om
    al, acc, locked, gain = x.al_difference, x.acc_difference, x.om_locked, x.gain
    for i in range(b.joints):
        m = masses[i]
        if not touched[i] or m == 0.0:
            continue
        cx, cy, cz = turn(R[i], centers[i])
        ax, ay, az = point_acceleration(om[i], al[i], cx, cy, cz)
        bx, by, bz = _centripetal(locked[i], cx, cy, cz)
        fx, fy, fz = m * (acc[i, 0] + ax - bx), m * (acc[i, 1] + ay - by), m * (acc[i, 2] + az - bz)
        tx, ty, tz = spin(R[i], inertias[i], al[i, 0], al[i, 1], al[i, 2])
        gx, gy, gz = _gyroscopic(R[i], inertias[i], om[i])
        hx, hy, hz = _gyroscopic(R[i], inertias[i], locked[i])
        wrench[i, 0] -= gain * (tx + gx - hx + cy * fz - cz * fy)
        wrench[i, 1] -= gain * (ty + gy - hy + cz * fx - cx * fz)
        wrench[i, 2] -= gain * (tz + gz - hz + cx * fy - cy * fx)
        wrench[i, 3] -= gain * fx
        wrench[i, 4] -= gain * fy
        wrench[i, 5] -= gain * fz


@kernel
def _find_differences(b: Body, x: Coupling) -> None:
    """Write `al_difference`, `acc_difference` and `om_locked`, from the root outwards."""
    parents, R, p, w, dw, a0, om = b.parents, b.R, b.p, b.w, b.dw, b.a, b.om
    given, touched, al, acc, locked = x.accelerating, x.touched, x.al_difference, x.acc_difference, x.om_locked
    for i in range(b.joints):
        k = parents[i]
        if not touched[i]:
            for c in range(3):
                al[i, c] = 0.0
                acc[i, c] = 0.0
                locked[i, c] = om[i, c]
            continue
        if k < 0:
            al[i, 0], al[i, 1], al[i, 2] = turn(R[i], dw[i])
            for c in range(3):
                acc[i, c] = a0[c]
                locked[i, c] = 0.0
            continue
        rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
        ax, ay, az = point_acceleration(om[k], al[k], rx, ry, rz)
        ux, uy, uz = _centripetal(locked[k], rx, ry, rz)
        acc[i, 0], acc[i, 1], acc[i, 2] = acc[k, 0] + ax - ux, acc[k, 1] + ay - uy, acc[k, 2] + az - uz
        # d/dt (R w) = R dw + om_parent x (R w): all of it is the prescribed motion's, or what locking changes of it
        wx, wy, wz = turn(R[i], w[i])
        if given[i]:
            ax, ay, az = turn(R[i], dw[i])
            ux, uy, uz = om[k, 0], om[k, 1], om[k, 2]
            locked[i, 0], locked[i, 1], locked[i, 2] = locked[k, 0], locked[k, 1], locked[k, 2]
        else:
            ax, ay, az = 0.0, 0.0, 0.0
            ux, uy, uz = om[k, 0] - locked[k, 0], om[k, 1] - locked[k, 1], om[k, 2] - locked[k, 2]
            locked[i, 0], locked[i, 1], locked[i, 2] = locked[k, 0] + wx, locked[k, 1] + wy, locked[k, 2] + wz
        al[i, 0] = al[k, 0] + ax + uy * wz - uz * wy
        al[i, 1] = al[k, 1] + ay + uz * wx - ux * wz
        al[i, 2] = al[k, 2] + az + ux * wy - uy * wx


@kernel
def _centripetal(om: np.ndarray, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Om x (om x r)."""
    ux, uy, uz = om[1] * z - om[2] * y, om[2] * x - om[0] * z, om[0] * y - om[1] * x
    return om[1] * uz - om[2] * uy, om[2] * ux - om[0] * uz, om[0] * uy - om[1] * ux


@kernel
def _gyroscopic(R: np.ndarray, inertia: np.ndarray, om: np.ndarray) -> tuple[float, float, float]:
    """Om x I om."""
    x, y, z = spin(R, inertia, om[0], om[1], om[2])
    return om[1] * z - om[2] * y, om[2] * x - om[0] * z, om[0] * y - om[1] * x


@kernel
def couple_paper(b: Body, x: Coupling) -> None:
    """Add -k W of every kinematic part to its connector's row of the body's wrench.   [mix, eq 2-7]

    `al` and `acc` are those of the physical bodies *of the last steps*; the rows of given joints are written here.
    """
    _find_part_forces(b, x)
    parents, p, f, n, wrench, given, gain = b.parents, b.p, b.f, b.n, b.wrench, x.given, x.gain
    for i in range(b.joints - 1, 0, -1):
        k = parents[i]
        if not given[i]:
            continue
        if given[k] or x.torque_only == 0:
            add_to_parent(k, i, p, f, n)
        else:
            # tau_1 alone: the torque at the part's first joint, without the force that goes with it   [mix, eq 7]
            for c in range(3):
                n[k, c] += n[i, c]
    for i in range(b.joints):
        if not given[i]:
            for c in range(3):
                wrench[i, c] -= gain * n[i, c]
                wrench[i, 3 + c] -= gain * f[i, c]


@kernel
def _find_part_forces(b: Body, x: Coupling) -> None:
    """Write the forces f and torques n that each given body needs for itself, about its joint; zero for the others."""
    parents, masses, centers, inertias, gravity = b.parents, b.masses, b.centers, b.inertias, b.gravity
    R, p, w, dw, om, f, n = b.R, b.p, b.w, b.dw, b.om, b.f, b.n
    given, al, acc = x.given, x.al, x.acc
    for i in range(b.joints):
        for c in range(3):
            f[i, c] = 0.0
            n[i, c] = 0.0
        k = parents[i]
        if not given[i] or k < 0:
            continue
        wx, wy, wz = turn(R[i], w[i])
        ax, ay, az = turn(R[i], dw[i])
        al[i, 0] = al[k, 0] + ax + om[k, 1] * wz - om[k, 2] * wy
        al[i, 1] = al[k, 1] + ay + om[k, 2] * wx - om[k, 0] * wz
        al[i, 2] = al[k, 2] + az + om[k, 0] * wy - om[k, 1] * wx
        ax, ay, az = point_acceleration(om[k], al[k], p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2])
        acc[i, 0], acc[i, 1], acc[i, 2] = acc[k, 0] + ax, acc[k, 1] + ay, acc[k, 2] + az
        m = masses[i]
        cx, cy, cz = turn(R[i], centers[i])
        ax, ay, az = point_acceleration(om[i], al[i], cx, cy, cz)
        f[i, 0] = m * (acc[i, 0] + ax - gravity[0])
        f[i, 1] = m * (acc[i, 1] + ay - gravity[1])
        f[i, 2] = m * (acc[i, 2] + az - gravity[2])
        tx, ty, tz = spin(R[i], inertias[i], al[i, 0], al[i, 1], al[i, 2])
        gx, gy, gz = _gyroscopic(R[i], inertias[i], om[i])
        n[i, 0] = tx + gx + cy * f[i, 2] - cz * f[i, 1]
        n[i, 1] = ty + gy + cz * f[i, 0] - cx * f[i, 2]
        n[i, 2] = tz + gz + cx * f[i, 1] - cy * f[i, 0]


@kernel
def hand_to_connectors(parents: np.ndarray, given: np.ndarray, p: np.ndarray, wrench: np.ndarray) -> None:
    """Move the wrenches on given bodies to the bodies that carry them, in place; a given root keeps its own."""
    for i in range(len(parents) - 1, 0, -1):
        if given[i]:
            _hand_on(i, parents[i], p, wrench)


@kernel
def hand_on_pushes(parents: np.ndarray, given: np.ndarray, p: np.ndarray, wrench: np.ndarray, felt: np.ndarray) -> None:
    """Like `hand_to_connectors`, for pushes; write their torques on given joints to felt (J, 3) N m, world axes."""
    for i in range(len(parents) - 1, 0, -1):
        if given[i]:
            felt[i, 0], felt[i, 1], felt[i, 2] = wrench[i, 0], wrench[i, 1], wrench[i, 2]
            _hand_on(i, parents[i], p, wrench)


@kernel
def hand_on_pressed(parents: np.ndarray, given: np.ndarray, p: np.ndarray, pressed: np.ndarray) -> None:
    """Sum contact rows (J, PRESSED) of given joints inwards: each then has all that acts outboard of it."""
    for i in range(len(parents) - 1, -1, -1):
        row = pressed[i]
        if row[6] == 0.0:
            continue
        if i == 0 or not given[i]:
            row[:] = 0.0
            continue
        k = parents[i]
        rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
        pressed[k, 0] += row[0] + ry * row[5] - rz * row[4]
        pressed[k, 1] += row[1] + rz * row[3] - rx * row[5]
        pressed[k, 2] += row[2] + rx * row[4] - ry * row[3]
        for c in range(3, len(row)):
            pressed[k, c] += row[c]


@kernel
def _hand_on(i: int, k: int, p: np.ndarray, wrench: np.ndarray) -> None:
    """Move the wrench on body i to body k, about its joint."""
    rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
    x, y, z = wrench[i, 3], wrench[i, 4], wrench[i, 5]
    wrench[k, 0] += wrench[i, 0] + ry * z - rz * y
    wrench[k, 1] += wrench[i, 1] + rz * x - rx * z
    wrench[k, 2] += wrench[i, 2] + rx * y - ry * x
    for a in range(3):
        wrench[k, 3 + a] += wrench[i, 3 + a]
    for a in range(6):
        wrench[i, a] = 0.0


@kernel
def add_pushes(b: Body, x: Coupling) -> None:
    """Add the pushes of the step to the body's wrench, at the centres of mass of the segments that they push.

    A push that lasts for a part of the step acts with that fraction of its force, so that its impulse is right:

        F' dt = F |[t, t + dt] and [start, start + seconds]|
    """
    R, centers, wrench, t, dt = b.R, b.centers, b.wrench, b.t, b.dt
    joints, forces, start, seconds = x.push_joint, x.push_force, x.push_start, x.push_seconds
    for k in range(x.push_count):
        if start[k] >= t + dt:
            return
        begin, end = max(start[k] - t, 0.0), min(start[k] - t + seconds[k], dt)
        fraction = (end - begin) / dt
        if fraction > 1.0 - _ROUND:  # clocks are sums, and round-off is no part of a push
            fraction = 1.0
        if fraction > (_ROUND if seconds[k] >= dt else 0.0):
            i = joints[k]
            fx, fy, fz = fraction * forces[k, 0], fraction * forces[k, 1], fraction * forces[k, 2]
            rx, ry, rz = turn(R[i], centers[i])
            wrench[i, 0] += ry * fz - rz * fy
            wrench[i, 1] += rz * fx - rx * fz
            wrench[i, 2] += rx * fy - ry * fx
            wrench[i, 3] += fx
            wrench[i, 4] += fy
            wrench[i, 5] += fz
