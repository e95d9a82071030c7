"""A crowd of conductors, each his own body, tempo, beats, phase and balance, on as many cores as there are (W12).

Writes crowd.png (all of them at the end), crowd.glb (their last seconds) and crowd.json. `wall_s` is the time of the
simulation itself, with the poses of all read 50 times a second; `total_s` has building and files in it.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.mesh import Mesh
from poise.body.geometry.skin import SkinnedMesh, build_skin, coarsen_skin
from poise.demos.shared.conductors import build_stage, check_count, draw_bodies, draw_conductors
from poise.demos.shared.show import save_figures
from poise.files.formats.gltf.write import CrowdFigure, find_skin, save_glb_crowd
from poise.pictures.body import pose_surface
from poise.pictures.camera import Camera
from poise.pictures.image import save_png
from poise.pictures.raster import Surface, linear, render
from poise.stage.crowd.crowd_take import CrowdTake

FPS, GLB_FPS, GLB_SECONDS, GLB_MOST = 50.0, 25.0, 4.0, 300
SIZE = (1600, 900)
_AROUND = np.array([[x, y, 0.0] for x in (-0.7, 0.7) for y in (0.0, 2.0)])  # m, that a figure takes up
_SKY = 60  # pixels left above and below the crowd
_NEAR = 40  # so many or fewer are drawn with all their vertices


def run(
    folder: Path,
    count: int = 30,
    seconds: float = 10.0,
    threads: int | None = None,
    seed: int = 0,
    say: Callable[[str], None] = lambda sentence: None,
) -> dict[str, Any]:
    """Simulate `count` conductors at 200 steps a second and write the files.

    threads  None: one a core. The result does not depend on it
    say      called with what is being done
    """
    began = time.perf_counter()
    check(count, seconds, threads)
    conductors = draw_conductors(count, seed)
    say("compiling: some 20 s the first time, kept for later runs")
    bodies = draw_bodies(count, seed)
    threads = (os.cpu_count() or 1) if threads is None else threads
    poise.run_crowd(build_stage(conductors[:1], bodies, threads), 0.1)
    say(f"building {count} characters")
    stage = build_stage(conductors, bodies, threads, say)
    built = time.perf_counter()
    say(f"simulating {seconds:g} s on {threads} threads")
    takes = []
    shown = min(GLB_SECONDS, seconds)
    if seconds > shown:
        takes.append(poise.run_crowd(stage, seconds - shown, FPS, keep_every=None))
    takes.append(poise.run_crowd(stage, shown, FPS, keep_every=round(FPS / GLB_FPS)))
    say("drawing them and writing the files")
    last = takes[-1]
    looks = find_looks(last.characters)
    save_png(folder / "crowd.png", draw_crowd(last, looks))
    save_motion(folder / "crowd.glb", last, looks)
    wall, steps = sum(take.wall_seconds for take in takes), stage.steps
    fallen = [name for take in takes for name in take.fell]
    figures = {
        "count": count,
        "seconds": steps * stage.dt,
        "fell": len(fallen),
        "fallen": fallen,
        "bodies": len(bodies),
        "dt_s": stage.dt,
        "frames": sum(take.frames for take in takes) - len(takes) + 1,
    }
    save_figures(folder, "crowd", figures)
    return figures | {
        "threads": threads,
        "wall_s": wall,
        "realtime_factor": steps * stage.dt / wall,
        "realtime_characters": count * steps * stage.dt / wall,
        "us_per_character_step": 1e6 * wall / (count * steps),
        "build_s": built - began,
        "total_s": time.perf_counter() - began,
    }


def check(count: int = 30, seconds: float = 10.0, threads: int | None = None) -> None:
    """Refuse a crowd that cannot be; the arguments are those of `run`."""
    check_count(count)
    if not 1.0 / FPS <= seconds <= 1e5:
        raise poise.InputError(f"a crowd runs for {1.0 / FPS:g} s, a frame, to 100000 s; {seconds:g} given.")
    if threads is not None:
        poise.Stage(threads=threads)


def draw_crowd(take: CrowdTake, looks: Sequence[tuple[Lookalike, float]], size: tuple[int, int] = SIZE) -> np.ndarray:
    """A picture (H, W, 3) uint8 of everybody at the end of a take, from before and above them."""
    skins: dict[int, SkinnedMesh] = {}
    parts = []
    for (look, scale), root, turns in zip(looks, take.last_root, take.last_rotations, strict=True):
        skeleton = look.character.skeleton
        if id(look) not in skins:
            skin = build_skin(skeleton, look.meshes)
            skins[id(look)] = skin if len(take.names) <= _NEAR else coarsen_skin(skin, 0.015)
        part = pose_surface(skeleton, skins[id(look)], root / scale, turns[: len(skeleton)], look.color)
        parts.append(dataclasses.replace(part, points=scale * part.points))
    around = take.last_root[:, None] * [1.0, 0.0, 1.0] + _AROUND
    camera = Camera.frame(around, size, azimuth=0.0, elevation=0.36, fov=np.radians(34.0), margin=0.03)
    picture = render(Surface.joined(parts), camera, size)
    rows = camera.project(around, size)[..., 1]
    return picture[max(0, int(rows.min()) - _SKY) : int(rows.max()) + _SKY]


def save_motion(path: Path, take: CrowdTake, looks: Sequence[tuple[Lookalike, float]]) -> None:
    """The kept frames of everybody, or of the first 300, as one GLB."""
    skins: dict[int, SkinnedMesh] = {}
    figures = []
    for name, (look, scale) in list(zip(take.names, looks, strict=True))[:GLB_MOST]:
        if id(look) not in skins:
            skins[id(look)] = find_skin(look.character.skeleton, look.meshes)
        red, green, blue = linear(look.color).tolist()
        clip = take.clip(name)
        clip = poise.Clip(look.character.skeleton, clip.times, clip.root / scale, clip.rotations, name)
        figures.append(CrowdFigure(clip, skins[id(look)], (red, green, blue), scale))
    save_glb_crowd(figures, path)


MOST = 16  # meshes in a crowd
# sRGB, muted, told apart beside one another
COLORS = (
    (0.80, 0.71, 0.60), (0.52, 0.66, 0.80), (0.60, 0.75, 0.58), (0.78, 0.62, 0.74), (0.86, 0.76, 0.50),
    (0.55, 0.70, 0.72), (0.80, 0.56, 0.50), (0.66, 0.64, 0.72),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Lookalike:
    """A body that others of its proportions look like.

    meshes  by joint
    color   sRGB
    """

    character: poise.Character
    meshes: dict[str, Mesh]
    color: tuple[float, float, float]


def find_looks(characters: Sequence[poise.Character], most: int = MOST) -> list[tuple[Lookalike, float]]:
    """A look and its scale for each; the first few different ones have their own.

    Making a mesh takes a third of a second and half a megabyte, so a thousand bodies cannot have one each. People of
    one sex have the same proportions (`Character.human`), so the mesh of one fits another of any stature exactly,
    scaled; of those, each wears the one whose girth is nearest to his.
    """
    looks: dict[int, Lookalike] = {}
    found = []
    for character in characters:
        if id(character) not in looks and len(looks) < most:
            meshes = build_mannequin(character.skeleton, character.mass)
            looks[id(character)] = Lookalike(character, meshes, COLORS[len(looks) % len(COLORS)])
        found.append(_choose(character, looks))
    return found


def _choose(character: poise.Character, looks: dict[int, Lookalike]) -> tuple[Lookalike, float]:
    """The look of the nearest girth among those that fit."""
    if id(character) in looks:
        return looks[id(character)], 1.0
    size, best = _size(character), None
    for look in looks.values():
        scale = size / _size(look.character)
        ours, theirs = character.skeleton.offsets, scale * np.asarray(look.character.skeleton.offsets)
        if ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=0.0, atol=1e-6):
            continue
        # girth goes as the root of mass over length
        off = abs(np.log(character.mass / look.character.mass / scale))
        if best is None or off < best[0]:
            best = off, look, scale
    if best is None:  # proportions of his own
        meshes = build_mannequin(character.skeleton, character.mass)
        looks[id(character)] = look = Lookalike(character, meshes, COLORS[len(looks) % len(COLORS)])
        return look, 1.0
    return best[1], best[2]


def _size(character: poise.Character) -> float:
    """m, all bones end to end."""
    return float(np.linalg.norm(character.skeleton.offsets[1:], axis=1).sum())
