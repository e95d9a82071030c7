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

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.body_kernels import add_to_parent, point_acceleration, spin, turn

# Where each number is in a push's row: the joint that it pushes, newtons, when it begins and how long it lasts.
PUSH_JOINT, PUSH_X, PUSH_Y, PUSH_Z, PUSH_START, PUSH_SECONDS, PUSH_COLUMNS = range(7)
_ROUND = 1e-9  # of a step


@kernel
def couple_exact(
    parents: np.ndarray,
    masses: np.ndarray,
    centers: np.ndarray,
    inertias: np.ndarray,
    given: np.ndarray,
    touched: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    a0: np.ndarray,
    om: np.ndarray,
    gain: float,
    work: np.ndarray,
    wrench: np.ndarray,
) -> None:
    """Add -k (moving - locked) of every body to wrench (J, 6), [torque, force] about its joint in world axes.

    given    (J,) bool: joints whose motion is given
    touched  (J,) bool: bodies that a given joint moves, itself or from further in
    om       (J, 3) world angular velocities as they are
    a0       (3,) m/s2, of a root that is given
    work     (3, J, 3): differences of angular accelerations and of accelerations, and locked angular velocities
    """
    al, acc, locked = work[0], work[1], work[2]
    for i in range(len(parents)):
        k = parents[i]
        if not touched[i]:
            for a in range(3):
                al[i, a] = 0.0
                acc[i, a] = 0.0
                locked[i, a] = om[i, a]
            continue
        if k < 0:
            al[i, 0], al[i, 1], al[i, 2] = turn(R[i], dw[i])
            for a in range(3):
                acc[i, a] = a0[a]
                locked[i, a] = 0.0
        else:
            rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
            x, y, z = point_acceleration(om[k], al[k], rx, ry, rz)
            ux, uy, uz = _centripetal(locked[k], rx, ry, rz)
            acc[i, 0], acc[i, 1], acc[i, 2] = acc[k, 0] + x - ux, acc[k, 1] + y - uy, acc[k, 2] + z - uz
            # d/dt (R w) = R dw + om_parent x (R w): all of it is the given motion's, or what locking changes of it
            x, y, z = turn(R[i], w[i])
            if given[i]:
                ax, ay, az = turn(R[i], dw[i])
                ux, uy, uz = om[k, 0], om[k, 1], om[k, 2]
                locked[i, 0], locked[i, 1], locked[i, 2] = locked[k, 0], locked[k, 1], locked[k, 2]
            else:
                ax, ay, az = 0.0, 0.0, 0.0
                ux, uy, uz = om[k, 0] - locked[k, 0], om[k, 1] - locked[k, 1], om[k, 2] - locked[k, 2]
                locked[i, 0], locked[i, 1], locked[i, 2] = locked[k, 0] + x, locked[k, 1] + y, locked[k, 2] + z
            al[i, 0] = al[k, 0] + ax + uy * z - uz * y
            al[i, 1] = al[k, 1] + ay + uz * x - ux * z
            al[i, 2] = al[k, 2] + az + ux * y - uy * x
        m = masses[i]
        if m == 0.0:
            continue
        x, y, z = turn(R[i], centers[i])
        ax, ay, az = point_acceleration(om[i], al[i], x, y, z)
        bx, by, bz = _centripetal(locked[i], x, y, z)
        fx, fy, fz = m * (acc[i, 0] + ax - bx), m * (acc[i, 1] + ay - by), m * (acc[i, 2] + az - bz)
        tx, ty, tz = spin(R[i], inertias[i], al[i, 0], al[i, 1], al[i, 2])
        gx, gy, gz = _gyroscopic(R[i], inertias[i], om[i])
        hx, hy, hz = _gyroscopic(R[i], inertias[i], locked[i])
        wrench[i, 0] -= gain * (tx + gx - hx + y * fz - z * fy)
        wrench[i, 1] -= gain * (ty + gy - hy + z * fx - x * fz)
        wrench[i, 2] -= gain * (tz + gz - hz + x * fy - y * fx)
        wrench[i, 3] -= gain * fx
        wrench[i, 4] -= gain * fy
        wrench[i, 5] -= gain * fz


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
def couple_paper(
    parents: np.ndarray,
    masses: np.ndarray,
    centers: np.ndarray,
    inertias: np.ndarray,
    given: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    om: np.ndarray,
    al: np.ndarray,
    acc: np.ndarray,
    gravity: np.ndarray,
    gain: float,
    torque_only: bool,
    f: np.ndarray,
    n: np.ndarray,
    wrench: np.ndarray,
) -> None:
    """Add -k W of every kinematic part to its connector's row of wrench (J, 6).   [mix, eq 2-7]

    al, acc  (J, 3) world angular accelerations and accelerations of the physical bodies' joints *of the last step*;
             the rows of given joints are written here
    """
    for i in range(len(parents)):
        for a in range(3):
            f[i, a] = 0.0
            n[i, a] = 0.0
        k = parents[i]
        if not given[i] or k < 0:
            continue
        x, y, z = turn(R[i], w[i])
        ax, ay, az = turn(R[i], dw[i])
        al[i, 0] = al[k, 0] + ax + om[k, 1] * z - om[k, 2] * y
        al[i, 1] = al[k, 1] + ay + om[k, 2] * x - om[k, 0] * z
        al[i, 2] = al[k, 2] + az + om[k, 0] * y - om[k, 1] * x
        x, y, z = point_acceleration(om[k], al[k], p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2])
        acc[i, 0], acc[i, 1], acc[i, 2] = acc[k, 0] + x, acc[k, 1] + y, acc[k, 2] + z
        m = masses[i]
        x, y, z = turn(R[i], centers[i])
        ax, ay, az = point_acceleration(om[i], al[i], x, y, z)
        f[i, 0] = m * (acc[i, 0] + ax - gravity[0])
        f[i, 1] = m * (acc[i, 1] + ay - gravity[1])
        f[i, 2] = m * (acc[i, 2] + az - gravity[2])
        tx, ty, tz = spin(R[i], inertias[i], al[i, 0], al[i, 1], al[i, 2])
        gx, gy, gz = _gyroscopic(R[i], inertias[i], om[i])
        n[i, 0] = tx + gx + y * f[i, 2] - z * f[i, 1]
        n[i, 1] = ty + gy + z * f[i, 0] - x * f[i, 2]
        n[i, 2] = tz + gz + x * f[i, 1] - y * f[i, 0]
    for i in range(len(parents) - 1, 0, -1):
        k = parents[i]
        if not given[i]:
            continue
        if given[k] or not torque_only:
            add_to_parent(k, i, p, f, n)
        else:
            # tau_1 alone: the torque at the part's first joint, without the force that goes with it   [mix, eq 7]
            for a in range(3):
                n[k, a] += n[i, a]
    for i in range(len(parents)):
        if not given[i]:
            for a in range(3):
                wrench[i, a] -= gain * n[i, a]
                wrench[i, 3 + a] -= gain * f[i, a]


@kernel
def hand_to_connectors(parents: np.ndarray, given: np.ndarray, p: np.ndarray, wrench: np.ndarray) -> None:
    """Move the wrenches on given bodies to what carries them, in place; a given root keeps its own."""
    for i in range(len(parents) - 1, 0, -1):
        if given[i]:
            _hand_on(i, parents[i], p, wrench)


@kernel
def hand_on_pushes(parents: np.ndarray, given: np.ndarray, p: np.ndarray, wrench: np.ndarray, felt: np.ndarray) -> None:
    """The same of pushes, with what they put on each given joint into felt (J, 3) N m, world axes."""
    for i in range(len(parents) - 1, 0, -1):
        if given[i]:
            felt[i, 0], felt[i, 1], felt[i, 2] = wrench[i, 0], wrench[i, 1], wrench[i, 2]
            _hand_on(i, parents[i], p, wrench)


@kernel
def hand_on_pressed(parents: np.ndarray, given: np.ndarray, p: np.ndarray, pressed: np.ndarray) -> None:
    """The same of contacts: rows of given joints (J, PRESSED) become those of all that is given further out."""
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
def add_pushes(pushes: np.ndarray, t: float, dt: float, R: np.ndarray, centers: np.ndarray, wrench: np.ndarray) -> None:
    """Forces of the step from t on, at the centres of mass of the bodies they push; sorted by their start.

    A push that lasts for a part of the step acts with that share of its force, so that its impulse is its own:

        F' dt = F |[t, t + dt] and [start, start + seconds]|
    """
    for k in range(len(pushes)):
        x = pushes[k]
        if x[PUSH_START] >= t + dt:
            return
        begin, end = max(x[PUSH_START] - t, 0.0), min(x[PUSH_START] - t + x[PUSH_SECONDS], dt)
        share = (end - begin) / dt
        if share > 1.0 - _ROUND:  # clocks are sums, and round-off is no part of a push
            share = 1.0
        if share > (_ROUND if x[PUSH_SECONDS] >= dt else 0.0):
            i = int(x[PUSH_JOINT])
            fx, fy, fz = share * x[PUSH_X], share * x[PUSH_Y], share * x[PUSH_Z]
            r0 = R[i, 0, 0] * centers[i, 0] + R[i, 0, 1] * centers[i, 1] + R[i, 0, 2] * centers[i, 2]
            r1 = R[i, 1, 0] * centers[i, 0] + R[i, 1, 1] * centers[i, 1] + R[i, 1, 2] * centers[i, 2]
            r2 = R[i, 2, 0] * centers[i, 0] + R[i, 2, 1] * centers[i, 1] + R[i, 2, 2] * centers[i, 2]
            wrench[i, 0] += r1 * fz - r2 * fy
            wrench[i, 1] += r2 * fx - r0 * fz
            wrench[i, 2] += r0 * fy - r1 * fx
            wrench[i, 3] += fx
            wrench[i, 4] += fy
            wrench[i, 5] += fz
