"""Pictures of a body that stands: a still or a sheet of stills, and its support at each change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.jobs.shared.pictures import tile
from poise.pictures.picture import Picture, frame_picture, render_picture

SIZE, CELL = (960, 540), (480, 360)


def list_changes(supports: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return those outlines that differ from the one before."""
    kept: list[np.ndarray] = []
    for outline in supports:
        if len(outline) and (not kept or len(kept[-1]) != len(outline) or np.abs(kept[-1] - outline).max() > 0.01):
            kept.append(outline)
    return kept


def draw_still(picture: Picture, times: Sequence[float], azimuth: float | None = None) -> np.ndarray:
    """Return one still (H, W, 3) uint8, or several in rows of three."""
    moments = np.asarray(times, float)
    if len(moments) == 1:
        view = frame_picture(picture, moments, SIZE, azimuth=azimuth)
        return render_picture(picture, float(moments[0]), SIZE, view, caption="")
    view = frame_picture(picture, moments, CELL, azimuth=azimuth)
    return tile([render_picture(picture, float(t), CELL, view) for t in moments], 3)
