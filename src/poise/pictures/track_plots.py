"""Plots of tracking: how far off a body is over time, and how that and its lag depend on the stiffness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poise.pictures.plot_style import LINE_COLORS, check_series, check_times, finish_panel, new_figure, to_png

_MOST_LINES = 5


def plot_tracking(
    times: np.ndarray,
    angles: np.ndarray,
    labels: Sequence[str],
    title: str = "",
    speeds: tuple[np.ndarray, np.ndarray] | None = None,
    curve: Mapping[str, np.ndarray] | None = None,
    chosen: float | None = None,
) -> bytes:
    """Errors of joints over time.

    times   (F,) s;  angles (F, K) rad, how far off each joint is;  labels: of the joints
    speeds  (F,), (F,) rad/s, of the joint that turns most: as wanted, and as it was
    curve   `stiffness`, `error_rad`, `lag_ms`, (N,) each, of a search; chosen: the stiffness (1/s2) that was used
    """
    times = check_times(times)
    angles = check_series("the angles", angles, len(times), len(labels))
    figure = new_figure(11.0, 6.5 if curve is None else 9.5, title)
    panels = list(figure.subplots(2 if curve is None else 3, 1))
    worst = np.argsort(-np.sqrt(np.mean(angles**2, axis=0)))[:_MOST_LINES]
    for k, joint in enumerate(worst):
        panels[0].plot(times, angles[:, joint], color=LINE_COLORS[k + 1], lw=0.9, label=labels[joint])
    rms = np.sqrt(np.mean(angles**2, axis=1)) if len(labels) else np.zeros(len(times))
    panels[0].plot(times, rms, color="black", lw=1.4, label="RMS of all")
    panels[0].set(ylabel="off the clip, rad", ylim=(0.0, None))
    finish_panel(panels[0], times)
    if speeds is not None:
        for values, name, color in zip(speeds, ("clip", "tracked"), LINE_COLORS, strict=False):
            panels[1].plot(times, check_series("the speed", values, len(times)), color=color, lw=1.0, label=name)
    panels[1].set(xlabel="time, s", ylabel="speed of the liveliest joint, rad/s")
    finish_panel(panels[1], times)
    if curve is not None:
        draw_curve(panels[2], curve, chosen)
    return to_png(figure)


def plot_stiffness(
    curves: Mapping[str, tuple[Mapping[str, np.ndarray], float | None]], title: str = "", columns: int = 1
) -> bytes:
    """Error and lag over the stiffness, a panel for each label, so many in a row, and what was chosen."""
    rows = -(-len(curves) // columns)
    figure = new_figure(4.6 * columns + 1.4, 2.9 * rows, title)
    panels = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
    for k, (label, (curve, chosen)) in enumerate(curves.items()):
        draw_curve(panels[k], curve, chosen, has_legend=k == columns - 1)
        panels[k].set_title(label, fontsize=9, loc="left")
    return to_png(figure)


def draw_curve(panel: Any, curve: Mapping[str, np.ndarray], chosen: float | None, has_legend: bool = True) -> None:
    """Error and lag over the stiffness on a panel."""
    left, stiffness = panel, np.asarray(curve["stiffness"], float)
    error, lag = np.asarray(curve["error_rad"], float), np.asarray(curve["lag_ms"], float)
    left.plot(stiffness, error, "o-", color=LINE_COLORS[0], ms=4, label="RMS error")
    left.set(xscale="log", yscale="log", xlabel="stiffness, 1/s2", ylabel="RMS error, rad")
    for axis in (left.xaxis, left.yaxis):  # no formulas: see `to_png`
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_formatter(lambda value, _: "")
    right = left.twinx()
    right.plot(stiffness, lag, "s--", color=LINE_COLORS[1], ms=3, label="lag")
    right.set(ylabel="lag, ms")
    right.spines["top"].set_visible(False)
    if chosen is not None:
        left.axvline(chosen, color="black", lw=0.9, ls=":", label="chosen")
    lines = [*left.get_lines(), *right.get_lines()]
    finish_panel(panel, has_legend=False)
    if not has_legend:
        return
    left.legend(
        lines, [line.get_label() for line in lines], loc="upper left", bbox_to_anchor=(1.18, 1.0), frameon=False,
        fontsize=8,
    )  # fmt: skip
