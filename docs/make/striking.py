"""Makes the table of docs/striking.md: a given hand beside that of a whole body in plain MuJoCo.

    PYTHONPATH=tests .venv/bin/python docs/make/striking.py

Rewrites what is between the marks. `Whole` of tests/oracles/touching.py knows nothing of Poise. Where in a step two
things meet changes a peak by a tenth, so every figure is a mean over ten places of the thing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from oracles.touching import STRIKES, Case, Mixed, Run, Whole
from poise.engines.mujoco import MujocoEngine

PAGE = Path(__file__).parents[1] / "striking.md"
STEPS, PLACES, SECONDS = (0.001, 0.002, 0.005, 0.01), 10, 0.5
HEAD = "| what | step ms | peak N | impulse N s | thing m/s | body m/s | untold: peak | impulse | thing | body |"


def measure(run: Run, case: Case, dt: float) -> list[float]:
    """Peak force, impulse, and the speeds of the thing and of the body's trunk at the end."""
    assert np.all(np.isfinite(run.prop)) and np.all(np.isfinite(run.trunk))
    assert case.prop is not None
    thing = float(np.linalg.norm(run.speed[-1])) if case.prop.inertia is not None and not case.ground else 0.0
    moved = float(np.linalg.norm(run.prop[-1] - case.prop.position)) if case.ground else thing
    return [run.force.max(), run.force.sum() * dt, moved, np.linalg.norm(run.trunk[-1]) if case.root is None else 0.0]


def make_row(name: str, case: Case, dt: float) -> str:
    """The whole body's figures with Poise's over them, and without speeds."""
    found: list[list[list[float]]] = [[], [], []]
    assert case.prop is not None
    for k in range(PLACES):
        away = np.array([0.0, 0, -1]) if case.ground else np.array([0.0, -1, 0])
        each = replace(case, prop=replace(case.prop, position=case.prop.position + away * 0.012 * k / PLACES))
        engine = MujocoEngine()
        for rows, runner in zip(
            found, (Whole(each, dt), Mixed(each, dt, engine), Mixed(each, dt, engine, False)), strict=True
        ):
            rows.append(measure(runner.run(SECONDS), each, dt))
    whole, told, untold = (np.mean(rows, axis=0) for rows in found)
    cells = [name, f"{1e3 * dt:g}"]
    cells += [f"{a:.3g} ({100 * (b / a - 1):+.1f} %)" if a > 0.02 else "" for a, b in zip(whole, told, strict=True)]
    cells += [f"{100 * (b / a - 1):+.0f} %" if a > 0.02 else "" for a, b in zip(whole, untold, strict=True)]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Rewrite the table between the marks."""
    rows = [HEAD, "|" + "---|" * 10]
    rows += [make_row(name, case, dt) for name, case in STRIKES.items() for dt in STEPS]
    text = PAGE.read_text()
    before, rest = text.split("<!-- table -->\n")[:2]
    PAGE.write_text(before + "<!-- table -->\n" + "\n".join(rows) + "\n<!-- end -->" + rest.split("<!-- end -->")[1])


if __name__ == "__main__":
    main()
