"""Plots of a walk: the centre of mass against what carries it, and the angles of the legs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from poise.pictures.plot_style import (
    LINE_COLORS,
    SIDE_COLORS,
    check_series,
    check_times,
    finish_panel,
    new_figure,
    to_png,
)

_NAMES = {
    "UpperLeg": "hip back, degrees", "LowerLeg": "knee bent, degrees", "Foot": "ankle down, degrees",
    "Toes": "toes down, degrees",
}  # fmt: skip


def plot_support(
    times: np.ndarray,
    center: np.ndarray,
    outlines: Sequence[np.ndarray],
    margins: np.ndarray,
    prints: Sequence[np.ndarray] = (),
    sides: Sequence[int] = (),
    title: str = "",
) -> bytes:
    """The centre of mass over the support.

    times    (F,) s;  center (F, 3) m;  outlines: F of (N, 2) m, x and z, of what is down
    margins  (F,) m, how far inside of that it is
    prints   outlines (N, 2) m of all soles that stood, and the sides they are of (0 left, 1 right)
    """
    times = check_times(times)
    center = check_series("the centre of mass", center, len(times), 3)
    span = np.ptp(center[:, [0, 2]], axis=0)
    turned = span[1] >= span[0]  # the longer way goes to the right
    across, along = (0, 2) if turned else (2, 0)
    names = {0: "to the left (x), m", 2: "forward (z), m"}
    figure = new_figure(11.0, 9.0, title)
    above, forward, aside, inside = figure.subplots(4, 1, height_ratios=(1.3, 1.0, 1.0, 0.8))
    for k, outline in enumerate(prints):
        closed = np.concatenate([outline, outline[:1]])
        side = "left" if sides[k] == 0 else "right"
        above.fill(closed[:, along // 2], closed[:, across // 2], color=SIDE_COLORS[side], alpha=0.25, lw=0)
        above.plot(closed[:, along // 2], closed[:, across // 2], color=SIDE_COLORS[side], lw=0.9)
    above.plot(center[:, along], center[:, across], color=LINE_COLORS[1], lw=1.3, label="centre of mass")
    above.set(aspect="equal", xlabel=names[along], ylabel=names[across])
    finish_panel(above)
    bands = {axis: _find_band(outlines, axis // 2) for axis in (0, 2)}
    for panel, axis in ((forward, along), (aside, across)):
        low, high = bands[axis]
        panel.fill_between(times, low, high, color=LINE_COLORS[0], alpha=0.18, lw=0, step="mid", label="support")
        panel.plot(times, center[:, axis], color=LINE_COLORS[1], label="centre of mass")
        panel.set(ylabel=names[axis])
        panel.tick_params(labelbottom=False)
        finish_panel(panel, times)
    inside.plot(times, 100.0 * np.where(np.isfinite(margins), margins, np.nan), color=LINE_COLORS[0])
    inside.axhline(0.0, color="0.35", ls="--", lw=1.0)
    inside.set(ylabel="inside by, cm", xlabel="time, s")
    finish_panel(inside, times, has_legend=False)
    return to_png(figure)


def _find_band(outlines: Sequence[np.ndarray], axis: int) -> tuple[np.ndarray, np.ndarray]:
    """(F,) m twice, from where to where the support goes; NaN where nothing is down."""
    low = np.array([outline[:, axis].min() if len(outline) else np.nan for outline in outlines])
    high = np.array([outline[:, axis].max() if len(outline) else np.nan for outline in outlines])
    return low, high


def plot_angles(times: np.ndarray, angles: Mapping[str, Mapping[str, np.ndarray]], title: str = "") -> bytes:
    """Angles of the legs: joint -> side -> (F,) degrees."""
    times = check_times(times)
    figure = new_figure(10.0, 1.0 + 1.9 * max(len(angles), 1), title)
    panels = figure.subplots(max(len(angles), 1), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (joint, sides) in zip(panels, angles.items(), strict=False):
        for side, values in sides.items():
            panel.plot(times, check_series(joint, values, len(times)), color=SIDE_COLORS[side], lw=1.2, label=side)
        panel.set(ylabel=_NAMES.get(joint, joint))
        finish_panel(panel, times, has_legend=panel is panels[0])
    panels[-1].set(xlabel="time, s")
    return to_png(figure)
