"""Characters as one readable JSON file.

    {"format": "poise-character", "version": 1,
     "name": ..., "height": m, "sex": ..., "age": years, "table": ...,
     "joints":   [{"name", "parent" (null for the root), "offset" [3] m, "tip" [3] m (optional), "role" (optional)}],
     "segments": [{"name", "joint", "mass" kg, "center" [3] m, "inertia" [xx, yy, zz, xy, xz, yz] kg m2}],
     "limits":   [{"joint", "lower" [3] rad, "upper" [3] rad, "parent_zero" [4] wxyz, "child_zero" [4] wxyz}],
     "freedoms": [{"joint", "axes" [[3], ...]}]}

Frames and units are those of `Character`. Numbers are written with all their digits, so a file gives back exactly what
was saved. The mass is the sum of the segments'. Keys that are not listed are refused: a misspelt one would otherwise be
ignored in silence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from poise.body.character import Character, Segment
from poise.body.joints import JointLimits
from poise.body.roles import ROLES
from poise.body.skeleton import Skeleton
from poise.errors import FileError, InputError, finite_number, unknown_name, valid_text
from poise.files.input import read_bytes
from poise.files.output import write_bytes
from poise.kinds import checked
from poise.spatial.inertia import RigidInertia

FORMAT = "poise-character"
VERSION = 1
MAX_BYTES = 16 * 1024 * 1024
MAX_JOINTS = 4096
MAX_TEXT = 1_000_000
_SIX = (np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2]))
_T = TypeVar("_T")


@checked
def save_character(character: Character, path: str | PathLike[str]) -> None:
    """Write a character as JSON, for `load_character` and `--character`. The file appears whole or not at all."""
    if Path(path).suffix.lower() != ".json":
        raise FileError(path, f"a character is written as .json; '{Path(path).suffix}' was given.")
    write_bytes(path, format_character(character).encode())


def format_character(character: Character) -> str:
    """A character as JSON text."""
    return _dump(_to_plain(character)) + "\n"


def load_character(path: str | PathLike[str]) -> Character:
    """Read a character from JSON; everything is checked."""
    data = read_bytes(path, MAX_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not UTF-8 text (byte {error.start}).") from error
    return parse_character(text, path)


def parse_character(text: str, what: str | PathLike[str]) -> Character:
    """A character from JSON text; everything is checked.

    what  where the text is from: errors begin with it
    """
    if len(text) > MAX_BYTES:
        raise FileError(what, f"is larger than {MAX_BYTES // 2**20} MB, which no character needs.")
    try:
        plain = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_doubles)
    except json.JSONDecodeError as error:
        raise FileError(what, f"is not valid JSON: {error.msg} (column {error.colno}).", error.lineno) from error
    except RecursionError as error:
        raise FileError(what, "is nested too deeply to be a character.") from error
    except InputError as error:
        raise FileError(what, str(error)) from error
    try:
        return _from_plain(plain)
    except InputError as error:
        raise FileError(what, str(error)) from error


def _to_plain(character: Character) -> dict[str, Any]:
    skeleton = character.skeleton
    role_of = {joint: role for role, joint in skeleton.roles.items()}
    joints = []
    for i, name in enumerate(skeleton.names):
        parent = int(skeleton.parents[i])
        joint: dict[str, Any] = {"name": name, "parent": skeleton.names[parent] if parent >= 0 else None}
        joint["offset"] = skeleton.offsets[i].tolist()
        if skeleton.has_tip[i]:
            joint["tip"] = skeleton.tips[i].tolist()
        if name in role_of:
            joint["role"] = role_of[name]
        joints.append(joint)
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": character.name,
        "height": character.height,
        "sex": character.sex,
        "age": character.age,
        "table": character.table,
        "joints": joints,
        "segments": [
            {
                "name": segment.name,
                "joint": segment.joint,
                "mass": segment.inertia.mass,
                "center": segment.inertia.center.tolist(),
                "inertia": segment.inertia.inertia[_SIX].tolist(),
            }
            for segment in character.segments
        ],
        "limits": [
            {
                "joint": joint,
                "lower": limit.lower.tolist(),
                "upper": limit.upper.tolist(),
                "parent_zero": limit.parent_zero.tolist(),
                "child_zero": limit.child_zero.tolist(),
            }
            for joint, limit in character.limits.items()
        ],
        "freedoms": [{"joint": joint, "axes": axes.tolist()} for joint, axes in character.freedoms.items()],
    }


def _dump(plain: dict[str, Any]) -> str:
    """JSON with one line an entry of a list: short enough to read, long enough to compare line by line."""
    lines = []
    for key, value in plain.items():
        if isinstance(value, list):
            entries = ",\n    ".join(json.dumps(entry, ensure_ascii=False) for entry in value)
            lines.append(f"  {json.dumps(key)}: [\n    {entries}\n  ]" if value else f"  {json.dumps(key)}: []")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}"


def _from_plain(plain: object) -> Character:
    top = _Entry("the file", plain)
    if top.text("format") != FORMAT:
        raise InputError(f"is not a character: its format is '{top.text('format')}', not '{FORMAT}'.")
    if top.number("version") != VERSION:
        raise InputError(f"has version {top.number('version'):g}; this program reads version {VERSION}.")
    skeleton = _read_skeleton(top.entries("joints", "joint"))
    character = Character(
        name=top.text("name"),
        skeleton=skeleton,
        segments=tuple(entry.check(_read_segment) for entry in top.entries("segments", "segment")),
        height=top.number("height"),
        limits=_by_joint(top.entries("limits", "limit"), _read_limit),
        freedoms=_by_joint(top.entries("freedoms", "freedom"), lambda entry: entry.rows("axes", 3, 3)),
        sex=top.text("sex"),
        age=top.number("age"),
        table=top.text("table"),
    )
    top.check_all_read()
    return character


def _read_skeleton(entries: list[_Entry]) -> Skeleton:
    names: list[str] = []
    roles: dict[str, str] = {}
    parents, offsets, tips = [], [], []
    for entry in entries:
        name, parent = entry.text("name"), entry.text_or_none("parent")
        if parent is not None and parent not in names:
            raise InputError(f"{entry.what} '{name}' has the parent '{parent}', which is not a joint before it.")
        names.append(name)
        parents.append(names.index(parent) if parent is not None else -1)
        offsets.append(entry.numbers("offset", 3))
        tips.append(entry.numbers("tip", 3) if "tip" in entry else np.full(3, np.nan))
        if "role" in entry:
            role = entry.text("role")
            if role not in ROLES:
                raise unknown_name(f"role of {entry.what},", role, ROLES)
            if role in roles:
                raise InputError(f"joints '{roles[role]}' and '{name}' both have the role {role}.")
            roles[role] = name
        entry.check_all_read()
    return Skeleton(
        tuple(names), np.array(parents, int), np.reshape(offsets, (-1, 3)), np.reshape(tips, (-1, 3)), roles
    )


def _read_segment(entry: _Entry) -> Segment:
    six = entry.numbers("inertia", 6)
    tensor = np.zeros((3, 3))
    tensor[_SIX] = six
    tensor.T[_SIX] = six
    return Segment(
        entry.text("name"), entry.text("joint"), RigidInertia(entry.number("mass"), entry.numbers("center", 3), tensor)
    )


def _read_limit(entry: _Entry) -> JointLimits:
    return JointLimits(
        entry.numbers("lower", 3),
        entry.numbers("upper", 3),
        entry.numbers("parent_zero", 4),
        entry.numbers("child_zero", 4),
    )


def _by_joint(entries: list[_Entry], read: Callable[[_Entry], _T]) -> dict[str, _T]:
    found: dict[str, _T] = {}
    for entry in entries:
        joint = entry.text("joint")
        if joint in found:
            raise InputError(f"{entry.what} is a second one for joint '{joint}'.")
        found[joint] = entry.check(read)
    return found


class _Entry:
    """A JSON object read key by key, with errors that say where they are."""

    def __init__(self, what: str, value: object):
        if not isinstance(value, dict):
            raise InputError(f"{what} must be a JSON object {{...}}.")
        self.what, self._value, self._read = what, value, set[str]()

    def __contains__(self, key: str) -> bool:
        return key in self._value

    def _get(self, key: str) -> object:
        self._read.add(key)
        if key not in self._value:
            raise InputError(f"{self.what} lacks '{key}'.")
        return self._value[key]

    def text(self, key: str) -> str:
        value = self._get(key)
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            raise InputError(f"'{key}' of {self.what} must be text of at most {MAX_TEXT} characters.")
        return valid_text(value)

    def text_or_none(self, key: str) -> str | None:
        return None if self._get(key) is None else self.text(key)

    def number(self, key: str) -> float:
        return finite_number(self._get(key), f"'{key}' of {self.what}")

    def numbers(self, key: str, count: int) -> np.ndarray:
        value = self._get(key)
        if not isinstance(value, list) or len(value) != count:
            raise InputError(f"'{key}' of {self.what} must be a list of {count} numbers.")
        return np.array([finite_number(each, f"'{key}' of {self.what}") for each in value])

    def rows(self, key: str, columns: int, at_most: int) -> np.ndarray:
        value = self._get(key)
        if not isinstance(value, list) or not 1 <= len(value) <= at_most:
            raise InputError(f"'{key}' of {self.what} must be a list of 1 to {at_most} rows.")
        return np.array([_Entry(self.what, {key: row}).numbers(key, columns) for row in value])

    def entries(self, key: str, what: str) -> list[_Entry]:
        value = self._get(key)
        if not isinstance(value, list) or len(value) > MAX_JOINTS:
            raise InputError(f"'{key}' of {self.what} must be a list of at most {MAX_JOINTS} entries.")
        return [_Entry(f"{what} {i + 1}", each) for i, each in enumerate(value)]

    def check(self, read: Callable[[_Entry], _T]) -> _T:
        """What `read` makes of the entry; its errors say which entry, and no key is left over."""
        try:
            result = read(self)
        except InputError as error:
            message = str(error)
            raise InputError(message if self.what in message else f"{self.what}: {message}") from error
        self.check_all_read()
        return result

    def check_all_read(self) -> None:
        extra = [key for key in self._value if key not in self._read]
        if extra:
            raise unknown_name(f"key of {self.what},", extra[0], sorted(self._read))


def _refuse_constant(name: str) -> float:
    raise InputError(f"contains {name}, which is not a number that a character can have.")


def _refuse_doubles(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    plain = dict(pairs)
    if len(plain) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"has the key '{double}' twice in one place.")
    return plain
