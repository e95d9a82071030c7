"""Walk as a driver: planted feet, smoothness, other drivers beside it, loads, changes, hand-overs, states, physics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import poise
from helpers.stages import check_goes_on
from poise import rotation
from poise.drivers.registry import build_driver
from poise.drivers.walk.player import WalkPlayer
from poise.errors import InputError
from poise.stage.standing import stand_at_ease
from poise.walking.feet.stance import BACK, FRONT, NONE, WHOLE

BODY = poise.Character.human(1.75, 75)
FEET = [BODY.skeleton.index(side + "Foot") for side in ("left", "right")]


def stage_with(driver: poise.Walk, **more: Any) -> tuple[poise.Stage, Any]:
    stage = poise.Stage(**more)
    actor = stage.add(BODY, "walker")
    actor.drive("body", driver)
    return stage, actor


class Track:
    """What a body did, mid-step by mid-step, and where its joints were by kinematics of this file's own."""

    def __init__(self) -> None:
        self.rows: list[tuple[np.ndarray, ...]] = []
        self.carried: list[list[int]] = []

    def follow(self, stage: poise.Stage, actor: Any, steps: int) -> None:
        for _ in range(steps):
            stage.advance(1)
            state = actor.body.state
            self.rows.append((state.root.copy(), state.q.copy(), state.w.copy(), state.v.copy()))
            player = actor.player("body") if any(a.part == "body" for a in actor.assignments) else None
            if isinstance(player, WalkPlayer):
                tau = player.clock.read(stage.time - 0.5 * stage.dt)[0]
                course = player.walker.course
                self.carried.append([course.stances[s][course.stance_at(s, tau)].carries(tau) for s in range(2)])
            else:
                self.carried.append([NONE, NONE])

    def places(self, joint: int) -> np.ndarray:
        """(F, 3) m."""
        skeleton, found = BODY.skeleton, []
        for root, q, _, _ in self.rows:
            place, turn = root, rotation.to_matrix(q[0])
            for i in skeleton.chain(joint)[1:]:
                place, turn = place + turn @ skeleton.offsets[i], turn @ rotation.to_matrix(q[i])
            found.append(place)
        return np.array(found)

    def slides(self) -> list[float]:
        """m, how far each planted foot went while its whole sole was down."""
        found = []
        for side in range(2):
            places, is_down = self.places(FEET[side]), np.array([row[side] == WHOLE for row in self.carried])
            edges = np.flatnonzero(np.diff(np.concatenate([[False], is_down, [False]]).astype(int)))
            for begin, end in zip(edges[::2], edges[1::2], strict=True):
                if end - begin > 20:
                    found.append(float(np.abs(places[begin:end] - places[(begin + end) // 2]).max()))
        return found

    def jerks(self, dt: float) -> tuple[float, float]:
        """The largest change of velocity in a step, as accelerations: rad/s2 of joints, m/s2 of the root."""
        w, v = np.array([row[2] for row in self.rows]), np.array([row[3] for row in self.rows])
        return float(np.abs(np.diff(w, axis=0)).max() / dt), float(np.abs(np.diff(v, axis=0)).max() / dt)


def test_planted_feet_stay_and_velocities_fit_the_poses() -> None:
    stage, actor = stage_with(poise.Walk(6))
    track = Track()
    track.follow(stage, actor, 1700)
    slides = track.slides()
    assert len(slides) >= 7
    assert max(slides) < 1e-4
    assert {WHOLE, FRONT, BACK, NONE} == {part for row in track.carried for part in row}  # it rolled, and swung
    assert actor.player("body").is_done
    assert actor.body.state.root[2] > 2.0
    turning, pulling = track.jerks(stage.dt)
    assert turning < 250.0
    assert pulling < 6.0
    # Velocities are those of the poses.
    q, w = (np.array([row[k] for row in track.rows]) for k in (1, 2))
    turned = rotation.log(rotation.multiply(rotation.conjugate(q[:-1]), q[1:])) / stage.dt
    assert np.abs(turned - 0.5 * (w[1:] + w[:-1])).max() < 0.1
    root, v = (np.array([row[k] for row in track.rows]) for k in (0, 3))
    assert np.abs(np.diff(root, axis=0) / stage.dt - 0.5 * (v[1:] + v[:-1])).max() < 5e-3


def test_looking_changes_nothing() -> None:
    runs = []
    for looks in (False, True):
        stage, actor = stage_with(poise.Walk(3))
        for k in range(400):
            stage.advance(1)
            if looks and k % 7 == 0:
                actor.pose()
        runs.append((actor.body.state.root.copy(), actor.body.state.q.copy()))
    assert np.array_equal(runs[0][0], runs[1][0])
    assert np.array_equal(runs[0][1], runs[1][1])


@pytest.mark.slow
def test_arms_of_another_driver_are_its_own_and_their_weight_counts() -> None:
    """Both hands swung far to one side: the hips go to the other, and the centre of mass stays inside."""
    stage, actor = stage_with(poise.Walk(6))
    actor.drive("arms", poise.Kinematic(poise.gestures.conduct(bpm=92)))
    alone = poise.Stage()
    other = alone.add(BODY, "other")
    other.drive("arms", poise.Kinematic(poise.gestures.conduct(bpm=92)))
    hand = BODY.skeleton.index("rightLowerArm")
    for _ in range(900):
        stage.advance(1)
        alone.advance(1)
        assert np.allclose(actor.body.state.q[hand], other.body.state.q[hand], atol=1e-12)
        actor.body.update()
        assert actor.player("body").status(actor.body, actor.stage.time).margin > -1e-3


@pytest.mark.slow
def test_arms_are_taken_on_the_way_and_the_walk_goes_on() -> None:
    stage, actor = stage_with(poise.Walk(5))
    track = Track()
    track.follow(stage, actor, 420)
    course = actor.player("body").walker.course
    actor.drive("arms", poise.Loose())
    track.follow(stage, actor, 400)
    assert actor.player("body").walker.course is course  # the same steps
    track.follow(stage, actor, 700)
    assert actor.player("body").is_done
    assert max(track.slides()) < 1e-4
    assert track.jerks(stage.dt)[1] < 25.0


def test_load_in_a_hand_shifts_the_hips_without_a_jump() -> None:
    stage, actor = stage_with(poise.Walk(0))
    stage.advance(100)
    actor.body.update()
    before = actor.body.c.copy()
    hips = actor.body.state.root.copy()
    actor.load(poise.Load("rightHand", 8.0))
    track = Track()
    track.follow(stage, actor, 400)
    actor.body.update()
    assert track.jerks(stage.dt)[1] < 3.0
    assert np.abs((actor.body.c - before)[[0, 2]]).max() < 2e-3  # with the load in it
    assert actor.body.state.root[0] - hips[0] > 0.01  # to the left, away from the load
    assert max(track.slides()) < 1e-4


@pytest.mark.slow
def test_change_of_path_pace_and_stop() -> None:
    stage, actor = stage_with(poise.Walk())
    stage.advance(900)
    ahead = actor.body.state.root.copy()
    whole = Track()
    for steps, change in ((1000, {"path": [(3.0, float(ahead[2]))]}), (400, {"pace": 1.3}), (900, {"stop": True})):
        now = Track()
        now.follow(stage, actor, 1)
        actor.change(**change)
        now.follow(stage, actor, 40)
        assert now.jerks(stage.dt)[0] < 250.0  # nothing jumps where it is changed
        assert now.jerks(stage.dt)[1] < 6.0
        whole.follow(stage, actor, steps)
    assert actor.body.state.root[0] > 0.8  # it turned to the left, where +x is
    assert actor.player("body").is_done
    assert np.abs(whole.rows[-1][3]).max() < 1e-3
    assert max(whole.slides()) < 5e-4
    with pytest.raises(InputError, match="parameter"):
        actor.change(tempo=2)
    with pytest.raises(InputError, match="pace"):
        actor.change(pace=9.0)


@pytest.mark.parametrize("when", [300, 450, 560])
@pytest.mark.slow
def test_to_balance_in_the_middle_of_a_step_and_back(when: int) -> None:
    stage, actor = stage_with(poise.Walk(6))
    track = Track()
    track.follow(stage, actor, when)
    actor.drive("legs", poise.Balance())
    track.follow(stage, actor, 200)
    assert actor.fallen is None
    before = track.rows[-1]
    actor.drive("body", poise.Walk(4))
    back = Track()
    back.follow(stage, actor, 1400)
    # No jump: within a step of where it was, at about the speed that it had.
    turned = rotation.log(rotation.multiply(rotation.conjugate(before[1]), back.rows[0][1]))
    assert np.abs(turned).max() < 0.06
    assert np.abs(back.rows[0][0] - before[0]).max() < 0.01
    assert actor.player("body").is_done
    assert actor.fallen is None
    assert back.rows[-1][0][2] > before[0][2] + 0.8


def test_foot_in_the_air_is_put_down_first() -> None:
    stage, actor = stage_with(poise.Walk(6))
    stage.advance(500)
    course, tau = actor.player("body").walker.course, stage.time
    parts = [course.stances[s][course.stance_at(s, tau)].carries(tau) for s in range(2)]
    assert NONE in parts
    lifted = parts.index(NONE)
    actor.drive("body", poise.Walk(2))
    track = Track()
    track.follow(stage, actor, 900)
    new = actor.player("body").walker.course
    assert new.steps[0].side == lifted or len(new.steps) == 1
    heights = track.places(FEET[lifted])[:, 1]
    assert heights[0] > heights[-1] + 0.005
    assert heights[120:200].min() < heights[-1] + 0.002  # down within three fifths of a second
    assert actor.player("body").is_done


def test_goes_on_from_a_saved_state_with_the_same_bits() -> None:
    stages = []
    for _ in range(2):
        stage, actor = stage_with(poise.Walk(5))
        actor.drive("rightArm", poise.Kinematic(poise.gestures.conduct(bpm=92)))
        stages.append(stage)
    stages[0].advance(430)
    check_goes_on(stages[0], 1.5, stages[1])


@pytest.mark.parametrize("dt", [0.001, 0.002, 0.005, 0.01])
@pytest.mark.slow
def test_walks_with_a_free_root(dt: float) -> None:
    """The ground alone carries it, and it stays with the plan."""
    stages = [poise.Stage(dt=dt) for _ in range(2)]
    real, plan = (stage.add(BODY, "walker") for stage in stages)
    for actor in (real, plan):
        actor.drive("body", poise.Walk(5))
    real.drive("root", poise.Free())
    worst = 0.0
    for _ in range(75):
        for stage in stages:
            stage.advance(round(0.1 / dt))
        worst = max(worst, float(np.linalg.norm(real.body.state.root - plan.body.state.root)))
    assert real.fallen is None
    assert worst < 0.02


@pytest.mark.slow
def test_with_a_free_root_it_comes_back_to_its_way() -> None:
    """A push turns it a little: walked on as planned it would end 4 cm beside its way."""
    stage = poise.Stage(dt=0.005)
    actor = stage.add(BODY, "walker")
    actor.drive("body", poise.Walk(9))
    actor.drive("root", poise.Free())
    actor.push("hips", (60.0, 0.0, 0.0), 0.1, start=2.5)
    stage.advance(2400)
    actor.body.update()
    assert actor.fallen is None
    assert actor.body.state.root[2] > 3.0
    assert abs(np.mean([actor.body.p[foot, 0] for foot in FEET])) < 0.012


def test_feet_have_toes_that_bend_only_for_those_who_bend_them() -> None:
    from poise.world.overlap import find_shapes

    toes = [BODY.skeleton.index(f"{side}Toes") for side in ("left", "right")]
    plain, bent = find_shapes(BODY), find_shapes(BODY, True, True)
    assert not any(joint in toes for joint, _ in plain)
    assert sorted(joint for joint, _ in bent if joint in toes) == sorted(toes)
    assert len(bent) == len(plain) + 2
    whole = dict(plain)[FEET[0]]
    parts = [dict(bent)[FEET[0]], dict(bent)[toes[0]]]
    assert sum(part.half[2] for part in parts) == pytest.approx(whole.half[2])


def test_stands_where_there_is_no_way_on() -> None:
    stage = poise.Stage()
    stage.add_prop(poise.Prop.box("block", (4.0, 1.0, 6.0), None, (0.0, 0.5, 4.6)))
    actor = stage.add(BODY, "walker")
    actor.drive("body", poise.Walk())
    stage.advance(1600)
    player = actor.player("body")
    assert player.is_done
    assert player.reason
    assert actor.body.state.root[2] < 1.6
    assert any(event.kind == "cannot-walk-on" for event in stage.events)


def test_refuses_what_it_cannot_do() -> None:
    with pytest.raises(InputError, match="steps"):
        poise.Walk(-1)
    with pytest.raises(InputError, match="path"):
        poise.Walk(path=[(0.0, float("nan"))])
    with pytest.raises(InputError, match="facing"):
        poise.Walk(facing="up")
    with pytest.raises(InputError, match="manner"):
        poise.Walk(manner={"size": 1.0})
    actor = poise.Stage().add(BODY)
    with pytest.raises(InputError, match="both legs"):
        actor.drive("arms", poise.Walk(2))
    driver = build_driver("walk", {"steps": 3, "manner": {"pace": 0.8}})
    assert isinstance(driver, poise.Walk)
    assert driver.manner is not None


@pytest.mark.parametrize("how", ["lies", "air", "flung"])
def test_refuses_a_body_that_is_not_on_its_feet_and_the_body_goes_on(how: str) -> None:
    ease = stand_at_ease(BODY)
    turns, root = np.array(ease.rotations), np.array(ease.root)
    if how == "lies":
        turns[0] = rotation.exp(np.array([-1.5, 0.0, 0.0]))
    stage = poise.Stage(dt=0.005)
    actor = stage.add(BODY, "actor", poise.Pose(root + [0.0, 2.0 if how == "air" else 0.0, 0.0], turns))
    actor.drive("body", poise.Loose(1.0, 1.0))
    actor.drive("root", poise.Free())
    stage.advance(2)
    if how == "flung":
        actor.push("hips", (0.0, 0.0, 1e5), 0.005)
        stage.advance(2)
    with pytest.raises(InputError, match=how):
        actor.drive("body", poise.Walk(2))
    stage.advance(10)
    assert np.isfinite(actor.body.state.q).all()


@pytest.mark.slow
def test_several_walk_at_once() -> None:
    stage = poise.Stage()
    actors = []
    for k in range(3):
        pose = poise.Stage().add(BODY)
        root = pose.body.state.root + [1.2 * k, 0.0, 0.0]
        actors.append(stage.add(BODY, f"walker {k}", poise.Pose(root, pose.body.state.q.copy())))
        actors[-1].drive("body", poise.Walk(3, manner={"pace": 0.8 + 0.2 * k}))
    stage.advance(700)
    z = [actor.body.state.root[2] for actor in actors]
    assert z[0] < z[1] < z[2]
