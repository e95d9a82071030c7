"""Many compiled actors at once: one loop over all of them, shared between threads, with no Python in it.

Characters do not touch one another, so each runs all its steps before the next begins, and who shares a thread with
whom changes nothing: results are the same bits for any number of threads, and those of an actor alone.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from poise.engines.mujoco_desk import Desks

if TYPE_CHECKING:
    from poise.stage.program import Program

# Characters that a thread takes at a time. Taking them costs next to nothing; of eight, the last thread is waited for
# long enough to make two of them a tenth slower.
_HANDFUL = 2
# So many of a structure take turns at the threads' workspaces of the engine; what fewer have is in the caches anyway.
_MANY = 8
_FEW = 4  # that are looked at one by one: NumPy takes longer for so few
_NOBODY = np.zeros((0, 3)), np.zeros((0, 0, 4))


class Crowd:
    """Programs that run together.

    threads  how many threads share them
    """

    def __init__(self, threads: int = 1):
        self.threads = threads
        self.programs: list[Program] = []
        self._rows: np.ndarray | None = None
        self._done, self.status, self._heights = np.zeros(0, np.int64), np.zeros((0, 4)), np.zeros(0)
        self._pool: ThreadPoolExecutor | None = None
        self._desks, self._has_desks, self._are_away = Desks(threads), False, False
        self._watched = _NOBODY

    def set_programs(self, programs: list[Program]) -> None:
        """Run these from now on."""
        self.programs, self._watched = programs, _NOBODY
        self.refresh()
        self._done, self.status = np.zeros(len(programs), np.int64), np.zeros((len(programs), 4))
        self._heights = np.array([program.actor.start_height for program in programs])

    def refresh(self) -> None:
        """Look again, before the next run, at where the programs' arrays are."""
        self._rows = None

    @property
    def rows(self) -> np.ndarray:
        """(C, ADDRESSES) the programs' rows."""
        from poise.stage import program_kernels as at

        if self._rows is None:
            self._rows = np.array([program.row for program in self.programs], np.int64).reshape(-1, at.ADDRESSES)
            self._are_away = True  # some may be, by another crowd
            self._has_desks = False
            if len(self.programs) >= _MANY:
                simulations = [program.simulation for program in self.programs]
                self._has_desks = len(simulations) >= _MANY * len({each.structure for each in simulations})
                self._rows[:, at.DESK] = self._desks.set_up(simulations) if self._has_desks else 0
        return self._rows

    def run(self, steps: int, own: bool = False) -> None:
        """Advance all by some steps, each until it loses its balance.

        own  each in its own data of the engine, however many they are: for whoever looks at contacts afterwards
        """
        from poise.stage.crowd_kernels import share_run

        rows, desks = self.rows, self._find_desks(own)
        root, rotations = self._watched
        self._share(
            lambda k, counter, size: share_run(
                rows, counter, size, steps, desks[k], self._done, self.status, root, rotations
            )
        )

    def step_engine(self, steps: int, own: bool = True) -> None:
        """The engine's own steps of all and nothing else, forces as they are: what a benchmark measures beside."""
        from poise.stage.crowd_kernels import share_step

        rows, desks = self.rows, self._find_desks(own)
        self._share(lambda k, counter, size: share_step(rows, counter, size, steps, desks[k]))

    def _find_desks(self, own: bool) -> np.ndarray:
        """(T, D, 5) addresses of the workspaces that this run uses, thread by thread; none where each uses its own."""
        if own or not self._has_desks:
            self._come_back()
            return self._desks.addresses[:, :0]
        self._are_away = True
        return self._desks.addresses

    def _come_back(self) -> None:
        """Have everybody's own data of the engine be as the last step left it."""
        if self._are_away:
            for program in self.programs:
                _ = program.simulation.data
        self._are_away = False

    def find_lost(self) -> list[tuple[Program, int]]:
        """Those that lost their balance in the last run, and how many steps each had made by then."""
        if len(self.programs) <= _FEW and not any(row[0] >= 0.0 for row in self.status.tolist()):
            return []
        return [(self.programs[k], int(self._done[k])) for k in np.flatnonzero(self.status[:, 0] >= 0.0)]

    def find_odd(self) -> list[Program]:
        """Those that sank or lean so far that they may have fallen, and those with a number that is not finite."""
        if len(self.programs) <= _FEW:
            rows = zip(self.programs, self.status.tolist(), self._heights.tolist(), strict=True)
            return [each for each, (_, height, up, number), start in rows
                    if height < 0.7 * start or up < 0.5 or not isfinite(number)]  # fmt: skip
        _, height, up, number = self.status.T
        odd = (height < 0.7 * self._heights) | (up < 0.5) | ~np.isfinite(number)
        return [self.programs[k] for k in np.flatnonzero(odd)]

    def show(self, root: np.ndarray, rotations: np.ndarray) -> None:
        """Write the poses of all, at their present time, into root (C, 3) and rotations (C, J, 4), J the largest."""
        from poise.stage.crowd_kernels import share_show

        rows = self.rows
        self._share(lambda k, counter, size: share_show(rows, counter, size, root, rotations))

    def watch(self, root: np.ndarray, rotations: np.ndarray) -> None:
        """Write them there now and after every run, which costs less; until there are other programs."""
        if self._watched[0] is not root:
            self.show(root, rotations)
            self._watched = root, rotations

    def stop_watching(self) -> None:
        """Write them nowhere."""
        self._watched = _NOBODY

    def _share(self, work: Callable[[int, np.ndarray, int], None]) -> None:
        """Call work(k, counter, size) on every thread k, this one among them."""
        count = len(self.programs)
        helpers = min(self.threads, count) - 1
        size = max(1, min(_HANDFUL, count // (4 * self.threads)))
        counter = np.zeros(1, np.int64)
        if helpers > 0 and self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="poise-crowd")
        jobs = [self._pool.submit(work, k, counter, size) for k in range(1, helpers + 1)] if self._pool else []
        work(0, counter, size)
        for job in jobs:
            job.result()
