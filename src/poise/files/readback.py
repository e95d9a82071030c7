"""Where the joints are in a file that Poise has written, read from its bytes: reported figures are of what was written.

By the plain code of `files/plain`, which shares nothing with the writers and the readers, whose mistakes it is there to
see; USD is asked from UsdSkel itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import FileError
from poise.files.formats import find_format, read_recording
from poise.files.plain.bvh import read_bvh_motions
from poise.files.plain.gltf import list_key_times, read_gltf_motion
from poise.files.plain.gltf_file import read_gltf_file
from poise.files.plain.npz import read_npz_motion
from poise.files.plain.source import BROKEN, match_names, read_source_motion
from poise.files.plain.tree import PlainMotion, UnreadableError


def read_positions(path: Path, skeleton: Skeleton, tree: int = 0, kept: bool = False) -> np.ndarray | None:
    """World positions (F, J, 3) of the joints in a written file, in the order of the skeleton that was written.

    In metres where Poise chose the unit, in the file's own where it was kept. None where the format cannot be read.
    tree  which skeleton, in a BVH file that has several
    kept  whether the file is somebody's own with a motion written into it: any of its nodes may be a joint
    """
    if path.suffix.lower().startswith(".usd"):
        from poise.files.usd import read_usd_positions

        places = read_usd_positions(path)
        if places.shape[1] < len(skeleton):
            raise FileError(path, f"{len(skeleton)} joints were written, {places.shape[1]} are there.")
        return places[:, : len(skeleton)]
    entry = find_format(path)
    if entry is None or entry.read is None:
        return None
    if callable(entry.read):  # somebody else's, of which there is no plain code: by its own reader
        found = read_recording(path).clip
        order = find_order(path, skeleton, found.skeleton.names, found.skeleton.parents.tolist())
        return found.positions[:, order]
    try:
        motion = _read_motion(path, tree, kept)
        joints = range(len(motion.names)) if kept else motion.wanted
        order = find_order(path, skeleton, [motion.names[i] for i in joints], motion.parents)
        with np.errstate(all="ignore"):
            places = motion.places([joints[i] for i in order])
    except FileError:
        raise
    except (UnreadableError, *BROKEN) as error:
        raise FileError(path, f"what was written cannot be read again: {str(error).rstrip('.')}.") from error
    if not np.isfinite(places).all():
        raise FileError(path, "what was written has places beyond all bounds.")
    return places


def _read_motion(path: Path, tree: int, kept: bool) -> PlainMotion:
    suffix = path.suffix.lower()
    if suffix == ".bvh":
        return read_bvh_motions(path, as_written=not kept)[tree]
    if suffix in (".glb", ".vrm"):
        file = read_gltf_file(path)
        times = list_key_times(file, 0)  # the new motion is the first; a character's own file may have more
        return read_gltf_motion(file, 0, times - times[0])
    if suffix == ".npz":
        return read_npz_motion(path)
    return read_source_motion(read_recording(path))  # FBX, as Blender reads it


def find_order(path: Path, wanted: Skeleton, names: Sequence[str], parents: Sequence[int]) -> list[int]:
    """Which of a file's joints each one is: by name, or where names were changed by BVH's order, depth first."""
    back = {own: there for there, own in match_names(names, wanted.names).items()}
    if len(back) == len(wanted):
        return [back[i] for i in range(len(wanted))]
    if not len(names) == len(parents) == len(wanted):
        missing = ", ".join(sorted(name for i, name in enumerate(wanted.names) if i not in back)[:5])
        raise FileError(path, f"joints were written that are not there: {missing}.")
    order: list[int] = [0] * len(wanted)
    for there, own in zip(_depth_first(parents), _depth_first(wanted.parents.tolist()), strict=True):
        order[own] = there
    return order


def _depth_first(parents: Sequence[int]) -> list[int]:
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(parents):
        children.setdefault(int(parent), []).append(i)
    order, waiting = [], children.get(-1, [])[::-1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += reversed(children.get(joint, []))
    return order
