"""The same gesture, the same stature, 45, 75 and 130 kg: nobody tunes anything, and each sways in its own way.

Masses are those of the figures' own meshes. (Bodies whose every segment is heavier by the same factor move alike to the
last digit: arms and legs scale with what they move.)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import poise
from poise import gestures
from poise.body.geometry.mannequin import build_mannequin
from poise.demos.shared.show import BLUE, CLAY, GREEN, TAKE_FPS, Shot, measure_mix, measure_sway, save_motion, save_show

HEIGHT, MASSES, SECONDS = 1.75, (45.0, 75.0, 130.0), 6.0


def run(folder: Path) -> dict[str, Any]:
    """Write the files of all three, thin-fat-45kg.glb and so on, and the middle one's as thin-fat.glb; see `show`."""
    stage, gesture = poise.Stage(), gestures.conduct(bpm=108.0, beats=3, hands="both", size=1.4)
    skeleton = poise.Character.human(HEIGHT, preset="mix").skeleton
    for mass in MASSES:
        body = poise.Character.from_meshes(skeleton, build_mannequin(skeleton, mass), mass=mass, height=HEIGHT)
        actor = stage.add(body, f"{mass:g} kg")
        actor.drive("legs", poise.Balance())
        actor.drive("arms", poise.Kinematic(gesture))
    take = stage.run(SECONDS, fps=TAKE_FPS)
    shots = [Shot(take, name, name, color) for name, color in zip(take.actors, (GREEN, CLAY, BLUE), strict=True)]
    middle, bodies = shots[1], {}
    for shot in shots:
        save_motion(folder, f"thin-fat-{shot.label.replace(' ', '')}", shot)
        measured = measure_mix(stage, take, shot.actor)
        del measured["realtime_factor"]
        bodies[shot.label] = measured | {"sway_rms_mm": measure_sway(shot.record)}
    figures = measure_mix(stage, take, middle.actor)
    fallen = [body["fell_at_s"] for body in bodies.values() if body["fell"]]
    figures |= {"fell": bool(fallen), "fell_at_s": min(fallen, default=None), "bodies": bodies}
    return save_show(folder, "thin-fat", shots, figures, middle)
