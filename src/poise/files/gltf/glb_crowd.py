"""glTF 2.0 binary out: many characters in one file and one animation.

Each has an armature of its own; those with the same skin share its mesh and its inverse bind matrices, which are nearly
all of a single character's bytes. Everything else is as `glb` writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from poise.body.skin import SkinnedMesh
from poise.errors import InputError
from poise.files.atomic import write_bytes
from poise.files.gltf.buffer import GltfBuffer, build_animation, pack_glb
from poise.files.gltf.glb import (
    CLAY,
    add_inverse_binds,
    build_material,
    build_nodes,
    build_primitive,
    list_channels,
    stand_on_ground,
)
from poise.motion.clip import Clip


@dataclass(frozen=True, eq=False)
class CrowdFigure:
    """One of many.

    clip   its motion; all have the same times, and those that share a skin the same skeleton
    skin   its body, one object for all that look alike
    color  linear light, 0 to 1; that of the first who has a skin holds for all who share it
    scale  that all of it is shown at, clip and skin
    """

    clip: Clip
    skin: SkinnedMesh
    color: tuple[float, float, float] = CLAY
    scale: float = 1.0


def save_glb_crowd(figures: Sequence[CrowdFigure], path: str | PathLike[str], name: str = "crowd") -> None:
    """Write figures as one GLB; armatures are called as the clips are."""
    write_bytes(path, format_glb_crowd(figures, name))


def format_glb_crowd(figures: Sequence[CrowdFigure], name: str = "crowd") -> bytes:
    """Figures as the bytes of a GLB file."""
    _check_figures(figures)
    file = GltfBuffer()
    bodies: dict[int, _Body] = {}
    nodes: list[dict[str, Any]] = []
    scene: list[int] = []
    skins: list[dict[str, Any]] = []
    channels: list[tuple[int, str, np.ndarray]] = []
    meshes: list[dict[str, Any]] = []
    materials: list[dict[str, Any]] = []
    for figure in figures:
        clip, first = figure.clip, len(nodes)
        if id(figure.skin) not in bodies:
            rest, shift = stand_on_ground(clip.skeleton, figure.skin)
            primitive = build_primitive(file, figure.skin, shift, len(materials))
            bodies[id(figure.skin)] = _Body(len(meshes), add_inverse_binds(file, rest), rest)
            materials.append(build_material(f"body {len(meshes)}", figure.color))
            meshes.append({"name": f"body {len(meshes)}", "primitives": [primitive]})
        body = bodies[id(figure.skin)]
        nodes += build_nodes(clip.skeleton, body.rest, clip.name, first)
        if figure.scale != 1.0:
            nodes[first]["scale"] = [figure.scale] * 3
        joints = list(range(first + 1, first + 1 + len(clip.skeleton)))
        skins.append({"name": clip.name, "inverseBindMatrices": body.binds, "joints": joints})
        scene += [first, len(nodes)]
        nodes.append({"name": f"{clip.name} body", "mesh": body.mesh, "skin": len(skins) - 1})
        channels += list_channels(clip, first)
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "Poise"},
        "scene": 0,
        "scenes": [{"nodes": scene}],
        "nodes": nodes,
        "meshes": meshes,
        "materials": materials,
        "skins": skins,
        "animations": [build_animation(file, name, figures[0].clip.times, channels)],
        "accessors": file.accessors,
        "bufferViews": file.views,
        "buffers": [{"byteLength": len(file.data)}],
    }
    return pack_glb(document, bytes(file.data))


@dataclass(frozen=True, eq=False)
class _Body:
    """What figures of one skin share: mesh, accessor of the inverse binds, rest positions (J, 3) m."""

    mesh: int
    binds: int
    rest: np.ndarray


def _check_figures(figures: Sequence[CrowdFigure]) -> None:
    if not figures:
        raise InputError("a crowd's GLB needs at least one figure; none given.")
    times = figures[0].clip.times
    skeletons = {id(figure.skin): figure.clip.skeleton for figure in reversed(figures)}
    for figure in figures:
        if not (np.isfinite(figure.scale) and figure.scale > 0.0):
            raise InputError(f"a figure is shown at a scale above 0; that of '{figure.clip.name}' is {figure.scale:g}.")
        if not np.array_equal(figure.clip.times, times):
            raise InputError(f"all figures of a GLB have the same times; those of '{figure.clip.name}' differ.")
        if figure.clip.skeleton is not skeletons[id(figure.skin)]:
            raise InputError(f"figures that share a skin share its skeleton; that of '{figure.clip.name}' is another.")
