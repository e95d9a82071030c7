"""Runs that are killed or told to stop: what they leave, who clears it, and what is never touched."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from poise.errors import FileError
from poise.files import output
from poise.files.output import (
    choose_temporary,
    is_temporary,
    open_atomic,
    sweep_folder,
    temporary_beside,
    temporary_folder,
    write_bytes,
)

POSIX = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")

# Writes half a file, says so, and waits to be stopped.
HALF = """
import sys, time
from poise.cli import main
from poise.cli.commands import COMMANDS
from poise.registry import Entry
import poise.cli

def wait():
    from poise.files.output import open_atomic
    with open_atomic(sys.argv[1]) as stream:
        stream.write(b"half")
        stream.flush()
        print("ready", flush=True)
        time.sleep(60)

sys.modules["waiting"] = sys.modules["__main__"]
COMMANDS["wait"] = Entry("waiting:wait", "waits")
sys.exit(main(["wait"]))
"""


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def forget() -> None:
    """As a process that begins: no folder was looked through yet."""
    output._swept.clear()


def heed_signals() -> None:
    """Undo what a process inherits that was started in the background or by nohup: there it ignores signals."""
    for name in ("SIGINT", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def stop_half_way(path: Path, number: int) -> subprocess.CompletedProcess[str]:
    """Start to write a file in another process, and send it a signal in the middle."""
    process = subprocess.Popen(
        [sys.executable, "-c", HALF, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=heed_signals,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    assert len(names_in(path.parent)) == 2
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess([], process.returncode, out, err)


@POSIX
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)])
def test_a_signal_clears_what_was_half_done(tmp_path: Path, name: str, code: int) -> None:
    path = tmp_path / "out.bvh"
    path.write_bytes(b"old")
    done = stop_half_way(path, getattr(signal, name))
    assert (done.returncode, done.stderr) == (code, "")
    assert names_in(tmp_path) == {"out.bvh"}
    assert path.read_bytes() == b"old"


@POSIX
def test_what_a_killed_run_left_is_cleared_by_the_next_that_writes_there(tmp_path: Path) -> None:
    path = tmp_path / "out.bvh"
    path.write_bytes(b"old")
    assert stop_half_way(path, signal.SIGKILL).returncode == -signal.SIGKILL
    (left,) = names_in(tmp_path) - {"out.bvh"}
    assert is_temporary(tmp_path / left)
    assert path.read_bytes() == b"old"
    forget()
    write_bytes(tmp_path / "other.csv", b"new")
    assert names_in(tmp_path) == {"out.bvh", "other.csv"}


def find_dead() -> int:
    """The number of a process that is gone."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def rename(path: Path, **parts: object) -> Path:
    """A temporary name of another host, process or start."""
    match = re.fullmatch(r"(\.poise-tmp)-(\w{8})-(\d+)-(\d+)-(\w{12})-(.*)", path.name)
    assert match is not None
    host, pid, start = parts.get("host", match[2]), parts.get("pid", match[3]), parts.get("start", match[4])
    return path.with_name(f"{match[1]}-{host}-{pid}-{start}-{match[5]}-{match[6]}")


@POSIX
def test_only_files_of_processes_that_are_gone_are_cleared(tmp_path: Path) -> None:
    own = choose_temporary(tmp_path / "a.glb")
    dead = find_dead()
    living = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        its_start = output._find_start(living.pid)
        kept = [
            own,  # this process is writing it
            rename(own, pid=living.pid, start=its_start),
            rename(own, host="00000000", pid=dead),  # who knows what runs there
            tmp_path / ".poise-tmp-notes-a.glb",  # somebody's own idea of a name
            tmp_path / f".a.glb.{dead}.tmp",
            tmp_path / "poise-tmp-00000000-1-1-000000000000-a.glb",
        ]
        gone = [rename(own, pid=dead)]
        if its_start:  # the number was given to another process meanwhile
            gone += [rename(own, pid=living.pid, start=its_start - 1), rename(own, start=1)]
        for path in (*kept, *gone):
            path.write_bytes(b"x")
        stale_folder = rename(choose_temporary(tmp_path / "folder"), pid=dead)
        stale_folder.mkdir()
        (stale_folder / "film.mp4").write_bytes(b"x")
        forget()
        assert set(sweep_folder(tmp_path)) == {*gone, stale_folder}
        assert names_in(tmp_path) == {path.name for path in kept}
        rename(own, pid=dead).write_bytes(b"x")
        assert sweep_folder(tmp_path) == []  # once a process
    finally:
        living.kill()
        living.wait()


@POSIX
def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "clip.bvh").write_bytes(b"x")
    rename(choose_temporary(tmp_path / "folder"), pid=find_dead()).symlink_to(mine)
    forget()
    assert len(sweep_folder(tmp_path)) == 1
    assert (mine / "clip.bvh").read_bytes() == b"x"


def test_a_temporary_name_fits_and_keeps_its_suffix(tmp_path: Path) -> None:
    for name in ("a.take.npz", "左" * 80 + ".glb", "x" * 250 + ".bvh"):
        temporary = choose_temporary(tmp_path / name)
        assert len(os.fsencode(temporary.name)) <= 143
        assert is_temporary(temporary)
        assert temporary.name.endswith(name[-8:])
        assert temporary != choose_temporary(tmp_path / name)
    assert not is_temporary(tmp_path / "a.take.npz")


def test_a_file_can_be_judged_before_it_takes_its_name(tmp_path: Path) -> None:
    path = tmp_path / "out.glb"
    path.write_bytes(b"old")
    with temporary_beside(path) as temporary:
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".glb")
        temporary.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    with pytest.raises(ZeroDivisionError), temporary_beside(path) as temporary:
        temporary.write_bytes(b"bad")
        raise ZeroDivisionError
    with pytest.raises(FileError, match=r"out\.glb: cannot be written: No such file"), temporary_beside(path):
        pass  # nothing was written
    assert path.read_bytes() == b"new"
    assert names_in(tmp_path) == {"out.glb"}


@POSIX
def test_devices_are_written_to_and_never_replaced() -> None:
    with temporary_beside("/dev/null") as temporary:
        assert temporary.parent != Path("/dev")
        temporary.write_bytes(b"x")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(FileError, match="No space left on device"), open_atomic("/dev/full") as stream:
        stream.write(b"x")


def test_a_temporary_folder_is_gone_afterwards() -> None:
    with pytest.raises(ZeroDivisionError), temporary_folder() as folder:
        (folder / "film.mp4").write_bytes(b"x")
        assert is_temporary(folder)
        raise ZeroDivisionError
    assert not folder.exists()
