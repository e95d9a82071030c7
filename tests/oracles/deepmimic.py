"""DeepMimic: a row of numbers a frame for the joints of a character file; the joint's axes are turned at rest."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.files.writing.independent.tree import PlainMotion, UnreadableError, move, spin, turn

_MOST_BYTES = 200_000_000
_WIDTHS = {"spherical": 4, "none": 4, "revolute": 1, "prismatic": 1, "planar": 3, "fixed": 0}


def read_deepmimic_motion(path: str | PathLike[str], joints: list[dict[str, Any]]) -> PlainMotion:
    """The motion of a file on the joints of a character file (`read_joints`), or the character's rest pose."""
    names = tuple(str(joint.get("Name", f"joint{i}")) for i, joint in enumerate(joints))
    parents = tuple(int(joint.get("Parent", -1)) for joint in joints)
    content = _load(path)
    if "Frames" not in content:
        return PlainMotion(names, parents, 1, lambda i, _: _rest(joints[i]), tuple(range(len(joints))))
    table = np.array(content["Frames"], float)
    kinds = ["none", *(joint["Type"] for joint in joints[1:])]
    starts = 4 + np.cumsum([0, *(_WIDTHS[kind] for kind in kinds)])
    if starts[-1] != table.shape[1]:
        raise UnreadableError(f"rows of {table.shape[1]} numbers are not this character's {starts[-1]}")

    def local(i: int, rows: slice) -> np.ndarray:
        values = table[rows, starts[i] : starts[i + 1]]
        place = move(table[rows, 1:4]) @ _spin_all(joints[i]) if i == 0 else _rest(joints[i])
        if kinds[i] in ("none", "spherical"):
            return np.asarray(place @ turn(*values.T))
        if kinds[i] in ("revolute", "planar"):
            return np.asarray(place @ spin("z", values[:, -1]))
        return place

    return PlainMotion(names, parents, len(table), local, tuple(range(len(joints))))


def read_joints(path: str | PathLike[str]) -> list[dict[str, Any]]:
    """The joints of a character file, as they stand there."""
    joints: list[dict[str, Any]] = _load(path)["Skeleton"]["Joints"]
    return joints


def _load(path: str | PathLike[str]) -> dict[str, Any]:
    if Path(path).stat().st_size > _MOST_BYTES:
        raise UnreadableError("it is too large")
    content: dict[str, Any] = json.loads(Path(path).read_bytes().decode("utf-8-sig"))
    return content


def _spin_all(joint: dict[str, Any]) -> np.ndarray:
    """(1, 4, 4) the joint's axes at rest: about fixed X, then Y, then Z."""
    x, y, z = (float(joint.get(f"AttachTheta{axis}", 0.0)) for axis in "XYZ")
    return np.asarray(spin("z", z) @ spin("y", y) @ spin("x", x))


def _rest(joint: dict[str, Any]) -> np.ndarray:
    place = np.array([float(joint.get(f"Attach{axis}", 0.0)) for axis in "XYZ"])
    return np.asarray(move(place) @ _spin_all(joint))
