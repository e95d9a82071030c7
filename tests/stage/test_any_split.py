"""Physical and kinematic joints that alternate as they like, through a stage's own step, against a dense solve."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

import poise
from helpers.random_bodies import random_tree
from poise.body.character import Character, Segment
from poise.body.skeleton import Skeleton
from poise.drivers.body import Body
from poise.drivers.driver import MOTION, TORQUE, BodyModel, Claim, Driver, MotionPlayer, Player
from poise.dynamics.tree import Tree
from poise.engines.scene import HINGES, Joint
from poise.motion.motion import Pose
from poise.motion.parts import part_joints
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.stage import Stage

BODIES, EACH = 210, 30


class Given(Driver, MotionPlayer):
    """Gives whatever it was told, whenever it is asked."""

    level, root = MOTION, "also"

    def __init__(self, q: np.ndarray, w: np.ndarray, dw: np.ndarray, place: np.ndarray):
        self.q, self.w, self.dw, self.place = (
            q,
            w,
            dw,
            place,
        )  # place (3, 3): the root's, its velocity, its acceleration

    def build(self, body: Body, joints: np.ndarray, t: float) -> MotionPlayer:
        self.joints = joints
        return self

    def write(self, body: Body, t: float) -> None:
        at = self.joints
        body.state.q[at], body.state.w[at], body.dw[at] = self.q[at], self.w[at], self.dw[at]
        if 0 in at:
            body.state.root[:], body.state.v[:], body.a[:] = self.place


class Torque(Driver, Player):
    """Torques (J, 3) in body axes, on balls and on hinges (J, 3), an axis each; NaN is a ball."""

    level = TORQUE

    def __init__(self, torque: np.ndarray, axes: np.ndarray, frees_root: bool):
        self.torque, self.axes, self.frees_root = torque, axes, frees_root

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        return Claim(tuple(joints), frees_root=self.frees_root)

    def build(self, body: Body, joints: np.ndarray, t: float) -> Player:
        self.joints = joints
        return self

    def model(self, body: Body, falling: bool) -> BodyModel:
        free, own = np.full((1, 2), np.inf) * [-1, 1], [int(i) for i in self.joints if np.isfinite(self.axes[i, 0])]
        return BodyModel({i: Joint(HINGES, self.axes[i : i + 1], free) for i in own}, requires_hinges=True)

    def write(self, body: Body, t: float) -> None:
        for i in self.joints:
            body.torque[i] += body.R[i] @ self.torque[i]


def solve_full(tree: Tree, q: np.ndarray, root: np.ndarray, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inertia (n, n) and bias (n,) of a whole tree, by a model of MuJoCo with nothing but balls and a free root.

    Freedoms in Poise's order: the root's place, then three a joint.
    """
    spec = mujoco.MjSpec()
    spec.option.gravity = [0.0, -9.81, 0.0]
    made: list[Any] = []
    for i, p in enumerate(tree.parents):
        body = (spec.worldbody if p < 0 else made[p]).add_body(
            name=f"b{i}", pos=np.zeros(3) if p < 0 else tree.offsets[i]
        )
        body.explicitinertial, body.mass, body.ipos = True, tree.masses[i], tree.centers[i]
        body.fullinertia = tree.inertias[i][[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        body.add_freejoint() if p < 0 else body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
        made.append(body)
    model = spec.compile()
    data = mujoco.MjData(model)
    # MuJoCo has its bodies by depth
    first = [int(model.body_dofadr[model.body(f"b{i}").id]) for i in range(len(tree))]
    order = np.array([0, 1, 2, 3, 4, 5, *(first[i] + k for i in range(1, len(tree)) for k in range(3))])
    for i in range(len(tree)):
        at = model.jnt_qposadr[model.body_jntadr[model.body(f"b{i}").id]] + (0 if i else 3)
        data.qpos[at : at + 4] = q[i]
    data.qpos[:3], data.qvel[order] = root, velocity
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return M[np.ix_(order, order)], data.qfrc_bias[order]


def check_random_body(seed: int) -> float:
    """The largest error of a physical joint's acceleration in one step, over the largest acceleration."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(3, 26)))
    j = len(tree)
    is_physical = rng.random(j) < rng.uniform(0.2, 0.8)
    is_physical[0] = rng.random() < 0.6
    is_physical[1 + int(rng.integers(j - 1))] = True
    axes = np.full((j, 3), np.nan)
    for i in range(1, j):
        if is_physical[i] and rng.random() < 0.3:
            axes[i] = rng.standard_normal(3)
            axes[i] /= np.linalg.norm(axes[i])
    q, w, dw = rotation.random(rng, (j,)), 4.0 * rng.standard_normal((j, 3)), 40.0 * rng.standard_normal((j, 3))
    hinged = np.isfinite(axes[:, 0])
    w[hinged] = np.sum(w * axes, axis=1, keepdims=True)[hinged] * axes[hinged]
    place, torque = rng.standard_normal((3, 3)) * [[1], [2], [10]], 20.0 * rng.standard_normal((j, 3))
    if not is_physical[0] and rng.random() < 0.5:  # a fixed root
        place[1:], w[0], dw[0] = 0.0, 0.0, 0.0

    # M qdd + c = tau, with qdd = S s + (what is given)
    M, c = solve_full(tree, q, place[0], np.concatenate([place[1], w.ravel()]))
    given = np.concatenate([place[2], dw.ravel()])
    columns, force = [], np.concatenate([np.zeros(6), torque[1:].ravel()])
    for i in np.flatnonzero(is_physical):
        for k in range(1 if hinged[i] else 3):
            columns.append(np.zeros(len(M)))
            columns[-1][3 + 3 * i : 6 + 3 * i] = axes[i] if hinged[i] else np.eye(3)[k]
        given[3 + 3 * i : 6 + 3 * i] = 0.0
    if is_physical[0]:
        columns += list(np.eye(len(M))[:3])
        given[:3] = 0.0
    S = np.array(columns).T
    wanted = S @ np.linalg.solve(S.T @ M @ S, S.T @ (force - c - M @ given))

    skeleton = Skeleton(tree.names, tree.parents, tree.offsets)
    segments = [Segment(tree.names[i], tree.names[i], tree.body(i)) for i in range(j)]
    stage = poise.Stage(dt=1e-3, ground=None, touch=poise.ContactSettings(itself=False))
    actor = stage.add(Character("random", skeleton, tuple(segments), 2.0), pose=Pose(place[0], q))
    if is_physical[0]:
        actor.drive("root", poise.Free())
    kinematic = [tree.names[i] for i in np.flatnonzero(~is_physical) if i]
    if not is_physical[0]:
        actor.drive("root", Given(q, w, dw, place))
    if kinematic:
        actor.drive(kinematic, Given(q, w, dw, place))
    physical = [tree.names[i] for i in np.flatnonzero(is_physical) if i]
    actor.drive(physical, Torque(torque, axes, False))
    actor.body.state.w[:], actor.body.state.v[:] = w, place[1]
    stage.step()
    simulation: Any = stage.groups[0].simulation
    qacc, found = simulation.data.qacc, np.zeros(len(M))
    for i in np.flatnonzero(is_physical):
        at = simulation.layouts[0].vadr[i]
        if i == 0:
            found[:3], at = qacc[at : at + 3], at + 3
        found[3 + 3 * i : 6 + 3 * i] = qacc[at] * axes[i] if hinged[i] else qacc[at : at + 3]
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


@pytest.mark.parametrize("block", range(BODIES // EACH))
@pytest.mark.many(2)
def test_any_split_of_any_body_solves_the_equation_of_motion(block: int) -> None:
    """Trees of 3 to 25 joints; roots that float, are given or stand still; balls, and hinges beyond given bodies."""
    worst = max(check_random_body(seed) for seed in range(EACH * block, EACH * (block + 1)))
    assert worst < 1e-9


# A hit arm: loose, on an animated trunk, over legs that balance.

HUMAN = Character.human(1.75, 75.0, preset="tracking")
GESTURE = poise.gestures.conduct(bpm=92.0, beats=4, hands="both")


def conductor(stage: Stage, name: str = "conductor", character: Character = HUMAN) -> Actor:
    actor = stage.add(character, name=name)
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Kinematic(GESTURE))
    return actor


def look(actor: Actor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    actor.show(actor.stage.time)
    return actor.body.state.q.copy(), actor.body.state.w.copy(), actor.body.dw.copy()


def switch(actor: Actor, part: str, driver: Driver) -> tuple[float, float, float]:
    """The largest jump of a rotation, of a rate, and of a rate's rate of what was given before and after."""
    before, given = look(actor), actor.given.copy()
    actor.drive(part, driver)
    actor.stage.build()
    after = look(actor)
    both = given & actor.given
    turned = rotation.log(rotation.multiply(rotation.conjugate(before[0]), after[0]))
    return (
        float(np.abs(turned).max()), float(np.abs(after[1] - before[1]).max()),
        float(np.abs(after[2] - before[2])[both].max(initial=0.0)),
    )  # fmt: skip


def test_a_hit_arm_hangs_loose_from_an_animated_trunk_over_balancing_legs() -> None:
    stage = Stage()
    actor = conductor(stage)
    stage.run(0.5)
    assert max(switch(actor, "rightArm", poise.Loose(0.2, damping=0.5))) < 1e-3
    skeleton = HUMAN.skeleton
    arm = part_joints(skeleton, "rightArm")
    assert actor.partition is not None and actor.partition.parts[0].carried == (arm[0],)
    actor.push("rightLowerArm", (60.0, 0.0, -60.0), 0.05)
    loose = stage.run(1.0, fps=100).actor()
    swung = rotation.angle(loose.rotations[:1, arm[1:]], loose.rotations[:, arm[1:]])
    assert swung.max() > 1.0 and np.isfinite(loose.root).all()  # it was hit
    saved = stage.save()
    assert max(switch(actor, "upperBody", poise.Kinematic(GESTURE))) < 1e-3
    back = stage.run(1.5, fps=50)
    assert not back.events or back.events[-1].kind == "switched"
    assert np.nanmin(back.actor().margin) > 0.0
    # where the music is, as if nothing had been: seconds are beats by the tempo
    wanted = GESTURE.rotations(skeleton, np.array([stage.time * GESTURE.rate % GESTURE.period]))[0]
    assert rotation.angle(back.actor().rotations[-1, GESTURE.joints(skeleton)], wanted).max() < 1e-3
    # and again from the moment before it came back, in another stage
    other = Stage()
    twin = conductor(other)
    twin.drive("rightArm", poise.Loose(0.2, damping=0.5))
    other.restore(saved)
    twin.drive("upperBody", poise.Kinematic(GESTURE))
    again = other.run(1.5, fps=50).actor()
    assert again.rotations.tobytes() == back.actor().rotations.tobytes()
    assert again.root.tobytes() == back.actor().root.tobytes()


def test_a_crowd_of_split_bodies_moves_as_each_alone() -> None:
    """Nine of them take turns at the engine's memory."""

    def hit(stage: Stage, k: int) -> Actor:
        actor = conductor(stage, f"hit {k}", Character.human(1.5 + 0.05 * k, 60.0 + k, preset="mix"))
        actor.drive("rightArm", poise.Loose(0.2, damping=0.5))
        actor.push("rightLowerArm", (20.0, 0.0, -40.0), 0.1)
        return actor

    many = Stage(threads=2)
    for k in range(9):
        hit(many, k)
    together = many.run(0.2)
    for k in (0, 8):
        alone = Stage()
        hit(alone, k)
        one, other = alone.run(0.2).actor(), together.actor(f"hit {k}")
        assert one.rotations.tobytes() == other.rotations.tobytes() and one.wrench.tobytes() == other.wrench.tobytes()


def test_what_nobody_drives_comes_to_rest_where_it_becomes_given() -> None:
    """A loose arm in full swing goes to somebody who moves its upper arm alone: the rest stops, and not at once."""
    stage = Stage()
    actor = conductor(stage)
    arm = part_joints(HUMAN.skeleton, "rightArm")
    actor.drive("rightArm", poise.Loose(0.2, damping=0.1))
    actor.push("rightHand", (0.0, 0.0, -50.0), 0.1)
    stage.run(0.2)  # in full swing
    upper, rest = [HUMAN.skeleton.names[arm[0]]], arm[1:]
    motion = poise.Clip(
        HUMAN.skeleton, np.array([0.0, 1.0, 2.0]), np.zeros((3, 3)), rotation.identity((3, len(HUMAN.skeleton))), "stay"
    )
    w = look(actor)[1]
    assert np.abs(w[rest]).max() > 1.0
    actor.drive("rightArm", Only(poise.Kinematic(motion), upper))
    stage.build()
    assert np.abs(look(actor)[1] - w).max() < 1e-3 * np.abs(w[rest]).max()
    take = stage.run(1.2, fps=200).actor()
    assert np.all(take.angular_velocity[-20:, rest] == 0.0)
    assert np.abs(np.diff(take.angular_velocity[:, rest], axis=0)).max() < 0.2 * np.abs(w[rest]).max()
    # rates are those of the poses, all the way: what is given is one motion
    steps = rotation.log(rotation.multiply(rotation.conjugate(take.rotations[:-2]), take.rotations[2:])) / 0.01
    assert np.abs(steps[5:, rest] - take.angular_velocity[6:-1, rest]).max() < 0.1


class Only(Driver):
    """Another driver on a few of the joints of a part; the others it holds."""

    level = MOTION

    def __init__(self, driver: Driver, names: list[str]):
        self.driver, self.names = driver, names

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        moved = [character.skeleton.index(name) for name in self.names]
        return Claim(tuple(moved), tuple(joint for joint in joints if joint not in moved))

    def build(self, body: Body, joints: np.ndarray, t: float) -> Any:
        return self.driver.build(body, joints, t)
