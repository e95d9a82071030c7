"""`poise info` and `poise convert` on files made here: what they find, what they were told, what they measure."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.bodies import make_human
from helpers.errors import rejects
from helpers.recordings import data_file
from poise.body.skeleton import Skeleton
from poise.cli import main
from poise.errors import FileError, InputError
from poise.files.formats.bvh.clip import read_bvh, save_bvh
from poise.files.formats.gltf.write import save_glb
from poise.files.reading.options import parse_roles
from poise.files.registry import load_clip
from poise.files.writing.round_trip import read_positions
from poise.motion.clip import Clip
from poise.spatial import rotation

INFO_KEYS = {
    "format",
    "joints",
    "frames",
    "fps",
    "duration_s",
    "scale_to_m",
    "up",
    "stature_m",
    "roles",
    "unmapped",
    "warnings",
}


def make_clip(skeleton: Skeleton, frames: int = 12, fps: float = 30.0) -> Clip:
    """Any large motion: turns up to most of half a turn at every joint, the root away from the origin."""
    rng = np.random.default_rng(5)
    turns = rotation.exp(rng.normal(scale=0.9, size=(frames, len(skeleton), 3)))
    return Clip(skeleton, np.arange(frames) / fps, rng.normal(size=(frames, 3)) + [3.0, 1.0, -2.0], turns, "any")


def breadth_first(skeleton: Skeleton) -> Skeleton:
    """The same tree with its joints listed level by level: an order that BVH does not keep."""
    order = sorted(range(len(skeleton)), key=lambda i: len(skeleton.chain(i)))
    new = {old: i for i, old in enumerate(order)}
    parents = [-1 if skeleton.parents[i] < 0 else new[int(skeleton.parents[i])] for i in order]
    return Skeleton(tuple(skeleton.names[i] for i in order), parents, skeleton.offsets[order], skeleton.tips[order])


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    path = tmp_path / "walk.bvh"
    save_bvh(make_clip(make_human(1.75)), path)
    return path


@pytest.fixture
def smooth(tmp_path: Path) -> Path:
    """The file of a motion without glitches: every joint turns a little from frame to frame."""
    skeleton, frames = make_human(1.75), np.arange(12)
    turns = rotation.exp(0.02 * frames[:, None, None] * np.random.default_rng(5).normal(size=(len(skeleton), 3)))
    path = tmp_path / "walk.bvh"
    save_bvh(Clip(skeleton, frames / 30.0, 0.01 * frames[:, None] + [3.0, 1.0, -2.0], turns, "any"), path)
    return path


def ask(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    assert main([*map(str, words), "--json"]) == 0
    found: dict = json.loads(capsys.readouterr().out)
    return found


def test_info_has_its_keys_and_is_right(capsys: pytest.CaptureFixture[str], smooth: Path) -> None:
    found = ask(capsys, "info", smooth)
    assert set(found) >= INFO_KEYS
    assert (found["format"], found["frames"], found["up"], found["scale_to_m"]) == ("BVH", 12, "Y", 1.0)
    assert found["joints"] == len(make_human(1.75))
    assert found["fps"] == pytest.approx(30.0)
    assert found["duration_s"] == pytest.approx(11 / 30)
    assert found["stature_m"] == pytest.approx(1.75, rel=0.08)
    assert found["roles"] == dict(make_human(1.75).roles)
    assert found["unmapped"] == found["warnings"] == []


def test_info_says_what_it_guessed_and_how_to_override_it(capsys: pytest.CaptureFixture[str], smooth: Path) -> None:
    assert main(["info", str(smooth)]) == 0
    err = capsys.readouterr().err
    assert "--scale" in err and "--up" in err
    assert main(["info", str(smooth), "--scale", "1", "--up", "Y"]) == 0
    assert capsys.readouterr().err == ""


def test_options_go_before_what_the_file_says(capsys: pytest.CaptureFixture[str], walk: Path) -> None:
    plain = ask(capsys, "info", walk)
    told = ask(capsys, "info", walk, "--height", 1.2, "--fps", 120, "--roles", "leftToes=rightToes", "--clip", "walk")
    assert told["stature_m"] == pytest.approx(1.2)
    assert told["scale_to_m"] == pytest.approx(1.2 / plain["stature_m"])
    assert told["duration_s"] == pytest.approx(11 / 120)
    assert told["roles"]["leftToes"] == "rightToes"
    assert "leftToes" in told["unmapped"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--fps", "-3"], "--fps must be from 0.1 to 100000 frames a second; got -3."),
        (["--height", "nan"], "--height must be from 0.3 to 3 m; got nan."),
        (["--scale", "0"], "--scale must be from 1e-06 to 1e+06 metres a unit; got 0."),
        (["--up", "W"], "--up"),
        (["--clip", "run"], "clip 'run' is not in"),
        (["--roles", "leftFot=x"], "Did you mean 'leftFoot'?"),
        (["--roles", "leftFoot=Nobody"], "Nobody"),
        (["--roles", "leftFoot"], "role=joint"),
    ],
)
def test_a_bad_option_is_refused(
    capsys: pytest.CaptureFixture[str], walk: Path, words: list[str], sentence: str
) -> None:
    assert main(["info", str(walk), *words, "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


def test_roles_from_words_and_files(tmp_path: Path) -> None:
    toml, wrong = tmp_path / "roles.toml", tmp_path / "wrong.json"
    toml.write_text('hips = "Root"\nleftFoot = "a=b"\n')
    wrong.write_text('{"hips": 3}')
    assert parse_roles(["leftHand=L Hand,rightHand=R", str(toml), "hips=Pelvis"]) == {
        "leftHand": "L Hand",
        "rightHand": "R",
        "hips": "Pelvis",
        "leftFoot": "a=b",
    }
    for bad in ("=x", "hips=", "hips=a,b"):
        with pytest.raises(InputError, match="role=joint"):
            parse_roles([bad])
    with pytest.raises(FileError, match="pairs of role and joint"):
        parse_roles([str(wrong)])
    wrong.write_text("{")
    rejects(lambda: parse_roles([str(wrong)]), "wrong.json", error=FileError)


@pytest.mark.parametrize("suffix", [".bvh", ".glb"])
def test_convert_measures_what_it_wrote(
    capsys: pytest.CaptureFixture[str], walk: Path, tmp_path: Path, suffix: str
) -> None:
    output = tmp_path / f"out{suffix}"
    found = ask(capsys, "convert", walk, output, "--scale", 1, "--up", "Y")
    assert found["frames"] == 12
    error = np.linalg.norm(
        read_positions(output, load_clip(walk).skeleton) - load_clip(walk, 1.0, "Y").positions, axis=-1
    )
    assert found["max_joint_error_m"] == pytest.approx(error.max())
    assert found["max_joint_error_m"] < 1e-5


@pytest.mark.parametrize("suffix", [".bvh", ".glb"])
def test_positions_come_back_in_the_order_that_was_written(tmp_path: Path, suffix: str) -> None:
    clip = make_clip(breadth_first(make_human(1.75)))
    path = tmp_path / f"clip{suffix}"
    save_bvh(clip, path) if suffix == ".bvh" else save_glb(clip, path)
    assert np.abs(read_positions(path, clip.skeleton) - clip.positions).max() < 1e-5


def test_a_wrong_file_is_seen(tmp_path: Path) -> None:
    """Another motion, a shifted root and a cut file: the read-back is no echo of what was meant."""
    clip, path = make_clip(make_human(1.75)), tmp_path / "clip.glb"
    save_glb(clip.replace(root=clip.root + [0.0, 0.25, 0.0]), path)
    off = read_positions(path, clip.skeleton) - clip.positions
    assert off == pytest.approx(np.broadcast_to([0.0, 0.25, 0.0], off.shape), abs=1e-5)
    path.write_bytes(path.read_bytes()[:-8])
    rejects(lambda: read_positions(path, clip.skeleton), "GLB", error=FileError)


def test_a_still_clip_keeps_its_frames(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """All joints still, the root moving: constant channels have one key, the others one a frame."""
    skeleton = make_human(1.75)
    clip = make_clip(skeleton).replace(rotations=rotation.identity((12, len(skeleton))))
    save_bvh(clip, tmp_path / "still.bvh")
    assert ask(capsys, "convert", tmp_path / "still.bvh", tmp_path / "still.glb")["frames"] == 12


@pytest.mark.data
@pytest.mark.parametrize("suffix", [".bvh", ".glb"])
def test_a_recording_is_converted_within_ten_micrometres(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str
) -> None:
    found = ask(capsys, "convert", data_file("bvh-cmu/07_01.bvh"), tmp_path / f"walk{suffix}")
    assert found["frames"] == 317
    assert found["max_joint_error_m"] < 1e-5


@pytest.mark.data
def test_convert_keeps_frames_and_bones_unless_asked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The file has an added T-pose and lost bones."""
    path = data_file("bvh-cmu/07_01.bvh")
    ask(capsys, "convert", path, tmp_path / "same.bvh")
    before, after = (read_bvh(file).clip for file in (path, tmp_path / "same.bvh"))
    assert after.skeleton.names == before.skeleton.names
    np.testing.assert_allclose(after.positions, before.positions * (0.0254 / 0.45), atol=1e-5)
    found = ask(capsys, "convert", path, tmp_path / "restored.bvh", "--bones", "restore")
    moved = read_bvh(tmp_path / "restored.bvh").clip.positions - after.positions
    assert found["frames"] == 317 and found["max_joint_error_m"] < 1e-5
    assert found["restored_bones_error_m"] == pytest.approx(np.linalg.norm(moved, axis=-1).max(), abs=1e-5)
    assert found["restored_bones_error_m"] > 0.1


def test_a_conversion_onto_its_own_input_is_refused(capsys: pytest.CaptureFixture[str], walk: Path) -> None:
    before = walk.read_bytes()
    assert main(["convert", str(walk), str(walk), "--quiet"]) == 2
    assert "would overwrite the input" in capsys.readouterr().err
    assert walk.read_bytes() == before
