"""Kernels: a cache that is broken is made again by itself, and whoever asks is told that something is compiled."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest

from poise.cli.console import SENTENCE, Report, tell_compiling
from poise.compiled import kernel as compiling
from poise.compiled.kernel import kernel, on_compile

SOURCE = """
import json, sys
import numpy as np
from poise.compiled.kernel import kernel

@kernel
def inner(x):
    return x * x + 1.0

@kernel
def outer(values):
    total = 0.0
    for x in values:
        total += inner(x)
    return total

result = outer(np.arange(4.0))
stats = outer.stats
print(json.dumps([result, sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""


def run(folder: Path) -> tuple[float, int, int]:
    """What a process that uses kernels computes, and how many of its kernels' codes it loaded and made."""
    program = folder / "program.py"
    if not program.exists():
        program.write_text(SOURCE)
    sources = str(Path(compiling.__file__).parents[2])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": sources}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    result, hits, misses = json.loads(done.stdout)
    return result, hits, misses


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(len(data) // 3, len(data), 97):
        data[place] ^= 0x41
    path.write_bytes(bytes(data))


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def of_another_version(path: Path) -> None:
    path.write_bytes(pickle.dumps("0.1") + b"whatever that one had")


WAYS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "index cut off": ("*.nbi", lambda path: path.write_bytes(path.read_bytes()[:-20])),
    "index empty": ("*.nbi", lambda path: path.write_bytes(b"")),
    "index of garbage": ("*.nbi", lambda path: path.write_bytes(b"\x80garbage" * 50)),
    "index another numba's": ("*.nbi", of_another_version),
    "code cut off": ("*.nbc", lambda path: path.write_bytes(path.read_bytes()[:-1000])),
    "code empty": ("*.nbc", lambda path: path.write_bytes(b"")),
    "code of garbage": ("*.nbc", lambda path: path.write_bytes(b"\x80garbage" * 500)),
    "code with bits flipped": ("*.nbc", flip),
    "code gone": ("*.nbc", Path.unlink),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.many(1)
def test_a_broken_cache_is_made_again(way: str, tmp_path: Path) -> None:
    pattern, spoil = WAYS[way]
    right = 4.0 + float((np.arange(4.0) ** 2).sum())
    assert run(tmp_path) == (right, 0, 1)
    found = list((tmp_path / "cache").rglob(pattern))
    assert found
    for path in found:
        spoil(path)
    assert run(tmp_path) == (right, 0, 1)  # made again
    assert run(tmp_path) == (right, 1, 0)  # and kept


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
@pytest.mark.many(1)
def test_a_cache_that_cannot_be_mended_is_gone_without(pattern: str, tmp_path: Path) -> None:
    right, _, _ = run(tmp_path)
    for path in list((tmp_path / "cache").rglob(pattern)):
        put_folder(path)
    assert run(tmp_path) == (right, 0, 1)
    assert run(tmp_path) == (right, 0, 1)


@pytest.fixture
def fresh_kernel() -> Callable[[], object]:
    """A call that compiles a kernel of Poise's."""

    def make() -> object:
        def thrice(x: float) -> float:
            return 3.0 * x

        thrice.__module__ = "poise.test"
        compiled = kernel(cache=False)(thrice)
        assert compiled(2.0) == compiled(2.0) == 6.0
        return compiled

    make()  # compiling is watched from a process' first kernel on
    return make


def test_a_listener_is_told_of_what_is_compiled(fresh_kernel: Callable[[], object]) -> None:
    told: list[tuple[int, int]] = []
    on_compile(lambda count, known: told.append((count, known)))
    try:
        fresh_kernel()
        assert len(told) == 1  # the second call of it compiles nothing
        fresh_kernel()
        numba.njit(lambda x: x + 1)(1)  # somebody else's
    finally:
        on_compile(None)
    fresh_kernel()
    (first, known), (second, more) = told
    assert second == first + 1 and more == known + 1 and first <= known


class Screen:
    """Standard error, on a terminal or not."""

    def __init__(self, is_terminal: bool):
        self.text, self._is_terminal = "", is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


@pytest.mark.parametrize("quiet", [False, True])
def test_a_line_is_said_once_where_there_is_no_terminal(
    quiet: bool, fresh_kernel: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen(is_terminal=False)
    monkeypatch.setattr(sys, "stderr", screen)
    with tell_compiling(quiet):
        fresh_kernel()
        fresh_kernel()
    fresh_kernel()
    assert screen.text == ("" if quiet else f"poise: {SENTENCE}\n")


def test_progress_bar_is_cleared_before_a_message(
    fresh_kernel: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The bar shows the compiled fraction; without these it would depend on what the process has compiled before.
    monkeypatch.setattr(compiling, "_compiled", 4)
    monkeypatch.setattr(compiling, "_made", 10)
    screen = Screen(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", screen)
    with tell_compiling(quiet=False):
        fresh_kernel()
        Report().note("something.")
        fresh_kernel()
    lines = shown(screen.text)
    assert lines == ["poise: something.", ""]
    assert screen.text.count(SENTENCE) == 2 and "#" in screen.text


def shown(text: str) -> list[str]:
    """What stands on a terminal in the end, line by line."""
    lines, column = [""], 0
    for mark in text:
        if mark == "\n":
            lines.append("")
            column = 0
        elif mark == "\r":
            column = 0
        else:
            lines[-1] = lines[-1][:column].ljust(column) + mark + lines[-1][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


def test_nothing_is_told_where_all_is_in_the_cache(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    told = "from poise.compiled.kernel import on_compile\nfrom poise.compiled import kernel as own\n"
    watch = "own._tell = lambda function: print('compiled', function.__name__)\n"
    program.write_text(told + watch + SOURCE)
    sources = str(Path(compiling.__file__).parents[2])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": sources}
    said = [
        subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment, check=True).stdout
        for _ in range(2)
    ]
    assert [text.count("compiled") for text in said] == [2, 0]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of three kernel files and a file of constants: upper imports lower, lower imports the constants."""
    package = tmp_path / "src" / "poise"
    package.mkdir(parents=True)
    (package / "constants.py").write_text("STEP = 1\n")
    (package / "lower_kernels.py").write_text("from poise.constants import STEP\n")
    (package / "upper_kernels.py").write_text("from poise import (\n    lower_kernels,\n)\n")
    (package / "other_kernels.py").write_text("import numpy\n")
    monkeypatch.setattr(compiling, "_PACKAGE", package)
    return package


def stamps(package: Path) -> dict[str, tuple[str, ...]]:
    """Return the stamp of each kernel file as a new process would compute it."""
    compiling._hash_files.cache_clear()
    compiling._read.cache_clear()
    return {path.stem: compiling._stamp_of(path) for path in package.glob("*_kernels.py")}


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("constants", {"lower_kernels", "upper_kernels"}),
        ("lower_kernels", {"lower_kernels", "upper_kernels"}),
        ("upper_kernels", {"upper_kernels"}),
        ("other_kernels", {"other_kernels"}),
    ],
)
def test_an_edit_makes_only_dependent_kernels_stale(edited: str, stale: set[str], tree: Path) -> None:
    before = stamps(tree)
    path = tree / f"{edited}.py"
    path.write_text(path.read_text() + "# edited\n")
    after = stamps(tree)
    assert {name for name in before if before[name] != after[name]} == stale


def test_a_touched_file_keeps_its_stamp(tree: Path) -> None:
    before = stamps(tree)
    for path in tree.glob("*.py"):
        os.utime(path, (1, 1))
    assert stamps(tree) == before
