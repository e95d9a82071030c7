"""The same minute of conducting on both engines, with the coupling that both can do."""

from __future__ import annotations

from poise import Character, Stage, gestures
from poise.errors import PoiseError
from tools.sweeps.page import table
from tools.sweeps.runs import Figures, run, stand

ENGINES = ("mujoco", "bullet")
SECONDS = 60.0
ALIKE = 0.2


def conduct(engine: str) -> Figures:
    """A minute with the paper's coupling."""
    stage = Stage(engine=engine, couple="paper")
    body = Character.human(1.75, 75.0, preset="mix")
    figures = run(stage, stand(stage, body, gestures.conduct(92.0, 4), "arms"), SECONDS)
    print(engine, figures.sway, figures.hip_sway, figures.creep, figures.fell_at, figures.why, flush=True)
    return figures


def sweep() -> tuple[str, int]:
    """Sway of the centre of mass and of the hips, and creep, engine by engine."""
    found: dict[str, Figures] = {}
    for engine in ENGINES:
        try:
            found[engine] = conduct(engine)
        except (PoiseError, ImportError) as error:
            return f"Not run: {error}", 1
    rows = [
        (
            engine,
            "no" if cell.fell_at is None else f"at {cell.fell_at:.1f} s",
            *(f"{value:.2f}" for value in (cell.sway, cell.hip_sway, cell.creep)),
            f"{1000 * cell.margin:.0f}",
        )
        for engine, cell in found.items()
    ]
    one, other = (found[engine] for engine in ENGINES)
    apart = [abs(b / a - 1.0) for a, b in ((one.sway, other.sway), (one.hip_sway, other.hip_sway))]
    missed = sum(not share <= ALIKE for share in apart) + sum(cell.fell_at is not None for cell in found.values())
    head = ("engine", "fell", "sway, mm", "sway of the hips, mm", "creep, mm", "margin, mm")
    said = (
        f"They differ by {100 * apart[0]:.0f} % in sway and {100 * apart[1]:.0f} % in that of the hips; wanted: 20 %."
    )
    text = f"{SECONDS:g} s in 4 at 92 beats a minute, arms animated, the trunk held by springs, `paper` coupling, 5 ms."
    return f"{text}\n\n{table(head, rows)}\n\n{said}", missed
