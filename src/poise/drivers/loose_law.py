"""Springs towards a pose, as a law."""

from __future__ import annotations

from poise.drivers.servo_kernels import left_over, pull_to_pose, tell_aims
from poise.dynamics.body_kernels import BODY
from poise.spatial.addresses import blocks, floats, integers, record, vectors
from poise.spatial.law import fields, law

SPRINGS = fields(arrays="joints stiffness damping aim lead fade", integers="count")


@law
def pull(body: int, block: int) -> None:
    """Torques and damping of springs at some joints."""
    b, x = record(body, BODY), record(block, SPRINGS)
    j, k = b.joints, x.count
    pull_to_pose(
        integers(x.joints, k), floats(x.stiffness, k), floats(x.damping, k), vectors(x.aim, k, 4), vectors(b.q, j, 4),
        blocks(b.R, j, 3, 3), b.dt, vectors(x.lead, k, 3), left_over(floats(x.fade, 2), b.t), vectors(b.torque, j, 3),
        floats(b.damping, j),
    )  # fmt: skip
    tell_aims(
        integers(x.joints, k), floats(x.stiffness, k), vectors(x.aim, k, 4), vectors(b.aim, j, 4), floats(b.firm, j)
    )
