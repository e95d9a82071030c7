"""Paths of one's own: through their samples, with rates that are those of the curve, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, RotationSpline

import poise
from poise.errors import FileError
from poise.files.point_path import load_point_path


def make(count: int = 30, turned: bool = True) -> poise.PointPath:
    t = np.linspace(0.5, 3.5, count)
    places = np.stack([0.3 * np.sin(2.0 * t), 1.0 + 0.1 * t, 0.2 * np.cos(t)], axis=1)
    turns = Rotation.from_rotvec(np.stack([t, 0.5 * np.sin(t), 2.0 + 0.0 * t], axis=1)).as_quat(scalar_first=True)
    turns[::2] *= -1.0  # signs that jump say the same
    return poise.PointPath(t, places, turns if turned else None)


def test_it_goes_through_its_samples_and_stays_at_its_ends() -> None:
    path = make()
    for k in (0, 7, 29):
        found = path.at(float(path.times[k]))
        np.testing.assert_allclose(found.place, path.places[k], atol=1e-12)
        assert abs(found.turn @ path.turns[k]) == pytest.approx(1.0, abs=1e-12)
    for t, end in ((-3.0, 0), (99.0, -1)):
        found = path.at(t)
        np.testing.assert_allclose(found.place, path.places[end], atol=1e-12)
        assert not found.velocity.any() and not found.spin.any()


def test_rates_are_those_of_the_curve() -> None:
    path, h = make(), 1e-5
    for t in (0.7, 1.9, 3.3):
        found, before, after = path.at(t), path.at(t - h), path.at(t + h)
        np.testing.assert_allclose(found.velocity, (after.place - before.place) / (2.0 * h), atol=1e-7)
        turns = [Rotation.from_quat(each.turn, scalar_first=True) for each in (before, after)]
        np.testing.assert_allclose(found.spin, (turns[1] * turns[0].inv()).as_rotvec() / (2.0 * h), atol=1e-6)


def test_it_is_near_another_spline_of_the_same_turns() -> None:
    path = make(60)
    other = RotationSpline(path.times, Rotation.from_quat(path.turns, scalar_first=True))
    for t in (0.77, 2.03, 3.11):
        mine = Rotation.from_quat(path.at(t).turn, scalar_first=True)
        assert (mine * other(t).inv()).magnitude() < 1e-4


def test_one_sample_is_a_place() -> None:
    path = poise.PointPath([2.0], [[0.1, 1.0, 0.2]])
    np.testing.assert_array_equal(path.at(5.0).place, [0.1, 1.0, 0.2])


@pytest.mark.parametrize(
    ("times", "places", "turns", "match"),
    [
        ([], np.zeros((0, 3)), None, "1 to 1000000 times"),
        ([0.0, 1.0], np.zeros((3, 3)), None, "as many places"),
        ([0.0, 0.0], np.zeros((2, 3)), None, "must increase"),
        ([0.0, np.nan], np.zeros((2, 3)), None, "finite"),
        ([0.0, 1.0], np.full((2, 3), 1e9), None, "within"),
        ([0.0, 1.0], np.zeros((2, 3)), np.zeros((2, 4)), "none of them zero"),
        ([0.0, 1.0], np.zeros((2, 3)), np.ones((1, 4)), "quaternions"),
    ],
)
def test_what_is_no_path_is_refused(times: list, places: np.ndarray, turns: np.ndarray | None, match: str) -> None:
    with pytest.raises(poise.InputError, match=match):
        poise.PointPath(times, places, turns)


def test_files_come_back(tmp_path) -> None:
    path, file = make(), tmp_path / "a.csv"
    rows = np.column_stack([path.turns, path.times, path.places])
    head = "qw,qx,qy,qz, time ,x,y,z\n# in any order\n"
    file.write_text(head + "\n".join(",".join(map(repr, map(float, row))) for row in rows), encoding="utf-8")
    found = load_point_path(file)
    np.testing.assert_allclose(found.places, path.places)
    np.testing.assert_allclose(found.turns, path.turns)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "is empty"),
        ("time,x,y\n0,0,0\n", "'z' is missing"),
        ("time,x,y,z,w\n0,0,0,0,0\n", "'w' is not known"),
        ("time,x,y,z,qw\n0,0,0,0,1\n", "'qx' is missing"),
        ("time,x,x,y,z\n0,0,0,0,0\n", "twice"),
        ("time,x,y,z\n0,0,0\n", ":2: has 3 numbers"),
        ("time,x,y,z\n0,0,0,up\n", ":2: 'up' is no number"),
        ("time,x,y,z\n1,0,0,0\n0,0,0,0\n", "must increase"),
    ],
)
def test_broken_files_are_refused_with_path_and_line(text: str, match: str, tmp_path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=match):
        load_point_path(file)
