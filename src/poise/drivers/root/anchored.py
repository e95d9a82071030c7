"""A root that follows from the ground: a contact stays fixed, and the body hangs from it.

One point of the body, a *support*, is anchored (`anchor.py`); other drivers move the joints, and the root follows from
them. `supports.py` chooses the support.

Differences from the papers: the marionette's change of feet takes the new point as it is, and the root's velocity jumps
[marionette, 4.3.1]; here the point comes to rest. The balance paper rebuilds its tree with the foot as the root
[balance, 4.1]; here the tree stays, and the root hangs from the foot, which is the same motion. The strength paper's
figure rotates about the point of least moment [strength, 4.2]: `Anchor.hang` takes that motion.

A new support comes to rest on the ground under it: within a tenth of a second along the ground, slower in height if the
ground differs from the one that the motion was made for. A motion made for level ground keeps its legs: on a step the
anchored foot is on the ground, and the other one is off it by the difference of the ground's height between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.drivers.body import Body
from poise.drivers.checks import LIVE, check_idle, check_playable
from poise.drivers.driver import MOTION, Claim, Driver, MotionPlayer, Player
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.root.anchor import BODY, GIVEN, ROOT, Anchor, lay_flat, plan_rest, plan_way
from poise.drivers.root.support_plan import Plan, check_times, find_plan, read_plan
from poise.drivers.root.supports import (
    Height,
    PlannedSupports,
    RootPath,
    SupportGround,
    Supports,
    SupportSelector,
    find_supports,
)  # fmt: skip
from poise.drivers.stateful import StepClock
from poise.drivers.transition.transition import TAKE_OVER
from poise.errors import InputError, unknown_name
from poise.frozen import Portable
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.motion.motion import Motion, as_motion
from poise.spatial import rotation

POINT, FRAME = "point", "frame"
SETTLE = 0.1  # s, until a new support rests
_SLOWER = (3.0, 6.0)  # times that: the longest along the ground, and in height
# Accelerations that coming to rest may take: along the ground; in height, to reach the ground and to end a fall (m/s2);
# of orientations (rad/s2).
_BRAKE, _LIFT, _LAND, _TURN = 12.0, 8.0, 25.0, 60.0
_FLIGHT = 0.2  # s, duration of flights of runs: how far ahead the ground's height is read in one


@checked
@dataclass(frozen=True, eq=False)
class Anchored(Driver, Portable):
    """Moves the root so that a support stays fixed on the ground.

    motion    orients the root, moves it in flight, and if it is a clip determines the supports. None: the anchored foot
              orients the root
    when      (s on the stage's clock, support) in order: from then on that support is anchored, or any of a side
              ("left"). None as a support is flight. Not given: by the clip, else by the motion (`supports.py`)
    fixes     "point": the support turns about its point; "frame": its whole pose is fixed, and it lies flat on the
              ground. None: "point" with a motion, else "frame". A "point" without a motion keeps the root's orientation
    supports  name: (joint, (3,) m in its axes). None: of each sole the heel, ball and tip; with "frame", its middle
    ground    height(x, z) in m, of arrays. None: the stage's
    start, cutoff, take_over   of the motion, as in `Kinematic`; with "frame" a motion only determines the supports, so
              it must be a clip, without `when` and `supports`, and only its start counts
    settle    s, until a new support rests: shorter slides less and pushes harder; up to three times that if the support
              is fast, six times if the ground is far
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
            raise InputError(f"settle must be from 0.001 to 10 s; got {self.settle:g} s.")
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
        """Raise InputError if a motion, or an option of one, would have no effect."""
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
        """What orients the root: GIVEN, BODY or ROOT of `anchor.py`."""
        if self.fixes == FRAME or (self.fixes is None and self.motion is None):
            return BODY
        return ROOT if self.motion is None else GIVEN

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """See `Driver.claim`: the root."""
        if joints != [0]:
            raise InputError(f"Anchored moves the root alone, not '{part}'. Drive the joints by other drivers.")
        if self.motion is not None:
            Kinematic(self.motion, self.start, self.cutoff, self.take_over).claim(character, joints, part)
        supports = find_supports(character.skeleton, self.supports, self.turned == BODY)
        chains = [character.skeleton.chain(int(joint)) for joint in supports.joints]
        between = dict.fromkeys(i for chain in chains for i in chain)
        return Claim((0,), needs_motion=tuple(between), after_others=True)

    def build(self, body: Body, joints: np.ndarray, t: float) -> AnchoredPlayer:
        """See `Driver.build`."""
        if self.ground is None and body.floor.ground is None:
            raise InputError("Anchored stands on the ground, and this stage has none. Give it one: Stage(ground=...).")
        ground = SupportGround.under(body) if self.ground is None else SupportGround(self.ground)
        path = RootPath(None, self.start)
        if self.motion is not None and self.turned == GIVEN:
            turning = Kinematic(self.motion, self.start, self.cutoff, self.take_over)
            path.player = turning.build(body, np.zeros(1, np.int64), t)
        supports = find_supports(body.skeleton, self.supports, self.turned == BODY)
        plan = self._find_plan(supports)
        path.belt = plan.belt
        selector = PlannedSupports(supports, ground, plan, path, self.when is not None, self.turned == GIVEN)
        kind = AnchoredPlayer if path.player is None else MovedAnchoredPlayer
        return kind(selector, Anchor(self.turned), path, self.settle, t)

    def _find_plan(self, supports: Supports) -> Plan:
        if self.when is not None:
            return read_plan(self.when, supports.names, self.turned == GIVEN)
        if isinstance(self.motion, Clip) and self.supports is None:
            return find_plan(self.motion, supports.names, supports.joints, supports.points)
        count = len(supports)
        return Plan(np.zeros(1), np.ones((1, count), bool), np.full(1, -1), np.zeros(count))


class AnchoredPlayer(MotionPlayer):
    """The root of one actor.

    selector  chooses the support once per step, in its middle: other times change nothing
    path      of the root, if a motion orients it and moves it in flight
    settle    s, until a new support rests
    current   the support that is anchored; as many as there are in flight; -1 before the first
    """

    def __init__(self, selector: SupportSelector, anchor: Anchor, path: RootPath, settle: float, t: float):
        self.joints = np.zeros(1, np.int64)
        self.selector, self.anchor, self.path, self.settle = selector, anchor, path, settle
        self.current, self.clock = -1, StepClock(t)

    @property
    def support(self) -> str | None:
        """Name of the support that is anchored; None in flight and before it begins."""
        names = self.selector.supports.names
        return names[self.current] if 0 <= self.current < len(names) else None

    @property
    def flies(self) -> bool:
        """Whether no support is anchored."""
        return self.current == len(self.selector.supports)

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """See `Player.begin`: from the body's state, a support is anchored as it moves, and comes to rest."""
        if starting:
            self.pose(body, t)
            return
        body.a[:] = 0.0  # the root's previous acceleration is unknown
        if self.path.player is not None:
            with body.preserved():
                self.path.player.begin(body, t, starting=False)
                self.path.write(body, t)
        self._take(body, t, self.selector.choose(body, t, self.current))
        self.clock.restart(t)

    def pose(self, body: Body, t: float) -> None:
        """Write the root at time t; the first time, put the body on the ground."""
        self.path.write(body, t)
        if self.current < 0:
            self.clock.restart(t)
            self._put(body, t)
        self._hang(body, t)

    def write(self, body: Body, t: float) -> None:
        """See `MotionPlayer.write`."""
        if self.current < 0:
            self.pose(body, t)
        self.path.write(body, t)
        self._hang(body, t)
        if self.clock.is_due(t, body.dt):
            chosen = self.selector.choose(body, t, self.current)
            if chosen != self.current:
                self._take(body, t, chosen)
                self._hang(body, t)

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        way = {} if self.path.player is None else self.path.player.save()
        return {"anchor": self.anchor.save(), "current": self.current, "clock": self.clock.save(), "path": way}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        self.anchor.restore(saved["anchor"])
        self.clock.restore(saved["clock"])
        self.current = int(saved["current"])
        if self.path.player is not None:
            self.path.player.restore(saved["path"])

    def _hang(self, body: Body, t: float) -> None:
        self.anchor.move_root(body, t, self.path.motion if self.flies else None)

    def _find_point(self) -> tuple[int, np.ndarray]:
        """Return joint and point (3,) m of the support that is anchored: the root itself in flight."""
        if self.flies:
            return 0, np.zeros(3)
        supports = self.selector.supports
        return int(supports.joints[self.current]), supports.points[self.current]

    def _put(self, body: Body, t: float) -> None:
        """Put the body down where it is, with its first support on the ground."""
        body.state.v[:], body.a[:] = self.path.motion[1:]
        self.current = self.selector.choose(body, t, self.current)
        joint, offset = self._find_point()
        point, turn, _ = self.anchor.find(body, joint, offset)
        height = self.selector.find_height(self.current, point[0, 0], point[0, 2])
        if self.flies:
            self.anchor.put(joint, offset, np.array([0.0, height, 0.0]), turn)
            return
        point[0, 1] = height
        if self.anchor.turned == BODY:
            turn = lay_flat(turn, self.selector.ground.normal(point[0]))
        self.anchor.put(joint, offset, point[0], turn)

    def _take(self, body: Body, t: float, chosen: int) -> None:
        """Anchor another support."""
        self.current, settle = chosen, self.settle
        joint, offset = self._find_point()
        point, turn, spin = self.anchor.take(body, t, joint, offset, self.path.motion if self.flies else None)
        flat = np.array([1.0, 0.0, 1.0])
        way, along = plan_rest(flat * point[1], flat * point[2], settle, _SLOWER[0] * settle, _BRAKE)
        # In flight, on the motion's path, raised by the height of the ground that it comes to.
        x, _, z = body.state.root + _FLIGHT * body.state.v if self.flies else point[0] + way
        way[1] = self.selector.find_height(chosen, x, z) - point[0, 1]
        up = plan_way(way[1], point[1, 1], settle, _SLOWER[1] * settle, _LIFT, _LAND)
        turning, span = plan_rest(spin[0], spin[1], settle, _SLOWER[0] * settle, _TURN)
        if self.anchor.turned == BODY:
            normal = self.selector.ground.normal(point[0] + way)
            end = lay_flat(rotation.multiply(turn, rotation.exp(turning)), normal)
            turning = rotation.log(rotation.multiply(rotation.conjugate(turn), end))
            span = max(span, plan_way(float(np.linalg.norm(turning)), 0.0, settle, _SLOWER[1] * settle, _TURN, _TURN))
        self.anchor.rest(way, np.array([along, up, along]), turning, span)


class MovedAnchoredPlayer(AnchoredPlayer):
    """An anchored root that a motion orients, whose speed can be changed: it must be that of the joints."""

    def check_change(self, **parameters: Any) -> None:
        """See `Player.check_change`."""
        assert self.path.player is not None
        self.path.player.check_change(**parameters)

    def change(self, t: float, **parameters: Any) -> None:
        """See `Player.change`."""
        assert self.path.player is not None
        self.path.player.change(t, **parameters)
