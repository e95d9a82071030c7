"""Running many programs: one loop over all of them, shared between threads.

Simulations do not touch one another, so each runs all its steps before the next begins. How threads share them changes
nothing: results are the same bits for any number of threads, and those of an actor alone.
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
    from poise.stage.step.program_kernels import CrowdRun
# Programs that a thread takes at a time. Taking them costs next to nothing; of eight, the last thread is waited for
# long enough to make two of them a tenth slower.
_HANDFUL = 2
_NOBODY = np.zeros((0, 3)), np.zeros((0, 0, 4))


class ProgramRunner:
    """Programs that run together.

    threads     number of threads that share them
    workspaces  of the engine, for as many threads; None: it has none
    """

    def __init__(self, threads: int = 1, workspaces: Workspaces | None = None):
        self.threads, self._workspaces = threads, workspaces
        self.programs: list[Program] = []
        self.actors: list[Actor] = []
        self._rows: np.ndarray | None = None
        self._share_run: Any = None  # compiled, and found with the rows: a look-up takes a while
        self._made_run: CrowdRun | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._has_workspaces, self._are_away = False, False
        self._no_workspaces = np.zeros((threads, 0), np.int64)
        self._watched = _NOBODY
        self.fewest = 0  # steps made by the programs whose Python functions raised

    def set_programs(self, programs: list[Program]) -> None:
        """Run these from now on."""
        self.programs, self._watched, self._made_run = programs, _NOBODY, None
        self.actors = [actor for program in programs for actor in program.actors]
        self.refresh()

    @property
    def _run(self) -> CrowdRun:
        """Data of the compiled run."""
        if self._made_run is None:
            from poise.stage.step.program_kernels import CrowdRun

            heights = np.array([actor.start_height for actor in self.actors], float)
            root, q = self._watched
            self._made_run = CrowdRun(
                count=len(self.programs), body_count=len(self.actors), start_height=heights,
                watched=len(root), joints=q.shape[1], root=root, q=q,
            )  # fmt: skip
        return self._made_run

    def refresh(self) -> None:
        """List the programs again before the next run."""
        self._rows = None

    @property
    def rows(self) -> np.ndarray:
        """(P,) the programs' records."""
        return self._set_rows() if self._rows is None else self._rows

    def _set_rows(self) -> np.ndarray:
        from poise.stage.step.program_kernels import ProgramData, share_run

        self._share_run = share_run
        self._are_away = self._workspaces is not None  # some may be, by another crowd
        numbers = None
        if self._workspaces is not None and all(program.is_compiled for program in self.programs):
            numbers = self._workspaces.set_up([program.simulation for program in self.programs])
        for program in self.programs if numbers is not None else ():
            program.prepare_workspaces()
        records = [program.block.record for program in self.programs]
        rows = np.concatenate(records) if records else np.zeros(0, ProgramData.dtype)
        counts = [len(program.actors) for program in self.programs]
        rows["first"] = np.cumsum([0, *counts])[:-1]
        self._has_workspaces = numbers is not None
        rows["workspace"] = numbers if numbers is not None else 0
        self._rows, self._run.programs = rows, rows.ctypes.data
        return rows

    def run(self, steps: int, own: bool = False) -> None:
        """Advance all by some steps, each until a law makes a request.

        own  each in its own data of the engine, however many they are: for callers that read contacts afterwards
        """
        run = self._run
        arrays = run.arrays
        self.fewest, arrays["has_news"][0] = 0, 0
        if len(self._watched[0]):
            self._prepare_poses()
        if self._rows is None:
            self._set_rows()
        share_run = self._share_run
        if len(self.programs) == 1:  # quicker: threads have nothing to share, and no workspace is any warmer
            arrays["next"][0] = 0
            workspaces = self._find_workspaces(True) if self._are_away else self._no_workspaces
            share_run(run.address, 1, steps, workspaces[0])
            if self.programs[0].raised[0]:
                self._check_errors()
            return
        workspaces = self._find_workspaces(own)
        self._share(lambda k, handful: share_run(run.address, handful, steps, workspaces[k]))
        self._check_errors()

    def _check_errors(self) -> None:
        """Raise the first of the errors that Python functions raised; none is left for the next run."""
        found = [
            (k, error)
            for k, program in enumerate(self.programs)
            if program.raised[0]
            for error in program.find_errors()
        ]
        if found:
            self.fewest = min(int(self._run.done[k]) for k, _ in found)
            if len(found) > 1:
                found[0][1].add_note(f"(and {len(found) - 1} more of this stage's players raised in the same run)")
            raise found[0][1]

    def step_engine(self, steps: int, own: bool = True) -> None:
        """Make the engine's own steps and nothing else, with forces as they are: the reference of a benchmark."""
        from poise.stage.step.program_kernels import share_step

        _, workspaces = self.rows, self._find_workspaces(own)
        self._share(lambda k, handful: share_step(self._run.address, handful, steps, workspaces[k]))

    def _find_workspaces(self, own: bool) -> np.ndarray:
        """Return the addresses (T, W) of the workspaces of this run by thread; none if each uses its own memory."""
        if own or not self._has_workspaces or self._workspaces is None:
            if self._are_away and self._workspaces is not None:
                self._workspaces.bring_back([program.simulation for program in self.programs])
            self._are_away = False
            return self._no_workspaces
        self._are_away = True
        return self._workspaces.addresses

    @property
    def is_quiet(self) -> bool:
        """Whether no law made a request in the last run, and no body may have fallen or exploded."""
        return not self._run.arrays["has_news"][0]

    def find_called(self) -> list[tuple[Program, int]]:
        """Return the programs in which a law made a request in the last run, and the steps made by then."""
        if self.is_quiet:
            return []
        called = self._run.requested > 0
        rows = self.rows
        return [
            (program, int(self._run.done[k]))
            for k, program in enumerate(self.programs)
            if called[rows["first"][k] : rows["first"][k] + len(program.actors)].any()
        ]

    def find_odd(self) -> list[Actor]:
        """Return the actors that sank or lean so far that they may have fallen, and those that exploded."""
        from poise.stage.step.program_kernels import ENDLESS, LEANS, SUNK

        if self.is_quiet:
            return []
        run = self._run
        odd = (run.height < SUNK * run.start_height) | (run.upright < LEANS) | ~(run.size < ENDLESS)
        return [self.actors[k] for k in np.flatnonzero(odd)]

    def show(self, root: np.ndarray, rotations: np.ndarray) -> None:
        """Write the poses of all, at their present time, into root (B, 3) and rotations (B, J, 4), J the largest."""
        from poise.stage.step.program_kernels import share_poses

        self._prepare_poses()
        _ = self.rows
        self._share(lambda _, handful: share_poses(self._run.address, handful, root, rotations))

    def _prepare_poses(self) -> None:
        known = [program.prepare_poses() for program in self.programs]
        if not all(known):
            self.refresh()

    def watch(self, root: np.ndarray, rotations: np.ndarray) -> None:
        """Write the poses there now and after every run, which costs less, until there are other programs."""
        if self._watched[0] is not root:
            self.show(root, rotations)
            self._watch(root, rotations)

    def stop_watching(self) -> None:
        """Write no poses after a run."""
        self._watch(*_NOBODY)

    def _watch(self, root: np.ndarray, rotations: np.ndarray) -> None:
        self._watched = root, rotations
        self._run.set(watched=len(root), joints=rotations.shape[1], root=root, q=rotations)

    def _share(self, work: Callable[[int, int], None]) -> None:
        """Call work(k, handful) on every thread k, this one among them."""
        count = len(self.programs)
        if not count:
            return
        helpers = min(self.threads, count) - 1
        handful = max(1, min(_HANDFUL, count // (4 * self.threads)))
        self._run.next[0] = 0
        if helpers > 0 and self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="poise-crowd")
        jobs = [self._pool.submit(work, k, handful) for k in range(1, helpers + 1)] if self._pool else []
        work(0, handful)
        for job in jobs:
            job.result()
