"""Temporary files by name: whose they are, and whether whoever made them still runs.

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
from pathlib import Path

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
