"""Nobody tunes anything, and each walks: average, fat, thin, short, a child, a longer leg, a locked knee, one arm, a
backpack (K8). Each in a file of its own; in the film they walk side by side.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import poise
from poise.body.bodies import PHYSIQUES
from poise.demos.balance.walks import BY_SPEED, show_walks
from poise.demos.shared.show import BLUE, CLAY, GREEN

STEPS, COLORS = 6, (CLAY, BLUE, GREEN)
FIGURES = ("fell", "fell_at_s", "com_margin_m", "foot_error_mm", "swing_depth_mm", "sole_gap_mm", "steps", "duration_s",
           "distance_m", "longest_step_m", "peak_joint_acceleration_rad_s2", "limit_excess_deg", "mass_kg", "stature_m",
           "solve_us")  # fmt: skip


def run(folder: Path) -> dict[str, Any]:
    """Write bodies-NAME.glb of each, and the rest of all: see `walks`."""
    walks, bodies = [], {}
    for name in PHYSIQUES:
        found = poise.walk(steps=STEPS, body=name, fps=50.0, outputs=folder / f"bodies-{name}.glb")
        walks.append(found)
        bodies[name] = {key: found.figures[key] for key in FIGURES if key not in BY_SPEED}
    fallen = [each["fell_at_s"] for each in bodies.values() if each["fell"]]
    figures = {
        "fell": bool(fallen),
        "fell_at_s": min(fallen, default=None),
        "com_margin_m": min(each["com_margin_m"] for each in bodies.values()),
        "foot_error_mm": max(each["foot_error_mm"] for each in bodies.values()),
        "steps": sum(each["steps"] for each in bodies.values()),
        "solve_us": max(walk.figures["solve_us"] for walk in walks),
        "bodies": bodies,
    }
    return show_walks(folder, "bodies", walks, figures, tuple(PHYSIQUES), COLORS)
