"""What every format keeps, whoever reads or writes it: a new line in FORMATS is under this contract at once.

In: what Poise wrote comes back; what is no such file is refused with a FileError of one sentence that begins with the
path. Out: a file appears whole or not at all.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from helpers.clips import locked_clip, random_clip
from helpers.errors import rejects
from helpers.files.seeds import reason_for_none, write_seed
from poise.errors import FileError, InputError
from poise.files.registry import FORMATS, load_clip, read_clip, read_recording, save_clip
from poise.files.writing.round_trip import read_positions
from poise.motion.clip import Clip

READABLE = [entry.suffix for entry in FORMATS if entry.read is not None]
# A .vrm is written only onto a VRM character: see test_looks.
WRITABLE = [entry.suffix for entry in FORMATS if entry.save is not None and entry.suffix != ".vrm"]
BOTH = [suffix for suffix in READABLE if suffix in WRITABLE]
# m, on a body of a few metres: what the format's numbers allow (six decimals of a degree, single precision, double).
BOUND = {".bvh": 1e-5, ".npz": 1e-12}
SINGLE_PRECISION = 5e-6

CLIPS = {
    "random": lambda: random_clip(np.random.default_rng(2)),
    "gimbal lock": locked_clip,
    "still": lambda: random_clip(np.random.default_rng(3), frames=1),
    "two frames": lambda: random_clip(np.random.default_rng(4), frames=2, joints=2),
}


def write_or_skip(suffix: str, folder: Path) -> Path:
    path = write_seed(suffix, folder)
    if path is None:
        pytest.skip(reason_for_none(suffix))
    return path


def save_or_skip(clip: Clip, path: Path) -> None:
    if path.suffix == ".fbx" and not os.environ.get("POISE_BPY_PYTHON"):
        pytest.skip(reason_for_none(".fbx"))
    if path.suffix.startswith(".usd"):
        pytest.importorskip("pxr", reason="no USD: pip install poise[usd]")
    save_clip(clip, path)


def check_refused(path: Path) -> str:
    """Reading raises a FileError of a sentence or two that begins with the path."""
    with pytest.raises(FileError) as caught:
        read_clip(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert "\n" not in said and len(said) - len(str(path)) < 400
    assert said.endswith((".", "]")), said
    return said


def check_survives(path: Path) -> None:
    """Reading gives a finite clip, or an error in words."""
    try:
        clip = read_clip(path).clip
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert np.isfinite(clip.positions).all()


def test_suffixes_are_lower_case_and_each_has_one_reader_and_writer() -> None:
    suffixes = [entry.suffix for entry in FORMATS]
    assert len(set(suffixes)) == len(suffixes)
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in suffixes)


# Both ways


@pytest.mark.parametrize("name", CLIPS)
@pytest.mark.parametrize("suffix", WRITABLE)
def test_joints_are_where_they_were(suffix: str, name: str, tmp_path: Path) -> None:
    clip = CLIPS[name]()
    path = tmp_path / f"x{suffix}"
    save_or_skip(clip, path)
    places = read_positions(path, clip.skeleton)
    assert places is not None
    np.testing.assert_allclose(places, clip.positions, atol=BOUND.get(suffix, SINGLE_PRECISION), rtol=0)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["random", "two frames"])
@pytest.mark.parametrize("suffix", BOTH)
def test_what_was_written_is_read(suffix: str, name: str, tmp_path: Path) -> None:
    """Names, tree, bones and times too; `.fbx` has no bone that sways, and no end sites."""
    clip = CLIPS[name]()
    save_or_skip(clip, tmp_path / f"x{suffix}")
    recording = read_recording(tmp_path / f"x{suffix}")
    back = recording.clip
    assert set(back.skeleton.names) == set(clip.skeleton.names)
    index = [back.skeleton.names.index(name) for name in clip.skeleton.names]
    parents = [back.skeleton.names[p] if p >= 0 else None for p in back.skeleton.parents[index]]
    assert parents == [clip.skeleton.names[p] if p >= 0 else None for p in clip.skeleton.parents]
    unit = recording.unit or 1.0
    np.testing.assert_allclose(unit * back.skeleton.offsets[index][1:], clip.skeleton.offsets[1:], atol=5e-6)
    np.testing.assert_allclose(back.times - back.times[0], clip.times, atol=1e-5)
    assert recording.choices and recording.format


@pytest.mark.parametrize("suffix", WRITABLE)
def test_the_same_clip_gives_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    if suffix == ".fbx":
        pytest.skip("FBX has the date in it")
    paths = [tmp_path / "a" / f"x{suffix}", tmp_path / "b" / f"x{suffix}"]
    for path in paths:
        path.parent.mkdir()
        save_or_skip(CLIPS["random"](), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


# In


@pytest.mark.parametrize("suffix", READABLE)
def test_a_seed_is_read(suffix: str, tmp_path: Path) -> None:
    path = write_or_skip(suffix, tmp_path)
    reading = read_clip(path)
    assert reading.recording.path == str(path)
    assert len(reading.clip) and np.isfinite(reading.clip.positions).all()
    assert load_clip(path).skeleton.names == reading.clip.skeleton.names
    again = path.with_name("Ünlike name 1.2").with_suffix(suffix.upper())
    if suffix not in (".amc", ".fbx"):  # these look for, or start, something beside
        path.rename(again)
        assert read_clip(again).clip.skeleton.names == reading.clip.skeleton.names


@pytest.mark.parametrize("suffix", READABLE)
def test_an_unknown_clip_is_told(suffix: str, tmp_path: Path) -> None:
    path = write_or_skip(suffix, tmp_path)
    rejects(lambda: read_recording(path, "no such clip"), "'no such clip'")


@pytest.mark.parametrize("suffix", READABLE)
def test_what_is_not_there_is_told(suffix: str, tmp_path: Path) -> None:
    assert "no such file" in check_refused(tmp_path / f"none{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    assert "is a folder" in check_refused(tmp_path / f"folder{suffix}")
    check_refused(tmp_path / f"{'x' * 300}{suffix}")


@pytest.mark.parametrize("suffix", READABLE)
def test_what_may_not_be_read_is_told(suffix: str, tmp_path: Path) -> None:
    path = write_or_skip(suffix, tmp_path)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("whoever runs this may read everything")
    assert "cannot be read" in check_refused(path)


GARBAGE = {
    "empty": b"",
    "blank": b" \r\n\t\n",
    "zeros": bytes(100_000),
    "noise": np.random.default_rng(0).bytes(20_000),
    "letters": b"A" * 1_000_000,
    "braces": b"{" * 200_000,
    "brackets": b"[" * 200_000,
    "nested": b'{"a":' * 100_000,
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(64),
    "a zip": b"PK\x03\x04" + bytes(64),
    "a page": b"<!DOCTYPE html><html><body>404</body></html>",
    "utf-16": "HIERARCHY".encode("utf-16"),
    "half a letter": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("what", GARBAGE)
@pytest.mark.parametrize("suffix", READABLE)
def test_garbage_is_refused(suffix: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(GARBAGE[what])
    check_refused(path)


@pytest.mark.parametrize("suffix", READABLE)
def test_a_file_that_is_cut_is_refused_or_read(suffix: str, tmp_path: Path) -> None:
    """Text may be cut behind its last number without harm; in the middle nothing may be."""
    path = write_or_skip(suffix, tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    check_refused(path)
    cuts = range(0, len(whole), max(1, len(whole) // 60)) if suffix != ".fbx" else ()
    for cut in cuts:
        path.write_bytes(whole[:cut])
        check_survives(path)


@pytest.mark.parametrize("suffix", READABLE)
def test_files_of_other_formats_are_refused_or_read(suffix: str, tmp_path: Path) -> None:
    """A wrong suffix: the file may be understood (VRM is GLB), but nothing may break."""
    for other in READABLE:
        folder = tmp_path / other.removeprefix(".")
        folder.mkdir()
        path = write_seed(other, folder) if other != suffix else None
        if path is not None:
            wrong = path.with_name("wrong").with_suffix(suffix)
            path.rename(wrong)
            check_survives(wrong)


def test_unknown_suffixes_are_told(tmp_path: Path) -> None:
    for name in ("x.xyz", "x", ".bvh", "x."):
        (tmp_path / name).write_text("HIERARCHY")
        with pytest.raises(FileError, match="cannot be read as animation; it can be: "):
            read_clip(tmp_path / name)
        with pytest.raises(FileError, match="cannot be written as animation; it can be: "):
            save_clip(CLIPS["random"](), tmp_path / name)


# Out


@pytest.mark.parametrize("suffix", WRITABLE)
def test_what_cannot_be_written_is_told_and_nothing_is_left(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = CLIPS["two frames"]()
    good = tmp_path / f"good{suffix}"
    save_or_skip(clip, good)
    before = good.read_bytes()
    (tmp_path / f"folder{suffix}").mkdir()
    for path, sentence in (
        (tmp_path / f"folder{suffix}", "it is a folder"),
        (tmp_path / "none" / f"x{suffix}", "does not exist"),
        (good / f"x{suffix}", "is a file, not a folder"),
    ):
        with pytest.raises(FileError, match=sentence):
            save_clip(clip, path)

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileError, match="No space left on device"):
        save_clip(CLIPS["random"](), good)
    assert good.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([f"folder{suffix}", f"good{suffix}"])


@pytest.mark.parametrize("suffix", WRITABLE)
def test_a_folder_that_may_not_be_written_to_is_told(suffix: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("whoever runs this may write everywhere")
    with pytest.raises(FileError, match="does not allow it"):
        save_or_skip(CLIPS["two frames"](), tmp_path / f"x{suffix}")
