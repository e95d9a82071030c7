"""Recipes and stage files: what is written is read again, and what is misspelt is named."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.body.geometry.primitives import Box, Capsule, Sphere
from poise.drivers.balance.balance import Balance
from poise.errors import FileError, InputError
from poise.files.reporting import RecordingReporter
from poise.files.toml import Table, format_toml
from poise.jobs.job import RECIPE, Run, format_recipe, load_recipe, parse_recipe
from poise.jobs.mix.borrowing import Borrowed
from poise.jobs.mix.job import MixOptions
from poise.jobs.shared.body_options import parse_load
from poise.jobs.shared.options import parse_parts, parse_push
from poise.options import Given, list_options
from poise.world.forces import Load, Push
from poise.world.scenery import load_scenery, parse_scenery


def full(folder: Path) -> dict[str, Any]:
    """Every value that a recipe can have, but for drives."""
    return {
        "clip": folder / "a.bvh", "character": folder / "b.json", "take": "walk", "up": "Z", "mass": 70.0,
        "fps": 60.0, "scale": 0.01, "roles": ("hips=Root",), "scenery": folder / "s.toml", "engine": "bullet",
        "couple": "paper", "gain": 0.5, "torque_only": True, "dt": 0.002, "physical": ("legs", "trunk"),
        "stiffness": 2.0, "pinned": True, "loads": (Load("rightHand", 2.5),),
        "pushes": (Push("chest", (0.0, -1e-3, 75.0), 0.2, 1.0),), "output": folder / "o" / "out.glb",
        "film": folder / "f.mp4", "plot": folder / "p.png", "seed": 7, "from_": (Borrowed("arms", folder / "g.bvh"),),
    }  # fmt: skip


def read(text: str, folder: Path) -> Given:
    """A recipe's values."""
    return parse_recipe(MixOptions, tomllib.loads(text), folder)


def test_a_recipe_comes_back(tmp_path: Path) -> None:
    recipe = full(tmp_path)
    path = tmp_path / "r.toml"
    path.write_text(format_recipe(MixOptions, recipe, tmp_path))
    assert load_recipe(MixOptions, path).values == recipe
    assert tomllib.loads(path.read_text())["pushes"] == [
        {"time": 1.0, "joint": "chest", "force": [0.0, -1e-3, 75.0], "seconds": 0.2}
    ]


def test_paths_count_from_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    text = format_recipe(MixOptions, {"clip": tmp_path / "a.bvh"}, tmp_path / "deep")
    assert tomllib.loads(text)["character"]["clip"] == "../a.bvh"


def test_options_go_before_a_recipe_and_lists_are_not_joined(tmp_path: Path) -> None:
    recipe = read(format_recipe(MixOptions, full(tmp_path), tmp_path), tmp_path)
    asked = Given.from_python(MixOptions, {"gain": 0.0, "loads": Load("leftHand", 1.0), "mass": None}).over(recipe)
    assert asked.values["gain"] == 0.0
    assert asked.values["loads"] == (Load("leftHand", 1.0),)
    assert asked.values["physical"] == ("legs", "trunk")
    assert asked.values["mass"] == 70.0
    assert Given.from_python(MixOptions, {}).over(recipe).values == recipe.values


def test_an_empty_list_is_a_value(tmp_path: Path) -> None:
    recipe = read(format_recipe(MixOptions, full(tmp_path), tmp_path), tmp_path)
    assert Given.from_python(MixOptions, {"loads": []}).over(recipe).values["loads"] == ()
    assert read(head("loads = []"), tmp_path).values == {"loads": ()}


def test_false_overrides_a_recipe(tmp_path: Path) -> None:
    recipe = read(head("[drivers]\npin = true"), tmp_path)
    assert Given.from_python(MixOptions, {"pinned": False}).over(recipe).values == {"pinned": False}


@pytest.mark.parametrize("text", ['say "no"\n\\', "tab\there", "del\x7f", "Ännchen 左足", "'''"])
def test_any_text_survives_toml(text: str) -> None:
    assert tomllib.loads(format_toml({"a": text, "t": {"b": (text, text)}})) == {"a": text, "t": {"b": [text, text]}}


def head(rest: str) -> str:
    return f'format = "{RECIPE}"\n{rest}'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is no recipe of this program"),
        (head("[stage]\ncuple = 'exact'"), r"'cuple' is not known\. Did you mean 'couple'"),
        (head("[drivers]\nphysical = 'legs'"), "must be a list of words"),
        (head("[drivers]\nphisical = ['legs']"), "Did you mean 'physical'"),
        (head("[[loads]]\njoint = 'rightHand'"), r"\[\[loads\]\] 1 lacks 'mass'"),
        (head("[[loads]]\njoint = 'rightHand'\nmass = -2"), "-2 kg; it must be more than 0"),
        (head("[[pushes]]\ntime = 1\njoint = 'chest'\nforce = [1, 2]\nseconds = 1"), "list of 3 numbers"),
        (head("[[pushes]]\ntime = 1\njoint = 'chest'\nforce = [1, 2, 3]\nseconds = 0"), "lasts more than 0 s"),
        (head("[stage]\ngain = inf"), "finite number"),
        (head("[stage]\ntorque_only = 1"), "true or false"),
        (head("[character]\nclip = 3"), "must be text"),
        (head("[sage]\n"), "Did you mean 'stage'"),
        (head("seed = 1.5"), r"^'seed' of a recipe must be a whole number from 0 on; 1\.5 given"),
        (head("seed = -1"), "'seed' of a recipe must be a whole number from 0 on; -1 given"),
        (head("seed = true"), "'seed' of a recipe must be a whole number"),
        (head("[character]\nscale = -1"), r"^'scale' of \[character\] must be from 1e-06"),
        (head("[character]\nmass = 5000"), r"^'mass' of \[character\] must be from 1 to 1000 kg; got 5000"),
        (head("[character]\nroles = ['a']"), r"^'roles' of \[character\] takes role=joint words"),
        (head("[character]\nup = 'W'"), r"^'up' of \[character\] must be X, Y, Z, -X, -Y or -Z; got 'W'"),
        (head("[stage]\ncouple = 'x'"), r"^'couple' of \[stage\] must be exact or paper; got 'x'"),
        (head("[stage]\ndt = -1"), r"^'dt' of \[stage\] must be from 1e-05 to 0\.05 s; got -1"),
        (head("[stage]\ngain = 99"), r"^'gain' of \[stage\] must be from -10 to 10; got 99"),
        (head("[drivers]\nstiffness = -1"), r"^'stiffness' of \[drivers\] must be from 0\.01 to 50; got -1"),
    ],
)
def test_what_is_wrong_in_a_recipe_is_named(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read(text, Path())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[drivers]\nphysical = []", r"^'physical' of \[drivers\] in .*r\.toml is empty .* Name parts"),
        (
            "[character]\nscale = 1\nheight = 1",
            r"^'height' of \[character\] in .*r\.toml scales .* so that 'scale' of \[character\] in .*r\.toml would do",
        ),
    ],
)
def test_what_does_not_go_together_in_a_recipe_is_named(text: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(head(text))
    with pytest.raises(InputError, match=complaint):
        poise.mix(tmp_path / "a.bvh", recipe=tmp_path / "r.toml")


@pytest.mark.parametrize("line", ["mass = 5000", "roles = ['a']", "clip = 3", "wieght = 1"])
def test_an_error_in_a_recipe_has_its_line(line: str, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(head(f"\n[character]\n\n{line}\n"))
    rejects(lambda: load_recipe(MixOptions, tmp_path / "r.toml"), "r.toml:5:", error=FileError)


def test_no_part_at_all_is_said_beside_drives(tmp_path: Path) -> None:
    text = head('[drivers]\nphysical = []\n[[drives]]\npart = "leftArm"\ndriver = "loose"\n')
    recipe = read(text, tmp_path).values
    assert recipe["physical"] == ()
    assert read(format_recipe(MixOptions, recipe, tmp_path), tmp_path).values == recipe


def test_roles_in_a_file_count_from_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "roles.toml").write_text('hips = "Root"')
    recipe = read(head('[character]\nroles = ["roles.toml", "head=Top"]'), tmp_path)
    assert recipe.values["roles"] == ("hips=Root", "head=Top")


def test_who_follows_a_recipe_hears_of_its_values_by_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(head("[character]\nscale = 2\n[drivers]\nstiffness = 2\n"))
    notebook = RecordingReporter()
    given = Given.from_python(MixOptions, {"stiffness": 3.0, "height": 1.7}).over(load_recipe(MixOptions, path))
    run = Run(MixOptions, given, notebook)
    assert (given.values["stiffness"], given.values["scale"]) == (3.0, 2.0)
    assert run.spell("stiffness") == "stiffness"  # was said before the recipe
    assert run.spell("stage") == "scenery"
    assert run.spell("scale") == f"'scale' of [character] in {path}"
    run.note("a")
    run.warn("b")
    assert (notebook.notes, notebook.warnings) == (run.notes, run.warnings) == (["a"], ["b"])


@pytest.mark.parametrize("name", ["stiffness", "hold", "counter_lean"])
def test_numbers_of_the_balance_have_its_ranges(name: str) -> None:
    limits = list_options(MixOptions)[name].option.between
    assert limits is not None
    least, most = limits
    for value in (least, most):
        Balance(**{name: value})  # type: ignore[arg-type]
        Given.from_python(MixOptions, {name: value})
    for value in (least - 0.01, 1.01 * most, float("nan")):
        with pytest.raises(InputError):
            Balance(**{name: value})  # type: ignore[arg-type]
        with pytest.raises(InputError, match=rf"^{name} must be from {least:g} to {most:g}.*; got {value:g}"):
            Given.from_python(MixOptions, {name: value})


def page_keys() -> dict[str, set[str]]:
    """Table -> the keys that docs/recipes.md lists for it; of the whole, `a recipe`."""
    page = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")
    found = {}
    for section in page.split("\n## ")[1:]:
        title, _, rest = section.partition("\n")
        rows = re.findall(r"^\| (`[^|]+?) \|", rest, re.MULTILINE)
        found["a recipe" if title == "At the top" else title] = {
            key for row in rows for key in re.findall(r"`(\w+)`", row)
        }
    return found


def test_the_page_names_every_key_that_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: dict[str, set[str]] = {}
    get = Table._get

    def listen(table: Table, key: str) -> object:
        asked.setdefault(table.what.removesuffix(" 1"), set()).add(key)
        return get(table, key)

    monkeypatch.setattr(Table, "_get", listen)
    drive = '[[drives]]\npart = "leftArm"\ndriver = "loose"\n'
    read(format_recipe(MixOptions, full(tmp_path), tmp_path) + drive, tmp_path)
    assert page_keys() == asked


def test_files_that_are_no_toml(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text("a = ")
    rejects(lambda: load_recipe(MixOptions, path), "r.toml:1:", "TOML", error=FileError)
    path.write_bytes(b"\xff\xfe")
    rejects(lambda: load_recipe(MixOptions, path), "TOML", error=FileError)
    with pytest.raises(FileError, match="there is no such file"):
        load_recipe(MixOptions, tmp_path / "none.toml")


SCENERY = """
[ground]
height = 0.1
friction = 0.5
[[props]]
name = "crate"
shape = "box"
size = [0.4, 0.2, 0.6]
position = [0, 0.1, 1]
turn = [2, 0, 0, 0]
mass = 12
[[props]]
name = "ball"
shape = "sphere"
radius = 0.1
mass = 3
[[props]]
name = "post"
shape = "capsule"
radius = 0.05
length = 1.0
"""


def test_a_stage_file(tmp_path: Path) -> None:
    path = tmp_path / "stage.toml"
    path.write_text(SCENERY)
    scenery = load_scenery(path)
    assert (scenery.ground.height, scenery.ground.friction, scenery.is_placed) == (0.1, 0.5, True)
    crate, ball, post = scenery.props
    assert isinstance(crate.shapes[0], Box)
    assert isinstance(ball.shapes[0], Sphere)
    assert isinstance(post.shapes[0], Capsule)
    assert crate.inertia is not None
    # m / 12 (b^2 + c^2) of a box with those edges
    assert np.allclose(np.diag(crate.inertia.inertia), [0.2**2 + 0.6**2, 0.4**2 + 0.6**2, 0.4**2 + 0.2**2])
    assert np.allclose(crate.turn, [1, 0, 0, 0])
    assert post.inertia is None


def test_a_capsules_inertia_is_that_of_its_points() -> None:
    rng = np.random.default_rng(0)
    r, length, mass = 0.2, 0.7, 5.0
    points = rng.uniform([-r, -length / 2 - r, -r], [r, length / 2 + r, r], (400_000, 3))
    off = points - np.clip(points, [0, -length / 2, 0], [0, length / 2, 0])
    inside = points[np.linalg.norm(off, axis=1) < r]
    x, y, z = (inside**2).mean(axis=0)
    table = {"name": "c", "shape": "capsule", "radius": r, "length": length, "mass": mass}
    found = parse_scenery({"props": [table]}).props[0].inertia
    assert found is not None
    assert np.allclose(np.diag(found.inertia), mass * np.array([y + z, x + z, x + y]), rtol=0.01)


def test_a_ground_without_a_height_is_where_the_clip_stands() -> None:
    assert not parse_scenery({"ground": {"friction": 0.3}}).is_placed
    assert not parse_scenery({}).is_placed


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({"name": "a", "shape": "cube"}, "shape 'cube' is not known"),
        ({"name": "a", "shape": "box"}, "lacks its 'size'"),
        ({"name": "a", "shape": "sphere", "radius": -1}, "the size of prop 'a' .*got -1"),
        ({"name": "a", "shape": "sphere", "radius": 1, "mass": 0}, "mass 0 kg; it must be from 1e-06"),
        ({"name": "a", "shape": "sphere", "radius": 1, "colour": "red"}, "key of prop 'a', 'colour' is not known"),
        ({"name": "a", "shape": "sphere", "radius": 1, "turn": [0, 0, 0, 0]}, "not zero"),
        ({"shape": "sphere", "radius": 1}, r"lacks 'name'"),
    ],
)
def test_what_is_wrong_in_a_stage_file_is_named(table: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        parse_scenery({"props": [table]})


def test_two_props_of_one_name() -> None:
    ball = {"name": "a", "shape": "sphere", "radius": 1}
    rejects(lambda: parse_scenery({"props": [ball, ball]}), "'a'")


def test_words_of_the_command() -> None:
    assert parse_push("t=2 chest 0,0,75 0.2s") == Push("chest", (0.0, 0.0, 75.0), 0.2, 2.0)
    assert parse_push("t=.5s  head -1e1, 2. ,+3 1s") == Push("head", (-10.0, 2.0, 3.0), 1.0, 0.5)
    assert parse_load("rightHand=2") == Load("rightHand", 2.0)
    assert parse_load("rightHand=2kg") == Load("rightHand", 2.0)
    assert parse_parts(("legs,trunk", "head")) == ("legs", "trunk", "head")
    for words in ("chest 0,0,75 0.2s", "t=2 chest 0,75 0.2s", "t=2 chest 0,0,75 0.2", "t=2 0,0,75 1s", "nan", ""):
        with pytest.raises(InputError, match="a push is written as 't=2 chest"):
            parse_push(words)
    for words in ("rightHand", "rightHand=", "=2", "rightHand=two", "rightHand=nan"):
        with pytest.raises(InputError, match="a load is written as joint=kilograms"):
            parse_load(words)
    with pytest.raises(InputError, match="no part was named"):
        parse_parts((",",))
