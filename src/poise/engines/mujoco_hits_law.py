"""MuJoCo's contacts of the last step, noted for `Hits`, as a law."""

from __future__ import annotations

from poise.engines.hit_kernels import HITS, end_step, note_contact
from poise.engines.mujoco_law import DATA
from poise.spatial.addresses import floats, integers, record, shorts
from poise.spatial.law import fields, law

# hits: the block of `Hits`;  scene: the simulation's;  thing (geoms,): what each shape is of;  rest: `mujoco_offsets`
SOURCE = fields(arrays="thing", integers="hits scene geoms ncon contact force size frame pos geom address")


@law
def feel(_body: int, block: int) -> None:
    """Note every contact that carries something."""
    s = record(block, SOURCE)
    x, d = record(s.hits, HITS), record(s.scene, DATA)
    thing = integers(s.thing, s.geoms)
    at, force = integers(d.data + s.contact, 1)[0], integers(d.data + s.force, 1)[0]
    for _ in range(shorts(d.data + s.ncon, 1)[0]):
        geom, row = shorts(at + s.geom, 2), shorts(at + s.address, 1)[0]
        if row >= 0 and geom[0] >= 0 and geom[1] >= 0:
            f, axes, p = floats(force + 8 * row, 3), floats(at + s.frame, 9), floats(at + s.pos, 3)
            note_contact(
                x, thing[geom[0]], thing[geom[1]], p[0], p[1], p[2],
                f[0] * axes[0] + f[1] * axes[3] + f[2] * axes[6],
                f[0] * axes[1] + f[1] * axes[4] + f[2] * axes[7],
                f[0] * axes[2] + f[1] * axes[5] + f[2] * axes[8],
            )  # fmt: skip
        at += s.size
    end_step(x, False)
