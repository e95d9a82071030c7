"""TRC in: optical markers as text, as Motion Analysis writes them and OpenSim reads them.

    PathFileType 4 (X/Y/Z) name          what it is
    DataRate CameraRate NumFrames ...    names, and below them the values
    Frame# Time  R.ASIS   L.ASIS ...     a label a marker, over three columns
                 X1 Y1 Z1 X2 Y2 Z2 ...
    1  0.00  617.2 1055.3 170.8 ...      a frame; an empty cell, or nan, is a marker that was not seen

Cells are separated by tabs, so that empty ones count; files without tabs are separated by blanks. Values of the header
are often separated by two tabs, or padded: only there do empty cells not count.
"""

from __future__ import annotations

import re
from os import PathLike

import numpy as np

from poise.errors import FileError
from poise.files.formats.markers import MarkerFile, find_unit, find_up, read_markers
from poise.files.input import read_text, shorten
from poise.files.reading.recording import Recording
from poise.findings import Finding

_MOST_BYTES = 300_000_000  # an hour of 60 markers at 100 Hz
_MOST_MARKERS = 10_000
_MOST_VALUES = 40_000_000
_RATES = (1e-3, 1e6)  # Hz
_LARGEST = 1e9


def read_trc(path: str | PathLike[str], clip: str | None = None) -> Recording:
    """The motion of the person who wears a TRC file's markers, in the file's unit and axes."""
    return read_markers(load_trc(path), clip, "TRC")


def load_trc(path: str | PathLike[str]) -> MarkerFile:
    """The markers of a TRC file, whatever they are."""
    lines = read_text(path, _MOST_BYTES).split("\n")
    header, top = _read_header(path, lines)
    labels = _read_labels(path, lines[top], top)
    times, points = _read_frames(path, lines, top + 1, len(labels))
    few = _check_frames(path, len(times), header, lines[-1])
    times, uneven = _check_times(path, times, header)
    kept = [i for i, label in enumerate(labels) if label]
    labels, points = [labels[i] for i in kept], points[:, kept]
    unit, odd = find_unit(path, header.get("units", ""), labels, points)
    up, standing = find_up(labels, points * unit, "Y")
    return MarkerFile(str(path), tuple(labels), times, points * unit, {}, unit, up, (*few, *uneven, *odd, *standing))


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def _read_header(path: str | PathLike[str], lines: list[str]) -> tuple[dict[str, str], int]:
    """Names and values of the header, in small letters, and the number of the line that has the labels."""
    top = next((i for i, line in enumerate(lines[:20]) if line.lstrip().lower().startswith("frame#")), None)
    if top is None:
        raise FileError(
            path, "not a TRC file: none of its first lines begins with 'Frame#', as that of the labels does."
        )
    for i in range(top - 1):
        names = [cell.lower() for cell in _split(lines[i]) if cell]
        if "datarate" in names:
            values = [cell for cell in re.split(r"[\t ]+", lines[i + 1]) if cell]
            return dict(zip(names, values, strict=False)), top
    return {}, top


def _read_labels(path: str | PathLike[str], line: str, number: int) -> list[str]:
    """A label for every three columns. Where tabs are lost, the labels that are there follow each other."""
    cells = _split(line)[2:]
    while cells and not cells[-1]:
        cells.pop()
    thirds = cells[::3]
    if "\t" not in line or any(cell for i, cell in enumerate(cells) if i % 3):
        thirds = [cell for cell in cells if cell]
    if not thirds or not any(thirds):
        raise FileError(path, "there are no labels after 'Frame#' and 'Time': it has no markers.", number + 1)
    if len(thirds) > _MOST_MARKERS:
        raise FileError(path, f"{len(thirds)} markers are more than the {_MOST_MARKERS} that are read.", number + 1)
    return thirds


def _read_frames(path: str | PathLike[str], lines: list[str], start: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Times (F,) s and points (F, M, 3), NaN where a cell is empty."""
    if 3 * count * (len(lines) - start) > _MOST_VALUES:
        have = f"{len(lines) - start} frames of {count} markers"
        raise FileError(path, f"{have} are more than the {_MOST_VALUES} numbers that are read. Split the recording.")
    times: list[float] = []
    rows: list[np.ndarray] = []
    for number, line in enumerate(lines[start:], start + 1):
        cells = _split(line)
        if not any(cells) or (not rows and re.match(r"X\d*$", next(filter(None, cells)), re.I)):
            continue
        read = [_number(cell) for cell in cells[1 : 2 + 3 * count]]
        values = [value for value in read if value is not None]
        if len(cells) < 2 or read[0] is None:
            raise FileError(
                path, f"a frame begins with its number and its time; '{shorten(line.strip())}' does not.", number
            )
        if len(values) < len(read):
            wrong = cells[1 + read.index(None)]
            raise FileError(path, f"'{shorten(wrong)}' is no number.", number)
        if any(cells[2 + 3 * count :]):
            carried = (len(cells) - 2) // 3
            raise FileError(path, f"a frame of {carried} markers, but {count} have labels. The file is broken.", number)
        times.append(values[0])
        rows.append(np.array(values[1:] + [np.nan] * (3 * count + 1 - len(values))))
    if not rows:
        raise FileError(path, "it has no frames.")
    points = np.array(rows).reshape(len(rows), count, 3)
    with np.errstate(invalid="ignore"):
        unseen = ~np.all(np.abs(points) < _LARGEST, axis=-1) | np.all(points == 0.0, axis=-1)
    points[unseen] = np.nan
    return np.array(times, float), points


def _check_frames(path: str | PathLike[str], count: int, header: dict[str, str], last: str) -> list[Finding]:
    """A warning if the header announces another number of frames; an error where the last one is not finished."""
    announced = _number(header.get("numframes", ""))
    if not announced or not np.isfinite(announced) or announced == count:
        return []
    if count < announced and last.strip():  # whole files end their last line
        message = f"the file ends after {count} of the {announced:.0f} frames that its header announces. It is cut off."
        raise FileError(path, message)
    return [Finding("header", f"it announces {announced:.0f} frames; {count} are there.", count)]


def _number(cell: str) -> float | None:
    """The number in a cell, NaN for an empty one, None for what is none."""
    if not cell:
        return np.nan
    try:
        return float(cell)
    except ValueError:
        return None


def _check_times(
    path: str | PathLike[str], times: np.ndarray, header: dict[str, str]
) -> tuple[np.ndarray, list[Finding]]:
    """(F,) s from the first frame; from the header's rate where the column of times does not grow evenly."""
    rate = _number(header.get("datarate", "")) or np.nan
    rate = rate if _RATES[0] <= rate <= _RATES[1] else np.nan
    steps = np.diff(times)
    if np.isfinite(times).all() and (steps > 0).all() and (np.abs(times) < _LARGEST).all():
        step = float(np.median(steps)) if len(steps) else 1.0
        if not len(steps) or (_RATES[0] <= 1.0 / step <= _RATES[1] and not np.isfinite(rate)):
            return times - times[0], []
        # Times are often rounded to a few decimals; the rate is exact, where it agrees with them.
        regular = np.arange(len(times)) / rate
        if np.abs(times - times[0] - regular).max() <= 0.5 * step:
            return regular, []
        message = f"the header says {rate:g} Hz, the column of times {1.0 / step:g}; the times are taken."
        return times - times[0], [Finding("frame rate", message, 1.0 / step)]
    if not np.isfinite(rate):
        raise FileError(path, "its times do not grow, and its header names no DataRate.")
    message = "the column of times does not grow; the header's rate is taken."
    return np.arange(len(times)) / rate, [Finding("frame rate", message, rate)]
