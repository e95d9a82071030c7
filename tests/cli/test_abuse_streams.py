"""Standard output and error that are closed, full or no longer read: the work is done, and the exit tells of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.command_inputs import make_clip
from poise.cli.commands import COMMANDS
from poise.files.registry import load_clip, save_clip

pytestmark = pytest.mark.skipif(os.name == "nt", reason="descriptors are POSIX's")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three motions in a folder."""
    folder = tmp_path_factory.mktemp("library")
    for name in "abc":
        save_clip(make_clip(), folder / f"{name}.bvh")
    return folder


def poise(*words: object, redirect: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command from a shell, with its streams redirected."""
    command = [sys.executable, "-m", "poise", *map(str, words)]
    return subprocess.run(["sh", "-c", f'exec "$@" {redirect}', "sh", *command], capture_output=True, text=True)


def with_closed_pipe(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the command with a standard output that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "poise", *map(str, words)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    return done


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.many(3)
def test_help_into_a_closed_pipe(command: str) -> None:
    done = with_closed_pipe(command, "--help")
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("more", [(), ("--json",)])
@pytest.mark.many(1)
def test_all_files_are_written_though_nobody_listens(library: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    done = with_closed_pipe("convert", library, tmp_path / "out", "--to", "npz", *more)
    assert (done.returncode, done.stderr) == (141, "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.npz", "b.npz", "c.npz"]
    assert all(len(load_clip(path)) == len(make_clip()) for path in (tmp_path / "out").iterdir())


def test_an_error_keeps_its_code_and_sentence_in_a_closed_pipe(library: Path) -> None:
    done = with_closed_pipe("info", library / "none.bvh")
    assert done.returncode == 2
    assert "there is no such file" in done.stderr


@pytest.mark.parametrize("redirect", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.many(1)
def test_closed_streams_are_no_fault(library: Path, tmp_path: Path, redirect: str) -> None:
    """Nor does what is printed end up in the file that took the descriptor's number."""
    done = poise("convert", library / "a.bvh", tmp_path / "x.bvh", redirect=redirect)
    assert done.returncode == 0
    assert len(load_clip(tmp_path / "x.bvh")) == len(make_clip())
    text = (tmp_path / "x.bvh").read_text()
    assert text.startswith("HIERARCHY") and "poise" not in text and "max_joint" not in text
    assert poise("info", library / "none.bvh", redirect=redirect).returncode == 2


@pytest.mark.parametrize("more", [(), ("--json",)])
@pytest.mark.many(1)
def test_a_full_disk_behind_standard_output(library: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    done = poise("convert", library, tmp_path / "out", "--to", "npz", *more, redirect="> /dev/full")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "standard output cannot be written: No space left on device" in done.stderr
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_a_standard_error_that_is_full_changes_nothing(library: Path) -> None:
    done = poise("info", library / "a.bvh", "--json", redirect="2> /dev/full")
    assert done.returncode == 0
    assert json.loads(done.stdout)["format"] == "BVH"
    assert poise("info", "none.bvh", redirect="2> /dev/full").returncode == 2


def test_json_is_not_mixed_with_a_file_on_standard_output(library: Path) -> None:
    done = poise("forces", library / "a.bvh", "-o", "/dev/stdout", "--json", redirect="| cat")
    assert done.stdout == ""
    assert "is where --json prints" in done.stderr


def test_exit_one_has_its_object_and_exit_two_nothing(library: Path, tmp_path: Path) -> None:
    fell = poise(
        "mix", library / "a.bvh", "-o", tmp_path / "x.npz", "--push", "t=0 chest 0,0,1e6 0.3s", "--json", "--quiet"
    )
    assert (fell.returncode, fell.stderr) == (1, "")
    assert json.loads(fell.stdout)["fell"] is True
    bad = poise("mix", library / "a.bvh", "-o", tmp_path / "y.npz", "--gain", "99", "--json", "--quiet")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.count("\n") == 1
