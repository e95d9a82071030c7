"""Bytes and text out of files, with bounds and with errors in words: what the readers of all formats share."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from poise.errors import FileError, unknown_name

# Far above any recording's size (an hour of 60 joints at 120 Hz is 0.6 GB as text), below what hurts a laptop.
MOST_BYTES = 2_000_000_000


def read_bytes(path: str | PathLike[str], most: int = MOST_BYTES) -> bytes:
    """A whole file, refused before it is read where it is larger than `most` bytes."""
    try:
        size = Path(path).stat().st_size
        if size > most:
            raise FileError(path, f"the file has {size} bytes; at most {most} are read. Split the recording.")
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise FileError(path, "there is no such file. Check the path.") from None
    except IsADirectoryError:
        raise FileError(path, "is a folder. Give the path of one file in it.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}.") from error


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
