"""Steps from 1 to 10 ms, both couplings, and gains: how far sway and creep depend on what is not physics."""

from __future__ import annotations

from typing import Any

from poise import Character, Stage
from tools.sweeps.page import table
from tools.sweeps.runs import GESTURES, Figures, run, stand

STEPS_MS = (1.0, 2.0, 2.5, 5.0, 8.0, 10.0)
MOVES = ("conduct 92 right", "conduct 180 both", "arm swing", "clap")
SECONDS = 12.0
# A step up to 5 ms may change the hips' sway by so much of that at the smallest step. The centre of mass is held: what is
# left of its sway, some 0.1 mm, may change by as much or by so many mm.
ALIKE = 0.15
HELD = 0.1


def try_stage(name: str, part: str = "arms", **options: Any) -> Figures:
    """75 kg, 1.75 m, making one gesture with a part of it on a stage with these options."""
    stage = Stage(**options)
    figures = run(stage, stand(stage, Character.human(1.75, 75.0, preset="mix"), GESTURES[name], part), SECONDS)
    print(name, options, show(figures), figures.why, flush=True)
    return figures


def show(cell: Figures) -> str:
    """Sway of the centre of mass and of the hips, creep, mm."""
    return cell.ending or f"{cell.sway:.2f} {cell.hip_sway:.2f} {cell.creep:.2f}"


def is_alike(cell: Figures, finest: Figures) -> bool:
    """Whether a body sways as it does at the smallest step."""
    hips = abs(cell.hip_sway - finest.hip_sway) < ALIKE * finest.hip_sway
    return hips and abs(cell.sway - finest.sway) < max(ALIKE * finest.sway, HELD)


def sweep_steps() -> tuple[str, int]:
    """Sway and creep at steps from 1 to 10 ms, and the aims missed."""
    rows, missed = [], 0
    for couple in ("exact", "paper"):
        for name in MOVES:
            cells = [try_stage(name, dt=step / 1000.0, couple=couple) for step in STEPS_MS]
            rows.append((couple, name, *map(show, cells)))
            missed += sum(cell.fell_at is not None for cell in cells)
            if couple == "exact":
                fine = [cell for cell, step in zip(cells, STEPS_MS, strict=True) if step <= 5.0]
                missed += sum(not is_alike(cell, cells[0]) for cell in fine)
    head = ("coupling", "motion", *(f"{step:g} ms" for step in STEPS_MS))
    text = (
        f"Sway of the centre of mass, sway of the hips and creep in mm, {SECONDS:g} s each, 75 kg, 1.75 m, arms animated."
        f" Wanted with `exact` up to 5 ms: hips' sway within {100 * ALIKE:g} % of that at 1 ms, the centre of mass's too"
        f" or within {HELD:g} mm."
    )
    return f"{text}\n\n{table(head, rows)}", missed


GAINS = (
    ("exact, k = 0", {"gain": 0.0}),
    ("exact, k = 0.5", {"gain": 0.5}),
    ("exact, k = 1", {"gain": 1.0}),
    ("exact, k = 2", {"gain": 2.0}),
    ("paper, k = 0.5", {"gain": 0.5, "couple": "paper"}),
    ("paper, k = 1", {"gain": 1.0, "couple": "paper"}),
    ("paper, k = 2", {"gain": 2.0, "couple": "paper"}),
    ("paper, k = 1, torque only", {"gain": 1.0, "couple": "paper", "torque_only": True}),
)


def sweep_gains() -> tuple[str, int]:
    """Sway of the centre of mass and of the hips at gains of 0, 0.5, 1 and 2, and with the torque alone."""
    rows, missed = [], 0
    for title, options in GAINS:
        cells = [try_stage(name, **options) for name in MOVES]
        # who exaggerates may fall, or be refused; nothing may explode
        must = abs(options["gain"]) <= 1.0
        missed += sum(cell.is_broken or (must and cell.fell_at is not None) for cell in cells)
        shown = [c.ending or f"{c.sway:.2f} {c.hip_sway:.2f}" for c in cells]
        rows.append((title, *shown))
    text = (
        "Sway of the centre of mass, then of the hips, mm; arms animated, trunk and head answering. With k = 0 the"
        " arms swing, but push nothing. `paper` with k not 1 changes the arms' weight, too.\n\n"
    )
    return text + table(("coupling", *MOVES), rows), missed
