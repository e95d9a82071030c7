"""The step of the actors that one simulation moves, as a layout that compiled code runs: see `program_kernels.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from poise.compiled.law import Callback
from poise.engines.contact_log import ContactLog
from poise.engines.engine import Simulation
from poise.stage.step.call import Call, build_table
from poise.stage.step.step import list_step, list_writes

if TYPE_CHECKING:
    from poise.stage.actor import Actor


class Program:
    """The list of calls that is run, and all that must keep its address meanwhile.

    actors      those that the simulation moves together
    simulation  the engine's
    version     number of times that the step was listed
    raised      (1,) 1 if a Python function in it raised in the last run
    """

    def __init__(self, actors: list[Actor], simulation: Simulation, hits: ContactLog | None = None):
        from poise.stage.step.program_kernels import ProgramData

        self.actors, self.simulation, self._hits = actors, simulation, hits
        self.raised = np.zeros(1, np.int64)
        self._writes: list[Call] | None = None
        self.version = 0
        bodies = np.array([actor.body.block.address for actor in actors], np.int64)
        self.block = ProgramData(raised=self.raised, body_count=len(actors), bodies=bodies)
        self.refresh()

    def refresh(self) -> None:
        """List the step again: drivers changed, or pushes began."""
        self.version += 1
        self._calls: list[Callback] = []
        engine = self.simulation.laws([actor.body.block for actor in self.actors])
        self._engine, self._writes = engine, None
        self._step = list_step(self.actors, self.simulation, engine, self._hits, self._call)
        if engine is not None:
            self.block.set(step=engine.step.address, scene=engine.scene.address)
        self.block.set(count=len(self._step), laws=build_table(self._step), write_count=0, writes=build_table([]))
        for actor in self.actors:
            actor.body.block.steps = actor.stage.steps

    def prepare_poses(self) -> bool:
        """List the calls that write prescribed joints, for `read_poses`; return whether they were listed already."""
        if self._writes is not None:
            return True
        self._writes = [each for actor in self.actors for each in list_writes(actor, self._call)]
        self.block.set(write_count=len(self._writes), writes=build_table(self._writes))
        return False

    def prepare_workspaces(self) -> None:
        """Set the laws that take the engine's state to a workspace and back."""
        engine = self._engine
        if engine is not None and engine.load_state is not None and engine.store_state is not None:
            self.block.set(load_state=engine.load_state.address, store_state=engine.store_state.address)

    @property
    def entries(self) -> tuple[Call, ...]:
        """The calls of the step, in order."""
        return tuple(self._step)

    @property
    def is_compiled(self) -> bool:
        """Whether no call of it is a Python function."""
        return not self._calls

    def find_errors(self) -> list[BaseException]:
        """Return what Python functions raised in the last run, and forget it."""
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
