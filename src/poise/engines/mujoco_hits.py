"""Where `mujoco_hits_law` finds MuJoCo's contacts, and what each shape in them is of."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.engines.hits import Hits
from poise.engines.mujoco_model import BodyLayout
from poise.engines.mujoco_offsets import find_offsets
from poise.spatial.law import Block, Law

_USED = ("ncon", "contact", "force", "size", "frame", "pos", "geom", "address")


def build_source(
    model: Any, layouts: list[BodyLayout], props: list[int], hits: Hits, scene: Block
) -> tuple[Law, Block] | None:
    """The law that notes contacts, and its block; None: this version of MuJoCo is not understood.

    props  MuJoCo's bodies of the props, in the scene's order;  scene: the simulation's block
    """
    from poise.engines import mujoco_hits_law as laws

    offsets = find_offsets()
    if offsets is None:
        return None
    block = Block(
        laws.SOURCE, thing=list_things(model, layouts, props, hits), hits=hits.block.address, scene=scene.address,
        geoms=model.ngeom,
    )  # fmt: skip
    block.set(**{name: offsets[name] for name in _USED})
    return laws.feel, block


def list_things(model: Any, layouts: list[BodyLayout], props: list[int], hits: Hits) -> np.ndarray:
    """(geoms,) which of the things that hits are noted of each shape is of."""
    thing = np.full(model.nbody, hits.ground, np.int64)
    for layout, first in zip(layouts, hits.firsts, strict=False):
        thing[layout.bodies] = first + np.arange(len(layout.bodies))
    thing[props] = hits.firsts[-1] + np.arange(len(props))
    return np.ascontiguousarray(thing[model.geom_bodyid])
