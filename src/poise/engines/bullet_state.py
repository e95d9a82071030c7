"""The state of a Bullet world as bytes.

Bullet writes its state, contacts and their impulses included, to files only. From such a file another world that was
built alike goes on with the same bits, in this process or in another. The file is a row of chunks (code, length, ...),
the last of which describes the layout of all others. Bullet believes every word of it, so what cannot be one of its
own files, or is one of another version or of another number of bodies, is refused before it sees it.
"""

from __future__ import annotations

import struct
from typing import Any

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
    _forget_places(data)
    return _sort_contacts(data)


def _forget_places(data: np.ndarray) -> None:
    """Have contacts not say where Bullet keeps them: a world that was restored keeps no places for empty ones.

    The place is the number before the type's, near the end of the chunk; Bullet never reads it.
    """
    at = _HEAD
    while at + _CHUNK.size <= len(data):
        code, length, _, _, _ = _CHUNK.unpack_from(data.data, at)
        at += _CHUNK.size
        if length < 0 or at + length > len(data):
            return
        if code == _CONTACTS and length % 4 == 0:
            numbers = data[at : at + length].view(np.int32)[-_TAIL:]
            found = np.flatnonzero(numbers == _MANIFOLD)
            if len(found) and found[-1] > 0:
                numbers[found[-1] - 1] = 0
        at += length


def _sort_contacts(data: np.ndarray) -> np.ndarray:
    """The same with its contacts in an order of their own: Bullet's is that in which bodies came to touch."""
    at, spans = _HEAD, []
    while at + _CHUNK.size <= len(data):
        code, length, _, _, _ = _CHUNK.unpack_from(data.data, at)
        end = at + _CHUNK.size + length
        if length < 0 or end > len(data):
            return data
        if code == _CONTACTS:
            spans.append((at + _CHUNK.size, end))
        at = end
    if len({end - start for start, end in spans}) == 1:
        contacts = sorted(data[start:end].tobytes() for start, end in spans)
        for (start, end), contact in zip(spans, contacts, strict=True):  # their heads, numbered one by one, stay
            data[start:end] = np.frombuffer(contact, np.uint8)
    return data


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


def _list_chunks(data: bytes) -> list[tuple[bytes, int, int, int | bytes]] | None:
    """Code, length, type and number of all chunks but contacts; of the layout its bytes. None: they do not add up."""
    if data[: len(_MAGIC)] != _MAGIC:
        return None
    found: list[tuple[bytes, int, int, int | bytes]] = []
    at = _HEAD
    while at + _CHUNK.size <= len(data):
        code, length, _, kind, count = _CHUNK.unpack_from(data, at)
        at += _CHUNK.size
        if length < 0 or at + length > len(data):
            return None
        if code == _LAYOUT:
            found.append((code, length, kind, data[at : at + length]))
        elif code != _CONTACTS:
            found.append((code, length, kind, count))
        at += length
    return found if at == len(data) else None
