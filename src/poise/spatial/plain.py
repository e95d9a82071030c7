"""Plain data: arrays, numbers, words, and lists and dictionaries of those. Here is how arrays are what was saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.errors import InputError


def write_over(arrays: Mapping[str, np.ndarray], saved: Mapping[str, Any]) -> None:
    """Write saved arrays over those of the same names, which must be as large; all or none."""
    found = {}
    for name, array in arrays.items():
        if name not in saved:
            raise InputError(f"the saved state lacks '{name}'. Save it again.")
        found[name] = np.asarray(saved[name])
        if found[name].shape != array.shape or not np.can_cast(found[name].dtype, array.dtype, "same_kind"):
            raise InputError(
                f"the saved state has '{name}' of shape {found[name].shape} and type {found[name].dtype}; here it is "
                f"{array.shape} and {array.dtype}. Restore it where it was saved, or save it again."
            )
    for name, array in arrays.items():
        array[...] = found[name]
