"""Every joint of a glTF person is where the file's nodes put it, however they are arranged, and is in what is written.

Judged by `gltfs.Reference`: the specification in 4x4 matrices and SciPy's rotations.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.files.gltf import Reference
from helpers.files.gltf_bodies import SINGLE, Body, build, draw
from poise.files.formats.gltf.read import read_gltf
from poise.files.writing.round_trip import match_names, read_source_motion

MIXED = 24
BODIES = {**SINGLE, **{f"mixed {seed}": draw(seed) for seed in range(MIXED)}}


def find_places(path: Path, names: tuple[str, ...], times: np.ndarray) -> np.ndarray:
    """(F, J, 3) by the reference, at times from the first key of the body; at a key where one is near."""
    reference = Reference(path)
    entry = reference.json["animations"][0]
    own = [c for c in entry["channels"] if reference.names[c["target"]["node"]] not in ("Camera", "Ball")]
    keys = {
        float(t)
        for c in own
        if c["target"]["path"] != "weights"
        for t in reference.array(entry["samplers"][c["sampler"]]["input"])[:, 0]
    }
    every = np.array(sorted(keys))
    moments = [every[np.abs(every - every[0] - t).argmin()] for t in times]
    assert np.abs(np.array(moments) - every[0] - times).max() < 1e-5
    return np.array([reference.positions(names, 0, moment) for moment in moments])


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.many(7)
def test_joints_are_where_the_nodes_are(name: str, tmp_path: Path) -> None:
    builder, nodes = build(BODIES[name])
    path = builder.save(tmp_path / "x.glb")
    recording = read_gltf(path)
    clip = recording.clip
    assert set(nodes) - {"Root"} <= set(clip.skeleton.names)
    assert not {"Camera", "Ball", "skinned 0"} & set(clip.skeleton.names)
    off = np.linalg.norm(clip.positions - find_places(path, clip.skeleton.names, clip.times), axis=-1)
    assert off.max() < 1e-5


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.many(7)
def test_the_plain_evaluation_is_the_specifications(name: str, tmp_path: Path) -> None:
    """The second opinion has an opinion of its own to be held against."""
    builder, _ = build(BODIES[name])
    path = builder.save(tmp_path / "x.glb")
    recording = read_gltf(path)
    motion = read_source_motion(recording)
    matched = match_names(motion.names, recording.clip.skeleton.names)
    names = tuple(motion.names[i] for i in matched)
    off = np.linalg.norm(motion.places(list(matched)) - find_places(path, names, recording.clip.times), axis=-1)
    assert off.max() < 1e-5
    left = {motion.names[i] for i in motion.wanted if i not in matched}
    assert left - {"Armature"} == ({"Ball"} if BODIES[name].clutter else set())


def test_the_feet_of_a_body_have_their_roles(tmp_path: Path) -> None:
    from poise.files.registry import read_clip

    for foot in ("plain", "mesh", "mesh moving"):
        builder, _ = build(Body(foot=foot))
        roles = read_clip(builder.save(tmp_path / "x.glb")).clip.skeleton.roles
        assert {roles["leftFoot"], roles["rightFoot"]} == {"leftFoot", "rightFoot"}
