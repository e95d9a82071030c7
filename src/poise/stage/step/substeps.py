"""Substeps of an engine: the calls that are made again before each, as lists of laws (`substep_kernels.py`).

An engine with laws of its own runs a list of them, which keeps joints in their ranges and damps overspeed. One without
(Bullet) is given a function, which also calls the players that balance (`Status`): their torques depend on the body's
position, and the smaller the body, the sooner they are stale. Two children of half a metre, hand against hand at steps
of 10 ms, shook each other off their feet by springs that were a step late, however short the substeps were.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from poise.compiled.law import Block, Law
from poise.drivers.checks import find_laws
from poise.drivers.driver import WRITE, Player
from poise.engines.engine import SUBSTEP, Simulation, SimulationLaws
from poise.stage.step.call import Call, build_table

if TYPE_CHECKING:
    from poise.stage.actor import Actor


class Substeps:
    """Commands that are renewed in the substeps of one simulation."""

    def __init__(self, simulation: Simulation, engine: SimulationLaws | None):
        self._simulation, self._engine = simulation, engine
        self._calls: list[Call] = []
        self._functions: list[Callable[[Simulation, float], None]] = []

    def list_renewed(self, actor: Actor) -> list[Player]:
        """Return the players of an actor that write their torques again in every substep."""
        if self._engine is not None or not self._simulation.cuts:
            return []
        return [player for player in actor.assignments.find_standing() if WRITE in find_laws(player)]

    def list_fixed(self, actor: Actor) -> list[Player]:
        """Return the other players of an actor."""
        renewed = self.list_renewed(actor)
        return [player for player in actor.players if player not in renewed]

    def renew(self, k: int, actor: Actor, torques: list[Call], limits: list[Call]) -> list[Call]:
        """Renew torques and limits of body number k; return the calls that this takes before them in the step."""
        from poise.stage.step.substep_kernels import renew_commands

        engine = self._engine
        if engine is not None and engine.substep is not None:
            kept, own = _keep_commands(actor, engine.substep), engine.bodies[k]
            self._calls += [Call(engine.read, kept.body, own), Call(renew_commands, *kept[1:]), *limits]
            self._calls += [Call(law, kept.body, own) for law in engine.write]
            return [kept]
        if not torques:
            return []
        substep = Block(SUBSTEP)
        kept = _keep_commands(actor, substep)
        self._calls.append(kept)
        self._functions.append(_build_function(k, actor, substep, [Call(renew_commands, *kept[1:]), *torques, *limits]))
        return [kept]

    def end(self) -> list[Call]:
        """Give the engine what it calls in its substeps; return the calls after the last of them."""
        from poise.stage.step import substep_kernels as laws

        if self._engine is not None and self._engine.substep is not None:
            self._engine.substep.set(rows=build_table(self._calls), count=len(self._calls))
        self._simulation.substeps = self._functions
        return [
            Call(laws.end_substeps, each.body, each.block)
            for each in self._calls
            if each.law in (laws.keep_commands, laws.renew_commands)
        ]


def _keep_commands(actor: Actor, substep: Block) -> Call:
    """Return the call that keeps the drivers' commands as they are when it is made. substep: a block of SUBSTEP."""
    from poise.stage.step import substep_kernels as laws

    kept = laws.StepCommands(joints=len(actor.body.tree), substep=substep.address)
    return Call(laws.keep_commands, actor.body.block, kept)


def _build_function(k: int, actor: Actor, substep: Block, calls: list[Call]) -> Callable[[Simulation, float], None]:
    """Return what an engine without laws calls before a substep: a function of the simulation and its length (s)."""
    body = actor.body.block
    laws: list[tuple[Law, Block, Block]] = []
    for each in calls:
        assert isinstance(each.law, Law)
        laws.append((each.law, each.body, each.block))

    def renew(simulation: Simulation, h: float) -> None:
        substep["dt"] = h
        simulation.read(k, body)
        for law, own, block in laws:
            law(own, block)
        simulation.write_forces(k, body)

    return renew
