"""MuJoCo's contacts, compiled: sorted by bodies, noted for `ContactLog`, and told the velocity of prescribed segments.

Sorting is one pass over MuJoCo's arrays.

How fast the bodies of GIVEN joints move where they touch something:

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

`contacts.py` lists these segments, and `landing_kernels.py` makes the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import blocks, floats, integers, record, shorts, vectors
from poise.dynamics.body_kernels import BODY, turn
from poise.engines.contact_log_kernels import HITS, end_step, note_contact
from poise.engines.mujoco.kernels import DATA, PLACES
from poise.engines.scene import GIVEN

NEVER = 1e12  # m/s2: what no two things come together by
SHORT = 8  # numbers that NumPy adds up one after the other, too, if there are fewer


@kernel
def sort_contacts(
    address: np.ndarray,
    geom: np.ndarray,
    frame: np.ndarray,
    pos: np.ndarray,
    row_force: np.ndarray,
    body_of_geom: np.ndarray,
    group_of_body: np.ndarray,
    forces: np.ndarray,
    points: np.ndarray,
    counts: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Write forces (G, n, 3) N on the bodies of each group, points (G, n, 3) m and how many there are, counts (G,).

    totals         (G, 3) N, the sums of the forces, one after the other

    address        (n,) of each contact's first row, negative where it carries nothing; geom (n, 2) its two shapes
    frame          (n, 9) its axes in the world, the normal first, from the first shape to the second; pos (n, 3)
    row_force      (m,) N, by row: elliptic cones have three, in the contact's frame
    group_of_body  (B,) -1 for a body of none

    In the order of `find_contacts`: those that a group's body is the second of, then those that it is the first of.
    """
    counts[:] = 0
    totals[:] = 0.0
    for mine in (1, 0):
        sign = 1.0 if mine == 1 else -1.0
        for k in range(len(address)):
            row, group = address[k], group_of_body[body_of_geom[geom[k, mine]]]
            if group < 0 or row < 0 or row + 2 >= len(row_force) or counts[group] >= forces.shape[1]:
                continue
            at = counts[group]
            counts[group] += 1
            for b in range(3):
                total = 0.0
                for a in range(3):
                    total += row_force[row + a] * frame[k, 3 * a + b]
                forces[group, at, b], points[group, at, b] = sign * total, pos[k, b]
                totals[group, b] += sign * total


@kernel
def list_contacts(
    address: np.ndarray,
    geom: np.ndarray,
    frame: np.ndarray,
    pos: np.ndarray,
    dist: np.ndarray,
    row_force: np.ndarray,
    base: np.ndarray,
    body_of_geom: np.ndarray,
    joint_of_body: np.ndarray,
    joints: np.ndarray,
    others: np.ndarray,
    points: np.ndarray,
    forces: np.ndarray,
) -> int:
    """Write joints (2 n,), others (2 n,), points and forces (2 n, 3) of all contacts of a body; how many there are.

    base           (G,) m, how far ahead of each shape a contact counts; (0,): wherever the engine has it
    joint_of_body  (B,) -1 for what is not the body's;  others are numbers of bodies

    The rest is as of `sort_contacts`, and so is the order.
    """
    count = 0
    for mine in (1, 0):
        sign = 1.0 if mine == 1 else -1.0
        for k in range(len(address)):
            row, first, second = address[k], geom[k, 0], geom[k, 1]
            joint = joint_of_body[body_of_geom[second if mine == 1 else first]]
            if row < 0 or joint < 0:
                continue
            if len(base) > 0 and dist[k] - (base[first] + base[second]) > 0.0 and not row_force[row] > 0.0:
                continue
            joints[count], others[count] = joint, body_of_geom[first if mine == 1 else second]
            for b in range(3):
                total = 0.0
                for a in range(3):
                    total += row_force[row + a] * frame[k, 3 * a + b]
                forces[count, b], points[count, b] = sign * total, pos[k, b]
            count += 1
    return count


# hits: the block of `ContactLog`;  scene: the simulation's;  thing (geoms,): what each shape is of;  rest:
# `engines/mujoco/library.py`
SOURCE = fields(arrays="thing", integers="hits scene geoms ncon contact force size frame pos geom address")


@law
def feel(_body: int, block: int) -> None:
    """Note every contact that carries something."""
    s = record(block, SOURCE)
    x, d = record(s.hits, HITS), record(s.scene, DATA)
    thing = integers(s.thing, s.geoms)
    at, force = integers(d.data + s.contact, 1)[0], integers(d.data + s.force, 1)[0]
    for _ in range(shorts(d.data + s.ncon, 1)[0]):
        geom, row = shorts(at + s.geom, 2), shorts(at + s.address, 1)[0]
        if row >= 0 and geom[0] >= 0 and geom[1] >= 0:
            f, axes, p = floats(force + 8 * row, 3), floats(at + s.frame, 9), floats(at + s.pos, 3)
            note_contact(
                x, thing[geom[0]], thing[geom[1]], p[0], p[1], p[2],
                f[0] * axes[0] + f[1] * axes[3] + f[2] * axes[6],
                f[0] * axes[1] + f[1] * axes[4] + f[2] * axes[7],
                f[0] * axes[2] + f[1] * axes[5] + f[2] * axes[8],
            )  # fmt: skip
        at += s.size
    end_step(x, False)


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


@law
def move(body: int, block: int) -> None:
    """How fast the GIVEN segments of one body are."""
    b, x = record(body, BODY), record(block, PLACES)
    j = b.joints
    move_segments(
        integers(x.kind, j), integers(b.parents, j), False, b.dt, blocks(b.R, j, 3, 3), vectors(b.p, j, 3),
        vectors(b.w, j, 3), vectors(b.dw, j, 3), floats(b.v, 3), floats(b.a, 3), vectors(x.moved, j, COLUMNS),
    )  # fmt: skip


@kernel
def shift(d: Any) -> bool:
    """See `shift_contacts`, of MuJoCo's own structures."""
    contacts, efc = shorts(d.data + d.ncon, 1)[0], shorts(d.data + d.nefc, 1)[0]
    row_of_geom, rows = integers(d.row_of_geom, d.geoms), vectors(d.moved, d.moved_count, COLUMNS)
    at = integers(d.data + d.contact, 1)[0]
    aref = floats(integers(d.data + d.aref, 1)[0], efc)
    kbip = vectors(integers(d.data + d.kbip, 1)[0], efc, 4)
    shifted = False
    for _ in range(contacts):
        geom, row = shorts(at + d.geom, 2), shorts(at + d.address, 1)[0]
        first = row_of_geom[geom[0]] if geom[0] >= 0 else -1
        second = row_of_geom[geom[1]] if geom[1] >= 0 else -1
        if row >= 0 and (first >= 0 or second >= 0):
            gap, count = floats(at + d.dist, 1)[0] - floats(at + d.margin, 1)[0], shorts(at + d.dim, 1)[0]
            place, frame = floats(at + d.pos, 3), floats(at + d.frame, 9)
            if shift_contact(first, second, place, frame, gap, row, count, d.dt, rows, kbip, aref):
                shifted = True
        at += d.size
    return shifted
