"""A body at one instant as laws see it: a record of numbers and of the addresses of its arrays.

What is meant by each is said in `drivers/body.py`; J joints.
"""

from __future__ import annotations

from typing import Any

from poise.dynamics.instant import center_of_mass, move_bodies, pose_bodies
from poise.spatial.addresses import blocks, floats, integers, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields

BODY = fields(
    arrays="""
        parents offsets masses centers inertias
        root q v w dw a
        R p om vel c dc
        torque damping wrench nudges nudged
        stops axial aim firm
        coupling w_before v_before
        f n
        shown_root shown_q reaction
    """,
    integers="joints steps called floor aloft",
    floats="dt t at",
    gravity=3,
    outside=6,
)


@kernel
def update_body(body: Any) -> None:
    """World poses and velocities from the state: R, p, om, vel, c and dc."""
    j = body.joints
    parents, R, p = integers(body.parents, j), blocks(body.R, j, 3, 3), vectors(body.p, j, 3)
    om, vel = vectors(body.om, j, 3), vectors(body.vel, j, 3)
    pose_bodies(parents, vectors(body.offsets, j, 3), floats(body.root, 3), vectors(body.q, j, 4), R, p)
    move_bodies(parents, R, p, floats(body.v, 3), vectors(body.w, j, 3), om, vel)
    center_of_mass(
        floats(body.masses, j), vectors(body.centers, j, 3), R, p, om, vel, floats(body.c, 3), floats(body.dc, 3)
    )
