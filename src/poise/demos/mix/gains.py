"""The coupling's gain: an arm that swings moves the hips half as much, as physics has it, twice as much; and by torque
alone, without the force that goes with it.   [mix, section 3.3]

One arm: the paper's coupling, which torque alone belongs to, does not take heavier parts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import poise
from poise import gestures
from poise.demos.shared.show import BLUE, CLAY, GREEN, RED, TAKE_FPS, Shot, measure_mix, measure_sway, save_show
from poise.files.output import write_bytes
from poise.pictures.mix_plots import plot_comparison

HEIGHT, MASS, SECONDS = 1.78, 75.0, 6.0
RUNS: dict[str, tuple[dict[str, Any], tuple[float, float, float]]] = {
    "k = 0.5": ({"gain": 0.5}, GREEN),
    "k = 1": ({"gain": 1.0}, CLAY),
    "k = 2": ({"gain": 2.0}, BLUE),
    "torque only": ({"couple": "paper", "torque_only": True}, RED),
}


def run(folder: Path) -> dict[str, Any]:
    """Write the files of all four, and gains-hips.png, which lays their hips over one another; see `show`."""
    shots, swayed, figures = [], {}, {}
    for label, (options, color) in RUNS.items():
        stage = poise.Stage(**options)
        actor = stage.add(poise.Character.human(HEIGHT, MASS, preset="mix"))
        actor.drive("legs", poise.Balance())
        actor.drive("rightArm", poise.Kinematic(gestures.arm_swing(rate=1.0, amplitude=50.0, hands="right")))
        take = stage.run(SECONDS, fps=TAKE_FPS)
        shots.append(Shot(take, None, label, color))
        measured = measure_mix(stage, take)
        del measured["realtime_factor"]
        swayed[label] = measured | {"sway_rms_mm": measure_sway(shots[-1].record)}
        if label == "k = 1":
            figures = measure_mix(stage, take)
    figures["gains"] = swayed
    hips = {shot.label: 1000.0 * (shot.record.root[:, 2] - shot.record.root[0, 2]) for shot in shots}
    plot = plot_comparison(shots[0].times, hips, "hips forward, mm", "the same arm at four couplings")
    write_bytes(folder / "gains-hips.png", plot)
    return save_show(folder, "gains", shots, figures, shots[1], azimuth=-0.9)
