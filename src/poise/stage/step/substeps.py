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
from poise.stage.step.call import Call

if TYPE_CHECKING:
    from poise.stage.actor import Actor


def list_renewed(actor: Actor, simulation: Simulation, engine: SimulationLaws | None) -> list[Player]:
    """Return the players of an actor that write their torques again in every substep."""
    if engine is not None or not simulation.cuts:
        return []
    return [player for player in actor.assignments.find_standing() if WRITE in find_laws(player)]


def keep_commands(actor: Actor, substep: Block) -> Call:
    """Return the call that keeps the drivers' commands as they are when it is made. substep: a block of SUBSTEP."""
    from poise.stage.step import substep_kernels as laws

    kept = laws.StepCommands(joints=len(actor.body.tree), substep=substep.address)
    return Call(laws.keep_commands, actor.body.block, kept)


def list_substep(engine: SimulationLaws, k: int, kept: Call, limits: list[Call]) -> list[Call]:
    """Return the calls that an engine with laws makes for its body number k before each substep."""
    from poise.stage.step.substep_kernels import renew_commands

    own = engine.bodies[k]
    return [
        Call(engine.read, kept.body, own), Call(renew_commands, *kept[1:]), *limits,
        Call(engine.take, kept.body, own),
    ]  # fmt: skip


def end_substeps(calls: list[Call]) -> list[Call]:
    """Return the calls after the last substep. calls: those of all substeps."""
    from poise.stage.step import substep_kernels as laws

    return [
        Call(laws.end_substeps, each.body, each.block)
        for each in calls
        if each.law in (laws.keep_commands, laws.renew_commands)
    ]


def build_substep(k: int, actor: Actor, calls: list[Call]) -> tuple[Call, Callable[[Simulation, float], None]]:
    """Return what keeps the commands of body number k, and a function that an engine without laws calls per substep.

    The function takes the simulation and the length of the substep (s).

    calls  laws of the players that write again, of joint limits and of damping
    """
    from poise.stage.step.substep_kernels import renew_commands

    body, takes, substep = actor.body, actor.stage.engine.abilities, Block(SUBSTEP)
    kept = keep_commands(actor, substep)
    laws: list[tuple[Law, Block, Block]] = []
    for each in (Call(renew_commands, *kept[1:]), *calls):
        assert isinstance(each.law, Law)
        laws.append((each.law, each.body, each.block))

    def renew(simulation: Simulation, h: float) -> None:
        substep["dt"] = h
        simulation.read(k, body.state)
        for law, own, block in laws:
            law(own, block)
        if takes.stops:
            simulation.stop(k, body.stops)
        simulation.apply(k, body.torque, body.damping, body.wrench, *([body.axial] if takes.axial else ()))

    return kept, renew
