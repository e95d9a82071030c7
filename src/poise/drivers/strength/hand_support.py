"""Hands that help where balance is short: they reach for a wall, a rail or a table, and push (O9).

Balance is short where the capture point, c + c' / s with s^2 = g over the height of c, is outside of the soles: no
pressure under them stops the body then. Of the faces of things that never move, each free hand takes the one that it
has within reach, or soon will, and whose push turns the body back about the edge that it tips over. On its way it is
slowed to a walk before it touches, elbow bent, however fast the body comes after: what is to be stopped is the body,
by the arm, and not the hand by the wall. There it is a support like a sole: how hard it pushes is found with all
else (`strength.py`), within friction and the strength of the arm. When balance is back and nothing is left to push, it
goes back to its motion, slowly.

A hand that holds a load, or that somebody leads, does not help. Who tips to the side or back does not reach out:
whatever touches there first is leaned on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from poise.body.geometry.primitives import Box, Capsule, Shape, Sphere
from poise.body.joints import JointLimits, find_limits, find_zero_pose
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.dynamics.tree import Tree, build_tree
from poise.ik.two_bone import correct_two_bone
from poise.spatial import rotation
from poise.world.ground.floor import Floor
from poise.world.overlap import find_depth, find_shapes, place_shape

IDLE, REACHING, ON, BACK = range(4)
_SHORT = 0.01  # m, of the capture point outside of the soles, from which on hands help
_CALM, _SURE = 0.2, 0.02  # s in which nothing is pushed, and m inside: then a hand goes back
_AHEAD = 0.8  # cosine: how nearly ahead of it a body must tip; to the side a shoulder does better than a hand
_LIGHT = 0.02  # of the weight: who pushes no harder pushes nothing
_FOLDED = 0.4  # arm's lengths: what is nearer the shoulder leans on by itself
_FAR, _BENT, _LONG = 1.7, 0.85, 0.99  # arm's lengths: what may come within reach, how far a hand goes, and holds on
_LEVER = 0.25  # m, of a push about the edge that the body tips over: a smaller one does not help
_ACROSS, _BEHIND = 0.5, 0.4  # sines: how far across the body, and behind it, a hand goes
_DROP, _UNFOLDED = 0.15, 0.4  # arm's lengths below the shoulder, where it would rather be, and from it at the least
_SOON = 0.2  # s, after which a hand may be there
_INSET = 0.08  # m, from the edges of a face
_SLOW, _LAST = 0.15, 0.03  # m/s of what is left of its speed when it touches, and m before that its speed is led
_BRAKES = 30.0  # m/s2, at which it is slowed before
_LATE = 0.05  # m before the wall a place is no longer changed
_NEAR, _FLAT = 8e-3, 3e-3  # m: a hand so far off is pushed not at all, and so near as hard as any
_LOAD = 0.5  # kg: a hand with more in it is not free
_WAITS, _MOST_WAIT = 0.6, 0.25  # how far before the wall a hand waits, of how far it is off along it, and m at most
_ASIDE = 0.05  # rad, by which ranges make room for where an arm is
_PIECE = 0.2  # rad, over which angles are taken to go with turns
_UP = np.array([0.0, 1.0, 0.0])


class Face(NamedTuple):
    """Where a hand may push: a point (3,) m of a surface, and the way out of it there, (3,) unit."""

    point: np.ndarray
    normal: np.ndarray


class _Arm(NamedTuple):
    """A hand with its arm.

    joints  shoulder, elbow and wrist;  below: the joints of the hand
    length  m, of the arm stretched out, to the wrist
    palm, fingers  (3,) unit, where they point in the hand's axes
    ends    (E, 3) m, of its shape, in the same;  radius m, about these
    out     1 of the left, -1 of the right
    hangs   (4,) of upper arm and forearm as they hang;  limits of the three joints
    """

    joints: tuple[int, int, int]
    below: tuple[int, ...]
    length: float
    palm: np.ndarray
    fingers: np.ndarray
    ends: np.ndarray
    radius: float
    out: float
    hangs: tuple[np.ndarray, np.ndarray]
    limits: tuple[JointLimits | None, ...]


class HandSupport:
    """Both hands of a body.

    state   (2,) of each: IDLE, REACHING, ON, BACK
    point, normal   (2, 3) where it goes, and the way out of the thing there
    calm    (2,) s since it was needed
    push    (2,) of the weight, how hard it pushed in the last step
    """

    def __init__(self, joints: Iterable[int]):
        """joints: those that may be moved for it."""
        self._joints = frozenset(joints)
        self._seen: tuple[Floor | None, Tree | None] = (None, None)
        self.arms: list[_Arm | None] = [None, None]
        self.faces: list[Shape] = []
        self.state = np.zeros(2, np.int64)
        self.point, self.normal = np.zeros((2, 3)), np.tile(_UP, (2, 1))
        self.calm, self.push = np.zeros(2), np.zeros(2)

    def see(self, body: Body) -> bool:
        """Look about, where the world or what is in the hands is another now; whether there is anything to lean on."""
        if self._seen != (body.floor, body.tree):
            self._seen = body.floor, body.tree
            self.faces = _list_shapes(body)
            self.arms = [_find_arm(body, side, self._joints) if self.faces else None for side in SIDES]
        return any(arm is not None for arm in self.arms)

    def busy(self) -> list[tuple[int, _Arm]]:
        """Hands that are on their way, or there."""
        return [(k, arm) for k, arm in enumerate(self.arms) if arm is not None and self.state[k] in (REACHING, ON)]

    def look(self, body: Body, h: float, short: float, edge: np.ndarray, way: np.ndarray) -> None:
        """See who is needed, and where.

        short  m, by how much the capture point is outside of the soles, less than 0: inside
        edge   (3,) m, the nearest place of their edge;  way (3,) unit, level: from there to the capture point
        """
        for k, arm in enumerate(self.arms):
            if arm is None:
                continue
            if self.state[k] in (IDLE, BACK):
                is_ahead = float(way @ body.R[0][:, 2]) > _AHEAD
                face = self._choose(body, arm, edge, way) if short > _SHORT and is_ahead else None
                if face is not None:
                    self.state[k], self.point[k], self.normal[k], self.calm[k] = REACHING, *face, 0.0
                continue
            self.calm[k] = 0.0 if short > -_SURE or self.push[k] > _LIGHT else self.calm[k] + h
            gap = float(self.find_gaps(body, k)[1].min())
            far = float(np.linalg.norm(self.point[k] - body.p[arm.joints[0]]))
            if self.calm[k] > _CALM or (short < -_SURE and far > _LONG * arm.length):
                self.state[k] = BACK
            elif self.state[k] == ON:
                self.state[k] = ON if gap < _LATE else REACHING
            elif gap < _NEAR:
                self.state[k] = ON
                off = body.p[arm.joints[2]] - self.point[k]
                self.point[k] += off - (off @ self.normal[k]) * self.normal[k]
            elif gap > _LATE and short > 0.0:
                face = self._choose(body, arm, edge, way)
                self.point[k], self.normal[k] = face or (self.point[k], self.normal[k])

    def find_gaps(self, body: Body, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(E, 3) m, the ends of a hand's shape, and (E,) m, how far it is off the face that it goes to there."""
        arm = self.arms[k]
        assert arm is not None
        ends = body.p[arm.joints[2]] + arm.ends @ body.R[arm.joints[2]].T
        return ends, np.asarray((ends - self.point[k]) @ self.normal[k] - arm.radius)

    def find_pads(self, body: Body, k: int) -> list[tuple[np.ndarray, float, float]]:
        """Where a hand may be pushed: (3,) m on the face, how far it is off there (m), and how hard, 0 to 1."""
        arm = self.arms[k]
        assert arm is not None
        if self.state[k] != ON:
            return []
        return [
            (end - (arm.radius + gap) * self.normal[k], float(gap), min((_NEAR - gap) / (_NEAR - _FLAT), 1.0))
            for end, gap in zip(*self.find_gaps(body, k), strict=True)
            if gap < _NEAR
        ]

    def find_closing(self, body: Body, k: int, h: float) -> tuple[np.ndarray, float, float] | None:
        """How a hand nears its place: where it is nearest (3,) m, its speed along the way out, m/s, and what that is

        to be, with steps of h seconds. None: it is far off, and not too fast.
        """
        arm, n = self.arms[k], self.normal[k]
        assert arm is not None
        hand, (ends, gaps) = arm.joints[2], self.find_gaps(body, k)
        at, gap = ends[int(gaps.argmin())], max(float(gaps.min()), 0.0)
        speed = float((body.v[hand] + np.cross(body.om[hand], at - body.p[hand])) @ n)
        most = -(_SLOW + min(math.sqrt(2.0 * _BRAKES * gap), 0.5 * gap / h))
        return (at, speed, most) if speed < most or gap < _LAST else None

    def find_pose(self, body: Body, k: int) -> np.ndarray:
        """(3, 4) rotations of shoulder, elbow and wrist that bring a hand to its place, as far as they go.

        The arm swings there from where it hangs, its elbow below or behind; the palm lies on the face, fingers up.
        """
        arm, n, skeleton = self.arms[k], self.normal[k], body.skeleton
        assert arm is not None
        upper, lower, hand = arm.joints
        above = body.world_turn(int(skeleton.parents[upper]))
        hangs = [rotation.multiply(above, turn) for turn in arm.hangs]
        there = self.point[k] + arm.radius * n - body.p[upper]
        far = float(np.linalg.norm(there))
        most = (_LONG if self.state[k] == ON else _BENT) * arm.length
        reach = there * min(1.0, max(min(most, far - self._find_wait(body, k)), 0.0) / max(far, 1e-9))
        hinge = rotation.rotate(above, np.array([-1.0, 0.0, 0.0]))
        bones = skeleton.offsets[lower], skeleton.offsets[hand]
        found = correct_two_bone(hangs[0][None], hangs[1][None], *bones, reach[None], hinge[None])
        first, second, aim = found.upper[0], found.lower[0], self._find_aim(body, k)
        # the forearm turns, as far as that brings the palm round
        off = rotation.multiply(rotation.conjugate(second), aim)
        second = rotation.multiply(second, _find_twist(off, bones[1] / max(float(np.linalg.norm(bones[1])), 1e-9)))
        pose = np.array([
            rotation.multiply(rotation.conjugate(above), first),
            rotation.multiply(rotation.conjugate(first), second),
            rotation.multiply(rotation.conjugate(second), aim),
        ])  # fmt: skip
        for i, limits in enumerate(arm.limits):
            if limits is not None:
                pose[i] = limits.clamp(pose[i])
        return pose

    def _find_aim(self, body: Body, k: int) -> np.ndarray:
        """(4,) the orientation that a hand is to have: its palm on the face, its fingers up, or ahead on a table."""
        arm, n = self.arms[k], self.normal[k]
        assert arm is not None
        up = _UP - (_UP @ n) * n
        if np.linalg.norm(up) < 0.5:
            up = body.R[0][:, 2] - (body.R[0][:, 2] @ n) * n
        up = up / max(float(np.linalg.norm(up)), 1e-9)
        own = np.stack([arm.palm, arm.fingers, np.cross(arm.palm, arm.fingers)], axis=1)
        world = np.stack([-n, up, np.cross(-n, up)], axis=1)
        return np.asarray(rotation.from_matrix(world @ own.T))

    def _find_wait(self, body: Body, k: int) -> float:
        """m, so far before its place a hand waits until it is level with it, and its palm flat."""
        arm, n = self.arms[k], self.normal[k]
        assert arm is not None
        if self.state[k] == ON:
            return 0.0
        hand = arm.joints[2]
        off = body.p[hand] - self.point[k]
        aside = float(np.linalg.norm(off - (off @ n) * n))
        flat = max(-float(body.R[hand] @ arm.palm @ n), 0.0)
        return min(_WAITS * aside, _MOST_WAIT) + (1.0 - flat) * float(np.abs(arm.ends @ arm.fingers).max())

    def find_room(self, body: Body, k: int) -> np.ndarray:
        """(3, 4) rotations that ranges of an arm's joints make room for: hardly more than they have.

        An elbow that a motion has bent sideways by a little would be braked at once, and all its axes with it.
        """
        arm = self.arms[k]
        assert arm is not None
        room = body.state.q[list(arm.joints)].copy()
        for i, limits in enumerate(arm.limits):
            if limits is not None:
                angles = limits.angles(room[i])
                inside = np.clip(angles, limits.lower, limits.upper)
                room[i] = limits.rotation(inside + np.clip(angles - inside, -_ASIDE, _ASIDE))
        return room

    def find_turns(self, body: Body, k: int) -> np.ndarray:
        """(3, 3) rad, in each body's axes: how shoulder, elbow and wrist go to `find_pose`, angle by angle.

        The shortest turn of an elbow would bend it sideways.
        """
        arm, turns = self.arms[k], np.zeros((3, 3))
        assert arm is not None
        for i, (joint, aim) in enumerate(zip(arm.joints, self.find_pose(body, k), strict=True)):
            now, limits, share = body.state.q[joint], arm.limits[i], 1.0
            if limits is not None:
                angles = limits.angles(now)
                off = limits.angles(aim) - angles
                share = min(1.0, _PIECE / max(float(np.linalg.norm(off)), 1e-9))
                aim = limits.rotation(angles + share * off)
            turns[i] = rotation.log(rotation.multiply(rotation.conjugate(now), aim)) / share
        return turns

    def _choose(self, body: Body, arm: _Arm, edge: np.ndarray, way: np.ndarray) -> Face | None:
        """The nearest place that helps, within reach or soon so."""
        shoulder, best, least = body.p[arm.joints[0]], None, _FAR * arm.length
        axis = np.cross(_UP, way)
        for shape in self.faces:
            for face in _list_faces(shape, self._find_probe(body, arm, shape)):
                lever = -float(np.cross(face.point - edge, face.normal) @ axis)
                reach = face.point + arm.radius * face.normal - shoulder
                far = float(np.linalg.norm(reach))
                if lever < _LEVER or not _FOLDED * arm.length < far < least or not _is_before(body, arm, reach / far):
                    continue
                best, least = face, far
        return best

    @staticmethod
    def _find_probe(body: Body, arm: _Arm, shape: Shape) -> np.ndarray:
        """(3,) m, from where the nearest place of a shape is one for a hand.

        A little below the shoulder; farther below where the shoulder will be near it by the time that the hand is
        there: a folded arm holds nothing.
        """
        shoulder, speed = body.p[arm.joints[0]], body.v[arm.joints[0]]
        depth, out = find_depth(shape, shoulder)
        near = min(max(-depth + _SOON * float(speed @ out), 0.0) / arm.length, 1.0)
        return np.asarray(shoulder - max(_DROP, math.sqrt(max(_UNFOLDED**2 - near**2, 0.0))) * arm.length * _UP)


def _is_before(body: Body, arm: _Arm, way: np.ndarray) -> bool:
    """Whether an arm can point that way (3,): not far across the body, and not behind it."""
    out, ahead = arm.out * body.R[0][:, 0], body.R[0][:, 2]
    return float(way @ out) > -_ACROSS and float(way @ ahead) > -_BEHIND


def _find_arm(body: Body, side: str, joints: frozenset[int]) -> _Arm | None:
    """A side's arm; None where it is not there, not all of it is moved, or the hand holds something."""
    skeleton, character = body.skeleton, body.character
    found = [skeleton.find_role(side + part) for part in ("UpperArm", "LowerArm", "Hand")]
    if any(i is None or i not in joints for i in found):
        return None
    upper, lower, hand = (int(i) for i in found if i is not None)
    below = [i for i in range(len(skeleton)) if hand in skeleton.chain(i)]
    held = body.tree.masses[below].sum() - build_tree(character).masses[below].sum()
    shape = next((each for joint, each in find_shapes(character) if joint == hand), None)
    if held > _LOAD or not isinstance(shape, Capsule | Sphere):
        return None
    ends = np.array([shape.center]) if isinstance(shape, Sphere) else np.stack([shape.start, shape.end])
    zero, limits, out = find_zero_pose(skeleton), find_limits(skeleton), 1.0 if side == SIDES[0] else -1.0
    back = rotation.conjugate(zero[side + "Hand"])
    palm, fingers = rotation.rotate(back, np.array([-out, 0.0, 0.0])), rotation.rotate(back, -_UP)
    length = float(sum(np.linalg.norm(skeleton.offsets[i]) for i in (lower, hand)))
    return _Arm(
        (upper, lower, hand), tuple(below), length, palm, fingers, ends, float(shape.radius), out,
        (zero[side + "UpperArm"], zero[side + "LowerArm"]),
        tuple(limits.get(skeleton.names[i]) for i in (upper, lower, hand)),
    )  # fmt: skip


def _list_shapes(body: Body) -> list[Shape]:
    """Shapes in the world of all that touches and never moves."""
    return [
        place_shape(shape, rotation.normalize(prop.turn), prop.position)
        for prop in body.floor.props
        if prop.inertia is None and prop.touches
        for shape in prop.shapes
    ]


def _list_faces(shape: Shape, at: np.ndarray) -> list[Face]:
    """Places of a shape that are nearest to a point (3,) m: one of each face of a box that it is before."""
    if not isinstance(shape, Box):
        depth, out = find_depth(shape, at)
        return [Face(at + depth * out, out)] if depth < 0.0 else []
    turn, found = rotation.to_matrix(shape.turn), []
    seen = turn.T @ (at - shape.center)
    for a in range(3):
        if abs(seen[a]) <= shape.half[a]:
            continue
        sign = 1.0 if seen[a] > 0.0 else -1.0
        room = np.maximum(shape.half - _INSET, 0.0)
        place = np.clip(seen, -room, room)
        place[a] = sign * shape.half[a]
        found.append(Face(shape.center + turn @ place, sign * turn[:, a]))
    return found


def _find_twist(turn: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """(4,) the part of a rotation (4,) about a unit axis (3,)."""
    along = float(turn[1:] @ axis)
    size = float(np.hypot(turn[0], along))
    return rotation.identity() if size < 1e-9 else np.concatenate([turn[:1], along * axis]) / size
