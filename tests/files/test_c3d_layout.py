"""C3D files whose header and parameters disagree, or whose numbers overflow: the bytes decide, as ezc3d reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.files.c3d import make_c3d
from helpers.markers import SETS, put_markers, walking_body
from poise.errors import FileError
from poise.files.formats.c3d.c3d import load_c3d, read_c3d
from poise.files.formats.c3d.tables import parse_c3d
from poise.findings import list_warnings

LABELS = ["A", "B", "C"]


def some_points(frames: int = 40, count: int = 3) -> np.ndarray:
    points = np.random.default_rng(0).uniform(-900, 900, (frames, count, 3))
    points[2:4, 1] = np.nan
    return points


def check_same(data: bytes, points: np.ndarray, tolerance: float = 1e-4) -> tuple[str, ...]:
    """The file has these points; its warnings."""
    tables = parse_c3d(data)
    assert tables.points.shape == points.shape
    assert np.array_equal(np.isnan(tables.points), np.isnan(points))
    assert np.nanmax(np.abs(tables.points - points)) < tolerance
    return list_warnings(tables.findings)


@pytest.mark.parametrize("order", ["intel", "dec", "mips"])
@pytest.mark.parametrize("integers", [None, 0.05])
def test_frames_from_zero(order: str, integers: float | None) -> None:
    data = make_c3d(some_points(), LABELS, order=order, integers=integers, first=0)
    assert check_same(data, some_points(), 0.03) == ()
    assert parse_c3d(data).first_frame == 0


def test_events_where_frames_count_from_zero(tmp_path: Path) -> None:
    event = {"TIMES": np.array([[0.0], [0.25]]), "LABELS": ["Foot Strike"], "CONTEXTS": ["Left"]}
    for first in (0, 1):
        path = tmp_path / f"{first}.c3d"
        path.write_bytes(make_c3d(some_points(), LABELS, first=first, groups={"EVENT": event}))
        assert [e.time for e in load_c3d(path).events] == [0.25]


@pytest.mark.parametrize("integers", [None, 0.05])
@pytest.mark.parametrize("first", [0, 1, 500])
def test_the_same_as_ezc3d_on_files_made_by_hand(integers: float | None, first: int, tmp_path: Path) -> None:
    """Gaps by residual, points that are all zero, analog channels of several samples."""
    ezc3d = pytest.importorskip("ezc3d")
    analog = np.random.default_rng(1).integers(-2000, 2000, (160, 2)).astype(float)
    groups: dict[str, Any] = {
        "POINT": {"USED": 3, "FRAMES": 40, "UNITS": ["mm"]},
        "ANALOG": {
            "USED": 2,
            "SCALE": np.array([0.5, 2.0]),
            "OFFSET": np.array([10, 7]),  # ezc3d takes a negative offset for a positive one
            "GEN_SCALE": 0.1,
            "RATE": 400.0,
        },
    }
    data = make_c3d(some_points(), LABELS, 100.0, analog, 4, groups, integers=integers, first=first)
    path = tmp_path / "hand.c3d"
    path.write_bytes(data)
    tables = parse_c3d(data)
    other = ezc3d.c3d(str(path))
    theirs = other["data"]["points"][:3].transpose(2, 1, 0)
    assert theirs.shape == tables.points.shape
    assert np.array_equal(tables.points, theirs, equal_nan=True)
    assert tables.analog == pytest.approx(other["data"]["analogs"][0].T, rel=1e-6)
    assert tables.rate == other["parameters"]["POINT"]["RATE"]["value"][0]


@pytest.mark.parametrize(
    ("parameters", "header", "first"),
    [
        ({"trial": True}, {}, 1),
        ({"trial": True}, {8: 70_000 & 0xFFFF}, 1),
        ({"point": {"LONG_FRAMES": 70_000.0}}, {}, 1),
        ({"point": {"FRAMES": 70_000.0}}, {8: 0}, 1),
        ({}, {}, 1),  # nothing but 65535 in the header, and the bytes
        ({}, {8: 70_000 & 0xFFFF}, 1),  # the last frame's number went round
        ({"trial": True}, {}, 70_001),  # a piece of a long recording
        ({"trial": True}, {6: 70_001 & 0xFFFF, 8: 140_000 & 0xFFFF}, 70_001),
    ],
)
def test_more_frames_than_16_bits_count(parameters: dict[str, Any], header: dict[int, int], first: int) -> None:
    points = np.random.default_rng(0).uniform(-900, 900, (70_000, 1, 3))
    groups = {"POINT": parameters.get("point", {})}
    data = make_c3d(points, ["A"], groups=groups, trial=parameters.get("trial", False), header=header, first=first)
    check_same(data, points)
    if parameters.get("trial"):
        assert parse_c3d(data).first_frame == first


def test_just_as_many_frames_as_16_bits_count() -> None:
    points = np.ones((65_535, 1, 3))
    assert check_same(make_c3d(points, ["A"]), points) == ()


@pytest.mark.parametrize(
    ("groups", "header", "said"),
    [
        ({"POINT": {"FRAMES": 40}}, {8: 90}, r"40 frames \(not 90\)"),
        ({"POINT": {"FRAMES": 17}}, {}, r"40 frames \(not 17\)"),
        ({"POINT": {"USED": 3}}, {2: 7}, r"3 points \(not 7\)"),
        ({"POINT": {"USED": 3}, "ANALOG": {"USED": 0}}, {4: 12}, r"0 analog values a frame \(not 12\)"),
        ({"POINT": {"DATA_START": 3}}, {16: 9}, r"data from byte 1024 \(not 4096\)"),
        ({}, {12: 0.1}, r"floats \(not integers\)"),
    ],
)
def test_what_fills_the_file_is_believed(groups: dict[str, Any], header: dict[int, Any], said: str) -> None:
    (warning,) = check_same(make_c3d(some_points(), LABELS, groups=groups, header=header), some_points())
    assert warning.startswith("header: ")
    assert re.search(said, warning), warning


def test_analog_channels_that_the_header_forgot() -> None:
    analog = np.random.default_rng(1).uniform(-5, 5, (160, 2))
    groups = {"ANALOG": {"USED": 2, "RATE": 400.0}}
    tables = parse_c3d(make_c3d(some_points(), LABELS, 100.0, analog, 4, groups, header={4: 0, 18: 0}))
    assert tables.analog == pytest.approx(analog, abs=1e-5) and tables.analog_rate == 400.0


def test_a_file_that_is_cut_off_is_not_read_as_another() -> None:
    data = make_c3d(some_points(), LABELS, groups={"POINT": {"USED": 3, "FRAMES": 40}})
    with pytest.raises(FileError, match=r"ends after 3\d of the 40 frames"):
        parse_c3d(data[:-300])
    with pytest.raises(FileError, match=r"frames 5 to 4 are none"):
        parse_c3d(make_c3d(some_points(), LABELS, header={6: 5, 8: 4}))


@pytest.mark.parametrize(
    ("parameter", "header", "rate"), [(120.0, 50.0, 120.0), (0.0, 50.0, 50.0), (-1.0, 50.0, 50.0), (120.0, 0.0, 120.0)]
)
def test_rates(parameter: float, header: float, rate: float) -> None:
    tables = parse_c3d(make_c3d(some_points(), LABELS, groups={"POINT": {"RATE": parameter}}, header={20: header}))
    assert tables.rate == rate
    assert len(tables.findings) == (1 if parameter > 0 and header > 0 else 0)


def test_more_than_255_points() -> None:
    points = np.random.default_rng(0).uniform(-900, 900, (3, 300, 3))
    labels = [f"M{i}" for i in range(300)]
    groups = {"POINT": {"LABELS": labels[:255], "LABELS2": labels[255:]}}
    data = make_c3d(points, [], groups=groups)
    assert parse_c3d(data).words("POINT", "LABELS") == tuple(labels)
    check_same(data, points)


def body(up: np.ndarray, lying: bool = False) -> tuple[np.ndarray, list[str]]:
    """(F, M, 3) mm: a walk whose vertical is made `up`, standing, or laid down on a floor at 0."""
    labels = SETS["Plug-in Gait, lower body"]
    points = 1000.0 * put_markers(walking_body(3.0, 50.0), list(labels.values()))
    if lying:
        points = points[..., [0, 2, 1]] * [1.0, 1.0, -1.0]
        points[..., 1] -= points[..., 1].min(axis=1, keepdims=True)
    return points @ up, list(labels)


Y_TO_Z = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])  # rows: where x, y and z go
Y_TO_MINUS_Z = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])


@pytest.mark.parametrize(
    ("turn", "screen", "lying", "expected", "contradicts"),
    [
        (np.eye(3), "+Y", False, "Y", False),
        (np.eye(3), None, False, "Y", False),
        (np.eye(3), "+Z", False, "Y", True),  # a program's default that nobody changed
        (Y_TO_Z, "+Z", False, "Z", False),
        (Y_TO_Z, "+Z", True, "Z", False),  # whoever lies has the floor right below
        (Y_TO_MINUS_Z, "-Z", False, "-Z", False),
        (Y_TO_MINUS_Z, "+Z", False, "-Z", False),
        (Y_TO_MINUS_Z, None, False, "-Z", False),
    ],
)
def test_the_vertical(
    turn: np.ndarray, screen: str | None, lying: bool, expected: str, contradicts: bool, tmp_path: Path
) -> None:
    points, labels = body(turn, lying)
    point: dict[str, Any] = {"UNITS": ["mm"]} | ({} if screen is None else {"X_SCREEN": ["+X"], "Y_SCREEN": [screen]})
    path = tmp_path / "x.c3d"
    path.write_bytes(make_c3d(points, labels, 50.0, groups={"POINT": point}))
    recording = read_c3d(path)
    assert recording.up == expected
    assert any(w.startswith("up axis: the file says") for w in recording.warnings) == contradicts


@pytest.mark.parametrize(
    ("word", "unit"),
    [
        ("mm", 1e-3),
        ("MM  ", 1e-3),
        ("cm", 1e-2),
        ("m", 1.0),
        ("Meters", 1.0),
        ("in", 0.0254),
        ("inches", 0.0254),
        ("", 1e-3),
    ],
)
def test_units(word: str, unit: float, tmp_path: Path) -> None:
    points, labels = body(Y_TO_Z)
    path = tmp_path / "x.c3d"
    path.write_bytes(make_c3d(points * 1e-3 / unit, labels, 50.0, groups={"POINT": {"UNITS": [word]}}))
    recording = read_c3d(path)
    assert recording.unit == unit
    assert any("by the length of a shank" in w for w in recording.warnings) == (word == "")
