"""Plots: forces of a motion, falls from above, effort, tracking over time, tracked motions, and walks.

`plot_forces` has ground force in body weights, centre of pressure, and the largest joint torques.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from poise.body.skeleton import Skeleton
from poise.body.strength.joint_strength import JointStrength
from poise.dynamics.tree import GRAVITY
from poise.errors import InputError
from poise.motion.forces.forces import ClipForces
from poise.motion.forces.ground_wrenches import OTHERS
from poise.pictures.plot_style import (
    LINE_COLORS,
    SIDE_COLORS,
    check_named,
    check_series,
    check_times,
    finish_panel,
    new_figure,
    to_png,
)

# Okabe and Ito's palette: told apart by everybody, also in grey.
COLORS = {"x": "#D55E00", "y": "#000000", "z": "#0072B2", "left": "#009E73", "right": "#CC79A7"}
TORQUE_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
AXIS_NAMES = {"x": "x", "y": "y (up)", "z": "z"}


def plot_forces(forces: ClipForces, skeleton: Skeleton, title: str = "") -> bytes:
    """A PNG: ground force, its shares on the feet, and the torques of the hardest-working joints."""
    figure = new_figure(9.0, 8.0, "")
    net, feet, torques = figure.subplots(3, 1, sharex=True)
    weight = forces.tree.mass * float(np.linalg.norm(GRAVITY))
    for axis, (letter, color) in enumerate(list(COLORS.items())[:3]):
        net.plot(forces.times, forces.reaction.force[:, axis] / weight, color=color, label=AXIS_NAMES[letter])
    net.set(ylabel="ground force / body weight", title=title or f"{forces.tree.mass:.1f} kg, {forces.cutoff:.1f} Hz")
    for side, name in enumerate(("left", "right")):
        feet.plot(forces.times, forces.feet.force[:, side, 1] / weight, color=COLORS[name], label=f"{name} foot, up")
        _shade(feet, forces.times, forces.contacts.foot[:, side], COLORS[name])
    for support, role in enumerate(OTHERS if forces.others is not None else ()):
        up = forces.others.force[:, support, 1] / weight  # type: ignore[union-attr]
        if up.any():
            color = COLORS["left" if role.startswith("left") else "right"]
            feet.plot(forces.times, up, color=color, ls="--" if "Leg" in role else ":", label=f"{role}, up")
    feet.set(ylabel="share of each foot / body weight")
    size = np.linalg.norm(forces.torque, axis=-1)
    size[:, 0] = 0.0  # the root's is what the feet leave unexplained, not a joint's
    hardest = np.argsort(-np.percentile(size, 98, axis=0), kind="stable")[: len(TORQUE_COLORS)]
    for color, joint in zip(TORQUE_COLORS, hardest, strict=False):
        torques.plot(forces.times, size[:, joint], color=color, label=skeleton.labels[joint])
    torques.set(ylabel="joint torque, N m", xlabel="time, s", xlim=(forces.times[0], forces.times[-1]))
    for panel in (net, feet, torques):
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
    return to_png(figure)


def _shade(panel, times: np.ndarray, is_down: np.ndarray, color: str) -> None:  # type: ignore[no-untyped-def]
    panel.fill_between(times, 0, 1, where=is_down, color=color, alpha=0.08, transform=panel.get_xaxis_transform(), lw=0)


_COLUMNS, _REACH = 4, 0.45  # panels in a row, and m that one shows to each side


class SeenFromAbove(NamedTuple):
    """One fall.

    soles     (2, 4, 3) m, the corners that it began on
    centers   (F, 3) m, of mass
    pressure  (S, 3) m, NaN where there was none
    """

    soles: np.ndarray
    centers: np.ndarray
    pressure: np.ndarray


def plot_falls(falls: Mapping[str, SeenFromAbove], title: str = "") -> bytes:
    """A panel a fall; ahead is up, the body's left is left."""
    check_named("falls", falls)
    rows = -(-len(falls) // _COLUMNS)
    figure = new_figure(11.0, 0.8 + 3.0 * rows, title)
    panels = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
    for panel, (name, fall) in zip(panels, falls.items(), strict=False):
        for corners in fall.soles:
            middle = corners[:, [0, 2]].mean(axis=0)
            around = corners[:, [0, 2]] - middle
            order = np.argsort(np.arctan2(around[:, 1], around[:, 0]))
            outline = corners[np.append(order, order[0])]
            panel.plot(outline[:, 0], outline[:, 2], color="0.5", lw=1.0)
        panel.plot(fall.centers[:, 0], fall.centers[:, 2], color=LINE_COLORS[0], lw=1.2, label="centre of mass")
        panel.plot(fall.pressure[:, 0], fall.pressure[:, 2], ".", color=LINE_COLORS[1], ms=3.0, label="pressure")
        panel.set(xlim=(_REACH, -_REACH), ylim=(-_REACH, _REACH), aspect="equal")
        panel.set_title(name, fontsize=9, loc="left")
    for panel in panels[len(falls) :]:
        panel.set_visible(False)
    panels[0].legend(fontsize=7, loc="lower right")
    return to_png(figure)


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


_MAX_TRACKED_LINES = 5


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
    worst = np.argsort(-np.sqrt(np.mean(angles**2, axis=0)))[:_MAX_TRACKED_LINES]
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
