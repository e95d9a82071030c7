"""Motion of two hands: position, orientation, grip and buttons of each.

Axes are the puppet's: x to its left, y up, z ahead; metres; quaternions wxyz. The identity is a tube that is held
upright, which is a bone that hangs. The left hand is number 0.

Callers read the samples of an interval (`between`). A recording has all of them, a live feed those that have arrived. A
hand that is not seen is NaN.
"""

from __future__ import annotations

import bisect
import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from poise.errors import InputError, check_most
from poise.frozen import Portable

MOST_SAMPLES = 1_000_000  # two and a half hours at 120 Hz
BUTTONS = 16  # of each hand
_KEPT = 20_000  # samples that a live feed keeps


class HandsSample(NamedTuple):
    """Both hands at one time.

    time     s
    places   (2, 3) m;  turns (2, 4);  NaN for a hand that is not seen
    grips    (2,) 0 open to 1 closed;  buttons (2,) bits
    """

    time: float
    places: np.ndarray
    turns: np.ndarray
    grips: np.ndarray
    buttons: np.ndarray


class HandsSource(Protocol):
    """A source of samples of hands."""

    def between(self, after: float, until: float) -> Iterable[HandsSample]:
        """Return the samples later than `after` and not later than `until` (s), in order."""

    @property
    def neutral(self) -> np.ndarray | None:
        """Positions (2, 3) m in which the hands have no effect: all that is calibrated. None if not known yet."""


@dataclass(frozen=True, eq=False)
class HandsTake(Portable):
    """A recording of two hands.

    times    (N,) s, increasing;  the others as in `HandsSample`, time first
    neutral  (2, 3) m; None: where each hand was first seen
    """

    times: np.ndarray
    places: np.ndarray
    turns: np.ndarray
    grips: np.ndarray | None = None
    buttons: np.ndarray | None = None
    neutral: np.ndarray | None = None

    def __post_init__(self) -> None:
        times = np.array(self.times, float).reshape(-1)
        count = len(times)
        check_most(f"{count} samples of hands", count, MOST_SAMPLES, "Cut the recording.")
        shapes = {"places": (2, 3), "turns": (2, 4), "grips": (2,), "buttons": (2,)}
        for name, shape in shapes.items():
            given = getattr(self, name)
            kind = np.int64 if name == "buttons" else float
            array = np.zeros((count, *shape), kind) if given is None else np.array(given, kind)
            if array.shape != (count, *shape):
                raise InputError(
                    f"the {name} of {count} samples of hands must be {(count, *shape)}; {array.shape} given."
                )
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if not np.isfinite(times).all() or np.any(np.diff(times) <= 0.0):
            raise InputError("samples of hands must be at finite times that increase.")
        seen = np.isfinite(self.places).all(axis=2) & np.isfinite(self.turns).all(axis=2)
        neutral = self.neutral
        if neutral is None:
            firsts = [np.flatnonzero(seen[:, hand])[:1] for hand in range(2)]
            neutral = np.array([self.places[f[0], h] if len(f) else np.zeros(3) for h, f in enumerate(firsts)])
        neutral = np.array(neutral, float)
        if neutral.shape != (2, 3) or not np.isfinite(neutral).all():
            raise InputError("the neutral places of hands are (2, 3) finite numbers, m.")
        times.flags.writeable = neutral.flags.writeable = False
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "neutral", neutral)

    def __len__(self) -> int:
        return len(self.times)

    @property
    def duration(self) -> float:
        """Time (s) of the last sample."""
        return float(self.times[-1]) if len(self) else 0.0

    def sample(self, k: int) -> HandsSample:
        """Return a sample by its number."""
        assert self.grips is not None and self.buttons is not None
        return HandsSample(float(self.times[k]), self.places[k], self.turns[k], self.grips[k], self.buttons[k])

    def between(self, after: float, until: float) -> list[HandsSample]:
        """See `HandsSource.between`."""
        first, last = np.searchsorted(self.times, [after, until], side="right")
        return [self.sample(k) for k in range(int(first), int(last))]

    def cut(self, begin: float, end: float, shift: float = 0.0) -> HandsTake:
        """Return the samples from `begin` on and before `end` (s), shifted in time by `shift` seconds."""
        keep = (self.times >= begin) & (self.times < end)
        assert self.grips is not None and self.buttons is not None
        return HandsTake(
            self.times[keep] + shift, self.places[keep], self.turns[keep], self.grips[keep], self.buttons[keep],
            self.neutral,
        )  # fmt: skip


def join(takes: Iterable[HandsTake]) -> HandsTake:
    """Return recordings as one, each later than the one before; positions are relative to their neutral ones."""
    parts = [take for take in takes if len(take)]
    if not parts:
        return HandsTake(np.zeros(0), np.zeros((0, 2, 3)), np.zeros((0, 2, 4)))
    places = [take.places - take.neutral for take in parts]
    turns, grips, buttons = (
        np.concatenate([getattr(take, name) for take in parts]) for name in ("turns", "grips", "buttons")
    )
    times = np.concatenate([take.times for take in parts])
    return HandsTake(times, np.concatenate(places), turns, grips, buttons, np.zeros((2, 3)))


class LiveHands:
    """A live feed of hands; threads may write and read at once.

    late  number of samples that were dropped since they were out of order, or their time was not finite
    """

    def __init__(self, neutral: np.ndarray | None = None):
        self._lock, self._samples = threading.Lock(), list[HandsSample]()
        self._neutral = None if neutral is None else np.array(neutral, float).reshape(2, 3)
        self.late = 0

    @property
    def neutral(self) -> np.ndarray | None:
        """See `HandsSource.neutral`: where both hands were at `calibrate`, or first seen."""
        return self._neutral

    def calibrate(self) -> None:
        """Make the hands' present positions the neutral ones."""
        with self._lock:
            if self._samples and np.isfinite(self._samples[-1].places).all():
                self._neutral = self._samples[-1].places.copy()

    def put(
        self, t: float, places: np.ndarray, turns: np.ndarray, grips: np.ndarray | None = None,
        buttons: np.ndarray | None = None,
    ) -> bool:  # fmt: skip
        """Add a sample of both hands at time t of the stage's clock (s); return whether it was in order."""
        sample = HandsSample(
            float(t), np.array(places, float).reshape(2, 3), np.array(turns, float).reshape(2, 4),
            np.zeros(2) if grips is None else np.array(grips, float).reshape(2),
            np.zeros(2, np.int64) if buttons is None else np.array(buttons, np.int64).reshape(2),
        )  # fmt: skip
        with self._lock:
            if not math.isfinite(sample.time) or (self._samples and sample.time <= self._samples[-1].time):
                self.late += 1
                return False
            if self._neutral is None and np.isfinite(sample.places).all():
                self._neutral = sample.places.copy()
            self._samples.append(sample)
            if len(self._samples) > _KEPT:
                del self._samples[: _KEPT // 2]
            return True

    def between(self, after: float, until: float) -> list[HandsSample]:
        """See `HandsSource.between`."""
        with self._lock:
            first = bisect.bisect_right(self._samples, after, key=_time_of)
            return self._samples[first : bisect.bisect_right(self._samples, until, key=_time_of)]


def _time_of(sample: HandsSample) -> float:
    return sample.time
