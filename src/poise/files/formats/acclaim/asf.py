"""ASF in: the skeleton that Acclaim motion files (AMC) move.

Source: Acclaim Skeleton File Definition V1.10 (M. Schafer, 1995), and Oxford Metrics' "Acclaim format: ASF line
details", which says how its numbers are meant.

A *bone* of an ASF has a direction and a length and turns about the point where it *starts*. A joint here therefore has
the name of the bone that starts there, and its offset is the vector of the bone that ends there:

    root --lhipjoint--> . --lfemur--> . --ltibia--> .          bones
    root, lhipjoint (at the root), lfemur, ltibia, ...         joints, in place

so that joints at the start of the first bones lie on the root, and the last bone of a limb becomes its end site.

Directions are given in the axes of the whole skeleton at rest, so at rest all joint frames are the file's axes. A
bone's angles, though, are about axes of its own, C, given as angles about fixed axes in the order that `axis` names:

    C = Rz Ry Rx for `XYZ`,    M = Rz(c) Ry(b) Rx(a) for `dof rx ry rz`,    the joint's rotation = C M C^-1

`length` under `:units` is how many of the file's units an inch has (0.45 in the CMU database; 2.54 for centimetres).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import FileError
from poise.files.input import find_choice, read_text, shorten, stem_of
from poise.files.reading.recording import Recording
from poise.findings import Finding
from poise.motion.clip import Clip
from poise.spatial import rotation

Vector = tuple[float, float, float]
_INCH = 0.0254
_MOST_BONES = 10_000
_MOST_BYTES = 50_000_000  # ten times what so many bones take
_LARGEST_VALUE = 1e9
_FREEDOMS = ("rx", "ry", "rz", "tx", "ty", "tz", "l")
_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
_SECTIONS = ("version", "name", "units", "documentation", "root", "bonedata", "hierarchy", "skin")


@dataclass(frozen=True)
class AsfBone:
    """One bone as declared.

    vector      direction times length, in the file's units and the skeleton's axes at rest
    axis        angles of the bone's own axes, radians, about X, Y and Z
    axis_order  in which those turn, the first one first
    freedoms    of "rx" ... "tz", "l", in the order in which an AMC gives their values
    """

    name: str
    vector: Vector = (0.0, 0.0, 0.0)
    axis: Vector = (0.0, 0.0, 0.0)
    axis_order: str = "XYZ"
    freedoms: tuple[str, ...] = ()

    @property
    def axes(self) -> np.ndarray:
        """(4,) C: from the bone's own axes to the skeleton's."""
        angles = np.array([self.axis["XYZ".index(letter)] for letter in self.axis_order])
        return turn_about_fixed_axes(angles, self.axis_order)


@dataclass(frozen=True)
class AsfFile:
    """An ASF file as it stands.

    unit       metres a unit where `:units` says more than 1.0, else None
    degrees    whether angles are in degrees
    root       the root as a bone: `vector` is its preset position, `axis` its preset orientation
    bones      parents before children
    parents    index of each bone's parent in `bones`, -1 for the root
    findings   what was odd but could be read
    """

    path: str
    unit: float | None
    degrees: bool
    root: AsfBone
    bones: tuple[AsfBone, ...]
    parents: tuple[int, ...]
    findings: tuple[Finding, ...] = ()

    def build_skeleton(self) -> Skeleton:
        """The joints: the root's, and one at the start of every bone."""
        vectors = np.array([bone.vector for bone in self.bones]).reshape(-1, 3)
        parents = np.array(self.parents, int)
        starts = np.where(parents[:, None] < 0, 0.0, vectors[parents]) if len(parents) else vectors
        leaf = ~np.isin(np.arange(len(self.bones)), parents)
        return Skeleton(
            ("root", *(bone.name for bone in self.bones)),
            np.array([-1, *(parents + 1)]),
            np.concatenate([[self.root.vector], starts]),
            np.concatenate([np.full((1, 3), np.nan), np.where(leaf[:, None], vectors, np.nan)]),
        )


def turn_about_fixed_axes(angles: np.ndarray, axes: str) -> np.ndarray:
    """The rotation (..., 4) by angles (..., n) in radians about fixed axes, the first of `axes` first."""
    return rotation.from_euler(angles[..., ::-1], axes[::-1])


def read_asf(path: str | PathLike[str], clip: str | None = None) -> Recording:
    """The skeleton of an ASF file in its zero pose: a clip of one frame, named after the file."""
    file = read_asf_tables(path)
    name = stem_of(path)
    find_choice(clip, [name], path)
    skeleton = file.build_skeleton()
    turns = rotation.identity((1, len(skeleton)))
    turns[0, 0] = file.root.axes  # the root's preset orientation, as in every motion
    motion = Clip(skeleton, np.zeros(1), skeleton.offsets[:1], turns, name)
    return Recording(motion, "ASF", str(path), (name,), file.unit, has_rate=False, source=file, findings=file.findings)


def read_asf_tables(path: str | PathLike[str]) -> AsfFile:
    """Read an ASF file. Raises FileError, with the line, on anything that is not one."""
    return _AsfReader(path).read(read_text(path, _MOST_BYTES))


@dataclass(frozen=True)
class _Line:
    number: int
    words: tuple[str, ...]


class _AsfReader:
    """The sections of an ASF file, line by line."""

    def __init__(self, path: str | PathLike[str]):
        self.path = path
        self.length = 1.0
        self.degrees = True
        self.root: dict[str, _Line] = {}
        self.bones: dict[str, AsfBone] = {}
        self.children: dict[str, list[str]] = {}
        self.findings: list[Finding] = []

    def read(self, text: str) -> AsfFile:
        lines = _split_sections(text)
        first = next(lines, None)
        if first is None or not first.words[0].startswith(":"):
            begin = shorten(first.words[0]) if first else ""
            raise FileError(self.path, f"not an ASF file: it begins with '{begin}', an ASF with ':version'.", 1)
        section, start = first.words[0], first
        block: list[_Line] = []
        for line in lines:
            if line.words[0].startswith(":"):
                self._read_section(section, start, block)
                section, block, start = line.words[0], [], line
            else:
                block.append(line)
        self._read_section(section, start, block)
        return self._finish()

    def _error(self, message: str, line: _Line | None = None) -> FileError:
        return FileError(self.path, message, line.number if line else None)

    def _read_section(self, section: str, start: _Line, lines: list[_Line]) -> None:
        match section[1:].lower():
            case "units":
                self._read_units(lines)
            case "root":
                self.root = {line.words[0].lower(): line for line in lines}
            case "bonedata":
                self._read_bones(lines)
            case "hierarchy":
                self._read_hierarchy(lines)
            case name if name not in _SECTIONS:
                message = f"'{shorten(section)}' (line {start.number}) is not known; it was skipped."
                self.findings.append(Finding("section", message))

    def _read_units(self, lines: list[_Line]) -> None:
        for line in lines:
            match line.words[0].lower():
                case "length":
                    (self.length,) = self._numbers(line, line.words[1:], 1)
                    if not 1e-6 <= self.length <= 1e6:
                        raise self._error(f"length {self.length:g} is not a unit; 0.45 or 1.0 are usual.", line)
                case "angle":
                    word = line.words[1].lower() if len(line.words) > 1 else ""
                    if word[:3] not in ("deg", "rad"):
                        raise self._error(f"angle '{shorten(word)}' is not known; allowed: deg, rad.", line)
                    self.degrees = word.startswith("deg")

    def _read_bones(self, lines: list[_Line]) -> None:
        block: list[_Line] | None = None
        for line in lines:
            match line.words[0].lower():
                case "begin":
                    block = []
                case "end" if block is not None:
                    self._add_bone(block, line)
                    block = None
                case _ if block is not None:
                    block.append(line)
                case word:
                    raise self._error(f"'{shorten(word)}' stands outside a bone; 'begin' opens one.", line)
        if block is not None:
            raise self._error("the last bone has no 'end'. The file is cut off.", lines[-1])

    def _add_bone(self, lines: list[_Line], end: _Line) -> None:
        fields = {line.words[0].lower(): line for line in lines}
        if "name" not in fields or len(fields["name"].words) < 2:
            raise self._error("a bone has no name.", end)
        name = " ".join(fields["name"].words[1:])
        if name in self.bones or name == "root":
            raise self._error(f"a second bone is called '{shorten(name)}'; names must differ.", fields["name"])
        if len(self.bones) == _MOST_BONES:
            raise self._error(f"there are more than {_MOST_BONES} bones. The file is not a skeleton of a body.", end)
        freedoms = self._read_freedoms(fields["dof"]) if "dof" in fields else ()
        axis, order = self._read_axis(fields["axis"]) if "axis" in fields else ((0.0, 0.0, 0.0), "XYZ")
        vector = self._read_vector(fields, name, end)
        self.bones[name] = AsfBone(name, vector, axis, order, freedoms)

    def _read_vector(self, fields: dict[str, _Line], name: str, end: _Line) -> Vector:
        """direction, made a unit vector, times length."""
        for word in ("direction", "length"):
            if word not in fields:
                raise self._error(f"bone '{shorten(name)}' has no {word}.", end)
        direction = self._numbers(fields["direction"], fields["direction"].words[1:], 3)
        (length,) = self._numbers(fields["length"], fields["length"].words[1:], 1)
        norm = math.hypot(*direction)
        if norm == 0.0 and length != 0.0:
            raise self._error(f"bone '{shorten(name)}' has a length but no direction.", fields["direction"])
        x, y, z = (length * d / (norm or 1.0) for d in direction)
        return x, y, z

    def _read_axis(self, line: _Line) -> tuple[Vector, str]:
        x, y, z = self._numbers(line, line.words[1:4], 3)
        order = line.words[4].upper() if len(line.words) > 4 else "XYZ"
        if order not in _ORDERS:
            raise self._error(f"axis order '{shorten(order)}' is not known; allowed: {', '.join(_ORDERS)}.", line)
        return (x, y, z), order

    def _read_freedoms(self, line: _Line) -> tuple[str, ...]:
        words = tuple(word.lower() for word in line.words[1:])
        for word in words:
            if word not in _FREEDOMS:
                raise self._error(f"dof '{shorten(word)}' is not known; allowed: {', '.join(_FREEDOMS)}.", line)
        if len(set(words)) != len(words):
            raise self._error("dof lists one freedom twice.", line)
        return words

    def _read_hierarchy(self, lines: list[_Line]) -> None:
        for line in lines:
            if line.words[0].lower() in ("begin", "end"):
                continue
            parent, *children = line.words
            for name in (parent, *children):
                if name != "root" and name not in self.bones:
                    known = ", ".join(list(self.bones)[:8])
                    raise self._error(f"bone '{shorten(name)}' is not in :bonedata, which has {known}, ...", line)
            self.children.setdefault(parent, []).extend(children)

    def _finish(self) -> AsfFile:
        if not self.bones:
            raise self._error("there is no :bonedata with bones in it. The file is cut off or not an ASF.")
        if not self.children.get("root"):
            raise self._error("the :hierarchy gives 'root' no children. The file is cut off or not an ASF.")
        names, parents = self._order_bones()
        bones = tuple(self._to_radians(self.bones[name]) for name in names)
        lost = [name for name in self.bones if name not in names]
        if lost:
            message = f"those not in the hierarchy were left out: {shorten(', '.join(lost), 200)}."
            self.findings.append(Finding("bones", message, tuple(lost)))
        unit = None if self.length == 1.0 else _INCH / self.length
        root = self._to_radians(self._read_root())
        return AsfFile(str(self.path), unit, self.degrees, root, bones, parents, tuple(self.findings))

    def _order_bones(self) -> tuple[list[str], tuple[int, ...]]:
        """Names in depth-first order and each one's parent. A bone that is met twice has two parents, or a loop."""
        names: list[str] = []
        parents: list[int] = []
        seen = {"root"}
        stack = [(child, -1) for child in reversed(self.children["root"])]
        while stack:
            name, parent = stack.pop()
            if name in seen:
                raise self._error(f"the :hierarchy lists '{shorten(name)}' under more than one bone.")
            seen.add(name)
            stack += [(child, len(names)) for child in reversed(self.children.get(name, []))]
            names.append(name)
            parents.append(parent)
        return names, tuple(parents)

    def _read_root(self) -> AsfBone:
        zero: Vector = (0.0, 0.0, 0.0)
        order = self._read_freedoms(self.root["order"]) if "order" in self.root else _FREEDOMS[3:6] + _FREEDOMS[:3]
        vectors = {}
        for field in ("position", "orientation"):
            line = self.root.get(field)
            vectors[field] = zero if line is None else self._numbers(line, line.words[1:4], 3)
        words = self.root["axis"].words if "axis" in self.root else ()
        axis = words[1].upper() if len(words) > 1 else "XYZ"
        if axis not in _ORDERS:
            raise self._error(f"axis order '{shorten(axis)}' is not known; allowed: {', '.join(_ORDERS)}.")
        x, y, z = vectors["position"]
        a, b, c = vectors["orientation"]
        return AsfBone("root", (x, y, z), (a, b, c), axis, order)

    def _to_radians(self, bone: AsfBone) -> AsfBone:
        factor = math.pi / 180.0 if self.degrees else 1.0
        x, y, z = (factor * angle for angle in bone.axis)
        return AsfBone(bone.name, bone.vector, (x, y, z), bone.axis_order, bone.freedoms)

    def _numbers(self, line: _Line, words: tuple[str, ...], count: int) -> tuple[float, ...]:
        if len(words) < count or not all(_is_number(word) for word in words[:count]):
            what = f"{count} numbers" if count > 1 else "a number"
            given = shorten(" ".join(words))
            raise self._error(f"'{shorten(line.words[0])}' needs {what}; '{given}' given.", line)
        values = tuple(float(word) for word in words[:count])
        if not all(abs(value) <= _LARGEST_VALUE for value in values):
            raise self._error(f"'{shorten(line.words[0])}' is {values}, which no body has.", line)
        return values


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word


def _split_sections(text: str) -> Iterator[_Line]:
    """The lines that say something: without comments, with commas and parentheses as blanks."""
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].translate(str.maketrans(",()", "   ")).split()
        if words:
            yield _Line(number, tuple(words))
