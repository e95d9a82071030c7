"""Stretches of time: where a mask holds."""

from __future__ import annotations

import numpy as np


def find_runs(mask: np.ndarray) -> np.ndarray:
    """(N, 2) first and last index of each stretch of True in (F,)."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return np.stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1], axis=1)
