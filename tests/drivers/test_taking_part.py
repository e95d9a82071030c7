"""A body takes part in the gesture of its arms: hips and trunk go along, smoothly, on feet that stay where they are.

What a body does is measured on the positions in a BVH file that was written of it, by a reader of the tests' own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.files.bvh_twins import plain_bvh
from helpers.kinematics import matrix
from helpers.recordings import data_file
from oracles import answers
from poise.compiled.arena import Arena
from poise.drivers.counterpoise.taking_part import TakingPart
from poise.errors import InputError
from poise.motion.body_track import BOW, CHEST_YAW, HEIGHT, PELVIS_YAW
from poise.motion.gestures import Conduct, Gesture, arm_swing, clap, conduct
from poise.stage.actor import Actor
from poise.stage.stage import Stage

HUMAN = poise.Character.human(1.75, 75.0, preset="mix")
CHILD = poise.Character.human(1.20, 25.0, preset="full")
GIANT = poise.Character.human(1.95, 95.0, preset="full")
FORTE = 1.5  # size
START = 3.0  # s, after which nothing of the beginning is left
SPAN = 1.0  # s that a change takes


def clock(bpm: float) -> np.ndarray:
    """The clock of a gesture that began at 0."""
    rate = bpm / 60.0
    return np.array([0.0, 0.0, rate, 0.0, rate, 0.0])


def offer(**parameters: Any) -> tuple:
    gesture = conduct(**parameters)
    return gesture.body_track(HUMAN.skeleton), clock(gesture.bpm)


def perform(
    gesture: Gesture,
    character: poise.Character = HUMAN,
    seconds: float = 6.0,
    each: Callable[[float, Actor], None] | None = None,
    balance: poise.Balance | None = None,
    fps: float = 100.0,
    **stage: Any,
) -> tuple[poise.Clip, Actor]:
    """Somebody who balances under a gesture, as a clip."""
    made = Stage(**stage)
    actor = made.add(character, "one")
    actor.drive("legs", balance or poise.Balance())
    actor.drive("arms", poise.Kinematic(gesture))
    take = made.run(seconds, fps=fps, each=None if each is None else lambda t: each(t, actor))
    return take.clip("one"), actor


class Seen:
    """What of a clip is in a file.

    slip   mm, the furthest that an ankle was from where it stood
    hips   (F,) mm, over where they were at first;  yaw, pitch (F,) degrees, of shoulders and trunk
    """

    def __init__(self, clip: poise.Clip, folder: Path):
        poise.save_clip(clip, folder / "seen.bvh")
        at = plain_bvh((folder / "seen.bvh").read_text())  # m
        feet = np.stack([at["leftFoot"], at["rightFoot"]], axis=1)
        self.slip = 1000.0 * float(np.abs(feet - feet[0]).max())
        self.hips = 1000.0 * (at["hips"][:, 1] - at["hips"][0, 1])
        across = at["leftUpperArm"] - at["rightUpperArm"]
        self.yaw = np.degrees(np.arctan2(-across[:, 2], across[:, 0]))
        up = 0.5 * (at["leftUpperArm"] + at["rightUpperArm"]) - at["hips"]
        self.pitch = np.degrees(np.arctan2(up[:, 2], up[:, 1]))
        self.pitch -= self.pitch[0]

    def later(self, values: np.ndarray) -> np.ndarray:
        return values[round(100 * START) :]


def test_moves_have_the_rates_and_accelerations_that_differences_have() -> None:
    part = TakingPart(Arena(0))
    part.follow(offer(takes_part=1.0), 0.2)
    changes = {
        1.0: offer(takes_part=1.0, beats=3),
        1.4: offer(takes_part=0.4, size=0.5, bpm=120),
        1.7: None,
        2.1: offer(takes_part=1.0, hands="both", bpm=70),
        2.5: None,
    }
    h, biggest = 1e-4, np.zeros((3, 4))
    begun = part.find(0.2).copy()
    assert not begun.any()  # it begins where the body stands, at rest
    for t, change in changes.items():
        for s in np.linspace(t - 0.3, t - 0.01, 9):
            before, after, now = (part.find(s + d).copy() for d in (-h, h, 0.0))
            np.testing.assert_allclose(now[1], (after[0] - before[0]) / (2 * h), atol=1e-4)
            np.testing.assert_allclose(now[2], (after[1] - before[1]) / (2 * h), atol=5e-3)
            biggest = np.maximum(biggest, np.abs(now))
        before = part.find(t).copy()
        part.follow(change, t)
        np.testing.assert_allclose(part.find(t), before, atol=1e-9)  # place, rate and acceleration go on
    assert biggest[0, HEIGHT] > 0.05 and biggest[2, HEIGHT] > 1.0 and biggest[0, CHEST_YAW] > 0.1
    assert not part.find(2.5 + SPAN + 1e-6).any()  # and it ends where the body stands


def test_hips_never_go_above_where_they_stand() -> None:
    for gesture in (conduct(takes_part=1.0, beats=b, hands=h) for b in (1, 2, 3, 4) for h in ("left", "both")):
        track = gesture.body_track(HUMAN.skeleton)
        assert track is not None and track.moves[:, HEIGHT].max() < 0.0 and track.moves[:, BOW].min() >= 0.0
    part = TakingPart(Arena(0))
    part.follow(offer(takes_part=1.0), 0.0)
    times = np.arange(0.0, 3.0, 0.01)
    for t in times:
        if 1.0 < t < 2.0:  # somebody plays with a slider
            part.follow(offer(takes_part=float(0.5 + 0.5 * np.sin(7.0 * t))), t)
        assert part.find(t)[0, HEIGHT] <= 1e-12


def test_body_is_ahead_of_hands_that_turn_it() -> None:
    """40 ms: the furthest turn to the left is that long before the right hand's furthest way to the left."""
    part, gesture = TakingPart(Arena(0)), conduct(60.0, takes_part=1.0)
    part.follow((gesture.body_track(HUMAN.skeleton), clock(60.0)), 0.0)
    times = np.arange(8.0, 12.0, 0.001)
    yaw = np.array([part.find(t)[0, CHEST_YAW] for t in times])
    track = gesture.body_track(HUMAN.skeleton)
    assert track is not None
    ahead = times[np.argmax(yaw)] - 8.0
    own = np.interp(np.arange(0.0, 4.0, 0.001), track.phase, track.moves[:, CHEST_YAW])
    assert np.arange(0.0, 4.0, 0.001)[np.argmax(own)] - ahead == pytest.approx(0.04, abs=0.02)


@pytest.mark.parametrize("hands", ["right", "both"])
def test_conductor_who_takes_part_goes_along_on_feet_that_stay(hands: str, tmp_path: Path) -> None:
    clip, actor = perform(conduct(92.0, 4, hands, FORTE, takes_part=1.0))
    seen = Seen(clip, tmp_path)
    assert actor.fallen is None and seen.slip < 1.0
    assert 60.0 < np.ptp(seen.later(seen.hips)) < 100.0 and seen.hips.max() < 2.0
    assert 3.0 < seen.later(seen.pitch).max() < 6.5
    yaw = np.abs(seen.later(seen.yaw)).max()
    assert 7.0 < yaw < 12.0 if hands == "right" else yaw < 0.5
    # it begins gently: within a quarter of a second the hips have hardly moved
    assert np.abs(seen.hips[:25]).max() < 5.0
    assert np.abs(np.diff(seen.hips[:100], 2)).max() < 0.35  # mm a squared frame: 3.5 m/s2
    plain = Seen(perform(conduct(92.0, 4, hands, FORTE))[0], tmp_path)
    assert np.ptp(plain.hips) < 10.0 and np.abs(plain.yaw).max() < 4.0 and np.ptp(plain.pitch) < 3.0


def test_head_stays_level_and_ahead() -> None:
    clip, _ = perform(conduct(92.0, 4, "right", FORTE, takes_part=1.0))
    head = HUMAN.skeleton.index("head")
    turns = np.array([_world_turn(clip, f, head) for f in range(300, len(clip), 5)])
    yaw = np.degrees(np.arctan2(turns[:, 0, 2], turns[:, 2, 2]))
    pitch = np.degrees(np.arctan2(-turns[:, 1, 2], turns[:, 2, 2]))
    assert np.abs(yaw - yaw.mean()).max() < 4.0 and np.abs(pitch - pitch.mean()).max() < 4.0


def _world_turn(clip: poise.Clip, frame: int, joint: int) -> np.ndarray:
    found = np.eye(3)
    for i in clip.skeleton.chain(joint):
        found = found @ matrix(clip.rotations[frame, i])
    return found


@pytest.mark.many(3)
@pytest.mark.parametrize("dt", [0.005, 0.01, 0.002])
@pytest.mark.parametrize("character", [CHILD, HUMAN, GIANT], ids=["child", "human", "giant"])
@pytest.mark.parametrize("bpm", [60.0, 92.0, 140.0])
@pytest.mark.parametrize(("hands", "beats"), [("right", 4), ("both", 2), ("left", 1)])
def test_nobody_falls_or_slips(
    hands: str, beats: int, bpm: float, character: poise.Character, dt: float, tmp_path: Path
) -> None:
    clip, actor = perform(conduct(bpm, beats, hands, FORTE, takes_part=1.0), character, 5.0, dt=dt)
    seen = Seen(clip, tmp_path)
    assert actor.fallen is None and seen.slip < 1.0
    assert np.ptp(seen.later(seen.hips)) > 15.0


def twist(clip: poise.Clip, folder: Path) -> np.ndarray:
    """(F,) m by which the right hand is ahead of the middle between both, as seen from the shoulders; from a file."""
    poise.save_clip(clip, folder / "seen.bvh")
    at = plain_bvh((folder / "seen.bvh").read_text())
    across = at["leftUpperArm"] - at["rightUpperArm"]
    forward = np.stack([-across[:, 2], 0.0 * across[:, 0], across[:, 0]], axis=1)
    forward /= np.linalg.norm(forward, axis=1, keepdims=True)
    return 0.5 * np.sum((at["rightHand"] - at["leftHand"]) * forward, axis=1)


@pytest.mark.parametrize("hands", ["both", "right"])
def test_shoulders_turn_with_opposite_arms_as_recorded(hands: str, tmp_path: Path) -> None:
    """By 1.6 to 2.6 rad for each metre of a hand, as those of CMU's 15_08 and 79_18, and in step with it."""
    for amplitude in (10.0, 20.0):
        gesture = arm_swing(1.0, amplitude, hands, hands == "both", takes_part=1.0)
        clip, actor = perform(gesture)
        seen = Seen(clip, tmp_path)
        ahead, yaw = (x - x.mean() for x in (seen.later(twist(clip, tmp_path)), np.radians(seen.later(seen.yaw))))
        assert actor.fallen is None and seen.slip < 1.0
        assert 1.6 < ahead @ yaw / (ahead @ ahead) < 2.6
        assert np.corrcoef(ahead, yaw)[0, 1] > 0.86
        plain = Seen(perform(gesture.changed(takes_part=0.0))[0], tmp_path)
        assert np.ptp(plain.later(plain.yaw)) < 0.35 * np.ptp(seen.later(seen.yaw))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "band", "wanted"),
    [("15_08", answers.BANDS["beat"], (2.2, 0.86)), ("79_18", (0.1, 4.0), (2.4, 0.72)), ("27_02", (0.5, 4.0), None),
     ("28_01", (0.5, 4.0), None), ("30_01", (0.5, 4.0), None), ("18_08", (0.5, 4.0), None)],
)  # fmt: skip
def test_recorded_shoulders_turn_with_opposite_hands(
    name: str, band: tuple[float, float], wanted: tuple[float, float] | None
) -> None:
    """The figures that `arm_swing` has, rad a metre and correlation; referees and talkers turn too little for any."""
    bvh = answers.read_bvh(data_file(f"bvh-cmu/{name}.bvh"))
    places, _ = answers.place_joints(bvh)
    at = {role: places[each] for role, names in answers.NAMES.items() for each in names if each in places}
    stretch = answers.find_planted(places, [at["leftFoot"], at["rightFoot"]], answers.CMU_UNIT)
    at = {role: answers.CMU_UNIT * x[slice(1, None) if name == "79_18" else stretch] for role, x in at.items()}
    across = at["leftUpperArm"] - at["rightUpperArm"]
    yaw = np.unwrap(np.arctan2(-across[:, 2], across[:, 0]))
    forward = np.stack([np.sin(yaw), 0.0 * yaw, np.cos(yaw)], axis=1)
    ahead = 0.5 * np.sum((at["rightHand"] - at["leftHand"]) * forward, axis=1)
    x, y = (answers.cut_band(each, bvh.period, band) for each in (ahead, yaw))
    share, together = x @ y / (x @ x), np.corrcoef(x, y)[0, 1]
    if wanted is None:
        assert np.degrees(y.std()) < 1.5 and abs(together) < 0.45
    else:
        assert share == pytest.approx(wanted[0], abs=0.2) and together == pytest.approx(wanted[1], abs=0.06)
        assert np.degrees(y.std()) > 6.5


@pytest.mark.many(2)
@pytest.mark.parametrize("dt", [0.005, 0.0025, 0.01, 0.02])
@pytest.mark.parametrize("character", [HUMAN, CHILD, GIANT], ids=["human", "child", "giant"])
@pytest.mark.parametrize(
    ("rate", "amplitude", "hands"), [(0.5, 85.0, "both"), (1.0, 85.0, "both"), (2.0, 40.0, "left")]
)
def test_nobody_slips_further_who_turns_with_his_arms(
    rate: float, amplitude: float, hands: str, character: poise.Character, dt: float, tmp_path: Path
) -> None:
    gesture = arm_swing(rate, amplitude, hands, hands == "both", takes_part=1.0)
    clip, actor = perform(gesture, character, 5.0, fps=50.0, dt=dt)
    seen, plain = (
        Seen(found, tmp_path)
        for found in (clip, perform(gesture.changed(takes_part=0.0), character, 5.0, fps=50.0, dt=dt)[0])
    )
    assert actor.fallen is None and seen.slip < plain.slip + 0.1 and seen.slip < 1.0
    yaw = np.abs(seen.yaw[150:]).max()
    assert yaw < 28.0 and (rate == 2.0 or yaw > 12.0)  # recorded shoulders turn by 28 degrees at most


def test_fast_shoulders_turn_less_far() -> None:
    """Recorded ones accelerate by up to 20 rad/s2, 99 % of the time."""
    for rate in (0.3, 1.0, 2.0, 3.0):
        gesture = arm_swing(rate, 85.0, opposite=True, takes_part=1.0)
        track = gesture.body_track(HUMAN.skeleton)
        assert track is not None and not track.moves[:, [HEIGHT, BOW]].any()
        yaw = track.moves[:, CHEST_YAW] * track.amount[CHEST_YAW]
        quickest = 2.0 * np.abs(track.curve[:, 1, CHEST_YAW]).max() * track.amount[CHEST_YAW] * rate**2
        assert np.abs(yaw).max() < 0.351 and quickest < 20.01
        np.testing.assert_allclose(track.moves[:, PELVIS_YAW], 0.35 * track.moves[:, CHEST_YAW], atol=1e-12)


def test_a_swing_is_changed_while_the_body_takes_part(tmp_path: Path) -> None:
    score: dict[float, Callable[[Actor], None]] = {
        2.0: lambda actor: actor.change(takes_part=1.0),
        3.5: lambda actor: actor.change(amplitude=20.0),
        4.2: lambda actor: actor.change(rate=1.6, takes_part=0.5),
        5.5: lambda actor: actor.change(opposite=False, takes_part=0.0),
    }

    def each(t: float, actor: Actor) -> None:
        for moment in [moment for moment in score if moment <= t + 1e-9]:
            score.pop(moment)(actor)

    clip, actor = perform(arm_swing(1.0, 40.0, opposite=True), seconds=8.0, each=each)
    seen = Seen(clip, tmp_path)
    assert not score and actor.fallen is None and seen.slip < 1.0
    assert np.ptp(seen.yaw[100:200]) < 8.0 < 20.0 < np.ptp(seen.yaw[300:350]) and np.ptp(seen.yaw[-50:]) < 2.0
    # 0.35 rad at 1 Hz is 14 rad/s2: 0.08 degrees a squared frame, and a change of arms comes on top
    assert np.abs(np.diff(seen.yaw, 2)).max() < 0.2


def test_rejects_a_part_in_arms_that_swing_together() -> None:
    with pytest.raises(InputError, match=r"no effect on arms that swing together.*Set opposite=True"):
        arm_swing(takes_part=0.5)
    rejects(lambda: arm_swing(opposite=True, takes_part=1.5), "takes_part", "0", "1")
    alone = arm_swing(hands="left", takes_part=0.5)
    assert alone.body_track(HUMAN.skeleton) is not None
    assert Conduct(takes_part=1.0, cue="right").body_track(HUMAN.skeleton) is None  # the hand that beats is held up


@pytest.mark.slow
def test_bullet_does_the_same(tmp_path: Path) -> None:
    pytest.importorskip("pybullet")
    seen = [
        Seen(perform(conduct(92.0, 4, "right", FORTE, takes_part=1.0), engine=engine)[0], tmp_path)
        for engine in ("mujoco", "bullet")
    ]
    assert seen[1].slip < 1.0
    assert np.abs(seen[0].hips - seen[1].hips).max() < 2.0 and np.abs(seen[0].yaw - seen[1].yaw).max() < 0.5


@pytest.mark.parametrize("character", [CHILD, GIANT], ids=["child", "giant"])
def test_conductors_keep_their_feet_down_at_steps_of_20_ms(character: poise.Character, tmp_path: Path) -> None:
    gesture = conduct(92.0, 4, "right", FORTE, takes_part=1.0)
    clip, actor = perform(gesture, character, 5.0, fps=50.0, dt=0.02)
    seen = Seen(clip, tmp_path)
    assert actor.fallen is None and seen.slip < 1.0 and np.ptp(seen.hips[150:]) > 60.0


def test_changes_and_switches_do_not_jerk_the_body(tmp_path: Path) -> None:
    arms = poise.Kinematic(clap(), start=5.0)
    score: dict[float, Callable[[Actor], None]] = {
        2.0: lambda actor: actor.change(bpm=120.0),
        2.6: lambda actor: actor.change(size=0.6, takes_part=0.5),
        3.0: lambda actor: actor.change(takes_part=1.0, beats=3),
        4.0: lambda actor: actor.drive("legs", poise.Balance(stiffness=2.0)),
        5.0: lambda actor: actor.drive("arms", arms),
    }

    def each(t: float, actor: Actor) -> None:
        for moment in [moment for moment in score if moment <= t + 1e-9]:
            score.pop(moment)(actor)

    clip, actor = perform(conduct(92.0, 4, "both", FORTE, takes_part=1.0), seconds=8.0, each=each)
    seen = Seen(clip, tmp_path)
    assert not score and actor.fallen is None and seen.slip < 1.0
    assert np.ptp(seen.hips[300:500]) > 25.0
    # accelerations of hips under a steady beat stay below 6 m/s2; a jump of 5 mm/s within a frame would add 0.5
    assert np.abs(np.diff(seen.hips, 2)).max() < 0.65
    assert np.abs(seen.hips[-50:]).max() < 8.0  # who claps stands up straight again


def test_half_a_part_is_half_as_far(tmp_path: Path) -> None:
    whole, half = (
        Seen(perform(conduct(80.0, 4, "right", takes_part=share), seconds=6.5)[0], tmp_path) for share in (1.0, 0.5)
    )
    assert np.ptp(half.later(half.hips)) == pytest.approx(0.5 * np.ptp(whole.later(whole.hips)), rel=0.15)
    assert np.ptp(half.later(half.yaw)) == pytest.approx(0.5 * np.ptp(whole.later(whole.yaw)), rel=0.2)


def test_saved_in_the_middle_it_goes_on_with_the_same_bits() -> None:
    stage = Stage()
    actor = stage.add(HUMAN, "one")
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Kinematic(conduct(takes_part=1.0)))
    stage.advance(90)
    actor.change(beats=3, takes_part=0.6)
    stage.advance(41)
    ends = []
    saved = stage.save()
    for _ in range(2):
        stage.restore(saved)
        stage.advance(60)
        actor.change(takes_part=0.9)
        stage.advance(60)
        ends.append([actor.body.state.q.copy(), actor.body.state.root.copy(), actor.body.taking_part.now.copy()])
    for first, second in zip(*ends, strict=True):
        np.testing.assert_array_equal(first, second)
    assert ends[0][2].any()


def test_without_a_part_nothing_is_computed_and_nothing_changes() -> None:
    ends = []
    for gesture in (conduct(), conduct(takes_part=0.0)):
        clip, actor = perform(gesture, seconds=0.5)
        assert actor.body.taking_part.save() is None and not actor.body.taking_part.now.any()
        ends.append(clip.rotations)
    np.testing.assert_array_equal(*ends)


def test_a_part_is_added_to_a_clip_that_legs_follow() -> None:
    from poise.motion.samples import idle

    heights = []
    for share in (0.0, 1.0):
        stage, clip = Stage(), idle(HUMAN.skeleton, 6.0)
        actor = stage.add(HUMAN, "one", pose=clip.pose(0.0))
        actor.drive("legs", poise.Balance(follow=clip))
        actor.drive("upperBody", poise.Kinematic(clip))
        actor.drive("arms", poise.Kinematic(conduct(size=FORTE, takes_part=share)))
        take = stage.run(6.0, fps=50.0)
        assert actor.fallen is None
        heights.append(take.clip("one").root[150:, 1])
    assert np.ptp(heights[0]) < 0.01 and 0.06 < np.ptp(heights[1]) < 0.10
