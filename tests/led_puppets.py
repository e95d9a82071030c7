"""Puppets that hands walk, and what came of it, measured on poses: by hands that were held before, or that look."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import poise
from looking import LookingHands
from poise.drivers.puppet.player import PuppetPlayer
from poise.jobs.puppet.job import measure_puppet
from poise.jobs.walk.metrics import find_soles
from poise.motion.clip import Clip
from poise.puppetry.hands import HandsTake, LiveHands
from poise.world.ground.profile import Stairs

FPS = 120.0  # Hz
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
    clip, player, hands = record(footholds, ground, poise.Character.human(size, mass), **more)
    return measure(clip, player, ground), hands


def record(
    footholds: Callable[[float], list[tuple[int, float, float]]], ground: Any, character: poise.Character,
    **more: float,
) -> tuple[Clip, PuppetPlayer, LookingHands]:  # fmt: skip
    """A body that hands lead which look, every picture of it."""
    stage = poise.Stage(dt=0.5 / FPS) if ground is None else poise.Stage(dt=0.5 / FPS, ground=ground)
    actor = stage.add(character)
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
    return Clip(actor.skeleton, (1.0 + np.arange(len(poses))) / FPS, roots, turns), player, hands


def measure(clip: Clip, player: PuppetPlayer, ground: Any) -> Walked:
    begin = float(clip.times[0])
    stances = [(int(side), down - begin, min(up - begin, clip.duration)) for side, down, up in player.stances]
    soles = find_soles(clip).points
    over = soles[..., 1] - (0.0 if ground is None else ground.height_at(soles[..., 0], soles[..., 2]))
    if isinstance(ground, Stairs):  # what is in a riser is as deep in it as it is behind its edge
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


def on_treads(ground: Stairs, half: float, behind: float) -> list[tuple[int, float, float]]:
    """A foot on each step, `behind` (m) the edge before it, and the other one beside the last."""
    edges = ground.start + ground.run * np.arange(ground.count)
    return [
        (k % 2, half * (-1.0) ** k, float(edges[min(k, ground.count - 1)]) + behind) for k in range(ground.count + 1)
    ]
