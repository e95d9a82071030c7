"""A body in MuJoCo whose GIVEN segments touch things: how fast they are, as a law, and what their contacts ask for.

See `mujoco_moved`, and `mujoco_care_law` for the step.
"""

from __future__ import annotations

from typing import Any

from poise.dynamics.body_kernels import BODY
from poise.engines.moved_kernels import COLUMNS, move_segments, shift_contact
from poise.engines.mujoco_law import PLACES
from poise.spatial.addresses import blocks, floats, integers, record, shorts, vectors
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
