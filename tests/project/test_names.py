"""Any name will do: for joints, bodies, actors, props and characters, in MuJoCo and in files."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

import poise
from helpers.files.seeds import write_seed
from poise.body.geometry.primitives import Sphere
from poise.body.role_finding.names import fit_name
from poise.files.character import format_character, parse_character
from poise.files.registry import read_clip, save_clip
from poise.motion import samples
from poise.spatial.inertia import RigidInertia

BODY = poise.Character.human(preset="mix")
NAMES = [
    "world",
    "",
    "/",
    "floor",
    "ground",
    "a/b",
    "x" * 10_000,
    "左足",
    "a\0b",
    "prop",
    "hips.1",
    "\n",
    "<&>\"'",
    "null",
]


def rename(body: poise.Character, old: str, new: str) -> poise.Character:
    """The body with a joint called otherwise."""
    names = [new if name == old else name for name in body.skeleton.names]
    return dataclasses.replace(
        body,
        skeleton=body.skeleton.replace(names=names),
        segments=tuple(dataclasses.replace(s, joint=new) if s.joint == old else s for s in body.segments),
        limits={new if name == old else name: limit for name, limit in body.limits.items()},
        freedoms={new if name == old else name: axes for name, axes in body.freedoms.items()},
    )


@pytest.mark.parametrize("joint", ["hips", "leftLowerLeg"])
@pytest.mark.parametrize("name", [*NAMES, "\ud800"])
@pytest.mark.many(12)
def test_a_joint_may_be_called_anything(name: str, joint: str) -> None:
    body = rename(BODY, joint, name)
    ends = []
    for each in (body, BODY):
        stage = poise.Stage()
        stage.add(each, "actor").drive("legs", poise.Balance())
        ends.append(stage.run(0.1).actor().rotations)
    np.testing.assert_array_equal(*ends)  # a name changes nothing


@pytest.mark.parametrize("name", [*NAMES[:1], *NAMES[2:], "\ud800"])
def test_actors_and_characters_may_be_called_anything(name: str) -> None:
    stage = poise.Stage()
    actor = stage.add(dataclasses.replace(BODY, name=name), name)
    actor.drive("legs", poise.Balance())
    assert list(stage.run(0.02).actors) == [name]


def ball(name: str, z: float) -> poise.Prop:
    inertia = RigidInertia(1.0, np.zeros(3), 0.004 * np.eye(3))
    return poise.Prop(name, (Sphere(np.zeros(3), 0.1),), inertia, np.array([0.0, 0.1, z]))


def test_names_that_clash_are_told_apart() -> None:
    """Actors, joints and props whose names, put together, are one: each is still its own."""
    stage = poise.Stage()
    for k, name in enumerate(("world", "ground", "hips", "prop", "a/hips")):
        stage.add_prop(ball(name, 2.0 + k))
    stage.add(rename(BODY, "leftLowerLeg", "b/hips"), "a").drive("legs", poise.Balance())
    stage.add(BODY, "a/b").drive("legs", poise.Balance())
    stage.add(BODY, "prop").drive("legs", poise.Balance())
    take = stage.run(0.1)
    for k, poses in enumerate(take.props.values()):
        np.testing.assert_allclose(poses[-1, 2], 2.0 + k, atol=1e-3)
    simulation = stage.groups[0].simulation
    others = {name for k in range(3) for name in simulation.find_contacts(k).others}
    assert others == {"ground"}
    model = simulation.model  # type: ignore[attr-defined]
    names = {mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, k) for k in range(model.nbody)}
    assert len(names) == model.nbody


def test_what_is_touched_is_called_as_on_the_stage() -> None:
    stage = poise.Stage()
    slab = poise.Prop("world", (Sphere(np.zeros(3), 5.0),), None, np.array([0.0, -4.98, 0.0]))
    stage.add_prop(slab)
    stage.add(BODY, "a").drive("legs", poise.Balance())
    stage.run(0.1)
    assert "world" in set(stage.groups[0].simulation.find_contacts(0).others)


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_character_is_read_again_whatever_it_is_called(name: str) -> None:
    body = dataclasses.replace(rename(BODY, "hips", name), name=name)
    again = parse_character(format_character(body), "x")
    assert again.name == name and again.skeleton.names == body.skeleton.names


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".npz", ".usda", ".json"])
def test_half_a_letter_in_a_file_ends_in_words_or_in_a_letter(suffix: str, tmp_path: Path) -> None:
    """JSON can hold half of a surrogate pair, which no other file can."""
    if suffix == ".usda":
        pytest.importorskip("pxr")
    seed = write_seed(".gltf", tmp_path)
    assert seed is not None
    document = json.loads(seed.read_text())
    for node in document["nodes"]:
        node["name"] = "\ud800" + node.get("name", "")
    seed.write_text(json.dumps(document))
    clip = read_clip(seed).clip
    if suffix == ".json":
        "".join(clip.skeleton.names).encode()
        return
    save_clip(clip, tmp_path / f"out{suffix}")
    assert (tmp_path / f"out{suffix}").stat().st_size


def test_names_are_fitted_once_and_kept_where_they_fit() -> None:
    taken = {"world"}
    assert [fit_name(name, taken) for name in ("a", "a", "world", "", "", "a~2", "\0", "_")] == [
        "a", "a~2", "world~2", "joint", "joint~2", "a~2~2", "_", "_~2",
    ]  # fmt: skip
    assert len(fit_name("x" * 10**6, taken)) == 200


def test_a_mix_of_a_body_called_world_is_written(tmp_path: Path) -> None:
    from poise.cli import main

    clip = samples.idle(rename(BODY, "hips", "world").skeleton, 0.5)
    save_clip(clip, tmp_path / "world.bvh")
    out = tmp_path / "out.glb"
    assert main(["mix", str(tmp_path / "world.bvh"), "-o", str(out), "--quiet"]) in (0, 1)
    assert out.exists()
