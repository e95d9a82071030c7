"""Makes docs/pictures/limits-falls.png: one body pushed over backwards, its joints without ends, and with them.

.venv/bin/python docs/make/limits.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import poise
from poise import Balance, Character, Free, Loose, Stage
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.demos.shared.show import SHEET_CELL, draw_sheet
from poise.pictures.image import save_png
from poise.pictures.picture import DrawnBody, Picture, frame_picture, place_side_by_side

PICTURE = Path(__file__).parents[1] / "pictures" / "limits-falls.png"
TIMES = np.array([0.4, 0.9, 1.2, 1.5, 2.0, 4.0])


def fall(character: Character) -> poise.Take:
    """Pushed from 0.2 s on; a ragdoll from 0.7 s on."""
    stage = Stage()
    actor = stage.add(character)
    actor.drive("legs", Balance())
    actor.push("chest", (60.0, 0.0, -300.0), 0.3, start=0.2)

    def let_go(t: float) -> None:
        if abs(t - 0.7) < 1e-9:
            actor.drive("root", Free())
            actor.drive("body", Loose(0.0, 0.3))

    return stage.run(4.0, each=let_go)


def main() -> None:
    """Both side by side."""
    human, figures = Character.human(1.75, 75.0), []
    for character, said in ((replace(human, limits={}), "no limits"), (human, "limits")):
        clip = fall(character).clip()
        skin = build_skin(clip.skeleton, build_mannequin(clip.skeleton, character.mass))
        figures.append(DrawnBody(clip, skin, label=said))
    picture = Picture(place_side_by_side(figures))
    save_png(PICTURE, draw_sheet(picture, TIMES, frame_picture(picture, TIMES, SHEET_CELL)))


if __name__ == "__main__":
    main()
