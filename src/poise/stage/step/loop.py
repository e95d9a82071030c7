"""The loop over steps: it runs the programs of a stage's simulations, and follows what happens in them."""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING, NoReturn

from poise.drivers.body import Body
from poise.drivers.driver import Player
from poise.errors import SolveError
from poise.stage.crowd.crowd import ProgramRunner
from poise.stage.monitor.health import find_exploded

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.stage import Stage
    from poise.stage.step.program import Program


class StepLoop:
    """The steps of one stage.

    steps        made since the beginning
    runner       runs the programs of all simulations
    reporting    actors that are followed after every run: Python drives them, or one of their laws made a request
    is_recorded  whether a take is being recorded
    """

    def __init__(self, stage: Stage, threads: int):
        self._stage = stage
        self.steps = 0
        self.runner = ProgramRunner(threads, stage.engine.share(threads))
        self.reporting: set[Actor] = set()
        self.is_recorded = False
        self._ended: str | None = None  # why the simulation has ended: see `check_finite`
        self._push_ends: list[tuple[float, int, Actor]] = []  # a heap
        self._tickets = itertools.count()
        self._readers: list[tuple[Player, Body]] = []  # players that read others before every step, and their bodies

    def advance(self, steps: int) -> None:
        """Advance everything by some steps; events are reported after the last of them."""
        simulations = self._stage.simulations
        while True:
            simulations.build()
            most = simulations.join_near()
            some = min(steps, 1 if self._readers else most)
            self._run_steps(some)
            steps -= some
            if steps <= 0:
                return

    def _run_steps(self, steps: int) -> None:
        stage, runner = self._stage, self.runner
        for player, body in self._readers if steps else ():  # all of them before any body moves
            player.before_step(body, stage.time)
        began = self.steps
        self._run(runner, steps, self.is_recorded)
        is_quiet = runner.is_quiet and not self.reporting
        followed: dict[str, Actor] = {} if is_quiet else {actor.name: actor for actor in self.reporting}
        odd = [] if is_quiet else runner.find_odd()
        for actor in odd:  # before any other code reads its state
            self.check_finite(actor)
        for program, made in () if is_quiet else runner.find_called():
            followed |= {actor.name: actor for actor in program.actors}
            self._finish(program, began, made, steps)
        self.steps = began + steps
        stage.hits.report()
        self._end_pushes()
        for actor in odd:
            followed.setdefault(actor.name, actor)
        for name in [name for name in stage.actors if name in followed] if followed else ():
            self.check_finite(followed[name])
            followed[name].follow(stage.time)
        self._watch_efforts()

    def _watch_efforts(self) -> None:
        """Measure the efforts of the actors that have listeners; a take measures them in its frames."""
        if self.is_recorded:
            return
        listened = [actor for actor in self._stage.actors.values() if actor.listeners]
        for actor in listened:
            if actor.started and actor.given.any():
                actor.effort.watch()

    def _run(self, runner: ProgramRunner, steps: int, own: bool) -> None:
        """Run some programs. If a player raises, the clock of all is where that one was.

        A player that raises because a state has exploded is not the cause: the explosion is reported.
        """
        try:
            runner.run(steps, own)
        except BaseException as error:
            self.steps += runner.fewest
            for actor in self._stage.actors.values():
                actor.body.block.steps = self.steps
            for actor in self._stage.actors.values() if isinstance(error, Exception) else ():
                self.check_finite(actor)
            raise

    def _finish(self, program: Program, began: int, made: int, steps: int) -> None:
        """Make the remaining steps of actors one of whose laws made a request, and build them again if need be."""
        stage, runner = self._stage, ProgramRunner()
        while True:
            self.steps = began + made
            for actor in program.actors:
                self.check_finite(actor)
                self.reporting.add(actor)
                if actor.handle_request(stage.time):
                    stage.rebuild(actor)
            stage.build()
            program = next(group.program for group in stage.groups if program.actors[0] in group.actors)
            if made == steps:
                return
            runner.set_programs([program])
            self._run(runner, steps - made, own=True)
            called = runner.find_called()
            made = made + called[0][1] if called else steps
            if not called:
                return

    def set_groups(self) -> None:
        """Run the programs of the stage's groups as they are now."""
        stage = self._stage
        stage.hits.watch(stage.groups)
        self.runner.set_programs([group.program for group in stage.groups])
        compiled = {actor for group in stage.groups if group.program.is_compiled for actor in group.actors}
        self.reporting = {actor for actor in self.reporting if actor.name in stage.actors}
        self.reporting |= {actor for actor in stage.actors.values() if actor not in compiled}
        self._readers = [
            (player, actor.body)
            for actor in stage.actors.values()
            for player in actor.players
            if player.needs_before_step
        ]

    # The end of the simulation.

    def check_finite(self, actor: Actor) -> None:
        """Raise SolveError if an actor's state has exploded: the stage has then ended, until a state is restored."""
        exploded = find_exploded(actor)
        if exploded is not None:
            self.end(exploded)

    def end_by_prop(self, prop: str) -> NoReturn:
        """End the simulation because the state of a prop is not finite."""
        self.end(f"simulation became non-finite at t={self._stage.time:.4g} s (prop '{prop}'). ")

    def end(self, why: str) -> NoReturn:
        """End the simulation."""
        self._ended = f"{why}{self._advise()}"
        raise SolveError(self._ended)

    def check_going(self) -> None:
        """Raise SolveError again if the simulation has ended."""
        if self._ended is not None:
            raise SolveError(self._ended)

    def reopen(self) -> None:
        """Continue: a state was restored."""
        self._ended = None

    def _advise(self) -> str:
        """Return what to do if a simulation explodes."""
        stage = self._stage
        if stage.couple == "exact":
            return "Take a smaller step (dt) or a lower gain."
        if "exact" in stage.engine.abilities.couplings:
            return "Take the 'exact' coupling, a smaller step (dt) or a lower gain."
        return f"Take an engine with the 'exact' coupling, which '{stage.engine.name}' lacks, or a lower gain."

    # Pushes.

    def expect(self, end: float, actor: Actor) -> None:
        """Let an actor forget its pushes that have ended once the clock has come to `end` (s)."""
        heapq.heappush(self._push_ends, (end, next(self._tickets), actor))

    def forget_pushes(self, actor: Actor | None = None) -> None:
        """Expect no end of the pushes of an actor, or of all."""
        self._push_ends = [each for each in self._push_ends if actor is not None and each[2] is not actor]
        heapq.heapify(self._push_ends)

    def _end_pushes(self) -> None:
        if not self._push_ends:
            return
        over: dict[str, Actor] = {}
        while self._push_ends and self._push_ends[0][0] <= self._stage.time:
            actor = heapq.heappop(self._push_ends)[2]
            over[actor.name] = actor
        for actor in over.values():
            actor.drop_pushes(self._stage.time)
            self._stage.refresh(actor)
