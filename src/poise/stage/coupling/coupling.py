"""The coupling of one actor: prescribed joints, and data of the laws in `stage/step/kernels.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.compiled.law import Law
from poise.drivers.body import Body
from poise.drivers.driver import MotionPlayer
from poise.dynamics.tree import Tree
from poise.stage.partition import Partition
from poise.stage.step.call import build_table
from poise.world.forces import Push

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.coupling.flight_kernels import Momentum
    from poise.stage.step.call import Call

_MASSLESS = 1e-3  # of the mass that a joint carries: a segment lighter than that does not resist
_TRACE = 1e-6  # of the whole body's inertia, at least: finger tips of many files have no mass
_TRUNK = 0.3  # of the body's mass: a joint that carries more is of the trunk
_TRUNK_DAMPING = 3.0  # times sqrt(m g l I) of what a joint carries: what holds a pose firmly has 6.9


class CouplingState:
    """The coupling of one actor. `block` is the layout `Coupling`, which explains the arrays.

    connectors  joints whose bodies carry prescribed parts
    """

    def __init__(self, body: Body, torque_only: bool, filter_is_fixed: bool):
        from poise.stage.coupling.kernels import Coupling

        j, room = len(body.tree), body.arena
        self._body = body
        self.connectors: list[int] = []
        # What is only used with the `paper` coupling is not in the arena.
        apart = {name: np.zeros((j, 3)) for name in ("al", "acc", "om_before", "vel_before")}
        self.block = x = Coupling(
            room, joints=j, torque_only=torque_only, filter_is_fixed=filter_is_fixed, filter_factor=np.ones(1),
            felt=body.felt, pressed=body.pressed, **apart,
        )  # fmt: skip
        self.given, self.touched, self.accelerating = x.given, x.touched, x.accelerating
        self.inertia, self.trunk_damping, self.al, self.acc = x.inertia, x.trunk_damping, x.al, x.acc
        self.filter_factor = x.filter_factor

    def begin(self, partition: Partition, rides: bool, stands: bool = False) -> None:
        """Begin with a partition.

        rides   whether a given root rides on a prop, which accelerates it
        stands  whether the legs hold up the hips
        """
        body, x, parents = self._body, self.block, self._body.tree.parents
        for mask in (self.given, self.touched, self.accelerating):
            mask[:] = True
        for array in (x.al_difference, x.acc_difference, x.om_locked, body.coupling, self.al, self.acc):
            array[:] = 0.0
        body.w_before[:], body.v_before[:] = body.state.w, body.state.v
        self.given[list(partition.physical)] = False
        self.accelerating[:] = self.given
        self.accelerating[0] &= not rides
        for i in range(len(parents)):
            self.touched[i] = self.accelerating[i] or (parents[i] >= 0 and self.touched[parents[i]])
        self.connectors = sorted({part.connector for part in partition.parts}) or ([0] if rides else [])
        mass, arm, inertia = body.outboard()
        self.inertia[:] = np.maximum(inertia, _TRACE * inertia[0])
        x.massless[:] = body.tree.masses <= _MASSLESS * mass
        weight = mass * arm * float(np.linalg.norm(body.gravity))
        damping = np.where(mass > _TRUNK * mass[0], _TRUNK_DAMPING * np.sqrt(weight * self.inertia), 0.0)
        self.trunk_damping[:] = damping if stands else 0.0
        self.trunk_damping[0] = 0.0
        # A joint that was given keeps no acceleration of its own once it is physical.
        body.dw[~self.given] = 0.0
        if not self.given[0]:
            body.a[:] = 0.0

    def find_law(self, couple: str, gain: float, pushes: Sequence[Push]) -> Law:
        """Return the law that couples, with `block` up to date; the law that adds the pushes reads that too."""
        from poise.stage.step import kernels

        ordered = sorted(pushes, key=lambda push: push.start)
        index = self._body.skeleton.index
        self.block.set(
            gain=gain, push_count=len(ordered),
            push_joint=np.array([index(push.joint) for push in ordered], np.int64),
            push_force=np.array([push.force for push in ordered], float).reshape(-1, 3),
            push_start=np.array([push.start for push in ordered], float),
            push_seconds=np.array([push.seconds for push in ordered], float),
        )  # fmt: skip
        return kernels.couple_exactly if couple == "exact" else kernels.couple_as_published


class MomentumCorrection:
    """The momentum of one actor.

    target  (7,) angular momentum about the centre of mass N m s, momentum N s, and 1 if they are known
    """

    def __init__(self, actor: Actor):
        self._actor = actor
        self._tree: Tree | None = None
        self.target = np.zeros(7)
        self._block: Momentum | None = None
        self._writes: list[Call] = []

    @property
    def is_active(self) -> bool:
        """Whether momentum is conserved: the engine moves the root and reports whether the body is airborne.

        A gain of 1 is physics, and so is any other gain if no motion is prescribed: without the correction, a ragdoll
        that fell spins the faster, the longer the step. Joints that come to rest do not count as prescribed.
        """
        actor, stage = self._actor, self._actor.stage
        is_free = not actor.given[0] and not any(a.claim.pinned for a in actor.assignments)
        gives = [player for player in actor.players if isinstance(player, MotionPlayer)]
        is_real = stage.gain == 1.0 or all(player is actor.assignments.still for player in gives)
        return is_free and stage.engine.abilities.flights and stage.couple == "exact" and is_real

    @property
    def block(self) -> Momentum:
        """Data of the laws."""
        from poise.stage.coupling.flight_kernels import Momentum

        if self._block is None:
            self._block = Momentum(target=self.target)
        return self._block

    def list_writes(self, writes: list[Call]) -> None:
        """Set the calls that write the prescribed joints at the end of a step; they are kept alive while used."""
        self._writes = writes
        self.block.set(count=len(writes), writes=build_table(writes))

    def begin(self, t: float) -> None:
        """Begin at time t with other drivers, which change no momentum, or with other masses, which do."""
        body = self._actor.body
        if not self.is_active:
            self.target[:] = 0.0
        elif self._tree is not body.tree or not self.target[-1]:
            from poise.stage.coupling.flight_kernels import keep_momentum

            with body.preserved():
                self._actor.show(t)
                keep_momentum(body.block, self.block)
            body.update()
        self._tree = body.tree
