"""A stage that runs in a separate thread at its own rate, while frames are read from outside (W6).

    with Runner(stage, fps=50) as runner:
        runner.post(lambda: actor.change(bpm=140))
        frame = runner.latest()

Only the thread touches the stage while it runs. Whoever reads gets frames that are whole: copies that nobody writes to
again. What others want done is posted, and done between two steps, in the order in which it was posted. A live motion
(`motion/live.py`) may be fed from any thread. `docs/live.md` has an example.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType, TracebackType

import numpy as np

from poise.errors import InputError
from poise.frozen import Portable
from poise.kinds import checked
from poise.motion.motion import Pose
from poise.stage.stage import Stage

# s behind the clock after which the runner gives up catching up: a laptop that slept does not race through the night.
_LATEST = 0.25


@dataclass(frozen=True, eq=False)
class Frame(Portable):
    """All actors at one moment.

    number  counts from 0
    time    s on the stage's clock
    poses   by actor: root (3,) m and rotations (J, 4)
    """

    number: int
    time: float
    poses: Mapping[str, Pose]


@checked
class Runner:
    """Runs a stage in a thread.

    fps       frames a second, of which the latest can be read
    speed     seconds of the stage a second of the clock: 1 is real time; None: as fast as it can
    seconds   s of the stage's time after which it stops; None: until `stop`
    on_frame  called in the thread with every frame; it must not touch the stage or wait for long
    """

    def __init__(
        self,
        stage: Stage,
        fps: float = 50.0,
        speed: float | None = 1.0,
        seconds: float | None = None,
        on_frame: Callable[[Frame], None] | None = None,
    ):
        if not (math.isfinite(fps) and 0.0 < fps <= 1.0 / stage.dt + 1e-6):
            raise InputError(f"{fps:g} frames a second cannot be had from steps of {stage.dt:g} s.")
        if speed is not None and not (math.isfinite(speed) and speed > 0.0):
            raise InputError(f"a stage is run at a positive speed, or None for as fast as it can; {speed:g} given.")
        if seconds is not None and not (math.isfinite(seconds) and seconds > 0.0):
            raise InputError(f"a stage runs for more than 0 s; {seconds:g} given.")
        self.stage, self.fps, self.speed, self.seconds, self.on_frame = stage, fps, speed, seconds, on_frame
        self._posted: deque[Callable[[], object]] = deque()
        self._news = threading.Condition()
        self._frame: Frame | None = None
        self._error: BaseException | None = None
        self._stopping, self._ended = threading.Event(), False
        self._thread: threading.Thread | None = None

    # From outside.

    def start(self) -> None:
        """Begin, with a first frame before the first step. A runner is started once."""
        if self._thread is not None:
            raise InputError("this runner was started already; make another one for another run.")
        self._thread = threading.Thread(target=self._run, name="poise stage", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after the present step, and wait for that. What went wrong in the thread is raised here."""
        self._stopping.set()
        self.join()

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended by itself, or for `timeout` seconds. What went wrong in the thread is raised here."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)
        self._raise()

    @property
    def is_running(self) -> bool:
        """Whether the thread still runs."""
        return self._thread is not None and self._thread.is_alive()

    def post(self, task: Callable[[], object]) -> None:
        """Call a function between two steps; what it raises ends the run."""
        self._raise()
        self._posted.append(task)

    def latest(self) -> Frame:
        """The newest frame; waits for the first one."""
        return self.wait(0)

    def wait(self, number: int, timeout: float | None = None) -> Frame:
        """The newest frame once there is one of at least this number; InputError where none comes in time or ever."""
        with self._news:
            self._news.wait_for(lambda: self._has(number) or self._error is not None or not self._alive(), timeout)
            frame = self._frame
        self._raise()
        if frame is None or frame.number < number:
            state = "is not running" if not self._alive() else f"did not come to it in {timeout:g} s"
            raise InputError(f"frame {number} cannot be had: the runner {state}.")
        return frame

    def __enter__(self) -> Runner:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        if kind is None:
            self._raise()

    def _has(self, number: int) -> bool:
        return self._frame is not None and self._frame.number >= number

    def _alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive() and not self._ended

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    # In the thread.

    def _run(self) -> None:
        try:
            with self.stage.hold():
                self._loop()
        except BaseException as error:  # carried to whoever reads
            self._error = error
        finally:
            with self._news:
                self._ended = True
                self._news.notify_all()

    def _loop(self) -> None:
        stage = self.stage
        stage.build()
        origin, first = time.perf_counter(), stage.time
        number = 0
        self._publish(number)
        while not self._stopping.is_set():
            if self.seconds is not None and stage.time - first >= self.seconds - 1e-9:
                return
            while self._posted:
                self._posted.popleft()()
            stage.step()
            if (stage.time - first) * self.fps >= (number + 1) * (1.0 - 1e-9):
                number += 1
                self._publish(number)
            origin = self._keep_time(origin, stage.time - first)

    def _keep_time(self, origin: float, ran: float) -> float:
        """Wait until the clock has come to where the stage is; the origin moves where that is hopeless."""
        if self.speed is None:
            return origin
        ahead = origin + ran / self.speed - time.perf_counter()
        if ahead > 0.0:
            self._stopping.wait(ahead)
        elif ahead < -_LATEST:
            return origin - ahead
        return origin

    def _publish(self, number: int) -> None:
        poses = {}
        for name, actor in self.stage.actors.items():
            poses[name] = actor.pose()
        for pose in poses.values():
            _freeze(pose.root)
            _freeze(pose.rotations)
        frame = Frame(number, self.stage.time, MappingProxyType(poses))
        with self._news:
            self._frame = frame
            self._news.notify_all()
        if self.on_frame is not None:
            self.on_frame(frame)


def _freeze(array: np.ndarray) -> None:
    array.flags.writeable = False
