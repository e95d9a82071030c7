"""Segments of GIVEN joints that may touch something, and MuJoCo's step that knows how fast they are.

See `moved_kernels` for the equations and `mujoco_moved_law` for the step.

The same step is made where several bodies may touch that have LARGE freedoms together. MuJoCo 4.0 then works with
sparse matrices, and its Newton solver now and then finds no end (2 steps of 350 of two ragdolls that meet; with dense
ones, which take three times as long, never): what it leaves behind are forces of a million newtons that are not those
which move the bodies. Conjugate gradients find them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.engines.mujoco_library import find_function
from poise.engines.mujoco_model import BodyLayout
from poise.engines.mujoco_offsets import find_offsets
from poise.engines.scene import Scene, find_moved

GRADIENTS, LONGEST = 1, 2000  # MuJoCo's number of that solver, and how often it may go on
LARGE = 60  # freedoms from which on MuJoCo's matrices are sparse
_OF_CONTACTS = ("geom", "pos", "frame", "dist", "includemargin", "efc_address", "dim")


class MovedSegments:
    """How fast the segments of a scene are, beyond what the engine knows.

    rows         (n, 15) one a segment, of all bodies in order: see `moved_kernels`
    first        where each body's rows begin, and their end
    row_of_geom  (ngeom,) of each shape, -1: nothing given moves it
    """

    def __init__(self, model: Any, scene: Scene, layouts: list[BodyLayout]):
        import mujoco

        from poise.engines.moved_kernels import COLUMNS

        self.first = np.concatenate([[0], np.cumsum([len(body.tree) for body in scene.bodies])]).astype(int)
        self.rows = np.zeros((self.first[-1], COLUMNS))
        row_of_body = np.full(model.nbody, -1)
        for body, layout, first in zip(scene.bodies, layouts, self.first, strict=False):
            moved = find_moved(body)
            row_of_body[layout.bodies[moved]] = first + moved
        self.row_of_geom = np.ascontiguousarray(row_of_body[model.geom_bodyid], np.int64)
        self.is_unsolved = False  # whether the forces of the last step are not those that moved anything
        # `discrete` has joint damping in its solve. MuJoCo's own step knows that; `mj_Euler` alone would add it again.
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP

    def rows_of(self, body: int) -> np.ndarray:
        """(J, 15) of one body."""
        return self.rows[self.first[body] : self.first[body + 1]]

    def step(self, model: Any, data: Any) -> None:
        """Advance MuJoCo's data by a step."""
        import mujoco

        from poise.engines.moved_kernels import shift_contacts

        mujoco.mj_forward(model, data)
        geom, at, frame, dist, margin, address, dim = (
            np.ascontiguousarray(getattr(data.contact, name)) for name in _OF_CONTACTS
        )
        if data.ncon and shift_contacts(
            self.row_of_geom, geom, at, frame, dist, margin, address, dim, model.opt.timestep, self.rows,
            data.efc_KBIP, data.efc_aref,
        ):  # fmt: skip
            mujoco.mj_fwdConstraint(model, data)
        self.is_unsolved = False
        if data.solver_niter[0] >= model.opt.iterations:
            usual = model.opt.solver, model.opt.iterations
            model.opt.solver, model.opt.iterations = GRADIENTS, LONGEST
            mujoco.mj_fwdConstraint(model, data)
            self.is_unsolved = bool(data.solver_niter[0] >= LONGEST)
            model.opt.solver, model.opt.iterations = usual
        mujoco.mj_Euler(model, data)

    def fields(self, model: Any) -> dict[str, Any] | None:
        """What the compiled step reads besides (`mujoco_law.DATA`); None: of this MuJoCo it cannot."""
        offsets = find_offsets()
        if offsets is None:
            return None
        return {
            "moved": self.rows, "row_of_geom": self.row_of_geom, "moved_count": len(self.rows),
            "geoms": len(self.row_of_geom), "dt": model.opt.timestep, "forward": find_function("mj_forward"),
            "solve": find_function("mj_fwdConstraint"), "advance": find_function("mj_Euler"),
            **{name: offset for name, offset in offsets.items() if name != "force"},  # which only `mujoco_hits` reads
        }  # fmt: skip


def needs_care(scene: Scene, freedoms: int) -> bool:
    """Whether any shape is on a body that a GIVEN joint moves, or the matrices of several bodies are sparse."""
    if freedoms >= LARGE and scene.meets is not None and len(scene.bodies) > 1:
        return True
    return any(not {joint for joint, _ in body.shapes}.isdisjoint(find_moved(body).tolist()) for body in scene.bodies)
