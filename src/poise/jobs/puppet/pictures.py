"""A puppet in pictures: moments of what was played, like the paper's figure 8, and films."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import SkinnedMesh, build_skin
from poise.jobs.shared.ground_picture import draw_ground, is_uneven
from poise.pictures.body import BODY_COLOR
from poise.pictures.picture import DrawnBody, Picture, film_picture, frame_picture, render_picture
from poise.pictures.raster import Theme
from poise.pictures.sheet import draw_contact_sheet

if TYPE_CHECKING:
    from poise.jobs.puppet.job import Puppetry
MOMENTS, COLUMNS, CELL = 24, 8, (240, 300)
SIZE, FPS = (640, 480), 30.0
AZIMUTH, ELEVATION = 0.35, 0.14  # rad: from before, a little to a side
ASIDE = -1.05  # rad: from the side, so that steps are seen


def _skin(found: Puppetry) -> SkinnedMesh:
    target = found.body.target
    if target.skin is not None:
        return target.skin
    return build_skin(found.clip.skeleton, build_mannequin(found.clip.skeleton, target.mass or found.character.mass))


def draw_puppet_sheet(found: Puppetry, moments: int = MOMENTS) -> np.ndarray:
    """(H, W, 3) uint8, moments in rows.   [marionette, fig 8]"""
    if found.ground is None or not is_uneven(found.ground):
        return draw_contact_sheet(found.clip, _skin(found), moments, COLUMNS, CELL, 2)
    picture, end = build_puppet_picture(found), found.clip.duration
    times = np.linspace(0.0, end, moments)
    # A way over time, so that the camera follows smoothly between far moments.
    dense = np.unique(np.concatenate([np.linspace(0.0, end, 200), times]))
    view = frame_picture(picture, dense, CELL, azimuth=ASIDE, elevation=ELEVATION, climb=True)
    cells = [render_picture(picture, float(t), CELL, view) for t in times]
    cells += [np.full_like(cells[0], 255)] * (-len(cells) % COLUMNS)
    return np.concatenate([np.concatenate(cells[k : k + COLUMNS], axis=1) for k in range(0, len(cells), COLUMNS)])


def build_puppet_picture(found: Puppetry) -> Picture:
    """It and the ground that it is played on."""
    shown = found.clip.replace(times=found.clip.times - found.clip.times[0])
    figure = DrawnBody(shown, _skin(found), BODY_COLOR)
    if found.ground is None or not is_uneven(found.ground):
        return Picture([figure])
    hips = shown.positions[:, shown.skeleton.index("hips")]
    relief, floor = draw_ground(found.ground, hips, shown.times)
    return Picture([figure], look=Theme(floor=floor), scenery=(relief,))


def film_puppet(found: Puppetry, path: str | PathLike[str], fps: float = FPS) -> int:
    """Film it; how many frames the film has."""
    from poise.errors import check_most
    from poise.jobs.mix.pictures import MOST_FRAMES
    from poise.pictures.film import save_film

    end = found.clip.duration
    check_most(f"a film of {end:.0f} s has", round(end * fps), MOST_FRAMES, "Play less of it, or leave out the film.")
    picture, times = build_puppet_picture(found), np.arange(int(end * fps) + 1) / fps
    is_level = found.ground is None or not is_uneven(found.ground)
    azimuth = AZIMUTH if is_level else ASIDE
    view = frame_picture(picture, times, SIZE, azimuth=azimuth, elevation=ELEVATION, climb=not is_level)
    return save_film(path, film_picture(picture, times, SIZE, view), fps)
