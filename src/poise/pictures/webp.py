"""Animated WebP, written frame by frame.

Pillow packs single pictures; its own writer of animations holds all of them first. The container around them is that of
Google's *WebP Container Specification*: RIFF with the chunks VP8X (size), ANIM (loop) and one ANMF a frame, which holds
the part of the picture that changed.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from typing import IO

import numpy as np

_QUALITY = 82  # 75 shows blocks in the soft shadows, 90 doubles the size
_ANIMATION, _OVERWRITE = 0x02, 0x02  # flags: of VP8X, it is animated; of a frame, it replaces what it covers
_LONGEST = 2**24 - 1  # ms a frame


def write_webp(stream: IO[bytes], frames: Iterable[np.ndarray], durations: Iterable[int]) -> None:
    """Write an animation that loops for ever.

    stream     that can seek: the file's length is put into its head at the end
    frames     each (H, W, 3) uint8 sRGB, all of one size, at least one
    durations  ms, of each
    """
    start = stream.tell()
    previous = None
    for frame, duration in zip(frames, durations, strict=False):
        if previous is None:
            height, width = frame.shape[:2]
            head = struct.pack("<B3x", _ANIMATION) + _three(width - 1) + _three(height - 1)
            stream.write(b"RIFF\0\0\0\0WEBP" + _chunk(b"VP8X", head) + _chunk(b"ANIM", struct.pack("<IH", 0, 0)))
        top, bottom, left, right = _find_change(previous, frame)
        place = [_three(n) for n in (left // 2, top // 2, right - left - 1, bottom - top - 1, min(duration, _LONGEST))]
        part = np.ascontiguousarray(frame[top:bottom, left:right])
        stream.write(_chunk(b"ANMF", b"".join(place) + bytes([_OVERWRITE]) + _pack(part)))
        previous = frame
    end = stream.tell()
    stream.seek(start + 4)
    stream.write(struct.pack("<I", end - start - 8))
    stream.seek(end)


def _find_change(previous: np.ndarray | None, frame: np.ndarray) -> tuple[int, int, int, int]:
    """Top, bottom, left and right of what differs from the frame before; top and left are even, as the format asks."""
    if previous is None:
        return 0, frame.shape[0], 0, frame.shape[1]
    changed = (frame != previous).any(axis=2)
    if not changed.any():
        return 0, 1, 0, 1
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    return int(rows[0]) // 2 * 2, int(rows[-1]) + 1, int(columns[0]) // 2 * 2, int(columns[-1]) + 1


def _pack(picture: np.ndarray) -> bytes:
    """The picture's own chunk of a still WebP file."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(picture).save(file, "WEBP", quality=_QUALITY, method=2)
    return file.getvalue()[12:]


def _three(number: int) -> bytes:
    return struct.pack("<I", number)[:3]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
