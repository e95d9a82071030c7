"""Forces, retargeting and files of a walk do not depend on which joint of its BVH carries it, or how."""

import itertools

import numpy as np
import pytest

from helpers.bodies import tpose
from helpers.files.bvh_twins import write_twin
from helpers.kinematics import plain_positions
from poise.body.character import Character
from poise.files.formats.bvh.clip import read_bvh
from poise.files.reading.pipeline import interpret
from poise.files.writing.round_trip import read_positions
from poise.files.writing.writing import Edits, write_clean
from poise.motion import retarget, samples
from poise.motion.clip import Clip
from poise.motion.forces.forces import compute_forces

WALK = samples.walk(tpose(), 3.0, 60.0)
WAYS = list(itertools.product(range(4), (False, True)))


def read(tmp_path, text: str, unit: float, up: str):
    path = tmp_path / "in.bvh"
    path.write_text(text)
    return interpret(read_bvh(path), unit, up)


def shared(clip: Clip) -> list[int]:
    return [clip.skeleton.names.index(name) for name in WALK.skeleton.names]


@pytest.fixture(scope="module")
def plain():
    body = Character.from_skeleton(WALK.skeleton, mass=70.0)
    other = Character.human(1.6, 60.0).skeleton
    return compute_forces(WALK, body), retarget(WALK, other), other


@pytest.mark.parametrize(("carrier", "adds"), WAYS)
@pytest.mark.many(2)
def test_forces_and_retargeting(tmp_path, plain, carrier, adds):
    forces, moved, other = plain
    unit, up = (0.01, "Y") if carrier % 2 else (0.0254, "Z")
    clip = read(tmp_path, write_twin(WALK, 3, carrier, adds, unit, up, ("XYZ", "ZXY")), unit, up).clip
    np.testing.assert_allclose(clip.positions[:, shared(clip)], WALK.positions, atol=1e-6)
    found = compute_forces(clip, Character.from_skeleton(clip.skeleton, mass=70.0))
    np.testing.assert_allclose(found.center, forces.center, atol=1e-5)
    np.testing.assert_allclose(found.reaction.force, forces.reaction.force, atol=0.5)
    legs = [clip.skeleton.index(side + "LowerLeg") for side in ("left", "right")]
    wanted = [WALK.skeleton.index(side + "LowerLeg") for side in ("left", "right")]
    np.testing.assert_allclose(found.torque[:, legs], forces.torque[:, wanted], atol=0.5)
    np.testing.assert_allclose(retarget(clip, other).positions, moved.positions, atol=1e-4)


@pytest.mark.parametrize(("carrier", "adds"), WAYS)
@pytest.mark.parametrize("edits", [Edits(fps=30.0, in_place=True), Edits(loop=True)], ids=["in place", "loop"])
@pytest.mark.many(1)
def test_edits_and_formats(tmp_path, carrier, adds, edits):
    reading = read(tmp_path, write_twin(WALK, 3, carrier, adds, 0.01, "Y", ("ZXY",), 0.01), 0.01, "Y")
    clip, _, _ = edits.apply(reading.clip)
    places = plain_positions(clip.skeleton, clip.poses)
    if edits.in_place:
        hips = clip.skeleton.index("hips")
        assert np.ptp(places[:, hips, 2]) < 0.6 < 1.5 < np.ptp(WALK.root[:, 2])
        still = [i for i in range(3) if i < carrier]  # what stood still above the joint that travelled
        assert np.ptp(places[:, still], axis=0).max(initial=0.0) < 1e-9
    for suffix in ("bvh", "glb", "npz", "usdc"):
        out = tmp_path / f"out.{suffix}"
        assert write_clean(reading, out, edits).error < 1e-4
        np.testing.assert_allclose(read_positions(out, clip.skeleton), places, atol=1e-4)
