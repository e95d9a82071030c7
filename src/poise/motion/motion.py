"""The protocol of motions: anything that gives a pose at a time.

    a clip      sampled, of one skeleton
    a gesture   procedural, of any body; what it counts in is its *phase* (beats, swings), and it has parameters
    an actor    where it is now, for a ghost that follows it
    a live one  whatever comes, from a performer or a stream; nobody knows what comes next

Who plays one asks it and never who it is: which joints it moves, where they are at some phases, what may be changed.
`BodyMotion` answers for a motion of one skeleton that can be asked for its pose; `as_motion` makes one of anything that
has `skeleton`, `duration` and `pose(t)`, or `is_live` and `pose(t)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion.body_track import BodyTrack

SAMPLE_RATE = 120.0  # a second of a motion at its own rate: a spline through them is off by microradians
MOST_SAMPLES = 200_000
DELAY = 0.1  # s by which a live motion is shown late, where it does not say


class Pose(NamedTuple):
    """One pose, or a batch of them over leading axes.

    root       (..., 3) m, position of the root joint in the world
    rotations  (..., J, 4) wxyz, each joint relative to its parent, the root to the world
    shifts     (..., J, 3) m, how far each joint is from the end of its bone, in its parent's axes; None: nowhere
    """

    root: np.ndarray
    rotations: np.ndarray
    shifts: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Samples:
    """A motion at N phases, for a spline to go through.

    joints   (K,) of a skeleton
    phase    (N,) increasing
    turns    (N, K, 4) wxyz of the joints relative to their parents, signs continuous
    root     (N, 3) m
    period   phase after which it repeats; 0: it holds its ends
    traces   for a recording: gives (N, M) numbers in which its noise shows. None: it is smooth
    bridged  for a recording: gives turns and root without the glitches, for rates. None: those above
    """

    joints: Sequence[int]
    phase: np.ndarray
    turns: np.ndarray
    root: np.ndarray
    period: float = 0.0
    traces: Callable[[], np.ndarray] | None = None
    bridged: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None


class Motion(ABC):
    """Anything that gives a pose at a time. A motion counts in its phase, which is seconds where it says nothing.

    moves_root  whether it says where the root is
    is_live     whether it is asked as it comes: its future is not known
    delay       s by which a live motion is shown late: what smooths it
    """

    moves_root = True
    is_live = False
    delay = DELAY

    @property
    @abstractmethod
    def duration(self) -> float:
        """Seconds from its beginning to its end; infinite for one that has none."""

    @property
    def rate(self) -> float:
        """Phase units a second."""
        return 1.0

    @abstractmethod
    def joints(self, skeleton: Skeleton) -> list[int]:
        """Indices of the joints of a skeleton that it moves, in order; InputError where it cannot move that one."""

    @abstractmethod
    def samples(self, skeleton: Skeleton, joints: Sequence[int]) -> Samples:
        """It at phases that are close enough: of these joints, or of more."""

    def body_track(self, skeleton: Skeleton) -> BodyTrack | None:
        """What the rest of a body does along with it, over its phase, where legs balance; None: nothing."""
        return None

    def check_bones(self, joints: Iterable[int]) -> None:  # noqa: B027
        """Raise InputError where any of these joints slides: bodies on a stage have rigid bones."""

    # What may be changed while it is played. Its speed may always be.

    @property
    def parameters(self) -> dict[str, Any]:
        """What may be changed, by name, as plain data."""
        return {}

    def changed(self, **parameters: Any) -> Self:
        """The same motion with some parameters changed, all checked again."""
        raise InputError("only the `speed` of a motion that is not a gesture can be changed while it runs.")

    def restored(self, parameters: dict[str, Any]) -> Self:
        """The same motion with some of its `parameters` as they were."""
        return self.changed(**parameters)

    def goes_like(self, other: Self, skeleton: Skeleton, end: float) -> bool:
        """Whether it goes the same way as one with other parameters, from phase 0 to `end`, if not as fast."""
        return self is other


class BodyMotion(Motion):
    """A motion of one skeleton.

    skeleton  the joints that move
    """

    skeleton: Skeleton

    @abstractmethod
    def pose(self, t: np.ndarray | float) -> Pose:
        """The pose at time t in seconds, or at each of an array of times; before and after it holds its ends."""

    def joints(self, skeleton: Skeleton) -> list[int]:
        """All; see `Motion.joints`."""
        if self.skeleton.names != skeleton.names:
            raise InputError(
                "the motion's joints are not the character's, so it cannot be played on it. "
                "Retarget it first: poise.retarget(clip, character.skeleton)."
            )
        return list(range(len(skeleton)))

    def samples(self, skeleton: Skeleton, joints: Sequence[int]) -> Samples:
        """See `Motion.samples`."""
        if not (0.0 <= self.duration * SAMPLE_RATE <= MOST_SAMPLES):
            most = MOST_SAMPLES / SAMPLE_RATE
            raise InputError(
                f"a motion to be played lasts up to {most:g} s; this one lasts {self.duration:g} s. One that is asked "
                "as it comes may be endless: it has is_live = True."
            )
        seconds = self.duration or 1.0  # one pose is held, before and after
        times = np.linspace(0.0, seconds, max(int(np.ceil(seconds * SAMPLE_RATE)), 3) + 1)
        root, turns = self.pose(times)[:2]
        return Samples(joints, times, turns[:, list(joints)], root)


@dataclass(frozen=True, eq=False)
class _Asked(BodyMotion):
    """Somebody else's object, asked for its poses."""

    source: Any

    @property
    def skeleton(self) -> Skeleton:  # type: ignore[override]
        found: Skeleton = self.source.skeleton
        return found

    @property
    def duration(self) -> float:
        return float(getattr(self.source, "duration", np.inf))

    @property
    def is_live(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.source, "is_live", False))

    @property
    def delay(self) -> float:  # type: ignore[override]
        return float(getattr(self.source, "delay", DELAY))

    @property
    def moves_root(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.source, "moves_root", True))

    def joints(self, skeleton: Skeleton) -> list[int]:
        if getattr(self.source, "skeleton", None) is None:  # a stream may not know; its poses are checked as they come
            return list(range(len(skeleton)))
        return super().joints(skeleton)

    def pose(self, t: np.ndarray | float) -> Pose:
        found: Pose = self.source.pose(t)
        return found


def as_motion(thing: object) -> Motion:
    """Return a motion, the clip of a result (`poise.pose`), or a motion that asks an object for its poses.

    Raise InputError for anything else.
    """
    if isinstance(thing, Motion):
        return thing
    if isinstance(getattr(thing, "clip", None), Motion):
        return thing.clip  # type: ignore[attr-defined]
    needed = ("pose",) if getattr(thing, "is_live", False) else ("pose", "skeleton", "duration")
    missing = [name for name in needed if not hasattr(thing, name)]
    if missing or not callable(thing.pose):  # type: ignore[attr-defined]
        given = f"'{thing}'" if isinstance(thing, str) else f"a {type(thing).__name__}"
        raise InputError(
            f"a motion is a clip, a gesture, or what gives a pose at a time; given {given}. Load a file first: "
            "poise.load_clip(path)."
        )
    return _Asked(thing)
