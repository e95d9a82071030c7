"""Discarded stages are freed: a loop that makes one after another holds the memory of a few."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.body.geometry.primitives import Box
from poise.engines import memory
from poise.motion.samples import idle
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.stage.actor import Actor
from poise.stage.stage import Stage


def stand(actor: Actor, clip: poise.Clip) -> None:
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Kinematic(clip))


def conduct(actor: Actor, clip: poise.Clip) -> None:
    actor.drive("legs", poise.Balance(follow=clip))
    actor.drive("upperBody", poise.Kinematic(poise.gestures.conduct()))
    heard: list[object] = []
    actor.listen(lambda event: heard.append((event, actor)))


def fall(actor: Actor, clip: poise.Clip) -> None:
    actor.drive("root", poise.Free())
    actor.drive(actor.skeleton.names[1:], poise.Loose(0.2))


def track(actor: Actor, clip: poise.Clip) -> None:
    actor.drive("root", poise.Kinematic(clip))
    actor.drive(actor.skeleton.names[1:], poise.Track(clip))


def lift(actor: Actor, clip: poise.Clip) -> None:
    actor.drive("body", poise.Strength(clip))


def walk(actor: Actor, clip: poise.Clip) -> None:
    actor.drive("body", poise.Walk(2))


def shadow(actor: Actor, clip: poise.Clip) -> None:
    """Another actor is followed, which is a reference from one actor to the other."""
    ghost = actor.stage.add(actor.character, "ghost", poise.Pose(np.array([2.0, 1.0, 0.0]), clip.rotations[0]))
    stand(ghost, clip)
    actor.drive("body", poise.Shadow(ghost))


def switch(actor: Actor, clip: poise.Clip) -> None:
    stand(actor, clip)
    actor.stage.advance(2)
    actor.drive("arms", poise.Loose(0.3))
    actor.push("spine", (0.0, 0.0, 200.0), 0.1)
    actor.stage.run(0.02)


DRIVES: tuple[Callable[[Actor, poise.Clip], None], ...] = (stand, conduct, fall, track, lift, walk, shadow, switch)


def play(seed: int, engine: str = "mujoco") -> Stage:
    """One short episode with a body, drivers and perhaps a prop by the seed."""
    rng = np.random.default_rng(seed)
    stage = Stage(engine, dt=float(rng.choice([0.002, 0.005])), threads=int(rng.integers(1, 3)))
    if rng.random() < 0.3:
        box = Box(np.zeros(3), np.full(3, 0.1), rotation.identity())
        inertia = RigidInertia(2.0, np.zeros(3), 0.02 * np.eye(3))
        stage.add_prop(poise.Prop("crate", (box,), inertia, np.array([0.0, 0.2, 1.5])))
    body = poise.Character.human(rng.uniform(1.2, 2.0), rng.uniform(40.0, 100.0), preset="mix")
    actor = stage.add(body)
    DRIVES[seed % len(DRIVES)](actor, idle(body.skeleton, 1.0, 40.0))
    stage.advance(5)
    return stage


@pytest.fixture
def no_full_collections() -> Iterator[None]:
    """Python does not collect its oldest generation by itself meanwhile, as in a process with very many objects."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(before[0], before[1], 10**9)
    yield
    gc.set_threshold(*before)


def limit_memory(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Collect whenever simulations hold so many bytes more."""
    monkeypatch.setattr(memory, "_STEP", step)
    monkeypatch.setattr(memory, "_limit", memory._count_bytes() + step)


def count_alive(engine: str, stages: int) -> int:
    """How many of some stages exist after the last of them was discarded."""
    made = []
    for seed in range(stages):
        stage = play(seed % 2, engine)
        gc.collect(1)  # moves the stage to the oldest generation
        made.append(weakref.ref(stage))
        del stage
    return sum(each() is not None for each in made)


@pytest.mark.usefixtures("no_full_collections")
def test_discarded_stages_are_freed_without_a_collection_by_the_user() -> None:
    pytest.importorskip("pybullet")  # of 36 MB each
    assert count_alive("bullet", 10) < 6


@pytest.mark.usefixtures("no_full_collections")
def test_small_discarded_stages_are_freed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    limit_memory(monkeypatch, 16 << 20)
    assert count_alive("mujoco", 20) < 10


@pytest.mark.usefixtures("no_full_collections")
def test_simulations_in_use_are_not_collected_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crowd of stages that a user keeps costs a number of collections that grows with its logarithm."""
    limit_memory(monkeypatch, 4 << 20)
    before = gc.get_stats()[2]["collections"]
    kept = [play(0) for _ in range(25)]
    assert 0 < gc.get_stats()[2]["collections"] - before < 10
    assert all(stage.steps for stage in kept)


@pytest.mark.usefixtures("no_full_collections")
def test_switches_of_drivers_cause_no_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replaced simulation is freed at once, so a stage that runs live is not interrupted."""
    stage = play(0)
    (actor,) = stage.actors.values()
    limit_memory(monkeypatch, 16 << 20)
    before = gc.get_stats()[2]["collections"]
    for _ in range(20):
        actor.drive("arms", poise.Loose(0.3))
        stage.advance(1)
        actor.drive("arms", poise.Loose(0.6))
        stage.advance(1)
    assert gc.get_stats()[2]["collections"] == before


LOOP = """
import importlib.util, sys
sys.path.insert(0, sys.argv[1])
from stage.test_discarded_stages import DRIVES, play
from tools.sweeps.abuse_sweep import find_memory
bullet = importlib.util.find_spec("pybullet") is not None
held = []
for seed in range(1000):
    play(seed)
    if seed % 5 == 0:
        play(seed // 5 % 6, "inverse")
        if bullet:
            play(len(DRIVES) * seed, "bullet")
    held.append(find_memory())
print(max(held[100:300]), max(held[800:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_flat_over_a_thousand_stages() -> None:
    words = [sys.executable, "-c", LOOP, str(Path(__file__).parents[1])]
    early, late = map(float, subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())
    assert late < early + 60.0, f"{early:.0f} MB, later {late:.0f}"
