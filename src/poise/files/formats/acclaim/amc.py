"""AMC in: Acclaim motion, which moves the skeleton of an ASF file.

Source: as `asf`. An AMC gives, frame after frame, each bone's angles in the order of its `dof`, and the root's position
and angles in the order of the ASF's `:root`. Rotations are about fixed axes, the first one first. A bone with `tx`,
`ty`, `tz` starts that far from its place, along its own axes, and one with `l` is that much longer. The format has no
frame rate (some programs write `:SAMPLES-PER-SECOND`); 120 Hz, the CMU database's, is assumed and said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np

from poise.errors import FileError
from poise.files.formats.acclaim.asf import AsfBone, AsfFile, read_asf_tables, turn_about_fixed_axes
from poise.files.input import find_choice, read_text, shorten, stem_of
from poise.files.reading.recording import Recording
from poise.findings import Finding, list_names
from poise.motion.clip import Clip
from poise.spatial import rotation

ASSUMED_RATE = 120.0
_MOST_BYTES = 200_000_000  # of text, of which each number takes some ten times its size while it is read
_LARGEST_VALUE = 1e9
_RATES = (1e-3, 1e6)  # Hz


@dataclass(frozen=True, eq=False)
class AmcFile:
    """An AMC file as it stands.

    degrees  whether angles are in degrees; None where the file does not say
    rate     Hz where the file states it, else None
    values   bone -> (F, n) its freedoms' values
    skeleton the ASF that it moves
    """

    path: str
    degrees: bool | None
    rate: float | None
    values: dict[str, np.ndarray]
    skeleton: AsfFile
    findings: tuple[Finding, ...] = ()


def read_amc(path: str | PathLike[str], clip: str | None = None) -> Recording:
    """The motion of an AMC file on the skeleton of the ASF file beside it. A file has one clip, named after it."""
    name = stem_of(path)
    find_choice(clip, [name], path)
    text = read_text(path, _MOST_BYTES)
    file = _AmcReader(path, read_asf_tables(find_asf(path))).read(text)
    skeleton = file.skeleton
    degrees = skeleton.degrees if file.degrees is None else file.degrees
    motion = Clip(
        skeleton.build_skeleton(),
        np.arange(len(file.values["root"])) / (file.rate or ASSUMED_RATE),
        _compute_root(file),
        _compute_rotations(file, np.pi / 180.0 if degrees else 1.0),
        name,
        _compute_shifts(file),
    )
    return Recording(
        motion,
        "AMC",
        str(path),
        (name,),
        skeleton.unit,
        has_rate=file.rate is not None,
        source=file,
        findings=(*skeleton.findings, *file.findings),
    )


def find_asf(path: str | PathLike[str]) -> Path:
    """The ASF of an AMC file: of its name, of its subject (02_05.amc: 02.asf), or the only one in the folder."""
    path = Path(path)
    beside = sorted(p for p in path.parent.iterdir() if p.suffix.lower() == ".asf" and p.is_file())
    subject = path.stem
    while subject:
        for candidate in beside:
            if candidate.stem.lower() == subject.lower():
                return candidate
        subject = subject.rpartition("_")[0]
    if len(beside) == 1:
        return beside[0]
    wanted = path.stem.partition("_")[0] + ".asf"
    found = f"of {', '.join(p.name for p in beside[:6])} none is named like it" if beside else "there is none"
    raise FileError(
        path, f"an AMC moves the skeleton of an ASF in its folder; {found}. Put it there, named {shorten(wanted)}."
    )


def _compute_root(file: AmcFile) -> np.ndarray:
    """(F, 3) preset position plus the root's translation."""
    root = file.skeleton.root
    position = np.tile(np.array(root.vector), (len(file.values["root"]), 1))
    for axis, freedom in enumerate(("tx", "ty", "tz")):
        if freedom in root.freedoms:
            position[:, axis] += file.values["root"][:, root.freedoms.index(freedom)]
    return position


def _compute_shifts(file: AmcFile) -> np.ndarray | None:
    """(F, J, 3) how far the joints are from the ends of their bones; None where no bone is moved or stretched."""
    skeleton = file.skeleton
    shifts = np.zeros((len(file.values["root"]), 1 + len(skeleton.bones), 3))
    for j, bone in enumerate(skeleton.bones):
        values = file.values.get(bone.name)
        if values is None:
            continue
        moved = np.zeros((len(shifts), 3))
        for axis, freedom in enumerate(("tx", "ty", "tz")):
            if freedom in bone.freedoms:
                moved[:, axis] = values[:, bone.freedoms.index(freedom)]
        shifts[:, 1 + j] += rotation.rotate(bone.axes, moved)
        length = float(np.linalg.norm(bone.vector))
        if "l" in bone.freedoms and length > 0.0:  # its end moves, and with it what begins there
            longer = values[:, bone.freedoms.index("l"), None] * np.array(bone.vector) / length
            for child in np.flatnonzero(np.array(skeleton.parents) == j):
                shifts[:, 1 + child] += longer
    return shifts if shifts.any() else None


def _compute_rotations(file: AmcFile, unit: float) -> np.ndarray:
    """(F, J, 4); unit: radians one of the file's angles has."""
    skeleton = file.skeleton
    frames = len(file.values["root"])
    rotations = rotation.identity((frames, 1 + len(skeleton.bones)))
    # The root's preset orientation is an offset of all the motion: it turns the skeleton before the motion does.
    rotations[:, 0] = rotation.multiply(_turn(skeleton.root, file.values["root"], unit), skeleton.root.axes)
    for j, bone in enumerate(skeleton.bones, 1):
        if bone.name in file.values:
            # C M C^-1: the angles are about the bone's own axes.
            turned = rotation.multiply(bone.axes, _turn(bone, file.values[bone.name], unit))
            rotations[:, j] = rotation.multiply(turned, rotation.conjugate(bone.axes))
    return rotations


def _turn(bone: AsfBone, values: np.ndarray, unit: float) -> np.ndarray:
    """(F, 4) M: the rotation of a bone's angles, in its own axes."""
    columns = [i for i, freedom in enumerate(bone.freedoms) if freedom.startswith("r")]
    return turn_about_fixed_axes(unit * values[:, columns], "".join(bone.freedoms[i][1].upper() for i in columns))


@dataclass
class _AmcReader:
    """The lines of an AMC file."""

    path: str | PathLike[str]
    skeleton: AsfFile
    degrees: bool | None = None
    rate: float | None = None
    frame: int = -1
    numbers: list[int] = field(default_factory=list)
    rows: dict[str, list[list[float]]] = field(default_factory=dict)
    frames: dict[str, list[int]] = field(default_factory=dict)

    def read(self, text: str) -> AmcFile:
        skeleton = self.skeleton
        self.counts = {bone.name: len(bone.freedoms) for bone in (skeleton.root, *skeleton.bones)}
        for line, content in enumerate(text.split("\n"), 1):
            words = content.partition("#")[0].split()
            if not words:
                continue
            if words[0].startswith(":"):
                self._read_header(words, line)
            elif len(words) == 1 and words[0].isdecimal():
                self._open_frame(words[0], line)
            else:
                self._read_bone(words, line)
        if self.frame < 0:
            raise FileError(self.path, "there is no frame in it. The file is cut off or not an AMC.")
        if "root" not in self.rows:
            raise FileError(self.path, "no frame says where the root is. The file is cut off or not an AMC.")
        return AmcFile(str(self.path), self.degrees, self.rate, self._fill_tables(), skeleton, self._find_oddities())

    def _read_header(self, words: list[str], line: int) -> None:
        match words[0].lower():
            case ":degrees":
                self.degrees = True
            case ":radians":
                self.degrees = False
            case ":samples-per-second":
                (self.rate,) = self._numbers(words, 1, line)
                if not _RATES[0] <= self.rate <= _RATES[1]:
                    raise FileError(self.path, f"{self.rate:g} frames a second cannot be true.", line)

    def _open_frame(self, word: str, line: int) -> None:
        if len(word) > 15:
            raise FileError(self.path, f"'{shorten(word)}' is not the number of a frame.", line)
        self.frame += 1
        self.numbers.append(int(word))
        if self.frame * len(self.counts) > 1_000_000 + 40 * sum(len(rows) for rows in self.rows.values()):
            raise FileError(self.path, "the frames are nearly all empty. The file is not a motion.", line)

    def _read_bone(self, words: list[str], line: int) -> None:
        name = " ".join(words[:1])
        if self.frame < 0:
            raise FileError(
                self.path, f"not an AMC file: '{shorten(name)}' stands before the first frame number.", line
            )
        count = self.counts.get(name)
        if count is None:
            known = ", ".join(list(self.counts)[:8])
            message = f"bone '{shorten(name)}' is not in {Path(self.skeleton.path).name}, which has {known}, ..."
            raise FileError(self.path, f"{message} Is it the right skeleton?", line)
        values = self._numbers(words, count, line)
        frames = self.frames.setdefault(name, [])
        if frames and frames[-1] == self.frame:
            raise FileError(self.path, f"bone '{shorten(name)}' is twice in one frame.", line)
        frames.append(self.frame)
        self.rows.setdefault(name, []).append(values)

    def _numbers(self, words: list[str], count: int, line: int) -> list[float]:
        if len(words) - 1 != count:
            message = f"'{shorten(words[0])}' has {len(words) - 1} values, the skeleton declares {count}."
            raise FileError(self.path, f"{message} The file is cut off or belongs to another skeleton.", line)
        try:
            values = [float(word) for word in words[1:]]
        except ValueError:
            raise FileError(self.path, f"'{shorten(' '.join(words[1:]))}' are not all numbers.", line) from None
        if not all(abs(value) <= _LARGEST_VALUE for value in values):
            message = f"'{shorten(' '.join(words[1:]))}' are neither angles nor positions. Mend or trim the clip there."
            raise FileError(self.path, message, line)
        return values

    def _find_oddities(self) -> tuple[Finding, ...]:
        found = []
        if np.any(np.diff(np.array(self.numbers)) != 1):
            message = "their numbers do not count up by one; they are taken as evenly spaced."
            found.append(Finding("frames", message))
        partly = [name for name, frames in self.frames.items() if len(frames) <= self.frame]
        if partly:
            message = f"not every frame has {list_names(partly)}; they hold their last values there."
            found.append(Finding("values", message, tuple(partly)))
        still = [bone.name for bone in self.skeleton.bones if bone.freedoms and bone.name not in self.rows]
        if still:
            message = f"the motion has none for {list_names(still)}; they stay at rest."
            found.append(Finding("values", message, tuple(still)))
        return tuple(found)

    def _fill_tables(self) -> dict[str, np.ndarray]:
        """(F, n) each bone's values, the last ones before where a frame has none, zero where there are none before."""
        tables = {}
        for name, rows in self.rows.items():
            table = np.array(rows, float).reshape(len(rows), -1)
            if len(rows) <= self.frame:
                last = np.searchsorted(self.frames[name], np.arange(self.frame + 1), "right") - 1
                table = np.where(last[:, None] < 0, 0.0, table[np.maximum(last, 0)])
            tables[name] = table
        return tables
