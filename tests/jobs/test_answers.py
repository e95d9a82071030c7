"""How a body answers its arms: made motions of known gain and lag, and another program's reading of written files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from helpers.bodies import make_human
from helpers.kinematics import place_joints
from helpers.recordings import data_file
from oracles import answers
from poise.drivers.body import load_tree
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import Tree, build_tree
from poise.files.formats.bvh.clip import save_bvh
from poise.jobs.shared.answers import GAINS, LAGS, SHIFTS, measure_answer
from poise.motion.clip import Clip
from poise.motion.edits.ground import turn
from poise.spatial import rotation

FPS = 60.0
HERTZ = ((0.8, 0.30, 0.0), (1.7, 0.15, 1.0), (0.2, 0.2, 0.4))  # Hz, rad, rad: two beats, and a slow drift
PEOPLE = ("27_02", "28_01", "30_01", "15_08", "18_08")


def build_statue(skeleton: poise.Skeleton, late: float = 0.0, seconds: float = 12.0) -> Clip:
    """A body of which nothing but the arms moves: both swing back and forth, `late` s after the time."""
    times = np.arange(round(seconds * FPS) + 1) / FPS
    angle = sum(size * np.sin(2 * np.pi * hertz * (times - late) + phase) for hertz, size, phase in HERTZ)
    rotations = np.tile(rotation.identity((len(skeleton),)), (len(times), 1, 1))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        down = Rotation.from_rotvec([0.0, 0.0, -sign * 1.4])
        swing = Rotation.from_rotvec(np.stack([-0.6 - angle, 0 * angle, 0 * angle], axis=1))
        rotations[:, skeleton.index(side + "UpperArm")] = (swing * down).as_quat(scalar_first=True)
    root = np.tile([0.3, 0.95, -0.2], (len(times), 1))
    return Clip(skeleton, times, root, rotations)


def find_shift(tree: Tree, skeleton: poise.Skeleton, late: float = 0.0) -> np.ndarray:
    """(F, 3) m, what the arms of a statue do to its centre of mass: their shift r, by its meaning."""
    statue = build_statue(skeleton, late)
    return compute_center_of_mass(tree, statue.root, statue.rotations) - statue.root


@pytest.fixture(scope="module")
def body() -> poise.Character:
    return poise.Character.human(1.75, 75)


@pytest.mark.parametrize("heading", [0.0, 1.1, 3.0, -2.2])
def test_a_statue_has_a_gain_of_one(body: poise.Character, heading: float) -> None:
    """Only its centre of mass moves, by just the arms' shift, whatever it faces."""
    statue = turn(build_statue(body.skeleton), heading)
    found = measure_answer(statue, build_tree(body), statue)
    assert [found[key] for key in GAINS] == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-9)
    assert [found[key] for key in LAGS] == [None, None, None]
    assert [found[key] for key in SHIFTS] == [0.0, 0.0]


def test_a_load_in_a_hand_belongs_to_the_arms(body: poise.Character) -> None:
    """3 kg in each hand: a statue's gain is still one, and that of a body carried back as before is smaller."""
    loads = [poise.Load(side + "Hand", 3.0) for side in ("left", "right")]
    plain, loaded = build_tree(body), load_tree(build_tree(body), body, loads)
    statue = build_statue(body.skeleton)
    assert measure_answer(statue, loaded, None)["center_gain"] == pytest.approx(1.0, abs=1e-9)
    back = statue.replace(root=statue.root - find_shift(plain, body.skeleton) * [0, 0, 1])
    light, heavy = (measure_answer(back, tree, None)["hips_gain"] for tree in (plain, loaded))
    ratio = np.ptp(find_shift(plain, body.skeleton)[:, 2]) / np.ptp(find_shift(loaded, body.skeleton)[:, 2])
    assert light == pytest.approx(-1.0, abs=1e-9)
    assert heavy == pytest.approx(-ratio, rel=1e-3)
    assert ratio < 0.6


@pytest.mark.parametrize("late", [-0.05, 0.0, 0.03, 0.1])
@pytest.mark.parametrize("heading", [0.0, 2.0])
def test_a_body_that_shifts_against_its_arms(body: poise.Character, late: float, heading: float) -> None:
    """Carried by -1.4 of the arms' shift, some time after them: that time is the lag, and what is in step the gain."""
    tree, skeleton = build_tree(body), body.skeleton
    statue = build_statue(skeleton)
    moved = statue.replace(root=statue.root - 1.4 * find_shift(tree, skeleton, late) * [0, 0, 1])
    found = measure_answer(turn(moved, heading), tree, turn(statue, heading, about=np.zeros(3)))
    assert [found[key] for key in LAGS] == pytest.approx([1000.0 * late] * 3, abs=1.0)
    if late == 0.0:
        assert [found[key] for key in GAINS] == pytest.approx([-0.4, -1.4, -1.4, -1.4], abs=1e-9)
    else:
        assert -1.4 < found["hips_gain"] < -0.8
        assert found["center_gain"] == pytest.approx(1.0 + found["hips_gain"], abs=1e-9)


def test_a_chest_that_leans_moves_the_arms_but_not_their_shift(body: poise.Character) -> None:
    """A statue that nods at the waist without moving an arm has no arms' shift, and so no gains."""
    still = build_statue(body.skeleton)
    rotations = np.tile(still.rotations[:1], (len(still), 1, 1))
    nod = 0.1 * np.sin(2 * np.pi * still.times)
    rotations[:, body.skeleton.index("spine")] = rotation.exp(np.stack([nod, 0 * nod, 0 * nod], axis=1))
    found = measure_answer(still.replace(rotations=rotations), build_tree(body), None)
    assert all(found[key] is None for key in (*GAINS, *LAGS))


def test_shifts_are_the_largest_distance_from_the_animation(body: poise.Character) -> None:
    statue = build_statue(body.skeleton)
    root = statue.root.copy()
    root[100] += [0.03, 0.0, -0.04]
    found = measure_answer(statue.replace(root=root), build_tree(body), statue)
    assert [found[key] for key in SHIFTS] == pytest.approx([50.0, 50.0], abs=1e-9)


def test_what_says_nothing_is_null(body: poise.Character) -> None:
    """Short clips, slow rates, arms that hang still, and bodies that step or fall have no gains; the shift remains."""
    tree, statue = build_tree(body), build_statue(body.skeleton)
    still = statue.replace(rotations=np.tile(statue.rotations[:1], (len(statue), 1, 1)))
    cases = (
        measure_answer(statue.pick(slice(0, 180)), tree, statue.pick(slice(0, 180))),
        measure_answer(statue.pick(slice(None, None, 6)), tree, statue.pick(slice(None, None, 6))),
        measure_answer(still, tree, still),
        measure_answer(statue, tree, statue, stands=False),
    )
    for found in cases:
        assert all(found[key] is None for key in (*GAINS, *LAGS))
        assert all(found[key] == 0.0 for key in SHIFTS)


@pytest.mark.parametrize("without", [("neck",), ("chest", "upperChest", "spine"), ("Shoulder",), ("neck", "Shoulder")])
def test_bodies_with_fewer_joints(without: tuple[str, ...]) -> None:
    """Without a neck its figures are null; all others are those of a statue that is carried by -0.5 of the shift."""
    skeleton = make_human(without=without)
    body = poise.Character.from_skeleton(skeleton, mass=70)
    tree, statue = build_tree(body), build_statue(skeleton)
    moved = statue.replace(root=statue.root - 0.5 * find_shift(tree, skeleton) * [0, 0, 1])
    found = measure_answer(moved, tree, statue)
    assert found["center_gain"] == pytest.approx(0.5, abs=1e-9)
    assert found["head_gain"] == pytest.approx(-0.5, abs=1e-9)
    if "neck" in without:
        assert found["neck_gain"] is None and found["neck_lag_ms"] is None
    else:
        assert found["neck_gain"] == pytest.approx(-0.5, abs=1e-9)


def test_the_judge_reads_gains_and_lags_from_a_file(body: poise.Character, tmp_path: Path) -> None:
    """The program that shares no code with Poise: a statue, and a body that is carried against its arms, 30 ms late."""
    tree, skeleton = build_tree(body), body.skeleton
    statue = build_statue(skeleton)
    save_bvh(turn(statue, 0.7), tmp_path / "statue.bvh")
    rows = answers.measure(answers.read_motion(tmp_path / "statue.bvh"))["beat"]
    assert rows["center"]["gain"] == pytest.approx(1.0, abs=1e-3)
    assert max(abs(rows[name]["gain"]) for name in ("hips", "neck", "head")) < 1e-3
    moved = statue.replace(root=statue.root - 1.4 * find_shift(tree, skeleton, 0.03) * [0, 0, 1])
    save_bvh(turn(moved, 0.7), tmp_path / "moved.bvh")
    judged = answers.measure(answers.read_motion(tmp_path / "moved.bvh"))["beat"]
    found = measure_answer(moved, tree, statue)
    for name in ("hips", "neck", "head"):
        assert judged[name]["lag_ms"] == pytest.approx(30.0, abs=1.0)
        assert judged[name]["gain"] == pytest.approx(found[f"{name}_gain"], rel=0.08)  # the tables of masses differ


def test_loaded_body_keeps_its_centre_of_mass_where_the_clip_has_it_without_loads(body: poise.Character) -> None:
    """Weights in the hands shift it by 40 mm back and forth; after two seconds the body makes up for them."""
    statue, loads = build_statue(body.skeleton, seconds=6.0), {"leftHand": 3.0, "rightHand": 3.0}
    mixed = poise.mix(statue, character=body, loads=[f"{joint}={mass:g}" for joint, mass in loads.items()])
    assert not mixed.fell
    meant, held, led = (
        place_center(body, clip, weights)[120:, 2]
        for clip, weights in ((statue, {}), (mixed.clip, loads), (statue, loads))
    )
    assert np.sqrt(np.mean((led - meant) ** 2)) > 0.02, "that is what the loads would do"
    assert np.sqrt(np.mean((held - meant) ** 2)) < 0.01


def place_center(body: poise.Character, clip: Clip, loads: dict[str, float]) -> np.ndarray:
    """(F, 3) m, the centre of mass of a body with weights (kg) at joints, by SciPy's rotations."""
    places, turns = place_joints(clip.skeleton, clip.root, clip.rotations)
    total, moment = 0.0, np.zeros((len(clip), 3))
    for segment in body.segments:
        joint = clip.skeleton.index(segment.joint)
        moment += segment.mass * (places[:, joint] + turns[joint].apply(np.array(segment.inertia.center)))
        total += segment.mass
    for name, mass in loads.items():
        moment += mass * places[:, clip.skeleton.index(name)]
        total += mass
    return moment / total


@pytest.mark.data
def test_recorded_people_move_against_their_arms(tmp_path: Path) -> None:
    """Five who stand and gesture: the centre of mass stays, hips and neck move against the arms; by both programs."""
    judged, found = [], []
    for name in PEOPLE:
        path = data_file(f"bvh-cmu/{name}.bvh")
        person = answers.read_motion(path)
        judged.append([answers.measure(person)["beat"][point]["gain"] for point in ("center", "hips", "neck")])
        clip = poise.load_clip(path, bones="restore")
        first = round(person.times[0] * 120.0)
        planted = clip.pick(slice(first, first + len(person.times)))
        figures = measure_answer(planted, build_tree(poise.Character.from_skeleton(clip.skeleton)), None)
        found.append([figures[key] for key in ("center_gain", "hips_gain", "neck_gain")])
    # Of these and four more recordings, measured before there was either program.
    assert np.median(judged, axis=0) == pytest.approx([-0.06, -0.91, -1.68], abs=0.1)
    assert np.median(found, axis=0) == pytest.approx([-0.06, -0.91, -1.68], abs=0.1)
