"""A state in a file: plain data comes back as it was, and a broken file is refused in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.stages import HUMAN, SMALL, add, conducting, put
from poise.errors import FileError, InputError
from poise.files.arrays import write_npz
from poise.stage.stage import Stage
from poise.stage.state.files import FORMAT, load_state, save_state


def tree() -> dict[str, Any]:
    return {
        "a/b": [1, 2.5, "x", None, True, [], {}],
        "odd": [math.inf, -math.inf, math.nan, 1e-320, -0.0],
        "list": {"list": ["list", ["float64", 3]], "\ud800": "\0"},
        "arrays": [np.arange(6.0).reshape(2, 3), np.array([np.nan, -0.0, np.inf]), np.zeros((0, 3)), np.array(2.0)],
        "kinds": {"i": np.arange(3), "b": np.array([True, False]), "u": np.arange(3, dtype=np.uint8)},
        "strided": np.arange(10.0)[::3],
    }


def say(value: Any) -> str:
    """A value with all its bits."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {say(each)}" for key, each in value.items()) + "}"
    return "[" + ", ".join(map(say, value)) + "]" if isinstance(value, list) else repr(value)


def test_plain_data_comes_back_as_it_was_and_the_same_data_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save_state(tree(), tmp_path / name)
    assert say(load_state(tmp_path / "a")) == say(tree())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("state", "match"),
    [
        ([], "what stage.save"),
        ({"a": {"b": [1, object()]}}, "state/a/b/1 cannot be written: it is a object"),
        ({"a": {1: 2}}, "state/a cannot be written: a dictionary in a state is by words"),
        ({"a": np.array(["x"])}, "this is str"),
    ],
)
def test_what_is_not_plain_is_not_written(state: Any, match: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=match):
        save_state(state, tmp_path / "x.state.npz")
    assert not list(tmp_path.iterdir())


NUMBERS: dict[str, np.ndarray] = {
    "float64": np.zeros(2), "int64": np.zeros(0, np.int64), "uint8": np.zeros(0, np.uint8), "bool": np.zeros(0, bool),
}  # fmt: skip


@pytest.mark.parametrize(
    ("tree", "changes", "match"),
    [
        ("{}", {"format": np.array("poise-take 1")}, "is no state: it does not say"),
        ("{", {}, "must be JSON"),
        ("[" * 100_000, {}, "must be JSON"),
        ('{"a": NaN}', {}, "the number NaN"),
        ('["float64", 2]', {}, "no dictionary at the top"),
        ('{"a": ["float64", 3]}', {}, "more float64 numbers in its tree"),
        ('{"a": ["float64", 1]}', {}, "fewer float64 numbers in its tree"),
        ('{"a": ["float64", 1000000000, 1000000000]}', {}, "more float64 numbers"),
        ('{"a": ["float64", -1]}', {}, r"an array of shape \[-1\]"),
        ('{"a": ["float64", 2.0]}', {}, "an array of shape"),
        ('{"a": ["float64", 2], "b": ["int64", 0, ' + "9" * 30 + "]}", {}, "an array of shape"),
        ('{"a": ["float64", 2, 1, 1, 1, 1, 1, 1, 1, 1]}', {}, "an array of shape"),
        ('{"a": []}', {}, "a list that is none of"),
        ('{"a": [["list"]]}', {}, "a list that is none of"),
        ('{"a": ["number", "12"]}', {}, "a list that is none of"),
        ('{"a": ' * 60 + "1" + "}" * 60, {}, "more than 40 deep"),
        ('{"a": ["float64", 2]}', {"float64": np.zeros(2, np.float32)}, r"array 'float64' must be \(n,\) of float64"),
        ('{"a": ["float64", 2]}', {"int64": np.zeros((0, 1), np.int64)}, r"array 'int64' must be \(n,\)"),
        ('{"a": ["float64", 2]}', {"tree": np.zeros(1)}, "array 'tree' must be one text"),
    ],
)
def test_broken_files_are_refused_in_a_sentence(
    tree: str, changes: dict[str, np.ndarray], match: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.state.npz"
    write_npz(path, {"format": np.array(FORMAT), "tree": np.array(tree), **NUMBERS, **changes})
    with pytest.raises(FileError, match=match):
        load_state(path)


def test_cut_and_missing_files_are_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "x.state.npz"
    save_state(tree(), path)
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(FileError):
            load_state(path)
    write_npz(path, {"format": np.array(FORMAT), "tree": np.array("{}")})
    rejects(lambda: load_state(path), "'float64'", error=FileError)


def others() -> dict[str, Callable[[dict[str, Any]], None]]:
    """Ways to spoil a state of `conducting`."""

    def shorten(state: dict[str, Any]) -> None:
        state["actors"]["one"]["numbers"]["q"] = state["actors"]["one"]["numbers"]["q"][:1]

    return {
        "shape": shorten,
        "players": lambda state: state["actors"]["one"]["players"].pop(),
        "parameter": lambda state: state["actors"]["one"]["players"][2]["motion"].update(colour=1),
        "engine's": lambda state: state["groups"][0]["state"].update(state=np.zeros(3)),
        "groups": lambda state: state["groups"][0].update(actors=["nobody"]),
        "joints": lambda state: state["groups"][0]["built"][0].update(kinds=np.zeros(2, int)),
        "pushes": lambda state: state["actors"]["one"].update(pushes=[[1.0]]),
        "missing": lambda state: state["actors"].pop("one"),
    }


@pytest.mark.parametrize("how", others())
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(how: str) -> None:
    stage = conducting()
    stage.advance(20)
    state = stage.save()
    others()[how](state)
    stage.advance(10)
    before = stage.save()
    with pytest.raises(InputError, match="nothing has changed"):
        stage.restore(state)
    assert say(stage.save()) == say(before)


@pytest.mark.parametrize(
    ("stage", "match"),
    [
        (lambda: Stage("mujoco", dt=0.004), "saved on a stage with dt=0.005"),
        (lambda: add(Stage(), "two", legs=poise.Balance()), "joined or left"),
        (lambda: add(Stage(), legs=poise.Balance()), "other drivers"),
        (lambda: add(Stage(), character=SMALL, **drivers()), "another body"),
    ],
)
def test_a_stage_that_is_not_set_up_alike_is_told_so(stage: Callable[[], Stage], match: str) -> None:
    with pytest.raises(InputError, match=match):
        stage().restore(conducting().save())


def drivers() -> dict[str, Any]:
    return {a.part: a.driver for a in conducting().actors["one"].assignments if not a.is_default}


@pytest.mark.parametrize("state", [{}, [], None, {"engine": "mujoco"}])
def test_what_is_no_state_is_told_so(state: Any) -> None:
    with pytest.raises(InputError, match="no state of a stage"):
        conducting().restore(state)


def test_a_hash_tells_states_apart() -> None:
    """That of `states.go_on`, by which processes are compared: to the last bit of any number."""
    import hashlib

    first = add(Stage(), character=HUMAN, legs=poise.Balance()).save()
    hashes = []
    for change in (0.0, 5e-324):
        found = hashlib.sha256()
        first["actors"]["one"]["numbers"]["a"][0] = change
        put(found, "", first)
        hashes.append(found.hexdigest())
    assert hashes[0] != hashes[1]


@pytest.mark.parametrize(
    "options",
    [
        {"ground": poise.Slope(0.1)},
        {"ground": poise.Ground(friction=0.3)},
        {"ground": None},
        {"gravity": (0, -1.6, 0)},
    ],
)
def test_a_state_is_not_restored_in_another_world(options: dict[str, Any]) -> None:
    stage = add(Stage(), arms=poise.Loose())
    saved = stage.save()
    with pytest.raises(InputError, match=rf"saved on a stage with {next(iter(options))}=.* Set the same stage up\."):
        add(Stage(**options), arms=poise.Loose()).restore(saved)
    add(Stage(ground=poise.Ground()), arms=poise.Loose()).restore(saved)


def test_a_state_on_a_map_knows_its_heights() -> None:
    maps = [poise.HeightMap(heights=np.full((3, 3), height), spacing=1.0) for height in (0.0, 0.0, 0.1)]
    saved = add(Stage(ground=maps[0]), arms=poise.Loose()).save()
    add(Stage(ground=maps[1]), arms=poise.Loose()).restore(saved)
    rejects(lambda: add(Stage(ground=maps[2]), arms=poise.Loose()).restore(saved), "HeightMap")


@pytest.mark.parametrize(
    "other",
    [
        poise.Prop.box("box", (1.0, 0.3, 1.0), position=(5.0, 0.15, 0.0)),
        poise.Prop.box("box", (1.0, 0.2, 1.0), position=(0.0, 0.15, 0.0)),
        poise.Prop.box("box", (1.0, 0.3, 1.0), 3.0, position=(0.0, 0.15, 0.0)),
        None,
    ],
)
def test_a_state_is_not_restored_among_other_things(other: poise.Prop | None) -> None:
    first, second = Stage(), Stage()
    first.add_prop(poise.Prop.box("box", (1.0, 0.3, 1.0), position=(0.0, 0.15, 0.0)))
    if other is not None:
        second.add_prop(other)
    saved = add(first, arms=poise.Loose()).save()
    with pytest.raises(InputError, match="saved on a stage with props="):
        add(second, arms=poise.Loose()).restore(saved)
