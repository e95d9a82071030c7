"""What skeletons of one structure share: the same joints under the same names, hung together alike, in the same roles.

A crowd's bodies differ in their lengths and masses alone, so where each joint is in the tree is found once for all of
them. Nothing here knows an offset.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from poise.errors import InputError, unknown_name

_KEPT = 256  # structures that are remembered for skeletons to come
P = ParamSpec("P")
T = TypeVar("T")


class Structure:
    """A tree of named joints with roles; see `Skeleton` for the fields."""

    def __init__(self, names: tuple[str, ...], parents: tuple[int, ...], roles: tuple[tuple[str, str], ...]):
        self.names, self.parents = names, parents
        roots = [name for name, parent in zip(names, parents, strict=True) if parent < 0]
        if len(roots) != 1 or parents[0] >= 0:
            raise InputError(f"a skeleton needs exactly one root, as its first joint; roots here: {roots or 'none'}.")
        if any(parent >= i for i, parent in enumerate(parents)):
            raise InputError("a skeleton lists parents before their children; this order does not.")
        self.places = {name: i for i, name in enumerate(names)}
        if len(self.places) != len(names):
            doubles = sorted({name for name in names if names.count(name) > 1})
            raise InputError(f"joint names must differ; more than one joint is called {', '.join(doubles)}.")
        for role, name in roles:
            if name not in self.places:
                raise unknown_name(f"joint of role {role},", name, names, "the skeleton")
        self.role_places = {role: self.places[name] for role, name in roles}
        self.role_of = {name: role for role, name in roles}
        self._chains: dict[int, tuple[int, ...]] = {}
        self._below: dict[int, tuple[int, ...]] = {}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """See `Skeleton.labels`."""
        taken, labels = set(self.role_places), []
        for name in self.names:
            label = self.role_of.get(name, name)
            while name not in self.role_of and label in taken:
                label += "_"
            taken.add(label)
            labels.append(label)
        return tuple(labels)

    @cached_property
    def nearest_roles(self) -> tuple[str | None, ...]:
        """For every joint its role, or that of the nearest joint above which has one."""
        roles: list[str | None] = []
        for name, parent in zip(self.names, self.parents, strict=True):
            roles.append(self.role_of.get(name, roles[parent] if parent >= 0 else None))
        return tuple(roles)

    def chain(self, joint: int) -> tuple[int, ...]:
        """Indices from the root down to a joint, both included."""
        if joint not in self._chains:
            path = [joint]
            while self.parents[path[-1]] >= 0:
                path.append(self.parents[path[-1]])
            self._chains[joint] = tuple(path[::-1])
        return self._chains[joint]

    def descendants(self, joint: int) -> tuple[int, ...]:
        """Indices of a joint and of everything it carries, in order."""
        if joint not in self._below:
            found = {joint}
            for i in range(joint + 1, len(self.parents)):
                if self.parents[i] in found:
                    found.add(i)
            self._below[joint] = tuple(sorted(found))
        return self._below[joint]


@lru_cache(maxsize=_KEPT)
def find_structure(names: tuple[str, ...], parents: tuple[int, ...], roles: tuple[tuple[str, str], ...]) -> Structure:
    """The structure of these joints, the same object for all that have it; raises InputError where it is no tree."""
    return Structure(names, parents, roles)


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """Have what a function finds of a skeleton (its first argument) kept with that skeleton, as long as it lives.

    What is found must not be written to. It does not travel with a skeleton that is pickled or copied.
    """

    @wraps(function)
    def find(*args: P.args, **named: P.kwargs) -> T:
        kept: dict[Any, Any] = args[0].__dict__.setdefault("_remembered", {})
        key = (function, args[1:], *named.items())
        if key not in kept:
            kept[key] = function(*args, **named)
        found: T = kept[key]
        return found

    return find
