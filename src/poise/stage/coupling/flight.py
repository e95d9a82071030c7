"""What an actor keeps of its momentum for as long as nothing touches it: see `flight_kernels.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from poise.compiled.law import Block
from poise.drivers.driver import MotionPlayer
from poise.dynamics.tree import Tree

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.step.call import Call


class MomentumCorrection:
    """The momentum of one actor.

    kept  (7,) angular momentum about the centre of mass N m s, momentum N s, and 1 where they are known
    """

    def __init__(self, actor: Actor):
        self._actor = actor
        self._tree: Tree | None = None
        self.kept = np.zeros(7)
        self._block: Block | None = None
        self._writes: list[Call] = []

    @property
    def is_kept(self) -> bool:
        """Whether it is seen to: the engine moves the root and can say whether anything touches.

        k = 1 is physics, and so is any other k where nobody gives a motion: a doll that fell, whirls the
        more without it, the longer the step. What comes to rest counts for nobody.
        """
        actor, stage = self._actor, self._actor.stage
        is_free = not actor.given[0] and not any(a.claim.pinned for a in actor.assignments)
        gives = [player for player in actor.players if isinstance(player, MotionPlayer)]
        is_real = stage.gain == 1.0 or all(player is actor.still for player in gives)
        return is_free and stage.engine.abilities.flights and stage.couple == "exact" and is_real

    @property
    def block(self) -> Block:
        """What its laws read and write."""
        from poise.stage.coupling.flight_kernels import FLIGHT

        if self._block is None:
            self._block = Block(FLIGHT, gives=np.zeros((1, 3), np.int64), kept=self.kept)
        return self._block

    def list_writes(self, writes: list[Call]) -> None:
        """Set what puts prescribed joints where they are at the end of a step; it is kept while it is used."""
        rows = [[each.law.address, each.body.address, each.block.address] for each in writes]
        self._writes = writes
        self.block.set(gives=np.array(rows or [[0, 0, 0]], np.int64), count=len(rows))

    def settle(self, t: float) -> None:
        """Begin at time t with other drivers, which change no momentum, or with other masses, which do."""
        if not self.is_kept:
            self.kept[:] = 0.0
        elif self._tree is not self._actor.body.tree or not self.kept[-1]:
            from poise.stage.coupling.flight_kernels import weigh

            self._look(t, lambda: weigh(self._actor.body.block, self.block))
        self._tree = self._actor.body.tree

    def _look(self, t: float, measure: Callable[[], None]) -> None:
        """Have something done with given joints where they are at time t, and at their speed."""
        body = self._actor.body
        with body.preserved():
            self._actor.show(t)
            measure()
        body.update()
