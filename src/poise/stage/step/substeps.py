"""A step that an engine makes in parts: who is asked again before each, as lists of laws
(`stage/step/substep_kernels.py`).

An engine with laws of its own runs a list of them, which keeps joints in their ranges and calms them. One without
(Bullet) is given a function, which calls the players that balance as well (`Status`): their torques depend on where
the body is, and the smaller the body, the sooner those are stale. Two children of half a metre, hand against hand at
steps of 10 ms, shook each other off their feet by springs that were a step late, however short the parts were.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from poise.compiled.law import Block, Law
from poise.drivers.checks import find_laws
from poise.drivers.driver import WRITE, Player
from poise.engines.engine import AGAIN, Simulation, SimulationLaws
from poise.stage.step.call import Call

if TYPE_CHECKING:
    from poise.stage.actor import Actor


def list_renewed(actor: Actor, simulation: Simulation, engine: SimulationLaws | None) -> list[Player]:
    """The players of an actor that are asked again in every part of a step."""
    if engine is not None or not simulation.cuts:
        return []
    return [player for player in actor.find_standing() if WRITE in find_laws(player)]


def keep_asked(actor: Actor, again: Block) -> Call:
    """What drivers ask for is kept, as it is where this stands in the list; again: a block of AGAIN."""
    from poise.stage.step.substep_kernels import PARTS, keep

    j = len(actor.body.tree)
    kept = Block(PARTS, torque=np.zeros((j, 3)), damping=np.zeros(j), turns=np.zeros((j, 3, 3)), again=again.address)
    return Call(keep, actor.body.block, kept)


def list_again(engine: SimulationLaws, k: int, kept: Call, calm: list[Call]) -> list[Call]:
    """What an engine with laws runs for its body number k before each part."""
    from poise.stage.step.substep_kernels import renew

    own = engine.bodies[k]
    return [Call(engine.read, kept.body, own), Call(renew, *kept[1:]), *calm, Call(engine.take, kept.body, own)]


def end_parts(again: list[Call]) -> list[Call]:
    """The step is whole again. again: what was run in every part, or kept for it."""
    from poise.stage.step.substep_kernels import end_parts, keep, renew

    return [Call(end_parts, each.body, each.block) for each in again if each.law in (keep, renew)]


def ask_again(k: int, actor: Actor, asked: list[Call]) -> tuple[Call, Callable[[Simulation, float], None]]:
    """For body number k of an engine without laws: what keeps what its other drivers ask for, and has it go by that.

    The second is a function of the simulation and of the length of a part (s).

    asked  the laws of whoever is asked again, and what keeps ranges and calms
    """
    from poise.stage.step.substep_kernels import renew

    body, takes, again = actor.body, actor.stage.engine.abilities, Block(AGAIN)
    kept = keep_asked(actor, again)
    laws: list[tuple[Law, Block, Block]] = []
    for each in (Call(renew, *kept[1:]), *asked):
        assert isinstance(each.law, Law)
        laws.append((each.law, each.body, each.block))

    def ask(simulation: Simulation, h: float) -> None:
        again["dt"] = h
        simulation.read(k, body.state)
        for law, own, block in laws:
            law(own, block)
        if takes.stops:
            simulation.stop(k, body.stops)
        simulation.apply(k, body.torque, body.damping, body.wrench, *([body.axial] if takes.axial else ()))

    return kept, ask
