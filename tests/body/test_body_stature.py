"""Height and mass of skeletons, and skeletons of a height."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.recordings import data_file
from poise.body.joints import PRESETS
from poise.body.roles import BODY_ROLES, mirror_role
from poise.body.segments.proportions import build_skeleton, compute_proportions
from poise.body.segments.stature import estimate_mass, estimate_stature
from poise.body.segments.tables import AGES, SEXES
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.files.registry import load_clip
from poise.spatial import rotation

heights = st.floats(1.0, 2.2)
bodies = st.builds(compute_proportions, st.sampled_from(SEXES), st.floats(*AGES))


@given(heights, bodies, st.sampled_from(list(PRESETS)))
def test_a_body_is_as_tall_as_asked(height, proportions, preset):
    skeleton = build_skeleton(height, proportions, PRESETS[preset].roles)
    rest = skeleton.rest_positions()
    vertex = rest[skeleton.index("head")] + skeleton.tips[skeleton.index("head")]
    assert vertex[1] == pytest.approx(height, rel=1e-14)
    assert rest[skeleton.index("leftFoot"), 1] == pytest.approx(proportions.ankle * height)
    assert rest[:, 1].min() > 0.0
    assert proportions.hip + proportions.trunk + proportions.head == pytest.approx(1.0, abs=1e-15)


@given(heights, bodies)
def test_the_t_pose_is_symmetric_and_faces_forward(height, proportions):
    skeleton = build_skeleton(height, proportions, BODY_ROLES)
    rest = skeleton.rest_positions()
    for role in BODY_ROLES:
        mirrored = rest[skeleton.index(mirror_role(role))] * [-1.0, 1.0, 1.0]
        np.testing.assert_array_equal(rest[skeleton.index(role)] + 0.0, mirrored + 0.0)
    arm = rest[skeleton.index("leftHand")] - rest[skeleton.index("leftUpperArm")]
    assert arm[0] > 0.0
    assert np.allclose(arm[1:], 0.0)
    assert skeleton.offsets[skeleton.index("leftToes"), 2] > 0.0


@given(heights, st.sampled_from(SEXES), st.sampled_from(list(PRESETS)))
def test_the_estimate_gives_back_an_adults_height(height, sex, preset):
    skeleton = build_skeleton(height, compute_proportions(sex), PRESETS[preset].roles)
    assert estimate_stature(skeleton) == pytest.approx(height, rel=1e-12)


@given(heights, st.floats(4.0, 18.0))
def test_the_estimate_is_near_for_children(height, age):
    skeleton = build_skeleton(height, compute_proportions("neutral", age), BODY_ROLES)
    assert estimate_stature(skeleton) == pytest.approx(height, rel=3e-3)


def test_the_estimate_does_not_depend_on_the_rest_pose():
    """The same bones with arms down, legs apart and the trunk leaning."""
    skeleton = build_skeleton(1.7, compute_proportions(), BODY_ROLES)
    rng = np.random.default_rng(3)
    pose = rotation.identity((len(skeleton),))
    for role in ("leftUpperLeg", "rightLowerLeg", "leftUpperArm", "hips", "neck"):
        pose[skeleton.index(role)] = rotation.exp(rng.normal(size=3))
    positions, orientations = skeleton.pose(np.zeros(3), pose)
    offsets = np.vstack([positions[:1], positions[1:] - positions[skeleton.parents[1:]]])
    posed = skeleton.replace(offsets=offsets, tips=rotation.rotate(orientations, skeleton.tips))
    assert estimate_stature(posed) == pytest.approx(1.7, rel=1e-12)


def test_without_ends_the_skull_is_added():
    skeleton = build_skeleton(1.7, compute_proportions(), BODY_ROLES)
    bare = skeleton.replace(tips=np.full((len(skeleton), 3), np.nan))
    assert estimate_stature(bare) == pytest.approx(1.7, rel=1e-12)


def without(skeleton: Skeleton, *roles: str) -> Skeleton:
    """The skeleton without these leaf joints."""
    keep = [i for i, name in enumerate(skeleton.names) if name not in roles]
    parents = [-1 if skeleton.parents[i] < 0 else keep.index(skeleton.parents[i]) for i in keep]
    names = tuple(skeleton.names[i] for i in keep)
    return Skeleton(names, np.array(parents), skeleton.offsets[keep], skeleton.tips[keep], {n: n for n in names})


@pytest.mark.parametrize("missing", [("head",), ("head", "neck")])
def test_without_a_head_one_is_added(missing):
    skeleton = build_skeleton(1.7, compute_proportions(), BODY_ROLES)
    assert estimate_stature(without(skeleton, *missing)) == pytest.approx(1.7, rel=1e-12)


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_an_impossible_height_says_what_to_do(factor):
    skeleton = build_skeleton(1.7, compute_proportions(), BODY_ROLES)
    with pytest.raises(InputError, match=r"m tall.*unit"):
        estimate_stature(skeleton.scaled(factor))


@pytest.mark.data
def test_a_measured_subject():
    """The OpenSim model of this subject is 1.793 m tall."""
    skeleton = load_clip(data_file("force-bvh/walk3d.bvh")).skeleton
    assert estimate_stature(skeleton) == pytest.approx(1.793, rel=0.01)


@pytest.mark.data
def test_a_lost_thorax_is_made_up_for():
    """CMU's BVH of subject 02 lost 11.7 cm of thorax; its own ASF skeleton is 11.6 cm taller."""
    skeleton = load_clip(data_file("bvh-cmu/02_05.bvh")).skeleton
    bones = ["leftUpperLeg", "leftLowerLeg", "leftFoot", "neck", "head"]
    assert all(bone in skeleton.roles for bone in bones)
    assert 1.58 < estimate_stature(skeleton) < 1.68


@given(heights, st.sampled_from(SEXES), st.floats(*AGES))
def test_mass_grows_with_the_square_of_height(height, sex, age):
    index = estimate_mass(height, sex, age) / height**2
    assert 15.0 <= index <= 24.5
    assert index == pytest.approx(estimate_mass(1.0, sex, age))


def test_the_average_adult():
    assert estimate_mass(1.75, "male", 40) == pytest.approx(24.2 * 1.75**2)
    assert estimate_mass(1.75, "neutral", 18.0) == pytest.approx(estimate_mass(1.75, "neutral", 18.0 - 1e-9), rel=1e-6)
