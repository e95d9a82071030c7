"""Goals of a step that come before the joints' own tracking, each as rows A u = y. They are written in this order:

1. feet that stand stay where they are, and hands that touch something
2. the centre of mass follows its plan, along the chosen axes
3. hands and other bodies follow the motion or a path, where the user says so
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.drivers.body import Body
from poise.drivers.strength.contacts import Contacts
from poise.drivers.strength.hand_support import HandSupport
from poise.drivers.strength.loads import LoadedBody
from poise.drivers.strength.records import CenterGoal, GoalRows, PointGoal
from poise.drivers.strength.reference import CaptureShortfall, Reference
from poise.motion.point_path import PointPath
from poise.spatial import rotation

if TYPE_CHECKING:
    from poise.drivers.strength.strength import Strength

POSITION, ORIENTATION, BOTH = WAYS = ("position", "orientation", "both")
ROWS = {POSITION: (0, 3), ORIENTATION: (3, 6), BOTH: (0, 6)}
STAY, LEAD_CENTER, LEAD = range(3)  # kinds of goals, in order of priority
# Weights of rows beside those of joints (1), in rad/s2 over the row's unit: what stays, the centre of mass, a foot that
# is put down again, and a hand that is slowed before it touches. Far apart, so that each is met before the next. Not
# swept.
STAY_WEIGHT, CENTER_WEIGHT, LAND_WEIGHT, SLOW_WEIGHT = 1e3, 1e2, 30.0, 30.0
# Weight of the centre of mass along the direction of a fall, while a hand reaches for something. Not swept.
TIP_WEIGHT = 1.0
# m, by which rotations of a foot are compared with displacements: about half its length. Not swept.
FOOT_TURN = 0.1
# Gain of the centre of pressure over the error of the capture point; no unit. Standing is equally good from 1.5 to 6.
# With a hand on something, the body is pushed back no harder than it must be: 0.8.
GAIN, LEANING_GAIN = 3.0, 0.8
# rad: a body that is led counts for no more than a joint that is off by this, however far off it is. An arm that is too
# weak stays behind for ever; without a limit the trunk is thrown about for it until the body falls.
LARGEST_ERROR = 0.5 * math.pi
# m over a sole, up to which a floor is under it when it is put down. Not swept.
STEP_UP = 0.1
# m: a hand that the motion takes so far off what it touches lets go. Not swept.
LET_GO = 0.03

_STILL, _UPRIGHT = np.zeros(6), np.array([1.0, 0.0, 0.0, 0.0])


class Step(NamedTuple):
    """Inputs of the goals of one step."""

    body: Body
    t: float
    goals: GoalRows
    shortfall: Callable[[], CaptureShortfall]
    loaded: LoadedBody


class Goals:
    """Writes the goals of a `Strength` driver on one body."""

    def __init__(
        self, driver: Strength, body: Body, reference: Reference, contacts: Contacts, hands: HandSupport, rate: float
    ):
        self._driver, self._reference, self._contacts, self._hands = driver, reference, contacts, hands
        self._rate, self._dt = rate, body.dt
        self._effectors: list[tuple[int, tuple[int, int], PointPath | None]] = [
            (body.skeleton.index(joint), ROWS[way], driver.paths.get(joint)) for joint, way in driver.led.items()
        ]
        self._point = point = PointGoal(rate=rate, alpha=driver.alpha)
        self._target = point.at, point.place, point.orientation, point.velocity, point.acceleration
        self._address, record = reference.step.address, reference.step.record
        self._center = CenterGoal(
            directions=len(reference.axes), corners=contacts.points.capacity + 1, rate=rate, alpha=driver.alpha,
            direction=reference.axes,
        )  # fmt: skip
        c = self._center
        self._hull, self._center_target = c.hull, (c.place, c.velocity, c.acceleration, c.center, c.center_velocity)
        record["point"], record["center"] = point.address, c.address

    @property
    def room(self) -> int:
        """Most rows that there are at once."""
        return 14 + 3 * (len(self._contacts.point) - 8) + 3 + 6 * len(self._effectors)

    def write(self, step: Step) -> None:
        """Write all goals."""
        from poise.drivers.strength.kernels import find_shift

        reference = self._reference
        step.goals.record["count"] = 0
        for side in range(2):
            self._lead_foot(step, side)
        self._slow_hands(step)
        self._hold_pads()
        self._hold_touches(step)
        find_shift(self._address, reference.shift)
        self._lead_center(step)
        for effector in self._effectors:
            self._lead_effector(step, *effector)

    def _lead_foot(self, step: Step, side: int) -> None:
        """Hold a foot that stands, put one down that the motion has down, or hold the edge that the body tips over."""
        reference, contacts, body, shortfall = self._reference, self._contacts, step.body, step.shortfall
        foot, middle, stands = int(reference.feet_joints[side]), reference.middles[side], reference.stands
        at = body.p[foot] + body.R[foot] @ middle
        if stands[side]:
            planted, aim = contacts.planted[side, :3], contacts.planted[side, 3:]
            self._lead(foot, at, planted + rotation.rotate(aim, middle), aim)
            self._add(ROWS[BOTH], STAY, STAY_WEIGHT, FOOT_TURN)
        # not while it tips over: a leg in the air is then the better counterweight
        elif stands[1 - side] and not reference.lifts(side) and shortfall().distance < 0.0:
            pose = reference.pose
            place = pose.p[foot] + pose.R[foot] @ middle + reference.shift
            place[1] = body.floor.find(float(place[0]), float(place[2]), float(at[1]) + STEP_UP)[0]
            self._lead(foot, at, place, pose.world_turn(foot))
            self._add(ROWS[BOTH], LEAD, LAND_WEIGHT, FOOT_TURN)
        # a body that reaches for something while a heel is up turns about its toes, or about another edge
        elif self._hands.busy():
            for i in range(*contacts.edges[side]):
                self._hold(foot, contacts.point[i])

    def _slow_hands(self, step: Step) -> None:
        """Slow hands that are about to touch."""
        contacts, hands, rate = self._contacts, self._hands, self._rate
        for side, arm in hands.busy():
            touches = np.any(contacts.hand[: contacts.pads] == side)
            closing = None if touches else hands.find_closing(step.body, side, self._dt)
            if closing is not None:
                at, now, most = closing
                normal, rows, y = hands.normal[side], step.goals.draft, step.goals.draft_y
                self._lead(arm.joints[2], at, at)
                now_all = rate * (most - now) - rate * -now  # the velocity term of `lead_point` is taken back
                rows[0], y[0] = normal @ rows[:3], normal @ y[:3] + now_all
                self._add((0, 1), LEAD, SLOW_WEIGHT)

    def _hold_pads(self) -> None:
        """Hold hands where they support the body; one that is no longer needed follows its arm."""
        points, hands = self._contacts, self._hands
        for i in range(points.soles, points.pads):
            place = points.point[i]
            self._lead(int(points.segment[i]), place + points.gap[i] * points.frame[i, 0], place)
            self._add(ROWS[POSITION], STAY, STAY_WEIGHT if hands.calm[points.hand[i]] == 0.0 else 1.0)

    def _hold_touches(self, step: Step) -> None:
        """Hold other points that touch something, unless the motion takes them off it."""
        points, body, pose, shift = self._contacts, step.body, self._reference.pose, self._reference.shift
        for i in range(points.pads, points.count):
            joint, at = int(points.segment[i]), points.point[i]
            local = body.R[joint].T @ (at - body.p[joint])
            there = pose.p[joint] + pose.R[joint] @ local + shift
            if (there - at) @ points.frame[i, 0] < LET_GO:
                self._hold(joint, at)

    def _lead_center(self, step: Step) -> None:
        """Lead the centre of mass along its plan, if the contact points have an area."""
        from poise.drivers.strength.kernels import lead_center, outline_of

        points, body, reference, loaded = self._contacts, step.body, self._reference, step.loaded
        count, soles, axes = points.count, points.soles, reference.axes
        size, height = outline_of(points.point, count, 1.0, self._hull) if count else (0, 0.0)
        if not len(axes) or size < 3 or body.root_is_given:
            return
        if 0 < soles < count:
            height = float(points.point[:soles, 1].mean())  # hands are above what the body stands on
        place, velocity, acceleration = reference.find_center(body, step.t)
        place = loaded.add_loads(place + reference.shift, reference.pose, reference.shift)
        for target, value in zip(
            self._center_target, (place, velocity, acceleration, loaded.c, loaded.dc), strict=True
        ):
            target[:] = value
        is_reaching = bool(self._hands.busy())
        gain = LEANING_GAIN if is_reaching else GAIN
        for name, value in (("size", size), ("height", height), ("gain", gain), ("mass", loaded.mass)):
            self._center.record[name] = value
        lead_center(self._address)
        self._add((0, len(axes)), LEAD_CENTER, CENTER_WEIGHT)
        # a body that reaches for something tips as it is, and does not bend for what soles alone could still do
        if is_reaching and count == soles:
            self._let_tip(step)

    def _let_tip(self, step: Step) -> None:
        """Reduce the weight of the centre of mass along the direction of the fall; across it, it stays."""
        goals, count, axes = step.goals, step.goals.count, self._reference.axes
        first = count - len(axes)  # its rows are the last
        rows, y, scales = goals.rows[first:count], goals.y[first:count], goals.scale[first:count]
        level = [i for i, axis in enumerate(axes.tolist()) if axis != 1]
        turn = step.shortfall().direction[axes[level]][None]
        if len(level) == 2:
            turn = np.array([[turn[0, 0], turn[0, 1]], [-turn[0, 1], turn[0, 0]]])
        along = np.array([TIP_WEIGHT / CENTER_WEIGHT, 1.0])[: len(level)]
        if len(level) == 1:
            turn, along = np.ones((1, 1)), along ** abs(turn[0])
        rows[level], y[level] = along[:, None] * (turn @ rows[level]), along * (turn @ y[level])
        scales[level] *= along

    def _lead_effector(self, step: Step, joint: int, which: tuple[int, int], path: PointPath | None) -> None:
        """Lead a joint as the motion, or a path, has it."""
        body, reference, t, dt = step.body, self._reference, step.t, self._dt
        if path is None:
            pose, end = reference.pose, reference.end
            place, turn = pose.p[joint] + reference.shift, pose.world_turn(joint)
            speed = np.concatenate([pose.v[joint], pose.om[joint]])
            later = np.concatenate([end.v[joint], end.om[joint]])
        else:
            place, turn, *rates = path.at(t - self._driver.start)
            ahead = path.at(t + dt - self._driver.start)
            speed, later = np.concatenate(rates), np.concatenate([ahead.velocity, ahead.spin])
        at, insists = body.p[joint], self._driver.insists
        off = place - at
        place = at + off * min(1.0, LARGEST_ERROR / max(insists * float(np.linalg.norm(off)), 1e-9))
        self._lead(joint, at, place, turn, speed, (later - speed) / dt)
        self._add(which, LEAD, insists)

    def _hold(self, segment: int, at: np.ndarray) -> None:
        """Hold a point of a segment where it is."""
        self._lead(segment, at, at)
        self._add(ROWS[POSITION], STAY, STAY_WEIGHT)

    def _lead(
        self, segment: int, at: np.ndarray, place: np.ndarray, orientation: np.ndarray = _UPRIGHT,
        velocity: np.ndarray = _STILL, acceleration: np.ndarray = _STILL,
    ) -> None:  # fmt: skip
        """Write the rows that lead a point of a segment to a place, at rest unless a velocity is given."""
        from poise.drivers.strength.kernels import lead_point

        for target, value in zip(self._target, (at, place, orientation, velocity, acceleration), strict=True):
            target[:] = value
        lead_point(self._address, segment)

    def _add(self, which: tuple[int, int], kind: int, scale: float, turns: float = 1.0) -> None:
        """Append the rows that were written, or some of them."""
        from poise.drivers.strength.kernels import add_goal

        add_goal(self._address, *which, kind, scale, turns)
