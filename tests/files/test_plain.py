"""The second opinion on files: plain code beside the readers, on every format, and what it does with odd files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.clips import random_clip
from helpers.files.bvh_twins import plain_bvh
from helpers.files.seeds import AMC, ASF, write_seed
from oracles.amass import revolve
from oracles.second_readers import SUFFIXES, measure_second_reading
from poise.files.formats.bvh.clip import read_bvh, save_bvh
from poise.files.reading.pipeline import interpret
from poise.files.reading.reframe import turn_to_y
from poise.files.registry import FORMATS, read_recording
from poise.files.writing.independent.bvh import read_bvh_motions
from poise.files.writing.independent.tree import UnreadableError, spin, turn
from poise.files.writing.round_trip import (
    _UPRIGHT,
    find_source_places,
    match_names,
    measure_reading,
    read_source_motion,
)
from poise.spatial import rotation
from test_convert import ODD, PAIR
from tools.sweeps.reading_cases import BvhCase

READABLE = [entry.suffix for entry in FORMATS if entry.read is not None]


@pytest.mark.parametrize("suffix", READABLE)
def test_both_opinions_agree_on_a_file_of_every_format(suffix: str, tmp_path: Path) -> None:
    path = write_seed(suffix, tmp_path)
    if path is None:
        pytest.skip(f"no {suffix} can be made here")
    reading = interpret(read_recording(path), whole=True)
    source = find_source_places(reading)
    if suffix in SUFFIXES:
        assert source.unchecked == f"Poise has no second reader of {reading.recording.format}"
        assert measure_reading(source, reading) is None
        assert measure_second_reading(reading) < 1e-6
        return
    if suffix in (".c3d", ".trc"):
        assert (
            source.unchecked == f"{suffix[1:].upper()} has no joints of its own"
            and measure_reading(source, reading) is None
        )
        return
    assert (source.unchecked, source.left_out) == ("", ())
    assert len(source.joints) == len(reading.clip.skeleton)
    error = measure_reading(source, reading)
    assert error is not None and error < 1e-6


@pytest.mark.parametrize("motion", [False, True], ids=["asf", "amc"])
def test_both_opinions_agree_on_turned_roots_orders_and_bones_that_move(motion: bool, tmp_path: Path) -> None:
    asf = ASF.replace("orientation 0 0 0", "orientation 10 -20 30").replace("position 0 0 0", "position 1 2 3")
    asf = asf.replace("order TX TY TZ RX RY RZ", "order RZ RX RY TX TZ TY").replace(
        "axis XYZ\n  pos", "axis ZYX\n  pos"
    )
    asf = asf.replace("axis 0 0 20 XYZ\n    dof rx ry rz", "axis 5 -15 20 YZX\n    dof rz tx ty tz rx ry")
    (tmp_path / "seed.asf").write_text(asf)
    (tmp_path / "seed.amc").write_text(AMC.replace("lfemur ", "lfemur 12 0.5 -1 2 "))
    text = (tmp_path / "seed.amc").read_text()
    for old, new in (("8.0 30.0", "30.0"), ("8.5 29.0", "29.0")):
        text = text.replace(old, new)
    (tmp_path / "seed.amc").write_text(text)
    reading = interpret(read_recording(tmp_path / ("seed.amc" if motion else "seed.asf")), whole=True)
    assert measure_second_reading(reading) < 1e-9


def test_amass_is_evaluated_on_the_body_that_was_taken(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "amass.npz"
    np.savez(path, trans=rng.normal(size=(6, 3)), poses=rng.normal(size=(6, 156)), mocap_framerate=60.0)
    reading = interpret(read_recording(path), whole=True)
    assert reading.clip.positions.shape == (6, 52, 3)
    assert measure_second_reading(reading) < 1e-9


def test_matrices_are_those_of_quaternions() -> None:
    rng = np.random.default_rng(1)
    q = rotation.exp(rng.normal(size=(20, 3)) * 2)
    np.testing.assert_allclose(turn(*q.T)[:, :3, :3], rotation.to_matrix(q), atol=1e-12)
    np.testing.assert_allclose(turn(*(3 * q.T))[:, :3, :3], rotation.to_matrix(q), atol=1e-12)
    vectors = np.concatenate([rng.normal(size=(20, 3)), 1e-8 * rng.normal(size=(5, 3)), np.zeros((1, 3))])
    np.testing.assert_allclose(revolve(vectors)[:, :3, :3], rotation.to_matrix(rotation.exp(vectors)), atol=1e-12)
    for i, axis in enumerate("XYZ"):
        expected = rotation.to_matrix(rotation.exp(0.7 * np.eye(3)[i]))
        np.testing.assert_allclose(spin(axis, 0.7)[0, :3, :3], expected, atol=1e-12)


def test_every_up_axis_is_stood_up_as_readings_are() -> None:
    for up, rows in _UPRIGHT.items():
        np.testing.assert_allclose(rows, rotation.to_matrix(turn_to_y(up)), atol=1e-12)


@pytest.mark.parametrize("how", ["latin-1", "utf-8", "utf-16", "bom", "carriage returns"])
def test_an_odd_bvh_is_read_as_it_is(how: str, tmp_path: Path) -> None:
    """Blanks and umlauts in names, double names, braces and line ends of any kind, wrapped angles, exponents."""
    path = tmp_path / "odd.bvh"
    text = ODD.replace("\r\n", "\r") if how == "carriage returns" else ODD
    path.write_bytes(text.encode({"bom": "utf-8-sig", "carriage returns": "utf-8"}.get(how, how)))
    (motion,) = read_bvh_motions(path)
    clip = read_bvh(path).clip
    assert motion.names == ("Hips", "Hüfte l", "knee", "knee", "head")
    matched = match_names(motion.names, clip.skeleton.names)
    assert [clip.skeleton.names[matched[i]] for i in range(5)] == ["Hips", "Hüfte l", "knee", "knee_2", "head"]
    off = motion.places(list(matched)) - clip.positions[:, list(matched.values())]
    assert np.abs(off).max() < 1e-9


def test_each_of_several_skeletons_is_evaluated(tmp_path: Path) -> None:
    path = tmp_path / "pair.bvh"
    path.write_text(PAIR)
    for i, name in enumerate("AB"):
        recording = read_bvh(path, name)
        motion = read_source_motion(recording)
        assert motion.names[0] == name and len(read_bvh_motions(path)) == 2
        np.testing.assert_allclose(read_bvh_motions(path)[i].places([0, 1]), recording.clip.positions, atol=1e-9)


def test_names_are_matched_by_their_numbers() -> None:
    assert match_names(["a", "b", "a"], ["b", "a", "a.2"]) == {1: 0, 0: 1, 2: 2}
    assert match_names(["a", "b", "a"], ["a_2", "b"]) == {2: 0, 1: 1}
    assert match_names(["a_2", "a", "a"], ["a", "a_2", "a_3"]) == {1: 0, 0: 1, 2: 2}
    assert match_names(["a"], ["b"]) == {}


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize("others", ["six", "three"])
@pytest.mark.parametrize(("above", "carrier"), [(0, 0), (1, 0), (1, 1), (3, 2)])
@pytest.mark.many(5)
def test_position_channels_are_taken_as_the_bones_say(
    above: int, carrier: int, others: str, adds: bool, tmp_path: Path
) -> None:
    """Another reader, which is told which way they are meant. Where no bone says it, they replace the OFFSET."""
    case = BvhCase(above=above, carrier=carrier, adds=adds, others=others, stretch=0.0 if others == "three" else 0.02)
    path = case.write(tmp_path)
    (motion,) = read_bvh_motions(path)
    expected = plain_bvh(path.read_text(), adds and others == "six")
    places = motion.places(range(len(motion.names)))
    for j, name in enumerate(motion.names):
        np.testing.assert_allclose(places[:, j], expected[name], atol=1e-9)


def test_what_poise_writes_replaces_the_offset_whatever_it_looks_like(tmp_path: Path) -> None:
    """Joints that all slide onto their parents have channels about zero, as displacements have."""
    clip = random_clip(np.random.default_rng(2))
    shifts = np.tile(-clip.skeleton.offsets, (len(clip), 1, 1)) * np.linspace(0.9, 1.1, len(clip))[:, None, None]
    shifts[:, 0] = 0.0
    clip = clip.replace(shifts=shifts)
    save_bvh(clip, tmp_path / "x.bvh")
    (motion,) = read_bvh_motions(tmp_path / "x.bvh", as_written=True)
    order = [motion.names.index(name) for name in clip.skeleton.names]
    np.testing.assert_allclose(motion.places(order), clip.positions, atol=1e-5)


def test_what_cannot_be_followed_is_told(tmp_path: Path) -> None:
    path = write_seed(".bvh", tmp_path)
    assert path is not None
    recording = read_recording(path)
    path.write_text(path.read_text() + "1 2 3\n")
    with pytest.raises(UnreadableError, match="do not fill rows"):
        read_source_motion(recording)
    path.unlink()
    with pytest.raises(UnreadableError, match="FileNotFoundError"):
        read_source_motion(recording)
    source = find_source_places(interpret(recording, whole=True))
    assert source.places is None and "FileNotFoundError" in source.unchecked
