"""Files of a part of a body, through the commands: what is told, what is written, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers.files.c3d import make_c3d
from helpers.markers import HEIGHT, SETS, put_markers, walking_body
from poise.cli import main
from poise.files.registry import read_clip

WALK = walking_body(3.0, 60.0)
LOWER = SETS["Plug-in Gait, lower body"]
ONE_LEG = {k: v for k, v in LOWER.items() if v[1:] in ("ASI", "PSI") or v[0] == "R"}
UPPER = {k: v for k, v in SETS["Plug-in Gait"].items() if k not in LOWER}


def write(folder: Path, labels: dict[str, str]) -> Path:
    path = folder / "part.c3d"
    points = 1000.0 * put_markers(WALK, list(labels.values()))
    path.write_bytes(make_c3d(points, list(labels), 60.0, groups={"POINT": {"UNITS": ["mm"]}}, first=0))
    return path


def run(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[dict[str, Any], str]:
    """The object on standard output and the words on standard error."""
    assert main([*map(str, words), "--json"]) == 0
    out, err = capsys.readouterr()
    return json.loads(out), err


@pytest.mark.parametrize(
    ("labels", "joints", "source"),
    [
        (LOWER, 7, "estimated from the legs"),
        (ONE_LEG, 4, "estimated from the leg"),
        (UPPER, 11, "estimated from the arms"),
        (SETS["Plug-in Gait"], 19, "measured"),
    ],
)
def test_info_says_how_tall_and_how_that_is_known(
    labels: dict[str, str], joints: int, source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, err = run(capsys, "info", write(tmp_path, labels))
    assert found["joints"] == joints == len(found["roles"])
    assert found["stature_source"] == source
    assert found["stature_m"] == pytest.approx(HEIGHT, rel=0.05)
    assert ("stature: " in err) == (source != "measured")
    assert ("are not built" in err) == (joints < 19)
    assert main(["info", str(tmp_path / "part.c3d"), "--quiet"]) == 0
    assert ("estimated" in capsys.readouterr().out) == (source != "measured")


def test_a_hand_alone_has_no_stature(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hand = tmp_path / "rope.bvh"
    link = "{0}\n{{\nOFFSET 0 {1} 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
    joints = [link.format(f"{'ROOT' if i == 0 else 'JOINT'} x{i}", 3 * (i > 0)) for i in range(3)]
    text = "HIERARCHY\n" + "".join(joints) + "End Site\n{\nOFFSET 0 3 0\n}\n" + "}\n" * 3
    hand.write_text(text + "MOTION\nFrames: 2\nFrame Time: 0.02\n" + ("0 " * 9 + "\n") * 2)
    found, err = run(capsys, "info", hand)
    assert found["stature_m"] is None and found["stature_source"] is None and found["mass_guess_kg"] is None
    assert "stature: unknown" in err
    assert main(["info", str(hand), "--quiet"]) == 0
    assert "of unknown stature" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", [".bvh", ".glb"])
@pytest.mark.parametrize("labels", [LOWER, ONE_LEG, UPPER])
def test_convert_writes_what_there_is(
    labels: dict[str, str], suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, labels)
    found, _ = run(capsys, "convert", path, tmp_path / f"out{suffix}")
    assert found["max_joint_error_m"] < 1e-5
    names = read_clip(path).clip.skeleton.names
    assert set(read_clip(tmp_path / f"out{suffix}").clip.skeleton.names) == set(names)


def test_forces_of_a_lower_body_say_what_moves_with_the_hips(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, err = run(capsys, "forces", write(tmp_path, LOWER), "-o", tmp_path / "out.csv", "--mass", "72")
    assert 1.0 < found["peak_vertical_bw"] < 1.6
    assert "the mass of trunk, arms and head moves with the hips" in err


@pytest.mark.parametrize("labels", [ONE_LEG, UPPER])
@pytest.mark.parametrize("words", [["forces", "-o", "out.csv"], ["mix", "-o", "out.glb"]])
def test_a_body_without_both_legs_is_refused(
    words: list[str], labels: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, option, name = words
    assert main([command, str(write(tmp_path, labels)), option, str(tmp_path / name), "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "a human body needs" in err and "Traceback" not in err
    assert not (tmp_path / name).exists()
