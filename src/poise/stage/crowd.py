"""Many compiled actors at once: one loop over all of them, shared between threads, with no Python in it.

Characters do not touch one another, so each runs all its steps before the next begins, and who shares a thread with
whom changes nothing: results are the same bits for any number of threads, and those of an actor alone.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from poise.stage.program import Program

# Characters that a thread takes at a time: few enough to share evenly, many enough that taking them costs nothing.
_HANDFUL = 8


class Crowd:
    """Programs that run together.

    threads  how many threads share them
    """

    def __init__(self, threads: int = 1):
        self.threads = threads
        self.programs: list[Program] = []
        self._rows = np.zeros((0, 1), np.int64)
        self._done, self.status, self._heights = np.zeros(0, np.int64), np.zeros((0, 4)), np.zeros(0)
        self._pool: ThreadPoolExecutor | None = None

    def set_programs(self, programs: list[Program]) -> None:
        """Run these from now on."""
        self.programs = programs
        self.refresh()
        self._done, self.status = np.zeros(len(programs), np.int64), np.zeros((len(programs), 4))
        self._heights = np.array([program.actor.start_height for program in programs])

    def refresh(self) -> None:
        """Look again at where the programs' arrays are."""
        rows = [program.row for program in self.programs]
        self._rows = np.stack(rows) if rows else np.zeros((0, 1), np.int64)

    def run(self, steps: int) -> None:
        """Advance all by some steps, each until it loses its balance."""
        from poise.stage.crowd_kernels import share_run

        self._share(lambda counter, size: share_run(self._rows, counter, size, steps, self._done, self.status))

    def step_engine(self, steps: int) -> None:
        """The engine's own steps of all and nothing else, forces as they are: what a benchmark measures beside."""
        from poise.stage.crowd_kernels import share_step

        self._share(lambda counter, size: share_step(self._rows, counter, size, steps))

    def find_lost(self) -> list[tuple[Program, int]]:
        """Those that lost their balance in the last run, and how many steps each had made by then."""
        return [(self.programs[k], int(self._done[k])) for k in np.flatnonzero(self.status[:, 0] >= 0.0)]

    def find_odd(self) -> list[Program]:
        """Those that sank or lean so far that they may have fallen, and those with a number that is not finite."""
        _, height, up, number = self.status.T
        odd = (height < 0.7 * self._heights) | (up < 0.5) | ~np.isfinite(number)
        return [self.programs[k] for k in np.flatnonzero(odd)]

    def show(self, root: np.ndarray, rotations: np.ndarray) -> None:
        """Write the poses of all, at their present time, into root (C, 3) and rotations (C, J, 4), J the largest."""
        from poise.stage.crowd_kernels import share_show

        self._share(lambda counter, size: share_show(self._rows, counter, size, root, rotations))

    def _share(self, work: Callable[[np.ndarray, int], None]) -> None:
        """Call work(counter, size) on every thread, this one among them."""
        count = len(self.programs)
        helpers = min(self.threads, count) - 1
        size = max(1, min(_HANDFUL, count // (4 * self.threads)))
        counter = np.zeros(1, np.int64)
        if helpers > 0 and self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="poise-crowd")
        jobs = [self._pool.submit(work, counter, size) for _ in range(helpers)] if self._pool is not None else []
        work(counter, size)
        for job in jobs:
            job.result()
