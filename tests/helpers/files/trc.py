"""TRC text made by hand, for the tests of the reader."""

from __future__ import annotations

import numpy as np


def make_trc(points: np.ndarray, labels: list[str], rate: float, unit: str = "mm", first: float = 0.0) -> str:
    """A whole file. points (F, M, 3) in the unit, NaN for an empty cell; first: s, the first frame's time."""
    frames, count = points.shape[:2]
    names = ["DataRate", "CameraRate", "NumFrames", "NumMarkers", "Units", "OrigDataRate", "OrigDataStartFrame"]
    names.append("OrigNumFrames")
    values = [f"{rate:.2f}", f"{rate:.2f}", str(frames), str(count), unit, f"{rate:.2f}", "1", str(frames)]
    top = ["PathFileType\t4\t(X/Y/Z)\tseed.trc", "\t".join(names), "\t".join(values)]
    top.append("Frame#\tTime\t" + "".join(f"{label}\t\t\t" for label in labels))
    top.append("\t\t" + "".join(f"X{i}\tY{i}\tZ{i}\t" for i in range(1, count + 1)))
    rows = []
    for i, frame in enumerate(points):
        cells = ["" if not np.isfinite(x) else f"{x:.5f}" for x in frame.reshape(-1)]
        rows.append("\t".join([str(i + 1), f"{first + i / rate:.6f}", *cells]))
    return "\n".join([*top, "", *rows]) + "\n"
