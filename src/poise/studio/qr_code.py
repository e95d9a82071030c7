"""An address as a QR code, for cameras of phones.   [ISO/IEC 18004]

What an address needs and no more: bytes, error correction L, versions 1 to 5 (one block, at most 106 bytes).
"""

from __future__ import annotations

import numpy as np

MOST_BYTES = 106
QUIET = 4  # modules around it that stay white
# By version: how many codewords hold data, and how many mend it.
_DATA, _MENDING = (19, 34, 55, 80, 108), (7, 10, 15, 20, 26)
_MASKS = (
    lambda y, x: (y + x) % 2, lambda y, x: y % 2, lambda y, x: x % 3, lambda y, x: (y + x) % 3,
    lambda y, x: (y // 2 + x // 3) % 2, lambda y, x: y * x % 2 + y * x % 3, lambda y, x: (y * x % 2 + y * x % 3) % 2,
    lambda y, x: ((y + x) % 2 + y * x % 3) % 2,
)  # fmt: skip


def build_qr(text: str, mask: int | None = None) -> np.ndarray:
    """(N, N) booleans, True where it is dark, without the white around it. ValueError: it is too long.

    mask   0 to 7; None: the one that mixes dark and light best
    """
    data = text.encode()
    version = next((v for v, room in enumerate(_DATA, 1) if len(data) + 2 <= room), None)
    if version is None:
        raise ValueError(f"{len(data)} bytes are too long for this QR code; at most {MOST_BYTES} are.")
    bits = _spread(_encode(data, version))
    dark, is_free = _draw_patterns(version)
    _fill(dark, is_free, bits)
    y, x = np.indices(dark.shape)
    made = []
    for number in range(8) if mask is None else (mask,):
        one = dark ^ (is_free & (_MASKS[number](y, x) == 0))
        _draw_format(one, number)
        made.append(one)
    return min(made, key=_count_alike)


def _encode(data: bytes, version: int) -> list[int]:
    """Codewords: mode and length, data, padding, and what mends them."""
    room = _DATA[version - 1]
    bits = f"0100{len(data):08b}" + "".join(f"{each:08b}" for each in data)
    bits = (bits + "0000")[: 8 * room]
    bits += "0" * (-len(bits) % 8)
    words = [int(bits[k : k + 8], 2) for k in range(0, len(bits), 8)]
    words += [(0xEC, 0x11)[k % 2] for k in range(room - len(words))]
    return words + _mend(words, _MENDING[version - 1])


def _multiply(a: int, b: int) -> int:
    """In the field of 256 elements, by x^8 + x^4 + x^3 + x^2 + 1."""
    found = 0
    while b:
        found ^= a * (b & 1)
        a = a << 1 ^ (0x11D if a & 0x80 else 0)
        b >>= 1
    return found


def _mend(words: list[int], count: int) -> list[int]:
    """Reed-Solomon: what is left of the data, as a polynomial, by (x - 1)(x - 2)(x - 4)...

    How the divisor is written: its highest coefficient, which is 1, is left out.
    """
    divisor, root = [0] * (count - 1) + [1], 1
    for _ in range(count):
        for k in range(count):
            divisor[k] = _multiply(divisor[k], root) ^ (divisor[k + 1] if k + 1 < count else 0)
        root = _multiply(root, 2)
    rest = [0] * count
    for word in words:
        factor = word ^ rest[0]
        rest = [each ^ _multiply(factor, d) for each, d in zip([*rest[1:], 0], divisor, strict=True)]
    return rest


def _spread(words: list[int]) -> list[bool]:
    return [bool(word >> k & 1) for word in words for k in range(7, -1, -1)]


def _draw_patterns(version: int) -> tuple[np.ndarray, np.ndarray]:
    """What is alike in all codes of a version, and which modules are free for data."""
    size = 17 + 4 * version
    dark, is_free = np.zeros((size, size), bool), np.ones((size, size), bool)
    dark[6, ::2] = dark[::2, 6] = True
    is_free[6] = is_free[:, 6] = False
    middles = [(3, 3, 4), (3, size - 4, 4), (size - 4, 3, 4)]  # of finders, with the white around them
    if version > 1:
        middles.append((size - 7, size - 7, 2))
    y, x = np.indices(dark.shape)
    for cy, cx, reach in middles:
        ring = np.maximum(abs(y - cy), abs(x - cx))
        near = ring <= reach
        dark[near] = (ring == 0)[near] | (ring == 1)[near] & (reach == 4) | (ring == (3 if reach == 4 else 2))[near]
        is_free &= ~near
    is_free[8, :9] = is_free[:9, 8] = is_free[8, -8:] = is_free[-8:, 8] = False
    dark[size - 8, 8] = True
    return dark, is_free


def _fill(dark: np.ndarray, is_free: np.ndarray, bits: list[bool]) -> None:
    """Lay bits in pairs of columns, from the right, up and down in turn."""
    size, rest = len(dark), iter(bits)
    columns = [x for x in range(size - 1, 0, -2) if x > 6] + [5, 3, 1]
    for turn, right in enumerate(columns):
        for y in range(size - 1, -1, -1) if turn % 2 == 0 else range(size):
            for x in (right, right - 1):
                if is_free[y, x]:
                    dark[y, x] = next(rest, False)


def _draw_format(dark: np.ndarray, mask: int) -> None:
    """Say, twice, which correction (L) and mask it has."""
    data = 0b01 << 3 | mask
    rest = data
    for _ in range(10):
        rest = rest << 1 ^ (0x537 if rest & 0x200 else 0)
    bits = (data << 10 | rest) ^ 0x5412
    size = len(dark)
    once = [(k, 8) for k in (0, 1, 2, 3, 4, 5, 7, 8)] + [(8, k) for k in (7, 5, 4, 3, 2, 1, 0)]
    again = [(8, size - 1 - k) for k in range(8)] + [(size - 7 + k, 8) for k in range(7)]
    for places in (once, again):
        for k, place in enumerate(places):
            dark[place] = bool(bits >> k & 1)


def _count_alike(dark: np.ndarray) -> int:
    """Neighbours that are alike: a code with few is read easily."""
    return int((dark[1:] == dark[:-1]).sum() + (dark[:, 1:] == dark[:, :-1]).sum())


def draw_qr(text: str, scale: int = 6) -> np.ndarray:
    """(H, W, 3) bytes: a picture of it."""
    dark = np.pad(build_qr(text), QUIET).repeat(scale, axis=0).repeat(scale, axis=1)
    return np.repeat(np.where(dark, 0, 255).astype(np.uint8)[..., None], 3, axis=2)
