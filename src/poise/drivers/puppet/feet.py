"""Feet of a puppet that stay where they came down.

The root hangs from one point that comes to rest smoothly, which slides (`drivers/root/anchored.py`), and hands know
nothing of where the other foot stands. So a foot that is down is held where it came down, and its leg gives: thigh and
knee are turned as little as that takes (`ik/two_bone.py`), the foot keeps its pose against the ground. What a leg was
turned by dies away once the foot is up; one in the air is led over the ground. A foot that carries and is asked to be
more than MOST away from where it stands is dragged along.
"""

from __future__ import annotations

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import find_soles
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.ik.two_bone import correct_two_bone
from poise.puppetry.marionette import Marionette
from poise.spatial import rotation
from poise.spatial.rotation import length

MOST = 0.35  # m, that a foot which carries may be away from where its strings have it
_LETS_GO = 2.5  # Hz, how fast a leg comes back to where its strings have it
_PLACES = 5.0  # Hz, how fast a foot that comes down is brought off an edge
_CLEAR = 0.012  # m, that a foot in the air is over what it comes to
_PARTS = 8.0  # m/s2, that a foot which goes up leaves the ground with at least
_LIFTS = 60.0  # m/s2, that a foot is lifted with at most
RISES = 40.0  # m/s2, that a foot counts on to be lifted with before it comes to what is higher
_AWAY, _QUICK = 0.03, 0.3  # m that a foot is held back by, and m/s that it is lifted with, of one that does not stand
LOOKS = np.array([1, 2, 3, 4, 6, 9, 13, 18, 24, 30]) / 120.0  # s, that a foot in the air looks ahead
_LANDS, _GENTLY = 9.0, 60.0  # Hz, how fast a foot that is a little over the ground, or under it, comes to it; m/s2
SINKS = 1.5  # m/s, that hips give way with at most
_RISES = 2.0  # Hz, how fast a body that went down since its legs were too short comes up again
_YIELDS = 0.025  # of its length: within so much of straight, hips come down for a foot that stands beyond its reach


class PlantedFeet:
    """Where both feet of a puppet stand.

    spot    (2, 3) m, of the ball of each foot in the world, and the speed (2,) m/s at which it comes to the ground
    off     (2, 2, 3) m, by which the ankle is led away from where the strings have it, and its speed
    stands  (2,) whether each foot is held
    left    (2, 2) m, how high over the ground each foot was when it went up, and s since: it goes up with _PARTS
    bears   (2, 2) the part of each foot that has ground under it, from heel (0) to ball (1)
    grip    from 0, as it is taken over, to 1: how much of that feet are held by
    lacks   (2,) of its length, by which each leg is too short for its foot, if hips do not give way
    sunk    (2,) m, by which the body is lower than the strings have it, and its speed
    """

    def __init__(self, character: Character, puppet: Marionette):
        skeleton = character.skeleton
        rest = skeleton.rest_positions()
        self.puppet = puppet
        self.legs = [[skeleton.index(side + stem) for stem in ("UpperLeg", "LowerLeg", "Foot")] for side in SIDES]
        self._parents = [[skeleton.structure.parents[i] for i in leg] for leg in self.legs]
        self._bones = [(rest[b] - rest[a], rest[c] - rest[b]) for a, b, c in self.legs]
        self._sizes = [sum(float(np.linalg.norm(bone)) for bone in pair) for pair in self._bones]
        self._points = []
        for sole in find_soles(skeleton):
            # heel; the joint of the toes, about which the foot turns where they lie flat; from there to the ball
            joint = sole.tip if sole.toes is None else rest[sole.toes] - rest[sole.foot]
            self._points.append((sole.heel, joint, np.zeros(3) if sole.toes is None else sole.ball))
        hinges = [puppet.joints.parent_zero[puppet.row(f"{side}LowerLeg")] for side in SIDES]
        # the knee's axis in the rest axes of the thigh
        self._hinges = [rotation.rotate(rotation.conjugate(P), np.array([1.0, 0.0, 0.0])) for P in hinges]
        self.grip, self.begins = 1.0, False
        self.spot, self.fall, self.off = np.zeros((2, 3)), np.zeros(2), np.zeros((2, 2, 3))
        self.stands, self.sunk, self.left = np.zeros(2, np.bool_), np.zeros(2), np.zeros((2, 2))
        self.bears, self.lacks = np.tile([0.0, 1.0], (2, 1)), np.zeros(2)

    def numbers(self) -> dict[str, np.ndarray]:
        """All that changes, by name."""
        return {
            name: getattr(self, name) for name in ("spot", "fall", "off", "stands", "sunk", "left", "bears", "lacks")
        }

    def begin(self, over: np.ndarray) -> None:
        """Have feet be (2,) m over the ground, or in it: those in the air leave it from there."""
        self.left[:, 0], self.left[:, 1] = np.minimum(over, _CLEAR), 0.0
        self.begins = True

    def step(
        self, body: Body, dt: float, heights: np.ndarray, over: np.ndarray, ahead: np.ndarray, back: np.ndarray,
        along: np.ndarray, aside: np.ndarray,
    ) -> None:  # fmt: skip
        """Hold the feet that are down: turn the legs of a body whose strings have it in its pose, and lower it.

        heights  (2,) m, of the ground at the balls of the feet as they stand
        over     (2,) m, how high over the ground the lowest point of each foot is as strings have it
        ahead    (2, T) m, the same over the ground that it comes to in LOOKS
        back     (2, T) m, by which it has to be held back then, against its way along the ground, `along` (2, 3)
        aside    (2, 3) m, along the ground, where one that comes down is to be instead
        """
        from poise.puppetry.joint_kernels import step_spring

        body.update()
        ankles = []
        for side in range(2):
            if not self.puppet.in_contact[side]:
                self.stands[side] = False
                self._lift(side, dt, float(over[side]), ahead[side])
                self._hold_back(side, dt, back[side], along[side], aside[side])
            else:
                self._hold(body, side, dt, float(heights[side]), float(over[side]))
            ankles.append(body.p[self.legs[side][2]] + self.grip * self.off[side, 0])
        short = 0.0
        for side, (upper, _, foot) in enumerate(self.legs):
            way = ankles[side] - body.p[upper]
            # |way + (0, sunk, 0)| = reach: what the hip has to come down by
            reach = self._find_reach(side, length(way), length(body.p[foot] - body.p[upper]))
            room = reach**2 - way[0] ** 2 - way[2] ** 2
            lacks = -way[1] - np.sqrt(max(room, 1e-6)) if self.stands[side] and way[1] < 0.0 else 0.0
            self.lacks[side] = lacks / self._sizes[side]
            short = max(short, lacks)
        sunk, speed = step_spring(self.sunk[0], self.sunk[1], dt, _RISES, 1.0, short, -1.0, 1.0)
        if sunk < short:  # no faster than SINKS: a foot that is too far away for that is let go of by the ground
            sunk = short if self.begins else min(short, max(sunk, self.sunk[0] + SINKS * dt))
            speed = 0.0 if self.begins else max((sunk - self.sunk[0]) / dt, 0.0)
        self.sunk[:], self.begins = (sunk, speed), False
        body.state.root[1] -= sunk
        body.p[:, 1] -= sunk
        for side in range(2):
            self._bend(body, side, ankles[side])

    def _find_reach(self, side: int, wanted: float, given: float) -> float:
        """m, that a leg reaches, where it is wanted to and strings have it so far: less the straighter it is.

        A knee that comes to be straight at any speed of the hip's would stop from an endless one. With m what is left
        to its length, it stretches by m (1 - exp(-e / n)) of a way e, n = m or more, and hips give the rest.
        """
        size = self._sizes[side]
        left, more = max(size - given, 0.0), wanted - given
        if more <= 0.0:
            return wanted
        return given + left * (1.0 - float(np.exp(-more / max(left, _YIELDS * size))))

    def _lift(self, side: int, dt: float, over: float, ahead: np.ndarray) -> None:
        """Lead a foot in the air over what it comes to, no sooner and no harder than it takes."""
        from poise.puppetry.joint_kernels import step_spring

        off, (height, since) = self.off[side], self.left[side]
        self.left[side, 1] += dt
        (y, speed), free = off[:, 1], step_spring(off[0, 1], off[1, 1], dt, _LETS_GO, 1.0, 0.0, -9.0, 9.0)
        # y + y' t + a t^2 / 2 = what it has to be led by in t
        needed = np.minimum(height + 0.5 * _PARTS * (since + LOOKS) ** 2, _CLEAR) - np.minimum(over, ahead)
        push = float((2.0 * (needed - y - speed * LOOKS) / LOOKS**2).max())
        push = max(_brake(push, speed, float(needed.max()) - y, dt), (free[1] - speed) / dt, -_LIFTS)
        off[:, 1] = y + speed * dt + 0.5 * push * dt * dt, speed + push * dt

    def _hold_back(self, side: int, dt: float, back: np.ndarray, along: np.ndarray, aside: np.ndarray) -> None:
        """Keep a foot in the air before what it cannot be lifted over yet; else have it come back to its strings."""
        from poise.puppetry.joint_kernels import step_spring

        off = self.off[side]
        before = off.copy()
        rate = _PLACES if aside.any() else _LETS_GO
        for a in (0, 2):
            off[0, a], off[1, a] = step_spring(off[0, a], off[1, a], dt, rate, 1.0, aside[a], -9.0, 9.0)
        if back.max() <= 0.0:
            return
        way, speed = float(before[0] @ along), float(before[1] @ along)
        # -(x + x' t - a t^2 / 2) = what it has to be held back by in t
        pull = np.where(back > 0.0, 2.0 * (back + way + speed * LOOKS) / LOOKS**2, -np.inf)
        more = _brake(float(pull.max()), -speed, float(back.max()) + way, dt) + (float(off[1] @ along) - speed) / dt
        if more > 0.0:
            off[1] -= more * dt * along
            off[0] -= 0.5 * more * dt * dt * along

    def _hold(self, body: Body, side: int, dt: float, height: float, over: float) -> None:
        """Find by how much the ankle of a foot is led away."""
        from poise.puppetry.joint_kernels import TAU, step_spring

        foot, off = self.legs[side][2], self.off[side]
        R, ankle, above = body.R[foot], body.p[foot], over
        yaw, pitch = self.puppet.foot_pose[side, 0], self.puppet.foot_pose[side, 1]
        level = rotation.to_matrix(rotation.multiply(self.puppet.slope[side], rotation.exp(np.array([0.0, yaw, 0.0]))))
        heel, joint, ball = self._points[side]
        # The ankle over a foot that stands: on its toes where the heel is up, on its heel where the toes are.
        over = -R @ joint - level @ ball
        begin, end = self.bears[side]
        if pitch < 0.0 or end < 1.0:  # it turns about its heel, or about the edge that it juts out over
            about = heel + (begin if pitch < 0.0 else end) * (joint + ball - heel)
            over = level @ (about - joint - ball) - R @ about
        if not self.stands[side]:
            self.stands[side], self.spot[side], self.fall[side] = True, ankle + off[0] - over, off[1, 1]
        spot = self.spot[side]
        rate = min(_LANDS, float(np.sqrt(_GENTLY / max(abs(spot[1] - height), 1e-6))) / TAU)
        spot[1], self.fall[side] = step_spring(spot[1], self.fall[side], dt, rate, 1.0, height, -1e6, 1e6)
        led = spot + over - ankle
        size = float(np.hypot(led[0], led[2]))
        if size > MOST:
            spot[[0, 2]] -= (1.0 - MOST / size) * led[[0, 2]]
            led[[0, 2]] *= MOST / size
        off[1] = (led - off[0]) / dt
        off[0] = led
        self.left[side] = min(led[1] + above, _CLEAR), 0.0

    @property
    def is_held_back(self) -> np.ndarray:
        """(2,) whether feet in the air are kept from where their strings have them."""
        far = np.hypot(self.off[:, 0, 0], self.off[:, 0, 2]) > _AWAY
        return ~self.stands & (far | (self.off[:, 1, 1] > _QUICK))

    def _bend(self, body: Body, side: int, ankle: np.ndarray) -> None:
        """Bring an ankle to its place."""
        if np.abs(self.off[side, 0]).max() < 1e-9 and abs(self.sunk[0]) < 1e-9:
            return
        upper, lower, foot = self.legs[side]
        turns = [body.world_turn(i) for i in (upper, lower, foot)]
        hinge = rotation.rotate(turns[0], self._hinges[side])
        reach = ankle - body.p[upper]
        found = correct_two_bone(turns[0][None], turns[1][None], *self._bones[side], reach[None], hinge[None])
        q, carrier = body.state.q, self._parents[side]
        worlds = {upper: found.upper[0], lower: found.lower[0], foot: turns[2]}
        for joint, parent in zip((upper, lower, foot), carrier, strict=True):
            above = worlds[parent] if parent in worlds else self._above(body, parent, worlds)
            q[joint] = rotation.multiply(rotation.conjugate(above), worlds[joint])

    def _above(self, body: Body, joint: int, worlds: dict[int, np.ndarray]) -> np.ndarray:
        """The orientation of a joint between: with the leg where it is of it."""
        turn, at = rotation.identity(), joint
        while at >= 0 and at not in worlds:
            turn = rotation.multiply(body.state.q[at], turn)
            at = body.skeleton.structure.parents[at]
        return turn if at < 0 else np.asarray(rotation.multiply(worlds[at], turn))


def _brake(push: float, speed: float, way: float, dt: float) -> float:
    """m/s2, of what is to be pushed with so much and has a way to go: no more than lets it stop there."""
    most = float(np.sqrt(2.0 * _LIFTS * max(way, 0.0)))
    return max(min(push, _LIFTS, (most - speed) / dt), -_LIFTS)
