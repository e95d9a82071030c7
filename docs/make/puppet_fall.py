"""Makes docs/pictures/puppet-fall.png: a puppet is let go while it walks on the spot, lies, and is drawn up.

.venv/bin/python docs/make/puppet_fall.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import poise
from poise import Character, PuppetLayer, load_mapping, rotation
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.jobs.puppet.job import perform_cued
from poise.pictures.image import save_png
from poise.pictures.sheet import draw_contact_sheet
from poise.puppetry.cues import LET_GO, TAKE_BACK, Cue

PICTURE = Path(__file__).parents[1] / "pictures" / "puppet-fall.png"
SECONDS, FPS = 6.0, 60.0


def walk() -> poise.HandsTake:
    """Hands that go up and down in turn for the first two seconds."""
    times = np.arange(round(SECONDS * 60.0)) / 60.0
    places, turns = np.zeros((len(times), 2, 3)), np.zeros((len(times), 2, 3))
    fades = np.clip(2.2 - times, 0.0, 1.0)
    for hand in range(2):
        up = fades * np.sin(4.0 * times + np.pi * hand)
        places[:, hand, 1], turns[:, hand, 0] = 0.05 * fades + 0.05 * up, -0.45 * up
    return poise.HandsTake(times, places, rotation.exp(turns), neutral=np.zeros((2, 3)))


def main() -> None:
    """From shortly before it is let go until it stands."""
    character = Character.human(1.75, 75.0)
    cues = [Cue(1.2, LET_GO), Cue(3.2, TAKE_BACK)]
    clip = perform_cued([PuppetLayer(load_mapping("legs"), walk())], cues, character, SECONDS, FPS).clip
    rows = np.r_[np.arange(70, 148, 13), [210], np.arange(222, 294, 9), [318]]
    shown = clip.replace(times=clip.times[rows], root=clip.root[rows], rotations=clip.rotations[rows])
    skin = build_skin(clip.skeleton, build_mannequin(clip.skeleton, character.mass))
    save_png(PICTURE, draw_contact_sheet(shown, skin, len(rows), 8, (140, 178), 2))
    print(f"{PICTURE}: {PICTURE.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
