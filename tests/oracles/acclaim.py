"""ASF and AMC: a bone turns about its start, M about axes of its own C; its children start at its end.

T(start) C M C^-1, with start the vector of the bone before it   [Acclaim Skeleton File Definition V1.10]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np

from poise.files.writing.independent.tree import PlainMotion, UnreadableError, blank, move, spin

_MOST_BYTES = 2_000_000_000


@dataclass
class _Bone:
    name: str
    vector: np.ndarray = field(default_factory=lambda: np.zeros(3))
    axes: np.ndarray = field(default_factory=blank)
    freedoms: list[str] = field(default_factory=list)
    parent: str | None = None


def read_acclaim_motion(asf: str | PathLike[str], amc: str | PathLike[str] | None = None) -> PlainMotion:
    """A skeleton in the motion of an AMC file, or in its zero pose."""
    bones, degrees = _read_asf(_read_lines(asf))
    rows: list[dict[str, list[float]]] = [{}]
    if amc is not None:
        lines = _read_lines(amc)
        words = {line[0].lower() for line in lines if line[0].startswith(":")}
        degrees = True if ":degrees" in words else False if ":radians" in words else degrees
        rows = _read_amc(lines)
    names = [name for name, bone in bones.items() if bone.parent is not None or name == "root"]
    tables = {name: _fill(rows, name, len(bones[name].freedoms)) for name in names}
    if any("l" in bones[name].freedoms and tables[name] is not None for name in names):
        raise UnreadableError("its bones change their lengths, which is defined nowhere")

    def local(i: int, part: slice) -> np.ndarray:
        bone = bones[names[i]]
        values = tables[names[i]]
        start = bone.vector if bone.parent is None else bones[bone.parent].vector
        if bone.parent in (None, "root"):
            start = start if bone.parent is None else np.zeros(3)
        if values is None:
            return np.asarray(move(start) @ (bone.axes if bone.parent is None else blank()))
        motion = _turn(bone.freedoms, values[part], degrees)
        if bone.parent is None:
            return np.asarray(move(start) @ motion @ bone.axes)
        return np.asarray(move(start) @ bone.axes @ motion @ np.linalg.inv(bone.axes))

    parents = tuple(-1 if (p := bones[name].parent) is None else names.index(p) for name in names)
    return PlainMotion(tuple(names), parents, len(rows), local, tuple(range(len(names))))


def _read_lines(path: str | PathLike[str]) -> list[list[str]]:
    """The words of each line that says something."""
    if Path(path).stat().st_size > _MOST_BYTES:
        raise UnreadableError("it is too large")
    data = Path(path).read_bytes()
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    plain = (line.partition("#")[0].replace(",", " ").replace("(", " ").replace(")", " ") for line in lines)
    return [words for line in plain if (words := line.split())]


def _read_asf(lines: list[list[str]]) -> tuple[dict[str, _Bone], bool]:
    bones = {"root": _Bone("root", freedoms=["tx", "ty", "tz", "rx", "ry", "rz"])}
    section, degrees = "", True
    fields: dict[str, list[str]] = {}
    root: dict[str, list[str]] = {}
    tree: list[list[str]] = []
    found: list[dict[str, list[str]]] = []
    for key, *words in lines:
        if key.startswith(":"):
            section = key[1:].lower()
        elif section == "units" and key.lower() == "angle":
            degrees = words[0].lower().startswith("deg")
        elif section == "root":
            root[key.lower()] = words
        elif section == "bonedata" and key.lower() == "begin":
            fields = {}
        elif section == "bonedata" and key.lower() == "end":
            found.append(fields)
        elif section == "bonedata":
            fields[key.lower()] = words
        elif section == "hierarchy" and key.lower() not in ("begin", "end"):
            tree.append([key, *words])
    for fields in found:
        bone = _Bone(" ".join(fields["name"]), freedoms=[word.lower() for word in fields.get("dof", [])])
        direction = np.array([float(x) for x in fields["direction"][:3]])
        size = float(np.sqrt((direction**2).sum())) or 1.0
        bone.vector = float(fields["length"][0]) * direction / size
        bone.axes = _read_axes(fields.get("axis", []), degrees)
        bones[bone.name] = bone
    top = bones["root"]
    top.vector = np.array([float(x) for x in root.get("position", ["0", "0", "0"])[:3]])
    top.axes = _read_axes([*root.get("orientation", ["0", "0", "0"])[:3], *root.get("axis", ["XYZ"])], degrees)
    if "order" in root:
        top.freedoms = [word.lower() for word in root["order"]]
    for parent, *children in tree:
        for child in children:
            bones[child].parent = parent
    return _keep_reached(bones), degrees


def _keep_reached(bones: dict[str, _Bone]) -> dict[str, _Bone]:
    """The bones that hang on the root."""

    def is_reached(bone: _Bone) -> bool:
        for _ in bones:
            if bone.name == "root":
                return True
            if bone.parent is None:
                return False
            bone = bones[bone.parent]
        return False

    return {name: bone for name, bone in bones.items() if is_reached(bone)}


def _read_axes(words: list[str], degrees: bool) -> np.ndarray:
    """(1, 4, 4) of `axis a b c ORDER`: turned about fixed axes, the first of the order first."""
    matrix = blank()
    angles = dict(zip("XYZ", (float(word) for word in words[:3]), strict=False))
    for letter in words[3].upper() if len(words) > 3 else "XYZ":
        matrix = spin(letter, np.radians(angles.get(letter, 0.0)) if degrees else angles.get(letter, 0.0)) @ matrix
    return matrix


def _read_amc(lines: list[list[str]]) -> list[dict[str, list[float]]]:
    rows: list[dict[str, list[float]]] = []
    for name, *words in lines:
        if name.startswith(":"):
            continue
        if not words and name.isdecimal():
            rows.append({})
        else:
            rows[-1][name] = [float(word) for word in words]
    return rows


def _fill(rows: list[dict[str, list[float]]], name: str, width: int) -> np.ndarray | None:
    """(F, width) a bone's values, held where a frame has none; None where no frame has any."""
    if not any(name in row for row in rows):
        return None
    last, table = [0.0] * width, []
    for row in rows:
        last = row.get(name, last)
        table.append(last)
    return np.array(table).reshape(len(rows), width)


def _turn(freedoms: list[str], values: np.ndarray, degrees: bool) -> np.ndarray:
    """(F, 4, 4) M: turned about fixed axes, the first first, and moved."""
    matrix = blank()
    for k, freedom in enumerate(freedoms):
        if freedom[0] == "r":
            matrix = spin(freedom[1], np.radians(values[:, k]) if degrees else values[:, k]) @ matrix
    for k, freedom in enumerate(freedoms):
        if freedom[0] == "t":
            shift = np.zeros((len(values), 3))
            shift[:, "xyz".index(freedom[1])] = values[:, k]
            matrix = move(shift) @ matrix
    return matrix
