"""Bodies that fall, and do not stand, in MuJoCo: contacts are met before they are there.

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

    base    (G,) m, where the contacts of each shape begin
    bound   (G,) m, the radius around each shape of a body that falls; 0: of anything else; -1: of what something given
            moves, which `mujoco_moved` sees to
    length  m, from a joint to a point that it moves, at most
    wide    (1,) whether they begin farther out now
    ahead   whether contacts are met before they are there; else the engine's own stay, and deep ones are held back
    """

    def __init__(self, model: Any, scene: Scene, layouts: list[BodyLayout], ahead: bool, is_moved: np.ndarray):
        self.ahead = ahead
        self.base, self.around = model.geom_margin.copy(), model.body_margin.copy()
        self.root, self.body = (np.ascontiguousarray(x, np.int64) for x in (model.body_rootid, model.geom_bodyid))
        hard = [layout.bodies for body, layout in zip(scene.bodies, layouts, strict=True) if body.is_hard]
        self.bound = np.where(np.isin(self.body, np.concatenate(hard)), model.geom_rbound, 0.0)
        self.bound[is_moved] = -1.0
        path = np.zeros(model.nbody)
        for b in range(1, model.nbody):
            is_first = model.body_parentid[b] == 0
            path[b] = 0.0 if is_first else path[model.body_parentid[b]] + np.linalg.norm(model.body_pos[b])
        reach = path[self.body] + np.linalg.norm(model.geom_pos, axis=1) + self.bound
        self.length = float(reach.max(initial=0.0, where=self.bound > 0.0))
        self.wide = np.zeros(1, np.int64)

    def look(self, model: Any, data: Any) -> bool:
        """Have contacts begin as far ahead as shapes get in the next step; whether any gets far enough to matter."""
        import mujoco

        from poise.engines.landing_kernels import SLOW, is_slow, look_ahead

        dt = model.opt.timestep
        is_still = not self.ahead or is_slow(data.qvel, self.length, dt)
        if not is_still:
            for find in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
                find(model, data)
            farthest = look_ahead(
                data.cvel, data.subtree_com, self.root, self.body, data.geom_xpos, self.bound, self.base, dt,
                model.geom_margin, model.body_margin,
            )  # fmt: skip
            self.wide[0], is_still = 1, farthest < SLOW
        if is_still and self.wide[0]:
            model.geom_margin[:], model.body_margin[:], self.wide[0] = self.base, self.around, 0
        return not is_still

    def meet(self, model: Any, data: Any, is_fast: bool) -> bool:
        """Have contacts ask for no more than what brings the two together; False: there are none.

        is_fast  all contacts of who falls; else only deep ones
        """
        from poise.engines.landing_kernels import DEEP, hold_back, land

        dt = model.opt.timestep
        contact, is_met = data.contact, False
        for k in range(data.ncon):
            row, (one, other) = contact.efc_address[k], contact.geom[k]
            least, most = sorted((self.bound[one], self.bound[other]))
            if row >= 0 and most > 0.0 and least >= 0.0:
                gap = contact.dist[k] - (self.base[one] + self.base[other])
                if self.ahead and (is_fast or gap < -DEEP):
                    data.efc_aref[row] = land(gap, data.efc_vel[row], dt)
                    is_met = True
                elif gap < -DEEP:
                    data.efc_aref[row] = hold_back(data.efc_aref[row], data.efc_vel[row], dt)
                    is_met = True
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
            bound=self.bound, margin=model.geom_margin, widest=model.body_margin, geoms=model.ngeom,
            bodies=model.nbody, ahead=int(self.ahead), length=self.length, dt=model.opt.timestep, **numbers,
        )  # fmt: skip


def has_landings(scene: Scene) -> bool:
    """Whether somebody falls."""
    return any(body.is_hard and body.shapes for body in scene.bodies)


def is_hard_landing(scene: Scene) -> bool:
    """Whether who falls lands as hard as the step allows."""
    return scene.touch.softness == 0.0 and scene.touch.bounce == 0.0
