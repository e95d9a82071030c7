"""Poses from goals: what is reached, what stands, what balances; measured by SciPy, not by what solved it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.kinematics import margin_in_hull, soles_of
from helpers.reaching import place
from poise import Character, InputError
from poise.body.bodies import PHYSIQUES
from poise.body.geometry.soles import find_soles
from poise.jobs.pose import metrics
from poise.jobs.pose.standing import PoseGoals, StandingSolver, stand_at_ease
from poise.motion import samples
from tools.sweeps import poses_sweep

FEET = {"both": ("left", "right"), "left": ("left",), "right": ("right",)}


def look(found, frame=-1):
    """Orientations, places and centre of mass of a frame."""
    return place(found.clip.root[frame], found.clip.rotations[frame], found.character)


@pytest.mark.parametrize("stand", ["both", "left", "right"])
@pytest.mark.parametrize("name", PHYSIQUES)
@pytest.mark.many(9)
def test_every_body_reaches_balanced_on_feet_that_stand(name: str, stand: str) -> None:
    height = 1.75 * PHYSIQUES[name].height
    target = np.array([-0.12, 0.78, 0.18]) * height
    found = poise.pose({"rightHand": target}, stand=stand, body=name)
    turns, places, center = look(found)
    body = found.character
    assert np.linalg.norm(places[body.skeleton.index("rightHand")] - target) < 1e-3
    assert found.figures["reached"] and found.figures["reach_error_m"] < 1e-3
    inside = margin_in_hull(soles_of(body, turns, places, FEET[stand]), center[[0, 2]])
    assert inside > 0.01
    for side, sole in zip(("left", "right"), find_soles(body.skeleton), strict=True):
        lowest = (places[sole.foot] + turns[sole.foot].apply(sole.heel))[1]
        if side in FEET[stand]:
            assert abs(lowest) < 2e-4  # on the ground
            up = turns[sole.foot].apply([0.0, 1.0, 0.0])
            assert up[1] > 1.0 - 1e-6  # and flat
        else:
            assert lowest > 0.01
    for joint, ends in body.limits.items():
        assert np.abs(ends.excess(found.clip.rotations[-1, body.skeleton.index(joint)])).max() < 1e-6


def test_out_of_reach_is_as_near_as_balance_allows_and_said() -> None:
    told = []
    far = np.array([-0.2, 1.2, 1.6])
    found = poise.pose({"rightHand": far}, stand="right", tell=lambda kind, sentence: told.append(sentence))
    turns, places, center = look(found)
    off = np.linalg.norm(places[found.character.skeleton.index("rightHand")] - far)
    assert found.figures["reach_error_m"] == pytest.approx(off, abs=1e-9) and not found.figures["reached"]
    assert 0.2 < off < 0.45
    assert margin_in_hull(soles_of(found.character, turns, places, ("right",)), center[[0, 2]]) > 0.01
    assert any("out of reach" in sentence for sentence in told)


def test_a_motion_is_balanced_and_smooth_at_every_frame() -> None:
    found = poise.pose({"leftHand": (0.3, 0.3, 0.6)}, stand="left", seconds=2.0, fps=40.0)
    body, clip = found.character, found.clip
    assert len(clip) == 81 and clip.duration == pytest.approx(2.0)
    first = None
    for f in range(len(clip)):
        turns, places, center = place(clip.root[f], clip.rotations[f], body)
        down = [side for side, is_down in zip(("left", "right"), found.down[f], strict=True) if is_down]
        assert margin_in_hull(soles_of(body, turns, places, down), center[[0, 2]]) > 0.01
        foot = places[body.skeleton.index("leftFoot")]
        first = foot if first is None else first
        np.testing.assert_allclose(foot, first, atol=1e-9)
        for sole in find_soles(body.skeleton):
            assert (places[sole.foot] + turns[sole.foot].apply(sole.heel))[1] > -1e-3
    assert found.down[0].all() and not found.down[-1].all()
    steps = np.linalg.norm(np.diff(clip.positions, axis=0), axis=-1) * 40.0
    assert steps.max() < 4.0  # m/s
    assert np.linalg.norm(np.diff(clip.positions, n=2, axis=0), axis=-1).max() * 1600.0 < 40.0  # m/s2
    assert np.linalg.norm(clip.positions[-1, body.skeleton.index("leftHand")] - [0.3, 0.3, 0.6]) < 2e-3


def test_heads_look_hips_come_down_loads_shift() -> None:
    seen = poise.pose({}, look=(1.0, 1.0, 0.5))
    turns, places, _ = look(seen)
    head = seen.character.skeleton.index("head")
    way = np.array([1.0, 1.0, 0.5]) - places[head]
    assert np.arccos(turns[head].apply([0.0, 0.0, 1.0]) @ way / np.linalg.norm(way)) < np.radians(2.0)
    plain, low = poise.pose({}), poise.pose({}, crouch=0.3)
    assert plain.clip.root[0, 1] - low.clip.root[0, 1] > 0.2
    target = {"rightHand": (-0.5, 1.0, 0.2)}
    empty, loaded = poise.pose(target, stand="right"), poise.pose(target, stand="right", loads="rightHand=8")
    assert loaded.character.mass == pytest.approx(83.0)
    turns, places, center = look(loaded)  # with its load
    assert margin_in_hull(soles_of(loaded.character, turns, places, ("right",)), center[[0, 2]]) > 0.01
    assert np.linalg.norm(loaded.clip.root[0] - empty.clip.root[0]) > 0.02


def test_a_weak_joint_turns_less() -> None:
    knee = "leftLowerLeg"

    def bend(weak):
        found = poise.pose({}, crouch=0.25, weak=weak)
        ends = found.character.limits[knee]
        return ends.angles(found.clip.rotations[0, found.character.skeleton.index(knee)])[0]

    assert bend({knee: 0.0}) < 0.5 * bend({})


def test_it_begins_in_a_clip_and_its_feet_stay_there(tmp_path: Path) -> None:
    clip = samples.walk(Character.human().skeleton, 4)
    still = clip.pick(slice(0, 40))
    found = poise.pose(
        {"rightHand": still.positions[0, clip.skeleton.index("rightHand")] + [0.0, 0.3, 0.1]}, start=still
    )
    for side in ("left", "right"):
        foot = clip.skeleton.index(side + "Foot")
        np.testing.assert_allclose(found.clip.positions[0, foot], still.positions[0, foot], atol=2e-4)
    assert found.figures["reached"]


def test_files_hold_the_pose(tmp_path: Path) -> None:
    target = (-0.3, 1.3, 0.3)
    for suffix in (".glb", ".bvh", ".npz"):
        path = tmp_path / f"pose{suffix}"
        poise.pose({"rightHand": target}, output=path)
        there = poise.load_clip(path)
        assert len(there) == 1
        hand = there.positions[0, there.skeleton.index("rightHand")]
        assert np.linalg.norm(hand - target) < 1e-3
    body = tmp_path / "body.json"
    poise.save_character(poise.bodies.build_body("fat"), body)
    same = poise.pose({"rightHand": target}, character=body)
    np.testing.assert_allclose(same.clip.root, poise.pose({"rightHand": target}, body="fat").clip.root, atol=1e-6)


def test_standing_at_ease_is_straight_and_even() -> None:
    stance = stand_at_ease(Character.human())
    assert np.abs(stance.ankles[0] * [-1, 1, 1] - stance.ankles[1]).max() < 1e-6
    turns, places, center = place(stance.root, stance.rotations, Character.human())
    assert margin_in_hull(soles_of(Character.human(), turns, places), center[[0, 2]]) > 0.08
    assert abs(center[0]) < 1e-3
    assert turns[Character.human().skeleton.index("head")].magnitude() < np.radians(8.0)
    assert StandingSolver(Character.human(), stance).go(PoseGoals(), [1.0]).root.shape == (1, 3)


@pytest.mark.parametrize(
    "given",
    [
        {"reach": {"rightHand": (np.nan, 1.0, 0.0)}},
        {"reach": {"rightHand": (0.0, 1.0)}},
        {"reach": {"rightHand": (1e9, 1.0, 0.0)}},
        {"reach": {"tail": (0.0, 1.0, 0.0)}},
        {"reach": {"leftFoot": (0.0, 1.0, 0.0)}},
        {"reach": {"rightToes": (0.0, 1.0, 0.0)}, "stand": "right"},
        {"look": (0.0, np.inf, 0.0)},
        {"stand": "none"},
        {"body": "giant"},
        {"margin": -1.0},
        {"crouch": np.nan},
        {"seconds": 0.0},
        {"seconds": 1e9},
        {"fps": 50.0},
        {"at": 1.0},
        {"weak": {"leftHand": -1.0}},
        {"mass": np.nan},
        {"loads": "tail=3"},
        {"body": "fat", "character": Character.human()},
    ],
)
def test_what_makes_no_sense_is_refused(given) -> None:
    with pytest.raises(InputError):
        poise.pose(**given)


@pytest.mark.parametrize("number", [0, 1, 5, 8, 12, 50, 500, 501, 504, 507, 509, 541, 551])
@pytest.mark.many(1)
def test_random_pose_is_over_the_drawn_soles_and_above_the_floor(number: int) -> None:
    """On one leg, on two, and (from 500 on) on a foot that stands on its heel or its toes."""
    found = poses_sweep.run_case(number)
    assert found.margin > 0.0
    assert found.off < poses_sweep.MOST_OFF
    assert found.under < poses_sweep.MOST_UNDER
    assert not found.is_silent


def test_margin_that_falls_short_of_its_aim_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = metrics.measure_pose
    monkeypatch.setattr(metrics, "measure_pose", lambda *given: measure(*given) | {"com_margin_m": 0.0183})
    found = poise.pose(stand="left", margin=0.02)
    assert found.notes == (
        "the centre of mass is only 0.0183 m inside the soles that touch the ground, where 0.0200 m is the aim.",
    )


def test_hand_with_a_low_target_keeps_its_fingers_above_the_floor() -> None:
    body = Character.human()
    found = poise.pose({"rightHand": (-0.2, 0.03, 0.35)})
    _, under = poses_sweep.measure(body, poses_sweep.build_mannequin(body.skeleton, body.mass), found, "both")
    assert under < 1e-3
    assert found.figures["reached"] and found.figures["floor_depth_m"] < 1e-3


def test_target_below_the_floor_is_missed_and_not_followed_there() -> None:
    found = poise.pose({"rightHand": (-0.2, -0.2, 0.35)})
    assert not found.figures["reached"]
    assert found.figures["floor_depth_m"] < 2e-3 and not found.figures["failed"]


@pytest.mark.parametrize("body", ["average", "child"])
def test_margin_beyond_the_soles_is_reported_with_the_one_used(body: str) -> None:
    told: list[str] = []
    found = poise.pose(stand="left", margin=0.09, body=body, tell=lambda _, sentence: told.append(sentence))
    used = found.figures["margin_used_m"]
    assert found.figures["margin_m"] == 0.09
    assert 0.015 < used < 0.05
    assert found.figures["com_margin_m"] == pytest.approx(used, abs=2e-4)
    assert any("margin 0.09" in sentence and f"{used:.4f} m" in sentence for sentence in told)


def test_foot_in_the_air_cannot_carry() -> None:
    start = poise.pose(stand="right").clip
    with pytest.raises(InputError, match="left foot must be on the ground"):
        poise.pose(stand="left", start=start)
