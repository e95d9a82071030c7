"""A trunk under `Counterpoise` that things and people hit, beside one on springs that an engine simulates."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from helpers.stages import check_goes_on
from poise import Balance, Character, Clip, ContactSettings, Kinematic, Load, Loose, Pose, Prop, Stage
from poise.body.geometry.primitives import Box, Sphere
from poise.demos.mix.push_hands import build_push
from poise.drivers.counterpoise.counterpoise import CounterpoisePlayer
from poise.drivers.driver import POST_STEP
from poise.motion.samples.tracks import stand_pose
from poise.stage.actor import Actor

HUMAN = Character.human(1.75, 75.0)
CHILD, GIANT = Character.human(1.05, 17.0), Character.human(2.4, 200.0)


def stand(
    character: Character, couple: str, engine: str = "mujoco", dt: float = 0.005, touch: ContactSettings | None = None
) -> Actor:
    actor = Stage(engine=engine, dt=dt, couple=couple, touch=touch or ContactSettings()).add(character)
    actor.drive("legs", Balance())
    return actor


@cache
def find_middle(character: Character, joint: str) -> np.ndarray:
    """Where a segment's centre of mass is when the body stands."""
    actor = stand(character, "exact")
    actor.stage.build()
    body, i = actor.body, character.skeleton.index(joint)
    body.update()
    return np.array(body.p[i] + body.R[i] @ body.tree.centers[i])


def throw(
    mass: float, speed: float, joint: str, couple: str = "exact", engine: str = "mujoco", dt: float = 0.005,
    character: Character = HUMAN,
) -> Actor:  # fmt: skip
    """Somebody at whom a ball (kg, m/s) flies from ahead, so that it is level when it arrives."""
    actor = stand(character, couple, engine, dt)
    size = character.height / 1.75
    gap = 0.3 * size
    place = find_middle(character, joint) + [0.0, 0.0, gap]
    velocity = np.array([0.0, 0.5 * 9.81 * gap / speed, -speed])
    actor.stage.add_prop(Prop.solid("ball", Sphere(np.zeros(3), 0.06 * size), mass, place, velocity=velocity))
    return actor


def find_bend(clip: Clip, joint: str) -> np.ndarray:
    """(F,) degrees by which a segment has turned back, beside the hips."""
    turns = [
        Rotation.from_quat(clip.world[1][:, clip.skeleton.index(role)][:, [1, 2, 3, 0]]) for role in ("hips", joint)
    ]
    return -np.degrees((turns[0].inv() * turns[1]).as_rotvec()[:, 0])


def find_peak(actor: Actor, joint: str, seconds: float = 0.4) -> float:
    clip = actor.stage.run(seconds, fps=50).clip()
    return float(find_bend(clip, joint).max())


@pytest.mark.many(3)
@pytest.mark.parametrize("engine", ["mujoco", "inverse", "bullet"])
@pytest.mark.parametrize(("joint", "mass"), [("upperChest", 1.0), ("head", 1.0), ("head", 0.1)])
def test_a_hit_bends_the_trunk_as_it_bends_one_on_springs(joint: str, mass: float, engine: str) -> None:
    """The oracle is MuJoCo's: with `paper` coupling the trunk is physical, on springs of the same stiffness."""
    if engine == "bullet":
        pytest.importorskip("pybullet")
    for character in (CHILD, HUMAN, GIANT):
        share = character.mass / 75.0
        bends = [
            find_peak(throw(mass * share, 4.0, joint, couple, of, character=character), "head")
            for couple, of in (("exact", engine), ("paper", "mujoco"))
        ]
        assert bends[1] > 0.5
        assert 0.9 < bends[0] / bends[1] < 1.45


@pytest.mark.parametrize("joint", ["upperChest", "head"])
def test_how_far_a_hit_bends_the_trunk_hardly_depends_on_the_step(joint: str) -> None:
    bends = [find_peak(throw(1.0, 4.0, joint, dt=dt), "head") for dt in (0.001, 0.005, 0.01, 0.02)]
    np.testing.assert_allclose(bends, bends[0], rtol=0.25)
    np.testing.assert_allclose(bends[:3], bends[0], rtol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("character", [CHILD, HUMAN, GIANT], ids=["child", "human", "giant"])
@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
def test_heavy_and_light_things_neither_shake_the_trunk_nor_fling_it(character: Character, dt: float) -> None:
    """From a bead to a sack of half the body's mass: half to three times what the physical trunk does."""
    for mass, speed in ((0.1, 4.0), (10.0, 1.5), (40.0, 1.2)):
        mass *= character.mass / 75.0
        found, oracle = (
            find_peak(throw(mass, speed, "head", couple, dt=dt, character=character), "upperChest", 0.5)
            for couple in ("exact", "paper")
        )
        assert 0.5 * oracle < found < 3.0 * oracle


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
def test_what_leans_on_the_trunk_bends_it_by_its_weight(dt: float) -> None:
    """A board on a hinge before the toes that leans on the chest; no step makes the trunk shake under it."""
    bends = []
    for couple in ("exact", "paper"):
        actor = stand(HUMAN, couple, dt=dt)
        turn = Rotation.from_rotvec([-np.arctan2(0.28, 1.35), 0.0, 0.0]).as_quat()[[3, 0, 1, 2]]
        shape = Box(np.array([0.0, 0.725, 0.0]), np.array([0.2, 0.725, 0.015]))
        hinge = poise.Hinge(np.zeros(3), np.array([1.0, 0.0, 0.0]))
        actor.stage.add_prop(Prop.solid("board", shape, 10.0, np.array([0.0, 0.02, 0.45]), turn=turn, hinge=hinge))
        bends.append(find_bend(actor.stage.run(1.5, fps=50).clip(), "upperChest")[40:])
    assert bends[1].mean() > 0.05
    assert 0.5 < bends[0].mean() / bends[1].mean() < 2.0
    assert np.abs(np.diff(bends[0])).max() < 0.15


def find_player(actor: Actor) -> CounterpoisePlayer:
    actor.stage.build()
    return next(player for player in actor.players if isinstance(player, CounterpoisePlayer))


def test_the_springs_resist_with_the_inertia_of_what_they_carry() -> None:
    """Kinetic energy of segments that turn as given, by velocities of SciPy's rotations, beside w M w / 2."""
    from poise.drivers.counterpoise import kernels as law

    actor = stand(HUMAN, "exact")
    actor.drive("arms", Kinematic(poise.gestures.arm_swing(1.0, 60.0)))
    player = find_player(actor)
    actor.stage.run(0.3)
    body, k = actor.body, len(player.joints)
    body.update()
    M, tree = np.zeros((3 * k, 3 * k)), body.tree
    law.find_inertia(body.block.record[0], player.block.record[0], M)
    rates = np.random.default_rng(2).normal(0.0, 1.0, (k, 3))  # world axes
    om, energy = np.zeros((len(tree), 3)), 0.0
    v = np.zeros((len(tree), 3))
    turning = dict(zip(player.joints.tolist(), rates, strict=True))
    for i, parent in enumerate(tree.parents.tolist()):
        if parent >= 0:
            om[i], v[i] = om[parent], v[parent] + np.cross(om[parent], body.p[i] - body.p[parent])
        om[i] = om[i] + turning.get(i, np.zeros(3))
        if any(i in body.skeleton.descendants(joint) for joint in turning):
            center = v[i] + np.cross(om[i], body.R[i] @ tree.centers[i])
            own = body.R[i].T @ om[i]
            energy += 0.5 * tree.masses[i] * center @ center + 0.5 * own @ tree.inertias[i] @ own
    assert 0.5 * rates.ravel() @ M @ rates.ravel() == pytest.approx(energy, rel=1e-9)


@pytest.mark.parametrize("mass", [0.0, 5.0, 75.0])
def test_contacts_are_felt_late_but_whole(mass: float) -> None:
    """What springs feel of a blow of one step adds up to its impulse, whatever is behind it."""
    actor = stand(HUMAN, "exact")
    player = find_player(actor)
    body, chest = actor.body, int(player.joints[2])
    body.update()
    torque, summed = np.array([-40.0, 5.0, 3.0]), np.zeros(3)
    body.pressed[chest] = [*torque, 0.0, 0.0, -120.0, 120.0, 120.0 * mass]
    first = None
    for _ in range(4000):
        player.laws()[POST_STEP][0](body.block, player.block)
        summed += body.R[chest] @ player.contacts[2]
        first = np.array(summed) if first is None else first
    np.testing.assert_allclose(summed, torque, rtol=1e-4)
    assert first is not None
    assert np.linalg.norm(first) < (1.0 if mass == 0.0 else 0.8) * np.linalg.norm(torque) + 1e-9
    assert not player.contacts.any()


def test_a_hit_on_an_animated_arm_bends_the_trunk_as_a_push_there() -> None:
    """And that on a limp arm moves the arm."""

    def bend(driver: poise.extend.Driver, is_pushed: bool) -> tuple[float, float]:
        actor = stand(HUMAN, "exact")
        actor.drive("arms", driver)
        hand = "leftHand"
        if is_pushed:
            actor.push(hand, (0.0, 0.0, -2.6 / 0.01), 0.01, 0.075)
        else:
            place = find_middle(HUMAN, hand) + [0.0, 0.0, 0.25]
            velocity = np.array([0.0, 0.5 * 9.81 * 0.25 / 4.0, -4.0])
            actor.stage.add_prop(Prop.solid("ball", Sphere(np.zeros(3), 0.06), 0.6, place, velocity=velocity))
        take = actor.stage.run(0.4, fps=100)
        impulse = sum(event.impulse for event in take.events if event.kind == "hit")
        return float(np.abs(find_bend(take.clip(), "upperChest")).max()), impulse

    rest = Kinematic(poise.gestures.breathe())
    hit, impulse = bend(rest, False)
    pushed, _ = bend(rest, True)
    assert impulse > 1.0
    assert hit / impulse == pytest.approx(pushed / 2.6, rel=0.4)
    limp, impulse = bend(Loose(0.3), False)
    assert impulse > 0.5 and limp / impulse < 0.3 * pushed / 2.6


def test_another_actors_hand_pushes_the_chest_back() -> None:
    """A hand that goes 60 mm to and fro, before the chest of somebody who faces it."""
    bends = []
    for couple in ("exact", "paper"):
        stage = Stage(couple=couple)
        pose, push = stand_pose(HUMAN.skeleton), build_push(HUMAN, 0.06)
        hand = push.positions[0, HUMAN.skeleton.index("leftHand")]
        turned = np.array(pose.rotations)
        turned[0] = [0.0, 0.0, 1.0, 0.0]
        pusher = stage.add(HUMAN, "pusher", pose)
        held = stage.add(HUMAN, "held", Pose(np.array([hand[0], pose.root[1], hand[2] + 0.16]), turned))
        for actor in (pusher, held):
            actor.drive("legs", Balance(hold=0.0, counter_lean=0.0))
        pusher.drive("arms", Kinematic(push))
        bends.append(find_bend(stage.run(3.0, fps=50).clip("held"), "upperChest"))
    assert bends[1].max() > 2.0
    assert bends[0].max() == pytest.approx(bends[1].max(), rel=0.25)
    assert np.abs(np.diff(bends[0])).max() < 0.6


def test_a_bodys_own_hand_on_its_chest_does_not_bend_it() -> None:
    """That force goes back into the chest by the arm."""
    bends = []
    for itself in (True, False):
        actor = stand(HUMAN, "exact", touch=ContactSettings(itself=itself))
        actor.drive("arms", Kinematic(poise.gestures.clap()))
        actor.stage.run(1.0)
        bends.append(float(np.abs(find_player(actor).bent).max()))
    assert max(bends) < 1e-6


@pytest.mark.parametrize("engine", ["mujoco", "inverse", "bullet"])
def test_a_stage_saved_while_a_hit_bends_the_trunk_goes_on_with_the_same_bits(engine: str) -> None:
    if engine == "bullet":
        pytest.importorskip("pybullet")
    stages = [throw(1.0, 4.0, "head", engine=engine).stage for _ in range(2)]
    stages[0].run(0.1)
    while not find_player(next(iter(stages[0].actors.values()))).contacts.any():
        stages[0].step()
    check_goes_on(stages[0], 0.2, stages[1])


def test_a_loaded_trunk_still_gives_way() -> None:
    actor = throw(1.0, 4.0, "head")
    actor.load(Load("upperChest", 5.0))
    assert find_peak(actor, "head") > 3.0
