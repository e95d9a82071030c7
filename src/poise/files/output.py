"""Outputs appear whole or not at all, and are read again before they take their name.

The bytes go to a temporary name in the same folder, which takes the final name only when all of them are written. A
full disk, a crash or an interrupt leaves what stood there before. What a killed run left is cleared away by the next
one that writes there.

`checked_output` has an output judged before: what stood there stays if anything is wrong.

The name of a temporary file says whose it is, and whether that process still runs:

    .poise-tmp-HOST-PID-START-RANDOM-REST

HOST stands for the machine and, on Linux, the process's own view of processes (containers that share a folder see only
their own); START for when the process began, so that a later process of the same number is told apart. REST is the end
of the final name, suffix and all. A run that was killed leaves such files; the next one that writes into the folder
removes those whose process is gone. Files of another host are never touched, nor is anything of another name.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import IO, Any

from poise.errors import FileError, InputError

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


_NAME = re.compile(r"\.poise-tmp-([0-9a-f]{8})-(\d+)-(\d+)-[0-9a-f]{12}-")
_REST = 80  # bytes of the final name that are kept; with the rest below 143, the least that file systems allow
_swept: set[tuple[int, Path]] = set()


def choose_temporary(target: Path) -> Path:
    """A name in the target's folder that nobody has, and that says that it is ours and this process's."""
    rest = os.fsencode(target.name)[-_REST:].decode(errors="ignore") or "file"
    pid = os.getpid()
    return target.with_name(f".poise-tmp-{_find_host()}-{pid}-{_find_start(pid)}-{os.urandom(6).hex()}-{rest}")


def is_temporary(path: Path) -> bool:
    """Whether a name is one that `choose_temporary` gives, of whatever process."""
    return _NAME.match(path.name) is not None


def sweep_folder(folder: Path) -> list[Path]:
    """Remove what processes of this host that are gone have left in a folder; what was removed.

    A folder is looked through once a process: hundreds of files may be written there.
    """
    key = (os.getpid(), folder)
    if key in _swept:
        return []
    _swept.add(key)
    removed = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _is_stale(entry.name):
                path = folder / entry.name
                with contextlib.suppress(OSError):
                    shutil.rmtree(path) if entry.is_dir(follow_symlinks=False) else path.unlink()
                    removed.append(path)
    return removed


def _is_stale(name: str) -> bool:
    match = _NAME.match(name)
    if match is None or match[1] != _find_host():
        return False
    pid, start = int(match[2]), int(match[3])
    return not _is_running(pid, start)


def _is_running(pid: int, start: int) -> bool:
    """Whether the process of a number that began at a time still runs; true where that cannot be told."""
    if pid == os.getpid():
        return start == _find_start(pid)
    if os.name == "nt":  # os.kill would end the process there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it runs and is somebody else's
        pass
    now = _find_start(pid)
    return now == 0 or start == 0 or now == start


def _find_start(pid: int) -> int:
    """When a process began, in the kernel's ticks since the machine did; 0 where that cannot be read."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return int(fields[19])  # starttime, the 22nd; the name in brackets before may hold anything
    except (OSError, ValueError, IndexError):
        return 0


@functools.cache
def _find_host() -> str:
    """Eight hexadecimal digits for this machine and what it sees of processes."""
    try:
        view = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        view = ""
    return hashlib.sha256(f"{socket.gethostname()} {view}".encode(errors="replace")).hexdigest()[:8]
