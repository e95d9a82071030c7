"""The strength paper's simulator: hard contacts at any step.   [strength, section 3]

What acts on a body comes from inverse dynamics (`Strength`, which knows what muscles can do), and what the ground and
other things do to it from here: an *impact* takes the speed at which things meet out of all joints at once, through the
whole articulated body; a *contact* then holds as long as what is asked of it is a push within its friction, and parts
or slides otherwise. A foot whose centre of pressure comes to its edge turns about that edge, or about a corner. All
of that is one problem with one answer (`dynamics/contact/cone_kernels.py`), with no spring in it: it is solved at the
paper's 30 steps a second as well as at 200.

Shapes, masses and equations of motion are MuJoCo's, of the same model as `engines/mujoco/simulation.py` makes; what
that engine does with soft contacts is done here by impulses (`kernels.py`, compiled). A step is cut into parts where
bodies are fast, or where one is struck; what keeps joints in their ranges is asked for anew in each part
(`stage/step/substep_kernels.py`), and in one with a blow by the speeds that the blow gives: a joint at its end then
resists it.

Points that hold are also brought back to where they began to, by a fifth of what they are off a step: feet do not
creep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from poise.compiled.law import Block, Law
from poise.engines.contact_log import ContactLog
from poise.engines.engine import SUBSTEP, BodyContacts, Capabilities, Engine, Simulation, SimulationLaws
from poise.engines.memory import write_over
from poise.engines.mujoco.contacts import list_things
from poise.engines.mujoco.library import build_offsets, find_function
from poise.engines.mujoco.simulation import MujocoSimulation
from poise.engines.scene import Scene
from poise.errors import InputError

if TYPE_CHECKING:
    from poise.dynamics.body_kernels import Body
    from poise.engines.inverse.kernels import InverseScene
_AHEAD = 0.05  # m: contacts are seen from here on
_HEAVY = 6.0  # times the mass of all: the weight of a contact that gives way, in the search for its impulse
_EXACT = 1e-6  # of the mass of all times 1 m/s, to which impulses are found
_FEWEST, _EACH = 64, 6  # contacts that are remembered at once: at least, and for every shape
# What a step remembers of the last one: fields of `InverseScene`.
_KEPT = ("pairs", "places", "last", "impulses", "geoms", "points", "forces", "pushes", "counts", "span")
_FUNCTIONS = {
    "position": "mj_fwdPosition", "velocity": "mj_fwdVelocity", "acceleration": "mj_fwdAcceleration",
    "inertia": "mj_fullM",
}  # fmt: skip


class InverseEngine(Engine):
    """Hard contacts, at steps of up to 40 ms."""

    name = "inverse"
    abilities = Capabilities(
        couplings=("exact",), pins=False, carriers=False, moving=False, soft=False, axial=True, flights=True
    )

    def build(self, scene: Scene) -> Simulation:
        """A model of the scene with its state."""
        for body in scene.bodies:
            if body.carrier is not None:
                raise InputError(
                    f"body '{body.name}' rides on '{body.carrier}', which engine 'inverse' cannot do. Use mujoco."
                )
        return InverseSimulation(scene)


class InverseSimulation(MujocoSimulation):
    """One scene. Contacts of what is kinematic take it for still."""

    def __init__(self, scene: Scene):
        super().__init__(scene)
        self._care, model = None, self.model
        model.geom_margin[:] = np.maximum(model.geom_margin, 0.5 * _AHEAD)
        model.body_margin[:] = np.maximum(model.body_margin, 0.5 * _AHEAD)
        self._substep = Block(SUBSTEP)
        self._inverse = self._build_inverse()
        for each in self.bodies:
            each.inverse = self._inverse.address
        self._body_of = np.asarray(model.geom_bodyid, np.int64)

    def _build_inverse(self) -> InverseScene:
        from poise.engines.inverse.kernels import InverseScene

        model, data = self.model, self._data
        mass = max(float(model.body_mass.sum()), 1e-6)
        ranges = np.where(np.asarray(model.jnt_limited, bool)[:, None], model.jnt_range, 0.0)
        numbers: dict[str, Any] = {
            "last_dof": _find_last(model), "above": model.dof_parentid, "root": model.body_rootid,
            "body_of_geom": model.geom_bodyid, "jnt_type": model.jnt_type, "jnt_qadr": model.jnt_qposadr,
            "jnt_vadr": model.jnt_dofadr,
        }  # fmt: skip
        return InverseScene(
            model=int(model._address), state=self._state.address, offsets=build_offsets().address,
            substep=self._substep.address, dt=self.scene.dt, heavy=_HEAVY * mass, exact=_EXACT * mass, nv=model.nv,
            bodies=model.nbody, bodies_by_6=6 * model.nbody, smooth=data.qfrc_smooth,
            outside=data.xfrc_applied.reshape(-1), damping=model.dof_damping, cdof=data.cdof, com=data.subtree_com,
            xmat=data.xmat, xpos=data.xpos, shape_count=model.ngeom, joints=model.njnt,
            jnt_range=np.ascontiguousarray(ranges, float).reshape(-1, 2), most=max(_FEWEST, _EACH * model.ngeom),
            span=np.ones(1),
            **{name: np.ascontiguousarray(array, np.int64) for name, array in numbers.items()},
            **{name: find_function(function) for name, function in _FUNCTIONS.items()},
        )  # fmt: skip

    @property
    def rounds(self) -> int:
        """Rounds of multipliers in the last step."""
        return int(self._inverse.counts[3])

    def step(self) -> None:
        """See `Simulation.step`."""
        from poise.engines.inverse.kernels import step

        step(self._inverse, self._inverse)

    def read(self, body: int, state: Body) -> None:
        """See `Simulation.read`."""
        from poise.engines.inverse.kernels import read

        read(state, self.bodies[body])

    def find_contacts(self, body: int) -> BodyContacts:
        """See `Simulation.find_contacts`."""
        if self._touched is not None and self._is_restored:
            return self._touched[1][body]
        pair = self._body_of[self._list_met()]
        mine = self._joint_of[body][pair]
        second, first = np.flatnonzero(mine[:, 1] >= 0), np.flatnonzero(mine[:, 0] >= 0)
        rows = np.concatenate([second, first])
        forces = self._inverse.forces[rows]
        forces[len(second) :] *= -1.0
        joints = np.concatenate([mine[second, 1], mine[first, 0]])
        others = [self._called[b] for b in (*pair[second, 0].tolist(), *pair[first, 1].tolist())]
        return BodyContacts(joints, self._inverse.points[rows], forces, tuple(others))

    def press(self, body: int, groups: np.ndarray, force: np.ndarray, pressure: np.ndarray) -> bool:
        """See `Simulation.press`: the caller adds up."""
        return False

    def contact_law(self, log: ContactLog) -> tuple[Law, Block] | None:
        """See `Simulation.contact_law`."""
        from poise.engines.inverse.kernels import InverseSource, note_contacts

        thing = list_things(self.model, self.layouts, self._props_at(), log)
        return note_contacts, InverseSource(
            log=log.block.address, scene=self._inverse.address, geoms=len(thing), thing=thing
        )

    def laws(self, bodies: list[Block]) -> SimulationLaws | None:
        """See `Simulation.laws`."""
        from poise.engines.inverse.kernels import read, step
        from poise.engines.mujoco.kernels import set_root_velocity, write

        return SimulationLaws(
            [write], step, read, list(self.bodies), self._inverse, set_root_velocity=set_root_velocity,
            substep=self._substep,
        )  # fmt: skip

    def _list_met(self) -> np.ndarray:
        """See `MujocoSimulation._list_met`."""
        return self._inverse.geoms[: int(self._inverse.counts[2])]

    def _numbers(self) -> dict[str, np.ndarray]:
        """Arrays that a step remembers of the last one."""
        return {name: self._inverse.arrays[name] for name in _KEPT}

    def save(self) -> Any:
        """See `Simulation.save`."""
        return {**super().save(), "kept": {name: array.copy() for name, array in self._numbers().items()}}

    def restore(self, saved: Any) -> None:
        """See `Simulation.restore`."""
        super().restore(saved)
        write_over(self._numbers(), saved["kept"])


def _find_last(model: Any) -> np.ndarray:
    """Return (B,) the last freedom that moves each body; -1: none does."""
    last = np.full(model.nbody, -1)
    for b in range(1, model.nbody):
        count = model.body_dofnum[b]
        last[b] = model.body_dofadr[b] + count - 1 if count else last[model.body_parentid[b]]
    return last
