"""Makes docs/pictures/mix-pushed.png: one body pushed forwards at the chest by what it recovers from, and by too much.

.venv/bin/python docs/make/mix_falls.py
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import poise
from poise import Balance, Character, Kinematic, Stage, gestures
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.demos.shared.show import SHEET_CELL, draw_sheet
from poise.pictures.image import save_png
from poise.pictures.picture import DrawnBody, Picture, frame_picture, place_side_by_side

PICTURE = Path(__file__).parents[1] / "pictures" / "mix-pushed.png"
SHARES = (0.8, 2.0)  # of m w d
SECONDS, START = 3.5, 0.5
TIMES = np.array([0.4, 0.9, 1.3, 1.6, 1.9, 3.0])


def push(share: float) -> poise.Take:
    """A take of one push of 0.2 s."""
    stage = Stage()
    actor = stage.add(Character.human(1.75, 75.0, preset="full"))
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(gestures.conduct()))
    take = stage.run(0.02)
    record = take.actor()
    center = record.center[0]
    reach = float(record.soles[0, ..., 2].max() - center[2])
    impulse = share * actor.body.tree.mass * math.sqrt(9.81 / center[1]) * reach
    actor.push("chest", (0.0, 0.0, impulse / 0.2), 0.2, start=START)
    return stage.run(SECONDS)


def main() -> None:
    """Both side by side."""
    figures = []
    for share in SHARES:
        take = push(share)
        clip, character = take.clip(start=float(take.times[0])), take.actor().character
        said = "stands" if take.fell_at() is None else f"fell at {take.fell_at():.1f} s"
        skin = build_skin(clip.skeleton, build_mannequin(clip.skeleton, character.mass))
        figures.append(DrawnBody(clip, skin, label=f"{share:g} m w d: {said}"))
    picture = Picture(place_side_by_side(figures))
    save_png(PICTURE, draw_sheet(picture, TIMES, frame_picture(picture, TIMES, SHEET_CELL)))


if __name__ == "__main__":
    main()
