"""The drawn soles lie where physics stands, on each foot of any skeleton."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from helpers.bodies import make_human
from helpers.recordings import data_file
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.soles import build_footing
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.motion import Clip, retarget, samples
from poise.world.foot_boxes import TOUCHES, find_drawn_soles, find_region


def make_recorded(
    left: tuple[float, float] = (-0.026, 0.0),
    right: tuple[float, float] = (-0.015, 0.0),
    longer: float = 0.011,
    without: tuple[str, ...] = (),
    has_tips: bool = True,
    lean: float = 0.0,
) -> Skeleton:
    """A skeleton as recordings have it: its root is at the origin, its feet are low and unlike one another.

    left, right  m, how high the joint of the toes is above the ankle's, and the tip of the toes above that joint
    longer       m, that the right shank is longer
    lean         degrees of the trunk, forwards
    """
    human = make_human(1.7, without=without)
    offsets, tips = np.array(human.offsets), np.array(human.tips)
    offsets[0] = 0.0
    offsets[human.index("rightLowerLeg"), 1] -= longer
    for side, (toes, tip) in zip(SIDES, (left, right), strict=True):
        joint = human.find_role(side + "Toes")
        if joint is not None:
            offsets[joint, 1] = toes
            if has_tips:
                tips[joint] = (0.0, tip, 0.06)
    offsets[human.index("spine")] = Rotation.from_euler("x", lean, degrees=True).apply(offsets[human.index("spine")])
    for name in ("chest", "upperChest", "neck"):
        joint = human.index(name)
        offsets[joint] = Rotation.from_euler("x", lean, degrees=True).apply(offsets[joint])
    return human.replace(offsets=offsets, tips=tips)


SKELETONS = {
    "unlike feet": make_recorded(),
    "one ankle nearly on the ground": make_recorded((-0.009, 0.0), (-0.03, 0.0), 0.0),
    "toes above the ankles": make_recorded((0.012, 0.0), (0.02, 0.005)),
    "one foot's toes above, the other's below": make_recorded((0.01, 0.0), (-0.03, 0.0)),
    "feet pitched down": make_recorded((-0.09, -0.04), (-0.10, -0.05)),
    "one foot pitched up": make_recorded((0.03, 0.03), (-0.02, 0.0)),
    "no tips": make_recorded(has_tips=False),
    "no toes": make_recorded(without=("Toes",)),
    "a longer leg": make_recorded(longer=0.08),
    "a leaning trunk": make_recorded(lean=40.0),
}


def find_drawn(skeleton: Skeleton, side: str) -> np.ndarray:
    """(N, 3) m, from the ankle: all vertices of a foot and its toes as drawn, at rest."""
    meshes, rest, foot = build_mannequin(skeleton, 65.0), skeleton.rest_positions(), skeleton.index(side + "Foot")
    drawn = [joint for joint in skeleton.descendants(foot) if skeleton.names[joint] in meshes]
    return np.concatenate([meshes[skeleton.names[joint]].vertices + rest[joint] - rest[foot] for joint in drawn])


def check_soles(skeleton: Skeleton) -> None:
    """Drawn soles are flat and are the lower faces of the boxes that engines stand on; the shanks are above them."""
    meshes, rest = build_mannequin(skeleton, 65.0), skeleton.rest_positions()
    for side, box, drawn in zip(SIDES, build_footing(skeleton), find_drawn_soles(skeleton), strict=True):
        plane, vertices = box.center[1] - box.half[1], find_drawn(skeleton, side)
        assert vertices[:, 1].min() == pytest.approx(plane, abs=5e-4)
        low = (
            Rotation.from_quat(box.turn, scalar_first=True)
            .inv()
            .apply(vertices[vertices[:, 1] < plane + 0.002] - box.center)
        )
        for x, z in ((1, 1), (1, -1), (-1, 1), (-1, -1)):  # it reaches all edges, and is close to all corners
            assert [(x * low[:, 0]).max(), (z * low[:, 2]).max()] == pytest.approx(box.half[[0, 2]], abs=0.002)
            assert np.hypot(x * low[:, 0] - box.half[0], z * low[:, 2] - box.half[2]).min() < 0.003
        shank = skeleton.index(side + "LowerLeg")
        ankle = rest[skeleton.index(side + "Foot")]
        assert (meshes[skeleton.names[shank]].vertices + rest[shank] - ankle)[:, 1].min() > plane
        points = drawn.points + rest[drawn.joints] - ankle  # what balance stands on is what is seen
        assert np.linalg.norm(points[:, None] - vertices[None], axis=-1).min(axis=1).max() < 1e-9


@pytest.mark.parametrize("case", SKELETONS)
def test_drawn_soles_are_where_physics_stands(case: str) -> None:
    check_soles(SKELETONS[case])


@pytest.mark.parametrize("pitch", [-35.0, -12.0, 0.0, 20.0, 40.0])
@pytest.mark.parametrize("roll", [0.0, 6.0, -20.0])
def test_a_tilted_foot_touches_with_all_that_is_drawn_near_the_ground(pitch: float, roll: float) -> None:
    skeleton = make_human(1.75)
    foot, toes = skeleton.index("leftFoot"), skeleton.index("leftToes")
    tilt = Rotation.from_euler("xz", [pitch, roll], degrees=True)
    drawn = tilt.apply(find_drawn(skeleton, "left"))
    places = np.zeros((len(skeleton), 3))
    places[toes] = tilt.apply(skeleton.rest_positions()[toes] - skeleton.rest_positions()[foot])
    turns = np.tile(tilt.as_quat(scalar_first=True), (len(skeleton), 1))
    points = find_drawn_soles(skeleton)[0].place(places, turns)
    ground = drawn[:, 1].min()
    around = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
    ways = np.stack([np.cos(around), np.sin(around)])
    reach = (drawn[drawn[:, 1] < ground + TOUCHES][:, [0, 2]] @ ways).max(axis=0)
    assert np.allclose((find_region(points, ground) @ ways).max(axis=0), reach, atol=1e-6)


@pytest.mark.parametrize("stature", [1.1, 1.75, 1.95])
def test_a_body_on_the_ground_keeps_its_ankles_height(stature: float) -> None:
    skeleton = make_human(stature)
    for side in SIDES:
        ankle = skeleton.rest_positions()[skeleton.index(side + "Foot"), 1]
        assert find_drawn(skeleton, side)[:, 1].min() == pytest.approx(-ankle, abs=1e-9)
    check_soles(skeleton)


def measure_feet(clip: Clip, ground: float) -> np.ndarray:
    """(F, 2) m, the lowest drawn vertex of the left and of the right foot above the ground, by SciPy's rotations."""
    skeleton, (places, turns) = clip.skeleton, clip.world
    meshes, lowest = build_mannequin(skeleton, 65.0), []
    for side in SIDES:
        heights = []
        for joint in skeleton.descendants(skeleton.index(side + "Foot")):
            if skeleton.names[joint] in meshes:
                up = Rotation.from_quat(turns[:, joint], scalar_first=True).as_matrix()[:, 1]
                heights.append(places[:, joint, 1] + (up @ meshes[skeleton.names[joint]].vertices.T).min(axis=1))
        lowest.append(np.min(heights, axis=0) - ground)
    return np.stack(lowest, axis=1)


def test_a_mixed_body_with_unlike_feet_has_both_drawn_soles_on_the_floor() -> None:
    skeleton = SKELETONS["unlike feet"]
    idle = samples.idle(poise.Character.human(1.7, 65.0, preset="mix").skeleton, 1.0)
    mixed = poise.mix(retarget(idle, skeleton), mass=65.0)
    assert mixed.figures["base"] == "planted"
    feet = measure_feet(mixed.clip, mixed.figures["ground_m"])
    assert np.abs(feet).max() < 0.002


@pytest.mark.data
@pytest.mark.parametrize("name", ["27_02", "28_01", "30_01", "15_08", "115_01"])
@pytest.mark.many(2)
def test_a_mixed_recording_has_both_drawn_soles_on_the_floor(name: str) -> None:
    mixed = poise.mix(data_file(f"bvh-cmu/{name}.bvh"))
    assert mixed.figures["base"] == "planted"
    assert np.abs(measure_feet(mixed.clip, mixed.figures["ground_m"])).max() < 0.002


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [
        "bvh-cmu/18_08.bvh", "bvh-cmu/74_14.bvh", "bvh-cmu/111_28.bvh", "bvh-other/bvh_test1.bvh",
        "bvh-other/test_mocapbank.bvh", "force-bvh/walk3d.bvh", "gltf/Med_General.glb", "vrm/cryptovoxels.vrm",
    ],
)  # fmt: skip
def test_drawn_soles_of_recordings_are_where_physics_stands(name: str) -> None:
    check_soles(poise.load_clip(data_file(name)).skeleton)
