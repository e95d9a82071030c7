"""Following within what muscles can do: what is in range, what stands, and what falls."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.stages import check_goes_on
from oracles.limiting import solve_bounded, solve_damped, solve_levels
from poise.drivers.strength.problem import Problem
from poise.dynamics.qp.limited import DAMPING
from poise.motion.parts import part_joints
from poise.motion.samples.tracks import stand_pose
from poise.spatial import rotation
from poise.stage.actor import Actor
from tools.sweeps.abuse_watch import Figure

HUMAN = poise.Character.human(1.75, 75.0, preset="strength")
SWING = poise.gestures.arm_swing(0.5)
PATH = poise.PointPath([0.0, 1.0], [[0.0, 1.0, 0.0], [0.0, 1.1, 0.0]])


def play(engine: str, dt: float, **options: object) -> tuple[poise.Stage, Actor]:
    stage = poise.Stage(engine=engine, dt=dt)
    actor = stage.add(HUMAN)
    actor.drive("body", poise.Strength(SWING, **options))  # type: ignore[arg-type]
    return stage, actor


def watch(stage: poise.Stage, actor: Actor, seconds: float) -> dict[str, np.ndarray]:
    """A run, step by step: centres of mass, how far out of range torques are, how fast feet move off."""
    rows: dict[str, list[np.ndarray]] = {"center": [], "over": [], "moving": [], "pressure": []}
    for _ in range(round(seconds / stage.dt)):
        stage.step()
        player = actor.player("body")
        over = np.maximum(player.torque - player.high, player.low - player.torque)  # type: ignore[attr-defined]
        rows["center"].append(actor.body.c.copy())
        rows["over"].append(over.max())
        rows["moving"].append(player.moving)  # type: ignore[attr-defined]
        rows["pressure"].append(player.zmp.copy())  # type: ignore[attr-defined]
    return {name: np.array(row) for name, row in rows.items()}


@pytest.mark.parametrize(("engine", "dt"), [("inverse", 1.0 / 30.0), ("mujoco", 0.01)])
def test_it_follows_and_stands_within_its_strength(engine: str, dt: float) -> None:
    stage, actor = play(engine, dt)
    found = watch(stage, actor, 0.6)
    assert found["over"].max() <= 0.0
    assert actor.fallen is None
    assert found["moving"].max() < 1e-3
    ghost = actor.player("body").reference.pose  # type: ignore[attr-defined]
    off = poise.rotation.log(poise.rotation.multiply(poise.rotation.conjugate(actor.body.state.q), ghost.state.q))
    arms = [i for i, name in enumerate(actor.body.tree.names) if "Arm" in name or "Hand" in name]
    assert np.linalg.norm(off[arms], axis=1).max() < 0.15  # one step of the motion, and what is given up for balance


def test_engines_agree_while_it_stands() -> None:
    runs = [watch(*play(engine, dt), 0.4)["center"][-1] for engine, dt in (("inverse", 0.01), ("mujoco", 0.01))]
    np.testing.assert_allclose(runs[0], runs[1], atol=2e-3)


def test_the_pressure_is_where_the_engine_has_it() -> None:
    stage, actor = play("inverse", 0.01)
    off = []
    for _ in range(30):
        stage.step()
        touches = stage.groups[0].simulation.find_contacts(0)
        felt = touches.forces[:, 1] @ touches.points / touches.forces[:, 1].sum()
        off.append(np.abs(felt - actor.player("body").zmp)[[0, 2]].max())  # type: ignore[attr-defined]
    assert max(off) < 5e-3


@pytest.mark.parametrize("angle", [0.0, 90.0, 225.0])
def test_who_is_pushed_too_hard_falls_the_way_of_the_push_and_torques_stay_in_range(angle: float) -> None:
    stage, actor = play("inverse", 1.0 / 60.0)
    toward = np.array([math.sin(math.radians(angle)), 0.0, math.cos(math.radians(angle))])
    stage.step()
    actor.push("chest", 75.0 * 1.5 / 0.3 * toward, 0.3)
    found = watch(stage, actor, 1.6)
    assert found["over"].max() <= 0.0
    assert actor.fallen is not None
    moved = found["center"][-1] - found["center"][0]
    assert moved @ toward > 0.3
    assert found["center"][-1][1] < 0.5
    low = actor.body.p[:, 1].min()
    assert low > -0.01


def test_a_state_that_was_saved_goes_on_with_the_same_bits() -> None:
    stage, _ = play("inverse", 1.0 / 30.0)
    stage.advance(5)
    check_goes_on(stage, 0.2)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"alpha": 0.0}, "alpha is a share of the way"),
        ({"center": "xw"}, "axis of the centre of mass"),
        ({"effectors": {"rightHand": "sideways"}}, "way to lead a body"),
        ({"start": math.nan}, "from a finite time on"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(poise.InputError, match=complaint):
        poise.Strength(SWING, **options)  # type: ignore[arg-type]


def test_an_unknown_effector_is_refused_when_it_is_put_on_a_body() -> None:
    rejects(lambda: play("inverse", 0.01, effectors={"thirdHand": "position"}), "thirdHand")


def lead(engine: str, dt: float, hand: bool, center: bool) -> tuple[np.ndarray, np.ndarray]:
    """How far (3,) m the right wrist and the centre of mass get, by SciPy, where paths lead them elsewhere."""
    stage, figure = poise.Stage(engine=engine, dt=dt), Figure(HUMAN)
    actor = stage.add(HUMAN)
    stage.build()
    wrist = HUMAN.skeleton.index("rightHand")

    def look() -> np.ndarray:
        joints, centers = figure.place(actor.pose())
        return np.stack([joints[wrist], figure.masses @ centers / figure.mass])

    first, t = look(), np.linspace(0.0, 1.5, 9)
    share = (0.5 - 0.5 * np.cos(np.pi * t / 1.5))[:, None]
    paths = {"rightHand": poise.PointPath(t, first[0] + share * WAY)} if hand else {}
    paths |= {"center": poise.PointPath(t, first[1] + share * LEAN)} if center else {}
    actor.drive("body", poise.Strength(poise.gestures.breathe(), paths=paths))
    stage.advance(round(2.5 / dt))
    assert actor.fallen is None
    moved = look() - first
    return moved[0], moved[1]


WAY, LEAN = np.array([-0.05, 0.25, 0.2]), np.array([0.03, 0.0, 0.02])


@pytest.mark.parametrize(("engine", "dt"), [("inverse", 1.0 / 30.0), ("mujoco", 0.01)])
def test_a_path_of_ones_own_leads_the_hand_and_the_centre_of_mass(engine: str, dt: float) -> None:
    """A hand is weighed against its joints, and may be some millimetres short; the centre is not."""
    hand, center = lead(engine, dt, hand=True, center=True)
    assert np.linalg.norm(hand - WAY) < 0.02
    assert np.abs(center - LEAN)[[0, 2]].max() < 0.002
    hand, center = lead(engine, dt, hand=False, center=False)
    assert np.linalg.norm(hand) < 0.01
    assert np.abs(center)[[0, 2]].max() < 0.002


def test_a_path_may_turn_a_hand() -> None:
    stage, wrist = poise.Stage("inverse", 1.0 / 30.0), HUMAN.skeleton.index("rightHand")
    actor = stage.add(HUMAN)
    stage.build()
    place, now = actor.body.p[wrist].copy(), actor.body.world_turn(wrist).copy()
    aim = poise.rotation.multiply(poise.rotation.exp(np.array([0.0, 0.5, 0.0])), now)
    paths = {"rightHand": poise.PointPath([0.0, 0.5, 1.0], [place] * 3, [now, now, aim])}
    actor.drive("body", poise.Strength(poise.gestures.breathe(), paths=paths, insists=100.0))
    stage.advance(60)
    actor.body.update()
    assert poise.rotation.angle(actor.body.world_turn(wrist), aim) < 0.1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"paths": {"rightHand": 3}}, "is a poise.PointPath"),
        ({"paths": {"center": PATH}, "center": ""}, "needs axes"),
        ({"paths": {"rightHand": PATH}, "effectors": {"rightHand": "both"}}, "places alone"),
    ],
)
def test_paths_that_make_no_sense_are_refused(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(poise.InputError, match=complaint):
        poise.Strength(SWING, **options)  # type: ignore[arg-type]


def draw_problems(priorities: str, load: float) -> list[Problem]:
    """Problems that the driver solves while an arm too weak for its load is led by its hand, every sixth step."""
    stage = poise.Stage("inverse", 1.0 / 30.0)
    actor = stage.add(HUMAN, loads=[poise.Load("rightHand", load)] if load else [])
    muscles = poise.JointStrength.weak(HUMAN) if load else None
    led = {"rightHand": "position"}
    actor.drive("body", poise.Strength(SWING, muscles, effectors=led, priorities=priorities))
    problems = []
    for _ in range(5):
        stage.advance(6)
        problems.append(actor.player("body").problem)  # type: ignore[attr-defined]
    return problems


@pytest.mark.parametrize("load", [0.0, 4.0, 8.0])
def test_weighted_priorities_are_the_optimum_of_a_general_solver(load: float) -> None:
    """Oracle: bounded least squares by Lawson and Hanson's method."""
    for each in draw_problems("weighted", load):
        roots = np.sqrt(each.weights / each.weights.mean())
        pieces = [(np.diag(roots), roots * each.target), (each.A, each.y)]
        best = solve_bounded(pieces, each.H, each.low - each.b, each.high - each.b, each.target)
        np.testing.assert_allclose(each.u, best, atol=1e-7 * np.abs(best).max())


@pytest.mark.parametrize("load", [0.0, 4.0, 8.0])
def test_strict_priorities_are_the_optimum_of_a_hierarchical_solver(load: float) -> None:
    """Oracles: levels solved one after the other by Lawson and Hanson's method, with damping and without it.

    With 8 kg the body falls and its goals are nearly singular, which is what the damping is for.
    """
    for each in draw_problems("strict", load):
        goals = [(each.A[each.level == k], each.y[each.level == k]) for k in np.unique(each.level)]
        problem = (each.H, each.b, each.low, each.high, each.target, goals, each.weights)
        damped = solve_damped(*problem, damping=DAMPING)
        np.testing.assert_allclose(each.u, damped, atol=1e-6 * np.abs(damped).max())
        if load <= 4.0:
            for (A, y), best in zip(goals, solve_levels(*problem), strict=True):
                assert np.linalg.norm(A @ each.u - y) < np.linalg.norm(best - y) + 1e-5


def test_strict_priorities_leave_feet_and_balance_alone_where_weighted_ones_trade() -> None:
    """4 kg is too much for the arm: weighted goals give up some of the balance for the hand, strict ones do not."""
    missed = {}
    for priorities in ("weighted", "strict"):
        stage = poise.Stage("inverse", 1.0 / 30.0)
        actor = stage.add(HUMAN, loads=[poise.Load("rightHand", 4.0)])
        actor.drive(
            "body",
            poise.Strength(
                SWING, poise.JointStrength.weak(HUMAN), effectors={"rightHand": "position"}, priorities=priorities
            ),
        )
        found = []
        for _ in range(30):
            stage.step()
            found.append(actor.player("body").missed)  # type: ignore[attr-defined]
        missed[priorities] = max(found)
        assert actor.fallen is None
    assert missed["strict"] < 1e-4 < 1e-2 < missed["weighted"]


def test_rejects_unknown_priorities() -> None:
    with pytest.raises(poise.InputError, match="weighted"):
        poise.Strength(SWING, priorities="stict")


def test_no_strength_is_no_standing() -> None:
    weak = poise.JointStrength.from_character(HUMAN, 0.02)
    stage, actor = play("inverse", 1.0 / 60.0, muscles=weak)
    found = watch(stage, actor, 1.2)
    assert found["over"].max() <= 0.0
    assert found["center"][-1][1] < 0.75


@pytest.mark.parametrize(("engine", "dt"), [("inverse", 1.0 / 60.0), ("mujoco", 0.005)])
def test_on_a_root_that_is_carried_muscles_do_what_inverse_dynamics_says(engine: str, dt: float) -> None:
    """Hips that sway by 3 m/s2, a load in a hand: taken for a body that floats, it bent by a right angle."""
    man = poise.Character.human(1.75, 70.0, preset="strength")
    still, times = stand_pose(man.skeleton), np.arange(91) / 60.0
    root = still.root + np.outer(0.08 * (1.0 - np.cos(2.0 * np.pi * times)), [1.0, 0.0, 1.0])
    clip = poise.Clip(man.skeleton, times, root, np.tile(still.rotations, (len(times), 1, 1)))
    stage = poise.Stage(engine, dt, touch=poise.ContactSettings(itself=False))
    actor = stage.add(man, pose=poise.Pose(root[0], clip.rotations[0]), loads=[poise.Load("rightHand", 5.0)])
    legs = [man.skeleton.names[i] for i in (0, *part_joints(man.skeleton, "legs"))]
    above = [name for name in man.skeleton.names if name not in legs]
    actor.drive(legs, poise.Kinematic(clip))
    actor.drive(above, poise.Strength(clip))
    stage.run(1.2)
    off = rotation.angle(actor.body.state.q, clip.rotations[0])
    player = actor.player(", ".join(above))
    assert off.max() < np.radians(0.5)
    assert 0.05 < player.ratio.max() < 0.9
