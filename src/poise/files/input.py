"""Bytes and text out of files, with bounds and with errors in words: what the readers of all formats share.

This is the one place where a file that somebody names is opened. Only regular files are: a device has no end, and a
pipe may never begin. Sizes are known before memory is taken, and what the file holds is never trusted for them.

A motion is called after the file that it is in.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO

from poise.errors import FileError, unknown_name, valid_text

# Far above any recording's size (an hour of 60 joints at 120 Hz is 0.6 GB as text), below what hurts a laptop.
MOST_BYTES = 2_000_000_000
MOST_SETTINGS_BYTES = 1_000_000  # of a file that people write by hand: a recipe, a stage, a table of roles
MOST_POSES = 30_000_000  # joints times frames: that hour; it takes 1 GB, and some GB while it is worked on
# A pipe that nobody writes to is not waited for, and bytes come as they are on Windows, too.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_PIECE = 1 << 20  # bytes
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def open_input(path: str | PathLike[str], most: int = MOST_BYTES, *, may_be_empty: bool = False) -> IO[bytes]:
    """A regular file to read bytes from, refused where it is empty or larger than `most` bytes. Use as a context."""
    with _in_words(path):
        _check_regular(path, Path(path).stat(), most)  # before it is opened: to open some devices is to do something
        stream = open(os.open(path, _FLAGS), "rb")  # noqa: PTH123, SIM115  a descriptor has no path; the caller's
        try:
            _check_regular(path, os.fstat(stream.fileno()), most)  # and what was opened, should it be another by now
            if not may_be_empty and not stream.peek(1):  # asked of the bytes: the system's own files are told as 0 long
                raise FileError(path, "the file is empty. Export it again.")
        except BaseException:
            stream.close()
            raise
        return stream


@contextmanager
def _in_words(path: str | PathLike[str]) -> Iterator[None]:
    """What the system says about a file, as a FileError."""
    try:
        yield
    except FileError:
        raise
    except FileNotFoundError:
        raise FileError(path, "there is no such file. Check the path.") from None
    except IsADirectoryError:
        raise FileError(path, "is a folder. Give the path of one file in it.") from None
    except (OSError, ValueError) as error:
        raise FileError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def _check_regular(path: str | PathLike[str], found: os.stat_result, most: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "no regular file")
        raise FileError(path, f"is {kind}; only regular files are read. Write what it gives to a file, and read that.")
    if found.st_size > most:
        raise FileError(path, f"the file has {found.st_size} bytes; at most {most} are read. Split or shorten it.")


def check_there(path: str | PathLike[str]) -> None:
    """Refuse what is no file that can be read, as `open_input` does."""
    with open_input(path, may_be_empty=True):
        pass


def read_bytes(path: str | PathLike[str], most: int = MOST_BYTES, *, may_be_empty: bool = False) -> bytes:
    """A whole file, refused before it is read where it is empty or larger than `most` bytes."""
    with _in_words(path), open_input(path, most, may_be_empty=may_be_empty) as stream:
        data = stream.read(os.fstat(stream.fileno()).st_size)  # so much is set aside before anything is read
        # More comes of a file that grew, and of the system's own, whose sizes are told as 0.
        while len(data) <= most and (more := stream.read(_PIECE)):
            data += more
    if len(data) > most:
        raise FileError(path, f"the file has more than the {most} bytes that are read. Split or shorten it.")
    return data


def check_poses(path: str | PathLike[str], frames: int, joints: int) -> None:
    """Refuse more joints times frames than are worked on at once, before there are arrays of them."""
    if frames * joints > MOST_POSES:
        raise FileError(
            path,
            f"{frames} frames of {joints} joints are {frames * joints} poses of joints; at most {MOST_POSES} are read. "
            "Split the recording.",
        )


def read_text(path: str | PathLike[str], most: int = MOST_BYTES) -> str:
    """A whole text file: UTF-8 or UTF-16 with or without mark, else Latin-1; lines ended by a line feed."""
    return decode_text(read_bytes(path, most))


def decode_text(data: bytes) -> str:
    """Bytes as text, whatever common encoding they are in; lines ended by a line feed."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def shorten(word: str, most: int = 40) -> str:
    """A word that is fit to stand in a message, however long or unprintable."""
    shown = "".join(c if c.isprintable() else "�" for c in word[:most])
    return shown if len(word) <= most else f"{shown}..."


def find_choice(clip: str | None, choices: Sequence[str], path: str | PathLike[str]) -> int:
    """Which of a file's clips a name, or a number from 0, means; the first if None."""
    if clip is None:
        return 0
    if clip in choices:
        return list(choices).index(clip)
    if clip.isdecimal() and len(clip) < 10 and int(clip) < len(choices):
        return int(clip)
    raise unknown_name("clip", clip, choices, str(path))


def stem_of(path: str | PathLike[str]) -> str:
    """A file's name without its suffix, as text that every format can hold: bytes that are no UTF-8 are written out."""
    return valid_text(Path(path).stem)
