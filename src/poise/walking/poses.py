"""A walker's plan as poses: every frame by inverse kinematics, the centre of mass first.   [balance, 4]"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.ik.following import Follower
from poise.ik.goals import Reach, Turn
from poise.motion.own.tracks import stand_pose
from poise.spatial import rotation
from poise.walking.posture import find_posture
from poise.walking.walker import Walker, find_heading
from poise.world.load import Load

_PELVIS, _CHEST, _HEAD, _HEIGHT = 0.3, 0.5, 0.3, 0.3  # weights beside a foot's

_TRUNK, _ARMS = 10.0, 100.0  # stiffness beside a leg's


def find_stiffness(character: Character) -> dict[str, float]:
    """How much harder than legs other joints are turned to keep the balance: the hips are shifted rather."""
    trunk = {role: _TRUNK for role in ("spine", "chest", "upperChest", "neck", "head")}
    arms = {f"{side}{part}": _ARMS for side in SIDES for part in ("Shoulder", "UpperArm", "LowerArm", "Hand")}
    return {role: value for role, value in (trunk | arms).items() if role in character.skeleton.roles}


class Frames(NamedTuple):
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
        self._pose = stand_pose(skeleton)
        names = [skeleton.names[foot.joint] for foot in walker.course.feet]
        goals = [Reach(name, (0, 0, 0), first=True) for name in names]
        goals += [Turn(name, first=True) for name in names]
        trunk = [role for role in ("upperChest", "chest", "spine") if role in skeleton.roles][:1]
        goals += [Turn("hips", weight=_PELVIS)] + [Turn(role, weight=_CHEST) for role in trunk]
        if "head" in skeleton.roles:
            goals.append(Turn("head", weight=_HEAD))
        self._has_trunk, self._has_head = bool(trunk), "head" in skeleton.roles
        self._rest = self._find_rest()
        given = [*given, *(skeleton.names[foot.toes] for foot in walker.course.feet if foot.toes >= 0)]
        self.follower = Follower(
            character, goals, self._pose.root, self._pose.rotations, held=names[0], given=given,
            stiffness=find_stiffness(character),
        )  # fmt: skip
        self.load(loads)
        self._names = names
        self._toes = {foot.side: given.index(skeleton.names[foot.toes]) for foot in walker.course.feet if foot.toes >= 0}
        self._given = given

    def load(self, loads: Iterable[Load]) -> None:
        """Carry these, and nothing else."""
        carried: dict[str, tuple[float, np.ndarray]] = {}
        for load in loads:
            mass, moment = carried.get(load.joint, (0.0, np.zeros(3)))
            carried[load.joint] = mass + load.mass, moment + load.mass * np.asarray(load.offset)
        self.follower.load({joint: (mass, moment / mass) for joint, (mass, moment) in carried.items()})

    def _find_rest(self) -> np.ndarray:
        """(J, 3) rad, angles of standing at ease."""
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
        """What a follower is asked for at times (F,)."""
        walker, count = self.walker, len(times)
        skeleton, manner, leg = self.character.skeleton, walker.manner, walker.leg
        places, turns = np.zeros((count, 2, 3)), []
        center, held = np.zeros((count, 3)), np.zeros(count, np.int64)
        rest, given = np.tile(self._rest, (count, 1, 1)), np.tile(self.follower.given_turns, (count, 1, 1))
        base_place, base_turn = np.zeros((count, 3)), np.zeros((count, 4))
        weights = np.tile(self.follower.weights, (count, 1))
        arms = [(skeleton.find_role(f"{s}UpperArm"), skeleton.find_role(f"{s}LowerArm")) for s in SIDES]
        for k, t in enumerate(times):
            t = float(t)
            walker.reach(t)
            feet = walker.feet_at(t)
            posture = find_posture(feet, find_heading(feet), leg, manner)
            side = walker.course.support_at(t)
            center[k] = walker.state_at(t)[0]
            places[k] = feet[0].place, feet[1].place
            row = [feet[0].turn, feet[1].turn, posture.pelvis]
            row += [posture.chest] * self._has_trunk + [posture.head] * self._has_head
            turns.append(row)
            held[k] = walker.course.feet[side].joint
            base_place[k], base_turn[k] = feet[side].place, feet[side].turn
            for s, g in self._toes.items():
                given[k, g] = walker.course.feet[s].pitched(-feet[s].bend)
            for s, (upper, lower) in enumerate(arms):
                if upper is not None:
                    rest[k, upper, 0] -= posture.arms[s]
                if lower is not None:
                    rest[k, lower, 0] -= posture.elbows[s]
        return {
            "places": places, "turns": np.array(turns), "center": center, "held": held, "rest": rest,
            "given_turns": given, "base_place": base_place, "base_turn": base_turn, "weights": weights,
            "center_weight": np.array([1.0, _HEIGHT, 1.0]),
        }  # fmt: skip

    def begin(self, t: float) -> None:
        """Stand as the plan has it at time t."""
        asked = self.ask(np.array([t]))
        self.follower.settle(60, **asked)

    def frames(self, times: np.ndarray) -> Frames:
        """Poses at times (F,), which go on from the last."""
        found = self.follower.follow(**self.ask(times))
        return Frames(found.root, found.rotations, found.center, found.first)
