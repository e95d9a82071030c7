"""The `paper` coupling over bodies, parts and gains, on both engines: it stands, or it is refused before it begins."""

from __future__ import annotations

from typing import Any

from poise import Character, Stage
from poise.errors import InputError
from tools.sweeps.page import table
from tools.sweeps.runs import GESTURES, Figures, run, stand

BODIES: dict[str, dict[str, Any]] = {
    "default": {}, "mix": {"preset": "mix"}, "tracking": {"preset": "tracking"},
    "thin": {"height": 1.9, "mass": 55.0, "preset": "mix"}, "fat": {"height": 1.65, "mass": 130.0, "preset": "mix"},
    "child": {"height": 1.1, "mass": 20.0, "preset": "mix"}, "child, default": {"height": 1.0, "mass": 16.0},
}  # fmt: skip
MOVES = ("conduct 92 both", "arm swing", "clap")
SECONDS = 6.0
CASES = [
    *((body, "arms", 1.0, 5.0) for body in BODIES), *(("mix", "arms", gain, 5.0) for gain in (0.5, 2.0)),
    *(("default", "arms", gain, 5.0) for gain in (0.5, 2.0)), ("default", "rightArm", 1.0, 5.0),
    *(("mix", "upperBody", 1.0, step) for step in (1.0, 2.5, 5.0)), ("mix", "arms", -1.0, 5.0),
]  # fmt: skip


def try_case(body: str, part: str, name: str, gain: float, step: float, **options: Any) -> str:
    """Sway in mm, how it ended, or that it was refused."""
    try:
        stage = Stage(gain=gain, dt=step / 1000.0, **options)
        figures: Figures = run(stage, stand(stage, Character.human(**BODIES[body]), GESTURES[name], part), SECONDS)
    except InputError:
        return "refused"
    return figures.ending or f"{figures.sway:.2f}"


def sweep() -> tuple[str, int]:
    """Sway with `exact` and with `paper`."""
    rows, missed = [], 0
    for body, part, gain, step in CASES:
        cells = [
            [try_case(body, part, name, gain, step, **options) for name in MOVES]
            for options in (
                {"couple": "exact"}, {"couple": "paper"}, {"couple": "paper", "engine": "bullet"},
            )
        ]  # fmt: skip
        rows.append((body, part, f"{gain:g}", f"{step:g}", *(" ".join(row) for row in cells)))
        missed += sum("*" in cell for row in cells for cell in row) + sum(cell == "refused" for cell in cells[0])
        print(rows[-1], flush=True)
    head = ("body", "given", "k", "step, ms", "exact", "paper", "paper, Bullet")
    text = (
        f"Sway in mm of {', '.join(MOVES)}, {SECONDS:g} s each. `paper` must stand or be refused: it goes by as much of"
        " the last step's acceleration as is stable for the weight of what is given."
    )
    return f"{text}\n\n{table(head, rows)}", missed
