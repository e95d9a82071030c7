"""Plots of strength: curves over the angle at several speeds, and what share of it a motion needs."""

from __future__ import annotations

import math

import numpy as np

from poise.body.strength.joint_strength import JointStrength
from poise.errors import InputError
from poise.pictures.plot_style import LINE_COLORS, check_series, check_times, finish_panel, new_figure, to_png

SPEEDS = (-180.0, 0.0, 90.0, 180.0, 360.0)  # degrees a second along the torque
_COLORS = ("#CC79A7", "#000000", "#0072B2", "#009E73", "#E69F00")
MOST_PANELS = 60
_WIDEST = 180.0  # degrees each way, of an axis whose joint has no range


def plot_muscles(muscles: JointStrength, rows: list[int], title: str = "") -> bytes:
    """A PNG: a panel a degree of freedom, torque both ways over its range at `SPEEDS`."""
    if not 1 <= len(rows) <= MOST_PANELS:
        raise InputError(f"a plot shows 1 to {MOST_PANELS} degrees of freedom; {len(rows)} were named. Name joints.")
    across = min(3, len(rows))
    down = math.ceil(len(rows) / across)
    figure = new_figure(3.6 * across + 1.2, 2.3 * down + 0.6, title)
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for panel, row in zip(panels, rows, strict=False):
        letter = "xyz".index(muscles.axes[row])
        lower, upper = (float(np.degrees(muscles.ranges[row, side, letter])) for side in (0, 1))
        lower, upper = max(lower, -_WIDEST - 10.0), min(upper, _WIDEST + 10.0)
        lower, upper = (lower, upper) if upper - lower > 1.0 else (-30.0, 30.0)
        degrees = np.linspace(lower, upper, 181)
        angles = np.zeros((len(degrees), len(muscles)))
        angles[:, row] = np.radians(degrees)
        for speed, color in zip(SPEEDS, _COLORS, strict=True):
            rate = np.zeros(len(muscles))
            for way, sign in ((0, -1.0), (1, 1.0)):
                rate[row] = sign * math.radians(speed)
                torque = muscles.torque_range(angles, rate)[way][:, row]
                panel.plot(
                    degrees,
                    torque,
                    color=color,
                    lw=1.4,
                    label=f"{speed:+.0f} deg/s".replace("+0 ", "0 ") if way else None,
                )
        panel.axhline(0.0, color="#999999", lw=0.6)
        panel.set_title(f"{muscles.labels[row]} {muscles.axes[row]}", fontsize=9)
        panel.set_xlim(lower, upper)
        panel.tick_params(labelsize=7)
        finish_panel(panel, has_legend=False)
    for panel in panels[len(rows) :]:
        panel.set_axis_off()
    for panel in panels[max(0, len(rows) - across) : len(rows)]:  # the lowest of each column
        panel.set_xlabel("angle, degrees", fontsize=8)
    for k in range(down):
        panels[k * across].set_ylabel("torque, N m", fontsize=8)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=8, title="along the torque",
                  title_fontsize=8)  # fmt: skip
    return to_png(figure)


def plot_needed(times: np.ndarray, shares: dict[str, np.ndarray], scale: float, title: str = "") -> bytes:
    """A PNG of what share of its strength each of some ways needs over time. shares: label -> (F,)."""
    times = check_times(times)
    figure = new_figure(9.0, 4.5, title)
    panel = figure.subplots()
    most = 1.0
    for color, (label, values) in zip(LINE_COLORS, shares.items(), strict=False):
        values = check_series(label, values, len(times))
        panel.plot(times, values, color=color, label=label)
        finite = values[np.isfinite(values)]
        most = max(most, float(finite.max())) if len(finite) else most
    panel.axhline(1.0, color="#999999", lw=0.8, ls="--")
    if math.isfinite(scale):
        panel.axhline(scale, color="#000000", lw=0.8, ls=":", label=f"needed: {scale:.2f}")
    panel.set(xlabel="time, s", ylabel="torque / strength just then", ylim=(0.0, 1.08 * most))
    finish_panel(panel, times)
    return to_png(figure)
