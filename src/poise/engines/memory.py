"""Memory of simulations: garbage collection by the bytes that they hold, and arrays that are restored in place.

A stage and its actors refer to each other, so a discarded stage is freed by Python's cycle collector, which counts
objects: a stage is some hundred objects and up to 40 MB of an engine's memory, and the collector may leave hundreds of
discarded stages alone. Here the bytes are counted. Once the simulations that exist hold `_STEP` more than after the
last collection (or half as much again, if that is more), the garbage is collected.

What is saved is plain data: arrays, numbers, strings, and lists and dictionaries of those.
"""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.engines.engine import Simulation
from poise.errors import InputError

_STEP = 128 << 20  # bytes
_sizes: dict[int, int] = {}  # bytes of each simulation that exists; single operations on it are thread-safe
_numbers = itertools.count()
_limit = _STEP


def count_memory(simulation: Simulation) -> None:
    """Count the memory of a new simulation until it is freed; collect garbage if there may be much.

    A program that has switched the collector off (`gc.disable`) collects by itself.
    """
    global _limit
    number = next(_numbers)
    _sizes[number] = simulation.memory_bytes
    weakref.finalize(simulation, _sizes.pop, number, None).atexit = False
    if _count_bytes() > _limit and gc.isenabled():
        gc.collect()
        held = _count_bytes()
        _limit = held + max(_STEP, held // 2)


def _count_bytes() -> int:
    return sum(list(_sizes.values()))


def write_over(arrays: Mapping[str, np.ndarray], saved: Mapping[str, Any]) -> None:
    """Write saved arrays over those of the same names, which must be as large; all or none."""
    found = {}
    for name, array in arrays.items():
        if name not in saved:
            raise InputError(f"the saved state lacks '{name}'. Save it again.")
        found[name] = np.asarray(saved[name])
        if found[name].shape != array.shape or not np.can_cast(found[name].dtype, array.dtype, "same_kind"):
            raise InputError(
                f"the saved state has '{name}' of shape {found[name].shape} and type {found[name].dtype}; here it is "
                f"{array.shape} and {array.dtype}. Restore it where it was saved, or save it again."
            )
    for name, array in arrays.items():
        array[...] = found[name]
