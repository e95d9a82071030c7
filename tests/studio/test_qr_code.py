"""QR codes, read back: what mends them is right, and what they say is what was said."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from poise.studio.qr_code import _DATA, _MENDING, MOST_BYTES, build_qr, draw_qr

# x^k in the field, by repeated doubling: another way than the code's own
POWERS = [1]
for _ in range(254):
    POWERS.append(POWERS[-1] << 1 ^ (0x11D if POWERS[-1] & 0x80 else 0))


def times(a: int, b: int) -> int:
    return 0 if 0 in (a, b) else POWERS[(POWERS.index(a) + POWERS.index(b)) % 255]


def read(dark: np.ndarray) -> str:
    """What a code says; what mends it is checked, nothing is mended."""
    size = len(dark)
    version = (size - 17) // 4
    line = [*dark[8, :6], dark[8, 7], dark[8, 8], dark[7, 8], *dark[5::-1, 8]]  # bit 14 to 0
    said = int("".join(str(int(bit)) for bit in line), 2) ^ 0x5412
    assert said >> 13 == 0b01  # L
    rest = said
    for k in range(14, 9, -1):
        rest ^= (0x537 << (k - 10)) if rest >> k & 1 else 0
    assert rest == 0
    i, j = np.indices(dark.shape)
    masks = [(i + j) % 2, i % 2, j % 3, (i + j) % 3, (i // 2 + j // 3) % 2, i * j % 2 + i * j % 3,
             (i * j % 2 + i * j % 3) % 2, ((i + j) % 2 + i * j % 3) % 2]  # fmt: skip
    plain = dark ^ (masks[said >> 10 & 7] == 0)
    used = np.zeros_like(dark)
    used[:9, :9] = used[:9, -8:] = used[-8:, :9] = used[6] = used[:, 6] = True
    if version > 1:
        used[size - 9 : size - 4, size - 9 : size - 4] = True
    bits, up = [], True
    for right in [x for x in range(size - 1, 0, -2) if x > 6] + [5, 3, 1]:
        for y in range(size - 1, -1, -1) if up else range(size):
            bits += [int(plain[y, x]) for x in (right, right - 1) if not used[y, x]]
        up = not up
    words = [int("".join(map(str, bits[k : k + 8])), 2) for k in range(0, len(bits) - 7, 8)]
    assert len(words) == _DATA[version - 1] + _MENDING[version - 1]
    for k in range(_MENDING[version - 1]):  # the whole is 0 at each root
        value = 0
        for word in words:
            value = times(value, POWERS[k]) ^ word
        assert value == 0
    text = "".join(f"{word:08b}" for word in words)
    assert text[:4] == "0100"
    count = int(text[4:12], 2)
    return bytes(int(text[12 + 8 * k : 20 + 8 * k], 2) for k in range(count)).decode()


@pytest.mark.parametrize("count", [1, 17, 18, 32, 33, 53, 54, 60, 78, 79, MOST_BYTES])
def test_what_is_written_is_read(count: int) -> None:
    text = ("http://192.168.178.23:8137/hands?key=" + "Kx-3_" * 20)[:count]
    for mask in (None, *range(8)):
        assert read(build_qr(text, mask)) == text
    assert read(build_qr("é")) == "é"


def test_it_is_the_code_that_others_make() -> None:
    # 848 codes of 1 to 106 bytes, all masks, were compared with the package qrcode 8, bit for bit; this is one of them
    found = build_qr("http://192.168.178.23:8137/hands?key=abcdefghijklmnopqrstuv", 3)
    assert (
        found.shape == (33, 33) and hashlib.sha256(np.packbits(found).tobytes()).hexdigest()[:16] == "994b471ac6e93492"
    )


def test_too_long_is_refused_and_a_picture_has_white_around_it() -> None:
    with pytest.raises(ValueError, match="at most 106"):
        build_qr("x" * (MOST_BYTES + 1))
    picture = draw_qr("poise", 2)
    assert picture.shape == (58, 58, 3) and picture[:8].min() == 255 and picture[8, 8, 0] == 0
