"""The state of a stage as plain data, and a stage as it was.

An engine's simulation is a function of what it was asked to build (the pose at that moment is in a model: hinges count
from it) and of its state. Both are saved, so another process that sets the same stage up builds the same simulation
and goes on with the same bits.

An actor's state is its body's, its players', and what must be the same when it is restored.
"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.drivers.driver import MotionPlayer, Player
from poise.drivers.loose.rest import build_still
from poise.engines.engine import BodyContacts
from poise.engines.memory import write_over
from poise.engines.scene import Joint, Scene, SceneBody, Thing
from poise.errors import InputError
from poise.stage.actor_builder import build_actor, describe_at
from poise.stage.attachment import list_free, list_held_shapes
from poise.world.forces import Load, Push
from poise.world.grip import Grip
from poise.world.ground.ground import Ground
from poise.world.overlap import find_shapes
from poise.world.prop import Prop

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.stage import Stage
_KEYS = {
    "steps": int, "engine": str, "settings": dict, "talkers": list, "who": dict, "actors": dict, "groups": list,
    "strangers": np.ndarray,
}  # fmt: skip
_POSE = ("root", "rotations", "velocity", "angular_velocity")
_PLACE = ("position", "turn", "velocity", "spin")


def save_stage(stage: Stage) -> dict[str, Any]:
    """All of a stage that is built."""
    return {
        "steps": stage.steps,
        "engine": stage.engine.name,
        "settings": _tell_settings(stage),
        "talkers": sorted(actor.name for actor in stage.talkers),
        "who": {name: tell_who(actor) for name, actor in stage.actors.items()},
        "actors": {name: save_actor(actor) for name, actor in stage.actors.items()},
        "strangers": stage.company.strange.copy(),
        "groups": [
            {
                "actors": [actor.name for actor in group.actors],
                "built": [_save_body(body) for body in group.scene.bodies],
                "props": [_save_prop(prop) for prop in group.scene.props],
                "time": group.scene.time,
                "meets": np.zeros((0, 0), bool) if group.scene.meets is None else group.scene.meets.copy(),
                "apart": _save_pairs(group.scene),
                "state": group.simulation.save(),
                "began": group.began,
                "hits": None if group.hits is None else group.hits.save(),
            }
            for group in stage.groups
        ],
    }


def check_same(stage: Stage, saved: dict[str, Any]) -> None:
    """Raise InputError unless a state can be restored on this stage."""
    if not (isinstance(saved, dict) and all(isinstance(saved.get(key), kind) for key, kind in _KEYS.items())):
        raise InputError("this is no state of a stage. States are what stage.save() gives and poise.load_state reads.")
    if saved["engine"] != stage.engine.name:
        raise InputError(f"this state is one of engine '{saved['engine']}'; the stage has '{stage.engine.name}'.")
    now = _tell_settings(stage)
    other = next((name for name, value in now.items() if saved["settings"].get(name) != value), None)
    if other is not None:
        raise InputError(
            f"this state was saved on a stage with {other}={saved['settings'].get(other)}; this one has {now[other]}. "
            "Set the same stage up."
        )
    if list(stage.actors) != list(saved["who"]):
        raise InputError("actors joined or left since this state was saved. Save again when they have.")
    for name, who in saved["who"].items():
        present = tell_who(stage.actors[name])
        if not isinstance(who, dict) or any(present[key] != who.get(key) for key in ("drivers", "loads")):
            raise InputError(f"'{name}' has other drivers or loads than when this state was saved. Save again.")
        if not _is_same_body(present["body"], who.get("body")):
            raise InputError(f"'{name}' is another body than when this state was saved. Set the same one up.")


def _tell_settings(stage: Stage) -> dict[str, Any]:
    """What of a stage must be the same when a state is restored, besides who is on it."""
    ground = None if stage.ground is None else _tell_ground(stage.ground)
    names = ("dt", "couple", "gain", "torque_only", "coupling_filter")
    settings = {name: getattr(stage, name) for name in names}
    props = [_tell_prop(prop) for prop in stage.props.values()]
    return {**settings, "gravity": stage.gravity.tolist(), "ground": ground, "props": props, "touch": repr(stage.touch)}


def _tell_prop(prop: Prop) -> str:
    """A prop in words, the same for the same prop: one that moves may be anywhere by now."""
    about: list[Any] = [
        (type(shape).__name__, *(np.asarray(x).tolist() for x in _values(shape))) for shape in prop.shapes
    ]
    if prop.inertia is None:
        about += [prop.position.tolist(), prop.turn.tolist()]
    else:
        about += [np.asarray(x).tolist() for x in _values(prop.inertia)]
    if prop.hinge is not None:
        about += [np.asarray(x).tolist() for x in _values(prop.hinge)]
    about.append(prop.touches)
    return f"{prop.name} ({hashlib.sha256(repr(about).encode()).hexdigest()[:16]})"


def _values(thing: Any) -> list[Any]:
    return [getattr(thing, field.name) for field in dataclasses.fields(thing)]


def _tell_ground(ground: Ground) -> str:
    """A ground in words, the same for the same ground; a map by the sum of its bytes."""
    words = []
    for field in dataclasses.fields(ground):
        value = getattr(ground, field.name)
        if isinstance(value, np.ndarray):
            value = hashlib.sha256(value.tobytes()).hexdigest()[:16]
        words.append(f"{field.name}={_tell_ground(value) if isinstance(value, Ground) else value}")
    return f"{type(ground).__name__}({', '.join(words)})"


def _is_same_body(now: dict[str, Any], saved: Any) -> bool:
    """Whether two bodies are one, round-off aside: another machine may build it a little differently."""
    if not (isinstance(saved, dict) and saved.get("joints") == now["joints"]):
        return False
    pairs = [(now[name], np.asarray(saved.get(name))) for name in ("offsets", "masses")]
    return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-6, atol=1e-9) for a, b in pairs)


def restore_stage(stage: Stage, saved: dict[str, Any]) -> None:
    """Have a stage that is built be as it was."""
    stage.steps = saved["steps"]
    stage.talkers = {stage.actors[name] for name in saved["talkers"]}
    for name, actor in stage.actors.items():
        restore_actor(actor, saved["actors"][name])
    if stage.touch.actors:
        stage.company.set_strangers(list(stage.actors), saved["strangers"])
    before = {tuple(actor.name for actor in group.actors): group for group in stage.groups}
    groups = []
    for each in saved["groups"]:
        group = before.get(tuple(each["actors"]))
        if group is None or not _is_built_alike(group.scene, each):
            actors = [stage.actors[name] for name in each["actors"]]
            group = stage.make_group(actors, _load_scene(stage, actors, each))
        groups.append(group)
    if sorted(name for each in saved["groups"] for name in each["actors"]) != sorted(stage.actors):
        raise InputError("its groups are not of the actors that are here.")
    stage.groups = groups
    for group, each in zip(groups, saved["groups"], strict=True):
        group.simulation.restore(each["state"])
        for actor in group.actors:
            actor.limits.restore(saved["actors"][actor.name]["ranges"])
        group.began = each["began"]
        if group.hits is not None:
            group.hits.restore(each["hits"])
        group.program.refresh()


def _load_scene(stage: Stage, actors: list[Actor], saved: dict[str, Any]) -> Scene:
    """What the engine had been asked to build."""
    bodies = tuple(_load_body(actor, body) for actor, body in zip(actors, saved["built"], strict=True))
    props = tuple(_load_prop(prop, row) for prop, row in zip(list_free(stage), saved["props"], strict=True))
    meets = np.array(saved["meets"], bool) if len(saved["meets"]) else None
    if meets is not None and meets.shape != (len(bodies), len(bodies)):
        raise InputError("who meets whom is said of other actors.")
    scene = Scene(bodies, props, stage.ground, stage.dt, stage.gravity, saved["time"], stage.touch, meets)
    return dataclasses.replace(scene, apart=_load_pairs(scene, saved["apart"]))


def _save_pairs(scene: Scene) -> np.ndarray:
    """(n, 4) body and joint of both things of every pair that is kept apart; a prop is body -1 - k and joint 0."""
    places = {prop.name: k for k, prop in enumerate(scene.props)}
    rows = [[*_number(a, places), *_number(b, places)] for a, b in scene.apart]
    return np.array(rows, np.int64).reshape(-1, 4)


def _number(thing: Thing, places: dict[str, int]) -> tuple[int, int]:
    return (-1 - places[thing], 0) if isinstance(thing, str) else thing


def _load_pairs(scene: Scene, saved: Any) -> tuple[tuple[Thing, Thing], ...]:
    names = [prop.name for prop in scene.props]

    def find(body: int, joint: int) -> Thing:
        if body < 0:
            return names[-1 - body]
        if not 0 <= joint < len(scene.bodies[body].tree):
            raise InputError("it keeps joints apart that are not there.")
        return body, joint

    return tuple((find(a, i), find(b, j)) for a, i, b, j in np.array(saved, np.int64).reshape(-1, 4).tolist())


def _save_body(body: SceneBody) -> dict[str, Any]:
    """What was built of a body, but for what its actor says of it anyway."""
    axes = [(joint.kind, joint.axes, joint.ranges) for joint in body.joints]
    return {
        "kinds": np.array([kind for kind, _, _ in axes]),
        "axes": [array.copy() for _, array, _ in axes],
        "ranges": [array.copy() for _, _, array in axes],
        "shapes": len(body.shapes),
        "is_hard": body.is_hard,
        "pinned": np.array(body.pinned, np.int64),
        **{name: getattr(body, name).copy() for name in _POSE},
    }


def _is_built_alike(scene: Scene, saved: dict[str, Any]) -> bool:
    bodies = zip((_save_body(body) for body in scene.bodies), saved["built"], strict=True)
    props = zip((_save_prop(prop) for prop in scene.props), saved["props"], strict=True)
    meets = np.zeros((0, 0), bool) if scene.meets is None else scene.meets
    if not (np.array_equal(meets, saved["meets"]) and np.array_equal(_save_pairs(scene), saved["apart"])):
        return False
    return all(
        a["shapes"] == b["shapes"]
        and a["is_hard"] == b["is_hard"]
        and all(np.array_equal(a[name], b[name]) for name in ("kinds", "pinned", *_POSE))
        and all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a["ranges"], b["ranges"], strict=True))
        for a, b in bodies
    ) and all(np.array_equal(a[name], b[name]) for a, b in props for name in _PLACE)


def _save_prop(prop: Prop) -> dict[str, np.ndarray]:
    return {name: np.array(getattr(prop, name), float) for name in _PLACE}


def _load_prop(prop: Prop, saved: dict[str, Any]) -> Prop:
    numbers: dict[str, Any] = {name: np.array(saved[name]) for name in _PLACE}
    return dataclasses.replace(prop, **numbers)


def _load_body(actor: Actor, saved: dict[str, Any]) -> SceneBody:
    joints = tuple(
        Joint(int(kind), np.array(axes, float).reshape(-1, 3), np.array(ranges, float).reshape(-1, 2))
        for kind, axes, ranges in zip(saved["kinds"], saved["axes"], saved["ranges"], strict=True)
    )
    models = actor.find_models()
    bends_toes = any(model.bends_toes for _, model in models)
    wholes = (find_shapes(actor.character, whole, bends_toes) for whole in (False, True))
    sets = {len(shapes): shapes for shapes in ((), *wholes)}
    pose = {name: np.array(saved[name]) for name in _POSE}
    own = max(0, int(saved["shapes"]) - len(list_held_shapes(actor)))
    return describe_at(actor, models, joints, pose, sets[own], bool(saved["is_hard"]))


def save_actor(actor: Actor) -> dict[str, Any]:
    """All of it."""
    return {
        "numbers": {name: array.copy() for name, array in _list_numbers(actor).items()},
        "fallen": actor.fallen,
        "start_height": actor.start_height,
        "limp": actor.limp,
        "still": None if actor.still is None else actor.still.describe(),
        "players": [player.save() for player in actor.players],
        "transitions": [_save_transition(player) for player in actor.players],
        "ranges": actor.limits.save(),
        "aloft": actor.body.block.airborne,
        "touches": actor.body.touches.save() if any(player.needs_contacts for player in actor.players) else None,
        "held": {str(joint): aim.copy() for joint, aim in actor.body.held.items()},
        "taking_part": actor.body.taking_part.save(),
        "pushes": [
            {"joint": push.joint, "force": list(push.force), "seconds": push.seconds, "start": push.start}
            for push in actor.pushes
        ],
    }


def _save_transition(player: Player) -> dict[str, Any] | None:
    left = player.transition if isinstance(player, MotionPlayer) else None
    return None if left is None else {name: array.copy() for name, array in left.numbers().items()}


def _restore_transition(player: Player, saved: dict[str, Any] | None) -> None:
    if not isinstance(player, MotionPlayer):
        return
    if saved is None:
        player.transition = None
        return
    player.transition = player.transition or player._make_transition(None)
    write_over(player.transition.numbers(), saved)


def restore_actor(actor: Actor, saved: dict[str, Any]) -> None:
    """Have an actor be again what was saved, under the same drivers."""
    actor.fallen, actor.start_height = saved["fallen"], saved["start_height"]
    actor.body.block.request = 0
    actor.body.block.airborne = int(saved.get("aloft", 0))
    write_over(_list_numbers(actor), saved["numbers"])
    if actor.set_limp(list(saved.get("limp", []))):
        build_actor(actor, actor.stage.time, starting=False)
        write_over(_list_numbers(actor), saved["numbers"])
    actor.still = build_still(actor.body, saved.get("still"))
    for player, data in zip(actor.players, saved["players"], strict=True):
        player.restore(data)
    for player, left in zip(actor.players, saved["transitions"], strict=True):
        _restore_transition(player, left)
    actor.body.taking_part.restore(saved.get("taking_part"))
    actor.body.touches = BodyContacts.none() if saved["touches"] is None else BodyContacts.load(saved["touches"])
    actor.body.held = {int(joint): np.array(aim) for joint, aim in saved["held"].items()}
    if actor.rest is not None:  # its own, which give way where it is limp
        actor.body.held |= {int(joint): actor.rest.aim[k] for k, joint in enumerate(actor.rest.joints)}
    actor.pushes[:] = [Push(**push) for push in saved["pushes"]]
    for push in actor.pushes:
        actor.stage.expect(push.start + push.seconds, actor)


def tell_who(actor: Actor) -> dict[str, Any]:
    """Who drives it and what it holds: what must be the same when a state is restored."""
    tree = actor.body.tree
    held: list[Load | Grip] = [*actor.loads, *actor.grips]
    return {
        "drivers": [
            [a.part, type(a.driver).__name__, list(a.claim.moved), list(a.claim.held)]
            for a in (each.before or each for each in actor.assignments)
        ],
        "loads": [[load.joint, float(load.mass), *map(float, load.offset)] for load in held],
        "body": {"joints": list(tree.names), "offsets": tree.offsets.copy(), "masses": tree.masses.copy()},
    }


def _list_numbers(actor: Actor) -> dict[str, np.ndarray]:
    body, state, coupled = actor.body, actor.body.state, actor.coupling
    return {
        "root": state.root, "q": state.q, "v": state.v, "w": state.w, "dw": body.dw, "a": body.a,
        "w_before": body.w_before, "v_before": body.v_before, "torque": body.torque, "damping": body.damping,
        "al": coupled.al, "acc": coupled.acc, "coupling": body.coupling, "kept": actor.flight.target,
        "share": coupled.filter_factor, "carried": coupled.inertia, "tied": coupled.trunk_damping,
        "strained": actor.effort.strained, "began": actor.effort.began, "lean": body.lean,
    }  # fmt: skip
