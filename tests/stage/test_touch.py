"""Anything meets anything: bodies themselves, one another, props; who is moved together, hits, what players feel."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import mujoco
import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise import Balance, ContactSettings, Kinematic, Loose, Pose, Prop, Stage
from poise.demos.mix import push_hands
from poise.demos.shared.show import measure_sway
from poise.motion.samples.tracks import stand_pose
from poise.world.overlap import build_lines, find_distances, find_neighbours

HUMAN = poise.Character.human(1.75, 75.0, preset="mix")
FLYING: dict[str, Any] = {"ground": None, "gravity": (0.0, 0.0, 0.0)}


def place(x: float = 0.0, y: float = 0.0, z: float = 0.0, character: poise.Character = HUMAN) -> Pose:
    pose = stand_pose(character.skeleton)
    return Pose(pose.root + [x, y, z], pose.rotations)


def add_doll(stage: Stage, name: str, pose: Pose, character: poise.Character = HUMAN) -> Any:
    actor = stage.add(character, name, pose)
    actor.drive("root", poise.Free())
    actor.drive("body", Loose(0.3))
    return actor


def add_conductor(stage: Stage, name: str, pose: Pose | None = None) -> Any:
    actor = stage.add(HUMAN, name, pose)
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(poise.gestures.conduct(hands="both")))
    return actor


def hold(pose: Pose) -> poise.Clip:
    """A clip in which nothing moves."""
    return poise.Clip(HUMAN.skeleton, np.arange(3.0), np.tile(pose.root, (3, 1)), np.tile(pose.rotations, (3, 1, 1)))


def names(stage: Stage) -> list[list[str]]:
    return [[actor.name for actor in group.actors] for group in stage.groups]


def test_loose_arms_do_not_go_through_trunk_and_legs() -> None:
    """Let go of in a T-pose: they come down on the thighs; with `itself` off they go in by a hand's thickness."""
    found = []
    for itself in (True, False):
        stage = Stage(ground=None, touch=ContactSettings(itself=itself))
        pose = Pose(np.zeros(3), poise.rotation.identity((len(HUMAN.skeleton),)))
        actor = stage.add(dataclasses.replace(HUMAN, limits={}), pose=pose)  # which would keep arms out of a trunk
        actor.drive("root", Kinematic(hold(pose)))
        actor.drive("arms", Loose(0.3, 1.0))
        worst = 0.0
        for _ in range(60):
            stage.advance(3)
            worst = max(worst, find_worst(actor))
        found.append(worst)
    assert found[0] < 0.01 < 0.1 < found[1]


def find_worst(actor: Any) -> float:
    """m, how deep any two segments are in one another that are no neighbours; by capsules alone, feet aside."""
    shapes = [(i, s) for i, s in actor.stage.groups[0].scene.bodies[0].shapes if "Foot" not in HUMAN.skeleton.labels[i]]
    actor.body.update()
    lines = build_lines(shapes).placed(actor.body.R, actor.body.p)
    depth = lines.radius[:, None] + lines.radius[None, :] - find_distances(lines, lines)
    near = find_neighbours(HUMAN)
    return max(float(depth[i, j]) for i, a in enumerate(lines.joint) for j, b in enumerate(lines.joint)
               if a < b and (int(a), int(b)) not in near)  # fmt: skip


def test_distances_of_lines_are_those_of_many_points() -> None:
    rng = np.random.default_rng(0)
    lines = [build_lines([(0, poise.Capsule(*rng.normal(size=(2, 3)), 0.1)) for _ in range(8)]) for _ in range(2)]
    t = np.linspace(0.0, 1.0, 401)[:, None]
    points = [x.start[:, None] + t * (x.end - x.start)[:, None] for x in lines]
    found = find_distances(*lines)
    for i in range(8):
        for j in range(8):
            near = np.linalg.norm(points[0][i][:, None] - points[1][j][None], axis=-1).min()
            assert near - 1e-2 < found[i, j] < near + 1e-9


@pytest.mark.parametrize("above", ["nothing", "a ground"])
@pytest.mark.parametrize("engine", ["mujoco", "bullet", "inverse"])
@pytest.mark.many(2)
def test_two_that_fly_at_each_other_are_moved_together_and_keep_their_momentum(engine: str, above: str) -> None:
    """Linear momentum, summed over the segments by hand, beside what one of them hands over."""
    pytest.importorskip("pybullet" if engine == "bullet" else "mujoco")
    stage = Stage(engine, **(FLYING if above == "nothing" else {}))
    a, b = add_doll(stage, "a", place(y=3.0)), add_doll(stage, "b", place(y=3.0, z=0.9))
    stage.build()
    assert names(stage) == [["a"], ["b"]]
    for actor, speed in ((a, 1.0), (b, -1.0)):
        throw(actor, speed)
    stage.step()
    before, start = (momentum(a), momentum(b)), stage.time
    seen, met = [], 0
    for _ in range(80):
        stage.step()
        seen.append(len(stage.groups))
        fallen = stage.gravity * 2 * HUMAN.mass * (stage.time - start)
        np.testing.assert_allclose(momentum(a) + momentum(b), before[0] + before[1] + fallen, atol=1e-9)
        touches = stage.groups[0].simulation.find_contacts(0)
        largest = np.linalg.norm(touches.forces, axis=1).max(initial=0.0)
        assert largest < 60000.0  # N: not those of a solver that found no end
        met += largest > 0.0
    assert seen[0] == 2 and 1 in seen and met > 5
    assert momentum(a)[2] < before[0][2] - 20.0  # N s
    assert {event.kind for event in stage.events} == {"hit"}


def throw(actor: Any, speed: float) -> None:
    """Have all of an actor move along z (m/s), from nothing."""
    actor.body.state.v[:] = 0.0, 0.0, speed
    actor.flight.target[:] = 0.0  # it has another momentum now
    actor.stage.rebuild(actor)


def momentum(actor: Any) -> np.ndarray:
    """(3,) N s."""
    actor.body.update()
    tree, body = actor.body.tree, actor.body
    arm = np.einsum("jab,jb->ja", body.R, tree.centers)
    return np.asarray(tree.masses @ (body.v + np.cross(body.om, arm)))


def test_the_accelerations_of_two_that_touch_in_flight_conserve_momentum() -> None:
    """By MuJoCo's own Jacobians: the sum of m a over all segments is nothing beside the contact's force."""
    stage = Stage(**FLYING)
    a = add_doll(stage, "a", place())
    add_doll(stage, "b", place(z=0.45))
    stage.build()
    throw(a, 1.0)
    largest, left = 0.0, 0.0
    for _ in range(60):
        stage.step()
        model, data = stage.groups[0].simulation.model, stage.groups[0].simulation.data  # type: ignore[attr-defined]
        force = sum(np.linalg.norm(f) for f in stage.groups[0].simulation.find_contacts(0).forces)
        if len(stage.groups) > 1 or force < 50.0:
            continue
        model = copy.copy(model)
        model.opt.tolerance = 1e-15  # so far from its end the solver alone leaves 1e-5 N
        # where contacts are ahead, Newton's method with sparse matrices finds no end: `engines/mujoco/landing.py`
        model.opt.jacobian, model.opt.iterations = mujoco.mjtJacobian.mjJAC_DENSE, 1000
        again = mujoco.MjData(model)
        again.qpos, again.qvel, again.qfrc_applied = data.qpos, data.qvel, data.qfrc_applied
        mujoco.mj_forward(model, again)
        total, jac, dot = np.zeros(3), np.zeros((3, model.nv)), np.zeros((3, model.nv))
        for k in range(1, model.nbody):
            mujoco.mj_jac(model, again, jac, None, again.xipos[k], k)
            mujoco.mj_jacDot(model, again, dot, None, again.xipos[k], k)
            total += model.body_mass[k] * (jac @ again.qacc + dot @ again.qvel)
        largest, left = max(largest, float(force)), max(left, float(np.abs(total).max()))
    assert largest > 50.0
    assert left < 1e-9 * largest


def test_two_push_hands_and_both_sway() -> None:
    stage = push_hands.build()
    take = stage.run(4.2)
    assert names(stage) == [["pusher", "held"]]
    for name in take.actors:
        record = take.actor(name)
        assert take.fell_at(name) is None
        assert measure_sway(record, slice(130, None)) > 5.0 * measure_sway(record, slice(25, 50))


@pytest.mark.slow
def test_children_hand_against_hand_are_calm_at_long_steps_of_bullet() -> None:
    """Held at the hands, hips weigh less than `Balance` thinks: asked once in 10 ms, feet shook at 180 rad/s."""
    pytest.importorskip("pybullet")
    child = poise.Character.human(0.5, 4.0, preset="full")
    stage = push_hands.build(child, Stage("bullet", 0.01), stiffness=1.0)
    fastest, touched = 0.0, 0
    for _ in range(110):
        stage.advance(1)
        others = stage.groups[0].simulation.find_contacts(0).others
        touched += any(name.startswith("held/") for name in others)
        if stage.time > 0.5:
            fastest = max(fastest, *(float(np.abs(actor.body.state.w).max()) for actor in stage.actors.values()))
    assert touched > 50 and fastest < 1.0
    again = push_hands.build(child, Stage("bullet", 0.01), stiffness=1.0)
    again.restore(stage.save())
    stage.advance(5)
    again.advance(5)
    for one, other in zip(stage.actors.values(), again.actors.values(), strict=True):
        np.testing.assert_array_equal(one.body.state.q, other.body.state.q)


def test_who_stands_in_another_is_a_stranger() -> None:
    """Ghosts and crowds at the origin go through each other, and somebody who comes later meets them all."""
    stage = Stage()
    for k in range(3):
        add_conductor(stage, f"{k}")
    add_conductor(stage, "far", place(5.0))
    stage.build()
    assert names(stage) == [["0"], ["1"], ["2"], ["far"]]
    strange = stage.simulations.proximity.ignores
    assert strange[:3, :3].sum() == 6 and not strange[3].any()
    add_doll(stage, "late", place(0.0, 1.9))
    stage.run(0.6)
    assert ["0", "1", "2", "late"] in names(stage)
    others = set(stage.groups[0].simulation.find_contacts(3).others)
    assert any("/" in name for name in others) and not any(name.startswith("late/") for name in others if not others)
    for k in range(3):
        mine = stage.groups[0].simulation.find_contacts(k).others
        assert not any(name.split("/")[0] in {"0", "1", "2"} for name in mine)


def fall_together(threads: int = 1, pieces: int = 1, restore: bool = False) -> tuple[np.ndarray, list[str]]:
    stage = Stage(threads=threads)
    add_doll(stage, "a", place())
    add_doll(stage, "b", place(0.15, 1.5, 0.1))
    add_conductor(stage, "c", place(4.0))
    total = 160
    for k in range(total // pieces):
        stage.advance(pieces)
        if restore and k * pieces == 120:
            saved = stage.save()
            stage.advance(30)
            stage.restore(saved)
    numbers = [np.concatenate([a.body.state.root, a.body.state.q.ravel(), a.body.state.w.ravel()])
               for a in stage.actors.values()]  # fmt: skip
    assert names(stage) == [["a", "b"], ["c"]]
    return np.concatenate(numbers), [f"{e.time} {e.actor} {e.kind} {e.message}" for e in stage.events if not restore]


def test_however_a_run_is_cut_and_shared_the_bits_are_the_same() -> None:
    wanted, events = fall_together(pieces=160)
    assert any("hit" in event for event in events)
    for more in ({"threads": 2, "pieces": 20}, {"pieces": 8, "restore": True}):
        found, told = fall_together(**more)
        np.testing.assert_array_equal(found, wanted)
        if told:
            assert sorted(told) == sorted(events)


def test_those_who_part_are_on_their_own_again_without_a_jump() -> None:
    stage = Stage(**FLYING)
    a, b = add_doll(stage, "a", place()), add_doll(stage, "b", place(z=0.4))
    stage.build()
    assert names(stage) == [["a", "b"]]
    throw(b, 4.0)
    before = momentum(a), momentum(b)
    for _ in range(60):
        state = b.body.state.copy()
        stage.step()
        assert np.abs(b.body.state.root - state.root).max() < 0.03
    assert names(stage) == [["a"], ["b"]]
    np.testing.assert_allclose(momentum(b), before[1], atol=0.5)


def test_the_bits_of_one_who_meets_nobody_are_those_of_a_stage_of_his_own() -> None:
    ends = []
    for others in (False, True):
        stage = Stage()
        actor = add_conductor(stage, "one")
        if others:
            add_conductor(stage, "two", place(2.5))
            add_doll(stage, "three", place(0.0, 0.0, -3.0))
        stage.advance(100)
        ends.append(np.concatenate([actor.body.state.q.ravel(), actor.body.state.root]))
    np.testing.assert_array_equal(*ends)


def test_whoever_leaves_leaves_the_others_where_they_are() -> None:
    stage = Stage()
    a, b = add_doll(stage, "a", place()), add_doll(stage, "b", place(0.2, 1.9))
    stage.advance(130)
    assert names(stage) == [["a", "b"]]
    root = a.body.state.root.copy()
    stage.remove(b)
    np.testing.assert_array_equal(a.body.state.root, root)
    stage.advance(10)
    assert names(stage) == [["a"]]


def test_what_is_deep_in_one_another_at_the_start_is_not_flung() -> None:
    """A hand in the hip, let go of: as calm as where nothing touches."""
    skeleton = HUMAN.skeleton
    turns, arm = place().rotations.copy(), skeleton.index("leftUpperArm")
    turns[arm] = poise.rotation.multiply(poise.rotation.exp(np.array([0.0, 0.0, -0.35])), turns[arm])
    stage = Stage(**FLYING)
    actor = add_doll(stage, "a", Pose(place().root, turns))
    stage.build()
    assert find_worst(actor) > 0.02
    stage.advance(4)
    assert np.abs(actor.body.state.w).max() < 2.0


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_a_ball_that_hits_a_ragdoll_is_told_with_its_impulse(engine: str) -> None:
    """2 kg at 5 m/s, which stay on the trunk: its impulse is what the ball lost."""
    stage = Stage(engine, couple="exact" if engine == "mujoco" else "paper", **FLYING)
    actor = add_doll(stage, "a", place())
    chest = stand_pose(HUMAN.skeleton).root + [0.0, 0.28, 0.35]
    stage.add_prop(Prop.sphere("ball", 0.1, 2.0, chest, velocity=(0.0, 0.0, -5.0), spin=(0.0, 1.0, 0.0)))
    stage.step()
    np.testing.assert_allclose(stage.read_prop("ball").velocity, [0.0, 0.0, -5.0], atol=1e-6)
    np.testing.assert_allclose(stage.read_prop("ball").spin, [0.0, 1.0, 0.0], atol=1e-6)
    stage.advance(60)
    hits = [event for event in stage.events if event.kind == "hit" and event.other == "ball"]
    assert len({event.joint for event in hits}) == len(hits) >= 1
    lost = 2.0 * (stage.read_prop("ball").velocity[2] + 5.0)
    assert sum(event.impulse for event in hits) == pytest.approx(lost, rel=0.15)
    assert 0.01 < hits[0].time < 0.1
    assert actor.body.tree.mass > 70.0


def test_a_hit_has_the_time_of_its_step_however_a_run_is_cut() -> None:
    """Told at the end of a run of steps, at the time when the ball came to the trunk."""

    def throw_ball() -> Stage:
        stage = Stage(**FLYING)
        add_doll(stage, "a", place())
        chest = stand_pose(HUMAN.skeleton).root + [0.0, 0.28, 0.35]
        stage.add_prop(Prop.sphere("ball", 0.1, 2.0, chest, velocity=(0.0, 0.0, -5.0)))
        return stage

    whole, cut, began = throw_ball(), throw_ball(), np.inf
    whole.advance(40)
    for _ in range(40):
        start = cut.time
        cut.step()
        if "ball" in cut.groups[0].simulation.find_contacts(0).others:
            began = min(began, start)
    times = [[event.time for event in stage.events if event.other == "ball"] for stage in (whole, cut)]
    assert times[0] == times[1] != []
    assert times[0][0] == pytest.approx(began, abs=1e-12)


class Feeling(poise.extend.Player):
    needs_contacts = True

    def __init__(self, joints: np.ndarray):
        self.joints, self.felt = joints, [0.0]

    def write(self, body: poise.extend.Body, t: float) -> None:
        self.felt.append(float(body.touches.forces[:, 1].sum()))
        self.others = set(body.touches.others)


class Feel(poise.extend.Driver):
    level = "torque"

    def build(self, body: poise.extend.Body, joints: np.ndarray, t: float) -> Feeling:
        return Feeling(joints)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_a_player_that_asks_for_it_feels_what_carries_the_body(engine: str) -> None:
    stage = Stage(engine, couple="exact" if engine == "mujoco" else "paper", gain=1.0 if engine == "mujoco" else 0.0)
    actor = stage.add(HUMAN)
    actor.drive("legs", Balance())
    actor.drive("head", Feel())
    stage.advance(60)
    player: Any = actor.player("head")
    assert np.mean(player.felt[-20:]) == pytest.approx(9.81 * actor.body.tree.mass, rel=0.05)
    assert player.others == {"ground"}
    assert not [event for event in stage.events if event.kind == "hit"]  # it stands
    saved = stage.save()
    stage.step()
    stage.restore(saved)
    np.testing.assert_array_equal(actor.body.touches.forces, saved["actors"][actor.name]["touches"]["forces"])


def test_an_animated_body_pushes_a_box() -> None:
    skeleton = HUMAN.skeleton
    pose, times = stand_pose(skeleton), np.linspace(0.0, 1.0, 21)
    root = pose.root + np.array([0.0, 0.0, 0.5]) * times[:, None]
    stage = Stage()
    walker = stage.add(HUMAN, pose=pose)
    walker.drive("body", Kinematic(poise.Clip(skeleton, times, root, np.tile(pose.rotations, (21, 1, 1)))))
    stage.add_prop(Prop.box("box", (0.4, 1.0, 0.3), 5.0, (0.0, 0.5, 0.5)))
    take = stage.run(1.0)
    assert take.props["box"][-1, 2] > 0.65
    through = Stage(touch=ContactSettings(props=False))
    through.add(HUMAN, pose=pose).drive(
        "body", Kinematic(poise.Clip(skeleton, times, root, np.tile(pose.rotations, (21, 1, 1))))
    )
    through.add_prop(Prop.box("box", (0.4, 1.0, 0.3), 5.0, (0.0, 0.5, 0.5)))
    assert abs(through.run(1.0).props["box"][-1, 2] - 0.5) < 1e-3


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_a_slippery_prop_slides_and_a_rough_one_stays(engine: str) -> None:
    """On ground tilted by 20 degrees, tan = 0.36: friction 0.1 slides by g (sin - 0.1 cos), 0.9 does not."""
    angle = np.radians(20.0)
    for friction in (0.1, 0.9):
        stage = Stage(engine, couple="exact" if engine == "mujoco" else "paper", ground=poise.Slope(angle=angle))
        stage.add(HUMAN, pose=place(3.0)).drive("root", Kinematic(hold(place(3.0))))
        turn = poise.rotation.between(np.array([0.0, 1.0, 0.0]), stage.ground.normal_at(0.0, 0.0))  # type: ignore[union-attr]
        at = stage.ground.height_at(0.0, 0.0) + 0.1 / np.cos(angle)  # type: ignore[union-attr]
        stage.add_prop(Prop.box("box", (0.4, 0.2, 0.4), 2.0, (0.0, at, 0.0), turn=turn, friction=friction))
        take = stage.run(0.6)
        slid = float(np.linalg.norm(take.props["box"][-1, :3] - take.props["box"][0, :3]))
        wanted = 0.5 * 9.81 * (np.sin(angle) - 0.1 * np.cos(angle)) * 0.36 if friction < 0.2 else 0.0
        assert slid == pytest.approx(wanted, abs=0.05 * wanted + 0.01)


def test_softer_is_deeper_and_named_pairs_go_through_each_other() -> None:
    """Two balls that meet: the softer pair is deeper in; one that is kept apart goes on as if nothing were there."""
    depths = []
    for touch in (ContactSettings(), ContactSettings(softness=0.1), ContactSettings(apart=(("left", "right"),))):
        stage = Stage(touch=touch, **FLYING)
        add_doll(stage, "far", place(9.0))
        for name, x in (("left", -0.15), ("right", 0.15)):
            stage.add_prop(Prop.sphere(name, 0.1, 1.0, (x, 0.0, 0.0), velocity=(-np.sign(x), 0.0, 0.0)))
        nearest = 1.0
        for _ in range(60):
            stage.step()
            nearest = min(nearest, stage.read_prop("right").position[0] - stage.read_prop("left").position[0])
        depths.append(0.2 - nearest)
    assert abs(depths[0]) < 0.002 < 0.03 < depths[1] < 0.2 < depths[2]


@pytest.mark.parametrize(
    ("touch", "message"),
    [
        ({"softness": -1.0}, "softness"),
        ({"friction": float("nan")}, "friction"),
        ({"itself": 1}, "True or False"),
        ({"apart": ("head",)}, "pairs of names"),
    ],
)
def test_what_no_touch_can_be_is_refused(touch: dict[str, Any], message: str) -> None:
    with pytest.raises(poise.InputError, match=message):
        ContactSettings(**touch)


def test_a_name_that_nobody_has_is_refused() -> None:
    stage = Stage(touch=ContactSettings(apart=(("leftHnad", "trunk"),)))
    add_conductor(stage, "one")
    rejects(stage.build, "leftHand")


@pytest.mark.parametrize(
    ("names", "prop", "pair", "message"),
    [
        (("body", "other"), "box", ("body", "box"), "'body' is an actor and a part or joint .* the actor another name"),
        (("one", "leftHand"), "box", ("leftHand", "box"), "'leftHand' is an actor and a part"),
        (("head", "other"), "box", ("other", "head"), "'head' is an actor and a part"),
        (("one", "other"), "trunk", ("one", "trunk"), "'trunk' is a prop and a part .* the prop another name"),
        (("box", "other"), "box", ("box", "other"), "'box' is an actor and a prop"),
    ],
)
@pytest.mark.parametrize("option", ["apart", "only"])
def test_a_name_that_means_two_things_is_refused(
    option: str, names: tuple[str, str], prop: str, pair: tuple[str, str], message: str
) -> None:
    stage = Stage(touch=ContactSettings(**{option: (pair,)}))
    stage.add_prop(poise.Prop.box(prop, (0.2, 0.2, 0.2), 1.0, (0.0, 0.1, 3.0)))
    for name in names:
        add_conductor(stage, name)
    with pytest.raises(poise.InputError, match=message):
        stage.build()


@pytest.mark.parametrize("pair", [("one", "box"), ("one/leftHand", "other"), ("leftHand", "trunk"), ("body", "box")])
def test_a_name_that_means_one_thing_is_taken(pair: tuple[str, str]) -> None:
    stage = Stage(touch=ContactSettings(apart=(pair,)))
    stage.add_prop(poise.Prop.box("box", (0.2, 0.2, 0.2), 1.0, (0.0, 0.1, 3.0)))
    for name in ("one", "other"):
        add_conductor(stage, name)
    stage.build()
