"""How far the joints that were read or written are from where the source's own numbers put them.

The source is evaluated by the plain code of `files/plain`, and brought to metres and Y up by the scale and axis that
the reading reports, and by nothing else. What a reader did on the way, to rest poses, rotations and bones, is judged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.files.normalise import Reading
from poise.files.plain.source import BROKEN, match_names, read_source_motion
from poise.files.plain.tree import PlainMotion, UnreadableError

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
