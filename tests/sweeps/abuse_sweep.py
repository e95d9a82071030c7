"""Abuse: random switching, pushing, loading, changing, saving and restoring, over all drivers and many bodies.

Every episode has a seed of its own and can be run alone:

    cd tests && python -m sweeps.abuse_sweep --seed 17 --episodes 1 --tell

What is refused with a sentence (an InputError) is no failure. A state that is not finite is one, whatever else was,
and so is any other error.
"""

from __future__ import annotations

import argparse
import gc
import resource
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from humans import make_human
from poise import Anchored, Balance, Character, Clip, Free, Kinematic, Load, Loose, Stage, Track, gestures
from poise.errors import InputError, SolveError
from poise.stage.actor import Actor
from rigs import mikumikudance, unreal
from sweeps.page import table

BODIES: dict[str, Callable[[], Character]] = {
    "mix": lambda: Character.human(preset="mix"),
    "full": lambda: Character.human(),
    "child of 0.5 m": lambda: Character.human(0.5, 4.0),
    "child of 1.2 m": lambda: Character.human(1.2, 30.0),
    "giant": lambda: Character.human(2.5, 200.0),
    "light": lambda: Character.human(1.8, 40.0, preset="tracking"),
    "no toes": lambda: Character.from_skeleton(make_human(1.75, without=("Toes",))),
    "no hands": lambda: Character.from_skeleton(make_human(1.75, without=("Hand",))),
    "unreal": lambda: Character.from_skeleton(unreal()[0]),
    "mikumikudance": lambda: Character.from_skeleton(mikumikudance()[0]),
}
PARTS = ("legs", "arms", "upperBody", "trunk", "head", "leftArm", "rightArm", "leftLeg", "body", "root")
STEPS = (0.001, 0.002, 0.005, 0.0075, 0.01)  # s
ACTIONS = 30  # an episode
SHARE = 0.2  # of episodes, in Bullet
SECONDS = 4.0  # of an episode, about


@cache
def get_body(name: str) -> Character:
    """A body, made once."""
    return BODIES[name]()


@cache
def get_clip(name: str) -> Clip:
    """A clip of a body that stands and conducts, made once."""
    stage = Stage()
    actor = stage.add(get_body(name))
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(gestures.conduct(bpm=110, hands="both")))
    return stage.run(2.0, fps=60).clip()


@dataclass
class Tally:
    """What happened."""

    seconds: float = 0.0
    counts: Counter = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


class Episode:
    """One stage with one or two actors, and what is done to them."""

    def __init__(self, seed: int, tally: Tally, tell: bool):
        self.rng, self.seed, self.tally, self.tell = np.random.default_rng(seed), seed, tally, tell
        rng, names = self.rng, list(BODIES)
        self.body = names[seed % len(names)]
        engine = "bullet" if rng.random() < SHARE else "mujoco"
        couple = "paper" if engine == "bullet" else "exact"
        self.dt = float(rng.choice(STEPS))
        self.stage = Stage(dt=self.dt, engine=engine, couple=couple)
        self.actors = [self.stage.add(get_body(self.body)) for _ in range(1 + int(rng.random() < 0.2))]
        self.saved: list[Any] = []
        self.done = [f"{self.body}, {engine}, {1000 * self.dt:g} ms"]
        for actor in self.actors:
            self._try(actor.drive, "legs", Balance())
            self._try(actor.drive, "upperBody", Kinematic(gestures.conduct()))

    def run(self) -> None:
        """Act, and step in between."""
        try:
            for _ in range(ACTIONS):
                self._act()
                steps = max(1, int(self.rng.exponential(SECONDS / ACTIONS) / self.dt))
                self._advance(steps)
        except SolveError as error:
            self._fail(f"non-finite: {error}")
        except Exception as error:  # every one of them is a finding
            self._fail(f"{type(error).__name__}: {error} {traceback.format_exc(limit=-2)}")

    def _advance(self, steps: int) -> None:
        try:
            self.stage.advance(steps)
        except SolveError:
            raise
        except InputError as error:  # a driver cannot begin where its body is: say, under the ground
            self.tally.counts["refused when built"] += 1
            self.done.append(f"refused: {error}")
            self._drop_actor_drivers()
        self.tally.seconds += steps * self.dt
        for actor in self.actors:
            pose = actor.pose()
            if not (np.isfinite(pose.root).all() and np.isfinite(pose.rotations).all()):
                raise SolveError(f"a pose of '{actor.name}' at {self.stage.time:g} s")

    def _drop_actor_drivers(self) -> None:
        for actor in self.actors:
            for part, driver in (("root", Free()), ("body", Loose(1.0, 1.0))):
                self._try(actor.drive, part, driver)

    def _try(self, action: Callable[..., Any], *words: Any, **more: Any) -> Any:
        self.done.append(f"{self.stage.time:.4f} {getattr(action, '__name__', action)} {words} {more}")
        if self.tell:
            print(self.done[-1], flush=True)
        try:
            found = action(*words, **more)
            self.tally.counts[getattr(action, "__name__", "?")] += 1
            return found
        except SolveError:
            raise
        except InputError as error:
            self.tally.counts["refused"] += 1
            self.done[-1] += f" -> {error}"
            return None

    def _act(self) -> None:
        rng = self.rng
        actor = self.actors[int(rng.integers(len(self.actors)))]
        kind = rng.choice(["drive", "drive", "drive", "push", "push", "load", "change", "save", "restore"])
        if kind == "drive":
            self._try(actor.drive, str(rng.choice(PARTS)), self._driver(actor))
        elif kind == "push":
            self._push(actor)
        elif kind == "load":
            self._load(actor)
        elif kind == "change":
            self._try(actor.change, bpm=float(rng.uniform(40.0, 180.0)))
        elif kind == "save":
            state = self._try(self.stage.save)
            self.saved = [*self.saved[-2:], state] if state is not None else self.saved
        elif self.saved:
            self._try(self.stage.restore, self.saved[int(rng.integers(len(self.saved)))])

    def _driver(self, actor: Actor) -> Any:
        rng = self.rng
        gesture = gestures.conduct(bpm=float(rng.uniform(50.0, 170.0)), hands=str(rng.choice(["right", "both"])))
        start = self.stage.time - float(rng.uniform(0.0, 1.0))
        choices: list[Callable[[], Any]] = [
            lambda: Kinematic(gesture, keeps=bool(rng.random() < 0.3)),
            lambda: Kinematic(get_clip(self.body), start),
            lambda: Track(gesture, stiffness=float(10 ** rng.uniform(0.0, 2.0))),
            lambda: Track(get_clip(self.body), start=start),
            lambda: Loose(float(10 ** rng.uniform(-2.0, 2.0)), float(rng.choice([0.0, 0.1, 0.5, 1.0]))),
            lambda: Loose(0.5, 0.5, relax=0.3),
            lambda: Balance(float(10 ** rng.uniform(-0.5, 0.5)), pinned=bool(rng.random() < 0.2)),
            lambda: Balance(follow=get_clip(self.body), follow_start=start),
            Free, Anchored, lambda: Kinematic(gestures.breathe()), lambda: Kinematic(self.actors[0]),
        ]  # fmt: skip
        return choices[int(rng.integers(len(choices)))]()

    def _push(self, actor: Actor) -> None:
        rng = self.rng
        mass = actor.character.mass
        impulse = rng.normal(size=3) * rng.choice([0.05, 0.2, 0.6]) * mass  # N s: 0.05 to 0.6 m/s for all of the body
        joint = str(rng.choice([r for r in ("hips", "spine", "head", "rightHand", "leftLowerArm", "leftFoot")
                                if actor.character.skeleton.find_role(r) is not None]))  # fmt: skip
        if joint in ("rightHand", "leftLowerArm", "leftFoot"):
            impulse *= 0.2
        seconds = float(10 ** rng.uniform(-3.5, -0.5))
        self._try(actor.push, joint, tuple(impulse / seconds), seconds)

    def _load(self, actor: Actor) -> None:
        if actor.loads and self.rng.random() < 0.6:
            self._try(actor.drop, actor.loads[0].joint)
        elif actor.character.skeleton.find_role("rightHand") is not None:
            self._try(actor.load, Load("rightHand", float(self.rng.uniform(0.01, 0.1)) * actor.character.mass))

    def _fail(self, why: str) -> None:
        self.tally.failures.append(f"seed {self.seed} ({self.done[0]}) at {self.stage.time:.3f} s: {why}")
        self.tally.counts["failures"] += 1
        last = "\n    ".join(each[:200] for each in self.done[-4:])
        print(f"seed {self.seed}: {self.done[0]}: {why[:300]}\n    {last}", flush=True)


def abuse(seeds: Iterator[int], minutes: float, tell: bool = False) -> tuple[Tally, list[float]]:
    """Episodes until the time is up: what happened, and MB of memory as it went on."""
    tally, memory, end = Tally(), [], time.process_time() + 60.0 * minutes
    for k, seed in enumerate(seeds):
        Episode(seed, tally, tell).run()
        tally.counts["episodes"] += 1
        if k % 10 == 9:
            gc.collect()
            memory.append(_find_memory())
        if time.process_time() > end:
            break
    return tally, memory


def _find_memory() -> float:
    """MB that the process holds now."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def sweep(minutes: float = 10.0) -> tuple[str, int]:
    """The section, and how many episodes failed."""
    tally, memory = abuse(iter(range(10**9)), minutes)
    half = len(memory) // 2
    rows = [
        ("minutes of this machine", f"{minutes:g}"),
        ("episodes; simulated, s", f"{tally.counts['episodes']}; {tally.seconds:.0f}"),
        *((name, str(count)) for name, count in sorted(tally.counts.items()) if name not in ("episodes", "failures")),
        ("non-finite or other errors", str(len(tally.failures))),
        ("memory halfway and in the end, MB", f"{memory[half]:.0f}; {memory[-1]:.0f}" if memory else "-"),
    ]
    text = (
        "Random switching between all drivers, pushing, loading, saving and restoring, ten bodies of 0.5 to 2.5 m (two"
        " of them with 60 joints and more), both engines, steps of 1 to 10 ms. What is refused with a sentence is no"
        " failure."
    )
    failed = "\n".join(f"- {each[:200]}" for each in tally.failures)
    return f"{text}\n\n{table(('what', 'how often'), rows)}\n\n{failed}", len(tally.failures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=10**9)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--tell", action="store_true")
    words = parser.parse_args()
    found, megabytes = abuse(iter(range(words.seed, words.seed + words.episodes)), words.minutes, words.tell)
    print(dict(found.counts), f"{found.seconds:.0f} s", megabytes[:1], megabytes[-1:])
