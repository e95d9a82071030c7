"""Contacts in MuJoCo: what each shape is of, and segments of prescribed joints in them.

MuJoCo does not know the velocity of segments of GIVEN joints: `contact_kernels.py` has the equations, and
`landing_kernels.py` makes the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.engines.contact_log import ContactLog
from poise.engines.mujoco.model import BodyLayout
from poise.engines.scene import Scene, find_moved


def list_things(model: Any, layouts: list[BodyLayout], props: list[int], hits: ContactLog) -> np.ndarray:
    """Return (geoms,) the number in a log of hits of what each shape is of."""
    thing = np.full(model.nbody, hits.ground, np.int64)
    for layout, first in zip(layouts, hits.firsts, strict=False):
        thing[layout.bodies] = first + np.arange(len(layout.bodies))
    thing[props] = hits.firsts[-1] + np.arange(len(props))
    return np.ascontiguousarray(thing[model.geom_bodyid])


class PrescribedContacts:
    """Velocities of the segments of a scene, beyond what the engine knows.

    rows         (n, 15) one per segment, of all bodies in order: see `engines/mujoco/contact_kernels.py`
    first        where each body's rows begin, and their end
    row_of_geom  (ngeom,) of each shape, -1: nothing prescribed moves it
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


def has_moved_shapes(scene: Scene) -> bool:
    """Return whether any shape is on a body that a GIVEN joint moves."""
    return any(not {joint for joint, _ in body.shapes}.isdisjoint(find_moved(body).tolist()) for body in scene.bodies)
