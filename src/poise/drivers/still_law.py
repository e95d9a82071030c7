"""Joints at rest, as laws; what is left of how they moved lies on top: see `hand_over_law`."""

from __future__ import annotations

from poise.dynamics.body_kernels import BODY
from poise.spatial.addresses import floats, integers, record, vectors
from poise.spatial.law import fields, law

STILL = fields(arrays="joints q root", integers="count holds_root")  # as of `StillPlayer`


@law
def give(body: int, block: int) -> None:
    """Where they rest, without any speed."""
    b, x = record(body, BODY), record(block, STILL)
    j, k = b.joints, x.count
    joints, own = integers(x.joints, k), vectors(x.q, k, 4)
    q, w, dw = vectors(b.q, j, 4), vectors(b.w, j, 3), vectors(b.dw, j, 3)
    for i in range(k):
        for c in range(4):
            q[joints[i], c] = own[i, c]
        for c in range(3):
            w[joints[i], c] = 0.0
            dw[joints[i], c] = 0.0
    if x.holds_root == 1:
        place, root, v, a = floats(x.root, 3), floats(b.root, 3), floats(b.v, 3), floats(b.a, 3)
        for c in range(3):
            root[c], v[c], a[c] = place[c], 0.0, 0.0


@law
def show(body: int, block: int) -> None:
    """The pose for somebody who looks."""
    b, x = record(body, BODY), record(block, STILL)
    joints, own, q = integers(x.joints, x.count), vectors(x.q, x.count, 4), vectors(b.shown_q, b.joints, 4)
    for i in range(x.count):
        for c in range(4):
            q[joints[i], c] = own[i, c]
    if x.holds_root == 1:
        place, root = floats(x.root, 3), floats(b.shown_root, 3)
        for c in range(3):
            root[c] = place[c]
