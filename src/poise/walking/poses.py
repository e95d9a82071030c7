"""A walker's plan as poses: every frame by inverse kinematics, the centre of mass first.   [balance, 4]

Trunk, head and arms go with the feet.

All of it follows from where the feet are, so that it is as smooth as they are and comes to rest with them. The pelvis
turns with the foot that is ahead, the chest against it; arms swing against the legs: by 5 degrees and 20 at a common
step (Inman, Ralston & Todd 1981, Human Walking).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.ik.follower import PoseFollower
from poise.ik.goals import Goal, OrientationGoal, PositionGoal
from poise.motion.motion import Pose
from poise.motion.samples.tracks import stand_pose
from poise.spatial import rotation
from poise.walking.feet.stance import FootState
from poise.walking.gait import Gait
from poise.walking.walker import Walker, find_heading
from poise.world.forces import Load

_PELVIS, _CHEST, _HEAD, _HEIGHT = 0.3, 0.5, 0.3, 0.3  # weights beside a foot's
_TRUNK, _ARMS = 10.0, 100.0  # stiffness beside a leg's
_ROUNDS = 4  # of the solver, a frame


def find_stiffness(character: Character) -> dict[str, float]:
    """Return stiffness by role: trunk and arms resist more than legs, so that balance is kept by shifting the hips."""
    trunk = dict.fromkeys(("spine", "chest", "upperChest", "neck", "head"), _TRUNK)
    arms = {f"{side}{part}": _ARMS for side in SIDES for part in ("Shoulder", "UpperArm", "LowerArm", "Hand")}
    return {role: value for role, value in (trunk | arms).items() if role in character.skeleton.roles}


def clamp_pose(character: Character, pose: Pose) -> Pose:
    """Return a pose with every joint in its range: a joint that begins outside would stay there."""
    turns = pose.rotations.copy()
    for name, ends in character.limits.items():
        i = character.skeleton.index(name)
        turns[i] = ends.clamp(turns[i])
    return Pose(pose.root, turns)


class WalkFrames(NamedTuple):
    """root (F, 3) m, rotations (F, J, 4), center (F, 3) m, first (F,) m the largest error of what is first."""

    root: np.ndarray
    rotations: np.ndarray
    center: np.ndarray
    first: np.ndarray


class WalkPoser:
    """Poses of a walker, frame after frame."""

    def __init__(self, walker: Walker, given: Sequence[str] = (), loads: Iterable[Load] = ()):
        self.walker, self.character = walker, walker.character
        character, skeleton = self.character, self.character.skeleton
        self._pose = clamp_pose(character, stand_pose(skeleton))
        names = [skeleton.names[foot.joint] for foot in walker.course.feet]
        goals: list[Goal] = [PositionGoal(name, (0, 0, 0), first=True) for name in names]
        goals += [OrientationGoal(name, first=True) for name in names]
        trunk = [role for role in ("upperChest", "chest", "spine") if role in skeleton.roles][:1]
        goals += [OrientationGoal("hips", weight=_PELVIS)] + [OrientationGoal(role, weight=_CHEST) for role in trunk]
        if "head" in skeleton.roles:
            goals.append(OrientationGoal("head", weight=_HEAD))
        self._has_trunk, self._has_head = bool(trunk), "head" in skeleton.roles
        self._rest = self._find_rest()
        given = [skeleton.names[skeleton.index(name)] for name in given]
        toes = {foot.side: skeleton.names[foot.toes] for foot in walker.course.feet if foot.toes >= 0}
        arms = [arm for arm in self._list_arms() if arm[0] not in given]
        self.told = tuple(given)
        given = [*given, *toes.values(), *(name for name, _, _ in arms)]
        self.follower = PoseFollower(
            character, goals, self._pose.root, self._pose.rotations, held=names[0], given=given,
            stiffness=find_stiffness(character), rounds=_ROUNDS,
        )  # fmt: skip
        self.load(loads)
        self._names = names
        self._toes = {side: given.index(name) for side, name in toes.items()}
        self._arms = [(given.index(name), skeleton.index(name), side, swings) for name, side, swings in arms]
        self._weights = self.follower.weights.copy()
        self.follower.center_weight[:] = 1.0, _HEIGHT, 1.0
        self.follower.rest[:] = self._rest

    def _list_arms(self) -> list[tuple[str, int, bool]]:
        """Return the joints of the arms that swing: name, side, and whether it is the shoulder's."""
        roles = self.character.skeleton.roles
        stems = [(side, f"{word}{part}") for side, word in enumerate(SIDES) for part in ("UpperArm", "LowerArm")]
        found = [(roles[role], side, role.endswith("UpperArm")) for side, role in stems if role in roles]
        return [arm for arm in found if arm[0] in self.character.limits]

    def load(self, loads: Iterable[Load]) -> None:
        """Carry these loads, and no others."""
        carried: dict[str, tuple[float, np.ndarray]] = {}
        for load in loads:
            mass, moment = carried.get(load.joint, (0.0, np.zeros(3)))
            carried[load.joint] = mass + load.mass, moment + load.mass * np.asarray(load.offset)
        self.follower.load({joint: (mass, (moment / mass).tolist()) for joint, (mass, moment) in carried.items()})

    def _find_rest(self) -> np.ndarray:
        """Return the angles (J, 3) rad of standing at ease."""
        skeleton = self.character.skeleton
        rest = np.zeros((len(skeleton), 3))
        for name, ends in self.character.limits.items():
            i = skeleton.index(name)
            rest[i] = np.clip(ends.angles(self._pose.rotations[i]), ends.lower, ends.upper)
        for side in SIDES:
            knee = skeleton.index(f"{side}LowerLeg")
            rest[knee, 0] = max(rest[knee, 0], 0.3)
        return rest

    def ask(self, times: np.ndarray) -> dict[str, np.ndarray]:
        """Return the inputs of the follower at times (F,)."""
        walker, count = self.walker, len(times)
        walker.reach(float(times[-1]))
        feet = walker.feet_at(times)
        climb = walker.course.levels(0, times) - walker.course.levels(1, times)
        posture = find_posture(feet, climb, find_heading(feet), walker.leg, walker.manner)
        sides = np.array([walker.course.support_at(float(t)) for t in times])
        center = np.array([walker.state_at(float(t))[0] for t in times])
        places, turns = np.stack([f.place for f in feet], axis=1), np.stack([f.turn for f in feet], axis=1)
        soft = [posture.pelvis] + [posture.chest] * self._has_trunk + [posture.head] * self._has_head
        weights = np.tile(self._weights, (count, 1))
        each = np.arange(count)
        weights[each, sides] = weights[each, 2 + sides] = 0.0  # the foot that is held is where it is
        joints = np.array([foot.joint for foot in walker.course.feet])
        return {
            "places": places, "turns": np.concatenate([turns, np.stack(soft, axis=1)], axis=1), "center": center,
            "held": joints[sides], "given_turns": self._find_given(feet, posture), "weights": weights,
            "base_place": places[each, sides], "base_turn": turns[each, sides],
        }  # fmt: skip

    def _find_given(self, feet: tuple[FootState, FootState], posture: Posture) -> np.ndarray:
        """Return the rotations (F, G, 4) of prescribed joints: toes that stay flat, arms that swing."""
        given = np.tile(self.follower.given_turns, (len(posture.arms), 1, 1))
        for side, g in self._toes.items():
            foot = self.walker.course.feet[side]
            given[:, g] = foot.pitched(-np.asarray(feet[side].bend))
            ends = self.character.limits.get(self.character.skeleton.names[foot.toes])
            if ends is not None:  # toes of a foot that stands askew have other axes than its sole
                angles = ends.angles(given[:, g])
                given[:, g] = ends.rotation(np.clip(angles, ends.lower, ends.upper))
        for g, joint, side, swings in self._arms:
            angles = np.tile(self._rest[joint], (len(given), 1))
            angles[:, 0] -= (posture.arms if swings else posture.elbows)[:, side]
            ends = self.character.limits[self.character.skeleton.names[joint]]
            given[:, g] = ends.rotation(np.clip(angles, ends.lower, ends.upper))
        return given

    def begin(self, t: float) -> None:
        """Take the pose of the plan at time t."""
        asked = self.ask(np.array([t]))
        self.follower.settle(60, **asked)

    def frames(self, times: np.ndarray) -> WalkFrames:
        """Return the poses at times (F,), which continue from the last one."""
        found = self.follower.follow(**self.ask(times))
        return WalkFrames(found.root, found.rotations, found.center, found.first)


_PELVIS_SHARE, _CHEST_SHARE = np.radians(5.0), np.radians(3.0)  # at a step of half a leg
_ARM, _ELBOW = np.radians(20.0), np.radians(12.0)
_CLIMB = 0.8  # rad of leaning forward, for a rise of a leg's length between feet that are a step apart
_HARDLY = 0.08  # of a leg: less of a rise counts less, and smoothly
_X, _Y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


class Posture(NamedTuple):
    """Of F times: pelvis, chest, head (F, 4) world orientations; arms (F, 2) rad forward and elbows (F, 2) rad bent,
    more than at rest."""

    pelvis: np.ndarray
    chest: np.ndarray
    head: np.ndarray
    arms: np.ndarray
    elbows: np.ndarray


def find_posture(
    feet: tuple[FootState, FootState], climb: np.ndarray, heading: np.ndarray, leg: float, manner: Gait
) -> Posture:
    """Return trunk, head and arms for the states of both feet and a heading (F,) rad; leg m.

    climb  (F,) m, how much higher the ground under the left foot is than under the right one
    """
    ahead = np.stack([np.sin(heading), np.zeros_like(heading), np.cos(heading)], axis=-1)
    apart = feet[0].place - feet[1].place
    stride = np.tanh(np.sum(apart * ahead, axis=-1) / leg) / np.tanh(0.5)  # 1: the left is half a leg ahead
    up = np.maximum(climb / leg * stride, 0.0)  # the foot that is ahead is higher: it climbs
    lean = manner.lean + _CLIMB * up**3 / (up**2 + _HARDLY**2)
    forward = manner.arms * _ARM * np.stack([-stride, stride], axis=-1)
    elbows = manner.arms * _ELBOW * _soft(np.stack([-stride, stride], axis=-1))
    return Posture(
        _turned(heading - _PELVIS_SHARE * stride, lean), _turned(heading + _CHEST_SHARE * stride, 1.3 * lean),
        _turned(heading, 0.5 * lean), forward, elbows,
    )  # fmt: skip


def _soft(x: np.ndarray) -> np.ndarray:
    """x where it is positive, hardly anything where it is not, smoothly."""
    return np.asarray(0.5 * (x + np.sqrt(x * x + 0.04)) - 0.1)


def _turned(yaw: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    return rotation.multiply(rotation.exp(yaw[:, None] * _Y), rotation.exp(pitch[:, None] * _X))
