"""What a motion asks of the joints that follow it, compiled: springs in the tangent space, and inverse dynamics.

    e        the turn that is left to where the motion is at the end of the step, in the body's axes
    w*, dw*  rad/s, rad/s2: how fast the motion turns, and how fast that changes, at mid-step, in the body's axes

An engine takes the damper at the end of the step, and so is the spring, by k dt more damping (`servo_kernels.py`):

    t = k e + d w*  - (d + k dt) w(t + dt)  =  k (q*(t + dt) - q(t + dt)) + d (w* - w(t + dt))

which is nothing for a body that is where it should be: it neither lags nor leads, and no step is too long for it.
"""

from __future__ import annotations

import numpy as np

from poise.dynamics.instant import accelerate_bodies, cross, gather_inward, net_forces, spin, turn, turn_back
from poise.motion.part_kernels import log_between, multiply, set_exp
from poise.spatial.compile import kernel

# rad/s, rad/s2: no joint of a person turns faster, or is turned faster into it, for longer than a blow; what does is a
# mistake in a recording. A pitcher's shoulder: 120 and 9000.
FASTEST, HARDEST = 120.0, 3000.0
_FLAT = 1e-12  # of the product of its largest moments: a line or a point of mass has no spin of its own


@kernel
def aim_ahead(
    dt: float, q: np.ndarray, w: np.ndarray, dw: np.ndarray, x: np.ndarray, by: np.ndarray, aim: np.ndarray
) -> None:
    """aim (4,): where a joint at q (4,) with rates w and dw (3,) at mid-step is at the end of the step.

    x (3,), by (4,): room
    """
    for c in range(3):
        x[c] = 0.5 * dt * (w[c] + 0.25 * dt * dw[c])
    set_exp(x, by)
    multiply(q, by, aim)


@kernel
def keep_below(x: np.ndarray, most: float) -> None:
    """Shorten x (3,) to a length."""
    square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
    if square > most * most:
        size = np.sqrt(square)
        for c in range(3):
            x[c] *= most / size


@kernel
def set_off(aim: np.ndarray, q: np.ndarray, off: np.ndarray) -> None:
    """off (4,) = aim* q: what `rotate_back` takes to say in a joint's axes, at q, what was said in those at `aim`."""
    w, x, y, z = aim[0], -aim[1], -aim[2], -aim[3]
    off[0] = w * q[0] - x * q[1] - y * q[2] - z * q[3]
    off[1] = w * q[1] + x * q[0] + y * q[3] - z * q[2]
    off[2] = w * q[2] - x * q[3] + y * q[0] + z * q[1]
    off[3] = w * q[3] + x * q[2] - y * q[1] + z * q[0]


@kernel
def pull(
    stiffness: float,
    damping: float,
    goes_along: bool,
    aim: np.ndarray,
    w: np.ndarray,
    q: np.ndarray,
    R: np.ndarray,
    lead: np.ndarray,
    share: float,
    e: np.ndarray,
    torque: np.ndarray,
) -> None:
    """Torque (3,) N m of one joint's spring and damper, world axes, beside what the engine takes implicitly.

    goes_along  whether the damper acts on the speed beside the motion's own, w (3,), or on all of it   [tracking, eq 2]
    lead, share N m in body axes, and how much of it acts besides: what moved the joint before
    e           (3,) room
    """
    log_between(q, aim, e)
    for c in range(3):
        e[c] = stiffness * e[c] + share * lead[c]
        if goes_along:
            e[c] += damping * w[c]
    torque[0], torque[1], torque[2] = turn(R, e)


@kernel
def ask_dynamics(
    parents: np.ndarray,
    masses: np.ndarray,
    centers: np.ndarray,
    inertias: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    om: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    a0: np.ndarray,
    gravity: np.ndarray,
    is_aloft: bool,
    al: np.ndarray,
    acc: np.ndarray,
    f: np.ndarray,
    n: np.ndarray,
) -> None:
    """n (J, 3) N m in world axes: what joints must give for accelerations dw (J, 3), in the present state.

    a0        (3,) m/s2, of a root that is given; nothing for one that floats and is held up
    is_aloft  whether nothing holds it up: the root then moves as those accelerations alone make it move
    """
    up, kept = np.empty(3), dw[0].copy()
    for c in range(3):
        up[c] = 0.0 if is_aloft else a0[c] - gravity[c]
        if is_aloft:
            dw[0, c] = 0.0
    _ask(parents, masses, centers, inertias, R, p, om, w, dw, up, al, acc, f, n)
    if is_aloft:
        _let_float(masses, centers, inertias, R, p, f[0], n[0], dw[0], up)
        _ask(parents, masses, centers, inertias, R, p, om, w, dw, up, al, acc, f, n)
        for c in range(3):
            dw[0, c] = kept[c]


@kernel
def _ask(
    parents: np.ndarray,
    masses: np.ndarray,
    centers: np.ndarray,
    inertias: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    om: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    a0: np.ndarray,
    al: np.ndarray,
    acc: np.ndarray,
    f: np.ndarray,
    n: np.ndarray,
) -> None:
    """Newton-Euler, outward and inward."""
    accelerate_bodies(parents, R, p, w, dw, om, a0, al, acc)
    net_forces(masses, centers, inertias, R, om, al, acc, f, n)
    gather_inward(parents, p, f, n)


@kernel
def _let_float(
    masses: np.ndarray,
    centers: np.ndarray,
    inertias: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    force: np.ndarray,
    moment: np.ndarray,
    dw0: np.ndarray,
    a0: np.ndarray,
) -> None:
    """The root's accelerations dw0 (3,), in its axes, and a0 (3,), at which a body needs nothing from outside.

    force, moment  (3,) what it needs with a root at rest, at the root joint; the whole body, locked, takes that up:

        I_c al = -(moment - r x force)      a = -force / m - al x r       r: from the root to the centre of mass
    """
    mass, r, d, u, inertia = 0.0, np.zeros(3), np.empty(3), np.empty(3), np.zeros((3, 3))
    for i in range(len(masses)):
        u[0], u[1], u[2] = turn(R[i], centers[i])
        mass += masses[i]
        for c in range(3):
            r[c] += masses[i] * (p[i, c] + u[c] - p[0, c])
    for c in range(3):
        r[c] /= mass
    for i in range(len(masses)):
        m = masses[i]
        if m == 0.0:
            continue
        u[0], u[1], u[2] = turn(R[i], centers[i])
        for c in range(3):
            d[c] = p[i, c] + u[c] - p[0, c] - r[c]
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        for c in range(3):
            column = spin(R[i], inertias[i], 1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
            for k in range(3):
                inertia[k, c] += column[k] - m * d[k] * d[c]
            inertia[c, c] += m * square
    x, y, z = cross(r, force)
    d[0], d[1], d[2] = x - moment[0], y - moment[1], z - moment[2]
    _solve(inertia, d, u)
    x, y, z = cross(u, r)
    a0[0], a0[1], a0[2] = -force[0] / mass - x, -force[1] / mass - y, -force[2] / mass - z
    dw0[0], dw0[1], dw0[2] = turn_back(R[0], u)


@kernel
def _solve(A: np.ndarray, y: np.ndarray, x: np.ndarray) -> None:
    """x (3,) = A^-1 y for a symmetric A (3, 3) by its adjugate; zero where A is singular."""
    adjugate = np.empty((3, 3))
    for a in range(3):
        i, k = (a + 1) % 3, (a + 2) % 3
        for b in range(3):
            r, s = (b + 1) % 3, (b + 2) % 3
            adjugate[b, a] = A[i, r] * A[k, s] - A[i, s] * A[k, r]
    det = A[0, 0] * adjugate[0, 0] + A[0, 1] * adjugate[1, 0] + A[0, 2] * adjugate[2, 0]
    for a in range(3):
        x[a] = 0.0
        if det > _FLAT * A[0, 0] * A[1, 1] * A[2, 2]:
            for b in range(3):
                x[a] += adjugate[a, b] * y[b] / det
