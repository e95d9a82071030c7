"""TRC: what programs write and people edit, and the walks whose joints OpenSim has found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.errors import rejects
from helpers.files.trc import make_trc
from helpers.markers import SETS, put_markers, walking_body
from helpers.recordings import data_file
from poise.errors import FileError
from poise.files.formats.trc import load_trc, read_trc
from poise.files.registry import load_clip, read_clip, read_recording
from poise.findings import list_warnings
from poise.spatial import rotation

WALK = walking_body(3.0, 50.0)
LABELS = list(SETS["Rajagopal"])
POINTS = 1000.0 * put_markers(WALK, list(SETS["Rajagopal"].values()))


def write(folder: Path, text: str) -> Path:
    path = folder / "walk.trc"
    path.write_text(text)
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    points = POINTS.copy()
    points[5:9, 3] = np.nan
    file = load_trc(write(tmp_path, make_trc(points, LABELS, 50.0, first=12.4)))
    assert file.labels == tuple(LABELS) and file.unit == 1e-3 and file.up == "Y" and file.findings == ()
    assert file.times == pytest.approx(np.arange(len(points)) / 50.0)  # from the first frame
    assert np.array_equal(np.isnan(file.markers), np.isnan(points))
    assert np.nanmax(np.abs(file.markers - 1e-3 * points)) < 1e-8


SPELLINGS = {
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "two tabs in the header's values": lambda text: "\n".join(
        line.replace("\t", "\t\t") if i == 2 else line for i, line in enumerate(text.split("\n"))
    ),
    "padded values": lambda text: text.replace("50.00\t50.00", "   50.00 \t  50.00"),
    "no line of X1 Y1 Z1": lambda text: "\n".join(line for line in text.split("\n") if not line.startswith("\t\tX1")),
    "no empty line": lambda text: text.replace("\n\n", "\n"),
    "nan for empty": lambda text: "\n".join(
        "\t".join(cell or "nan" for cell in line.split("\t")) if i > 5 and line else line
        for i, line in enumerate(text.split("\n"))
    ),
    "one label a tab": lambda text: "\n".join(
        line.replace("\t\t\t", "\t") if line.startswith("Frame#") else line for line in text.split("\n")
    ),
    "blanks for tabs": lambda text: "\n".join(
        " ".join(line.split()) if i > 3 else line.replace("\t", " ") for i, line in enumerate(text.split("\n"))
    ),
}


@pytest.mark.parametrize("how", SPELLINGS)
def test_ways_to_write_the_same(how: str, tmp_path: Path) -> None:
    points = POINTS.copy()
    if how == "nan for empty":
        points[4:20, 7] = np.nan
    plain = load_trc(write(tmp_path, make_trc(points, LABELS, 50.0)))
    changed = SPELLINGS[how](make_trc(points, LABELS, 50.0))
    other = load_trc(write(tmp_path, changed))
    assert other.labels == plain.labels and np.array_equal(other.markers, plain.markers, equal_nan=True)
    assert np.array_equal(other.times, plain.times)


def test_rows_without_their_last_cells(tmp_path: Path) -> None:
    points = POINTS.copy()
    points[:, -1] = np.nan
    text = "\n".join(line.rstrip("\t") for line in make_trc(points, LABELS, 50.0).split("\n"))
    assert np.isnan(load_trc(write(tmp_path, text)).markers[:, -1]).all()


@pytest.mark.parametrize(("unit", "word"), [(1.0, "m"), (1e-2, "cm"), (1e-3, "mm"), (1.0, "mm"), (1e-3, "m")])
def test_units(unit: float, word: str, tmp_path: Path) -> None:
    recording = read_trc(write(tmp_path, make_trc(1e-3 * POINTS / unit, LABELS, 50.0, word)))
    assert recording.unit == unit
    honest = {1.0: "m", 1e-2: "cm", 1e-3: "mm"}[unit] == word
    assert any("by the length of a shank" in w for w in recording.warnings) != honest


def test_z_up_is_seen_on_the_body(tmp_path: Path) -> None:
    recording = read_trc(write(tmp_path, make_trc(POINTS[..., [2, 0, 1]], LABELS, 50.0)))
    assert recording.up == "Z" and any("the body stands along Z" in w for w in recording.warnings)


def test_times_and_rates_that_disagree(tmp_path: Path) -> None:
    text = make_trc(POINTS, LABELS, 50.0)
    slow = load_trc(write(tmp_path, text.replace("50.00\t50.00", "25.00\t25.00")))
    assert slow.times[1] == pytest.approx(0.02) and slow.findings[0].sentence.startswith(
        "frame rate: the header says 25 Hz"
    )
    still = "\n".join(
        "\t".join([line.split("\t")[0], "0.0", *line.split("\t")[2:]]) if line[:1].isdigit() and i > 4 else line
        for i, line in enumerate(text.split("\n"))
    )
    stopped = load_trc(write(tmp_path, still))
    assert stopped.times[1] == pytest.approx(0.02) and "does not grow" in stopped.findings[0].message
    rejects(
        lambda: load_trc(write(tmp_path, still.replace("DataRate\tCameraRate", "Rate\tCameraRate"))),
        "DataRate",
        error=FileError,
    )


def test_counts_that_disagree(tmp_path: Path) -> None:
    text = make_trc(POINTS, LABELS, 50.0)
    frames = len(POINTS)
    file = load_trc(write(tmp_path, text.replace(f"\t{frames}\t", "\t999\t", 1)))
    assert list_warnings(file.findings) == (f"header: it announces 999 frames; {frames} are there.",)
    with pytest.raises(FileError, match=r"ends after \d+ of the \d+ frames"):
        load_trc(write(tmp_path, text[: len(text) // 2]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "hello\nworld\n", "not a TRC file"),
        (lambda text: text.replace("Frame#\tTime\t" + LABELS[0], "Frame#\tTime\n\t"), "there are no labels"),
        (lambda text: text.replace("\n3\t0.04", "\n3\tx"), r"trc:9: a frame begins with its number and its time"),
        (lambda text: text.replace("\n3\t0.040000\t", "\n3\t0.040000\tabc"), r"trc:9: 'abc-?\d+.*' is no number"),
        (
            lambda text: text.replace("\n3\t0.040000", "\n3\t0.040000\t1\t2\t3"),
            r"trc:9: a frame of 45 markers, but 44",
        ),
        (lambda text: text.split("\n1\t")[0] + "\n", "it has no frames"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(change, message: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=message):
        load_trc(write(tmp_path, change(make_trc(POINTS, LABELS, 50.0))))


# m RMS beside OpenSim's inverse kinematics of the same markers. Its hips are a scaled model's, 30 to 40 mm from those
# of the regression; its ankle is the talus's, 25 mm below the middle of the malleoli, where this one is.
OPENSIM = {
    ("forces-walk3d/markers_walk.trc", "force-bvh/walk3d_ik_raw.bvh"): {
        "UpperLeg": 0.045, "LowerLeg": 0.02, "Foot": 0.05, "UpperArm": 0.035, "LowerArm": 0.025, "Hand": 0.035
    },
    ("forces-gait10dof/subject01_walk.trc", "force-bvh/gait10dof_walk.bvh"): {
        "UpperLeg": 0.045, "LowerLeg": 0.055, "Foot": 0.02
    },
}  # fmt: skip


@pytest.mark.data
@pytest.mark.parametrize("files", OPENSIM, ids=["walk3d", "gait10dof"])
def test_beside_opensim(files: tuple[str, str]) -> None:
    """The model of gait10dof moves in a plane, so that its sideways places are not compared."""
    motion = read_recording(data_file(files[0])).source.motion
    truth = load_clip(data_file(files[1]))
    turn = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), -0.5 * np.pi)  # OpenSim walks along X
    first = 1 if "gait10dof" in files[0] else 0
    for stem, limit in OPENSIM[files].items():
        for side in ("left", "right"):
            joint = truth.skeleton.index(truth.skeleton.roles[side + stem])
            apart = (rotation.rotate(turn, motion.centers[side + stem]) - truth.positions[:, joint])[:, first:]
            assert np.sqrt(np.mean(np.sum(apart**2, axis=-1))) < limit, (side, stem)


@pytest.mark.data
def test_real_walks_are_whole() -> None:
    reading = read_clip(data_file("forces-walk3d/markers_walk.trc"))
    assert len(reading.clip.skeleton) == 18 and reading.stature_source == "estimated from the legs and the trunk"
    assert "markers: no head; head is not built." in reading.warnings
    reading = read_clip(data_file("forces-gait10dof/subject01_walk.trc"))
    assert len(reading.clip.skeleton) == 21 and reading.stature == pytest.approx(1.8, rel=0.05)
