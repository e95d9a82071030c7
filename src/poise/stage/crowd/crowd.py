"""Many programs at once: one loop over all of them, shared between threads.

Simulations do not touch one another, so each runs all its steps before the next begins, and who shares a thread with
whom changes nothing: results are the same bits for any number of threads, and those of an actor alone.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.engines.engine import Workspaces

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.step.program import Program
# Programs that a thread takes at a time. Taking them costs next to nothing; of eight, the last thread is waited for
# long enough to make two of them a tenth slower.
_HANDFUL = 2
_NOBODY = np.zeros((0, 3)), np.zeros((0, 0, 4))


class ProgramRunner:
    """Programs that run together.

    threads     how many threads share them
    workspaces  of the engine, for as many threads; None: it has none
    """

    def __init__(self, threads: int = 1, workspaces: Workspaces | None = None):
        self.threads, self._workspaces = threads, workspaces
        self.programs: list[Program] = []
        self.actors: list[Actor] = []
        self._rows: np.ndarray | None = None
        self._share_run: Any = None  # compiled, and found with the rows: a look-up takes a while
        self._address, self._counter = 0, np.zeros(1, np.int64)  # where the rows are; of a run of one
        self._news = np.zeros(1, np.int64)
        self._done, self.status, self._heights = np.zeros(0, np.int64), np.zeros((0, 4)), np.zeros(0)
        self._pool: ThreadPoolExecutor | None = None
        self._has_desks, self._are_away = False, False
        self._no_desks = np.zeros((threads, 0), np.int64)
        self._watched = _NOBODY
        self.fewest = 0  # steps that those made whose Python functions raised

    def set_programs(self, programs: list[Program]) -> None:
        """Run these from now on."""
        self.programs, self._watched = programs, _NOBODY
        self.actors = [actor for program in programs for actor in program.actors]
        self.refresh()
        self._done, self.status = np.zeros(len(programs), np.int64), np.zeros((len(self.actors), 4))
        self._heights = np.array([actor.start_height for actor in self.actors])

    def refresh(self) -> None:
        """Look again, before the next run, at what the programs are."""
        self._rows = None

    @property
    def rows(self) -> np.ndarray:
        """(P,) the programs' records."""
        return self._set_rows() if self._rows is None else self._rows

    def _set_rows(self) -> np.ndarray:
        from poise.stage.step.program_kernels import PROGRAM, share_run

        self._share_run = share_run
        self._are_away = self._workspaces is not None  # some may be, by another crowd
        desks = None
        if self._workspaces is not None and all(program.is_compiled for program in self.programs):
            desks = self._workspaces.set_up([program.simulation for program in self.programs])
        for program in self.programs if desks is not None else ():
            program.learn_to_move()
        blocks = [program.block.record for program in self.programs]
        rows = np.concatenate(blocks) if blocks else np.zeros(0, PROGRAM)
        counts = [len(program.actors) for program in self.programs]
        rows["first"] = np.cumsum([0, *counts])[:-1]
        self._has_desks = desks is not None
        rows["desk"] = desks if desks is not None else 0
        self._rows, self._address = rows, rows.ctypes.data
        return rows

    def run(self, steps: int, own: bool = False) -> None:
        """Advance all by some steps, each until somebody calls.

        own  each in its own data of the engine, however many they are: for whoever looks at contacts afterwards
        """
        self.fewest, self._news[0] = 0, 0
        root, rotations = self._watched
        if len(root):
            self._prepare_poses()
        if self._rows is None:
            self._set_rows()
        count, at, share_run = len(self.programs), self._address, self._share_run
        if count == 1:  # the quick way for one: no thread has anything to share, and no workspace is any warmer
            self._counter[0] = 0
            desks = self._find_desks(True) if self._are_away else self._no_desks
            share_run(
                at, 1, self._counter, 1, steps, desks[0], self._done, self.status, self._heights, self._news, root,
                rotations,
            )  # fmt: skip
            if self.programs[0].raised[0]:
                self._check_errors()
            return
        desks = self._find_desks(own)
        self._share(
            lambda k, counter, size: share_run(
                at, count, counter, size, steps, desks[k], self._done, self.status, self._heights, self._news,
                root, rotations,
            )
        )  # fmt: skip
        self._check_errors()

    def _check_errors(self) -> None:
        """Raise what a Python function raised, the first of several; nothing of it is left for the next run."""
        found = [
            (k, error)
            for k, program in enumerate(self.programs)
            if program.raised[0]
            for error in program.find_errors()
        ]
        if found:
            self.fewest = min(int(self._done[k]) for k, _ in found)
            if len(found) > 1:
                found[0][1].add_note(f"(and {len(found) - 1} more of this stage's players raised in the same run)")
            raise found[0][1]

    def step_engine(self, steps: int, own: bool = True) -> None:
        """The engine's own steps of all and nothing else, forces as they are: what a benchmark measures beside."""
        from poise.stage.step.program_kernels import share_step

        count, desks = len(self.rows), self._find_desks(own)
        at = self._address
        self._share(lambda k, counter, size: share_step(at, count, counter, size, steps, desks[k]))

    def _find_desks(self, own: bool) -> np.ndarray:
        """(T, W) addresses of the workspaces that this run uses, thread by thread; none where each uses its own."""
        if own or not self._has_desks or self._workspaces is None:
            if self._are_away and self._workspaces is not None:
                self._workspaces.bring_back([program.simulation for program in self.programs])
            self._are_away = False
            return self._no_desks
        self._are_away = True
        return self._workspaces.addresses

    @property
    def is_quiet(self) -> bool:
        """Whether nobody called in the last run, and nobody is odd."""
        return not self._news[0]

    def find_called(self) -> list[tuple[Program, int]]:
        """Those in which somebody called in the last run, and how many steps each had made by then."""
        if self.is_quiet:
            return []
        called = self.status[:, 0] > 0.0
        rows = self.rows
        return [
            (program, int(self._done[k]))
            for k, program in enumerate(self.programs)
            if called[rows["first"][k] : rows["first"][k] + len(program.actors)].any()
        ]

    def find_odd(self) -> list[Actor]:
        """Those that sank or lean so far that they may have fallen, and those that have exploded."""
        from poise.stage.step.program_kernels import ENDLESS, LEANS, SUNK

        if self.is_quiet:
            return []
        _, height, up, size = self.status.T
        odd = (height < SUNK * self._heights) | (up < LEANS) | ~(size < ENDLESS)
        return [self.actors[k] for k in np.flatnonzero(odd)]

    def show(self, root: np.ndarray, rotations: np.ndarray) -> None:
        """Write the poses of all, at their present time, into root (B, 3) and rotations (B, J, 4), J the largest."""
        from poise.stage.step.program_kernels import share_poses

        self._prepare_poses()
        count, at = len(self.rows), self._address
        self._share(lambda k, counter, size: share_poses(at, count, counter, size, root, rotations))

    def _prepare_poses(self) -> None:
        known = [program.prepare_poses() for program in self.programs]
        if not all(known):
            self.refresh()

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
        if not count:
            return
        helpers = min(self.threads, count) - 1
        size = max(1, min(_HANDFUL, count // (4 * self.threads)))
        counter = np.zeros(1, np.int64)
        if helpers > 0 and self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="poise-crowd")
        jobs = [self._pool.submit(work, k, counter, size) for k in range(1, helpers + 1)] if self._pool else []
        work(0, counter, size)
        for job in jobs:
            job.result()
