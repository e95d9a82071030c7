"""Walks of a puppet: in all directions, up and down slopes, up stairs, and how its feet come down.   [M4]"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import poise
from poise.drivers.puppet_player import PuppetPlayer
from poise.jobs.puppet import measure_puppet
from poise.jobs.walk_figures import find_soles
from poise.puppetry.hands import HandsTake
from poise.world.steps import Steps
from poise.world.tilted import Tilted
from strolling import stroll

LEG, FPS = 0.86, 120.0  # m, of the body below; Hz
RISER = 0.004  # m


class Walked(NamedTuple):
    """What came of hands: m, mm, m/s2."""

    moved: np.ndarray
    slip: float
    deepest: float
    hovers: float
    foot: float
    root: float


def walk(hands: HandsTake, ground: Any = None) -> Walked:
    stage = poise.Stage() if ground is None else poise.Stage(ground=ground)
    actor = stage.add(poise.Character.human(1.75, 75))
    actor.drive("body", poise.Puppet([poise.PuppetLayer(poise.load_mapping("legs"), hands)]))
    clip = stage.run(hands.duration, fps=FPS).clip()
    player = next(each for each in actor.players if isinstance(each, PuppetPlayer))
    stances = [(int(side), begin, min(end, clip.duration)) for side, begin, end in player.stances]
    soles = find_soles(clip).points
    over = soles[..., 1] - (0.0 if ground is None else ground.height_at(soles[..., 0], soles[..., 2]))
    if isinstance(ground, Steps):  # what is in a riser is as deep in it as it is behind its edge
        behind = ground.height_at(soles[..., 0], soles[..., 2] - RISER)
        over = np.where(soles[..., 1] >= behind, np.maximum(over, -RISER), over)
    feet = clip.positions[:, [clip.skeleton.index(f"{side}Foot") for side in ("left", "right")]]
    return Walked(
        clip.root[-1] - clip.root[0],
        measure_puppet(clip, stances)["foot_slip_mm"],
        -1e3 * float(over.min()),
        1e3 * float(over.min(axis=(1, 2)).max()),
        float(np.linalg.norm(np.diff(feet, 2, axis=0), axis=-1).max()) * FPS**2,
        float(np.linalg.norm(np.diff(clip.root, 2, axis=0), axis=-1).max()) * FPS**2,
    )


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
    ground = Tilted(math.radians(degrees))

    def height(x: float, z: float) -> float:
        return float(ground.height_at(np.array([x * LEG]), np.array([z * LEG]))[0]) / LEG

    found = walk(stroll(0.0, 6, 0.5, 0.9, height=height), ground)
    assert found.moved[2] > 0.2 and found.moved[1] * degrees > 0.0
    assert found.slip < 12.0 and found.deepest < 6.0 and found.hovers < 5.0
    assert found.foot < 110.0 and found.root < 40.0


@pytest.mark.parametrize("share", [1.06, 1.08, 1.12])  # of a leg: how far hands take it to go with such steps
@pytest.mark.parametrize("rise", [0.1, 0.14, 0.18])
@pytest.mark.many(1)
def test_it_climbs_stairs(rise: float, share: float) -> None:
    ground, long = Steps(rise, 0.34, 3, start=0.2), share * LEG

    def height(x: float, z: float) -> float:
        return float(ground.height_at(np.array([x * long]), np.array([z * long]))[0]) / LEG

    found = walk(stroll(0.0, 4, 2.0 * 0.34 / long, 1.1, height=height), ground)
    assert found.moved[1] == pytest.approx(3.0 * rise, abs=0.02) and found.moved[2] > 1.0
    assert found.slip < 0.1 and found.deepest < 5.0 and found.hovers < 1.0
    assert found.foot < 130.0 and found.root < 40.0


@pytest.mark.slow
def test_a_foot_across_an_edge_lies_on_what_is_higher() -> None:
    ground = Steps(-0.1, 1.0, 1, start=0.05)  # its heels are on the upper level, its toes over the lower one
    stage = poise.Stage(ground=ground)
    actor = stage.add(poise.Character.human(1.75, 75))
    still = stroll(0.0, 1, 0.0, 1.0, lift=0.08)
    actor.drive("body", poise.Puppet([poise.PuppetLayer(poise.load_mapping("legs"), still)]))
    clip = stage.run(still.duration, fps=60.0).clip()
    soles = find_soles(clip).points
    over = soles[..., 1] - ground.height_at(soles[..., 0], soles[..., 2])
    assert over.min() > -0.02
