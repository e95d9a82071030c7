"""Somebody who moves already, about to walk: feet that stand stay where they are, one in the air is put down first."""

from __future__ import annotations

import numpy as np

from poise.body.character import Character
from poise.spatial import rotation
from poise.walking.course import Step, StepCourse, Timing
from poise.walking.feet import WalkingFoot, build_feet
from poise.walking.foot_path import FootStance, FootSwing
from poise.walking.foothold import Refusal, Terrain
from poise.walking.lying import stand_on
from poise.walking.manner import Manner
from poise.walking.stride import check_stride

KNOT = 0.05  # s, of the walker's plans
_AIR = 0.012  # m over the ground that a sole is in the air
_DOWN = 0.45  # s that a foot in the air takes to the ground
_LEAN = 0.35  # rad that a foot stands tilted at most
_UP = np.array([0.0, 1.0, 0.0])


def take_stances(
    character: Character, terrain: Terrain, R: np.ndarray, p: np.ndarray, v: np.ndarray, manner: Manner
) -> tuple[StepCourse, int | None]:
    """The course of a body in motion from time 0 on, and which foot (0 left, 1 right) is in the air; None: neither.

    R, p, v  (J, 3, 3), (J, 3) m and (J, 3) m/s, of all bodies
    """
    feet = build_feet(character)
    gaps = [_find_gap(foot, terrain, R[foot.joint], p[foot.joint]) for foot in feet]
    lifted = int(np.argmax(gaps)) if max(gaps) > _AIR else None
    stances: list[FootStance] = [_stand(foot, terrain, R[foot.joint], p[foot.joint]) for foot in feet]
    if lifted is None:
        return StepCourse(feet, ([stances[0]], [stances[1]])), None
    return _put_down(feet, lifted, stances, terrain, R, p, v, manner), lifted


def _find_gap(foot: WalkingFoot, terrain: Terrain, R: np.ndarray, p: np.ndarray) -> float:
    """m, between the ground and what of a sole is nearest to it."""
    corners = p + np.concatenate([foot.corners, foot.front]) @ R.T
    return float(np.min(corners[:, 1] - _find_heights(terrain, corners, float(p[1]) + 0.1)))


def _find_heights(terrain: Terrain, points: np.ndarray, below: float) -> np.ndarray:
    """(N,) m, of the floor under points (N, 3) that is not higher than `below`."""
    return np.array([terrain.height(float(x), float(z), below=below) for x, _, z in points])


def _stand(foot: WalkingFoot, terrain: Terrain, R: np.ndarray, p: np.ndarray) -> FootStance:
    """A sole that lies flat where the lowest of it is now."""
    turn, corners = rotation.from_matrix(R), p + foot.corners @ R.T
    normal = terrain.floor.find(float(p[0]), float(p[2]), float(p[1]) + 0.1)[1]
    own_up = rotation.rotate(turn, _UP)
    if np.arccos(np.clip(float(own_up @ normal), -1.0, 1.0)) < _LEAN:
        turn = rotation.multiply(rotation.between(own_up, normal), turn)
    else:
        ahead = rotation.rotate(turn, np.array([0.0, 0.0, 1.0]))
        level = rotation.exp(np.array([0.0, float(np.arctan2(ahead[0], ahead[2])), 0.0]))
        turn = rotation.multiply(rotation.between(_UP, normal), level)
    over = corners[:, 1] - _find_heights(terrain, corners, float(p[1]) + 0.1)
    share = np.exp(-(over - over.min()) / 0.004)  # who is nearest to the ground stays
    share /= share.sum()
    place = share @ corners - rotation.rotate(turn, share @ (foot.corners + foot.down * _UP))
    # The sole's plane passes where the ground is under the middle of the sole.
    middle = place + rotation.rotate(turn, foot.corners.mean(axis=0) * [1.0, 0.0, 1.0])
    place[1] += terrain.height(float(middle[0]), float(middle[2]), below=float(p[1]) + 0.1) - middle[1]
    return FootStance(place, turn)


def _put_down(
    feet: tuple[WalkingFoot, WalkingFoot], side: int, stances: list[FootStance], terrain: Terrain, R: np.ndarray,
    p: np.ndarray, v: np.ndarray, manner: Manner,
) -> StepCourse:  # fmt: skip
    """A course on which one foot comes down from where it is."""
    foot, other = feet[side], stances[1 - side]
    leg = min(each.leg for each in feet)
    spot = _find_spot(feet, side, stances[side], other, terrain, p[foot.joint] + 0.2 * v[foot.joint], manner, leg)
    land = KNOT * round(_DOWN * manner.scale(leg) / KNOT)
    turn = rotation.from_matrix(R[foot.joint])
    place = p[foot.joint] - rotation.rotate(turn, foot.down * _UP)
    begin = FootStance(place, turn, rise=-2.0 * KNOT, off=-KNOT)
    timing = Timing(KNOT, land, KNOT * round(0.2 * manner.scale(leg) / KNOT), 0.0)
    course = StepCourse(feet, ([begin], [other]) if side == 0 else ([other], [begin]))
    course.add(side, spot, FootSwing(top=0.0, up=0.01, down=0.02), -KNOT, timing)
    # It has been in the air for a while: nothing of it carries.
    course.stances[side][0] = begin
    course.steps[0] = Step(side, -2.0 * KNOT, -KNOT, course.steps[0].land)
    return course


def _find_spot(
    feet: tuple[WalkingFoot, WalkingFoot], side: int, under: FootStance, other: FootStance, terrain: Terrain,
    near: np.ndarray, manner: Manner, leg: float,
) -> FootStance:  # fmt: skip
    """Where a foot in the air comes down: under where it goes, or beside the other."""
    foot, outward = feet[side], 1.0 if side == 0 else -1.0
    ahead = rotation.rotate(other.turn, np.array([0.0, 0.0, 1.0]))
    heading = float(np.arctan2(ahead[0], ahead[2]))
    aside = np.array([np.cos(heading), -np.sin(heading)]) * outward
    along = np.array([np.sin(heading), np.cos(heading)])
    forward = float((near[[0, 2]] - other.place[[0, 2]]) @ along)
    tries = [near[[0, 2]]]
    for wider in (1.0, 1.3, 1.6, 2.0):
        for share in (1.0, 0.5, 0.0):
            far = float(np.clip(forward, -0.4 * leg, 0.5 * leg)) * share
            tries.append(other.place[[0, 2]] + wider * manner.width * leg * aside + far * along)
    for x, z in tries:
        found = terrain.find_foothold(
            float(x), float(z), heading + outward * manner.toe_out + foot.yaw, foot.sole, level=float(other.place[1]),
            up=0.3 * leg, down=0.3 * leg,
        )  # fmt: skip
        if isinstance(found, Refusal):
            continue
        spot = stand_on(foot, found, terrain)
        if not check_stride(feet, side, spot, other):
            return spot
    return under
