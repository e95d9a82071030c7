"""Bodies that fall come to rest on what they fall on, at any step, and limbs under a body stay in their ranges."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from helpers.rigs import unreal
from poise.body.geometry.primitives import Box, Capsule
from poise.drivers.loose.loose import Loose
from poise.engines.bullet.simulation import BulletEngine
from poise.engines.mujoco.simulation import MujocoSimulation
from poise.motion.motion import Pose
from poise.spatial import rotation
from poise.stage.actor import Actor
from tools.sweeps.fall_sweep import Watch

HUMAN = poise.Character.human(1.75, 75.0, preset="mix")


def drop(
    engine: str = "mujoco",
    dt: float = 0.005,
    height: float = 0.6,
    count: int = 1,
    character: poise.Character = HUMAN,
    touch: poise.ContactSettings = poise.ContactSettings(),  # noqa: B008  frozen
) -> Actor:
    """Ragdolls that fall from a height, leaning, five metres from one another; the first of them."""
    stage = poise.Stage(dt=dt, engine=engine, couple="exact" if engine == "mujoco" else "paper", touch=touch)
    other = poise.Stage()
    start = other.add(character)
    other.build()
    q = start.body.state.q.copy()
    q[0] = rotation.multiply(rotation.exp(np.array([0.4, 0.0, 0.2])), q[0])
    for k in range(count):
        root = start.body.state.root + [5.0 * k, height, 0.0]
        actor = stage.add(character, f"doll {k}", Pose(root, q))
        actor.drive("root", poise.Free())
        actor.drive("body", Loose(0.0, 0.3))
    stage.build()
    return stage.actors["doll 0"]


def place(actor: Actor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R (J, 3, 3), p (J, 3) and the velocities of the centres (J, 3) of all bodies, from the state alone."""
    state, tree = actor.body.state, actor.body.tree
    local = Rotation.from_quat(state.q, scalar_first=True).as_matrix()
    R, p, om, v = local.copy(), np.zeros((len(tree), 3)), np.zeros((len(tree), 3)), np.zeros((len(tree), 3))
    for i, k in enumerate(tree.parents):
        if k < 0:
            p[i], om[i], v[i] = state.root, R[i] @ state.w[i], state.v
            continue
        R[i], p[i] = R[k] @ local[i], p[k] + R[k] @ tree.offsets[i]
        om[i], v[i] = om[k] + R[i] @ state.w[i], v[k] + np.cross(om[k], p[i] - p[k])
    return R, p, v + np.cross(om, np.einsum("iab,ib->ia", R, tree.centers))


def find_lowest(actor: Actor) -> float:
    """m, the lowest point of a body's shapes."""
    R, p, _ = place(actor)
    lowest = np.inf
    for i, shape in actor.stage.groups[0].scene.bodies[0].shapes:
        points, r = np.zeros((0, 3)), 0.0
        if isinstance(shape, Box):
            points = shape.corners
        elif isinstance(shape, Capsule):
            points, r = np.stack([shape.start, shape.end]), shape.radius
        else:
            points, r = shape.center[None], shape.radius
        lowest = min(lowest, float((p[i] + points @ R[i].T)[:, 1].min()) - r)
    return lowest


def simulation_of(actor: Actor) -> MujocoSimulation:
    found = actor.stage.groups[0].simulation
    assert isinstance(found, MujocoSimulation)
    return found


@pytest.mark.parametrize("dt", [0.0025, 0.005, 0.01])
@pytest.mark.many(1)
def test_who_lands_fast_stays_above_the_ground(dt: float) -> None:
    """Feet that come down with 3.4 m/s move by 34 mm in a step of 10 ms."""
    actor = drop(dt=dt)
    lowest, fastest = 0.0, 0.0
    for _ in range(round(1.0 / dt)):
        actor.stage.step()
        fastest = max(fastest, float(-actor.body.state.v[1]))
        lowest = min(lowest, find_lowest(actor))
    assert fastest > 3.0
    assert lowest > -0.005


def test_toes_that_slap_down_stay_above_the_ground() -> None:
    """Heels land at 3 m/s, and in the same step toes came down at 8, 14 mm deep: nobody looked so far ahead."""
    character = poise.Character.human(1.6, 140.0)
    stage = poise.Stage()
    standing = stage.add(character)
    stage.build()
    root, q = standing.body.state.root + [0.0, 0.48, 0.0], standing.body.state.q.copy()
    q[0] = rotation.multiply(rotation.exp(np.array([0.0, 0.0, -0.4])), q[0])
    stage = poise.Stage()
    actor = stage.add(character, pose=Pose(root, q))
    actor.drive("root", poise.Free())
    actor.drive("body", Loose(0.0, 0.3))
    lowest = 0.0
    for _ in range(100):
        stage.step()
        lowest = min(lowest, find_lowest(actor))
    assert lowest > -0.006


@pytest.mark.parametrize("name", ["full", "unreal"])
@pytest.mark.many(1)
def test_bullet_lands_above_the_ground_and_gains_nothing(name: str) -> None:
    """By whole steps hands and toes came down 29 mm deep, and what whipped round in one gained 6.5 % of m g h."""
    pytest.importorskip("pybullet")
    is_full = name == "full"
    character = poise.Character.human() if is_full else poise.Character.from_skeleton(unreal()[0])
    actor = drop("bullet", height=0.6 if is_full else 0.3, character=character)
    watch = Watch(actor)
    lowest, least, growth = 0.0, watch.energy(), 0.0
    for _ in range(85 if is_full else 55):
        actor.stage.step()
        lowest, energy = min(lowest, find_lowest(actor)), watch.energy()
        growth, least = max(growth, energy - least), min(least, energy)
    assert lowest > -0.01
    assert growth < 0.001 * watch.scale


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_contacts_carry_what_the_momentum_changes_by(engine: str) -> None:
    """A contact ahead counts as one when it carries something, and not before; one in a part of a step, as that."""
    if engine == "bullet":
        pytest.importorskip("pybullet")
    actor = drop(engine, height=0.3)
    stage, masses, total, ahead = actor.stage, actor.body.tree.masses, np.zeros(3), 0
    before = masses @ place(actor)[2]
    for _ in range(100):
        stage.step()
        found = stage.groups[0].simulation.find_contacts(0)
        is_ground = np.array([other == "ground" for other in found.others], bool)
        total += stage.dt * found.forces[is_ground].sum(axis=0)
        is_ahead = is_ground & (found.points[:, 1] > 0.005)
        assert np.all(np.linalg.norm(found.forces[is_ahead], axis=1) > 0.0)
        ahead += int(is_ahead.sum())
    assert ahead > 0 or engine == "bullet"  # whose points are where the ground is
    change = masses @ place(actor)[2] - before + [0.0, 9.81 * masses.sum() * 100 * stage.dt, 0.0]
    np.testing.assert_allclose(total, change, atol=0.02 * change[1])


def test_slow_bodies_step_as_in_mujoco_itself() -> None:
    """What is too slow to land is left to MuJoCo, to the same bits."""
    stage = drop().stage
    stage.advance(70)
    scene = stage.groups[0].simulation.scene
    state = stage.actors["doll 0"].body.state
    now = replace(
        scene.bodies[0], root=state.root.copy(), rotations=state.q.copy(), velocity=state.v.copy(),
        angular_velocity=state.w.copy(),
    )  # fmt: skip
    one = MujocoSimulation(replace(scene, bodies=(now,)))
    met = 0
    for _ in range(60):
        one.step()
        met += one.data.ncon
    assert met > 0
    one.data.qvel[:] *= 1e-4
    raw = copy(one.data)
    one.step()
    mujoco.mj_step(one.model, raw)
    assert np.array_equal(one.data.qpos, raw.qpos)


def make_prop(kind: str, height: float, turn: np.ndarray) -> poise.Prop:
    """A free prop of 2 kg whose lowest point is so many metres above the ground at z = 3 m."""
    made = {
        "box": lambda at: poise.Prop.box("prop", (0.3, 0.2, 0.25), 2.0, at, turn=turn),
        "ball": lambda at: poise.Prop.sphere("prop", 0.1, 2.0, at, turn=turn),
        "capsule": lambda at: poise.Prop.capsule("prop", 0.06, 0.3, 2.0, at, turn=turn),
    }[kind]
    start = made((0.0, 0.0, 3.0))
    return made((0.0, height - find_lowest_of(start, start.position, start.turn), 3.0))


def find_lowest_of(prop: poise.Prop, position: np.ndarray, turn: np.ndarray) -> float:
    """m, the lowest point of a prop's one shape."""
    shape, R = prop.shapes[0], Rotation.from_quat(turn, scalar_first=True).as_matrix()
    if isinstance(shape, Box):
        return float((position + shape.corners @ R.T)[:, 1].min())
    ends = np.stack([shape.start, shape.end]) if isinstance(shape, Capsule) else shape.center[None]
    return float((position + ends @ R.T)[:, 1].min()) - shape.radius


@pytest.mark.parametrize("kind", ["box", "ball", "capsule"])
@pytest.mark.parametrize(
    ("engine", "dt"),
    [*(("mujoco", dt) for dt in (0.001, 0.005, 0.01)), ("inverse", 0.01), ("bullet", 0.005), ("bullet", 0.01)],
    ids=str,
)
@pytest.mark.many(2)
def test_prop_that_falls_lands_on_the_ground_and_gains_no_energy(engine: str, dt: float, kind: str) -> None:
    """Springs of the engine's contacts gave way by 20 to 50 mm, and threw it up at 0.5 m/s. Others stand beside it."""
    if engine == "bullet":
        pytest.importorskip("pybullet")
    for height, askew in ((0.85, (0.0, 0.0, 0.0)), (3.0, (0.5, 0.3, 0.7))):
        stage = poise.Stage(engine, dt)
        stage.add_prop(prop := make_prop(kind, height, rotation.exp(np.array(askew))))
        stage.add_prop(poise.Prop.box("at rest", (0.2, 0.2, 0.2), 1.0, (1.0, 0.1, 3.0)))
        stage.add(HUMAN).drive("body", poise.Kinematic(poise.gestures.breathe()))
        assert prop.inertia is not None
        lowest, least, growth, rest = 0.0, np.inf, 0.0, np.inf
        for _ in range(round((np.sqrt(2.0 * height / 9.81) + 0.4) / dt)):
            stage.step()
            at = stage.read_prop("prop")
            lowest = min(lowest, find_lowest_of(prop, at.position, at.turn))
            spin = Rotation.from_quat(at.turn, scalar_first=True).inv().apply(at.spin)
            kinetic = 0.5 * prop.inertia.mass * at.velocity @ at.velocity + 0.5 * spin @ prop.inertia.inertia @ spin
            energy = float(kinetic + 9.81 * prop.inertia.mass * at.position[1])
            growth, least = max(growth, energy - least), min(least, energy)
            rest = float(stage.read_prop("at rest").position[1])
        assert lowest > -0.002
        assert growth < 0.003 * 9.81 * prop.inertia.mass * height
        assert rest == pytest.approx(0.1, abs=0.001)


def test_ball_bounces_as_high_as_it_is_told_to() -> None:
    """What bounces is left to the engine's springs."""
    stage = poise.Stage(dt=0.0025, touch=poise.ContactSettings(bounce=0.7))
    stage.add_prop(poise.Prop.box("table", (1.0, 0.5, 1.0), None, (0.0, 0.25, 3.0)))
    stage.add_prop(poise.Prop.sphere("ball", 0.1, 0.5, (0.0, 1.6, 3.0)))
    stage.add(HUMAN).drive("body", poise.Kinematic(poise.gestures.breathe()))
    speeds = []
    for _ in range(360):
        stage.step()
        speeds.append(float(stage.read_prop("ball").velocity[1]))
    assert max(speeds) == pytest.approx(-0.7 * min(speeds), rel=0.1)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.parametrize("dt", [0.002, 0.005, 0.01])
def test_ball_that_bounces_much_does_not_go_through_a_body(engine: str, dt: float) -> None:
    """In MuJoCo it did from 2 ms on: the spring that gives back so much there is soft."""
    if engine == "bullet":
        pytest.importorskip("pybullet")
    touch = poise.ContactSettings(bounce=0.9)
    stage = poise.Stage(engine, dt, gravity=(0.0, 0.0, 0.0), ground=None, touch=touch)
    stage.add_prop(poise.Prop.sphere("ball", 0.15, 1.0, (0.0, 1.2, 0.6), velocity=(0.0, 0.0, -8.0)))
    actor = stage.add(HUMAN)
    actor.drive("root", poise.Free())
    actor.drive("body", poise.Loose(0.5, 0.5))
    stage.advance(round(0.2 / dt))
    assert stage.read_prop("ball").velocity[2] > 0.0


def test_many_fall_as_one_does() -> None:
    """Bodies that take turns at a workspace, looked at in the middle."""
    alone, first = drop(), drop(count=9)
    for _ in range(2):
        alone.stage.advance(45)
        first.stage.advance(45)
        one, other = (simulation_of(actor).find_contacts(0) for actor in (alone, first))
        assert np.array_equal(one.forces, other.forces)
    assert len(one) > 0
    assert np.array_equal(alone.body.state.q, first.body.state.q)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_a_saved_fall_goes_on_alike(engine: str) -> None:
    if engine == "bullet":
        pytest.importorskip("pybullet")
    actor = drop(engine)
    actor.stage.advance(68)
    saved = actor.stage.save()
    actor.stage.advance(30)
    after = actor.body.state.copy()
    actor.stage.restore(saved)
    actor.stage.advance(30)
    assert np.array_equal(actor.body.state.q, after.q) and np.array_equal(actor.body.state.w, after.w)


@pytest.mark.slow
def test_bullet_holds_a_limb_that_the_body_lies_on() -> None:
    """Shoulders went 46 degrees beyond their ranges under a body that rolled over its arms."""
    pytest.importorskip("pybullet")
    character = poise.Character.human(1.75, 75.0, preset="full")
    actor = drop("bullet", height=0.3, character=character)
    worst = 0.0
    for _ in range(16):
        actor.stage.advance(10)
        for i, name in enumerate(character.skeleton.names):
            limits = character.limits.get(name)
            if limits is not None and "Shoulder" in name:
                angles = limits.angles(actor.body.state.q[i])
                worst = max(worst, float(np.max([angles - limits.upper, limits.lower - angles])))
    assert np.degrees(worst) < 5.0


def test_a_push_lasts_a_whole_step_in_bullet() -> None:
    """Whether somebody falls beside, and the step is made in parts, or not."""
    pytest.importorskip("pybullet")
    actor = drop("bullet", height=2.0)
    actor.stage.advance(60)  # 3 m/s
    crate = poise.Prop.box("crate", (0.2, 0.2, 0.2), 4.0, (5.0, 3.0, 0.0))
    state, scene = actor.body.state, actor.stage.groups[0].scene
    now = replace(scene.bodies[0], root=state.root.copy(), velocity=state.v.copy())
    assert np.linalg.norm(now.velocity) > 2.5
    simulation = BulletEngine().build(replace(scene, bodies=(now,), props=(crate,)))
    simulation.push_prop("crate", np.array([0.0, 0.0, 0.0, 80.0, 0.0, 0.0]))
    simulation.step()
    v = simulation.read_prop("crate").velocity
    np.testing.assert_allclose(v, [80.0 / 4.0 * scene.dt, -9.81 * scene.dt, 0.0], atol=1e-9)


@pytest.mark.slow
def test_a_fall_in_bullet_goes_on_alike_in_a_twin() -> None:
    """Two on one another, put back on the way. What came near in a restored world was looked for less far ahead."""
    pytest.importorskip("pybullet")

    def drop_two() -> Actor:
        actor = drop("bullet", height=0.3)
        state = actor.body.state
        other = actor.stage.add(HUMAN, "other", Pose(state.root + [0.5, 0.1, 0.1], state.q.copy()))
        other.drive("root", poise.Free())
        other.drive("body", Loose(0.0, 0.3))
        actor.stage.build()
        return actor

    actor = drop_two()
    for steps in (40, 30, 30):
        actor.stage.advance(steps)
        saved = actor.stage.save()
        actor.stage.advance(20)
        actor.stage.restore(saved)
        twin = drop_two()
        twin.stage.restore(saved)
        for each in (actor, twin):
            each.stage.advance(15)
        assert np.array_equal(actor.body.state.q, twin.body.state.q)


@pytest.mark.parametrize("dt", [0.002, 0.0075])
@pytest.mark.parametrize("touch", [{}, {"softness": 0.02}, {"softness": 0.1}, {"bounce": 0.9}])
def test_who_is_let_go_deep_in_the_ground_comes_out_of_it_slowly(dt: float, touch: dict[str, float]) -> None:
    """He was shot out at 6 m/s at short steps, and at 18 where things are soft."""
    actor = drop(dt=dt, height=-1.3, touch=poise.ContactSettings(**touch))
    fastest = 0.0
    for _ in range(round(0.1 / dt)):
        actor.stage.step()
        fastest = max(fastest, float(np.linalg.norm(actor.body.state.v)))
    assert 0.5 < fastest < 1.2
