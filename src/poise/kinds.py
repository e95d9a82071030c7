"""Arguments of a wrong kind, answered by a sentence.

    @checked
    def run(self, seconds: float, fps: float = 50.0) -> Take: ...

    run("a")        InputError: Stage.run takes a number as seconds; given 'a'.

What is public is checked by what its own annotations say: numbers, words, paths, truth values, things of a class, what
can be called or gone through; either of several; None where that is one of them. Whatever else an annotation says is
left to the function, and so is whether a value makes sense.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, TypeVar

import numpy as np

from poise.errors import InputError, PoiseError

Checked = TypeVar("Checked", bound=Callable[..., Any])


class Kind(NamedTuple):
    """A test of a value, what passes it in words, and whether nothing else can do: another's class may do as well."""

    fits: Callable[[Any], bool]
    told: str
    is_sure: bool = True


def checked(function: Checked) -> Checked:
    """Have a function, or what makes a class, look at the kinds of its arguments."""
    if inspect.isclass(function):
        setattr(function, "__init__", _wrap(vars(function)["__init__"], function.__qualname__, is_class=True))  # noqa: B010
        return function
    return _wrap(function, function.__qualname__)


def _wrap(function: Any, where: str, is_class: bool = False) -> Any:
    """Look when a function raised what is no sentence, and when a thing is made: what it says itself goes first."""
    signature, kinds = inspect.signature(function), None

    def look(args: tuple[Any, ...], named: dict[str, Any], is_made: bool = False) -> None:
        nonlocal kinds
        if kinds is None:
            kinds = _find_kinds(function, signature)
        try:
            given = signature.bind(*args, **named).arguments
        except TypeError:
            return  # Python says it better: there are too many, or one is missing
        for name, kind in kinds.items():
            if name in given and not kind.fits(given[name]) and (kind.is_sure or not is_made):
                raise InputError(f"{where} takes {kind.told} as {name}; given {brief(given[name])}.")

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        try:
            result = function(*args, **named)
        except PoiseError:
            raise
        except Exception:
            look(args, named)
            raise
        if is_class:
            look(args, named, is_made=True)
        return result

    return call


def brief(value: Any) -> str:
    """A value in an error's sentence: itself where that is short, else what it is."""
    text = ascii(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 and " at 0x" not in text and "\n" not in text else f"a {type(value).__name__}"


def _find_kinds(function: Any, signature: inspect.Signature) -> dict[str, Kind]:
    """What is known of a function's arguments, by name."""
    names, found = inspect.unwrap(function).__globals__, {}
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        kind = find_kind(_evaluate(parameter.annotation, names))
        if kind is not None and parameter.default is None:
            kind = _or([kind, _PLAIN[None]])
        if kind is not None:
            found[name] = kind
    return found


def _evaluate(annotation: Any, names: dict[str, Any]) -> Any:
    """An annotation as it is meant; Any where it names what is known only to those who check types."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names, _Public(names))
    except (NameError, AttributeError, TypeError):
        return Any


class _Public(dict[str, Any]):
    """Public names of Poise, for annotations whose module knows them only for checking types."""

    def __init__(self, names: dict[str, Any]):
        super().__init__()
        self._names = names

    def __missing__(self, name: str) -> Any:
        if name in self._names or not hasattr(sys.modules["poise"], name):
            raise KeyError(name)
        return getattr(sys.modules["poise"], name)


def find_kind(annotation: Any) -> Kind | None:
    """None: anything goes."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if len(list_members(annotation)) > 1:
        kinds = [find_kind(each) for each in arguments]
        return None if any(kind is None for kind in kinds) else _or([kind for kind in kinds if kind is not None])
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if origin in _GENERIC or annotation in _GENERIC:
        return _GENERIC[origin or annotation]
    if origin is tuple and arguments and set(arguments) == {float}:
        count = len(arguments)
        return Kind(lambda value: _are_numbers(value, count), f"{count} numbers")
    if origin is None and inspect.isclass(annotation) and annotation.__module__.partition(".")[0] == "poise":
        if getattr(annotation, "_is_protocol", False):
            return None
        return Kind(lambda value: isinstance(value, annotation), _with_article(annotation.__name__), is_sure=False)
    return None


def list_members(annotation: Any) -> list[Any]:
    """Return the alternatives of an annotation: those of a union, or itself."""
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return list(typing.get_args(annotation)) if is_union else [annotation]


def _or(kinds: list[Kind]) -> Kind:
    told = list(dict.fromkeys(kind.told for kind in kinds))
    sure = all(kind.is_sure for kind in kinds)
    return Kind(lambda value: any(kind.fits(value) for kind in kinds), " or ".join(told), sure)


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}"


def _is_number(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "fiu"
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def _is_array(value: Any) -> bool:
    try:
        return np.asarray(value).dtype.kind in "fiub"
    except (TypeError, ValueError):
        return False


def _are_numbers(value: Any, count: int) -> bool:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return False
    found = list(value)
    return len(found) == count and all(_is_number(each) for each in found)


_PLAIN: dict[Any, Kind] = {
    float: Kind(_is_number, "a number"),
    int: Kind(lambda value: isinstance(value, numbers.Integral) and not isinstance(value, bool), "a whole number"),
    bool: Kind(lambda value: isinstance(value, bool | np.bool_), "True or False"),
    str: Kind(lambda value: isinstance(value, str), "text"),
    np.ndarray: Kind(_is_array, "an array of numbers"),
    type(None): Kind(lambda value: value is None, "None"),
    None: Kind(lambda value: value is None, "None"),
}
_GENERIC: dict[Any, Kind] = {
    PathLike: Kind(lambda value: isinstance(value, PathLike), "a path"),
    Callable: Kind(callable, "a function"),
    Mapping: Kind(lambda value: isinstance(value, Mapping), "a dictionary"),
    dict: Kind(lambda value: isinstance(value, dict), "a dictionary"),
    **{
        kind: Kind(lambda value: isinstance(value, Iterable) and not isinstance(value, str), "a list")
        for kind in (Iterable, Collection, Sequence, list)
    },
}
