"""C3D: hand-made files in every byte order, ezc3d as the oracle, force plates of one load told in four ways."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.errors import rejects
from helpers.files.c3d import make_c3d
from helpers.marked_walker import LABELS, walk_markers
from helpers.recordings import data_file
from poise.errors import FileError, InputError
from poise.files.formats.c3d.c3d import load_c3d, read_c3d
from poise.files.formats.c3d.force_plates import read_force_plates
from poise.files.formats.c3d.tables import parse_c3d, read_c3d_tables
from poise.files.reading.pipeline import interpret


def some_points(frames: int = 6, count: int = 3) -> np.ndarray:
    points = np.random.default_rng(0).uniform(-900, 900, (frames, count, 3))
    points[2, 1] = np.nan
    return points


@pytest.mark.parametrize("order", ["intel", "dec", "mips"])
@pytest.mark.parametrize("integers", [None, 0.05])
def test_every_byte_order_and_number(order: str, integers: float | None) -> None:
    points, samples = some_points(), 4
    analog = np.random.default_rng(1).integers(-2000, 2000, (6 * samples, 2)).astype(float)
    groups = {"ANALOG": {"SCALE": np.array([0.5, 2.0]), "OFFSET": np.array([10, -7]), "GEN_SCALE": 0.1}}
    data = make_c3d(points, ["A", "B", "C"], 120.0, analog, samples, groups, order, integers, first=31)
    tables = parse_c3d(data)
    assert tables.words("POINT", "LABELS") == ("A", "B", "C")
    assert (tables.rate, tables.first_frame, tables.analog_rate) == (120.0, 31, 480.0)
    assert np.array_equal(np.isnan(tables.points), np.isnan(points))
    tolerance = 1e-4 if integers is None else 0.5 * integers + 1e-9
    assert np.nanmax(np.abs(tables.points - points)) < tolerance
    assert tables.analog == pytest.approx((analog - [10, -7]) * [0.05, 0.2], rel=1e-5)


def test_more_frames_than_16_bits_count() -> None:
    points = np.ones((70_000, 1, 3))
    tables = parse_c3d(make_c3d(points, ["A"], trial=True))
    assert tables.points.shape == (70_000, 1, 3)


def test_unsigned_analog() -> None:
    analog = np.array([[40_000.0], [100.0]])
    signed = np.where(analog > 32767, analog - 65536, analog)
    groups = {"ANALOG": {"FORMAT": ["UNSIGNED"], "OFFSET": np.array([-30_000])}}
    tables = parse_c3d(make_c3d(np.ones((2, 1, 3)), ["A"], analog=signed, groups=groups, integers=0.1))
    assert tables.analog == pytest.approx(analog - (65536 - 30_000))


@pytest.mark.data
@pytest.mark.parametrize("name", ["cmu_02_05", "Sample_Static", "PiG_Motion3_FF"])
def test_the_same_as_ezc3d(name: str) -> None:
    ezc3d = pytest.importorskip("ezc3d")
    path = data_file(f"c3d/{name}.c3d")
    tables = read_c3d_tables(path)
    other = ezc3d.c3d(str(path), extract_forceplat_data=True)
    assert np.array_equal(tables.points, other["data"]["points"][:3].transpose(2, 1, 0), equal_nan=True)
    if tables.analog.size:
        assert np.array_equal(tables.analog, other["data"]["analogs"][0].T)
    assert list(tables.words("POINT", "LABELS")) == other["parameters"]["POINT"]["LABELS"]["value"]
    plates, _ = read_force_plates(tables, 1e-3)
    assert len(plates) == len(other["data"]["platform"])
    for ours, theirs in zip(plates, other["data"]["platform"], strict=True):
        loaded = ours.force[:, 2] > 100
        assert ours.force[loaded] == pytest.approx(theirs["force"].T[loaded], abs=1e-6)
        assert ours.point[loaded] == pytest.approx(1e-3 * theirs["center_of_pressure"].T[loaded], abs=1e-9)
        assert ours.free_moment[loaded] == pytest.approx(1e-3 * theirs["Tz"][2][loaded], abs=1e-9)


# One load on one plate: a force on it of FORCE (plate axes, Z down) at POINT from the surface's middle, and a twist.
CORNERS = np.array([[1.0, 2, 0], [0.4, 2, 0], [0.4, 1.1, 0], [1.0, 1.1, 0]]) * 1000.0  # Z of the plate is up here
DOWN = CORNERS[[1, 0, 3, 2]]  # and here down
FORCE, POINT, TWIST = np.array([30.0, -40.0, 700.0]), np.array([0.05, -0.12, 0.0]), 6.0
ORIGIN = np.array([1.0, -2.0, -40.0])  # mm, from the sensors to the surface's middle


def plate_channels(kind: int) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Channels, their units and ORIGIN in mm, for a type of plate under the load."""
    about_sensors = POINT + ORIGIN / 1000.0
    moment = np.cross(about_sensors, FORCE) + [0, 0, TWIST]
    if kind == 1:
        return np.array([*FORCE, *(1000 * POINT[:2]), 1000 * TWIST]), ["N"] * 3 + ["mm", "mm", "Nmm"], np.zeros(3)
    if kind in (2, 4):
        return np.array([*FORCE, *(1000 * moment)]), ["N"] * 3 + ["Nmm"] * 3, ORIGIN
    a, b, rz = 0.2, 0.35, -0.05
    moment = np.cross(POINT + [0, 0, rz], FORCE) + [0, 0, TWIST]
    # Sensors at (a, b), (-a, b), (-a, -b), (a, -b): any split of the shears that gives Mz will do.
    fz = [0.25 * (FORCE[2] + s * moment[0] / b + t * moment[1] / a) for s, t in ((1, -1), (1, 1), (-1, 1), (-1, -1))]
    shear = moment[2] / (2 * b)
    values = [FORCE[0] / 2 - shear, FORCE[0] / 2 + shear, FORCE[1] / 2, FORCE[1] / 2, *fz]
    return np.array(values), ["N"] * 8, 1000 * np.array([a, b, rz])


def plate_file(kind: int, changes: dict[str, Any] | None = None, sign: float = 1.0, scale: float = 1.0) -> bytes:
    values, units, origin = plate_channels(kind)
    values = sign * values
    values[3:] *= scale if kind == 2 else 1.0
    table: dict[str, Any] = {
        "USED": 1,
        "TYPE": np.array([kind]),
        "CORNERS": DOWN.T[:, :, None],
        "ORIGIN": origin[:, None],
        "CHANNEL": np.arange(1, len(values) + 1)[:, None],
    }
    if kind == 4:
        matrix = np.eye(6) + 0.01 * np.random.default_rng(2).normal(size=(6, 6))
        table["CAL_MATRIX"] = matrix[:, :, None]
        values = np.linalg.solve(matrix, values * [1, 1, 1, 1e-3, 1e-3, 1e-3]) * [1, 1, 1, 1e3, 1e3, 1e3]
    groups = {"FORCE_PLATFORM": {**table, **(changes or {})}, "ANALOG": {"UNITS": units}, "POINT": {"UNITS": ["mm"]}}
    return make_c3d(np.full((5, 1, 3), 100.0), ["A"], analog=np.tile(values, (5, 1)), groups=groups)


EXPECTED_POINT = CORNERS.mean(axis=0) / 1000.0 + [-POINT[0], POINT[1], 0.0]
EXPECTED_FORCE = [FORCE[0], -FORCE[1], FORCE[2]]  # what the ground does to the body: -F, with X and Z turned


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_one_load_on_four_types_of_plate(kind: int) -> None:
    (plate,), findings = read_force_plates(parse_c3d(plate_file(kind)), 1e-3)
    assert findings == []
    assert plate.force[3] == pytest.approx(EXPECTED_FORCE, rel=1e-4)
    assert plate.point[3] == pytest.approx(EXPECTED_POINT, abs=1e-4)
    assert plate.free_moment[3] == pytest.approx(TWIST, rel=1e-3)


def test_origins_the_other_way_round_and_forces_on_the_body() -> None:
    flipped = {"ORIGIN": -ORIGIN[:, None]}
    (plate,), findings = read_force_plates(parse_c3d(plate_file(2, flipped)), 1e-3)
    assert "turned round" in findings[0].message
    assert plate.point[3] == pytest.approx(EXPECTED_POINT, abs=1e-4)
    (plate,), _ = read_force_plates(parse_c3d(plate_file(2, sign=-1.0)), 1e-3)
    assert plate.force[3] == pytest.approx(EXPECTED_FORCE, rel=1e-4)
    assert plate.point[3] == pytest.approx(EXPECTED_POINT, abs=1e-4)


def test_moments_whose_unit_lies() -> None:
    (plate,), findings = read_force_plates(parse_c3d(plate_file(2, scale=1e3)), 1e-3)
    assert "the moments' unit lies" in findings[0].message
    assert plate.point[3] == pytest.approx(EXPECTED_POINT, abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"TYPE": np.array([21])}, "of type 21; types 1 to 4 are read"),
        ({"CHANNEL": np.arange(20, 26)[:, None]}, "names channels that the file has not"),
        ({"CORNERS": np.zeros((3, 4, 1))}, "do not span a surface"),
        ({"ORIGIN": np.zeros((2, 1))}, "does not say where it is"),
    ],
)
def test_plates_that_cannot_be_read_are_named(changes: dict[str, Any], message: str) -> None:
    plates, findings = read_force_plates(parse_c3d(plate_file(2, changes)), 1e-3)
    assert plates == () and message in findings[0].message


def walker_file(
    path: Path, unit: float = 1e-3, word: str = "mm", prefixes: tuple[str, ...] = ("",), **more: Any
) -> Path:
    """A walking figure with Z up, as often as there are prefixes."""
    times, markers = walk_markers()
    markers = markers[..., [2, 0, 1]] / unit  # cyclic: Y up to Z up
    labels = [prefix + label for prefix in prefixes for label in LABELS]
    points = np.concatenate([markers + 500.0 * i for i in range(len(prefixes))], axis=1)
    points = np.concatenate([points, 20.0 * np.ones((len(times), 2, 3))], axis=1)
    groups = {"POINT": {"UNITS": [word], "ANGLES": ["LKneeAngles"]}, **more}
    path.write_bytes(make_c3d(points, [*labels, "LKneeAngles", "*12"], 100.0, groups=groups, first=201))
    return path


def test_a_walker_from_file_to_clip(tmp_path: Path) -> None:
    events = {
        "TIMES": np.array([[0.0, 0.0], [2.5, 2.25]]),
        "LABELS": ["Foot Off", "Foot Strike"],
        "CONTEXTS": ["Left", "Right"],
    }
    recording = read_c3d(walker_file(tmp_path / "walk.c3d", EVENT=events))
    file = recording.source
    assert recording.unit == 1e-3 and recording.up == "Z" and recording.choices == ("walk",)
    assert "LKneeAngles" not in file.labels and "*12" not in file.labels
    assert [(e.label, e.context) for e in file.events] == [("Foot Strike", "Right"), ("Foot Off", "Left")]
    assert [e.time for e in file.events] == pytest.approx([0.25, 0.5])  # frame 201 is the first
    clip = interpret(recording).clip
    knee = clip.skeleton.index("leftLowerLeg")
    # The fit was made Y up; the recording is back in the file's axes, and `interpret` turns it once more.
    assert np.linalg.norm(np.diff(clip.positions[:, 0] - file.motion.clip.positions[:, 0], axis=0)) < 1e-9
    assert clip.positions[:, knee, 1] == pytest.approx(file.motion.clip.positions[:, knee, 1], abs=1e-9)


@pytest.mark.parametrize(("unit", "word"), [(1.0, "mm"), (1e-3, "m"), (1e-3, ""), (0.01, "mm"), (1.0, "furlong")])
def test_units_that_lie(tmp_path: Path, unit: float, word: str) -> None:
    recording = read_c3d(walker_file(tmp_path / "walk.c3d", unit, word))
    assert recording.unit == unit
    assert recording.warnings[0] == (
        "points: 1 unlabelled and 1 computed by another program of 36 are left out; 34 are markers."
    )
    assert "by the length of a shank" in recording.warnings[1]
    honest = read_c3d(walker_file(tmp_path / "honest.c3d"))
    assert recording.clip.root * unit == pytest.approx(honest.clip.root * 1e-3, abs=1e-5)


def test_several_people_are_several_clips(tmp_path: Path) -> None:
    path = walker_file(tmp_path / "pair.c3d", prefixes=("Ada:", "Bo:"))
    assert read_c3d(path).choices == ("Ada", "Bo")
    ada, bo = read_c3d(path, "Ada").clip, read_c3d(path, "1").clip
    assert bo.root - ada.root == pytest.approx(np.full_like(ada.root, 500.0), abs=1e-3)
    rejects(lambda: read_c3d(path, "Adda"), "Did you mean 'Ada'")


def test_files_without_a_body(tmp_path: Path) -> None:
    path = tmp_path / "wand.c3d"
    path.write_bytes(make_c3d(some_points(), ["tip", "mid", "end"]))
    assert load_c3d(path).labels == ("tip", "mid", "end")
    with pytest.raises(FileError, match=r"no body can be built.*the pelvis \(LASI, RASI.* It has tip, mid, end"):
        read_c3d(path)
    path.write_bytes(make_c3d(some_points(), ["*0", "*1", "*2"]))
    with pytest.raises(FileError, match="none of its points is labelled"):
        read_c3d(path)


def test_cut_off_and_foreign_files(tmp_path: Path) -> None:
    path = walker_file(tmp_path / "walk.c3d")
    data = path.read_bytes()
    path.write_bytes(data[:-2000])
    with pytest.raises(FileError, match=r"ends after \d+ of the \d+ frames that its header announces"):
        read_c3d(path)
    path.write_bytes(data[:700])
    with pytest.raises(FileError, match=r"byte 1: not a C3D file"):
        read_c3d(path)
    path.write_bytes(data[:515] + bytes([87]) + data[516:])
    with pytest.raises(FileError, match=r"byte 515: byte order 87 is not known"):
        read_c3d(path)
    path.write_bytes(b"glTF" * 1000)
    with pytest.raises(FileError, match=r"not a C3D file"):
        read_c3d(path)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
@pytest.mark.slow
def test_mutated_files_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(["walk", "plate"]))
    path = tmp_path / f"{source}.c3d"
    if not path.exists():
        path.write_bytes(plate_file(2)) if source == "plate" else walker_file(path)
    content = bytearray(path.read_bytes())
    start = data.draw(st.sampled_from([0, 512]))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(start, start + data.draw(st.sampled_from([24, 200, 2000]))))
        if at < len(content):
            content[at] = data.draw(st.sampled_from([0, 1, 127, 128, 255]) | st.integers(0, 255))
    broken = tmp_path / "broken.c3d"
    broken.write_bytes(content[: data.draw(st.integers(1, len(content)))] if data.draw(st.booleans()) else content)
    with contextlib.suppress(InputError):
        load_c3d(broken)
    with contextlib.suppress(InputError):
        read_c3d(broken)


@pytest.mark.data
def test_plates_under_real_people() -> None:
    still = load_c3d(data_file("c3d/Sample_Static.c3d"))
    assert still.plates[0].force[:, 2].mean() == pytest.approx(781.0, abs=1.0)  # the manifest: 79.6 kg, steady to 2 N
    assert still.plates[0].force[:, 2].std() < 2.0
    feet = still.markers[:, [still.labels.index(name) for name in ("LHEE", "LTOE", "RHEE", "RTOE")]]
    inside = (still.plates[0].point > feet.min(axis=1)) & (still.plates[0].point < feet.max(axis=1))
    assert inside[:, :2].all()
    walk = load_c3d(data_file("c3d/PiG_Motion3_FF.c3d"))
    weight = 74.0 * 9.81  # PROCESSING:Bodymass
    assert walk.measures["height"] == pytest.approx(1.76) and walk.measures["leftKnee"] == pytest.approx(0.102)
    for plate in walk.plates:
        assert 1.05 < plate.force[:, 2].max() / weight < 1.2
    together = sum(plate.force[:, 2] for plate in walk.plates)
    carried = together[(plate.times > 0.75) & (plate.times < 2.15)]  # from the first heel to the last toe on plates
    assert carried.mean() == pytest.approx(weight, rel=0.05)
    strikes = [event.time for event in walk.events if event.label == "Foot Strike"]
    for plate in walk.plates:
        begin = plate.times[np.argmax(plate.force[:, 2] > 20.0)]
        assert min(abs(begin - strike) for strike in strikes) < 0.03


@pytest.mark.data
def test_forces_per_kilogram_that_are_called_newtons_are_named() -> None:
    said = read_c3d(data_file("c3d/PiG_Motion3_FF.c3d")).warnings
    assert any(sentence.startswith("computed forces: the file says newtons") for sentence in said)
    for honest in ("Sample_Static", "cmu_02_05"):
        assert not any("per kilogram" in sentence for sentence in read_c3d(data_file(f"c3d/{honest}.c3d")).warnings)
