"""`poise mix --from`: parts of other clips on this body, the same by command, Python and recipe."""

from __future__ import annotations

import dataclasses
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.kinematics import pose_by_scipy
from helpers.recordings import data_file
from helpers.rigs import unreal
from poise.cli import main
from poise.files.character import save_character
from poise.files.reading.options import Source
from poise.files.reporting import SILENT
from poise.jobs.mix.job import write_motion
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared import simulation
from poise.jobs.shared.body import find_body
from poise.motion import borrow, part_joints, samples, trim
from poise.motion.clip import Clip
from poise.motion.root import root_at_hips

BODY = poise.Character.human(1.75, 75)
CHILD = poise.Character.human(1.2, 24)
IDLE = samples.idle(BODY.skeleton, 1.0)
WAVE = trim(samples.wave(CHILD.skeleton, duration=2.0, fps=48.0), 0.5, 1.25)  # the hand is up, and moves


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a body that stands, a child that waves, a pose, and somebody without a right arm."""
    poise.save_clip(IDLE, tmp_path / "idle.bvh")
    poise.save_clip(WAVE, tmp_path / "wave.bvh")
    poise.save_clip(IDLE.pick(slice(0, 1)), tmp_path / "pose.bvh")
    save_character(CHILD, tmp_path / "child.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
    code = main(["mix", *words, "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else {}, said.err


def find_directions(clip: Clip, time: float) -> np.ndarray:
    """(4, 3) where the bones of the arms point at a frame's time, in the axes of the chest."""
    frame = int(np.argmin(np.abs(clip.times - clip.times[0] - time)))
    skeleton = clip.skeleton
    places, axes = pose_by_scipy(skeleton, clip.root[frame], clip.rotations[frame])
    found = []
    for side in ("left", "right"):
        joints = [skeleton.index(side + stem) for stem in ("UpperArm", "LowerArm", "Hand")]
        found += [places[b] - places[a] for a, b in pairwise(joints)]
    top = next(role for role in ("upperChest", "chest", "spine") if role in skeleton.roles)
    return np.array([bone / np.linalg.norm(bone) for bone in found]) @ axes[skeleton.index(top)]


def test_written_arms_point_as_in_the_other_file_and_the_rest_stays(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, figures, err = command(capsys, "idle.bvh", "--from", "arms=wave.bvh", "-o", "out.bvh")
    assert code == 0 and not figures["fell"] and figures["kinematic_error_rad"] < 1e-6
    out, idle, wave = (poise.load_clip(name) for name in ("out.bvh", "idle.bvh", "wave.bvh"))
    np.testing.assert_allclose(out.times, idle.times, atol=1e-9)
    for time in (0.0, 0.25, 0.5, 0.75):  # frames of both: 60 and 48 a second
        np.testing.assert_allclose(find_directions(out, time), find_directions(wave, time), atol=1e-5)
    assert np.abs(find_directions(out, 0.5) - find_directions(idle, 0.5)).max() > 0.5
    # spine, neck and head answer the arms by some degrees; without that they are the first clip's
    poise.mix("idle.bvh", from_={"arms": "wave.bvh"}, counter_lean=0.0, outputs="still.bvh")
    rest = [out.skeleton.index(role) for role in ("spine", "chest", "neck", "head")]
    for name, least, most in (("out.bvh", 1e-3, 0.1), ("still.bvh", 0.0, 1e-6)):
        dots = np.abs(np.sum(poise.load_clip(name).rotations[:, rest] * idle.rotations[:, rest], axis=-1))
        assert least <= 2.0 * np.arccos(np.minimum(dots, 1.0)).max() <= most
    assert figures["from"] == [
        {
            "parts": ["arms"],
            "file": "wave.bvh",
            "fps": pytest.approx(48),
            "duration_s": pytest.approx(0.75),
            "retargeted": True,
        }
    ]
    line = next(line for line in err.splitlines() if "arms: the motion of wave.bvh" in line)
    assert "retargeted onto this body, resampled from 48 to 60 frames a second, until it ends at 0.75 s" in line


def test_command_python_and_recipe_write_the_same_bytes(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--from", "leftArm,head=wave.bvh", "--from", "rightArm=pose.bvh", "-o", "out.glb")
    code, figures, _ = command(capsys, "idle.bvh", *words, "--save-recipe", "r.toml")
    theirs = (place / "out.glb").read_bytes()
    found = poise.mix("idle.bvh", from_={"leftArm,head": "wave.bvh", "rightArm": "pose.bvh"}, outputs="own.glb")
    again = poise.mix(recipe="r.toml", outputs="again.glb")
    assert code == 0 and theirs == (place / "own.glb").read_bytes() == (place / "again.glb").read_bytes()
    assert figures["from"] == found.figures["from"]
    assert [each["parts"] for each in again.figures["from"]] == [["leftArm", "head"], ["rightArm"]]
    recipe = (place / "r.toml").read_text()
    assert recipe.count("[[from]]") == 3 and 'part = "head"\nclip = "wave.bvh"' in recipe
    assert not any("--" in note for note in found.notes)


def test_another_body_performs_both_clips(place: Path) -> None:
    found = poise.mix("idle.bvh", from_={"arms": WAVE}, character="child.json")
    assert not found.fell and found.clip.skeleton.names == CHILD.skeleton.names
    np.testing.assert_allclose(find_directions(found.clip, 0.5), find_directions(WAVE, 0.5), atol=1e-4)


def test_a_single_pose_is_held_for_as_long_as_the_other_clip_lasts(place: Path) -> None:
    found = poise.mix("pose.bvh", from_={"arms": "wave.bvh"})
    wave = poise.load_clip("wave.bvh")
    assert not found.fell
    np.testing.assert_allclose(found.clip.times, wave.times, atol=1e-9)
    np.testing.assert_allclose(find_directions(found.clip, 0.5), find_directions(wave, 0.5), atol=1e-9)


def test_physical_arms_are_drawn_along_the_other_clip(place: Path) -> None:
    found = poise.mix("idle.bvh", from_={"rightArm": "wave.bvh"}, physical="legs,rightArm", base="planted")
    elbow = found.clip.skeleton.index("rightLowerArm")
    assert elbow in found.tracked and found.wanted is not None
    dots = [
        np.abs(np.sum(clip.rotations[:, elbow] * found.clip.rotations[:, elbow], axis=-1)).clip(0.0, 1.0)
        for clip in (found.wanted, poise.load_clip("idle.bvh"))
    ]
    assert np.arccos(dots[0]).mean() < 0.2 * np.arccos(dots[1]).mean()


def test_balance_follows_the_own_arms_while_the_joints_follow_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def watch(name: str, key: str) -> None:
        make = getattr(simulation, name)

        def build(*args: Any, **kwargs: Any) -> Any:
            given[name] = kwargs[key] if key in kwargs else args[0]
            return make(*args, **kwargs)

        monkeypatch.setattr(simulation, name, build)

    watch("Balance", "follow")
    watch("Kinematic", "motion")
    played = borrow(IDLE, WAVE, "arms")
    found = simulation.simulate(IDLE, BODY, None, played)
    assert given["Balance"] is IDLE and found.wanted is played
    assert given["Kinematic"].rotations is played.rotations
    # a trunk that bends is no arm: the balance knows of it
    played = borrow(IDLE, WAVE, "upperBody")
    simulation.simulate(IDLE, BODY, None, played)
    arms = part_joints(BODY.skeleton, "arms")
    rest = [i for i in range(len(BODY.skeleton)) if i not in arms]
    followed = given["Balance"].rotations
    assert np.array_equal(followed[:, arms], IDLE.rotations[:, arms])
    np.testing.assert_allclose(followed[:, rest], played.rotations[:, rest], atol=1e-15)


def test_parts_come_to_a_body_under_other_joints() -> None:
    skeleton, roles = unreal()
    body = skeleton.replace(roles=roles)
    times, turns = np.arange(40) / 40.0, np.tile([1.0, 0.0, 0.0, 0.0], (40, len(body), 1))
    stance = Clip(body, times, np.tile(body.offsets[0], (40, 1)), turns, "stance")
    character = poise.Character.from_skeleton(body)
    played = borrow(stance, WAVE, "arms")
    found = simulation.simulate(stance, character, None, played)
    assert root_at_hips(stance).top != 0 and not found.fell and found.wanted is played
    joints = part_joints(body, "arms")
    dots = np.abs(np.sum(found.clip.rotations[:, joints] * played.rotations[:, joints], axis=-1))
    np.testing.assert_allclose(dots, 1.0, atol=1e-12)


def test_kinematic_error_leaves_out_joints_that_answer() -> None:
    found = simulation.simulate(IDLE, BODY)
    head = BODY.skeleton.index("head")
    nod = np.tile([np.cos(0.05), np.sin(0.05), 0.0, 0.0], (len(IDLE), 1, 1))
    moved = dataclasses.replace(found, clip=found.clip.turned([head], nod))
    body = find_body(IDLE, None, Source(), SILENT)
    errors = [
        write_motion(each, body, MixPlan(), None)["kinematic_error_rad"]
        for each in (moved, dataclasses.replace(moved, answering=[head]))
    ]
    assert errors[0] > 0.01 and errors[1] < 1e-9


WRONG: dict[str, tuple[list[str], str]] = {
    "no such file": (["--from", "arms=none.bvh"], "none.bvh: there is no such file"),
    "not a motion": (["--from", "arms=child.json"], "child.json: '.json' cannot be read as animation"),
    "no part": (["--from", "wave.bvh"], "written as part=file, as in arms=gestures.bvh; 'wave.bvh' was given"),
    "no file": (["--from", "arms="], "written as part=file, as in arms=gestures.bvh; 'arms=' was given"),
    "an empty part": (["--from", "arms,=wave.bvh"], "written as part=file"),
    "an unknown part": (["--from", "armz=wave.bvh"], "part 'armz' is not known. Did you mean 'arms'?"),
    "the hips": (["--from", "body=wave.bvh"], "'body' includes hips"),
    "twice": (["--from", "arms=wave.bvh", "--from", "arms=pose.bvh"], "but 'arms' is named twice. Remove one"),
    "overlapping": (
        ["--from", "arms=wave.bvh", "--from", "leftHand=pose.bvh"], "'arms' and 'leftHand' both include leftHand"
    ),
    "legs that balance": (["--from", "legs=wave.bvh"], "'legs' cannot come from another clip while physical legs"),
    "the output": (["--from", "arms=out.bvh"], "-o out.bvh would overwrite the input out.bvh"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_rejects_in_one_sentence(case: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, message = WRONG[case]
    code, figures, err = command(capsys, "idle.bvh", *words, "-o", "out.bvh", "--quiet")
    assert code == 2 and not figures and not (place / "out.bvh").exists()
    said = [line for line in err.splitlines() if "warning" not in line]
    assert len(said) == 1 and message in said[0]


def test_rejects_a_part_that_the_other_clip_lacks(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = poise.Character.human(1.75, 75, preset="mix").skeleton
    arm = {whole.index("right" + stem) for stem in ("UpperArm", "LowerArm", "Hand")}
    stump = [i for i in range(len(whole)) if i not in arm]
    names = tuple(whole.names[i] for i in stump)
    parents = np.array([-1, *(stump.index(int(whole.parents[i])) for i in stump[1:])])
    roles = {role: name for role, name in whole.roles.items() if name in names}
    one_armed = poise.Skeleton(names, parents, whole.offsets[stump], whole.tips[stump], roles)
    clip = Clip(one_armed, np.arange(3) / 30.0, np.tile(one_armed.offsets[0], (3, 1)),
                np.tile([1.0, 0.0, 0.0, 0.0], (3, len(names), 1)), "stump")  # fmt: skip
    poise.save_clip(clip, "stump.npz")
    code, _, err = command(capsys, "idle.bvh", "--from", "arms=stump.npz", "-o", "out.bvh", "--quiet")
    assert code == 2 and "stump.npz: it has no rightUpperArm, rightLowerArm, so 'arms' cannot come from it" in err


def test_rejects_a_single_word_as_on_the_command_line(place: Path) -> None:
    rejects(lambda: poise.mix("idle.bvh", from_="arms"), "part=file", "'arms' was given")


def test_rejects_a_part_with_another_driver(place: Path) -> None:
    (place / "r.toml").write_text(
        'format = "poise-recipe 1"\n[character]\nclip = "idle.bvh"\n[[drives]]\npart = "leftArm"\ndriver = "loose"\n'
        '[[from]]\npart = "arms"\nclip = "wave.bvh"\n'
    )
    rejects(lambda: poise.mix(recipe="r.toml"), "'arms'", "[[drives]]")
    (place / "r.toml").write_text(
        'format = "poise-recipe 1"\n[character]\nclip = "idle.bvh"\n[[from]]\npart = "arms"\n'
    )
    rejects(lambda: poise.mix(recipe="r.toml"), "r.toml", "[[from]]", "1", "'clip'")
    with pytest.raises(poise.InputError, match="from_ of a mix maps a part to a Clip or the path of its file"):
        poise.mix("idle.bvh", from_={"arms": 5})  # type: ignore[dict-item]


PAIRS = (("27_02", "28_01"), ("28_01", "30_01"), ("30_01", "15_08"), ("15_08", "18_08"), ("27_02", "30_01"))


@pytest.mark.data
@pytest.mark.parametrize(("stance", "gestures"), PAIRS)
@pytest.mark.many(1)
def test_arms_of_one_recording_on_the_body_of_another(stance: str, gestures: str) -> None:
    body = trim(poise.load_clip(data_file(f"bvh-cmu/{stance}.bvh")), 0.0, 8.0)
    other = poise.load_clip(data_file(f"bvh-cmu/{gestures}.bvh"))
    found = poise.mix(body, from_={"arms": other})
    assert found.base == "planted" and not found.fell and found.figures["foot_slip_mm"] < 0.1
    assert found.figures["kinematic_error_rad"] < 1e-6
    for time in (1.0, 4.0, 7.5):
        np.testing.assert_allclose(find_directions(found.clip, time), find_directions(other, time), atol=1e-6)


@pytest.mark.data
@pytest.mark.slow
def test_a_vrm_character_performs_two_recordings(tmp_path: Path) -> None:
    stance = trim(poise.load_clip(data_file("bvh-cmu/27_02.bvh")), 0.0, 6.0)
    gestures = poise.load_clip(data_file("bvh-cmu/30_01.bvh"))
    hero = data_file("vrm/cryptovoxels.vrm")
    found = poise.mix(stance, from_={"arms": gestures}, character=hero, outputs=tmp_path / "out.vrm")
    assert not found.fell and found.figures["kinematic_error_rad"] < 1e-3
    for time in (1.0, 3.0, 5.0):
        np.testing.assert_allclose(find_directions(found.clip, time), find_directions(gestures, time), atol=1e-6)
