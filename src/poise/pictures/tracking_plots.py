"""Plots of motions that are tracked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from poise.pictures.plot_style import LINE_COLORS, finish_panel, new_figure, to_png


def plot_transition(
    runs: Mapping[str, tuple[np.ndarray, np.ndarray]], bounds: tuple[float, float], hit: float | None = None,
    ylabel: str = "", title: str = "",
) -> bytes:  # fmt: skip
    """Where something is in several motions, with the bounds of a transition and the moment of an impact.

    runs    label -> times (F,) s and values (F,), each with frames of its own
    bounds  s, drawn as whole lines;  hit: s, dashed
    """
    figure = new_figure(9.0, 3.8, title)
    panel = figure.subplots()
    for (label, (times, values)), color in zip(runs.items(), LINE_COLORS, strict=False):
        panel.plot(times, values, color=color, lw=1.3, label=label)
    for t in bounds:
        panel.axvline(t, color="0.3", lw=0.9)
    if hit is not None:
        panel.axvline(hit, color="0.3", lw=0.9, ls="--", label="impact")
    panel.set(ylabel=ylabel, xlabel="time, s")
    finish_panel(panel, np.concatenate([times for times, _ in runs.values()]))
    return to_png(figure)
