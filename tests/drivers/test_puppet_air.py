"""A puppet that hops: thrown by its own legs, it falls as anything does, and lands on its feet.   [M9]"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import poise
from helpers.stages import check_goes_on
from poise.drivers.puppet.player import PuppetPlayer
from poise.drivers.puppet.settings import FRAME
from poise.jobs.walk.metrics import find_soles
from poise.motion.clip import Clip
from poise.puppetry.hands import HandsTake
from poise.spatial import rotation
from poise.world.ground.profile import Stairs

UP, SECONDS = 1.5, 4.0  # s: when the hands go up


def ease(u: np.ndarray) -> np.ndarray:
    u = np.clip(u, 0.0, 1.0)
    return np.asarray(u**3 * (10.0 - 15.0 * u + 6.0 * u * u))


def crouch_and_rise(quick: float = 0.12, legs: tuple[float, float] = (1.0, 1.0), ahead: float = 0.0) -> HandsTake:
    """Hands that bend both knees, and straighten them within `quick` seconds; then they give a little."""
    times = np.arange(round(SECONDS * 120)) / 120.0
    bend = ease((times - 0.5) / 0.6) - ease((times - UP) / quick)
    bend = bend + 0.5 * (ease((times - UP - 0.4) / 0.2) - ease((times - UP - 1.1) / 0.5))
    places, turns = np.zeros((len(times), 2, 3)), rotation.identity((len(times), 2))
    for hand in range(2):
        places[:, hand, 1] = 0.16 * bend
        swing = -np.radians(40.0) * bend + ahead * ease((times - 1.0) / 0.8)
        turns[:, hand] = rotation.exp(np.stack([swing, 0.0 * times, 0.0 * times], axis=1))
    return HandsTake(times, places, turns, neutral=np.zeros((2, 3)))


def set_up(hands: HandsTake, ground: object = None) -> tuple[poise.Stage, poise.stage.actor.Actor]:  # type: ignore[name-defined]
    stage = poise.Stage() if ground is None else poise.Stage(ground=ground)
    actor = stage.add(poise.Character.human(1.75, 75))
    actor.drive("body", poise.Puppet([poise.PuppetLayer(poise.load_mapping("legs"), hands)]))
    return stage, actor


def player_of(actor: object) -> PuppetPlayer:
    return next(each for each in actor.players if isinstance(each, PuppetPlayer))  # type: ignore[attr-defined]


@functools.cache
def hopped() -> tuple[Clip, np.ndarray, np.ndarray, PuppetPlayer]:
    """The motion at 120 Hz, the height of the lowest sole, the centre of mass, and the player."""
    stage, actor = set_up(crouch_and_rise())
    clip = stage.run(SECONDS, fps=120.0).clip()
    character = actor.character
    places, turns = clip.world
    masses = np.array([each.mass for each in character.inertias])
    centers = places + rotation.rotate(turns, np.array([each.center for each in character.inertias])[None])
    center = np.einsum("j,fja->fa", masses / masses.sum(), centers)
    return clip, find_soles(clip).points[..., 1].min(axis=(1, 2)), center, player_of(actor)


def test_it_leaves_the_ground_and_lands_on_both_feet() -> None:
    _, lowest, _, player = hopped()
    assert lowest.max() > 0.15 and lowest.min() > -0.015
    aloft = np.flatnonzero(lowest > 0.005)
    assert aloft[0] / 120.0 > UP and 0.3 < len(aloft) / 120.0 < 0.6
    for side in range(2):
        mine = [each for each in player.stances if each[0] == side]
        assert len(mine) == 2 and mine[0][2] == pytest.approx(aloft[0] / 120.0, abs=0.05)
        assert mine[1][1] == pytest.approx(aloft[-1] / 120.0, abs=0.05) and mine[1][2] == np.inf
    assert np.abs(lowest[-60:]).max() < 0.003


def test_in_the_air_gravity_alone_moves_its_centre_of_mass() -> None:
    _, lowest, center, _ = hopped()
    aloft = np.flatnonzero(lowest > 0.03)
    pulled = np.diff(center, 2, axis=0)[aloft[2] : aloft[-2], 1] * 120.0**2
    assert pulled == pytest.approx(-9.81, rel=0.02)
    # as high as it was thrown: v^2 / 2 g
    first = aloft[0]
    v = (center[first + 1, 1] - center[first - 1, 1]) * 60.0
    assert center[:, 1].max() - center[first, 1] == pytest.approx(v * v / (2.0 * 9.81), rel=0.03)


def test_nothing_jumps_as_it_leaves_and_lands() -> None:
    clip, _, _, _ = hopped()
    v = np.diff(clip.root, axis=0) * 120.0
    w = rotation.log(rotation.multiply(rotation.conjugate(clip.rotations[:-1]), clip.rotations[1:])) * 120.0
    steps, turning = np.linalg.norm(np.diff(v, axis=0), axis=1), np.linalg.norm(w, axis=2)
    assert np.linalg.norm(v, axis=1).max() < 3.5 and turning.max() < 30.0
    assert steps.max() < 1.1  # m/s from one 120th of a second to the next: the legs' own push; a landing is below it
    landing = np.flatnonzero(hopped()[1] > 0.005)[-1]
    assert steps[landing - 3 : landing + 12].max() < 0.8


@pytest.mark.slow
def test_who_crouches_quickly_or_rises_slowly_stays() -> None:
    for quick in (0.5, 1.0):
        stage, actor = set_up(crouch_and_rise(quick))
        lowest = find_soles(stage.run(3.0, fps=60.0).clip()).points[..., 1].min(axis=(1, 2))
        assert lowest.max() < 0.006
        assert len(player_of(actor).stances) == 2


def test_it_lands_on_what_is_there() -> None:
    """Down from the ground that it left, or up on it: the nearest contact carries."""
    ground = Stairs(0.1, 0.6, 4, start=-2.0)
    stage, actor = set_up(crouch_and_rise(ahead=0.25), ground)
    stage.run(SECONDS, fps=60.0)
    player = player_of(actor)
    for side in range(2):
        assert player.feet.stands[side]
        x, y, z = player.feet.spot[side]
        assert y == pytest.approx(float(ground.height_at(np.array([x]), np.array([z]))[0]), abs=2e-3)


def test_a_state_in_the_air_goes_on_with_the_same_bits() -> None:
    stage, first = set_up(crouch_and_rise())
    stage.advance(round(1.8 / stage.dt))
    assert player_of(first).flight.is_up
    check_goes_on(stage, 0.75, set_up(crouch_and_rise())[0])


def test_without_the_throw_one_foot_is_always_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same hands: what makes it hop is the throw."""
    from poise.drivers.puppet.flight import PuppetFlight

    monkeypatch.setattr(PuppetFlight, "releases", lambda *_: False)
    stage, _ = set_up(crouch_and_rise())
    lowest = find_soles(stage.run(3.0, fps=1.0 / FRAME).clip()).points[..., 1].min(axis=(1, 2))
    assert lowest.max() < 0.01
