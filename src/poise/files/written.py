"""What a file is worth once it is written: how far its joints are from the source's own numbers, and what it lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from poise.files.fidelity import SUSPECT, SourcePlaces, find_source_places, measure_distance, measure_reading, to_metres
from poise.files.normalise import Reading


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
