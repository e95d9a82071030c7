"""Jobs warn of an arm that the motion drives through the body's own hips or trunk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import poise
from poise.jobs.shared.metrics import find_self_collision
from poise.spatial import rotation
from poise.stage.standing import stand_at_ease
from poise.world.scenery import Scenery

BODY = poise.Character.human(1.75, 75.0)
OWN = Scenery(touch=poise.ContactSettings(friction=0.5))  # track and lift: own segments touch where a touch is given
ALL = Scenery(touch=poise.ContactSettings(itself=True))  # animated ones, too
APART = Scenery(touch=poise.ContactSettings(itself=False))


def make_slap(end: float) -> poise.Clip:
    """Make a clip of a left arm that swings down sideways to an angle (rad) from where it hangs."""
    pose, times, i = stand_at_ease(BODY), np.arange(120) / 100.0, BODY.skeleton.index("leftUpperArm")
    n, share = len(times), np.clip((times - 0.4) / 0.25, 0.0, 1.0)
    angle = 1.0 + (end - 1.0) * share * share * (3.0 - 2.0 * share)
    root, turns = np.tile(pose.root, (n, 1)), np.tile(pose.rotations, (n, 1, 1))
    world = poise.Clip(BODY.skeleton, times, root, turns).world[1]
    swung = rotation.multiply(rotation.from_axis_angle(np.array([0.0, 0.0, 1.0]), angle), world[:, i])
    turns[:, i] = rotation.multiply(rotation.conjugate(world[:, BODY.skeleton.parents[i]]), swung)
    return poise.Clip(BODY.skeleton, times, root, turns, "slap")


@pytest.mark.parametrize(
    ("job", "options"),
    [
        (poise.mix, {"physical": ["legs", "spine", "chest"], "scenery": ALL}),
        (poise.track, {"scenery": OWN}),
        (poise.lift, {"scenery": OWN, "loads": "leftHand=10", "strength": 3.0, "base": "kinematic"}),
    ],
)
def test_arm_that_is_driven_into_the_body_gets_a_warning(job: Callable[..., Any], options: dict[str, Any]) -> None:
    found = job(make_slap(-0.6), character=BODY, **options)
    hits = [hit for hit in found.figures["hits"] if hit["other"].startswith("actor/")]
    worst = max(hits, key=lambda hit: hit["impulse_ns"])
    assert worst["impulse_ns"] > 15.0 and worst["joint"].startswith("left") and 0.4 < worst["time_s"] < 0.7
    told = [sentence for sentence in found.warnings if "of the same body collide" in sentence]
    assert len(told) == 1 and told[0].startswith(f"{worst['joint']} and {worst['other'].partition('/')[2]} ")
    assert f"at {worst['time_s']:.2f} s with {worst['impulse_ns']:.3g} N s" in told[0]
    clear = job(make_slap(0.2), character=BODY, **options)
    assert not clear.figures["hits"] and not any("collide" in sentence for sentence in clear.warnings)
    apart = job(make_slap(-0.6), character=BODY, **(options | {"scenery": APART}))
    assert not apart.figures["hits"] and not any("collide" in sentence for sentence in apart.warnings)


def test_hand_that_a_stage_drives_through_a_loose_trunk_is_a_self_collision() -> None:
    clip, stage = make_slap(-0.6), poise.Stage(touch=poise.ContactSettings(itself=True))
    actor = stage.add(BODY, "a", clip.pose(0.0))
    actor.drive("legs", poise.Balance())
    actor.drive(["spine", "chest"], poise.Track(clip))
    actor.drive("leftArm", poise.Kinematic(clip))
    told = find_self_collision(stage.run(0.9))
    assert told is not None and "left" in told


def test_prop_may_have_the_name_of_a_joint_that_the_clip_has_inside_another() -> None:
    """Segments that the clip has in one another are kept apart by names that mean the actor's joints only."""
    prop = poise.Prop.box("leftHand", (0.2, 0.2, 0.2), 1.0, (0.0, 0.1, 3.0))
    scenery = Scenery(props=(prop,), touch=poise.ContactSettings(itself=True))
    found = poise.mix(make_slap(-0.6), character=BODY, base="kinematic", physical=["spine", "chest"], scenery=scenery)
    assert np.isfinite(found.take.actors["actor"].rotations).all()
