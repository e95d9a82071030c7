"""Every marker set on a body whose joints are known: read from a file, with gaps and noise, the joints come back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.files.c3d import make_c3d
from helpers.files.trc import make_trc
from helpers.markers import HEIGHT, SETS, put_markers, spoil, walking_body
from poise.errors import FileError, InputError
from poise.files.formats.c3d.c3d import read_c3d
from poise.files.reading.pipeline import Reading, interpret
from poise.files.reading.reframe import turn_to_y
from poise.files.registry import read_clip, read_recording, save_clip
from poise.findings import list_warnings
from poise.motion.clip import Clip
from poise.motion.markers import clean_label, find_markers, fit_markers
from poise.motion.markers.labels import _rank_sets
from poise.motion.markers.sets import load_sets
from poise.spatial import rotation

WALK = walking_body()
# m RMS over time: Harrington's hips are 11 mm from Bell's on this pelvis; spine, chest and collar bones are where each
# skeleton puts them, and not compared.
LIMITS = {"UpperLeg": 0.02, "LowerLeg": 0.02, "Foot": 0.015, "UpperArm": 0.02, "LowerArm": 0.015, "Hand": 0.015}
LIMITS |= {"hips": 0.02, "neck": 0.025, "head": 0.015}
# unit, its word, the vertical, byte order, the scale of integers, by which some sets are written.
FORMS = [
    (1e-3, "mm", "Z", "intel", None),
    (1.0, "m", "Y", "intel", None),
    (1e-2, "cm", "X", "dec", None),
    (1e-3, "mm", "-Z", "mips", 0.25),
    (0.0254, "in", "-Y", "intel", None),
    (1e-3, "", "Z", "intel", 0.2),
]
FORM_OF = {name: FORMS[i % len(FORMS)] for i, name in enumerate(SETS)}
LEGS = {f"{side}{stem}" for side in ("left", "right") for stem in ("UpperLeg", "LowerLeg", "Foot")}
ARMS = {f"{side}{stem}" for side in ("left", "right") for stem in ("UpperArm", "LowerArm", "Hand")}


def write(path: Path, labels: dict[str, str], form: tuple, points: np.ndarray | None = None) -> Path:
    """The walk with these markers, as a C3D or TRC file of some form."""
    unit, word, up, order, integers = form
    points = spoil(put_markers(WALK, list(labels.values())), 1) if points is None else points
    turned = rotation.rotate(rotation.conjugate(turn_to_y(up)), points) / unit
    rate = 1.0 / float(WALK.times[1])
    if path.suffix == ".trc":
        path.write_text(make_trc(turned, list(labels), rate, word or "mm"))
        return path
    point = {"UNITS": [word], "X_SCREEN": ["+X" if up[-1] != "X" else "+Y"]}
    path.write_bytes(make_c3d(turned, list(labels), rate, groups={"POINT": point}, order=order, integers=integers))
    return path


def errors(clip: Clip) -> dict[str, float]:
    """m RMS from the walk's joints, of every joint that has a limit."""
    out = {}
    for role in clip.skeleton.names:
        stem = role.removeprefix("left").removeprefix("right")
        if stem in LIMITS:
            apart = clip.positions[:, clip.skeleton.index(role)] - WALK.positions[:, WALK.skeleton.index(role)]
            out[role] = float(np.sqrt(np.mean(np.sum(apart**2, axis=-1))))
    return out


def check_joints(clip: Clip, factor: float = 1.0) -> None:
    for role, error in errors(clip).items():
        assert error < factor * LIMITS[role.removeprefix("left").removeprefix("right")], (role, error)


def reading_of(name: str, folder: Path, suffix: str = ".c3d") -> Reading:
    return interpret(read_recording(write(folder / f"walk{suffix}", SETS[name], FORM_OF[name])))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.many(5)
def test_the_joints_come_back(name: str, tmp_path: Path) -> None:
    reading = reading_of(name, tmp_path)
    unit, _, up, _, _ = FORM_OF[name]
    assert reading.scale == pytest.approx(unit) and reading.up == up
    check_joints(reading.clip)
    roles = set(reading.clip.skeleton.names)
    assert roles >= LEGS | {"hips"}
    assert (roles >= ARMS) == ("lower" not in name and name != "CGM2.3")
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hip = reading.clip.skeleton.offsets[reading.clip.skeleton.index(side + "UpperLeg")]
        assert sign * hip[0] > 0.05
    bones = [(f"{s}LowerLeg", f"{s}Foot") for s in ("left", "right")]
    for pair in bones:
        for joint in pair:
            mine, true = (c.skeleton.offsets[c.skeleton.index(joint)] for c in (reading.clip, WALK))
            assert np.linalg.norm(mine) == pytest.approx(np.linalg.norm(true), abs=0.015)


@pytest.mark.parametrize("name", ["Rajagopal", "Cleveland Clinic", "OpenCap"])
def test_the_same_from_a_trc(name: str, tmp_path: Path) -> None:
    form = (1e-3, "mm", "Y", "", None)
    reading = interpret(read_recording(write(tmp_path / "walk.trc", SETS[name], form)))
    assert reading.up == "Y" and reading.recording.format == "TRC"
    check_joints(reading.clip)


def test_the_sets_are_known_by_their_names() -> None:
    named = {"Plug-in Gait, lower body": "Plug-in Gait", "CGM2.3": "CGM2", "CGM2.5": "CGM2", "Qualisys sports": "IOR"}
    named |= {"OptiTrack 37": "OptiTrack Baseline", "OptiTrack 41": "OptiTrack Baseline"}
    found = {}
    for name, labels in SETS.items():
        cleaned = [clean_label(label) for label in labels]
        found[name] = max(_rank_sets(cleaned), key=lambda table: len({*cleaned} & {*table.meanings})).name
    assert found == {name: named.get(name, name) for name in SETS}


def fit(labels: dict[str, str], points: np.ndarray | None = None):
    points = put_markers(WALK, list(labels.values())) if points is None else points
    return fit_markers(list(labels), WALK.times, points)


def only(name: str, *stems: str) -> dict[str, str]:
    """A set's labels whose places end in one of these stems."""
    return {label: place for label, place in SETS[name].items() if place in stems or place[1:] in stems}


def without(name: str, *places: str) -> dict[str, str]:
    return {label: place for label, place in SETS[name].items() if place not in places}


def test_a_lower_body_is_a_lower_body(tmp_path: Path) -> None:
    reading = reading_of("Plug-in Gait, lower body", tmp_path)
    assert set(reading.clip.skeleton.names) == {"hips", *LEGS}
    (missing,) = [w for w in reading.warnings if w.startswith("markers: no upper body")]
    assert "spine, chest, neck, head" in missing and missing.endswith("not built.")
    assert reading.stature_source == "estimated from the legs"
    assert reading.stature == pytest.approx(HEIGHT, rel=0.03)
    assert any(w.startswith("stature:") and "estimated from the legs" in w for w in reading.warnings)
    for suffix in (".bvh", ".glb"):
        save_clip(reading.clip, tmp_path / f"out{suffix}")
        again = read_clip(tmp_path / f"out{suffix}")
        assert len(again.clip.skeleton.names) == 7
        assert again.stature == pytest.approx(reading.stature, rel=1e-3)
        assert again.stature_source == "estimated from the legs"


def test_a_stated_height_is_believed_where_none_is_seen(tmp_path: Path) -> None:
    labels = SETS["Plug-in Gait, lower body"]
    points = put_markers(WALK, list(labels.values())) * 1000.0
    groups = {"POINT": {"UNITS": ["mm"]}, "PROCESSING": {"HEIGHT": 1810.0}}
    (tmp_path / "walk.c3d").write_bytes(make_c3d(points, list(labels), 100.0, groups=groups))
    reading = read_clip(tmp_path / "walk.c3d")
    assert (reading.stature, reading.stature_source) == (pytest.approx(1.81), "stated by the file")


def test_one_leg_is_one_leg() -> None:
    labels = {k: v for k, v in SETS["Plug-in Gait, lower body"].items() if v[1:] in ("ASI", "PSI") or v[0] == "R"}
    motion = fit(labels)
    assert set(motion.clip.skeleton.names) == {"hips", "rightUpperLeg", "rightLowerLeg", "rightFoot"}
    check_joints(motion.clip)
    assert "no left leg" in list_warnings(motion.findings)[0]


def test_one_legs_stature_is_a_persons(tmp_path: Path) -> None:
    labels = {k: v for k, v in SETS["Plug-in Gait, lower body"].items() if v[1:] in ("ASI", "PSI") or v[0] == "R"}
    reading = interpret(read_recording(write(tmp_path / "one.c3d", labels, FORMS[0])))
    assert reading.stature == pytest.approx(HEIGHT, rel=0.03)
    assert reading.stature_source == "estimated from the leg"


def test_an_upper_body_is_an_upper_body(tmp_path: Path) -> None:
    labels = only("Plug-in Gait", "C7", "T10", "CLAV", "STRN", "SHO", "UPA", "ELB", "WRA", "WRB", "FIN", "FHD", "BHD")
    reading = interpret(read_recording(write(tmp_path / "top.c3d", labels, FORMS[0])))
    roles = set(reading.clip.skeleton.names)
    assert roles >= {"chest", "neck", "head", *ARMS} and not roles & {"hips", "spine", *LEGS}
    assert any("no pelvis or legs" in w for w in reading.warnings)
    assert reading.up == "Z" and reading.scale == pytest.approx(1e-3)
    check_joints(reading.clip)
    assert reading.stature_source == "estimated from the arms" and reading.stature == pytest.approx(HEIGHT, rel=0.06)
    for suffix in (".glb", ".bvh"):
        save_clip(reading.clip, tmp_path / f"top{suffix}")
        again = read_clip(tmp_path / f"top{suffix}")
        assert {role: again.clip.skeleton.roles.get(role) for role in ARMS} == {role: role for role in ARMS}
        assert again.stature == pytest.approx(reading.stature, rel=1e-3)


@pytest.mark.parametrize("lost", ["RASI", "LASI", "RPSI", "LPSI"])
def test_a_spine_that_is_hidden_or_missing(lost: str) -> None:
    """Hidden for a second, it is put back from the rigid pelvis; missing, its mirror image stands in."""
    labels = SETS["Plug-in Gait, lower body"]
    whole = put_markers(WALK, list(labels.values()))
    hidden = whole.copy()
    hidden[150:250, list(labels.values()).index(lost)] = np.nan
    # One more marker on the pelvis, so that three others show it.
    more = labels | {"SACR": "SACR"}
    with_sacrum = np.concatenate([hidden, put_markers(WALK, ["SACR"])], axis=1)
    before, after = fit(more, np.concatenate([whole, put_markers(WALK, ["SACR"])], axis=1)), fit(more, with_sacrum)
    assert np.abs(after.centers["leftUpperLeg"] - before.centers["leftUpperLeg"]).max() < 1e-6
    motion = fit(without("Plug-in Gait, lower body", lost))
    check_joints(motion.clip)
    assert any("mirrored" in w for w in list_warnings(motion.findings))


def test_knees_without_knee_markers() -> None:
    """A walk of the Cleveland Clinic's set has no markers on knees and ankles: they are there to calibrate only."""
    labels = without("Cleveland Clinic", *(s + j for s in "LR" for j in ("KNE", "KNM", "ANK", "ANM")))
    motion = fit(labels, spoil(put_markers(WALK, list(labels.values())), 3))
    check_joints(motion.clip, 1.5)
    assert motion.how["leftLowerLeg"] == "how the shank turns against the thigh"
    assert any("how the shank turns" in w for w in list_warnings(motion.findings))


@pytest.mark.parametrize("gone", ["KNM", "ANM", "KNE", "ANK"])
def test_one_side_of_a_joint_is_enough(gone: str) -> None:
    check_joints(fit(without("CGM2.5", "L" + gone, "R" + gone)).clip)


def test_inner_markers_that_are_taken_off_to_walk() -> None:
    """The first third calibrates the knee's breadth, and where the thigh's cluster shows it, the marker itself."""
    for name in ("CGM2.5", "IOR"):  # with clusters, and without
        labels = SETS[name]
        points = put_markers(WALK, list(labels.values()))
        for i, place in enumerate(labels.values()):
            if place[1:] in ("KNM", "ANM"):
                points[130:, i] = np.nan
        motion = fit(labels, points)
        check_joints(motion.clip)
        assert (motion.how["leftLowerLeg"] == "between the knee's two sides") == (name == "CGM2.5")


def test_makers_disagree_on_inner_and_outer_wrists() -> None:
    swap = {"RSP": "USP", "USP": "RSP"}
    other = {label: place[0] + swap.get(place[1:], place[1:]) for label, place in SETS["OptiTrack 37"].items()}
    one, two = fit(SETS["OptiTrack 37"]), fit(other)
    for side in ("left", "right"):
        turns = [m.clip.world[1][:, m.clip.skeleton.index(side + "Hand")] for m in (one, two)]
        assert np.degrees(rotation.angle(turns[0], turns[1])).max() < 1.0
        true = WALK.world[1][:, WALK.skeleton.index(side + "Hand")]
        assert np.degrees(rotation.angle(turns[0], true)).mean() < 30.0


@pytest.mark.parametrize("mark", [":", "_"])
def test_names_before_labels(mark: str, tmp_path: Path) -> None:
    labels = SETS["Plug-in Gait, lower body"]
    named = {f"Ada{mark}{label}": place for label, place in labels.items()}
    reading = interpret(read_recording(write(tmp_path / "ada.c3d", named, FORMS[0])))
    check_joints(reading.clip)
    both = np.concatenate([put_markers(WALK, list(labels.values()))] * 2, axis=1)
    both[:, len(labels) :, 0] += 1.0
    pair = [f"{who}{mark}{label}" for who in ("Ada", "Bo") for label in labels]
    path = write(tmp_path / "pair.c3d", dict(zip(pair, pair, strict=True)), FORMS[0], both)
    assert read_c3d(path).choices == ("Ada", "Bo")
    check_joints(interpret(read_c3d(path, "Ada")).clip)


def test_segments_before_labels_are_no_people(tmp_path: Path) -> None:
    parts = {"ASI": "Pelvis", "PSI": "Pelvis", "THI": "Leg", "KNE": "Leg", "TIB": "Leg", "ANK": "Leg"}
    named = {f"{parts.get(p[1:], 'Foot')}_{k}": p for k, p in SETS["Plug-in Gait, lower body"].items()}
    reading = interpret(read_recording(write(tmp_path / "parts.c3d", named, FORMS[0])))
    assert len(reading.recording.choices) == 1 and len(reading.clip.skeleton) == 7


def test_doubles_empty_labels_and_markers_never_seen(tmp_path: Path) -> None:
    """A label twice, the first never seen; an empty label; outputs of a model; labels with blanks."""
    labels = SETS["Plug-in Gait, lower body"]
    points = put_markers(WALK, list(labels.values()))
    ghost = np.full((len(points), 1, 3), np.nan)
    angles = np.tile([30.0, 5.0, -3.0], (len(points), 1, 1))
    names = ["LKNE", "  ", "LKneeAngles", "CentreOfMass", *(f" {label}  " for label in labels), "C7"]
    every = np.concatenate([ghost, angles, angles, angles, points, ghost], axis=1)
    path = tmp_path / "odd.c3d"
    path.write_bytes(make_c3d(1000.0 * every, names, 100.0, groups={"POINT": {"UNITS": ["mm"]}}))
    motion = read_c3d(path).source.motion
    assert len(motion.clip.skeleton) == 7 and "C7" not in motion.used
    check_joints(motion.clip)


def test_a_marker_that_is_hardly_seen_is_left_out() -> None:
    labels = SETS["Plug-in Gait"]
    points = put_markers(WALK, list(labels.values()))
    points[10:, list(labels).index("LELB")] = np.nan
    motion = fit(labels, points)
    assert "markers: LELB is seen in too few of the frames and left out." in list_warnings(motion.findings)
    assert "leftUpperArm" not in motion.clip.skeleton.names and "rightUpperArm" in motion.clip.skeleton.names


@pytest.mark.parametrize(
    "labels",
    [
        {"tip": "LASI", "mid": "RASI", "end": "SACR"},
        {"LTHI": "LTHI", "LKNE": "LKNE", "LTIB": "LTIB", "LANK": "LANK"},
        {"LASI": "LASI", "RASI": "RASI", "SACR": "SACR"},
        {"C7": "C7", "CLAV": "CLAV", "LSHO": "LSHO", "RSHO": "RSHO"},
    ],
)
def test_what_is_no_body_is_refused(labels: dict[str, str], tmp_path: Path) -> None:
    path = write(tmp_path / "object.c3d", labels, FORMS[0])
    with pytest.raises(FileError, match=r"no body can be built from these markers.* It has") as caught:
        read_c3d(path)
    assert all(label in str(caught.value) for label in labels)


def test_joints_and_skin_are_not_mixed_up() -> None:
    """`LKnee` is a joint where both hips have points and no pelvis has spines, else a marker on the skin."""
    joints = fit(SETS["keypoints"])
    assert joints.how["leftLowerLeg"] == "the knee's own point"
    skin = fit(SETS["Helen Hayes"])
    assert skin.how["leftLowerLeg"] == "inwards from the knee's outer side"


@pytest.mark.parametrize("name", SETS)
@pytest.mark.many(3)
def test_any_part_of_a_set_is_built_or_refused(name: str) -> None:
    """Random parts of a set, with random gaps and few frames: a finite clip that names what it lacks, or a sentence."""
    rng = np.random.default_rng(len(name))
    labels = list(SETS[name])
    whole = put_markers(WALK, list(SETS[name].values()))
    built = 0
    for trial in range(25):
        count = int(rng.integers(3, len(labels) + 1))
        picks = rng.permutation(len(labels))[:count]
        frames = np.arange(0, 401, 20)[: [1, 2, 21][trial % 3]]
        points = whole[frames][:, picks]
        points[rng.random(points.shape[:2]) < rng.choice([0.0, 0.3])] = np.nan
        try:
            motion = fit_markers([labels[i] for i in picks], WALK.times[frames], points)
        except InputError as error:
            assert "\n" not in str(error)
            continue
        built += 1
        assert np.isfinite(motion.clip.positions).all()
        roles = set(motion.clip.skeleton.names)
        missing = {"head", *LEGS, *ARMS} - roles
        said = " ".join(list_warnings(motion.findings))
        assert all(role in said for role in missing)
    assert built > 3


def test_words_of_a_set_stand_for_all_their_spellings() -> None:
    """Places before and after a joint's word, centres in all their spellings, sides before and after both."""
    labels = ["Knee_Lateral_L", "RightMedialKnee", "ankle.joint.centre.left", "jRightElbow", "MED_MAL_R"]
    assert list(find_markers(labels)) == ["LKNE", "RKNM", "RANM", "LAJC", "REJC"]
    first, last = load_sets()[0], load_sets()[-1]
    assert (first.name, first.joints, last.name, last.joints) == ("Plug-in Gait", False, "keypoints", True)
    assert all(table.source and table.meanings for table in load_sets())
