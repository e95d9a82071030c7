"""Falling (O6): a body that stands within its strength is pushed over in eight directions.   [strength, 4.2, 4.3]

It stands quietly, is pushed at the chest, tries to keep its balance, tips over the edge or the corner of its soles, is
let go and comes to lie. Steps of 1/30 s, in the engine `inverse`. It writes, under its name:

NAME.glb, NAME.bvh, NAME.mp4 (or .webp)   the fall forwards, and a film of all side by side
NAME.png                                  a row a direction, moments from left to right
NAME-above.png                            soles, centre of mass and pressure from above, a panel a direction
NAME.json                                 figures of `poise lift`: of the fall forwards, and under `falls` of each
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.body.geometry.soles import build_footing
from poise.demos.shared.show import BLUE, CLAY, FILM_FPS, FILM_SIZE, GREEN, RED, save_figures
from poise.demos.strength.lift import build_body, measure
from poise.dynamics.tree import build_tree
from poise.files.output import write_bytes
from poise.jobs.lift.follow import Lifted, simulate_lift
from poise.jobs.lift.plan import LiftPlan
from poise.motion.samples import idle
from poise.pictures.film import film_suffix, save_film
from poise.pictures.image import save_png
from poise.pictures.picture import DrawnBody, Picture, film_picture, frame_picture, place_side_by_side, render_picture
from poise.pictures.plots import SeenFromAbove, plot_falls
from poise.world.foot_boxes import find_corners

# Degrees from straight ahead towards the left.
DIRECTIONS = {
    "forward": 0.0, "forward-left": 45.0, "left": 90.0, "back-left": 135.0, "back": 180.0, "back-right": 225.0,
    "right": 270.0, "forward-right": 315.0,
}  # fmt: skip
PUSHED, BLOW, START, SECONDS, FPS = "chest", 1.2, 0.2, 4.0, 30.0  # N s a kilogram within 0.3 s, from 0.2 s on
MOMENTS, CELL, AZIMUTH = 7, (170, 170), -0.6
COLORS = (GREEN, BLUE, CLAY, RED)


def run(folder: Path) -> dict[str, Any]:
    """Write the files of the falls."""
    body = build_body()
    clip = idle(body.skeleton, SECONDS, FPS)
    runs = {name: push_over(clip, body, angle) for name, angle in DIRECTIONS.items()}
    figures = {name: {**measure(found, clip), **judge(found, body, DIRECTIONS[name])} for name, found in runs.items()}
    for suffix in (".glb", ".bvh"):
        poise.save_clip(runs["forward"].mix.clip, folder / f"fall{suffix}")
    draw(folder, body, runs)
    return save_figures(folder, "fall", {**figures["forward"], "falls": figures})


def find_way(angle: float) -> np.ndarray:
    """(3,) where an angle (degrees) points."""
    return np.array([math.sin(math.radians(angle)), 0.0, math.cos(math.radians(angle))])


def push_over(clip: poise.Clip, body: poise.Character, angle: float) -> Lifted:
    """It is pushed towards an angle (degrees)."""
    force = tuple((BLOW / 0.3 * body.mass * find_way(angle)).tolist())
    return simulate_lift(clip, body, LiftPlan(pushes=(poise.Push(PUSHED, force, 0.3, START),), engine="inverse"))


def find_centers(clip: poise.Clip, body: poise.Character) -> np.ndarray:
    """(F, 3) m, centres of mass."""
    tree = build_tree(body)
    positions, turns = clip.world
    return np.asarray(
        np.einsum("j,fja->fa", tree.masses, positions + rotation.rotate(turns, tree.centers[None])) / tree.mass
    )


def find_soles(clip: poise.Clip) -> np.ndarray:
    """(F, 2, 4, 3) m, the corners of the left sole and of the right one."""
    positions, turns = clip.world
    feet = [clip.skeleton.index(f"{side}Foot") for side in ("left", "right")]
    corners = [find_corners(box) for box in build_footing(clip.skeleton)]
    return np.stack(
        [
            positions[:, i, None] + rotation.rotate(turns[:, i, None], c[None])
            for i, c in zip(feet, corners, strict=True)
        ],
        axis=1,
    )


def judge(found: Lifted, body: poise.Character, angle: float) -> dict[str, Any]:
    """Which way it fell, where the pressure was as it tipped, and how it lies.

    moved_m           of the centre of mass, the way of the push
    pressure_edge_mm  from the farthest corner of its soles the way of the push to where the pressure was farthest,
                      until it fell
    height_m          of the centre of mass at the end
    speed_rad_s       of the fastest joint over the last half second, on average
    """
    clip, way, zmp = found.mix.clip, find_way(angle), found.efforts.before(found.mix.fell_at).zmp
    centers, soles = find_centers(clip, body), find_soles(clip)
    edge = float((soles[0] @ way).max())
    last = clip.pick(np.flatnonzero(np.asarray(clip.times) >= float(clip.times[-1]) - 0.5))
    turned = rotation.angle(last.rotations[-1], last.rotations[0])[1:]
    return {
        "moved_m": float((centers[-1] - centers[0]) @ way),
        "pressure_edge_mm": 1e3 * (edge - float(np.nanmax(zmp @ way))),
        "height_m": float(centers[-1, 1]),
        "speed_rad_s": float(np.max(turned)) / float(last.times[-1] - last.times[0]),
    }


def draw(folder: Path, body: poise.Character, runs: Mapping[str, Lifted]) -> None:
    """Film, strip and plot."""
    bodies = []
    for k, (name, found) in enumerate(runs.items()):
        clip = found.mix.clip
        skin = build_skin(clip.skeleton, build_mannequin(clip.skeleton, body.mass))
        bodies.append(DrawnBody(clip, skin, COLORS[k % len(COLORS)], label=name))
    times = np.arange(int(SECONDS * FILM_FPS)) / FILM_FPS
    picture = Picture(place_side_by_side(bodies, azimuth=AZIMUTH))
    view = frame_picture(picture, times, FILM_SIZE, azimuth=AZIMUTH)
    save_film(folder / f"fall{film_suffix()}", film_picture(picture, times, FILM_SIZE, view), FILM_FPS)
    moments, rows = np.linspace(START, 0.6 * SECONDS, MOMENTS), []
    for each in bodies:
        one = Picture([each])
        view = frame_picture(one, moments, CELL, azimuth=AZIMUTH)
        rows.append(np.concatenate([render_picture(one, float(t), CELL, view) for t in moments], axis=1))
    save_png(folder / "fall.png", np.concatenate(rows))
    seen = {
        name: SeenFromAbove(find_soles(found.mix.clip)[0], find_centers(found.mix.clip, body), found.efforts.zmp)
        for name, found in runs.items()
    }
    write_bytes(
        folder / "fall-above.png", plot_falls(seen, "pushed over: soles, centre of mass and pressure from above")
    )
