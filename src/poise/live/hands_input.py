"""Hands of a device as a session plays and records them."""

from __future__ import annotations

import numpy as np

from poise.jobs.puppet.cued_puppet import TICK
from poise.motion.motion import Pose
from poise.puppetry.device import HandsReading
from poise.puppetry.hands import HandsSample, HandsTake, LiveHands
from poise.puppetry.hands_file import HandsRecorder
from poise.spatial import rotation

_FADE = 0.6  # s, in which hands lose their effect, and regain it
_REST_TICKS, _REST = 60, 1e-9  # ticks in which root (m) and rotations move by less than that: it is at rest


class SplicedHands:
    """Recorded hands until a time; from then on live hands."""

    def __init__(self, before: HandsTake, live: LiveHands, at: float):
        self.before, self.live, self.at = before.cut(-np.inf, at), live, at

    @property
    def neutral(self) -> np.ndarray | None:
        """See `HandsSource.neutral`."""
        return np.zeros((2, 3))

    def between(self, after: float, until: float) -> list[HandsSample]:
        """See `HandsSource.between`."""
        recorded, neutral = self.before.between(after, until), self.before.neutral
        if neutral is not None:
            recorded = [each._replace(places=each.places - neutral) for each in recorded]
        return list(recorded) + self.live.between(after, until)


class HandsInput:
    """What the hands of a device do in a session.

    neutral   (2, 3) m, positions in which the hands have no effect; None: where they are first seen
    live      the feed that the puppet plays
    recorder  of the take; None if nothing is recorded
    begin     s of the performance, at which the take begins
    reading   of this tick; None if the device has none
    last      the last reading that there was
    effect    0 to 1: fraction of the hands' motion that is played
    fades     whether hands are losing their effect instead of regaining it
    """

    def __init__(self) -> None:
        self.neutral: np.ndarray | None = None
        self.live, self.begin = LiveHands(np.zeros((2, 3))), 0.0
        self.recorder: HandsRecorder | None = None
        self.reading: HandsReading | None = None
        self.last: HandsReading | None = None
        self.effect, self.fades = 1.0, False

    def restart(self, begin: float) -> LiveHands:
        """Begin a new feed, for a take from a time (s) on; return it."""
        self.live, self.begin = LiveHands(np.zeros((2, 3))), begin
        return self.live

    def regain(self) -> None:
        """Give hands their full effect at once."""
        self.effect, self.fades = 1.0, False

    def receive(self, reading: HandsReading | None) -> None:
        """Store the reading of a tick."""
        self.reading = reading
        if reading is not None:
            self.last = reading
            if self.neutral is None and np.isfinite(reading.places).all():
                self.neutral = reading.places.copy()

    def calibrate(self) -> None:
        """Make the present positions of the hands that are seen the neutral ones."""
        if self.last is not None:
            seen = np.isfinite(self.last.places)
            before = np.zeros((2, 3)) if self.neutral is None else self.neutral
            self.neutral = np.where(seen, self.last.places, before)

    def play(self, reading: HandsReading, t: float) -> None:
        """Play a reading at time t (s of the performance), and record it if there is a recorder.

        Readings for frames that were made before physics took over the puppet are not played again.
        """
        places, turns = reading.places - (0.0 if self.neutral is None else self.neutral), reading.turns
        change = -TICK / _FADE if self.fades else TICK / _FADE
        self.effect = min(max(self.effect + change, 0.0), 1.0)
        if self.effect < 1.0:
            fraction = self.effect**2 * (3.0 - 2.0 * self.effect)
            places, turns = fraction * places, rotation.exp(fraction * rotation.log(turns))
        if not self.live.put(t, places, turns, reading.grips, reading.buttons):
            return
        if self.recorder is not None:
            self.recorder.put(t - self.begin, places, turns, reading.grips, reading.buttons)

    def end_take(self) -> None:
        """Close the recorder, if there is one."""
        if self.recorder is not None:
            self.recorder.close()
            self.recorder = None


class RestDetector:
    """Notices that a puppet has come to rest, so that it need not be simulated.

    pose   of the last tick
    moved  by which the root (m) or half of a rotation (rad) moved in it
    """

    def __init__(self) -> None:
        self.pose: Pose | None = None
        self.moved, self._ticks = np.inf, 0

    @property
    def is_at_rest(self) -> bool:
        """Whether it has not moved for some time."""
        return self._ticks >= _REST_TICKS

    def wake(self) -> None:
        """Begin to count again."""
        self._ticks = 0

    def update(self, pose: Pose, counts: bool) -> None:
        """Compare a pose with the last one.

        counts  whether the puppet may come to rest
        """
        last, self.pose = self.pose, pose
        if last is None or not counts:
            self._ticks, self.moved = 0, np.inf
            return
        pairs = ((last.root, pose.root), (last.rotations, pose.rotations))
        self.moved = max(float(np.abs(a - b).max()) for a, b in pairs)
        self._ticks = self._ticks + 1 if self.moved < _REST else 0
