"""Parts of one clip on the body of another: directions, exactness, rates, ends, and what cannot be borrowed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.bodies import make_human
from helpers.errors import rejects
from helpers.kinematics import pose_by_scipy
from helpers.rigs import unreal
from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion import borrow, part_joints
from poise.motion.clip import Clip

BODIES: dict[str, Callable[[], Skeleton]] = {
    "its own": lambda: make_human(1.75),
    "a child": lambda: Character.human(height=1.1, mass=20).skeleton,
    "few joints": lambda: Character.human(preset="mix", height=1.9).skeleton,
    "arms down at rest": lambda: make_human(1.6, arms_down=True),
    "no collar bones": lambda: make_human(1.7, without=("Shoulder", "upperChest", "neck")),
}
BONES = [
    (side + a, side + b) for side in ("left", "right") for a, b in (("UpperArm", "LowerArm"), ("LowerArm", "Hand"))
]


def make_motion(skeleton: Skeleton, seconds: float, fps: float, pace: float, late: float = 0.0) -> Clip:
    """Every joint swings about an axis of its own, by up to half a radian; first frame at `late` s."""
    t = np.arange(round(seconds * fps) + 1) / fps
    rng = np.random.default_rng(7)
    axes = rng.normal(size=(len(skeleton), 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    angles = 0.5 * np.sin(pace * t[:, None] * rng.uniform(0.6, 1.4, len(skeleton)) + np.arange(len(skeleton)))
    turns = Rotation.from_rotvec((angles[..., None] * axes).reshape(-1, 3)).as_quat(scalar_first=True)
    root = np.stack([0.1 * np.sin(t), np.full(len(t), 1.0), 0.2 * t], axis=1)
    return Clip(skeleton, late + t, root, turns.reshape(len(t), len(skeleton), 4), "made")


def find_directions(clip: Clip, frame: int, carrier: str) -> np.ndarray:
    """(4, 3) where the bones of the arms point, in the axes of the joint that carries them."""
    places, axes = pose_by_scipy(clip.skeleton, clip.root[frame], clip.rotations[frame])
    bones = [places[clip.skeleton.index(end)] - places[clip.skeleton.index(start)] for start, end in BONES]
    units = np.array([bone / np.linalg.norm(bone) for bone in bones])
    return units @ axes[clip.skeleton.index(carrier)]


def find_top(skeleton: Skeleton) -> str:
    """The highest role of the trunk."""
    return next(role for role in ("upperChest", "chest", "spine") if role in skeleton.roles)


@pytest.mark.parametrize("source", BODIES)
@pytest.mark.parametrize("target", BODIES)
def test_arms_keep_their_directions_relative_to_the_chest(source: str, target: str) -> None:
    body, other = BODIES[target](), BODIES[source]()
    stance = make_motion(body, 1.0, 50.0, 2.0)
    gestures = make_motion(other, 1.0, 50.0, 5.0, late=0.4)
    found = borrow(stance, gestures, "arms")
    for frame in range(0, len(found), 7):
        np.testing.assert_allclose(
            find_directions(found, frame, find_top(body)), find_directions(gestures, frame, find_top(other)), atol=1e-9
        )


def test_all_other_joints_keep_every_bit() -> None:
    stance = make_motion(make_human(1.75), 1.0, 50.0, 2.0)
    gestures = make_motion(Character.human(height=1.2, mass=25).skeleton, 1.5, 60.0, 5.0)
    for parts in ("arms", "head", ["leftArm", "rightLowerLeg"], "upperBody"):
        found = borrow(stance, gestures, parts)
        names = [parts] if isinstance(parts, str) else parts
        named = {i for part in names for i in part_joints(stance.skeleton, part if part != "rightLowerLeg" else [part])}
        rest = [i for i in range(len(stance.skeleton)) if i not in named]
        assert np.array_equal(found.rotations[:, rest], stance.rotations[:, rest])
        assert np.array_equal(found.root, stance.root) and np.array_equal(found.times, stance.times)
        assert found.skeleton is stance.skeleton
        assert not np.array_equal(found.rotations[:, sorted(named)], stance.rotations[:, sorted(named)])


def test_a_part_of_the_same_body_at_the_same_rate_is_taken_over_as_it_is() -> None:
    body = make_human(1.75)
    stance, gestures = make_motion(body, 1.0, 50.0, 2.0), make_motion(body, 1.0, 50.0, 5.0)
    joints = part_joints(body, "arms")
    np.testing.assert_allclose(
        borrow(stance, gestures, "arms").rotations[:, joints], gestures.rotations[:, joints], atol=1e-15
    )


def test_other_frame_rates_are_resampled_by_time() -> None:
    body = make_human(1.75)
    stance = make_motion(body, 1.0, 60.0, 2.0)
    joints = part_joints(body, "arms")
    exact = make_motion(body, 1.0, 60.0, 5.0).rotations[:, joints]
    for fps in (25.0, 120.0, 240.0):
        found = borrow(stance, make_motion(body, 2.0, fps, 5.0), "arms").rotations[:, joints]
        assert np.abs(found - exact).max() < 2e-3


def turn_rates(turns: np.ndarray, fps: float) -> np.ndarray:
    """(F - 1, K, 3) rad/s between frames, by SciPy."""
    each = [Rotation.from_quat(q.reshape(-1, 4), scalar_first=True) for q in turns]
    return np.array([(a.inv() * b).as_rotvec() * fps for a, b in pairwise(each)])


def test_a_shorter_clip_ends_without_a_jump_and_leaves_the_body_to_its_own_motion() -> None:
    body, fps = make_human(1.75), 100.0
    stance, gestures = make_motion(body, 3.0, fps, 1.0), make_motion(body, 1.2, fps, 5.0)
    joints = part_joints(body, "arms")
    found = borrow(stance, gestures, "arms").rotations[:, joints]
    np.testing.assert_allclose(found[: len(gestures)], gestures.rotations[:, joints], atol=1e-15)
    np.testing.assert_allclose(found[221:], stance.rotations[221:, joints], atol=1e-15)
    # It ends in the middle of a movement, and the rates never change faster than within the gestures.
    rates = turn_rates(found, fps)
    steps = np.abs(np.diff(rates, axis=0)).max(axis=(1, 2))
    assert np.abs(rates[119]).max() > 2.0
    assert steps[115:].max() < 1.1 * steps[:115].max()


def test_a_clip_of_one_frame_is_a_pose_that_is_held() -> None:
    body = make_human(1.75)
    stance = make_motion(body, 1.0, 50.0, 2.0)
    pose = make_motion(body, 1.0, 50.0, 5.0).pick(slice(20, 21))
    joints = part_joints(body, "leftArm")
    found = borrow(stance, pose, "leftArm").rotations[:, joints]
    assert np.abs(np.abs(np.sum(found * pose.rotations[:, joints], axis=-1)) - 1.0).max() < 1e-14


def test_fingers_that_the_other_clip_lacks_keep_their_own_motion() -> None:
    skeleton, roles = unreal()
    body = skeleton.replace(roles=roles)
    stance = make_motion(body, 0.5, 50.0, 2.0)
    found = borrow(stance, make_motion(make_human(1.75), 0.5, 50.0, 5.0), "arms")
    fingers = [body.index(role) for role in body.roles if "Index" in role or "Little" in role]
    assert fingers and np.array_equal(found.rotations[:, fingers], stance.rotations[:, fingers])
    assert not np.allclose(found.rotations[:, body.index("leftHand")], stance.rotations[:, body.index("leftHand")])


def test_rejects_parts_that_cannot_come_from_another_clip() -> None:
    stance = make_motion(make_human(1.75), 0.5, 50.0, 2.0)
    for part, words in (
        ("body", "'body' includes hips, but the hips and joints above them cannot come"),
        ("hips", "'hips' includes hips"),
        ("armz", "part 'armz' is not known. Did you mean 'arms'?"),
    ):
        with pytest.raises(InputError, match=words.replace("?", r"\?")):
            borrow(stance, stance, part)
    one_armed = make_motion(make_human(1.75, without=("rightUpperArm", "rightLowerArm", "rightHand")), 0.5, 50.0, 2.0)
    assert "rightUpperArm" not in one_armed.skeleton.roles
    rejects(lambda: borrow(stance, one_armed, "arms"), "rightUpperArm", "rightLowerArm", "'arms'")
    borrow(stance, one_armed, "leftArm")
