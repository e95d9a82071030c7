"""Makes the pictures and the tables of docs/tracking-demos.md: the demos of tracking, run and measured.

    .venv/bin/python docs/make/tracking_demos.py

Rewrites docs/pictures/tracking-*.png and what stands between the marks in docs/tracking-demos.md. A few minutes.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from poise.demos import DEMOS

DOCS = Path(__file__).parents[1]
OWN = {
    "drum": (
        "sinks_mm",
        "bounce_mm",
        "contact_time_error_ms",
        "tracked_peak_force_n",
        "tracked_impulse_ns",
        "shoulder_mm",
    ),
    "staff": ("tilt_degrees", "peak_wrist_nm", "strength_nm"),
    "bow": ("fell_of", "com_mm", "hips_back_mm", "tracking_error_rad"),
    "pattycake": ("gap_mm", "gap_without_mm", "gap_by_window_mm", "claps_felt", "peak_force_n", "felt_mm"),
    "slap": ("jump_m_s", "speed_m_s", "peak_force_n", "impulse_ns", "head_degrees"),
    "gestures": ("peak_error", "peak_speed_m_s", "spike_m_s2", "samples"),
}
PICTURES = (
    "drum-tracked", "drum-height", "staff", "staff-tilt", "bow", "bow-sway", "pattycake", "pattycake-gap", "slap",
    "slap-hand", "gestures-speed",
)  # fmt: skip


def cell(value: Any) -> str:
    """A figure as a table has it; of several, each with its name."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {cell(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return f"{value:.2g}" if isinstance(value, float) and abs(value) < 0.1 else f"{value:.3g}"


def main() -> None:
    """Run the demos, copy their pictures, and rewrite the tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = {demo: DEMOS[demo].load()(folder) for demo in OWN}
        for picture in PICTURES:
            shutil.copy(folder / f"{picture}.png", DOCS / "pictures" / f"tracking-{picture}.png")
    page = DOCS / "tracking-demos.md"
    text = page.read_text(encoding="utf-8")
    for demo, keys in OWN.items():
        rows = [("figure", "value"), ("---", "---"), *((f"`{key}`", cell(figures[demo][key])) for key in keys)]
        lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        text = re.sub(
            rf"(<!-- {demo} -->\n).*?(<!-- end -->)",
            lambda marks, lines=lines: f"{marks[1]}{lines}\n{marks[2]}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
