"""Makes the table of docs/forces.md that has the zero-moment point beside where MuJoCo's contacts press.

    PYTHONPATH=tests .venv/bin/python docs/make/pressure.py

The contacts' forces are read from MuJoCo's own data by tests/helpers/forces.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import poise
from helpers.forces import BODIES, MOTIONS, Pressed, press
from poise.dynamics.ground_reaction import compute_ground_reaction
from poise.dynamics.tree import build_tree

PAGE = Path(__file__).parents[1] / "forces.md"
MARKS = "<!-- pressure -->\n", "<!-- /pressure -->"
WHAT = {
    "stand": "stands",
    "swing": "swings its arms, 85 degrees at 1 Hz",
    "conduct": "conducts, 92 beats a minute",
    "squat": "squats, 3.2 s",
}
SECONDS, STEPS = 4.0, (0.005, 0.0025)
ENDS = 0.1  # s of a clip's beginning and end that are not counted: derivatives there are one-sided


def measure(run: Pressed) -> list[str]:
    """RMS and largest distance in mm, of the motion in the middle of each step, and of poses alone."""
    ends = round(ENDS / run.dt)
    newton = compute_ground_reaction(build_tree(run.body), run.between()).pressure
    poses = poise.compute_forces(run.clip(), run.body).reaction.pressure
    cells = []
    for found in (newton, poses):
        off = 1e3 * np.linalg.norm(found[:, [0, 2]] - run.pressure, axis=1)[ends:-ends]
        cells.append(f"{np.sqrt(np.mean(off**2)):.2f}, {off.max():.1f}")
    return cells


def main() -> None:
    """Every motion on every body, at both steps."""
    lines = [
        "| motion | body | pressure centre travels, mm | 5 ms: Newton-Euler | poses alone | 2.5 ms: Newton-Euler "
        "| poses alone |",
        "|" + "---|" * 7,
    ]
    for motion, drive in MOTIONS.items():
        for name, body in BODIES.items():
            runs = [press(body, drive, SECONDS, dt) for dt in STEPS]
            travel = 1e3 * np.ptp(runs[1].pressure, axis=0)
            cells = [
                f"{travel[1]:.0f} fore-aft, {travel[0]:.0f} sideways",
                *(cell for run in runs for cell in measure(run)),
            ]
            lines.append(f"| {WHAT[motion]} | {name} | " + " | ".join(cells) + " |")
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
    PAGE.write_text(before + MARKS[0] + "\n".join(lines) + "\n" + MARKS[1] + rest.split(MARKS[1])[1], encoding="utf-8")


if __name__ == "__main__":
    main()
