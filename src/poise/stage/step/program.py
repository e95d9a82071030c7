"""The step of the actors that one simulation moves, as a record that compiled code runs: see `program_kernels.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from poise.compiled.law import Block, Callback
from poise.engines.contact_log import ContactLog
from poise.engines.engine import Simulation
from poise.stage.step.call import Call
from poise.stage.step.step import list_step, list_writes

if TYPE_CHECKING:
    from poise.stage.actor import Actor


class Program:
    """What runs, and everything that must stay where it is in memory for as long as it does.

    actors      whom it moves together
    simulation  the engine's;  hits: who follows its contacts
    version     counts how often it looked at its step again
    raised      (1,) 1 where a Python function in it raised in the last run
    """

    def __init__(self, actors: list[Actor], simulation: Simulation, hits: ContactLog | None = None):
        from poise.stage.step.program_kernels import PROGRAM

        self.actors, self.simulation, self._hits = actors, simulation, hits
        self.raised = np.zeros(1, np.int64)
        self._writes: list[Call] | None = None
        self.version = 0
        self.block = Block(PROGRAM, raised=self.raised, body_count=len(actors))
        self.block["bodies"] = np.array([actor.body.block.address for actor in actors], np.int64)
        self.refresh()

    def refresh(self) -> None:
        """Look again at what the step is made of: drivers changed, or pushes began."""
        self.version += 1
        self._calls: list[Callback] = []
        engine = self.simulation.laws([actor.body.block for actor in self.actors])
        self._engine, self._writes = engine, None
        self._step = list_step(self.actors, self.simulation, engine, self._hits, self._call)
        if engine is not None:
            self.block.set(step=engine.step.address, scene=engine.scene.address)
        self.block.set(laws=build_table(self._step), count=len(self._step), write_count=0)
        for actor in self.actors:
            actor.body.block["steps"] = actor.stage.steps

    def prepare_poses(self) -> bool:
        """List what puts prescribed joints where they are, for `read_poses`; return whether it was listed already."""
        if self._writes is not None:
            return True
        self._writes = [each for actor in self.actors for each in list_writes(actor, self._call)]
        self.block.set(writes=build_table(self._writes), write_count=len(self._writes))
        return False

    def learn_to_move(self) -> None:
        """Have it be able to step at a workspace of the engine's."""
        if self._engine is not None and self._engine.enter is not None and self._engine.leave is not None:
            self.block.set(enter=self._engine.enter.address, leave=self._engine.leave.address)

    @property
    def entries(self) -> tuple[Call, ...]:
        """The step, law by law."""
        return tuple(self._step)

    @property
    def is_compiled(self) -> bool:
        """Whether no step of it calls Python."""
        return not self._calls

    def find_errors(self) -> list[BaseException]:
        """What Python functions in it raised in the last run; they are forgotten."""
        if not self.raised[0]:
            return []
        self.raised[0] = 0
        errors = [call.error for call in self._calls if call.error is not None]
        for call in self._calls:
            call.forget()
        return errors

    def _call(self, actor: Actor, function: Callable[[], None]) -> Call:
        made = Callback(function, self.raised)
        self._calls.append(made)
        return Call(made, actor.body.block, actor.body.block)


def build_table(entries: list[Call]) -> np.ndarray:
    """(n, 3) law, body and block of each; one row of zeros where there is none."""
    rows = [[entry.law.address, entry.body.address, entry.block.address] for entry in entries]
    return np.array(rows, np.int64).reshape(-1, 3) if rows else np.zeros((1, 3), np.int64)
