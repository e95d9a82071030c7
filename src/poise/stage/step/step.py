"""The step of the bodies that one simulation moves: the list of laws that runs.

Players, the coupling and the engine each append their calls: compiled laws where they have them, Python callbacks
otherwise. Nothing else moves a body.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from poise.drivers.checks import find_laws
from poise.drivers.driver import POST_STEP, WRITE, MotionPlayer, Player
from poise.engines.contact_log import ContactLog
from poise.engines.engine import Simulation, SimulationLaws
from poise.stage.monitor.events import STANDING, find_feet
from poise.stage.monitor.health import check_after
from poise.stage.step import substeps
from poise.stage.step.call import Call, build_table

if TYPE_CHECKING:
    from poise.stage.actor import Actor
# Makes an entry of a Python function that is to be called for an actor.
Caller = Callable[["Actor", Callable[[], None]], Call]


def list_step(
    actors: list[Actor], simulation: Simulation, engine: SimulationLaws | None, hits: ContactLog | None, call: Caller
) -> list[Call]:
    """The step.

    engine  the simulation's own laws, where it has any
    hits    who follows its contacts; None: there is nothing to hit
    """
    from poise.stage.step import kernels as laws

    step: list[Call] = []
    again: list[Call] = []
    asking: list[Callable[[Simulation, float], None]] = []
    for k, actor in enumerate(actors):
        body, (couple, coupling) = actor.body.block, actor.find_coupling(simulation.couples(k))
        step.append(Call(laws.start_clock, body, coupling))
        actor.body.move_pin = partial(simulation.move_pin, k)
        # 1. kinematic drivers: q, w and dw at mid-step
        for player in actor.assignments.in_order():
            step += _write_motion(actor, player, call)
        # 2. what that puts on the connectors; pushes
        step.append(Call(couple, body, coupling))
        if actor.pushes:
            step.append(Call(laws.push, body, coupling))
        # 3. physical drivers: torques
        step.append(Call(laws.clear_commands, body, coupling))
        renewed = substeps.list_renewed(actor, simulation, engine)
        for player in actor.players:
            step += _write_torques(actor, player, call) if player not in renewed else []
        limits = [Call(laws.damp_overspeed, body, coupling), *_limit(actor)]
        anew = [each for player in renewed for each in _write_torques(actor, player, call)]
        if engine is not None and engine.substep is not None:
            step.append(kept := substeps.keep_commands(actor, engine.substep))
            again += substeps.list_substep(engine, k, kept, limits)
        elif renewed:
            kept, ask = substeps.build_substep(k, actor, anew + limits)
            step.append(kept)
            again.append(kept)
            asking.append(ask)
        step += anew + limits
        step += _take(actor, k, simulation, engine, call)
    # 4. the engine moves the physical parts; where it cuts the step, some are asked again in its middle
    if engine is not None and engine.substep is not None:
        engine.substep.set(rows=build_table(again), count=len(again))
    simulation.ask_again = asking
    step += _advance(actors[0], simulation, engine, call)
    step += substeps.end_substeps(again)
    step += _feel(actors, simulation, hits, call)
    for k, actor in enumerate(actors):
        # 5. states are read; kinematic parts are set where they are when somebody looks
        step += _read(actor, k, simulation, engine, call)
        if actor.flight.is_active:
            step += _conserve(actor, k, simulation, engine, call)
        for player in actor.assignments.in_order():
            step += _post_step(actor, player, call)
        if actor.stage.couple == "paper":
            step.append(Call(laws.differentiate, actor.body.block, actor.coupling.block))
        step.append(Call(laws.advance_clock, actor.body.block, actor.coupling.block))
    return step


def list_writes(actor: Actor, call: Caller) -> list[Call]:
    """What puts an actor's prescribed joints where they are at its body's time, in its state."""
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


def _write_torques(actor: Actor, player: Player, call: Caller) -> list[Call]:
    """The torques of a player; nothing of a motion."""
    if isinstance(player, MotionPlayer):
        return []
    found, body = find_laws(player).get(WRITE), actor.body
    if found is not None:
        return [Call(found[0], body.block, found[1])]
    if type(player).write is Player.write:
        return []
    return [call(actor, check_after(lambda: player.write(body, float(body.block["t"])), actor, player))]


def _limit(actor: Actor) -> list[Call]:
    """What keeps joints in their ranges, whoever drives them."""
    limits = actor.limits
    return [Call(limits.law, actor.body.block, limits.block)] if limits.count else []


def _post_step(actor: Actor, player: Player, call: Caller) -> list[Call]:
    body = actor.body
    if POST_STEP in find_laws(player):
        return [Call(find_laws(player)[POST_STEP][0], body.block, find_laws(player)[POST_STEP][1])]
    if type(player).post_step is not Player.post_step:
        return [call(actor, lambda: player.post_step(body, float(body.block["t"] + body.dt)))]
    return []


def _take(actor: Actor, k: int, simulation: Simulation, engine: SimulationLaws | None, call: Caller) -> list[Call]:
    """Places, torques and wrenches of one actor to the engine."""
    if engine is not None:
        laws = [engine.take] if engine.move is None else [engine.take, engine.move]
        return [Call(law, actor.body.block, engine.bodies[k]) for law in laws]
    body, is_axial = actor.body, actor.stage.engine.abilities.axial

    def take() -> None:
        simulation.place(k, body.state)
        if actor.stage.engine.abilities.stops:
            simulation.stop(k, body.stops)
        simulation.apply(k, body.torque, body.damping, body.wrench, *([body.axial] if is_axial else ()))
        for joint in body.nudged.nonzero()[0] if actor.stage.engine.abilities.nudges else ():
            simulation.nudge(k, int(joint), body.nudges[joint])
        if actor.stage.engine.abilities.speeds:
            simulation.speed(k, body.state, body.dw, body.a)

    return [call(actor, take)]


def _advance(actor: Actor, simulation: Simulation, engine: SimulationLaws | None, call: Caller) -> list[Call]:
    if engine is not None:
        return [Call(engine.step, actor.body.block, engine.scene)]
    return [call(actor, simulation.step)]


def _feel(actors: list[Actor], simulation: Simulation, hits: ContactLog | None, call: Caller) -> list[Call]:
    """What touches what, for the log of hits and for players that want to know."""
    from poise.stage.step.kernels import hand_on_contacts

    felt: list[Call] = []
    yielding = [k for k, actor in enumerate(actors) if any(a.claim.yields for a in actor.assignments)]
    pressed = yielding if hits is not None else []
    if hits is not None:
        hits.listen({k: (actors[k].body.pressed, actors[k].body.p) for k in pressed})
        law = simulation.feel(hits)
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
    if engine is not None:
        return [Call(engine.read, actor.body.block, engine.bodies[k])]
    return [call(actor, lambda: simulation.read(k, actor.body.state))]


def _conserve(actor: Actor, k: int, simulation: Simulation, engine: SimulationLaws | None, call: Caller) -> list[Call]:
    """In flight a body keeps its momentum, which an engine follows to first order in the step."""
    from poise.stage.coupling.flight_kernels import conserve

    body, flight = actor.body, actor.flight
    writes = [each for player in actor.assignments.in_order() for each in _write_motion(actor, player, call)]
    flight.list_writes(writes)
    if engine is not None and engine.steer is not None:
        flight.block.set(set_root_velocity=engine.steer.address, engine_block=engine.bodies[k].address)
        return [Call(conserve, body.block, flight.block)]
    flight.block.set(set_root_velocity=0, engine_block=0)

    def keep() -> None:
        body.block.airborne = simulation.is_aloft(k)
        body.block.external_wrench[:] = simulation.find_outside(k) if body.block.airborne else 0.0
        conserve(body.block, flight.block)
        if body.block.airborne:
            simulation.steer(k, body.state)

    return [call(actor, keep)]
