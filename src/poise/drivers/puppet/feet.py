"""Feet of a puppet that stay where they came down.

The root hangs from one point that comes to rest smoothly, and slides meanwhile (`drivers/root/anchored.py`); and hands
do not know where the other foot stands. So a foot that is down is held where it came down, and its leg yields: thigh
and knee are turned as little as that takes (`ik/two_bone.py`), the foot keeps its pose relative to the ground. The
offset of a foot decays once it is up; a foot in the air is led over the ground. The anchored foot is dragged along if
its strings are farther than MOST away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import find_soles
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.puppet.settings import CLEARANCE, LOOKS
from poise.drivers.stateful import Stateful
from poise.ik.two_bone import correct_two_bone
from poise.puppetry.marionette import Marionette
from poise.spatial import rotation
from poise.spatial.rotation import length

MOST = 0.35  # m, that an anchored foot may be away from its strings
_RETURN = 2.5  # Hz, of the spring that brings a foot in the air back to its strings
_FOOTHOLD = 5.0  # Hz, of the spring that moves a foot that comes down off an edge
_PARTING = 8.0  # m/s2, with which a foot leaves the ground at least
_HARDEST = 60.0  # m/s2, with which a foot is led at most
# A foot that is held back by more (m), or lifted faster (m/s), does not land: it is not where its strings are.
_HELD_BACK, _LIFTED_FAST = 0.03, 0.3
_LANDING, _GENTLY = (
    9.0,
    60.0,
)  # Hz, m/s2: spring that brings a foot to the ground's height, and its acceleration at most
SINKS = 1.5  # m/s, with which hips yield at most
_RISING = 2.0  # Hz, of the spring that raises a body again that was lowered since its legs were too short
_YIELDS = 0.025  # of a leg's length: within that of straight, hips come down for a foot that stands beyond its reach
_ENDLESS = 1e6  # m: no range of a spring
_FAR = 9.0  # m: no range of a spring of offsets


class GroundAhead(NamedTuple):
    """What both feet meet.

    heights  (2,) m, of the ground at the balls of the feet as they stand
    over     (2,) m, height of the lowest point of each foot over the ground, as strings have it
    ahead    (2, T) m, the same over the ground that it comes to in LOOKS
    setback  (2, T) m, by which it has to be held back then, against its direction along the ground, `along` (2, 3)
    aside    (2, 3) m, along the ground, by which one that comes down is moved
    """

    heights: np.ndarray
    over: np.ndarray
    ahead: np.ndarray
    setback: np.ndarray
    along: np.ndarray
    aside: np.ndarray


class PlantedFeet(Stateful):
    """Where both feet of a puppet stand.

    spot         (2, 3) m, of the ball of each foot in the world;  spot_speed (2,) m/s, at which it reaches the ground
    offset       (2, 3) m, by which the ankle is led away from its strings;  offset_speed (2, 3) m/s
    stands       (2,) whether each foot is held
    raised_from  (2,) m, height over the ground at which each foot went up;  raised_for (2,) s since
    bearing      (2, 2) the part of each foot that has ground under it, from heel (0) to ball (1)
    grip         0 as the puppet takes over, to 1: fraction of the offset that is applied
    lacks        (2,) of its length, by which each leg is too short for its foot if hips do not yield
    sunk         m, by which the body is lower than its strings;  sunk_speed m/s
    """

    STATE = (
        "spot", "spot_speed", "offset", "offset_speed", "stands", "raised_from", "raised_for", "bearing", "lacks",
        "sunk", "sunk_speed",
    )  # fmt: skip

    def __init__(self, character: Character, marionette: Marionette):
        skeleton = character.skeleton
        rest = skeleton.rest_positions()
        self.marionette = marionette
        self.legs = [[skeleton.index(side + stem) for stem in ("UpperLeg", "LowerLeg", "Foot")] for side in SIDES]
        self._parents = [[skeleton.structure.parents[i] for i in leg] for leg in self.legs]
        self._bones = [(rest[b] - rest[a], rest[c] - rest[b]) for a, b, c in self.legs]
        self._sizes = [sum(float(np.linalg.norm(bone)) for bone in pair) for pair in self._bones]
        self._points = []
        for sole in find_soles(skeleton):
            # heel; the joint of the toes, about which the foot turns while they lie flat; from there to the ball
            joint = sole.tip if sole.toes is None else rest[sole.toes] - rest[sole.foot]
            self._points.append((sole.heel, joint, np.zeros(3) if sole.toes is None else sole.ball))
        knees = [marionette.joints.parent_zero[marionette.row(f"{side}LowerLeg")] for side in SIDES]
        # the knee's axis in the rest axes of the thigh
        self._hinges = [rotation.rotate(rotation.conjugate(zero), np.array([1.0, 0.0, 0.0])) for zero in knees]
        self.grip, self._is_first = 1.0, False
        self.spot, self.spot_speed, self.offset, self.offset_speed = (
            np.zeros((2, 3)), np.zeros(2), np.zeros((2, 3)), np.zeros((2, 3)),
        )  # fmt: skip
        self.stands, self.raised_from, self.raised_for = np.zeros(2, np.bool_), np.zeros(2), np.zeros(2)
        self.bearing, self.lacks = np.tile([0.0, 1.0], (2, 1)), np.zeros(2)
        self.sunk, self.sunk_speed = 0.0, 0.0

    def begin(self, over: np.ndarray) -> None:
        """Begin with feet (2,) m over the ground, or in it: those in the air are raised from there."""
        self.raised_from[:], self.raised_for[:] = np.minimum(over, CLEARANCE), 0.0
        self._is_first = True

    def step(self, body: Body, dt: float, ground: GroundAhead) -> None:
        """Hold planted feet: turn the legs of a body that is as its strings have it, and lower the body."""
        body.update()
        ankles = []
        for side in range(2):
            if not self.marionette.in_contact[side]:
                self.stands[side] = False
                self._lift(side, dt, float(ground.over[side]), ground.ahead[side])
                self._hold_back(side, dt, ground.setback[side], ground.along[side], ground.aside[side])
            else:
                self._hold(body, side, dt, float(ground.heights[side]), float(ground.over[side]))
            ankles.append(body.p[self.legs[side][2]] + self.grip * self.offset[side])
        self._sink(body, dt, ankles)
        for side in range(2):
            self._bend(body, side, ankles[side])

    def _sink(self, body: Body, dt: float, ankles: list[np.ndarray]) -> None:
        """Lower a body whose legs are too short for the ankles' positions."""
        from poise.puppetry.joint_kernels import step_spring

        short = 0.0
        for side, (upper, _, foot) in enumerate(self.legs):
            way = ankles[side] - body.p[upper]
            # |way + (0, sunk, 0)| = reach: the distance by which the hip has to come down
            reach = self._find_reach(side, length(way), length(body.p[foot] - body.p[upper]))
            room = reach**2 - way[0] ** 2 - way[2] ** 2
            lacks = -way[1] - np.sqrt(max(room, 1e-6)) if self.stands[side] and way[1] < 0.0 else 0.0
            self.lacks[side] = lacks / self._sizes[side]
            short = max(short, lacks)
        sunk, speed = step_spring(self.sunk, self.sunk_speed, dt, _RISING, 1.0, short, -1.0, 1.0)
        if sunk < short:  # at most with SINKS: the ground releases a foot that is too far away for that
            sunk = short if self._is_first else min(short, max(sunk, self.sunk + SINKS * dt))
            speed = 0.0 if self._is_first else max((sunk - self.sunk) / dt, 0.0)
        self.sunk, self.sunk_speed, self._is_first = float(sunk), float(speed), False
        body.state.root[1] -= sunk
        body.p[:, 1] -= sunk

    def _find_reach(self, side: int, wanted: float, given: float) -> float:
        """Return the reach (m) of a leg whose ankle should be `wanted` m away and is `given` m by its strings.

        The straighter the leg, the less it reaches: a knee that came to be straight at any speed of the hip would stop
        from an infinite one. With m what is left to its length, it stretches by m (1 - exp(-e / n)) of a distance e,
        n = m or more, and hips give the rest.
        """
        size = self._sizes[side]
        left, more = max(size - given, 0.0), wanted - given
        if more <= 0.0:
            return wanted
        return given + left * (1.0 - float(np.exp(-more / max(left, _YIELDS * size))))

    def _lift(self, side: int, dt: float, over: float, ahead: np.ndarray) -> None:
        """Lead a foot in the air over what it comes to, no sooner and no harder than needed."""
        from poise.puppetry.joint_kernels import step_spring

        y, speed = self.offset[side, 1], self.offset_speed[side, 1]
        height, since = self.raised_from[side], self.raised_for[side]
        self.raised_for[side] += dt
        free = step_spring(y, speed, dt, _RETURN, 1.0, 0.0, -_FAR, _FAR)
        # y + y' t + a t^2 / 2 = the height that it has to be led by in t
        needed = np.minimum(height + 0.5 * _PARTING * (since + LOOKS) ** 2, CLEARANCE) - np.minimum(over, ahead)
        push = float((2.0 * (needed - y - speed * LOOKS) / LOOKS**2).max())
        push = max(_brake(push, speed, float(needed.max()) - y, dt), (free[1] - speed) / dt, -_HARDEST)
        self.offset[side, 1], self.offset_speed[side, 1] = y + speed * dt + 0.5 * push * dt * dt, speed + push * dt

    def _hold_back(self, side: int, dt: float, back: np.ndarray, along: np.ndarray, aside: np.ndarray) -> None:
        """Hold a foot in the air back from what it cannot be lifted over yet; else return it to its strings."""
        from poise.puppetry.joint_kernels import step_spring

        offset, rate = self.offset[side], self.offset_speed[side]
        way, speed = float(offset @ along), float(rate @ along)
        frequency = _FOOTHOLD if aside.any() else _RETURN
        for a in (0, 2):
            offset[a], rate[a] = step_spring(offset[a], rate[a], dt, frequency, 1.0, aside[a], -_FAR, _FAR)
        if back.max() <= 0.0:
            return
        # -(x + x' t - a t^2 / 2) = the distance that it has to be held back by in t
        pull = np.where(back > 0.0, 2.0 * (back + way + speed * LOOKS) / LOOKS**2, -np.inf)
        more = _brake(float(pull.max()), -speed, float(back.max()) + way, dt) + (float(rate @ along) - speed) / dt
        if more > 0.0:
            rate -= more * dt * along
            offset -= 0.5 * more * dt * dt * along

    def _hold(self, body: Body, side: int, dt: float, height: float, above: float) -> None:
        """Find by how much the ankle of a planted foot is led away."""
        from poise.puppetry.joint_kernels import TAU, step_spring

        ankle, over = body.p[self.legs[side][2]], self._find_ankle(body, side)
        if not self.stands[side]:
            self.stands[side] = True
            self.spot[side], self.spot_speed[side] = ankle + self.offset[side] - over, self.offset_speed[side, 1]
        spot = self.spot[side]
        rate = min(_LANDING, float(np.sqrt(_GENTLY / max(abs(spot[1] - height), 1e-6))) / TAU)
        spot[1], self.spot_speed[side] = step_spring(
            spot[1], self.spot_speed[side], dt, rate, 1.0, height, -_ENDLESS, _ENDLESS
        )
        led = spot + over - ankle
        size = float(np.hypot(led[0], led[2]))
        if size > MOST:
            spot[[0, 2]] -= (1.0 - MOST / size) * led[[0, 2]]
            led[[0, 2]] *= MOST / size
        self.offset_speed[side] = (led - self.offset[side]) / dt
        self.offset[side] = led
        self.raised_from[side], self.raised_for[side] = min(led[1] + above, CLEARANCE), 0.0

    def _find_ankle(self, body: Body, side: int) -> np.ndarray:
        """Return the ankle's position (3,) m from the ball of a planted foot.

        It is over the toes if the heel is up, over the heel if the toes are up, or over an edge that the foot juts out
        over.
        """
        R = body.R[self.legs[side][2]]
        yaw, pitch = self.marionette.foot_pose[side, 0], self.marionette.foot_pose[side, 1]
        facing = rotation.exp(np.array([0.0, yaw, 0.0]))
        level = rotation.to_matrix(rotation.multiply(self.marionette.slope[side], facing))
        heel, joint, ball = self._points[side]
        begin, end = self.bearing[side]
        if pitch < 0.0 or end < 1.0:  # it turns about its heel, or about the edge
            about = heel + (begin if pitch < 0.0 else end) * (joint + ball - heel)
            return np.asarray(level @ (about - joint - ball) - R @ about)
        return np.asarray(-R @ joint - level @ ball)

    @property
    def is_held_back(self) -> np.ndarray:
        """Whether feet (2,) in the air are kept away from their strings."""
        far = np.hypot(self.offset[:, 0], self.offset[:, 2]) > _HELD_BACK
        return ~self.stands & (far | (self.offset_speed[:, 1] > _LIFTED_FAST))

    def _bend(self, body: Body, side: int, ankle: np.ndarray) -> None:
        """Turn a leg so that its ankle is at a position (3,) m."""
        if np.abs(self.offset[side]).max() < 1e-9 and abs(self.sunk) < 1e-9:
            return
        upper, lower, foot = self.legs[side]
        turns = [body.world_turn(i) for i in (upper, lower, foot)]
        hinge = rotation.rotate(turns[0], self._hinges[side])
        reach = ankle - body.p[upper]
        found = correct_two_bone(turns[0][None], turns[1][None], *self._bones[side], reach[None], hinge[None])
        q, parents = body.state.q, self._parents[side]
        worlds = {upper: found.upper[0], lower: found.lower[0], foot: turns[2]}
        for joint, parent in zip((upper, lower, foot), parents, strict=True):
            above = worlds[parent] if parent in worlds else self._find_orientation(body, parent, worlds)
            q[joint] = rotation.multiply(rotation.conjugate(above), worlds[joint])

    def _find_orientation(self, body: Body, joint: int, worlds: dict[int, np.ndarray]) -> np.ndarray:
        """Return the orientation (4,) of a joint between those of the leg, whose orientations have changed."""
        turn, at = rotation.identity(), joint
        while at >= 0 and at not in worlds:
            turn = rotation.multiply(body.state.q[at], turn)
            at = body.skeleton.structure.parents[at]
        return turn if at < 0 else np.asarray(rotation.multiply(worlds[at], turn))


def _brake(push: float, speed: float, way: float, dt: float) -> float:
    """Return an acceleration (m/s2), limited so that a speed can stop within a distance."""
    most = float(np.sqrt(2.0 * _HARDEST * max(way, 0.0)))
    return max(min(push, _HARDEST, (most - speed) / dt), -_HARDEST)
