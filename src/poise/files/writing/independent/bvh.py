"""BVH: offsets and channels, as Blender's importer takes them.

A position channel replaces the OFFSET of its axis, and rotations multiply in the order of the channels. Some programs
write displacements from the OFFSET instead, and nothing in a file says so; but an OFFSET is where a joint rests. So
channels are added to it only where that leaves both the joint itself and the bones of the body nearer to their OFFSETs.
Joints down to the first that branches are no bones: they carry the travel, and say nothing of it
(docs/decisions/0011-a-second-opinion-on-every-file.md).
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np

from poise.files.writing.independent.tree import PlainMotion, UnreadableError, move, spin

_MOST_BYTES = 1_000_000_000
_WORD = re.compile(
    r"(?i)\b(?P<kind>ROOT|JOINT)\s+(?P<name>[^\n{]*?)\s*\{|(?P<end>\bEND\b[^\n{]*?\s*\{)|(?P<close>\})"
    r"|\bOFFSET\s+(?P<offset>\S+\s+\S+\s+[^\s{}]+)|\bCHANNELS\s+(?P<count>\d+)(?P<channels>(?:\s+[XYZxyz][a-zA-Z]+)*)"
)


@dataclass
class _Joint:
    name: str
    parent: int
    offset: np.ndarray = field(default_factory=lambda: np.zeros(3))
    channels: list[str] = field(default_factory=list)  # "xp" ... "zr"
    column: int = 0


def read_bvh_motions(path: str | PathLike[str], as_written: bool = False) -> list[PlainMotion]:
    """The skeletons of a file, one a ROOT. as_written: Poise's own, whose position channels all replace the OFFSET."""
    if Path(path).stat().st_size > _MOST_BYTES:
        raise UnreadableError("it is too large")
    text = _read_text(Path(path).read_bytes())
    motion = re.search(r"(?im)^[ \t}]*MOTION\b", text)
    found = re.compile(r"(?i)Frame\s*Time\s*:[^\n]*").search(text, motion.end() if motion else 0)
    if motion is None or found is None:
        raise UnreadableError("it has no MOTION")
    joints = _read_joints(text[: motion.end()])
    columns = sum(len(joint.channels) for joint in joints)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # words that are no numbers
        numbers = np.fromstring(text[found.end() :], sep=" ")
    if columns == 0 or len(numbers) == 0 or len(numbers) % columns:
        raise UnreadableError(f"{len(numbers)} numbers do not fill rows of {columns}")
    table = numbers.reshape(-1, columns)
    roots = [i for i, joint in enumerate(joints) if joint.parent < 0]
    ends = [*roots[1:], len(joints)]
    return [_build(joints[a:b], a, table, as_written) for a, b in zip(roots, ends, strict=True)]


def _read_text(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = data.decode("utf-16")
    else:
        data = data[3:] if data[:3] == b"\xef\xbb\xbf" else data
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    text = text.replace("\0", " ")
    return text if "\n" in text else text.replace("\r", "\n")


def _read_joints(text: str) -> list[_Joint]:
    joints: list[_Joint] = []
    inside: list[int | None] = []  # the joint of each open brace, None for an End Site
    column = 0
    for word in _WORD.finditer(text):
        if word["kind"]:
            carrier = next((each for each in reversed(inside) if each is not None), -1)
            inside.append(len(joints))
            joints.append(_Joint(" ".join(word["name"].split()), carrier))
        elif word["end"]:
            inside.append(None)
        elif word["close"]:
            inside.pop()
        elif word["offset"]:
            if inside[-1] is not None:
                joints[inside[-1]].offset = np.array([float(x) for x in word["offset"].split()])
        elif inside[-1] is not None:
            names = word["channels"].split()[: int(word["count"])]
            joints[inside[-1]].channels = [name[0].lower() + name[1].lower() for name in names]
            joints[inside[-1]].column = column
            column += len(names)
    return joints


def _build(joints: list[_Joint], first: int, table: np.ndarray, as_written: bool) -> PlainMotion:
    displaced = set() if as_written else _find_displaced(joints, first, table)

    def local(i: int, rows: slice) -> np.ndarray:
        joint, values = joints[i], table[rows]
        place = np.tile(joint.offset, (len(values), 1))
        turn = move(np.zeros(3))
        for k, channel in enumerate(joint.channels):
            column, axis = values[:, joint.column + k], "xyz".index(channel[0])
            if channel[1] == "r":
                turn = turn @ spin(channel[0], np.radians(column))
            elif i in displaced:
                place[:, axis] += column
            else:
                place[:, axis] = column
        return np.asarray(move(place) @ turn)

    names = tuple(joint.name for joint in joints)
    parents = tuple(joint.parent - first if joint.parent >= 0 else -1 for joint in joints)
    return PlainMotion(names, parents, len(table), local, tuple(range(len(joints))))


def _find_displaced(joints: list[_Joint], first: int, table: np.ndarray) -> set[int]:
    """The joints whose position channels are added to their OFFSETs; the bones decide for the skeleton."""
    nearer: dict[int, float] = {}  # by how much a joint is nearer to its OFFSET, half of the time, if they are added
    for i, joint in enumerate(joints):
        moved = [(k, "xyz".index(c[0])) for k, c in enumerate(joint.channels) if c[1] == "p"]
        if moved:
            values = table[:, [joint.column + k for k, _ in moved]]
            rest = joint.offset[[axis for _, axis in moved]]
            replaced = np.median(np.sqrt(((values - rest) ** 2).sum(axis=1)))
            nearer[i] = float(replaced - np.median(np.sqrt((values**2).sum(axis=1))))
    carriers = [joint.parent - first for joint in joints[1:]]
    branch = 0
    while carriers.count(branch) == 1:
        branch += 1  # an only child follows its parent
    branch = branch if branch in carriers else 0  # a chain that never branches is all bones
    if sum(gain for i, gain in nearer.items() if i > branch) <= 0.0:
        return set()
    return {i for i, gain in nearer.items() if gain > 0.0}
