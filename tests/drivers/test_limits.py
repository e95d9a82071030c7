"""Joints stay in their ranges, against SciPy's rotations; nothing is asked of those that are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from poise.body.character import Character
from poise.body.joints import JointLimits
from poise.drivers.body import Body
from poise.drivers.joint_limits.kernels import find_angles, spread_damping
from poise.drivers.joint_limits.limit_torques import SLACK, LimitTorques, build_hinges
from poise.drivers.loose.loose import Loose
from poise.drivers.root.root import Free
from poise.engines.scene import BALL, FREE, HINGES, Joint
from poise.motion.motion import Pose
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.stage import Stage
from poise.world.forces import Load

HUMAN = Character.human(1.75, 75.0)
STEMS = ("leftUpperArm", "rightUpperLeg", "leftHand", "neck", "rightFoot", "spine")


def angles_of(limits: JointLimits, q: np.ndarray) -> np.ndarray:
    """x, y and z by SciPy alone."""
    P, C = (Rotation.from_quat(each, scalar_first=True) for each in (limits.parent_zero, limits.child_zero))
    E = P * Rotation.from_quat(q, scalar_first=True) * C.inv()
    _, y, _, w = E.as_quat()
    twist = Rotation.from_quat([0.0, y, 0.0, w])
    found = (E * twist.inv()).as_rotvec()
    found[1] = twist.as_rotvec()[1]
    return np.asarray(found)


def beyond(actor: Actor) -> np.ndarray:
    """(n,) rad that each joint with limits is beyond its range."""
    names = actor.character.skeleton.names
    worst = []
    for name, limits in actor.character.limits.items():
        found = angles_of(limits, actor.body.state.q[names.index(name)])
        worst.append(np.max(np.maximum(found - limits.upper, limits.lower - found)))
    return np.array(worst)


def kept(q: np.ndarray, w: np.ndarray) -> tuple[Body, LimitTorques]:
    """A body at some rotations and speeds, after the law was called once; all its joints are balls."""
    body = Body(HUMAN)
    limits = LimitTorques(body)
    limits.begin((Joint(FREE), *(Joint(BALL) for _ in range(len(HUMAN.skeleton) - 1))), isotropic=False)
    body.state.q[:], body.state.w[:] = q, w
    body.update()
    limits.law(body.block, limits.block)
    return body, limits


def inside(rng: np.random.Generator, margin: float) -> np.ndarray:
    """(J, 4) rotations inside all ranges, by a margin in rad where they are that wide."""
    q = rotation.identity((len(HUMAN.skeleton),))
    for name, limits in HUMAN.limits.items():
        room = np.minimum(margin, 0.5 * (limits.upper - limits.lower))
        low, high = np.maximum(limits.lower + room, -1.5), np.minimum(limits.upper - room, 1.5)
        q[HUMAN.skeleton.index(name)] = limits.rotation(rng.uniform(low, np.maximum(low, high)))
    return q


def test_angles_are_scipys() -> None:
    rng, work, found = np.random.default_rng(0), np.empty((2, 4)), np.empty(5)
    for stem in STEMS:
        limits = HUMAN.limits[stem]
        for q in rotation.random(rng, (20,)):
            find_angles(limits.parent_zero, q, limits.child_zero, work, found)
            np.testing.assert_allclose(found[:3], angles_of(limits, q), atol=1e-6)


def test_nothing_is_asked_of_joints_in_their_ranges() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        body, _ = kept(inside(rng, np.radians(6.0)), np.zeros((len(HUMAN.skeleton), 3)))
        assert not body.torque.any() and not body.axial.any() and not body.damping.any()


def test_what_is_asked_beyond_leads_back_and_takes_energy() -> None:
    """A tiny turn along the torque brings every joint nearer to its range; damping is at least that of the law."""
    rng = np.random.default_rng(2)
    for stem in STEMS:
        i, limits = HUMAN.skeleton.index(stem), HUMAN.limits[stem]
        for axis in range(3):
            q, target = inside(rng, 0.2), 0.5 * (limits.lower + limits.upper)
            target[axis] = limits.upper[axis] + SLACK + 0.1
            q[i] = limits.rotation(target)
            body, own = kept(inside(rng, 0.2), np.zeros((len(HUMAN.skeleton), 3)))
            body.state.q[:] = q
            body.update()
            own.law(body.block, own.block)
            torque = body.R[i].T @ body.stops[i]
            turned = rotation.multiply(q[i], rotation.exp(1e-4 * torque / np.linalg.norm(torque)))
            excess = [angles_of(limits, each)[axis] - limits.upper[axis] for each in (q[i], turned)]
            assert excess[1] < excess[0] - 0.3e-4
            assert (body.axial[i] >= 0.0).all() and body.axial[i].max() > 0.0


def test_damping_about_the_axes_is_never_less_than_asked_for() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        rows = rng.normal(size=(rng.integers(1, 4), 3))
        C, F, axial = Rotation.random(rng=rng).as_matrix(), rows.T @ rows, np.empty(3)
        for isotropic in (False, True):
            spread_damping(C, F, isotropic, axial)
            assert np.linalg.eigvalsh(np.diag(axial) - C.T @ F @ C)[0] > -1e-9
            assert not isotropic or np.ptp(axial) == 0.0


def test_elbows_that_hang_loose_are_hinges_about_their_own_axes() -> None:
    limits, i = HUMAN.limits["leftLowerArm"], HUMAN.skeleton.index("leftLowerArm")
    body = Body(HUMAN)
    body.state.q[i] = limits.rotation(np.array([-0.9, 0.6, 0.0]))
    joint = build_hinges(body, i)
    assert joint is not None and joint.kind == HINGES and len(joint.axes) == 2
    q = body.state.q[i]
    for axis, angle in zip(joint.axes, (-0.4, 0.3), strict=True):
        q = rotation.multiply(q, rotation.exp(angle * axis))
    np.testing.assert_allclose(angles_of(limits, q), [-1.3, 0.9, 0.0], atol=1e-9)
    assert build_hinges(body, HUMAN.skeleton.index("leftUpperArm")) is None
    body.state.q[i] = limits.rotation(np.array([-0.9, 0.6, 0.2]))
    assert build_hinges(body, i) is None


def ragdoll(q: np.ndarray, dt: float = 0.005, loads: tuple[Load, ...] = (), g: float = 9.81) -> Actor:
    """A body that floats, or hangs from its hips where there is weight."""
    stage = Stage(dt=dt, ground=None, gravity=(0.0, -g, 0.0))
    actor = stage.add(HUMAN, pose=Pose(np.zeros(3), q), loads=loads)
    if g == 0.0:
        actor.drive("root", Free())
    actor.drive("arms" if g else "body", Loose(0.0, 0.3))
    return actor


@pytest.mark.parametrize("dt", [0.002, 0.01])
def test_weights_hang_from_joints_at_their_ends(dt: float) -> None:
    """Half the body's own weight in each hand: whatever the arms do under it, they stay within 3 degrees."""
    loads = (Load("leftHand", 20.0), Load("rightHand", 20.0))
    actor = ragdoll(rotation.identity((len(HUMAN.skeleton),)), dt, loads)
    actor.stage.advance(round(3.0 / dt))
    assert np.degrees(beyond(actor).max()) < 3.0


def test_who_begins_outside_is_not_flung_back() -> None:
    """Its range is as wide as it is, and closes at 1 rad/s."""
    q = rotation.identity((len(HUMAN.skeleton),))
    limits, i = HUMAN.limits["leftUpperLeg"], HUMAN.skeleton.index("leftUpperLeg")
    q[i] = limits.rotation(limits.upper + np.array([0.5, 0.0, 0.0]))
    actor = ragdoll(q, g=0.0)
    fastest = 0.0
    for _ in range(160):
        actor.stage.advance(1)
        fastest = max(fastest, float(np.linalg.norm(actor.body.state.w[i])))
    assert 0.5 < fastest < 2.0  # the hip itself; at once it would be 50
    assert np.degrees(beyond(actor).max()) < 3.0


def test_a_range_that_is_wider_is_saved_and_restored() -> None:
    q = rotation.identity((len(HUMAN.skeleton),))
    limits, i = HUMAN.limits["leftUpperLeg"], HUMAN.skeleton.index("leftUpperLeg")
    q[i] = limits.rotation(limits.upper + np.array([0.5, 0.0, 0.0]))
    actor = ragdoll(q, g=0.0)
    actor.stage.advance(40)
    saved = actor.stage.save()
    ends = []
    for _ in range(2):
        actor.stage.advance(40)
        ends.append(actor.body.state.q.tobytes())
        actor.stage.restore(saved)
    assert ends[0] == ends[1]
    other = ragdoll(q, g=0.0)
    other.stage.restore(saved)
    other.stage.advance(40)
    assert other.body.state.q.tobytes() == ends[0]


def test_what_is_firmly_aimed_at_may_be_outside() -> None:
    """An animator's word goes before anatomy: the pose that is held is reached; a slack spring's is not."""
    limits, i = HUMAN.limits["leftLowerArm"], HUMAN.skeleton.index("leftLowerArm")
    pose = rotation.identity((len(HUMAN.skeleton),))
    pose[i] = limits.rotation(np.array([-0.5, 0.0, 0.5]))
    found = []
    for stiffness in (20.0, 0.3):
        actor = ragdoll(rotation.identity((len(HUMAN.skeleton),)), g=0.0)
        actor.drive("arms", Loose(stiffness, 1.0, pose))
        actor.stage.advance(300)
        found.append(angles_of(limits, actor.body.state.q[i])[2])
    assert found[0] == pytest.approx(0.5, abs=0.02)
    assert abs(found[1]) < 0.05


def test_a_body_without_limits_is_free() -> None:
    free = replace(HUMAN, limits={})
    actor = Stage(ground=None).add(free)
    actor.drive("root", Free())
    actor.drive("body", Loose(0.0, 0.3))
    actor.stage.build()
    assert actor.limits.count == 0
