"""What strength a motion needs, by hand where it stands still, and strengths from files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.body.character import Character
from poise.body.strength.joint_strength import JointStrength
from poise.errors import FileError, InputError
from poise.files.registry import save_clip
from poise.files.strength_table import load_muscles, read_muscles
from poise.jobs.strength.needed import HELD, describe_muscles, describe_needed, find_needed
from poise.motion.clip import Clip
from poise.pictures.plots import plot_muscles, plot_needed
from poise.spatial import rotation
from poise.world.forces import Load

MAN = Character.human(1.75, 70.0, sex="male", age=22.0)
HEAD = 'format = "poise-strength 1"\n'


def still(frames: int = 40, fps: float = 50.0) -> Clip:
    """The T-pose, which has both arms straight out."""
    skeleton = MAN.skeleton
    turns = np.tile(rotation.identity(), (frames, len(skeleton), 1))
    root = np.tile(skeleton.offsets[0], (frames, 1))
    return Clip(skeleton, np.arange(frames) / fps, root, turns, "still")


def moment(joint: str, load: float = 0.0) -> float:
    """N m about a joint of the left arm, of all that it carries, and of a load at the hand: weights times levers."""
    skeleton, places = MAN.skeleton, MAN.skeleton.rest_positions()
    first, total = skeleton.index(joint), 0.0
    for i in skeleton.descendants(first):
        each = MAN.inertias[i]
        total += 9.81 * each.mass * (places[i] + each.center - places[first])[0]
    return float(total + 9.81 * load * (places[skeleton.index("leftHand")] - places[first])[0])


@pytest.mark.parametrize("load", [0.0, 3.0])
def test_arms_held_out_need_their_weight_times_their_lever(load: float) -> None:
    loads = [Load("leftHand", load)] if load else []
    needed = find_needed(still(), MAN, loads=loads)
    figures = describe_needed(needed, MAN)
    muscles = JointStrength.from_character(MAN)
    angles, rates, _ = muscles.find_state(still().rotations[0], np.zeros((len(MAN.skeleton), 3)))
    row = muscles.row("leftUpperArm", "z")
    assert np.degrees(angles[row]) == pytest.approx(90.0, abs=1e-6)
    high = muscles.torque_range(angles, rates)[1][row]
    found = figures["joints"]["leftUpperArm"]["ways"]["+z"]
    assert found["torque_nm"] == pytest.approx(moment("leftUpperArm", load), rel=1e-6)
    assert found["ratio"] == pytest.approx(moment("leftUpperArm", load) / high, rel=1e-6)
    # the forearm lies with its thumb ahead: what hangs from the elbow pulls sideways, and the elbow holds that
    hand = needed.torque[20, muscles.row("leftHand", "z")]
    assert hand == pytest.approx(moment("leftHand", load), rel=1e-6)
    assert figures["mass_kg"] == pytest.approx(70.0) and figures["stature_m"] == 1.75
    assert figures["joints"]["rightUpperArm"]["ways"]["-z"]["torque_nm"] == pytest.approx(-moment("leftUpperArm"))


def test_a_body_of_the_scale_that_is_found_can_just_do_it() -> None:
    needed = find_needed(still(), MAN, loads=[Load("rightHand", 5.0)])
    again = find_needed(still(), MAN, needed.muscles.scaled(needed.scale), [Load("rightHand", 5.0)])
    assert again.scale == pytest.approx(1.0, rel=1e-9)
    assert find_needed(still(), MAN).scale < needed.scale
    figures = describe_needed(needed, MAN)
    ratios = [joint["ratio"] for joint in figures["joints"].values()]
    assert ratios == sorted(ratios, reverse=True) and ratios[0] == figures["scale"] == needed.scale
    assert max(figures["regions"].values()) == needed.scale
    assert set(figures["regions"]) == {"legs", "toes", "trunk", "neck", "arms"}
    assert figures["limited_by"] == next(iter(figures["joints"]))
    none = find_needed(still(), MAN, needed.muscles.scaled({"leftUpperArm": 0}))
    assert none.scale == np.inf


def test_a_spike_does_not_count_and_what_is_held_does() -> None:
    """Nothing filtered, and one frame of a hand that is elsewhere: torques of kilonewton metres for three frames."""
    clip = still(60, 100.0)
    turns = clip.rotations.copy()
    hand = MAN.skeleton.index("leftHand")
    turns[30, hand] = rotation.exp(np.array([0.0, 0.0, 0.3]))
    spiky = clip.replace(rotations=turns)
    calm, wild = find_needed(clip, MAN, cutoff=np.inf), find_needed(spiky, MAN, cutoff=np.inf)
    row = calm.muscles.row("leftHand", "z")
    assert wild.ratio[:, :, row].max() > 10.0 * calm.ratio[:, :, row].max()
    assert wild.held[:, :, row].max() < 1.3 * calm.held[:, :, row].max()
    assert HELD == 0.05


def test_times_count_from_the_first_frame_and_files_and_clips_need_the_same(tmp_path: Path) -> None:
    clip = still()
    late = clip.replace(times=clip.times + 7.0)
    needed = find_needed(late, MAN)
    assert all(0.0 <= joint["time_s"] <= clip.duration for joint in describe_needed(needed, MAN)["joints"].values())
    save_clip(clip, tmp_path / "still.npz")
    told: list[tuple[str, str]] = []
    by_file = poise.strength(
        tmp_path / "still.npz", mass=70.0, sex="male", age=22, tell=lambda *said: told.append(said)
    )
    by_clip = poise.strength(clip, mass=70.0, height=1.75, sex="male", age=22)
    assert by_file["scale"] == pytest.approx(by_clip["scale"], rel=0.02) and told
    child = poise.strength(clip, mass=70.0, height=1.75, sex="male", age=80)
    assert child["scale"] > by_clip["scale"]
    rejects(lambda: poise.strength(clip, sex="boy"), "'boy'")
    with pytest.raises(InputError, match="nose"):
        poise.strength(clip, loads=[Load("nose", 1.0)])


def test_rising_from_a_chair_takes_what_share_of_strength_was_measured() -> None:
    """Arch Phys Med Rehabil 74:1095 (1993), 12 men: 0.7 N m/kg at a hip and 0.9 at a knee, 27 and 30 % of the most."""
    muscles = JointStrength.from_character(MAN)
    angles, rates = np.zeros(len(muscles)), np.zeros(len(muscles))
    hip, knee = muscles.row("leftUpperLeg", "x"), muscles.row("leftLowerLeg", "x")
    angles[hip], angles[knee] = np.radians(-85.0), np.radians(85.0)
    low, high = muscles.torque_range(angles, rates)
    assert 0.7 * 70.0 / high[hip] == pytest.approx(0.27, abs=0.08)
    assert 0.9 * 70.0 / -low[knee] == pytest.approx(0.30, abs=0.08)


def test_peaks_are_told_with_their_angles() -> None:
    figures = describe_muscles(JointStrength.from_character(MAN), MAN, ["leftLowerLeg"])
    knee = figures["joints"]["leftLowerLeg"]
    assert list(figures["joints"]) == ["leftLowerLeg"] and list(knee) == ["-x", "+x", "-y", "+y"]
    assert knee["-x"]["angle_degrees"] == 65.0  # 1.133 rad
    assert knee["-x"]["peak_nm"] == pytest.approx(0.163 * 70 * 9.81 * 1.75)


@pytest.mark.slow
def test_pictures_are_drawn() -> None:
    muscles = JointStrength.from_character(MAN)
    for rows in ([0], list(range(7))):
        assert plot_muscles(muscles, rows, "a man").startswith(b"\x89PNG")
    assert plot_muscles(muscles, [0]) == plot_muscles(muscles, [0])
    rejects(lambda: plot_muscles(muscles, []), "1", "60")
    shares = {"leftHand +x": np.linspace(0.0, 2.0, 20), "none": np.full(20, np.inf)}
    assert plot_needed(np.arange(20) / 10, shares, np.inf).startswith(b"\x89PNG")


def test_a_file_sets_some_and_leaves_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        HEAD + 'scale = 0.5\n[scales]\nrightHand = 0.25\n[[joint]]\njoint = "leftLowerLeg"\naxis = "x"\nlower = -150\n'
        "[joint.upper]\nangles = [0, 90]\nspeeds = [-180, 180]\ntorque = [[40, 20], [80, 60]]\n"
        '[[joint]]\njoint = "rightLowerArm"\naxis = "y"\nlower = { angles = [-10, 10], torque = [-3, -5] }\n'
    )
    mine, usual = load_muscles(path, MAN), JointStrength.from_character(MAN)
    state = np.full(len(usual), np.pi / 4), np.zeros(len(usual))
    low, high = mine.torque_range(*state)
    knee, forearm, hand = (
        usual.row(*way) for way in (("leftLowerLeg", "x"), ("rightLowerArm", "y"), ("rightHand", "x"))
    )
    assert (low[knee], high[knee]) == (-150.0, pytest.approx(50.0)) and low[forearm] == -5.0
    first, second = usual.torque_range(*state)
    assert high[hand] == pytest.approx(0.125 * second[hand])
    rest = [i for i in range(len(usual)) if i not in (knee, forearm, *usual.rows("rightHand"))]
    np.testing.assert_allclose(low[rest], 0.5 * first[rest])
    weak = read_muscles({"format": "poise-strength 1", "base": "weak", "scale": 0.2}, MAN)
    np.testing.assert_allclose(weak.peaks, 0.2 * usual.peaks)


KNEE = '[[joint]]\njoint = "leftLowerLeg"\naxis = "x"\n'


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("scale = 1\n", None, "lacks 'format'"),
        ('format = "strong"\n', 1, "must be 'poise-strength 1'"),
        (HEAD + 'base = "giant"\n', 2, "base 'giant' is not known"),
        (HEAD + "scale = -1\n", 2, "0 or more"),
        (HEAD + "[scales]\nleftHand = -2\n", 3, "0 or more"),
        (HEAD + "[scales]\ntail = 2\n", 3, "joint 'tail' is not in the degrees of freedom"),
        (HEAD + KNEE, 2, "neither 'lower' nor 'upper'"),
        (HEAD + '[[joint]]\njoint = "leftKne"\naxis = "x"\nlower = -1\n', 3, "Did you mean"),
        (HEAD + '[[joint]]\njoint = "leftLowerLeg"\naxis = "w"\nlower = -1\n', 4, "axis 'w' is not in those"),
        (HEAD + '[[joint]]\njoint = "leftLowerLeg"\naxis = "z"\nlower = -1\n', 4, "axis 'z' is not in those"),
        (HEAD + KNEE + "lower = 20\nupper = -30\n", 5, "Are the bounds exchanged?"),
        (HEAD + KNEE + "lower = -20\nupper = -30\n", 6, "Are the bounds exchanged?"),
        (HEAD + KNEE + "upper = nan\n", 5, "finite"),
        (HEAD + KNEE + 'upper = "much"\n', 5, "must be a number"),
        (HEAD + KNEE + "upper = { angles = [0, 1], torque = [5, nan] }\n", 5, "finite"),
        (HEAD + KNEE + "upper = { angles = [0, 9, 5], torque = [5, 5, 5] }\n", 5, "rises: 5 comes after 9"),
        (HEAD + KNEE + "upper = { angles = [1], speeds = [3, 3], torque = [[5, 5]] }\n", 5, "rises: 3 comes after 3"),
        (HEAD + KNEE + "upper = { angles = [], torque = [] }\n", 5, "rises: nothing does not"),
        (HEAD + KNEE + "upper = 1e300\n", 5, "at most 1e+12"),
        (HEAD + KNEE + "upper = { angles = [0, 1e300], torque = [5, 5] }\n", 5, "at most 1e+12"),
        (HEAD + "scale = 1e308\n", 2, "at most 1e+06"),
        (HEAD + "[scales]\nleftHand = 1e308\n", 3, "at most 1e+06"),
        (HEAD + '[[joint]]\njoint = "' + "a" * 10000 + '"\naxis = "x"\nlower = -1\n', 3, "aaa...' is not in"),
        (HEAD + KNEE + "upper = { angles = [0, 9], torque = [5] }\n", 5, "2 angles and 1 rates"),
        (HEAD + KNEE + "upper = { angles = [0], speeds = [0, 1], torque = [[5, 6], [7]] }\n", 5, "as many numbers"),
        (HEAD + KNEE + "upper = { torque = [5] }\n", 5, "lacks 'angles'"),
        (HEAD + KNEE + "upper = { angles = [0] }\n", 5, "lacks 'torque'"),
        (HEAD + KNEE + "upper = { angles = [0, 1], torque = [5, -5] }\n", 5, "Are the bounds exchanged?"),
        (HEAD + KNEE + "uper = 5\nlower = -1\n", 5, "key of"),
        (HEAD + KNEE + "lower = -1\n" + KNEE + "lower = -2\n", 7, "twice"),
        (HEAD + "knee = 5\n", 2, "key of"),
        (HEAD + "joint = 5\n", 2, "must be a list"),
        ("[[joint\n", 1, "not valid TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_sentence_with_its_line(
    tmp_path: Path, text: str, line: int | None, said: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(FileError) as told:
        load_muscles(path, MAN)
    sentence = str(told.value)
    assert said in sentence and "\n" not in sentence and len(sentence) < 700
    assert sentence.startswith(f"{path}:{line}: " if line else f"{path}: ")
