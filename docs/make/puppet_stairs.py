"""Makes docs/pictures/puppet-stairs.png: a puppet that hands which look lead down stairs.

PYTHONPATH=tests .venv/bin/python docs/make/puppet_stairs.py
"""

from __future__ import annotations

from pathlib import Path

import poise
from helpers.hands import on_treads, record
from poise.jobs.puppet.job import PuppetResult
from poise.jobs.puppet.pictures import draw_puppet_sheet
from poise.jobs.shared.body import build_loaded_body
from poise.jobs.shared.body_options import BodyOptions
from poise.pictures.image import save_png

PICTURE = Path(__file__).parents[1] / "pictures" / "puppet-stairs.png"
GROUND = poise.Stairs(-0.16, 0.3, 3, start=0.2)


def main() -> None:
    """Draw it."""
    body = build_loaded_body(BodyOptions(), ())
    clip, _, _ = record(lambda half: on_treads(GROUND, half, 0.1), GROUND, body.character, beat=1.4)
    shown = clip.pick(slice(150, 1350))  # without standing before and after
    save_png(PICTURE, draw_puppet_sheet(PuppetResult(shown, body, (), ground=GROUND), 8))


if __name__ == "__main__":
    main()
