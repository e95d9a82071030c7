"""A plot of a motion's forces: ground force in body weights, pressure centre, and the largest joint torques."""

from __future__ import annotations

import numpy as np

from poise.body.skeleton import Skeleton
from poise.dynamics.tree import GRAVITY
from poise.motion.forces import ClipForces
from poise.motion.pushed import OTHERS
from poise.pictures.plot_style import new_figure, to_png

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
