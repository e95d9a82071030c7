"""Bodies that fall, in MuJoCo's own structures, compiled; see `mujoco_landing`."""

from __future__ import annotations

from typing import Any

from poise.engines.landing_kernels import is_slow, look_ahead, meet_contact
from poise.spatial.addresses import call_with_two, floats, integers, shorts, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields

# See `mujoco_landing.Landing`; MuJoCo's functions; where its velocities are (`mujoco_offsets`).
LANDING = fields(
    arrays="base around root body wide kind bound margin widest watched",
    integers="geoms bodies ahead count kinematics middle velocity speed cvel com at",
    floats="length dt span",
)


@kernel
def look(d: Any, x: Any) -> bool:
    """See `Landing.look`; d: `mujoco_law.DATA`, x: LANDING."""
    if is_slow(floats(d.qvel, d.nv), integers(x.watched, x.count), x.length, x.span):
        if integers(x.wide, 1)[0] != 0:
            _narrow(x)
        return False
    call_with_two(x.kinematics, d.model, d.data)
    call_with_two(x.middle, d.model, d.data)
    call_with_two(x.velocity, d.model, d.data)
    n, g = x.bodies, x.geoms
    integers(x.wide, 1)[0] = 1
    return look_ahead(
        vectors(integers(d.data + x.cvel, 1)[0], n, 6), vectors(integers(d.data + x.com, 1)[0], n, 3),
        integers(x.root, n), integers(x.body, g), vectors(integers(d.data + x.at, 1)[0], g, 3), integers(x.kind, g),
        floats(x.bound, g), floats(x.base, g), x.dt, floats(x.margin, g), floats(x.widest, n),
    )  # fmt: skip


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
    efc, g = shorts(d.data + d.nefc, 1)[0], x.geoms
    base, kind, margin = floats(x.base, g), integers(x.kind, g), floats(x.margin, g)
    at = integers(d.data + d.contact, 1)[0]
    aref, speed = floats(integers(d.data + d.aref, 1)[0], efc), floats(integers(d.data + x.speed, 1)[0], efc)
    kbip = vectors(integers(d.data + d.kbip, 1)[0], efc, 4)
    is_met = False
    for _ in range(shorts(d.data + d.ncon, 1)[0]):
        geom, row = shorts(at + d.geom, 2), shorts(at + d.address, 1)[0]
        if row >= 0 and geom[0] >= 0 and geom[1] >= 0:
            one, other = geom[0], geom[1]
            begins = base[one] + base[other]
            wide, gap = margin[one] + margin[other] - begins, floats(at + d.dist, 1)[0] - begins
            asked = meet_contact(
                (kind[one], kind[other]), gap, wide, speed[row], x.dt, is_fast, x.ahead != 0, aref[row], kbip[row]
            )
            if asked != aref[row]:
                aref[row], is_met = asked, True
                floats(at + d.margin, 1)[0] = begins
        at += d.size
    return is_met
