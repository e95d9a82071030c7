"""FBX by way of Blender: round trips, what Blender's own importer shows, and every way in which it can fail."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.bodies import make_human
from helpers.clips import locked_clip, random_clip
from helpers.errors import rejects
from helpers.external.blender import check_shown, find_bpy_python
from poise.body.geometry.mannequin import build_mannequin
from poise.body.role_finding.guess import with_roles
from poise.errors import FileError
from poise.files.formats.fbx import fbx
from poise.files.formats.fbx.fbx import round_rate
from poise.files.registry import read_recording, save_clip
from poise.motion.samples import walk

CLIPS = {
    "walk": lambda: walk(with_roles(make_human(1.75)), 4.0),
    "random": lambda: random_clip(np.random.default_rng(2)),
    "gimbal lock": locked_clip,
    "still": lambda: random_clip(np.random.default_rng(3), frames=1),
    "film": lambda: random_clip(np.random.default_rng(4)).replace(times=np.arange(20) / 23.976),
    "odd rate": lambda: random_clip(np.random.default_rng(5)).replace(times=np.arange(20) / 47.3),
}


@pytest.mark.parametrize("name", CLIPS)
def test_out_and_in_again(name: str, tmp_path: Path) -> None:
    find_bpy_python()
    clip = CLIPS[name]()
    path = tmp_path / "x.fbx"
    meshes = build_mannequin(clip.skeleton, 70.0) if name == "walk" else None
    save_clip(clip, path, meshes=meshes)
    assert path.read_bytes().startswith(b"Kaydara FBX Binary")
    rounded = clip.replace(times=clip.times * clip.fps / round_rate(clip.fps)) if clip.fps else clip
    check_shown(path, rounded)
    recording = read_recording(path)
    assert (recording.format, recording.path) == ("FBX", str(path))
    back = recording.clip
    index = [back.skeleton.names.index(joint) for joint in clip.skeleton.names]
    assert len(back) == len(clip)
    np.testing.assert_allclose(back.times, clip.times - clip.times[0], atol=1e-4)
    places = back.positions[:, index] * (recording.unit or 1.0)
    np.testing.assert_allclose(places, clip.positions, atol=1e-4)


def fake_blender(folder: Path, body: str) -> Path:
    """A program that stands in for Blender."""
    program = folder / "blender"
    program.write_text(f"#!{sys.executable}\nimport sys, time\n{body}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No Blender anywhere; an empty folder."""
    for name in ("POISE_BLENDER", "POISE_BPY_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "in.fbx").write_bytes(b"Kaydara FBX Binary  \x00\x1a\x00" + bytes(100))
    return tmp_path


def check_nothing_written(folder: Path) -> None:
    assert not (folder / "out.fbx").exists()
    assert not [p for p in folder.iterdir() if p.suffix == ".tmp"]


def test_without_blender_a_sentence_says_what_to_do(alone: Path) -> None:
    for call in (lambda: read_recording(alone / "in.fbx"), lambda: save_clip(locked_clip(), alone / "out.fbx")):
        with pytest.raises(FileError, match=r"Install Blender, or set POISE_BLENDER .* or use glTF"):
            call()
    check_nothing_written(alone)


@pytest.mark.parametrize("variable", ["POISE_BLENDER", "POISE_BPY_PYTHON"])
def test_a_wrong_path_to_blender_is_told(alone: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, str(alone / "nothing"))
    with pytest.raises(FileError, match=f"{variable} is '.*nothing', which is no program"):
        read_recording(alone / "in.fbx")


@pytest.mark.skipif(sys.platform == "win32", reason="stands in for Blender with a script")
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("print('Error: bad curve'); print('Blender quit'); sys.exit(1)", r"could not convert it: Error: bad curve\."),
        ("sys.exit(0)", "could not convert it: it said nothing"),
        ("open(sys.argv[-1], 'wb').write(b'junk')", "in.fbx: "),
        ("time.sleep(60)", "did not finish within 0.5 s"),
    ],
)
def test_a_blender_that_fails_is_told(alone: Path, monkeypatch: pytest.MonkeyPatch, body: str, sentence: str) -> None:
    fake_blender(alone, body)
    monkeypatch.setattr(fbx, "_TIMEOUT", 0.5 if "sleep" in body else 60.0)
    with pytest.raises(FileError, match=sentence) as caught:
        read_recording(alone / "in.fbx")
    assert str(caught.value).startswith(str(alone / "in.fbx"))
    assert "poise-" not in str(caught.value)
    if "junk" not in body:
        with pytest.raises(FileError):
            save_clip(locked_clip(), alone / "out.fbx")
        check_nothing_written(alone)


@pytest.mark.skipif(sys.platform == "win32", reason="stands in for Blender with a script")
def test_blender_is_called_with_words_of_its_own(alone: Path) -> None:
    """A file called like an option is no option: paths are whole, and stand behind `--`."""
    fake_blender(alone, "open(sys.argv[0] + '.log', 'w').write('\\n'.join(sys.argv[1:])); sys.exit(1)")
    odd = alone / "--python-expr.fbx"
    odd.write_bytes((alone / "in.fbx").read_bytes())
    with pytest.raises(FileError):
        read_recording(odd)
    words = (alone / "blender.log").read_text().split("\n")
    assert words[:2] == ["--background", "--factory-startup"]
    assert words[words.index("--") + 1] == str(odd)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the file is empty"),
        (b"; FBX 7.4.0 project file\n", "text form"),
        (b"garbage", "not an FBX file"),
    ],
)
def test_what_is_no_fbx_is_refused_before_blender_is_asked(alone: Path, data: bytes, sentence: str) -> None:
    (alone / "in.fbx").write_bytes(data)
    with pytest.raises(FileError, match=sentence):
        read_recording(alone / "in.fbx")


def test_garbage_behind_the_right_beginning_is_refused(tmp_path: Path) -> None:
    find_bpy_python()
    (tmp_path / "x.fbx").write_bytes(b"Kaydara FBX Binary  \x00\x1a\x00" + bytes(range(256)) * 8)
    rejects(lambda: read_recording(tmp_path / "x.fbx"), "x.fbx:", error=FileError)


def test_nothing_of_blender_is_loaded_here() -> None:
    assert "bpy" not in sys.modules
