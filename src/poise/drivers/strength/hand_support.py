"""Hands that support a body whose balance is short: they reach for a wall, a rail or a table, and push (O9).

Balance is short if the capture point is outside the soles (`CaptureShortfall`). Of the faces of fixed props, each free
hand chooses the nearest one that is within reach, or soon will be, and whose force would rotate the body back about the
edge that it tips over. On its way the hand is slowed to walking speed before it touches, elbow bent, however fast the
body follows: the arm should stop the body, and not the wall the hand. There it is a support like a sole: its force is
found with all others (`problem.py`), within friction and the strength of the arm. When balance is restored and the hand
no longer pushes, it returns to its motion slowly.

A hand that holds a load, or that is led as an effector, does not help. A body that tips sideways or backwards does not
reach out: whatever touches there first is leaned on.
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
from poise.drivers.strength.records import ContactPoints, Freedoms
from poise.drivers.strength.reference import CaptureShortfall
from poise.dynamics.tree import Tree, build_tree
from poise.ik.two_bone import correct_two_bone
from poise.spatial import rotation
from poise.world.ground.floor import Floor
from poise.world.overlap import find_depth, find_shapes, place_shape

IDLE, REACHING, ON, BACK = range(4)
PADS = 4  # points of both hands at which they are pushed, at most

# When a hand helps. None of these is swept.
SHORTFALL = 0.01  # m, of the capture point outside the soles, from which on hands help
CALM, INSIDE = 0.2, 0.02  # s without a push, and m of the capture point inside the soles: then a hand goes back
AHEAD = 0.8  # cosine from straight ahead up to which a fall is one; to the side a shoulder does better than a hand
LIGHT = 0.02  # of the body's weight: a hand with less force does not push
LOAD = 0.5  # kg: a hand that holds more is not free

# Which place it chooses. Lengths are fractions of the arm's length unless a unit is given. None of these is swept.
FOLDED, FAR = 0.4, 1.7  # least and greatest distance from the shoulder: nearer, the body leans on it by itself
LEVER = 0.25  # m, least lever arm of the force about the edge that the body tips over
ACROSS, BEHIND = 0.5, 0.4  # sines: how far across the body, and behind it, a hand goes
DROP, UNFOLDED = 0.15, 0.4  # below the shoulder, and least distance from it
SOON = 0.2  # s, after which a hand may have reached the place
INSET = 0.08  # m, from the edges of a face

# How it goes there. None of these is swept, unless stated.
BENT, STRETCHED = 0.85, 0.99  # of the arm's length: how far a hand reaches, and how far it holds on
WAIT, MOST_WAIT = 0.6, 0.25  # a hand waits before the face by this fraction of its offset along it; m at most
TOUCH_SPEED, LAST = 0.15, 0.03  # m/s towards the face when a hand touches, and m before it its speed is controlled
BRAKING = 30.0  # m/s2, at which a hand is slowed before
LATE = 0.05  # m before the face its place is no longer changed
NEAR, FLAT = 8e-3, 3e-3  # m: a hand so far off is not pushed, and one so near as hard as any
MARGIN = 0.05  # rad, by which joint ranges are widened to where an arm is
PIECE = 0.2  # rad, over which changes of joint angles are taken as proportional to rotations
REACH_RATE, MOST_SPEED, MOST_ACCELERATION = 11.0, 8.0, 150.0  # 1/s; rad/s and rad/s2 at most
RETURN_SPEED = 3.0  # rad/s, with which an arm returns to its motion
# Weight of the target accelerations of an arm on its way, and of one that supports, beside 1 for others: the trunk is
# not thrown about for an arm.
REACHING_WEIGHT, SUPPORTING_WEIGHT = 0.5, 0.1
MOST_FORCE = 20.0  # of the body's weight: largest force on a hand
_UP = np.array([0.0, 1.0, 0.0])


class Face(NamedTuple):
    """A place where a hand may push: a point (3,) m of a surface, and its outward normal (3,) there."""

    point: np.ndarray
    normal: np.ndarray


class _Arm(NamedTuple):
    """A hand with its arm.

    joints  shoulder, elbow and wrist;  below: the joints of the hand
    length  m, of the stretched arm up to the wrist
    palm, fingers  (3,) unit, their directions in the hand's axes
    ends    (E, 3) m, ends of the hand's shape in its axes;  radius: m, of the shape about these
    out     1 for the left side, -1 for the right
    hangs   (4,) orientations of upper arm and forearm when they hang;  limits of the three joints
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

    state   (2,) of each: IDLE, REACHING, ON (it supports the body), BACK (it returns to the motion)
    point, normal   (2, 3) place that it goes to, and the outward normal of the surface there
    calm    (2,) s since it was last needed
    push    (2,) of the body's weight, its normal force in the last step
    """

    def __init__(self, joints: Iterable[int]):
        """joints: those that may be moved."""
        self._joints = frozenset(joints)
        self._seen: tuple[Floor | None, Tree | None] = (None, None)
        self.arms: list[_Arm | None] = [None, None]
        self.faces: list[Shape] = []
        self.state = np.zeros(2, np.int64)
        self.point, self.normal = np.zeros((2, 3)), np.tile(_UP, (2, 1))
        self.calm, self.push = np.zeros(2), np.zeros(2)

    def see(self, body: Body) -> bool:
        """Return whether any hand can help; update arms and faces if the world or the loads have changed."""
        if self._seen != (body.floor, body.tree):
            self._seen = body.floor, body.tree
            self.faces = _list_shapes(body)
            self.arms = [_find_arm(body, side, self._joints) if self.faces else None for side in SIDES]
        return any(arm is not None for arm in self.arms)

    def busy(self) -> list[tuple[int, _Arm]]:
        """Return the hands that reach or support, by side."""
        return [(k, arm) for k, arm in enumerate(self.arms) if arm is not None and self.state[k] in (REACHING, ON)]

    def update(
        self, body: Body, shortfall: CaptureShortfall, freedoms: Freedoms, contacts: ContactPoints, rate: float
    ) -> None:
        """Decide what each hand does; write target accelerations of its arm, and the points at which it is pushed.

        rate  1/s, at which joints return to the motion
        """
        from poise.drivers.strength.kernels import set_frame

        self.choose(body, shortfall)
        count = contacts.count
        for side, arm in enumerate(self.arms):
            if arm is None or self.state[side] == IDLE:
                continue
            if self.state[side] == BACK:
                self.state[side] = IDLE if _ease_arm(body, arm.joints, freedoms, rate) else BACK
                continue
            body.aim[list(arm.joints)] = self.find_room(body, side)
            for i, off in zip(arm.joints, self.find_turns(body, side), strict=True):
                off *= min(0.7 * REACH_RATE, MOST_SPEED / max(float(np.linalg.norm(off)), 1e-9))
                going = 1.5 * REACH_RATE * (off - body.state.w[i])
                going = going * min(1.0, MOST_ACCELERATION / max(float(np.linalg.norm(going)), 1e-9))
                _set_target(freedoms, i, going)
            is_arm = np.isin(freedoms.joint, arm.joints)
            freedoms.weight[is_arm] = SUPPORTING_WEIGHT if self.state[side] == ON else REACHING_WEIGHT
            for at, gap, share in self.find_pads(body, side):
                contacts.point[count], contacts.segment[count] = at, arm.joints[2]
                contacts.most[count], contacts.gap[count] = MOST_FORCE * share, gap
                x, y, z = self.normal[side].tolist()
                set_frame(x, y, z, contacts.frame[count])
                contacts.hand[count] = side
                count += 1
        contacts.record["count"] = count

    def choose(self, body: Body, shortfall: CaptureShortfall) -> None:
        """Decide which hands are needed, and where they go."""
        for k, arm in enumerate(self.arms):
            if arm is None:
                continue
            if self.state[k] in (IDLE, BACK):
                self._start(body, k, arm, shortfall)
            else:
                self._go_on(body, k, arm, shortfall)

    def _start(self, body: Body, k: int, arm: _Arm, shortfall: CaptureShortfall) -> None:
        """Send a hand to a face if balance is short ahead and there is one."""
        way = shortfall.direction
        is_ahead = float(way @ body.R[0][:, 2]) > AHEAD
        if shortfall.distance > SHORTFALL and is_ahead:
            face = self._choose_face(body, arm, shortfall)
            if face is not None:
                self.state[k], self.point[k], self.normal[k], self.calm[k] = REACHING, *face, 0.0

    def _go_on(self, body: Body, k: int, arm: _Arm, shortfall: CaptureShortfall) -> None:
        """Update a hand that reaches or supports."""
        short = shortfall.distance
        self.calm[k] = 0.0 if short > -INSIDE or self.push[k] > LIGHT else self.calm[k] + body.dt
        gap = float(self.find_gaps(body, k)[1].min())
        far = float(np.linalg.norm(self.point[k] - body.p[arm.joints[0]]))
        if self.calm[k] > CALM or (short < -INSIDE and far > STRETCHED * arm.length):
            self.state[k] = BACK
        elif self.state[k] == ON:
            self.state[k] = ON if gap < LATE else REACHING
        elif gap < NEAR:
            self.state[k] = ON
            off = body.p[arm.joints[2]] - self.point[k]
            self.point[k] += off - (off @ self.normal[k]) * self.normal[k]
        elif gap > LATE and short > 0.0:
            face = self._choose_face(body, arm, shortfall)
            self.point[k], self.normal[k] = face or (self.point[k], self.normal[k])

    def find_gaps(self, body: Body, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends (E, 3) m of a hand's shape, and their distances (E,) m from the face that it goes to."""
        arm = self.arms[k]
        assert arm is not None
        ends = body.p[arm.joints[2]] + arm.ends @ body.R[arm.joints[2]].T
        return ends, np.asarray((ends - self.point[k]) @ self.normal[k] - arm.radius)

    def find_pads(self, body: Body, k: int) -> list[tuple[np.ndarray, float, float]]:
        """Return where a hand may be pushed: (3,) m on the face, its distance (m), and fraction of the force."""
        arm = self.arms[k]
        assert arm is not None
        if self.state[k] != ON:
            return []
        return [
            (end - (arm.radius + gap) * self.normal[k], float(gap), min((NEAR - gap) / (NEAR - FLAT), 1.0))
            for end, gap in zip(*self.find_gaps(body, k), strict=True)
            if gap < NEAR
        ]

    def find_closing(self, body: Body, k: int, h: float) -> tuple[np.ndarray, float, float] | None:
        """Return how a hand nears its face: its nearest point (3,) m, the outward velocity (m/s), and its target.

        h  s, of a step. Return None if the hand is neither near nor too fast.
        """
        arm, n = self.arms[k], self.normal[k]
        assert arm is not None
        hand, (ends, gaps) = arm.joints[2], self.find_gaps(body, k)
        at, gap = ends[int(gaps.argmin())], max(float(gaps.min()), 0.0)
        speed = float((body.v[hand] + np.cross(body.om[hand], at - body.p[hand])) @ n)
        most = -(TOUCH_SPEED + min(math.sqrt(2.0 * BRAKING * gap), 0.5 * gap / h))
        return (at, speed, most) if speed < most or gap < LAST else None

    def find_pose(self, body: Body, k: int) -> np.ndarray:
        """Return rotations (3, 4) of shoulder, elbow and wrist that bring a hand to its place, within their ranges.

        The arm swings there from where it hangs, elbow below or behind; the palm lies on the face, fingers up.
        """
        arm, n, skeleton = self.arms[k], self.normal[k], body.skeleton
        assert arm is not None
        upper, lower, hand = arm.joints
        above = body.world_turn(int(skeleton.parents[upper]))
        hangs = [rotation.multiply(above, turn) for turn in arm.hangs]
        there = self.point[k] + arm.radius * n - body.p[upper]
        far = float(np.linalg.norm(there))
        most = (STRETCHED if self.state[k] == ON else BENT) * arm.length
        reach = there * min(1.0, max(min(most, far - self._find_wait(body, k)), 0.0) / max(far, 1e-9))
        hinge = rotation.rotate(above, np.array([-1.0, 0.0, 0.0]))
        bones = skeleton.offsets[lower], skeleton.offsets[hand]
        found = correct_two_bone(hangs[0][None], hangs[1][None], *bones, reach[None], hinge[None])
        first, second, aim = found.upper[0], found.lower[0], self._find_aim(body, k)
        # the forearm twists as far as that turns the palm
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
        """Return the target orientation (4,) of a hand: palm on the face, fingers up, or ahead on a table."""
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
        """Return how far (m) before its place a hand waits until it is opposite to it, and its palm flat."""
        arm, n = self.arms[k], self.normal[k]
        assert arm is not None
        if self.state[k] == ON:
            return 0.0
        hand = arm.joints[2]
        off = body.p[hand] - self.point[k]
        aside = float(np.linalg.norm(off - (off @ n) * n))
        flat = max(-float(body.R[hand] @ arm.palm @ n), 0.0)
        return min(WAIT * aside, MOST_WAIT) + (1.0 - flat) * float(np.abs(arm.ends @ arm.fingers).max())

    def find_room(self, body: Body, k: int) -> np.ndarray:
        """Return rotations (3, 4) that the ranges of an arm's joints yield to: little more than the present ones.

        An elbow that a motion has bent sideways a little would else be braked at once, and all its axes with it.
        """
        arm = self.arms[k]
        assert arm is not None
        room = body.state.q[list(arm.joints)].copy()
        for i, limits in enumerate(arm.limits):
            if limits is not None:
                angles = limits.angles(room[i])
                inside = np.clip(angles, limits.lower, limits.upper)
                room[i] = limits.rotation(inside + np.clip(angles - inside, -MARGIN, MARGIN))
        return room

    def find_turns(self, body: Body, k: int) -> np.ndarray:
        """Return rotation vectors (3, 3) rad, segment axes, from shoulder, elbow and wrist to `find_pose`.

        They follow the joint angles: the shortest rotation of an elbow would bend it sideways.
        """
        arm, turns = self.arms[k], np.zeros((3, 3))
        assert arm is not None
        for i, (joint, aim) in enumerate(zip(arm.joints, self.find_pose(body, k), strict=True)):
            now, limits, share = body.state.q[joint], arm.limits[i], 1.0
            if limits is not None:
                angles = limits.angles(now)
                off = limits.angles(aim) - angles
                share = min(1.0, PIECE / max(float(np.linalg.norm(off)), 1e-9))
                aim = limits.rotation(angles + share * off)
            turns[i] = rotation.log(rotation.multiply(rotation.conjugate(now), aim)) / share
        return turns

    def _choose_face(self, body: Body, arm: _Arm, shortfall: CaptureShortfall) -> Face | None:
        """Return the nearest place that helps and is within reach, or soon will be."""
        edge, way = shortfall.edge, shortfall.direction
        shoulder, best, least = body.p[arm.joints[0]], None, FAR * arm.length
        axis = np.cross(_UP, way)
        for shape in self.faces:
            for face in _list_faces(shape, self._find_probe(body, arm, shape)):
                lever = -float(np.cross(face.point - edge, face.normal) @ axis)
                reach = face.point + arm.radius * face.normal - shoulder
                far = float(np.linalg.norm(reach))
                if lever < LEVER or not FOLDED * arm.length < far < least or not _is_before(body, arm, reach / far):
                    continue
                best, least = face, far
        return best

    @staticmethod
    def _find_probe(body: Body, arm: _Arm, shape: Shape) -> np.ndarray:
        """Return the point (3,) m whose nearest point on a shape is a place for a hand.

        It is a little below the shoulder; lower if the shoulder will be near the shape by the time that the hand is
        there: a folded arm supports nothing.
        """
        shoulder, speed = body.p[arm.joints[0]], body.v[arm.joints[0]]
        depth, out = find_depth(shape, shoulder)
        near = min(max(-depth + SOON * float(speed @ out), 0.0) / arm.length, 1.0)
        return np.asarray(shoulder - max(DROP, math.sqrt(max(UNFOLDED**2 - near**2, 0.0))) * arm.length * _UP)


def _is_before(body: Body, arm: _Arm, way: np.ndarray) -> bool:
    """Return whether an arm can point in a direction (3,): not far across the body, and not behind it."""
    out, ahead = arm.out * body.R[0][:, 0], body.R[0][:, 2]
    return float(way @ out) > -ACROSS and float(way @ ahead) > -BEHIND


def _find_arm(body: Body, side: str, joints: frozenset[int]) -> _Arm | None:
    """Return a side's arm; None if it lacks a joint or one that may be moved, or if the hand holds something."""
    skeleton, character = body.skeleton, body.character
    found = [skeleton.find_role(side + part) for part in ("UpperArm", "LowerArm", "Hand")]
    if any(i is None or i not in joints for i in found):
        return None
    upper, lower, hand = (int(i) for i in found if i is not None)
    below = [i for i in range(len(skeleton)) if hand in skeleton.chain(i)]
    held = body.tree.masses[below].sum() - build_tree(character).masses[below].sum()
    shape = next((each for joint, each in find_shapes(character) if joint == hand), None)
    if held > LOAD or not isinstance(shape, Capsule | Sphere):
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
    """Return the world shapes of all fixed props that touch bodies."""
    return [
        place_shape(shape, rotation.normalize(prop.turn), prop.position)
        for prop in body.floor.props
        if prop.inertia is None and prop.touches
        for shape in prop.shapes
    ]


def _list_faces(shape: Shape, at: np.ndarray) -> list[Face]:
    """Return the places of a shape nearest to a point (3,) m: of a box, one for each face that the point is before."""
    if not isinstance(shape, Box):
        depth, out = find_depth(shape, at)
        return [Face(at + depth * out, out)] if depth < 0.0 else []
    turn, found = rotation.to_matrix(shape.turn), []
    seen = turn.T @ (at - shape.center)
    for a in range(3):
        if abs(seen[a]) <= shape.half[a]:
            continue
        sign = 1.0 if seen[a] > 0.0 else -1.0
        room = np.maximum(shape.half - INSET, 0.0)
        place = np.clip(seen, -room, room)
        place[a] = sign * shape.half[a]
        found.append(Face(shape.center + turn @ place, sign * turn[:, a]))
    return found


def _find_twist(turn: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Return the twist (4,) of a rotation (4,) about a unit axis (3,)."""
    along = float(turn[1:] @ axis)
    size = float(np.hypot(turn[0], along))
    return rotation.identity() if size < 1e-9 else np.concatenate([turn[:1], along * axis]) / size


def _ease_arm(body: Body, joints: tuple[int, ...], freedoms: Freedoms, rate: float) -> bool:
    """Limit the speed with which an arm returns to its motion; return whether it is slow enough by itself."""
    slow = True
    for i in joints:
        rows = np.flatnonzero(freedoms.joint == i)
        speed = body.state.w[i] + (freedoms.dw[i] + freedoms.target[rows] @ freedoms.axis[rows]) / rate
        size = float(np.linalg.norm(speed))
        if size > RETURN_SPEED:
            _set_target(freedoms, i, rate * (speed * RETURN_SPEED / size - body.state.w[i]))
            slow = False
    return slow


def _set_target(freedoms: Freedoms, joint: int, dw: np.ndarray) -> None:
    """Replace a joint's target acceleration by dw (3,) rad/s2, segment axes."""
    rows = np.flatnonzero(freedoms.joint == joint)
    axes = freedoms.axis[rows]
    freedoms.target[rows] = axes @ dw
    freedoms.dw[joint] = dw - freedoms.target[rows] @ axes
