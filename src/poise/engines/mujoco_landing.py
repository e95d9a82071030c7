"""Bodies that fall, and do not stand, and free props in MuJoCo: contacts are met before they are there.

See `landing_kernels` for the equations and `mujoco_care_law` for the step. MuJoCo has contacts ahead of its own
(`speculative`), for what moves by more than its own thickness in a step; limbs that fall move by a third of that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.engines.mujoco_library import find_function
from poise.engines.mujoco_model import BodyLayout
from poise.engines.mujoco_offsets import find_speed_offsets
from poise.engines.scene import Scene
from poise.spatial.law import Block


class Landing:
    """What the step needs to know of a model.

    base     (G,) m, where the contacts of each shape begin
    kind     (G,) what each shape is of: see `landing_kernels`. What something given moves, `mujoco_moved` sees to
    bound    (G,) m, the radius around each shape whose contacts are met ahead; 0: around the others
    watched  the velocities by which such shapes may be fast
    length   m, from a joint to a point that it moves, at most;  span: s, in which what is fast moves by `SLOW`
    wide     (1,) whether contacts begin farther out now
    ahead    whether contacts of bodies that fall are met before they are there; else deep ones are held back
    """

    def __init__(self, model: Any, scene: Scene, layouts: list[BodyLayout], ahead: bool, is_moved: np.ndarray):
        from poise.engines.landing_kernels import CATCH, FALLING, LOOSE, MOVED

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

        from poise.engines.landing_kernels import is_slow, look_ahead

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
        from poise.engines.landing_kernels import meet_contact

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
        """What the compiled step reads (`mujoco_landing_law.LANDING`); None: of this MuJoCo it cannot."""
        from poise.engines.mujoco_landing_law import LANDING

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
