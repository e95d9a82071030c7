"""Every format: read, and written where it can be; characters, states and takes in files too."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from helpers.clips import locked_clip, random_clip
from helpers.files.c3d import make_c3d
from helpers.files.seeds import ASF, BVH, write_seed
from helpers.files.trc import make_trc
from helpers.marked_walker import LABELS, walk_markers

from .cases import Skip, add_case, case, need
from .names import find, poise
from .record import read_figures, read_files
from .scenes import human, make_clip, stand

READ = (".bvh", ".glb", ".gltf", ".vrm", ".vrma", ".amc", ".asf", ".txt", ".npz", ".c3d", ".trc")
WRITTEN = (".bvh", ".glb", ".npz", ".usd", ".usda", ".usdc")


def in_folder(run: Callable[..., Any], *words: Any, **more: Any) -> Any:
    """A case that needs an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        return run(Path(folder), *words, **more)


def read_seed(folder: Path, suffix: str) -> Any:
    """A small file of a format: its clip, and what `info` finds."""
    path = write_seed(suffix, folder)
    if path is None:
        raise Skip(f"no {suffix} file can be made here")
    return {"clip": describe(poise.load_clip(path)), "info": ask_info(path)}


def ask_info(path: Path) -> Any:
    found = poise.info(path)
    return read_figures(dict(found), path.parent) if isinstance(found, dict) else list_fields(found, path.parent)


def list_fields(thing: Any, folder: Path) -> Any:
    """The plain fields of a result."""
    fields = [each.name for each in dataclasses.fields(thing)] if dataclasses.is_dataclass(thing) else list(vars(thing))
    values = {name: getattr(thing, name) for name in fields if not name.startswith("_")}
    return {name: read_figures(value, folder) for name, value in values.items() if is_plain(value)}


def is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(each) for key, each in value.items())
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    return value is None or isinstance(value, str | int | float)


def describe(clip: Any) -> Any:
    """A clip and its skeleton."""
    skeleton = clip.skeleton
    tips = getattr(skeleton, "tips", None)
    return {"clip": clip, "names": " ".join(skeleton.names), "parents": np.asarray(skeleton.parents),
            "offsets": skeleton.offsets, "tips": None if tips is None else np.asarray(tips),
            "roles": {str(key): str(value) for key, value in skeleton.roles.items()}}  # fmt: skip


def write_clip(folder: Path, make: Callable[[], Any], suffix: str) -> Any:
    """A clip in a format, and read again where that can be done."""
    if suffix.startswith(".usd"):
        need("pxr")
    clip, path = make(), folder / f"clip{suffix}"
    poise.save_clip(clip, path)
    found = read_files(folder) if suffix not in (".usd", ".usdc") else {"size": path.stat().st_size}
    return {**found, "again": describe(poise.load_clip(path))} if suffix in READ else found


def sliding_clip() -> Any:
    """A clip whose joints shift along their bones."""
    clip = random_clip(np.random.default_rng(4), frames=8, joints=6)
    shifts = 0.02 * np.random.default_rng(5).normal(size=(8, 6, 3))
    shifts[:, 0] = 0.0
    return clip.replace(shifts=shifts)


CLIPS: dict[str, Callable[[], Any]] = {
    "walk": lambda: make_clip("walk", human(preset="full").skeleton, 3.0, 30.0),
    "wave": lambda: make_clip("wave", human(1.2, 24.0, age=7.0).skeleton, 2.0, 60.0),
    "random": lambda: random_clip(np.random.default_rng(1)),
    "gimbal lock": locked_clip,
    "sliding": sliding_clip,
}
for _suffix in READ:
    add_case(f"file read {_suffix}", in_folder, read_seed, _suffix)
for _suffix in WRITTEN:
    for _name, _make in CLIPS.items():
        add_case(f"file written {_suffix} {_name}", in_folder, write_clip, _make, _suffix)

BVH_TWICE = BVH.replace("Frame Time: 0.025", "Frame Time: 0.0333").replace("hips", "Hips").replace("spine", "Spine1")
OPTIONS: dict[str, dict[str, Any]] = {
    "scale": {"scale": 0.02}, "up": {"up": "Z"}, "fps": {"fps": 50.0}, "height": {"height": 1.6},
    "roles": {"roles": ["spine=spine"]},
}  # fmt: skip


def read_with(folder: Path, text: str, suffix: str, **options: Any) -> Any:
    path = folder / f"clip{suffix}"
    path.write_text(text, encoding="utf-8")
    return describe(poise.load_clip(path, **options))


for _name, _options in OPTIONS.items():
    add_case(f"file read .bvh, {_name}", in_folder, read_with, BVH, ".bvh", **_options)
add_case("file read .bvh of another maker", in_folder, read_with, BVH_TWICE, ".bvh")
add_case("file read .bvh, broken", in_folder, read_with, BVH[:300], ".bvh", raises="FileError")
add_case("file read .asf, broken", in_folder, read_with, ASF[:200], ".asf", raises="FileError")


def read_markers(folder: Path, suffix: str, **options: Any) -> Any:
    """A whole walker by markers."""
    _, markers = walk_markers()
    points = 1000.0 * markers[::4][..., [2, 0, 1]]
    if suffix == ".c3d":
        groups = {"POINT": {"UNITS": ["mm"]}}
        (folder / "walk.c3d").write_bytes(make_c3d(points, list(LABELS), 25.0, groups=groups, **options))
    else:
        points[3:6, 4] = np.nan
        (folder / "walk.trc").write_text(make_trc(points[..., [1, 2, 0]], list(LABELS), 25.0))
    return describe(poise.load_clip(folder / f"walk{suffix}"))


for _order in ("intel", "dec", "mips"):
    add_case(f"file read .c3d, a walker, {_order}", in_folder, read_markers, ".c3d", order=_order)
add_case("file read .c3d, a walker, integers", in_folder, read_markers, ".c3d", integers=0.05)
add_case("file read .trc, a walker", in_folder, read_markers, ".trc")


def read_amass(folder: Path, joints: int) -> Any:
    """A body of SMPL's family."""
    rng = np.random.default_rng(2)
    np.savez(folder / "clip.npz", trans=rng.normal(size=(6, 3)), poses=0.3 * rng.normal(size=(6, 3 * joints)),
             mocap_framerate=np.array(30.0), gender=np.array("female"))  # fmt: skip
    return describe(poise.load_clip(folder / "clip.npz"))


for _joints in (22, 24, 52, 55):
    add_case(f"file read .npz of AMASS, {_joints} joints", in_folder, read_amass, _joints)


def save_body(folder: Path, **options: Any) -> Any:
    """A character in a file, and out of it."""
    poise.save_character(human(**options), folder / "body.json")
    again = poise.load_character(folder / "body.json")
    return {**read_files(folder), "masses": np.array([each.mass for each in again.inertias])}


for _preset in ("mix", "tracking", "strength", "full"):
    add_case(f"file of a character, {_preset}", in_folder, save_body, preset=_preset)


def save_skinned(folder: Path, suffix: str) -> Any:
    """A clip with a body around it, read as a character and animated again."""
    clip = make_clip("wave", human(preset="full").skeleton, 2.0, 30.0)
    meshes = find("build_mannequin")(clip.skeleton, 70.0)
    poise.save_clip(clip, folder / f"body{suffix}", meshes=meshes)
    found = read_files(folder)
    if suffix == ".glb":
        body = poise.load_character(folder / "body.glb")
        found["character"] = {"masses": np.array([each.mass for each in body.inertias]),
                              "centers": np.array([each.center for each in body.inertias]),
                              "tensors": np.array([each.inertia for each in body.inertias])}  # fmt: skip
        found["info"] = ask_info(folder / "body.glb")
    return found


add_case("file of a skinned body .glb", in_folder, save_skinned, ".glb")
add_case("file of a skinned body .usda", in_folder, save_skinned, ".usda")


@case("file of a take and of a state")
def run_take_files() -> Any:
    def write(folder: Path) -> Any:
        stage = poise.Stage()
        stand(stage).push("spine", (0.0, 0.0, 300.0), 0.2, 0.1)
        take = stage.run(0.5)
        take.save(folder / "run.take.npz")
        poise.save_state(stage.save(), folder / "run.state.npz")
        found = read_files(folder)
        again = poise.load_take(folder / "run.take.npz")
        return {
            **found,
            "take": take,
            "again": again,
            "clip": take.clip(),
            "state": poise.load_state(folder / "run.state.npz"),
        }

    return in_folder(write)


@case("file read .fbx")
def read_fbx() -> Any:
    if not os.environ.get("POISE_BPY_PYTHON"):
        raise Skip("POISE_BPY_PYTHON names no Python with bpy")
    return in_folder(read_seed, ".fbx")
