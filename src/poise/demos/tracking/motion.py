"""A body of Poise's own waves, squats and walks away: no recording, no download, everything made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.mesh import Mesh
from poise.dynamics.tree import GRAVITY
from poise.files.formats.bvh.clip import save_bvh
from poise.files.formats.gltf.write import save_glb
from poise.files.output import write_bytes
from poise.files.writing.round_trip import read_positions
from poise.motion.forces.forces import ClipForces, describe_forces
from poise.motion.samples import wave_squat_walk
from poise.pictures.image import save_png
from poise.pictures.plots import plot_forces
from poise.pictures.sheet import draw_contact_sheet

HEIGHT, MASS, FPS = 1.75, 75.0, 60.0


def run(folder: Path) -> dict[str, Any]:
    """Write motion.bvh, .glb, .png (poses), -forces.png and .json (the figures, which are returned too)."""
    character = poise.Character.human(HEIGHT, MASS)
    clip = wave_squat_walk(character.skeleton, FPS)
    meshes = build_mannequin(character.skeleton, character.mass)
    forces = poise.compute_forces(clip, character)
    figures = {
        "frames": len(clip),
        "fps": round(clip.fps, 9),
        "duration_s": clip.duration,
        **describe_forces(forces, character),
        "mean_vertical_bw": mean_vertical(forces),
        "max_joint_error_m": save_motion(folder, clip, meshes),
    }
    # Fourteen poses: twelve would be a stride apart, and every one of the walk the same.
    save_png(folder / "motion.png", draw_contact_sheet(clip, meshes, count=14, columns=7))
    write_bytes(folder / "motion-forces.png", plot_forces(forces, clip.skeleton, title=clip.name))
    write_bytes(folder / "motion.json", (json.dumps(figures, indent=2) + "\n").encode())
    return figures


def mean_vertical(forces: ClipForces) -> float:
    """Mean upward ground force over body weight: 1 for a motion that begins and ends at rest."""
    impulse = np.trapezoid(forces.reaction.force[:, 1], forces.times)
    return float(impulse / (forces.times[-1] - forces.times[0]) / (forces.tree.mass * -GRAVITY[1]))


def save_motion(folder: Path, clip: poise.Clip, meshes: dict[str, Mesh]) -> float:
    """Write BVH and GLB; the largest distance in metres of a joint in either from where it should be."""
    bvh, glb = folder / "motion.bvh", folder / "motion.glb"
    save_bvh(clip, bvh)
    save_glb(clip, glb, meshes)
    errors = [np.linalg.norm(read_positions(path, clip.skeleton) - clip.positions, axis=-1) for path in (bvh, glb)]
    return float(np.max(errors))
