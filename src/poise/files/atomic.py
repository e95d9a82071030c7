"""Files that appear whole or not at all.

The bytes go to a temporary name in the same folder, which takes the final name only when all of them are written. A
full disk, a crash or an interrupt leaves what stood there before. What a killed run left is cleared away by the next
one that writes there: see `leftovers`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import IO, Any

from poise.errors import FileError, InputError
from poise.files.leftovers import choose_temporary, sweep_folder

_held: ContextVar[list[tuple[Path, Path]] | None] = ContextVar("held", default=None)


@contextlib.contextmanager
def all_or_none() -> Iterator[None]:
    """Files that are written in this block take their names when it ends, and none of them does if it raises."""
    if _held.get() is not None:
        yield  # whoever is around this one decides
        return
    held: list[tuple[Path, Path]] = []
    token = _held.set(held)
    try:
        yield
        for temporary, target in held:
            temporary.replace(target)
    except BaseException:
        for temporary, _ in held:
            temporary.unlink(missing_ok=True)
        raise
    finally:
        _held.reset(token)


@contextlib.contextmanager
def temporary_beside(path: str | PathLike[str]) -> Iterator[Path]:
    """A path to write to, of the same suffix and in the same folder; it takes the name `path` once the block ends.

    If the block raises, the temporary file is removed and `path` is untouched: a file can be written, read again and
    judged before anybody sees it. A link is followed, so that its target is replaced and not the link. A device or pipe
    is given the bytes in the end. An OSError of the block becomes a FileError of `path`.
    """
    if is_stream(path):
        with temporary_folder() as folder:
            yield folder / (Path(path).name or "file")
            write_bytes(path, (folder / (Path(path).name or "file")).read_bytes())
        return
    target = check_place(path)
    sweep_folder(target.parent)
    temporary = choose_temporary(target)
    try:
        held = _held.get()
        token = _held.set(None)  # what is written to the temporary name is wanted there at once
        try:
            yield temporary
        finally:
            _held.reset(token)
        if held is None:
            temporary.replace(target)
        else:
            held.append((temporary, target))
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
    if is_stream(path):
        try:
            with Path(path).open(mode, **text) as stream:  # type: ignore[call-overload]
                yield stream
        except OSError as error:
            raise FileError(path, f"cannot be written: {error.strerror or error}.") from error
        return
    # "x" refuses to follow a name that somebody else put there; the umask gives the permissions as usual.
    with (
        temporary_beside(path) as temporary,
        temporary.open(mode.replace("w", "x"), **text) as stream,  # type: ignore[call-overload]
    ):
        yield stream


def write_bytes(path: str | PathLike[str], data: bytes) -> None:
    """Write a whole file at once, atomically."""
    with open_atomic(path, "wb") as stream:
        stream.write(data)


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Write several files so that all appear or none: no name is taken before the last byte of all is written."""
    with contextlib.ExitStack() as stack:
        for stream, data in [(stack.enter_context(open_atomic(path)), data) for path, data in contents.items()]:
            stream.write(data)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """An empty folder where the system has its temporary files, gone when the block ends."""
    place = Path(tempfile.gettempdir())
    sweep_folder(place)
    folder = choose_temporary(place / "folder")
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_stream(path: str | PathLike[str]) -> bool:
    """Whether a path is a device or a pipe, such as /dev/stdout: written to, never replaced."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def check_place(path: str | PathLike[str]) -> Path:
    """Refuse a path that no file can be written to; where its file will really be, links followed."""
    try:
        target = Path(os.path.realpath(path))
        is_folder, is_there, folder = target.is_dir(), target.exists(), target.parent
        folder_is_there = folder.exists()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(path, f"cannot be written: {reason}. Give another path.") from error
    if is_folder:
        raise FileError(path, "cannot be written: it is a folder. Give the path of a file in it.")
    if not folder_is_there:
        raise FileError(path, f"cannot be written: folder '{folder}' does not exist. Make it, or give another path.")
    if not folder.is_dir():
        raise FileError(path, f"cannot be written: '{folder}' is a file, not a folder. Give another path.")
    if not os.access(folder, os.W_OK):
        raise FileError(path, f"cannot be written: folder '{folder}' does not allow it. Give another path.")
    if is_there and not os.access(target, os.W_OK):
        raise FileError(path, "cannot be written: the file that is there is write-protected. Give another path.")
    return target
