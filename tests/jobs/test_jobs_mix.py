"""`poise.mix` and its siblings: the same bytes and figures as the commands, and sentences for what cannot be."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from poise.cli import main
from poise.files.character import save_character
from poise.motion import samples
from poise.world.scenery import Scenery

BODY = poise.Character.human(1.75, 75, preset="mix")
CLIP = samples.idle(BODY.skeleton, 0.5)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a clip, a body and a stage file, where the test is."""
    poise.save_clip(CLIP, tmp_path / "idle.bvh")
    save_character(
        poise.Character.from_skeleton(poise.load_clip(tmp_path / "idle.bvh").skeleton, 66.0), tmp_path / "body.json"
    )
    (tmp_path / "room.toml").write_text(
        '[ground]\nfriction = 0.9\n[[props]]\nname = "box"\nshape = "box"\nsize = [0.3, 0.3, 0.3]\nmass = 5.0\n'
        "position = [0.0, 0.15, 1.0]\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
    code = main([*words, "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else {}, said.err


CASES: dict[str, tuple[list[str], dict[str, Any], list[str]]] = {
    "as usual": ([], {}, ["out.glb"]),
    "loads, pushes and things": (
        ["--load", "rightHand=1.5", "--push", "t=0.1 spine 0,0,30 0.1s", "--gain", "0.5", "--stage", "room.toml",
         "--physical", "legs,trunk", "--stiffness", "2", "--height", "1.6", "--fps", "25", "--engine", "mujoco"],
        {"loads": poise.Load("rightHand", 1.5), "pushes": [poise.Push("spine", (0, 0, 30), 0.1, 0.1)], "gain": 0.5,
         "scenery": "room.toml", "physical": ["legs", "trunk"], "stiffness": 2.0, "height": 1.6, "fps": 25.0,
         "engine": "mujoco"},
        ["out.take.npz", "out.png", "out.toml"],
    ),
    "a body of its own, pinned": (
        ["--pin", "--dt", "0.004", "--character", "body.json", "--roles", "hips=hips,head=head"],
        {"pinned": True, "dt": 0.004, "character": "body.json", "roles": {"hips": "hips", "head": "head"}},
        ["out.npz"],
    ),
    "legs and trunk by the paper's coupling": (
        ["--couple", "paper", "--torque-only", "--gain", "0.7", "--physical", "legs,trunk", "--mass", "60"],
        {"couple": "paper", "torque_only": True, "gain": 0.7, "physical": "legs,trunk", "mass": 60.0},
        ["out.bvh"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.many(1)
def test_a_mix_in_python_writes_what_the_command_does(
    case: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, said, outputs = CASES[case]
    for option, name in zip(("-o", "--plot", "--save-recipe"), outputs, strict=False):
        words = [*words, option, name]
    code, figures, err = command(capsys, "mix", "idle.bvh", *words)
    theirs = {name: (place / name).read_bytes() for name in outputs}
    for name in outputs:
        (place / name).unlink()
    told: list[tuple[str, str]] = []
    found = poise.mix("idle.bvh", **said, outputs=outputs, tell=lambda kind, sentence: told.append((kind, sentence)))
    assert {name: (place / name).read_bytes() for name in outputs} == theirs
    assert sorted(found.files) == sorted(map(Path, outputs))
    fast = ("realtime_factor", "file")
    assert len(figures.pop("warnings", [])) == len(found.warnings)
    assert {k: v for k, v in found.figures.items() if k not in fast} == {
        k: v for k, v in figures.items() if k not in fast
    }
    assert code == int(found.fell)
    assert [sentence for kind, sentence in told if kind == "warning"] == list(found.warnings)
    # the same sentences, but for how options are written
    assert len(err.splitlines()) == len(found.notes) + len(found.warnings)
    assert "--" in err or case != "as usual"
    assert not any("--" in note for note in found.notes)


@pytest.mark.slow
def test_a_recipe_and_a_clip_that_is_no_file_give_the_same(place: Path) -> None:
    said: dict[str, Any] = {"pushes": "t=0.1 spine 0,0,30 0.1s", "loads": "rightHand=1"}
    first = poise.mix("idle.bvh", **said, outputs=["a.glb", "a.bvh", "r.toml"])
    assert "motion = " in (place / "r.toml").read_text()
    assert poise.mix(recipe="r.toml", outputs="b.glb").files == (Path("b.glb"),)
    again = poise.mix(poise.load_clip("idle.bvh"), **said, outputs="c.glb")
    assert (place / "a.glb").read_bytes() == (place / "b.glb").read_bytes() == (place / "c.glb").read_bytes()
    turned = np.abs(np.sum(poise.load_clip("a.bvh").rotations * again.clip.rotations, axis=-1))
    np.testing.assert_allclose(turned, 1.0, atol=1e-12)
    assert again.take.actor().character.mass == first.take.actor().character.mass
    assert pickle.loads(pickle.dumps(again)).figures == again.figures


def test_without_outputs_nothing_is_written_and_all_is_measured(place: Path) -> None:
    before = sorted(place.iterdir())
    found = poise.mix(
        CLIP, character=BODY, ground=poise.Ground(0.0), props=poise.Prop.sphere("ball", 0.1, 1, (0, 1, 2))
    )
    assert sorted(place.iterdir()) == before
    assert found.files == () and not found.fell and found.figures["measured_on"] == "the poses: nothing was written"
    assert found.figures["mass_kg"] == BODY.mass and found.ground == 0.0
    fallen = found.take.props["ball"][[0, -1], 1]
    # free fall for 0.5 s would be 1.23 m: it lies on the ground
    assert fallen[0] == 1.0 and abs(fallen[1] - 0.1) < 0.02


def test_a_whole_body_is_physical_but_for_its_root(place: Path) -> None:
    found = poise.mix(CLIP, character=BODY, physical="body")
    assert found.kinematic == [] and found.physical == list(range(len(BODY.skeleton))) and not found.fell


def test_a_simulation_that_breaks_off_says_so_and_keeps_its_last_states(place: Path) -> None:
    found = poise.mix(CLIP, character=BODY, pushes=poise.Push("hips", (0.0, 0.0, 1e10), 0.1, 0.2))
    assert found.fell and found.fell_at is None and found.last is not None
    assert found.figures["frames"] == len(found.clip) < len(CLIP)
    assert found.warnings[-1] == found.figures["fell_why"]
    assert "became non-finite at t=" in found.warnings[-1] and "A smaller dt, a lower gain" in found.warnings[-1]
    assert not list(place.glob("nonfinite*"))


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no clip": (lambda: poise.mix(), "no clip was given. Name a motion file, or a recipe"),
    "a number for a clip": (lambda: poise.mix(5), "^clip must be a Clip or the path of a file; got 5"),
    "how a file is read": (lambda: poise.mix(CLIP, fps=30), "fps says how a file is read"),
    "an unknown output": (lambda: poise.mix(CLIP, outputs="a.xyz"), "'.xyz' cannot be written; a mix is written as"),
    "over its input": (lambda: poise.mix("idle.bvh", outputs="idle.bvh"), "the output idle.bvh would overwrite"),
    "a recipe of no file": (lambda: poise.mix(CLIP, outputs="r.toml"), "a recipe names files, and a Clip was given"),
    "a stiffness for arms": (lambda: poise.mix(CLIP, physical="arms", stiffness=2), "^stiffness is the balance's"),
    "a gain in words": (lambda: poise.mix(CLIP, gain="much"), "^gain must be a number; got 'much'"),
    "a load by number": (lambda: poise.mix(CLIP, loads=5), "^loads must be a Load or text, as in 'rightHand=2'; got 5"),
    "a push before it": (lambda: poise.mix(CLIP, pushes=poise.Push("hips", (0, 0, 1), 1, -1)), "begins at 0 s"),
    "a ground by number": (lambda: poise.mix(CLIP, ground=1), "^ground must be a Ground; got 1"),
    "two sceneries": (lambda: poise.mix(CLIP, scenery=Scenery(), ground=poise.Ground()), "its own ground and props"),
    "two masses": (lambda: poise.mix(CLIP, character=poise.Character.human(), mass=70), "^character has a mass of its"),
    "keep and restored bones": (
        lambda: poise.convert("idle.bvh", "o.bvh", keep=True, bones="restore"),
        "^keep keeps the input's bones",
    ),
    "bones": (lambda: poise.mix("idle.bvh", bones="mend"), "^bones must be keep or restore; got 'mend'"),
    "onto itself": (lambda: poise.convert("idle.bvh", "idle.bvh"), "would overwrite the input"),
    "a root": (lambda: poise.convert("idle.bvh", "o.bvh", root="gone"), "^root must be keep or in-place; got 'gone'"),  # type: ignore[arg-type]
    "a target": (lambda: poise.retarget(CLIP, 5), "^skeleton must be a Skeleton .*the path of a file; got 5"),  # type: ignore[arg-type]
    "no file's roles": (lambda: poise.retarget(CLIP, BODY, skeleton_roles={"hips": "x"}), "read from a file"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_a_sentence(case: str, place: Path) -> None:
    call, sentence = WRONG[case]
    with pytest.raises(poise.InputError, match=sentence):
        call()


def test_convert_retarget_and_info_do_what_the_commands_do(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, figures, _ = command(
        capsys, "convert", "idle.bvh", "a.glb", "--resample", "20", "--names", "vrm", "--mass", "50"
    )
    found = poise.convert("idle.bvh", "b.glb", resample=20.0, names="vrm", mass=50.0)
    assert (place / "a.glb").read_bytes() == (place / "b.glb").read_bytes()
    assert {**found, "file": "a.glb", "warnings": figures["warnings"]} == figures
    command(capsys, "retarget", "idle.bvh", "body.json", "-o", "c.bvh", "--height", "1.2")
    clip = poise.retarget("idle.bvh", "body.json", height=1.2, ground=0.0, output="d.bvh")
    assert (place / "c.bvh").read_bytes() == (place / "d.bvh").read_bytes()
    assert clip.skeleton.names == CLIP.skeleton.names
    _, told, _ = command(capsys, "info", "idle.bvh", "--up", "Y")
    assert json.loads(json.dumps(poise.info("idle.bvh", up="Y"))) == told
