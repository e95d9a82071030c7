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

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import law
from poise.compiled.layout import Floats, Ints, Layout, at
from poise.compiled.views import floats, integers, shorts, vectors
from poise.dynamics.body_kernels import Body, turn
from poise.engines.contact_log_kernels import ContactTable, end_step, note_contact
from poise.engines.mujoco.kernels import MujocoBody, MujocoScene, MujocoState, Offsets
from poise.engines.scene import GIVEN

NEVER = 1e12  # m/s2: no two things come together by so much
SHORT = 8  # NumPy adds up fewer numbers than these one after the other, too


class ContactList(Layout):
    """The contacts of one body, each with the force on it; and their sums by groups of joints."""

    geoms: int
    base: Annotated[Floats, "geoms"]  # m, distance from which contacts of each shape count; NaN: wherever they begin
    body_of_geom: Annotated[Ints, "geoms"]
    bodies: int
    joint_of_body: Annotated[Ints, "bodies"]  # -1: not the body's
    count: Annotated[Ints, 1]
    size: int  # of the arrays below
    joints: Annotated[Ints, "size"]
    others: Annotated[Ints, "size"]  # MuJoCo's numbers of the other bodies
    points: Annotated[Floats, "size", 3]  # m
    forces: Annotated[Floats, "size", 3]  # N


@kernel
def list_contacts(x: ContactList, scene: MujocoScene) -> None:
    """Write all contacts of a body: first those that it is the second of, then those that it is the first of."""
    s, o = at(scene.own_state, MujocoState), at(scene.offsets, Offsets)
    begin, count = integers(s.data + o.contact, 1)[0], shorts(s.data + o.ncon, 1)[0]
    row_force = floats(integers(s.data + o.force, 1)[0], shorts(s.data + o.nefc, 1)[0])
    joint_of_body, body_of_geom, base = x.joint_of_body, x.body_of_geom, x.base
    n = 0
    for mine in (1, 0):
        sign = 1.0 if mine == 1 else -1.0
        for k in range(count):
            contact = begin + k * o.size
            geom, row = shorts(contact + o.geom, 2), shorts(contact + o.row, 1)[0]
            first, second = geom[0], geom[1]
            joint = joint_of_body[body_of_geom[second if mine == 1 else first]]
            if row < 0 or joint < 0:
                continue
            begins = base[first] + base[second]
            if floats(contact + o.dist, 1)[0] - begins > 0.0 and not row_force[row] > 0.0:
                continue
            x.joints[n], x.others[n] = joint, body_of_geom[first if mine == 1 else second]
            _read_contact(contact, o, row_force[row:], sign, x.points[n], x.forces[n])
            n += 1
    x.count[0] = n


@kernel
def _read_contact(
    contact: int, o: Offsets, row_force: np.ndarray, sign: float, point: np.ndarray, force: np.ndarray
) -> None:
    """Write point (3,) m and force (3,) N, times a sign, of a contact; row_force: in its frame, the normal first."""
    frame, pos = floats(contact + o.frame, 9), floats(contact + o.pos, 3)
    for c in range(3):
        total = 0.0
        for k in range(3):
            total += row_force[k] * frame[3 * k + c]
        force[c], point[c] = sign * total, pos[c]


class ContactSums(Layout):
    """Contact forces by groups of joints of one body."""

    geoms: int
    body_of_geom: Annotated[Ints, "geoms"]
    bodies: int
    group_of_body: Annotated[Ints, "bodies"]  # -1: of none
    groups: int
    size: int
    forces: Annotated[Floats, "groups", "size", 3]  # N
    points: Annotated[Floats, "groups", "size", 3]  # m
    counts: Annotated[Ints, "groups"]
    totals: Annotated[Floats, "groups", 3]  # N, sums of the forces, one after the other


@kernel
def sort_contacts(x: ContactSums, scene: MujocoScene) -> None:
    """Write the contacts of each group, in the order of `list_contacts`, with those that carry nothing."""
    s, o = at(scene.own_state, MujocoState), at(scene.offsets, Offsets)
    begin, count = integers(s.data + o.contact, 1)[0], shorts(s.data + o.ncon, 1)[0]
    row_force = floats(integers(s.data + o.force, 1)[0], shorts(s.data + o.nefc, 1)[0])
    group_of_body, body_of_geom, counts, totals = x.group_of_body, x.body_of_geom, x.counts, x.totals
    counts[:] = 0
    totals[:] = 0.0
    for mine in (1, 0):
        sign = 1.0 if mine == 1 else -1.0
        for k in range(count):
            contact = begin + k * o.size
            row, shape = shorts(contact + o.row, 1)[0], shorts(contact + o.geom, 2)[mine]
            group = group_of_body[body_of_geom[shape]]
            if group < 0 or row < 0 or row + 2 >= len(row_force) or counts[group] >= x.size:
                continue
            n = counts[group]
            counts[group] += 1
            _read_contact(contact, o, row_force[row:], sign, x.points[group, n], x.forces[group, n])
            for c in range(3):
                totals[group, c] += x.forces[group, n, c]


class ContactSource(Layout):
    """Where a log of hits reads contacts."""

    log: int  # address of the `ContactTable`
    scene: int  # address of the `MujocoScene`
    geoms: int
    thing: Annotated[Ints, "geoms"]  # number in the log of what each shape is of


@law
def note_contacts(_body: int, block: int) -> None:
    """Note every contact that carries something in a log."""
    x = at(block, ContactSource)
    log, scene = at(x.log, ContactTable), at(x.scene, MujocoScene)
    s, o, thing = at(scene.state, MujocoState), at(scene.offsets, Offsets), x.thing
    contact, force = integers(s.data + o.contact, 1)[0], integers(s.data + o.force, 1)[0]
    total = np.empty(3)
    for _ in range(shorts(s.data + o.ncon, 1)[0]):
        geom, row = shorts(contact + o.geom, 2), shorts(contact + o.row, 1)[0]
        if row >= 0 and geom[0] >= 0 and geom[1] >= 0:
            f, axes, point = floats(force + 8 * row, 3), floats(contact + o.frame, 9), floats(contact + o.pos, 3)
            for c in range(3):
                total[c] = f[0] * axes[c] + f[1] * axes[3 + c] + f[2] * axes[6 + c]
            note_contact(log, thing[geom[0]], thing[geom[1]], point, total)
        contact += o.size
    end_step(log, False)


# A row per segment: where its joint is (3), then W, V, and of dw the same: all in the world.
COLUMNS = 15
_P, _W, _V, _DW, _DV = 0, 3, 6, 9, 12


@law
def move(body: int, block: int) -> None:
    """Write the rows of one body: the velocity that its GIVEN joints give each segment as the step begins."""
    b, x = at(body, Body), at(block, MujocoBody)
    parents, R, p, w, dw, v, a, dt = b.parents, b.R, b.p, b.w, b.dw, b.v, b.a, b.dt
    kind, rows = x.kind, x.moved
    for i in range(b.joints):
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
        if kind[i] != GIVEN or (i == 0 and x.rides == 1):
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
    segments: tuple[int, int], contact: int, gap: float, scene: MujocoScene, kbip: np.ndarray, aref: np.ndarray
) -> bool:
    """Change what MuJoCo's rows of one contact ask for to that of segments that move; return whether they do.

    segments  rows of its two bodies, -1 for one that nothing given moves;  contact: its address
    gap       m, distance beyond where contacts begin; negative for one that is met
    kbip, aref  (n, 4) stiffness, damping, impedance; (n,) m/s2: what is changed

    `discrete` meets a contact's spring and damper at the end of the step: of x = J v + dv, and J a + da,

        J a = -((B + h K I) x + K I r) / (1 + h B + h2 K I) - da                                [moved, eq 2]

    with r at the beginning of the step: h/2 (dv + h da) less than where the segments are.
    """
    o, dt = at(scene.offsets, Offsets), scene.dt
    frame, row, count = floats(contact + o.frame, 9), shorts(contact + o.row, 1)[0], shorts(contact + o.dim, 1)[0]
    V, A = np.zeros(3), np.zeros(3)
    for side in range(2):
        i = segments[1 - side]
        if i >= 0:
            sign = 1.0 if side == 0 else -1.0
            _add_velocity(scene.moved[i], floats(contact + o.pos, 3), sign, V, A)
    if V[0] == 0.0 and V[1] == 0.0 and V[2] == 0.0 and A[0] == 0.0 and A[1] == 0.0 and A[2] == 0.0:
        return False
    for c in range(min(count, 3)):
        dv = frame[3 * c] * V[0] + frame[3 * c + 1] * V[1] + frame[3 * c + 2] * V[2]
        da = frame[3 * c] * A[0] + frame[3 * c + 1] * A[1] + frame[3 * c + 2] * A[2]
        back = 0.5 * dt * (dv + dt * da)
        if c == 0 and gap > back:
            aref[row] = -NEVER
            return True
        B, KI = kbip[row + c, 1], kbip[row + c, 0] * kbip[row + c, 2]
        # aref -= ((B + h K I) dv - K I h/2 (dv + h da)) / (1 + h B + h2 K I) + da
        aref[row + c] -= ((B + dt * KI) * dv - KI * back) / (1.0 + dt * B + dt * dt * KI) + da
    return True


@kernel
def _add_velocity(row: np.ndarray, point: np.ndarray, sign: float, V: np.ndarray, A: np.ndarray) -> None:
    """Add velocity V and acceleration A (3,) of a segment's point, times a sign; row: the segment's."""
    x, y, z = point[0] - row[0], point[1] - row[1], point[2] - row[2]
    V[0] += sign * (row[_V] + row[_W + 1] * z - row[_W + 2] * y)
    V[1] += sign * (row[_V + 1] + row[_W + 2] * x - row[_W] * z)
    V[2] += sign * (row[_V + 2] + row[_W] * y - row[_W + 1] * x)
    A[0] += sign * (row[_DV] + row[_DW + 1] * z - row[_DW + 2] * y)
    A[1] += sign * (row[_DV + 1] + row[_DW + 2] * x - row[_DW] * z)
    A[2] += sign * (row[_DV + 2] + row[_DW] * y - row[_DW + 1] * x)


@kernel
def shift(scene: MujocoScene) -> bool:
    """Change what the contacts of prescribed segments ask for; return whether any has changed. See `shift_contact`."""
    s, o = at(scene.state, MujocoState), at(scene.offsets, Offsets)
    efc, row_of_geom = shorts(s.data + o.nefc, 1)[0], scene.row_of_geom
    aref = floats(integers(s.data + o.aref, 1)[0], efc)
    kbip = vectors(integers(s.data + o.kbip, 1)[0], efc, 4)
    contact = integers(s.data + o.contact, 1)[0]
    shifted = False
    for _ in range(shorts(s.data + o.ncon, 1)[0]):
        geom, row = shorts(contact + o.geom, 2), shorts(contact + o.row, 1)[0]
        first = row_of_geom[geom[0]] if geom[0] >= 0 else -1
        second = row_of_geom[geom[1]] if geom[1] >= 0 else -1
        if row >= 0 and (first >= 0 or second >= 0):
            gap = floats(contact + o.dist, 1)[0] - floats(contact + o.margin, 1)[0]
            if shift_contact((first, second), contact, gap, scene, kbip, aref):
                shifted = True
        contact += o.size
    return shifted
