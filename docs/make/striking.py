"""Makes the tables of docs/striking.md: a given hand beside that of a whole body in plain MuJoCo, and in plain Bullet.

    PYTHONPATH=tests .venv/bin/python docs/make/striking.py [mujoco] [bullet]

Rewrites what is between the marks. `Whole` of tests/oracles/touching.py and `WholeBullet` of touching_bullet.py know
nothing of Poise's engines. Where in a step two
things meet changes a peak by a tenth, so every figure is a mean over ten places of the thing.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from oracles.touching import STRIKES, Case, Mixed, Run, Whole
from poise.engines.registry import get_engine

PAGE = Path(__file__).parents[1] / "striking.md"
STEPS, PLACES, SECONDS = (0.001, 0.002, 0.005, 0.01), 10, 0.5
HEAD = "| what | step ms | peak N | impulse N s | thing m/s | body m/s |"
UNTOLD = " untold: peak | impulse | thing | body |"


def measure(run: Run, case: Case, dt: float) -> list[float]:
    """Peak force, impulse, and the speeds of the thing and of the body's trunk at the end."""
    assert np.all(np.isfinite(run.prop)) and np.all(np.isfinite(run.trunk))
    assert case.prop is not None
    thing = float(np.linalg.norm(run.speed[-1])) if case.prop.inertia is not None and not case.ground else 0.0
    moved = float(np.linalg.norm(run.prop[-1] - case.prop.position)) if case.ground else thing
    return [run.force.max(), run.force.sum() * dt, moved, np.linalg.norm(run.trunk[-1]) if case.root is None else 0.0]


def make_row(name: str, case: Case, dt: float, engine: str) -> str:
    """The whole body's figures with Poise's over them, and in MuJoCo without speeds."""
    from oracles.touching_bullet import WholeBullet

    found: list[list[list[float]]] = [[], [], []]
    assert case.prop is not None
    for k in range(PLACES):
        away = np.array([0.0, 0, -1]) if case.ground else np.array([0.0, -1, 0])
        each = replace(case, prop=replace(case.prop, position=case.prop.position + away * 0.012 * k / PLACES))
        whole = WholeBullet(each, dt) if engine == "bullet" else Whole(each, dt)
        runners = [whole, Mixed(each, dt, get_engine(engine))]
        if engine == "mujoco":
            runners.append(Mixed(each, dt, get_engine(engine), False))
        for rows, runner in zip(found, runners, strict=False):
            rows.append(measure(runner.run(SECONDS), each, dt))
    wanted, told = (np.mean(rows, axis=0) for rows in found[:2])
    cells = [name, f"{1e3 * dt:g}"]
    cells += [f"{a:.3g} ({100 * (b / a - 1):+.1f} %)" if a > 0.02 else "" for a, b in zip(wanted, told, strict=True)]
    if found[2]:
        untold = np.mean(found[2], axis=0)
        cells += [f"{100 * (b / a - 1):+.0f} %" if a > 0.02 else "" for a, b in zip(wanted, untold, strict=True)]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Rewrite the tables between the marks."""
    for engine in sys.argv[1:] or ("mujoco", "bullet"):
        head = HEAD + (UNTOLD if engine == "mujoco" else "")
        rows = [head, "|" + "---|" * (head.count("|") - 1)]
        rows += [make_row(name, case, dt, engine) for name, case in STRIKES.items() for dt in STEPS]
        mark = "table" if engine == "mujoco" else engine
        before, rest = PAGE.read_text().split(f"<!-- {mark} -->\n")
        after = rest.split("<!-- end -->", 1)[1]
        PAGE.write_text(before + f"<!-- {mark} -->\n" + "\n".join(rows) + "\n<!-- end -->" + after)


if __name__ == "__main__":
    main()
