"""Pictures and the table of docs/walking.md: python docs/make/walking.py"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from poise.demos import DEMOS

HERE = Path(__file__).resolve().parents[1]
NAMES = ("stairs", "slope", "rough", "moving", "bodies")
KEYS = {
    "steps": "steps", "fell": "fell", "com_margin_m": "margin, mm", "foot_error_mm": "planted feet move, mm",
    "swing_depth_mm": "swing under the ground, mm", "sole_gap_mm": "sole to ground, mm",
    "peak_joint_acceleration_rad_s2": "joint, rad/s²",
}  # fmt: skip


def main() -> None:
    """Run the demos, take their pictures, and write what they came to."""
    with tempfile.TemporaryDirectory() as folder:
        found = {name: DEMOS[name].load()(Path(folder)) for name in NAMES}
        for name in ("stairs", "rough", "bodies"):
            shutil.copy(Path(folder) / f"{name}.png", HERE / "pictures" / f"walk-{name}.png")
        shutil.copy(Path(folder) / "stairs-center.png", HERE / "pictures" / "walk-stairs-center.png")
    rows = {name: values for name, values in found.items() if name != "bodies"}
    rows |= {f"body: {name}": values for name, values in found["bodies"]["bodies"].items()}
    text = ["| walk | " + " | ".join(KEYS.values()) + " |", "|---" * (len(KEYS) + 1) + "|"]
    text += [
        f"| {name} | " + " | ".join(format_figure(key, values[key]) for key in KEYS) + " |"
        for name, values in rows.items()
    ]
    page = HERE / "walking.md"
    before, rest = page.read_text().split("<!-- figures -->\n")
    after = rest.split("<!-- /figures -->")[1]
    page.write_text(f"{before}<!-- figures -->\n" + "\n".join(text) + f"\n<!-- /figures -->{after}")


def format_figure(key: str, value: Any) -> str:
    """A figure as the table has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key == "com_margin_m":
        return f"{1000.0 * value:.1f}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
