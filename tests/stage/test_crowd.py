"""Many actors in one compiled loop: the same bits as one by one, whoever else is there and however many threads."""

from __future__ import annotations

import dataclasses
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.errors import rejects
from helpers.stages import VerbsEngine, use_verbs
from poise.body.character import Character
from poise.cli import main
from poise.demos.mix.crowd import find_looks
from poise.demos.shared.conductors import build_stage, draw_bodies, draw_conductors, place_on_grid
from poise.demos.shared.show import stand_still
from poise.drivers.balance.balance import Balance
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.loose.loose import Loose
from poise.drivers.root.root import Free
from poise.errors import InputError, SolveError
from poise.motion.gestures import clap, conduct
from poise.motion.motion import Pose
from poise.stage.actor import Actor
from poise.stage.crowd import crowd_take
from poise.stage.crowd.crowd_take import run_crowd
from poise.stage.stage import Stage
from poise.stage.take.take import Event
from poise.world.forces import Load
from poise.world.ground.ground import Ground

BODIES = draw_bodies(3)
CONDUCTORS = draw_conductors(9, bodies=3)


def crowd(count: int = 9, threads: int = 1) -> Stage:
    return build_stage(CONDUCTORS[:count], BODIES, threads)


def state(actor: Actor) -> np.ndarray:
    x = actor.body.state
    return np.concatenate([x.root, x.q.ravel(), x.v, x.w.ravel()])


def states(stage: Stage) -> dict[str, np.ndarray]:
    return {name: state(actor) for name, actor in stage.actors.items()}


def assert_same(a: dict[str, np.ndarray], b: dict[str, np.ndarray], names: list[str] | None = None) -> None:
    for name in names if names is not None else a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def test_everybody_is_compiled() -> None:
    """Else the rest of this file compares Python with itself."""
    stage = crowd()
    assert [program.is_compiled for program in stage.loop.runner.programs] == 9 * [True]


def test_a_crowd_of_one_is_the_actor() -> None:
    """Ten seconds by `advance` in chunks against ten seconds by the engine's verbs, step by step."""
    many, alone = crowd(1), crowd(1)
    use_verbs(alone)
    run_crowd(many, 10.0, keep_every=None)
    for _ in range(many.steps):
        alone.step()
    assert not alone.loop.runner.programs[0].is_compiled
    many_state, alone_state = (state(next(iter(stage.actors.values()))) for stage in (many, alone))
    np.testing.assert_allclose(many_state, alone_state, atol=1e-9, rtol=0)
    np.testing.assert_array_equal(many_state, alone_state)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.many(1)
def test_runs_and_thread_counts_give_the_same_bits(threads: int) -> None:
    one, other = crowd(9, 1), crowd(9, threads)
    a, b = run_crowd(one, 1.0), run_crowd(other, 1.0)
    assert_same(states(one), states(other))
    np.testing.assert_array_equal(a.root, b.root)
    np.testing.assert_array_equal(a.rotations, b.rotations)


def test_a_character_does_not_depend_on_its_neighbours() -> None:
    whole, few = crowd(9, 2), build_stage(CONDUCTORS[3:5], BODIES)
    run_crowd(whole, 1.0)
    run_crowd(few, 1.0)
    assert_same(states(few), states(whole))


def test_chunks_of_any_length_are_the_same_run() -> None:
    one, other = crowd(4, 2), crowd(4, 2)
    one.advance(200)
    for steps in (1, 2, 3, 50, 144):
        other.advance(steps)
    assert_same(states(one), states(other))


def test_characters_join_leave_switch_and_change_tempo_while_others_go_on() -> None:
    """Those that nothing happens to keep their bits; those that something happens to are as alone on a stage."""
    quiet, busy = crowd(4, 2), crowd(4, 2)
    for stage in (quiet, busy):
        stage.advance(100)
    actors = list(busy.actors.values())
    leaver, switcher, changer, stays = actors
    busy.remove(leaver)
    switcher.drive("upperBody", Loose(1.0))
    changer.change(bpm=140.0)
    joiner = busy.add(BODIES[0], "joiner")
    joiner.drive("legs", Balance())
    joiner.drive("upperBody", Kinematic(conduct(bpm=100.0)))
    for stage in (quiet, busy):
        stage.advance(100)
    assert list(busy.actors) == [switcher.name, changer.name, stays.name, "joiner"]
    assert_same(states(quiet), states(busy), [stays.name])
    for other in (switcher, changer):
        assert not np.array_equal(state(other), states(quiet)[other.name])
    assert len(busy.loop.runner.programs) == 4
    assert all(actor.fallen is None for actor in busy.actors.values())
    # the same, one by one by the engine's verbs
    slow = build_stage(CONDUCTORS[1:3], BODIES)
    use_verbs(slow)
    slow.advance(100)
    slow.actors[switcher.name].drive("upperBody", Loose(1.0))
    slow.actors[changer.name].change(bpm=140.0)
    slow.advance(100)
    assert_same(states(slow), states(busy))


def test_who_left_is_gone_and_may_come_back() -> None:
    stage = crowd(3)
    stage.advance(10)
    first = next(iter(stage.actors.values()))
    before = state(first)
    stage.remove(first)
    stage.advance(10)
    np.testing.assert_array_equal(state(first), before)
    first.drive("upperBody", Kinematic(conduct()))  # nobody minds
    stage.advance(10)
    rejects(lambda: stage.remove(first), "'conductor 0'")
    stage.add(BODIES[0], first.name)
    stage.advance(1)
    assert len(stage.actors) == 3


def test_names_of_those_who_join_are_free() -> None:
    stage = Stage()
    body = Character.human(preset="mix", name="human")
    actors = [stage.add(body) for _ in range(3)]
    stage.remove(actors[1])
    assert stage.add(body).name not in ("human", "human 2")


def test_one_that_is_pushed_over_falls_alone() -> None:
    calm, rough = crowd(5, 2), crowd(5, 2)
    victim = list(rough.actors)[2]
    heard: list[Event] = []
    rough.actors[victim].listen(heard.append)
    rough.actors[victim].push("chest" if "chest" in BODIES[0].skeleton.roles else "spine", (0.0, 0.0, 600.0), 0.4)
    quiet, take = run_crowd(calm, 3.0), run_crowd(rough, 3.0)
    assert take.fell == (victim,)
    assert any(event.kind == "fell" for event in heard)
    assert not quiet.fell
    others = [name for name in rough.actors if name != victim]
    assert_same(states(calm), states(rough), others)
    k = take.names.index(victim)
    assert take.last_root[k, 1] < 0.5 < quiet.last_root[k, 1]
    # those who are compiled and the one who fell come out in the stage's order
    kept = [j for j in range(5) if j != k]
    np.testing.assert_array_equal(take.root[:, kept], quiet.root[:, kept])


def test_poses_are_the_recorders() -> None:
    one, other = crowd(3, 2), crowd(3)
    take, recorded = run_crowd(one, 0.5, fps=50.0), other.run(0.5, fps=50.0)
    np.testing.assert_allclose(take.times, recorded.times, atol=1e-12)
    for k, name in enumerate(take.names):
        actor = recorded.actors[name]
        np.testing.assert_array_equal(take.root[:, k], actor.root)
        np.testing.assert_allclose(take.clip(name).rotations, actor.rotations, atol=2e-15, rtol=0)


def test_reading_poses_changes_nothing() -> None:
    one, other = crowd(3), crowd(3)
    victim = next(iter(one.actors))
    for stage in (one, other):
        stage.actors[victim].drive("upperBody", Loose(1.0))
        stage.actors[victim].push("spine", (0.0, 0.0, 600.0), 0.4)
    run_crowd(one, 2.0, fps=200.0)
    other.advance(400)
    assert_same(states(one), states(other))


def test_keeping_fewer_frames_keeps_the_same_ones() -> None:
    every, second, none = (run_crowd(crowd(2), 0.2, keep_every=k) for k in (1, 2, None))
    np.testing.assert_array_equal(every.rotations[::2], second.rotations)
    np.testing.assert_array_equal(every.times[::2], second.times)
    assert len(none.times) == 0
    np.testing.assert_array_equal(none.last_root, every.root[-1])
    assert every.frames == second.frames == none.frames == 11


def test_memory_stays_flat_however_long_it_runs() -> None:
    stage = crowd(4, 2)
    run_crowd(stage, 0.5, keep_every=None)
    tracemalloc.start()
    sizes = []
    for _ in range(6):
        run_crowd(stage, 0.5, keep_every=None)
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert sizes[-1] - sizes[1] < 20_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seconds": 1e7}, r"take .* GB, more than the 2 GB .*\(keep_every\)"),
        ({"seconds": 0.0}, "at most 1e[+]07 s; 0 given"),
        ({"seconds": 1.0, "fps": 60.0}, "60 frames a second do not fall on steps of 0.005 s"),
        ({"seconds": 1.0, "fps": 0.0}, "do not fall on steps"),
        ({"seconds": 1.0, "keep_every": 0}, "0 given"),
    ],
)
def test_runs_that_cannot_be_are_refused_in_a_sentence(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run_crowd(crowd(1), **arguments)  # type: ignore[arg-type]


def test_a_run_of_nobody_is_refused() -> None:
    with pytest.raises(InputError, match="there is no actor"):
        run_crowd(Stage(), 1.0)


def test_a_run_within_the_room_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = crowd(1)
    frame = 8 * (3 + 4 * len(BODIES[0].skeleton))
    monkeypatch.setattr(crowd_take, "MOST_BYTES", 11 * frame)
    assert len(run_crowd(stage, 0.2).times) == 11
    rejects(lambda: run_crowd(stage, 0.22), "12 frames")


def test_who_is_drawn_depends_on_the_seed_alone() -> None:
    same, other = draw_conductors(9, bodies=3), draw_conductors(9, seed=1, bodies=3)
    for a, b, c in zip(CONDUCTORS, same, other, strict=True):
        assert a.gesture == b.gesture and a.phase == b.phase and a.body == b.body
        assert a.gesture != c.gesture
    assert len({conductor.gesture for conductor in CONDUCTORS}) == 9
    # more conductors: the first are who they were
    assert [c.gesture for c in draw_conductors(20, bodies=3)][:9] == [c.gesture for c in CONDUCTORS]


def test_nobody_stands_in_anothers_place() -> None:
    places = place_on_grid(200)
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1) + 10.0 * np.eye(200)
    assert apart.min() > 1.6


@pytest.mark.slow
def test_the_demo_writes_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pygltflib

    words = ["demo", "crowd", "--count", "3", "--seconds", "0.4", "--threads", "2", "--json", "-o", str(tmp_path)]
    assert main(words) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["count"] == 3 and figures["fell"] == 0 and figures["threads"] == 2
    assert figures["seconds"] == pytest.approx(0.4) and figures["frames"] == 21
    assert figures["realtime_factor"] == pytest.approx(0.4 / figures["wall_s"])
    assert figures["realtime_characters"] == pytest.approx(3 * 0.4 / figures["wall_s"])
    assert figures["us_per_character_step"] == pytest.approx(1e6 * figures["wall_s"] / (3 * 80))
    assert figures["total_s"] > figures["wall_s"]
    assert {path.name for path in tmp_path.iterdir()} == {"crowd.png", "crowd.glb", "crowd.json"}
    lasting = json.loads((tmp_path / "crowd.json").read_text())
    assert lasting["count"] == 3 and "wall_s" not in lasting and "threads" not in lasting
    glb = pygltflib.GLTF2.load_from_bytes((tmp_path / "crowd.glb").read_bytes())
    assert len(glb.skins) == 3 and len(glb.animations) == 1


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    for folder, threads in (("a", "1"), ("b", "2")):
        words = ["demo", "crowd", "--count", "2", "--seconds", "0.2", "--quiet", "--threads", threads]
        assert main([*words, "-o", str(tmp_path / folder)]) == 0
    for name in ("crowd.glb", "crowd.png", "crowd.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--count", "0"], "1 to 5000 conductors; 0 given"),
        (["--seconds", "-1"], "-1 given"),
        (["--threads", "0"], "from 1 to 256; got 0"),
    ],
)
def test_crowds_that_cannot_be_are_refused(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "crowd", *words, "-o", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def contacts_of(stage: Stage) -> list[np.ndarray]:
    found = [group.simulation.find_contacts(0) for group in stage.groups]
    return [np.concatenate([each.joints[:, None], each.points, each.forces], axis=1) for each in found]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.many(1)
def test_at_a_shared_workspace_a_step_is_the_same_and_so_are_its_contacts(threads: int) -> None:
    """Twenty characters of two structures (half have a loose trunk), at desks and each in its own `MjData`."""
    shared, own = (build_stage(draw_conductors(20, bodies=3), BODIES, threads) for _ in range(2))
    for stage in (shared, own):
        for actor in list(stage.actors.values())[1::2]:
            actor.drive("trunk", Loose(2.0))
    own.loop.is_recorded = True
    shared.advance(4)
    structures = {group.simulation.structure for group in shared.groups}  # type: ignore[attr-defined]
    assert len(structures) == 2
    assert all(group.simulation.away.steps[0] == 4 for group in shared.groups)  # type: ignore[attr-defined]
    shared.advance(95)
    shared.advance(1)
    own.advance(100)
    assert all(group.simulation.away.steps[0] == 0 for group in own.groups)  # type: ignore[attr-defined]
    assert_same(states(shared), states(own))
    for a, b in zip(contacts_of(shared), contacts_of(own), strict=True):
        assert len(a) >= 4
        np.testing.assert_array_equal(a, b)
    for a, b in zip(shared.groups, own.groups, strict=True):
        one, other = a.simulation.data, b.simulation.data  # type: ignore[attr-defined]
        assert one.time == pytest.approx(other.time)
        for name in ("qpos", "qvel", "qacc_warmstart", "qfrc_applied", "qacc"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    # Having looked, all go on from where they are: some from their own data, some from a desk.
    for group in shared.groups[::3]:
        assert group.simulation.away.steps[0] == 0  # type: ignore[attr-defined]
    shared.advance(50)
    own.advance(50)
    assert_same(states(shared), states(own))


def test_a_saved_crowd_goes_on_the_same_from_a_shared_workspace() -> None:
    stage = crowd(9, 2)
    stage.advance(50)
    saved = stage.save()
    stage.advance(50)
    end = states(stage)
    stage.restore(saved)
    stage.advance(50)
    assert_same(states(stage), end)


def test_few_of_a_structure_have_no_shared_workspace() -> None:
    stage = crowd(4)
    stage.advance(4)
    assert not any(group.simulation.away.steps[0] for group in stage.groups)  # type: ignore[attr-defined]


def test_poses_that_are_watched_are_those_that_are_shown() -> None:
    stage = crowd(9, 2)
    stage.build()
    root, turns = np.zeros((9, 3)), np.zeros((9, len(BODIES[0].skeleton), 4))
    stage.loop.runner.watch(root, turns)
    for _ in range(3):
        stage.advance(4)
    shown_root, shown_turns = np.zeros_like(root), np.zeros_like(turns)
    stage.loop.runner.show(shown_root, shown_turns)
    np.testing.assert_array_equal(root, shown_root)
    np.testing.assert_array_equal(turns, shown_turns)
    before = root.copy()
    stage.loop.runner.stop_watching()
    stage.advance(4)
    np.testing.assert_array_equal(root, before)


def test_everybody_has_his_own_body_and_wears_a_mesh_that_fits() -> None:
    bodies = draw_bodies(12)
    assert [conductor.body for conductor in draw_conductors(12)] == list(range(12))
    assert len({round(body.mass, 6) for body in bodies}) == 12
    looks = find_looks(bodies, most=4)
    assert len({id(look) for look, _ in looks}) == 4
    assert [scale for _, scale in looks[:4]] == [1.0] * 4
    for body, (look, scale) in zip(bodies, looks, strict=True):
        np.testing.assert_allclose(body.skeleton.offsets, scale * look.character.skeleton.offsets, atol=1e-9)
    # somebody of other proportions gets a mesh of his own
    child = Character.human(1.2, 25.0, age=7.0, preset="mix")
    stranger = Character.from_skeleton(
        dataclasses.replace(child.skeleton, offsets=child.skeleton.offsets * [1, 1, 1.2])
    )
    assert find_looks([*bodies, stranger], most=4)[-1][0].character is stranger


def two(count: int = 2, **options: Any) -> Stage:
    stage = Stage(**options)
    for k in range(count):
        actor = stage.add(BODIES[0], f"a{k}")
        actor.drive("legs", Balance())
        actor.drive("upperBody", Kinematic(conduct(hands="both")))
    return stage


def test_a_crowd_in_which_nobody_is_compiled_is_recorded_too() -> None:
    fallen = two(1)
    fallen.actors["a0"].push("spine", (0.0, 0.0, 900.0), 0.4)
    run_crowd(fallen, 2.0)
    slow = two()
    use_verbs(slow)
    for stage in (fallen, slow, two(couple="paper", gain=0.6)):
        take = run_crowd(stage, 0.1)
        np.testing.assert_array_equal(take.last_root[0], next(iter(stage.actors.values())).body.state.root)


@pytest.mark.parametrize("how", ["recorded", "restored"])
def test_a_switch_after_a_record_or_a_restore_is_the_same(how: str) -> None:
    """A hand-over goes on from accelerations: they must be those of the last step and of no other."""
    ends = []
    for way in ("plain", how):
        stage = two(1)
        stage.advance(80)
        if way == "recorded":
            stage.run(0.1, fps=200.0)
        else:
            stage.advance(20)
        if way == "restored":
            saved = stage.save()
            stage.advance(50)
            stage.restore(saved)
        stage.actors["a0"].drive("upperBody", Loose(8.0))
        stage.advance(20)
        ends.append(state(stage.actors["a0"]))
    np.testing.assert_array_equal(*ends)


def test_a_push_is_the_same_bits_either_way() -> None:
    body = Character.human(1.8, 70.0, preset="full")
    for seed in range(4):
        ends = []
        for compiled in (True, False):
            stage = Stage("mujoco" if compiled else VerbsEngine(), dt=0.001)
            actor = stage.add(body)
            actor.drive("legs", Balance())
            actor.drive("upperBody", Kinematic(conduct(bpm=67.8, beats=2, hands="right")))
            stage.advance(40)
            actor.push("rightHand", np.random.default_rng(seed).normal(size=3) * 60.0, 0.3)
            stage.advance(100)
            ends.append(state(actor))
        np.testing.assert_array_equal(*ends)


def test_a_change_that_is_refused_changes_nothing() -> None:
    ends = []
    for refused in (False, True):
        stage = Stage()
        actor = stage.add(BODIES[0])
        actor.drive("legs", Balance())
        actor.drive("rightArm", Kinematic(conduct(hands="both")))
        actor.drive("leftArm", Kinematic(clap()))
        stage.advance(50)
        if refused:
            with pytest.raises(InputError, match="bpm"):
                actor.change(bpm=150.0)  # the clap has none
        stage.advance(50)
        ends.append(state(actor))
    np.testing.assert_array_equal(*ends)


def test_a_driver_that_two_bodies_share_plays_on_each_as_its_own() -> None:
    woman, man = (Character.human(1.75, 60.0, sex, preset="mix") for sex in ("female", "male"))
    found = []
    for shared, order in ((True, (woman, man)), (True, (man, woman)), (False, (woman, man))):
        stage, driver = Stage(), Kinematic(conduct(hands="both"))
        for body in order:
            actor = stage.add(body, "woman" if body is woman else "man")
            actor.drive("legs", Balance())
            actor.drive("upperBody", driver if shared else Kinematic(conduct(hands="both")))
        stage.advance(100)
        found.append(states(stage))
    assert_same(found[0], found[2])
    assert_same(found[1], found[2])


def test_nobody_joins_or_leaves_while_a_crowd_is_recorded() -> None:
    stage = two(3)
    stage.actors["a1"].push("spine", (0.0, 0.0, 900.0), 0.4)
    run_crowd(stage, 2.0)
    with pytest.raises(InputError, match="joined or left"):
        run_crowd(stage, 0.1, each=lambda t: stage.remove(stage.actors["a1"]) if "a1" in stage.actors else None)
    stage = two(2)
    with pytest.raises(InputError, match="joined or left"):
        run_crowd(stage, 0.1, each=lambda t: stage.add(BODIES[0], "new") if len(stage.actors) == 2 else None)


@pytest.mark.parametrize("height", [0.0, 5.0])
def test_a_fall_is_told_on_ground_of_any_height(height: float) -> None:
    stage = Stage(ground=Ground(height=height))
    pose = stand_still(BODIES[0]).pose(0.0)
    actor = stage.add(BODIES[0], pose=Pose(pose.root + [0.0, height, 0.0], pose.rotations))
    actor.drive("root", Free())
    actor.drive("legs", Loose(0.05))
    actor.drive("upperBody", Kinematic(conduct()))
    stage.advance(1)
    assert stage.loop.runner.programs
    for _ in range(150):
        stage.advance(1)
    assert actor.fallen is not None


@pytest.mark.parametrize("steps", [-1, 1.5, float("nan"), "a"])
def test_a_stage_advances_by_whole_steps(steps: Any) -> None:
    with pytest.raises(InputError, match="whole number of steps"):
        two().advance(steps)


def test_a_state_is_restored_only_where_it_was_saved() -> None:
    def leave(stage: Stage) -> None:
        stage.remove(stage.actors["a0"])

    def join(stage: Stage) -> None:
        stage.add(BODIES[0], "new").drive("legs", Balance())

    def switch(stage: Stage) -> None:
        stage.actors["a0"].drive("leftArm", Kinematic(clap()))

    def take_up(stage: Stage) -> None:
        stage.actors["a0"].load(Load("rightHand", 2.0))

    for event, match in (
        (leave, "joined or left"),
        (join, "joined or left"),
        (switch, "other drivers"),
        (take_up, "loads"),
    ):
        stage = two()
        stage.advance(10)
        saved = stage.save()
        event(stage)
        stage.advance(10)
        with pytest.raises(InputError, match=match):
            stage.restore(saved)


def test_a_blow_beyond_all_bounds_ends_in_words() -> None:
    stage = two(9)
    stage.advance(4)
    stage.actors["a0"].push("spine", (1e12, 0.0, 0.0), 0.3)
    with pytest.raises(SolveError, match="non-finite"):
        stage.advance(400)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: run_crowd(two(), 1.0, fps=0.1), "less than a frame"),
        (lambda: run_crowd(two(), 1e308, keep_every=None), "at most"),
        (lambda: run_crowd(two(), 1.0, keep_every=1.5), "keep_every"),  # type: ignore[arg-type]
        (lambda: Stage(threads=1.5), "threads"),  # type: ignore[arg-type]
        (lambda: Stage(threads="2"), "threads"),  # type: ignore[arg-type]
        (lambda: two(1, ground=None).advance(1), "has none"),
        (lambda: Balance(target=(1.0,)), "x and z"),  # type: ignore[arg-type]
        (lambda: Balance(target=(float("nan"), 0.0)), "finite"),
        (lambda: Balance(friction=-1.0), "friction"),
        (lambda: Balance(friction=float("nan")), "friction"),
        (lambda: Balance(height=100.0), "height"),
        (lambda: Balance(stiffness="a"), "stiffness .*got 'a'"),  # type: ignore[arg-type]
        (lambda: two(1).actors["a0"].push("spine", ("a", 0.0, 1.0), 0.1), "three newtons"),  # type: ignore[arg-type]
        (lambda: two(1).actors["a0"].push("spine", 5.0, 0.1), "three newtons"),  # type: ignore[arg-type]
        (lambda: draw_conductors(1, seed=-1), "seed"),
    ],
)
def test_odd_words_get_a_sentence(call: Callable[[], object], match: str) -> None:
    with pytest.raises(InputError, match=match):
        call()


@pytest.mark.parametrize("words", [["--count", "1.5"], ["--count", "many"], ["--seed", "-1"], ["--seconds", "0.01"]])
def test_odd_words_of_the_command_line_get_a_sentence(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "crowd", *words, "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert said[0].startswith("poise: ")
