"""A skeleton from markers: a figure whose joints are known, gaps, poor sets, and people seen by other programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.marked_walker import ARM, FOREARM, LABELS, MEASURES, SHANK, THIGH, walk
from helpers.recordings import data_file
from poise.files.formats.acclaim.amc import read_amc
from poise.files.formats.c3d.c3d import load_c3d, read_c3d
from poise.findings import list_warnings
from poise.motion.markers import clean_label, find_markers, fit_markers
from poise.spatial import rotation


def fit(labels: list[str] | None = None, **changes: np.ndarray):
    """The walker's markers fitted, with some labels only, or with markers changed."""
    times, markers, joints, turns = walk()
    markers |= changes
    labels = LABELS if labels is None else labels
    positions = np.stack([markers[label] for label in labels], axis=1)
    return fit_markers(labels, times, positions, MEASURES), joints, turns


def test_the_joints_are_found_again() -> None:
    motion, joints, _ = fit()
    assert motion.findings == () and motion.gaps == {}
    clip = motion.clip
    # Hips, knees, ankles and shoulders are placed as the fit inverts it: exact but for the knee's iteration.
    for role, limit in (("UpperLeg", 1e-9), ("LowerLeg", 1e-3), ("Foot", 1e-3), ("UpperArm", 1e-9), ("LowerArm", 2e-3)):
        for side in ("left", "right"):
            apart = np.linalg.norm(motion.centers[side + role] - joints[side + role], axis=1)
            assert apart.max() < limit, (side, role, apart.max())
    for side in ("left", "right"):
        assert np.linalg.norm(motion.centers[side + "Hand"] - joints[side + "Hand"], axis=1).max() < 0.01
    for role in ("hips", "neck", "head"):
        assert np.abs(motion.centers[role] - joints[role]).max() < 1e-9
    # The whole skeleton, with bones of constant length, passes through them.
    for role in joints:
        apart = np.linalg.norm(clip.positions[:, clip.skeleton.index(role)] - joints[role], axis=1)
        assert np.sqrt(np.mean(apart**2)) < 0.012, role


def test_bones_and_orientations() -> None:
    motion, _, turns = fit()
    skeleton = motion.clip.skeleton
    for side in ("left", "right"):
        for joint, length in (("LowerLeg", THIGH), ("Foot", SHANK), ("LowerArm", ARM), ("Hand", FOREARM)):
            assert np.linalg.norm(skeleton.offsets[skeleton.index(side + joint)]) == pytest.approx(length, abs=0.008)
    for role, turn in turns.items():
        ours = Rotation.from_quat(motion.clip.world[1][:, skeleton.index(role)].copy(), scalar_first=True)
        apart = np.degrees((ours.inv() * turn).magnitude())
        # The pelvis's axes differ from those of its four spines by the tilt that standing has.
        expected = 11.3 if role == "hips" else 0.0
        assert np.abs(apart - expected).max() < (3.0 if role.endswith(("Arm", "Hand")) else 1.0), (role, apart.max())


def test_rest_is_a_t_pose() -> None:
    skeleton = fit()[0].clip.skeleton
    rest = dict(zip(skeleton.names, skeleton.rest_positions(), strict=True))
    assert rest["leftHand"][0] - rest["leftUpperArm"][0] == pytest.approx(ARM + FOREARM, abs=0.01)
    assert rest["leftHand"][1] == pytest.approx(rest["leftUpperArm"][1], abs=1e-3)
    assert rest["rightFoot"][1] == pytest.approx(0.039 * 1.75, abs=0.01)
    assert skeleton.tips[skeleton.index("leftFoot")][2] > 0.15  # toes ahead
    assert dict(skeleton.roles) == {name: name for name in skeleton.names}


def test_short_gaps_are_filled_and_long_ones_said() -> None:
    _, markers, _, _ = walk()
    whole = fit()[0]
    thin = markers["LKNE"].copy()
    thin[50:60] = np.nan
    motion = fit(LKNE=thin)[0]
    assert motion.gaps == {"LKNE": pytest.approx(0.10)} and "filled" in list_warnings(motion.findings)[0]
    moved = np.linalg.norm(motion.clip.positions - whole.clip.positions, axis=-1)
    assert moved[:45].max() < 2e-3 and moved.max() < 0.02
    lost = markers["LTOE"].copy()
    lost[150:] = np.nan
    motion = fit(LTOE=lost)[0]
    assert "LTOE 0.90 s" in list_warnings(motion.findings)[0] and "interpolated" in list_warnings(motion.findings)[0]
    assert np.isfinite(motion.clip.positions).all()


def test_poorer_sets_give_what_they_can() -> None:
    legs = [label for label in LABELS if label[1:] in ("ASI", "PSI", "THI", "KNE", "ANK", "HEE", "TOE")]
    motion, joints, _ = fit(legs)
    assert motion.clip.skeleton.names[0] == "hips" and len(motion.clip.skeleton) == 7
    for role in motion.clip.skeleton.names:
        assert np.linalg.norm(motion.centers[role] - joints[role], axis=1).max() < 1e-3
    # Without markers on thigh and upper arm the axes come frame by frame, without feet only the shank tells.
    few = [label for label in LABELS if label[1:] not in ("THI", "UPA", "TOE", "HEE", "WRB", "BHD") and label != "STRN"]
    motion, joints, _ = fit([*few, "LBHD"])
    for side in ("left", "right"):
        assert np.linalg.norm(motion.centers[side + "LowerLeg"] - joints[side + "LowerLeg"], axis=1).max() < 0.02
    assert "head" in motion.clip.skeleton.names and "leftHand" in motion.clip.skeleton.names
    one_arm = [label for label in LABELS if label not in ("RSHO", "RELB")]
    assert "rightUpperArm" not in fit(one_arm)[0].clip.skeleton.names


def test_still_people_stand_straight() -> None:
    """No joint bends in a static trial: the axes are then as in a T-pose, and knees are between their sides."""
    times, markers, joints, turns = walk()
    pelvis = turns["hips"]
    still = {}
    for label in (x for x in LABELS if x[1:] in ("ASI", "PSI", "THI", "KNE", "ANK", "HEE", "TOE")):
        sign = 1.0 if label[0] == "L" else -1.0
        drop = {"THI": 0.3, "KNE": 0.43, "ANK": 0.85, "HEE": 0.89, "TOE": 0.89}.get(label[1:])
        if drop is None:
            still[label] = np.tile((pelvis.inv().apply(markers[label] - joints["hips"]))[0], (len(times), 1))
        else:
            ahead = {"HEE": -0.06, "TOE": 0.14, "THI": 0.04}.get(label[1:], 0.0)
            still[label] = np.tile([sign * 0.15, -drop, ahead], (len(times), 1))
    motion = fit_markers(list(still), times, np.stack(list(still.values()), axis=1), MEASURES)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        assert motion.centers[side + "LowerLeg"][0, 0] == pytest.approx(sign * (0.15 - 0.059), abs=0.002)


def test_a_head_band_that_sits_askew() -> None:
    """Front markers 6 cm above the back ones: the head still looks straight ahead."""
    _, markers, _, turns = walk()
    rise = turns["head"].apply([0.0, 0.03, 0.0])
    changes = {f"{s}{end}HD": markers[f"{s}{end}HD"] + sign * rise for s in "LR" for end, sign in (("F", 1), ("B", -1))}
    motion = fit(**changes)[0]
    head = motion.clip.world[1][:, motion.clip.skeleton.index("head")]
    ours = Rotation.from_quat(head.copy(), scalar_first=True)
    assert np.degrees((ours.inv() * turns["head"]).magnitude()).max() < 1.0


@pytest.mark.parametrize(
    ("label", "marker"),
    [
        ("Takeo:LFWT", "LASI"),
        ("R.ASIS", "RASI"),
        ("L_Knee_Lat", "LKNE"),
        ("RightHeel", "RHEE"),
        ("LIPS", "LPSI"),
        ("CV7", "C7"),
        ("knee_l", "LKNE"),
        ("LSHN", "LTIB"),
        ("V_Sacral", "SACR"),
        ("LKneeAngles", None),
    ],
)
def test_names_of_other_sets(label: str, marker: str | None) -> None:
    found = find_markers([label])
    assert found == ({marker: 0} if marker else {})
    assert clean_label("A:b_c 1") == "BC1"


def test_exact_names_win() -> None:
    assert find_markers(["LKNEE", "LKNE"]) == {"LKNE": 1}


@pytest.mark.data
def test_the_take_that_is_also_an_amc() -> None:
    """RMS distance of joints, 15 s of punches; (x, y, z) of the AMC is (y, z, x) of the C3D."""
    amc = read_amc(data_file("asf-amc-cmu/02_05.amc"))
    motion = read_c3d(data_file("c3d/cmu_02_05.c3d")).source.motion
    assert amc.unit is not None
    turn = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), -0.5 * np.pi)  # both have Y up, a quarter turn apart
    limits = {"UpperLeg": ("femur", 0.025), "LowerLeg": ("tibia", 0.03), "Foot": ("foot", 0.02)}
    limits |= {"UpperArm": ("humerus", 0.06), "LowerArm": ("radius", 0.06)}
    for side in ("left", "right"):
        for role, (bone, limit) in limits.items():
            theirs = amc.unit * amc.clip.positions[:, amc.clip.skeleton.index(side[0] + bone)]
            ours = rotation.rotate(turn, motion.clip.positions[:, motion.clip.skeleton.index(side + role)])
            rms = np.sqrt(np.mean(np.sum((ours - theirs) ** 2, axis=-1)))
            assert rms < limit, (side, role, rms)


@pytest.mark.data
def test_beside_plug_in_gait() -> None:
    """The file keeps Plug-in-Gait's own joint centres. Bones between ours change less in length than between those."""
    path = data_file("c3d/PiG_Motion3_FF.c3d")
    file, motion = load_c3d(path), read_c3d(path).source.motion
    for letter, side in (("L", "left"), ("R", "right")):
        theirs = [file.markers[:, file.labels.index(letter + name)] for name in ("FEP", "FEO", "TIO")]
        ours = [motion.centers[side + name] for name in ("UpperLeg", "LowerLeg", "Foot")]
        for a, b in zip(ours, theirs, strict=True):
            assert np.nanmean(np.linalg.norm(rotation_free(a, b), axis=1)) < 0.025
        for i in range(2):
            mine = np.std(np.linalg.norm(ours[i] - ours[i + 1], axis=1))
            assert mine < np.nanstd(np.linalg.norm(theirs[i] - theirs[i + 1], axis=1))


def rotation_free(y_up: np.ndarray, z_up: np.ndarray) -> np.ndarray:
    """The difference of points Y up and of points Z up, in the latter's axes."""
    return y_up @ np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]]) - z_up
