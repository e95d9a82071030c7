"""Hands put where they should be: exact at the moment, nothing elsewhere, no jump on the way; measured by SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bodies import make_human
from helpers.kinematics import angle_by_scipy, pose_by_scipy
from poise.body.bodies import build_body
from poise.body.character import Character
from poise.body.geometry.primitives import Sphere
from poise.body.joints import find_limits
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion import Clip, Offset, apply_offsets, find_point, samples
from poise.motion.edits.offsets import find_limb
from poise.motion.edits.targets import BodyTarget, MidpointTarget, PropTarget
from poise.motion.gestures import GestureMotion, clap
from poise.spatial import rotation
from poise.world.prop import Prop

BODY = Character.human()


def clapping(skeleton: Skeleton = BODY.skeleton, seconds: float = 3.0, fps: float = 60.0) -> Clip:
    return GestureMotion(clap(1.5), skeleton).sample(seconds, fps)


def point_at(clip: Clip, joint: str, point, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Where a point of a joint is, and the joint's axes, by SciPy's matrices; slerp between frames is the clip's."""
    pose = clip.pose(t)
    places, axes = pose_by_scipy(clip.skeleton, pose.root, pose.rotations)
    i = clip.skeleton.index(joint)
    return places[i] + axes[i] @ find_point(clip.skeleton, joint, point), axes[i]


@pytest.mark.parametrize("t", [1.0, 1.0371, 2.0, 0.0, 3.0])
def test_the_hand_is_there_at_the_moment_and_turned_as_it_was(t):
    clip = clapping()
    was, axes = point_at(clip, "rightHand", "palm", t)
    place = was + [-0.05, 0.06, 0.03]
    done = apply_offsets(clip, [Offset("rightHand", t, place, "palm")])
    there, turned = point_at(done.clip, "rightHand", "palm", t)
    assert np.linalg.norm(there - place) < 1e-5
    assert angle_by_scipy(turned, axes) < 1e-4
    met = done.met[0]
    assert met.is_met
    assert met.before == pytest.approx(np.linalg.norm([-0.05, 0.06, 0.03]), abs=1e-9)
    assert met.miss == pytest.approx(np.linalg.norm(there - place), abs=1e-8)


def test_only_the_limb_and_only_the_window_changes():
    clip = clapping()
    place = point_at(clip, "rightHand", "palm", 1.5)[0] + [0.0, 0.1, 0.0]
    done = apply_offsets(clip, [Offset("rightHand", 1.5, place, "palm", before=0.4, after=0.25)]).clip
    outside = (clip.times <= 1.1) | (clip.times >= 1.75)
    np.testing.assert_allclose(done.rotations[outside], clip.rotations[outside], rtol=0, atol=1e-15)
    limb = [clip.skeleton.index(f"right{each}") for each in ("UpperArm", "LowerArm", "Hand")]
    others = np.delete(np.arange(len(clip.skeleton)), limb)
    np.testing.assert_allclose(done.rotations[:, others], clip.rotations[:, others], rtol=0, atol=1e-15)
    assert np.array_equal(done.root, clip.root)
    inside = (clip.times > 1.15) & (clip.times < 1.7)
    assert np.all(rotation.angle(done.rotations[inside], clip.rotations[inside])[:, limb].max(axis=1) > 1e-4)


def speed_jump(clip: Clip) -> float:
    """m/s, the most by which the velocity of a joint changes from frame to frame."""
    velocity = np.diff(clip.positions, axis=0) * clip.fps
    return float(np.linalg.norm(np.diff(velocity, axis=0), axis=-1).max())


@pytest.mark.parametrize("hold", [0.0, 0.3])
def test_there_is_no_jump_of_speed_as_frames_get_closer(hold):
    """What is smooth changes its speed by half as much in half the time; a jump stays."""
    jumps = []
    for fps in (100.0, 200.0, 400.0):
        clip = GestureMotion(clap(0.5), BODY.skeleton).sample(2.0, fps)
        place = point_at(clip, "rightHand", "palm", 1.0)[0] + [-0.04, 0.05, 0.03]
        jumps.append(speed_jump(apply_offsets(clip, [Offset("rightHand", 1.0, place, "palm", hold=hold)]).clip))
    assert jumps[1] < 0.62 * jumps[0]
    assert jumps[2] < 0.62 * jumps[1]


def test_overlapping_windows_are_all_exact():
    clip = clapping()
    rng, offsets = np.random.default_rng(1), []
    for t in (0.6, 0.75, 1.1, 1.12, 2.0):
        place = point_at(clip, "leftHand", "fingertip", t)[0] + rng.uniform(-0.06, 0.06, 3)
        offsets.append(Offset("leftHand", t, place, "fingertip", before=0.5, after=0.5))
    done = apply_offsets(clip, offsets[::-1])
    for offset in offsets:
        assert (
            np.linalg.norm(point_at(done.clip, "leftHand", "fingertip", offset.time)[0] - offset.find_place(0.0)) < 1e-4
        )


def test_moments_within_one_frame_share_it_and_do_not_add_up():
    clip = clapping()
    place = point_at(clip, "leftHand", "palm", 1.005)[0] + [0.05, 0.08, 0.0]
    done = apply_offsets(clip, [Offset("leftHand", t, place, "palm") for t in (1.003, 1.007, 1.012)])
    assert max(met.miss for met in done.met) < 0.02  # the hand moves on meanwhile: it is between them
    holds = [Offset("rightHand", t, place * [-1, 1, 1], "palm", hold=0.6) for t in (1.5, 1.7)]
    assert max(met.miss for met in apply_offsets(clip, holds).met) < 1e-4


def test_a_hold_keeps_the_hand_where_it_is_put():
    clip = clapping()
    place = np.array([0.15, 1.3, 0.3])
    done = apply_offsets(clip, [Offset("leftHand", 1.5, place, "palm", hold=0.5)]).clip
    for t in np.arange(1.26, 1.75, 0.037):
        assert np.linalg.norm(point_at(done, "leftHand", "palm", t)[0] - place) < 5e-4
    assert np.linalg.norm(point_at(clip, "leftHand", "palm", 1.3)[0] - place) > 0.05


def test_joints_stay_in_their_ranges():
    clip = clapping(build_body("child").skeleton)
    limits = find_limits(clip.skeleton)
    rng = np.random.default_rng(3)
    offsets = [
        Offset("rightHand", t, point_at(clip, "rightHand", "palm", t)[0] + rng.uniform(-0.08, 0.08, 3), "palm")
        for t in (0.5, 1.2, 1.9, 2.5)
    ]
    done = apply_offsets(clip, offsets, limits)
    for name in ("rightUpperArm", "rightLowerArm", "rightHand"):
        i = clip.skeleton.index(name)
        own = limits[clip.skeleton.names[i]]
        excess = [np.abs(own.excess(each.rotations[:, i])).max(axis=-1) for each in (done.clip, clip)]
        assert np.all(excess[0] <= excess[1] + 1e-9)
    assert max(met.beyond for met in done.met) < 1e-9


def test_out_of_reach_is_told():
    clip = clapping()
    shoulder = pose_by_scipy(clip.skeleton, clip.root[60], clip.rotations[60])[0][clip.skeleton.index("rightUpperArm")]
    met = apply_offsets(clip, [Offset("rightHand", 1.0, shoulder + [-2.0, 0.0, 0.0])]).met[0]
    bones = [np.linalg.norm(clip.skeleton.offsets[clip.skeleton.index(f"right{j}")]) for j in ("LowerArm", "Hand")]
    assert not met.is_met
    assert met.miss == pytest.approx(2.0 - sum(bones), abs=0.02)


BODIES = {
    "full": BODY.skeleton,
    "no clavicles, toes": make_human(without=("Shoulder", "Toes")),
    "tracking": Character.human(preset="tracking").skeleton,
    "arms down": make_human(1.6, arms_down=True),
    "child": build_body("child").skeleton,
}


@pytest.mark.parametrize("joint", ["leftHand", "rightHand", "leftFoot", "rightFoot"])
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.many(7)
def test_every_limb_of_every_body(name, joint):
    skeleton = BODIES[name]
    clip = samples.squat(skeleton, 2.0, 30.0)
    point = "palm" if joint.endswith("Hand") else "ball"
    rng = np.random.default_rng([len(name), len(joint)])
    t = float(rng.uniform(0.3, 1.7))
    was, axes = point_at(clip, joint, point, t)
    top = point_at(clip, joint.replace("Hand", "UpperArm").replace("Foot", "UpperLeg"), "joint", t)[0]
    place = was + 0.15 * (top - was) + rng.uniform(-0.03, 0.03, 3)
    done = apply_offsets(clip, [Offset(joint, t, place, point)])
    there, turned = point_at(done.clip, joint, point, t)
    assert np.linalg.norm(there - place) < 1e-4
    # Ranges of wrist and ankle may not let it stay as it is turned; then that is told.
    assert angle_by_scipy(turned, axes) == pytest.approx(done.met[0].turned, abs=1e-6)


def test_random_poses_of_random_bodies_meet_random_places():
    """Also with twist bones between the joints of a limb, and without any roles."""
    rng = np.random.default_rng(8)
    for k in range(12):
        skeleton = make_human(rng.uniform(1.1, 2.1), bool(k % 2), ("Shoulder",) if k % 3 else ())
        if k % 4 == 3:
            skeleton = skeleton.replace(roles={})
        turns = rotation.exp(rng.normal(scale=0.25, size=(3, len(skeleton), 3)))
        clip = Clip(skeleton, [0.0, 0.4, 1.0], rng.normal(size=(3, 3)), turns)
        t = float(rng.uniform(0.1, 0.9))
        elbow, was = point_at(clip, "leftUpperArm", "joint", t)[0], point_at(clip, "leftHand", "joint", t)[0]
        place = was + 0.25 * (elbow - was) + rng.uniform(-0.05, 0.05, 3)
        done = apply_offsets(clip, [Offset("leftHand", t, place, turn="free")], {})
        assert np.linalg.norm(point_at(done.clip, "leftHand", "joint", t)[0] - place) < 1e-5


def test_places_on_props_and_on_others_and_half_way():
    one, two = clapping(), clapping(make_human(1.68))
    two = two.replace(root=two.root + [-0.1, 0.0, 0.1])
    prop = Prop(
        "drum",
        (Sphere(np.zeros(3), 0.1),),
        position=np.array([0.1, 1.0, 0.3]),
        turn=rotation.exp(np.array([0.0, np.pi / 2, 0.0])),
    )
    np.testing.assert_allclose(PropTarget(prop, (0.0, 0.1, 0.2)).find(0.0), [0.3, 1.1, 0.3], atol=1e-12)
    spot = BodyTarget(two, "leftHand", "palm")
    np.testing.assert_allclose(spot.find(1.234), point_at(two, "leftHand", "palm", 1.234)[0], atol=1e-12)
    middle = MidpointTarget(BodyTarget(one, "rightHand", "palm"), spot)
    ends = [
        apply_offsets(clip, [Offset(joint, 1.0, middle, "palm", turn="free")]).clip
        for clip, joint in ((one, "rightHand"), (two, "leftHand"))
    ]
    apart = point_at(ends[0], "rightHand", "palm", 1.0)[0] - point_at(ends[1], "leftHand", "palm", 1.0)[0]
    assert np.linalg.norm(apart) < 1e-4
    before = point_at(one, "rightHand", "palm", 1.0)[0] - point_at(two, "leftHand", "palm", 1.0)[0]
    assert np.linalg.norm(before) > 0.03


def test_a_given_turn_is_taken():
    clip = clapping()
    was, axes = point_at(clip, "leftHand", "joint", 1.0)
    wanted = rotation.multiply(rotation.exp(np.array([0.1, 0.15, -0.1])), rotation.from_matrix(axes))
    done = apply_offsets(clip, [Offset("leftHand", 1.0, was + [0.0, 0.05, 0.0], turn=wanted)], {})
    assert angle_by_scipy(point_at(done.clip, "leftHand", "joint", 1.0)[1], rotation.to_matrix(wanted)) < 1e-4


def test_limbs_are_found_and_may_be_given():
    skeleton = BODY.skeleton
    names = [skeleton.labels[i] for i in find_limb(skeleton, "leftHand")]
    assert names == ["leftUpperArm", "leftLowerArm", "leftHand"]
    assert [skeleton.labels[i] for i in find_limb(skeleton, "head")] == ["upperChest", "neck", "head"]
    given = ("leftShoulder", "leftUpperArm", "leftLowerArm", "leftHand")
    assert [skeleton.labels[i] for i in find_limb(skeleton, "leftHand", given)] == list(given)
    with pytest.raises(InputError, match="from the trunk outward"):
        find_limb(skeleton, "leftHand", ("leftHand", "leftUpperArm"))
    with pytest.raises(InputError, match="no joints above"):
        find_limb(skeleton, "hips")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"time": 9.0}, "the clip runs from"),
        ({"joint": "tail"}, "joint 'tail'"),
        ({"point": "elbow"}, "Known: joint, palm"),
        ({"before": -1.0}, "before of an offset"),
        ({"time": np.nan}, "finite time"),
        ({"place": (1.0, 2.0)}, "three finite numbers"),
        ({"turn": "up"}, "keep"),
        ({"turn": (0.0, 0.0, 0.0, 0.0)}, "not zero"),
    ],
)
def test_what_cannot_be_is_refused(change, match):
    said = {"joint": "leftHand", "time": 1.0, "place": (0.1, 1.2, 0.3), **change}
    with pytest.raises(InputError, match=match):
        apply_offsets(clapping(), [Offset(**said)])


def test_points_of_hands_and_feet():
    """In a T-pose with palms down: the palm is below the wrist, the fingertip farthest out, the sole on the ground."""
    skeleton = BODY.skeleton
    rest = skeleton.rest_positions()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        at = {name: find_point(skeleton, f"{side}Hand", name) for name in ("palm", "back", "fist", "fingertip")}
        assert at["palm"][1] < 0 < at["back"][1]
        assert at["fist"][1] < at["palm"][1]
        assert sign * at["fingertip"][0] > 1.8 * sign * at["palm"][0] > 0.08
        sole = rest[skeleton.index(f"{side}Foot")] + find_point(skeleton, f"{side}Foot", "sole")
        assert abs(sole[1]) < 0.005
        toe, heel = (find_point(skeleton, f"{side}Foot", name) for name in ("toe", "heel"))
        assert toe[2] - heel[2] == pytest.approx(0.152 * 1.75, abs=0.03)
    down = make_human(arms_down=True)
    palm = find_point(down, "leftHand", "palm")
    assert palm[0] < 0.0  # an arm that hangs has its palm towards the thigh
    assert palm[1] < -0.04
