"""Penalty forces: beside a plain evaluation, with momentum kept, on chosen pairs only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise import ContactSettings, Loose, Pose, Prop, Stage
from poise.engines import penalty_kernels as kernels
from poise.engines.penalty import LEAST, PenaltySimulation, list_shapes
from poise.errors import InputError
from poise.motion.samples.tracks import stand_pose
from poise.world.contact_settings import find_damping
from poise.world.overlap import find_depth

HUMAN = poise.Character.human(1.75, 75.0, preset="mix")
FLYING: dict[str, Any] = {"ground": None, "gravity": (0.0, 0.0, 0.0)}


def add_doll(stage: Stage, name: str, z: float) -> Any:
    pose = stand_pose(HUMAN.skeleton)
    actor = stage.add(HUMAN, name, Pose(pose.root + [0.0, 3.0, z], pose.rotations))
    actor.drive("root", poise.Free())
    actor.drive("body", Loose(0.3))
    return actor


def momentum(actor: Any) -> np.ndarray:
    actor.body.update()
    tree, body = actor.body.tree, actor.body
    centers = np.einsum("jab,jb->ja", body.R, tree.centers)
    return np.asarray((tree.masses[:, None] * (body.v + np.cross(body.om, centers))).sum(axis=0))


def throw(actor: Any, speed: float) -> None:
    actor.body.state.v[:] = 0.0, 0.0, speed
    actor.flight.target[:] = 0.0  # it has another momentum now
    actor.stage.rebuild(actor)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.many(1)
def test_two_that_fly_at_each_other_hand_over_what_their_contacts_say(engine: str) -> None:
    """Both together keep their momentum, and what one loses is the sum of its contacts' forces times the step."""
    pytest.importorskip("pybullet" if engine == "bullet" else "mujoco")
    stage = Stage(engine, dt=0.001, touch=ContactSettings(forces="penalty", itself=False), **FLYING)
    a, b = add_doll(stage, "a", 0.0), add_doll(stage, "b", 0.6)
    stage.build()
    throw(a, 1.0)
    throw(b, -1.0)
    stage.step()
    before, impulse, met = (momentum(a), momentum(b)), np.zeros(3), 0
    for _ in range(300):
        stage.step()
        for group in stage.groups:
            for k, actor in enumerate(group.actors):
                if actor is a:
                    touches = group.simulation.find_contacts(k)
                    impulse += stage.dt * touches.forces.sum(axis=0)
                    met += len(touches) > 0
    after = momentum(a), momentum(b)
    assert met > 5
    assert isinstance(stage.groups[0].simulation, PenaltySimulation)
    np.testing.assert_allclose(sum(after), sum(before), atol=1e-8)
    np.testing.assert_allclose(after[0] - before[0], impulse, atol=0.02 * np.linalg.norm(impulse))
    assert impulse[2] < -20.0
    assert {event.kind for event in stage.events} == {"hit"}


def test_one_contact_is_a_spring_and_a_damper() -> None:
    """A hand by itself falls onto a plate: its force is k d - c v by hand, from masses and places alone."""
    rng = np.random.default_rng(1)
    mass, tensor, center = 0.45, np.diag([4e-4, 9e-4, 8e-4]), np.array([0.05, 0.0, 0.0])
    capsule = poise.Capsule(np.array([0.0, 0.0, 0.0]), np.array([0.1, 0.0, 0.0]), 0.03)
    plate = poise.Box(np.zeros(3), np.array([1.0, 0.1, 1.0]))
    s, z, mu = 0.01, 0.5, 0.6
    scene = kernels.PenaltyScene(
        things=2, inverse_mass=np.array([1.0 / mass, 0.0]), center=np.array([center, np.zeros(3)]),
        inverse_inertia=np.array([np.linalg.inv(tensor), np.zeros((3, 3))]), shape_count=2, thing=np.array([0, 1]),
        **list_shapes([capsule, plate]), pair_count=1, pairs=np.array([[0, 1]]), softness=np.array([s]),
        damping_ratio=np.array([z]), friction=np.array([mu]), most=kernels.MOST,
    )  # fmt: skip
    for _ in range(30):
        turn = poise.rotation.exp(np.array([0.0, 0.0, rng.uniform(0.3, 0.6)]))
        R = np.stack([poise.rotation.to_matrix(turn), np.eye(3)])
        p = np.array([[0.0, 0.13 - rng.uniform(0.0, 0.01), 0.0], [0.0, 0.0, 0.0]])
        om, v = np.zeros((2, 3)), np.array([rng.normal(0.0, 0.5, 3), np.zeros(3)])
        om[0] = rng.normal(0.0, 2.0, 3)
        scene.R[:], scene.p[:], scene.om[:], scene.v[:] = R, p, om, v
        kernels.place_shapes(scene)
        count, wrench, told = kernels.press(scene), scene.wrench, scene.contact_forces
        depth = find_depth(plate, p[0])[0] + capsule.radius  # its lower end is the only one that is in
        point = p[0] - [0.0, capsule.radius - 0.5 * depth, 0.0]
        arm = R[0].T @ (point - p[0]) - center
        across = np.cross(arm, R[0].T @ [0.0, 1.0, 0.0])
        weight = 1.0 / (1.0 / mass + across @ np.linalg.inv(tensor) @ across)
        speed = v[0] + np.cross(om[0], point - p[0])
        size = weight / s**2 * depth - 2.0 * z * weight / s * speed[1]
        assert count == (size > 0.0)
        if count:
            assert told[0, 1] == pytest.approx(size, rel=1e-9)
            level = np.hypot(told[0, 0], told[0, 2])
            assert level <= mu * size * (1.0 + 1e-9)
            assert told[0, [0, 2]] @ speed[[0, 2]] <= 1e-12
            np.testing.assert_allclose(wrench[0], -wrench[1] - [*np.cross(p[1] - p[0], wrench[1, 3:]), 0, 0, 0],
                                       atol=1e-9)  # fmt: skip


def test_what_bounces_gives_back_its_share() -> None:
    """A mass on the spring and damper of a bounce, integrated finely by hand, parts with that share of its speed."""
    for bounce in (0.2, 0.5, 0.8):
        z, x, v, h = find_damping(bounce), 0.0, -1.0, 1e-4
        while not (x >= 0.0 and v > 0.0):
            v += h * (-x - 2.0 * z * v)
            x += h * v
        assert v == pytest.approx(bounce, abs=0.01)


def drop_hand(touch: ContactSettings, engine: str = "mujoco") -> tuple[Stage, Any]:
    """A body that lies in the air falls onto a table, face down, its arms out to the sides."""
    stage = Stage(engine, dt=0.002, ground=None, touch=touch)
    stage.add_prop(Prop.box("table", (4.0, 0.2, 4.0), None, (0.0, -0.5, 0.0)))
    turns = poise.rotation.identity((len(HUMAN.skeleton),))
    turns[0] = poise.rotation.exp(np.array([0.5 * np.pi, 0.0, 0.0]))
    actor = stage.add(HUMAN, "a", Pose(np.zeros(3), turns))
    actor.drive("root", poise.Free())
    actor.drive("body", Loose(1.0, 1.0))
    return stage, actor


@pytest.mark.parametrize("forces", ["engine", "penalty"])
def test_only_chosen_pairs_touch(forces: str) -> None:
    stage, _ = drop_hand(ContactSettings(only=(("leftHand", "table"),), forces=forces))
    touched: set[str] = set()
    for _ in range(350):
        stage.step()
        touches = stage.groups[0].simulation.find_contacts(0)
        touched |= {HUMAN.skeleton.labels[joint] for joint in touches.joints}
    assert touched == {"leftHand"}
    everything, actor = drop_hand(ContactSettings(forces=forces))
    seen: set[str] = set()
    for _ in range(350):
        everything.step()
        touches = everything.groups[0].simulation.find_contacts(0)
        seen |= {HUMAN.skeleton.labels[joint] for joint in touches.joints}
    assert {"leftHand", "rightHand"} <= seen
    assert actor.body.c[1] > -0.6


def test_penalty_forces_hold_a_body_up_and_a_state_goes_on() -> None:
    stage, actor = drop_hand(ContactSettings(forces="penalty"))
    stage.advance(400)
    saved = stage.save()
    stage.advance(30)
    first = actor.body.state.q.copy()
    stage.restore(saved)
    stage.advance(30)
    assert np.array_equal(first, actor.body.state.q)
    assert actor.body.c[1] > -0.5
    stage.advance(400)
    forces = stage.groups[0].simulation.find_contacts(0).forces.sum(axis=0)
    mean = []
    for _ in range(200):
        stage.step()
        mean.append(stage.groups[0].simulation.find_contacts(0).forces.sum(axis=0))
    assert forces.shape == (3,)
    assert np.mean(mean, axis=0)[1] == pytest.approx(75.0 * 9.81, rel=0.05)  # its weight


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"forces": "springs"}, "'engine' or 'penalty'"),
        ({"bounce": 1.5}, "bounce"),
        ({"only": "leftHand"}, "pairs of names"),
        ({"only": (("leftHand",),)}, "pairs of names"),
    ],
)
def test_a_touch_that_cannot_be_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ContactSettings(**wrong)


@pytest.mark.parametrize("option", [{"softness": 0.05}, {"bounce": 0.5}])
def test_engine_with_hard_contacts_refuses_soft_ones(option: dict[str, float]) -> None:
    """They had no effect there."""
    (name,) = option
    rejects(lambda: Stage("inverse", touch=ContactSettings(**option)), name, "'inverse'", "penalty")
    Stage("inverse", touch=ContactSettings(**option, forces="penalty"))


def test_unknown_names_are_told() -> None:
    stage, _ = drop_hand(ContactSettings(only=(("leftHnd", "table"),)))
    rejects(stage.step, "leftHnd", "leftHand")


def test_a_prop_that_a_body_begins_in_is_refused_by_name() -> None:
    stage = Stage()
    stage.add_prop(Prop.box("table", (0.16, 0.1, 0.3), None, (0.3, 1.0, 0.1)))
    actor = stage.add(HUMAN, "a")
    actor.drive("legs", poise.Balance())
    with pytest.raises(InputError, match=r"'table' is \d+ mm deep in \w+ of 'a' at the start"):
        stage.step()
    for touch in (
        ContactSettings(props=False),
        ContactSettings(apart=(("a", "table"),)),
        ContactSettings(only=(("head", "table"),)),
    ):
        free = Stage(touch=touch)
        free.add_prop(Prop.box("table", (0.16, 0.1, 0.3), None, (0.3, 1.0, 0.1)))
        free.add(HUMAN, "a").drive("legs", poise.Balance())
        free.step()


def test_softness_is_at_least_some_steps() -> None:
    stage, _ = drop_hand(ContactSettings(forces="penalty", softness=0.05))
    stage.build()
    simulation: Any = stage.groups[0].simulation
    assert np.all(simulation.block.softness == 0.05)
    hard, _ = drop_hand(ContactSettings(forces="penalty"))
    hard.build()
    simulation = hard.groups[0].simulation
    assert np.all(simulation.block.softness == LEAST * hard.dt)


def test_who_begins_in_a_prop_is_refused_every_time_and_who_joins_in_one_is_kept_apart_from_it() -> None:
    def join(late: bool) -> poise.Stage:
        stage = poise.Stage(dt=0.005)
        stage.add_prop(poise.Prop.box("crate", (0.4, 0.4, 0.4), 5.0, (0.0, 0.2, 3.0)))
        first = stage.add(poise.Character.human(), "first")
        first.drive("legs", poise.Balance())
        stage.advance(20 if late else 0)
        pose = first.pose()
        stage.add(first.character, "second", poise.Pose(pose.root + [0.0, 0.0, 3.0], pose.rotations)).drive(
            "legs", poise.Balance()
        )
        return stage

    stage = join(late=False)
    for _ in range(2):
        with pytest.raises(InputError, match="at the start"):
            stage.advance(1)
    stage = join(late=True)
    stage.advance(100)
    assert stage.actors["second"].fallen is None
