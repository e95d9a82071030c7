"""Pictures to PNG files."""

from __future__ import annotations

import struct
import zlib
from os import PathLike

import numpy as np

from poise.errors import InputError
from poise.files.atomic import write_bytes


def encode_png(image: np.ndarray) -> bytes:
    """The bytes of a PNG file: image (H, W, 3) uint8 RGB or (H, W, 4) RGBA."""
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] not in (3, 4) or image.dtype != np.uint8 or 0 in image.shape:
        raise InputError(f"a PNG needs an image (H, W, 3 or 4) of uint8; given {image.shape} of {image.dtype}.")
    height, width, channels = image.shape
    # Filter 2, "up": each row as its difference to the one above; smooth pictures pack well so.
    difference = image.reshape(height, -1).copy()
    difference[1:] -= image.reshape(height, -1)[:-1]
    rows = np.hstack([np.full((height, 1), 2, np.uint8), difference])
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"sRGB", b"\0"), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def save_png(path: str | PathLike[str], image: np.ndarray) -> None:
    """Write a picture (H, W, 3 or 4) uint8; the file appears whole or not at all."""
    write_bytes(path, encode_png(image))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
