"""Makes docs/pictures/falls.png: three bodies dropped, leaning, as ragdolls: by MuJoCo above, by Bullet below.

.venv/bin/python docs/make/falls.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import poise
from poise import Character, Free, Loose, Stage, rotation
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.demos.shared.show import SHEET_CELL, draw_sheet
from poise.pictures.image import save_png
from poise.pictures.picture import DrawnBody, Picture, frame_picture, place_side_by_side

PICTURE = Path(__file__).parents[1] / "pictures" / "falls.png"
TIMES = np.array([0.0, 0.4, 0.6, 0.9, 1.4, 2.5])
PEOPLE = {
    "child 1.1 m": lambda: Character.human(1.1, 18.0, age=5.0),
    "adult 1.75 m": lambda: Character.human(1.75, 75.0, preset="full"),
    "fat 1.6 m": lambda: Character.human(1.6, 140.0),
}


def fall(character: Character, engine: str) -> poise.Take:
    """From 0.3 of its height, leaning forwards and to its left."""
    before = Stage()
    stand = before.add(character)
    before.build()
    state = stand.body.state
    q = state.q.copy()
    q[0] = rotation.multiply(rotation.exp(np.array([0.4, 0.0, -0.2])), q[0])
    stage = Stage(engine=engine, couple="exact" if engine == "mujoco" else "paper")
    actor = stage.add(character, pose=poise.Pose(state.root + [0.0, 0.3 * character.height, 0.0], q))
    actor.drive("root", Free())
    actor.drive("body", Loose(0.0, 0.3))
    return stage.run(TIMES[-1])


def draw(engine: str) -> np.ndarray:
    """All of them side by side."""
    figures = []
    for name, build in PEOPLE.items():
        character = build()
        clip = fall(character, engine).clip()
        skin = build_skin(clip.skeleton, build_mannequin(clip.skeleton, character.mass))
        figures.append(DrawnBody(clip, skin, label=f"{name}, {engine}"))
    picture = Picture(place_side_by_side(figures))
    return draw_sheet(picture, TIMES, frame_picture(picture, TIMES, SHEET_CELL))


def main() -> None:
    """One engine below the other."""
    sheets = [draw(engine) for engine in ("mujoco", "bullet")]
    width = min(sheet.shape[1] for sheet in sheets)
    save_png(PICTURE, np.concatenate([sheet[:, :width] for sheet in sheets]))


if __name__ == "__main__":
    main()
