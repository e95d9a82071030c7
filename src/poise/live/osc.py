"""Open Sound Control 1.0: messages and bundles as bytes.

    message   address, comma and type tags, arguments; texts end in zeros up to a multiple of four
    bundle    "#bundle", a time (NTP: seconds since 1900 and their fractions), parts with their lengths before them

Numbers are big-endian. The types i f s b h d t T F N I c S m r and arrays are read; any other packet raises OscError,
and nothing of it is used. All sizes are bounded, since packets come from untrusted senders.

Source: The Open Sound Control 1.0 Specification, opensoundcontrol.org.

Hosts and ports are written `39539`, `host:39539`, `[::1]:39539`.
"""

from __future__ import annotations

import math
import re
import socket
import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

from poise.errors import InputError

MOST_BYTES = 65_507  # of a UDP packet
MOST_PARTS, DEEPEST, MOST_ARGUMENTS, LONGEST_ADDRESS = 4096, 4, 256, 256
AT_ONCE = 1  # the time of a bundle that is meant for now
_SIZES = {"i": 4, "f": 4, "h": 8, "d": 8, "t": 8, "c": 4, "r": 4, "m": 4}
_FORMATS = {"i": ">i", "f": ">f", "h": ">q", "d": ">d", "t": ">Q", "c": ">I", "r": ">I", "m": ">I"}
_CONSTANTS = {"T": True, "F": False, "N": None, "I": math.inf}


class OscError(InputError):
    """A packet is not OSC."""


class OscMessage(NamedTuple):
    """A message.

    time  of its bundle, NTP; AT_ONCE if it has none, or is meant for now
    """

    address: str
    arguments: tuple[Any, ...]
    time: int = AT_ONCE


def encode_message(address: str, *arguments: str | float | int) -> bytes:
    """Return a message as bytes: strings, floats (32 bits) and integers (32 bits)."""
    tags, parts = ",", []
    for each in arguments:
        if isinstance(each, str):
            tags, part = tags + "s", _pad(each.encode())
        elif isinstance(each, int):
            tags, part = tags + "i", struct.pack(">i", each)
        else:
            tags, part = tags + "f", struct.pack(">f", each)
        parts.append(part)
    return _pad(address.encode("ascii")) + _pad(tags.encode("ascii")) + b"".join(parts)


def encode_bundles(messages: Iterable[bytes], most: int) -> list[bytes]:
    """Messages in as few bundles as hold them with at most so many bytes each; one that is longer is alone."""
    head = b"#bundle\0" + struct.pack(">Q", AT_ONCE)
    found, now = list[bytes](), head
    for message in messages:
        part = struct.pack(">i", len(message)) + message
        if len(now) > len(head) and len(now) + len(part) > most:
            found.append(now)
            now = head
        now += part
    return [*found, now] if len(now) > len(head) else found


def _pad(data: bytes) -> bytes:
    return data + b"\0" * (4 - len(data) % 4)


def decode_packet(data: bytes) -> list[OscMessage]:
    """All messages of a packet, in order; OscError where it is none."""
    if len(data) > MOST_BYTES:
        raise OscError(f"a packet has {len(data)} bytes; at most {MOST_BYTES} are read.")
    found: list[OscMessage] = []
    _decode(memoryview(data), AT_ONCE, 0, found)
    return found


def _decode(data: memoryview, time: int, depth: int, found: list[OscMessage]) -> None:
    if len(data) % 4 or not len(data):
        raise OscError(f"a packet of OSC has a multiple of four bytes; {len(data)} came.")
    if bytes(data[:8]) != b"#bundle\0":
        found.append(_decode_message(data, time))
        return
    if depth >= DEEPEST:
        raise OscError(f"bundles in bundles are read to a depth of {DEEPEST}.")
    if len(data) < 16:
        raise OscError("a bundle was cut off before its time.")
    (time,), at = struct.unpack(">Q", data[8:16]), 16
    while at < len(data):
        if len(data) - at < 4 or len(found) >= MOST_PARTS:
            raise OscError("a bundle was cut off, or has too many parts.")
        (size,) = struct.unpack(">i", data[at : at + 4])
        if not 0 < size <= len(data) - at - 4:
            raise OscError(f"a part of a bundle has {size} bytes, and {len(data) - at - 4} are left.")
        _decode(data[at + 4 : at + 4 + size], time, depth + 1, found)
        at += 4 + size


def _decode_message(data: memoryview, time: int) -> OscMessage:
    address, at = _read_text(data, 0)
    if not address.startswith("/") or len(address) > LONGEST_ADDRESS:
        raise OscError("an address of OSC begins with '/' and has at most 256 letters.")
    if at == len(data):
        return OscMessage(address, (), time)  # of old senders, without type tags
    tags, at = _read_text(data, at)
    if not tags.startswith(",") or len(tags) > MOST_ARGUMENTS:
        raise OscError("type tags of OSC begin with ',', and there are at most 255.")
    arguments: list[Any] = []
    for tag in tags[1:]:
        if tag in "[]":
            continue  # what is in an array counts as if it were not
        if tag in _CONSTANTS:
            arguments.append(_CONSTANTS[tag])
        elif tag in "sS":
            text, at = _read_text(data, at)
            arguments.append(text)
        elif tag in _SIZES:
            if len(data) - at < _SIZES[tag]:
                raise OscError(f"a message to {address:.60} was cut off.")
            arguments.append(struct.unpack(_FORMATS[tag], data[at : at + _SIZES[tag]])[0])
            at += _SIZES[tag]
        elif tag == "b":
            at = _skip_blob(data, at)
            arguments.append(None)
        else:
            raise OscError(f"an argument of the kind '{tag!r:.6}' is not known.")
    return OscMessage(address, tuple(arguments), time)


def _skip_blob(data: memoryview, at: int) -> int:
    if len(data) - at < 4:
        raise OscError("a blob was cut off.")
    (size,) = struct.unpack(">i", data[at : at + 4])
    if not 0 <= size <= len(data) - at - 4:
        raise OscError("a blob was cut off.")
    return at + 4 + size + (-size) % 4


def _read_text(data: memoryview, at: int) -> tuple[str, int]:
    raw = bytes(data[at : at + 4 * MOST_ARGUMENTS])
    end = raw.find(b"\0")
    if end < 0:
        raise OscError("a text was cut off, or is too long.")
    try:
        text = raw[:end].decode()
    except UnicodeDecodeError:
        raise OscError("a text is no text.") from None
    following = at + end + 4 - end % 4
    if following > len(data):
        raise OscError("a text was cut off.")
    return text, following


LOOPBACK = "127.0.0.1"


def read_place(word: str, port: int) -> tuple[str, int]:
    """Host and port out of a word; what is left out is this machine, and the usual port."""
    found = re.fullmatch(r"(?:(\[[0-9a-fA-F:.]+\]|[^:\[\]]*):)?([0-9]{1,5})?", word.strip())
    if found is None:
        raise InputError(
            f"'{word:.60}' is no place to send to: write HOST:PORT, or PORT alone, as in {LOOPBACK}:{port}."
        )
    host, number = (found[1] or LOOPBACK).strip("[]"), int(found[2] or port)
    if not 1 <= number <= 65535:
        raise InputError(f"a port is a number from 1 to 65535; {number} given.")
    return host, number


def find_address(host: str, port: int) -> tuple[int, Any]:
    """(family, address) of a host and a port, for a socket of datagrams; InputError where the host is not known."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    except OSError as error:
        raise InputError(f"host '{host:.60}' is not known ({error.strerror or error}).") from error
    return int(family), address
