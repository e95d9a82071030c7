"""State by declaration: objects that name the attributes that are their state, and the clock of decisions in a step."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from poise.compiled.layout import Layout
from poise.engines.memory import write_over


class Stateful:
    """An object whose state is saved and restored by the names of its attributes.

    STATE  names of arrays, which are restored in place, of numbers (NumPy's too), strings and None, which are
           replaced, and of objects with `save` and `restore`
    """

    STATE: ClassVar[tuple[str, ...]] = ()

    def save(self) -> dict[str, Any]:
        """Return the state as plain data: arrays, numbers, strings, and dictionaries of those."""
        return {name: _save(getattr(self, name)) for name in self.STATE}

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore what `save` returned."""
        arrays = {}
        for name in self.STATE:
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                arrays[name] = value
            elif isinstance(value, Layout):
                write_over(value.arrays, saved[name])
                value.set(**{key: saved[name][key] for key in _list_numbers(value)})
            elif hasattr(value, "restore"):
                value.restore(saved[name])
            else:
                setattr(self, name, saved[name])
        write_over(arrays, saved)


def _save(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Layout):
        arrays = {name: array.copy() for name, array in value.arrays.items()}
        return {**arrays, **{name: value[name] for name in _list_numbers(value)}}
    if hasattr(value, "save"):
        return value.save()
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, int | float | str):
        return value
    raise TypeError(f"a {type(value).__name__} is not plain data and has no method save.")


def _list_numbers(layout: Layout) -> list[str]:
    return [name for name in type(layout).dtype.names or () if name not in layout.arrays]


class StepClock(Stateful):
    """Counts the middles of steps since a time (s): a player decides there, once per step.

    Poses that are asked for at other times change nothing.
    """

    STATE = ("since", "decided")

    def __init__(self, t: float):
        self.since, self.decided = t, 0

    def restart(self, t: float) -> None:
        """Count from time t (s) on."""
        self.since, self.decided = t, 0

    def is_due(self, t: float, dt: float) -> bool:
        """Return whether the middle of a step of dt seconds has passed at time t since the last call that was due."""
        middles = (t - self.since) / dt + 0.5 + 1e-6
        if middles < self.decided + 1:
            return False
        self.decided = math.floor(middles)
        return True
