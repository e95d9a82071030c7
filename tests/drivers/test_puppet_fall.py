"""A puppet that is let go, falls, lies, and is drawn up by its strings, from Python alone.   [M9]

Figures are found by the sweep's code, which knows poses and shapes and nothing of the driver.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import poise
from helpers.stages import check_goes_on
from poise.drivers.loose.loose import Limp
from poise.drivers.puppet.player import PuppetPlayer
from poise.drivers.puppet.settings import FRAME
from tools.sweeps.getup_sweep import DOWN, LONGEST, GetUp, get_up, hold

BODIES = {"adult": (1.75, 75.0), "child": (1.2, 24.0), "tall": (2.05, 120.0)}


@cache
def character(body: str) -> poise.Character:
    return poise.Character.human(*BODIES[body])


@cache
def fell(body: str, pose: str, push: str, ground: str = "", back: float = DOWN) -> GetUp:
    return get_up(character(body), body, pose, push, ground, back)


CASES = [("adult", "standing", "ahead"), ("child", "one foot up", "back"), ("tall", "in a hop", "left")]


@pytest.mark.parametrize("case", CASES)
def test_it_falls_and_lies_at_rest(case: tuple[str, str, str]) -> None:
    found = fell(*case, back=DOWN + 1.0)  # some need a second longer until they lie still
    assert not found.why
    assert found.growth < 0.01  # of m g h: energy does not rise
    assert found.fell_under < 12.0 and found.lay_under < 2.0  # mm
    assert found.creep < 0.02  # m/s


@pytest.mark.parametrize("case", CASES)
def test_it_is_drawn_up_without_a_jump_and_through_nothing(case: tuple[str, str, str]) -> None:
    found = fell(*case)
    assert found.up and not found.flew and 1.0 < found.seconds < LONGEST
    assert found.jerk < 0.15  # m/s from one 120th of a second to the next
    assert found.turned < 12.0  # rad/s alike; of feet that slip from under it; others are below 6
    assert found.deep < 15.0  # mm in the ground, of any shape


@pytest.mark.parametrize("ground", ["slope of 12 degrees", "stairs of 15 cm"])
def test_it_gets_up_on_slopes_and_stairs(ground: str) -> None:
    found = fell("adult", "standing", "", ground)
    assert found.up and not found.flew and found.jerk < 0.15 and found.seconds < LONGEST


@pytest.mark.parametrize("back", [0.2, 0.5])
def test_it_is_caught_on_its_way_down(back: float) -> None:
    found = fell("adult", "standing", "ahead", "", back)
    assert found.up and not found.flew and found.deep < 25.0


def lie(body: str = "adult") -> tuple[poise.Stage, Any]:
    """Somebody who was let go two seconds ago."""
    stage = poise.Stage(dt=FRAME / 2)
    actor = stage.add(character(body))
    actor.drive("body", poise.Puppet(hold((20.0, -5.0), (0.08, 0.0))))
    stage.advance(60)
    actor.drive("root", poise.Free())
    actor.drive("body", Limp())
    stage.advance(480)
    return stage, actor


def player_of(actor: Any) -> PuppetPlayer:
    return next(each for each in actor.players if isinstance(each, PuppetPlayer))


def test_without_being_drawn_up_it_would_be_thrown(monkeypatch: pytest.MonkeyPatch) -> None:
    """What draws it up is what keeps it on the ground."""
    from poise.drivers.puppet.get_up import GetUpBlend

    monkeypatch.setattr(GetUpBlend, "find", classmethod(lambda *_: None))
    found = get_up(character("adult"), "adult", "standing", "ahead")
    assert found.flew or found.jerk > 0.3 or found.deep > 50.0


def test_who_stands_is_not_drawn_up() -> None:
    stage = poise.Stage(dt=FRAME / 2)
    actor = stage.add(character("adult"))
    actor.drive("body", poise.Puppet(hold((0.0, 0.0), (0.0, 0.0))))
    stage.advance(100)
    actor.drive("body", poise.Puppet(hold((20.0, 0.0), (0.1, 0.0))))
    stage.advance(2)
    assert player_of(actor).get_up is None


def test_a_state_on_the_way_up_goes_on_with_the_same_bits() -> None:
    layers = hold((0.0, 0.0), (0.0, 0.0))
    for wait in (100, 420):  # while it is drawn up, and as strings take hold
        stage, first = lie()
        first.drive("body", poise.Puppet(layers))
        stage.advance(wait)
        assert player_of(first).get_up is not None
        again, actor = lie()
        actor.drive("body", poise.Puppet(layers))
        again.advance(3)
        check_goes_on(stage, 0.6, again)


def test_it_rises_where_it_lay_and_turns_no_more_than_it_has_to() -> None:
    stage, actor = lie()
    body = actor.body
    hips = actor.skeleton.index("hips")
    before, turn = body.p[hips].copy(), body.world_turn(hips)
    actor.drive("body", poise.Puppet(hold((0.0, 0.0), (0.0, 0.0))))
    stage.advance(2 * round(3.0 / FRAME))
    pose = actor.pose()
    places, turns = actor.skeleton.pose(pose.root, pose.rotations)
    assert np.hypot(*(places[hips] - before)[[0, 2]]) < 0.15

    # of all that stand upright, the one that is nearest to how it lay
    def away(heading: float) -> float:
        upright = np.array([np.cos(0.5 * heading), 0.0, np.sin(0.5 * heading), 0.0])
        return 2.0 * float(np.arccos(min(1.0, abs(float(upright @ turn)))))

    best = min(np.linspace(-np.pi, np.pi, 721), key=away)
    ahead = places[hips] * 0.0 + poise.spatial.rotation.rotate(turns[hips], np.array([0.0, 0.0, 1.0]))
    heading = float(np.arctan2(ahead[0], ahead[2]))
    assert abs((heading - best + np.pi) % (2.0 * np.pi) - np.pi) < 0.1
