"""The state of a Bullet world as bytes.

Bullet writes its state, contacts and their impulses included, to files only. Worlds that were just built alike and read
such a file go on with the same bits, in this process or in another; those that have a past do not. The file is a row of
chunks (code, length, ...), the last of which describes the layout of all others. Bullet believes every word of it, so
what cannot be one of its own files, or is one of another version or of another number of bodies, is refused before it
sees it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from poise.errors import InputError
from poise.files.output import temporary_folder

_MAGIC = b"BULLET"
_HEAD = 12  # bytes of magic, sizes, byte order and version
_CHUNK = struct.Struct("<4siQii")  # code, length in bytes, an address, the type's number, how many of it
_LAYOUT = b"DNA1"
_CONTACTS = b"CONT"  # of which there are more or fewer


def save_world(bullet: Any, client: int) -> bytes:
    """Return the state of a world."""
    with temporary_folder() as folder:
        path = folder / "world.bullet"
        bullet.saveBullet(str(path), physicsClientId=client)
        return path.read_bytes()


def check_world(data: bytes, own: bytes) -> None:
    """Raise InputError unless a state is one of the world, or of one that was built alike, whose own state is given."""
    if data[:_HEAD] != own[:_HEAD] or _list_chunks(data) != _list_chunks(own):
        raise InputError(
            "this state is of another scene, or of another version of Bullet, so it cannot be restored here. "
            "Save it again."
        )


def has_contacts(data: bytes) -> bool:
    """Return whether a state has contacts."""
    return any(chunk.code == _CONTACTS for chunk in _walk(data))


def load_world(bullet: Any, client: int, data: bytes) -> None:
    """Restore a state in a world that was just built, in which Bullet has not looked for contacts.

    From a state that has no contacts Bullet restores places alone: what is near what it finds only when it is told to.
    """
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
