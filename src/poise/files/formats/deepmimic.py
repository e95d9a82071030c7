"""DeepMimic motions in: JSON text with a row of numbers a frame, for a character that another JSON text describes.

Source: X. B. Peng, P. Abbeel, S. Levine, M. van de Panne (2018), DeepMimic, ACM Trans. Graphics 37(4), and the files of
its public code (MIT licence): `data/characters/humanoid3d.txt` for the joints, `data/motions` for the motions.

A frame is: how long it lasts (s), the root's position (m), then each joint's rotation in the character's order, as many
numbers as its type has: 4 for the root and spherical joints (quaternion, w first), 1 for a revolute one (radians about
its own Z), none for a fixed one. The humanoid's 44 columns have Y up; it faces +X and its left is -Z. The last frame's
duration is of no use: nothing follows it.

The character is found beside the motion; without it the humanoid that all published human motions use is built in.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.errors import FileError, valid_text
from poise.files.input import decode_text, find_choice, read_bytes, shorten, stem_of
from poise.files.reading.recording import Recording
from poise.findings import Finding
from poise.motion.clip import Clip
from poise.spatial import rotation

# Columns of each type of joint; the first joint, whatever its type, has a position and a quaternion.
_COLUMNS = {"spherical": 4, "revolute": 1, "prismatic": 1, "planar": 3, "fixed": 0, "none": 4}
_ROOT_COLUMNS = 1 + 3  # duration and position
_MOST_JOINTS = 10_000
_LARGEST_VALUE = 1e9
_MOST_BYTES = 200_000_000
# The ball on this joint is a head drawn larger than a head is: its end would tell a wrong stature.
_CARRIES_HEAD = ("neck", "head")
# A character beside the motion is looked for among so many files, each at most so large.
_MOST_NEIGHBOURS, _LARGEST_CHARACTER = 200, 2_000_000


@dataclass(frozen=True, eq=False)
class DeepMimicCharacter:
    """The joints of a character file.

    types   of each joint: none (the root), spherical, revolute, prismatic, planar or fixed
    frames  (J, 4) each joint's axes at rest, in the character's
    masses  (J,) kg of the body that each joint carries; NaN where the file has none
    """

    path: str
    skeleton: Skeleton
    types: tuple[str, ...]
    frames: np.ndarray
    masses: np.ndarray

    @property
    def columns(self) -> int:
        """Numbers a frame of its motions has."""
        return _ROOT_COLUMNS + 4 + sum(_COLUMNS[kind] for kind in self.types[1:])


@dataclass(frozen=True, eq=False)
class DeepMimicFile:
    """A motion file as it stands: `loop` is "wrap" or "none", frames (F, C)."""

    path: str
    loop: str
    frames: np.ndarray
    character: DeepMimicCharacter


def read_deepmimic(path: str | PathLike[str], clip: str | None = None) -> Recording:
    """The motion of a DeepMimic text file, or the rest pose of a character file. One clip, named after the file."""
    name = stem_of(path)
    find_choice(clip, [name], path)
    content = _load_json(path, read_bytes(path, _MOST_BYTES))
    if "Skeleton" in content and "Frames" not in content:
        return _read_rest(path, name, parse_character(content, path))
    if "Frames" not in content:
        keys = shorten(", ".join(content), 80) or "none"
        raise FileError(path, f"not a DeepMimic motion: it has no 'Frames'; its keys are {keys}.")
    frames = _read_frames(path, content["Frames"])
    character = _find_character(path, frames.shape[1])
    file = DeepMimicFile(str(path), str(content.get("Loop", "none")), frames, character)
    findings = []
    if not character.path:
        findings.append(Finding("character file", "none lies beside it; DeepMimic's humanoid is taken."))
    if file.loop == "wrap":
        message = "the file says that its motion wraps, the last frame going over into the first."
        findings.append(Finding("loop", message))
    return Recording(
        compute_clip(file).replace(name=name),
        "DeepMimic",
        str(path),
        (name,),
        unit=1.0,
        up="Y",
        roles=find_humanoid_roles(character.skeleton),
        source=file,
        findings=tuple(findings),
    )


def compute_clip(file: DeepMimicFile) -> Clip:
    """The motion of a file, joint frames turned so that at rest they are the character's."""
    character = file.character
    durations = file.frames[:-1, 0]
    if np.any(durations <= 0):
        frame = int(np.flatnonzero(durations <= 0)[0])
        raise FileError(file.path, f"frame {frame} lasts {durations[frame]:g} s; it must last longer than 0.")
    rotations = rotation.identity((len(file.frames), len(character.types)))
    column = _ROOT_COLUMNS
    for j, kind in enumerate(("none", *character.types[1:])):
        values = file.frames[:, column : column + _COLUMNS[kind]]
        column += _COLUMNS[kind]
        rotations[:, j] = _turn(kind, values, file.path, character.skeleton.names[j])
    # G q G^-1, with G the joint's axes at rest.
    turned = rotation.multiply(character.frames, rotations)
    rotations = rotation.multiply(turned, rotation.conjugate(character.frames))
    times = np.concatenate([[0.0], np.cumsum(durations)])
    return Clip(character.skeleton, times, file.frames[:, 1:4], rotations, stem_of(file.path))


def _turn(kind: str, values: np.ndarray, path: str, name: str) -> np.ndarray:
    """(F, 4) a joint's rotation in its own axes."""
    if kind in ("none", "spherical"):
        norms = np.linalg.norm(values, axis=1)
        if np.any(np.abs(norms - 1.0) > 0.1):
            frame = int(np.flatnonzero(np.abs(norms - 1.0) > 0.1)[0])
            message = f"the quaternion of '{shorten(name)}' in frame {frame} has length {norms[frame]:.3g}, not 1."
            raise FileError(path, f"{message} The columns belong to another character.")
        return values
    if kind in ("revolute", "planar"):
        return rotation.exp(values[:, -1:] * np.array([0.0, 0.0, 1.0]))
    return rotation.identity((len(values),))


def _load_json(path: str | PathLike[str], data: bytes) -> dict[str, Any]:
    """The object that a JSON text holds; numbers that are not finite are refused."""

    def refuse(word: str) -> float:
        raise FileError(path, f"the file has a value {word}, which is no number. Mend or export it again.")

    text = decode_text(data)
    if not text.lstrip().startswith("{"):
        begin = shorten(text.strip()[:20])
        raise FileError(path, f"not a DeepMimic file: it begins with '{begin}', a DeepMimic file with '{{'.", 1)
    try:
        content = json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise FileError(path, f"not JSON: {error.msg} in column {error.colno}.", error.lineno) from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(path, "the JSON is nested too deeply or holds numbers too long to be a motion.") from None
    assert isinstance(content, dict)
    return content


def _read_frames(path: str | PathLike[str], rows: Any) -> np.ndarray:
    """(F, C)"""
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise FileError(path, "'Frames' must be a list of at least one row of numbers.")
    width = len(rows[0])
    for i, row in enumerate(rows):
        if len(row) != width:
            raise FileError(path, f"frame {i} has {len(row)} numbers, frame 0 has {width}. The file was cut or edited.")
        if not all(type(value) in (int, float) and abs(value) <= _LARGEST_VALUE for value in row):
            raise FileError(path, f"frame {i} holds something that is neither an angle nor a position.")
    if width <= _ROOT_COLUMNS:
        raise FileError(path, f"a frame has {width} numbers; the humanoid's have {HUMANOID.columns}.")
    return np.array(rows, float)


def _find_character(path: str | PathLike[str], columns: int) -> DeepMimicCharacter:
    """The character beside a motion whose frames have so many columns; best one whose name begins the motion's."""
    path = Path(path)
    found = []
    for neighbour in sorted(path.parent.glob("*.txt"))[:_MOST_NEIGHBOURS]:
        if neighbour == path:
            continue
        try:
            content = _load_json(neighbour, read_bytes(neighbour, _LARGEST_CHARACTER))
            character = parse_character(content, neighbour) if "Skeleton" in content else None
        except FileError:
            continue  # some other text file, which is nobody's business here
        if character is not None and character.columns == columns:
            found.append(character)
    found.sort(key=lambda character: path.stem.startswith(Path(character.path).stem), reverse=True)
    if found:
        return found[0]
    if columns == HUMANOID.columns:
        return HUMANOID
    raise FileError(
        path,
        f"a frame has {columns} numbers, DeepMimic's humanoid {HUMANOID.columns}, and no character beside the file has "
        "as many. Put the character's own .txt file there.",
    )


def parse_character(content: dict[str, Any], path: str | PathLike[str]) -> DeepMimicCharacter:
    """A character file's joints, and the mass and the end of what each carries."""
    joints = content["Skeleton"].get("Joints") if isinstance(content["Skeleton"], dict) else None
    if not isinstance(joints, list) or not joints or not all(isinstance(joint, dict) for joint in joints):
        raise FileError(path, "'Skeleton' must have a list of 'Joints'.")
    if len(joints) > _MOST_JOINTS:
        raise FileError(path, f"there are {len(joints)} joints; a body has at most {_MOST_JOINTS}.")
    names, parents, types = _read_tree(joints, path)
    attach = np.array([_vector(joint, "Attach", path) for joint in joints])
    angles = np.array([_vector(joint, "AttachTheta", path) for joint in joints])
    frames, offsets = _lay_out(parents, attach, angles)
    bodies = _read_bodies(content.get("BodyDefs"), len(joints))
    tips = np.full((len(joints), 3), np.nan)
    for j, body in bodies.items():
        if j not in parents and names[j] not in _CARRIES_HEAD:
            tips[j] = rotation.rotate(frames[j], _find_tip(body, attach[j], path))
    masses = np.array([_number(bodies.get(j, {}).get("Mass", np.nan)) for j in range(len(joints))])
    skeleton = Skeleton(tuple(names), np.array(parents), offsets, tips)
    return DeepMimicCharacter(str(path), skeleton, tuple(types), frames, masses)


def _read_tree(joints: list[dict[str, Any]], path: str | PathLike[str]) -> tuple[list[str], list[int], list[str]]:
    """Return the names, parents and types of joints."""
    names: list[str] = []
    parents: list[int] = []
    types: list[str] = []
    for i, joint in enumerate(joints):
        name, parent, kind = valid_text(str(joint.get("Name", f"joint{i}"))), joint.get("Parent", -1), joint.get("Type")
        if not isinstance(kind, str) or kind not in _COLUMNS:
            raise FileError(path, f"joint '{shorten(name)}' has a type other than {', '.join(_COLUMNS)}.")
        if not isinstance(parent, int) or not -1 <= parent < i or (parent < 0) != (i == 0):
            raise FileError(path, f"joint '{shorten(name)}' has no parent before it; only the first joint has none.")
        if name in names:
            raise FileError(path, f"two joints are called '{shorten(name)}'; names must differ.")
        names.append(name)
        parents.append(parent)
        types.append(kind)
    return names, parents, types


def _lay_out(parents: list[int], attach: np.ndarray, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each joint's axes (J, 4) and offset (J, 3) at rest, in the character's axes."""
    local = rotation.from_euler(angles[:, ::-1], "ZYX")
    frames, offsets = local.copy(), attach.copy()
    for j, parent in enumerate(parents):
        if parent >= 0:
            frames[j] = rotation.multiply(frames[parent], local[j])
            offsets[j] = rotation.rotate(frames[parent], attach[j])
    return frames, offsets


def _read_bodies(bodies: Any, count: int) -> dict[int, dict[str, Any]]:
    """Joint -> the body it carries; the n-th body is the n-th joint's."""
    if not isinstance(bodies, list):
        return {}
    return {j: body for j, body in enumerate(bodies[:count]) if isinstance(body, dict)}


def _find_tip(body: dict[str, Any], offset: np.ndarray, path: str | PathLike[str]) -> np.ndarray:
    """(3,) the far end of a last body from its joint: of a box along its longest side, of a round one straight on."""
    center = _vector(body, "Attach", path)
    size = np.array([_number(body.get(f"Param{i}", 0.0)) for i in range(3)])
    if body.get("Shape") == "box":
        longest = int(np.argmax(size))
        center[longest] += np.copysign(0.5 * size[longest], center[longest])
        return center
    on = center if np.any(center) else offset
    length = float(np.linalg.norm(on))
    reach = 0.5 * size[0] + (0.5 * size[1] if body.get("Shape") == "capsule" else 0.0)
    return center + on * (reach / length) if length > 0.0 else np.full(3, np.nan)


def _vector(table: dict[str, Any], key: str, path: str | PathLike[str]) -> np.ndarray:
    """(3,) the values of keyX, keyY and keyZ; zero where there is none."""
    vector = np.array([_number(table.get(key + axis, 0.0)) for axis in "XYZ"])
    if not np.all(np.abs(vector) <= _LARGEST_VALUE):
        raise FileError(path, f"a joint's {key} is {vector.tolist()}, which is not a vector.")
    return vector


def _number(value: Any) -> float:
    return float(value) if type(value) in (int, float) and abs(value) <= _LARGEST_VALUE else float("nan")


_LIMBS = {
    "UpperArm": "shoulder",
    "LowerArm": "elbow",
    "Hand": "wrist",
    "UpperLeg": "hip",
    "LowerLeg": "knee",
    "Foot": "ankle",
}
# DeepMimic's humanoid3d: name, type, parent, attachment (m), mass (kg), and the end of a last body (m).
_HUMANOID: tuple[tuple[str, str, int, tuple[float, ...], float, tuple[float, ...] | None], ...] = (
    ("root", "none", -1, (0.0, 0.0, 0.0), 6.0, None),
    ("chest", "spherical", 0, (0.0, 0.236151, 0.0), 14.0, None),
    ("neck", "spherical", 1, (0.0, 0.223894, 0.0), 2.0, None),
    ("right_hip", "spherical", 0, (0.0, 0.0, 0.084887), 4.5, None),
    ("right_knee", "revolute", 3, (0.0, -0.421546, 0.0), 3.0, None),
    ("right_ankle", "spherical", 4, (0.0, -0.40987, 0.0), 1.0, (0.1335, -0.0225, 0.0)),
    ("right_shoulder", "spherical", 1, (-0.02405, 0.2435, 0.18311), 1.5, None),
    ("right_elbow", "revolute", 6, (0.0, -0.274788, 0.0), 1.0, None),
    ("right_wrist", "fixed", 7, (0.0, -0.258947, 0.0), 0.5, (0.0, -0.04, 0.0)),
    ("left_hip", "spherical", 0, (0.0, 0.0, -0.084887), 4.5, None),
    ("left_knee", "revolute", 9, (0.0, -0.421546, 0.0), 3.0, None),
    ("left_ankle", "spherical", 10, (0.0, -0.40987, 0.0), 1.0, (0.1335, -0.0225, 0.0)),
    ("left_shoulder", "spherical", 1, (-0.02405, 0.2435, -0.18311), 1.5, None),
    ("left_elbow", "revolute", 12, (0.0, -0.274788, 0.0), 1.0, None),
    ("left_wrist", "fixed", 13, (0.0, -0.258947, 0.0), 0.5, (0.0, -0.04, 0.0)),
)


def _build_humanoid() -> DeepMimicCharacter:
    names, types, parents, attach, masses, tips = zip(*_HUMANOID, strict=True)
    ends = np.array([tip or (np.nan,) * 3 for tip in tips])
    skeleton = Skeleton(names, np.array(parents), np.array(attach), ends)
    return DeepMimicCharacter("", skeleton, types, rotation.identity((len(names),)), np.array(masses))


HUMANOID = _build_humanoid()


def find_humanoid_roles(skeleton: Skeleton) -> dict[str, str]:
    """The roles of DeepMimic's humanoid, whose joint `neck` carries the head; none for other characters."""
    if skeleton.names != HUMANOID.skeleton.names:
        return {}
    roles = {"hips": "root", "spine": "chest", "head": "neck"}
    for side in SIDES:
        for stem, joint in _LIMBS.items():
            roles[side + stem] = f"{side}_{joint}"
    return roles


def _read_rest(path: str | PathLike[str], name: str, character: DeepMimicCharacter) -> Recording:
    """A character without motion: one frame at rest."""
    skeleton = character.skeleton
    motion = Clip(skeleton, np.zeros(1), skeleton.offsets[:1], rotation.identity((1, len(skeleton))), name)
    roles = find_humanoid_roles(skeleton)
    return Recording(motion, "DeepMimic", str(path), (name,), 1.0, "Y", roles, has_rate=False, source=character)
