"""`--bones keep|restore`. Forward kinematics of this file's own measure how far restored bones move joints."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.bodies import make_human
from helpers.errors import rejects
from poise.body.role_finding.guess import with_roles
from poise.cli import main
from poise.files.formats.bvh.clip import save_bvh
from poise.files.registry import read_clip
from poise.motion.samples import walk


def read_places(path: Path) -> tuple[list[str], np.ndarray]:
    """Names of joints and their places (F, J, 3) in a BVH file, in its own units."""
    head, motion = path.read_text().split("MOTION")
    names: list[str] = []
    parents: list[int] = []
    offsets: list[list[float]] = []
    channels: list[list[str]] = []
    open_joints: list[int] = []
    is_end = False
    for words in (line.split() for line in head.splitlines() if line.strip()):
        if words[0] in ("ROOT", "JOINT"):
            parents.append(open_joints[-1] if open_joints else -1)
            names.append(words[1])
            channels.append([])
        elif words[0] == "End":
            is_end = True
        elif words[0] == "{":
            open_joints.append(-1 if is_end else len(names) - 1)
        elif words[0] == "}":
            open_joints.pop()
            is_end = False
        elif words[0] == "OFFSET" and not is_end:
            offsets.append([float(word) for word in words[1:]])
        elif words[0] == "CHANNELS":
            channels[-1] = words[2:]
    rows = motion.split("Frame Time:")[1].strip().splitlines()[1:]
    values = iter(np.array([row.split() for row in rows], float).T)
    places, turns = [], []
    for j, parent in enumerate(parents):
        shift, turn = np.tile(offsets[j], (len(rows), 1)), np.tile(np.eye(3), (len(rows), 1, 1))
        moved = np.zeros((len(rows), 3))
        for channel in channels[j]:
            axis, value = "XYZ".index(channel[0]), next(values)
            if channel.endswith("position"):
                moved[:, axis] = value
                continue
            one = np.zeros((len(rows), 3, 3))
            a, b = (axis + 1) % 3, (axis + 2) % 3
            one[:, axis, axis] = 1.0
            one[:, a, a] = one[:, b, b] = np.cos(np.radians(value))
            one[:, b, a] = np.sin(np.radians(value))
            one[:, a, b] = -one[:, b, a]
            turn = turn @ one
        if any(channel.endswith("position") for channel in channels[j]):
            shift = moved if parent < 0 else shift + moved
        if parent >= 0:
            shift = places[parent] + np.einsum("fij,fj->fi", turns[parent], shift)
            turn = turns[parent] @ turn
        places.append(shift)
        turns.append(turn)
    return names, np.stack(places, axis=1)


@pytest.fixture
def lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A walk in centimetres whose neck and shoulders sit on the chest, as in the CMU database."""
    monkeypatch.chdir(tmp_path)
    human = make_human(1.75)
    offsets = human.offsets.copy()
    offsets[[human.names.index(name) for name in ("neck", "leftShoulder", "rightShoulder")]] = 0.0
    clip = walk(with_roles(human), 3.0, fps=30.0).pick(slice(0, 40))
    clip = clip.replace(skeleton=clip.skeleton.replace(offsets=offsets)).scaled(100.0)
    save_bvh(clip, tmp_path / "lost.bvh")
    return tmp_path / "lost.bvh"


def ask(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    capsys.readouterr()
    assert main([str(word) for word in (*words, "--json", "--quiet")]) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_convert_keeps_bones_by_default_and_reports_how_far_restored_ones_move_joints(
    lost: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names, before = read_places(lost)
    figures = {}
    for bones, words in (("keep", ()), ("keep", ("--bones", "keep")), ("restore", ("--bones", "restore"))):
        figures = ask(capsys, "convert", lost, "out.bvh", *words)
        after_names, after = read_places(Path("out.bvh"))
        assert after_names == names
        assert figures["bones"] == bones and figures["max_joint_error_m"] < 1e-5
        moved = np.linalg.norm(after - 0.01 * before, axis=-1)
        assert figures["restored_bones_error_m"] == pytest.approx(moved.max(), abs=1e-5)
        if bones == "keep":
            assert moved.max() < 1e-5
    assert figures["restored_bones_error_m"] > 0.05
    assert figures["lost_bones"] == ["upperChest"]


COMMANDS = {
    "info": ("info", "lost.bvh"),
    "forces": ("forces", "lost.bvh", "-o", "new.csv"),
    "balance": ("balance", "lost.bvh", "-o", "new.npz"),
    "mix": ("mix", "lost.bvh", "-o", "new.bvh", "--base", "kinematic", "--physical", "head"),
    "retarget": ("retarget", "lost.bvh", "lost.bvh", "-o", "new.npz"),
    "strength": ("strength", "find", "lost.bvh"),
    "edit": ("edit", "edit.toml", "-o", "new.bvh"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_reads_a_clip_takes_bones(
    command: str, lost: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("edit.toml").write_text('format = "poise-edit 1"\nsequence = ["a"]\n[clips.a]\nfile = "lost.bvh"\n')
    moved = ask(capsys, "convert", lost, "out.bvh", "--bones", "restore")["restored_bones_error_m"]
    for words, expected in (((), 0.0), (("--bones", "keep"), 0.0), (("--bones", "restore"), moved)):
        found = ask(capsys, *COMMANDS[command], *words)
        assert found["restored_bones_error_m"] == pytest.approx(expected, abs=1e-6)
        assert found["lost_bones"] == ["upperChest"]


def test_result_of_a_mix_has_the_bones_of_the_file(lost: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Head and arms follow the clip, so that they are where the file has them."""
    names, before = read_places(lost)
    ask(capsys, "mix", lost, "-o", "new.bvh", "--base", "kinematic", "--physical", "leftHand")
    after_names, after = read_places(Path("new.bvh"))
    order = [after_names.index(name) for name in names]
    np.testing.assert_allclose(after[:, order], 0.01 * before, atol=1e-4)


def test_warning_names_joints_distance_and_option(lost: Path) -> None:
    (kept,) = (w for w in read_clip(lost).warnings if w.startswith("lost bones"))
    assert "upperChest" in kept and "--bones restore" in kept
    reading = read_clip(lost, bones="restore")
    (restored,) = (w for w in reading.warnings if w.startswith("lost bones"))
    assert "upperChest" in restored and "--bones keep" in restored
    assert f"{1e3 * reading.restored_error:.0f} mm" in restored


def test_stature_and_mass_do_not_depend_on_the_option(lost: Path) -> None:
    kept, restored = (poise.info(lost, bones=bones) for bones in ("keep", "restore"))
    for key in ("scale_to_m", "stature_m", "mass_kg", "roles", "up"):
        assert kept[key] == pytest.approx(restored[key]) if key.endswith("_m") else kept[key] == restored[key]


def test_whole_body_has_no_lost_bones(tmp_path: Path) -> None:
    save_bvh(walk(with_roles(make_human(1.75)), 3.0, fps=30.0), tmp_path / "whole.bvh")
    for bones in ("keep", "restore"):
        found = poise.info(tmp_path / "whole.bvh", bones=bones)
        assert found["lost_bones"] == [] and found["restored_bones_error_m"] == 0.0


def test_rejects_unknown_bones(lost: Path) -> None:
    rejects(lambda: poise.load_clip(lost, bones="mend"), "'mend'")


def test_recipe_has_bones(lost: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("mix", lost, "-o", "new.bvh", "--base", "kinematic", "--physical", "head")
    ask(capsys, *words, "--bones", "restore", "--save-recipe", "new.toml")
    assert 'bones = "restore"' in Path("new.toml").read_text()
    assert ask(capsys, "mix", "--recipe", "new.toml", "-o", "again.bvh")["bones"] == "restore"
    assert Path("again.bvh").read_bytes() == Path("new.bvh").read_bytes()
