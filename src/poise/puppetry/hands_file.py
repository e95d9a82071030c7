"""Files of recorded hands: text that grows by a line per sample, so that each sample is safe once it is played.

    poise hands 1
    neutral lx ly lz rx ry rz
    t  x y z  w x y z  grip buttons  x y z  w x y z  grip buttons

A row is one time (s) and, of the left and then the right hand, its position (m, from any origin), its orientation
(wxyz), its grip (0 to 1) and its buttons (bits). Axes are the puppet's: x to its left, y up, z ahead. A hand that is
not seen has `nan`. `neutral`, the positions in which the hands have no effect, is optional, and must be the second
line. Times increase. An unfinished last line is dropped: its writer was killed.
"""

from __future__ import annotations

import math
import os
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TextIO

import numpy as np

from poise.errors import FileError, InputError
from poise.files.input import read_bytes
from poise.files.output import write_bytes
from poise.puppetry.hands import BUTTONS, MOST_SAMPLES, HandsTake

SUFFIX = ".hands"
HEAD = "poise hands 1"
MOST_BYTES = 300_000_000
_COLUMNS = 19
_BUTTONS = (9, 18)


def load_hands(path: str | PathLike[str]) -> HandsTake:
    """Return the recording in a file."""
    data = read_bytes(path, MOST_BYTES)
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        raise FileError(path, "is no recording of hands: it is not plain text.") from None
    lines = text.split("\n")
    complete = lines[:-1]  # the text after the last end of a line was not finished
    if not complete or complete[0].strip() != HEAD:
        raise FileError(path, f"is no recording of hands: its first line must be '{HEAD}'.", 1)
    first, neutral = 1, None
    if len(complete) > 1 and complete[1].startswith("neutral"):
        neutral = np.array(_read_numbers(path, 2, complete[1].split()[1:], 6)).reshape(2, 3)
        if not np.isfinite(neutral).all():
            raise FileError(path, "the neutral places of hands must be finite.", 2)
        first = 2
    rows = _read_rows(path, complete[first:], first + 1)
    hands = rows[:, 1:].reshape(-1, 2, 9)
    return HandsTake(
        rows[:, 0], hands[..., :3], hands[..., 3:7], hands[..., 7], hands[..., 8].astype(np.int64), neutral
    )


def _read_rows(path: str | PathLike[str], lines: list[str], number: int) -> np.ndarray:
    """Return the samples (N, 19) of lines, the first of which has a number in its file."""
    if len(lines) > MOST_SAMPLES:
        raise FileError(path, f"has {len(lines)} samples; at most {MOST_SAMPLES} are read. Split it.")
    rows = np.empty((len(lines), _COLUMNS))
    last = -math.inf
    for k, line in enumerate(lines):
        rows[k] = _read_numbers(path, number + k, line.split(), _COLUMNS)
        if not (math.isfinite(rows[k, 0]) and rows[k, 0] > last):
            raise FileError(
                path, f"time {rows[k, 0]:g} s must be later than {last:g} s, of the row before.", number + k
            )
        last = rows[k, 0]
        for column in _BUTTONS:
            if rows[k, column] != int(rows[k, column]) or not 0 <= rows[k, column] < 2**BUTTONS:
                raise FileError(path, f"buttons are bits, a whole number below {2**BUTTONS}.", number + k)
    return rows


def _read_numbers(path: str | PathLike[str], line: int, words: list[str], count: int) -> list[float]:
    if len(words) != count:
        raise FileError(path, f"has {len(words)} numbers, {count} are needed. It was cut off or edited by hand.", line)
    try:
        found = [float(word) for word in words]
    except ValueError:
        wrong = next(word for word in words if not _is_number(word))
        raise FileError(path, f"'{wrong:.20}' is no number.", line) from None
    if any(math.isinf(value) or abs(value) > 1e9 for value in found):
        raise FileError(path, "a number is too large.", line)
    if count == _COLUMNS and (math.isnan(found[0]) or any(math.isnan(found[k]) for k in (8, 9, 17, 18))):
        raise FileError(path, "only the place and the turn of a hand that is not seen may be nan.", line)
    return found


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def format_row(
    t: float, places: np.ndarray, turns: np.ndarray, grips: np.ndarray, buttons: np.ndarray
) -> str:  # fmt: skip
    """Return a sample as a line."""
    words = [repr(float(t))]
    for hand in range(2):
        numbers = [*places[hand], *turns[hand], grips[hand]]
        words += [repr(float(value)) for value in numbers] + [str(int(buttons[hand]))]
    return " ".join(words) + "\n"


def format_head(neutral: np.ndarray | None) -> str:
    """Return the first lines."""
    if neutral is None:
        return f"{HEAD}\n"
    return f"{HEAD}\nneutral {' '.join(repr(float(x)) for x in np.ravel(neutral))}\n"


def save_hands(take: HandsTake, path: str | PathLike[str]) -> None:
    """Write a recording; equal recordings give equal bytes."""
    rows = [format_row(*take.sample(k)) for k in range(len(take))]
    write_bytes(path, (format_head(take.neutral) + "".join(rows)).encode())


class HandsRecorder:
    """Writes each sample to a file at once, so that a killed program loses at most the last one.

    Used as a context, or closed by the caller. It never overwrites a file.
    """

    def __init__(self, path: str | PathLike[str], neutral: np.ndarray | None = None):
        self.path, self.count, self._last = Path(path), 0, -math.inf
        self._is_lost = False
        try:
            self._file = self._open()
        except FileExistsError:
            raise FileError(path, "is there already; a recording is never written over. Give another name.") from None
        except OSError as error:
            raise FileError(path, f"cannot be written: {error.strerror or error}.") from error
        self._file.write(format_head(neutral))
        self._file.flush()

    def put(
        self, t: float, places: np.ndarray, turns: np.ndarray, grips: np.ndarray | None = None,
        buttons: np.ndarray | None = None,
    ) -> bool:  # fmt: skip
        """Add a sample; return False if it is dropped, since its time is not later than the last one's."""
        if self._file.closed:
            raise InputError(f"the recording {self.path.name} was closed.")
        if not math.isfinite(t) or t <= self._last or self.count >= MOST_SAMPLES:
            return False
        places, turns = np.asarray(places, float).reshape(2, 3), np.asarray(turns, float).reshape(2, 4)
        seen = np.isfinite(places).all(axis=1) & np.isfinite(turns).all(axis=1)
        places, turns = np.where(seen[:, None], places, np.nan), np.where(seen[:, None], turns, np.nan)
        grip = np.zeros(2) if grips is None else np.nan_to_num(np.clip(np.asarray(grips, float), 0.0, 1.0))
        held = np.zeros(2, np.int64) if buttons is None else np.asarray(buttons, np.int64) & (2**BUTTONS - 1)
        self._file.write(format_row(t, places, turns, grip, held))
        self._file.flush()
        self._last, self.count = t, self.count + 1
        return True

    def _open(self) -> TextIO:
        return self.path.open("x+", encoding="ascii", newline="\n")

    def keep(self) -> str:
        """Write the file again if it was removed or replaced; return a message then, else an empty string."""
        if self._file.closed or self._is_there():
            return ""
        begin = f"{self.path.name} was taken away while it was recorded."
        try:
            aside = self._write_again()
        except OSError as error:
            was, self._is_lost = self._is_lost, True
            why = f"It cannot be written again: {error.strerror or error}. Make place, and Stop keeps it."
            return "" if was else f"{begin} {why}"
        self._is_lost = False
        return f"{begin} It was written again, from its beginning." + (
            f" What is there instead is {aside}." if aside else ""
        )

    def _is_there(self) -> bool:
        try:
            mine, there = os.fstat(self._file.fileno()), self.path.stat()
        except OSError:
            return False
        # some network disks number the same file again
        return os.path.samestat(mine, there) or mine.st_size == there.st_size

    def _write_again(self) -> str:
        """Write the whole recording again; return the new name of a file that was put in its place."""
        self._file.seek(0)  # of a file without a name, which lives as long as it is open
        whole = self._file.read()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside = ""
        if self.path.exists():
            number = 1
            while (other := self.path.with_name(f"{self.path.name}.other-{number}")).exists():
                number += 1
            self.path.rename(other)
            aside = other.name
        file = self._open()
        file.write(whole)
        file.flush()
        self._file.close()
        self._file = file
        return aside

    def close(self) -> None:
        """Close the file."""
        self.keep()
        self._file.close()

    def __enter__(self) -> HandsRecorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
