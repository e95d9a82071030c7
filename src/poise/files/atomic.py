"""Files that appear whole or not at all.

The bytes go to a temporary name in the same folder, which takes the final name only when all of them are written. A
full disk, a crash or an interrupt leaves what stood there before.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import IO, Any

from poise.errors import FileError, InputError


@contextlib.contextmanager
def temporary_beside(path: str | PathLike[str]) -> Iterator[Path]:
    """A path to write to, of the same suffix and in the same folder; it takes the name `path` once the block ends.

    If the block raises, the temporary file is removed and `path` is untouched: a file can be written, read again and
    judged before anybody sees it. A link is followed, so that its target is replaced and not the link. A device or pipe
    is given the bytes in the end. An OSError of the block becomes a FileError of `path`.
    """
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        with tempfile.TemporaryDirectory(prefix="poise-") as folder:
            temporary = Path(folder) / Path(path).name
            yield temporary
            write_bytes(path, temporary.read_bytes())
        return
    target = Path(os.path.realpath(path))
    _check_writable_place(path, target)
    temporary = target.with_name(f".{target.stem}.{os.urandom(6).hex()}.tmp{target.suffix}")
    try:
        yield temporary
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise FileError(path, f"cannot be written: {error.strerror or error}. Nothing was changed there.") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def open_atomic(path: str | PathLike[str], mode: str = "wb") -> Iterator[IO[Any]]:
    """A stream to write to; `path` holds its content once the block ends, and is untouched if the block raises.

    mode  "wb" for bytes, "w" for text (UTF-8, line ends as written)

    A link is followed, so that its target is replaced and not the link. A device or pipe is written to directly.
    """
    if mode not in ("wb", "w"):
        raise InputError(f"mode '{mode}' cannot be written atomically; allowed: 'wb', 'w'.")
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        with Path(path).open(mode, **text) as stream:  # type: ignore[call-overload]
            yield stream
        return
    target = Path(os.path.realpath(path))
    _check_writable_place(path, target)
    temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}.tmp")
    try:
        # "x" refuses to follow a name that somebody else put there; the umask gives the permissions as usual.
        with temporary.open(mode.replace("w", "x"), **text) as stream:  # type: ignore[call-overload]
            yield stream
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise FileError(path, f"cannot be written: {error.strerror or error}. Nothing was changed there.") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_bytes(path: str | PathLike[str], data: bytes) -> None:
    """Write a whole file at once, atomically."""
    with open_atomic(path, "wb") as stream:
        stream.write(data)


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Write several files so that all appear or none: no name is taken before the last byte of all is written."""
    with contextlib.ExitStack() as stack:
        for stream, data in [(stack.enter_context(open_atomic(path)), data) for path, data in contents.items()]:
            stream.write(data)


def _check_writable_place(path: str | PathLike[str], target: Path) -> None:
    folder = target.parent
    if target.is_dir():
        raise FileError(path, "cannot be written: it is a folder. Give the path of a file in it.")
    if not folder.exists():
        raise FileError(path, f"cannot be written: folder '{folder}' does not exist. Make it, or give another path.")
    if not folder.is_dir():
        raise FileError(path, f"cannot be written: '{folder}' is a file, not a folder. Give another path.")
    if not os.access(folder, os.W_OK):
        raise FileError(path, f"cannot be written: folder '{folder}' does not allow it. Give another path.")
