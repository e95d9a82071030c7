"""The coupling of kinematic and physical parts for one body at one instant, compiled. `coupling.py` says what it is.

There the wrench is found part by part; here body by body, which covers bases that move as well as parts that hang: what
a body's motion asks for, less what it would ask for if everything given stood still,

    f_i(q, u, given accelerations) - f_i(q, u without the given velocities, 0)

put on every body with the opposite sign. Summed up to a connector this is -(W - R). Letters as in `dynamics.instant`.
"""

from __future__ import annotations

import numpy as np

from poise.dynamics.instant import add_to_parent, point_acceleration, spin, turn
from poise.spatial.compile import kernel


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
    work     (5, J, 3): angular accelerations, accelerations, then locked velocities, and both accelerations
    """
    al, acc, om_l, al_l, acc_l = work[0], work[1], work[2], work[3], work[4]
    for i in range(len(parents)):
        k = parents[i]
        x, y, z = turn(R[i], w[i])
        if k < 0:
            for a in range(3):
                al[i, a] = 0.0
                acc[i, a] = a0[a] if given[i] else 0.0
                om_l[i, a] = 0.0 if given[i] else om[i, a]
                al_l[i, a] = 0.0
                acc_l[i, a] = 0.0
            if given[i]:
                al[i, 0], al[i, 1], al[i, 2] = turn(R[i], dw[i])
        else:
            ax, ay, az = 0.0, 0.0, 0.0
            if given[i]:
                ax, ay, az = turn(R[i], dw[i])
            al[i, 0] = al[k, 0] + ax + om[k, 1] * z - om[k, 2] * y
            al[i, 1] = al[k, 1] + ay + om[k, 2] * x - om[k, 0] * z
            al[i, 2] = al[k, 2] + az + om[k, 0] * y - om[k, 1] * x
            rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
            ux, uy, uz = point_acceleration(om[k], al[k], rx, ry, rz)
            acc[i, 0], acc[i, 1], acc[i, 2] = acc[k, 0] + ux, acc[k, 1] + uy, acc[k, 2] + uz
            if given[i]:
                x, y, z = 0.0, 0.0, 0.0
            om_l[i, 0], om_l[i, 1], om_l[i, 2] = om_l[k, 0] + x, om_l[k, 1] + y, om_l[k, 2] + z
            al_l[i, 0] = al_l[k, 0] + om_l[k, 1] * z - om_l[k, 2] * y
            al_l[i, 1] = al_l[k, 1] + om_l[k, 2] * x - om_l[k, 0] * z
            al_l[i, 2] = al_l[k, 2] + om_l[k, 0] * y - om_l[k, 1] * x
            ux, uy, uz = point_acceleration(om_l[k], al_l[k], rx, ry, rz)
            acc_l[i, 0], acc_l[i, 1], acc_l[i, 2] = acc_l[k, 0] + ux, acc_l[k, 1] + uy, acc_l[k, 2] + uz
        m = masses[i]
        if m == 0.0 or not touched[i]:
            continue
        x, y, z = turn(R[i], centers[i])
        ax, ay, az = point_acceleration(om[i], al[i], x, y, z)
        bx, by, bz = point_acceleration(om_l[i], al_l[i], x, y, z)
        fx = m * (acc[i, 0] + ax - acc_l[i, 0] - bx)
        fy = m * (acc[i, 1] + ay - acc_l[i, 1] - by)
        fz = m * (acc[i, 2] + az - acc_l[i, 2] - bz)
        tx, ty, tz = spin(R[i], inertias[i], al[i, 0] - al_l[i, 0], al[i, 1] - al_l[i, 1], al[i, 2] - al_l[i, 2])
        gx, gy, gz = _gyroscopic(R[i], inertias[i], om[i])
        hx, hy, hz = _gyroscopic(R[i], inertias[i], om_l[i])
        wrench[i, 0] -= gain * (tx + gx - hx + y * fz - z * fy)
        wrench[i, 1] -= gain * (ty + gy - hy + z * fx - x * fz)
        wrench[i, 2] -= gain * (tz + gz - hz + x * fy - y * fx)
        wrench[i, 3] -= gain * fx
        wrench[i, 4] -= gain * fy
        wrench[i, 5] -= gain * fz


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
        if not given[i]:
            continue
        k = parents[i]
        rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
        x, y, z = wrench[i, 3], wrench[i, 4], wrench[i, 5]
        wrench[k, 0] += wrench[i, 0] + ry * z - rz * y
        wrench[k, 1] += wrench[i, 1] + rz * x - rx * z
        wrench[k, 2] += wrench[i, 2] + rx * y - ry * x
        for a in range(3):
            wrench[k, 3 + a] += wrench[i, 3 + a]
        for a in range(6):
            wrench[i, a] = 0.0
