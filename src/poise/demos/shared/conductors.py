"""A crowd of conductors, described and put on a stage: who each is, how he beats, and where he stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import poise
from poise.motion.gestures import conduct
from poise.motion.gestures.gesture import Gesture
from poise.motion.samples.tracks import stand_pose

MOST = 5_000
SPACING = (1.7, 1.9)  # m aside and behind: beating hands of neighbours do not meet
# m: about the mean stature of adults in the United States, and a deviation of 7 cm
_STATURE = {"male": (1.75, 0.07), "female": (1.61, 0.07)}
_INDEX = (18.5, 32.0)  # kg/m2: from slender to stout


@dataclass(frozen=True, eq=False)
class Conductor:
    """One of the crowd.

    name     `conductor 17`
    body     index of his body among the crowd's: his own
    gesture  how he beats; phase, s that he is ahead of the first beat at the start
    place    (3,) m on the ground
    """

    name: str
    body: int
    gesture: Gesture
    phase: float
    place: np.ndarray


def draw_bodies(count: int, seed: int = 0) -> list[poise.Character]:
    """Different adults, seeded: women and men in turn, each his own stature, mass and age."""
    rng = np.random.default_rng([seed, 1])
    bodies = []
    for k in range(count):
        sex = ("female", "male")[k % 2]
        mean, deviation = _STATURE[sex]
        height = mean + deviation * float(np.clip(rng.normal(), -2.0, 2.0))
        mass = float(rng.uniform(*_INDEX)) * height**2
        age = float(rng.uniform(20.0, 70.0))
        bodies.append(poise.Character.human(height, mass, sex, age, preset="mix", name=f"body {k}"))
    return bodies


def check_count(count: int) -> None:
    """Refuse a crowd of nobody, or of more than can be."""
    if not 1 <= count <= MOST:
        raise poise.InputError(f"a crowd has 1 to {MOST} conductors; {count} given.")


def draw_conductors(count: int, seed: int = 0, bodies: int | None = None) -> list[Conductor]:
    """Conductors on a grid, seeded: each his own tempo, beats, size, hands and phase. The first stand in front.

    bodies  so many that they share; None: each has his own
    """
    check_count(count)
    if seed < 0:
        raise poise.InputError(f"a seed is a whole number from 0 on; {seed} given.")
    rng = np.random.default_rng([seed, 2])
    found = []
    for k, place in enumerate(place_on_grid(count)):
        bpm, beats = float(rng.uniform(60.0, 150.0)), int(rng.integers(1, 5))
        size, hands = float(rng.uniform(0.6, 1.3)), str(rng.choice(["right", "both", "both"]))
        phase = float(rng.uniform(0.0, 60.0 * beats / bpm))
        gesture = conduct(bpm=bpm, beats=beats, size=size, hands=hands)
        body = k if bodies is None else int(rng.integers(bodies))
        found.append(Conductor(f"conductor {k}", body, gesture, phase, place))
    return found


def place_on_grid(count: int) -> np.ndarray:
    """(count, 3) m: rows across, wider than deep, the first in front; every other row half a place aside."""
    columns = max(1, int(np.ceil(np.sqrt(1.2 * count))))
    row, column = np.divmod(np.arange(count), columns)
    aside = column - (columns - 1) / 2.0 + 0.5 * (row % 2) - 0.25
    return np.stack([SPACING[0] * aside, np.zeros(count), -SPACING[1] * row], axis=1)


def build_stage(
    conductors: Sequence[Conductor],
    bodies: Sequence[poise.Character],
    threads: int = 1,
    say: Callable[[str], None] = lambda sentence: None,
    dt: float = 0.005,
) -> poise.Stage:
    """A stage with all of them on it, built and ready to run."""
    stage = poise.Stage(dt=dt, threads=threads)
    stands = [stand_pose(body.skeleton) for body in bodies]
    for k, conductor in enumerate(conductors):
        if k and k % 50 == 0:
            stage.build()
            say(f"building characters: {k} of {len(conductors)}")
        stand = stands[conductor.body]
        actor = stage.add(
            bodies[conductor.body], conductor.name, poise.Pose(stand.root + conductor.place, stand.rotations)
        )
        actor.drive("legs", poise.Balance())
        actor.drive("upperBody", poise.Kinematic(conductor.gesture, start=-conductor.phase))
    stage.build()
    return stage
