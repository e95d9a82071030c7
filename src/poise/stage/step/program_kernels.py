"""Running programs, compiled: lists of laws, of which nothing is known here except their addresses.

How threads share them: each takes the next few from a common counter until none is left. So Python is called once per
thread and not once for every few, and a thread that the system delays takes fewer of them.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from poise.compiled.kernel import kernel
from poise.compiled.layout import Floats, Ints, Layout, at
from poise.compiled.views import call_with_two, record
from poise.dynamics.body_kernels import Body
from poise.world.ground.kernels import find_floor
from poise.world.ground.record import GROUND

# m, m/s and rad/s in all: beyond it a state has exploded, whether its engine still computes numbers or not.
ENDLESS = 1e6
SUNK, LEANS = 0.7, 0.5  # of the root's height at the start, and the cosine of its tilt: the body may have fallen
KEPT, KEPT_ROOT = 10, 9  # numbers of a joint (q, w, dw) and of a root (position, v, a) that reading a pose changes


class ProgramData(Layout):
    """The step of the bodies that one simulation moves."""

    count: int
    laws: Annotated[Ints, "count", 3]  # law, body and block, in the order of the step
    write_count: int
    writes: Annotated[Ints, "write_count", 3]  # those that write prescribed joints at a body's time
    body_count: int
    bodies: Annotated[Ints, "body_count"]  # addresses
    first: int  # number of the first of them among the bodies of all programs
    raised: Annotated[Ints, 1]  # 1 if a Python function raised in the last run
    scene: int  # address of the engine's block
    step: int  # address of the engine's own step
    load_state: int  # law that takes the engine's state to a workspace
    store_state: int  # law that brings it back
    workspace: int  # number of the workspace


SIZE = ProgramData.dtype.itemsize  # bytes


class CrowdRun(Layout):
    """A run of several programs, and how each body is after it."""

    # The records of the programs, one after the other: Numba takes longer to find the type of an array of records than
    # a small body takes for a step.
    programs: int
    count: int
    next: Annotated[Ints, 1]  # number of the next program to be run, for all threads; 0 at first
    done: Annotated[Ints, "count"]  # steps that each made: fewer if a law made a request
    has_news: Annotated[Ints, 1]  # 1 if a law made a request, or a body may have fallen or exploded
    body_count: int
    start_height: Annotated[Floats, "body_count"]  # m, of the roots at first
    requested: Annotated[Ints, "body_count"]  # 1 if a law made a request
    height: Annotated[Floats, "body_count"]  # m, of the root above what is under it
    upright: Annotated[Floats, "body_count"]  # cosine of the root's tilt: 1 upright, 0 lying
    size: Annotated[Floats, "body_count"]  # sum of all absolute values of the state; ENDLESS or NaN if it exploded
    # Poses after the run; without rows if they are not read.
    watched: int
    joints: int
    root: Annotated[Floats, "watched", 3]
    q: Annotated[Floats, "watched", "joints", 4]


@kernel
def run_program(x: ProgramData, steps: int) -> int:
    """Make some steps, or fewer if a law makes a request or a Python function raises; return how many."""
    laws, bodies, raised = x.laws, x.bodies, x.raised
    for k in range(steps):
        for i in range(x.count):
            call_with_two(laws[i, 0], laws[i, 1], laws[i, 2])
            if raised[0] != 0:
                return k
        for i in range(x.body_count):
            if at(bodies[i], Body).request != 0:
                return k + 1
    return steps


@kernel
def read_poses(x: ProgramData, root: np.ndarray, q: np.ndarray) -> None:
    """Write the poses of a program's bodies at their present time into their rows of root (B, 3) and q (B, J, 4).

    Prescribed joints are put where they are at that time, and back: the step continues as if nothing had been read.
    """
    writes, bodies = x.writes, x.bodies
    size = 0
    for i in range(x.body_count):
        size += KEPT * at(bodies[i], Body).joints + KEPT_ROOT
    kept, row = np.empty(size), 0
    for i in range(x.body_count):
        b = at(bodies[i], Body)
        b.at = b.steps * b.dt
        row = _exchange(b, kept, row, False)
    for i in range(x.write_count):
        call_with_two(writes[i, 0], writes[i, 1], writes[i, 2])
    row = 0
    for i in range(x.body_count):
        b = at(bodies[i], Body)
        _copy(b.root, root[x.first + i])
        turns = b.q
        for k in range(b.joints):
            _copy(turns[k], q[x.first + i, k])
        row = _exchange(b, kept, row, True)


@kernel
def _exchange(b: Body, kept: np.ndarray, row: int, is_back: bool) -> int:
    """Copy a body's state and accelerations to `kept` from a row on, or back; return the row after them."""
    for own in (b.q.reshape(-1), b.w.reshape(-1), b.dw.reshape(-1), b.root, b.v, b.a):
        copy = kept[row : row + len(own)]
        if is_back:
            _copy(copy, own)
        else:
            _copy(own, copy)
        row += len(own)
    return row


@kernel
def look(b: Body, run: CrowdRun, k: int) -> bool:
    """Write how a body is after a run, as number k; return whether the stage has to look at it."""
    root, q, w, v = b.root, b.q, b.w, b.v
    run.requested[k] = b.request
    run.height[k] = root[1] - find_floor(record(b.floor, GROUND), root[0], root[2], root[1])[0]
    run.upright[k] = 1.0 - 2.0 * (q[0, 1] ** 2 + q[0, 3] ** 2)
    total = 0.0
    for c in range(3):
        total += abs(root[c]) + abs(v[c])
    for i in range(b.joints):
        for c in range(3):
            total += abs(w[i, c]) + abs(q[i, c])
        total += abs(q[i, 3])
    run.size[k] = total
    has_sunk = run.height[k] < SUNK * run.start_height[k]
    return bool(b.request != 0 or has_sunk or run.upright[k] < LEANS or not total < ENDLESS)


@kernel
def share_run(address: int, handful: int, steps: int, workspaces: np.ndarray) -> None:
    """Run programs by some steps each, on one of the threads that share them.

    address     of the `CrowdRun`;  handful: number of programs that a thread takes at a time
    workspaces  (W,) addresses of this thread's workspaces of the engine; none: each program uses its own memory
    """
    run = at(address, CrowdRun)
    first = _take(run.next.ctypes.data, handful)
    while first < run.count:
        for i in range(first, min(first + handful, run.count)):
            x = at(run.programs + i * SIZE, ProgramData)
            if len(workspaces) > 0:
                call_with_two(x.load_state, x.scene, workspaces[x.workspace])
            run.done[i] = run_program(x, steps)
            if len(workspaces) > 0:
                call_with_two(x.store_state, x.scene, workspaces[x.workspace])
            for k in range(x.body_count):
                if look(at(x.bodies[k], Body), run, x.first + k):
                    run.has_news[0] = 1
            if run.watched > 0:
                read_poses(x, run.root, run.q)
        first = _take(run.next.ctypes.data, handful)


@kernel
def share_poses(address: int, handful: int, root: np.ndarray, q: np.ndarray) -> None:
    """Read the poses of all programs, on one of the threads that share them; see `read_poses`."""
    run = at(address, CrowdRun)
    first = _take(run.next.ctypes.data, handful)
    while first < run.count:
        for i in range(first, min(first + handful, run.count)):
            read_poses(at(run.programs + i * SIZE, ProgramData), root, q)
        first = _take(run.next.ctypes.data, handful)


@kernel
def share_step(address: int, handful: int, steps: int, workspaces: np.ndarray) -> None:
    """Make the engine's own steps and nothing else: the reference of a benchmark."""
    run = at(address, CrowdRun)
    first = _take(run.next.ctypes.data, handful)
    while first < run.count:
        for i in range(first, min(first + handful, run.count)):
            x = at(run.programs + i * SIZE, ProgramData)
            if len(workspaces) > 0:
                call_with_two(x.load_state, x.scene, workspaces[x.workspace])
            for _ in range(steps):
                call_with_two(x.step, 0, x.scene)
            if len(workspaces) > 0:
                call_with_two(x.store_state, x.scene, workspaces[x.workspace])
        first = _take(run.next.ctypes.data, handful)


@intrinsic
def _take(_context: Any, address: Any, count: Any) -> Any:
    """Add to the integer at an address, in one piece for all threads, and return what it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], arguments[1].type.as_pointer())
        return builder.atomic_rmw("add", pointer, arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), generate


@kernel
def _copy(x: np.ndarray, to: np.ndarray) -> None:
    for i in range(len(x)):
        to[i] = x[i]
