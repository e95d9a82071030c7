"""Plots of tracking are pictures, whatever was tracked."""

from __future__ import annotations

import numpy as np
import pytest

from poise.errors import InputError
from poise.pictures.plots import plot_tracking

PNG = b"\x89PNG"
CURVE = {
    "stiffness": np.array([10.0, 100.0, 1000.0]),
    "error_rad": np.array([0.5, 0.1, 0.02]),
    "lag_ms": np.array([np.nan, 40.0, 3.0]),
}


def test_errors_over_time_with_and_without_a_search() -> None:
    times = np.linspace(0.0, 1.0, 20)
    angles = np.abs(np.sin(times[:, None] * np.arange(1, 4)))
    plain = plot_tracking(times, angles, ["a", "b", "$c"], speeds=(times, times))
    searched = plot_tracking(times, angles, ["a", "b", "$c"], curve=CURVE, chosen=100.0)
    assert plain[:4] == searched[:4] == PNG
    assert plain != searched
    assert plot_tracking(times, np.zeros((20, 0)), [])[:4] == PNG


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="angles"):
        plot_tracking(np.arange(3.0), np.zeros((2, 1)), ["a"])
