"""The state of a stage as plain data: saved, and restored.

An engine's simulation is a function of the scene that it was built from (the pose at that time is in a model: hinges
count from it) and of its state. Both are saved, so another process that sets the same stage up builds the same
simulation and continues with the same bits.

An actor's state is that of its body and players, with what must be the same when it is restored.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
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
from poise.world.overlap import find_shapes
from poise.world.prop import Prop

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.groups.groups import Group
    from poise.stage.stage import Stage
_KEYS = {
    "steps": int, "engine": str, "settings": dict, "talkers": list, "who": dict, "actors": dict, "groups": list,
    "strangers": np.ndarray,
}  # fmt: skip
_POSE = ("root", "rotations", "velocity", "angular_velocity")
_PLACE = ("position", "turn", "velocity", "spin")


def save_stage(stage: Stage) -> dict[str, Any]:
    """Return the state of a stage that is built."""
    return {
        "steps": stage.steps,
        "engine": stage.engine.name,
        "settings": _describe_settings(stage),
        "talkers": sorted(actor.name for actor in stage.loop.reporting),
        "who": {name: describe_actor_setup(actor) for name, actor in stage.actors.items()},
        "actors": {name: save_actor(actor) for name, actor in stage.actors.items()},
        "strangers": stage.simulations.proximity.ignores.copy(),
        "groups": [
            {
                "actors": [actor.name for actor in group.actors],
                **_save_scene(group.scene),
                "time": group.scene.time,
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
    now = _describe_settings(stage)
    other = next((name for name, value in now.items() if saved["settings"].get(name) != value), None)
    if other is not None:
        raise InputError(
            f"this state was saved on a stage with {other}={saved['settings'].get(other)}; this one has {now[other]}. "
            "Set the same stage up."
        )
    if list(stage.actors) != list(saved["who"]):
        raise InputError("actors joined or left since this state was saved. Save again when they have.")
    for name, who in saved["who"].items():
        present = describe_actor_setup(stage.actors[name])
        if not isinstance(who, dict) or any(present[key] != who.get(key) for key in ("drivers", "loads")):
            raise InputError(f"'{name}' has other drivers or loads than when this state was saved. Save again.")
        if not _is_same_body(present["body"], who.get("body")):
            raise InputError(f"'{name}' is another body than when this state was saved. Set the same one up.")


def _describe_settings(stage: Stage) -> dict[str, Any]:
    """Return what must be the same when a state is restored, besides the actors."""
    names = ("dt", "couple", "gain", "torque_only", "coupling_filter")
    props = {prop.name: _fingerprint(prop, () if prop.inertia is None else _PLACE) for prop in stage.props.values()}
    return {
        **{name: getattr(stage, name) for name in names},
        "gravity": stage.gravity.tolist(),
        "ground": None if stage.ground is None else f"{type(stage.ground).__name__} ({_fingerprint(stage.ground)})",
        "props": [f"{name} ({found})" for name, found in props.items()],
        "touch": repr(stage.touch),
    }


def _fingerprint(description: Any, without: Sequence[str] = ()) -> str:
    """Return a text that is equal for equal descriptions (dataclasses of numbers and arrays), without some fields."""
    return hashlib.sha256(repr(_flatten(description, without)).encode()).hexdigest()[:16]


def _flatten(value: Any, without: Sequence[str] = ()) -> Any:
    """Return a value as nested lists of numbers and strings."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in dataclasses.fields(value) if each.name not in without]
        return [type(value).__name__, *(_flatten(getattr(value, name)) for name in names)]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
    return [_flatten(each) for each in value] if isinstance(value, list | tuple) else value


def _is_same_body(now: dict[str, Any], saved: Any) -> bool:
    """Whether two bodies are one, round-off aside: another machine may build it a little differently."""
    if not (isinstance(saved, dict) and saved.get("joints") == now["joints"]):
        return False
    pairs = [(now[name], np.asarray(saved.get(name))) for name in ("offsets", "masses")]
    return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-6, atol=1e-9) for a, b in pairs)


def restore_stage(stage: Stage, saved: dict[str, Any]) -> None:
    """Restore a state on a stage that is built."""
    stage.loop.steps = saved["steps"]
    stage.loop.reporting = {stage.actors[name] for name in saved["talkers"]}
    for name, actor in stage.actors.items():
        restore_actor(actor, saved["actors"][name])
    if stage.touch.actors:
        stage.simulations.proximity.set_ignored(list(stage.actors), saved["strangers"])
    if sorted(name for each in saved["groups"] for name in each["actors"]) != sorted(stage.actors):
        raise InputError("its groups are not of the actors that are here.")
    before = {tuple(actor.name for actor in group.actors): group for group in stage.groups}
    stage.simulations.groups = [_find_group(stage, before.get(tuple(each["actors"])), each) for each in saved["groups"]]
    for group, each in zip(stage.groups, saved["groups"], strict=True):
        group.simulation.restore(each["state"])
        for actor in group.actors:
            actor.limits.restore(saved["actors"][actor.name]["ranges"])
        group.began = each["began"]
        if group.hits is not None:
            group.hits.restore(each["hits"])
        group.program.refresh()


def _find_group(stage: Stage, group: Group | None, saved: dict[str, Any]) -> Group:
    """Return a group if it was built as the saved one was; else one that is built like it."""
    if group is not None:
        built = _save_scene(group.scene)
        if _is_equal(built, {key: saved[key] for key in built}):
            return group
    actors = [stage.actors[name] for name in saved["actors"]]
    return stage.simulations.make_group(actors, _load_scene(stage, actors, saved))


def _load_scene(stage: Stage, actors: list[Actor], saved: dict[str, Any]) -> Scene:
    """Return the scene that the engine had built."""
    bodies = tuple(_load_body(actor, body) for actor, body in zip(actors, saved["built"], strict=True))
    props = tuple(_load_prop(prop, row) for prop, row in zip(list_free(stage), saved["props"], strict=True))
    meets = np.array(saved["meets"], bool) if len(saved["meets"]) else None
    if meets is not None and meets.shape != (len(bodies), len(bodies)):
        raise InputError("which actors collide is saved for other actors.")
    scene = Scene(bodies, props, stage.ground, stage.dt, stage.gravity, saved["time"], stage.touch, meets)
    return dataclasses.replace(scene, apart=_load_pairs(scene, saved["apart"]))


def _save_pairs(scene: Scene) -> np.ndarray:
    """Return (n, 4) body and joint of both things of every pair that does not touch; a prop is body -1 - k, joint 0."""
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
    """Return what was built of a body, without what its actor specifies anyway."""
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


def _save_scene(scene: Scene) -> dict[str, Any]:
    """Return what was built, without what the stage and its actors specify anyway."""
    return {
        "built": [_save_body(body) for body in scene.bodies],
        "props": [_save_prop(prop) for prop in scene.props],
        "meets": np.zeros((0, 0), bool) if scene.meets is None else scene.meets.copy(),
        "apart": _save_pairs(scene),
    }


def _is_equal(a: Any, b: Any) -> bool:
    """Return whether two states, or parts of them, are equal."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_is_equal(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(_is_equal, a, b))
    return np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else bool(a == b)


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
    models = actor.assignments.find_models()
    bends_toes = any(model.bends_toes for _, model in models)
    wholes = (find_shapes(actor.character, whole, bends_toes) for whole in (False, True))
    sets = {len(shapes): shapes for shapes in ((), *wholes)}
    pose = {name: np.array(saved[name]) for name in _POSE}
    own = max(0, int(saved["shapes"]) - len(list_held_shapes(actor)))
    return describe_at(actor, models, joints, pose, sets[own], bool(saved["is_hard"]))


def save_actor(actor: Actor) -> dict[str, Any]:
    """Return the state of an actor."""
    return {
        "numbers": {name: array.copy() for name, array in _list_numbers(actor).items()},
        "fallen": actor.fallen,
        "start_height": actor.start_height,
        "limp": actor.assignments.limp,
        "still": None if actor.assignments.still is None else actor.assignments.still.describe(),
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
    """Restore the state of an actor, which has the same drivers."""
    actor.fallen, actor.start_height = saved["fallen"], saved["start_height"]
    actor.body.block.request = 0
    actor.body.block.airborne = int(saved.get("aloft", 0))
    write_over(_list_numbers(actor), saved["numbers"])
    if actor.assignments.set_limp(list(saved.get("limp", []))):
        build_actor(actor, actor.stage.time, starting=False)
        write_over(_list_numbers(actor), saved["numbers"])
    actor.assignments.still = build_still(actor.body, saved.get("still"))
    for player, data in zip(actor.players, saved["players"], strict=True):
        player.restore(data)
    for player, left in zip(actor.players, saved["transitions"], strict=True):
        _restore_transition(player, left)
    actor.body.taking_part.restore(saved.get("taking_part"))
    actor.body.touches = BodyContacts.none() if saved["touches"] is None else BodyContacts.load(saved["touches"])
    actor.body.held = {int(joint): np.array(aim) for joint, aim in saved["held"].items()}
    if (rest := actor.assignments.rest) is not None:  # its own, which yield if it is limp
        actor.body.held |= {int(joint): rest.aim[k] for k, joint in enumerate(rest.joints)}
    actor.pushes[:] = [Push(**push) for push in saved["pushes"]]
    for push in actor.pushes:
        actor.stage.loop.expect(push.start + push.seconds, actor)


def describe_actor_setup(actor: Actor) -> dict[str, Any]:
    """Return drivers, loads and body of an actor, which must be the same when a state is restored."""
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
