"""Plots of following within strength: how much of their strength joints use over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from poise.pictures.plot_style import (
    LINE_COLORS,
    check_named,
    check_series,
    check_times,
    finish_panel,
    new_figure,
    to_png,
)

_MOST_LINES = 8


def plot_strength(
    times: np.ndarray, ratios: Mapping[str, np.ndarray], fell_at: float | None = None, title: str = ""
) -> bytes:
    """Torque over strength of joints, those that use most of it.

    times    (S,) s;  ratios: joint -> (S,), 0 to 1
    fell_at  s, when it fell
    """
    return plot_strengths({"": (times, ratios, fell_at)}, title)


def plot_strengths(
    runs: Mapping[str, tuple[np.ndarray, Mapping[str, np.ndarray], float | None]], title: str = ""
) -> bytes:
    """The same of several runs, a panel each: label -> times, ratios and when it fell."""
    check_named("runs", runs)
    figure = new_figure(11.0, 1.0 + 3.2 * len(runs), title)
    panels = figure.subplots(len(runs), 1, squeeze=False)[:, 0]
    for panel, (label, (times, ratios, fell_at)) in zip(panels, runs.items(), strict=True):
        times = check_times(times)
        series = {name: check_series(name, values, len(times)) for name, values in ratios.items()}
        # who is at his limit for longest, or nearest to it
        most = sorted(series, key=lambda name: -float(np.mean(series[name] ** 8)))[:_MOST_LINES]
        for k, name in enumerate(most):
            panel.plot(times, series[name], color=LINE_COLORS[k], lw=1.1, label=name)
        panel.axhline(1.0, color="black", lw=0.8, ls=":")
        if fell_at is not None:
            panel.axvline(fell_at, color="black", lw=0.9, ls="--", label="falls")
        panel.set(ylabel="torque over strength", ylim=(0.0, 1.1))
        if label:
            panel.set_title(label, fontsize=9, loc="left")
        finish_panel(panel, times)
    panels[-1].set(xlabel="time, s")
    return to_png(figure)
