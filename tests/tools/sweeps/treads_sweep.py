"""Stairs at random, up and down, that hands which look lead a puppet over: any body, any beat, footholds that miss.

Hands see poses and nothing else ; what came of it is measured on poses (`helpers/hands.py`).
"""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass

import numpy as np

from helpers.hands import lead
from poise.errors import PoiseError
from poise.world.ground.profile import Stairs
from tools.sweeps.page import table

COUNT = 60
SLIP, DEEP, HOVERS, FOOT, ROOT = 2.0, 8.0, 5.0, 150.0, 80.0  # mm, mm, mm, m/s2, m/s2
ABOUT = (
    f"Hands that look lead a puppet over {COUNT} stairs: 1 to 4 steps of 5 to 20 cm (up to 0.11 of the body's height), "
    "up or down, 26 to 40 cm deep; bodies of 1.2 to 1.95 m; a step in 1.2 to 1.8 s. Footholds are meant well, or miss "
    f"by 3 or 8 cm (one sigma), which may be on an edge. Wanted: feet that are down slip by {SLIP:g} mm at most, no "
    f"point of a sole is more than {DEEP:g} mm in the ground, one of both is never more than {HOVERS:g} mm over it, "
    f"feet accelerate by {FOOT:g} m/s2 and the root by {ROOT:g} m/s2 at most. It has arrived if it stands on the last "
    "step, which is the hands' to do."
)


@dataclass
class Climb:
    """One walk over stairs. arrived: whether it stands where hands meant, in height; the rest as of `Walked`."""

    misses: float
    rise: float
    why: str = ""
    arrived: bool = False
    slip: float = 0.0
    deepest: float = 0.0
    hovers: float = 0.0
    foot: float = 0.0
    root: float = 0.0

    @property
    def is_bad(self) -> bool:
        """Whether it misses an aim."""
        return bool(
            self.why or not self.slip <= SLIP or not self.deepest <= DEEP or not self.hovers <= HOVERS
            or not self.foot <= FOOT or not self.root <= ROOT
        )  # fmt: skip


def climb(seed: int) -> Climb:
    """One walk."""
    rng = np.random.default_rng(seed)
    size, beat, misses = rng.uniform(1.2, 1.95), rng.uniform(1.2, 1.8), (0.0, 0.03, 0.08)[seed % 3]
    rise = (1.0 if rng.random() < 0.5 else -1.0) * min(rng.uniform(0.05, 0.2), 0.11 * size)
    ground = Stairs(rise, rng.uniform(0.26, 0.4), int(rng.integers(1, 5)), start=rng.uniform(0.2, 0.4))
    off = rng.normal(0.0, misses, (5, 2)) * (0.33, 1.0)

    def footholds(half: float) -> list[tuple[int, float, float]]:
        edges = ground.start + ground.run * np.arange(ground.count) + 0.06 * size
        found = [(k % 2, half * (-1.0) ** k + off[k, 0], edge + off[k, 1]) for k, edge in enumerate(edges)]
        return [*found, (ground.count % 2, half * (-1.0) ** ground.count, found[-1][2])]

    found = Climb(misses, rise)
    try:
        walked, _ = lead(footholds, ground, size, 22.0 * size**2, beat=beat)
    except (PoiseError, AssertionError) as error:
        found.why = type(error).__name__ + str(error)[:100]
        return found
    found.arrived = abs(walked.moved[1] - rise * ground.count) < 0.03
    found.slip, found.deepest, found.hovers = walked.slip, walked.deepest, walked.hovers
    found.foot, found.root = walked.foot, walked.root
    return found


def sweep(workers: int = 2, count: int = COUNT) -> tuple[str, int]:
    """Walk over all of them."""
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        runs = pool.map(climb, range(count), chunksize=1)
    rows, bad = [], sum(run.is_bad for run in runs)
    for misses in sorted({run.misses for run in runs}):
        for up in (False, True):
            these = [run for run in runs if run.misses == misses and (run.rise > 0.0) == up]
            if these:
                worst = [
                    max(getattr(run, name) for run in these) for name in ("slip", "deepest", "hovers", "foot", "root")
                ]
                middle = [float(np.median([getattr(run, name) for run in these])) for name in ("foot", "root")]
                rows.append((
                    f"{100 * misses:g} cm", "up" if up else "down", len(these), sum(run.arrived for run in these),
                    *(f"{value:.1f}" for value in worst[:3]), f"{worst[3]:.0f} ({middle[0]:.0f})",
                    f"{worst[4]:.0f} ({middle[1]:.0f})", sum(run.is_bad for run in these),
                ))  # fmt: skip
    head = (
        "footholds miss by", "way", "walks", "arrived", "slip, mm", "deepest, mm", "over the ground, mm",
        "foot, m/s2 (middle)", "root, m/s2 (middle)", "missed",
    )  # fmt: skip
    return f"{ABOUT}\n\n{table(head, rows)}", bad
