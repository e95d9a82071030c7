"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from helpers.clips import random_clip
from helpers.errors import rejects
from poise.errors import FileError, InputError
from poise.files.formats.bvh.clip import save_bvh
from poise.files.formats.gltf.write import save_glb
from poise.files.output import all_or_none, open_atomic, write_bytes


def names_in(folder):
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")
    return path


def test_a_finished_block_replaces_the_file(old):
    with open_atomic(old) as stream:
        stream.write(b"new")
        assert old.read_bytes() == b"old"
    assert old.read_bytes() == b"new"
    with open_atomic(old, "w") as stream:
        stream.write("a\nä\n")
    assert old.read_bytes() == b"a\n\xc3\xa4\n"
    assert names_in(old.parent) == [old.name]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_a_failed_block_leaves_the_old_file_and_nothing_else(old, error):
    with pytest.raises(FileError if error is OSError else error), open_atomic(old) as stream:
        stream.write(b"half")
        raise error("no")
    assert old.read_bytes() == b"old"
    assert names_in(old.parent) == [old.name]


@pytest.mark.parametrize("save", [save_bvh, save_glb], ids=["bvh", "glb"])
def test_a_full_disk_is_told_and_leaves_nothing(save, old, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    rejects(lambda: save(random_clip(np.random.default_rng(0)), old), "out.bin:", error=FileError)
    assert old.read_bytes() == b"old"
    assert names_in(old.parent) == [old.name]


def test_places_that_cannot_be_written(old, monkeypatch):
    folder = old.parent
    with pytest.raises(FileError, match=r"it is a folder"):
        write_bytes(folder, b"")
    with pytest.raises(FileError, match=r"none' does not exist. Make it"):
        write_bytes(folder / "none" / "x.bvh", b"")
    with pytest.raises(FileError, match=r"is a file, not a folder"):
        write_bytes(old / "x.bvh", b"")
    with pytest.raises(InputError, match=r"allowed: 'wb', 'w'"), open_atomic(old, "a"):
        pass
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FileError, match=r"does not allow it"):
        write_bytes(folder / "x.bvh", b"")
    assert names_in(folder) == [old.name]


@pytest.mark.skipif(os.name == "nt", reason="links, pipes and permission bits are POSIX's")
def test_links_are_followed_pipes_written_to_and_the_umask_kept(old):
    link = old.with_name("link.bin")
    link.symlink_to(old)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert old.read_bytes() == b"new"
    write_bytes("/dev/null", b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    umask = os.umask(0o022)
    try:
        write_bytes(old, b"new")
    finally:
        os.umask(umask)
    assert stat.S_IMODE(old.stat().st_mode) == 0o644


def test_files_of_one_block_all_appear_or_none(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), all_or_none():
        write_bytes(old, b"after")
        write_bytes(new, b"new")
        raise ZeroDivisionError
    assert old.read_bytes() == b"before" and [path.name for path in tmp_path.iterdir()] == ["old.txt"]
    with all_or_none():
        write_bytes(old, b"after")
        with all_or_none():
            write_bytes(new, b"new")
        assert old.read_bytes() == b"before" and not new.exists()
    assert old.read_bytes() == b"after" and new.read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 2
