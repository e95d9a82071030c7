"""Bodies that answer their arms, each over the ghost of one that is only animated, seen from the side (W8, W9, W10).

First three lift both arms to the front: animated only; mixed, with empty hands; mixed, with 3 kg in each hand. The arms
are the same in all, and authored; bodies that are mixed are moved by physics.

Then three conduct: animated only; mixed; mixed and taking part, in which hips and chest go along with the hands as
authored, on legs that balance. The right hand beats in 4 exactly as animated. The left arm hangs loose, rises for a cue
and hangs again; tempo and size change in the middle of a bar. Motion files, plots and figures are of the mixed one;
what the others did is in conductor-*.bvh, and in the figures under `lift` and `taking_part`.

`--minutes 10` conducts on for that long and says how far the feet crept; `--soak` does so for an hour.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import gestures
from poise.body.roles import SIDES
from poise.demos.shared.show import (
    BLUE,
    FILM_FPS,
    FILM_SIZE,
    GREEN,
    RED,
    TAKE_FPS,
    Shot,
    measure_mix,
    measure_sway,
    save_figures,
    save_motion,
    save_plots,
    stand_still,
)
from poise.motion.motion import BodyMotion
from poise.motion.parts import part_joints
from poise.pictures.film import film_suffix, save_film
from poise.pictures.image import save_png
from poise.pictures.items import DrawnProp
from poise.pictures.picture import Picture, film_picture, frame_picture, place_side_by_side, render_picture
from poise.stage.actor import Actor
from poise.world.grip import find_fist

HEIGHT, MASS, BPM, BEATS, SECONDS = 1.78, 75.0, 92.0, 4, 8.0
CHUNK = 20.0  # s, a whole number of frames: how much of a long run is held at a time
LIFT, LIFT_START, LIFT_SECONDS = gestures.lift_arms(up=0.6, hold=0.7, down=0.6), 0.15, 2.2
WEIGHT = 3.0  # kg in each hand
IRON, IRON_COLOR = 7800.0, (0.25, 0.27, 0.31)  # kg/m3, sRGB
# rad: from the right, nearly level and from far away, so that each of a row is seen alike
AZIMUTH, ELEVATION, FOV = -np.pi / 2.0, 0.05, np.radians(8.0)
APART = 0.3  # m between the places that two neighbours need
SHEET_CELL = (720, 405)
LIFT_MOMENTS, CONDUCT_MOMENTS = (0.5, 1.3), (5.0, 5.86)  # s, of the sheet


def run(folder: Path, minutes: float = 0.0, soak: bool = False) -> dict[str, Any]:
    """Write the files; see `show`, but the sheet has four moments. The long run writes none."""
    lift, lifted = lift_arms()
    stage, take = conduct(SECONDS - LIFT_SECONDS)
    joints = part_joints(take.actor("mixed").character.skeleton, "rightArm")
    figures = measure_mix(stage, take, "mixed", take.clip("animated"), joints)
    figures |= compare_sway()
    figures["lift"] = {
        name: pick_few(measure_mix(lift, lifted, name)) | measure_lean(lifted.clip(name), lifted.clip("animated"))
        for name in ("empty", "loaded")
    }
    figures["taking_part"] = pick_few(measure_mix(stage, take, "taking-part")) | measure_part(take.clip("taking-part"))
    if minutes or soak:
        figures |= conduct_on(60.0 if soak else minutes)
    subject = Shot(take, "mixed", "mixed", BLUE)
    save_motion(folder, "conductor", subject)
    for each in (lifted, take):
        for name in each.actors:
            if name != "mixed":
                kind = "lift-" if each is lifted else ""
                each.save(folder / f"conductor-{kind}{name}.bvh", name)
    save_plots(folder, "conductor", subject)
    picture = draw_lift(lifted)
    film(folder / "conductor", picture, draw_conductors(take, picture))
    return save_figures(folder, "conductor", figures)


def pick_few(figures: dict[str, Any]) -> dict[str, Any]:
    """Those figures of a mix that tell whether it stands."""
    return {name: figures[name] for name in ("fell", "foot_slip_mm")}


def lift_arms() -> tuple[poise.Stage, poise.Take]:
    """Three who lift both arms to the front: `animated`, `empty` and `loaded`."""
    character, stage = poise.Character.human(HEIGHT, MASS, preset="mix"), poise.Stage()
    for name in ("animated", "empty", "loaded"):
        actor = stage.add(character, name, loads=list_weights(character) if name == "loaded" else ())
        stand(actor, name == "animated")
        actor.drive("arms", poise.Kinematic(LIFT, start=LIFT_START))
    return stage, stage.run(LIFT_SECONDS, fps=TAKE_FPS)


def conduct(seconds: float) -> tuple[poise.Stage, poise.Take]:
    """Three who conduct by one score: `animated`, `mixed` and `taking-part`."""
    character, stage = poise.Character.human(HEIGHT, MASS, preset="mix"), poise.Stage()
    actors = [stage.add(character, name) for name in ("animated", "mixed", "taking-part")]
    for actor in actors:
        stand(actor, actor.name == "animated")
        if actor.name != "animated":
            actor.drive("leftArm", poise.Loose(0.3))
        share = 1.0 if actor.name == "taking-part" else 0.0
        actor.drive("rightArm", poise.Kinematic(gestures.conduct(BPM, BEATS, takes_part=share)))
    score = {
        0.4: lambda actor: actor.change("rightArm", size=1.5),
        0.8: lambda actor: actor.drive("leftArm", poise.Kinematic(gestures.cue("left"), start=0.8)),
        3.6: lambda actor: actor.drive("leftArm", poise.Loose(0.3)) if actor.name != "animated" else None,
        4.2: lambda actor: actor.change("rightArm", bpm=126.0),
    }

    def follow_score(t: float) -> None:
        for moment in [moment for moment in score if moment <= t + 1e-9]:
            play = score.pop(moment)
            for actor in actors:
                play(actor)

    return stage, stage.run(seconds, fps=TAKE_FPS, each=follow_score)


def stand(actor: Actor, is_animated: bool) -> None:
    """Put an actor on legs that balance, or on hips that nothing moves."""
    if is_animated:
        actor.drive("root", poise.Kinematic(stand_still(actor.character)))
    else:
        actor.drive("legs", poise.Balance())


def list_weights(character: poise.Character) -> list[poise.Load]:
    """A weight in each fist."""
    hands = [side + "Hand" for side in SIDES]
    return [poise.Load(hand, WEIGHT, tuple(find_fist(character, hand).tolist())) for hand in hands]


def measure_lean(clip: poise.Clip, animated: poise.Clip) -> dict[str, float]:
    """How far a body went back from the animated one, and how far its hips rose and sank, at most.

    The trunk is the line from the hips to between the shoulders, seen from the side.
    """
    off = 1000.0 * (clip.positions - animated.positions)
    head = clip.skeleton.index("head")
    return {
        "hips_back_mm": -float(off[:, 0, 2].min()),
        "head_back_mm": -float(off[:, head, 2].min()),
        "trunk_back_degrees": float((find_pitch(animated) - find_pitch(clip)).max()),
        "hip_height_change_mm": float(np.abs(off[:, 0, 1]).max()),
    }


def measure_part(clip: poise.Clip, settled: float = 1.5) -> dict[str, float]:
    """How far hips bob and the trunk bows, from least to most, and how far shoulders turn to either side at most."""
    left, right = (clip.positions[:, clip.skeleton.index(side + "UpperArm")] for side in SIDES)
    across = left - right
    yaw = np.degrees(np.arctan2(-across[:, 2], across[:, 0]))
    ways = {"hips_bob_mm": 1000.0 * clip.positions[:, 0, 1], "bow_degrees": find_pitch(clip)}
    found = {name: float(np.ptp(way[clip.times >= settled])) for name, way in ways.items()}
    return found | {"shoulder_yaw_degrees": float(np.abs(yaw[clip.times >= settled]).max())}


def find_pitch(clip: poise.Clip) -> np.ndarray:
    """(F,) degrees by which the line from the hips to between the shoulders leans forward."""
    shoulders = np.mean([clip.positions[:, clip.skeleton.index(side + "UpperArm")] for side in SIDES], axis=0)
    line = shoulders - clip.positions[:, 0]
    return np.degrees(np.arctan2(line[:, 2], line[:, 1]))


def draw_lift(take: poise.Take) -> Picture:
    """Those who lift their arms, and what they hold."""
    names = {"animated": "animated only\nbody: still", "empty": "mixed, empty hands\nbody: physics",
             "loaded": f"mixed, {WEIGHT:g} kg a hand\nbody: physics"}  # fmt: skip
    record, clip = take.actor("loaded"), take.clip("loaded")
    positions, turns = clip.world
    weights = []
    for load in list_weights(record.character):
        hand = clip.skeleton.index(load.joint)
        ball = poise.Sphere(np.array(load.offset), (3.0 * load.mass / (4.0 * np.pi * IRON)) ** (1.0 / 3.0))
        poses = np.concatenate([positions[:, hand], turns[:, hand]], axis=1)
        weights.append(DrawnProp(ball, poses, take.times, IRON_COLOR))
    return draw_over_ghost(take, names, {"loaded": weights})


def draw_conductors(take: poise.Take, lift: Picture) -> Picture:
    """Those who conduct, each where one was who lifted his arms, from when these are done."""
    names = {"animated": "animated only\nbody: still", "mixed": "mixed\nbody: physics",
             "taking-part": "mixed, taking part\nbody: authored and physics"}  # fmt: skip
    picture = draw_over_ghost(take, names)
    placed = zip(picture.figures, lift.figures, strict=True)
    return dataclasses.replace(
        picture,
        figures=[
            dataclasses.replace(new, offset=old.offset, motion=delay(new.motion, LIFT_SECONDS)) for new, old in placed
        ],
    )


def delay(motion: BodyMotion, seconds: float) -> poise.Clip:
    """A clip that is some seconds later."""
    assert isinstance(motion, poise.Clip)
    return motion.replace(times=motion.times + seconds)


def draw_over_ghost(
    take: poise.Take, labels: dict[str, str], items: dict[str, Sequence[DrawnProp]] | None = None
) -> Picture:
    """All side by side, those that are mixed over the ghost of the first, which is animated only."""
    bodies = [
        dataclasses.replace(Shot(take, name, label, color).figure(), items=(items or {}).get(name, ()))
        for (name, label), color in zip(labels.items(), (RED, BLUE, GREEN), strict=True)
    ]
    placed = place_side_by_side(bodies, APART, AZIMUTH)
    ghosts = [dataclasses.replace(placed[0], offset=each.offset, label="", is_ghost=True) for each in placed[1:]]
    return Picture([*placed, *ghosts], note="all arms: authored.  outline: animated only")


def film(path: Path, lift: Picture, conductors: Picture) -> None:
    """One after the other by one camera, and a sheet of moments: arms that are lifted above conductors."""
    frames = np.arange(round(SECONDS * FILM_FPS) + 1) / FILM_FPS
    early = frames < LIFT_SECONDS - 1e-9
    near, far = (
        frame_picture(lift, frames[early], size, azimuth=AZIMUTH, elevation=ELEVATION, fov=FOV)
        for size in (SHEET_CELL, FILM_SIZE)
    )
    path = path.with_name(path.name + film_suffix())
    scenes = ((lift, frames[early]), (conductors, frames[~early]))
    save_film(
        path, itertools.chain(*(film_picture(picture, times, FILM_SIZE, far) for picture, times in scenes)), FILM_FPS
    )
    rows = [
        np.concatenate([render_picture(picture, t, SHEET_CELL, near) for t in moments], axis=1)
        for picture, moments in ((lift, LIFT_MOMENTS), (conductors, CONDUCT_MOMENTS))
    ]
    save_png(path.with_suffix(".png"), np.concatenate(rows))


def build_conductor(gain: float = 1.0) -> tuple[poise.Stage, Actor]:
    """A conductor with nothing else to do."""
    stage = poise.Stage(gain=gain)
    actor = stage.add(poise.Character.human(HEIGHT, MASS, preset="mix"))
    actor.drive("legs", poise.Balance())
    actor.drive("leftArm", poise.Loose(0.3))
    actor.drive("rightArm", poise.Kinematic(gestures.conduct(BPM, BEATS)))
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
