"""Roles of odd bodies without names: what is found, what is not trusted, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.random_bodies import BUILDS, ODDITIES, Plan, guess, make_beast, make_person, random_plan
from poise.body.role_finding.guess import TRUSTED, find_roles, guess_roles
from poise.body.roles import LEG_STEMS, sided
from poise.body.skeleton import Skeleton
from poise.cli import main
from poise.files.formats.bvh.clip import save_bvh
from poise.motion.clip import Clip
from poise.spatial import rotation

# What no shape tells: which of two pairs of arms is meant, where a knee is that is not there.
UNKNOWABLE = ("four arms", "single-joint legs")


def test_ordinary_people_are_found_and_trusted():
    rng = np.random.default_rng(1)
    for n in range(60):
        found, wrong = guess(make_person(rng, random_plan(rng, 0)), rng, n % 2 == 0)
        assert not wrong and found.is_trusted and found.confidence > 0.7


@pytest.mark.parametrize("oddity", [word for word in (*ODDITIES, *BUILDS) if word not in UNKNOWABLE])
@pytest.mark.many(3)
def test_one_oddity_does_not_hide_a_person(oddity):
    """Of what is trusted nothing is wrong; and all but a few are right."""
    rng = np.random.default_rng(2)
    right = 0
    for n in range(10):
        plan = random_plan(rng, 0)
        plan = replace(plan, oddities=(oddity,), head=3.0 if oddity == "big head" else plan.head)
        plan = replace(plan, leg=0.55 if oddity == "stub legs" else plan.leg)
        found, wrong = guess(make_person(rng, plan), rng, n % 2 == 0)
        assert not (wrong and found.is_trusted), (plan, wrong)
        right += not wrong
    assert right >= 8


@pytest.mark.slow
def test_confidence_says_how_often_a_guess_is_right():
    """People with one to three oddities, and what is no person: hardly anything wrong is trusted, no animal ever."""
    rng = np.random.default_rng(3)
    trusted = wrongly = 0
    for n in range(120):
        found, wrong = guess(make_person(rng, random_plan(rng, int(rng.integers(1, 4)))), rng, n % 2 == 0)
        trusted += found.is_trusted
        wrongly += found.is_trusted and bool(wrong)
    assert trusted > 60 and wrongly <= 0.05 * trusted
    for _ in range(80):
        found, _ = guess(make_beast(rng), rng, False)
        assert found.confidence < TRUSTED and found.sure == {}


@pytest.mark.parametrize("oddities", [("four arms",), ("missing arms", "wings"), ("missing arm",), ("cape", "hair")])
def test_naming_two_joints_is_enough(oddities):
    rng = np.random.default_rng(4)
    for _ in range(4):
        body = make_person(rng, Plan(oddities=oddities))
        found, wrong = guess(body, rng, False, ("hips", "head"))
        assert found.is_trusted
        assert not [role for role in wrong if role in ("hips", "head", *sided(LEG_STEMS[:3]))]


def test_naming_an_arm_tells_which_of_four_is_meant():
    rng = np.random.default_rng(5)
    found, wrong = guess(make_person(rng, Plan(oddities=("four arms",))), rng, False, ("leftHand", "rightHand"))
    assert found.is_trusted and not wrong


def test_what_is_not_trusted_is_not_found():
    body = make_person(np.random.default_rng(6), Plan(oddities=("single-joint legs",)))
    bare = body.build().replace(roles={}, names=[f"b{i}" for i in range(len(body.names))])
    assert guess_roles(bare).roles and find_roles(bare) == {}


def write(skeleton: Skeleton, path: Path) -> dict[str, str]:
    """A nameless skeleton in a file, standing and then turning its first child; its joints' new names by the old."""
    names = {name: f"bone_{i}" for i, name in enumerate(skeleton.names)}
    bare = skeleton.replace(names=list(names.values()), roles={})
    rotations = rotation.identity((30, len(bare)))
    rotations[:, 1] = rotation.exp(0.2 * np.sin(np.arange(30) / 5.0)[:, None] * [0.0, 1.0, 0.0])
    save_bvh(Clip(bare, np.arange(30) / 30.0, np.tile(skeleton.offsets[0], (30, 1)), rotations), path)
    return names


def test_commands_refuse_what_they_cannot_know_and_say_what_to_name(tmp_path, capsys):
    skeleton = make_person(np.random.default_rng(7), Plan(oddities=("missing arm", "cape"))).build()
    names = write(skeleton, tmp_path / "odd.bvh")
    assert main(["info", str(tmp_path / "odd.bvh"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["roles"] == {} and found["confidence"] < TRUSTED
    assert [w for w in found["warnings"] if w.startswith("roles: ") and "--roles hips=" in w]
    assert main(["convert", str(tmp_path / "odd.bvh"), str(tmp_path / "odd.glb"), "--quiet"]) == 0
    assert (tmp_path / "odd.glb").exists()
    capsys.readouterr()
    for words in (
        ["forces", "odd.bvh", "-o", "odd.csv"],
        ["mix", "odd.bvh", "-o", "mixed.bvh"],
        ["retarget", "odd.bvh", "odd.bvh", "-o", "other.bvh"],
    ):
        paths = [str(tmp_path / word) if "." in word else word for word in words]
        assert main([*paths, "--quiet"]) == 2
        error = capsys.readouterr().err
        assert "--roles hips=" in error and names["head"] in error and "Traceback" not in error
    told = f"hips={names['hips']},head={names['head']}"
    assert main(["forces", str(tmp_path / "odd.bvh"), "-o", str(tmp_path / "odd.csv"), "--roles", told, "--quiet"]) == 0
