"""MuJoCo's step of bodies that fall, as a law; see `mujoco_landing`.

MuJoCo's step in three, as in `mujoco_moved_law`. While nothing is fast it is `mj_step`, to the same bits.
"""

from __future__ import annotations

from typing import Any

from poise.engines.landing_kernels import SLOW, is_slow, land, look_ahead
from poise.engines.mujoco_law import DATA, keep_before
from poise.spatial.addresses import call_with_two, floats, integers, record, shorts, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

# See `mujoco_landing.Landing`; MuJoCo's functions; where its contacts and velocities are (`mujoco_offsets`).
LANDING = fields(
    arrays="base around root body wide bound margin widest",
    integers="""
        geoms bodies forward solve advance kinematics middle velocity
        ncon nefc contact aref size dist geom address speed cvel com at
    """,
    floats="length dt",
)


@law
def step(_body: int, block: int) -> None:
    """MuJoCo's step, with contacts ahead of what is fast."""
    d = record(block, DATA)
    x = record(d.landing, LANDING)
    if d.is_away == 1:
        keep_before(d)
    is_still = is_slow(floats(d.qvel, d.nv), x.length, x.dt)
    if not is_still:
        call_with_two(x.kinematics, d.model, d.data)
        call_with_two(x.middle, d.model, d.data)
        call_with_two(x.velocity, d.model, d.data)
        n, g = x.bodies, x.geoms
        farthest = look_ahead(
            vectors(integers(d.data + x.cvel, 1)[0], n, 6), vectors(integers(d.data + x.com, 1)[0], n, 3),
            integers(x.root, n), integers(x.body, g), vectors(integers(d.data + x.at, 1)[0], g, 3), floats(x.bound, g),
            floats(x.base, g), x.dt, floats(x.margin, g), floats(x.widest, n),
        )  # fmt: skip
        integers(x.wide, 1)[0] = 1
        is_still = farthest < SLOW
    if is_still and integers(x.wide, 1)[0] != 0:
        _narrow(x)
    call_with_two(x.forward, d.model, d.data)
    if not is_still and _land(d.data, x):
        call_with_two(x.solve, d.model, d.data)
    call_with_two(x.advance, d.model, d.data)


@kernel
def _narrow(x: Any) -> None:
    """Have contacts begin where they begin anyway."""
    margin, base = floats(x.margin, x.geoms), floats(x.base, x.geoms)
    for g in range(x.geoms):
        margin[g] = base[g]
    widest, around = floats(x.widest, x.bodies), floats(x.around, x.bodies)
    for b in range(x.bodies):
        widest[b] = around[b]
    integers(x.wide, 1)[0] = 0


@kernel
def _land(data: int, x: Any) -> bool:
    """Have contacts ask for no more than what brings the two together; False: there are none."""
    efc = shorts(data + x.nefc, 1)[0]
    base, bound = floats(x.base, x.geoms), floats(x.bound, x.geoms)
    at = integers(data + x.contact, 1)[0]
    aref, speed = floats(integers(data + x.aref, 1)[0], efc), floats(integers(data + x.speed, 1)[0], efc)
    is_met = False
    for _ in range(shorts(data + x.ncon, 1)[0]):
        geom, row = shorts(at + x.geom, 2), shorts(at + x.address, 1)[0]
        if row >= 0 and (bound[geom[0]] > 0.0 or bound[geom[1]] > 0.0):
            aref[row] = land(floats(at + x.dist, 1)[0] - (base[geom[0]] + base[geom[1]]), speed[row], x.dt)
            is_met = True
        at += x.size
    return is_met
