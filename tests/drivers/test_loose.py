"""Loose limbs: finite and calm at any step, losing energy, and resting where statics says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import poise
from poise.body.character import Character
from poise.drivers.balance.balance import Balance
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.loose.kernels import pull_to_pose
from poise.drivers.loose.loose import Loose, LoosePlayer
from poise.dynamics.kinematics import compute_world_pose, compute_world_velocity
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import TreeState
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.motion import Pose
from poise.motion.parts import part_joints
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.stage import Stage
from poise.stage.take.take import ActorTake, Take

HUMAN = Character.human(1.75, 75.0, preset="mix")
ARM = part_joints(HUMAN.skeleton, "leftArm")
STEPS = [0.001, 0.002, 0.005, 0.01]
FREE = dataclasses.replace(HUMAN, limits={})  # an elbow that bends sideways, too
NOWHERE = poise.ContactSettings(itself=False)  # what springs and dampers do by themselves: no arm slaps a thigh


def hang(dt: float, loose: Loose, seconds: float = 3.0) -> tuple[Take, Actor]:
    """A T-pose whose left arm is let go of; the rest of the body is held."""
    skeleton = HUMAN.skeleton
    times = np.arange(10) / 2.0
    clip = Clip(skeleton, times, np.tile([0.0, 1.0, 0.0], (10, 1)), rotation.identity((10, len(skeleton))))
    stage = Stage(dt=dt, ground=None, touch=NOWHERE)
    actor = stage.add(FREE, pose=Pose(np.array([0.0, 1.0, 0.0]), rotation.identity((len(skeleton),))))
    actor.drive("root", Kinematic(clip))
    actor.drive("leftArm", loose)
    return stage.run(seconds, fps=100 if dt > 0.004 else 200), actor


def energy(actor: Actor, record: ActorTake) -> np.ndarray:
    """(F,) J: kinetic, of height, and of the springs."""
    tree, zero = actor.body.tree, np.zeros_like(record.angular_velocity)
    state = TreeState(
        record.root, record.rotations, record.velocity, record.angular_velocity, np.zeros_like(record.root), zero
    )
    pose = compute_world_pose(tree, record.root, record.rotations)
    speed = compute_world_velocity(tree, state, pose)
    moving = 0.5 * np.einsum("j,fja,fja->f", tree.masses, speed.centers, speed.centers)
    turning = 0.5 * np.einsum("fja,fjab,fjb->f", speed.angular, pose.inertias, speed.angular)
    spring = next(player for player in actor.players if isinstance(player, LoosePlayer))
    off = rotation.log(rotation.multiply(rotation.conjugate(record.rotations[:, spring.joints]), spring.aim))
    held = 0.5 * np.einsum("k,fka,fka->f", spring.stiffness, off, off)
    return np.asarray(moving + turning + held + 9.81 * pose.centers[..., 1] @ tree.masses)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("loose", [Loose(0.3), Loose(0.05, 0.2), Loose(3.0, 1.0)])
@pytest.mark.many(4)
def test_an_arm_that_is_let_go_of_loses_energy_and_comes_to_rest(dt: float, loose: Loose) -> None:
    take, actor = hang(dt, loose, seconds=4.0)
    found = energy(actor, take.actor())
    lost = found[0] - found.min()
    # Euler's step adds a little where it swings fastest; nothing is gained by the end of a swing
    assert np.maximum.accumulate(found[::-1])[::-1].max() <= found[0] + 1e-6
    assert np.diff(found).max() < 0.02 * lost
    if loose.damping > 0.3:  # the lightest still swings
        assert found[-1] - found.min() < 0.01 * lost
        assert np.abs(take.actor().angular_velocity[-20:, ARM]).max() < 0.3
    other = [i for i in range(len(HUMAN.skeleton)) if i not in ARM]
    assert np.ptp(take.actor().rotations[:, other], axis=0).max() == 0.0


@pytest.mark.parametrize("dt", STEPS)
def test_it_rests_where_springs_and_weight_are_in_balance(dt: float) -> None:
    """Torques of inverse dynamics at rest are those of the springs; and the same place whatever the step."""
    take, actor = hang(dt, Loose(1.0, 1.0), seconds=6.0)
    record = take.actor()
    rest = TreeState.at_rest(record.root[-1], record.rotations[-1])
    wanted = compute_inverse_dynamics(actor.body.tree, rest).generalised[3:].reshape(-1, 3)[ARM]
    spring = next(player for player in actor.players if isinstance(player, LoosePlayer))
    off = rotation.log(rotation.multiply(rotation.conjugate(record.rotations[-1, ARM]), spring.aim))
    np.testing.assert_allclose(spring.stiffness[:, None] * off, wanted, atol=0.01 * np.abs(wanted).max())
    # s = 1: about a radian too low at the shoulder
    assert 0.5 < np.linalg.norm(off[0]) < 1.0


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("stiffness", [0.0, 0.3, 30.0, 1e4])
@pytest.mark.many(6)
def test_an_arm_of_a_standing_body_is_calm_at_any_step(dt: float, stiffness: float) -> None:
    stage = Stage(dt=dt, touch=NOWHERE)
    actor = stage.add(HUMAN)
    actor.drive("legs", Balance())
    actor.drive("rightArm", Kinematic(poise.gestures.conduct(bpm=120)))
    actor.drive("leftArm", Loose(stiffness))
    take = stage.run(2.0)
    assert take.fell_at() is None
    assert np.abs(take.actor().angular_velocity[:, ARM]).max() < 8.0
    assert np.abs(take.actor().angular_velocity[-25:, ARM]).max() < 2.5


def test_a_light_damper_swings_as_long_as_a_pendulum() -> None:
    """No spring and hardly any damping at one joint alone: a forearm's period in the small, by its moments."""
    loose = Loose(0.0, 0.0)
    skeleton = HUMAN.skeleton
    joint = skeleton.index("leftLowerArm")
    turns = rotation.identity((len(skeleton),))
    # the left arm points along +X in T; hang it almost straight down
    turns[joint] = rotation.from_axis_angle(np.array([0.0, 0.0, 1.0]), -np.pi / 2 + 0.1)
    times = np.arange(10) / 2.0
    clip = Clip(skeleton, times, np.tile([0.0, 1.0, 0.0], (10, 1)), np.tile(turns, (10, 1, 1)))
    stage = Stage(dt=0.001, ground=None, touch=NOWHERE)
    actor = stage.add(FREE, pose=Pose(np.array([0.0, 1.0, 0.0]), turns))
    actor.drive("root", Kinematic(clip))
    actor.drive(["leftHand"], Kinematic(clip))
    actor.drive(["leftLowerArm"], loose)
    spun = stage.run(3.0, fps=200).actor().angular_velocity[:, joint, 2]
    mass, arm, inertia = actor.body.outboard()
    period = 2 * np.pi * np.sqrt(inertia[joint] / (mass[joint] * 9.81 * arm[joint]))
    crossings = np.flatnonzero((spun[1:-1] < 0) & (spun[2:] >= 0)) / 200.0
    assert np.diff(crossings).mean() == pytest.approx(period, rel=0.02)


def test_the_spring_pulls_along_the_short_way_with_its_own_strength() -> None:
    rng = np.random.default_rng(0)
    q, aim = rotation.random(rng, (6,)), rotation.random(rng, (6,))
    aim[1], aim[2] = q[1], -q[2]
    k, d = rng.uniform(1, 50, 6), rng.uniform(0.1, 2, 6)
    torque, implicit = np.zeros((6, 3)), np.zeros(6)
    R = rotation.to_matrix(rotation.random(rng, (6,)))
    pull_to_pose(np.arange(6), k, d, aim, q, R, 0.01, np.zeros((6, 3)), 0.0, torque, implicit)
    wanted = k[:, None] * rotation.log(rotation.multiply(rotation.conjugate(q), aim))
    np.testing.assert_allclose(torque, np.einsum("jab,jb->ja", R, wanted), atol=1e-9)
    np.testing.assert_allclose(implicit, d + 0.01 * k)
    assert np.abs(torque[1:3]).max() < 1e-6


def test_bad_springs_are_refused() -> None:
    for bad in ({"stiffness": -1.0}, {"stiffness": float("nan")}, {"damping": -0.1}, {"damping": 1e9}):
        with pytest.raises(InputError, match="must be from 0 to 10000"):
            Loose(**bad)
    stage = Stage()
    actor = stage.add(HUMAN)
    actor.drive("legs", Balance())
    actor.drive("leftArm", Loose(pose=rotation.identity((3,))))
    with pytest.raises(InputError, match="shape"):
        stage.run(0.1)
