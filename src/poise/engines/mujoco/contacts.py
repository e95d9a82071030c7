"""Contacts in MuJoCo: where compiled code finds them, what each shape is of, and segments of prescribed joints in them.

MuJoCo does not know how fast segments of GIVEN joints are.

See `contact_kernels.py` for the equations and `landing_kernels.py` for the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.law import Block, Law
from poise.engines.contact_log import ContactLog
from poise.engines.mujoco.library import find_offsets
from poise.engines.mujoco.model import BodyLayout
from poise.engines.scene import Scene, find_moved

_USED = ("ncon", "contact", "force", "size", "frame", "pos", "geom", "address")


def build_source(
    model: Any, layouts: list[BodyLayout], props: list[int], hits: ContactLog, scene: Block
) -> tuple[Law, Block] | None:
    """The law that notes contacts, and its block; None: this version of MuJoCo is not understood.

    props  MuJoCo's bodies of the props, in the scene's order;  scene: the simulation's block
    """
    from poise.engines.mujoco import contact_kernels as laws

    offsets = find_offsets()
    if offsets is None:
        return None
    block = Block(
        laws.SOURCE, thing=list_things(model, layouts, props, hits), hits=hits.block.address, scene=scene.address,
        geoms=model.ngeom,
    )  # fmt: skip
    block.set(**{name: offsets[name] for name in _USED})
    return laws.feel, block


def list_things(model: Any, layouts: list[BodyLayout], props: list[int], hits: ContactLog) -> np.ndarray:
    """(geoms,) which of the things that hits are noted of each shape is of."""
    thing = np.full(model.nbody, hits.ground, np.int64)
    for layout, first in zip(layouts, hits.firsts, strict=False):
        thing[layout.bodies] = first + np.arange(len(layout.bodies))
    thing[props] = hits.firsts[-1] + np.arange(len(props))
    return np.ascontiguousarray(thing[model.geom_bodyid])


_OF_CONTACTS = ("geom", "pos", "frame", "dist", "includemargin", "efc_address", "dim")


class PrescribedContacts:
    """How fast the segments of a scene are, beyond what the engine knows.

    rows         (n, 15) one a segment, of all bodies in order: see `engines/mujoco/contact_kernels.py`
    first        where each body's rows begin, and their end
    row_of_geom  (ngeom,) of each shape, -1: nothing given moves it
    """

    def __init__(self, model: Any, scene: Scene, layouts: list[BodyLayout]):
        from poise.engines.mujoco.contact_kernels import COLUMNS

        self.first = np.concatenate([[0], np.cumsum([len(body.tree) for body in scene.bodies])]).astype(int)
        self.rows = np.zeros((self.first[-1], COLUMNS))
        row_of_body = np.full(model.nbody, -1)
        for body, layout, first in zip(scene.bodies, layouts, self.first, strict=False):
            moved = find_moved(body)
            row_of_body[layout.bodies[moved]] = first + moved
        self.row_of_geom = np.ascontiguousarray(row_of_body[model.geom_bodyid], np.int64)

    def rows_of(self, body: int) -> np.ndarray:
        """(J, 15) of one body."""
        return self.rows[self.first[body] : self.first[body + 1]]

    def shift(self, model: Any, data: Any) -> bool:
        """Have contacts ask for what segments that are moved bring about; False: none is of one."""
        from poise.engines.mujoco.contact_kernels import shift_contacts

        if not data.ncon:
            return False
        geom, at, frame, dist, margin, address, dim = (
            np.ascontiguousarray(getattr(data.contact, name)) for name in _OF_CONTACTS
        )
        return bool(shift_contacts(
            self.row_of_geom, geom, at, frame, dist, margin, address, dim, model.opt.timestep, self.rows,
            data.efc_KBIP, data.efc_aref,
        ))  # fmt: skip


def has_moved_shapes(scene: Scene) -> bool:
    """Whether any shape is on a body that a GIVEN joint moves."""
    return any(not {joint for joint, _ in body.shapes}.isdisjoint(find_moved(body).tolist()) for body in scene.bodies)
