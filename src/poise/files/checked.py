"""Outputs that are read again and judged before they take their name: what stood there stays if anything is wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from poise.errors import FileError
from poise.files.atomic import temporary_beside


@contextlib.contextmanager
def checked_output(path: str | PathLike[str]) -> Iterator[Path]:
    """A path to write to and to read from; the file takes the name `path` when the block ends without an error.

    Errors speak of `path`, since nobody knows the other name.
    """
    with temporary_beside(path) as draft:
        try:
            yield draft
        except FileError as error:
            if error.path != str(draft):
                raise
            prefix = f"{draft}:" if error.line is None else f"{draft}:{error.line}:"
            message = str(error).removeprefix(prefix).strip().replace(str(draft), str(path))
            raise FileError(path, message, error.line) from error
