"""Forces from motion alone, against Newton's laws on Poise's own motions and against force plates on recordings."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.errors import rejects
from helpers.recordings import data_file
from poise.body.character import Character
from poise.body.roles import SIDES
from poise.cli import main
from poise.dynamics.ground_reaction import GroundReaction, Soles, split_by_pivot
from poise.errors import InputError
from poise.files import load_clip, save_clip
from poise.files.character import save_character
from poise.motion import samples
from poise.motion.clip import Clip
from poise.motion.edits.timing import trim
from poise.motion.forces.forces import ClipForces, compute_forces, tabulate_forces
from poise.spatial import rotation

WALKS = ["gait10dof_walk", "gait10dof_walk_overground", "walk3d", "walk3d_raw", "walk3d_ik"]


def human(height: float = 1.75, mass: float = 75.0) -> Character:
    return Character.human(height, mass)


def weight(forces: ClipForces) -> float:
    return 9.81 * forces.tree.mass


@pytest.mark.parametrize(("height", "mass"), [(1.2, 30), (1.75, 75), (2.1, 150)])
@pytest.mark.parametrize("name", ["idle", "squat", "wave"])
def test_from_rest_to_rest_the_ground_gives_just_the_weight(name: str, height: float, mass: float) -> None:
    """The impulse of the net force is the change of momentum, which is nothing: exact but for differentiating."""
    body = human(height, mass)
    clip = getattr(samples, name)(body.skeleton, 3.0, 100.0)
    forces = compute_forces(clip, body)
    mean = np.trapezoid(forces.reaction.force, forces.times, axis=0) / clip.duration
    np.testing.assert_allclose(mean / weight(forces), [0, 1, 0], atol=2e-3)


def test_a_jump_flies_without_the_ground() -> None:
    body = human()
    forces = compute_forces(samples.jump(body.skeleton, fps=120.0), body, cutoff=np.inf)
    flight = forces.contacts.flight
    assert 0.2 < forces.times[flight][-1] - forces.times[flight][0] < 0.8
    inside = flight & np.roll(flight, 5) & np.roll(flight, -5)
    # The hips fly on an exact parabola; arms and legs move about them, so the centre of mass is only nearly on one.
    assert np.abs(np.median(forces.reaction.force[inside, 1])) < 0.1 * weight(forces)
    assert forces.feet.share[flight].max() == 0
    assert forces.reaction.force[:, 1].max() > 1.8 * weight(forces)


def test_feet_share_all_of_the_force_and_its_moment() -> None:
    body = human()
    forces = compute_forces(samples.walk(body.skeleton, 4.0, 100.0), body)
    down = forces.contacts.foot.any(axis=1) & np.isfinite(forces.reaction.pressure).all(axis=1)
    np.testing.assert_allclose(forces.feet.force.sum(axis=1)[down], forces.reaction.force[down], atol=1e-6)
    assert np.abs(forces.residual[down]).max() < 1e-6
    # What moment the soles cannot take is left at the root; a walk of Poise's own is not made by physics.
    left = np.linalg.norm(forces.torque[:, 0], axis=-1)
    assert np.median(left[down]) < 0.02 * weight(forces)


def test_a_walk_steps_from_foot_to_foot() -> None:
    body = human()
    forces = compute_forces(samples.walk(body.skeleton, 6.0, 100.0), body)
    middle = (forces.times > 2) & (forces.times < 4)
    share = forces.feet.share[middle]
    assert (share[:, 0] == 1).any() and (share[:, 1] == 1).any()
    assert ((share > 0.05) & (share < 0.95)).any()
    # Nothing jumps, though the walk is not made by physics: a foot takes 40 ms to come into play.
    assert np.abs(np.diff(forces.feet.share, axis=0)).max() < 0.25


@pytest.mark.parametrize("seed", range(5))
def test_shares_add_up_to_force_and_moment(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 50
    heel = rng.normal(size=(n, 2, 3)) * [0.3, 0, 0.3]
    tip = heel + rng.normal(size=(n, 2, 3)) * [0.2, 0, 0.2]
    middle = 0.5 * (heel + tip)
    part = rng.uniform(size=(n, 1))
    pressure = part * middle[:, 0] + (1 - part) * middle[:, 1]  # between the feet: nothing is moved onto a sole
    force = rng.normal(size=(n, 3)) * [100, 0, 100] + [0, 800, 0]
    free = rng.normal(size=n) * 5
    moment = np.cross(pressure, force) + free[:, None] * [0, 1, 0]
    center = pressure + [0, 1.0, 0]
    shared = split_by_pivot(
        GroundReaction(force, moment, pressure, free), center, Soles(middle, heel, tip), np.ones((n, 2))
    )
    np.testing.assert_allclose(shared.share[:, :1], part, atol=1e-9)
    np.testing.assert_allclose(shared.force.sum(axis=1), force, atol=1e-9)
    total = np.cross(shared.point, shared.force).sum(axis=1) + shared.free_moment.sum(axis=1)[:, None] * [0, 1, 0]
    np.testing.assert_allclose(total[:, [0, 2]], moment[:, [0, 2]], atol=1e-9)


def test_the_first_foot_alone_carries_all() -> None:
    pressure, force = np.array([0.1, 0, 0.05]), np.array([10.0, 700, -20])
    heel = np.array([[0.1, 0, -0.1], [-0.1, 0, -0.1]])
    tip = heel + [0, 0, 0.25]
    reaction = GroundReaction(force, np.cross(pressure, force), pressure, np.array(0.0))
    soles = Soles(0.5 * (heel + tip), heel, tip)
    shared = split_by_pivot(reaction, np.array([0, 1.0, 0]), soles, np.array([1.0, 0.0]))
    np.testing.assert_allclose(shared.share, [1, 0])
    np.testing.assert_allclose(shared.force, [force, [0, 0, 0]], atol=1e-9)
    np.testing.assert_allclose(shared.point[0], pressure)


def on_all_fours(fps: float = 60.0) -> tuple[Clip, Character]:
    """A table of four legs: thighs and arms down, shanks back along the ground, the trunk as hands reach the ground."""
    body = human()
    clip = samples.idle(body.skeleton, 2.0, fps)
    skeleton = clip.skeleton
    knee, hand = skeleton.index("leftLowerLeg"), skeleton.index("leftHand")
    tried = []
    for lean in np.radians(np.arange(50.0, 91.0)):
        turns = rotation.identity((len(clip), len(skeleton)))
        turns[:, 0] = rotation.exp([lean, 0.0, 0.0])
        for side, sign in (("left", 1.0), ("right", -1.0)):
            for part, angle in (("UpperLeg", -lean), ("LowerLeg", np.pi / 2), ("Foot", np.pi / 2)):
                turns[:, skeleton.index(f"{side}{part}")] = rotation.exp([angle, 0.0, 0.0])
            ahead, down = rotation.exp([0.0, -sign * np.pi / 2, 0.0]), rotation.exp([np.pi / 2 - lean, 0.0, 0.0])
            turns[:, skeleton.index(f"{side}UpperArm")] = rotation.multiply(down, ahead)
            turns[:, skeleton.index(f"{side}Hand")] = rotation.exp([0.0, sign * np.pi / 2, 0.0])
        posed = clip.replace(rotations=turns, root=np.tile(clip.root[0], (len(clip), 1)))
        tried.append((abs(posed.positions[0, knee, 1] - posed.positions[0, hand, 1]), posed))
    posed = min(tried, key=lambda each: each[0])[1]
    return posed.replace(root=posed.root - [0.0, posed.positions[0, knee, 1] - 0.05, 0.0]), body


def test_by_the_papers_ratios_knees_and_hands_carry_too() -> None:
    clip, body = on_all_fours()
    forces = compute_forces(clip, body, shares="paper")
    touch = np.concatenate([forces.contacts.foot, forces.contacts.knee, forces.contacts.hand], axis=1)
    middle = touch[len(clip) // 2]
    assert forces.others is not None and middle[2:].all()
    share = np.concatenate([forces.feet.share, forces.others.share], axis=1)[len(clip) // 2]
    # by hand: squared cosines at rest, of those that touch, and of a leg's two the larger
    places = clip.positions[len(clip) // 2]
    center = forces.center[len(clip) // 2]
    assert share[:2].max() == 0.0
    touched = places[[body.skeleton.index(f"{side}{part}") for part in ("LowerLeg", "Hand") for side in SIDES]]
    away = center - touched
    squared = away[:, 1] ** 2 / np.sum(away**2, axis=1)
    np.testing.assert_allclose(share[2:4] / share[2:4].sum(), squared[:2] / squared[:2].sum(), atol=1e-9)
    np.testing.assert_allclose(share[2:], squared / squared.sum(), atol=0.02)  # a hand is longer than its wrist
    assert share.sum() == pytest.approx(1.0)
    total = forces.feet.force.sum(axis=1) + forces.others.force.sum(axis=1)
    np.testing.assert_allclose(total, forces.reaction.force, atol=1e-6)
    assert np.abs(forces.residual).max() < 1e-6
    usual = compute_forces(clip, body)
    assert usual.others is None
    columns = tabulate_forces(forces, clip.skeleton)
    assert set(columns) - set(tabulate_forces(usual, clip.skeleton)) == {
        f"{side}{part}_grf_{axis}" for side in ("left", "right") for part in ("LowerLeg", "Hand") for axis in "xyz"
    }
    rejects(lambda: compute_forces(clip, body, shares="lever"), "'lever'")


def test_torques_come_from_the_shares_whichever_way() -> None:
    """What the ground does to feet, knees and hands and what is left at the root add up to what moves the body."""
    for clip, body in (on_all_fours(), (samples.walk(human().skeleton, 3.0, 60.0), human())):
        for way in ("moments", "paper"):
            forces = compute_forces(clip, body, np.inf, way)
            parts = [forces.feet] if forces.others is None else [forces.feet, forces.others]
            moment = sum(np.cross(part.point, part.force).sum(axis=1) for part in parts)
            moment[:, 1] += sum(part.free_moment.sum(axis=1) for part in parts)
            root = forces.state.root
            left = rotation.rotate(forces.state.rotations[:, 0], forces.torque[:, 0])
            left = left + np.cross(root, forces.residual)
            np.testing.assert_allclose(moment + left, forces.reaction.moment, atol=1e-6)


def test_bad_clips_are_refused_with_a_sentence() -> None:
    body = human()
    clip = samples.idle(body.skeleton, 1.0, 60.0)
    rejects(lambda: compute_forces(trim(clip, 0, 1 / 60), body), "3 frames")
    with pytest.raises(InputError, match="not the clip's"):
        compute_forces(clip, Character.human(preset="mix"))
    uneven = Clip(clip.skeleton, np.array([0.0, 0.1, 0.5, 0.6]), clip.root[:4], clip.rotations[:4])
    with pytest.raises(InputError, match="uniform rate"):
        compute_forces(uneven, body)


def test_command_writes_the_series_and_the_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = human()
    save_clip(samples.squat(body.skeleton, 2.0, 60.0), tmp_path / "squat.bvh")
    table, plot = tmp_path / "series.csv", tmp_path / "plot.png"
    words = ["forces", str(tmp_path / "squat.bvh"), "-o", str(table), "--plot", str(plot), "--mass", "75", "--json"]
    assert main(words) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["mass_kg"] == pytest.approx(75)
    assert 1.0 < figures["peak_vertical_bw"] < 2.0
    assert {"stature_m", "cutoff_hz"} <= set(figures)
    rows = read_table(table)
    head = ["time", "grf_x", "grf_y", "grf_z", "cop_x", "cop_z", "com_x", "com_y", "com_z"]
    assert list(rows)[:9] == head
    assert {f"{name}_torque" for name in body.skeleton.names} <= set(rows)
    assert rows["grf_y"].mean() == pytest.approx(75 * 9.81, rel=0.01)
    assert plot.read_bytes()[:4] == b"\x89PNG"
    first = table.read_bytes(), plot.read_bytes()
    assert main(words) == 0
    assert (table.read_bytes(), plot.read_bytes()) == first  # same input, same bytes


@pytest.mark.parametrize(
    "words", [["--mass", "0"], ["--mass", "-3"], ["--mass", "nan"], ["--cutoff", "0"], ["--fps", "-1"]]
)
def test_command_refuses_bad_numbers(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_clip(samples.idle(human().skeleton, 1.0, 30.0), tmp_path / "idle.bvh")
    table = tmp_path / "series.csv"
    assert main(["forces", str(tmp_path / "idle.bvh"), "-o", str(table), "--quiet", *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("poise: ") and said.count("\n") == 1 and "Traceback" not in said
    assert not table.exists()


def read_table(path: Path) -> dict[str, np.ndarray]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0]}


def plate_errors(trial: str, tmp_path: Path) -> np.ndarray:
    """RMS difference to the plates in body weights, along x, y, z, of what the command writes."""
    clip, truth = data_file(f"force-bvh/{trial}.bvh"), read_table(data_file(f"force-bvh/{trial}_grf.csv"))
    mass = json.loads(data_file(f"force-bvh/{trial}.json").read_text())["subject_mass_kg"]
    table = tmp_path / "series.csv"
    assert main(["forces", str(clip), "-o", str(table), "--mass", str(mass), "--quiet"]) == 0
    ours, valid = read_table(table), truth["valid"] == 1
    apart = [ours[f"grf_{axis}"][valid] - truth[f"total_f{axis}"][valid] for axis in "xyz"]
    return np.sqrt(np.mean(np.square(apart), axis=1)) / (mass * 9.81)


@pytest.mark.data
@pytest.mark.parametrize("trial", WALKS)
def test_ground_force_is_the_plates(trial: str, tmp_path: Path) -> None:
    lateral, vertical, fore_aft = plate_errors(trial, tmp_path)
    assert vertical < 0.04 and fore_aft < 0.04
    assert lateral < 0.04 or trial.startswith("gait10dof")  # that model is planar: its motion has no lateral part


@pytest.mark.data
@pytest.mark.parametrize("trial", WALKS)
def test_shares_of_statics_are_near_the_plates_in_double_support_and_the_papers_are_not(trial: str) -> None:
    clip, truth = load_clip(data_file(f"force-bvh/{trial}.bvh")), read_table(data_file(f"force-bvh/{trial}_grf.csv"))
    mass = json.loads(data_file(f"force-bvh/{trial}.json").read_text())["subject_mass_kg"]
    both = (truth["valid"] == 1) & (truth["left_contact"] == 1) & (truth["right_contact"] == 1)
    measured = truth["left_fy"][both] / (truth["left_fy"] + truth["right_fy"])[both]
    assert both.sum() > 25
    off = {}
    for way in ("moments", "paper"):
        forces = compute_forces(clip, Character.from_skeleton(clip.skeleton, mass=mass), shares=way)
        off[way] = np.sqrt(np.mean((forces.feet.share[both, 0] - measured) ** 2))
    assert off["moments"] < 0.08 and 0.2 < off["paper"] < 0.35


@pytest.mark.data
def test_noisy_motion_is_filtered_by_itself(tmp_path: Path) -> None:
    """Without a filter 21 % of body weight."""
    _, vertical, fore_aft = plate_errors("walk3d_ik_raw", tmp_path)
    assert vertical < 0.05 and fore_aft < 0.05


@pytest.mark.data
@pytest.mark.parametrize("trial", ["hamner_run_overground", "hamner_run_raw"])
def test_a_run_keeps_the_laws_of_flight_and_is_near_the_plates(trial: str, tmp_path: Path) -> None:
    """With a filter alone 22 and 13 % vertical, and 29 and 19 % of body weight in the air."""
    lateral, vertical, fore_aft = plate_errors(trial, tmp_path)
    assert vertical < 0.12 and fore_aft < 0.08 and lateral < 0.1
    ours = read_table(tmp_path / "series.csv")
    truth = read_table(data_file(f"force-bvh/{trial}_grf.csv"))
    flight = (truth["valid"] == 1) & (truth["left_contact"] + truth["right_contact"] == 0)
    assert np.sqrt(np.mean(np.square(ours["grf_y"][flight]))) < 0.02 * 65.9 * 9.81
    assert ours["grf_y"].min() > -1.0


@pytest.mark.data
@pytest.mark.parametrize("trial", ["walk3d", "walk3d_ik"])
def test_peak_hip_and_knee_moments_are_near_those_of_opensim(trial: str) -> None:
    clip = load_clip(data_file(f"force-bvh/{trial}.bvh"))
    truth = read_table(data_file(f"force-bvh/{trial}_reference.csv"))
    forces = compute_forces(clip, Character.from_skeleton(clip.skeleton, mass=85.27))
    valid = truth["valid"] == 1
    for side in ("left", "right"):
        for joint, role, near in (("hip", "UpperLeg", 0.2), ("knee", "LowerLeg", 0.2), ("ankle", "Foot", 0.35)):
            size = np.linalg.norm(forces.torque[valid, clip.skeleton.index(side + role)], axis=-1)
            assert size.max() == pytest.approx(truth[f"{side}_{joint}_norm"][valid].max(), rel=near)


def test_command_takes_a_saved_body(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = Character.human(1.8, 66.0)
    save_clip(samples.idle(body.skeleton, 1.0, 60.0), tmp_path / "idle.bvh")
    save_character(body, tmp_path / "body.json")
    table = tmp_path / "s.csv"
    words = ["forces", str(tmp_path / "idle.bvh"), "-o", str(table), "--json", "--character"]
    assert main([*words, str(tmp_path / "body.json")]) == 0
    assert json.loads(capsys.readouterr().out)["mass_kg"] == pytest.approx(66.0)
    assert main([*words, str(tmp_path / "body.json"), "--mass", "70"]) == 2
    assert "leave out --mass" in capsys.readouterr().err


def test_command_retargets_the_clip_onto_a_body_with_other_joints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clip_body, other = Character.human(1.8, 66.0), Character.human(1.6, 90.0, preset="mix")
    save_clip(samples.idle(clip_body.skeleton, 1.0, 60.0), tmp_path / "idle.bvh")
    save_character(other, tmp_path / "other.json")
    table = tmp_path / "s.csv"
    words = ["forces", str(tmp_path / "idle.bvh"), "-o", str(table), "--json"]
    assert main([*words, "--character", str(tmp_path / "other.json")]) == 0
    assert json.loads(capsys.readouterr().out)["mass_kg"] == pytest.approx(90.0)
    columns = np.genfromtxt(table, delimiter=",", names=True)
    torques = {name.removesuffix("_torque") for name in columns.dtype.names or () if name.endswith("_torque")}
    assert torques == set(other.skeleton.names) != set(clip_body.skeleton.names)
    assert columns["grf_y"].mean() == pytest.approx(90.0 * 9.81, rel=0.01)  # it stands: the ground carries its weight


def test_command_never_overwrites_what_it_reads_or_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip = tmp_path / "idle.bvh"
    save_clip(samples.idle(human().skeleton, 1.0, 30.0), clip)
    before, table = clip.read_bytes(), tmp_path / "s.csv"
    (tmp_path / "link.csv").symlink_to(clip)
    for words, said in (
        (["-o", str(clip)], "overwrite the input"),
        (["-o", str(tmp_path / "link.csv")], "overwrite the input"),
        (["-o", str(table), "--plot", str(table)], "overwrite -o"),
        (["-o", str(tmp_path / "s.png")], "writes .csv"),
        (["-o", str(table), "--plot", str(tmp_path / "none" / "p.png")], "does not exist"),
        (["-o", str(table), "--cutoff", "1e-12"], "slower than anything"),
    ):
        assert main(["forces", str(clip), "--quiet", *words]) == 2
        assert said in capsys.readouterr().err
        assert clip.read_bytes() == before and not table.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["idle.bvh", "link.csv"]


def test_command_writes_to_a_pipe(tmp_path: Path) -> None:
    clip = tmp_path / "idle.bvh"
    save_clip(samples.idle(human().skeleton, 1.0, 30.0), clip)
    words = [sys.executable, "-m", "poise", "forces", str(clip), "-o", "/dev/stdout", "--quiet"]
    if not Path("/dev/stdout").exists():
        pytest.skip("this system has no /dev/stdout")
    done = subprocess.run(words, capture_output=True, check=True)
    assert done.stdout.startswith(b"time,grf_x")


def test_labels_differ_even_where_a_joint_is_called_like_anothers_role() -> None:
    skeleton = human().skeleton
    names = ["chest" if name == "spine" else "spine" if name == "chest" else name for name in skeleton.names]
    mixed = skeleton.replace(names=names).replace(roles={"spine": "chest"})
    assert len(set(mixed.labels)) == len(mixed)
    assert mixed.labels[names.index("spine")] == "spine_"
