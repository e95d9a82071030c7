"""Cache of mappings and recordings: playback continues with the last valid version if a file breaks.

A file is read again after it has changed. If it is broken or missing then, that is reported once, and the previous
version is used. A file that was never readable raises InputError.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from poise.errors import InputError
from poise.puppetry.hands import HandsTake
from poise.puppetry.hands_file import load_hands
from poise.puppetry.mapping import HandMapping, load_mapping

_Stamp = tuple[int, int, int] | None
_KEPT = " What it said before is played on."


class HandsCache:
    """Files that were read.

    messages  for the user, that were not taken yet: see `take_messages`
    """

    def __init__(self) -> None:
        self._read: dict[str, tuple[_Stamp, Any]] = {}
        self._broken: dict[str, _Stamp] = {}  # stamps of the versions that were reported
        self.messages: list[str] = []

    def find_mapping(self, mapping: str | PathLike[str]) -> HandMapping:
        """See `load_mapping`."""
        return self._find(mapping, load_mapping)

    def find_hands(self, path: str | PathLike[str]) -> HandsTake:
        """See `load_hands`."""
        return self._find(path, load_hands)

    def has_changed(self, path: str | PathLike[str]) -> bool:
        """Return whether a file has changed since it was read, and that was not reported yet."""
        known = str(path) in self._read
        now = _stamp(path)
        return known and now != self._read[str(path)][0] and self._broken.get(str(path), ()) != now

    def take_messages(self) -> list[str]:
        """Return the messages since the last call."""
        found, self.messages = self.messages, []
        return found

    def _find(self, path: str | PathLike[str], load: Callable[[Any], Any]) -> Any:
        name, stamp = str(path), _stamp(path)
        had = self._read.get(name)
        if had is not None and had[0] == stamp:
            return had[1]
        try:
            found = load(path)
        except InputError as error:
            if had is None:
                raise
            if self._broken.get(name, ()) != stamp:
                self.messages.append(f"{error}{_KEPT}")
            self._broken[name] = stamp
            return had[1]
        self._read[name] = stamp, found
        self._broken.pop(name, None)
        return found


def _stamp(path: str | PathLike[str]) -> _Stamp:
    """Return what changes when a file does; None if there is no file, and for built-in mappings (`legs`)."""
    if not Path(path).suffix:
        return None
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
