"""Lengths of vectors: what `np.linalg.norm` gives, to the last bit, without its search for what kind of norm is meant.

For a few short vectors that search takes longer than the norm.
"""

from __future__ import annotations

import math

import numpy as np


def length(v: np.ndarray) -> float:
    """Of one vector (n,): np.linalg.norm(v)."""
    v = np.ascontiguousarray(v)
    return math.sqrt(v.dot(v))


def lengths(v: np.ndarray, keepdims: bool = False) -> np.ndarray:
    """Along the last axis: np.linalg.norm(v, axis=-1)."""
    squares = np.add.reduce(v * v, axis=-1)
    return np.asarray(np.sqrt(squares[..., None] if keepdims else squares))
