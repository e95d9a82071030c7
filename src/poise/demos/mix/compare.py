"""Four ways to put a gesture on a body, side by side (W16).

animated only   nothing but the arms moves
balance only    the legs keep the centre of mass over the feet, but the arms' reaction is not handed on (gain 0)
mixed           it is
fully tracked   all joints are simulated, springs pull the arms after the gesture

Lag and error are the arms' against the gesture. For a blind comparison there are pairs of films, compare-pair1-a and -b
and so on, in an order that compare-key.json tells.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import gestures
from poise.demos.shared.show import (
    BLUE,
    CLAY,
    GREEN,
    RED,
    TAKE_FPS,
    Shot,
    film_shots,
    measure_mix,
    measure_sway,
    save_show,
    stand_still,
)
from poise.files.output import write_bytes
from poise.jobs.shared.metrics import measure_error

HEIGHT, MASS, SECONDS, SEED = 1.78, 75.0, 5.0, 3
COLORS = {"animated only": RED, "balance only": GREEN, "mixed": BLUE, "fully tracked": CLAY}
PAIR_SIZE = (400, 540)


def run(folder: Path, seed: int = SEED) -> dict[str, Any]:
    """Write the files of all four; see `show`. seed: of the order within each pair."""
    shots = {label: play(label) for label in COLORS}
    gesture, skeleton = build_gesture(), shots["mixed"].record.character.skeleton
    joints = gesture.joints(skeleton)
    reference = shots["animated only"].take.clip()
    table = {}
    for label, shot in shots.items():
        clip = shot.take.clip()
        table[label] = {
            "lag_ms": measure_lag(clip, reference, joints),
            "limb_error_rad": measure_error(clip, reference, joints),
            "sway_rms_mm": measure_sway(shot.record),
            "hips_sway_rms_mm": 1000.0 * float(np.sqrt(np.var(shot.record.root[:, [0, 2]], axis=0).sum())),
        }
    mixed = shots["mixed"]
    figures = measure_mix(poise.Stage(), mixed.take, None, reference, joints) | {"compared": table}
    save_pairs(folder, shots, seed)
    return save_show(folder, "compare", list(shots.values()), figures, mixed)


def build_gesture() -> Any:
    """What the arms do."""
    return gestures.conduct(bpm=108.0, beats=4, hands="both", size=1.4)


def play(label: str) -> Shot:
    """One of the four, by its label."""
    stage = poise.Stage(gain=0.0 if label == "balance only" else 1.0)
    character = poise.Character.human(HEIGHT, MASS, preset="mix")
    actor = stage.add(character)
    if label == "animated only":
        actor.drive("root", poise.Kinematic(stand_still(character)))
    else:
        actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Track(build_gesture()) if label == "fully tracked" else poise.Kinematic(build_gesture()))
    return Shot(stage.run(SECONDS, fps=TAKE_FPS), None, label, COLORS[label])


def measure_lag(clip: poise.Clip, reference: poise.Clip, joints: list[int], longest: float = 0.3) -> float:
    """ms by which some joints follow a reference, negative where they lead: where their rotations correlate best."""
    ours, theirs = (c.rotations[:, joints].reshape(len(c), -1) for c in (clip, reference))
    ours, theirs = ours - ours.mean(axis=0), theirs - theirs.mean(axis=0)
    step = 0.1 / TAKE_FPS
    times = np.arange(longest, clip.times[-1] - longest, step)
    fine = np.stack([np.interp(times, reference.times, column) for column in theirs.T])
    lags = np.arange(-longest, longest, step)
    match = [np.sum(fine * np.stack([np.interp(times + lag, clip.times, column) for column in ours.T])) for lag in lags]
    return round(1000.0 * float(lags[int(np.argmax(match))]), 6)


def save_pairs(folder: Path, shots: dict[str, Shot], seed: int = SEED) -> None:
    """Films of the mixed body and of each other one, in the same color, without labels and in random order."""
    rng = np.random.default_rng(seed)
    key = {}
    for number, other in enumerate([label for label in shots if label != "mixed"], 1):
        pair = ["mixed", other]
        rng.shuffle(pair)
        for letter, label in zip("ab", pair, strict=True):
            plain = Plain(shots[label].take, None, "", CLAY)
            film_shots(folder / f"compare-pair{number}-{letter}", [plain], size=PAIR_SIZE)
            key[f"compare-pair{number}-{letter}"] = label
    write_bytes(folder / "compare-key.json", (json.dumps(key, indent=2) + "\n").encode())


class Plain(Shot):
    """A shot without marks on the ground, which would tell who is who."""

    def figure(self) -> Any:
        """See `Shot.figure`."""
        import dataclasses

        return dataclasses.replace(super().figure(), items=())
