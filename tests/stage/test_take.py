"""Takes as files: what is read is what was written, and what is broken is refused before memory is taken."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.errors import FileError
from poise.files.character import format_character, parse_character
from poise.stage.take.files import load_take
from poise.stage.take.take import ARRAYS, ActorTake, Event, Take, save_take


def make_take(frames: int = 3, name: str = "ann") -> Take:
    """Numbers at random, with gaps where a take has gaps."""
    rng = np.random.default_rng(3)
    character = poise.Character.human(1.7, 60, preset="mix")
    j = len(character.skeleton)
    shapes = {
        "rotations": (j, 4), "angular_velocity": (j, 3), "torque": (j, 3), "effort": (j,), "margin": (), "feet": (2, 3),
        "pressure": (2, 3), "soles": (2, 4, 3), "wrench": (2, 6),
    }  # fmt: skip
    arrays = {array: rng.normal(size=(frames, *shapes.get(array, (3,)))) for array in ARRAYS}
    arrays["rotations"] /= np.linalg.norm(arrays["rotations"], axis=-1, keepdims=True)
    arrays["pressure"][1, 0] = np.nan
    record = ActorTake(name, character, connectors=("chest", "hips"), **arrays)
    props = {"ball": rng.normal(size=(frames, 7))}
    return Take(np.arange(frames) / 50.0, {name: record}, props, (Event(0.02, name, "fell", "why"),), 1.5)


def edit(path: Path, **changes: object) -> Path:
    """The same npz with some arrays changed; None leaves one out."""
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    for key, value in changes.items():
        key = key.replace("__", "/")
        arrays.pop(key, None)
        if value is not None:
            arrays[key] = value
    np.savez(path, **arrays)
    return path


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "a.take.npz"
    save_take(make_take(), path)
    return path


def test_what_is_read_is_what_was_written(saved: Path, tmp_path: Path) -> None:
    take, again = make_take(), load_take(saved)
    assert np.array_equal(again.times, take.times)
    assert again.events == take.events
    assert np.array_equal(again.props["ball"], take.props["ball"])
    one, other = take.actor(), again.actor("ann")
    assert other.connectors == one.connectors
    for array in ARRAYS:
        assert np.array_equal(getattr(other, array), getattr(one, array), equal_nan=True), array
    assert format_character(other.character) == format_character(one.character)
    twice = tmp_path / "b.take.npz"
    save_take(again, twice)
    assert twice.read_bytes() == saved.read_bytes()


def test_a_simulated_take_comes_back(tmp_path: Path) -> None:
    stage = poise.Stage()
    actor = stage.add(poise.Character.human(1.75, 75, preset="mix"), name="ann")
    actor.drive("legs", poise.Balance())
    take = stage.run(0.1)
    take.save(tmp_path / "x.take.npz")
    clip = load_take(tmp_path / "x.take.npz").clip("ann")
    assert np.array_equal(clip.rotations, take.clip().rotations)


def test_text_of_a_character_goes_both_ways() -> None:
    character = poise.Character.human(1.5, 45)
    text = format_character(character)
    assert format_character(parse_character(text, "x")) == text
    rejects(lambda: parse_character("{", "somewhere"), "1", "JSON", error=FileError)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format": np.array("other")}, "is no take"),
        ({"times": np.array([0.0, 0.0, 1.0])}, "must increase"),
        ({"times": np.array([0.0, 1.0])}, r"shape \(3, 7\)|needed"),
        ({"actor__ann__root": np.full((3, 3), np.inf)}, "cannot be used"),
        ({"actor__ann__root": None}, "there is no array 'actor/ann/root'"),
        ({"actor__ann__rotations": np.zeros((3, 15, 4))}, "shape|unit quaternions"),
        ({"actor__ann__torque": np.zeros((3, 2, 3))}, "must be numbers of shape"),
        ({"actor__ann__margin": np.array(["a", "b", "c"])}, "must be numbers"),
        ({"actor__ann__soles": np.full((3, 2, 4, 3), 1e300)}, "too large"),
        ({"actor__ann__character": np.array("{}")}, "lacks 'format'"),
        ({"actor__ann__connectors": np.array("[1]")}, "must be names"),
        ({"events": np.array('[["a", "b", "c", "d"]]')}, r"an event of a take must be"),
        ({"events": np.array("{")}, "must be a JSON list"),
        ({"stray": np.zeros(3)}, "'stray' has no place in a take"),
        ({"prop__ball": np.zeros((3, 6))}, "needed"),
        ({"events": np.array([object()], dtype=object)}, "Python objects"),
    ],
)
def test_broken_takes_are_refused(saved: Path, changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(FileError, match=complaint):
        load_take(edit(saved, **changes))


def test_a_header_that_claims_more_than_there_is_takes_no_memory(saved: Path) -> None:
    data = io.BytesIO()
    np.lib.format.write_array_header_1_0(data, {"descr": "<f8", "fortran_order": False, "shape": (10**11,)})
    with zipfile.ZipFile(saved) as old:
        members = {name: old.read(name) for name in old.namelist()}
    members["times.npy"] = data.getvalue()
    with zipfile.ZipFile(saved, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    with pytest.raises(FileError, match="not as large as its header says"):
        load_take(saved)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no such file"):
        load_take(tmp_path / "none.take.npz")
    (tmp_path / "text.take.npz").write_text(json.dumps({}))
    with pytest.raises(FileError, match="not an npz file"):
        load_take(tmp_path / "text.take.npz")


def test_names_that_no_file_can_hold(tmp_path: Path) -> None:
    rejects(lambda: save_take(make_take(name="a/b"), tmp_path / "x.take.npz"), "'a/b'")
