"""One stage belongs to one thread at a time, and says so; what has ended is forgotten, so that no step gets slower."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import poise
from helpers.stages import VerbsEngine
from poise.drivers.balance.balance import Balance
from poise.drivers.kinematic import kinematic
from poise.drivers.kinematic.kinematic import Kinematic
from poise.errors import BusyError, PoiseError
from poise.stage.actor import Actor
from poise.stage.monitor import events
from poise.stage.runner import Runner
from poise.stage.stage import Stage
from poise.world.forces import Load

BODY = poise.Character.human(1.75, 75.0, preset="mix")


def make(compiled: bool = True, bpm: float = 90.0) -> tuple[Stage, Actor]:
    stage = Stage("mujoco" if compiled else VerbsEngine())
    actor = stage.add(BODY, "actor")
    actor.drive("legs", Balance())
    actor.drive("arms", Kinematic(poise.gestures.conduct(bpm=bpm, beats=4, hands="both")))
    return stage, actor


def use(stage: Stage, actor: Actor, saved: Any) -> dict[str, Callable[[], object]]:
    """All that touches what a step reads and writes."""
    return {
        "step": stage.step,
        "advance": lambda: stage.advance(3),
        "run": lambda: stage.run(0.1),
        "crowd": lambda: poise.run_crowd(stage, 0.1),
        "add": lambda: stage.add(BODY, "another"),
        "remove": lambda: stage.remove(actor),
        "drive": lambda: actor.drive("arms", poise.Loose()),
        "change": lambda: actor.change(bpm=120.0),
        "load": lambda: actor.load(Load("rightHand", 2.0)),
        "push": lambda: actor.push("spine", (1.0, 0.0, 0.0), 0.1),
        "save": stage.save,
        "restore": lambda: stage.restore(saved),
    }


def test_a_stage_that_another_thread_steps_says_so() -> None:
    """A thread is in the middle of a step, as an event's listener, while this one tries all there is."""
    stage, actor = make()
    stage.advance(2)
    saved = stage.save()
    inside, go_on = threading.Event(), threading.Event()

    def wait(_: object) -> None:
        inside.set()
        assert go_on.wait(60.0)

    def run() -> None:
        stage.run(0.02, each=lambda t: wait(t) if not inside.is_set() else None)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert inside.wait(60.0)
        before = (list(actor.assignments), list(actor.loads), list(actor.pushes), list(stage.actors))
        for name, touch in use(stage, actor, saved).items():
            with pytest.raises(BusyError, match=r"this stage is being stepped by another thread\. Use"):
                touch()
                pytest.fail(name)
        assert (list(actor.assignments), actor.loads, actor.pushes, list(stage.actors)) == before  # nothing by halves
    finally:
        go_on.set()
        thread.join()
    assert issubclass(BusyError, PoiseError)
    for touch in (stage.step, lambda: actor.push("spine", (1.0, 0.0, 0.0), 0.1), stage.step):
        touch()  # it is free again


def test_a_stage_in_a_runner_is_the_runners() -> None:
    stage, _ = make()
    with Runner(stage, speed=None) as runner:
        runner.latest()
        with pytest.raises(BusyError):
            stage.step()
    stage.step()


def test_a_stage_is_free_after_an_error() -> None:
    stage, actor = make()
    with pytest.raises(ZeroDivisionError):
        stage.run(0.1, each=lambda t: 1 / 0)
    actor.listen(lambda event: 1 / 0)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(stage.step).result()


def test_a_listener_may_use_the_stage_that_called_it() -> None:
    """The same thread is let in again."""
    stage, actor = make()
    stage.step()
    heard: list[object] = []
    actor.listen(lambda event: heard.append(stage.save()))
    actor.load(Load("rightHand", 1.0))
    actor.drop("rightHand")
    assert heard


def test_two_threads_that_fight_for_a_stage_leave_it_whole() -> None:
    """Whoever is refused tries again: as many steps are made as succeeded, and they are those of one thread."""
    stage, _ = make()
    stage.step()
    made = [0, 0]

    def work(k: int) -> None:
        for _ in range(200):
            try:
                stage.advance(1)
                made[k] += 1
            except BusyError:
                continue

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))
    alone, other = make()
    alone.advance(1 + sum(made))
    assert stage.steps == alone.steps
    np.testing.assert_array_equal(stage.actors["actor"].body.state.q, other.body.state.q)


def test_different_stages_run_in_different_threads() -> None:
    def simulate(bpm: float) -> np.ndarray:
        stage, _ = make(bpm=bpm)
        return stage.run(0.3).actor().rotations

    tempi = [60.0, 90.0, 120.0, 150.0]
    alone = [simulate(bpm) for bpm in tempi]
    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(alone, pool.map(simulate, tempi), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("compiled", [True, False])
def test_pushes_that_have_ended_are_forgotten(compiled: bool) -> None:
    """A thousand pushes before the one that counts, and pushes in any order: the same bits as that one alone."""
    ends = []
    for many in (0, 1000):
        stage, actor = make(compiled)
        for k in range(many):
            actor.push("spine", (0.0, 0.0, 0.0), 0.001, start=0.0001 * (k % 7))
        stage.advance(10)
        assert len(actor.pushes) == 0
        if many:
            actor.push("spine", (0.0, 0.0, 9.0), 5.0, start=50.0)  # the later one first
        actor.push("spine", (20.0, 0.0, 10.0), 0.1)
        stage.advance(10)
        assert len(actor.pushes) == (2 if many else 1)
        stage.advance(20)
        assert len(actor.pushes) == (1 if many else 0)
        ends.append(actor.body.state.copy())
    np.testing.assert_array_equal(ends[0].q, ends[1].q)
    quiet, actor = make(compiled)
    quiet.advance(40)
    assert np.abs(actor.body.state.q - ends[0].q).max() > 1e-4  # that one did push


def test_pushes_come_back_with_the_state_that_had_them() -> None:
    stage, actor = make()
    stage.advance(4)
    actor.push("spine", (40.0, 0.0, 0.0), 0.1)
    stage.advance(4)
    saved = stage.save()
    ends = []
    for _ in range(2):
        stage.advance(60)
        assert not actor.pushes
        ends.append(actor.body.state.q.copy())
        stage.restore(saved)
        assert len(actor.pushes) == 1
    np.testing.assert_array_equal(*ends)


def test_pushes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.stage.actor.MOST_PUSHES", 3)
    _, actor = make()
    for _ in range(3):
        actor.push("spine", (1.0, 0.0, 0.0), 1.0)
    with pytest.raises(poise.InputError, match=r"has 3 pushes before it already"):
        actor.push("spine", (1.0, 0.0, 0.0), 1.0)


def test_events_are_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_EVENTS", 5)
    stage, actor = make()
    for k in range(23):
        actor.report("said", str(k))
        assert len(stage.events) < 10
    assert stage.event_log.count == 23
    assert [event.message for event in stage.event_log.since(20)] == ["20", "21", "22"]
    assert [event.message for event in stage.event_log.since(0)] == ["18", "19", "20", "21", "22"]
    take = stage.run(0.02, each=lambda t: actor.report("said", "now"))
    assert {event.message for event in take.events if event.kind == "said"} == {"now"}


def test_tracks_of_gestures_that_changed_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinematic, "_MOST_TRACKS", 4)
    stage, actor = make()
    driver = next(each.driver for each in actor.assignments if isinstance(each.driver, Kinematic))
    stage.step()
    for k in range(12):
        actor.change(size=1.0 + 0.01 * k)
        stage.step()
    assert len(driver._tracks) == 4
