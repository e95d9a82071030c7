"""MuJoCo's step where its own would not do, in three: forces, what contacts ask for, and on to the next state.

All forces and accelerations (`mj_forward`); then contacts of segments that are moved (`mujoco_moved`) and of bodies
and props that fall (`mujoco_landing`) ask for something else and are solved anew (`mj_fwdConstraint`); then
`mj_Euler`, with its damping off, which `discrete` has in the solve. Where there is no such contact these are `mj_step`,
to the same bits.

The same step is made where several bodies may touch that have LARGE freedoms together. MuJoCo 4.0 then works with
sparse matrices, and its Newton solver now and then finds no end (2 steps of 350 of two ragdolls that meet): what it
leaves behind are forces of a million newtons that are not those which move the bodies. Conjugate gradients find them.
"""

from __future__ import annotations

from typing import Any

from poise.engines.mujoco_landing import Landing, has_landings
from poise.engines.mujoco_library import find_function
from poise.engines.mujoco_model import BodyLayout
from poise.engines.mujoco_moved import MovedSegments, has_moved_shapes
from poise.engines.mujoco_offsets import find_offsets
from poise.engines.scene import Scene
from poise.spatial.law import Block

GRADIENTS, LONGEST = 1, 2000  # MuJoCo's number of that solver, and how often it may go on
LARGE = 60  # freedoms from which on MuJoCo's matrices are sparse


class Care:
    """What such steps need to know of a scene.

    moved        segments that something given moves
    landing      bodies and props that fall; None: none does. Contacts of bodies are not met ahead where something
                 given moves shapes: theirs would have to be ahead, too
    is_moving    whether any shape is of a segment that something given moves
    is_unsolved  whether the forces of the last step are not those that moved anything
    """

    def __init__(self, model: Any, scene: Scene, layouts: list[BodyLayout]):
        import mujoco

        self.moved, self.is_moving = MovedSegments(model, scene, layouts), has_moved_shapes(scene)
        ahead = scene.touch.is_hard and not self.is_moving
        is_moved = self.moved.row_of_geom >= 0
        self.landing = Landing(model, scene, layouts, ahead, is_moved) if has_landings(scene) else None
        self.is_unsolved = False
        self._block: Block | None = None
        # `discrete` has joint damping in its solve. MuJoCo's own step knows that; `mj_Euler` alone would add it again.
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP

    def step(self, model: Any, data: Any) -> None:
        """Advance MuJoCo's data by a step."""
        import mujoco

        is_fast = self.landing is not None and self.landing.look(model, data)
        mujoco.mj_forward(model, data)
        is_met = self.landing is not None and self.landing.meet(model, data, is_fast)
        if self.moved.shift(model, data) or is_met:
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
        offsets, moved = find_offsets(), self.moved
        if self.landing is not None and self._block is None:
            self._block = self.landing.build(model)
        if offsets is None or (self.landing is not None and self._block is None):
            return None
        return {
            "moved": moved.rows, "row_of_geom": moved.row_of_geom, "moved_count": len(moved.rows),
            "geoms": len(moved.row_of_geom), "dt": model.opt.timestep, "forward": find_function("mj_forward"),
            "solve": find_function("mj_fwdConstraint"), "advance": find_function("mj_Euler"),
            "landing": 0 if self._block is None else self._block.address,
            **{name: offset for name, offset in offsets.items() if name != "force"},  # which only `mujoco_hits` reads
        }  # fmt: skip


def needs_care(scene: Scene, freedoms: int) -> bool:
    """Whether something given moves a shape, a body or a prop falls, or the matrices of several bodies are sparse."""
    if freedoms >= LARGE and scene.meets is not None and len(scene.bodies) > 1:
        return True
    return has_moved_shapes(scene) or has_landings(scene)
