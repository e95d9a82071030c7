"""Bodies that fall, in MuJoCo's own structures, compiled; see `mujoco_landing`."""

from __future__ import annotations

from typing import Any

from poise.engines.landing_kernels import DEEP, SLOW, hold_back, is_slow, land, look_ahead
from poise.spatial.addresses import call_with_two, floats, integers, shorts, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields

# See `mujoco_landing.Landing`; MuJoCo's functions; where its velocities are (`mujoco_offsets`).
LANDING = fields(
    arrays="base around root body wide bound margin widest",
    integers="geoms bodies ahead kinematics middle velocity speed cvel com at",
    floats="length dt",
)


@kernel
def look(d: Any, x: Any) -> bool:
    """See `Landing.look`; d: `mujoco_law.DATA`, x: LANDING."""
    is_still = x.ahead == 0 or is_slow(floats(d.qvel, d.nv), x.length, x.dt)
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
    return not is_still


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
def meet(d: Any, x: Any, is_fast: bool) -> bool:
    """See `Landing.meet`."""
    efc = shorts(d.data + d.nefc, 1)[0]
    base, bound = floats(x.base, x.geoms), floats(x.bound, x.geoms)
    at = integers(d.data + d.contact, 1)[0]
    aref, speed = floats(integers(d.data + d.aref, 1)[0], efc), floats(integers(d.data + x.speed, 1)[0], efc)
    is_met = False
    for _ in range(shorts(d.data + d.ncon, 1)[0]):
        geom, row = shorts(at + d.geom, 2), shorts(at + d.address, 1)[0]
        one, other = bound[geom[0]], bound[geom[1]]
        if row >= 0 and max(one, other) > 0.0 and min(one, other) >= 0.0:
            gap = floats(at + d.dist, 1)[0] - (base[geom[0]] + base[geom[1]])
            if x.ahead != 0 and (is_fast or gap < -DEEP):
                aref[row] = land(gap, speed[row], x.dt)
                is_met = True
            elif gap < -DEEP:
                aref[row] = hold_back(aref[row], speed[row], x.dt)
                is_met = True
        at += d.size
    return is_met
