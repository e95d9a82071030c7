"""What every demo of somebody who walks writes, named after it, into a folder:

NAME.glb, NAME.bvh           the motion
NAME.mp4 (or .webp), NAME.png   a film of it on its ground, and twelve moments
NAME-center.png, -joints.png    the centre of mass over the support; the angles of the legs
NAME.json                    its figures, but for those that the machine's speed decides
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from poise.demos.show import FILM_FPS, save_figures
from poise.files.atomic import write_bytes
from poise.jobs.walk import WalkFound, WalkOutputs, WalkRecipe, run_walk
from poise.jobs.walk_pictures import AZIMUTH, Color, draw_walk_sheet, film_walk, plot_leg_angles, plot_walk
from poise.pictures.film import film_suffix
from poise.pictures.png import save_png

BY_SPEED = ("solve_us", "plan_ms_a_step")
SIZE, ROW = (640, 360), (1200, 300)


def show_walk(folder: Path, name: str, asked: WalkRecipe, speed: float = 1.5) -> dict[str, Any]:
    """Walk, write everything, and return the figures."""
    found = run_walk(asked, WalkOutputs(motions=(folder / f"{name}.glb", folder / f"{name}.bvh")))
    return show_walks(folder, name, [found], found.figures, speed=speed)


def show_walks(
    folder: Path,
    name: str,
    walks: Sequence[WalkFound],
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
