"""What of a body is given and what it is coupled to, in arrays that the laws of `stage/step/kernels.py` read."""

from __future__ import annotations

import numpy as np

from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.stage.assignment import Partition

_FEATHER = 1e-3  # of what a joint carries: a segment lighter than that does not resist
_TRACE = 1e-6  # of the whole body's inertia, at least: finger tips of many files have no mass
_TRUNK = 0.3  # of the body: who carries more is of the trunk
_TIED = 3.0  # times sqrt(m g l I) of what a joint carries: what holds a pose firmly has 6.9


class CouplingState:
    """The coupling of one actor.

    given         (J,) bool, joints whose motion is given
    accelerating  (J,) bool, those of them that accelerate by themselves: a root that rides on a prop goes along with it
    touched       (J,) bool, bodies that one of those moves, itself or from further in
    connectors    joints whose bodies carry what is given
    inertia       (J,) kg m2, of what each joint carries: see `Body.outboard`
    bare          (J,) bool, segments of next to no mass beside what hangs from them
    tied          (J,) N m s/rad, damping that ties a trunk to hips that stand: see `stage/step/kernels.py:calm`
    al, acc       (J, 3) accelerations of the steps before, for the paper's coupling
    share         (1,) of the last step in them: see `paper.py`; constant if the stage's user chose a filter
    """

    def __init__(self, body: Body, torque_only: bool, keeps_share: bool):
        from poise.stage.step.kernels import COUPLING

        j, room = len(body.tree), body.arena
        self._body = body
        self.given, self.touched, self.accelerating, self.bare = (room.zeros(j, dtype=bool) for _ in range(4))
        self._work, self.inertia, self.tied = room.zeros(3, j, 3), room.zeros(j), room.zeros(j)
        self.al, self.acc, om, vel = (np.zeros((j, 3)) for _ in range(4))
        self.share = np.ones(1)
        self.connectors: list[int] = []
        self.block = Block(
            COUPLING, room, given=self.given, touched=self.touched, accelerating=self.accelerating, work=self._work,
            al=self.al, acc=self.acc, om_before=om, vel_before=vel, torque_only=torque_only, inertia=self.inertia,
            bare=self.bare, tied=self.tied, share=self.share, keeps_share=keeps_share, felt=body.felt,
            pressed=body.pressed,
        )  # fmt: skip

    def settle(self, partition: Partition, is_carried: bool, stands: bool = False) -> None:
        """Begin with a partition. stands: whether its hips are held up by its legs."""
        body, parents = self._body, self._body.tree.parents
        for mask in (self.given, self.touched, self.accelerating):
            mask[:] = True
        for array in (self._work, body.coupling, self.al, self.acc):
            array[:] = 0.0
        body.w_before[:], body.v_before[:] = body.state.w, body.state.v
        self.given[list(partition.physical)] = False
        self.accelerating[:] = self.given
        self.accelerating[0] &= not is_carried
        for i in range(len(parents)):
            self.touched[i] = self.accelerating[i] or (parents[i] >= 0 and self.touched[parents[i]])
        self.connectors = sorted({part.connector for part in partition.parts}) or ([0] if is_carried else [])
        mass, arm, inertia = body.outboard()
        self.inertia[:] = np.maximum(inertia, _TRACE * inertia[0])
        self.bare[:] = body.tree.masses <= _FEATHER * mass
        weight = mass * arm * float(np.linalg.norm(body.gravity))
        self.tied[:] = np.where(mass > _TRUNK * mass[0], _TIED * np.sqrt(weight * self.inertia), 0.0) if stands else 0.0
        self.tied[0] = 0.0
        # A joint that was given keeps no acceleration of its own once it is physical.
        body.dw[~self.given] = 0.0
        if not self.given[0]:
            body.a[:] = 0.0

    def find_law(self, couple: str, gain: float, pushes: np.ndarray) -> Law:
        """The law that couples; its block is up to date. pushes: (n, 6), see `stage/coupling/kernels.py:add_pushes`."""
        from poise.stage.step import kernels

        self.block.set(gain=gain, pushes=pushes, push_count=len(pushes))
        return kernels.couple_exactly if couple == "exact" else kernels.couple_as_published
