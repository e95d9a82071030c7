"""Joints that stay where they are, as laws."""

from __future__ import annotations

from poise.dynamics.body_kernels import BODY
from poise.spatial.addresses import floats, integers, record, vectors
from poise.spatial.law import fields, law

STILL = fields(arrays="joints aim place", integers="count moves_root")


@law
def give(body: int, block: int) -> None:
    """Their place, and no speed."""
    b, x = record(body, BODY), record(block, STILL)
    j = b.joints
    joints, aim = integers(x.joints, x.count), vectors(x.aim, x.count, 4)
    q, w, dw = vectors(b.q, j, 4), vectors(b.w, j, 3), vectors(b.dw, j, 3)
    for i in range(x.count):
        for k in range(4):
            q[joints[i], k] = aim[i, k]
        for k in range(3):
            w[joints[i], k] = 0.0
            dw[joints[i], k] = 0.0
    if x.moves_root == 1:
        place, root, v, a = floats(x.place, 3), floats(b.root, 3), floats(b.v, 3), floats(b.a, 3)
        for k in range(3):
            root[k], v[k], a[k] = place[k], 0.0, 0.0


@law
def show(body: int, block: int) -> None:
    """Their place, for somebody who looks."""
    b, x = record(body, BODY), record(block, STILL)
    joints, aim, q = integers(x.joints, x.count), vectors(x.aim, x.count, 4), vectors(b.shown_q, b.joints, 4)
    for i in range(x.count):
        for k in range(4):
            q[joints[i], k] = aim[i, k]
    if x.moves_root == 1:
        place, root = floats(x.place, 3), floats(b.shown_root, 3)
        for k in range(3):
            root[k] = place[k]
