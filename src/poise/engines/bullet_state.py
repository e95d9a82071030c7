"""The state of a Bullet world as bytes.

Bullet writes its state, contacts and their impulses included, to files only. From such a file another world that was
built alike goes on with the same bits, in this process or in another. The file is a row of chunks (code, length, ...),
the last of which describes the layout of all others. Bullet believes every word of it, so what cannot be one of its
own files, or is one of another version or of another number of bodies, is refused before it sees it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from poise.errors import InputError
from poise.files.atomic import temporary_folder

_MAGIC = b"BULLET"
_HEAD = 12  # bytes of magic, sizes, byte order and version
_CHUNK = struct.Struct("<4siQii")  # code, length in bytes, an address, the type's number, how many of it
_LAYOUT = b"DNA1"
_CONTACTS = b"CONT"  # of which there are more or fewer
_MANIFOLD, _TAIL = 1025, 16  # Bullet's number of their type, which is among the last so many numbers of one


def save_world(bullet: Any, client: int) -> np.ndarray:
    """(n,) uint8"""
    with temporary_folder() as folder:
        path = folder / "world.bullet"
        bullet.saveBullet(str(path), physicsClientId=client)
        data = np.frombuffer(path.read_bytes(), np.uint8).copy()
    spans = [chunk.span for chunk in _walk(data.tobytes()) if chunk.code == _CONTACTS]
    for span in spans:
        _forget_place(data[span])
    _sort(data, spans)
    return data


def _forget_place(contact: np.ndarray) -> None:
    """Have a contact not say where Bullet keeps it: a world that was restored keeps no places for empty ones.

    The place is the number before the type's, near the end of the chunk; Bullet never reads it.
    """
    if len(contact) % 4 == 0:
        numbers = contact.view(np.int32)[-_TAIL:]
        found = np.flatnonzero(numbers == _MANIFOLD)
        if len(found) and found[-1] > 0:
            numbers[found[-1] - 1] = 0


def _sort(data: np.ndarray, spans: list[slice]) -> None:
    """Have contacts be in an order of their own: Bullet's is that in which bodies came to touch."""
    if len({span.stop - span.start for span in spans}) == 1:
        contacts = sorted(data[span].tobytes() for span in spans)
        for span, contact in zip(spans, contacts, strict=True):  # their heads, numbered one by one, stay
            data[span] = np.frombuffer(contact, np.uint8)


def has_contacts(saved: np.ndarray) -> bool:
    """Return whether a state has contacts. From one that has none Bullet restores none, and keeps those it had."""
    return any(chunk.code == _CONTACTS for chunk in _walk(np.asarray(saved, np.uint8).tobytes()))


def restore_world(bullet: Any, client: int, saved: np.ndarray) -> None:
    """Have a world be as it was when it, or one that was built alike, was saved."""
    data, own = np.asarray(saved, np.uint8).tobytes(), save_world(bullet, client).tobytes()
    if data[:_HEAD] != own[:_HEAD] or _list_chunks(data) != _list_chunks(own):
        raise InputError(
            "this state is of another scene, or of another version of Bullet, so it cannot be restored here. "
            "Save it again."
        )
    with temporary_folder() as folder:
        path = folder / "world.bullet"
        path.write_bytes(data)
        try:
            bullet.restoreState(fileName=str(path), physicsClientId=client)
        except bullet.error:
            raise InputError("Bullet cannot restore this state. Save it again.") from None


class _Chunk(NamedTuple):
    """One of a file. kind: the number of its type; number: how many of that; span: where its bytes are."""

    code: bytes
    kind: int
    number: int
    span: slice


def _walk(data: bytes) -> Iterator[_Chunk]:
    """All chunks, until one is longer than what is left."""
    at = _HEAD
    while at + _CHUNK.size <= len(data):
        code, length, _, kind, number = _CHUNK.unpack_from(data, at)
        at += _CHUNK.size
        if length < 0 or at + length > len(data):
            return
        yield _Chunk(code, kind, number, slice(at, at + length))
        at += length


def _list_chunks(data: bytes) -> list[tuple[bytes, int, int, int | bytes]] | None:
    """Code, length, type and number of all chunks but contacts; of the layout its bytes. None: they do not add up."""
    chunks = list(_walk(data))
    if data[: len(_MAGIC)] != _MAGIC or not chunks or chunks[-1].span.stop != len(data):
        return None
    return [
        (code, span.stop - span.start, kind, data[span] if code == _LAYOUT else number)
        for code, kind, number, span in chunks if code != _CONTACTS
    ]  # fmt: skip
