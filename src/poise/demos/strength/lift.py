"""The strength paper's experiment (O8): a weak figure lifts 1, 3, 4 and 5 kg with its right hand.   [strength, 6]

One motion of our own, one body, steps of 1/30 s; the centre of mass and the hand are led before all joints, as in the
paper. It writes, under its name:

NAME.glb, NAME.bvh, NAME.mp4 (or .webp)   the lightest, and a film of all side by side
NAME.png                                  a row a load, moments from left to right, as the paper's figure 5
NAME-strength.png                         torque over strength of the right arm, back and knees
NAME.json                                 figures of `poise lift`: of the lightest load, and under `loads` of each
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.demos.shared.show import BLUE, CLAY, FILM_FPS, FILM_SIZE, GREEN, RED, save_figures
from poise.files.output import write_bytes
from poise.jobs.lift.follow import Lifted, simulate_lift
from poise.jobs.lift.metrics import find_changes, list_joints, list_limits, say_limits
from poise.jobs.lift.plan import LiftPlan
from poise.jobs.shared.metrics import measure_error
from poise.motion.samples import lift
from poise.pictures.film import film_suffix, save_film
from poise.pictures.image import save_png
from poise.pictures.items import DrawnProp
from poise.pictures.picture import DrawnBody, Picture, film_picture, frame_picture, place_side_by_side, render_picture
from poise.pictures.plots import plot_strengths

HAND, LOADS = "rightHand", (1.0, 3.0, 4.0, 5.0)  # kg: the paper's text has 1, 3, 4, the caption of its figure 5
HEIGHT, MASS, FPS = 1.75, 70.0, 30.0
HOLD = 1.0  # s that the hand stays up when the motion is over: who tips by then has fallen
SHOWN = ("rightUpperArm", "rightLowerArm", "rightHand", "spine", "chest", "leftLowerLeg", "rightLowerLeg")
MOMENTS, CELL, AZIMUTH = 8, (150, 220), -1.0
COLORS = (GREEN, BLUE, CLAY, RED)
GRIP = (-0.07, -0.02, 0.0)  # m from the wrist: in the fist, the arm stretched out to the side


def build_body() -> poise.Character:
    """The paper's figure: 18 segments, 39 degrees of freedom."""
    return poise.Character.human(HEIGHT, MASS, sex="male", age=25, preset="strength")


def build_clip(body: poise.Character) -> poise.Clip:
    """The lift, and the hand held up."""
    clip = lift(body.skeleton, fps=FPS)
    more = round(HOLD * FPS)
    times = np.concatenate([clip.times, clip.times[-1] + np.arange(1, more + 1) / FPS])
    root, rotations = (np.concatenate([x, np.repeat(x[-1:], more, axis=0)]) for x in (clip.root, clip.rotations))
    return poise.Clip(clip.skeleton, times, root, rotations, name=clip.name)


def run(folder: Path) -> dict[str, Any]:
    """Write the files of the experiment."""
    body = build_body()
    clip = build_clip(body)
    runs = {kg: lift_load(clip, body, kg) for kg in LOADS}
    figures = {f"{kg:g}": measure(found, clip) for kg, found in runs.items()}
    for suffix in (".glb", ".bvh"):
        poise.save_clip(runs[LOADS[0]].mix.clip, folder / f"lift{suffix}")
    draw(folder, "lift", runs)
    return save_figures(folder, "lift", {**figures[f"{LOADS[0]:g}"], "loads": figures})


def lift_load(clip: poise.Clip, body: poise.Character, kg: float) -> Lifted:
    """The weak figure lifts."""
    loads = (poise.Load(HAND, kg, GRIP),) if kg else ()
    return simulate_lift(clip, body, LiftPlan(loads=loads, weak=True, lead={HAND: "position"}, insists=30.0))


def measure(found: Lifted, clip: poise.Clip) -> dict[str, Any]:
    """What came of a load."""
    mix = found.mix
    stood = found.efforts.before(mix.fell_at)
    limits, n = list_limits(stood), len(mix.clip)
    kept = np.flatnonzero(np.asarray(mix.clip.times) <= (np.inf if mix.fell_at is None else mix.fell_at))
    wanted = clip.pick(slice(0, n))
    changes = find_changes(mix.clip.pick(kept), wanted.pick(kept), found.muscles)
    return {
        "fell": mix.fell,
        "fell_at_s": mix.fell_at,
        "fell_why": mix.broken or mix.fell_why or None,
        "tracking_error_rad": measure_error(mix.clip, wanted, mix.tracked),
        "peak_torque_ratio": float(stood.ratio.max(initial=0.0)),
        "limited_joints": list_joints(limits),
        "changes_degrees": changes,
        "told": say_limits(limits, changes),
    }


def draw(folder: Path, name: str, runs: Mapping[float, Lifted]) -> None:
    """Film, strip and plot."""
    bodies = [_draw_body(found, kg, color) for (kg, found), color in zip(runs.items(), COLORS, strict=True)]
    end = max(float(found.mix.clip.times[-1]) for found in runs.values())
    times = np.arange(int(end * FILM_FPS) + 1) / FILM_FPS
    picture = Picture(place_side_by_side(bodies, azimuth=AZIMUTH))
    view = frame_picture(picture, times, FILM_SIZE, azimuth=AZIMUTH)
    save_film(folder / f"{name}{film_suffix()}", film_picture(picture, times, FILM_SIZE, view), FILM_FPS)
    moments, rows = np.linspace(0.0, end, MOMENTS), []
    for body in bodies:
        one = Picture([body])
        view = frame_picture(one, moments, CELL, azimuth=AZIMUTH)
        rows.append(np.concatenate([render_picture(one, float(t), CELL, view) for t in moments], axis=1))
    save_png(folder / f"{name}.png", np.concatenate(rows))
    panels = {}
    for kg, found in runs.items():
        efforts = found.efforts
        ratio = {
            joint: efforts.ratio[:, [k for k, each in enumerate(efforts.joints) if each == joint]].max(axis=1)
            for joint in SHOWN
        }
        panels[f"{kg:g} kg"] = efforts.times, ratio, found.mix.fell_at
    write_bytes(folder / f"{name}-strength.png", plot_strengths(panels, "a weak figure lifts: torque over strength"))


def _draw_body(found: Lifted, kg: float, color: tuple[float, float, float]) -> DrawnBody:
    clip = found.mix.clip
    positions, turns = clip.world
    hand = clip.skeleton.index(HAND)
    ball = DrawnProp(
        poise.Sphere(np.array(GRIP), max(poise.Load(HAND, kg).radius, 0.01)),
        np.concatenate([positions[:, hand], turns[:, hand]], axis=1), clip.times, color=(0.30, 0.32, 0.36),
    )  # fmt: skip
    skin = build_skin(clip.skeleton, build_mannequin(clip.skeleton, MASS))
    return DrawnBody(clip, skin, color, label=f"{kg:g} kg", items=(ball,))
