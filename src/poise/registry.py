"""Things that are found by name and imported only when they are used: commands, demos, benches."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from poise.errors import unknown_name


class Entry(NamedTuple):
    """Where a named thing lives, and what it is in one line.

    target   "package.module:function"
    summary  one line, without a full stop at its end
    """

    target: str
    summary: str

    def load(self) -> Callable[..., Any]:
        """The function itself; its module is imported now."""
        module, _, name = self.target.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return function


def choose(kind: str, name: str, entries: Mapping[str, Entry]) -> list[str]:
    """The names that a request means: one of the entries, or every one of them for 'all'."""
    if name == "all":
        return list(entries)
    if name not in entries:
        raise unknown_name(kind, name, ["all", *entries])
    return [name]
