"""Mappings and recordings as they were last readable: what somebody plays does not end because of a file.

A file is read again when it is another than it was. One that is broken or gone by then is told, once, and what it said
before is played on. One that never could be read is refused, as ever.
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


class HandsShelf:
    """Files that were read.

    told   sentences for people that nobody has asked for yet: see `ask`
    """

    def __init__(self) -> None:
        self._read: dict[str, tuple[_Stamp, Any]] = {}
        self._broken: dict[str, _Stamp] = {}  # as they were when that was told
        self.told: list[str] = []

    def find_mapping(self, mapping: str | PathLike[str]) -> HandMapping:
        """See `load_mapping`."""
        return self._find(mapping, load_mapping)

    def find_hands(self, path: str | PathLike[str]) -> HandsTake:
        """See `load_hands`."""
        return self._find(path, load_hands)

    def has_changed(self, path: str | PathLike[str]) -> bool:
        """Whether a file that was read is another now, and nobody was told so yet."""
        known = str(path) in self._read
        now = _stamp(path)
        return known and now != self._read[str(path)][0] and self._broken.get(str(path), ()) != now

    def ask(self) -> list[str]:
        """What is to be told; once."""
        told, self.told = self.told, []
        return told

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
                self.told.append(f"{error}{_KEPT}")
            self._broken[name] = stamp
            return had[1]
        self._read[name] = stamp, found
        self._broken.pop(name, None)
        return found


def _stamp(path: str | PathLike[str]) -> _Stamp:
    """What changes when a file does; None where there is none, and of what comes along (`legs`)."""
    if not Path(path).suffix:
        return None
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
