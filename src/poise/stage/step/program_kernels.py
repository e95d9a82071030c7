"""Running programs, compiled: lists of laws, of which nothing is known here but their addresses.

How threads share them: each takes the next few from a common counter until none is left. So Python is called once a
thread and not once a handful, and a thread that the system held up takes fewer of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from poise.compiled.kernel import kernel
from poise.compiled.law import fields
from poise.compiled.views import call_with_two, floats, integers, record, tables, vectors
from poise.dynamics.body_kernels import BODY
from poise.world.ground.kernels import find_floor
from poise.world.ground.record import GROUND

# laws    (count, 3) law, body and block, in the order of the step
# writes  (write_count, 3) those that put prescribed joints where they are at a body's time
# bodies  (body_count,) addresses of the bodies that it moves; the first of them is number `first` of all
# enter, leave, scene, desk   laws that take the engine's scene to a workspace and away, and that workspace's number
PROGRAM = fields(
    arrays="laws writes bodies raised", integers="count write_count body_count first step enter leave scene desk"
)
SIZE = PROGRAM.itemsize  # bytes
ENDLESS = 1e6  # m, m/s and rad/s in all: beyond it a state has exploded, whether an engine still counts or not
SUNK, LEANS = 0.7, 0.5  # of the height that a root had at first, and the cosine: one who may have fallen


@kernel
def run_program(x: Any, steps: int) -> int:
    """Make some steps, or fewer if a law makes a request or a Python function raises; return how many."""
    laws, bodies, raised = tables(x.laws, x.count, 3), integers(x.bodies, x.body_count), integers(x.raised, 1)
    for k in range(steps):
        for i in range(x.count):
            call_with_two(laws[i, 0], laws[i, 1], laws[i, 2])
            if raised[0] != 0:
                return k
        for i in range(x.body_count):
            if record(bodies[i], BODY).request != 0:
                return k + 1
    return steps


@kernel
def read_poses(x: Any, root: np.ndarray, q: np.ndarray) -> None:
    """Write the poses of a program's bodies at their present time into their rows of root (B, 3) and q (B, J, 4).

    Prescribed joints are put where they are at that time, and back: the step goes on as if nothing had been read.
    """
    writes, bodies = tables(x.writes, x.write_count, 3), integers(x.bodies, x.body_count)
    size = 0
    for i in range(x.body_count):
        size += KEPT * record(bodies[i], BODY).joints + KEPT_ROOT
    kept, at = np.empty(size), 0
    for i in range(x.body_count):
        b = record(bodies[i], BODY)
        b.at = b.steps * b.dt
        at = _exchange(b, kept, at, False)
    for i in range(x.write_count):
        call_with_two(writes[i, 0], writes[i, 1], writes[i, 2])
    at = 0
    for i in range(x.body_count):
        b = record(bodies[i], BODY)
        _copy(floats(b.root, 3), root[x.first + i])
        turns = vectors(b.q, b.joints, 4)
        for k in range(b.joints):
            _copy(turns[k], q[x.first + i, k])
        at = _exchange(b, kept, at, True)


KEPT, KEPT_ROOT = 10, 9  # numbers of a joint (q, w, dw) and of a root (position, v, a) that reading a pose changes


@kernel
def _exchange(b: Any, kept: np.ndarray, at: int, is_back: bool) -> int:
    """Copy a body's state and accelerations to `kept` from row `at` on, or back; return the row after them."""
    j = b.joints
    for address, size in ((b.q, 4 * j), (b.w, 3 * j), (b.dw, 3 * j), (b.root, 3), (b.v, 3), (b.a, 3)):
        own, copy = floats(address, size), kept[at : at + size]
        if is_back:
            _copy(copy, own)
        else:
            _copy(own, copy)
        at += size
    return at


@kernel
def look(body: Any, status: np.ndarray) -> None:
    """What a stage must know of a body after some steps, into status (4,).

    whether a law made a request, height of its root above what is under it, how upright it is (1, 0 lying), and the
    sum of all absolute values of its state: ENDLESS or more, or NaN, if it has exploded
    """
    j = body.joints
    root, q, w, v = floats(body.root, 3), vectors(body.q, j, 4), vectors(body.w, j, 3), floats(body.v, 3)
    status[0] = body.request
    status[1] = root[1] - find_floor(record(body.floor, GROUND), root[0], root[2], root[1])[0]
    status[2] = 1.0 - 2.0 * (q[0, 1] ** 2 + q[0, 3] ** 2)
    total = 0.0
    for a in range(3):
        total += abs(root[a]) + abs(v[a])
    for i in range(j):
        for a in range(3):
            total += abs(w[i, a]) + abs(q[i, a])
        total += abs(q[i, 3])
    status[3] = total


@kernel
def is_odd(status: np.ndarray, height: float) -> bool:
    """Whether a body, as `look` has it, sank or leans so far that it may have fallen, or has exploded."""
    return bool(status[1] < SUNK * height or status[2] < LEANS or not status[3] < ENDLESS)


@kernel
def share_run(
    programs: int,
    count: int,
    counter: np.ndarray,
    size: int,
    steps: int,
    desks: np.ndarray,
    done: np.ndarray,
    status: np.ndarray,
    heights: np.ndarray,
    news: np.ndarray,
    root: np.ndarray,
    q: np.ndarray,
) -> None:
    """Run programs by some steps each.

    programs, count   where their records are, one after the other: to tell what an array of records is takes Numba
                      longer than a step of a small body
    counter  (1,) common to all threads, from 0
    desks    (D,) addresses of this thread's workspaces of the engine; none: each program uses its own
    done     (P,) how many steps each made: fewer if somebody called
    status   (B, 4) how each body is then: see `look`
    heights  (B,) m, of the bodies' roots at first;  news (1,) 1 where somebody called or may have fallen or exploded
    root, q  (B, 3), (B, J, 4) its pose then; none: nobody wants to know
    """
    first = _take(counter.ctypes.data, size)
    while first < count:
        for i in range(first, min(first + size, count)):
            x = record(programs + i * SIZE, PROGRAM)
            if len(desks) > 0:
                call_with_two(x.enter, x.scene, desks[x.desk])
            done[i] = run_program(x, steps)
            if len(desks) > 0:
                call_with_two(x.leave, x.scene, desks[x.desk])
            bodies = integers(x.bodies, x.body_count)
            for k in range(x.body_count):
                how = status[x.first + k]
                look(record(bodies[k], BODY), how)
                if how[0] > 0.0 or is_odd(how, heights[x.first + k]):
                    news[0] = 1
            if len(root) > 0:
                read_poses(x, root, q)
        first = _take(counter.ctypes.data, size)


@kernel
def share_poses(programs: int, count: int, counter: np.ndarray, size: int, root: np.ndarray, q: np.ndarray) -> None:
    """See `read_poses`."""
    first = _take(counter.ctypes.data, size)
    while first < count:
        for i in range(first, min(first + size, count)):
            read_poses(record(programs + i * SIZE, PROGRAM), root, q)
        first = _take(counter.ctypes.data, size)


@kernel
def share_step(programs: int, count: int, counter: np.ndarray, size: int, steps: int, desks: np.ndarray) -> None:
    """The engine's own step of programs and nothing else: what a benchmark measures beside."""
    first = _take(counter.ctypes.data, size)
    while first < count:
        for i in range(first, min(first + size, count)):
            x = record(programs + i * SIZE, PROGRAM)
            if len(desks) > 0:
                call_with_two(x.enter, x.scene, desks[x.desk])
            for _ in range(steps):
                call_with_two(x.step, 0, x.scene)
            if len(desks) > 0:
                call_with_two(x.leave, x.scene, desks[x.desk])
        first = _take(counter.ctypes.data, size)


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
