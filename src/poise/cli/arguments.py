"""Words of the command line as values, for every option alike: what float, int and Path would let pass is told here."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from cyclopts import Token

from poise.files.output import is_stream

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_ENDLESS = ("inf", "+inf", "-inf", "nan")  # understood, so that an option can say what it allows instead


def read_number(_type: object, tokens: Sequence[Token]) -> float:
    """A number in plain digits: no 1_000 and no other script's digits, which float takes; 1e400 is none."""
    return parse_number(tokens[0].value)


def parse_number(word: str) -> float:
    """See `read_number`; ValueError with a sentence where it is none."""
    word = word.strip()
    if word.lower() in _ENDLESS:
        return float(word)
    if _NUMBER.fullmatch(word) is None:
        raise ValueError(f"'{word}' is not a number; write it as in 1.5.")
    value = float(word)
    if math.isinf(value):
        raise ValueError(f"'{word}' is too large a number.")
    return value


def read_whole(_type: object, tokens: Sequence[Token]) -> int:
    """A whole number; 1.5 is none (cyclopts would round it)."""
    return parse_whole(tokens[0].value)


def parse_whole(word: str) -> int:
    """See `read_whole`; ValueError with a sentence where it is none."""
    word = word.strip()
    if re.fullmatch(r"[-+]?[0-9]{1,18}", word) is None:
        raise ValueError(f"'{word}' is not a whole number of at most 18 digits.")
    return int(word)


def read_seed(_type: object, tokens: Sequence[Token]) -> int:
    """A whole number from 0 on."""
    seed = read_whole(_type, tokens)
    if seed < 0:
        raise ValueError(f"a seed is a whole number from 0 on, not {seed}.")
    return seed


def read_path(_type: object, tokens: Sequence[Token]) -> Path:
    """A path; an empty word is none (Path takes it for the folder where one is)."""
    word = tokens[0].value
    if not word.strip():
        raise ValueError("the path is empty. Name a file or a folder.")
    return Path(word)


def read_paths(_type: object, tokens: Sequence[Token]) -> tuple[Path, ...]:
    """Paths of an option that may be given more than once."""
    return tuple(read_path(_type, [token]) for token in tokens)


def read_input(_type: object, tokens: Sequence[Token]) -> Path:
    """The path of something to read: no device and no pipe, which may have no end."""
    path = read_path(_type, tokens)
    if is_stream(path):
        raise ValueError(f"'{path}' is a device or a pipe, and only files are read.")
    return path
