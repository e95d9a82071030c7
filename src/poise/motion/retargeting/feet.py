"""Feet that stand: where the source's sole is down and still, the target's stays at one place on the ground.

Each point of a sole (the heel, and the front: the ball of a foot with toes, the tip of one without) is held while the
source's is down. With both down the foot is flat and does not turn; with one down it rolls or pivots over that point
as the source's does. When the weight goes from one point to the other, the second is held where it comes down, so
that a foot of any length rolls without sliding. A whole stance is then placed as near as can be to where the source
stood, scaled. Between stances what was corrected fades.

A foot that travels further than a few centimetres while it is down is sliding, and slides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.geometry.soles import Sole, find_soles, leg_length
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.ik.two_bone import correct_two_bone, find_hinge
from poise.motion.clip import Clip
from poise.motion.contacts.contacts import Contacts, point_velocity
from poise.motion.contacts.points import foot_points
from poise.motion.parts import find_runs
from poise.motion.retargeting.draft import Draft
from poise.motion.retargeting.easing import average, cover, fade, soften
from poise.spatial import rotation

X, Y, Z = np.eye(3)
_STILL = 0.35  # leg lengths a second (0.3 m/s): landing heels are faster, standing soles of noisy captures slower
_LOW = 0.015  # of the leg's length (1.3 cm): the highest above where it rests, beyond which a point has left
_SLIDES = 0.06  # of the leg's length (5 cm): the furthest that a point strays from its middle while it stands
_OVERLAP = 0.03  # s, both points are down at least so long when one takes over from the other
_FADE = 0.25  # s, for positions and turns of feet; 0.15 to 0.3 look alike, shorter shows as a twitch
_REACH = 0.996  # of the leg's length, the longest a standing leg gets: a knee bent by 10 degrees
_GIVE = 0.006  # of the leg's length, over which a leg's stretching ends
_CLEAR_HINGE = 0.05  # mean sine of a limb's bend from which on the motion itself shows its hinge
_LOWER = 0.08  # s, how early and late the pelvis begins to be lowered
_LEVEL = 0.15  # s to either side, over which the hips go from the level of one foot to that of the other
_CLEARANCE = 0.004  # m, over which a swinging foot is lifted out of the ground
_STANDS = 0.75  # of the leg's length: a hip this far above its ankle stands on it
_LARGEST_ERRORS = np.radians(35.0), np.radians(75.0)  # of a sole at rest that points down, or up, while it stands


@dataclass(frozen=True, eq=False)
class Stance:
    """When each foot stands, as found on the source. Columns are left, right.

    heel, front  (F, 2) whether the heel, and the ball or the tip, are held
    ground       m, height of the source's ground
    belt         (F, 3) m, how far the ground has moved (a treadmill's; zeros on solid ground)
    """

    heel: np.ndarray
    front: np.ndarray
    ground: float
    belt: np.ndarray


def find_stance(source: Clip, contacts: Contacts) -> Stance:
    """When the soles of a clip of a reference skeleton stand still."""
    leg = leg_length(source.skeleton, "left")
    belt = (source.times - source.times[0])[:, None] * contacts.ground_velocity
    points = foot_points(source) - belt[:, None, None]
    speed = np.linalg.norm(point_velocity(source.times, points), axis=-1)
    heel, front = np.zeros((2, len(source), 2), bool)
    for side, sole in enumerate(find_soles(source.skeleton)):
        fore = slice(1, 3) if sole.toes is None else slice(1, 2)  # a stiff foot may roll over its tip
        heel[:, side] = _core(contacts.heel[:, side], speed[:, side, :1], points[:, side, :1], leg)
        front[:, side] = _core(contacts.toe[:, side], speed[:, side, fore], points[:, side, fore], leg)
        tilt = rotation.rotate(source.world[1][:, sole.foot], Z)[:, 1]
        _complete(source.times, heel[:, side], front[:, side], tilt)
    return Stance(heel, front, contacts.ground_height, belt)


def _core(down: np.ndarray, speed: np.ndarray, points: np.ndarray, leg: float) -> np.ndarray:
    """(F,) each contact from its first still frame to its last, unless it slides.

    speed, points  (F, n), (F, n, 3) of the points that may be the one that is held: the stillest counts
    """
    core = np.zeros_like(down)
    for first, last in find_runs(down):
        heights = points[first : last + 1, :, 1]
        low = heights - np.percentile(heights, 20, axis=0) < _LOW * leg
        still = np.flatnonzero(((speed[first : last + 1] < _STILL * leg) & low).any(axis=1))
        if len(still) == 0:
            continue
        first, last = first + still[0], first + still[-1]
        inside = points[first : last + 1, :, [0, 2]]
        strays = np.linalg.norm(inside - np.median(inside, axis=0), axis=-1).max(axis=0)
        core[first : last + 1] = strays.min() < _SLIDES * leg
    return core


def _complete(times: np.ndarray, heel: np.ndarray, front: np.ndarray, tilt: np.ndarray) -> None:
    """Let both points be down where a foot stands on one and the other would be in the ground, and for a moment where
    one takes over from the other, in place.

    tilt  (F,) how far up the foot points
    """
    heel |= front & (tilt > 0.0)
    front |= heel & (tilt < 0.0)
    count = 1 if len(times) < 2 else max(1, round(_OVERLAP / float(np.median(np.diff(times)))))
    for one, other in ((heel, front), (front, heel)):
        for end in np.flatnonzero(one[:-1] & ~one[1:] & ~other[:-1] & other[1:]):
            stop = end + 1 + np.argmin(np.append(other[end + 1 :], False))
            one[end + 1 : min(end + 1 + count, stop)] = True
        for first, last in find_runs(~one & other):
            if first > 0 and last < len(times) - 1 and last - first < count and one[first - 1] and one[last + 1]:
                one[first : last + 1] = True


def find_sole_errors(source: Clip) -> list[np.ndarray]:
    """(4,) for the left and the right foot: the turn that makes its sole flat at rest, as it is when it stands.

    Rest poses seldom say how a foot stands: captured soles are off by 25 degrees, and by 50 where markers were bad. A
    foot whose ankle is low and still under a leg that stands is flat. Toes that point down may mean it: a foot on
    tiptoe all the time stays so.
    """
    return [_find_sole_error(source, side) for side in SIDES]


def _find_sole_error(source: Clip, side: str) -> np.ndarray:
    leg = leg_length(source.skeleton, side)
    hip, ankle = (source.positions[:, source.skeleton.index(side + stem)] for stem in ("UpperLeg", "Foot"))
    stands = (hip - ankle)[:, 1] > _STANDS * leg
    if not stands.any():
        return rotation.identity()
    low = ankle[:, 1] < np.percentile(ankle[stands, 1], 10) + 2 * _LOW * leg
    still = np.linalg.norm(point_velocity(source.times, ankle), axis=-1) < 0.5 * _STILL * leg
    feet = source.world[1][stands & low & still, source.skeleton.index(f"{side}Foot")]
    if len(feet) == 0:
        return rotation.identity()
    up = rotation.rotate(rotation.conjugate(feet), Y).mean(axis=0)
    error = rotation.between(up, Y)
    largest = _LARGEST_ERRORS[0] if up[2] < 0 else _LARGEST_ERRORS[1]
    return error if rotation.angle(error, rotation.identity()) < largest else rotation.identity()


def stand(draft: Draft, source: Clip, stance: Stance, scale: float) -> np.ndarray:
    """Put the draft's feet on the ground and its hips where its legs reach, in place.

    Gives (F, 2) whether each foot stands. `scale` is target over source; `source` a clip of a reference skeleton.
    """
    steps = [_step(draft, source, stance, scale, i) for i in range(2)]
    standing = stance.heel | stance.front
    ankles = np.stack([step.ankle for step in steps], axis=1)
    for step in steps:
        draft.driven[step.sole.foot] = step.foot
        if step.sole.toes is not None and step.toes is not None:
            draft.driven[step.sole.toes] = step.toes
    draft.root = draft.root + _levelling(draft.times, np.stack([step.lift for step in steps], axis=1), standing) * Y
    draft.root = draft.root - _lowering(draft, ankles, standing)[:, None] * Y
    for i, side in enumerate(SIDES):
        limb = [draft.skeleton.index(side + stem) for stem in ("UpperLeg", "LowerLeg", "Foot")]
        reach_to(draft, limb, ankles[:, i], X, _REACH)
    return standing


@dataclass(eq=False)
class _Step:
    """One foot of the target over time.

    foot, toes  (F, 4) orientations
    ankle       (F, 3) m, where it should be
    lift        (F,) m, how much higher than it hangs from the source's hips it stands, in each stance
    """

    sole: Sole
    foot: np.ndarray
    toes: np.ndarray | None
    ankle: np.ndarray
    lift: np.ndarray


def _step(draft: Draft, source: Clip, stance: Stance, scale: float, side: int) -> _Step:
    times, heel, front = source.times, stance.heel[:, side], stance.front[:, side]
    sole = find_soles(draft.skeleton)[side]
    positions, orientations = draft.world()
    foot = _flatten(times, orientations[:, sole.foot], heel & front)
    toes = None
    if sole.toes is not None:
        toes = _hold(times, orientations[:, sole.toes], front, rotation.exp(_yaw(foot)[:, None] * Y))

    points = _sole_points(draft.skeleton, sole, foot, toes)
    ground = scale * stance.ground
    wanted = positions[:, sole.foot] + _spreading(draft, source, scale, side) - scale * stance.belt
    held = heel | front
    carrier = points[1] if toes is not None else points[2]
    ankle = _hold_points(wanted, (heel, front), (points[0], carrier), ground)
    path = wanted + fade(times, held, ankle - wanted, _FADE)
    sunk = ground - (path[None] + points).min(axis=0)[:, 1]
    path[:, 1] += np.where(held, 0.0, soften(sunk, _CLEARANCE))
    lift = np.zeros(len(times))
    for first, last in find_runs(held):
        lift[first : last + 1] = (ankle - wanted)[first : last + 1, 1].mean()
    return _Step(sole, foot, toes, path + scale * stance.belt, lift)


def _flatten(times: np.ndarray, foot: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """(F, 4) the foot, level and not turning in each stretch where it is flat on the ground."""
    level = foot.copy()
    for first, last in find_runs(flat):
        ahead = rotation.rotate(foot[first : last + 1], Z).mean(axis=0)
        level[first : last + 1] = rotation.exp(np.arctan2(ahead[0], ahead[2]) * Y)
    return _hold(times, foot, flat, level)


def _hold(times: np.ndarray, turns: np.ndarray, held: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(F, 4) as `wanted` where held, and from there back to `turns`."""
    change = rotation.log(rotation.multiply(wanted, rotation.conjugate(turns)))
    return rotation.multiply(rotation.exp(fade(times, held, change, _FADE)), turns)


def _yaw(foot: np.ndarray) -> np.ndarray:
    """(F,) rad, where a foot points, seen from above."""
    ahead = rotation.rotate(foot, Z)
    return np.arctan2(ahead[..., 0], ahead[..., 2])


def _sole_points(skeleton: Skeleton, sole: Sole, foot: np.ndarray, toes: np.ndarray | None) -> np.ndarray:
    """(3, F, 3) m, heel, ball and tip from the ankle, in world axes."""
    heel = rotation.rotate(foot, sole.heel)
    if sole.toes is None or toes is None:
        return np.stack([heel, rotation.rotate(foot, sole.ball), rotation.rotate(foot, sole.tip)])
    rest = skeleton.rest_positions()
    joint = rotation.rotate(foot, rest[sole.toes] - rest[sole.foot])
    return np.stack([heel, *(joint + rotation.rotate(toes, point) for point in (sole.ball, sole.tip))])


def _spreading(draft: Draft, source: Clip, scale: float, side: int) -> np.ndarray:
    """(F, 3) m, how much further out a foot goes than straight under its hip joint, as the source's is under its own.

    Feet come in with narrower hips, but never to less than half of their usual distance, where they would cross.
    """
    wide, narrow = (
        float(np.subtract(*(s.rest_positions()[s.index(f"{word}UpperLeg"), 0] for word in SIDES))) / 2.0
        for s in (draft.skeleton, source.skeleton)
    )
    across = rotation.rotate(draft.driven[draft.skeleton.index("hips")], X)
    left, right = (source.positions[:, source.skeleton.index(f"{word}Foot")] for word in SIDES)
    apart = max(float(np.median(np.sum((left - right) * across, axis=-1))), 0.0)
    return np.asarray((1 - 2 * side) * max(scale * narrow - wide - scale * apart / 4.0, 0.0) * across)


def _hold_points(
    wanted: np.ndarray, masks: tuple[np.ndarray, np.ndarray], points: tuple[np.ndarray, np.ndarray], ground: float
) -> np.ndarray:
    """(F, 3) m, the ankle over points that do not move while they are held; as wanted where none is.

    points  (F, 3) m each, heel and front from the ankle
    """
    ankle = wanted.copy()
    for first, last in find_runs(masks[0] | masks[1]):
        stance = slice(first, last + 1)
        anchors: list[np.ndarray | None] = [None, None]
        now = wanted[first]
        for t in range(first, last + 1):
            down = [p for p in range(2) if masks[p][t]]
            for p in down:
                if (anchor := anchors[p]) is not None:
                    now = anchor - points[p][t]
                    break
            for p in range(2):
                if p not in down:
                    anchors[p] = None
                elif anchors[p] is None:
                    touch = now + points[p][t]
                    anchors[p] = np.array([touch[0], ground, touch[2]])
            anchor = anchors[down[0]]
            assert anchor is not None
            now = anchor - points[down[0]][t]
            ankle[t] = now
        shift = (wanted[stance] - ankle[stance]).mean(axis=0)
        ankle[stance] += shift * (1 - Y)
    return ankle


def _levelling(times: np.ndarray, lift: np.ndarray, standing: np.ndarray) -> np.ndarray:
    """(F, 1) m, how far the hips go up with the ground under the standing feet, smooth over time.

    Captured floors rise and fall by centimetres, and feet at rest stand off theirs: legs keep their length over it.
    """
    some = standing.any(axis=1)
    if not some.any():
        return np.zeros((len(times), 1))
    mean = lift.sum(axis=1)[some] / standing.sum(axis=1)[some]
    return average(times, np.interp(times, times[some], mean), _LEVEL)[:, None]


def _lowering(draft: Draft, ankles: np.ndarray, standing: np.ndarray) -> np.ndarray:
    """(F,) m, how far the hips must come down for standing legs to reach their ankles, smooth over time."""
    positions, _ = draft.world()
    needed = np.zeros(len(draft.times))
    for i, side in enumerate(SIDES):
        hip = positions[:, draft.skeleton.index(f"{side}UpperLeg")]
        apart = ankles[:, i] - hip
        length = _REACH * leg_length(draft.skeleton, side)
        room = np.sqrt(np.maximum(length**2 - apart[:, 0] ** 2 - apart[:, 2] ** 2, 0.0))
        counts = np.clip(fade(draft.times, standing[:, i], standing[:, i : i + 1].astype(float), _FADE)[:, 0], 0.0, 1.0)
        needed = np.maximum(needed, counts * np.maximum(-apart[:, 1] - room, 0.0))
    return cover(draft.times, needed, _LOWER)


def reach_to(
    draft: Draft, limb: list[int], target: np.ndarray, hinge: np.ndarray, longest: float, keep_straight: bool = False
) -> None:
    """Bring a limb's end to `target` (F, 3) m, in place; where it would stretch beyond `longest` it gives way softly.

    limb           joints of the limb: the first bone's, the second's, the end
    hinge          (3,) the axis it bends about in the reference pose, where the motion does not show it
    longest        share of the limb's length
    keep_straight  whether a limb that is straighter already may stay so
    """
    first, second, end = limb
    rest = draft.skeleton.rest_positions()
    bones = rest[second] - rest[first], rest[end] - rest[second]
    positions, orientations = draft.world()
    upper, lower = orientations[:, first], orientations[:, second]
    own = find_hinge(upper, lower, *bones)
    axis = rotation.rotate(upper, hinge if np.linalg.norm(own) < _CLEAR_HINGE else own)
    reach = target - positions[:, first]
    far = np.linalg.norm(reach, axis=-1)
    length = float(np.linalg.norm(bones[0]) + np.linalg.norm(bones[1]))
    limit = np.full(len(far), longest * length)
    if keep_straight:
        limit = np.maximum(limit, np.linalg.norm(positions[:, end] - positions[:, first], axis=-1))
    kept = far - soften(far - limit, _GIVE * length)
    posed = correct_two_bone(upper, lower, *bones, reach * (kept / np.maximum(far, 1e-9))[:, None], axis)
    draft.driven[first], draft.driven[second] = posed.upper, posed.lower
