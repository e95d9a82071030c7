"""Falls from above: on what a body stood, where its centre of mass went, and where the ground pushed it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from poise.pictures.plot_style import LINE_COLORS, check_named, new_figure, to_png

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
