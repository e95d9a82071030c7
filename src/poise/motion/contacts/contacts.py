"""Contacts of a body with what it stands on, found from the motion alone.

A point of a sole is down where it is both low and still. Still is relative to the ground, which may be the belt of a
treadmill; low is relative to the height at which that very point rests when it is still, because the soles of
captured skeletons lie a few centimetres off the floor, and floors give way. Floors are found at any height
(`find_unexplained`): the ground is the lowest, others are where the body must stand, since it does not fall. Knees
and hands are contacts where they rest near one of these floors, or where nothing else explains that the body does not
fall.

The limits were set on walks with force plates, those of landings on a run (see `tests/motion/test_motion_contacts.py`).
Durations are in seconds, speeds scale with how fast the feet of the clip get, lengths with the legs.
Each floor is level.

When a point is down lasts from landing to lift-off:

Low and still each have a strict and a loose limit (hysteresis): a contact is a stretch of time within the loose ones
that somewhere meets the strict ones. A foot that lands fast (a run, a drop) bears before it is still: in a run over
force plates the sole still slides at 2 m/s when the plate first feels it. What is left then of its way down is what
heel and shoe give way by. So a contact begins where the point has come as near as that to the lowest that it reaches,
and ends where it leaves that.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import leg_length
from poise.body.roles import SIDES
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import GRAVITY, build_tree
from poise.errors import PoiseError, unknown_name
from poise.frozen import Portable
from poise.motion.clip import Clip
from poise.motion.contacts.points import SOLE, TouchPoints, find_touch_points
from poise.motion.parts import find_runs

_HALF_WINDOW = 0.02  # s, velocities are differences over twice this: 2 mm of noise become 7 cm/s
_LOOSE_SPEED_SHARE = 0.2  # of the feet's top speed; 0.15 to 0.25 agree with the plates alike
_LOOSE_SPEED = (0.25, 0.9)  # m/s, the least and most of the loose limit: noise of a standing foot, landing heels
_STRICT = 0.5  # strict limits as a share of the loose ones
_LOOSE_HEIGHT = 0.05  # of the leg's length (4 cm): soft floors move by 2 cm, a walking toe clears 1 to 3 cm, but fast
# Of the leg's length (5.5 mm): what heel pads give way by in a run in shoes; 9 mm barefoot (De Clercq, Aerts and Kunnen
# 1994, "The mechanical characteristics of the human heel pad during foot strike in running"). On a run with plates
# 0.009 finds landings on time, this one 7 ms late; but a landing too early puts force into flight, and one too late is
# seen by the path of the centre of mass.
_GIVE = 0.006
_SEARCH_HEIGHT = 0.08  # of the leg's length: where points that may be on the ground are looked for
_OTHER_HEIGHT = 0.13  # of the leg's length (11 cm): joints of knees and wrists are not higher over what they rest on
_MOST_FLOORS = 64
_BELT_SPREAD, _SLOWEST_BELT = 0.15, 0.3  # m/s


@dataclass(frozen=True, eq=False)
class Contacts(Portable):
    """Which parts of a body are down. Columns are left, right.

    times            (F,) s, the clip's
    heel, toe        (F, 2) whether the heel, and the ball or the toes, are down
    ground_height    m, where the soles rest: the lowest floor
    ground_velocity  (3,) m/s, of a treadmill's belt; zeros on solid ground
    knee, hand       (F, 2) whether a knee or a hand rests on something
    floor            (F, 2) m, height of what each foot stands on; the ground's while it is up
    carried          (F,) whether something unseen carries the body: nothing touches, and it does not fall
    """

    times: np.ndarray
    heel: np.ndarray
    toe: np.ndarray
    ground_height: float
    ground_velocity: np.ndarray
    knee: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), bool))
    hand: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), bool))
    floor: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    carried: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    @property
    def foot(self) -> np.ndarray:
        """(F, 2) whether any part of each foot is down."""
        return self.heel | self.toe

    @property
    def flight(self) -> np.ndarray:
        """(F,) whether the body flies: nothing touches, and it falls freely."""
        held = [part for part in (self.heel, self.toe, self.knee, self.hand, self.carried[:, None]) if len(part)]
        return np.logical_not(np.concatenate(held, axis=1).any(axis=1))

    def touching(self, frames: np.ndarray) -> Contacts:
        """The same, but for flights that end early or begin late: `frames` (F,) are no flight.

        The feet that are down next to them are down there, too.
        """
        heel, toe = self.heel.copy(), self.toe.copy()
        for first, last in find_runs(frames & self.flight):
            after = last + 1 < len(frames) and not self.flight[last + 1]
            near = last + 1 if after else first - 1
            if 0 <= near < len(frames):
                heel[first : last + 1], toe[first : last + 1] = self.heel[near], self.toe[near]
        return dataclasses.replace(self, heel=heel, toe=toe)

    def intervals(self, side: str) -> np.ndarray:
        """(N, 2) s, first and last time of each contact of the "left" or the "right" foot."""
        if side not in SIDES:
            raise unknown_name("side", side, SIDES)
        return self.times[find_runs(self.foot[:, SIDES.index(side)])]


def find_contacts(clip: Clip) -> Contacts:
    """What touches, of both feet, knees and hands. A single frame has no speed: its low points are down."""
    leg = leg_length(clip.skeleton, "left")
    points = find_touch_points(clip)
    soles = points.soles
    velocity = point_velocity(clip.times, points.places)
    belt = _find_belt(points.places[:, soles], velocity[:, soles], leg)
    speed = np.linalg.norm(velocity - belt, axis=-1)
    loose_speed = np.clip(_LOOSE_SPEED_SHARE * np.percentile(speed[:, soles], 95), *_LOOSE_SPEED)
    loose, strict = speed < loose_speed, speed < _STRICT * loose_speed
    ground = _find_ground(points.places[:, soles, 1], strict[:, soles], leg)
    # Heights as if every point rested right on its floor.
    heights = points.places[..., 1].copy()
    heights[:, soles] -= _rest_heights(heights[:, soles], strict[:, soles], ground, leg)

    floors = _Floors(clip.times, heights, loose, strict, points, leg)
    floors.stand_on(ground)
    height = find_height(clip)
    floors.explain(height)
    parts = {kind: _by_side(clip.times, floors.down, points, kind) for kind in (*SOLE, "knee", "hand")}
    toe = np.stack([clean(clip.times, (parts["ball"] | parts["tip"])[:, side]) for side in range(2)], axis=1)
    supported = parts["heel"] | toe | parts["knee"] | parts["hand"]
    carried = np.zeros(len(clip), bool)
    for first, last in find_runs(~supported.any(axis=1)):
        carried[first : last + 1] = not falls(clip.times, height, int(first), int(last)) if len(clip) > 1 else False
    floor = np.stack([_floor_of(floors.level[:, points.of(side, *SOLE)], ground) for side in range(2)], axis=1)
    return Contacts(clip.times, parts["heel"], toe, ground, belt, parts["knee"], parts["hand"], floor, carried)


class _Floors:
    """The floors found so far, and what is down on them.

    down   (F, P) whether each point is down on one of them
    level  (F, P) m, on which; NaN where it is up
    """

    def __init__(
        self,
        times: np.ndarray,
        heights: np.ndarray,
        loose: np.ndarray,
        strict: np.ndarray,
        points: TouchPoints,
        leg: float,
    ) -> None:
        self.times, self.heights, self.loose, self.strict, self.points = times, heights, loose, strict, points
        self._limit, self._give = _LOOSE_HEIGHT * leg, _GIVE * leg
        self._other = _OTHER_HEIGHT * leg
        self.down = np.zeros(heights.shape, bool)
        self.level = np.full(heights.shape, np.nan)

    def stand_on(self, floor: float) -> None:
        """Take what rests at a height (m) for what stands there."""
        above = self.heights - floor
        low, very_low = above < self._limit, above < _STRICT * self._limit
        soles = self.points.soles
        # Below a higher floor is another one: only the ground has nothing under it.
        if np.isfinite(self.level).any():
            low, very_low = low & (above > -self._limit), very_low & (above > -self._limit)
        low[:, ~soles] = np.abs(above[:, ~soles]) < self._other
        very_low[:, ~soles] = low[:, ~soles]
        found = hold(self.loose & low, self.strict & very_low)
        found[:, soles] = extend(self.times, found[:, soles], above[:, soles], self._give)
        self.level[found & ~self.down] = floor
        self.down |= found

    def explain(self, height: np.ndarray) -> None:
        """Find what else must carry the body where it does not fall. height: (F,) m, of its centre of mass."""
        tried: set[tuple[int, int]] = set()
        for _ in range(_MOST_FLOORS):
            stretches = find_unexplained(self.times, height, np.any(self.down, axis=1))
            fresh = next((stretch for stretch in stretches if stretch not in tried), None)
            if fresh is None:
                return
            tried.add(fresh)
            self._explain(*fresh)

    def _explain(self, first: int, last: int) -> None:
        """Let the lowest sole that rests within a stretch stand on a floor; else a knee, else a hand rest there."""
        still = hold(self.loose, self.strict)
        resting = find_resting(self.times, still, first, last)
        inside = slice(first, last + 1)
        for kinds in (SOLE, ("knee",), ("hand",)):
            those = np.flatnonzero(resting & np.isin(self.points.kinds, kinds))
            if len(those) == 0:
                continue
            rests = still[inside, those]
            where = np.where(rests, self.heights[inside, those], np.nan)
            floor = float(np.nanmin(np.nanmedian(where, axis=0)))
            if kinds == SOLE:
                self.stand_on(floor)
            else:
                self.down[inside, those] |= rests
                self.level[inside, those] = np.where(rests, floor, self.level[inside, those])
            return


def _by_side(times: np.ndarray, down: np.ndarray, points: TouchPoints, kind: str) -> np.ndarray:
    """(F, 2) whether any point of a kind is down, for the left and the right, without flicker."""
    columns = [clean(times, np.any(down[:, points.of(side, kind)], axis=1)) for side in range(2)]
    return np.stack(columns, axis=1)


def _floor_of(level: np.ndarray, ground: float) -> np.ndarray:
    """(F,) m, the floor that most of a foot's points (F, 3) are on; the ground where none is down."""
    out = np.full(len(level), ground)
    here = np.isfinite(level).any(axis=1)
    if here.any():
        out[here] = np.nanmedian(level[here], axis=1)
    return out


def point_velocity(times: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Velocity (F, ..., 3) m/s of points (F, ..., 3) m, the mean over a window in seconds at any frame rate."""
    if len(times) < 2:
        return np.zeros_like(points)
    half = max(_HALF_WINDOW, 0.5 * float(np.median(np.diff(times))))
    early, late = np.maximum(times - half, times[0]), np.minimum(times + half, times[-1])
    columns = points.reshape(len(times), -1).T
    moved = [np.interp(late, times, column) - np.interp(early, times, column) for column in columns]
    return (np.stack(moved, axis=1) / (late - early)[:, None]).reshape(points.shape)


def _find_belt(points: np.ndarray, velocity: np.ndarray, leg: float) -> np.ndarray:
    """(3,) m/s, the horizontal velocity that low points have most often; zeros where rest is about as frequent."""
    heights = points[..., 1]
    low = (heights < np.percentile(heights.min(axis=1), 5) + _SEARCH_HEIGHT * leg) & (np.abs(velocity[..., 1]) < 0.25)
    samples = velocity[low][:, [0, 2]]
    if len(samples) == 0:
        return np.zeros(3)
    candidates = samples[np.linspace(0, len(samples) - 1, min(len(samples), 200)).astype(int)]
    near = [np.linalg.norm(samples - candidate, axis=1) < _BELT_SPREAD for candidate in (*candidates, np.zeros(2))]
    votes = np.array([n.sum() for n in near])
    winner = np.median(samples[near[int(np.argmax(votes))]], axis=0)
    if np.linalg.norm(winner) < _SLOWEST_BELT or votes[-1] > 0.5 * votes.max():
        return np.zeros(3)
    return np.array([winner[0], 0.0, winner[1]])


def _find_ground(heights: np.ndarray, still: np.ndarray, leg: float) -> float:
    """m, the median height of each foot's lowest point while it is still and near the lowest of them all."""
    feet = heights.reshape(len(heights), 2, 3), still.reshape(len(still), 2, 3)
    lowest = feet[0].min(axis=2)
    resting = lowest[feet[1].any(axis=2)] if still.any() else lowest.ravel()
    bottom = np.percentile(resting, 5)
    return float(np.median(resting[resting < bottom + _SEARCH_HEIGHT * leg]))


def _rest_heights(heights: np.ndarray, still: np.ndarray, ground: float, leg: float) -> np.ndarray:
    """(P,) m, how high over the ground each point rests: its median while still near the ground, else nothing."""
    rest = np.zeros(heights.shape[1])
    resting = still & (np.abs(heights - ground) < _SEARCH_HEIGHT * leg)
    for p in range(len(rest)):
        samples = heights[resting[:, p], p]
        if len(samples):
            rest[p] = np.median(samples) - ground
    return rest


_SHORTEST_CONTACT, _SHORTEST_GAP = 0.06, 0.05  # s
_LOOK_BACK = 0.08  # s before a point is slow, in which its landing is sought
_SETTLES = 0.06  # s after it is slow, in which it reaches its lowest


def hold(loose: np.ndarray, strict: np.ndarray) -> np.ndarray:
    """(F, P) the stretches of `loose` along time that hold at least one `strict`."""
    out = np.zeros_like(loose)
    for p in range(loose.shape[1]):
        for first, last in find_runs(loose[:, p]):
            out[first : last + 1, p] = strict[first : last + 1, p].any()
    return out


def extend(times: np.ndarray, down: np.ndarray, above: np.ndarray, give: float) -> np.ndarray:
    """(F, P) the contacts, each from where the point came down to within `give` m of its lowest, to where it left that.

    above  (F, P) m, height of each point over where it rests
    """
    # Time run backwards, a lift-off is a landing.
    lifted = extend_to_landing(-times[::-1], down[::-1], above[::-1], give)[::-1]
    return np.asarray(extend_to_landing(times, down, above, give) | lifted)


def extend_to_landing(times: np.ndarray, down: np.ndarray, above: np.ndarray, give: float) -> np.ndarray:
    """(F, P) the contacts, each from where the point came down to within `give` m of the lowest it then reaches."""
    out = down.copy()
    for p in range(down.shape[1]):
        for first, last in find_runs(down[:, p]):
            begin = int(np.searchsorted(times, times[first] - _LOOK_BACK))
            end = min(int(np.searchsorted(times, times[first] + _SETTLES)), last)
            lowest = above[first : end + 1, p].min()
            away = np.flatnonzero(np.abs(above[begin:first, p] - lowest) > give)  # below it, too: off the edge of a box
            out[begin + (int(away[-1]) + 1 if len(away) else 0) : first, p] = True
    return out


def clean(times: np.ndarray, down: np.ndarray) -> np.ndarray:
    """(F,) without gaps and then without contacts that are too short; those cut off by the clip's ends stay."""
    down = down.copy()
    for value, shortest in ((False, _SHORTEST_GAP), (True, _SHORTEST_CONTACT)):
        for first, last in find_runs(down == value):
            inside = first > 0 and last < len(times) - 1
            if inside and times[last + 1] - times[first] < shortest:
                down[first : last + 1] = not value
    return down


_FALLING = 0.5  # of g: a stretch that comes down faster than this falls
_WINDOW = 0.05  # s on each side, over which velocities at a stretch's ends are taken
_SHORTEST = 0.1  # s: a stretch without support that is shorter proves nothing
_LONG_REST = 0.1  # s, that a point must be still to be what carries the body


def find_height(clip: Clip) -> np.ndarray:
    """(F,) m, height of the centre of mass; of the hips' joint where the skeleton's body cannot be weighed."""
    try:
        tree = build_tree(Character.from_skeleton(clip.skeleton))
    except PoiseError:
        hips = clip.skeleton.find_role("hips")
        return np.asarray(clip.positions[:, 0 if hips is None else hips, 1])
    return np.asarray(compute_center_of_mass(tree, *clip.poses)[:, 1])


def find_fall(times: np.ndarray, height: np.ndarray, first: int, last: int) -> float:
    """m/s2, how fast the velocity of a height comes down over the frames `first` to `last`; 0 for a single one.

    The least-squares parabola over the stretch and half a window to either side, so that two frames are enough.
    """
    begin = int(np.searchsorted(times, times[first] - _WINDOW))
    end = int(np.searchsorted(times, times[last] + _WINDOW, side="right"))
    t = times[begin:end] - times[begin:end].mean()
    if len(t) < 4:
        return 0.0
    return float(-2.0 * np.polyfit(t, height[begin:end], 2)[0])


def falls(times: np.ndarray, height: np.ndarray, first: int, last: int) -> bool:
    """Whether a body falls freely over a stretch of frames."""
    return find_fall(times, height, first, last) > _FALLING * float(np.linalg.norm(GRAVITY))


# What a body rests on, at any height: the ground, boxes, stairs, bars. The lowest level at which soles rest is the
# ground. Anything higher is known only by what the body does: where nothing that is known carries it and it does not
# fall, something else must. If a sole rests then (else a knee, else a hand), it rests on that, and whatever rests at
# the same level at another time stands on it, too. A foot that is held still in the air is no support: the other one
# carries the body all the time. Where nothing rests and nothing falls (a chair, a horse, a rope) something unseen
# carries it.


def find_unexplained(times: np.ndarray, height: np.ndarray, supported: np.ndarray) -> list[tuple[int, int]]:
    """The stretches (first, last) in which nothing known carries the body, and it does not fall."""
    found = []
    for first, last in find_runs(~supported):
        long = times[last] - times[first] >= _SHORTEST
        if long and not falls(times, height, int(first), int(last)):
            found.append((int(first), int(last)))
    return found


def find_resting(times: np.ndarray, still: np.ndarray, first: int, last: int) -> np.ndarray:
    """(P,) which points are still for long enough within a stretch."""
    out = np.zeros(still.shape[1], bool)
    for p in range(still.shape[1]):
        for a, b in find_runs(still[first : last + 1, p]):
            out[p] |= times[first + b] - times[first + a] >= min(_LONG_REST, times[last] - times[first])
    return out
