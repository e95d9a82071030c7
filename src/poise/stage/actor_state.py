"""The state of an actor as plain data: its body's, its players', and what must be the same when it is restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from poise.drivers.driver import restore_hand_over, save_hand_over
from poise.drivers.still import build_still
from poise.engines.engine import Touches
from poise.spatial.plain import write_over
from poise.stage.building import build_actor
from poise.world.grip import Grip
from poise.world.load import Load
from poise.world.push import Push

if TYPE_CHECKING:
    from poise.stage.actor import Actor


def save_actor(actor: Actor) -> dict[str, Any]:
    """All of it."""
    return {
        "numbers": {name: array.copy() for name, array in _list_numbers(actor).items()},
        "fallen": actor.fallen,
        "start_height": actor.start_height,
        "limp": actor.limp,
        "still": None if actor.still is None else actor.still.describe(),
        "players": [player.save() for player in actor.players],
        "hand_overs": [save_hand_over(player) for player in actor.players],
        "ranges": actor.limits.save(),
        "aloft": int(actor.body.block["aloft"]),
        "touches": actor.body.touches.save() if any(player.feels for player in actor.players) else None,
        "held": {str(joint): aim.copy() for joint, aim in actor.body.held.items()},
        "taking_part": actor.body.taking_part.save(),
        "pushes": [
            {"joint": push.joint, "force": list(push.force), "seconds": push.seconds, "start": push.start}
            for push in actor.pushes
        ],
    }


def restore_actor(actor: Actor, saved: dict[str, Any]) -> None:
    """Have an actor be again what was saved, under the same drivers."""
    actor.fallen, actor.start_height = saved["fallen"], saved["start_height"]
    actor.body.block["called"] = 0
    actor.body.block["aloft"] = int(saved.get("aloft", 0))
    write_over(_list_numbers(actor), saved["numbers"])
    if actor.set_limp(list(saved.get("limp", []))):
        build_actor(actor, actor.stage.time, starting=False)
        write_over(_list_numbers(actor), saved["numbers"])
    actor.still = build_still(actor.body, saved.get("still"))
    for player, data in zip(actor.players, saved["players"], strict=True):
        player.restore(data)
    for player, left in zip(actor.players, saved["hand_overs"], strict=True):
        restore_hand_over(player, left, actor.body)
    actor.body.taking_part.restore(saved.get("taking_part"))
    actor.body.touches = Touches.none() if saved["touches"] is None else Touches.load(saved["touches"])
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
    body, state, coupled = actor.body, actor.body.state, actor.coupled
    return {
        "root": state.root, "q": state.q, "v": state.v, "w": state.w, "dw": body.dw, "a": body.a,
        "w_before": body.w_before, "v_before": body.v_before, "torque": body.torque, "damping": body.damping,
        "al": coupled.al, "acc": coupled.acc, "coupling": body.coupling, "kept": actor.flight.kept,
        "share": coupled.share, "carried": coupled.inertia, "tied": coupled.tied,
        "strained": actor.effort.strained, "began": actor.effort.began, "lean": body.lean,
    }  # fmt: skip
