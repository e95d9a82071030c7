"""Arrays that lie next to one another in memory.

A simulation of hundreds of characters visits each for some microseconds and then not for milliseconds. What is spread
over the heap has left the caches by then and comes back line by line; what lies together comes back in one stream.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_LINE = 64  # bytes, of a cache


class Arena:
    """One block of memory that arrays are cut from, in the order in which they are asked for.

    size  bytes; when they are used up, arrays are made as usual
    """

    def __init__(self, size: int):
        block = np.zeros(size + _LINE, np.uint8)
        start = -block.ctypes.data % _LINE
        self._block = block[start : start + size]
        self._used = 0

    def zeros(self, *shape: int, dtype: Any = float) -> np.ndarray:
        """An array of zeros."""
        kind = np.dtype(dtype)
        start = -(-self._used // 8) * 8
        size = math.prod(shape) * kind.itemsize
        if start + size > len(self._block):
            return np.zeros(shape, kind)
        self._used = start + size
        return self._block[start : self._used].view(kind).reshape(shape)

    def copy(self, array: np.ndarray) -> np.ndarray:
        """An array of the same numbers, and one that can be written to."""
        made = self.zeros(*array.shape, dtype=array.dtype)
        made[...] = array
        return made
