"""Makes the pictures and the tables of docs/mix.md: all demos of mixed bodies, run and measured.

    .venv/bin/python docs/make/mix.py [--minutes 10]

Rewrites docs/pictures/mix-*.png and what stands between the marks in docs/mix.md. A few minutes; each further minute of
the conductor's long run takes some seconds more.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from poise.demos import DEMOS

DOCS = Path(__file__).parents[1]
SHOWN = (
    "conductor", "armswing", "clap", "speech", "mocap", "swing", "switch", "hit-arm", "thin-fat", "overload", "gains",
    "compare",
)  # fmt: skip
PICTURES = [*(f"{name}.png" for name in SHOWN), "conductor-center.png", "switch-connectors.png", "gains-hips.png"]
COLUMNS = {
    "fell": "fell",
    "kinematic_error_rad": "kinematic error, rad",
    "foot_slip_mm": "foot slip, mm",
    "com_margin_m": "margin, m",
    "sway_mm": "sway, mm",
}
# Of each demo, what only it measures; nested tables get a row an entry.
OWN = {
    "conductor": ("sway_rms_mm", "sway_rms_mm_without_coupling", "sway_hz", "beat_hz", "sway_in_step",
                  "long_run_minutes", "long_run_creep_mm"),
    "armswing": ("hips_travel_mm",),
    "speech": ("strokes", "stroke_error_s"),
    "swing": ("growth_in_phase", "growth_out_of_phase"),
    "switch": ("switches", "angle_jump_rad", "speed_jump_rad_s", "force_at_switches", "force_in_hand_over"),
    "hit-arm": ("impulse_ns", "arm_off_degrees", "back_s", "angle_jump_rad", "speed_jump_rad_s", "sway_rms_mm",
                "sway_rms_mm_not_hit"),
    "overload": ("load_kg", "dropped_at_s", "peak_effort"),
}  # fmt: skip


def cell(value: Any) -> str:
    """A figure as a table has it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.2g}" if isinstance(value, float) and (abs(value) < 0.1 or abs(value) >= 1e4) else f"{value:.3g}"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """A table in Markdown."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def main(minutes: float) -> None:
    """Run all demos, copy their pictures, and rewrite the tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = {
            demo: DEMOS[demo].load()(folder, **({"minutes": minutes} if demo == "conductor" else {})) for demo in SHOWN
        }
        for picture in PICTURES:
            shutil.copy(folder / picture, DOCS / "pictures" / f"mix-{picture}")
    parts = {
        "figures": table(
            ["demo", *COLUMNS.values()], [[demo, *(cell(figures[demo][key]) for key in COLUMNS)] for demo in SHOWN]
        ),
        **{
            demo: table(["figure", "value"], [[f"`{key}`", cell(figures[demo][key])] for key in keys])
            for demo, keys in OWN.items()
        },
    }
    part = figures["conductor"]["taking_part"]
    parts["taking part"] = table(["figure", "value"], [[f"`{key}`", cell(value)] for key, value in part.items()])
    for mark, demo, key in (
        ("compare", "compare", "compared"), ("gains", "gains", "gains"), ("thin-fat", "thin-fat", "bodies"),
        ("lift", "conductor", "lift"),
    ):  # fmt: skip
        nested = figures[demo][key]
        head = [each for each in next(iter(nested.values())) if each not in ("fell_at_s", "coupling")]
        head = [each for each in head if any(row[each] is not None for row in nested.values())]
        parts[mark] = table(
            [mark, *(f"`{each}`" for each in head)],
            [[label, *(cell(row[each]) for each in head)] for label, row in nested.items()],
        )
    page = DOCS / "mix.md"
    text = page.read_text(encoding="utf-8")
    for mark, lines in parts.items():
        text = re.sub(
            rf"(<!-- {mark} -->\n).*?(<!-- end -->)",
            lambda marks, lines=lines: marks[1] + "\n".join(lines) + "\n" + marks[2],  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(float(sys.argv[2]) if sys.argv[1:2] == ["--minutes"] else 10.0)
