"""A root that follows from the ground: some contact stays put, and everything else hangs from it.

One point of the body, a *support*, is anchored (`anchor.py`); the joints are moved by other drivers, and the root goes
where they put it. Supports are the soles' heels, balls and tips, or any points. Which one carries

    as somebody says      `when`: a list of (time, support)
    as the clip has it    its contacts, handed on where the anchors slide least (`support_plan.py`)
    as it comes           of a motion with a path of its own (a performer), the one that is low and still on it:
                          the least  s = y + S |v|                                                    [anchored, 7]
                          of joints alone, the one that is lowest over the ground, and will be shortly:
                          the least  s = h + near (h(t + A) - h)                                      [anchored, 8]

with y, v the place and velocity on the motion's path, h the height over the ground as the body is anchored, and `near`
1 for the lowest and 0 for all that are some millimetres above it. From joints alone a foot that swings through rising
ground cannot be told from one that stands: there the ground must be one that the motion steps on.

Differences from the papers: the marionette's switch of feet takes the new point as it is, and the root's velocity jumps
[marionette, 4.3.1]; here it comes to rest. The balance paper rebuilds its tree with the foot as the root [balance,
4.1]; here the tree stays, and the root hangs from the foot, which is the same motion. The strength paper's figure
rotates about the point of least moment [strength, 4.2]: `Anchor.hang` takes that motion.

A new support comes to rest on the ground under it, within a tenth of a second along the ground, slower in height where
the ground is not where the motion expects it. A motion made for level ground keeps its legs: on a step the foot that
carries is on the ground, the other one is off it by what the ground differs between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import find_soles
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.drivers.body import Body
from poise.drivers.checks import LIVE, check_idle, check_playable
from poise.drivers.driver import MOTION, Claim, Driver, MotionPlayer, Player
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.root.anchor import ANCHOR, BODY, GIVEN, ROOT, Anchor, MovingBody, lay_flat, plan_rest, plan_way
from poise.drivers.root.support_plan import Plan, check_times, find_plan, read_plan
from poise.drivers.transition.transition import TAKE_OVER
from poise.errors import InputError, unknown_name
from poise.frozen import Portable
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.motion.motion import Motion, as_motion
from poise.spatial import rotation

Height = Callable[[np.ndarray, np.ndarray], np.ndarray]
POINT, FRAME = "point", "frame"
SETTLE = 0.1  # s, until a new support rests
_SLOWER = (3.0, 6.0)  # times that: the longest along the ground, and in height
# What coming to rest may take: m/s2 along the ground; in height, to come to the ground and to end a fall; rad/s2.
_BRAKE, _LIFT, _LAND, _TURN = 12.0, 8.0, 25.0, 60.0
# Of the choice as it comes: S and A (s), how far (m) a support may be over the lowest to count as near it, and by how
# much another one must be lower than the one that carries. Five walks at 0.6 to 1.4 m/s end within 3 mm of their clips
# with S from 0.3 to 0.6; by their joints alone, which lack the pelvis' turns, 4 % short with A of 0.15, 6 % with 0.12
# or 0.18.
_STILL, _AHEAD, _NEARLY, _MARGIN = 0.6, 0.15, 0.003, 0.002
_FLIGHT = 0.2  # s, as long as flights of runs: how far ahead the ground's height is asked for in one
_NEAR = 0.04  # m, over which the ground's slope under a foot is taken
_STEEPEST = math.radians(35.0)  # that a sole lies down on


@checked
@dataclass(frozen=True, eq=False)
class Anchored(Driver, Portable):
    """Moves the root so that the support that carries stays put on the ground.

    motion    turns the root, carries it in flight, and says which support carries where it is a clip. None: the foot
              that carries turns it
    when      (s on the stage's clock, support) in order: from then on that one carries, or any of a side ("left").
              None as a support is flight. Not given: as the clip has it, else as it comes
    fixes     "point": the support turns about its point; "frame": its whole pose is fixed, and it lies flat on the
              ground. None: "point" with a motion, else "frame". A "point" without a motion keeps the root's orientation
    supports  name: (joint, (3,) m in its axes). None: of each sole the heel, ball and tip; with "frame", its middle
    ground    height(x, z) in m, of arrays. None: the stage's
    start, cutoff, take_over   of the motion, as in `Kinematic`; with "frame" a motion only says which support carries,
              so it must be a clip, without `when` and `supports`, and only its start counts
    settle    s, until a new support rests: shorter slides less and pushes harder; up to thrice that if it comes fast,
              six times if the ground is far
    """

    motion: Motion | None = None
    when: Sequence[tuple[float, str | None]] | None = None
    fixes: str | None = None
    supports: Mapping[str, tuple[str, Sequence[float]]] | None = None
    ground: Height | None = None
    start: float = 0.0
    cutoff: float | None = None
    take_over: float = TAKE_OVER
    settle: float = SETTLE
    level = MOTION
    root = "only"

    def __post_init__(self) -> None:
        if self.fixes not in (None, POINT, FRAME):
            raise unknown_name("way to be anchored", str(self.fixes), (POINT, FRAME))
        if not (math.isfinite(self.settle) and 1e-3 <= self.settle <= 10.0):
            raise InputError(f"a support comes to rest within 0.001 to 10 s; given {self.settle:g} s.")
        if self.motion is not None:
            check_playable(self.motion, "Anchored")
        self._check_motion()
        if self.when is not None:
            check_times(self.when)
        for name, support in (self.supports or {}).items():
            if isinstance(support, str) or not (isinstance(support, Sequence) and len(support) == 2):
                raise InputError(
                    f"the support '{name}' is a joint and three numbers, m in its axes, as in ('leftFoot', (0, 0, 0)); "
                    f"given {support!r:.60}."
                )

    def _check_motion(self) -> None:
        """Refuse a motion that would do nothing, and numbers of one."""
        if self.motion is None:
            check_idle(self, ["start", "cutoff", "take_over"], "without a motion", "Give motion")
        elif self.fixes == FRAME:
            check_idle(self, ["cutoff", "take_over"], 'with fixes="frame"', 'Fix a "point"')
            if self.when is not None or self.supports is not None or not isinstance(self.motion, Clip):
                where = 'with fixes="frame" beside when or supports, or if it is no clip'
                check_idle(self, ["motion"], where, 'Fix a "point"')
        elif as_motion(self.motion).is_live:
            check_idle(self, ["cutoff", "take_over"], *LIVE)

    @property
    def turned(self) -> str:
        """What turns the root, in the words of `anchor.py`."""
        if self.fixes == FRAME or (self.fixes is None and self.motion is None):
            return BODY
        return ROOT if self.motion is None else GIVEN

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """The root."""
        if joints != [0]:
            raise InputError(f"Anchored moves the root alone, not '{part}'. Drive the joints by other drivers.")
        if self.motion is not None:
            Kinematic(self.motion, self.start, self.cutoff, self.take_over).claim(character, joints, part)
        chains = [character.skeleton.chain(int(joint)) for joint in find_supports(character.skeleton, self)[1]]
        between = dict.fromkeys(i for chain in chains for i in chain)
        return Claim((0,), needs_motion=tuple(between), after_others=True)

    def build(self, body: Body, joints: np.ndarray, t: float) -> AnchoredPlayer:
        """See `Driver.build`."""
        moves = self.motion is not None and self.turned == GIVEN
        return (MovedAnchoredPlayer if moves else AnchoredPlayer)(self, body, t)


def find_supports(skeleton: Skeleton, driver: Anchored) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Names (P,), joints (P,) and points (P, 3) m of a driver's supports."""
    rows: list[tuple[str, int, Any]] = []
    if driver.supports is not None:
        if not driver.supports:
            raise InputError("an anchored root needs a support; none given.")
        rows += [(name, skeleton.index(joint), offset) for name, (joint, offset) in driver.supports.items()]
    else:
        for side, sole in zip(SIDES, find_soles(skeleton), strict=True):
            front = sole.foot if sole.toes is None else sole.toes
            if driver.turned == BODY:
                rest = skeleton.rest_positions()
                tip = rest[front] + sole.tip - rest[sole.foot]
                rows.append((f"{side} foot", sole.foot, 0.5 * (sole.heel + tip)))
            else:
                parts = (("heel", sole.foot, sole.heel), ("ball", front, sole.ball), ("tip", front, sole.tip))
                rows += [(f"{side} {part}", joint, offset) for part, joint, offset in parts]
    points = np.array([offset for _, _, offset in rows], float)
    if points.shape != (len(rows), 3) or not np.isfinite(points).all():
        raise InputError("a support is a joint and three finite numbers, m in the joint's axes.")
    return tuple(name for name, _, _ in rows), np.array([joint for _, joint, _ in rows], np.int64), points


def ask_height(ground: Any, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """(...) m, of the ground at x and z: of a function of both, of a ground that has one, or of a level plane."""
    if not callable(ground) and not hasattr(ground, "height_at"):
        return np.full(np.shape(x), float(ground))
    return np.asarray((ground if callable(ground) else ground.height_at)(x, z), float)


class AnchoredPlayer(MotionPlayer):
    """The root of one actor. It chooses the support once per step, in its middle: other times change nothing."""

    moves_root = True

    def __init__(self, driver: Anchored, body: Body, t: float):
        self.driver, self.joints = driver, np.zeros(1, np.int64)
        self.names, self._at, self._points = find_supports(body.skeleton, driver)
        self._ground = _under(body) if driver.ground is None else driver.ground
        if driver.ground is None and body.floor.ground is None:
            raise InputError("Anchored stands on the ground, and this stage has none. Give it one: Stage(ground=...).")
        self.anchor = Anchor(body.tree.parents, body.tree.offsets, driver.turned)
        self.way = None  # what turns the root, and where the motion would have it
        if driver.motion is not None and self.may_fly:
            turning = Kinematic(driver.motion, driver.start, driver.cutoff, driver.take_over)
            self.way = turning.build(body, self.joints, t)
        self.plan = self._find_plan()
        self.chosen = -1  # the support that carries, from 0 on; as many as there are: none does, and it flies
        self._begin, self._decided = t, 0
        self._path, self._found = np.zeros((3, 3)), np.zeros((2, len(self._at), 3))

    def _find_plan(self) -> Plan:
        driver, count = self.driver, len(self._at)
        if driver.when is not None:
            return read_plan(driver.when, self.names, self.may_fly)
        if isinstance(driver.motion, Clip) and driver.supports is None:
            return find_plan(driver.motion, self.names, self._at, self._points)
        return Plan(np.zeros(1), np.ones((1, count), bool), np.full(1, -1), np.zeros(count))

    @property
    def may_fly(self) -> bool:
        """Whether there can be a time without a support: with a motion that carries and turns the root meanwhile."""
        return self.driver.turned == GIVEN

    @property
    def support(self) -> str | None:
        """The name of the support that carries; None in flight and before it begins."""
        return self.names[self.chosen] if 0 <= self.chosen < len(self.names) else None

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """See `Player.begin`."""
        if starting:
            self.pose(body, t)
        else:
            self._meet(body, t)

    def _meet(self, body: Body, t: float) -> None:
        """Begin at the body's pose and velocity: a support takes hold as it moves, and comes to rest."""
        moving = _moving(body)
        moving.a[:] = 0.0  # nobody says how the root accelerated
        if self.way is not None:
            now = [part.copy() for part in moving]
            self.way.begin(body, t, starting=False)
            self._follow(body, t)
            for part, before in zip(moving, now, strict=True):
                part[:] = before
        self._take(moving, t, self._choose(moving, t))
        self._begin, self._decided = t, 0

    def pose(self, body: Body, t: float) -> None:
        """Put the root where it is at time t; the first time, the body on the ground."""
        moving = _moving(body)
        self._follow(body, t)
        if self.chosen < 0:
            self._begin, self._decided = t, 0
            self._put(moving, t)
        self._hang(moving, t)

    def write(self, body: Body, t: float) -> None:
        """See `MotionPlayer.write`."""
        if self.chosen < 0:
            self.pose(body, t)
        moving = _moving(body)
        self._follow(body, t)
        self._hang(moving, t)
        middles = (t - self._begin) / body.dt + 0.5 + 1e-6  # of steps, that have been
        if middles >= self._decided + 1:
            self._decided = math.floor(middles)
            chosen = self._choose(moving, t)
            if chosen != self.chosen:
                self._take(moving, t, chosen)
                self._hang(moving, t)

    def save(self) -> Any:
        """See `Player.save`: the anchor's numbers by name, which support carries, and what turns the root."""
        return {
            "anchor": {name: self.anchor.block[name].copy() for name in ANCHOR.names or ()},
            "chosen": self.chosen,
            "begin": self._begin,
            "decided": self._decided,
            "way": {} if self.way is None else self.way.save(),
        }

    def restore(self, saved: Any) -> None:
        """See `Player.restore`."""
        for name, value in saved["anchor"].items():
            self.anchor.block[name] = value
        self.chosen, self._begin, self._decided = saved["chosen"], saved["begin"], saved["decided"]
        if self.way is not None:
            self.way.restore(saved["way"])

    def _follow(self, body: Body, t: float) -> None:
        """Turn the root as the motion does, and see where that would have it: what carries it in flight."""
        if self.way is not None:
            self.way.write(body, t)
            self._path[0], self._path[1], self._path[2] = body.state.root, body.state.v, body.a
            self._path -= np.outer(self._clip_clock(t), self.plan.belt)

    def _hang(self, moving: MovingBody, t: float) -> None:
        self.anchor.give(moving, t, self._path if self.chosen == len(self._at) else None)

    def _choose(self, moving: MovingBody, t: float) -> int:
        """The support that is to carry from time t on."""
        allowed, liked = self.plan.at(t if self.driver.when is not None else self._clip_clock(t)[0])
        if not allowed.any():
            return len(self._at) if self.may_fly else max(self.chosen, 0)
        if allowed.sum() == 1:
            return int(np.argmax(allowed))
        scores = np.where(allowed, self._score(moving, liked), np.inf)
        best = int(np.argmin(scores))
        stays = 0 <= self.chosen < len(allowed) and scores[best] > scores[self.chosen] - _MARGIN
        return self.chosen if stays else best

    def _clip_clock(self, t: float) -> tuple[float, float, float]:
        """The motion's own time (s), how fast it goes, and how much faster it gets."""
        if self.way is None:
            return t - self.driver.start, 1.0, 0.0
        from poise.motion.playback.kernels import phase_at

        return phase_at(self.way.clock, t)

    def _score(self, moving: MovingBody, liked: int) -> np.ndarray:
        """(P,) m, of which the least carries."""
        from poise.drivers.root import kernels

        by_path = self.way is not None and liked < 0
        root, v = (self._path[0], self._path[1]) if by_path else (moving.root, moving.v)
        kernels.find_points(
            self.anchor.parents, self.anchor.offsets, moving.q, moving.w, root, v, self._at, self._points, self._found
        )
        place, speed = self._found
        if by_path:
            # s = y + S |v|   [anchored, 7]
            return np.asarray(place[:, 1] + _STILL * np.linalg.norm(speed, axis=1))
        height = place[:, 1] - ask_height(self._ground, place[:, 0], place[:, 2]) - self.plan.lifts
        if liked >= 0:
            height[liked] -= 2.0 * _MARGIN
            return np.asarray(height)
        # s = h + near (h(t + A) - h)   [anchored, 8]
        ahead = place + _AHEAD * speed
        later = ahead[:, 1] - ask_height(self._ground, ahead[:, 0], ahead[:, 2])
        near = np.clip(1.0 - (height - height.min()) / _NEARLY, 0.0, 1.0)
        return np.asarray(height + near * (later - height))

    def _put(self, moving: MovingBody, t: float) -> None:
        """Put the body down where it is, at the height of the support that carries first."""
        moving.v[:], moving.a[:] = self._path[1:]
        self.chosen = self._choose(moving, t)
        flies = self.chosen == len(self._at)
        joint, offset = (0, np.zeros(3)) if flies else (int(self._at[self.chosen]), self._points[self.chosen])
        point, turn, _ = self.anchor.find(moving, joint, offset)
        if flies:
            height = self._ground_at(point[0, 0], point[0, 2]) - self.plan.floor
            self.anchor.put(joint, offset, np.array([0.0, height, 0.0]), turn)
            return
        point[0, 1] = self._ground_at(point[0, 0], point[0, 2]) + self.plan.lifts[self.chosen]
        if self.driver.turned == BODY:
            turn = lay_flat(turn, self._normal(point[0]))
        self.anchor.put(joint, offset, point[0], turn)

    def _take(self, moving: MovingBody, t: float, chosen: int) -> None:
        """Hand the root on to another support."""
        self.chosen = chosen
        settle = self.driver.settle
        flies = chosen == len(self._at)
        joint, offset = (0, np.zeros(3)) if flies else (int(self._at[chosen]), self._points[chosen])
        point, turn, spin = self.anchor.take(moving, t, joint, offset, self._path if flies else None)
        flat = np.array([1.0, 0.0, 1.0])
        way, along = plan_rest(flat * point[1], flat * point[2], settle, _SLOWER[0] * settle, _BRAKE)
        if flies:  # on the motion's path, raised by what the ground is higher where it comes to
            x, _, z = moving.root + _FLIGHT * moving.v
            height = self._ground_at(x, z) - self.plan.floor
        else:
            x, _, z = point[0] + way
            height = self._ground_at(x, z) + self.plan.lifts[chosen]
        way[1] = height - point[0, 1]
        up = plan_way(way[1], point[1, 1], settle, _SLOWER[1] * settle, _LIFT, _LAND)
        turning, span = plan_rest(spin[0], spin[1], settle, _SLOWER[0] * settle, _TURN)
        if self.driver.turned == BODY:
            end = lay_flat(rotation.multiply(turn, rotation.exp(turning)), self._normal(point[0] + way))
            turning = rotation.log(rotation.multiply(rotation.conjugate(turn), end))
            span = max(span, plan_way(float(np.linalg.norm(turning)), 0.0, settle, _SLOWER[1] * settle, _TURN, _TURN))
        self.anchor.rest(way, np.array([along, up, along]), turning, span)

    def _ground_at(self, x: float, z: float) -> float:
        return float(ask_height(self._ground, np.array([x]), np.array([z]))[0])

    def _normal(self, place: np.ndarray) -> np.ndarray:
        """(3,) of the ground under a place, no steeper than a sole lies down on."""
        x = place[0] + _NEAR * np.array([1.0, -1.0, 0.0, 0.0])
        z = place[2] + _NEAR * np.array([0.0, 0.0, 1.0, -1.0])
        y = ask_height(self._ground, x, z)
        slope = np.array([y[0] - y[1], y[2] - y[3]]) / (2.0 * _NEAR)
        steep = float(np.hypot(*slope))
        if steep > math.tan(_STEEPEST):
            slope *= math.tan(_STEEPEST) / steep
        normal = np.array([-slope[0], 1.0, -slope[1]])
        return np.asarray(normal / np.linalg.norm(normal))


class MovedAnchoredPlayer(AnchoredPlayer):
    """An anchored root that a motion turns, whose speed can be changed: it must be that of the joints."""

    def check_change(self, **parameters: Any) -> None:
        """See `Player.check_change`."""
        assert self.way is not None
        self.way.check_change(**parameters)

    def change(self, t: float, **parameters: Any) -> None:
        """See `Player.change`."""
        assert self.way is not None
        self.way.change(t, **parameters)


def _moving(body: Body) -> MovingBody:
    """A body's arrays, as an anchor reads and writes them."""
    return MovingBody(body.state.root, body.state.v, body.a, body.state.q, body.state.w, body.dw)


def _under(body: Body) -> Height:
    """The height of the ground, and of props that reach no higher than the root."""

    def height(x: np.ndarray, z: np.ndarray) -> np.ndarray:
        return body.floor.find_heights(x, z, float(body.state.root[1]))

    return height
