"""The job and the command `track`: bases, figures on what was written, the search, other bodies, hits, refusals.

Errors and lags are measured again here, by SciPy, on the file.
"""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pygltflib
import pytest
from scipy.signal import correlate, correlation_lags
from scipy.spatial.transform import Rotation

import poise
from helpers.files.gltf import Reference
from poise.body.geometry.mannequin import build_mannequin
from poise.files.formats.gltf.write import save_glb
from poise.files.reporting import Reporter
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.metrics import find_lag
from poise.jobs.shared.simulation import simulate
from poise.jobs.track.plan import TrackPlan, parse_stiffness
from poise.jobs.track.stiffness_search import SEARCHED, TRIES
from poise.motion.clip import Clip
from poise.motion.parts import part_joints
from poise.spatial import rotation

FPS = 60.0
ADULT = poise.Character.human(1.75, 75.0)


def wave(character: poise.Character = ADULT, seconds: float = 2.0, slide: float = 0.0) -> Clip:
    """Someone who waves with both arms and nods. slide: m that the left foot's leg swings aside, by the hip."""
    t = np.arange(round(seconds * FPS) + 1) / FPS
    skeleton = character.skeleton
    pose = poise.Stage().add(character).pose(0.0)
    turns = np.repeat(pose.rotations[None], len(t), axis=0)

    def turn(role: str, axis: tuple[float, float, float], size: float, hz: float) -> None:
        angle = size * np.sin(2.0 * math.pi * hz * t)
        spun = Rotation.from_rotvec(angle[:, None] * np.array(axis)).as_quat()[:, [3, 0, 1, 2]]
        turns[:, skeleton.index(role)] = rotation.multiply(turns[:, skeleton.index(role)], spun)

    for side, sign in (("left", 1.0), ("right", -1.0)):
        turn(side + "UpperArm", (0.3, 0.0, sign), 0.4, 0.9)
        turn(side + "LowerArm", (0.0, sign, 0.0), 0.5, 1.3)
    turn("head", (1.0, 0.0, 0.0), 0.2, 1.1)
    if slide:
        turn("leftUpperLeg", (0.0, 0.0, 1.0), slide / 0.85, 0.5)
    return Clip(skeleton, t, np.repeat(pose.root[None], len(t), axis=0), turns, "wave")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a clip that stands."""
    folder = tmp_path_factory.mktemp("track")
    poise.save_clip(wave(), folder / "wave.bvh")
    return folder


def run(*words: Any) -> tuple[int, str, str]:
    """The command: its exit code and what it said."""
    import contextlib
    import io

    from poise.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(["track", *map(str, words)])
        except SystemExit as stop:
            code = int(stop.code or 0)
    return int(code or 0), out.getvalue(), err.getvalue()


def measure_again(result: Clip, wanted: Clip, joints: list[int]) -> tuple[float, float]:
    """RMS angle (rad) and lag (s) by SciPy."""
    there, here = (Rotation.from_quat(x.rotations[:, joints].reshape(-1, 4)[:, [1, 2, 3, 0]]) for x in (wanted, result))
    error = float(np.sqrt(np.mean((there.inv() * here).magnitude() ** 2)))
    total: Any = 0.0
    for joint in joints:
        spins = []
        for x in (result, wanted):
            r = Rotation.from_quat(x.rotations[:, joint][:, [1, 2, 3, 0]])
            spins.append((r[:-1].inv() * r[1:]).as_rotvec() * FPS)
        total = total + sum(correlate(spins[0][:, c], spins[1][:, c]) for c in range(3))
    lags = correlation_lags(len(wanted) - 1, len(wanted) - 1)
    near = np.abs(lags) < 0.4 * FPS
    k = int(np.argmax(total[near]))
    a, b, c = total[near][k - 1 : k + 2]
    return error, float(lags[near][k] + 0.5 * (a - c) / (a - 2.0 * b + c)) / FPS


def test_figures_are_those_of_the_file(files: Path) -> None:
    """Keys as promised, and numbers as SciPy finds them in what was written."""
    code, out, _ = run(files / "wave.bvh", "-o", files / "out.bvh", "--json", "--quiet", "--law", "paper")
    found = json.loads(out)
    assert code == 0
    assert {"fell", "fell_at_s", "tracking_error_rad", "lag_ms", "stiffness", "realtime_factor", "base"} <= set(found)
    assert (found["fell"], found["base"], found["stiffness"]) == (False, "balance", 4000.0)
    wanted, result = poise.load_clip(files / "wave.bvh"), poise.load_clip(files / "out.bvh")
    joints = [i for i in part_joints(wanted.skeleton, "upperBody") if wanted.skeleton.names[i] != "hips"]
    assert len(joints) == found["tracked_joints"]
    error, lag = measure_again(result, wanted, joints)
    assert found["tracking_error_rad"] == pytest.approx(error, rel=1e-4)
    assert found["lag_ms"] == pytest.approx(1000.0 * lag, abs=2.0)
    assert found["lag_ms"] > 50.0


def test_feeding_forward_does_not_lag(files: Path) -> None:
    """With no option at all."""
    found = poise.track(files / "wave.bvh")
    assert abs(found.figures["lag_ms"]) < 5.0
    assert found.figures["tracking_error_rad"] < 0.02
    assert not found.fell


@pytest.mark.parametrize("lag", [0.0, 0.013, 0.1])
def test_a_lag_is_found_between_frames(lag: float) -> None:
    """Of a clip that is sampled later; a frame is 16.7 ms."""
    clip = wave(seconds=3.0)
    moved = clip.spline.pose(np.clip(np.asarray(clip.times) - lag, 0.0, None))
    late = clip.replace(root=moved.root, rotations=moved.rotations)
    assert find_lag(late, clip, list(range(1, len(clip.skeleton)))) == pytest.approx(lag, abs=0.002)


def test_who_does_not_turn_has_no_lag() -> None:
    clip = wave(seconds=0.5)
    still = clip.replace(rotations=np.repeat(clip.rotations[:1], len(clip), axis=0))
    assert find_lag(still, still, [1, 2]) is None


@pytest.mark.parametrize(("slide", "base"), [(0.0, "balance"), (0.07, "balance"), (0.14, "kinematic")])
def test_auto_base_balances_a_clip_that_does_not_step(slide: float, base: str) -> None:
    clip = wave(seconds=1.0, slide=slide)
    found = poise.track(clip, character=ADULT)
    assert found.figures["base"] == base
    assert bool(found.mix.kinematic) == (base == "kinematic")
    if base == "kinematic":
        legs = part_joints(clip.skeleton, "legs")
        assert np.allclose(found.clip.rotations[:, legs], clip.rotations[:, legs], atol=1e-9)
        assert np.allclose(found.clip.root, clip.root, atol=1e-9)


def test_a_base_can_be_asked_for() -> None:
    clip = wave(seconds=0.5)
    assert poise.track(clip, character=ADULT, base="kinematic").figures["base"] == "kinematic"
    assert poise.track(wave(seconds=0.5, slide=0.3), character=ADULT, base="balance").figures["base"] == "balance"


def test_the_stiffness_is_found_by_search(files: Path) -> None:
    """All trials are in the JSON; the one taken is as good as the best, and nothing softer is."""
    told: list[tuple[str, int, int]] = []

    class Bar(Reporter):
        def advance(self, what: str, done: int, total: int) -> None:
            told.append((what, done, total))

    from poise.jobs.job import find_job
    from poise.jobs.track.job import TrackOptions
    from poise.options import Given

    job = find_job(poise.track)
    assert job is not None
    words = {"clip": files / "wave.bvh", "base": "kinematic", "law": "paper", "stiffness": "auto"}
    found, _ = job.start(Given.from_python(TrackOptions, words), Bar())
    curve = found.figures["search"]
    stiffness, total = np.array(curve["stiffness"]), np.array(curve["summed_error_rad"])
    assert (np.diff(stiffness) > 0.0).all() and stiffness[0] == SEARCHED[0] and stiffness[-1] == SEARCHED[1]
    assert 5 < len(stiffness) <= sum(TRIES)
    chosen = found.figures["stiffness"]
    at = int(np.argmin(np.abs(stiffness - chosen)))
    enough = 1.05 * total.min() + 5e-4 * len(found.wanted) * found.figures["tracked_joints"]
    assert total[at] <= enough < total[:at].min()
    assert found.figures["tracking_error_rad"] == pytest.approx(curve["error_rad"][at], rel=1e-6)
    assert told[0][1] == 0 and told[-1][1] == told[-1][2]


@pytest.mark.slow
def test_one_clip_on_four_bodies(tmp_path: Path) -> None:
    """Man, woman, child and one of odd proportions, each from a file: all follow, each with torques of its own."""
    alien = poise.Character.human(1.9, 55.0)
    for joint, factor in (("leftLowerArm", 1.5), ("rightLowerArm", 1.5), ("leftUpperLeg", 0.7), ("rightUpperLeg", 0.7)):
        from poise.body.reshape import lengthen

        alien = lengthen(alien, factor, joint)
    bodies = {
        "man": poise.Character.human(1.82, 85.0, sex="male"),
        "woman": poise.Character.human(1.65, 60.0, sex="female"),
        "child": poise.Character.human(1.2, 22.0, age=7.0),
        "alien": alien,
    }
    clip = wave(seconds=1.5)
    turns = clip.rotations.copy()
    for side, sign in (("left", 1.0), ("right", -1.0)):  # hands clear of the thighs, whoever's they are
        arm = clip.skeleton.index(side + "UpperArm")
        raised = rotation.from_axis_angle(np.array([0.0, 0.0, 1.0]), sign * 0.7)
        turns[:, arm] = rotation.multiply(raised, turns[:, arm])
    poise.save_clip(clip.replace(rotations=turns), tmp_path / "wave.bvh")
    torques = {}
    for name, body in bodies.items():
        poise.save_character(body, tmp_path / f"{name}.json")
        out = tmp_path / f"{name}.bvh"
        code, said, _ = run(tmp_path / "wave.bvh", "-o", out, "--character", tmp_path / f"{name}.json", "--json",
                            "--quiet")  # fmt: skip
        found = json.loads(said)
        assert code == 0 and found["base"] == "balance"
        assert found["tracking_error_rad"] < 0.05
        assert found["mass_kg"] == pytest.approx(body.mass)
        written = poise.load_clip(out)
        assert np.allclose(written.skeleton.offsets[1:], body.skeleton.offsets[1:], atol=1e-4)
        torques[name] = found["peak_torque_nm"]
    assert torques["child"] < 0.4 * torques["man"]
    assert len({round(torque, 3) for torque in torques.values()}) == 4


@pytest.mark.slow
def test_a_model_that_faces_backward_and_moves_already(tmp_path: Path) -> None:
    """What is written onto a model's own mesh is measured there: as in a BVH, and as another reader finds it."""
    child = poise.Character.human(1.2, 22.0, age=7.0)
    idle = wave(child, seconds=0.2)
    save_glb(idle.replace(name="idle"), tmp_path / "own.glb", meshes=build_mannequin(child.skeleton, child.mass))
    file = pygltflib.GLTF2.load(tmp_path / "own.glb")
    file.asset.generator = "another"
    top = file.scenes[0].nodes[0]
    file.nodes.append(pygltflib.Node(name="armature", children=[top], rotation=[0.0, 1.0, 0.0, 0.0], scale=[0.5] * 3))
    file.scenes[0].nodes[0] = len(file.nodes) - 1
    file.save(tmp_path / "model.glb")
    errors = {}
    for suffix in ("glb", "bvh"):
        found = poise.track(
            wave(seconds=0.4), character=tmp_path / "model.glb", outputs=tmp_path / f"out.{suffix}", base="kinematic"
        )
        assert found.figures["measured_on"] == "the file"
        assert found.figures["max_joint_error_m"] < 1e-5
        errors[suffix] = found.figures["tracking_error_rad"]
    assert errors["glb"] == pytest.approx(errors["bvh"], rel=1e-3) and errors["glb"] < 0.05
    reference, bvh = Reference(tmp_path / "out.glb"), poise.load_clip(tmp_path / "out.bvh", scale=1.0)
    assert [each["name"] for each in reference.json["animations"]] == ["wave", "idle"]  # the new motion is the first
    shown = reference.positions(bvh.skeleton.names, 0, float(np.float32(bvh.times[-1])))
    np.testing.assert_allclose(shown, bvh.positions[-1], atol=1e-4)


def test_frames_at_uneven_times_are_followed_by_splines(tmp_path: Path) -> None:
    """Between 15 and 30 of 60 frames a second, at random: the motion that they were taken from is followed."""
    whole = wave(seconds=1.5)
    kept = np.cumsum(np.random.default_rng(0).integers(2, 5, len(whole)))
    uneven = whole.pick(np.r_[0, kept[kept < len(whole) - 1], len(whole) - 1])
    found = poise.track(uneven, base="kinematic", outputs=tmp_path / "out.bvh")
    assert any("ms apart" in note for note in found.notes)
    written = poise.load_clip(tmp_path / "out.bvh")
    assert written.fps == pytest.approx(60.0) and len(written) == len(whole)
    joints = [whole.skeleton.index(side + "LowerArm") for side in ("left", "right")]
    assert measure_again(written, whole, joints)[0] < 0.02


def test_a_hit_gives_way_and_comes_back() -> None:
    """`--push` with `--give`: farther off in the blow than without, and back within a second."""
    clip = wave(seconds=2.5)
    push = "t=0.8 leftHand 0,0,70 0.1s"
    joint = clip.skeleton.index("leftUpperArm")
    off = []
    for give in (0.0, 0.9):
        found = poise.track(clip, character=ADULT, base="kinematic", pushes=push, give=give)
        assert found.figures["give"] == give
        apart = rotation.multiply(rotation.conjugate(clip.rotations[:, joint]), found.clip.rotations[:, joint])
        off.append(np.linalg.norm(rotation.log(apart), axis=-1))
    late = np.asarray(clip.times) > 1.9
    assert off[1].max() > 1.8 * off[0].max() > 0.05
    assert off[1][late].max() < 0.02


def test_a_body_that_falls_is_exit_1(files: Path) -> None:
    code, out, _ = run(files / "wave.bvh", "-o", files / "fell.bvh", "--json", "--quiet", "--push",
                       "t=0.2 chest 0,0,900 0.3s")  # fmt: skip
    found = json.loads(out)
    assert code == 1
    assert found["fell"] and 0.2 < found["fell_at_s"] < 2.0 and found["fell_why"]
    assert (files / "fell.bvh").exists()


def test_only_chosen_pairs_touch(tmp_path: Path) -> None:
    """A hand that goes into a box stops at it where it is named, and goes through it where another is."""
    clip = wave(seconds=1.0)
    turns = clip.rotations.copy()
    arm = clip.skeleton.index("leftUpperArm")
    lift = np.linspace(0.0, 1.4, len(clip))
    turns[:, arm] = rotation.multiply(
        rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), -lift), clip.rotations[0, arm]
    )
    clip = clip.replace(rotations=turns)
    hand = clip.positions[len(clip) // 2, clip.skeleton.index("leftHand")]
    place = ", ".join(f"{x:.4f}" for x in hand + [0.0, 0.1, 0.05])
    (tmp_path / "stage.toml").write_text(
        f'[[props]]\nname = "box"\nshape = "box"\nsize = [0.3, 0.1, 0.3]\nposition = [{place}]\n'
    )
    ends = []
    for pair in ("leftHand=box", "rightHand=box"):
        found = poise.track(clip, character=ADULT, base="kinematic", scenery=tmp_path / "stage.toml", touch=[pair])
        ends.append(found.clip.positions[-1, clip.skeleton.index("leftHand")])
    wanted = clip.positions[-1, clip.skeleton.index("leftHand")]
    assert np.linalg.norm(ends[1] - wanted) < 0.01
    assert np.linalg.norm(ends[0] - wanted) > 0.05


def test_who_lies_is_not_cut_by_the_ground() -> None:
    """A ground that nobody placed is lowered to what the clip's back lies on."""
    clip = wave(seconds=1.0)
    turned = np.array(clip.rotations)
    back = rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), -0.5 * math.pi)
    turned[:, 0] = rotation.multiply(back, turned[:, 0])
    lying = clip.replace(rotations=turned, root=np.repeat([[0.0, 0.05, 0.0]], len(clip), axis=0))
    found = poise.track(lying, character=ADULT)
    assert found.figures["base"] == "kinematic"
    assert found.figures["tracking_error_rad"] < 0.01
    assert found.mix.ground < 0.0


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"parts": "tail"}, "part 'tail' is not known"),
        ({"touch": ["leftHand=tail"]}, "tail"),
        ({"touch": ["leftHand=leftHand"]}, "nothing touches itself"),
        ({"stiffness": 0.5}, "from 1 to 1e"),
        ({"stiffness": "best"}, "or 'auto'"),
        ({"give": 1.5}, "from 0 to 1"),
        ({"law": "newton"}, "^law must be paper, critical or feedforward; got 'newton'"),
        ({"base": "planted2"}, "^base must be auto, kinematic or balance; got 'planted2'"),
        ({"outputs": "x.toml"}, "writes no recipe"),
        ({"pushes": "t=99 chest 0,0,1 1s"}, "after the clip's end"),
    ],
)
def test_what_cannot_be_is_one_sentence(wrong: dict, sentence: str) -> None:
    with pytest.raises(poise.InputError, match=sentence):
        poise.track(wave(seconds=0.3), character=ADULT, **wrong)


def test_a_prop_in_the_body_is_refused(tmp_path: Path) -> None:
    """Nothing is written."""
    (tmp_path / "stage.toml").write_text(
        '[[props]]\nname = "block"\nshape = "box"\nsize = [0.5, 0.5, 0.5]\nposition = [0, 1.2, 0]\n'
    )
    with pytest.raises(poise.InputError, match="block"):
        poise.track(wave(seconds=0.3), character=ADULT, scenery=tmp_path / "stage.toml", outputs=tmp_path / "x.bvh")
    assert not (tmp_path / "x.bvh").exists()


def test_a_stiffness_in_words() -> None:
    assert parse_stiffness("Auto") == "auto"
    assert parse_stiffness("300") == 300.0
    assert dataclasses.replace(TrackPlan(), springs=5.0).stiffest == 5.0


@pytest.mark.parametrize(("stiffness", "is_told"), [(1e6, True), (900.0, False)])
def test_a_stiffness_that_no_step_resolves_is_told(stiffness: float, is_told: bool) -> None:
    told: list[str] = []
    poise.track(wave(seconds=0.3), stiffness=stiffness, tell=lambda kind, sentence: told.append(f"{kind}: {sentence}"))
    warnings = [each for each in told if each.startswith("warning: ") and "1e+06 1/s2" in each and "dt" in each]
    assert len(warnings) == is_told


@pytest.mark.parametrize("plan", [TrackPlan(base="kinematic"), MixPlan(base="kinematic", physical=("upperBody",))])
def test_jitter_of_a_root_that_follows_the_clip_is_not_torque(plan: MixPlan) -> None:
    """The pelvis jitters and the spine makes up for it, as solvers of markers have it: 843 N m with unlike cut-offs."""
    from poise.motion.forces.forces import compute_forces
    from poise.motion.samples import walk

    clip, rng = walk(ADULT.skeleton, 3.0, fps=120.0), np.random.default_rng(0)
    spine, turns = ADULT.skeleton.index("spine"), clip.rotations.copy()
    jitter = rng.normal(0.0, 0.01, (len(clip), 3))
    turns[:, 0] = rotation.multiply(turns[:, 0], rotation.exp(jitter))
    turns[:, spine] = rotation.multiply(rotation.exp(-jitter), turns[:, spine])
    for noisy, most in (
        (clip.replace(root=clip.root + rng.normal(0.0, 0.001, clip.root.shape)), 1.5),  # 1707 N m where not filtered
        (clip.replace(rotations=turns), 4.0),
    ):
        asked = np.linalg.norm(compute_forces(noisy, ADULT).torque[:, spine], axis=-1)
        given = np.linalg.norm(simulate(noisy, ADULT, plan).take.actor().torque[:, spine], axis=-1)
        assert given.max() < most * asked.max()
