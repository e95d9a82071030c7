"""Walks of a puppet: in all directions, up and down slopes and stairs, and how its feet come down.   [M4]"""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from helpers.hands import lead, on_treads, stroll, walk
from poise.jobs.walk.metrics import find_soles
from poise.world.ground.ground import Slope
from poise.world.ground.profile import Stairs

LEG = 0.86  # m, of a body of 1.75 m


@pytest.mark.parametrize("degrees", range(0, 360, 45))
@pytest.mark.many(1)
def test_it_walks_every_way_and_its_feet_stay(degrees: int) -> None:
    way = math.radians(degrees)
    length = 0.34 - 0.1 * abs(math.sin(way))
    found = walk(stroll(way, 8, length))
    wanted = 4.0 * length * LEG * np.array([math.sin(way), math.cos(way)])
    assert np.abs(found.moved[[0, 2]] - wanted).max() < 0.08
    assert found.slip < 0.1 and found.deepest < 3.0 and found.hovers < 1.0
    assert found.foot < 70.0 and found.root < 35.0  # a foot that jumped by 5 mm would have 72


@pytest.mark.parametrize("degrees", [8.0, -8.0])
@pytest.mark.many(1)
def test_it_walks_up_and_down_a_slope(degrees: int) -> None:
    ground = Slope(math.radians(degrees))

    def height(x: float, z: float) -> float:
        return float(ground.height_at(np.array([x * LEG]), np.array([z * LEG]))[0]) / LEG

    found = walk(stroll(0.0, 6, 0.5, 0.9, height=height), ground)
    assert found.moved[2] > 1.0 and found.moved[1] * degrees > 0.0
    assert found.slip < 1.5 and found.deepest < 6.0 and found.hovers < 5.0
    assert found.foot < 110.0 and found.root < 40.0


@pytest.mark.parametrize("share", [1.06, 1.08, 1.12])  # of a leg: how far hands take it to go with such steps
@pytest.mark.parametrize("rise", [0.1, 0.14, 0.18])
@pytest.mark.many(1)
def test_it_climbs_stairs(rise: float, share: float) -> None:
    ground, long = Stairs(rise, 0.34, 3, start=0.2), share * LEG

    def height(x: float, z: float) -> float:
        return float(ground.height_at(np.array([x * long]), np.array([z * long]))[0]) / LEG

    found = walk(stroll(0.0, 4, 2.0 * 0.34 / long, 1.1, height=height), ground)
    assert found.moved[1] == pytest.approx(3.0 * rise, abs=0.02) and found.moved[2] > 1.0
    assert found.slip < 0.1 and found.deepest < 5.0 and found.hovers < 1.0
    assert found.foot < 130.0 and found.root < 40.0


@pytest.mark.many(2)
@pytest.mark.parametrize("run", [0.29, 0.34])
@pytest.mark.parametrize("rise", [-0.18, -0.1, 0.1, 0.18])
def test_hands_that_look_lead_it_down_stairs_and_up(rise: float, run: float) -> None:
    ground = Stairs(rise, run, 3, start=0.2)
    found, hands = lead(lambda half: on_treads(ground, half, 0.1), ground, beat=1.5)
    assert found.moved[1] == pytest.approx(3.0 * rise, abs=0.02) and found.moved[2] > 0.3 + 2.0 * run - 0.1
    assert len(hands.landed) == 4
    # a foot across an edge rolls about it, which heel and ball tell of as a slip
    assert found.slip < 2.0 and found.deepest < 6.0 and found.hovers < 2.0
    assert found.foot < 130.0 and found.root < 70.0


@pytest.mark.slow
@pytest.mark.parametrize(("size", "mass"), [(1.2, 25.0), (1.95, 110.0)])
def test_a_child_and_a_tall_man_go_down_the_same_stairs(size: float, mass: float) -> None:
    ground = Stairs(-0.1, 0.34, 3, start=0.2)
    found, _ = lead(lambda half: on_treads(ground, half, 0.1), ground, size, mass, beat=1.5)
    assert found.moved[1] == pytest.approx(-0.3, abs=0.02)
    assert found.slip < 1.0 and found.deepest < 6.0 and found.hovers < 2.0
    assert found.foot < 130.0 and found.root < 70.0


@pytest.mark.many(1)
@pytest.mark.parametrize("degrees", [8.0, -8.0])
def test_hands_that_look_go_as_far_on_a_slope_as_they_mean(degrees: float) -> None:
    ground = Slope(math.radians(degrees))
    steps = 5

    def footholds(half: float) -> list[tuple[int, float, float]]:
        return [(k % 2, half * (-1.0) ** k, 0.3 * min(k + 1, steps)) for k in range(steps + 1)]

    found, _ = lead(footholds, ground)
    assert found.moved[2] == pytest.approx(0.3 * steps, abs=0.12)
    assert found.slip < 1.0 and found.deepest < 6.0 and found.hovers < 6.0
    assert found.foot < 130.0 and found.root < 70.0


@pytest.mark.slow
def test_a_foot_across_an_edge_lies_on_what_is_higher() -> None:
    ground = Stairs(-0.1, 1.0, 1, start=0.05)  # its heels are on the upper level, its toes over the lower one
    stage = poise.Stage(ground=ground)
    actor = stage.add(poise.Character.human(1.75, 75))
    still = stroll(0.0, 1, 0.0, 1.0, lift=0.08)
    actor.drive("body", poise.Puppet([poise.PuppetLayer(poise.load_mapping("legs"), still)]))
    clip = stage.run(still.duration, fps=60.0).clip()
    soles = find_soles(clip).points
    over = soles[..., 1] - ground.height_at(soles[..., 0], soles[..., 2])
    assert over.min() > -0.02
