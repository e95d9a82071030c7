"""Makes the table of solver settings of docs/crowd.md: quality over bodies, tempos and steps, and speed.

.venv/bin/python docs/make/crowd_settings.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np

import poise
from poise.bench.harness import measure
from poise.demos.shared.conductors import build_stage, draw_conductors

PAGE = Path(__file__).parents[1] / "crowd.md"
HEIGHTS, INDICES = (1.2, 1.5, 1.8, 2.1), (17.0, 22.0, 28.0, 36.0)  # m, kg/m2: 24 to 159 kg
STEPS = (0.0025, 0.005, 0.010)  # s
PUSH, AT, FOR = 0.7, 4.0, 0.3  # N for each kg, sideways at the chest of everybody; s
SECONDS, FPS = 12.0, 20.0

INTEGRATOR, CONE, SOLVER = mujoco.mjtIntegrator, mujoco.mjtCone, mujoco.mjtSolver
SETTINGS: dict[str, dict[str, Any]] = {
    "**as used: discrete, elliptic, impratio 100, solref 2 dt, Newton**": {},
    "implicitfast": {"integrator": INTEGRATOR.mjINT_IMPLICITFAST},
    "Euler": {"integrator": INTEGRATOR.mjINT_EULER},
    "impratio 1": {"impratio": 1.0},
    "impratio 10": {"impratio": 10.0},
    "impratio 1000": {"impratio": 1000.0},
    "pyramidal cone, impratio 1": {"cone": CONE.mjCONE_PYRAMIDAL, "impratio": 1.0},
    "pyramidal cone, impratio 100": {"cone": CONE.mjCONE_PYRAMIDAL},
    "solref 4 dt": {"solref": 4.0},
    "solref 8 dt": {"solref": 8.0},
    "1 iteration": {"iterations": 1},
    "2 iterations": {"iterations": 2},
    "4 iterations": {"iterations": 4},
    "tolerance 1e-4": {"tolerance": 1e-4},
    "tolerance 1e-6": {"tolerance": 1e-6},
    "tolerance 1e-10": {"tolerance": 1e-10},
    "conjugate gradients": {"solver": SOLVER.mjSOL_CG},
    "projected Gauss-Seidel": {"solver": SOLVER.mjSOL_PGS},
}


class Quality(NamedTuple):
    """Of one crowd: how many fell; mm that feet moved, bodies swayed and feet sank; iterations of the solver."""

    fell: int
    moved: float
    sway: float
    depth: float
    iterations: float


def main() -> None:
    """Rewrite the table."""
    found = {name: [try_setting(setting, dt) for dt in STEPS] for name, setting in SETTINGS.items()}
    middle = STEPS.index(0.005)
    contenders = {name: (lambda stage=runs[middle][0]: stage.advance(50)) for name, runs in found.items()}
    timings = measure(contenders, 21)
    count = len(HEIGHTS) * len(INDICES)
    rows = [
        "| setting | us a step | fell | feet moved, mm | sway, mm | deepest, mm | iterations |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, runs in found.items():
        quality = [each for _, each in runs]
        moved, sway, depth = (
            " / ".join(f"{getattr(each, key):.2f}" for each in quality) for key in ("moved", "sway", "depth")
        )
        us = 1e6 * timings.median(name) / 50 / count
        fell, iterations = sum(each.fell for each in quality), quality[middle].iterations
        rows.append(f"| {name} | {us:.1f} | {fell} | {moved} | {sway} | {depth} | {iterations:.1f} |")
    text = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- settings -->\n", "\n<!-- /settings -->"
    before, rest = text.split(begin)
    PAGE.write_text(before + begin + "\n".join(rows) + end + rest.split(end)[1], encoding="utf-8")
    print("\n".join(rows))


def try_setting(setting: dict[str, Any], dt: float) -> tuple[poise.Stage, Quality]:
    """A crowd of all bodies under some settings, and how it went."""
    bodies = [
        poise.Character.human(height, index * height**2, preset="mix", name=f"{height:g} m, {index:g} kg/m2")
        for height in HEIGHTS
        for index in INDICES
    ]
    stage = build_stage(draw_conductors(len(bodies)), bodies, dt=dt)
    for group in stage.groups:
        model = group.simulation.model  # type: ignore[attr-defined]
        for key, value in setting.items():
            if key == "solref":
                model.geom_solref[:, 0] = value * dt
            else:
                setattr(model.opt, key, value)
    for actor in stage.actors.values():
        actor.push("spine", (PUSH * actor.character.mass, 0.0, 0.0), FOR, start=AT)
    take = stage.run(SECONDS, fps=FPS)
    records = take.actors.values()
    still, quiet = int(2.0 * FPS), slice(int((AT + 4.0) * FPS), None)
    moved = max(np.linalg.norm((r.soles[still:] - r.soles[still])[..., [0, 2]], axis=-1).max() for r in records)
    sway = np.mean([np.sqrt(np.var(r.center[quiet][:, [0, 2]], axis=0).sum()) for r in records])
    depth = -min(float(r.soles[still:, ..., 1].min()) for r in records)
    rounds = [group.simulation.data.solver_niter[0] for group in stage.groups]  # type: ignore[attr-defined]
    fell = sum(take.fell_at(name) is not None for name in take.actors)
    return stage, Quality(fell, 1e3 * float(moved), 1e3 * float(sway), 1e3 * depth, float(np.mean(rounds)))


if __name__ == "__main__":
    main()
