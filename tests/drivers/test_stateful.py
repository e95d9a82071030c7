"""State by declaration: what is saved, and what is restored from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from poise.drivers.stateful import Stateful


class Part(Stateful):
    STATE = ("value",)

    def __init__(self, value: Any):
        self.value = value


@pytest.mark.parametrize("value", [np.bool_(True), np.int64(7), np.float32(0.5), np.float64(0.1), np.str_("feet")])
def test_numbers_of_numpy_are_saved_as_plain_ones(value: Any) -> None:
    """A comparison with a number of NumPy gives NumPy's bool, which is not a Python int."""
    saved = Part(value).save()
    assert type(saved["value"]) in (bool, int, float, str) and saved["value"] == value
    part = Part(None)
    part.restore(saved)
    assert part.value == value


def test_what_has_no_method_save_is_refused() -> None:
    with pytest.raises(TypeError, match="a object is not plain data"):
        Part(object()).save()
