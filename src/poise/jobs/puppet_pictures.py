"""A puppet in pictures: moments of what was played, like the paper's figure 8, and films."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from poise.body.mannequin import build_mannequin
from poise.body.skin import SkinnedMesh, build_skin
from poise.pictures.contact_sheet import draw_contact_sheet
from poise.pictures.figure import BODY_COLOR
from poise.pictures.picture import DrawnBody, Picture, film_picture, frame_picture

if TYPE_CHECKING:
    from poise.jobs.puppet import Puppetry

MOMENTS, COLUMNS, CELL = 24, 8, (240, 300)
SIZE, FPS = (640, 480), 30.0
AZIMUTH, ELEVATION = 0.35, 0.14  # rad: from before, a little to a side


def _skin(found: Puppetry) -> SkinnedMesh:
    target = found.body.target
    if target.skin is not None:
        return target.skin
    return build_skin(found.clip.skeleton, build_mannequin(found.clip.skeleton, target.mass or found.character.mass))


def draw_puppet_sheet(found: Puppetry, moments: int = MOMENTS) -> np.ndarray:
    """(H, W, 3) uint8, moments in rows.   [marionette, fig 8]"""
    return draw_contact_sheet(found.clip, _skin(found), moments, COLUMNS, CELL, 2)


def film_puppet(found: Puppetry, path: str | PathLike[str], fps: float = FPS) -> int:
    """Film it; how many frames the film has."""
    from poise.errors import check_most
    from poise.jobs.mix_pictures import MOST_FRAMES
    from poise.pictures.film import save_film

    end = found.clip.duration
    check_most(f"a film of {end:.0f} s has", round(end * fps), MOST_FRAMES, "Play less of it, or leave out the film.")
    shown = found.clip.replace(times=found.clip.times - found.clip.times[0])
    picture = Picture([DrawnBody(shown, _skin(found), BODY_COLOR)])
    times = np.arange(int(end * fps) + 1) / fps
    view = frame_picture(picture, times, SIZE, azimuth=AZIMUTH, elevation=ELEVATION)
    return save_film(path, film_picture(picture, times, SIZE, view), fps)
