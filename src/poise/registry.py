"""Things that are found by name and imported only when they are used: commands, demos, benches, engines, drivers."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from poise.errors import InputError, unknown_name


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


class Registry:
    """Things of one kind by name: the package's own, imported when they are asked for, and those that were registered.

    A name that is not known is looked for in plugins before it is refused: see `load_plugins`.

    kind   what they are, for errors
    needs  what the package's own need that may be missing: module to import, and what to install for it
    """

    def __init__(self, kind: str, entries: Mapping[str, Entry], needs: Mapping[str, tuple[str, str]] | None = None):
        self.kind, self.entries, self.needs = kind, entries, needs or {}
        self._registered: dict[str, Callable[..., Any]] = {}

    def register(self, name: str, make: Callable[..., Any]) -> None:
        """Have something found by a name from now on; one that was registered by that name before is no more."""
        if not (isinstance(name, str) and name.strip()):
            raise InputError(f"{self.kind} is registered by a name; {name!r} given.")
        if name in self.entries:
            raise InputError(f"{self.kind} '{name}' is Poise's own. Register yours by another name.")
        if not callable(make):
            raise InputError(
                f"{self.kind} '{name}' is registered by its class or a function that makes it; not {make!r}."
            )
        self._registered[name] = make

    def names(self) -> list[str]:
        """All names that are known by now."""
        return [*self.entries, *self._registered]

    def find(self, name: str) -> Callable[..., Any]:
        """What makes the thing of a name; refused where it is unknown or what it needs is missing."""
        if name not in self.names():
            load_plugins()
        if name in self._registered:
            return self._registered[name]
        if name not in self.entries:
            raise InputError(f"{unknown_name(self.kind, name, self.names())}{load_plugins()}")
        if name in self.needs:
            from importlib.util import find_spec

            module, package = self.needs[name]
            if find_spec(module) is None:
                raise InputError(
                    f"{self.kind} '{name}' needs {module}, which is not installed: pip install '{package}'."
                )
        return self.entries[name].load()


PLUGINS = "poise.plugins"


@cache
def load_plugins() -> str:
    """Import what installed packages name as plugins: modules that register drivers, engines and formats.

    A package does so by an entry point of the group `poise.plugins`. It is done once, when something is asked for by a
    name or a suffix that is not known: who asks for nothing of theirs never imports them. Returns what is to be said,
    by whoever did not find what he was asked for, of plugins that could not be loaded.
    """
    from importlib.metadata import entry_points

    broken = []
    for plugin in sorted(entry_points(group=PLUGINS), key=lambda plugin: plugin.name):
        try:
            plugin.load()
        except Exception as error:  # whatever somebody else's module raises
            why = f"{type(error).__name__}: {error}"
            broken.append(f" Plugin '{plugin.name}' ({plugin.value}) could not be loaded ({why}).")
    return "".join(broken)
