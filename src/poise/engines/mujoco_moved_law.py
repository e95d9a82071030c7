"""A body in MuJoCo whose GIVEN segments touch things, as laws: how fast they are, and the step that goes by it.

MuJoCo's step in three: all forces and accelerations (`mj_forward`); where a contact is of a segment that moves, what it
asks for is changed and solved anew (`mj_fwdConstraint`); where MuJoCo's solver has not come to an end, another one is
asked (see `mujoco_moved`); then on to the next state (`mj_Euler`, with its damping off,
which `discrete` has in the solve). Where there is no such contact these are `mj_step`, to the same bits.
"""

from __future__ import annotations

from typing import Any

from poise.dynamics.body_kernels import BODY
from poise.engines.moved_kernels import COLUMNS, move_segments, shift_contact
from poise.engines.mujoco_law import DATA, PLACES, keep_before
from poise.engines.mujoco_moved import GRADIENTS, LONGEST
from poise.spatial.addresses import blocks, call_with_two, floats, integers, record, shorts, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import law


@law
def move(body: int, block: int) -> None:
    """How fast the GIVEN segments of one body are."""
    b, x = record(body, BODY), record(block, PLACES)
    j = b.joints
    move_segments(
        integers(x.kind, j), integers(b.parents, j), False, b.dt, blocks(b.R, j, 3, 3), vectors(b.p, j, 3),
        vectors(b.w, j, 3), vectors(b.dw, j, 3), floats(b.v, 3), floats(b.a, 3), vectors(x.moved, j, COLUMNS),
    )  # fmt: skip


@law
def step(_body: int, block: int) -> None:
    """MuJoCo's step, with contacts that know how fast the segments in them are."""
    d = record(block, DATA)
    if d.is_away == 1:
        keep_before(d)
    d.unsolved = 0
    call_with_two(d.forward, d.model, d.data)
    if _shift(d):
        call_with_two(d.solve, d.model, d.data)
    if shorts(d.data + d.niter, 1)[0] >= shorts(d.model + d.iterations, 1)[0]:
        _solve_again(d)
    call_with_two(d.advance, d.model, d.data)


@kernel
def _solve_again(d: Any) -> None:
    """Contacts by conjugate gradients, where Newton's method has found no end."""
    solver, most = shorts(d.model + d.solver, 1), shorts(d.model + d.iterations, 1)
    before, usual = solver[0], most[0]
    solver[0], most[0] = GRADIENTS, LONGEST
    call_with_two(d.solve, d.model, d.data)
    d.unsolved = 1 if shorts(d.data + d.niter, 1)[0] >= LONGEST else 0
    solver[0], most[0] = before, usual


@kernel
def _shift(d: Any) -> bool:
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
