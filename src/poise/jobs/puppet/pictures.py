"""A puppet in pictures: moments of what was played, like the paper's figure 8, and films."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from poise.jobs.shared.pictures import check_film_length, draw_ground, is_uneven, tile
from poise.pictures.body import BODY_COLOR
from poise.pictures.picture import DrawnBody, Picture, film_picture, frame_picture, render_picture
from poise.pictures.raster import Theme
from poise.pictures.sheet import draw_contact_sheet

if TYPE_CHECKING:
    from poise.jobs.puppet.job import PuppetResult
MOMENTS, COLUMNS, CELL = 24, 8, (240, 300)
SIZE, FPS = (640, 480), 30.0
AZIMUTH, ELEVATION = 0.35, 0.14  # rad: from before, a little to a side
ASIDE = -1.05  # rad: from the side, so that steps are seen


def draw_puppet_sheet(result: PuppetResult, moments: int = MOMENTS) -> np.ndarray:
    """(H, W, 3) uint8, moments in rows.   [marionette, fig 8]"""
    if result.ground is None or not is_uneven(result.ground):
        return draw_contact_sheet(result.clip, result.body.skin, moments, COLUMNS, CELL, 2)
    picture, end = build_puppet_picture(result), result.clip.duration
    times = np.linspace(0.0, end, moments)
    # A way over time, so that the camera follows smoothly between far moments.
    dense = np.unique(np.concatenate([np.linspace(0.0, end, 200), times]))
    view = frame_picture(picture, dense, CELL, azimuth=ASIDE, elevation=ELEVATION, climb=True)
    return tile([render_picture(picture, float(t), CELL, view) for t in times], COLUMNS)


def build_puppet_picture(result: PuppetResult) -> Picture:
    """It and the ground that it is played on."""
    shown = result.clip.replace(times=result.clip.times - result.clip.times[0])
    figure = DrawnBody(shown, result.body.skin, BODY_COLOR)
    if result.ground is None or not is_uneven(result.ground):
        return Picture([figure])
    hips = shown.positions[:, shown.skeleton.index("hips")]
    relief, floor = draw_ground(result.ground, hips, shown.times)
    return Picture([figure], look=Theme(floor=floor), scenery=(relief,))


def film_puppet(result: PuppetResult, path: str | PathLike[str], fps: float = FPS) -> int:
    """Film it; how many frames the film has."""
    from poise.pictures.film import save_film

    end = result.clip.duration
    check_film_length(end, fps, "Play less of it, or leave out the film.")
    picture, times = build_puppet_picture(result), np.arange(int(end * fps) + 1) / fps
    is_level = result.ground is None or not is_uneven(result.ground)
    azimuth = AZIMUTH if is_level else ASIDE
    view = frame_picture(picture, times, SIZE, azimuth=azimuth, elevation=ELEVATION, climb=not is_level)
    return save_film(path, film_picture(picture, times, SIZE, view), fps)
