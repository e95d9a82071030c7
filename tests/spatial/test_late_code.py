"""Kernels that only kernels call have no machine code of their own until Python calls them, nor in the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from poise.compiled import kernel as compiling
from poise.compiled.kernel import kernel

PROGRAM = """
import json, sys, types
import numpy as np
from poise.compiled.kernel import kernel

sys.modules["poise.shown"] = types.ModuleType("poise.shown")

def inner(x):
    if x < 0.0:
        raise ValueError("below zero")
    return np.full(3, x).sum() + 1.0

inner.__module__ = "poise.shown"
inner = kernel(inner)

def outer(values):
    total = 0.0
    for x in values:
        total += inner(x)
    return total

outer.__module__ = "poise.shown"
outer = kernel(outer)

results = [float(outer(np.arange(4.0)) if word == "outer" else inner(2.0)) for word in sys.argv[1:]]
made = [sum(each.stats.cache_misses.values()) for each in (inner, outer)]
late = [found.library.late for found in inner.overloads.values()]
print(json.dumps([results, made, late]))
"""


class Pair(NamedTuple):
    numbers: np.ndarray
    factor: float


def as_ours(function: Callable[..., Any]) -> Any:
    function.__module__ = "poise.shown"
    return kernel(cache=False)(function)


def weigh(x: float, pair: Pair) -> float:
    if x < 0.0:
        raise ValueError("below zero")
    room = np.zeros(3)
    room[0] = x
    return room[0] * pair.factor + pair.numbers[0]


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """One kernel, and another that calls it."""
    monkeypatch.setitem(sys.modules, "poise.shown", type(sys)("poise.shown"))
    inner = as_ours(weigh)

    def add(values: np.ndarray, pair: Pair) -> float:
        total = 0.0
        for x in values:
            total += inner(x, pair)
        return total

    return inner, as_ours(add)


PAIR = Pair(np.ones(3), 2.0)


def find_late(compiled: Any) -> list[bool]:
    return [found.library.late for found in compiled.overloads.values()]


def test_it_has_machine_code_when_python_calls_it(kernels: tuple[Any, Any]) -> None:
    inner, outer = kernels
    assert outer(np.arange(4.0), PAIR) == 16.0
    assert (find_late(inner), find_late(outer)) == ([True], [False])
    assert inner(2.0, PAIR) == inner(2.0, PAIR) == 5.0
    assert find_late(inner) == [False]
    assert outer(np.arange(4.0), PAIR) == 16.0


def test_who_calls_it_later_is_compiled_with_it(kernels: tuple[Any, Any]) -> None:
    inner, outer = kernels

    def after(pair: Pair) -> float:
        return inner(3.0, pair) + 1.0

    assert outer(np.arange(4.0), PAIR) == 16.0
    assert as_ours(after)(PAIR) == 8.0
    assert find_late(inner) == [True]
    assert inner(3.0, PAIR) == 7.0
    assert as_ours(after)(PAIR) == 8.0


def test_what_it_raises_is_raised(kernels: tuple[Any, Any]) -> None:
    inner, outer = kernels
    for call in (lambda: outer(np.array([1.0, -1.0]), PAIR), lambda: inner(-1.0, PAIR)):
        with pytest.raises(ValueError, match="below zero"):
            call()


def test_threads_that_call_it_while_it_is_compiled_wait(kernels: tuple[Any, Any]) -> None:
    inner, outer = kernels
    found: list[float] = []
    works = [lambda: found.append(outer(np.arange(4.0), PAIR)), lambda: found.append(inner(2.0, PAIR))] * 3
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [5.0] * 3 + [16.0] * 3


def test_the_cache_keeps_it_as_it_is(tmp_path: Path) -> None:
    """results; how many of inner and outer were compiled; whether inner has no machine code."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    sources, code = str(Path(compiling.__file__).parents[2]), tmp_path / "cache"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(code), "PYTHONPATH": sources}

    def run(*words: str) -> list[Any]:
        done = subprocess.run([sys.executable, program, *words], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert run("outer") == [[22.0], [1, 1], [True]]
    assert run("outer") == [[22.0], [0, 0], []]  # it is in the other's
    before = measure(code)
    assert run("inner") == [[7.0], [1, 0], [False]]  # with what Python calls it by
    assert measure(code) != before  # and kept
    after = measure(code)
    assert run("inner", "outer") == [[7.0, 22.0], [0, 0], [False]]
    assert measure(code) == after


def measure(cache: Path) -> dict[str, int]:
    """Bytes of all code of the inner one."""
    return {path.name: path.stat().st_size for path in cache.rglob("*inner*.nbc")}
