"""How threads share a crowd: each takes the next few characters from a common counter until none is left.

So Python is called once a thread and not once a handful, and a thread that the system held up takes fewer of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from poise.spatial.compile import kernel
from poise.stage.program_kernels import run_characters, show_characters, step_bare


@intrinsic
def _take(_context: Any, address: Any, count: Any) -> Any:
    """Add to the integer at an address, in one piece for all threads, and return what it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], arguments[1].type.as_pointer())
        return builder.atomic_rmw("add", pointer, arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), generate


@kernel
def share_run(
    rows: np.ndarray,
    counter: np.ndarray,
    size: int,
    steps: int,
    desks: np.ndarray,
    done: np.ndarray,
    status: np.ndarray,
    root: np.ndarray,
    rotations: np.ndarray,
) -> None:
    """See `run_characters`; counter (1,) int64 begins at 0."""
    first = _take(counter.ctypes.data, size)
    while first < len(rows):
        run_characters(rows, first, min(first + size, len(rows)), steps, desks, done, status, root, rotations)
        first = _take(counter.ctypes.data, size)


@kernel
def share_show(rows: np.ndarray, counter: np.ndarray, size: int, root: np.ndarray, rotations: np.ndarray) -> None:
    """See `show_characters`."""
    first = _take(counter.ctypes.data, size)
    while first < len(rows):
        show_characters(rows, first, min(first + size, len(rows)), root, rotations)
        first = _take(counter.ctypes.data, size)


@kernel
def share_step(rows: np.ndarray, counter: np.ndarray, size: int, steps: int, desks: np.ndarray) -> None:
    """See `step_bare`."""
    first = _take(counter.ctypes.data, size)
    while first < len(rows):
        step_bare(rows, first, min(first + size, len(rows)), steps, desks)
        first = _take(counter.ctypes.data, size)
