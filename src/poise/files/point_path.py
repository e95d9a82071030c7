"""Paths out of CSV files: a row a time, under a head that names the columns.

    time,x,y,z
    0.0,0.20,1.05,0.30
    0.5,0.20,1.30,0.35

Seconds after the clip's first frame, and metres in the world that the clip is in. With `qw,qx,qy,qz` besides, it says
how the joint is turned, too. Columns may stand in any order; lines that begin with # are passed over.
"""

from __future__ import annotations

import csv
from os import PathLike

import numpy as np

from poise.errors import FileError, InputError
from poise.files.input import read_bytes
from poise.motion.point_path import MOST_SAMPLES, PointPath

MOST_BYTES = 100_000_000
_PLACE, _TURN = ("time", "x", "y", "z"), ("qw", "qx", "qy", "qz")


def load_point_path(path: str | PathLike[str]) -> PointPath:
    """Return the path that a file has; a FileError begins with path and line."""
    try:
        text = read_bytes(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(path, "is no table of a path: it is not plain text.") from None
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if not lines:
        raise FileError(path, f"is empty; a path has a head '{','.join(_PLACE)}' and a row a time.")
    head = [word.strip() for word in next(csv.reader([lines[0][1]]))]
    columns = _read_columns(path, head, lines[0][0])
    if len(lines) - 1 > MOST_SAMPLES:
        raise FileError(path, f"has {len(lines) - 1} rows; at most {MOST_SAMPLES} are read. Take fewer.")
    rows = np.array([_read_row(path, line, head, number) for number, line in lines[1:]]).reshape(-1, len(head))
    rows = rows[:, [head.index(column) for column in columns]]
    try:
        return PointPath(rows[:, 0], rows[:, 1:4], rows[:, 4:] if len(columns) > 4 else None)
    except InputError as error:
        raise FileError(path, str(error)) from None


def _read_columns(path: str | PathLike[str], head: list[str], line: int) -> tuple[str, ...]:
    """Return the columns that a path is read from, in order; a FileError if others are named, or one is missing."""
    columns = (*_PLACE, *(_TURN if any(word in head for word in _TURN) else ()))
    missing, odd = [c for c in columns if c not in head], [c for c in head if c not in columns]
    if missing or odd or len(set(head)) < len(head):
        told = f"'{odd[0]:.20}' is not known" if odd else f"'{missing[0]}' is missing" if missing else "one is twice"
        known = f"columns of a path are {', '.join(_PLACE)}, and {', '.join(_TURN)} where it turns"
        raise FileError(path, f"{known}; {told}.", line)
    return columns


def _read_row(path: str | PathLike[str], line: str, head: list[str], number: int) -> list[float]:
    """Return the numbers of a line, in its order."""
    words = line.split(",")
    if len(words) != len(head):
        raise FileError(path, f"has {len(words)} numbers where its head names {len(head)}.", number)
    numbers = []
    for word in words:
        try:
            numbers.append(float(word))
        except ValueError:
            raise FileError(path, f"'{word.strip():.20}' is no number.", number) from None
    return numbers
