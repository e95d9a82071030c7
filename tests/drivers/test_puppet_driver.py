"""Somebody played by two hands, on a stage: feet that stay, levels, hand-overs, states.   [M3, M4]"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import poise
from helpers.stages import check_goes_on
from poise.demos.marionette.dance import dance
from poise.drivers.puppet.player import PuppetPlayer
from poise.errors import InputError
from poise.jobs.puppet.job import measure_puppet
from poise.puppetry.hands import HandsTake, LiveHands
from poise.spatial import rotation
from poise.world.ground.profile import Stairs

SECONDS = 8.4  # of the dance: standing, swaying, two steps to a side


@cache
def layers() -> tuple[poise.PuppetLayer, ...]:
    return tuple(poise.PuppetLayer(poise.load_mapping(name), hands) for name, hands in dance().items())


def set_up(character: poise.Character | None = None, **stage: Any) -> tuple[poise.Stage, Any]:
    scene = poise.Stage(**stage)
    actor = scene.add(character or poise.Character.human(1.75, 75))
    actor.drive("body", poise.Puppet(layers()))
    return scene, actor


def player_of(actor: Any) -> PuppetPlayer:
    return next(each for each in actor.players if isinstance(each, PuppetPlayer))


@cache
def danced() -> tuple[poise.Take, PuppetPlayer]:
    stage, actor = set_up()
    stage.advance(round(6.3 / stage.dt))
    take = stage.run(SECONDS - 6.3, fps=100.0)
    return take, player_of(actor)


def stances(player: PuppetPlayer, take: poise.Take) -> list[tuple[int, float, float]]:
    begin = float(take.times[0])
    return [(int(side), max(a - begin, 0.0), min(b, SECONDS) - begin) for side, a, b in player.stances if b > begin]


def test_feet_stay_where_they_came_down() -> None:
    take, player = danced()
    found = measure_puppet(take.clip(), stances(player, take))
    assert found["stances"] >= 3
    assert found["foot_slip_mm"] < 1.0
    # Without being held they would not: what a foot is led by is what it would have slid.
    assert np.abs(player.feet.offset).max() > 0.003


def test_somebody_is_always_on_his_feet_and_nobody_in_the_ground() -> None:
    from poise.jobs.walk.metrics import find_soles

    take, _ = danced()
    heights = find_soles(take.clip()).points[..., 1]
    assert heights.min() > -0.012
    assert heights.min(axis=(1, 2)).max() < 0.004


def test_pose_and_velocity_have_no_jump() -> None:
    take, _ = danced()
    clip = take.clip()
    fps = 100.0
    w = rotation.log(rotation.multiply(rotation.conjugate(clip.rotations[:-1]), clip.rotations[1:])) * fps
    v = np.diff(clip.root, axis=0) * fps
    assert np.linalg.norm(np.diff(v, axis=0), axis=1).max() * fps < 60.0  # m/s2
    assert np.linalg.norm(w, axis=2).max() < 20.0  # rad/s


def test_the_same_hands_give_the_same_motion_at_every_step_of_the_stage() -> None:
    clips = []
    for dt in (0.005, 0.01):
        stage, _ = set_up(dt=dt)
        clips.append(stage.run(1.5, fps=50.0).clip())
    assert np.abs(clips[0].root - clips[1].root).max() < 1e-9
    assert np.abs(clips[0].rotations - clips[1].rotations).max() < 1e-9


def test_a_saved_state_goes_on_with_the_same_bits() -> None:
    stage, _ = set_up()
    stage.advance(100)
    check_goes_on(stage, 0.3, set_up()[0])


@pytest.mark.parametrize("preset", ["mix", "strength"])
def test_other_bodies_are_played_by_the_same_hands(preset: str) -> None:
    stage, actor = set_up(poise.Character.human(1.3, 30, preset=preset))
    take = stage.run(1.0)
    assert np.isfinite(take.clip().rotations).all()
    head = take.clip().positions[:, actor.skeleton.index("head"), 1]
    assert head.min() > 0.9


def hold(seconds: float = 60.0, **angles: tuple[float, float]) -> HandsTake:
    """Hands that stay: degrees forward of both thighs, and up (m) of both hands."""
    times = np.array([0.0, 0.1, seconds])
    turns = rotation.exp(np.radians(np.array([[-angles["thighs"][k], 0.0, 0.0] for k in range(2)])))
    places = np.zeros((3, 2, 3))
    places[:, :, 1] = angles["up"]
    return HandsTake(times, places, np.broadcast_to(turns, (3, 2, 4)), neutral=np.zeros((2, 3)))


def test_on_a_step_the_feet_that_stand_are_on_it() -> None:
    ground = Stairs(0.12, 0.4, 4, start=-2.0)
    scene = poise.Stage(ground=ground)
    actor = scene.add(poise.Character.human(1.75, 75))
    hands = hold(thighs=(0.0, 0.0), up=(0.02, 0.02))
    actor.drive("body", poise.Puppet([poise.PuppetLayer(poise.load_mapping("legs"), hands)]))
    scene.advance(100)
    player = player_of(actor)
    for side in range(2):
        assert player.feet.stands[side]
        x, y, z = player.feet.spot[side]
        assert y == pytest.approx(float(ground.height_at(np.array([x]), np.array([z]))[0]), abs=1e-4)


def test_live_hands_are_followed_and_a_lost_one_is_waited_for() -> None:
    live = LiveHands(np.zeros((2, 3)))
    scene = poise.Stage()
    actor = scene.add(poise.Character.human(1.75, 75))
    actor.drive("body", poise.Puppet([poise.PuppetLayer(poise.load_mapping("legs"), live)]))
    up = rotation.identity((2,))
    for k in range(120):
        places = np.zeros((2, 3))
        places[1, 1] = 0.08 if k > 20 else 0.0
        turns = up.copy()
        if k > 20:
            turns[1] = rotation.exp(np.array([-0.7, 0.0, 0.0]))
        if k > 60:
            places[1], turns[1] = np.nan, np.nan
        live.put(scene.time, places, turns)
        scene.advance(3)
    player = player_of(actor)
    knee = player.marionette.angles[player.marionette.row("rightUpperLeg"), 0]
    assert knee == pytest.approx(-0.7, abs=0.02)  # where it was last seen
    assert player.mixer.lost > 50 and player.marionette.in_contact[0] and not player.marionette.in_contact[1]
    assert not live.put(0.0, np.zeros((2, 3)), up) and live.late == 1


def test_it_takes_over_from_a_body_that_moves_without_a_jump() -> None:
    scene, actor = set_up()
    scene.advance(560)  # it sways
    before, step = actor.pose(), scene.dt
    scene.advance(1)
    here = actor.pose()
    other = hold(thighs=(5.0, 5.0), up=(0.02, 0.02))
    actor.drive("body", poise.Puppet([poise.PuppetLayer(poise.load_mapping("legs"), other)]))
    scene.advance(1)
    after = actor.pose()
    speed = (here.root - before.root) / step
    assert np.linalg.norm((after.root - here.root) / step - speed) < 0.1
    turned = rotation.log(rotation.multiply(rotation.conjugate(here.rotations), after.rotations)) / step
    turning = rotation.log(rotation.multiply(rotation.conjugate(before.rotations), here.rotations)) / step
    assert np.abs(turned - turning).max() < 2.0  # rad/s: 400 rad/s2 for a step
    scene.advance(400)
    player = player_of(actor)
    assert player.feet.stands.all() and np.abs(player.marionette.speeds).max() < 0.2


def test_it_is_handed_to_physics_and_taken_back_without_a_jump() -> None:
    scene, actor = set_up()
    step = scene.dt

    def roots(count: int) -> np.ndarray:
        found = []
        for _ in range(count):
            scene.advance(1)
            found.append(actor.pose().root)
        return np.array(found)

    scene.advance(300)
    first = roots(3)
    actor.drive("body", poise.Loose(0.5))
    second = roots(100)
    actor.drive("body", poise.Puppet(layers()))
    third = roots(100)
    speeds = np.diff(np.concatenate([first, second, third]), axis=0) / step
    assert np.linalg.norm(np.diff(speeds, axis=0), axis=1).max() < 0.25  # m/s from step to step: 50 m/s2
    assert player_of(actor).feet.stands.any()


def test_what_cannot_be_played_is_refused() -> None:
    scene = poise.Stage()
    actor = scene.add(poise.Character.human(1.75, 75))
    with pytest.raises(InputError, match="at least one"):
        poise.Puppet([])
    with pytest.raises(InputError, match="both legs"):
        actor.drive("arms", poise.Puppet(layers()))
    with pytest.raises(InputError, match="HandsTake or LiveHands"):
        poise.PuppetLayer(poise.load_mapping("legs"), 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="weight of a layer"):
        poise.PuppetLayer(poise.load_mapping("legs"), hold(thighs=(0, 0), up=(0, 0)), weight=2.0)
