"""How fast the bodies of GIVEN joints move where they touch something, compiled.

An engine that holds those bodies still on what carries them takes them for still in contacts, too: a drumming hand lies
on the drum, a tray slides away under what is on it. What it does not know of a body's motion is

    V = V_parent + W_parent x (p - p_parent),   W = W_parent + R w   where the joint is GIVEN     [moved, eq 1]

and the same of dw: the velocity that the given joints alone give it, on top of what the engine's own freedoms do.
(Jacobian times w and times dw: MuJoCo leaves the products of velocities out of contacts, and so does this.)

Engines step from velocities to places (x' = x + h v'), so what they call the velocity at the end of a step is that of
its middle, which is when motions are given: w there, and w - h dw at the beginning. Places are of the middle, too, and
contacts are met at the beginning: how deep one is is taken back by h/2 V, and one that is met by then only is none yet.
(Without, a hand that strikes is felt half a step early, and what it pushes or carries is as far ahead of it: by 5 mm at
1 m/s and 10 ms.)
"""

from __future__ import annotations

import numpy as np

from poise.dynamics.instant import turn
from poise.engines.landing_kernels import NEVER
from poise.engines.scene import GIVEN
from poise.spatial.compile import kernel

# A row a body: where its joint is (3), then W, V, and of dw the same: all in the world.
COLUMNS = 15
_P, _W, _V, _DW, _DV = 0, 3, 6, 9, 12


@kernel
def move_segments(
    kind: np.ndarray,
    parents: np.ndarray,
    is_seated: bool,
    dt: float,
    R: np.ndarray,
    p: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Write rows (J, 15) of one body: what its GIVEN joints give each segment as the step begins.

    is_seated  a GIVEN root stays where it is on what carries it, which moves it
    R, p       orientations of the bodies and positions of their joints
    w, dw      (J, 3) at mid-step in body axes; v, a (3,) of the root
    """
    for i in range(len(kind)):
        k = parents[i]
        for c in range(3):
            rows[i, _P + c] = p[i, c]
            if i > 0:
                rows[i, _W + c], rows[i, _DW + c] = rows[k, _W + c], rows[k, _DW + c]
            else:
                rows[i, _W + c] = rows[i, _DW + c] = rows[i, _V + c] = rows[i, _DV + c] = 0.0
        if i > 0:
            _carry(rows, i, k, _W, _V)
            _carry(rows, i, k, _DW, _DV)
        if kind[i] != GIVEN or (i == 0 and is_seated):
            continue
        wx, wy, wz = turn(R[i], w[i])
        dx, dy, dz = turn(R[i], dw[i])
        rows[i, _W] += wx - dt * dx
        rows[i, _W + 1] += wy - dt * dy
        rows[i, _W + 2] += wz - dt * dz
        rows[i, _DW] += dx
        rows[i, _DW + 1] += dy
        rows[i, _DW + 2] += dz
        if i == 0:
            for c in range(3):
                rows[i, _V + c] = v[c] - dt * a[c]
                rows[i, _DV + c] = a[c]


@kernel
def _carry(rows: np.ndarray, i: int, k: int, angular: int, linear: int) -> None:
    """The velocity of a joint on its parent, into the row."""
    x, y, z = rows[k, angular], rows[k, angular + 1], rows[k, angular + 2]
    rx, ry, rz = rows[i, 0] - rows[k, 0], rows[i, 1] - rows[k, 1], rows[i, 2] - rows[k, 2]
    rows[i, linear] = rows[k, linear] + y * rz - z * ry
    rows[i, linear + 1] = rows[k, linear + 1] + z * rx - x * rz
    rows[i, linear + 2] = rows[k, linear + 2] + x * ry - y * rx


@kernel
def shift_contact(
    first: int,
    second: int,
    at: np.ndarray,
    frame: np.ndarray,
    gap: float,
    row: int,
    count: int,
    dt: float,
    rows: np.ndarray,
    kbip: np.ndarray,
    aref: np.ndarray,
) -> bool:
    """Have MuJoCo's rows of one contact ask for what they would of segments that move; False: they do not.

    first, second  rows of its two bodies, -1 for one that nothing given moves
    at, frame      (3,) m; (9,) its axes, the normal first, from the first to the second
    gap            m, how far apart they are beyond where contacts begin; negative for one that is met
    row, count     its first row of the solver's, and how many it has there
    kbip, aref     (n, 4) stiffness, damping, impedance; (n,) m/s2: what is changed

    `discrete` meets a contact's spring and damper at the end of the step: of x = J v + dv, and J a + da,

        J a = -((B + h K I) x + K I r) / (1 + h B + h2 K I) - da                                [moved, eq 2]

    with r at the beginning of the step: h/2 (dv + h da) less than where the segments are.
    """
    vx, vy, vz, ax, ay, az = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for side in range(2):
        b = second if side == 0 else first
        if b < 0:
            continue
        sign = 1.0 if side == 0 else -1.0
        x, y, z = at[0] - rows[b, 0], at[1] - rows[b, 1], at[2] - rows[b, 2]
        vx += sign * (rows[b, _V] + rows[b, _W + 1] * z - rows[b, _W + 2] * y)
        vy += sign * (rows[b, _V + 1] + rows[b, _W + 2] * x - rows[b, _W] * z)
        vz += sign * (rows[b, _V + 2] + rows[b, _W] * y - rows[b, _W + 1] * x)
        ax += sign * (rows[b, _DV] + rows[b, _DW + 1] * z - rows[b, _DW + 2] * y)
        ay += sign * (rows[b, _DV + 1] + rows[b, _DW + 2] * x - rows[b, _DW] * z)
        az += sign * (rows[b, _DV + 2] + rows[b, _DW] * y - rows[b, _DW + 1] * x)
    if vx == 0.0 and vy == 0.0 and vz == 0.0 and ax == 0.0 and ay == 0.0 and az == 0.0:
        return False
    for c in range(min(count, 3)):
        dv = frame[3 * c] * vx + frame[3 * c + 1] * vy + frame[3 * c + 2] * vz
        da = frame[3 * c] * ax + frame[3 * c + 1] * ay + frame[3 * c + 2] * az
        back = 0.5 * dt * (dv + dt * da)
        if c == 0 and gap > back:
            aref[row] = -NEVER
            return True
        B, KI = kbip[row + c, 1], kbip[row + c, 0] * kbip[row + c, 2]
        # aref -= ((B + h K I) dv - K I h/2 (dv + h da)) / (1 + h B + h2 K I) + da
        aref[row + c] -= ((B + dt * KI) * dv - KI * back) / (1.0 + dt * B + dt * dt * KI) + da
    return True


@kernel
def shift_contacts(
    row_of_geom: np.ndarray,
    geom: np.ndarray,
    at: np.ndarray,
    frame: np.ndarray,
    dist: np.ndarray,
    margin: np.ndarray,
    address: np.ndarray,
    dim: np.ndarray,
    dt: float,
    rows: np.ndarray,
    kbip: np.ndarray,
    aref: np.ndarray,
) -> bool:
    """See `shift_contact`, of n contacts in arrays: whether any was changed."""
    shifted = False
    for k in range(len(address)):
        first, second = row_of_geom[geom[k, 0]], row_of_geom[geom[k, 1]]
        if address[k] >= 0 and (first >= 0 or second >= 0):
            gap = dist[k] - margin[k]
            if shift_contact(first, second, at[k], frame[k], gap, address[k], dim[k], dt, rows, kbip, aref):
                shifted = True
    return shifted
