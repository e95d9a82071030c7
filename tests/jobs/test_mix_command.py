"""`poise mix`: what it writes, what it measures, when it falls, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.bodies import make_human
from helpers.errors import rejects
from poise.body.geometry.soles import leg_length
from poise.cli import main
from poise.drivers.registry import read_drive
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.errors import InputError, SolveError
from poise.files.formats.bvh.clip import read_bvh, save_bvh
from poise.files.formats.npz import save_npz
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.metrics import measure_error, measure_feet
from poise.jobs.shared.options import parse_push
from poise.jobs.shared.simulation import choose_step
from poise.jobs.shared.simulation import simulate as mix
from poise.motion.clip import Clip
from poise.motion.contacts.stepping import find_steps
from poise.motion.parts import part_joints
from poise.motion.samples import squat, walk
from poise.motion.samples.stand import wave
from poise.spatial import rotation
from poise.stage.stage import Stage
from poise.stage.take.files import load_take

KEYS = {
    *("fell", "fell_at_s", "fell_why", "kinematic_error_rad", "foot_slip_mm", "com_margin_m", "realtime_factor"),
    *("coupling", "stepping", "mass_kg", "stature_m", "frames", "sway_mm", "peak_torque_nm"),
    *("center_gain", "hips_gain", "neck_gain", "head_gain", "hips_lag_ms", "neck_lag_ms", "head_lag_ms"),
    *("hips_shift_mm", "head_shift_mm"),
}


@pytest.fixture(scope="module")
def body() -> poise.Character:
    return poise.Character.human(1.75, 75, preset="mix")


@pytest.fixture(scope="module")
def waving(body: poise.Character) -> Clip:
    return wave(body.skeleton, duration=1.8, fps=50.0)


@pytest.fixture
def file(waving: Clip, tmp_path: Path) -> Path:
    path = tmp_path / "wave.bvh"
    save_bvh(waving, path)
    return path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, object], str]:
    code = main(["mix", *map(str, words), "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else {}, said.err


def test_a_wave_stands_and_keeps_names_and_times(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found, _ = run(capsys, file, "-o", tmp_path / "out.bvh")
    assert code == 0
    assert set(found) >= KEYS
    assert (found["fell"], found["fell_at_s"], found["stepping"], found["coupling"]) == (False, None, False, "exact")
    before, after = read_bvh(file).clip, read_bvh(tmp_path / "out.bvh").clip
    assert after.skeleton.names == before.skeleton.names
    assert np.allclose(after.times, before.times, atol=1e-9)
    # the figure again, from the two files, by another formula
    legs = {
        i
        for side in ("left", "right")
        for i in before.skeleton.descendants(before.skeleton.names.index(f"{side}UpperLeg"))
    }
    rest = [i for i in range(1, len(before.skeleton)) if i not in legs]
    dots = np.einsum("fja,fja->fj", before.rotations[:, rest], after.rotations[:, rest])
    assert np.sqrt(np.mean((2.0 * np.arccos(np.clip(np.abs(dots), 0.0, 1.0))) ** 2)) < 1e-7
    assert found["kinematic_error_rad"] < 1e-8
    assert not np.allclose(before.rotations[:, sorted(legs)], after.rotations[:, sorted(legs)], atol=1e-3)
    assert found["com_margin_m"] > 0.02
    assert found["foot_slip_mm"] < 2.0


def test_kinematic_joints_are_where_the_clip_says(waving: Clip, body: poise.Character) -> None:
    found = mix(waving, body)
    apart = rotation.log(
        rotation.multiply(
            rotation.conjugate(waving.rotations[:, found.kinematic]), found.clip.rotations[:, found.kinematic]
        )
    )
    assert np.abs(apart).max() < 1e-9
    assert found.kinematic and found.physical and not set(found.kinematic) & set(found.physical)


def test_a_squat_is_followed(body: poise.Character) -> None:
    clip = squat(body.skeleton, fps=50.0)
    assert not find_steps(clip)
    found = mix(clip, body)
    assert found.fell_at is None
    wanted = clip.root[:, 1] - clip.root[0, 1]
    assert wanted.min() < -0.2
    assert np.abs(found.clip.root[:, 1] - found.clip.root[0, 1] - wanted).max() < 0.05


def test_a_squat_leaves_its_soles_where_they_are(body: poise.Character) -> None:
    clip = squat(body.skeleton, fps=50.0)
    soles = mix(clip, body).take.actor().soles[..., [0, 2]]
    assert np.linalg.norm(soles - soles[0], axis=-1).max() < 1e-3


@pytest.mark.parametrize("size", [0.3, 0.6, 1.0, 1.5])
@pytest.mark.parametrize("shift", [0.05, 0.09, 0.15, 0.3])
@pytest.mark.many(4)
def test_a_step_is_one_whatever_the_size_of_who_takes_it(body: poise.Character, size: float, shift: float) -> None:
    """A foot that is down elsewhere by a share of the leg's length; it was by 0.1 m, for a doll of 0.5 m too."""
    walked, standing = walk(body.skeleton, fps=50.0), squat(body.skeleton, fps=50.0)
    for clip, expected in ((walked, True), (standing, False)):
        small = Clip(clip.skeleton.scaled(size), clip.times, size * clip.root, clip.rotations)
        assert bool(find_steps(small)) == expected
    glide = np.interp(np.arange(len(standing)), [0, 20, 30, len(standing)], [0.0, 0.0, 1.0, 1.0])[:, None]
    leg = leg_length(body.skeleton, "left")
    moved = Clip(standing.skeleton.scaled(size), standing.times,
                 size * (standing.root + shift * leg * glide * [1.0, 0.0, 0.0]), standing.rotations)  # fmt: skip
    assert bool(find_steps(moved)) == (shift > 0.12)


def test_a_walk_goes_on_its_own_legs_unless_its_feet_are_planted(body: poise.Character) -> None:
    clip = walk(body.skeleton, fps=50.0)
    assert find_steps(clip)
    some = slice(0, 70)
    short = Clip(clip.skeleton, clip.times[some], clip.root[some], clip.rotations[some])
    found = mix(short, body, MixPlan(physical=("legs", "arms")))
    assert (found.base, found.stepping, found.fell) == ("kinematic", True, False)
    legs = [i for i, name in enumerate(body.skeleton.names) if "Leg" in name or "Foot" in name]
    np.testing.assert_allclose(found.clip.root, short.root, atol=1e-9)
    turned = np.abs(np.sum(found.clip.rotations[:, legs] * short.rotations[:, legs], axis=-1))
    np.testing.assert_allclose(turned, 1.0, atol=1e-9)
    assert found.physical and not set(found.physical) & set(legs)
    planted = mix(short, body, MixPlan(base="planted"))
    assert (planted.base, planted.stepping) == ("planted", True) and set(legs) & set(planted.physical)


def test_who_lies_is_not_planted(body: poise.Character) -> None:
    clip = squat(body.skeleton, fps=50.0)
    down = rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.5 * np.pi)
    turns = clip.rotations.copy()
    turns[:, 0] = rotation.multiply(down, turns[:, 0])
    lying = Clip(clip.skeleton, clip.times, clip.root * [1.0, 0.15, 1.0], turns)
    assert mix(lying, body).base == "kinematic"
    with pytest.raises(poise.InputError, match="begins off its feet"):
        mix(lying, body, MixPlan(base="planted"))
    rejects(lambda: MixPlan(base="plantd"), "Did you mean 'planted'")


def test_frames_fall_on_steps(waving: Clip) -> None:
    for longest in (0.005, 0.003, 0.02, 0.0199):
        dt = choose_step(waving, longest)
        assert dt <= longest * (1.0 + 1e-9)
        assert abs(0.02 / dt - round(0.02 / dt)) < 1e-9
        assert round(0.02 / dt) == np.ceil(0.02 / longest - 1e-9)


def test_too_hard_a_push_falls_with_exit_1(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.take.npz"
    code, found, _ = run(capsys, file, "-o", out, "--push", "t=0.1 chest 0,0,900 0.3s")
    assert code == 1
    assert found["fell"] is True
    assert 0.1 < found["fell_at_s"] < 1.8
    assert found["fell_why"]
    assert len(load_take(out)) == found["frames"] == 91
    assert found["com_margin_m"] < 0.0


def test_recipe_and_options_give_the_same_bytes(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "stage.toml").write_text("[ground]\nfriction = 0.9\n")
    words = [
        "--load",
        "rightHand=1",
        "--push",
        "t=0.2 chest 0,0,20 0.1s",
        "--gain",
        0.5,
        "--stage",
        tmp_path / "stage.toml",
    ]
    code, _, _ = run(capsys, file, "-o", tmp_path / "a.npz", *words, "--save-recipe", tmp_path / "r.toml")
    assert code == 0
    first = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").unlink()
    assert run(capsys, "--recipe", tmp_path / "r.toml")[0] == 0
    assert (tmp_path / "a.npz").read_bytes() == first
    run(capsys, "--recipe", tmp_path / "r.toml", "--gain", 1.0, "-o", tmp_path / "b.npz")
    assert (tmp_path / "b.npz").read_bytes() != first


def test_arms_can_be_physical_on_a_clips_pelvis(waving: Clip, body: poise.Character) -> None:
    found = mix(waving, body, MixPlan(("arms",)))
    assert np.allclose(found.clip.root, waving.root, atol=1e-9)
    legs = [i for i in found.kinematic if "Leg" in waving.skeleton.names[i]]
    assert measure_error(found.clip, waving, legs) < 1e-9
    arms = [waving.skeleton.index(side + "UpperArm") for side in ("left", "right")]
    assert set(arms) <= set(found.physical)
    assert 1e-4 < measure_error(found.clip, waving, arms) < 0.3


def test_arms_can_be_physical_on_a_trunk_that_follows_the_clip_over_legs_that_balance(
    waving: Clip, body: poise.Character
) -> None:
    arm = set(part_joints(body.skeleton, "leftArm"))
    plans = [
        MixPlan(physical=("legs", "leftArm")),
        MixPlan(drives=(read_drive("leftArm", "loose", {"stiffness": 0.5}),)),
    ]
    for plan in plans:
        found = mix(waving, body, plan)
        assert found.fell_at is None and found.broken is None
        assert arm <= set(found.physical) and not arm & set(found.kinematic)
        trunk = part_joints(body.skeleton, "trunk")
        assert set(trunk) <= set(found.kinematic)
        # an arm that springs draw along the clip asks for no answer; one that hangs loose does
        most = 0.1 if plan.drives else 1e-7
        assert bool(found.answering) == bool(plan.drives)
        assert rotation.angle(waving.rotations[:, trunk], found.clip.rotations[:, trunk]).max() < most


def test_a_simulation_that_breaks_keeps_what_there_was(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Stage.step

    def breaking(self: Stage) -> None:
        step(self)
        if self.time > 0.5:
            raise SolveError("simulation became non-finite at t=0.505 s (velocity of leftFoot of 'actor'). Do.")

    monkeypatch.setattr(Stage, "step", breaking)
    code, found, said = run(capsys, file, "-o", tmp_path / "out.bvh")
    assert code == 1
    assert found["fell"] is True
    assert found["frames"] == len(read_bvh(tmp_path / "out.bvh").clip) == 26
    assert "simulation became non-finite at t=0.505 s (velocity of leftFoot" in said
    assert "The last 100 states are in" in said
    last = load_take(tmp_path / "nonfinite.take.npz")
    assert len(last) == 100
    assert np.isfinite(last.clip().rotations).all()


def test_slip_margin_and_sway_by_hand(body: poise.Character) -> None:
    """A still body that is carried sideways by 3 cm slips by just that; its margin is the distance to the soles."""
    skeleton = body.skeleton
    still = wave(skeleton, duration=1.8, fps=50.0)
    root = np.repeat(still.root[:1], 5, axis=0)
    root[:, 0] += np.array([0.0, 0.01, 0.03, 0.02, 0.0])
    clip = Clip(skeleton, np.arange(5) / 50.0, root, np.repeat(still.rotations[:1], 5, axis=0))
    ground = 0.0
    found = measure_feet(clip, build_tree(body), ground)
    assert found["foot_slip_mm"] == pytest.approx(30.0, abs=1e-6)
    center = compute_center_of_mass(build_tree(body), clip.root, clip.rotations)[:, 0]
    assert found["sway_mm"] == pytest.approx(1000.0 * np.abs(center - center.mean()).max(), rel=1e-9)


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    code = main(["mix", *map(str, words)])
    said = capsys.readouterr()
    assert code == 2, said
    assert said.out == ""
    assert said.err.startswith("poise: ") or "poise:" in said.err
    assert "Traceback" not in said.err
    return said.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--physical", "legz"], "part 'legz' is not known. Did you mean 'legs'?"),
        (["--physical", "legs,arms", "--couple", "paper"], "hangs from the kinematic part that begins at 'spine'"),
        (["--physical", "hips"], "'hips' is the root"),
        (["--load", "rightHand=-2"], "-2 kg; it must be more than 0"),
        (["--load", "rightHnd=2"], "Did you mean 'rightHand'?"),
        (["--dt", "0"], "--dt must be from 1e-05 to 0.05 s; got 0"),
        (["--gain", "99"], "--gain must be from -10 to 10; got 99"),
        (["--push", "chest hard"], "a push is written as 't=2 chest 0,0,75 0.2s'"),
        (["--push", "t=1 elbow 0,0,1 1s"], "joint 'elbow' is not in the skeleton"),
        (["--torque-only"], "torque alone is an option of the 'paper' coupling"),
        (["--physical", "arms", "--pin"], "pinned feet are for physical legs"),
        (["--stiffness", "0"], "--stiffness must be from 0.01 to 50; got 0"),
        (["--engine", "bullt"], "bullet"),
        (["--film", "x.bvh"], "--film writes"),
        (["--stage", "none.toml"], "none.toml: there is no such file"),
        (["--recipe", "none.toml"], "none.toml: there is no such file"),
    ],
)
@pytest.mark.many(6)
def test_bad_input_is_one_sentence(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    assert complaint in refused(capsys, file, "-o", tmp_path / "out.bvh", "--quiet", *words)
    assert not (tmp_path / "out.bvh").exists()


def test_bad_files(file: Path, tmp_path: Path, waving: Clip, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no output was given" in refused(capsys, file)
    assert "no clip was given" in refused(capsys, "-o", tmp_path / "x.bvh")
    assert "cannot be written; a mix is written as" in refused(capsys, file, "-o", tmp_path / "x.c3d")
    assert "would overwrite the input" in refused(capsys, file, "-o", file)
    short = tmp_path / "short.npz"
    save_npz(Clip(waving.skeleton, waving.times[:2], waving.root[:2], waving.rotations[:2]), short)
    assert "at least 3 frames" in refused(capsys, short, "-o", tmp_path / "x.bvh", "--quiet")
    footless = make_human(without=("Foot", "Toes"))
    poses = np.tile(rotation.identity(), (9, len(footless), 1))
    save_npz(Clip(footless, np.arange(9) / 50.0, np.tile(footless.offsets[0], (9, 1)), poses), tmp_path / "f.npz")
    said = refused(capsys, tmp_path / "f.npz", "-o", tmp_path / "x.bvh", "--quiet")
    assert "leftFoot" in said


def test_a_push_at_a_chest_that_is_not_there_is_at_the_spine(waving: Clip, body: poise.Character) -> None:
    one = mix(waving, body, MixPlan(pushes=(parse_push("t=0.1 chest 0,0,40 0.1s"),)))
    other = mix(waving, body, MixPlan(pushes=(parse_push("t=0.1 spine 0,0,40 0.1s"),)))
    assert np.array_equal(one.clip.root, other.clip.root)
    with pytest.raises(InputError, match="elbow"):
        mix(waving, body, MixPlan(pushes=(parse_push("t=0.1 elbow 0,0,40 0.1s"),)))


def test_what_a_part_with_a_driver_of_its_own_feels_is_no_load_for_nothing(waving: Clip, body: poise.Character) -> None:
    from poise.files.reporting import Reporter
    from poise.jobs.mix.checks import check_effects

    loose = (read_drive("leftArm", "loose", {"stiffness": 0.5}),)
    held = (read_drive("leftArm", "kinematic", {}),)

    def check(joint: str, **plan: object) -> None:
        load = (poise.Load(joint, 2.0),)
        check_effects(waving, body, MixPlan(base="kinematic", loads=load, **plan), False, Reporter())  # type: ignore[arg-type]

    check("leftHand", physical=(), drives=loose)
    check("leftHand", physical=("leftArm",))
    rejects(lambda: check("rightHand", physical=(), drives=loose), "'rightHand'")
    rejects(lambda: check("leftHand", physical=("leftArm",), drives=held), "'leftHand'")
