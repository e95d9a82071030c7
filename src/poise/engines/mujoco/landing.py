"""Falling bodies and free props in MuJoCo: contacts are met before they are there, in a step made in three.

See `landing_kernels.py` for the equations and the compiled step. MuJoCo has contacts ahead of its own
(`speculative`), for what moves by more than its own thickness in a step; limbs that fall move by a third of that.

The step in three: forces, what contacts ask for, and on to the next state.

All forces and accelerations (`mj_forward`); then contacts of segments that are moved (`contacts.py`) and of bodies and
props that fall ask for something else and are solved anew (`mj_fwdConstraint`); then `mj_Euler`, with its damping off,
which `discrete` has in the solve. Where there is no such contact these are `mj_step`, to the same bits.

The same step is made where several bodies may touch that have LARGE freedoms together. MuJoCo 4.0 then works with
sparse matrices, and its Newton solver now and then finds no end (2 steps of 350 of two ragdolls that meet): what it
leaves behind are forces of a million newtons that are not those which move the bodies. Conjugate gradients find them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.law import Block
from poise.engines.mujoco.contacts import PrescribedContacts, has_moved_shapes
from poise.engines.mujoco.library import find_function, find_offsets, find_speed_offsets
from poise.engines.mujoco.model import BodyLayout
from poise.engines.scene import Scene


class LandingContacts:
    """What the step needs to know of a model.

    base     (G,) m, where the contacts of each shape begin
    kind     (G,) what each shape is of: see `landing_kernels`. What something given moves, `engines/mujoco/contacts.py`
             sees to
    bound    (G,) m, the radius around each shape whose contacts are met ahead; 0: around the others
    watched  the velocities by which such shapes may be fast
    length   m, from a joint to a point that it moves, at most;  span: s, in which what is fast moves by `SLOW`
    wide     (1,) whether contacts begin farther out now
    ahead    whether contacts of bodies that fall are met before they are there; else deep ones are held back
    """

    def __init__(self, model: Any, scene: Scene, layouts: list[BodyLayout], ahead: bool, is_moved: np.ndarray):
        from poise.engines.mujoco.landing_kernels import CATCH, FALLING, LOOSE, MOVED

        self.ahead, dt = ahead, model.opt.timestep
        self.base, self.around = model.geom_margin.copy(), model.body_margin.copy()
        self.root, self.body = (np.ascontiguousarray(x, np.int64) for x in (model.body_rootid, model.geom_bodyid))
        hard = [layout.bodies for body, layout in zip(scene.bodies, layouts, strict=True) if body.is_hard]
        falls = np.isin(np.arange(model.nbody), np.concatenate([[0], *hard])[1:])
        loose = np.asarray(model.body_dofnum) > 0
        loose[np.concatenate([[0], *(layout.bodies for layout in layouts)])] = False
        kinds = np.where(loose, LOOSE, np.where(falls, FALLING, 0))
        self.kind = np.ascontiguousarray(np.where(is_moved, MOVED, kinds[self.body]), np.int64)
        meets = (ahead & (self.kind == FALLING)) | (scene.touch.is_hard & (self.kind == LOOSE))
        self.bound = np.where(meets, model.geom_rbound, 0.0)
        path = np.zeros(model.nbody)
        for b in range(1, model.nbody):
            is_first = model.body_parentid[b] == 0
            path[b] = 0.0 if is_first else path[model.body_parentid[b]] + np.linalg.norm(model.body_pos[b])
        reach = path[self.body] + np.linalg.norm(model.geom_pos, axis=1) + self.bound
        self.length = float(reach.max(initial=0.0, where=self.bound > 0.0))
        # whatever moves may push a body that falls
        is_watched = np.full(model.nv, True) if ahead and falls.any() else loose[model.dof_bodyid]
        self.watched = np.flatnonzero(is_watched & meets.any())
        self.span = max(dt, CATCH) if np.any(self.kind[meets] == LOOSE) else dt
        self.wide = np.zeros(1, np.int64)

    def look(self, model: Any, data: Any) -> bool:
        """Have contacts begin as far ahead as shapes get in the next step; whether any body falls fast."""
        import mujoco

        from poise.engines.mujoco.landing_kernels import is_slow, look_ahead

        if is_slow(data.qvel, self.watched, self.length, self.span):
            if self.wide[0]:
                model.geom_margin[:], model.body_margin[:], self.wide[0] = self.base, self.around, 0
            return False
        for find in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            find(model, data)
        self.wide[0] = 1
        return bool(look_ahead(
            data.cvel, data.subtree_com, self.root, self.body, data.geom_xpos, self.kind, self.bound, self.base,
            model.opt.timestep, model.geom_margin, model.body_margin,
        ))  # fmt: skip

    def meet(self, model: Any, data: Any, is_fast: bool) -> bool:
        """Have contacts ask for no more than what brings the two together; False: there are none.

        is_fast  whether a body falls fast; else only deep contacts of bodies are changed, and those of fast props
        """
        from poise.engines.mujoco.landing_kernels import meet_contact

        contact, is_met = data.contact, False
        for k in range(data.ncon):
            row, (one, other) = contact.efc_address[k], contact.geom[k]
            if row < 0 or one < 0 or other < 0:
                continue
            begins = self.base[one] + self.base[other]
            wide, gap = model.geom_margin[one] + model.geom_margin[other] - begins, contact.dist[k] - begins
            asked = meet_contact(
                (self.kind[one], self.kind[other]), gap, wide, data.efc_vel[row], model.opt.timestep, is_fast,
                self.ahead, data.efc_aref[row], data.efc_KBIP[row],
            )  # fmt: skip
            if asked != data.efc_aref[row]:
                data.efc_aref[row], contact.includemargin[k], is_met = asked, begins, True
        return is_met

    def build(self, model: Any) -> Block | None:
        """What the compiled step reads (`engines/mujoco/landing_kernels.py:LANDING`); None: of this MuJoCo it
        cannot.
        """
        from poise.engines.mujoco.landing_kernels import LANDING

        speeds = find_speed_offsets()
        if speeds is None:
            return None
        functions = {"kinematics": "mj_kinematics", "middle": "mj_comPos", "velocity": "mj_comVel"}
        numbers: dict[str, Any] = {name: find_function(function) for name, function in functions.items()}
        numbers |= speeds
        return Block(
            LANDING, base=self.base, around=self.around, root=self.root, body=self.body, wide=self.wide,
            kind=self.kind, bound=self.bound, margin=model.geom_margin, widest=model.body_margin, geoms=model.ngeom,
            watched=self.watched, count=len(self.watched), bodies=model.nbody, ahead=int(self.ahead),
            length=self.length, dt=model.opt.timestep, span=self.span, **numbers,
        )  # fmt: skip


def has_landings(scene: Scene) -> bool:
    """Whether somebody falls, or something may that lands hard."""
    is_loose = any(prop.inertia is not None and prop.touches for prop in scene.props)
    return any(body.is_hard and body.shapes for body in scene.bodies) or (is_loose and scene.touch.is_hard)


GRADIENTS, LONGEST = 1, 2000  # MuJoCo's number of that solver, and how often it may go on
LARGE = 60  # freedoms from which on MuJoCo's matrices are sparse


class StagedStep:
    """What such steps need to know of a scene.

    moved        segments that something given moves
    landing      bodies and props that fall; None: none does. Contacts of bodies are not met ahead where something
                 given moves shapes: theirs would have to be ahead, too
    is_moving    whether any shape is of a segment that something given moves
    is_unsolved  whether the forces of the last step are not those that moved anything
    """

    def __init__(self, model: Any, scene: Scene, layouts: list[BodyLayout]):
        import mujoco

        self.moved, self.is_moving = PrescribedContacts(model, scene, layouts), has_moved_shapes(scene)
        ahead = scene.touch.is_hard and not self.is_moving
        is_moved = self.moved.row_of_geom >= 0
        self.landing = LandingContacts(model, scene, layouts, ahead, is_moved) if has_landings(scene) else None
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
        """What the compiled step reads besides (`engines/mujoco/kernels.py:DATA`); None: of this MuJoCo it cannot."""
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
            **{name: offset for name, offset in offsets.items() if name != "force"},  # only `contacts.py` reads it
        }  # fmt: skip


def needs_care(scene: Scene, freedoms: int) -> bool:
    """Whether something given moves a shape, a body or a prop falls, or the matrices of several bodies are sparse."""
    if freedoms >= LARGE and scene.meets is not None and len(scene.bodies) > 1:
        return True
    return has_moved_shapes(scene) or has_landings(scene)
