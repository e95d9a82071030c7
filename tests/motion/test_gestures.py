"""Gestures: hands on smooth curves, beats on the beat, arms of any body that stay arms."""

import dataclasses
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest

from helpers import rigs
from helpers.bodies import make_human
from helpers.errors import rejects
from helpers.meshes import winding_number
from poise.body.character import Character
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.mesh import Mesh
from poise.body.joints import find_limits
from poise.body.role_finding.guess import with_roles
from poise.body.skeleton import Skeleton
from poise.errors import InputError, RangeError
from poise.motion import Motion
from poise.motion.gestures import (
    ArmGesture,
    Gesture,
    GestureMotion,
    Stress,
    arm_swing,
    breathe,
    clap,
    conduct,
    cue,
    lift_arms,
    speak,
)
from poise.motion.gestures.arm import REACH_ROOM, find_arms
from poise.motion.gestures.clap import HALF_HAND
from poise.motion.gestures.curves import soften_above
from poise.spatial import rotation

SIDES = ("left", "right")


@lru_cache
def human(preset: str = "full", height: float = 1.75) -> Skeleton:
    return Character.human(height=height, preset=preset).skeleton


def handless() -> Skeleton:
    """A body whose forearms end in an end site, with no joint for the hand."""
    whole = make_human()
    skeleton = make_human(without=("Hand",))
    tips = np.array(skeleton.tips)
    for side in SIDES:
        tips[skeleton.index(f"{side}LowerArm")] = whole.offsets[whole.index(f"{side}Hand")]
    return skeleton.replace(tips=tips)


def posed_at_rest(skeleton: Skeleton, turns: dict[str, np.ndarray]) -> Skeleton:
    """The same body with another pose called rest: each named joint turned by a rotation, relative to its parent."""
    rotations = rotation.identity((len(skeleton),))
    for joint, turn in turns.items():
        rotations[skeleton.index(joint)] = turn
    _, orientations = skeleton.pose(np.zeros(3), rotations)
    offsets = skeleton.offsets.copy()
    offsets[1:] = rotation.rotate(orientations[skeleton.parents[1:]], skeleton.offsets[1:])
    return skeleton.replace(offsets=offsets, tips=rotation.rotate(orientations, np.array(skeleton.tips)))


def a_pose() -> Skeleton:
    down = np.radians(50.0) * np.array([0.0, 0.0, 1.0])
    return posed_at_rest(human(), {"leftUpperArm": rotation.exp(-down), "rightUpperArm": rotation.exp(down)})


BODIES: dict[str, Callable[[], Skeleton]] = {
    "mix": lambda: human("mix"),
    "strength": lambda: human("strength"),
    "tracking": lambda: human("tracking"),
    "full": human,
    "1.2 m": lambda: human("full", 1.2),
    "2.1 m": lambda: human("mix", 2.1),
    "A-pose": a_pose,
    "arms down": lambda: make_human(arms_down=True),
    "no clavicles": lambda: make_human(without=("Shoulder",)),
    "no hands": handless,
    "twist bones": lambda: with_roles(rigs.daz()[0]),
    "fingers": lambda: with_roles(rigs.unreal()[0]),
}


@lru_cache
def find_body(name: str) -> Skeleton:
    return BODIES[name]()


@lru_cache
def find_surface() -> dict[str, Mesh]:
    return build_mannequin(human(), 75.0)


def wrists(skeleton: Skeleton, gesture: Gesture, phase: np.ndarray) -> np.ndarray:
    """(N, 2, 3) m, world positions of the left and right wrist at phases (N,), by forward kinematics."""
    pose = GestureMotion(gesture, skeleton).pose(np.asarray(phase, float) / gesture.rate)
    return find_wrists(skeleton, *skeleton.pose(pose.root, pose.rotations))


def find_wrists(skeleton: Skeleton, positions: np.ndarray, orientations: np.ndarray) -> np.ndarray:
    places = []
    for side in SIDES:
        hand, forearm = skeleton.find_role(f"{side}Hand"), skeleton.index(f"{side}LowerArm")
        if hand is not None:
            places.append(positions[:, hand])
        else:
            places.append(positions[:, forearm] + rotation.rotate(orientations[:, forearm], skeleton.tips[forearm]))
    return np.stack(places, axis=1)


SPEECH = speak(
    [
        Stress(0.8),
        Stress(1.2, "beat", "left"),
        Stress(1.35),
        Stress(2.1, "point", "right", (-0.4, 0.2, 0.8)),
        Stress(2.9, "beat", "both"),
        Stress(3.2, "beat", "both"),
        Stress(5.6, "point", "left"),
    ]
)
GESTURES: dict[str, Gesture] = {
    **{f"conduct in {beats}": conduct(beats=beats) for beats in (1, 2, 3, 4)},
    "both hands": conduct(hands="both"),
    "left hand": conduct(hands="left", beats=3),
    "huge": conduct(hands="both", size=2.0, bpm=60),
    "cue": conduct(hands="both", cue="left"),
    "swing": arm_swing(),
    "opposite": arm_swing(1.2, 40.0, opposite=True),
    "high swing": arm_swing(0.8, 120.0),
    "clap": clap(),
    "wide clap": clap(1.0, 2.0),
    "raise a cue": cue(),
    "lift": lift_arms(),
    "lift high": lift_arms("left", 150.0, 0.5, 0.0, 0.5),
    "breathe": breathe(depth=2.0),
    "speak": SPEECH,
}


def cycle(gesture: Gesture, count: int) -> np.ndarray:
    """Phases of a whole cycle or of all of a gesture, and a bit more at both ends."""
    end = gesture.period or gesture.length
    return np.linspace(-0.3, end + 0.3, count)


def roughness(gesture: Gesture, skeleton: Skeleton, step: float) -> float:
    """The largest change of the rotations' second derivative between neighbouring samples `step` apart."""
    phase = np.arange(-0.3, (gesture.period or gesture.length) + 0.3, step)
    q = gesture.rotations(skeleton, phase)
    return float(np.abs(np.diff(q, n=3, axis=0)).max() / step**2)


@pytest.mark.parametrize("name", GESTURES)
def test_rotations_are_c2_over_the_wrap_and_at_both_ends(name):
    # A bounded third derivative makes this change fall with the step; a jump in acceleration would leave it.
    coarse, fine = (roughness(GESTURES[name], human(), step) for step in (2e-3, 1e-3))
    assert coarse > 1e-3
    assert fine < 0.65 * coarse


@pytest.mark.parametrize("name", GESTURES)
def test_cycles_close_and_ends_hold(name):
    gesture, skeleton = GESTURES[name], human()
    if gesture.period is not None:
        phase = np.linspace(0.0, gesture.period, 40)
        here, later = (gesture.rotations(skeleton, phase + n * gesture.period) for n in (0, 3))
        assert gesture.length == np.inf
    else:
        here = gesture.rotations(skeleton, np.array([0.0, gesture.length]))
        later = gesture.rotations(skeleton, np.array([-5.0, gesture.length + 5.0]))
        assert np.allclose(here[0], here[1], atol=1e-9)  # both ends hang
    assert np.allclose(here, later, atol=1e-9)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", ["conduct in 4", "huge", "high swing", "wide clap", "raise a cue", "breathe", "speak"])
def test_unit_rotations_with_continuous_signs_for_the_joints_named(name, body):
    gesture, skeleton = GESTURES[name], find_body(body)
    joints = gesture.joints(skeleton)
    q = gesture.rotations(skeleton, cycle(gesture, 200))
    assert joints == sorted(set(joints)) and q.shape == (200, len(joints), 4)
    assert np.allclose(np.linalg.norm(q, axis=-1), 1.0)
    assert np.sum(q[1:] * q[:-1], axis=-1).min() > 0.95


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", ["conduct in 4", "both hands", "swing", "clap", "raise a cue", "speak"])
def test_wrists_are_on_their_curves_where_the_arm_reaches(name, body):
    gesture, skeleton = GESTURES[name], find_body(body)
    assert isinstance(gesture, ArmGesture)
    phase = cycle(gesture, 150)
    motion = GestureMotion(gesture, skeleton)
    pose = motion.pose(phase / gesture.rate)
    positions, orientations = skeleton.pose(pose.root, pose.rotations)
    found = find_wrists(skeleton, positions, orientations)
    rest = skeleton.rest_positions()
    middle = rest[[skeleton.index(f"{side}UpperArm") for side in SIDES]].mean(axis=0) + pose.root[0] - rest[0]
    for side, arm in zip(gesture.sides, find_arms(skeleton, gesture.sides), strict=True):
        path = gesture.path(arm, phase)
        wanted = middle + arm.vector(path.wrist)
        reach = np.linalg.norm(wanted - positions[:, skeleton.index(f"{side}UpperArm")], axis=-1) / arm.length
        near = reach < path.reach - REACH_ROOM
        misses = np.linalg.norm(found[:, SIDES.index(side)] - wanted, axis=-1)
        assert misses[near].max(initial=0.0) < 1e-6
        assert near.any() or name == "swing"
        # Beyond, the hand stays on the line to its target, inside the limit.
        stretch = np.linalg.norm(found[:, SIDES.index(side)] - positions[:, skeleton.index(f"{side}UpperArm")], axis=-1)
        assert stretch.max() < path.reach * arm.length
        assert np.allclose(misses, (reach * arm.length - stretch), atol=1e-6)


@pytest.mark.parametrize("name", GESTURES)
def test_joints_stay_within_what_a_person_can(name):
    gesture, skeleton = GESTURES[name], human()
    limits = find_limits(skeleton)
    q = gesture.rotations(skeleton, cycle(gesture, 200))
    for k, joint in enumerate(gesture.joints(skeleton)):
        assert np.degrees(np.abs(limits[skeleton.names[joint]].excess(q[:, k])).max()) < 0.5, skeleton.names[joint]


@pytest.mark.parametrize("name", [n for n in GESTURES if n != "breathe"])
@pytest.mark.many(5)
def test_no_hand_goes_through_the_trunk_or_the_head(name):
    gesture, skeleton = GESTURES[name], human()
    pose = GestureMotion(gesture, skeleton).pose(cycle(gesture, 20) / gesture.rate)
    positions, orientations = skeleton.pose(pose.root, pose.rotations)
    meshes = find_surface()
    # The oracle itself: what lies half way up the chest is inside.
    chest = positions[0, skeleton.index("chest")] + np.array([0.0, 0.1, 0.0])
    assert winding_number(meshes["chest"], chest[None] - positions[0, skeleton.index("chest")])[0] > 0.5
    for side in SIDES:
        hand = skeleton.index(f"{side}Hand")
        along = rotation.rotate(orientations[:, hand], skeleton.tips[hand])
        points = np.concatenate([positions[:, hand] + share * along for share in (0.0, 1.0)])
        for role in ("hips", "spine", "chest", "head"):
            inside = winding_number(meshes[role], points - positions[0, skeleton.index(role)])
            assert np.abs(inside).max() < 0.5, role
        # The trunk is not a needle: wrists keep clear of its middle by half a chest's depth and more.
        beside = positions[:, hand, [0, 2]] - positions[0, skeleton.index("chest"), [0, 2]]
        assert np.linalg.norm(beside, axis=-1).min() > 0.15


@pytest.mark.parametrize("beats", [1, 2, 3, 4])
@pytest.mark.parametrize("body", ["mix", "full", "1.2 m", "2.1 m", "no hands"])
def test_the_ictus_is_the_lowest_point_exactly_on_the_beat(body, beats):
    skeleton, gesture = find_body(body), conduct(beats=beats)
    around = np.linspace(-0.4, 0.4, 801)
    for beat in range(beats):
        height = wrists(skeleton, gesture, beat + around)[:, 1, 1]
        assert abs(around[np.argmin(height)]) < 1e-9
        speed = np.gradient(height, around)
        assert abs(speed[400]) < 1e-3 * np.abs(speed).max()
        # It falls fastest shortly before.
        assert -0.35 < around[np.argmin(speed)] < -0.05


@pytest.mark.parametrize("beats", [1, 2, 3, 4])
def test_beats_go_where_the_books_draw_them(beats):
    skeleton, gesture = human(), conduct(beats=beats)
    on = wrists(skeleton, gesture, np.arange(beats))[:, 1]
    tops = wrists(skeleton, gesture, np.linspace(0.0, beats, 100 * beats))[:, 1]
    aside = -on[:, 0] + on[0, 0]  # to the right
    wanted = {1: [0], 2: [0, 1], 3: [0, 1, 1], 4: [0, -1, 1, 1]}[beats]
    assert all(np.sign(a) == w and abs(a) > 0.03 for a, w in zip(aside[1:], wanted[1:], strict=True))
    assert np.ptp(on[:, 1]) < 1e-3  # one plane
    # The highest point prepares the downbeat; 0.3 to 0.45 m in front of the shoulders.
    assert np.argmax(tops[:, 1]) > 100 * (beats - 1)
    assert tops[:, 2].min() > 0.25 and tops[:, 2].max() < 0.45


def test_both_hands_mirror_each_other():
    phase = np.linspace(0.0, 4.0, 200)
    for gesture in (conduct(hands="both"), clap(), arm_swing(), conduct(hands="both", size=2.0)):
        hands = wrists(human(), gesture, phase)
        assert np.allclose(hands[:, 0] * [-1, 1, 1], hands[:, 1], atol=1e-12)
    left, right = (conduct(hands=hand, beats=3) for hand in SIDES)
    phase = np.linspace(0.0, 3.0, 50)
    assert np.allclose(wrists(human(), left, phase)[:, 0] * [-1, 1, 1], wrists(human(), right, phase)[:, 1], atol=1e-12)
    swing = wrists(human(), arm_swing(opposite=True), phase)
    assert np.allclose(swing[:, 1], wrists(human(), arm_swing(opposite=True), phase + 0.5)[:, 0] * [-1, 1, 1])


def test_hands_that_beat_together_never_meet():
    skeleton = human()
    hand = skeleton.index("leftHand")
    for size in (1.0, 1.5, 2.0):
        pose = GestureMotion(conduct(60, hands="both", size=size), skeleton).pose(np.linspace(0.0, 4.0, 200))
        positions, orientations = skeleton.pose(pose.root, pose.rotations)
        tip = positions[:, hand] + rotation.rotate(orientations[:, hand], skeleton.tips[hand])
        assert positions[:, hand, 0].min() > 0.1 and tip[:, 0].min() > 0.02


def test_size_scales_the_pattern_until_the_arm_ends():
    skeleton, phase = human(), np.linspace(0.0, 4.0, 100)
    small, middle, large = (wrists(skeleton, conduct(bpm=60, size=s), phase)[:, 1] for s in (0.2, 0.5, 0.8))
    assert np.allclose(small - 2 * middle + large, 0.0, atol=1e-6)
    assert np.ptp(large[:, 1]) > 3.9 * np.ptp(small[:, 1])
    huge = conduct(bpm=60, size=2.0)
    pose = GestureMotion(huge, skeleton).pose(phase)
    positions, _ = skeleton.pose(pose.root, pose.rotations)
    arm = find_arms(skeleton, ["right"])[0]
    reach = np.linalg.norm(
        positions[:, skeleton.index("rightHand")] - positions[:, skeleton.index("rightUpperArm")], axis=-1
    )
    assert 0.90 * arm.length < reach.max() < 0.95 * arm.length


def test_the_soft_limit_is_c2_and_never_passed():
    h = 1e-4
    x = 0.8 + h * np.arange(-2, 3)
    y = soften_above(x, 0.8, 1.0)
    assert np.allclose(np.diff(y) / h, 1.0, atol=1e-6) and np.allclose(np.diff(y, 2) / h**2, 0.0, atol=0.02)
    far = soften_above(np.linspace(0.0, 3.0, 300), 0.8, 1.0)
    assert np.all(np.diff(far) >= 0) and far.max() <= 1.0 and np.allclose(far[:80], np.linspace(0.0, 3.0, 300)[:80])


def test_faster_tempi_are_smaller_and_speeds_stay_human():
    peaks = {}
    for bpm in (40, 92, 180):
        gesture, step = conduct(bpm=bpm), 1e-3
        path = wrists(human(), gesture, gesture.rate * np.arange(0.0, 4.0 / gesture.rate, step))[:, 1]
        acceleration = np.linalg.norm(np.diff(path, 2, axis=0), axis=-1).max() / step**2
        peaks[bpm] = (np.ptp(path[:, 1]), np.linalg.norm(np.diff(path, axis=0), axis=-1).max() / step, acceleration)
    assert peaks[40][0] == pytest.approx(peaks[92][0], rel=1e-3)
    assert 0.4 < peaks[180][0] / peaks[92][0] < 0.8
    assert peaks[92][1] < 2.0 and peaks[180][1] < 2.5
    assert peaks[92][2] < 2 * 9.81 and peaks[180][2] < 5 * 9.81


def test_clapping_palms_meet_and_never_cross():
    skeleton = human()
    arm = find_arms(skeleton, ["left"])[0]
    phase = np.linspace(0.0, 2.0, 401)
    hands = wrists(skeleton, clap(), phase)
    gap = hands[:, 0, 0] - hands[:, 1, 0]
    assert gap[[0, 200, 400]] == pytest.approx(2 * HALF_HAND * arm.length, abs=1e-6)
    assert gap.min() > 2 * HALF_HAND * arm.length - 1e-6 and gap.max() > 0.2
    assert np.allclose(hands[:, 0, 1:], hands[:, 1, 1:], atol=1e-9)
    # On contact the hands are parallel and the palms (down at rest) face each other.
    pose = GestureMotion(clap(), skeleton).pose(0.0)
    _, orientations = skeleton.pose(pose.root, pose.rotations)
    palm = rotation.rotate(orientations[skeleton.index("leftHand")], np.array([0.0, -1.0, 0.0]))
    along = rotation.rotate(orientations[skeleton.index("leftHand")], np.array([1.0, 0.0, 0.0]))
    assert palm[0] < -0.99 and abs(along[0]) < np.sin(np.radians(5.0)) and along[2] > 0.7


def test_arms_swing_forward_to_the_shoulders_with_nearly_straight_elbows():
    skeleton, gesture = human(), arm_swing(amplitude=90.0)
    pose = GestureMotion(gesture, skeleton).pose(np.linspace(0.0, 1.0, 101))
    positions, _ = skeleton.pose(pose.root, pose.rotations)
    shoulder, elbow, wrist = (positions[:, skeleton.index(f"left{j}")] for j in ("UpperArm", "LowerArm", "Hand"))
    assert abs(wrist[50, 1] - shoulder[50, 1]) < 0.03 and wrist[50, 2] - shoulder[50, 2] > 0.5
    assert wrist[0, 2] < shoulder[0, 2] - 0.15
    upper, lower = elbow - shoulder, wrist - elbow
    cosine = np.sum(upper * lower, axis=-1) / np.linalg.norm(upper, axis=-1) / np.linalg.norm(lower, axis=-1)
    bend = np.degrees(np.arccos(cosine))
    assert bend.min() > 10 and bend.max() < 32


def test_elbows_point_down_and_outward():
    skeleton = human()
    for gesture in (conduct(hands="both"), clap(), cue("left", 0.7, 1.0, 0.7)):
        pose = GestureMotion(gesture, skeleton).pose(np.linspace(0.7, 1.6, 50))
        positions, _ = skeleton.pose(pose.root, pose.rotations)
        shoulder, elbow, wrist = (positions[:, skeleton.index(f"left{j}")] for j in ("UpperArm", "LowerArm", "Hand"))
        assert np.all(elbow[:, 1] < shoulder[:, 1] - 0.1) and np.all(elbow[:, 0] > 0.8 * shoulder[:, 0])
        off = elbow - 0.5 * (shoulder + wrist)
        assert np.all(off[:, 1] < 0) and np.all(off[:, 0] > 0)


def test_breathing_lifts_the_chest_and_keeps_the_head_level():
    skeleton, gesture = human(), breathe()
    pose = GestureMotion(gesture, skeleton).pose(np.linspace(0.0, 4.0, 200))
    positions, orientations = skeleton.pose(pose.root, pose.rotations)
    pitch = {j: np.degrees(rotation.log(orientations[:, skeleton.index(j)])[:, 0]) for j in ("upperChest", "head")}
    assert -2.0 < pitch["upperChest"].min() < -1.0
    assert np.abs(pitch["head"]).max() < 0.3 * np.abs(pitch["upperChest"]).max()
    shoulders = positions[:, skeleton.index("leftUpperArm"), 1]
    assert 0.002 < np.ptp(shoulders) < 0.02
    # In is quicker than out.
    assert np.argmax(shoulders) < 95
    assert np.allclose(breathe(depth=0.0).rotations(skeleton, np.array([0.3])), [1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("gesture", [conduct(hands="both", beats=3), clap(), cue("right"), arm_swing()])
def test_what_a_file_calls_rest_does_not_matter(gesture):
    phase = np.linspace(0.0, 2.0, 60)
    turns = {
        "leftUpperArm": rotation.exp(np.array([0.1, -0.5, -1.0])),
        "leftLowerArm": rotation.exp(np.array([0.0, -0.4, 0.1])),
        "rightUpperArm": rotation.exp(np.array([0.0, 0.3, 0.4])),
    }
    plain = wrists(human(), gesture, phase)
    for other in (a_pose(), posed_at_rest(human(), turns)):
        assert np.allclose(wrists(other, gesture, phase), plain, atol=1e-9)


def play(gestures: tuple[Gesture, Gesture], phase: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(N, 2, 3) m, wrists of one gesture faded into another at given phases."""
    skeleton = human()
    motion = GestureMotion(gestures[0], skeleton)
    stand = motion.pose(0.0)
    assert gestures[0].joints(skeleton) == gestures[1].joints(skeleton)
    a, b = (gesture.rotations(skeleton, phase) for gesture in gestures)
    rotations = np.tile(stand.rotations, (len(phase), 1, 1))
    rotations[:, gestures[0].joints(skeleton)] = rotation.slerp(a, b, share[:, None])
    root = np.tile(stand.root, (len(phase), 1))
    return find_wrists(skeleton, *skeleton.pose(root, rotations))


def ease(t: np.ndarray, start: float, end: float) -> np.ndarray:
    u = np.clip((t - start) / (end - start), 0.0, 1.0)
    return u**3 * (10 - 15 * u + 6 * u**2)


def largest_kick(path: np.ndarray, step: float) -> float:
    """m/s, the largest change of velocity from one sample to the next."""
    return float(np.abs(np.diff(path, 2, axis=0)).max() / step)


SLOW = conduct(bpm=60, hands="both")


@pytest.mark.parametrize(
    "change", [{"bpm": 140}, {"size": 0.4}, {"cue": "left"}, {"beats": 3}, {"bpm": 140, "size": 1.4, "cue": "right"}]
)
def test_a_change_in_the_middle_of_a_beat_does_not_jump(change):
    after = SLOW.changed(**change)
    kicks = []
    for step in (2e-3, 1e-3):
        t = np.arange(0.0, 3.0, step)
        share = ease(t, 1.3, 1.7)
        rate = SLOW.rate + (after.rate - SLOW.rate) * share
        phase = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * step)])
        kicks.append(largest_kick(play((SLOW, after), phase, share), step))
    # Without a jump in velocity its change from sample to sample falls with the step.
    assert kicks[1] < 0.6 * kicks[0] and kicks[1] < 0.06
    # What a jump would look like: the same change at once.
    sudden = SLOW.rate + (after.rate - SLOW.rate) * (t > 1.4)
    jump = largest_kick(play((SLOW, after), np.cumsum(sudden * step), (t > 1.4).astype(float)), step)
    assert jump > 4 * kicks[1]


def test_changing_parameters():
    assert SLOW.changed(bpm=90, cue="left") == conduct(90, 4, "both", 1.0, "left")
    assert SLOW.changed() == SLOW and arm_swing().changed(rate=2.0).rate == 2.0
    rejects(lambda: SLOW.changed(tempo=90), "'tempo'", "'conduct'")
    rejects(lambda: SLOW.changed(bpm=0), "bpm", "20", "260", "0", error=RangeError)
    with pytest.raises(dataclasses.FrozenInstanceError):
        SLOW.bpm = 90  # type: ignore[misc]
    skeleton = human()
    for change in ({"size": 0.5}, {"cue": "left"}, {"bpm": 140}, {"beats": 2}):
        assert SLOW.changed(**change).joints(skeleton) == SLOW.joints(skeleton)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: conduct(beats=5), "beats must be one of 1, 2, 3, 4; given 5."),
        (lambda: conduct(hands="none"), "hands must be one of 'right', 'left', 'both'"),
        (lambda: conduct(size="big"), "size must be from 0.1 to 2; got 'big'"),
        (lambda: conduct(takes_part="all"), "takes_part must be from 0 to 1; got 'all'"),
        (lambda: conduct(cue="left"), "cue must be one of None, 'right'; given 'left'."),
        (lambda: cue(hand="both"), "hand must be one of 'left', 'right'; given 'both'."),
        (lambda: lift_arms(hands="none"), "hands must be one of 'right', 'left', 'both'; given 'none'."),
    ],
)
def test_bad_parameters_are_told_in_a_sentence(make, words):
    with pytest.raises(InputError) as error:
        make()
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (lambda: conduct(bpm=-5), "bpm", -5),
        (lambda: conduct(bpm=float("nan")), "bpm", float("nan")),
        (lambda: conduct(size=9), "size", 9),
        (lambda: conduct(takes_part=1.5), "takes_part", 1.5),
        (lambda: arm_swing(rate=0), "rate", 0),
        (lambda: arm_swing(amplitude=200), "amplitude", 200),
        (lambda: clap(rate=30), "rate", 30),
        (lambda: breathe(depth=-1), "depth", -1),
        (lambda: lift_arms(angle=0), "angle", 0),
        (lambda: lift_arms(hold=-1), "hold", -1),
        (lambda: cue(up=0.0), "up", 0.0),
    ],
)
def test_rejects_numbers_out_of_range(make, name, value):
    assert rejects(make, name, error=RangeError).value == pytest.approx(value, nan_ok=True)


def test_bodies_without_arms_or_trunk_are_told():
    skeleton = human()
    armless = skeleton.replace(roles={r: j for r, j in skeleton.roles.items() if r != "leftUpperArm"})
    rejects(lambda: conduct(hands="both").joints(armless), "leftUpperArm")
    assert conduct(hands="right").rotations(armless, np.zeros(1)).shape == (1, 4, 4)
    stiff = skeleton.replace(
        roles={r: j for r, j in skeleton.roles.items() if r not in ("spine", "chest", "upperChest")}
    )
    rejects(lambda: breathe().rotations(stiff, np.zeros(1)), "spine", "chest", "upperChest")


def test_a_gesture_on_a_body_is_a_motion():
    motion = GestureMotion(conduct(), human())
    assert isinstance(motion, Motion) and motion.duration == np.inf
    assert GestureMotion(cue(), human()).duration == pytest.approx(cue().length)
    one, many = motion.pose(0.3), motion.pose(np.array([[0.1, 0.3], [0.5, 0.7]]))
    assert one.root.shape == (3,) and many.rotations.shape == (2, 2, len(motion.skeleton), 4)
    assert np.allclose(one.rotations, many.rotations[0, 1])
    clip = motion.sample(2.0, 50.0)
    assert len(clip) == 101 and clip.rotations.tobytes() == motion.sample(2.0, 50.0).rotations.tobytes()
    still = [i for i in range(len(motion.skeleton)) if i not in conduct().joints(motion.skeleton)]
    assert np.ptp(clip.rotations[:, still], axis=0).max() == 0.0
    with pytest.raises(InputError, match="repeats without end"):
        motion.sample()
