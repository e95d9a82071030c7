"""Contact pairs of one simulation: which actors collide, with which of their shapes, and which pairs do not."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.body.geometry.primitives import Shape
from poise.body.roles import PARTS
from poise.engines.scene import Scene, SceneBody, Thing
from poise.errors import InputError, unknown_name
from poise.motion.parts import part_joints
from poise.stage.attachment import list_free
from poise.stage.groups.proximity import goes_after, list_ghosts
from poise.world.contact_settings import PHYSICAL
from poise.world.overlap import (
    Lines,
    build_lines,
    find_deep,
    find_deep_joints,
    find_neighbours,
    find_shapes,
    place_shape,
)
from poise.world.prop import Prop

if TYPE_CHECKING:
    from poise.drivers.driver import BodyModel
    from poise.stage.actor import Actor
    from poise.stage.stage import Stage
_TOUCH = 0.001  # m: segments of a body that are deeper in one another would be pushed apart at once by 0.1 m/s or more
# A segment or a prop by names: (actor, joint), or ("", prop).
Named = tuple[str, int | str]


def choose_shapes(actor: Actor, models: list[BodyModel], in_company: bool) -> tuple[tuple[int, Shape], ...]:
    """Return the collision shapes of an actor.

    While a body stands on its soles and there is only the ground, the step is a fifth quicker without the other shapes.
    A body that is entirely prescribed touches only what can be moved.

    models      the engine's model that each of its players needs
    in_company  whether there are other actors, or props that move, in its simulation
    """
    if actor.given.all() and not in_company:
        return ()
    stands = any(model.soles_only for model in models)
    soles_only = stands and not (in_company or actor.stage.props or is_loose(actor))
    return find_shapes(actor.character, not soles_only, any(model.bends_toes for model in models))


def is_loose(actor: Actor) -> bool:
    """Return whether anything is physical besides legs that stand and what is held firmly on them."""
    if actor.given.all():
        return False
    standing = actor.assignments.find_standing()
    if not standing:
        return True
    # with what is between the root and the legs: it is stiff
    chain = actor.character.skeleton.chain
    firm = {0, *(i for player in standing for joint in player.joints for i in chain(int(joint)))}
    if actor.assignments.rest is not None:
        firm |= {int(i) for i in actor.assignments.rest.joints}
    return any(i not in firm for i in np.flatnonzero(~actor.given))


def find_meets(stage: Stage, actors: Sequence[Actor]) -> np.ndarray | None:
    """Return `Scene.meets` (B, B) bool; None if no actor touches itself or another."""
    touch, count = stage.touch, len(actors)
    meets = np.zeros((count, count), bool)
    if touch.actors and count > 1:
        still = np.array([bool(actor.given.all()) for actor in actors])
        meets = ~stage.simulations.proximity.find_ignored(actors) & ~(still[:, None] & still[None, :])
    for k, actor in enumerate(actors):
        meets[k, k] = bool(touch.itself) and is_loose(actor)
    return meets if meets.any() else None


def find_apart(
    stage: Stage, actors: Sequence[Actor], scene: Scene, kept: Collection[frozenset[Named]] | None
) -> tuple[tuple[Thing, Thing], ...]:
    """Return the pairs that do not touch: neighbours, segments deep in one another now, and those that a user chose.

    Unless the stage's touch asks for them, segments whose motion is given do not touch their own body either.
    Segments of a body that begin inside one another, or one of which becomes physical there, stay apart until it is
    built anew: nothing is flung out, and thighs that a recorded stance has in one another do not push the feet apart.

    kept  of a scene that goes on with other company: what was deep in one another there. None: it begins anew
    """
    found: set[tuple[Thing, Thing]] = set()
    if scene.meets is not None:
        placed = [_place(actor, body.shapes) for actor, body in zip(actors, scene.bodies, strict=True)]
        for i, j in zip(*np.nonzero(np.triu(scene.meets)), strict=True):
            if i == j:
                found |= _list_own(stage, actors[i], scene, int(i), placed[i])
            deep = {((int(i), a), (int(j), b)) for a, b in find_deep(placed[i], placed[j]) if i != j or a < b}
            found |= {pair for pair in deep if kept is None or _name_pair(pair, actors) in kept}
    found |= _list_within(actors, scene)
    found |= _list_named(stage, actors, scene)
    found |= _list_ghosts(stage, actors, scene)
    found |= _list_unchosen(stage, actors, scene)
    return tuple(sorted(found, key=repr))


def _list_own(stage: Stage, actor: Actor, scene: Scene, index: int, placed: Lines) -> set[tuple[Thing, Thing]]:
    """Pairs of a body's own segments: neighbours, prescribed segments, and those that begin inside one another."""
    touching = {joint for joint, _ in scene.bodies[index].shapes}
    found: set[tuple[Thing, Thing]] = {
        ((index, a), (index, b)) for a, b in find_neighbours(actor.character) if {a, b} <= touching
    }
    if stage.touch.itself == PHYSICAL and not stage.touch.only:
        found |= _list_given(scene, index)
    inside = {(a, b) for a, b in find_deep(placed, placed, _TOUCH) if a < b}
    return found | {((index, a), (index, b)) for a, b in inside if not _could_touch(stage, actor, a, b)}


def _list_given(scene: Scene, index: int) -> set[tuple[Thing, Thing]]:
    """Pairs of a body's segments of which one has a joint whose motion is given, but for what hangs loose on that one.

    A motion that takes a hand through a thigh is not to push the thigh; an arm that hangs loose on an animated chest is
    not to go through it.
    """
    body = scene.bodies[index]
    touching = sorted({joint for joint, _ in body.shapes})
    return {
        ((index, a), (index, b))
        for a, b in itertools.combinations(touching, 2)  # a comes before b, so it is b that may hang on a
        if body.joints[b].is_given or (body.joints[a].is_given and a not in _list_carriers(body, b))
    }


def _could_touch(stage: Stage, actor: Actor, a: int, b: int) -> bool:
    """Return whether two segments of an actor could touch in its present simulation, if it has one.

    Those of a body that is let go as a whole could, but for its motion.
    """
    for group in stage.groups:
        if actor in group.actors:
            k, scene = group.actors.index(actor), group.scene
            touching = {joint for joint, _ in scene.bodies[k].shapes}
            pair, joints = ((k, a), (k, b)), scene.bodies[k].joints
            if joints[a].is_given and joints[b].is_given:
                return True
            return {a, b} <= touching and _can_touch(pair, scene) and pair not in scene.apart
    return False


def _list_carriers(body: SceneBody, joint: int) -> list[int]:
    """The joints on the way from one to the root."""
    found = []
    while (joint := int(body.tree.parents[joint])) >= 0:
        found.append(joint)
    return found


def _name_pair(pair: tuple[Thing, Thing], actors: Sequence[Actor]) -> frozenset[Named]:
    """Return a pair of things by names, which stay the same in other groups."""
    return frozenset(("", thing) if isinstance(thing, str) else (actors[thing[0]].name, thing[1]) for thing in pair)


def name_apart(scene: Scene, actors: Sequence[Actor]) -> set[frozenset[Named]]:
    """Return the pairs that do not touch in a scene, by names."""
    return {_name_pair(pair, actors) for pair in scene.apart}


def _place(actor: Actor, shapes: tuple[tuple[int, Shape], ...]) -> Lines:
    """A body's shapes where they are, found without touching the body: what its laws have in it stays."""
    from poise.dynamics.body_kernels import pose_bodies

    tree, state = actor.body.tree, actor.body.state
    R, p = np.zeros((len(tree), 3, 3)), np.zeros((len(tree), 3))
    pose_bodies(tree.parents, tree.offsets, state.root, state.q, R, p)
    return build_lines(shapes).placed(R, p)


def _list_within(actors: Sequence[Actor], scene: Scene) -> set[tuple[Thing, Thing]]:
    """Props that move, with the segments that they are deep in: one that a hand has just let go of."""
    found: set[tuple[Thing, Thing]] = set()
    for prop in scene.props:
        if prop.inertia is not None and prop.touches and scene.touch.props:
            for k, (actor, body) in enumerate(zip(actors, scene.bodies, strict=True)):
                deep = find_within(prop, actor, body.shapes)
                found |= {((k, joint), prop.name) for joint in deep}
    return found


def find_within(prop: Prop, actor: Actor, shapes: tuple[tuple[int, Shape], ...]) -> dict[int, float]:
    """Joints of an actor that a prop is deep in, and how deep (m)."""
    from poise.dynamics.body_kernels import pose_bodies

    tree, state = actor.body.tree, actor.body.state
    R, p = np.zeros((len(tree), 3, 3)), np.zeros((len(tree), 3))
    pose_bodies(tree.parents, tree.offsets, state.root, state.q, R, p)
    return find_deep_joints([place_shape(shape, prop.turn, prop.position) for shape in prop.shapes], shapes, R, p)


def check_clear(stage: Stage, actors: Sequence[Actor]) -> None:
    """Raise InputError if an actor that begins stands in a prop that it could touch."""
    for actor in actors:
        for prop in list_free(stage) if stage.touch.props else ():
            if not prop.touches or actor.given.all() or actor.assignments.rides_on == prop.name:
                continue
            deep = find_within(prop, actor, find_shapes(actor.character, True))
            for joint, depth in deep.items():
                if _is_named(stage.touch.apart, prop, actor, joint):
                    continue
                if not stage.touch.only or _is_named(stage.touch.only, prop, actor, joint):
                    label = actor.character.skeleton.labels[joint]
                    raise InputError(
                        f"'{prop.name}' is {1e3 * depth:.0f} mm deep in {label} of '{actor.name}' at the start. Move "
                        f"one of the two, or keep them apart: ContactSettings(apart=(('{prop.name}', '{label}'),))."
                    )


def _is_named(pairs: Sequence[tuple[str, str]], prop: Prop, actor: Actor, joint: int) -> bool:
    """Whether a prop and a joint of an actor are a pair of names."""
    others = [b if a == prop.name else a for a, b in pairs if prop.name in (a, b)]
    return any(joint in _find_joints(other, actor) for other in others)


def _list_named(stage: Stage, actors: Sequence[Actor], scene: Scene) -> set[tuple[Thing, Thing]]:
    """The pairs that the stage's touch keeps apart by their names."""
    return _find_pairs(stage.touch.apart, actors, scene)


def _list_unchosen(stage: Stage, actors: Sequence[Actor], scene: Scene) -> set[tuple[Thing, Thing]]:
    """Where the stage's touch says what touches only: all other pairs, but for props among themselves."""
    if not stage.touch.only:
        return set()
    bodies: list[Thing] = [
        (k, i) for k, body in enumerate(scene.bodies) for i in sorted({joint for joint, _ in body.shapes})
    ]
    others: list[Thing] = [*bodies, *(prop.name for prop in scene.props if prop.touches)]
    pairs = {(a, b) if repr(a) < repr(b) else (b, a) for a in bodies for b in others if a != b}
    chosen = _find_pairs(stage.touch.only, actors, scene)
    return {pair for pair in pairs if _can_touch(pair, scene)} - chosen


def _find_pairs(named: Sequence[tuple[str, str]], actors: Sequence[Actor], scene: Scene) -> set[tuple[Thing, Thing]]:
    """Pairs of things that could touch, by pairs of names."""
    found: set[tuple[Thing, Thing]] = set()
    for one, other in named:
        mine, others = _find_things(one, actors, scene), _find_things(other, actors, scene)
        pairs = {(a, b) if repr(a) < repr(b) else (b, a) for a in mine for b in others if a != b}
        found |= {pair for pair in pairs if _can_touch(pair, scene)}
    return found


def _list_ghosts(stage: Stage, actors: Sequence[Actor], scene: Scene) -> set[tuple[Thing, Thing]]:
    """Props that move, with all actors whose roots follow another; every prop, with the ghosts of shadows."""
    pairs, ghosts = set[tuple[Thing, Thing]](), list_ghosts(stage.actors.values())
    for k, actor in enumerate(actors):
        haunts = actor.name in ghosts
        if haunts or goes_after(actor, stage.actors.values()):
            things = [prop.name for prop in scene.props if haunts or prop.inertia is not None]
            pairs |= {((k, joint), thing) for joint, _ in scene.bodies[k].shapes for thing in things}
    return {(a, b) if repr(a) < repr(b) else (b, a) for a, b in pairs}


def _can_touch(pair: tuple[Thing, Thing], scene: Scene) -> bool:
    a, b = pair
    if isinstance(a, str) or isinstance(b, str):
        return True
    return scene.meets is not None and bool(scene.meets[a[0], b[0]])


def _find_things(name: str, actors: Sequence[Actor], scene: Scene) -> set[Thing]:
    found: set[Thing] = {prop.name for prop in scene.props if prop.name == name}
    for k, actor in enumerate(actors):
        # what somebody holds is one with his hand
        found |= {(k, actor.skeleton.index(grip.joint)) for grip in actor.grips if grip.prop.name == name}
        touching = {joint for joint, _ in scene.bodies[k].shapes}
        found |= {(k, joint) for joint in _find_joints(name, actor) if joint in touching}
    return found


def _find_joints(name: str, actor: Actor) -> Collection[int]:
    """Return an actor's joints by a name: its own, actor/joint, a joint or a part."""
    return range(len(actor.skeleton)) if name == actor.name else _find_segments(name, actor)


def _find_segments(name: str, actor: Actor) -> Collection[int]:
    """Return an actor's joints by the name of a part or a joint: actor/joint, or one that every actor may have."""
    skeleton = actor.skeleton
    for word in (name.removeprefix(f"{actor.name}/"), name):
        try:
            return part_joints(skeleton, word if word in PARTS else [word])
        except InputError:
            continue
    return ()


def check_apart(stage: Stage, actors: Collection[Actor], props: Collection[Prop]) -> None:
    """Raise InputError if the touch of a stage names what does not exist, or two things by one name."""
    touch = stage.touch
    for name in sorted({name for pair in (*touch.apart, *touch.only) for name in pair}):
        _check_one(name, actors, props)
        if any(prop.name == name for prop in props) or any(_find_joints(name, actor) for actor in actors):
            continue
        joints = {label: None for actor in actors for label in actor.character.skeleton.labels}
        known = [*(actor.name for actor in actors), *(prop.name for prop in props), *PARTS, *joints]
        what = "thing that stays apart" if any(name in pair for pair in touch.apart) else "thing that touches"
        raise unknown_name(what, name, known, "this stage")


def _check_one(name: str, actors: Collection[Actor], props: Collection[Prop]) -> None:
    """Raise InputError where a name means two things of: an actor, a prop, a part or joint that actors have."""
    segments = {(actor.name, int(joint)) for actor in actors for joint in _find_segments(name, actor)}
    whole = {(actor.name, joint) for actor in actors if actor.name == name for joint in range(len(actor.skeleton))}
    meanings = ["an actor"] * bool(whole) + ["a prop"] * any(prop.name == name for prop in props)
    if segments and (segments != whole or len(meanings) > 1):
        meanings.append("a part or joint that every actor may have")
    if len(meanings) > 1:
        raise InputError(
            f"a name in the touch of a stage must mean one thing; '{name}' is {' and '.join(meanings)}. Give "
            f"the {meanings[0].split()[1]} another name."
        )
