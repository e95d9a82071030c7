"""Compiling quicker: the same meaning for every operator, and nothing of it stays behind."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.types.functions import BaseFunction

from poise.compiled import quick_compile
from poise.compiled.kernel import kernel

OWN = BaseFunction.get_call_type


def mix(x: np.ndarray, i: int, flag: bool) -> float:
    """Operators of whole numbers, truth values, numbers and arrays, each with several pairs of types."""
    total = x[i] * i + i // 2 + (i % 3) / 2 - x[-1] ** 2 + i**2
    for k in range(len(x)):
        x[k] += flag * k + (k & 1) + 0.5
        total += x[k] / (k + 1) if x[k] > k and k != i else -total
    return total


def fail(x: float) -> Any:
    return x * "a"


@pytest.fixture
def own() -> Iterator[Callable[[Any], Any]]:
    """Compile a function as one of Poise's; afterwards everything must be as it was."""

    def compile_own(function: Any) -> Any:
        function.__module__ = "poise.test"
        return kernel(cache=False)(function)

    assert gc.isenabled() and BaseFunction.get_call_type is OWN
    yield compile_own
    assert gc.isenabled() and BaseFunction.get_call_type is OWN


def test_operators_mean_what_they_mean_to_numba(own: Callable[[Any], Any]) -> None:
    plain, quick = numba.njit(mix, error_model="numpy"), own(mix)
    first, second = np.linspace(-1.0, 4.0, 9), np.linspace(-1.0, 4.0, 9)
    assert plain(first, 4, True) == quick(second, 4, True) and np.array_equal(first, second)
    calls = [
        sorted(str(signature) for signature in made.overloads[made.signatures[0]].type_annotation.calltypes.values())
        for made in (plain, quick)
    ]
    assert calls[0] == calls[1] and len(calls[0]) > 15
    assert any(found[0].return_type == numba.float64 for found in quick_compile._known.values())


def test_a_kernel_that_cannot_be_compiled_leaves_nothing_behind(own: Callable[[Any], Any]) -> None:
    with pytest.raises(numba.TypingError):
        own(fail)(1.0)


def test_garbage_that_nobody_collects_stays_so(own: Callable[[Any], Any]) -> None:
    gc.disable()
    try:
        own(lambda x: x + 1.0)(1.0)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_time_that_compiling_takes_is_counted(own: Callable[[Any], Any]) -> None:
    before, began = quick_compile.get_seconds(), time.perf_counter()
    made = own(lambda x: x + 2.0)
    made(1.0)
    spent = quick_compile.get_seconds() - before
    assert 0.0 < spent <= time.perf_counter() - began
    made(1.0)
    assert quick_compile.get_seconds() == before + spent
