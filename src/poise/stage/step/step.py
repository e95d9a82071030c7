"""The step of the bodies that one simulation moves: the list of laws that runs.

Players, the coupling and the engine each append their calls: compiled laws where they have them, Python callbacks
otherwise. Nothing else moves a body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from poise.drivers.checks import find_laws
from poise.drivers.driver import POST_STEP, WRITE, MotionPlayer, Player
from poise.engines.contact_log import ContactLog
from poise.engines.engine import Simulation, SimulationLaws
from poise.stage.monitor.events import STANDING, find_feet
from poise.stage.monitor.health import check_after
from poise.stage.step.call import Call
from poise.stage.step.substeps import Substeps

if TYPE_CHECKING:
    from poise.stage.actor import Actor
# Makes an entry of a Python function that is to be called for an actor.
Caller = Callable[["Actor", Callable[[], None]], Call]


def list_step(
    actors: list[Actor], simulation: Simulation, engine: SimulationLaws | None, hits: ContactLog | None, call: Caller
) -> list[Call]:
    """Return the step.

    engine  the simulation's own laws, if it has any
    hits    log of its contacts; None: nothing can be hit
    """
    from poise.stage.step import kernels as laws

    step: list[Call] = []
    substeps = Substeps(simulation, engine)
    for k, actor in enumerate(actors):
        body, (couple, coupling) = actor.body.block, actor.find_coupling(simulation.handles_coupling(k))
        actor.body.move_pin = partial(simulation.move_pin, k)
        step.append(Call(laws.start_clock, body, coupling))
        # 1. kinematic drivers: q, w and dw at mid-step
        for player in actor.assignments.in_order():
            step += _write_motion(actor, player, call)
        # 2. what that puts on the connectors; pushes
        step.append(Call(couple, body, coupling))
        step += [Call(laws.push, body, coupling)] if actor.pushes else []
        # 3. physical drivers: torques; then damping and joint limits, which substeps renew
        step.append(Call(laws.clear_commands, body, coupling))
        step += _write_torques(actor, substeps.list_fixed(actor), call)
        renewed = _write_torques(actor, substeps.list_renewed(actor), call)
        limits = [Call(laws.damp_overspeed, body, coupling), *_limit(actor)]
        step += substeps.renew(k, actor, renewed, limits)
        step += [*renewed, *limits]
        step += _write(actor, k, simulation, engine, call)
    # 4. the engine moves the physical parts
    step += _advance(actors[0], simulation, engine, call)
    step += substeps.end()
    step += _note_contacts(actors, simulation, hits, call)
    for k, actor in enumerate(actors):
        # 5. states are read; players correct them
        step += _read(actor, k, simulation, engine, call)
        step += _conserve(actor, k, simulation, engine, call)
        for player in actor.assignments.in_order():
            step += _post_step(actor, player, call)
        if actor.stage.couple == "paper":
            step.append(Call(laws.differentiate, actor.body.block, actor.coupling.block))
        step.append(Call(laws.advance_clock, actor.body.block, actor.coupling.block))
    return step


def list_writes(actor: Actor, call: Caller) -> list[Call]:
    """Return the calls that write an actor's prescribed joints at its body's time."""
    return [each for player in actor.assignments.list_motions() for each in _write_motion(actor, player, call)]


def list_compiled_writes(actor: Actor) -> list[Call] | None:
    """Like `list_writes`, but None if Python has a part in it."""
    is_compiled = all(WRITE in find_laws(player) for player in actor.assignments.list_motions())
    return list_writes(actor, _refuse) if is_compiled else None


def _refuse(_actor: Actor, _function: Callable[[], None]) -> Call:
    raise TypeError("no Python is called here")


def _write_motion(actor: Actor, player: Player, call: Caller) -> list[Call]:
    """The motion that a player prescribes, with what is left of its transition; nothing of a torque player."""
    if not isinstance(player, MotionPlayer):
        return []
    found, body = find_laws(player).get(WRITE), actor.body
    if found is None:
        write = check_after(lambda: player.write(body, float(body.block["at"])), actor, player)
        calls = [call(actor, write)]
    else:
        calls = [Call(found[0], body.block, found[1])]
    if player.transition is not None:
        calls.append(Call(player.transition.law, body.block, player.transition.block))
    return calls


def _write_torques(actor: Actor, players: Sequence[Player], call: Caller) -> list[Call]:
    """The torques of players; nothing of those that prescribe motion."""
    return [
        each
        for player in players
        if not isinstance(player, MotionPlayer)
        for each in _write_torque(actor, player, call)
    ]


def _write_torque(actor: Actor, player: Player, call: Caller) -> list[Call]:
    found, body = find_laws(player).get(WRITE), actor.body
    if found is not None:
        return [Call(found[0], body.block, found[1])]
    if type(player).write is Player.write:
        return []
    return [call(actor, check_after(lambda: player.write(body, float(body.block["t"])), actor, player))]


def _limit(actor: Actor) -> list[Call]:
    """Limit torques, which keep joints in their ranges."""
    limits = actor.limits
    return [Call(limits.law, actor.body.block, limits.block)] if limits.count else []


def _post_step(actor: Actor, player: Player, call: Caller) -> list[Call]:
    body = actor.body
    if POST_STEP in find_laws(player):
        return [Call(find_laws(player)[POST_STEP][0], body.block, find_laws(player)[POST_STEP][1])]
    if type(player).post_step is not Player.post_step:
        return [call(actor, lambda: player.post_step(body, float(body.block["t"] + body.dt)))]
    return []


def _write(actor: Actor, k: int, simulation: Simulation, engine: SimulationLaws | None, call: Caller) -> list[Call]:
    """The engine takes poses of given joints, torques and wrenches."""
    body = actor.body.block
    if engine is not None:
        return [Call(law, body, engine.bodies[k]) for law in engine.write]
    return [call(actor, lambda: simulation.write(k, body))]


def _advance(actor: Actor, simulation: Simulation, engine: SimulationLaws | None, call: Caller) -> list[Call]:
    if engine is not None:
        return [Call(engine.step, actor.body.block, engine.scene)]
    return [call(actor, simulation.step)]


def _note_contacts(actors: list[Actor], simulation: Simulation, hits: ContactLog | None, call: Caller) -> list[Call]:
    """Contacts, for the log of hits and for players that need them."""
    from poise.stage.step.kernels import hand_on_contacts

    felt: list[Call] = []
    yielding = [k for k, actor in enumerate(actors) if any(a.claim.yields for a in actor.assignments)]
    pressed = yielding if hits is not None else []
    if hits is not None:
        hits.listen({k: (actors[k].body.pressed, actors[k].body.p) for k in pressed})
        law = simulation.contact_law(hits)
        if law is not None:
            felt.append(Call(law[0], actors[0].body.block, law[1]))
        elif type(simulation).find_contacts is not Simulation.find_contacts:
            felt.append(call(actors[0], lambda: hits.note(simulation, len(actors))))
    felt += [Call(hand_on_contacts, actors[k].body.block, actors[k].coupling.block) for k in pressed]
    for k, actor in enumerate(actors):
        if any(player.needs_contacts for player in actor.players):
            felt.append(call(actor, _tell_touches(actor, simulation, k)))
    return felt


def _tell_touches(actor: Actor, simulation: Simulation, k: int) -> Callable[[], None]:
    needing = [player for player in actor.players if player.needs_contacts]
    listening = [player for player in needing if type(player).on_contacts is not Player.on_contacts]
    feet = list(find_feet(actor))

    def tell() -> None:
        actor.body.touches = simulation.find_contacts(k)
        if listening:
            force = _find_blow(actor, feet)
            for player in listening:
                player.on_contacts(actor.body, force)

    return tell


def _find_blow(actor: Actor, feet: list[int]) -> np.ndarray:
    """Return the force (3,) N on an actor in the last step by pushes and contacts, but not by what its soles press."""
    body, touches = actor.body, actor.body.touches
    t, up = float(body.block["t"]), -body.gravity / max(float(np.linalg.norm(body.gravity)), 1e-9)
    stands = np.isin(touches.joints, feet) & (touches.forces @ up > STANDING * np.linalg.norm(touches.forces, axis=1))
    force = touches.forces[~stands].sum(axis=0)
    for push in actor.pushes:
        if push.start <= t + 1e-9 < push.start + push.seconds:
            force = force + push.force
    return force


def _read(actor: Actor, k: int, simulation: Simulation, engine: SimulationLaws | None, call: Caller) -> list[Call]:
    body = actor.body.block
    if engine is not None:
        return [Call(engine.read, body, engine.bodies[k])]

    def read() -> None:
        simulation.read(k, body)
        if not actor.flight.is_active:  # drivers then take the body for one that something holds
            body.airborne = 0

    return [call(actor, read)]


def _conserve(actor: Actor, k: int, simulation: Simulation, engine: SimulationLaws | None, call: Caller) -> list[Call]:
    """In flight a body keeps its momentum, which an engine follows to first order in the step."""
    from poise.stage.coupling.flight_kernels import conserve

    body, flight = actor.body.block, actor.flight
    if not flight.is_active:
        return []
    flight.list_writes([each for player in actor.assignments.in_order() for each in _write_motion(actor, player, call)])
    if engine is not None and engine.set_root_velocity is not None:
        flight.block.set(
            set_root_velocity=engine.set_root_velocity.address, engine_block=engine.bodies[k].address
        )  # fmt: skip
        return [Call(conserve, body, flight.block)]
    flight.block.set(set_root_velocity=0, engine_block=0)

    def keep() -> None:
        conserve(body, flight.block)
        if body.airborne:
            simulation.set_root_velocity(k, body)

    return [call(actor, keep)]
