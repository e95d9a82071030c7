"""Who goes after another with his root, and who gets on a thing that moves: nobody is flung; by SciPy's rotations."""

from __future__ import annotations

import numpy as np
import pytest

from poise import Attached, Balance, Character, Free, InputError, Kinematic, Loose, Pose, Prop, Stage, Track, gestures
from poise.stage.standing import stand_at_ease
from tools.sweeps.abuse_watch import Figure

MIX = Character.human(1.75, 75.0, preset="mix")
FIGURE = Figure(MIX)


def add(stage: Stage, name: str, x: float, is_loose: bool) -> None:
    ease = stand_at_ease(MIX)
    actor = stage.add(MIX, name, Pose(np.array(ease.root) + [x, 0.0, 0.0], np.array(ease.rotations)))
    if is_loose:
        actor.drive("root", Free())
        actor.drive("body", Loose(0.3, 0.3))
    else:
        actor.drive("legs", Balance())
        actor.drive("upperBody", Kinematic(gestures.conduct()))


def find_fastest(stage: Stage, seconds: float) -> dict[str, float]:
    """m/s, the fastest that the centre of mass of each actor gets."""
    most = dict.fromkeys(stage.actors, 0.0)
    before = {name: FIGURE.place(actor.pose())[1] for name, actor in stage.actors.items()}
    for _ in range(round(seconds / stage.dt)):
        stage.advance(1)
        for name, actor in stage.actors.items():
            now = FIGURE.place(actor.pose())[1]
            speed = FIGURE.masses @ (now - before[name]) / FIGURE.mass / stage.dt
            most[name], before[name] = max(most[name], float(np.linalg.norm(speed))), now
    return most


@pytest.mark.parametrize("is_loose", [False, True])
@pytest.mark.parametrize("part", ["", "body"])
@pytest.mark.many(1)
def test_who_goes_after_another_flings_nobody(part: str, is_loose: bool) -> None:
    """He was there within 0.03 s, at 40 m/s, hit whom he went after, and went after him again: up to 46 m/s."""
    stage = Stage()
    for name, x in (("ghost", 0.0), ("other", 1.5), ("third", 0.75)):
        add(stage, name, x, is_loose)
    stage.advance(60)
    ghost, other = stage.actors["ghost"], stage.actors["other"]
    ghost.drive("root", Kinematic(other))
    if part:
        ghost.drive(part, Kinematic(other))
    fastest = find_fastest(stage, 1.5)
    assert 2.0 < fastest["ghost"] < 4.0
    assert max(fastest["other"], fastest["third"]) < (3.0 if is_loose else 0.1)
    off = ghost.body.state.root - other.body.state.root
    assert np.linalg.norm(off) < 0.02


def test_who_goes_after_another_pushes_nothing_into_him() -> None:
    stage = Stage()
    stage.add_prop(Prop.box("box", (0.4, 0.8, 0.4), 40.0, (0.75, 0.4, 0.0)))
    add(stage, "ghost", 0.0, False)
    add(stage, "other", 1.5, False)
    stage.advance(60)
    stage.actors["ghost"].drive("root", Kinematic(stage.actors["other"]))
    stage.advance(300)
    assert np.linalg.norm(stage.read_prop("box").position - [0.75, 0.4, 0.0]) < 0.01
    assert stage.actors["other"].fallen is None


def test_somebody_whose_arms_alone_go_after_another_is_still_met() -> None:
    stage = Stage()
    add(stage, "one", 0.0, True)
    add(stage, "other", 1.2, True)
    stage.build()
    stage.actors["one"].drive("arms", Track(stage.actors["other"]))
    stage.build()
    assert not stage.simulations.proximity.ignores.any()


def test_who_goes_after_somebody_on_another_stage_is_no_ghost() -> None:
    there, here = Stage(), Stage()
    add(there, "far", 0.0, False)
    add(here, "one", 0.0, False)
    add(here, "other", 1.2, False)
    there.build()
    here.build()
    here.actors["one"].drive("root", Kinematic(there.actors["far"]))
    here.build()
    assert not here.simulations.proximity.ignores.any()


def test_nobody_gets_on_what_whirls_or_flies_by() -> None:
    """A body on a rod that whirled five metres off went at 600 m/s, and was not finite in a sixth of a second."""
    for place, velocity, spin in (((5.5, 0.5, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 120.0)),
                                  ((0.5, 1.0, 0.5), (0.0, 0.0, 0.0), (0.0, 30.0, 0.0)),
                                  ((0.5, 1.0, 0.5), (20.0, 0.0, 0.0), (0.0, 0.0, 0.0))):  # fmt: skip
        stage = Stage(ground=None, gravity=(0.0, 0.0, 0.0))
        stage.add_prop(Prop.capsule("rod", 0.03, 0.8, 0.13, place, velocity=velocity, spin=spin))
        actor = stage.add(MIX)
        actor.drive("root", Free())
        actor.drive("body", Loose(0.3, 0.3))
        stage.advance(2)
        with pytest.raises(InputError, match="who rides on it from now on would be faster by"):
            actor.drive("root", Attached("rod"))
        stage.advance(20)
        assert np.abs(actor.body.state.v).max() < 1.0


def test_somebody_gets_on_a_cart_that_goes() -> None:
    stage = Stage(gravity=(0.0, 0.0, 0.0), ground=None)
    stage.add_prop(Prop.box("cart", (0.6, 0.3, 0.6), 60.0, (0.0, -0.5, 0.0), velocity=(2.0, 0.0, 0.0)))
    actor = stage.add(MIX, pose=Pose(np.array([0.0, 1.5, 0.0]), np.array(stand_at_ease(MIX).rotations)))
    actor.drive("root", Free())
    actor.drive("body", Loose(1.0, 1.0))
    stage.advance(2)
    actor.drive("root", Attached("cart"))
    stage.advance(20)
    assert actor.body.state.v[0] > 0.5
