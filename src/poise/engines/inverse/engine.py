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

from typing import Any

import numpy as np

from poise.compiled.law import Block, Law
from poise.engines.contact_log import ContactLog
from poise.engines.engine import SUBSTEP, BodyContacts, Capabilities, Engine, Simulation, SimulationLaws
from poise.engines.memory import write_over
from poise.engines.mujoco.library import find_function, find_inverse_offsets
from poise.engines.mujoco.simulation import MujocoSimulation
from poise.engines.scene import Scene
from poise.errors import InputError

_AHEAD = 0.05  # m: contacts are seen from here on
_HEAVY = 6.0  # times the mass of all: the weight of a contact that gives way, in the search for its impulse
_EXACT = 1e-6  # of the mass of all times 1 m/s, to which impulses are found
_FEWEST, _EACH = 64, 6  # contacts that are remembered at once: at least, and for every shape
_FUNCTIONS = {
    "position": "mj_fwdPosition", "velocity": "mj_fwdVelocity", "acceleration": "mj_fwdAcceleration",
    "inertia": "mj_fullM",
}  # fmt: skip


class InverseEngine(Engine):
    """Hard contacts, at steps of up to 40 ms."""

    name = "inverse"
    abilities = Capabilities(
        couplings=("exact",), pins=False, carriers=False, moving=False, axial=True, nudges=True, flights=True
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
        self._kept = _Kept(max(_FEWEST, _EACH * model.ngeom))
        self._substep = Block(SUBSTEP)
        self._block = self._build_block()
        self._body_of = np.asarray(model.geom_bodyid, np.int64)

    def _build_block(self) -> Block:
        """What the law knows: see `engines/inverse/kernels.py`."""
        from poise.engines.inverse.kernels import INVERSE

        model, data, kept = self.model, self._data, self._kept
        offsets = find_inverse_offsets()
        if offsets is None:
            raise InputError("the engine 'inverse' does not understand this version of MuJoCo. Install mujoco 4.0.")
        mass = max(float(model.body_mass.sum()), 1e-6)
        ranges = np.where(np.asarray(model.jnt_limited, bool)[:, None], model.jnt_range, 0.0)
        numbers: dict[str, Any] = {
            "last_dof": _find_last(model), "above": model.dof_parentid, "root": model.body_rootid,
            "body_of_geom": model.geom_bodyid, "jnt_type": model.jnt_type, "jnt_qadr": model.jnt_qposadr,
            "jnt_vadr": model.jnt_dofadr,
        }  # fmt: skip
        block = Block(
            INVERSE, substep=self._substep.address, qpos=data.qpos, qvel=data.qvel, smooth=data.qfrc_smooth,
            applied=data.qfrc_applied, outside=data.xfrc_applied, constraint=data.qfrc_constraint,
            damping=model.dof_damping, cdof=data.cdof, com=data.subtree_com, xmat=data.xmat, xpos=data.xpos,
            jnt_range=np.ascontiguousarray(ranges, float),
            model=int(model._address), data=int(data._address), nv=model.nv, nq=model.nq,
            bodies=model.nbody, shapes=model.ngeom, joints=model.njnt, most=len(kept.pairs), dt=self.scene.dt,
            heavy=_HEAVY * mass, exact=_EXACT * mass,
        )  # fmt: skip
        block.set(**{name: np.ascontiguousarray(array, np.int64) for name, array in numbers.items()})
        block.set(**vars(kept), **offsets)
        block.set(**{name: find_function(function) for name, function in _FUNCTIONS.items()})
        return block

    @property
    def rounds(self) -> int:
        """How many rounds of multipliers the last step took."""
        return int(self._kept.counts[3])

    def step(self) -> None:
        """See `Simulation.step`."""
        from poise.engines.inverse.kernels import step

        step(self._block, self._block)

    def find_contacts(self, body: int) -> BodyContacts:
        """See `Simulation.find_contacts`."""
        if self._touched is not None and self._is_restored:
            return self._touched[1][body]
        pair = self._body_of[self._list_met()]
        mine = self._joint_of[body][pair]
        second, first = np.flatnonzero(mine[:, 1] >= 0), np.flatnonzero(mine[:, 0] >= 0)
        rows = np.concatenate([second, first])
        forces = self._kept.forces[rows]
        forces[len(second) :] *= -1.0
        joints = np.concatenate([mine[second, 1], mine[first, 0]])
        others = [self._called[b] for b in (*pair[second, 0].tolist(), *pair[first, 1].tolist())]
        return BodyContacts(joints, self._kept.points[rows], forces, tuple(others))

    def press(self, body: int, groups: np.ndarray, force: np.ndarray, pressure: np.ndarray) -> bool:
        """See `Simulation.press`: whoever asks adds up."""
        return False

    def feel(self, hits: ContactLog) -> tuple[Law, Block] | None:
        """See `Simulation.feel`."""
        from poise.engines.inverse.kernels import SOURCE, feel
        from poise.engines.mujoco.contacts import list_things

        thing = list_things(self.model, self.layouts, self._props_at(), hits)
        return feel, Block(SOURCE, thing=thing, hits=hits.block.address, scene=self._block.address)

    def laws(self, bodies: list[Block]) -> SimulationLaws | None:
        """See `Simulation.laws`."""
        from poise.engines.inverse.kernels import read, step

        theirs = super().laws(bodies)
        assert theirs is not None  # nobody rides on a prop
        for each in theirs.bodies:
            each.set(scene=self._block.address)
        return SimulationLaws(
            theirs.take, step, read, theirs.bodies, self._block, steer=theirs.steer, substep=self._substep
        )

    def _list_met(self) -> np.ndarray:
        """See `MujocoSimulation._list_met`."""
        return self._kept.geoms[: int(self._kept.counts[2])]

    def save(self) -> Any:
        """See `Simulation.save`."""
        return {**super().save(), "kept": {name: array.copy() for name, array in vars(self._kept).items()}}

    def restore(self, saved: Any) -> None:
        """See `Simulation.restore`."""
        super().restore(saved)
        write_over(vars(self._kept), saved["kept"])


class _Kept:
    """What a step remembers of the last one, for at most so many contacts: see `engines/inverse/kernels.py:INVERSE`."""

    def __init__(self, most: int):
        self.pairs, self.places = np.zeros((most, 2), np.int64), np.zeros((most, 24))
        self.last, self.impulses = np.zeros((most, 2), np.int64), np.zeros((most, 3))
        self.geoms, self.points = np.zeros((most, 2), np.int64), np.zeros((most, 3))
        self.forces, self.pushes = np.zeros((most, 3)), np.zeros(most)
        self.counts, self.span = np.zeros(4, np.int64), np.ones(1)


def _find_last(model: Any) -> np.ndarray:
    """(B,) the last freedom that moves each body; -1: none does."""
    last = np.full(model.nbody, -1)
    for b in range(1, model.nbody):
        count = model.body_dofnum[b]
        last[b] = model.body_dofadr[b] + count - 1 if count else last[model.body_parentid[b]]
    return last
