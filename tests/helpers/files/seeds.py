"""A small valid file of every format that can be read: what the contract suite and the fuzzers start from.

Formats that Poise writes are written by it. The others are made here by hand, from what their documents say.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from helpers.clips import random_clip
from helpers.files.c3d import make_c3d
from helpers.files.trc import make_trc
from helpers.marked_walker import LABELS, walk_markers
from tools.same_bits.names import find, poise

BVH = """HIERARCHY
ROOT hips
{
	OFFSET 0.0 90.0 0.0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
	JOINT spine
	{
		OFFSET 0.0 50.0 0.0
		CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
		End Site
		{
			OFFSET 0.0 20.0 0.0
		}
	}
}
MOTION
Frames: 2
Frame Time: 0.025
1.0 95.0 2.0 10.0 20.0 30.0 0 50 0 40.0 50.0 60.0
1.5 96.0 2.5 11.0 21.0 3.1e1 0 50 0 41.0 51.0 61.0
"""

ASF = """:version 1.10
:name seed
:units
  mass 1.0
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name lfemur
    direction 0.342 -0.939 0
    length 7.2
    axis 0 0 20 XYZ
    dof rx ry rz
    limits (-160.0 20.0)
           (-70.0 70.0)
           (-60.0 70.0)
  end
  begin
    id 2
    name ltibia
    direction 0.342 -0.939 0
    length 7.1
    axis 0 0 20 XYZ
    dof rx
    limits (-10.0 170.0)
  end
:hierarchy
  begin
    root lfemur
    lfemur ltibia
  end
"""

AMC = """#!OML:ASF seed
:FULLY-SPECIFIED
:DEGREES
1
root 9.3 17.8 -17.3 -2.0 -7.0 -2.1
lfemur -2.5 8.0 30.0
ltibia 14.0
2
root 9.4 17.9 -17.0 -2.1 -7.2 -2.0
lfemur -3.5 8.5 29.0
ltibia 15.0
"""


def find_format(suffix: str) -> Any:
    return next(entry for entry in find("FORMATS") if entry.suffix == suffix)


def write_seed(suffix: str, folder: Path) -> Path | None:
    """A small valid file of a format, with what it needs beside it; None where that cannot be made here."""
    path = folder / f"seed{suffix}"
    by_hand: dict[str, Callable[[Path], bool]] = {
        ".bvh": lambda p: bool(p.write_text(BVH)),
        ".asf": lambda p: bool(p.write_text(ASF)),
        ".amc": _write_amc,
        ".gltf": _write_gltf,
        ".vrm": _write_vrm,
        ".vrma": _write_vrma,
        ".txt": _write_deepmimic,
        ".c3d": _write_c3d,
        ".trc": _write_trc,
    }
    if suffix in by_hand:
        return path if by_hand[suffix](path) else None
    if find_format(suffix).save is None or (suffix == ".fbx" and not os.environ.get("POISE_BPY_PYTHON")):
        return None
    poise.save_clip(random_clip(np.random.default_rng(1), frames=5, joints=4), path)
    return path


def reason_for_none(suffix: str) -> str:
    """Why there is no seed of a format."""
    needs = {".fbx": "set POISE_BPY_PYTHON to a Python with bpy"}
    return f"no {suffix} file can be made here: {needs.get(suffix, 'tests/helpers/files/seeds.py knows no way')}"


def _write_amc(path: Path) -> bool:
    path.with_suffix(".asf").write_text(ASF)
    return bool(path.write_text(AMC))


def _split_glb(data: bytes) -> tuple[dict, bytes]:
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length]), data[28 + length :]


def _pack_glb(document: dict, binary: bytes) -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    total = 28 + len(text) + len(binary)
    parts = (b"glTF", struct.pack("<II", 2, total), struct.pack("<I", len(text)), b"JSON", text)
    return b"".join([*parts, struct.pack("<I", len(binary)), b"BIN\0", binary])


def _own_glb(folder: Path) -> tuple[dict, bytes]:
    """The document and the buffer of a GLB that Poise writes."""
    own = folder / "own.glb"
    poise.save_clip(random_clip(np.random.default_rng(1), frames=5, joints=4), own)
    document, binary = _split_glb(own.read_bytes())
    own.unlink()
    return document, binary


def _write_gltf(path: Path) -> bool:
    document, binary = _own_glb(path.parent)
    path.with_suffix(".bin").write_bytes(binary)
    document["buffers"] = [{"uri": "seed.bin", "byteLength": len(binary)}]
    return bool(path.write_text(json.dumps(document)))


def _write_vrm(path: Path) -> bool:
    document, binary = _own_glb(path.parent)
    bones = {"hips": {"node": 1}, "spine": {"node": 2}}
    document["extensionsUsed"] = ["VRMC_vrm"]
    document["extensions"] = {"VRMC_vrm": {"specVersion": "1.0", "humanoid": {"humanBones": bones}}}
    return bool(path.write_bytes(_pack_glb(document, binary)))


def _write_vrma(path: Path) -> bool:
    document, binary = _own_glb(path.parent)
    bones = {"hips": {"node": 1}, "spine": {"node": 2}}
    document["extensionsUsed"] = ["VRMC_vrm_animation"]
    document["extensions"] = {"VRMC_vrm_animation": {"specVersion": "1.0", "humanoid": {"humanBones": bones}}}
    return bool(path.write_bytes(_pack_glb(document, binary)))


def _write_deepmimic(path: Path) -> bool:
    """Duration, root position and rotation (wxyz), then the joints of its humanoid: 4 numbers a ball, 1 a hinge."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(3):
        row = [0.0333, *rng.normal(size=3), *poise.rotation.random(rng)]
        for width in (4, 4, 4, 1, 4, 4, 1, 4, 1, 4, 4, 1):  # chest neck, right hip knee ankle shoulder elbow, left
            row += [0.3] if width == 1 else list(poise.rotation.random(rng))
        rows.append([float(x) for x in row])
    return bool(path.write_text(json.dumps({"Loop": "wrap", "Frames": rows})))


def _small_walk() -> tuple[np.ndarray, list[str]]:
    """(6, 14, 3) mm, Z up: the markers of a walker's pelvis and legs, and their labels."""
    _, markers = walk_markers()
    legs = [i for i, label in enumerate(LABELS) if label[1:] in ("ASI", "PSI", "THI", "KNE", "ANK", "HEE", "TOE")]
    return 1000.0 * markers[:60:10, legs][..., [2, 0, 1]], [LABELS[i] for i in legs]


def _write_c3d(path: Path) -> bool:
    points, labels = _small_walk()
    return bool(path.write_bytes(make_c3d(points, labels, groups={"POINT": {"UNITS": ["mm"]}})))


def _write_trc(path: Path) -> bool:
    points, labels = _small_walk()
    return bool(path.write_text(make_trc(points[..., [1, 2, 0]], labels, 100.0)))
