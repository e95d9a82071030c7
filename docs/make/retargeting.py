"""Makes the table and the pictures of docs/retargeting.md: captured motions on three models.

    .venv/bin/python docs/make/retargeting.py FOLDER

FOLDER holds bvh-cmu/, gltf/ and vrm/. Rewrites the table between the marks in docs/retargeting.md, and a picture a
motion: the source in the first row, a model in each of the others.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

import poise
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import SkinnedMesh, build_skin
from poise.files import read_clip
from poise.files.formats.gltf.read import read_gltf_rest
from poise.files.reading.pipeline import interpret
from poise.motion.retargeting import retarget
from poise.motion.retargeting.metrics import measure_retargeting
from poise.pictures.body import find_heading, pose_surface
from poise.pictures.camera import Camera
from poise.pictures.image import save_png
from poise.pictures.raster import render

DOCS = Path(__file__).parents[1]
MOTIONS = {"walk": "bvh-cmu/07_01.bvh", "wave": "bvh-cmu/141_16.bvh", "jump": "bvh-cmu/13_11.bvh"}
MODELS = {
    "RiggedFigure": "gltf/RiggedFigure.glb",
    "KayKit": "gltf/manny_med_mod.gltf",
    "cryptovoxels": "vrm/cryptovoxels.vrm",
}
VIEW = {"walk": 0.6, "wave": -0.5, "jump": 0.6}  # rad from where the first frame faces, to the character's left
FRAMES, CELL = 8, (150, 195)


def draw_row(clip: poise.Clip, skin: SkinnedMesh, view: float) -> np.ndarray:
    """Evenly spaced frames of a clip side by side, from one direction, each over its own place on the ground."""
    frames = np.linspace(0, len(clip) - 1, FRAMES).round().astype(int)
    surfaces = [pose_surface(clip.skeleton, skin, clip.root[f], clip.rotations[f]) for f in frames]
    centres = [(s.points.min(axis=0) + s.points.max(axis=0)) / 2 * [1, 0, 1] for s in surfaces]
    gathered = np.concatenate([s.points - c for s, c in zip(surfaces, centres, strict=True)])
    azimuth = find_heading(clip.skeleton, clip.positions[0]) + view
    camera = Camera.frame(gathered, CELL, azimuth, 0.16, margin=0.06)
    cells = [
        render(surface, Camera(camera.position + centre, camera.target + centre, camera.fov), CELL, 2)
        for surface, centre in zip(surfaces, centres, strict=True)
    ]
    return np.concatenate(cells, axis=1)


def table_row(motion: str, model: str, source: poise.Clip, result: poise.Clip) -> str:
    """Figures of one result. Skate is also measured where the result's own motion shows contacts."""
    figures = measure_retargeting(source, result)
    anew = measure_retargeting(result, result)["source_foot_skate_mm"]
    cells = [
        f"{figures['scale']:.2f}",
        f"{figures['foot_skate_mm']:.2f}",
        f"{anew:.1f}",
        f"{figures['source_foot_skate_mm']:.0f}",
        f"{100 * float(figures['hand_error_m'] or 0):.1f}",
        f"{figures['knee_speed_rad_s']:.0f}",
        f"{figures['source_knee_speed_rad_s']:.0f}",
    ]
    return f"| {motion} | {model} | {' | '.join(cells)} |"


def main(folder: Path) -> None:
    rows = []
    models = {name: interpret(read_gltf_rest(folder / path)) for name, path in MODELS.items()}
    for motion, path in MOTIONS.items():
        clip = read_clip(folder / path).clip
        sheet = [draw_row(clip, build_skin(clip.skeleton, build_mannequin(clip.skeleton, 70.0)), VIEW[motion])]
        for name, reading in models.items():
            skin = reading.skin
            assert skin is not None
            result = retarget(clip, reading.clip.skeleton, ground=0.0, skin=skin)
            rows.append(table_row(motion, name, clip, result))
            sheet.append(draw_row(result, skin, VIEW[motion]))
        save_png(DOCS / "pictures" / f"retargeting-{motion}.png", np.concatenate(sheet))
    page = DOCS / "retargeting.md"
    text = re.sub(
        r"(<!-- figures -->\n).*?(<!-- end -->)",
        lambda marks: marks[1] + "\n".join([*HEAD, *rows]) + "\n" + marks[2],
        page.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    page.write_text(text, encoding="utf-8")


HEAD = (
    "| motion | model | scale | skate, mm | found anew, mm | source's skate, mm | hands, cm | knee, rad/s | source's |",
    "|---|---|---|---|---|---|---|---|---|",
)

if __name__ == "__main__":
    main(Path(sys.argv[1]))
