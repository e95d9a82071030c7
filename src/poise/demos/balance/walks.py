"""Demos that walk: stairs, a ramp, rough ground and a raft (K5, K6). Each writes, named after it, into a folder:

NAME.glb, NAME.bvh           the motion
NAME.mp4 (or .webp), NAME.png   a film of it on its ground, and twelve moments
NAME-center.png, -joints.png    the centre of mass over the support; the angles of the legs
NAME.json                    its figures, but for those that the machine's speed decides

stairs   up eight steps of 17 cm by 29 cm, over a landing, and down again (K5, K6)
slope    up a ramp of eight degrees, over its landing and down, feet flat to the slope (K6)
rough    over random heights of five centimetres, each foot where the ground is even enough, with a turn (K6)
moving   on a raft that is slowly carried to and fro, up and down (K6)
bodies   average, fat, thin, short, a child, a longer leg, a locked knee, one arm, a backpack (K8): each in a file of
         its own; in the film they walk side by side
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import poise
from poise.body.bodies import PHYSIQUES
from poise.demos.shared.show import BLUE, CLAY, FILM_FPS, GREEN, save_figures
from poise.files.output import write_bytes
from poise.jobs.shared.pictures import Color
from poise.jobs.walk.job import WalkResult
from poise.jobs.walk.pictures import AZIMUTH, draw_walk_sheet, film_walk, plot_leg_angles, plot_walk
from poise.pictures.film import film_suffix
from poise.pictures.image import save_png

BY_SPEED = ("solve_us", "plan_ms_a_step")
SIZE, ROW = (640, 360), (1200, 300)


def show_walk(folder: Path, name: str, terrain: str, speed: float = 2.0, **options: Any) -> dict[str, Any]:
    """Walk, write everything, and return the figures. options: of `poise.walk`"""
    walk = poise.walk(terrain, outputs=[folder / f"{name}.glb", folder / f"{name}.bvh"], **options)
    return show_walks(folder, name, [walk], walk.figures, speed=speed)


def show_walks(
    folder: Path,
    name: str,
    walks: Sequence[WalkResult],
    figures: Mapping[str, Any],
    labels: Sequence[str] = (),
    colors: Sequence[Color] = (),
    speed: float = 1.5,
) -> dict[str, Any]:
    """The film, the moments, the first one's plots, and the figures. speed: of the film."""
    write_bytes(folder / f"{name}-center.png", plot_walk(walks[0], name))
    write_bytes(folder / f"{name}-joints.png", plot_leg_angles(walks[0], name))
    if len(walks) == 1:
        sheet, size, azimuth = draw_walk_sheet(walks, labels, colors), SIZE, AZIMUTH
    else:  # a row of them, seen from before
        size, azimuth = ROW, 0.3
        sheet = draw_walk_sheet(walks, labels, colors, 6, azimuth, size, 1)
    save_png(folder / f"{name}.png", sheet)
    film_walk(walks, folder / f"{name}{film_suffix()}", FILM_FPS, labels, colors, speed, size, azimuth)
    save_figures(folder, name, {key: value for key, value in figures.items() if key not in BY_SPEED})
    return dict(figures)


STEPS_ON_STAIRS = 26


def stairs(folder: Path) -> dict[str, Any]:
    """Write its files: see `walks`."""
    return show_walk(folder, "stairs", "stairs", steps=STEPS_ON_STAIRS)


LENGTH, LANDING, STEPS_ON_SLOPE = 3.0, 1.2, 22  # m, m


def slope(folder: Path) -> dict[str, Any]:
    """Write its files: see `walks`."""
    return show_walk(folder, "slope", "slope", shape={"length": LENGTH, "landing": LANDING}, steps=STEPS_ON_SLOPE)


PATH = (0.0, 2.5), (1.5, 5.0), (1.5, 7.0)  # m, x and z
STEPS_ON_ROUGH_GROUND = 22


def rough(folder: Path, seed: int = 0) -> dict[str, Any]:
    """Write its files: see `walks`."""
    return show_walk(folder, "rough", "rough", seed=seed, steps=STEPS_ON_ROUGH_GROUND, path=PATH)


STEPS_ON_MOVING_GROUND = 14


def moving(folder: Path) -> dict[str, Any]:
    """Write its files: see `walks`."""
    return show_walk(folder, "moving", "moving", 1.5, steps=STEPS_ON_MOVING_GROUND)


STEPS_OF_BODIES, COLORS = 6, (CLAY, BLUE, GREEN)
FIGURES = ("fell", "fell_at_s", "com_margin_m", "foot_error_mm", "swing_depth_mm", "sole_gap_mm", "steps", "duration_s",
           "distance_m", "longest_step_m", "peak_joint_acceleration_rad_s2", "limit_excess_deg", "mass_kg", "stature_m",
           "solve_us")  # fmt: skip


def bodies(folder: Path) -> dict[str, Any]:
    """Each body walks, with nothing tuned for it. Write bodies-NAME.glb of each, and the rest of all."""
    walks, figures_of = [], {}
    for name in PHYSIQUES:
        found = poise.walk(steps=STEPS_OF_BODIES, body=name, fps=50.0, outputs=folder / f"bodies-{name}.glb")
        walks.append(found)
        figures_of[name] = {key: found.figures[key] for key in FIGURES if key not in BY_SPEED}
    fallen = [each["fell_at_s"] for each in figures_of.values() if each["fell"]]
    figures = {
        "fell": bool(fallen),
        "fell_at_s": min(fallen, default=None),
        "com_margin_m": min(each["com_margin_m"] for each in figures_of.values()),
        "foot_error_mm": max(each["foot_error_mm"] for each in figures_of.values()),
        "steps": sum(each["steps"] for each in figures_of.values()),
        "solve_us": max(walk.figures["solve_us"] for walk in walks),
        "bodies": figures_of,
    }
    return show_walks(folder, "bodies", walks, figures, tuple(PHYSIQUES), COLORS)
