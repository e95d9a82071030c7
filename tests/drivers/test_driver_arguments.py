"""Every argument of every driver changes a motion in some case, and is refused in those where it cannot.

The arguments are read from the classes: one that is added and stands in no table here fails the first test.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import poise
from poise import Anchored, Balance, Counterpoise, KeepUpright, Kinematic, Loose, Puppet, Shadow, Strength, Track, Walk
from poise.demos.shared.show import stand_still
from poise.demos.tracking import staff
from poise.drivers.driver import Driver
from poise.motion import samples
from poise.motion.clip import Clip
from poise.puppetry.hands import HandsTake
from poise.puppetry.springs import SPRINGS, Spring
from poise.spatial import rotation

BODY = poise.Character.human(1.75, 75.0)
MAN = poise.Character.human(1.75, 75.0, sex="male", age=25, preset="strength")
GESTURE = poise.gestures.conduct()
REST = BODY.skeleton.names[1:]


@cache
def noisy() -> Clip:
    """Somebody walks, recorded with noise: low-passes have something to do."""
    clip = samples.walk(BODY.skeleton, 4)
    noise = np.random.default_rng(0).normal(scale=0.004, size=(*clip.rotations.shape[:2], 3))
    return clip.replace(rotations=rotation.multiply(clip.rotations, rotation.exp(noise)))


@cache
def standing() -> Clip:
    return samples.idle(BODY.skeleton, 1.0, 30.0)


def show(stage: poise.Stage, seconds: float) -> bytes:
    """All that a run has: the motions of its actors and what happened."""
    take = stage.run(seconds, fps=30.0)
    clips = [take.clip(name) for name in stage.actors]
    return b"".join(c.root.tobytes() + c.rotations.tobytes() for c in clips) + repr(take.events).encode()


def begin() -> tuple[poise.Stage, Any]:
    stage = poise.Stage()
    return stage, stage.add(BODY, "actor")


# One scene a driver: what its arguments make of a moment. `do` says what else happens.


def play_track(motion: Any = None, do: str = "", **given: Any) -> bytes:
    stage, actor = begin()
    actor.drive("legs", Balance())
    actor.drive("upperBody", Track(noisy() if motion is None else motion, **given))
    return show_after(stage, actor, do)


def play_kinematic(motion: Any = None, do: str = "", **given: Any) -> bytes:
    stage, actor = begin()
    actor.drive("legs", Balance())
    if do == "switch":
        actor.drive("upperBody", Loose())
        stage.advance(10)
    actor.drive("upperBody", Kinematic(noisy() if motion is None else motion, **given))
    return show_after(stage, actor, do)


def play_loose(do: str = "", **given: Any) -> bytes:
    stage, actor = begin()
    actor.drive("legs", Balance())
    actor.drive("arms", Loose(**given))
    return show_after(stage, actor, do)


def play_balance(do: str = "", **given: Any) -> bytes:
    stage, actor = begin()
    actor.drive("legs", Balance(**given))
    actor.drive("arms", Kinematic(GESTURE))
    return show_after(stage, actor, do)


def play_counterpoise(**given: Any) -> bytes:
    stage, actor = begin()
    actor.drive("legs", Balance())
    actor.drive("arms", Kinematic(GESTURE))
    actor.drive("trunk", Counterpoise(**given))
    actor.drive("head", Counterpoise(**given))
    return show(stage, 0.2)


def show_after(stage: poise.Stage, actor: Any, do: str) -> bytes:
    if do == "hit":
        actor.push("rightHand", (0.0, 0.0, 60.0), 0.1, stage.time + 0.05)
    if do == "shove":
        actor.push("chest", (0.0, 0.0, 400.0), 0.3, stage.time)
    return show(stage, 1.0 if do == "shove" else 0.2)


def play_strength(motion: Any = None, do: str = "", **given: Any) -> bytes:
    stage = poise.Stage(engine="inverse", dt=1.0 / 30.0, touch=poise.ContactSettings(itself=False))
    if do == "wall":  # shoved towards it: see test_helping.py
        stage.add_prop(poise.Prop.box("wall", (3.0, 3.0, 0.2), position=(0.0, 1.5, 1.0)))
    actor = stage.add(MAN)
    actor.drive("body", Strength(stand_still(MAN) if motion is None else motion, **given))
    if do == "wall":
        actor.push("chest", (0.0, 0.0, 225.0), 0.2, 0.2)
    return show(stage, 1.2 if do == "wall" else 0.3)


def play_keep_upright(prop: str = "staff", do: str = "", **given: Any) -> bytes:
    stage, actor = staff.build("tracked")
    if do == "two":
        stage.add_prop(poise.Prop.capsule("wand", 0.02, 1.0, 0.5))
        actor.grasp("leftHand", "wand")
        actor.drive(["rightHand" if prop == "staff" else "leftHand"], KeepUpright(prop, **given))
    else:
        actor.drive(["rightHand"], KeepUpright(prop, **given))
    return show(stage, 1.0)


def play_shadow(do: str = "", **given: Any) -> bytes:
    stage = poise.Stage()
    ghosts = [stage.add(BODY, name) for name in ("ghost", "other")]
    body = stage.add(BODY, "body")
    ghosts[0].drive("body", Walk(2, blind=True))
    ghosts[1].drive("body", Walk(0, blind=True))
    body.drive("body", Shadow(ghosts[1 if do == "other" else 0], **given))
    take = stage.run(0.6, fps=30.0)
    return bytes(take.clip("body").rotations.tobytes())


def play_walk(do: str = "", **given: Any) -> bytes:
    stage, actor = begin()
    if do == "crate":
        stage.add_prop(poise.Prop.box("crate", (0.5, 0.6, 0.4), position=(0.0, 0.3, 0.8)))
    if do == "wait":  # for somebody who stands 5 cm aside
        pose = stand_still(BODY).pose(0.0)
        given["waits_for"] = stage.add(BODY, "late", poise.Pose(pose.root + [0.05, 0.0, 0.0], pose.rotations))
    actor.drive("body", Walk(**{"steps": 2, **given}))
    return show(stage, 1.2)


def play_puppet(layers: Any = "legs", do: str = "", **given: Any) -> bytes:
    stage, actor = begin()
    actor.drive("body", Puppet([poise.PuppetLayer(poise.load_mapping(layers), raised())], **given))
    return show(stage, 1.0)


@cache
def raised() -> HandsTake:
    """Two hands of which one goes up and down again."""
    places = np.zeros((60, 2, 3))
    places[:, 0, 1] = 0.12 * np.sin(np.linspace(0.0, np.pi, 60))
    return HandsTake(np.arange(60) / 60.0, places, rotation.identity((60, 2)))


def play_anchored(do: str = "", **given: Any) -> bytes:
    stage, actor = begin()
    actor.drive(REST, Kinematic(noisy()))
    if do == "switch":
        actor.drive("root", Kinematic(noisy()))
        stage.advance(20)
    actor.drive("root", Anchored(**given))
    return show(stage, 1.0)


def play_attached(prop: str) -> bytes:
    stage, actor = begin()
    stage.add_prop(poise.Prop.sphere("ball", 0.1, 1.0, position=(5.0, 3.0, 0.0)))  # it falls
    stage.add_prop(poise.Prop.sphere("globe", 0.1, position=(-5.0, 3.0, 0.0)))
    actor.drive("root", poise.Attached(prop))
    return show(stage, 0.1)


SOLES = {"left": ("leftFoot", (0.0, -0.08, 0.0)), "right": ("rightFoot", (0.0, -0.08, 0.0))}
PATH = poise.PointPath(np.array([0.0, 1.0]), np.array([[-0.3, 1.0, 0.3], [-0.3, 1.3, 0.4]]))

# driver -> argument -> (arguments without it, arguments with it beside those). Two runs, which must differ.
WORKS: dict[Callable[..., bytes], dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    play_track: {
        "motion": ({}, {"motion": GESTURE}),
        "stiffness": ({}, {"stiffness": 200.0}),
        "damping": ({}, {"damping": 0.5}),
        "start": ({}, {"start": 0.2}),
        "active_after_fall": ({"do": "shove"}, {"active_after_fall": True}),
        "law": ({}, {"law": "paper"}),
        "cutoff": ({}, {"cutoff": 2.0}),
        "give": ({"do": "hit"}, {"give": 0.9}),
    },
    play_kinematic: {
        "motion": ({}, {"motion": GESTURE}),
        "start": ({}, {"start": 0.2}),
        "cutoff": ({}, {"cutoff": 2.0}),
        "take_over": ({"do": "switch"}, {"take_over": 0.1}),
        "active_after_fall": ({"do": "shove"}, {"active_after_fall": True}),
    },
    play_loose: {
        "stiffness": ({}, {"stiffness": 0.6}),
        "damping": ({}, {"damping": 0.8}),
        "pose": ({}, {"pose": noisy().rotations[3]}),
        "relax": ({}, {"relax": 0.2}),
    },
    play_balance: {
        "stiffness": ({}, {"stiffness": 2.0}),
        "height": ({}, {"height": 0.85}),
        "target": ({}, {"target": (0.02, 0.03)}),
        "friction": ({"target": (0.05, 0.1)}, {"friction": 0.02}),
        "pinned": ({}, {"pinned": True}),
        "follow": ({}, {"follow": standing()}),
        "follow_start": ({"follow": standing()}, {"follow_start": -0.5}),
        "damping": ({}, {"damping": 0.7}),
        "give": ({"do": "shove"}, {"give": 0.9}),
        "hold": ({}, {"hold": 0.5}),
        "counter_lean": ({}, {"counter_lean": 0.6}),
    },
    play_counterpoise: {
        "spine": ({}, {"spine": 0.5}),
        "keep_level": ({}, {"keep_level": 0.5}),
        "cap": ({}, {"cap": 0.02}),
        "pelvis": ({}, {"pelvis": 0.5}),
        "follow": ({}, {"follow": standing()}),
        "follow_start": ({"follow": noisy()}, {"follow_start": -0.5}),
    },
    play_strength: {
        "motion": ({}, {"motion": GESTURE}),
        "muscles": ({}, {"muscles": poise.JointStrength.from_character(MAN).scaled(0.1)}),
        "start": ({"motion": GESTURE}, {"start": -0.5}),
        "alpha": ({"motion": GESTURE}, {"alpha": 0.5}),
        "center": ({"motion": GESTURE}, {"center": "xyz"}),
        "effectors": ({"motion": GESTURE}, {"effectors": {"rightHand": "position"}}),
        "insists": ({"paths": {"rightHand": PATH}}, {"insists": 30.0}),
        "cutoff": ({"motion": samples.walk(MAN.skeleton, 4)}, {"cutoff": 1.0}),
        "hands": ({"do": "wall"}, {"hands": False}),
        "paths": ({}, {"paths": {"rightHand": PATH}}),
        "priorities": ({"motion": GESTURE}, {"priorities": "strict"}),
    },
    play_keep_upright: {
        "prop": ({"do": "two"}, {"prop": "wand"}),
        "quickness": ({}, {"quickness": 9.0}),
        "damping": ({}, {"damping": 0.3}),
        "axis": ({}, {"axis": (0.2, 1.0, 0.0)}),
        "tolerance": ({"strength": 0.1}, {"tolerance": 1.5}),
        "strength": ({}, {"strength": 1.0}),
        "twists": ({}, {"twists": False}),
    },
    play_shadow: {
        "ghost": ({}, {"do": "other"}),
        "stiffness": ({}, {"stiffness": 4.0}),
        "damping": ({}, {"damping": 0.4}),
    },
    play_walk: {
        "steps": ({}, {"steps": 1}),
        "path": ({}, {"path": [(-1.0, 1.0)]}),
        "facing": ({}, {"facing": "back"}),
        "manner": ({}, {"manner": {"lift": 0.1}}),
        "wait": ({}, {"wait": 0.5}),
        "waits_for": ({}, {"do": "wait"}),
        "near": ({"do": "wait"}, {"near": 0.01}),
        "far": ({"do": "wait"}, {"far": 0.12}),
        "blind": ({"do": "crate"}, {"blind": True}),
    },
    play_puppet: {
        "layers": ({}, {"layers": "arms"}),
        "springs": ({}, {"springs": {**SPRINGS, "LowerLeg": Spring(frequency=6.0)}}),
        "settle": ({}, {"settle": 0.3}),
    },
    play_anchored: {
        "motion": ({}, {"motion": noisy()}),
        "when": ({}, {"when": [(0.0, "left"), (0.4, "right")]}),
        "fixes": ({}, {"fixes": "point"}),
        "supports": ({}, {"supports": SOLES}),
        "ground": ({}, {"ground": lambda x, z: 0.0 * x + 0.1}),
        "start": ({"motion": noisy()}, {"start": 0.1}),
        "cutoff": ({"motion": noisy(), "when": [(0.0, "left")]}, {"cutoff": 1.0}),
        "take_over": ({"motion": noisy(), "do": "switch"}, {"take_over": 0.05}),
        "settle": ({}, {"settle": 0.3}),
    },
    play_attached: {"prop": ({"prop": "ball"}, {"prop": "globe"})},
}
DRIVERS = {
    play_track: Track, play_kinematic: Kinematic, play_loose: Loose, play_balance: Balance, play_strength: Strength,
    play_counterpoise: Counterpoise, play_keep_upright: KeepUpright, play_shadow: Shadow, play_walk: Walk,
    play_puppet: Puppet, play_anchored: Anchored, play_attached: poise.Attached,
}  # fmt: skip


class Seen:
    """A live motion, that does not move."""

    is_live, delay = True, 0.1

    def pose(self, _t: float) -> Any:
        return stand_still(BODY).pose(0.0)


REFUSED: dict[str, tuple[Callable[[], Driver], str]] = {
    "track, paper": (lambda: Track(GESTURE, law="paper", damping=0.5), "damping of Track has no effect under"),
    "track, live": (lambda: Track(Seen(), cutoff=3.0), "cutoff of Track has no effect with a live motion"),
    "kinematic, live cutoff": (lambda: Kinematic(Seen(), cutoff=3.0), "cutoff of Kinematic has no effect"),
    "kinematic, live hand-over": (lambda: Kinematic(Seen(), take_over=0.0), "take_over of Kinematic has no effect"),
    "balance, no clip": (lambda: Balance(follow_start=1.0), "follow_start of Balance has no effect without"),
    "balance, height": (lambda: Balance(follow=standing(), height=0.9), "height of Balance has no effect where"),
    "balance, target": (lambda: Balance(follow=standing(), target=(0.0, 0.0)), "target of Balance has no effect"),
    "counterpoise, no clip": (lambda: Counterpoise(follow_start=1.0), "follow_start of Counterpoise has no effect"),
    "strength, none led": (lambda: Strength(GESTURE, insists=30.0), "insists of Strength has no effect where"),
    "strength, centre led": (
        lambda: Strength(GESTURE, insists=30.0, paths={"center": PATH}), "insists of Strength has no effect where"
    ),
    "walk, near": (lambda: Walk(near=0.05), "near of Walk has no effect without an actor"),
    "walk, far": (lambda: Walk(far=0.5), "far of Walk has no effect without an actor"),
    "anchored, start": (lambda: Anchored(start=0.1), "start of Anchored has no effect without a motion"),
    "anchored, cutoff": (lambda: Anchored(cutoff=3.0), "cutoff of Anchored has no effect without a motion"),
    "anchored, take_over": (lambda: Anchored(take_over=0.0), "take_over of Anchored has no effect without"),
    "anchored, frame": (lambda: Anchored(noisy(), fixes="frame", cutoff=3.0), "cutoff of Anchored has no effect with"),
    "anchored, said": (
        lambda: Anchored(noisy(), fixes="frame", when=[(0.0, "left")]), "motion of Anchored has no effect with"
    ),
    "anchored, supports": (
        lambda: Anchored(noisy(), fixes="frame", supports=SOLES), "motion of Anchored has no effect with"
    ),
    "anchored, gesture": (lambda: Anchored(GESTURE, fixes="frame"), "motion of Anchored has no effect with"),
    "anchored, live": (lambda: Anchored(Seen(), take_over=0.0), "take_over of Anchored has no effect with a live"),
}  # fmt: skip


def list_drivers() -> list[type]:
    """The drivers that Poise offers and that have arguments."""
    found = [getattr(poise, name) for name in poise.__all__]
    drivers = [each for each in found if isinstance(each, type) and issubclass(each, Driver) and each is not Driver]
    return [each for each in drivers if dataclasses.is_dataclass(each) and dataclasses.fields(each)]


def test_every_argument_stands_in_the_table() -> None:
    assert set(list_drivers()) == set(DRIVERS.values())
    for play, driver in DRIVERS.items():
        assert set(WORKS[play]) == {each.name for each in dataclasses.fields(driver) if not each.name.startswith("_")}


@pytest.mark.parametrize(
    ("play", "argument"), [(play, argument) for play, table in WORKS.items() for argument in table],
    ids=[f"{play.__name__}-{argument}" for play, table in WORKS.items() for argument in table],
)  # fmt: skip
@pytest.mark.many(6)
def test_an_argument_changes_the_motion(play: Callable[..., bytes], argument: str) -> None:
    without, more = WORKS[play][argument]
    assert play(**{**without, **more}) != play(**without)


@pytest.mark.parametrize("play", [play for play in WORKS if play is not play_attached])
def test_the_same_arguments_make_the_same_motion(play: Callable[..., bytes]) -> None:
    """Else every argument would seem to do something."""
    assert play() == play()


@pytest.mark.parametrize("name", REFUSED)
def test_an_argument_that_would_do_nothing_is_refused(name: str) -> None:
    make, sentence = REFUSED[name]
    with pytest.raises(poise.InputError, match=sentence):
        make()
