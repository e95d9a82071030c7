"""On one leg: reaching, leaning forward and back, the free leg around, a low target.   [balance, 4.7.1]

Every pose is found from what it should do alone, and the way from each to the next is balanced at every frame.

onleg.glb, onleg.bvh          the motion
onleg.mp4 (or .webp), .png    a film of it, and nine moments
onleg-center.png              its centre of mass over the soles that carry
onleg.json                    its figures
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.body.geometry.mannequin import build_mannequin
from poise.demos.shared.show import BLUE, FILM_FPS, save_figures
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.files.formats.bvh.clip import save_bvh
from poise.files.formats.gltf.write import save_glb
from poise.files.output import write_bytes
from poise.jobs.pose.metrics import REACHED, measure_pose
from poise.jobs.pose.pictures import draw_still, list_changes
from poise.jobs.pose.standing import STEPS, PoseGoals, StandingSolver
from poise.jobs.retarget import Target
from poise.jobs.shared.body import LoadedBody
from poise.jobs.shared.metrics import find_sole_corners, find_supports
from poise.jobs.shared.pictures import draw_body, mark_balance
from poise.pictures.film import film_suffix, save_film
from poise.pictures.image import save_png
from poise.pictures.mix_plots import plot_center_of_mass
from poise.pictures.picture import Picture, film_picture, frame_picture

HEIGHT, MASS, FPS, STAND = 1.75, 75.0, 30.0, "left"
EACH = 1.6  # s, from pose to pose
OVERLAP = 0.15  # of that, which the next begins before
POSES: dict[str, dict[str, tuple[float, float, float]]] = {
    "reach ahead": {"leftHand": (0.2, 1.35, 0.55), "rightHand": (-0.2, 1.35, 0.55)},
    "lean forward": {"leftHand": (0.25, 0.95, 1.05), "rightHand": (-0.15, 0.95, 1.05)},
    "lean back": {"head": (0.08, 1.45, -0.22), "leftHand": (0.35, 1.25, 0.35), "rightHand": (-0.25, 1.25, 0.35)},
    "leg ahead": {"rightFoot": (-0.1, 0.5, 0.62)},
    "leg aside": {"rightFoot": (-0.72, 0.5, 0.1)},
    "leg behind": {"rightFoot": (-0.12, 0.55, -0.6)},
    "crouch": {"rightHand": (-0.15, 0.2, 0.45)},
}


def run(folder: Path) -> dict[str, Any]:
    """Write all of it; the figures of `poise pose`, for every pose and the whole motion."""
    body = poise.Character.human(HEIGHT, MASS)
    standing = StandingSolver(body)
    shifted, lifted = standing.lift(STAND)
    steps = np.linspace(0.0, 1.0, STEPS + 1)[1:].tolist()
    ways = {name: standing.go(_want(goals), steps) for name, goals in POSES.items()}
    start = standing.stance.rotations
    keys = [start, shifted, lifted, *(way.rotations[-1] for way in ways.values()), lifted, shifted, start]
    parts = len(keys) - 1
    apart = (0, 1, parts - 1)  # a foot is lifted when the weight is over the other, and the other way round
    windows = [((k if k in apart else k - OVERLAP) / parts, (k + 1.0) / parts) for k in range(parts)]
    count = round(parts * EACH * FPS) + 1
    aloft = (1.0 / parts, (parts - 1.0) / parts)
    way = standing.follow(keys, windows, count, _want({}), aloft)
    clip = poise.Clip(body.skeleton, np.arange(count) / FPS, way.root, way.rotations, "onleg")
    save_glb(clip, folder / "onleg.glb", build_mannequin(body.skeleton, MASS))
    save_bvh(clip, folder / "onleg.bvh")
    _draw(folder, clip, body, way.down)
    figures = _measure(clip, body, way.down) | _measure_poses(body, ways)
    took = np.concatenate([each.microseconds for each in ways.values()])
    save_figures(folder, "onleg", figures)
    return figures | {"solve_us": float(np.median(took))}


def _want(goals: dict[str, tuple[float, float, float]]) -> PoseGoals:
    return PoseGoals({joint: np.array(place) for joint, place in goals.items()}, STAND)


def _measure(clip: poise.Clip, body: poise.Character, down: np.ndarray) -> dict[str, Any]:
    """Of the whole motion."""
    whole = measure_pose(clip, body, _want({}), down)
    soles = find_sole_corners(clip)
    slip = np.linalg.norm(soles[:, 0] - soles[0, 0], axis=-1).max()
    free = soles[~down[:, 1], 1, :, 1].min()
    return {
        "com_margin_m": whole["com_margin_m"], "foot_slip_mm": 1000.0 * float(slip), "free_foot_m": float(free),
        "stand": STAND, "frames": len(clip), "duration_s": clip.duration,
    }  # fmt: skip


def _measure_poses(body: poise.Character, ways: dict[str, Any]) -> dict[str, Any]:
    """How near each pose came to what it should do."""
    errors = {}
    for name, goals in POSES.items():
        last = poise.Clip(body.skeleton, np.zeros(1), ways[name].root[-1:], ways[name].rotations[-1:])
        errors[name] = measure_pose(last, body, _want(goals), ways[name].down[-1:])["reach_error_m"]
    worst = max(errors.values())
    return {"reached": worst < REACHED, "reach_error_m": worst, "poses": errors}


def _draw(folder: Path, clip: poise.Clip, body: poise.Character, down: np.ndarray) -> None:
    """Film, moments and plot."""
    drawn = LoadedBody(body, Target(body.skeleton))
    picture = Picture([draw_body(clip, drawn, mark_balance(clip, drawn, down), color=BLUE)])
    times = np.arange(int(clip.duration * FILM_FPS) + 1) / FILM_FPS
    size, azimuth = (720, 540), 0.75
    view = frame_picture(picture, times, size, azimuth=azimuth)
    save_film(folder / f"onleg{film_suffix()}", film_picture(picture, times, size, view), FILM_FPS)
    moments = [EACH * (k + 0.9) for k in range(1, len(POSES) + 3)]
    save_png(folder / "onleg.png", draw_still(picture, moments, azimuth))
    center = compute_center_of_mass(build_tree(body), *clip.poses)
    supports = list_changes(find_supports(clip, down))
    write_bytes(folder / "onleg-center.png", plot_center_of_mass(clip.times, center, supports, title="on one leg"))
