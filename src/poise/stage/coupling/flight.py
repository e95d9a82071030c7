"""Conservation of momentum in flight, for one actor: `flight_kernels.py` has the equations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.drivers.driver import MotionPlayer
from poise.dynamics.tree import Tree
from poise.stage.step.call import build_table

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.coupling.flight_kernels import Momentum
    from poise.stage.step.call import Call


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
