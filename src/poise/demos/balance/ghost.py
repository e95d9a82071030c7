"""A ghost that walks, and a simulated body that follows it (K10, K11): pushed from the side twice, held back by a gate.

The ghost has no weight and does not see the gate. The body runs into it with its chest, pushes it open, slowly, and the
ghost waits meanwhile: it is never farther ahead than it may be.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.demos.shared.show import BLUE, CLAY, TAKE_FPS, Shot, film_shots, measure_mix, save_figures, save_motion
from poise.files.output import write_bytes
from poise.pictures.items import DrawnProp
from poise.pictures.mix_plots import plot_comparison
from poise.pictures.picture import DrawnBody
from poise.stage.actor import Actor

HEIGHT, MASS, SECONDS, STEPS = 1.75, 75.0, 22.0, 14
GATE, GATE_AT, DAMPING = (1.3, 0.08, 0.05), 2.4, 1000.0  # m; m ahead; N m s/rad
PUSHES = ((2.6, (160.0, 0.0, 0.0)), (4.4, (-160.0, 0.0, -60.0)))  # s, N; for a third of a second each
NEAR, FAR = 0.1, 0.3


class GhostWalker(Shot):
    """Somebody whose feet do not stay where they were."""

    def figure(self) -> DrawnBody:
        """It in a picture."""
        skeleton = self.record.character.skeleton
        skin = build_skin(skeleton, build_mannequin(skeleton, self.record.character.mass))
        return DrawnBody(self.take.clip(self.actor), skin, self.color, label=self.label, items=self.items)


def build(dt: float = 0.005) -> tuple[poise.Stage, Actor, Actor]:
    """The stage, the ghost and the body."""
    character = poise.Character.human(HEIGHT, MASS)
    stage = poise.Stage(dt=dt)
    hinge = poise.Hinge(np.array([-0.5 * GATE[0], 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), DAMPING)
    stage.add_prop(poise.Prop.box("gate", GATE, 8.0, (0.25, 1.28, GATE_AT), hinge=hinge))
    ghost, body = stage.add(character, "ghost"), stage.add(character, "body")
    ghost.drive("body", poise.Walk(STEPS, waits_for=body, near=NEAR, far=FAR))
    body.drive("body", poise.Shadow(ghost))
    for start, force in PUSHES:
        body.push("chest", force, 0.33, start)
    return stage, ghost, body


def run(folder: Path) -> dict[str, Any]:
    """Write the files of both; see `show`."""
    stage, ghost, body = build()
    log: list[tuple[float, float, float, float]] = []

    def watch(t: float) -> None:
        walk: Any = ghost.player("body")
        log.append(
            (t, walk.clock.lag, float(np.linalg.norm(ghost.body.state.root - body.body.state.root)), walk.clock.rate)
        )

    take = stage.run(SECONDS, fps=TAKE_FPS, each=watch)
    rows = np.array(log)[2:]
    figures = measure_mix(stage, take, "body") | {
        "farthest_mm": 1000.0 * float(rows[:, 1].max()),
        "root_farthest_mm": 1000.0 * float(rows[:, 2].max()),
        "off_at_end_mm": 1000.0 * float(rows[-1, 1]),
        "waited_s": float(np.sum(1.0 - rows[:, 3]) * stage.dt),
        "walked_m": float(take.actor("body").root[-1, 2] - take.actor("body").root[0, 2]),
        "is_done": bool(ghost.player("body").is_done),  # type: ignore[attr-defined]
    }
    gate = DrawnProp(stage.props["gate"].shapes, take.props["gate"], take.times)
    shots = [GhostWalker(take, "ghost", "ghost", CLAY), GhostWalker(take, "body", "body", BLUE, [gate])]
    save_motion(folder, "ghost", shots[1])
    film_shots(folder / "ghost", shots, azimuth=1.2, together=True)
    plots = {
        "distance": plot_comparison(
            rows[:, 0], {"farthest joint": 1e3 * rows[:, 1], "root": 1e3 * rows[:, 2]}, "mm", "ghost and body"
        ),
        "clock": plot_comparison(rows[:, 0], {"the ghost's clock": rows[:, 3]}, "of the stage's", "ghost"),
        "margin": plot_comparison(
            take.times, {"centre of mass inside what carries": 1e3 * take.actor("ghost").margin}, "mm", "ghost"
        ),
    }
    for kind, data in plots.items():
        write_bytes(folder / f"ghost-{kind}.png", data)
    return save_figures(folder, "ghost", figures)
