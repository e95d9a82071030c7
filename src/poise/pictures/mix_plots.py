"""Plots of a body that is partly animated and partly simulated: balance, torques, feet and connectors.

All take plain arrays, time first, in SI and world axes (+Y up, +Z forward, +X left), and give a PNG's bytes. NaN leaves
a gap: a foot in the air has no pressure centre.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poise.errors import InputError
from poise.pictures.plot_style import (
    AXIS_COLORS,
    AXIS_NAMES,
    LINE_COLORS,
    SIDE_COLORS,
    check_named,
    check_series,
    check_times,
    finish_panel,
    new_figure,
    to_png,
)

_MOST_ROWS = 12  # connectors drawn
_MOST_OUTLINES = 24  # supports drawn of one that changes: more turn into a grey patch


def plot_center_of_mass(
    times: np.ndarray,
    center: np.ndarray,
    support: np.ndarray | Sequence[np.ndarray] | None = None,
    target: np.ndarray | None = None,
    title: str = "",
) -> bytes:
    """The centre of mass seen from above over the support, and forward and sideways over time.

    times    (F,) s
    center   (F, 3) m
    support  (N, 2) m, x and z, an outline; or a sequence of them for one that changes
    target   (2,) m, x and z, where it is wanted
    """
    times = check_times(times)
    center = check_series("the centre of mass", center, len(times), 3)
    figure = new_figure(10.0, 4.6, title)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.35))
    above, forward = figure.add_subplot(grid[:, 0]), figure.add_subplot(grid[0, 1])
    aside = figure.add_subplot(grid[1, 1], sharex=forward)
    for k, outline in enumerate(_outlines(support)):
        closed = np.concatenate([outline, outline[:1]]) * 100.0
        above.fill(*closed.T, color=LINE_COLORS[0], alpha=0.10, lw=0)
        above.plot(*closed.T, color=LINE_COLORS[0], lw=1.4, label="support" if k == 0 else None)
    above.plot(100.0 * center[:, 0], 100.0 * center[:, 2], color=LINE_COLORS[1], lw=1.0, label="centre of mass")
    known = np.flatnonzero(np.isfinite(center).all(axis=1))
    for frame, fill in ((known[:1], "white"), (known[-1:], LINE_COLORS[1])):
        above.plot(100.0 * center[frame, 0], 100.0 * center[frame, 2], "o", ms=5, mfc=fill, mec=LINE_COLORS[1])
    for panel, axis, name in ((forward, 2, "forward, cm"), (aside, 0, "to the left, cm")):
        panel.plot(times, 100.0 * center[:, axis], color=LINE_COLORS[1])
        panel.set(ylabel=name)
        if target is not None:
            panel.axhline(100.0 * check_series("the target", target, 2)[axis // 2], color="0.35", ls="--", lw=1.0)
        finish_panel(panel, times)
    if target is not None:
        above.plot(*(100.0 * np.asarray(target, float)), "+", color="0.25", ms=11, mew=1.6, label="target")
    # Seen from above and behind: forward is up and the body's left is on the left.
    above.invert_xaxis()
    above.set(xlabel="to the left, cm", ylabel="forward, cm", aspect="equal")
    above.margins(0.08)
    finish_panel(above, has_legend=False)
    above.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False, fontsize=8)
    aside.set(xlabel="time, s")
    forward.tick_params(labelbottom=False)
    return to_png(figure)


def plot_margins(times: np.ndarray, margins: Mapping[str, np.ndarray], title: str = "") -> bytes:
    """How far inside the support the centre of mass is over time.

    times    (F,) s
    margins  name -> (F,) m, negative outside, NaN where nothing is down
    """
    times = check_times(times)
    figure = new_figure(8.0, 3.2, title)
    panel = figure.add_subplot()
    for k, (name, values) in enumerate(margins.items()):
        panel.plot(times, 100.0 * np.asarray(values, float), color=LINE_COLORS[k % len(LINE_COLORS)], label=name)
    panel.axhline(0.0, color="0.35", ls="--", lw=1.0)
    panel.set(xlabel="time, s", ylabel="inside the support, cm")
    finish_panel(panel, times)
    return to_png(figure)


def plot_joint_torques(
    times: np.ndarray,
    torques: Mapping[str, np.ndarray],
    limits: Mapping[str, float] | None = None,
    count: int = 8,
    title: str = "",
) -> bytes:
    """The torques of the joints that work hardest.

    times    (F,) s
    torques  label -> (F,) N m
    limits   label -> N m that the joint can give: a second panel shows the torques' share of it
    count    joints shown, 8 at most: those of the largest torque, spikes of 2 % of the time left aside
    """
    times = check_times(times)
    check_named("torques", torques)
    series = {label: check_series(f"the torque '{label}'", v, len(times)) for label, v in torques.items()}
    size = {label: _high(np.abs(values)) for label, values in series.items()}
    hardest = sorted(series, key=lambda label: -size[label])[: min(count, len(LINE_COLORS))]
    limited = [label for label in hardest if limits and label in limits]
    figure = new_figure(9.0, 5.6 if limited else 3.4, title)
    panels = figure.subplots(2 if limited else 1, 1, sharex=True, squeeze=False)[:, 0]
    for label, color in zip(hardest, LINE_COLORS, strict=False):
        panels[0].plot(times, series[label], color=color, lw=1.2, label=label)
        if limits and label in limits:
            panels[1].plot(times, np.abs(series[label]) / limits[label], color=color, lw=1.2, label=label)
    panels[0].set(ylabel="joint torque, N m")
    if limited:
        panels[1].axhline(1.0, color="0.35", ls="--", lw=1.0)
        panels[1].set(ylabel="share of strength", ylim=(0.0, None))
    panels[-1].set(xlabel="time, s")
    for panel in panels:
        finish_panel(panel, times, has_legend=panel is panels[0])
    return to_png(figure)


def plot_foot_forces(
    times: np.ndarray, forces: np.ndarray, pressure: np.ndarray, weight: float, title: str = ""
) -> bytes:
    """What the ground does to each foot: upward, sideways and forward, and where its pressure centre is.

    times     (F,) s
    forces    (F, 2, 3) N, left and right
    pressure  (F, 2, 3) m, NaN where a foot carries nothing
    weight    N, of the body: forces are shown as shares of it
    """
    times = check_times(times)
    forces = check_series("foot forces", forces, len(times), 2, 3)
    pressure = check_series("pressure centres", pressure, len(times), 2, 3)
    if not weight > 0.0:
        raise InputError(f"a body's weight is above 0 N; given {weight:g}.")
    figure = new_figure(9.0, 8.0, title)
    upward, level, forward, aside = figure.subplots(4, 1, sharex=True, height_ratios=(1.5, 1.2, 1.0, 1.0))
    for side, (name, color) in enumerate(SIDE_COLORS.items()):
        upward.plot(times, forces[:, side, 1] / weight, color=color, label=f"{name} foot")
        level.plot(times, forces[:, side, 2] / weight, color=color, label=f"{name}, forward")
        level.plot(times, forces[:, side, 0] / weight, color=color, ls=":", label=f"{name}, to the left")
        forward.plot(times, 100.0 * pressure[:, side, 2], color=color, label=f"{name} foot")
        aside.plot(times, 100.0 * pressure[:, side, 0], color=color, label=f"{name} foot")
    upward.plot(times, forces[:, :, 1].sum(axis=1) / weight, color="0.55", lw=0.9, label="both")
    upward.set(ylabel="upward force\n/ body weight")
    level.set(ylabel="level force\n/ body weight")
    forward.set(ylabel="pressure centre\nforward, cm")
    aside.set(ylabel="pressure centre\nto the left, cm", xlabel="time, s")
    for panel in (upward, level, forward, aside):
        finish_panel(panel, times)
    return to_png(figure)


def plot_connector_wrench(
    times: np.ndarray, wrenches: Mapping[str, tuple[np.ndarray, np.ndarray]], title: str = ""
) -> bytes:
    """What kinematic parts put on the bodies they hang from: a row a connector, force at the left, torque at the right.

    Of more than a dozen, those with the largest forces are drawn.

    times     (F,) s
    wrenches  connector's label -> force (F, 3) N and torque (F, 3) N m
    """
    times = check_times(times)
    check_named("connector wrenches", wrenches)
    if len(wrenches) > _MOST_ROWS:
        size = {label: _high(np.linalg.norm(force, axis=-1)) for label, (force, _) in wrenches.items()}
        hardest = sorted(wrenches, key=lambda label: -size[label])[:_MOST_ROWS]
        wrenches = {label: wrenches[label] for label in wrenches if label in hardest}
    figure = new_figure(10.0, 0.8 + 2.1 * len(wrenches), title)
    panels = figure.subplots(len(wrenches), 2, sharex=True, sharey="col", squeeze=False)
    for row, (label, (force, torque)) in zip(panels, wrenches.items(), strict=True):
        for panel, values, unit in ((row[0], force, "force, N"), (row[1], torque, "torque, N m")):
            values = check_series(f"the {unit.split(',')[0]} at '{label}'", values, len(times), 3)
            for axis, (letter, color) in enumerate(AXIS_COLORS.items()):
                panel.plot(times, values[:, axis], color=color, lw=1.2, label=AXIS_NAMES[letter])
            panel.set(ylabel=unit)
            finish_panel(panel, times, has_legend=panel is panels[0, 1])
        row[0].set_title(label, loc="left", fontsize=10)
    for panel in panels[-1]:
        panel.set(xlabel="time, s")
    return to_png(figure)


def plot_comparison(times: np.ndarray, runs: Mapping[str, np.ndarray], ylabel: str = "", title: str = "") -> bytes:
    """The same quantity of several runs in one panel.

    times  (F,) s
    runs   label -> (F,), at most 8
    """
    times = check_times(times)
    check_named("runs", runs)
    if len(runs) > len(LINE_COLORS):
        raise InputError(f"{len(runs)} runs cannot be told apart in one plot; give {len(LINE_COLORS)} at most.")
    figure = new_figure(9.0, 3.8, title)
    panel = figure.subplots()
    for (label, values), color in zip(runs.items(), LINE_COLORS, strict=False):
        panel.plot(times, check_series(f"the run '{label}'", values, len(times)), color=color, lw=1.3, label=label)
    panel.set(ylabel=ylabel, xlabel="time, s")
    finish_panel(panel, times)
    return to_png(figure)


def _outlines(support: np.ndarray | Sequence[np.ndarray] | None) -> list[np.ndarray]:
    """Outlines (N, 2) m to draw: the one, or up to 24 evenly spaced of several; empty ones left out."""
    if support is None or len(support) == 0:
        return []
    several: list[Any] = [support] if np.ndim(support[0]) == 1 else list(support)
    outlines = [check_series("a support", outline, -1, 2) for outline in several if len(outline)]
    if not outlines:
        return []
    return [outlines[k] for k in np.unique(np.linspace(0, len(outlines) - 1, _MOST_OUTLINES).astype(int))]


def _high(values: np.ndarray) -> float:
    """The 98th percentile of what is known; 0 where nothing is."""
    known = values[np.isfinite(values)]
    return float(np.percentile(known, 98)) if len(known) else 0.0
