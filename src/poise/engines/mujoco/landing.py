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

from typing import TYPE_CHECKING, Any

import numpy as np

from poise.engines.mujoco.contacts import PrescribedContacts, has_moved_shapes
from poise.engines.mujoco.library import find_function
from poise.engines.mujoco.model import BodyLayout
from poise.engines.scene import Scene

if TYPE_CHECKING:
    from poise.engines.mujoco.landing_kernels import Landing


def build_landing(model: Any, scene: Scene, layouts: list[BodyLayout], ahead: bool, is_moved: np.ndarray) -> Landing:
    """Return what the step knows of bodies and props that fall.

    ahead     whether contacts of bodies that fall are met before they are there; else deep ones are held back
    is_moved  (G,) bool, shapes of segments that a prescribed joint moves, which `contacts.py` handles
    """
    from poise.engines.mujoco.landing_kernels import CATCH, FALLING, LOOSE, MOVED, Landing

    dt, body = model.opt.timestep, np.ascontiguousarray(model.geom_bodyid, np.int64)
    hard = [layout.bodies for each, layout in zip(scene.bodies, layouts, strict=True) if each.is_hard]
    falls = np.isin(np.arange(model.nbody), np.concatenate([[0], *hard])[1:])
    loose = np.asarray(model.body_dofnum) > 0
    loose[np.concatenate([[0], *(layout.bodies for layout in layouts)])] = False
    kinds = np.where(loose, LOOSE, np.where(falls, FALLING, 0))
    kind = np.ascontiguousarray(np.where(is_moved, MOVED, kinds[body]), np.int64)
    meets = (ahead & (kind == FALLING)) | (scene.touch.is_hard & (kind == LOOSE))
    bound = np.where(meets, model.geom_rbound, 0.0)
    path = np.zeros(model.nbody)
    for b in range(1, model.nbody):
        is_first = model.body_parentid[b] == 0
        path[b] = 0.0 if is_first else path[model.body_parentid[b]] + np.linalg.norm(model.body_pos[b])
    reach = path[body] + np.linalg.norm(model.geom_pos, axis=1) + bound
    # whatever moves may push a body that falls
    is_watched = np.full(model.nv, True) if ahead and falls.any() else loose[model.dof_bodyid]
    watched = np.flatnonzero(is_watched & meets.any())
    return Landing(
        kinematics=find_function("mj_kinematics"), middle=find_function("mj_comPos"),
        velocity=find_function("mj_comVel"), meets_bodies=ahead, dt=dt,
        span=max(dt, CATCH) if np.any(kind[meets] == LOOSE) else dt,
        length=float(reach.max(initial=0.0, where=bound > 0.0)), watched_count=len(watched), watched=watched,
        bodies=model.nbody, root=np.ascontiguousarray(model.body_rootid, np.int64), around=model.body_margin.copy(),
        widest=model.body_margin, geoms=model.ngeom, body=body, kind=kind, bound=bound, base=model.geom_margin.copy(),
        margin=model.geom_margin,
    )  # fmt: skip


def has_landings(scene: Scene) -> bool:
    """Return whether a body falls, or a prop may that lands hard."""
    is_loose = any(prop.inertia is not None and prop.touches for prop in scene.props)
    return any(body.is_hard and body.shapes for body in scene.bodies) or (is_loose and scene.touch.is_hard)


GRADIENTS, LONGEST = 1, 2000  # MuJoCo's number of that solver, and how often it may go on
LARGE = 60  # freedoms from which on MuJoCo's matrices are sparse


class StagedStep:
    """Data of the step in three for one scene.

    moved      segments that a prescribed joint moves
    landing    bodies and props that fall; None: none does. Contacts of bodies are not met ahead if a prescribed joint
               moves shapes: theirs would have to be ahead, too
    is_moving  whether any shape is of a segment that a prescribed joint moves
    """

    def __init__(self, model: Any, scene: Scene, layouts: list[BodyLayout]):
        import mujoco

        self.moved, self.is_moving = PrescribedContacts(model, scene, layouts), has_moved_shapes(scene)
        ahead = scene.touch.is_hard and not self.is_moving
        is_moved = self.moved.row_of_geom >= 0
        self.landing = build_landing(model, scene, layouts, ahead, is_moved) if has_landings(scene) else None
        # `discrete` has joint damping in its solve. MuJoCo's own step knows that; `mj_Euler` alone would add it again.
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP

    def fields(self) -> dict[str, Any]:
        """Return fields of `MujocoScene`."""
        moved = self.moved
        return {
            "geoms": len(moved.row_of_geom), "row_of_geom": moved.row_of_geom, "moved_count": len(moved.rows),
            "moved": moved.rows, "landing": 0 if self.landing is None else self.landing.address,
        }  # fmt: skip


def needs_care(scene: Scene, freedoms: int) -> bool:
    """Return whether a prescribed joint moves a shape, anything falls, or several bodies have sparse matrices."""
    if freedoms >= LARGE and scene.meets is not None and len(scene.bodies) > 1:
        return True
    return has_moved_shapes(scene) or has_landings(scene)
