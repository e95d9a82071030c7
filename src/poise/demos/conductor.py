"""A conductor: the right hand beats in 4 exactly as animated, physics moves everything that it moves (W8, W9, W10).

The left arm hangs loose, rises for a cue and hangs again; tempo and size change in the middle of a bar. Beside the
mixed body stands one that is only animated, with the same arms: nothing below its shoulders moves.

`--minutes 10` conducts on for that long and says how far the feet crept; `--soak` does so for an hour.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.demos.show import CLAY, RED, TAKE_FPS, Shot, measure_mix, measure_sway, save_show, stand_still
from poise.drivers.balance import Balance
from poise.drivers.kinematic import Kinematic
from poise.drivers.loose import Loose
from poise.motion import gestures
from poise.motion.parts import part_joints
from poise.stage.actor import Actor
from poise.stage.stage import Stage

HEIGHT, MASS, BPM, BEATS, SECONDS = 1.78, 75.0, 92.0, 4, 8.0
CHUNK = 20.0  # s, a whole number of frames: how much of a long run is held at a time


def run(folder: Path, minutes: float = 0.0, soak: bool = False) -> dict[str, Any]:
    """Write the conductor's files; see `show`. The long run writes none."""
    character = Character.human(HEIGHT, MASS, preset="mix")
    stage = Stage()
    animated, mixed = stage.add(character, "animated"), stage.add(character, "mixed")
    animated.drive("root", Kinematic(stand_still(character)))
    mixed.drive("legs", Balance())
    mixed.drive("leftArm", Loose(0.3))
    for actor in (animated, mixed):
        actor.drive("rightArm", Kinematic(gestures.conduct(BPM, BEATS)))
    score = {
        2.4: lambda actor: actor.drive("leftArm", Kinematic(gestures.cue("left"), start=2.4)),
        3.4: lambda actor: actor.change("rightArm", size=1.5),
        5.0: lambda actor: actor.change("rightArm", bpm=126.0),
        5.4: lambda actor: actor.drive("leftArm", Loose(0.3)) if actor is mixed else None,
    }

    def follow_score(t: float) -> None:
        for moment in [moment for moment in score if moment <= t + 1e-9]:
            play = score.pop(moment)
            for actor in (animated, mixed):
                play(actor)

    take = stage.run(SECONDS, fps=TAKE_FPS, each=follow_score)
    joints = part_joints(character.skeleton, "rightArm")
    figures = measure_mix(stage, take, "mixed", take.clip("animated"), joints)
    figures |= compare_sway()
    if minutes or soak:
        figures |= conduct_on(60.0 if soak else minutes)
    shots = [Shot(take, "animated", "animated only", RED), Shot(take, "mixed", "mixed", CLAY)]
    return save_show(folder, "conductor", shots, figures, shots[-1])


def build_conductor(gain: float = 1.0) -> tuple[Stage, Actor]:
    """A conductor with nothing else to do."""
    stage = Stage(gain=gain)
    actor = stage.add(Character.human(HEIGHT, MASS, preset="mix"))
    actor.drive("legs", Balance())
    actor.drive("leftArm", Loose(0.3))
    actor.drive("rightArm", Kinematic(gestures.conduct(BPM, BEATS)))
    return stage, actor


def compare_sway(seconds: float = 25.0, settle: float = 5.0) -> dict[str, float]:
    """How the body sways with the coupling and without it, and how much of that is in step with the music."""
    figures: dict[str, float] = {}
    for key, gain in (("", 1.0), ("_without_coupling", 0.0)):
        stage, _ = build_conductor(gain)
        record = stage.run(seconds, fps=TAKE_FPS).actor()
        steady = slice(int(settle * TAKE_FPS), None)
        figures[f"sway_rms_mm{key}"] = measure_sway(record, steady)
        figures[f"hips_sway_rms_mm{key}"] = 1000.0 * float(
            np.sqrt(np.var(record.root[steady][:, [0, 2]], axis=0).sum())
        )
        if gain:
            figures |= find_rhythm(record.center_velocity[steady], BPM / 60.0)
    return figures


def find_rhythm(velocity: np.ndarray, beat: float) -> dict[str, float]:
    """The strongest frequency of a sway's velocity (F, 3) m/s, and the share of its power at whole parts of a bar."""
    window = np.hanning(len(velocity))[:, None]
    power = (np.abs(np.fft.rfft((velocity - velocity.mean(axis=0)) * window, axis=0)) ** 2).sum(axis=1)
    hertz = np.fft.rfftfreq(len(velocity), 1.0 / TAKE_FPS)
    bar = beat / BEATS
    off = np.abs(hertz / bar - np.round(hertz / bar)) * bar
    in_step = (off < 2.0 / (len(velocity) / TAKE_FPS)) & (hertz > 0.5 * bar)
    return {
        "beat_hz": beat,
        "sway_hz": float(hertz[np.argmax(power)]),
        "sway_in_step": float(power[in_step].sum() / power.sum()),
    }


def conduct_on(minutes: float) -> dict[str, Any]:
    """Conduct for a long time; only what it came to is kept."""
    stage, _ = build_conductor()
    first = None
    creep, fell, wall, margin = 0.0, None, 0.0, np.inf
    for _ in range(max(1, round(60.0 * minutes / CHUNK))):
        take = stage.run(CHUNK, fps=10.0)
        record = take.actor()
        first = record.soles[0] if first is None else first
        creep = max(creep, 1000.0 * float(np.linalg.norm((record.soles - first)[..., [0, 2]], axis=-1).max()))
        margin = min(margin, float(record.margin[1:].min()))
        fell = fell if fell is not None else take.fell_at()
        wall += take.wall_seconds
        if fell is not None:
            break
    return {
        "long_run_minutes": stage.time / 60.0,
        "long_run_fell_at_s": fell,
        "long_run_creep_mm": creep,
        "long_run_com_margin_m": margin,
        "long_run_realtime_factor": stage.time / wall,
    }
