"""Every error a user can meet, in one tree.

A message is one sentence or two: what was given, what is allowed, what to do. The command line prints it without a
traceback and leaves with the class's `exit_code`.
"""

from __future__ import annotations

import difflib
import math
import unicodedata
from collections.abc import Iterable
from numbers import Real
from os import PathLike
from typing import Any, TypeGuard


class PoiseError(Exception):
    """Anything Poise refuses or could not do, told in words."""

    exit_code = 2

    def __reduce__(self) -> tuple[Any, ...]:
        """As it travels from a worker process: the sentence and what goes with it, whatever it was made from."""
        return _make_again, (type(self), self.args, self.__dict__)


def _make_again(kind: type[PoiseError], args: tuple[Any, ...], state: dict[str, Any]) -> PoiseError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(PoiseError, ValueError):
    """A value that cannot be used: a negative mass, an unknown name, times that go back."""


class FileError(InputError):
    """A file that cannot be read or written. The message begins `path:line:` where a line is known."""

    def __init__(self, path: str | PathLike[str], message: str, line: int | None = None):
        self.path, self.line = str(path), line
        where = f"{path}:{line}:" if line is not None else f"{path}:"
        super().__init__(f"{where} {message}")


class UnknownNameError(InputError):
    """A name that does not exist.

    kind     what it would name: "joint", "option"
    known    all names there are
    nearest  the one that was probably meant, or None
    """

    def __init__(self, message: str, kind: str, name: str, known: list[str], nearest: str | None):
        self.kind, self.name, self.known, self.nearest = kind, name, known, nearest
        super().__init__(message)


class RangeError(InputError):
    """A number outside its range, or no number. Both ends are allowed values; `unit` is "" for a ratio."""

    def __init__(self, name: str, value: object, low: float, high: float, unit: str = ""):
        self.name, self.value, self.low, self.high, self.unit = name, value, low, high, unit
        shown = f"{value:g}" if _is_number(value) else f"{value!r:.80}"
        super().__init__(f"{name} must be {describe_range(low, high, unit)}; got {shown}.")


class BusyError(PoiseError):
    """Something that another thread is using, and that cannot be shared."""


class SolveError(PoiseError):
    """A computation that has no answer for the numbers it was given."""


_LONGEST_NAME = 80  # letters of a name that is not known, in a sentence
# Joins letters in Persian, Hindi and emoji, and can do no harm.
_JOINERS = "\u200c\u200d"


def printable(text: str) -> str:
    """A text with everything escaped that a terminal would act on, or that reorders or hides what is beside it.

    Names come out of other people's files. Escape sequences, line ends, marks that turn the direction of writing and
    bytes of file names that are no text are shown as \\x1b, \\n, \\u202e, \\xe9. Letters and spaces of any script stay.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in _JOINERS or unicodedata.category(c) == "Zs" else _escape(c) for c in text
    )


def valid_text(text: str) -> str:
    """A text that any file can hold: bytes that were no text (surrogates, in Python) are written out as in \\xe9."""
    return "".join(_escape(c) if "\ud800" <= c <= "\udfff" else c for c in text) if _has_surrogates(text) else text


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _escape(c: str) -> str:
    code = ord(c)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is no UTF-8 [PEP 383]
        return f"\\x{code - 0xDC00:02x}"
    return ascii(c)[1:-1]


def unknown_name(kind: str, name: str, known: Iterable[str], where: str = "") -> UnknownNameError:
    """The error for a name that does not exist, with the nearest that does and all there are."""
    name, known = str(name), list(dict.fromkeys(known))  # a name that is a role as well is told once
    by_lower = {k.lower(): k for k in known}
    near = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.5)
    hint = f" Did you mean '{by_lower[near[0]]}'?" if near else ""
    place = f" in {where}" if where else ""
    name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
    message = f"{kind} '{name}' is not{place or ' known'}.{hint} Known: {', '.join(known) or 'none'}."
    return UnknownNameError(message, kind, name, known, by_lower[near[0]] if near else None)


def describe_range(low: float, high: float, unit: str = "") -> str:
    """Return the words for a range: "from 0.2 to 50 m", or "at least 0.2 m"."""
    text = f"from {low:g} to {high:g}" if math.isfinite(high) else f"at least {low:g}"
    return f"{text} {unit}".rstrip()


def check_range(name: str, value: object, low: float, high: float, unit: str = "") -> None:
    """Raise RangeError unless a value is a finite number from `low` to `high`; `name` begins the sentence."""
    if not (_is_number(value) and math.isfinite(value) and low <= value <= high):
        raise RangeError(name, value, low, high, unit)


def _is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number of Python or NumPy; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_most(asked: str, count: float, most: float, advice: str) -> None:
    """Refuse a number that memory or time would be taken by, before it is: what was asked, what is allowed, what to do.

    asked  as the beginning of a sentence: "10 s at 1e+09 frames a second are 1e+10 frames"
    """
    if not count <= most:  # NaN is too much, too
        raise InputError(f"{asked}; at most {most:,.0f} can be had at once. {advice}")


def finite_number(value: object, what: str) -> float:
    """A finite number out of a file's values; InputError with its name where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{what} must be a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{what} must be a finite number.")
    return number
