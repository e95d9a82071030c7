"""Attachment: props in hands, and roots that ride on props.

A prop in a hand is a part of the hand's body until it is dropped.

A root that is to ride on a moving prop takes its velocity immediately, and so does the entire body.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.geometry.primitives import Shape
from poise.drivers.body import Body
from poise.engines.engine import PropState
from poise.errors import InputError, unknown_name
from poise.spatial import rotation
from poise.world.grip import ACROSS, Grip, find_fist
from poise.world.prop import Prop

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.stage import Stage
FAR = 0.3  # m from the joint to the prop's nearest point, at most, to take it up: no hand reaches farther


def find_holder(stage: Stage, name: str) -> tuple[Actor, Grip] | None:
    """Return the actor that holds a prop, and its grip; None if the prop is free."""
    for actor in stage.actors.values():
        for grip in actor.grips:
            if grip.prop.name == name:
                return actor, grip
    return None


def check_free(stage: Stage, name: str) -> None:
    """Raise InputError if an actor holds the prop that another is to ride on."""
    holder = find_holder(stage, name)
    if holder is not None:
        raise InputError(
            f"'{name}' is held by {holder[1].joint} of '{holder[0].name}', and nobody rides on what is in a hand. Have "
            "it dropped first."
        )


def list_free(stage: Stage) -> list[Prop]:
    """Return the props that no actor holds."""
    held = {grip.prop.name for actor in stage.actors.values() for grip in actor.grips}
    return [prop for name, prop in stage.props.items() if name not in held]


def make_grip(actor: Actor, joint: str, name: str, place: Any, turn: Any) -> Grip:
    """A prop in a hand of an actor, from now on: in the fist, or where they are when the stage runs."""
    stage, skeleton = actor.stage, actor.character.skeleton
    index = skeleton.index(joint)
    if not isinstance(name, str) or name not in stage.props:
        raise unknown_name("prop", str(name), stage.props, "this stage")
    holder = find_holder(stage, name)
    if holder is not None:
        raise InputError(f"'{name}' is held by {holder[1].joint} of '{holder[0].name}' already. Have it dropped first.")
    rider = next((each for each in stage.actors.values() if each.assignments.rides_on == name), None)
    if rider is not None:
        raise InputError(f"'{rider.name}' rides on '{name}', so no hand can take it. Drive its root otherwise first.")
    prop = stage.props[name]
    grip = Grip(joint, prop)  # raises where it cannot be held
    if not actor.started:
        where = find_fist(actor.character, joint) if place is None else place
        return Grip(joint, prop, where, ACROSS if turn is None else turn)
    if place is not None or turn is not None:
        raise InputError(f"'{name}' is taken up where it is while the stage runs. Leave out its place and its turn.")
    now = stage.read_prop(name)
    R, p = _find_bodies(actor)[:2]
    gap = _find_gap(grip.prop, now, p[index])
    if gap > FAR:
        raise InputError(
            f"'{name}' is {gap:.2g} m from {joint} of '{actor.name}'; it can be taken up from {FAR:g} m at most."
        )
    back = rotation.conjugate(rotation.from_matrix(R[index]))
    return Grip(joint, prop, rotation.rotate(back, now.position - p[index]), rotation.multiply(back, now.turn))


def find_held(actor: Actor, grip: Grip) -> PropState:
    """Return pose and velocity of a prop in a hand now, with prescribed joints at the present time."""
    i = actor.character.skeleton.index(grip.joint)
    with actor.body.preserved():
        if actor.started:
            actor.show(actor.stage.time)
        R, p, om, v = _find_bodies(actor)
    position, turn = grip.follow(R[i], p[i])
    return PropState(position, turn, v[i] + np.cross(om[i], position - p[i]), om[i].copy())


def let_fall(actor: Actor, grips: Iterable[Grip]) -> None:
    """Free props that were held, at their present poses and velocities."""
    for grip in grips:
        position, turn, velocity, spin = find_held(actor, grip)
        actor.stage.props[grip.prop.name] = dataclasses.replace(
            grip.prop, position=position, turn=turn, velocity=velocity, spin=spin
        )


def list_held_shapes(actor: Actor) -> tuple[tuple[int, Shape], ...]:
    """Return (joint index, shape) for every collision shape that the actor holds."""
    index = actor.character.skeleton.index
    return tuple((index(grip.joint), shape) for grip in actor.grips for shape in grip.shapes)


def _find_bodies(actor: Actor) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """R, p, om, v of all bodies from the state, found without touching the body: what its laws have in it stays."""
    from poise.dynamics.body_kernels import move_bodies, pose_bodies

    tree, state = actor.body.tree, actor.body.state
    R, p, om, v = (np.zeros((len(tree), *size)) for size in ((3, 3), (3,), (3,), (3,)))
    pose_bodies(tree.parents, tree.offsets, state.root, state.q, R, p)
    move_bodies(tree.parents, R, p, state.v, state.w, om, v)
    return R, p, om, v


def _find_gap(prop: Prop, now: PropState, point: np.ndarray) -> float:
    """m from a point to the nearest of a prop's shapes; to its frame where it has none."""
    from poise.world.overlap import find_depth

    seen = rotation.rotate(rotation.conjugate(now.turn), point - now.position)
    return min((-find_depth(shape, seen)[0] for shape in prop.shapes), default=float(np.linalg.norm(seen)))


MOST_JUMP = 10.0  # m/s, of any point of the body: faster than anybody jumps on anything


def check_boarding(body: Body, prop: str, name: str) -> None:
    """Raise InputError where a root that rides on a prop from now on would jump to another speed, or be flung off.

    As fast as the prop is where the root is now, and half a body's height from there.
    """
    seat, state = body.read_prop(prop), body.state
    arm = state.root - seat.position
    jump = float(np.linalg.norm(seat.velocity + np.cross(seat.spin, arm) - state.v))
    turn = float(np.linalg.norm(seat.spin - rotation.rotate(state.q[0], state.w[0])))
    fast = jump + 0.5 * body.character.height * turn
    if not fast <= MOST_JUMP:
        raise InputError(
            f"'{prop}' is {np.linalg.norm(arm):.2g} m from the root of '{name}' and turns at "
            f"{np.linalg.norm(seat.spin):.2g} rad/s: who rides on it from now on would be faster by {fast:.3g} m/s at "
            f"once, and {MOST_JUMP:g} is the most. Have it slower, or nearer."
        )
