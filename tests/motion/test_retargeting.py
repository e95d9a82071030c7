"""Motion onto other bodies: onto itself and copies exactly, onto others with feet that stand and hands that meet."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from helpers.bodies import make_human, make_pose, tpose
from helpers.errors import rejects
from helpers.recordings import data_file
from poise.body.character import Character
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.body.geometry.soles import leg_length
from poise.body.skeleton import Skeleton
from poise.cli import main
from poise.files.character import save_character
from poise.files.formats.bvh.clip import save_bvh
from poise.files.reading.reframe import Reframe
from poise.files.registry import load_clip, read_clip
from poise.ik.two_bone import correct_two_bone, find_hinge, solve_two_bone
from poise.motion import samples
from poise.motion.clip import Clip
from poise.motion.contacts.points import foot_points
from poise.motion.edits.ground import clip_heading, turn
from poise.motion.edits.mirror import mirror
from poise.motion.parts import find_runs
from poise.motion.retargeting import retarget
from poise.motion.retargeting.easing import average, cover, fade
from poise.motion.retargeting.metrics import measure_retargeting
from poise.motion.retargeting.reference import build_reference
from poise.spatial import rotation

X, Y, Z = np.eye(3)
MOTIONS: dict[str, Callable[[Skeleton], Clip]] = {
    "walk": lambda skeleton: samples.walk(skeleton, 4.0),
    "squat": samples.squat,
    "wave": samples.wave,
    "jump": samples.jump,
}
BODIES: dict[str, Callable[[], Skeleton]] = {
    "child": lambda: Character.human(height=1.2, mass=23).skeleton,
    "giant": lambda: Character.human(height=2.1).skeleton,
    "mix": lambda: Character.human(preset="mix", height=1.6).skeleton,
    "tracking": lambda: Character.human(preset="tracking").skeleton,
    "strength": lambda: Character.human(preset="strength", height=1.5).skeleton,
    "arms down": lambda: make_human(1.6, arms_down=True),
    "no toes": lambda: tpose(1.7, toes=False),
    "no collar bones": lambda: make_human(1.75, without=("Shoulder", "upperChest", "neck")),
    "uneven legs": lambda: tpose(1.8, left_leg=1.04),
}


@cache
def body_of(name: str) -> Skeleton:
    return BODIES[name]()


@cache
def motion_of(name: str) -> Clip:
    return MOTIONS[name](tpose(1.75))


def rest_as(skeleton: Skeleton, **turns: tuple[float, float, float]) -> Skeleton:
    """The same body with another rest pose: joints turned by rotation vectors in degrees."""
    _, orientations = skeleton.pose(np.zeros(3), make_pose(skeleton, **turns))
    offsets = skeleton.offsets.copy()
    offsets[1:] = rotation.rotate(orientations[skeleton.parents[1:]], skeleton.offsets[1:])
    return skeleton.replace(offsets=offsets, tips=rotation.rotate(orientations, np.asarray(skeleton.tips)))


def rest_poses(skeleton: Skeleton) -> dict[str, Skeleton]:
    """T as it is, and what other files call rest."""

    def arms(x: float, y: float, z: float) -> Skeleton:
        return rest_as(skeleton, leftUpperArm=(x, y, z), rightUpperArm=(x, -y, -z))

    return {
        "T": skeleton,
        "A": arms(0, 0, -45),
        "arms down": arms(0, 0, -90),
        "arms ahead": arms(0, -90, 0),
        "arms up": arms(0, 0, 80),
        "bent": rest_as(
            skeleton,
            leftUpperArm=(0, 0, -30),
            leftLowerArm=(0, -40, 0),
            rightUpperLeg=(-50, 0, 0),
            rightLowerLeg=(70, 0, 0),
            rightFoot=(-20, 0, 0),
        ),
    }


def with_extras(skeleton: Skeleton) -> Skeleton:
    """A root above the hips, a twist joint in the forearm's way, fingers and a prop: some with roles, some without."""
    names = ["Root", *skeleton.names]
    parents = [-1, 0, *(int(p) + 1 for p in skeleton.parents[1:])]
    offsets = [np.zeros(3), *skeleton.offsets]
    roles = dict(skeleton.roles)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hand = names.index(f"{side}Hand")
        names += [f"{side}IndexProximal", f"{side}IndexDistal2", f"{side}ForeTwist"]
        parents += [hand, len(names) - 3, names.index(f"{side}LowerArm")]
        offsets += [sign * 0.08 * X + 0.02 * Z, sign * 0.03 * X, sign * 0.1 * X]
        roles[f"{side}IndexProximal"] = f"{side}IndexProximal"
    names.append("sword")
    parents.append(names.index("rightHand"))
    offsets.append(0.1 * Z)
    return Skeleton(tuple(names), np.array(parents), np.array(offsets), roles=roles)


def wiggle(clip: Clip, size: float = 0.2) -> Clip:
    """Smooth turns of every joint on top, so that none is at rest."""
    t = clip.times[:, None, None]
    phase = np.arange(len(clip.skeleton))[None, :, None] + np.array([0.0, 1.0, 2.0])
    return clip.replace(rotations=rotation.multiply(clip.rotations, rotation.exp(size * np.sin(2.0 * t + phase))))


def largest_step(clip: Clip) -> float:
    return float(rotation.angle(clip.rotations[1:], clip.rotations[:-1]).max())


@pytest.mark.parametrize("motion", MOTIONS)
def test_onto_itself_nothing_changes(motion: str) -> None:
    clip = motion_of(motion)
    result = retarget(clip, clip.skeleton)
    assert result.skeleton is clip.skeleton or result.skeleton.names == clip.skeleton.names
    assert np.array_equal(result.times, clip.times)
    assert rotation.angle(result.rotations, clip.rotations).max() < 1e-6
    assert np.abs(result.root - clip.root).max() < 1e-9


def test_onto_itself_with_joints_that_have_no_role() -> None:
    skeleton = with_extras(tpose(1.7))
    clip = wiggle(samples.wave(skeleton))
    result = retarget(clip, skeleton)
    assert rotation.angle(result.rotations, clip.rotations).max() < 1e-6
    assert np.abs(result.positions - clip.positions).max() < 1e-9


@pytest.mark.parametrize("factor", [0.4, 1.3])
def test_onto_a_scaled_copy_all_positions_are_scaled(factor: float) -> None:
    clip = wiggle(motion_of("walk"))
    result = retarget(clip, clip.skeleton.scaled(factor))
    assert np.abs(result.positions - factor * clip.positions).max() < 1e-9


def test_the_rest_pose_of_the_target_does_not_matter() -> None:
    body = tpose(1.75)
    other = wiggle(samples.walk(make_human(1.6)))
    same = wiggle(samples.wave(body))
    for clip in (same, other):
        expected = retarget(clip, body).positions
        for name, variant in rest_poses(body).items():
            assert np.abs(retarget(clip, variant).positions - expected).max() < 1e-6, name


def test_the_rest_pose_of_the_source_does_not_matter() -> None:
    clip = wiggle(motion_of("walk"))
    target = make_human(1.5)
    expected = retarget(clip, target).positions
    for name, variant in rest_poses(clip.skeleton).items():
        told = build_reference(variant).leave(build_reference(clip.skeleton).enter(clip))
        assert np.abs(told.positions - clip.positions).max() < 1e-9, name
        assert np.abs(retarget(told, target).positions - expected).max() < 1e-6, name


def test_splayed_legs_of_a_rest_pose_take_their_feet_along() -> None:
    body = tpose(1.75)
    splayed = rest_as(body, leftUpperLeg=(0, 0, 20), rightUpperLeg=(0, 0, -20))
    assert (
        np.abs(build_reference(splayed).skeleton.offsets[1:] - build_reference(body).skeleton.offsets[1:]).max() < 1e-9
    )


def test_palms_are_told_by_their_knuckles() -> None:
    names = ["IndexProximal", "LittleProximal"]
    body = tpose(1.75)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hand = body.index(f"{side}Hand")
        joints = (*body.names, *(side + name for name in names))
        offsets = [*body.offsets, np.array([0.08 * sign, 0.0, 0.03]), np.array([0.08 * sign, 0.0, -0.03])]
        tips = np.concatenate([body.tips, np.full((2, 3), np.nan)])
        roles = {**body.roles, **{side + name: side + name for name in names}}
        body = Skeleton(joints, np.append(body.parents, [hand, hand]), np.array(offsets), tips, roles)
    ahead = rest_as(body, leftHand=(-70, 0, 0), rightHand=(-70, 0, 0))  # palms to the front
    clip = samples.wave(body)
    result = retarget(clip, ahead)
    assert np.abs(result.positions - clip.positions).max() < 1e-6


def test_names_do_not_matter() -> None:
    clip = motion_of("walk")
    target = make_human(1.6)
    renamed = target.replace(names=[f"bone_{i}" for i in range(len(target))])
    result = retarget(clip, renamed)
    assert result.skeleton.names == renamed.names
    assert np.array_equal(result.rotations, retarget(clip, target).rotations)


def test_left_and_right_are_treated_alike() -> None:
    clip = samples.wave(tpose(1.75))
    target = make_human(1.5)
    mirrored = retarget(mirror(clip), target)
    assert np.abs(mirrored.positions - mirror(retarget(clip, target)).positions).max() < 1e-6


@pytest.mark.parametrize("heading", [0.7, 3.0])
def test_place_and_heading_go_with_the_source(heading: float) -> None:
    clip = motion_of("walk")
    target = make_human(1.5)
    turned = turn(clip, heading)
    result = retarget(turned, target)
    assert np.abs(clip_heading(result) - clip_heading(turned)).max() < 1e-6
    assert np.abs(result.positions - turn(retarget(clip, target), heading).positions).max() < 1e-6


@pytest.mark.parametrize("motion", MOTIONS)
def test_there_and_back_again(motion: str) -> None:
    clip = motion_of(motion)
    back = retarget(retarget(clip, make_human(1.3, arms_down=True)), clip.skeleton)
    off = np.linalg.norm(back.positions - clip.positions, axis=-1)
    assert np.sqrt(np.mean(off**2)) < 0.015  # m
    assert off.max() < 0.08


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.many(7)
def test_feet_stand_and_nothing_jumps(motion: str, body: str) -> None:
    clip = motion_of(motion)
    result = retarget(clip, body_of(body))
    assert np.isfinite(result.positions).all()
    assert largest_step(result) < 2.0 * largest_step(clip)
    scale = leg_length(result.skeleton, "right") / leg_length(clip.skeleton, "right")
    bumps, own_bumps = (np.linalg.norm(np.diff(c.positions, 2, axis=0), axis=-1).max() for c in (result, clip))
    assert bumps < 2.0 * scale * own_bumps

    # Where the source's soles do not move at all, neither do the target's, and they are on the ground.
    there, here = foot_points(result), foot_points(clip)
    has_toes = result.skeleton.find_role("leftToes") is not None
    stood = 0
    for side in range(2):
        for point, other in ((0, 0), (1, 1 if has_toes else 2)):
            still = np.linalg.norm(np.gradient(here[:, side, point], clip.times, axis=0), axis=-1) < 1e-3
            for first, last in find_runs(still & (here[:, side, point, 1] < 1e-3)):
                path = there[first : last + 1, side, other]
                stood += 1
                assert np.linalg.norm(path - path[0], axis=-1).max() < 0.002
                assert np.abs(path[:, 1]).max() < 0.002
    assert stood >= 4
    assert there[..., 1].min() > -0.006


@pytest.mark.parametrize("body", ["child", "giant", "no toes"])
def test_hips_travel_with_the_legs_and_knees_bend_as_far(body: str) -> None:
    clip = motion_of("walk")
    result = retarget(clip, body_of(body))
    scale = leg_length(result.skeleton, "left") / leg_length(clip.skeleton, "left")
    way, own_way = (
        c.positions[-1, c.skeleton.index("hips")] - c.positions[0, c.skeleton.index("hips")] for c in (result, clip)
    )
    assert way[2] == pytest.approx(scale * own_way[2], rel=0.01)
    figures = measure_retargeting(clip, result)
    assert figures["knee_speed_rad_s"] is not None and figures["source_knee_speed_rad_s"] is not None
    assert figures["knee_speed_rad_s"] < 1.3 * figures["source_knee_speed_rad_s"]


@pytest.mark.parametrize("ground", [None, 0.4])
def test_figures_of_a_motion_on_its_own_body_are_the_sources(ground: float | None) -> None:
    """With soles that hang by 15 degrees at rest, as captured ones do, on a body twice as large."""
    clip = motion_of("walk")
    skeleton = clip.skeleton
    turns = np.tile(rotation.identity(), (len(skeleton), 1))
    for side in ("left", "right"):
        below = skeleton.descendants(skeleton.index(f"{side}Foot"))
        turns[below] = rotation.exp(np.radians(15.0) * X)
    hanging = Reframe(1.0, rotation.identity(), turns).apply(clip)
    found = measure_retargeting(hanging, retarget(hanging, hanging.skeleton.scaled(2.0), ground=ground), ground)
    assert found["scale"] == pytest.approx(2.0)
    assert found["foot_skate_mm"] == pytest.approx(2.0 * found["source_foot_skate_mm"], rel=1e-6)
    assert found["ground_gap_mm"] < 40.0


def test_the_ground_gap_is_from_the_ground() -> None:
    clip = motion_of("walk")
    result = retarget(clip, body_of("child"), ground=0.4)
    assert measure_retargeting(clip, result, 0.4)["ground_gap_mm"] < 1e-6
    assert measure_retargeting(clip, result, 0.43)["ground_gap_mm"] == pytest.approx(30.0)
    lifted = result.replace(root=result.root + [0.0, 0.02, 0.0])
    assert measure_retargeting(clip, lifted, 0.4)["ground_gap_mm"] == pytest.approx(20.0)


def test_spines_of_any_number_of_joints() -> None:
    body = make_human(1.7)
    clip = samples.idle(body)
    rotations = clip.rotations.copy()
    bends = {"spine": 10.0, "chest": 20.0, "upperChest": 30.0, "neck": -10.0, "head": -20.0}
    for role, degrees in bends.items():
        rotations[:, body.index(role)] = rotation.exp(np.radians(degrees) * X)
    rotations[:, body.index("hips")] = rotation.identity()
    clip = clip.replace(rotations=rotations)
    for without in (("upperChest",), ("upperChest", "chest"), ("neck",), ("chest", "upperChest", "neck")):
        result = retarget(clip, make_human(1.5, without=without))
        _, orientations = result.world
        last = [role for role in ("spine", "chest", "upperChest") if role in result.skeleton.roles][-1]
        for role, degrees in ((last, 60.0), ("head", 30.0)):
            turned = rotation.log(orientations[0, result.skeleton.index(role)])
            assert np.degrees(turned) == pytest.approx([degrees, 0, 0], abs=1e-6)
    few = make_human(1.5, without=("chest", "upperChest"))
    more = retarget(retarget(clip, few), body).world[1][0]
    angles = [float(np.degrees(rotation.log(more[body.index(role)])[0])) for role in ("spine", "chest", "upperChest")]
    assert 0.0 < angles[0] < angles[1] < angles[2] == pytest.approx(60.0)


def clasp(skeleton: Skeleton) -> Clip:
    """From T the hands meet in front of the chest and part again."""
    times = np.arange(121) / 60.0
    rotations = rotation.identity((len(times), len(skeleton)))
    u = np.sin(np.pi * times / times[-1]) ** 2
    rest = skeleton.rest_positions()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        upper, lower, hand = (skeleton.index(side + stem) for stem in ("UpperArm", "LowerArm", "Hand"))
        wrist = rest[upper] * [0, 1, 1] + np.array([sign * 0.11, -0.2, 0.3])
        bones = rest[lower] - rest[upper], rest[hand] - rest[lower]
        arm = solve_two_bone(rest[upper], wrist, -sign * Y, *bones, -sign * Y)
        inward = rotation.exp(-sign * np.pi / 2 * Y)
        inward = rotation.multiply(inward, inward)
        for joint, above, there in (
            (upper, rotation.identity(), arm.upper),
            (lower, arm.upper, arm.lower),
            (hand, arm.lower, inward),
        ):
            turn_by = rotation.multiply(rotation.conjugate(above), there)
            rotations[:, joint] = rotation.slerp(rotation.identity(), turn_by, u)
    return Clip(skeleton, times, np.tile(rest[0], (len(times), 1)), rotations)


def palms_apart(clip: Clip) -> np.ndarray:
    positions, orientations = build_reference(clip.skeleton).enter(clip).world
    stature = 1.75 * leg_length(clip.skeleton, "left") / leg_length(tpose(1.75), "left")
    left, right = (
        positions[:, clip.skeleton.index(f"{side}Hand")]
        + rotation.rotate(orientations[:, clip.skeleton.index(f"{side}Hand")], sign * 0.054 * stature * X)
        for side, sign in (("left", 1.0), ("right", -1.0))
    )
    return np.linalg.norm(left - right, axis=-1)


def test_hands_that_meet_still_meet() -> None:
    clip = clasp(tpose(1.75))
    wide = tpose(1.75)
    offsets = wide.offsets.copy()
    for side in ("left", "right"):
        offsets[wide.index(f"{side}UpperArm"), 0] *= 1.7
    wide = wide.replace(offsets=offsets)
    middle = len(clip) // 2
    apart = palms_apart(clip)[middle]
    assert apart < 0.1
    kept, left = palms_apart(retarget(clip, wide)), palms_apart(retarget(clip, wide, hands=False))
    assert abs(kept[middle] - apart) < 0.01
    assert left[middle] > apart + 0.1
    assert largest_step(retarget(clip, wide)) < 2.0 * largest_step(clip)


def test_hands_stay_out_of_a_large_head() -> None:
    clip = samples.wave(tpose(1.75))
    target = make_human(1.6)
    skin = build_skin(target, build_mannequin(target, 60.0))
    head = target.rest_positions()[target.index("head")]
    large = skin.joints[:, 0] == target.index("head")
    vertices = np.where(large[:, None], head + 6.5 * (skin.vertices - head), skin.vertices)
    big = type(skin)(vertices, skin.normals, skin.faces, skin.joints, skin.weights)
    low, high = vertices[large].min(axis=0) - head, vertices[large].max(axis=0) - head

    def depth(result: Clip) -> float:
        positions, orientations = result.world
        hand, top = result.skeleton.index("rightHand"), result.skeleton.index("head")
        local = rotation.rotate(rotation.conjugate(orientations[:, top]), positions[:, hand] - positions[:, top])
        return float(1 - np.linalg.norm((local - (low + high) / 2) / ((high - low) / 2), axis=-1).min())

    inside, outside = depth(retarget(clip, target)), depth(retarget(clip, target, skin=big))
    assert inside > 0.1
    assert outside < 0.5 * inside
    assert np.array_equal(retarget(clip, target, skin=skin).times, clip.times)


def test_the_ground_is_where_it_is_asked_for() -> None:
    clip = samples.squat(tpose(1.75))
    raised = clip.replace(root=clip.root + 0.3 * Y)
    for target in (clip.skeleton, make_human(1.5)):
        assert foot_points(retarget(raised, target, ground=0.0))[..., 1].min() == pytest.approx(0.0, abs=2e-3)
        kept = foot_points(retarget(raised, target))[..., 1].min()
        assert kept == pytest.approx(0.3 * leg_length(target, "left") / leg_length(clip.skeleton, "left"), abs=2e-3)


def test_without_feet_and_hands_only_orientations_are_taken_over() -> None:
    clip = motion_of("walk")
    target = make_human(1.5)
    result = retarget(clip, target, feet=False, hands=False)
    for role in target.roles:
        if not role.endswith("Shoulder"):
            here = build_reference(clip.skeleton).enter(clip).world[1][:, clip.skeleton.index(role)]
            there = build_reference(target).enter(result).world[1][:, target.index(role)]
            # Soles are taken to be flat where the source stands, to a fraction of a degree.
            assert rotation.angle(here, there).max() < (1e-3 if role.endswith(("Foot", "Toes")) else 1e-6), role


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_clips_of_a_few_frames(frames: int) -> None:
    clip = motion_of("walk")
    short = clip.replace(times=clip.times[:frames], root=clip.root[:frames], rotations=clip.rotations[:frames])
    assert len(retarget(short, make_human(1.5))) == frames


def test_bodies_that_lack_limbs() -> None:
    clip = samples.wave(tpose(1.75))
    no_arms = make_human(1.6, without=("Shoulder", "UpperArm", "LowerArm", "Hand"))
    no_legs = make_human(1.6, without=("UpperLeg", "LowerLeg", "Foot", "Toes"))
    for target in (no_arms, no_legs):
        there = retarget(clip, target)
        assert measure_retargeting(clip, there)["frames"] == len(clip)
        assert np.isfinite(retarget(there, make_human(1.7)).rotations).all()


def test_a_target_without_hips_is_refused() -> None:
    clip = samples.wave(tpose(1.75))
    rejects(
        lambda: retarget(clip, Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0.0, 1, 0], [0.0, 1, 0]]))), "hips"
    )


def test_a_lying_body_keeps_lying() -> None:
    clip = samples.idle(tpose(1.75))
    down = rotation.exp(-0.5 * np.pi * X)
    rotations = clip.rotations.copy()
    rotations[:, 0] = rotation.multiply(down, rotations[:, 0])
    lying = clip.replace(root=np.tile([0.0, 0.12, 0.0], (len(clip), 1)), rotations=rotations)
    result = retarget(lying, make_human(1.5))
    head, feet = (result.positions[:, result.skeleton.index(role), 1] for role in ("head", "leftFoot"))
    assert np.abs(head - feet).max() < 0.15
    assert largest_step(result) < 0.02


def test_a_limb_reaches_its_target_and_keeps_its_bend() -> None:
    rng = np.random.default_rng(3)
    upper_bone, lower_bone = np.array([0.02, -0.4, 0.01]), np.array([0.0, -0.38, -0.03])
    upper = rotation.random(rng, (200,))
    lower = rotation.multiply(upper, rotation.exp(rng.uniform(0.02, 2.2, (200, 1)) * X))
    end = rotation.rotate(upper, upper_bone) + rotation.rotate(lower, lower_bone)
    same = correct_two_bone(upper, lower, upper_bone, lower_bone, end, rotation.rotate(upper, X))
    assert rotation.angle(same.upper, upper).max() < 1e-6
    assert rotation.angle(same.lower, lower).max() < 1e-6
    target = rotation.rotate(rotation.exp(rng.normal(scale=0.3, size=(200, 3))), end) * rng.uniform(0.6, 1.2, (200, 1))
    reachable = np.linalg.norm(target, axis=-1) < 0.998 * 0.78
    posed = correct_two_bone(upper, lower, upper_bone, lower_bone, target, rotation.rotate(upper, X))
    there = rotation.rotate(posed.upper, upper_bone) + rotation.rotate(posed.lower, lower_bone)
    off = np.linalg.norm(there - target, axis=-1)
    assert off[reachable].max() < 1e-6
    assert np.abs(off - posed.miss).max() < 1e-12
    hinge = find_hinge(posed.upper, posed.lower, upper_bone, lower_bone)
    assert hinge[0] > 0.9 * np.linalg.norm(hinge)


def test_corrections_fade_smoothly_and_cover_what_is_needed() -> None:
    times = np.arange(2001) / 1000.0
    held = (times > 0.8) & (times < 1.2)
    values = np.stack([0.3 + 0.5 * (times - 1.0), np.cos(times)], axis=1)
    faded = fade(times, held, values, 0.25)
    assert np.array_equal(faded[held], values[held])
    assert np.all(faded[times < 0.54] == 0.0) and np.all(faded[times > 1.46] == 0.0)
    assert np.abs(np.diff(faded, 2, axis=0)).max() < 2e-4  # a step in the slope of 0.5 would show as 5e-4
    needed = np.where(np.abs(times - 1.0) < 0.1, 0.05, 0.0)
    assert np.all(cover(times, needed, 0.1) >= needed - 1e-12)
    assert np.abs(average(times, np.full((2001, 2), 3.0), 0.1) - 3.0).max() < 1e-12


def test_the_command_writes_what_it_measures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip, body, other = tmp_path / "walk.bvh", tmp_path / "body.json", tmp_path / "other.bvh"
    save_bvh(samples.walk(tpose(1.75), 3.0), clip)
    save_character(Character.human(height=1.5), body)
    save_bvh(samples.idle(make_human(1.9, arms_down=True), 0.5), other)
    for character, name in ((body, "a.bvh"), (body, "b.glb"), (other, "c.bvh")):
        assert main(["retarget", str(clip), str(character), "-o", str(tmp_path / name), "--json", "--quiet"]) == 0
        figures = json.loads(capsys.readouterr().out)
        assert figures["frames"] == len(load_clip(clip))
        assert figures["foot_skate_mm"] < 2.0
        assert figures["max_joint_error_m"] < 1e-4
        assert {"hand_error_m", "knee_speed_rad_s", "scale"} <= set(figures)
    assert main(["retarget", str(clip), str(body), "-o", str(clip)]) == 2
    assert "overwrite" in capsys.readouterr().err


CHARACTERS = ("gltf/RiggedFigure.glb", "gltf/manny_med_mod.gltf", "vrm/cryptovoxels.vrm")


@pytest.mark.data
@pytest.mark.parametrize("motion", ["07_01", "141_16", "13_11"])
def test_captured_motion_on_models(motion: str) -> None:
    clip = read_clip(data_file(f"bvh-cmu/{motion}.bvh")).clip
    for name in CHARACTERS:
        reading = read_clip(data_file(name))
        result = retarget(clip, reading.clip.skeleton, ground=0.0, skin=reading.skin)
        figures = measure_retargeting(clip, result)
        assert figures["foot_skate_mm"] is not None and figures["foot_skate_mm"] < 2.0, name
        assert figures["hand_error_m"] is not None and figures["hand_error_m"] < 0.1, name
        assert largest_step(result) < 2.0 * largest_step(clip), name
        assert foot_points(result)[..., 1].min() > -0.01, name


@pytest.mark.data
def test_captured_motion_written_onto_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip, model = data_file("bvh-cmu/07_01.bvh"), data_file("vrm/cryptovoxels.vrm")
    out = tmp_path / "out.glb"
    assert main(["retarget", str(clip), str(model), "-o", str(out), "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["max_joint_error_m"] < 1e-5
    assert read_clip(out).skin is not None
