"""What is opened to be read: regular files only, in one place, with a bound on their size before memory is taken."""

from __future__ import annotations

import ast
import io
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.clips import random_clip
from helpers.errors import rejects
from helpers.files.seeds import write_seed
from poise.bench.harness import load_figures
from poise.errors import FileError
from poise.files import arrays, input
from poise.files.arrays import NpzFile
from poise.files.character import load_character
from poise.files.formats.npz import read_npz, save_npz
from poise.files.input import check_poses, open_input, read_bytes
from poise.files.reading.options import parse_roles
from poise.files.registry import FORMATS, read_clip
from poise.jobs.job import load_recipe
from poise.jobs.mix.job import MixOptions
from poise.stage.take.files import load_take
from poise.world.scenery import load_scenery

SOURCES = Path(poise.__file__).parent
# Whatever reads a file that a user names, by the suffix that it wants. Settings may be empty.
SETTINGS: list[tuple[str, Callable[[Path], object]]] = [
    (".toml", lambda path: load_recipe(MixOptions, path)),
    (".toml", load_scenery),
    (".json", load_figures),
    (".json", lambda path: parse_roles([str(path)])),
]
READERS: list[tuple[str, Callable[[Path], object]]] = [
    *((entry.suffix, read_clip) for entry in FORMATS if entry.read is not None),
    (".json", load_character),
    (".take.npz", load_take),
    *SETTINGS,
]
# Files that Poise wrote itself a moment before, or keeps in a folder of its own: nobody else names them.
OWN = {
    "files/formats/usd.py", "files/formats/fbx/fbx.py", "pictures/film.py",
    "files/output.py", "files/input.py", "cli/streams.py",
    # sources beside a law that was imported, and their machine code; a state that Bullet wrote to a temporary folder
    "compiled/kernel.py", "compiled/code_cache.py", "engines/bullet/state.py",
    # tables that come with the package
    "motion/markers/sets.py",
    # hands are written as they come, to a file that was not there, so that a crash loses nothing
    "puppetry/hands_file.py",
    # the second opinion shares no code with the readers, and reads only what they have read
    "files/writing/independent/bvh.py", "files/writing/independent/gltf.py", "files/writing/independent/npz.py",
}  # fmt: skip


@pytest.mark.parametrize(("suffix", "read"), READERS[: -len(SETTINGS)])
def test_an_empty_file_is_said_to_be_empty(suffix: str, read: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    path.touch()
    with pytest.raises(FileError, match=rf"x{suffix}: the file is empty\. Export it again\."):
        read(path)


@pytest.mark.parametrize("read", [read_clip, poise.load_character])
def test_what_is_not_there_wants_no_suffix(read: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(FileError, match="walk: there is no such file"):
        read(tmp_path / "walk")
    for name in ("walks", "walks.d"):
        (tmp_path / name).mkdir()
        with pytest.raises(FileError, match=rf"{name}: is a folder"):
            read(tmp_path / name)
    (tmp_path / "walk").write_text("a")
    with pytest.raises(FileError, match="walk: a file without suffix"):
        read(tmp_path / "walk")


def make_odd(path: Path, kind: str) -> Path:
    """A device, by a link, or a pipe that nobody writes to."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no pipes and devices with names")
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize(("suffix", "read"), READERS)
def test_devices_and_pipes_are_refused_by_every_reader(
    suffix: str, read: Callable[[Path], object], kind: str, tmp_path: Path
) -> None:
    path = make_odd(tmp_path / f"x{suffix}", kind)
    with pytest.raises(FileError, match=rf"x{suffix}: is a {kind}; only regular files are read\."):
        read(path)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_lies_beside_a_file_is_not_waited_for(kind: str, tmp_path: Path) -> None:
    """A motion of DeepMimic's looks at its neighbours; a glTF at its buffers; an AMC at skeletons."""
    for suffix in (".txt", ".gltf", ".amc"):
        folder = tmp_path / suffix[1:]
        folder.mkdir()
        seed = write_seed(suffix, folder)
        assert seed is not None
        make_odd(folder / "another.txt", kind)
        make_odd(folder / "another.asf", kind)
        read_clip(seed)
    buffer = next((tmp_path / "gltf").glob("*.bin"))
    buffer.unlink()
    make_odd(buffer, kind)
    with pytest.raises(FileError):
        read_clip(next((tmp_path / "gltf").glob("*.gltf")))


def test_files_are_opened_in_one_place() -> None:
    """No other module opens what a user names."""
    found = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            of = node.func.value if isinstance(node.func, ast.Attribute) else None
            module = of.id if isinstance(of, ast.Name) else ""
            if name in ("read_bytes", "read_text") and isinstance(node.func, ast.Name):
                continue  # loading's own
            opens = name in ("open", "read_bytes", "read_text", "fromfile", "loadtxt", "genfromtxt")
            if name == "open" and any(
                getattr(getattr(each, "func", None), "attr", "") == "BytesIO" for each in node.args
            ):
                continue  # bytes that loading has read
            if (opens and module not in ("os", "av", "wave", "webbrowser")) or (name == "load" and module == "np"):
                found.add(path.relative_to(SOURCES).as_posix())
    # blender's scripts run in Blender; the archive is a stream that was opened by loading
    assert {name for name in found if not name.startswith("files/formats/fbx/blender/")} - OWN == {"files/arrays.py"}


def test_sizes_are_bounded_before_anything_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.bvh"
    path.write_bytes(b"x" * 1000)
    tracemalloc.start()
    assert read_bytes(path, 1000) == b"x" * 1000
    assert read_bytes(path) == b"x" * 1000
    assert tracemalloc.get_traced_memory()[1] < 5e6  # by what is there, not by what would be allowed
    tracemalloc.stop()
    rejects(lambda: read_bytes(path, 999), "1000", "999", error=FileError)
    try:
        with path.open("wb") as stream:
            stream.truncate(10**12)  # a hole: it takes no room on the disk
    except OSError:
        pytest.skip("this disk has no files with holes")
    tracemalloc.start()
    rejects(lambda: read_bytes(path), "1000000000000", error=FileError)
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


def test_a_file_that_grows_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system says of a size is not trusted: a file may grow, and some tell 0."""
    path = tmp_path / "x"
    path.write_bytes(b"y" * 100)

    class Said:
        st_mode, st_size = path.stat().st_mode, 0

    monkeypatch.setattr(input.os, "fstat", lambda descriptor: Said)
    assert read_bytes(path, 100) == b"y" * 100
    path.write_bytes(b"y" * 101)
    monkeypatch.setattr(Path, "stat", lambda self: Said)
    with pytest.raises(FileError, match=r"more than the 100 bytes"):
        read_bytes(path, 100)


def test_folders_and_missing_files_are_told_apart(tmp_path: Path) -> None:
    for path, said in ((tmp_path, "is a folder"), (tmp_path / "no", "no such file"), (Path("a\0b"), "cannot be read")):
        with pytest.raises(FileError, match=said):
            open_input(path)


def test_poses_are_bounded_without_overflow() -> None:
    check_poses("x", 30_000, 1000)
    with pytest.raises(FileError, match=r"3000000 frames of 1000 joints .* at most 30000000 are read. Split"):
        check_poses("x", 3_000_000, 1000)
    with pytest.raises(FileError):
        check_poses("x", 2**40, 2**40)


def test_a_small_file_cannot_unpack_to_a_large_one(tmp_path: Path) -> None:
    """300 MB of zeros in 0.3 MB: refused before they are unpacked."""
    path = tmp_path / "x.npz"
    rows = 300_000_000 // (22 * 3 * 8)
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (rows, 66)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("poses", "trans"):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(head.getvalue())
                for _ in range(rows // 1000):
                    member.write(bytes(66 * 8 * 1000))
                member.write(bytes(66 * 8 * (rows % 1000)))
    assert path.stat().st_size < 1e6
    tracemalloc.start()
    rejects(lambda: read_npz(path), "'poses'", "568181", "66", "256000000", error=FileError)
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


def test_bounds_follow_the_size_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random numbers do not pack, and are read at any bound; constants are where they are few."""
    monkeypatch.setattr(arrays, "_SMALL", 20_000)
    path = tmp_path / "x.npz"
    np.savez_compressed(path, noise=np.random.default_rng(0).random(50_000))
    with NpzFile(path) as file:
        assert file.shape("noise") == (50_000,)
        assert len(file["noise"]) == 50_000
    np.savez_compressed(path, flat=np.zeros(50_000), few=np.zeros(2000))
    with NpzFile(path) as file:
        assert len(file["few"]) == 2000
        rejects(lambda: file.shape("flat"), "'flat'", error=FileError)


def test_too_many_poses_are_refused_by_the_header_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.npz"
    save_npz(random_clip(np.random.default_rng(0), frames=20, joints=5), path)
    read_npz(path)
    monkeypatch.setattr(input, "MOST_POSES", 99)
    with pytest.raises(FileError, match=r"20 frames of 5 joints are 100 poses of joints; at most 99"):
        read_npz(path)
