"""How every command speaks: the result on standard output, everything else on standard error."""

from __future__ import annotations

import json as json_format
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from cyclopts import Group, Parameter, Token

from poise.cli.compiling import wipe

GROUP = Group("Speaking", sort_key=100)


def read_whole(_type: object, tokens: Sequence[Token]) -> int:
    """A whole number of the command line; 1.5 is none (cyclopts would round it)."""
    word = tokens[0].value
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"'{word}' is not a whole number.") from None


def read_seed(_type: object, tokens: Sequence[Token]) -> int:
    """A whole number from 0 on."""
    seed = read_whole(_type, tokens)
    if seed < 0:
        raise ValueError(f"a seed is a whole number from 0 on, not {seed}.")
    return seed


@Parameter(name="*", group=GROUP)
@dataclass(frozen=True)
class Report:
    """What every command takes: how to speak, and the seed of all that is random.

    json   one object on standard output and nothing else there
    quiet  no guesses, warnings and progress on standard error; errors remain
    seed   the same seed gives the same bytes
    """

    json: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="Print one JSON object, and nothing else, on standard output."),
    ] = False
    quiet: Annotated[
        bool, Parameter(negative="", show_default=False, help="Say nothing but the result and errors.")
    ] = False
    seed: Annotated[
        int,
        Parameter(converter=read_seed, help="Seed of everything random: the same seed gives the same bytes."),
    ] = 0

    def note(self, sentence: str) -> None:
        """Tell what was guessed, and how to say it yourself."""
        if not self.quiet:
            wipe()
            print(f"poise: {sentence}", file=sys.stderr)

    def warn(self, sentence: str) -> None:
        """Tell what may be wrong with the input or the result."""
        self.note(f"warning: {sentence}")

    def progress(self, sentence: str) -> None:
        """Tell what is being done now, on a terminal only."""
        if sys.stderr.isatty():
            self.note(sentence)

    def result(self, values: Mapping[str, Any], text: str | None = None) -> None:
        """Print the result: the object itself with --json, otherwise the text, or the values as lines."""
        if self.json:
            print(json_format.dumps(plain(values), indent=2, allow_nan=False))
        else:
            print(lines(values) if text is None else text)


DEFAULT = Report()


def plain(value: Any) -> Any:
    """A value as JSON has it: NumPy scalars and arrays become numbers and lists, what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def lines(values: Mapping[str, Any]) -> str:
    """Values for people: a line a key, names aligned, mappings and lists on one line."""
    width = max(map(len, values), default=0)
    return "\n".join(f"{key:<{width}}  {_brief(value)}" for key, value in values.items())


def _brief(value: Any) -> str:
    value = plain(value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_brief(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_brief, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None else str(value)
