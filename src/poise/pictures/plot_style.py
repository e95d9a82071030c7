"""What all plots share: their colors, their frame and their bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.errors import InputError, printable

# Okabe and Ito's palette: told apart by everybody, also in grey.
LINE_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
SIDE_COLORS = {"left": "#009E73", "right": "#CC79A7"}
AXIS_COLORS = {"x": "#D55E00", "y": "#000000", "z": "#0072B2"}
_MOST_LETTERS = 60
# What the world's axes are to one who faces +Z.
AXIS_NAMES = {"x": "x (left)", "y": "y (up)", "z": "z (forward)"}


def new_figure(width: float, height: float, title: str) -> Any:
    """An empty figure of a size in inches, drawn without a screen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(title, fontsize=12)
    return figure


def finish_panel(panel: Any, times: np.ndarray | None = None, has_legend: bool = True) -> None:
    """Grid, no box, legend beside the panel; over times (F,) s where those are its horizontal axis."""
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
    if times is not None and len(times) > 1:
        panel.set_xlim(times[0], times[-1])
    if has_legend and panel.get_legend_handles_labels()[1]:
        panel.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)


def to_png(figure: Any) -> bytes:
    """The figure as a PNG file; the same figure gives the same bytes."""
    from matplotlib import rc_context

    _take_as_it_is(figure)
    file = io.BytesIO()
    # Lines of millions of points are drawn in pieces, since Agg has no room for them whole.
    with rc_context({"agg.path.chunksize": 20_000}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # a box stands for a letter the font lacks
        figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    return file.getvalue()


def _take_as_it_is(figure: Any) -> None:
    """Have no text of a figure be a formula or move anything, whatever a joint or a file is called, nor be too long."""
    from matplotlib.text import Text

    axes = {id(axis.label) for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)}  # Poise's own words
    for text in figure.findobj(Text):
        text.set_parse_math(False)
        said = text.get_text()
        said = "\n".join(map(printable, said.split("\n"))) if id(text) in axes else printable(said)
        text.set_text(said if len(said) <= _MOST_LETTERS else f"{said[: _MOST_LETTERS - 3]}...")


def check_series(name: str, values: np.ndarray, *shape: int) -> np.ndarray:
    """An array as float64, refused by name where its shape is another; -1 allows any length."""
    array = np.asarray(values, float)
    if array.ndim != len(shape) or any(want not in (-1, have) for want, have in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("N" if size < 0 else str(size) for size in shape)
        raise InputError(f"{name} of a plot must have shape ({wanted}); given {array.shape}.")
    return array


def check_times(times: np.ndarray) -> np.ndarray:
    """(F,) s, at least one."""
    times = check_series("times", times, -1)
    if not len(times):
        raise InputError("a plot needs at least one time; none given.")
    return times


def check_named(name: str, series: Mapping[str, Any]) -> None:
    """At least one series by label."""
    if not series:
        raise InputError(f"{name} of a plot are empty; give at least one by its label.")
