"""Output of every command: the result on standard output, everything else on standard error.

A first run compiles for about half a minute: it says so once, with a bar on a terminal.
"""

from __future__ import annotations

import json as json_format
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from cyclopts import Group, Parameter, Token

from poise.cli.streams import mutter, tell
from poise.compiled.kernel import on_compile
from poise.errors import printable, valid_text
from poise.files.reporting import Reporter
from poise.options import parse_whole

GROUP = Group("Speaking", sort_key=100)


def read_seed(_type: object, tokens: Sequence[Token]) -> int:
    """Return a seed: an integer from 0 on."""
    seed = parse_whole(tokens[0].value)
    if seed < 0:
        raise ValueError(f"a seed is a whole number from 0 on, not {seed}.")
    return seed


@Parameter(name="*", group=GROUP)
@dataclass(frozen=True)
class Report(Reporter):
    """What every command takes: how to speak, and the seed of all that is random.

    json   one object on standard output and nothing else there
    quiet  no guesses, warnings and progress on standard error; errors remain
    seed   the same seed gives the same bytes; None: not said

    What was warned of, quiet or not, goes into the object as `warnings`.
    """

    json: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="Print one JSON object, and nothing else, on standard output."),
    ] = False
    quiet: Annotated[
        bool, Parameter(negative="", show_default=False, help="Say nothing but the result and errors.")
    ] = False
    seed: Annotated[
        int | None,
        Parameter(converter=read_seed, help="Seed of everything random: the same seed gives the same bytes."),
    ] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_warned", [])  # no field, which would be an option

    @property
    def warned(self) -> list[str]:
        """The sentences that were warned of since the last result."""
        return self._warned  # type: ignore[attr-defined]

    def tell_nothing_random(self) -> None:
        """Say of a --seed that it changes nothing here. It is no error: a script may give one to every command."""
        if self.seed is not None:
            self.note("nothing is random here, so --seed changes nothing.")

    def note(self, sentence: str) -> None:
        """Tell what was guessed, and how to say it yourself."""
        if not self.quiet:
            wipe()
            mutter(f"poise: {sentence}")

    def warn(self, sentence: str) -> None:
        """Tell what may be wrong with the input or the result."""
        self.warned.append(sentence)
        self.note(f"warning: {sentence}")

    def fail(self, sentence: str) -> None:
        """Tell what could not be done, where the rest was: an error, which is never silenced."""
        mutter(f"poise: {sentence}")

    def show(self, line: str) -> None:
        """Print a line of the result, unless standard output has one JSON object."""
        if not self.json:
            tell(line)

    def progress(self, sentence: str) -> None:
        """Tell what is being done now, on a terminal only."""
        if sys.stderr.isatty():
            self.note(sentence)

    def advance(self, what: str, done: int, total: int) -> None:
        """Show a bar of how much of something is done, on a terminal only; wiped away when all of it is."""
        if not self.quiet:
            draw_bar(what, done, total)

    def spell(self, option: str) -> str:
        """See `Reporter.spell`."""
        return "-o" if option == "output" else f"--{option.replace('_', '-')}"

    def result(self, values: Mapping[str, Any], text: str | None = None) -> None:
        """Print the result: the object itself with --json, otherwise the text, or the values as lines."""
        warnings = list(self.warned)
        self.warned.clear()
        if self.json:
            values = {**values, "warnings": warnings} if warnings and "warnings" not in values else values
            tell(json_format.dumps(plain(values), indent=2, allow_nan=False))
        else:
            tell(lines(values) if text is None else text)


DEFAULT = Report()


def plain(value: Any) -> Any:
    """A value as JSON has it: NumPy scalars and arrays become numbers and lists, what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {valid_text(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return valid_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def make_printable(value: Any) -> Any:
    """The same values with every text in them fit to be printed: names may hold line ends and worse."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(str(key)): make_printable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [make_printable(item) for item in value]
    return value


def lines(values: Mapping[str, Any]) -> str:
    """Values for people: a line a key, names aligned, mappings and lists on one line."""
    rows = {printable(key): _brief(value) for key, value in values.items()}
    width = max(map(len, rows), default=0)
    return "\n".join(f"{key:<{width}}  {value}" for key, value in rows.items())


def _brief(value: Any) -> str:
    value = plain(value)
    if isinstance(value, dict):
        return ", ".join(f"{printable(key)} {_brief(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_brief, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None else printable(str(value))


SENTENCE = "compiling kernels, once: about half a minute"
_WIDTH = 30  # characters of the bar


@contextmanager
def tell_compiling(quiet: bool) -> Iterator[None]:
    """Tell on standard error, while the context lasts, that kernels are compiled; nothing where quiet."""
    _BAR.is_told = False
    on_compile(None if quiet else _BAR.tell)
    try:
        yield
    finally:
        on_compile(None)
        wipe()


def wipe() -> None:
    """Wipe the bar away, if there is one, so that something else can be said in its place."""
    if _BAR.length:
        print(f"\r{' ' * _BAR.length}\r", end="", file=sys.stderr, flush=True)
    _BAR.length = 0


def draw_bar(what: str, done: int, total: int) -> None:
    """Draw a bar of how much of something is done, in the same place, on a terminal only; wipe it when all of it is."""
    if done >= total:
        wipe()
    elif sys.stderr.isatty():
        _BAR.draw(what, done, total)


class _Bar:
    """One plain line, or on a terminal one that is written over and over, and wiped away in the end."""

    def __init__(self) -> None:
        self.length, self.is_told = 0, False

    def tell(self, count: int, known: int) -> None:
        """`count` of `known` kernels, some of which may never be asked for, are compiled or in work."""
        if sys.stderr.isatty():
            self.draw(SENTENCE, count, known)
        elif not self.is_told:
            print(f"poise: {SENTENCE}", file=sys.stderr, flush=True)
        self.is_told = True

    def draw(self, what: str, count: int, known: int) -> None:
        """Write the line over what is there."""
        done = min(_WIDTH, _WIDTH * count // max(known, 1))
        text = f"poise: {what} [{'#' * done}{'.' * (_WIDTH - done)}]"
        print(f"\r{text:<{self.length}}", end="", file=sys.stderr, flush=True)
        self.length = len(text)


_BAR = _Bar()
