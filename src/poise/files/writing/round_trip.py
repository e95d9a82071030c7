"""Errors of a written file: the distance of its joints from the source's own numbers, and the joints that it lacks.

Where the joints are is read from the bytes of the file: reported figures are of what was written.

Files are read by `files/writing/independent`, which shares nothing with the writers and the readers, whose mistakes it
is there to see; USD is asked from UsdSkel itself.

The source is evaluated by that code, too, and brought to metres and Y up by the scale and axis that the reading
reports, and by nothing else. What a reader did on the way, to rest poses, rotations and bones, is judged.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import FileError
from poise.files.reading.pipeline import Reading
from poise.files.reading.recording import Recording
from poise.files.registry import find_format, read_recording
from poise.files.writing.independent.bvh import read_bvh_motions
from poise.files.writing.independent.gltf import GltfFile, list_key_times, read_gltf_file, read_gltf_motion
from poise.files.writing.independent.npz import read_npz_motion
from poise.files.writing.independent.tree import PlainMotion, UnreadableError


@dataclass(frozen=True)
class Written:
    """What is in a file after it was written.

    frames         how many there are
    error          m, the largest distance of a joint from where the source's own numbers put it, or for an edited
                   motion `reading_error` plus `writing_error`; None where the format cannot be read again
    figures        of the edits
    notes          what there is to say, a sentence each
    reading_error  m, between the source and the clip that was read, in all its frames; None where it cannot be told
    writing_error  m, between the clip that was written and the file
    left_out       joints of the source that the file does not have
    warnings       what is wrong, a sentence each
    """

    frames: int
    error: float | None
    figures: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reading_error: float | None = None
    writing_error: float | None = None
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def judge(
    reading: Reading, places: np.ndarray | None, meant: np.ndarray, frames: np.ndarray | None, kept: bool = False
) -> Written:
    """The errors of a file that a motion was written to which was read from another.

    places  (F, J, 3) where the joints are in the file; None where that cannot be read
    meant   (F, J, 3) where they were meant to be
    frames  (F,) the source's frame that each is, so that it can be compared with it; None where the motion was changed
    kept    whether both are in the units and axes of the source, and not in metres, Y up
    """
    source = find_source_places(reading)
    read = measure_reading(source, reading)
    written = None if places is None else measure_distance(places, meant) * (reading.scale if kept else 1.0)
    direct = None
    if places is not None and frames is not None:
        direct = source.measure(to_metres(reading, places) if kept else places, frames)
    return _sum_up(reading, source, len(meant), read, written, direct)


def judge_result(reading: Reading, written: float | None, frames: int) -> Written:
    """The errors of a file with what was made of a reading, `written` m off it."""
    source = find_source_places(reading)
    return _sum_up(reading, source, frames, measure_reading(source, reading), written, None)


def _sum_up(
    reading: Reading,
    source: SourcePlaces,
    frames: int,
    read: float | None,
    written: float | None,
    direct: float | None,
) -> Written:
    error = direct
    if error is None and written is not None:
        error = written + (read or 0.0)
    notes = (f"how well it was read could not be checked: {source.unchecked}.",) if source.unchecked else ()
    warnings = _describe_left_out(source.left_out)
    if error is not None and error > SUSPECT:
        warnings.append(
            f"joints are up to {1e3 * error:.3g} mm from where the numbers in '{reading.recording.path}' put them "
            f"({_say_length(read)} by reading, {_say_length(written)} by writing). Compare the two before you use it."
        )
    return Written(frames, error, {}, notes, read, written, source.left_out, tuple(warnings))


def _say_length(metres: float | None) -> str:
    return "an unknown length" if metres is None else f"{1e3 * metres:.3g} mm"


def _describe_left_out(names: tuple[str, ...]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return [f"joints of the input that are not in it: {', '.join(names[:6])}{more}."]


def read_positions(path: Path, skeleton: Skeleton, tree: int = 0, kept: bool = False) -> np.ndarray | None:
    """World positions (F, J, 3) of the joints in a written file, in the order of the skeleton that was written.

    In metres where Poise chose the unit, in the file's own where it was kept. None where the format cannot be read.
    tree  which skeleton, in a BVH file that has several
    kept  whether the file is somebody's own with a motion written into it: any of its nodes may be a joint
    """
    if path.suffix.lower().startswith(".usd"):
        from poise.files.formats.usd import read_usd_positions

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


SUSPECT = 1e-3  # m: no format's rounding explains a distance above it
# Rows: where Poise's x, y and z are among a file's axes with this one up; the least turn that stands it up, and for -Y
# the one about Z.
_UPRIGHT = {
    "X": ((0, -1, 0), (1, 0, 0), (0, 0, 1)),
    "Y": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "Z": ((1, 0, 0), (0, 0, 1), (0, -1, 0)),
    "-X": ((0, 1, 0), (-1, 0, 0), (0, 0, 1)),
    "-Y": ((-1, 0, 0), (0, -1, 0), (0, 0, 1)),
    "-Z": ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
}


@dataclass(frozen=True, eq=False)
class SourcePlaces:
    """Where a reading's source has its joints, frame by frame of the file.

    places     (F, K, 3) m, Y up; None where the source cannot be evaluated
    joints     (K,) which joint of the reading each is
    left_out   names of joints that the source has and the reading has not
    unchecked  why there are no places, the end of a sentence; else ""
    """

    places: np.ndarray | None
    joints: np.ndarray
    left_out: tuple[str, ...] = ()
    unchecked: str = ""

    def measure(self, positions: np.ndarray, frames: np.ndarray | slice = slice(None)) -> float | None:
        """m, the largest distance of positions (n, J, 3) in some of the file's frames; None without places."""
        if self.places is None or not len(self.joints):
            return None
        return measure_distance(positions[:, self.joints], self.places[frames])


def find_source_places(reading: Reading) -> SourcePlaces:
    """Where the source of a reading has the joints that were read, and which were not."""
    nobody = np.zeros(0, int)
    try:
        motion = read_source_motion(reading.recording)
        matched = match_names(motion.names, reading.recording.clip.skeleton.names)
        with np.errstate(all="ignore"):
            places = motion.places(list(matched))
    except (UnreadableError, *BROKEN) as error:
        return SourcePlaces(None, nobody, (), " ".join(str(error).split()).rstrip("."))
    if not np.isfinite(places).all():
        return SourcePlaces(None, nobody, (), "its numbers go beyond all bounds")
    joints = np.array(list(matched.values()), int)
    return SourcePlaces(to_metres(reading, places), joints, _find_left_out(motion, set(matched)))


def to_metres(reading: Reading, places: np.ndarray) -> np.ndarray:
    """Places (..., 3) in the source's units and axes in metres, Y up, by the scale and the axis that were reported."""
    return np.asarray(reading.scale * places @ np.array(_UPRIGHT[reading.up], float).T)


def measure_distance(a: np.ndarray, b: np.ndarray) -> float:
    """The largest distance between points (..., 3) and others."""
    return float(np.sqrt(((a - b) ** 2).sum(axis=-1)).max(initial=0.0))


def _find_left_out(motion: PlainMotion, matched: set[int]) -> tuple[str, ...]:
    """Joints that should have been read and were not. What carries the others moves them, and is not missed."""
    carriers = {above for joint in matched for above in motion.above(joint)}
    return tuple(motion.names[i] for i in motion.wanted if i not in matched and i not in carriers)


def measure_reading(source: SourcePlaces, reading: Reading) -> float | None:
    """m, how far any joint of a reading is from its source in any frame of the file; None where that is not known.

    Bones that were restored are judged as they were before, since the source does not have them: `restored_error` tells
    how far they moved joints.
    """
    clip = reading.frame.apply(reading.recording.clip) if reading.is_changed else reading.clip
    return source.measure(clip.positions)


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
