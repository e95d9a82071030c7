"""Bodies of every kind reach for what is as far for each of them, on one leg.   [balance, 4.7.4, fig 16, 17]

physiques-NAME.glb               the motion of each, onto one leg
physiques.mp4 (or .webp), .png   a film of all side by side, and six moments
physiques-center.png             how far inside its sole each one's centre of mass is
physiques.json                   figures of each
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.body.bodies import PHYSIQUES, build_body, list_extras
from poise.body.geometry.mannequin import build_mannequin
from poise.demos.shared.show import FILM_FPS, save_figures
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.files.formats.gltf.write import save_glb
from poise.files.output import write_bytes
from poise.jobs.balance.solve import measure_margins
from poise.jobs.pose.metrics import measure_pose
from poise.jobs.pose.standing import STEPS, PoseGoals, StandingSolver
from poise.jobs.retarget import Target
from poise.jobs.shared.body import LoadedBody
from poise.jobs.shared.metrics import find_supports
from poise.jobs.shared.pictures import draw_body, mark_balance
from poise.pictures.film import film_suffix, save_film
from poise.pictures.image import save_png
from poise.pictures.mix_plots import plot_margins
from poise.pictures.picture import (
    FIGURE_COLORS,
    Picture,
    film_picture,
    frame_picture,
    place_side_by_side,
    render_picture,
)

SECONDS, FPS, STAND = 3.0, 30.0, "left"
PLACE = (-0.10, 0.80, 0.24)  # of the height, for the right hand: ahead at shoulder height
SIZE = (1440, 420)


def run(folder: Path) -> dict[str, Any]:
    """Write all of it; figures of `poise pose` a body."""
    bodies: dict[str, Any] = {}
    drawn, margins = [], {}
    steps = np.linspace(0.0, 1.0, STEPS + 1)[1:].tolist()
    for k, name in enumerate(PHYSIQUES):
        body, extras = build_body(name), list_extras(name)
        own = body.mass - sum(weight for _, _, weight in extras)
        height = 1.75 * PHYSIQUES[name].height
        wanted = PoseGoals({"rightHand": height * np.array(PLACE)}, STAND)
        standing = StandingSolver(body)
        pose = standing.go(wanted, steps)
        way = standing.move(wanted, pose.rotations[-1], round(SECONDS * FPS) + 1)
        clip = poise.Clip(body.skeleton, np.arange(len(way.root)) / FPS, way.root, way.rotations, name)
        save_glb(clip, folder / f"physiques-{name}.glb", build_mannequin(body.skeleton, own))
        center, supports = compute_center_of_mass(build_tree(body), *clip.poses), find_supports(clip, way.down)
        margins[name] = measure_margins(supports, center)
        found = measure_pose(clip, body, wanted, way.down)
        bodies[name] = {key: found[key] for key in ("reached", "reach_error_m", "com_margin_m")}
        bodies[name] |= {"mass_kg": body.mass, "stature_m": body.height}
        loaded = LoadedBody(body, Target(body.skeleton, mass=own), tuple(extras))
        marks = mark_balance(clip, loaded, way.down, wanted.reach.values())
        drawn.append(draw_body(clip, loaded, marks, name, FIGURE_COLORS[k % 4]))
    picture = Picture(place_side_by_side(drawn, azimuth=0.4))
    times = np.arange(int(SECONDS * FILM_FPS) + 1) / FILM_FPS
    view = frame_picture(picture, times, SIZE, azimuth=0.4)
    save_film(folder / f"physiques{film_suffix()}", film_picture(picture, times, SIZE, view), FILM_FPS)
    moments = [render_picture(picture, t, SIZE, view) for t in (0.0, 0.5 * SECONDS, SECONDS)]
    save_png(folder / "physiques.png", np.concatenate(moments))
    write_bytes(folder / "physiques-center.png", plot_margins(np.arange(len(way.root)) / FPS, margins, "physiques"))
    figures = {
        "reached": all(each["reached"] for each in bodies.values()),
        "reach_error_m": max(each["reach_error_m"] for each in bodies.values()),
        "com_margin_m": min(each["com_margin_m"] for each in bodies.values()),
        "stand": STAND,
        "bodies": bodies,
    }
    return save_figures(folder, "physiques", figures)
