"""Runs a session in real time: 120 times a second, devices are read, the puppet advances, and its pose is passed on.

The session belongs to the loop's thread. Other threads `post` tasks; a task that fails is reported by a message, and
the puppet plays on.

Latency is measured for every input: from its arrival to the time when the first pose that depends on it was passed to
all watchers.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np

from poise.errors import PoiseError
from poise.jobs.puppet.cued_puppet import TICK
from poise.live.puppet_session import PRACTISE, RECORD, PuppetSession, Shown
from poise.puppetry.device import HandsDevice

_LATEST = 0.25  # s behind the clock, beyond which it does not catch up
_MEASURED = 600  # inputs whose latencies are kept
_WATCH = 0.25  # s between checks of the device and of files
_YIELD = 5e-4  # s, after which a busy thread lets this one run; Python's default of 5 ms is half of a latency
Watcher = Callable[[Shown], None]


class PuppetLoop:
    """Plays a session in real time.

    device     that is read
    watchers   called in the thread with what is shown; each must be quick. A watcher that fails is removed
    tell       called with messages for the user, from any thread
    clock      s, as `HandsReading.received`
    """

    def __init__(
        self, session: PuppetSession, device: HandsDevice, tell: Callable[[str], None] = lambda _sentence: None,
        clock: Callable[[], float] = time.perf_counter,
    ):  # fmt: skip
        self.session, self.device, self.tell, self.clock = session, device, tell, clock
        self.watchers: list[Watcher] = []
        self.missed = 0  # ticks that were late
        self._posted: deque[Callable[[], object]] = deque()
        self._latencies: deque[float] = deque(maxlen=_MEASURED)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._received, self._looked, self._was_there = 0.0, 0.0, True
        self.heard = 0.0  # s of the clock, when the last played input arrived

    @property
    def latency(self) -> float | None:
        """Median time (s) from input to pose; None before the first input."""
        found = list(self._latencies)
        return float(np.median(found)) if found else None

    def post(self, task: Callable[[], object]) -> None:
        """Run a task on the session between two ticks."""
        self._posted.append(task)

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self.run, name="poise puppet", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, and close the take."""
        self._stopping.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def run(self) -> None:
        """Tick until it is stopped."""
        due, patience = self.clock(), sys.getswitchinterval()
        sys.setswitchinterval(min(patience, _YIELD))
        try:
            while not self._stopping.is_set():
                self.tick()
                due += TICK
                wait = due - self.clock()
                if wait > 0.0:
                    self._stopping.wait(wait)
                else:
                    self.missed += 1
                    due = self.clock() if wait < -_LATEST else due
        finally:
            sys.setswitchinterval(patience)
            self.session.close()

    def tick(self) -> Shown | None:
        """Run the posted tasks, and advance by a tick; return None if that failed and was reported."""
        while self._posted:
            self._attempt(self._posted.popleft())
        reading = self.device.read()
        self._look()
        shown: Shown | None = None

        def go_on() -> None:
            nonlocal shown
            shown = self.session.tick(reading)

        if not self._attempt(go_on):
            self._attempt(self.session.practise)
            return None
        assert shown is not None
        self.heard = self.heard if reading is None else reading.received
        for watch in list(self.watchers):
            if not self._attempt(lambda watch=watch: watch(shown)):  # type: ignore[misc]
                self.watchers.remove(watch)
        if reading is not None and reading.received > self._received:
            if self._received > 0.0 and shown.is_heard:
                self._latencies.append(self.clock() - reading.received)
            self._received = reading.received
        self._attempt(self.session.prepare)
        return shown

    def _look(self) -> None:
        """Check whether the device is still connected, and report changes."""
        now = self.clock()
        if now - self._looked < _WATCH:
            return
        self._looked = now
        is_there, sentence = self.device.status()
        if is_there != self._was_there:
            kept = " The take goes on; hands stay where they were." if self.session.mode == RECORD else ""
            self.tell(sentence if is_there else sentence + kept)
        self._was_there = is_there
        self._attempt(self._look_at_files)

    def _look_at_files(self) -> None:
        for sentence in self.session.look():
            self.tell(sentence)

    def _attempt(self, task: Callable[[], object]) -> bool:
        try:
            task()
        except PoiseError as error:
            self.tell(str(error))
        except OSError as error:
            was = self.session.mode
            reason = error.strerror or str(error)
            self.tell(f"{reason}." + (" The take was kept until here." if was != PRACTISE else ""))
        except Exception as error:  # a bug: reported, and the puppet plays on
            told = " ".join(str(error).split())
            self.tell(f"a fault in Poise: {type(error).__name__}: {told}")
        else:
            return True
        return False
