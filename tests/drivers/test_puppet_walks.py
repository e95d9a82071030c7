"""Walks of a puppet: in all directions, up and down slopes and stairs, and how its feet come down.   [M4]"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import poise
from looking import LookingHands
from poise.drivers.puppet_player import PuppetPlayer
from poise.jobs.puppet import measure_puppet
from poise.jobs.walk_figures import find_soles
from poise.motion.clip import Clip
from poise.puppetry.hands import HandsTake, LiveHands
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
    return measure(clip, next(each for each in actor.players if isinstance(each, PuppetPlayer)), ground)


def lead(
    footholds: Callable[[float], list[tuple[int, float, float]]], ground: Any = None, size: float = 1.75,
    mass: float = 75.0, **more: float,
) -> tuple[Walked, LookingHands]:  # fmt: skip
    """What comes of hands that look: (side, x, z) m of ankles, one a step, for hips of half a width."""
    stage = poise.Stage(dt=0.5 / FPS) if ground is None else poise.Stage(dt=0.5 / FPS, ground=ground)
    actor = stage.add(poise.Character.human(size, mass))
    live = LiveHands(np.zeros((2, 3)))
    actor.drive("body", poise.Puppet([poise.PuppetLayer(poise.load_mapping("legs"), live)]))
    half = float(actor.skeleton.rest_positions()[actor.skeleton.index("leftUpperLeg")][0])
    level = (lambda _x, _z: 0.0) if ground is None else lambda x, z: float(ground.height_at(x, z))
    hands = LookingHands(actor.skeleton, footholds(half), level, **more)
    live.put(0.0, *hands.hold())
    stage.build()
    player, poses = next(each for each in actor.players if isinstance(each, PuppetPlayer)), []
    while not hands.is_done:
        live.put(player.horizon, *hands.look(actor.pose()))
        stage.advance(2)
        poses.append(actor.pose())
        assert len(poses) < 60.0 * FPS
    roots, turns = (np.array([getattr(pose, name) for pose in poses]) for name in ("root", "rotations"))
    clip = Clip(actor.skeleton, (1.0 + np.arange(len(poses))) / FPS, roots, turns)
    return measure(clip, player, ground), hands


def measure(clip: Clip, player: PuppetPlayer, ground: Any) -> Walked:
    begin = float(clip.times[0])
    stances = [(int(side), down - begin, min(up - begin, clip.duration)) for side, down, up in player.stances]
    soles = find_soles(clip).points
    over = soles[..., 1] - (0.0 if ground is None else ground.height_at(soles[..., 0], soles[..., 2]))
    if isinstance(ground, Steps):  # what is in a riser is as deep in it as it is behind its edge
        behind = ground.height_at(soles[..., 0], soles[..., 2] - math.copysign(RISER, ground.rise))
        over = np.where(soles[..., 1] >= behind, np.maximum(over, -RISER), over)
    feet = clip.positions[:, [clip.skeleton.index(f"{side}Foot") for side in ("left", "right")]]
    return Walked(
        clip.root[-1] - clip.root[0],
        measure_puppet(clip, stances, ground)["foot_slip_mm"],
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
    assert found.moved[2] > 1.0 and found.moved[1] * degrees > 0.0
    assert found.slip < 1.5 and found.deepest < 6.0 and found.hovers < 5.0
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


def on_treads(ground: Steps, half: float, behind: float) -> list[tuple[int, float, float]]:
    """A foot on each step, `behind` (m) the edge before it, and the other one beside the last."""
    edges = ground.start + ground.run * np.arange(ground.count)
    return [
        (k % 2, half * (-1.0) ** k, float(edges[min(k, ground.count - 1)]) + behind) for k in range(ground.count + 1)
    ]


@pytest.mark.many(2)
@pytest.mark.parametrize("run", [0.29, 0.34])
@pytest.mark.parametrize("rise", [-0.18, -0.1, 0.1, 0.18])
def test_hands_that_look_lead_it_down_stairs_and_up(rise: float, run: float) -> None:
    ground = Steps(rise, run, 3, start=0.2)
    found, hands = lead(lambda half: on_treads(ground, half, 0.1), ground, beat=1.5)
    assert found.moved[1] == pytest.approx(3.0 * rise, abs=0.02) and found.moved[2] > 0.3 + 2.0 * run - 0.1
    assert len(hands.landed) == 4
    # a foot across an edge rolls about it, which heel and ball tell of as a slip
    assert found.slip < 2.0 and found.deepest < 6.0 and found.hovers < 2.0
    assert found.foot < 130.0 and found.root < 70.0


@pytest.mark.slow
@pytest.mark.parametrize(("size", "mass"), [(1.2, 25.0), (1.95, 110.0)])
def test_a_child_and_a_tall_man_go_down_the_same_stairs(size: float, mass: float) -> None:
    ground = Steps(-0.1, 0.34, 3, start=0.2)
    found, _ = lead(lambda half: on_treads(ground, half, 0.1), ground, size, mass, beat=1.5)
    assert found.moved[1] == pytest.approx(-0.3, abs=0.02)
    assert found.slip < 1.0 and found.deepest < 6.0 and found.hovers < 2.0
    assert found.foot < 130.0 and found.root < 70.0


@pytest.mark.many(1)
@pytest.mark.parametrize("degrees", [8.0, -8.0])
def test_hands_that_look_go_as_far_on_a_slope_as_they_mean(degrees: float) -> None:
    ground = Tilted(math.radians(degrees))
    steps = 5

    def footholds(half: float) -> list[tuple[int, float, float]]:
        return [(k % 2, half * (-1.0) ** k, 0.3 * min(k + 1, steps)) for k in range(steps + 1)]

    found, _ = lead(footholds, ground)
    assert found.moved[2] == pytest.approx(0.3 * steps, abs=0.12)
    assert found.slip < 1.0 and found.deepest < 6.0 and found.hovers < 6.0
    assert found.foot < 130.0 and found.root < 70.0


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
