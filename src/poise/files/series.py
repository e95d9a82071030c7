"""Numbers over time as CSV: a column a quantity, a row a frame."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from poise.errors import InputError, valid_text


def format_series(columns: Mapping[str, np.ndarray], digits: int = 6) -> bytes:
    """Columns (F,) of equal length as CSV. No exponents; a cell is empty where there is no value."""
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) != 1:
        raise InputError(f"the columns of a series must be of one length; given {lengths}.")
    rows = zip(*(_cells(values, digits) for values in columns.values()), strict=True)
    lines = [",".join(map(_quote, columns)), *(",".join(row) for row in rows)]
    return valid_text("\n".join(lines) + "\n").encode()


def _cells(values: np.ndarray, digits: int) -> list[str]:
    rounded = np.round(np.asarray(values, float), digits) + 0.0  # minus zero becomes zero
    return [f"{value:.{digits}f}" if np.isfinite(value) else "" for value in rounded]


def _quote(name: str) -> str:
    """A joint may be called anything."""
    if any(letter in name for letter in ',"\n\r'):
        return '"' + name.replace('"', '""') + '"'
    return name
