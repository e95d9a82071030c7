"""The frames of a BVH file as its text has them: who keeps a file keeps `0`, `-0.0000` and every blank, too."""

from __future__ import annotations

import itertools

import numpy as np

from poise.errors import FileError
from poise.files.bvh_text import BvhFile, read_plain_text
from poise.files.numbers import parse_numbers


def read_rows(source: BvhFile) -> list[bytes] | None:
    """The text of each frame with its line end; None where the file is no longer the one that was read.

    It is read anew, since nobody else needs so much text. Together with `source.head` the rows are the whole file.
    """
    try:
        text = read_plain_text(source.path)
    except FileError:
        return None
    if not text.startswith(source.head):
        return None
    block = text[len(source.head) :]
    numbers = parse_numbers(block)
    if len(numbers.bad) or not np.array_equal(numbers.values, source.values.ravel()):
        return None
    channels = source.values.shape[1]
    line_ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    # A line ends wherever a frame does; what comes after the last is the last's.
    ends = line_ends[np.searchsorted(line_ends, numbers.starts[channels - 1 : -1 : channels])] + 1
    return [block[begin:end] for begin, end in itertools.pairwise([0, *ends.tolist(), len(block)])]
