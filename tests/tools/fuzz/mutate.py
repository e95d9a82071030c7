"""Valid files broken in the ways in which files break: bits, blocks, words, numbers, and the values inside JSON."""

from __future__ import annotations

import copy
import json
import random
import re
import struct
from collections.abc import Callable
from typing import Any

# What readers stumble over, as text and as numbers.
WORDS = (
    b"nan", b"-inf", b"1e999", b"-1", b"0", b"1e308", b"99999999999", b"9" * 400, b"0x10", b"1_0", b"1,5", b".", b"-",
    b"", b"{", b"}", b"[", b"]", b'"', b"\n", b"\r", b"\x00", b"\xff", b"\xc3\xa4", b"null", b"true", b"#", b":",
)  # fmt: skip
INTEGERS = (0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1)
FLOATS = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e38, 1e-38, -1.0)
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**53, 1e308, -1e308, 1e-308, 0.5, "", "x", "../../etc/passwd", "http://127.0.0.1/x",
    "data:application/octet-stream;base64,AAAA", "file:///etc/passwd", [], {}, [[]], [0] * 100, [1e308] * 16,
)  # fmt: skip
_NUMBER = re.compile(rb"-?\d+\.?\d*(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[^\s]+")


def mutate(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A file with one to four things wrong in it. others: files to splice in."""
    changes = [flip, cut, repeat, insert, put_number, splice, replace_words, replace_numbers, swap_lines, change_json]
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        change: Callable[[random.Random, bytes, list[bytes]], bytes] = rng.choice(changes)
        data = change(rng, data, others)
    return data[:1_000_000]


def _place(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def flip(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A few bytes changed."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8)) if data else 0):
        place = rng.randrange(len(changed))
        changed[place] = rng.choice((changed[place] ^ (1 << rng.randrange(8)), rng.randrange(256)))
    return bytes(changed)


def cut(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A block left out, or the end."""
    start = _place(rng, data)
    length = rng.choice((1, 4, 16, len(data)))
    return data[:start] + data[start + length :]


def repeat(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A block many times over."""
    start = _place(rng, data)
    block = data[start : start + rng.choice((1, 4, 20, 200))]
    return data[:start] + block * rng.choice((2, 3, 100)) + data[start:]


def insert(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Something that does not belong there."""
    start = _place(rng, data)
    return data[:start] + rng.choice((*WORDS, rng.randbytes(4))) + data[start:]


def put_number(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A binary number written over what is there, on a boundary of four more often than not."""
    if len(data) < 8:
        return data
    start = rng.randrange(len(data) - 7)
    start -= rng.choice((0, start % 4, start % 4))
    if rng.random() < 0.7:
        kind, value = rng.choice(("<H", ">H", "<I", ">I")), rng.choice(INTEGERS)
        raw = struct.pack(kind, value & (0xFFFF if kind[1] == "H" else 0xFFFFFFFF))
    else:
        raw = struct.pack("<f", rng.choice(FLOATS))
    return data[:start] + raw + data[start + len(raw) :]


def splice(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """The beginning of this file and the end of another."""
    other = rng.choice(others) if others else data
    return data[: _place(rng, data)] + other[_place(rng, other) :]


def replace_words(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A word of a text, by another of its own or by a bad one."""
    words = list(_WORD.finditer(data[:20000]))
    if not words:
        return data
    word = rng.choice(words)
    new = rng.choice((*WORDS, rng.choice(words)[0], rng.choice(words)[0], rng.choice(words)[0]))
    return data[: word.start()] + new + data[word.end() :]


def replace_numbers(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A number of a text, by a bad one or by one nearby."""
    numbers = list(_NUMBER.finditer(data[:20000]))
    if not numbers:
        return data
    number = rng.choice(numbers)
    new = rng.choice((*WORDS[:10], str(rng.randrange(-3, 300)).encode(), number[0] + b"9", b"-" + number[0]))
    return data[: number.start()] + new + data[number.end() :]


def swap_lines(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Two lines of a text changed about, or one doubled."""
    lines = data.split(b"\n")
    if len(lines) < 3:
        return data
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    if rng.random() < 0.5:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines.insert(i, lines[j])
    return b"\n".join(lines)


def change_json(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A value somewhere inside JSON, by itself or as the first chunk of a GLB, whose lengths are then put right."""
    is_glb = data[:4] == b"glTF" and len(data) > 28
    text, rest = data, b""
    if is_glb:
        (length,) = struct.unpack_from("<I", data, 12)
        text, rest = data[20 : 20 + length], data[20 + length :]
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return data
    for _ in range(rng.choice((1, 1, 2, 4))):
        _change_value(rng, document)
    text = json.dumps(document).encode()
    if not is_glb:
        return text
    text += b" " * (-len(text) % 4)
    return struct.pack("<4sIII4s", b"glTF", 2, 20 + len(text) + len(rest), len(text), b"JSON") + text + rest


def _change_value(rng: random.Random, document: Any) -> None:
    """Walk down at random, and change, drop, double or move what is there."""
    here = document
    while isinstance(here, dict | list) and here:
        key = rng.choice(list(here)) if isinstance(here, dict) else rng.randrange(len(here))
        child = here[key]
        if isinstance(child, dict | list) and child and rng.random() < 0.85:
            here = child
            continue
        match rng.randrange(4):
            case 0:
                del here[key]
            case 1 if isinstance(here, list):
                here.insert(key, copy.deepcopy(child))
            case 2 if isinstance(child, int | float):
                here[key] = rng.choice((child + 1, child - 1, -child, child * 1000, rng.randrange(12)))
            case _:
                here[key] = copy.deepcopy(rng.choice(VALUES))
        return
