"""A pose put on its feet: both soles flat on the ground, knees not quite straight, the centre of mass over them."""

from __future__ import annotations

import numpy as np

from poise.body.roles import SIDES
from poise.drivers.rig import Rig
from poise.drivers.support_kernels import clamp_to_hull, find_hull
from poise.ik.limb import reach_with_limb
from poise.motion.feet import find_soles, leg_length
from poise.motion.own.figure import REACH
from poise.spatial import rotation
from poise.world.footing import build_footing, find_corners

_ROUNDS = 4
_INNER = 0.6  # of the support, about its middle: where the centre of mass may begin
_AXIS = np.array([1.0, 0.0, 0.0])


def plant_feet(rig: Rig) -> None:
    """Change the legs, and the root where they cannot reach, so that the rig's pose stands flat on the ground.

    Feet stay where they are as seen from above and keep their heading; toes lie flat. The root comes down where a leg
    would be straighter than `REACH`, and moves sideways where the centre of mass would be outside the inner support.
    """
    skeleton, state = rig.skeleton, rig.state
    soles = find_soles(skeleton)
    rig.update()
    feet = [skeleton.index(side + "Foot") for side in SIDES]
    turns = [_level(rig.world_turn(foot)) for foot in feet]
    ankles = np.array([rig.p[foot] for foot in feet])
    ankles[:, 1] = [rig.ground - sole.heel[1] for sole in soles]
    corners = [find_corners(box) for box in build_footing(skeleton)]
    points = np.concatenate(
        [ankle + rotation.rotate(turn, c) for ankle, turn, c in zip(ankles, turns, corners, strict=True)]
    )[:, [0, 2]]
    hull = np.empty((9, 2))
    size = find_hull(np.ascontiguousarray(points), len(points), hull)
    middle = hull[:size].mean(axis=0)
    inner = middle + _INNER * (hull - middle)
    for _ in range(_ROUNDS):
        before = np.concatenate([state.root, state.q.ravel()])
        x, z = clamp_to_hull(inner, size, float(rig.c[0]), float(rig.c[2]))
        state.root[0] += x - rig.c[0]
        state.root[2] += z - rig.c[2]
        rig.update()
        _come_down(rig, ankles)
        rig.update()
        for side, ankle, turn, sole in zip(SIDES, ankles, turns, soles, strict=True):
            _place_leg(rig, side, ankle, turn)
            for joint in skeleton.descendants(sole.foot)[1:]:
                state.q[joint] = rotation.identity()
        rig.update()
        if np.max(np.abs(np.concatenate([state.root, state.q.ravel()]) - before)) < 1e-9:
            break


def _level(turn: np.ndarray) -> np.ndarray:
    """A foot's orientation with its sole level: the turn about the vertical that brings +Z where it points."""
    ahead = rotation.rotate(turn, np.array([0.0, 0.0, 1.0]))
    return rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), float(np.arctan2(ahead[0], ahead[2])))


def _come_down(rig: Rig, ankles: np.ndarray) -> None:
    """Lower the root until no leg has to be longer than it may."""
    room = []
    for side, ankle in zip(SIDES, ankles, strict=True):
        hip = rig.p[rig.skeleton.index(side + "UpperLeg")]
        length = REACH * leg_length(rig.skeleton, side)
        flat = np.hypot(*(hip - ankle)[[0, 2]])
        room.append(ankle[1] + np.sqrt(max(length**2 - flat**2, (0.3 * length) ** 2)) - hip[1])
    rig.state.root[1] += min(min(room), 0.0)


def _place_leg(rig: Rig, side: str, ankle: np.ndarray, turn: np.ndarray) -> None:
    """Bend a leg so that its ankle is at a place, the foot at an orientation."""
    skeleton, q = rig.skeleton, rig.state.q
    upper, lower, foot = (skeleton.index(side + stem) for stem in ("UpperLeg", "LowerLeg", "Foot"))
    rest = skeleton.rest_positions()
    world = [rig.world_turn(joint) for joint in (upper, lower)]
    hinge = rotation.rotate(world[0], _AXIS)
    limb = reach_with_limb(
        world[0][None], world[1][None], rest[lower] - rest[upper], rest[foot] - rest[lower],
        (ankle - rig.p[upper])[None], hinge[None],
    )  # fmt: skip
    turned = {upper: limb.upper[0], lower: limb.lower[0], foot: turn}
    for joint in (upper, lower, foot):
        # joints between the three (twist bones) stay as they are and go along
        above = _world_above(rig, joint, turned)
        q[joint] = rotation.multiply(rotation.conjugate(above), turned[joint])


def _world_above(rig: Rig, joint: int, turned: dict[int, np.ndarray]) -> np.ndarray:
    """The world orientation of what carries a joint, with some joints' orientations changed."""
    parent = int(rig.tree.parents[joint])
    if parent in turned:
        return turned[parent]
    if parent < 0:
        return rotation.identity()
    return rotation.multiply(_world_above(rig, parent, turned), rig.state.q[parent])
