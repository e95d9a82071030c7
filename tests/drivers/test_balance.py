"""Balance: torques that are in equilibrium with feet on the ground, whichever way a body faces, and who it can hold."""

from __future__ import annotations

import re

import numpy as np
import pytest

import poise
from helpers.bodies import make_human
from helpers.errors import rejects
from poise.body.character import Character, Segment
from poise.body.roles import mirror_role
from poise.body.skeleton import Skeleton
from poise.drivers.balance.balance import Balance, BalancePlayer
from poise.drivers.balance.settings import CROUCH, FORCE, PRESSURE
from poise.drivers.body import Body
from poise.drivers.kinematic.kinematic import Kinematic
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import TreeState
from poise.errors import InputError
from poise.motion.motion import Pose
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.stage.stage import Stage
from poise.stage.take.take import Take

HUMAN = Character.human(1.75, 75.0, preset="mix")


def standing(character: Character = HUMAN) -> tuple[BalancePlayer, Body]:
    stage = Stage()
    actor = stage.add(character)
    actor.drive("legs", Balance())
    stage.build()
    player = actor.player("legs")
    assert isinstance(player, BalancePlayer)
    return player, actor.body


@pytest.mark.parametrize("seed", range(6))
def test_the_torques_are_in_equilibrium_with_feet_that_push_as_told(seed: int) -> None:
    """J^T: three torques a leg are those of one wrench under its foot; both wrenches are the force that is wanted."""
    rng = np.random.default_rng(seed)
    character = Character.human(rng.uniform(1.2, 2.1), rng.uniform(30, 150), preset=("mix", "full")[seed % 2])
    player, body = standing(character)
    # a little off and moving, feet on the ground
    body.state.v[:] = rng.normal(0, 0.05, 3)
    body.state.w[:] = rng.normal(0, 0.1, body.state.w.shape)
    body.update()
    body.torque[:] = 0.0
    player.write(body, 0.0)
    rest = TreeState.at_rest(body.state.root, body.state.q)
    force, moment = np.zeros(3), np.zeros(3)
    for leg in player.legs:
        rows = np.concatenate([body.torque[joint] for joint in leg])

        def ask(wrench: np.ndarray, leg: np.ndarray = leg) -> np.ndarray:
            """Torques (9,) in world axes that hold the leg still under a wrench on its foot."""
            external = np.zeros((len(body.tree), 6))
            external[leg[2]] = wrench
            tau = compute_inverse_dynamics(body.tree, rest, external).generalised[3:].reshape(-1, 3)
            return np.concatenate([body.R[joint] @ tau[joint] for joint in leg])

        weight = ask(np.zeros(6))
        A = np.stack([ask(unit) - weight for unit in np.eye(6)], axis=-1)
        wrench, *_ = np.linalg.lstsq(A, rows - weight, rcond=None)
        np.testing.assert_allclose(A @ wrench, rows - weight, atol=1e-6 * np.abs(rows).max())
        force += wrench[3:]
        at = body.p[leg[2]] - np.array([player.told[PRESSURE], player.ground, player.told[PRESSURE + 1]])
        moment += wrench[:3] + np.cross(at, wrench[3:])
        # pressed, not pulled, and within the sole
        assert wrench[4] > 0.0
        cop = body.p[leg[2]] + np.array([wrench[2] + 0.0, 0.0, -wrench[0]]) / wrench[4]
        height = body.p[leg[2], 1] - player.ground
        cop -= np.array([wrench[3], 0.0, wrench[5]]) * height / wrench[4]
        side = int(leg[0] != player.legs[0, 0])
        inside = body.R[leg[2]].T @ (cop - body.p[leg[2]])
        corners = player.corners[side]
        assert corners[:, 0].min() - 1e-3 < inside[0] < corners[:, 0].max() + 1e-3
        assert corners[:, 2].min() - 1e-3 < inside[2] < corners[:, 2].max() + 1e-3
    told = player.told[FORCE : FORCE + 3]
    np.testing.assert_allclose(force[1], told[1], rtol=1e-6)
    # sideways a corner may give up what friction does not hold
    np.testing.assert_allclose(force[[0, 2]], told[[0, 2]], atol=0.02 * told[1])
    np.testing.assert_allclose(moment[[0, 2]], 0.0, atol=1e-3 * told[1])


BODIES = [(1.2, 30.0), (1.75, 75.0), (2.1, 150.0), (1.6, 150.0), (2.1, 60.0)]


@pytest.mark.parametrize(("height", "mass"), BODIES)
@pytest.mark.many(2)
def test_bodies_of_all_kinds_stand_for_a_minute(height: float, mass: float) -> None:
    stage = Stage()
    actor = stage.add(Character.human(height, mass, preset="mix"))
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(poise.gestures.conduct(bpm=92)))
    record = (take := stage.run(60.0, fps=5)).actor()
    assert take.fell_at() is None
    assert record.margin[10:].min() > 0.0
    creep = np.abs(record.soles[-1] - record.soles[10])[..., [0, 2]].max()
    assert creep < 1e-3
    # flat: no corner rises
    assert np.abs(record.soles[10:, ..., 1]).max() < 5e-3
    assert record.feet[10:, :, 1].sum(axis=1).mean() == pytest.approx(mass * 9.81, rel=0.02)


def turned(clip_pose: Pose, angle: float) -> Pose:
    about = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)
    turns = clip_pose.rotations.copy()
    turns[0] = rotation.multiply(about, turns[0])
    return Pose(rotation.rotate(about, clip_pose.root), turns)


def conduct(pose: Pose, push: np.ndarray) -> Take:
    stage = Stage()
    actor = stage.add(HUMAN, pose=pose)
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(poise.gestures.conduct(bpm=120)))
    actor.push("spine", push, 0.2, start=0.5)
    return stage.run(1.5)


@pytest.mark.parametrize("angle", [0.5 * np.pi, np.pi, 0.7])
def test_it_does_not_matter_which_way_a_body_faces(angle: float) -> None:
    state = Stage().add(HUMAN).body.state
    pose, push = Pose(state.root.copy(), state.q.copy()), np.array([20.0, 0.0, 30.0])
    about = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)
    one, other = conduct(pose, push).actor(), conduct(turned(pose, angle), rotation.rotate(about, push)).actor()
    np.testing.assert_allclose(rotation.rotate(about, one.center), other.center, atol=1e-6)
    np.testing.assert_allclose(one.angular_velocity, other.angular_velocity, atol=1e-4)


def test_a_mirrored_push_gives_a_mirrored_motion() -> None:
    takes = []
    for sign in (1.0, -1.0):
        stage = Stage()
        actor = stage.add(HUMAN)
        actor.drive("legs", Balance())
        actor.push("spine", (sign * 50.0, 0.0, 20.0), 0.2, start=0.2)
        takes.append(stage.run(1.5).actor())
    a, b = takes
    np.testing.assert_allclose(a.center * [-1.0, 1.0, 1.0], b.center, atol=1e-6)
    labels = HUMAN.skeleton.labels
    swap = [labels.index(mirror_role(label)) for label in labels]
    # an angular velocity mirrored at the plane x = 0
    np.testing.assert_allclose(a.angular_velocity[:, swap] * [1.0, -1.0, -1.0], b.angular_velocity, atol=1e-4)
    assert np.abs(a.center[:, 0]).max() > 1e-3


def pushed(impulse: float, direction: float, character: Character = HUMAN) -> Take:
    stage = Stage()
    actor = stage.add(character)
    actor.drive("legs", Balance())
    way = np.array([np.sin(direction), 0.0, np.cos(direction)])
    actor.push("spine", impulse / 0.2 * way, 0.2, start=0.2)
    return stage.run(3.5)


@pytest.mark.parametrize("direction", np.arange(0.0, 2 * np.pi, np.pi / 4))
def test_pushes_of_15_newton_seconds_are_recovered(direction: float) -> None:
    take = pushed(15.0, float(direction))
    assert take.fell_at() is None
    assert np.linalg.norm(take.actor().center_velocity[-10:], axis=-1).max() < 0.05


@pytest.mark.parametrize("direction", [0.0, 0.5 * np.pi, np.pi])
@pytest.mark.many(1)
def test_what_nobody_can_recover_without_a_step_falls_and_is_told(direction: float) -> None:
    """Twice m w d, with d the distance of the target to the support's edge in that direction."""
    player, body = standing()
    way = np.array([np.sin(direction), np.cos(direction)])
    feet = zip(player.legs[:, 2], player.corners, strict=True)
    soles = np.concatenate([body.p[foot] + corners @ body.R[foot].T for foot, corners in feet])
    edge = ((soles[:, [0, 2]] - player.aim[:2]) @ way).max()
    take = pushed(2.0 * 75.0 * player.omega * edge, direction)
    fell = take.fell_at()
    assert fell is not None and 0.3 < fell < 3.0
    kinds = [event.kind for event in take.events]
    assert kinds.count("fell") == 1 and kinds.count("lost-balance") == 1
    assert take.actor().center[-1, 1] < 0.6 * take.actor().center[0, 1]
    assert np.isfinite(take.actor().rotations).all()


def test_bodies_without_feet_are_refused_by_name() -> None:
    stump = Character.from_skeleton(make_human(without=("Toes",)), 70.0)
    stage = Stage()
    stage.add(stump).drive("legs", Balance())
    names = tuple(f"joint{i}" for i in range(3))
    rod = Skeleton(names, np.array([-1, 0, 1]), np.array([[0, 1.0, 0], [0, 0.3, 0], [0, 0.3, 0]]))
    inertia = RigidInertia(2.0, np.zeros(3), 0.01 * np.eye(3))
    worm = Character("worm", rod, tuple(Segment(n, n, inertia) for n in names), 1.0)
    actor = Stage().add(worm)
    rejects(lambda: actor.drive(["joint1"], Balance()), "'worm'", "leftUpperLeg", "rightFoot")


def test_the_target_can_be_told() -> None:
    stage = Stage()
    actor = stage.add(HUMAN)
    before = actor.body
    before.update()
    wanted = (float(before.c[0]) + 0.03, float(before.c[2]) + 0.02)
    actor.drive("legs", Balance(target=wanted))
    take = stage.run(6.0)
    assert take.fell_at() is None
    np.testing.assert_allclose(take.actor().center[-1, [0, 2]], wanted, atol=0.01)


def test_stiffness_stiffens() -> None:
    sways = []
    for stiffness in (0.5, 2.0):
        stage = Stage()
        actor = stage.add(HUMAN)
        actor.drive("legs", Balance(stiffness=stiffness))
        actor.push("spine", (15.0, 0.0, 0.0), 0.2, start=0.2)
        record = stage.run(2.0).actor()
        sways.append(np.ptp(record.root[:, 0]))
    assert sways[1] < 0.8 * sways[0]


@pytest.mark.parametrize("dt", [0.0025, 0.005, 0.01])
@pytest.mark.parametrize(("height", "mass"), [(1.2, 52.0), (1.8, 71.0), (2.1, 159.0)])
def test_a_foot_that_a_push_lifts_comes_down_calmly_at_any_step(height: float, mass: float, dt: float) -> None:
    """It is light: what brings it back must not act on its turning a step late."""
    stage = Stage(dt=dt)
    actor = stage.add(Character.human(height, mass, preset="mix"))
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(poise.gestures.conduct(bpm=100.0)))
    actor.push("spine", (0.82 * np.sqrt(height) * mass, 0.0, 0.0), 0.3, start=0.5)
    feet = [actor.character.skeleton.index(role) for role in ("leftFoot", "rightFoot")]
    highest, fastest = 0.0, 0.0
    while stage.time < 3.0:
        stage.step()
        player = actor.player("legs")
        assert isinstance(player, BalancePlayer)
        highest = max(highest, float(player.work[0][:, 1].max()))
        fastest = max(fastest, float(np.abs(actor.body.state.w[feet]).max()))
    assert actor.fallen is None
    assert highest > 0.01  # m: it did lift
    assert fastest < 20.0  # rad/s, as it lands: 5 to 16 however small the step
    assert np.abs(actor.body.state.w[feet]).max() < 0.5


@pytest.mark.parametrize(
    ("asked", "dt", "said"),
    [
        ({"stiffness": 30.0}, 0.01, "stiffness of 30 swings up at steps of 10 ms"),
        ({"damping": 5.0}, 0.005, "damping of 5 swings up at steps of 5 ms"),
    ],
)
def test_what_a_step_is_too_long_for_is_refused_with_what_it_allows(
    asked: dict[str, float], dt: float, said: str
) -> None:
    """And what it allows stands."""
    stage = Stage(dt=dt)
    actor = stage.add(Character.human())
    actor.drive("legs", Balance(**asked))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=said) as caught:
        stage.build()
    most = float(re.findall(r"at most ([0-9.]+),", str(caught.value))[0])
    actor.drive("legs", Balance(**dict.fromkeys(asked, most)))  # type: ignore[arg-type]
    actor.drive("upperBody", Kinematic(poise.gestures.conduct(hands="both")))
    stage.advance(round(1.5 / dt))
    assert not actor.has_lost_balance and np.abs(actor.body.state.v).max() < 0.1


@pytest.mark.parametrize("push", [(0.0, 0.0, 400.0), (0.0, 0.0, -300.0)])
@pytest.mark.many(1)
def test_fixed_feet_lose_their_balance_too(push: tuple[float, float, float]) -> None:
    """A body that hangs out over its fixed feet is let go, and does not explode."""
    stage = Stage()
    actor = stage.add(Character.human())
    actor.drive("legs", Balance(pinned=True))
    actor.drive("upperBody", Kinematic(poise.gestures.conduct()))
    stage.advance(40)
    actor.push("chest", push, 0.1)
    stage.advance(600)
    assert actor.has_lost_balance and actor.fallen is not None
    assert np.abs(actor.body.state.w).max() < 10.0


@pytest.mark.parametrize("hold", [0.0, 1.0])
@pytest.mark.parametrize(
    ("height", "mass", "gesture", "load", "friction"),
    [
        (1.75, 75.0, poise.gestures.arm_swing(1.5, opposite=True), 0.0, 0.8),
        (2.1, 108.0, poise.gestures.arm_swing(1.5, opposite=True), 0.0, 0.8),
        (1.64, 88.0, poise.gestures.arm_swing(1.32, 64.0, opposite=True), 6.3, 0.61),
    ],
)
def test_feet_neither_turn_nor_cross_under_lively_arms(
    height: float, mass: float, gesture: poise.Motion, load: float, friction: float, hold: float
) -> None:
    """They slid by 46 to 116 mm, and heels rose by 10 to 38 mm, while each foot was all but unloaded at every swing."""
    stage = Stage(dt=0.004, ground=poise.Ground(friction=friction))
    loads = (poise.Load("rightLowerArm", load),) if load else ()
    actor = stage.add(Character.human(height, mass, preset="mix"), loads=loads)
    actor.drive("legs", Balance(hold=hold))
    actor.drive("upperBody", Kinematic(gesture))
    soles = stage.run(3.0, fps=50.0).actor().soles
    assert np.linalg.norm((soles - soles[0])[..., [0, 2]], axis=-1).max() < 1e-3
    assert soles[..., 1].max() < 2e-3
    # knees stay straight where the centre of mass is held; under held hips they bend, and no further than they have to
    player = actor.player("legs")
    assert isinstance(player, BalancePlayer)
    assert player.told[CROUCH] < 0.05 if hold == 1.0 else 0.1 < player.told[CROUCH] <= 1.0


def test_quiet_arms_leave_the_knees_as_they_are() -> None:
    stage = Stage()
    actor = stage.add(Character.human(preset="mix"))
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(poise.gestures.conduct()))
    stage.advance(400)
    player = actor.player("legs")
    assert isinstance(player, BalancePlayer) and player.told[CROUCH] == 0.0
