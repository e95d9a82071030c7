"""What a simulation took goes back to the system when it is gone."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from poise import Balance, Character, HeightMap, Loose, Stage


class Blocks(ctypes.Structure):
    """What `mallinfo2` of GNU's C library tells; hblkhd: bytes in blocks that are mapped one by one."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keep",
        )
    ]


WORKSPACES = """
import gc, sys
sys.path.insert(0, sys.argv[1])
import ctypes
from engines.test_memory import Blocks, build_one
tell = ctypes.CDLL(None).mallinfo2
tell.restype = Blocks
build_one()
gc.collect()
before = tell().hblkhd
stage = build_one()
taken = tell().hblkhd - before
del stage
gc.collect()
print(taken, tell().hblkhd - before)
"""


def build_one() -> Stage:
    """A stage that has made a step."""
    stage = Stage()
    stage.add(Character.human(preset="mix")).drive("legs", Balance())
    stage.advance(1)
    return stage


def test_workspaces_are_mapped_one_by_one() -> None:
    """Once one had been freed, the library put them among small blocks, and held three times what was used.

    In a process of its own, with kernels that are compiled already: what a compiler has freed would serve as well.
    """
    if sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("another C library")
    build_one()
    words = [sys.executable, "-c", WORKSPACES, str(Path(__file__).parents[1])]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert int(told[0]) >= 1 << 21
    assert int(told[1]) == 0


def test_switches_take_no_memory() -> None:
    if sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("another C library")
    tell = ctypes.CDLL(None).mallinfo2
    tell.restype = Blocks
    stage = Stage()
    actor = stage.add(Character.human(preset="mix"))
    actor.drive("legs", Balance())

    def switch(times: int) -> int:
        for _ in range(times):
            for stiffness in (0.3, 1.0):
                actor.drive("arms", Loose(stiffness))
                stage.advance(2)
        gc.collect()
        told = tell()
        return int(told.uordblks + told.hblkhd)

    before = switch(5)
    assert switch(10) - before < 1 << 17


@pytest.mark.slow
def test_maps_of_heights_take_no_memory_in_bullet() -> None:
    """Every world on one took 87 kB for good: pybullet keeps the lists that it is given."""
    pytest.importorskip("pybullet")
    if sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("another C library")
    tell = ctypes.CDLL(None).mallinfo2
    tell.restype = Blocks
    heights = np.random.default_rng(0).uniform(0.0, 0.06, (40, 40))

    def build(times: int) -> int:
        for _ in range(times):
            stage = Stage("bullet", ground=HeightMap(heights, 0.15))
            stage.add(Character.human(preset="mix")).drive("legs", Balance())
            stage.build()
            del stage
        gc.collect()
        told = tell()
        return int(told.uordblks + told.hblkhd)

    before = build(5)
    assert build(10) - before < 1 << 17
