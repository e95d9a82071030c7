"""Hosts and ports as words: `39539`, `host:39539`, `[::1]:39539`."""

from __future__ import annotations

import re
import socket
from typing import Any

from poise.errors import InputError

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
