"""A pose put on its feet: both soles flat on the floor, knees not quite straight, the centre of mass over them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import build_footing, find_soles, leg_length
from poise.body.roles import SIDES
from poise.drivers.balance.foot_kernels import FLOORS, LEVEL_AT, NORMAL, ask_floor
from poise.drivers.balance.support_polygon import find_outline
from poise.drivers.body import Body
from poise.errors import InputError
from poise.ik.two_bone import correct_two_bone
from poise.motion.motion import Pose
from poise.motion.samples.body import REACH, Figure
from poise.motion.samples.tracks import build_clip, stand
from poise.spatial import rotation
from poise.world.foot_boxes import find_corners, place_corners

_ROUNDS = 4
_INNER = 0.6  # of the support, about its middle: where the centre of mass may begin
_AXIS = np.array([1.0, 0.0, 0.0])
_UP = np.array([0.0, 1.0, 0.0])
_HOLLOW = 0.01  # m: a sole under which the floor is deeper than this looks for a better place
# m, how far it looks, nearest first, and in how many directions: up to half a foot.
_LOOK, _WAYS = (0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14), 16


def put_on_floor(body: Body) -> None:
    """Bring a pose that was made for level ground at 0 to where there is floor under it and room above that.

    The lower foot has the floor under its sole as far below it as it had the level ground.
    """
    body.update()
    start = float(body.state.root[1])
    room = float(np.max(body.p[:, 1]))
    height = body.floor.find_room(body.state.root[0], body.state.root[2], room)
    if not np.isfinite(height):
        return
    body.state.root[1] = start + height
    body.update()
    try:
        _, _, levels = _settle_feet(body)
    except InputError:
        return  # it has no feet that could be lower or higher
    body.state.root[1] = start + min(levels)


def plant_feet(body: Body) -> None:
    """Change the legs, and the root where they cannot reach, so that the body's pose stands flat on the floor.

    Feet stay where they are as seen from above, unless the floor has an edge there, and keep their heading; they turn
    with the floor, and toes lie flat. The root comes down where a leg would be straighter than `REACH`, and moves
    sideways where the centre of mass would be outside the inner support. It goes along with a ground that moves.
    """
    skeleton, state = body.skeleton, body.state
    soles = find_soles(skeleton)
    body.update()
    corners = [find_corners(box) for box in build_footing(skeleton)]
    ankles, turns, _ = _settle_feet(body)
    inner = find_outline(np.stack(list(map(place_corners, ankles, turns, corners)))).shrink(_INNER)
    for _ in range(_ROUNDS):
        before = np.concatenate([state.root, state.q.ravel()])
        x, z = inner.clamp(body.c[0], body.c[2])
        state.root[0] += x - body.c[0]
        state.root[2] += z - body.c[2]
        body.update()
        _come_down(body, ankles)
        body.update()
        for side, ankle, turn, sole in zip(SIDES, ankles, turns, soles, strict=True):
            _place_leg(body, side, ankle, turn)
            for joint in skeleton.descendants(sole.foot)[1:]:
                state.q[joint] = rotation.identity()
        body.update()
        if np.max(np.abs(np.concatenate([state.root, state.q.ravel()]) - before)) < 1e-9:
            break
    state.v += body.floor.record["speed"][0]


def _settle_feet(body: Body) -> tuple[np.ndarray, list[np.ndarray], list[float]]:
    """Ankles (2, 3), orientations of the feet, and heights of the floor under them, for soles that lie on it."""
    skeleton = body.skeleton
    ankles, turns, levels = np.zeros((2, 3)), [], []
    for k, (side, sole, box) in enumerate(zip(SIDES, find_soles(skeleton), build_footing(skeleton), strict=True)):
        ankles[k] = body.p[sole.foot]
        knee = float(body.p[skeleton.index(side + "LowerLeg"), 1])
        level = _level(body.world_turn(sole.foot))
        turn, height = _settle(body, level, ankles[k], find_corners(box), -float(sole.heel[1]), knee)
        turns.append(turn)
        levels.append(height)
    return ankles, turns, levels


def _settle(
    body: Body, level: np.ndarray, ankle: np.ndarray, corners: np.ndarray, height: float, knee: float
) -> tuple[np.ndarray, float]:
    """Put an ankle (3,), in place, where its sole lies on the floor; the foot's orientation, and the floor's height.

    level   (4,) of the foot if the floor were level;  height  m, of the ankle over the sole
    knee    m: what is higher is not under the foot
    """
    row, R = np.zeros(FLOORS), rotation.to_matrix(level)

    def gap(x: float, z: float) -> float:
        return float(ask_floor(body.floor.record[0], R, np.array([x, ankle[1], z]), corners, knee, row))

    x, z = _find_place(gap, float(ankle[0]), float(ankle[2]))
    gap(x, z)
    normal = row[NORMAL : NORMAL + 3]
    turn = rotation.multiply(rotation.between(_UP, normal), level)
    # the sole's plane is `height` below the ankle along the normal, and passes where the middle of the sole is asked
    middle = R @ corners.mean(axis=0)
    aside = (normal[0] * middle[0] + normal[2] * middle[2]) / normal[1]
    ankle[:] = x, row[LEVEL_AT] + aside + height / normal[1], z
    return (turn if normal[1] < 1.0 else level), float(row[LEVEL_AT])


def _find_place(gap: Callable[[float, float], float], x: float, z: float) -> tuple[float, float]:
    """The nearest place where the floor is even under a sole; where it was, if there is none near."""
    if gap(x, z) <= _HOLLOW:
        return x, z
    for far in _LOOK:
        for k in range(_WAYS):
            angle = 2.0 * np.pi * k / _WAYS
            there = x + far * np.sin(angle), z + far * np.cos(angle)
            if gap(*there) <= _HOLLOW:
                return there
    return x, z


def _level(turn: np.ndarray) -> np.ndarray:
    """A foot's orientation with its sole level: the turn about the vertical that brings +Z where it points."""
    ahead = rotation.rotate(turn, np.array([0.0, 0.0, 1.0]))
    return rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), float(np.arctan2(ahead[0], ahead[2])))


def _come_down(body: Body, ankles: np.ndarray) -> None:
    """Lower the root until no leg has to be longer than it may."""
    room = []
    for side, ankle in zip(SIDES, ankles, strict=True):
        hip = body.p[body.skeleton.index(side + "UpperLeg")]
        length = REACH * leg_length(body.skeleton, side)
        flat = np.hypot(*(hip - ankle)[[0, 2]])
        room.append(ankle[1] + np.sqrt(max(length**2 - flat**2, (0.3 * length) ** 2)) - hip[1])
    body.state.root[1] += min(min(room), 0.0)


def _place_leg(body: Body, side: str, ankle: np.ndarray, turn: np.ndarray) -> None:
    """Bend a leg so that its ankle is at a place, the foot at an orientation."""
    skeleton, q = body.skeleton, body.state.q
    upper, lower, foot = (skeleton.index(side + stem) for stem in ("UpperLeg", "LowerLeg", "Foot"))
    rest = skeleton.rest_positions()
    world = [body.world_turn(joint) for joint in (upper, lower)]
    hinge = rotation.rotate(world[0], _AXIS)
    limb = correct_two_bone(
        world[0][None], world[1][None], rest[lower] - rest[upper], rest[foot] - rest[lower],
        (ankle - body.p[upper])[None], hinge[None],
    )  # fmt: skip
    turned = {upper: limb.upper[0], lower: limb.lower[0], foot: turn}
    for joint in (upper, lower, foot):
        # joints between the three (twist bones) stay as they are and go along
        above = _world_above(body, joint, turned)
        q[joint] = rotation.multiply(rotation.conjugate(above), turned[joint])


def _world_above(body: Body, joint: int, turned: dict[int, np.ndarray]) -> np.ndarray:
    """The world orientation of what carries a joint, with some joints' orientations changed."""
    parent = int(body.tree.parents[joint])
    if parent in turned:
        return turned[parent]
    if parent < 0:
        return rotation.identity()
    return rotation.multiply(_world_above(body, parent, turned), body.state.q[parent])


def stand_at_ease(character: Character) -> Pose:
    """A relaxed stand for humans; the rest pose of anything else."""
    try:
        figure = Figure(character.skeleton)
        clip = build_clip(figure, stand(figure, np.zeros(1)), "stand")
    except InputError:
        skeleton = character.skeleton
        q = np.zeros((len(skeleton), 4))
        q[:, 0] = 1.0
        return Pose(np.array(skeleton.offsets[0]), q)
    return Pose(clip.root[0].copy(), clip.rotations[0].copy())
