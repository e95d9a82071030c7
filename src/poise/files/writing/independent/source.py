"""The plain motion behind a recording, and which of its joints each joint of the recording claims to be."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from poise.files.reading.recording import Recording
from poise.files.writing.independent.bvh import read_bvh_motions
from poise.files.writing.independent.gltf import GltfFile, read_gltf_file, read_gltf_motion
from poise.files.writing.independent.npz import read_npz_motion
from poise.files.writing.independent.tree import PlainMotion, UnreadableError

# What plain code runs into on a file that it was not made for.
BROKEN = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError, RecursionError, MemoryError,
    StopIteration, EOFError, Warning, struct.error, zipfile.BadZipFile,
)  # fmt: skip
_NUMBERED = re.compile(r"(.*)[._]([0-9]{1,9})", re.DOTALL)


def read_source_motion(recording: Recording) -> PlainMotion:
    """The motion of the file that was read, with as many frames. Raises UnreadableError where that cannot be told.

    Formats that Poise only reads have their second readers in `tests/oracles/second_readers.py`.
    """
    try:
        motion = _read(recording)
    except BROKEN as error:
        raise UnreadableError(f"{type(error).__name__}: {error}") from error
    if motion.frames != len(recording.clip):
        raise UnreadableError(f"it has {motion.frames} frames, and {len(recording.clip)} were read")
    return motion


def _read(recording: Recording) -> PlainMotion:
    path, clip = recording.path, recording.clip
    suffix = Path(path).suffix.lower()
    choice = recording.choices.index(clip.name) if clip.name in recording.choices else None
    if suffix == ".bvh":
        return read_bvh_motions(path)[choice or 0]
    if suffix in (".glb", ".gltf", ".vrm", ".vrma"):
        file = read_gltf_file(path)
        animation = choice if file.json.get("animations") else None
        return read_gltf_motion(file, animation, clip.times, clip.skeleton.names)
    if suffix == ".fbx":  # Blender's GLB, whose bytes the recording still has; its clock is another
        document = recording.source.document
        file = GltfFile(document.top.plain, document.binary or b"")
        return read_gltf_motion(file, choice, _reclock(file, choice, clip.times), clip.skeleton.names)
    if suffix == ".npz" and recording.format == "npz":
        return read_npz_motion(path)
    if suffix in (".c3d", ".trc"):
        raise UnreadableError(f"{recording.format} has no joints of its own")
    raise UnreadableError(f"Poise has no second reader of {recording.format}")


def _reclock(file: GltfFile, animation: int | None, times: np.ndarray) -> np.ndarray:
    """Times of a clip on the clock of an animation that lasts as long as it."""
    if animation is None or len(times) < 2:
        return times
    samplers = file.json["animations"][animation]["samplers"]
    keys = np.concatenate([file.numbers(int(sampler["input"]))[:, 0] for sampler in samplers])
    return times * ((keys.max() - keys.min()) / times[-1])


def match_names(plain: Sequence[str], read: Sequence[str]) -> dict[int, int]:
    """Index of a plain joint -> index of the joint that was read under its name.

    Readers give numbers to names that come again: `Hand_2` or `Hand.2` is the second that the file calls `Hand`.
    """
    alike: dict[str, list[int]] = {}
    for i, name in enumerate(plain):
        alike.setdefault(name, []).append(i)
    matched: dict[int, int] = {}
    for j, name in enumerate(read):
        found = _NUMBERED.fullmatch(name)
        if name in alike:
            matched.setdefault(alike[name][0], j)
        elif found is not None and found[1] in alike:
            several = alike[found[1]]
            matched.setdefault(several[min(int(found[2]), len(several)) - 1], j)
    return matched
