"""Hits: one event per contact, whose impulse is a change of momentum and whose peak force converges with the step."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.body.geometry.primitives import Sphere
from poise.demos.mix import push_hands
from poise.engines.contact_log import WINDOW, find_peak
from poise.jobs.shared.metrics import find_self_collision, list_hits
from poise.spatial.inertia import RigidInertia
from poise.stage.take.take import Event, Take

MASS, GRAVITY = 5.0, np.array([0.0, -9.81, 0.0])


def build_throw(engine: str, dt: float, height: float) -> poise.Stage:
    """Build a stage on which a ball flies at somebody who stands."""
    stage = poise.Stage(engine, dt)
    inertia = RigidInertia(MASS, np.zeros(3), 0.03 * np.eye(3))
    place, velocity = np.array([0.0, height, 0.8]), np.array([0.0, 1.0, -9.0])
    stage.add_prop(poise.Prop("ball", (Sphere(np.zeros(3), 0.12),), inertia, place, velocity=velocity))
    actor = stage.add(poise.Character.human(1.75, 75.0))
    actor.drive("legs", poise.Balance())
    return stage


def throw(engine: str, dt: float, height: float) -> tuple[Take, float]:
    """Throw a ball at somebody who stands; return the take and the impulse (N s) by the ball's own velocity.

    It is that of the first 0.05 s of the hit: a ball that stays in touch is a rest after that. The take ends before the
    ball touches again: with the engine `inverse` it meets the spine at 0.116 s.
    """
    stage, speeds = build_throw(engine, dt, height), list[np.ndarray]()
    take = stage.run(0.115, 200.0, each=lambda _: speeds.append(stage.read_prop("ball").velocity.copy()))
    speeds.append(stage.read_prop("ball").velocity.copy())
    first = round(next(event.time for event in take.events if event.kind == "hit") / dt)
    last = min(first + round(WINDOW / dt), len(speeds) - 1)
    change = speeds[last] - speeds[first] - GRAVITY * dt * (last - first)
    return take, MASS * float(np.linalg.norm(change))


@pytest.mark.parametrize("height", [1.3, 0.6])  # the chest; between both thighs
@pytest.mark.parametrize(
    ("engine", "dt"),
    [
        ("mujoco", 0.0005),
        ("mujoco", 0.002),
        ("mujoco", 0.005),
        ("bullet", 0.002),
        ("bullet", 0.004),
        ("inverse", 0.002),
    ],
)
def test_ball_is_one_hit_with_the_impulse_that_it_lost(engine: str, dt: float, height: float) -> None:
    if engine == "bullet":
        pytest.importorskip("pybullet")
    take, lost = throw(engine, dt, height)
    hits = list_hits(take)
    assert [hit["other"] for hit in hits] == ["ball"]
    assert hits[0]["impulse_ns"] == pytest.approx(lost, rel=0.01)


@pytest.mark.parametrize(("engine", "dt"), [("mujoco", 0.002), ("inverse", 0.001)])
def test_take_that_ends_during_a_hit_lists_it_with_the_momentum_lost_so_far(engine: str, dt: float) -> None:
    began = next(event.time for event in throw(engine, dt, 1.3)[0].events if event.kind == "hit")
    stage, heard, speeds = build_throw(engine, dt, 1.3), list[Event](), list[np.ndarray]()
    next(iter(stage.actors.values())).listen(heard.append)
    steps = round((began + 0.02) / dt)
    first = stage.run(steps * dt, each=lambda _: speeds.append(stage.read_prop("ball").velocity.copy()))
    lost = speeds[0] + GRAVITY * dt * steps - stage.read_prop("ball").velocity
    hit = list_hits(first)[0]
    assert (len(list_hits(first)), hit["other"]) == (1, "ball")
    assert hit["time_s"] == pytest.approx(began, abs=1e-6)
    assert hit["impulse_ns"] == pytest.approx(MASS * float(np.linalg.norm(lost)), rel=0.01)
    assert not heard and not stage.events  # it goes on
    times = stage.time + dt * np.arange(1, 6)
    assert not list_hits(stage.run(0.0, times=times)) and not heard  # a take that begins and ends within it
    assert not list_hits(stage.run(0.1))
    assert [(event.kind, event.time) for event in stage.events] == [("hit", pytest.approx(began))]
    assert heard == stage.events and heard[0].impulse >= hit["impulse_ns"] - 1e-6


def test_hit_that_is_too_weak_at_the_end_of_a_take_is_in_the_next() -> None:
    """The take ends with the step of the first touch, in which the ball has not lost 1.5 N s yet."""
    dt = 0.0005
    began = next(event.time for event in throw("mujoco", dt, 1.3)[0].events if event.kind == "hit")
    stage = build_throw("mujoco", dt, 1.3)
    takes = [stage.run(round(began / dt + 1) * dt), stage.run(0.06)]
    assert [len(list_hits(take)) for take in takes] == [0, 1]


def test_impulse_and_peak_force_of_a_hit_do_not_depend_on_the_step() -> None:
    found = [list_hits(throw("mujoco", dt, 1.3)[0])[0] for dt in (0.0005, 0.001, 0.002, 0.004)]
    for key in ("impulse_ns", "peak_force_n"):
        values = [hit[key] for hit in found]
        assert max(values) < 1.06 * min(values), key


@pytest.mark.parametrize("dt", [0.0005, 0.001, 0.003, 0.004])
def test_peak_of_a_series_of_forces_is_a_mean_over_the_window(dt: float) -> None:
    """A blow of 12 ms and 0.3 N s: over 20 ms it is 15 N, however it is sampled."""
    force = np.zeros(round(0.3 / dt))
    force[10 : 10 + round(0.012 / dt)] = 25.0
    assert find_peak(force, dt) == pytest.approx(15.0, rel=1e-6)


@pytest.mark.parametrize("dt", [0.002, 0.005])
def test_long_push_of_two_actors_is_one_event_per_pair_of_hands(dt: float) -> None:
    """Hands push to and fro for 3 s: what is listed is each touch that began, once, over its first 50 ms."""
    stage = push_hands.build(stage=poise.Stage(dt=dt))
    heard: dict[str, list[Event]] = {name: [] for name in stage.actors}
    for name, actor in stage.actors.items():
        actor.listen(heard[name].append)
    pressed: list[dict[tuple[str, str], np.ndarray]] = []

    def press(_t: float) -> None:
        labels, touches = stage.actors["pusher"].character.skeleton.labels, stage.groups[0].simulation.find_contacts(0)
        pressed.append({})
        for joint, force, other in zip(touches.joints, touches.forces, touches.others, strict=True):
            key = labels[joint], other
            pressed[-1][key] = pressed[-1].get(key, np.zeros(3)) + dt * force

    take = stage.run(3.0, each=press)
    hits = [event for event in take.events if event.kind == "hit"]
    pairs = {("leftHand", "held/rightHand"), ("rightHand", "held/leftHand")}
    assert {(event.joint, event.other) for event in hits} == pairs and len(hits) == 2
    for event in hits:
        first = round(event.time / dt) + 1  # `press` is called before the first step, too
        own = np.array([step.get((event.joint, event.other), np.zeros(3)) for step in pressed])
        window = own[first : first + round(WINDOW / dt)]
        assert event.impulse == pytest.approx(float(np.linalg.norm(window.sum(axis=0))), rel=1e-6)
        assert event.impulse < 0.2 * np.linalg.norm(own.sum(axis=0))  # the rest of the push is not in it
    assert heard["pusher"] == hits
    mirrored = [
        (event.time, event.other.partition("/")[2], f"held/{event.joint}", event.impulse) for event in heard["held"]
    ]
    assert mirrored == [(event.time, event.joint, event.other, event.impulse) for event in hits]
    assert [(hit["actor"], hit["joint"]) for hit in list_hits(take)] == [("pusher", event.joint) for event in hits]


@pytest.mark.parametrize("later", [0.01, 0.02, 0.03, 0.04])
def test_two_takes_list_a_hit_of_two_actors_once(later: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.engines.contact_log.LEAST", 0.002)  # N s/kg
    whole, pieces = push_hands.build(), push_hands.build()
    whole.run(3.2)
    wanted = [event for event in whole.events if event.kind == "hit"]
    seconds = [wanted[0].time + later, 0.02, 0.3]
    found = [event for each in seconds for event in pieces.run(each, 200.0).events if event.kind == "hit"]
    assert [(event.time, event.joint, event.other) for event in found] == [
        (event.time, event.joint, event.other) for event in wanted if event.time < pieces.time
    ]


def test_hit_of_two_actors_is_listed_of_the_one_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.engines.contact_log.LEAST", 0.005)  # N s/kg: the hit has not added up to its limit yet
    whole = push_hands.build()
    whole.advance(round(3.2 / whole.dt))
    touched = max(event.time for event in whole.events if event.kind == "hit")
    stage = push_hands.build()
    stage.advance(round((touched + 0.04) / stage.dt))  # within 50 ms of the touch
    before = len(stage.events)
    stage.remove(stage.actors["pusher"])
    stage.advance(20)
    found = [(event.actor, event.joint, event.other) for event in stage.events[before:] if event.kind == "hit"]
    assert found == [("held", "rightHand", "pusher/leftHand"), ("held", "leftHand", "pusher/rightHand")]


def test_hard_collision_of_own_segments_gets_one_warning() -> None:
    stage = poise.Stage()
    actor = stage.add(poise.Character.human(1.75, 75.0), name="a")
    actor.drive("legs", poise.Balance())
    take = stage.run(0.1)

    def collide(impulse: float, other: str) -> str | None:
        events = [
            Event(0.5, "a", "hit", "", "leftHand", other, impulse),
            Event(0.2, "a", "hit", "", "head", other, 3.0),
        ]
        return find_self_collision(Take(take.times, take.actors, {}, tuple(events)))

    told = collide(6856.0, "a/leftUpperLeg")
    assert told is not None and all(word in told for word in ("leftHand", "leftUpperLeg", "0.50 s", "itself = false"))
    assert "6.86e+03 N s" in told
    assert collide(5.0, "a/leftUpperLeg") is None and collide(6856.0, "ball") is None
