"""Gestures: descriptions of movement over *phase*, for any body, with parameters that can be changed.

Phase is what the gesture counts (beats, swings, claps, breaths; seconds for one that is played once). Who plays it
keeps the phase, which runs at `rate` phase units a second; a tempo may so change at any moment, and the hand still goes
along the same curve.

`GestureMotion` plays one on a body: a motion whose other joints stand at ease.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.frozen import Portable
from poise.motion.clip import Clip
from poise.motion.edits.timing import frame_times
from poise.motion.gestures.arm import Arm, ArmPath, find_arms
from poise.motion.motion import MOST_SAMPLES, SAMPLE_RATE, BodyMotion, Motion, Pose, Samples
from poise.motion.samples.body import Figure
from poise.motion.samples.tracks import build_clip, stand
from poise.spatial import rotation

HANDS = {"right": ("right",), "left": ("left",), "both": ("left", "right")}


@dataclass(frozen=True)
class Gesture(Motion):
    """A procedural movement of some joints, bound to no body."""

    moves_root = False

    @property
    @abstractmethod
    def period(self) -> float | None:
        """Phase units of one cycle, after which all is as it was; None for a gesture that is played once."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """Phase units a second, as described; 1 where phase is seconds."""

    @property
    def length(self) -> float:
        """Phase units from beginning to end; infinite for one that repeats."""
        return np.inf

    @property
    def duration(self) -> float:
        """Seconds from beginning to end at its own rate; infinite for one that repeats."""
        return self.length / self.rate

    @abstractmethod
    def joints(self, skeleton: Skeleton) -> list[int]:
        """Indices of the joints it moves on this skeleton, in order."""

    @abstractmethod
    def rotations(self, skeleton: Skeleton, phase: np.ndarray) -> np.ndarray:
        """(N, K, 4) wxyz of those joints relative to their parents at phases (N,): C2 in phase, signs continuous.

        A gesture that is played once holds its ends before phase 0 and after `length`.
        """

    def samples(self, skeleton: Skeleton, joints: Sequence[int]) -> Samples:
        """All joints that it moves, over one period or from its beginning to its end; see `Motion.samples`."""
        span = self.period or self.length
        count = max(int(np.ceil(span / self.rate * SAMPLE_RATE)), 24)
        if count > MOST_SAMPLES:
            raise InputError(f"a gesture of {span / self.rate:g} s is too long to be played; split it.")
        phase, own = np.linspace(0.0, span, count + 1), self.joints(skeleton)
        turns = rotation.make_continuous(self.rotations(skeleton, phase))
        if not self.period:
            return Samples(own, phase, turns, np.zeros((len(phase), 3)))
        if np.any(np.abs(np.sum(turns[0] * turns[-1], axis=-1)) < 1.0 - 1e-9):
            raise InputError("a gesture that repeats must end in the pose that it begins with; this one does not.")
        if np.any(np.sum(turns[0] * turns[-1], axis=-1) < 0.0):
            # A joint came back with the other sign: over two periods it comes back with its own.
            turns, phase = np.concatenate([turns, -turns[1:]]), np.linspace(0.0, 2.0 * span, 2 * count + 1)
            span = 2.0 * span
        turns[-1] = turns[0]
        return Samples(own, phase, turns, np.zeros((len(phase), 3)), period=float(span))

    @property
    def parameters(self) -> dict[str, Any]:
        """All that describes it; see `Motion.parameters`."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}

    def restored(self, parameters: dict[str, Any]) -> Self:
        """See `Motion.restored`: where plain data has lists, it has tuples."""
        return self.changed(**{name: tuple(x) if isinstance(x, list) else x for name, x in parameters.items()})

    def goes_like(self, other: Self, skeleton: Skeleton, end: float) -> bool:
        """See `Motion.goes_like`."""
        if self.joints(skeleton) != other.joints(skeleton):
            return False
        phase = np.linspace(0.0, end, 7)
        same = np.all(self.rotations(skeleton, phase) == other.rotations(skeleton, phase))
        return bool(same) and self.period == other.period

    def changed(self, **parameters: object) -> Self:
        """The same gesture with some parameters changed, all checked again."""
        known = [field.name for field in dataclasses.fields(self)]
        for name in parameters:
            if name not in known:
                raise unknown_name("parameter", name, known, f"the gesture '{type(self).__name__.lower()}'")
        return dataclasses.replace(self, **parameters)


@dataclass(frozen=True)
class ArmGesture(Gesture):
    """A gesture of one arm or both: the wrists follow curves, inverse kinematics does the rest."""

    @property
    @abstractmethod
    def sides(self) -> tuple[str, ...]:
        """Whose arms move: "left", "right" or both. Parameters that change while it runs do not change it."""

    @abstractmethod
    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """What an arm does at phases (N,)."""

    def joints(self, skeleton: Skeleton) -> list[int]:
        """Indices of the arms' joints with roles, collar bones and hands included, in order."""
        return sorted(joint for arm in find_arms(skeleton, self.sides) for joint in arm.joints)

    def rotations(self, skeleton: Skeleton, phase: np.ndarray) -> np.ndarray:
        """(N, K, 4) of `joints` at phases (N,)."""
        phase = np.atleast_1d(np.asarray(phase, float))
        arms = find_arms(skeleton, self.sides)
        joints = [joint for arm in arms for joint in arm.joints]
        solved = np.concatenate([arm.solve(self.path(arm, phase)) for arm in arms], axis=1)
        return np.asarray(solved[:, np.argsort(joints)])


class SingleGesture(ArmGesture):
    """A gesture of arms that is played once; its phase is in seconds."""

    @property
    def period(self) -> None:
        """None: it does not repeat."""
        return

    @property
    def rate(self) -> float:
        """1, since phase is in seconds."""
        return 1.0


def _plain(value: Any) -> Any:
    """A parameter as plain data."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def check_choice(gesture: str, name: str, value: object, allowed: Sequence[object]) -> None:
    """Raise unless a parameter is one of some values."""
    if value not in allowed:
        raise InputError(f"{gesture}: {name} must be one of {', '.join(map(repr, allowed))}; given {value!r}.")


@dataclass(frozen=True, eq=False)
class GestureMotion(BodyMotion, Portable):
    """A gesture played by one skeleton at its own rate, over the origin, facing +Z; everything else stands still."""

    gesture: Gesture
    skeleton: Skeleton

    @property
    def duration(self) -> float:
        """s; infinite for a gesture that repeats."""
        return self.gesture.length / self.gesture.rate

    def pose(self, t: np.ndarray | float) -> Pose:
        """The pose at time t (s), or at each of an array of times."""
        times = np.asarray(t, float)
        moved = self.gesture.rotations(self.skeleton, self.gesture.rate * times.reshape(-1))
        rotations = np.tile(self._stand.rotations, (times.size, 1, 1))
        rotations[:, self._joints] = moved
        root = np.broadcast_to(self._stand.root[0], (*times.shape, 3))
        return Pose(root.copy(), rotations.reshape(*times.shape, *rotations.shape[1:]))

    def sample(self, duration: float | None = None, fps: float = 60.0) -> Clip:
        """The motion as a clip of `duration` seconds; None for all of a gesture that ends."""
        seconds = self.duration if duration is None else duration
        if not np.isfinite(seconds):
            raise InputError("this gesture repeats without end: say for how many seconds it is to be sampled.")
        times = frame_times(seconds, fps, len(self.skeleton))
        pose = self.pose(times)
        return Clip(self.skeleton, times, pose.root, pose.rotations, type(self.gesture).__name__.lower())

    @cached_property
    def _joints(self) -> list[int]:
        return self.gesture.joints(self.skeleton)

    @cached_property
    def _stand(self) -> Clip:
        figure = Figure(self.skeleton)
        return build_clip(figure, stand(figure, np.zeros(1)), "stand")
