"""Grey pictures in: heights as PNG, 8 or 16 bits a pixel."""

from __future__ import annotations

import struct
import zlib
from os import PathLike

import numpy as np

from poise.errors import FileError
from poise.files.input import read_bytes

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MOST_BYTES = 64_000_000
_KINDS = {2: "RGB colours", 3: "a palette", 6: "RGB colours"}


def read_grey_png(path: str | PathLike[str], most: int) -> np.ndarray:
    """(H, W) grey from 0 (black) to 1 (white) of a PNG; alpha is ignored.

    most  pixels along a side: a larger one is refused before it is unpacked
    """
    data = read_bytes(path, _MOST_BYTES)
    if not data.startswith(_SIGNATURE):
        raise FileError(path, "is no PNG: its first bytes are not those of one.")
    header, packed = _read_chunks(path, data)
    width, height, bits, kind, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if kind in _KINDS or kind not in (0, 4) or bits not in (8, 16):
        raise FileError(
            path, f"has {_KINDS.get(kind, f'{bits} bits a pixel')}; heights are grey, of 8 or 16 bits. Save it so."
        )
    if interlaced:
        raise FileError(path, "is interlaced, which is not read. Save it without.")
    if not (2 <= width <= most and 2 <= height <= most):
        raise FileError(path, f"has {width} x {height} pixels; 2 to {most} along a side are read. Make it smaller.")
    step = (1 if kind == 0 else 2) * bits // 8
    size = height * (1 + width * step)
    unpack = zlib.decompressobj()
    try:
        raw = unpack.decompress(packed, size)
    except zlib.error as error:
        raise FileError(path, f"is damaged: {error}.") from None
    if len(raw) != size:
        raise FileError(path, f"is cut off: {len(raw)} of {size} bytes of its pixels are there.")
    rows = np.frombuffer(raw, np.uint8).reshape(height, 1 + width * step)
    pixels = _unfilter(path, rows[:, 0], rows[:, 1:], step)
    if bits == 8:
        return pixels[:, ::step] / 255.0
    return (256.0 * pixels[:, ::step] + pixels[:, 1::step]) / 65535.0


def _read_chunks(path: str | PathLike[str], data: bytes) -> tuple[bytes, bytes]:
    """The header, and all that is packed."""
    header, packed, at = b"", [], len(_SIGNATURE)
    while at + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        content = data[at + 8 : at + 8 + length]
        if len(content) < length or at + 12 + length > len(data):
            break
        if zlib.crc32(kind + content) != struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0]:
            raise FileError(path, f"is damaged: the checksum of its part '{kind.decode('latin-1')!r}' is wrong.")
        if kind == b"IHDR":
            header = content
        elif kind == b"IDAT":
            packed.append(content)
        elif kind == b"IEND":
            if len(header) != 13:
                break
            return header, b"".join(packed)
        at += 12 + length
    raise FileError(path, "is cut off, or has no header.")


def _unfilter(path: str | PathLike[str], filters: np.ndarray, rows: np.ndarray, step: int) -> np.ndarray:
    """Pixels out of differences: none, to the left, to above, to the mean of both, to the nearest of three (Paeth)."""
    out = np.zeros((len(rows) + 1, rows.shape[1] + step), np.uint8)  # a row and a pixel of zeros before
    for k, (kind, row) in enumerate(zip(filters, rows, strict=True), 1):
        line, above = out[k], out[k - 1]
        if kind == 0:
            line[step:] = row
        elif kind == 1:
            line[step:] = np.cumsum(row.reshape(-1, step), axis=0, dtype=np.uint8).ravel()
        elif kind == 2:
            line[step:] = row + above[step:]
        elif kind in (3, 4):
            _unfilter_slowly(kind, row.tolist(), line, above.tolist(), step)
        else:
            raise FileError(path, f"is damaged: row {k - 1} has filter {kind}, and there are 0 to 4.")
    return out[1:, step:]


def _unfilter_slowly(kind: int, row: list[int], line: np.ndarray, above: list[int], step: int) -> None:
    """Each pixel needs the one before."""
    found = [0] * (len(row) + step)
    for i, value in enumerate(row):
        left, up, corner = found[i], above[i + step], above[i]
        if kind == 3:
            guess = (left + up) // 2
        else:
            p = left + up - corner
            a, b, c = abs(p - left), abs(p - up), abs(p - corner)
            guess = left if a <= b and a <= c else up if b <= c else corner
        found[i + step] = (value + guess) & 255
    line[:] = found
