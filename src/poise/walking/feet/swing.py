"""How a foot gets from one place to another without touching what is in between."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from poise.spatial import rotation
from poise.walking.feet.foot import WalkingFoot
from poise.walking.feet.records import SwingCheck
from poise.walking.feet.stance import FootStance, FootSwing, build_stances
from poise.walking.footholds.terrain import Terrain
from poise.walking.steps import Timing

_SAMPLES = np.linspace(0.01, 0.99, 99)
_CLEAR = 0.012  # m, that a sole keeps over the ground in the middle of its way
# How long a foot goes straight up and straight down, of its time: tried in this order.
_STRAIGHT = (
    (0.0, 0.0), (0.08, 0.0), (0.0, 0.08), (0.0, 0.14), (0.12, 0.08), (0.0, 0.2), (0.1, 0.2), (0.2, 0.15), (0.28, 0.22),
)  # fmt: skip
_HIGHEST = 0.35  # m
_PASS = 0.004  # m
_LEAST_TIP, _TIP = 0.26, 1.05  # rad, and rad for a foot that is lifted by a leg's length
_TOUCH = 3e-4  # m, that a sole may be in the ground as it leaves and lands


def find_swing(
    foot: WalkingFoot, stance: FootStance, spot: FootStance, timing: Timing, terrain: Terrain, lift: float
) -> FootSwing:
    """The lowest swing, at least `lift` (m) high, that no corner of the sole touches the ground on."""
    leaves = FootStance(stance.place, stance.turn, rise=0.0, off=timing.shift, push=timing.push)
    land = timing.shift + timing.swing
    lands = FootStance(spot.place, spot.turn, land, land + timing.flat, strike=timing.strike)
    best: tuple[float, FootSwing] | None = None
    for early, late in _STRAIGHT:
        swing = _tip(foot, stance, spot, FootSwing(lift, early=early, late=late, up=0.4, down=0.5))
        short = _raise(foot, leaves, lands, swing, terrain)
        for _ in range(4):
            if short[0] <= 0.0 or swing.top >= _HIGHEST:
                break
            swing = _tip(foot, stance, spot, replace(swing, top=min(swing.top + 1.05 * short[1], _HIGHEST)))
            short = _raise(foot, leaves, lands, swing, terrain)
        cost = min(swing.top, _HIGHEST) + 20.0 * max(short[0], 0.0) + 0.05 * (early + late)
        if best is None or cost < best[0]:
            best = cost, swing
        if short[0] <= 0.0 and swing.top <= lift + 0.02:
            break
    assert best is not None
    return best[1]


def _tip(foot: WalkingFoot, stance: FootStance, spot: FootStance, swing: FootSwing) -> FootSwing:
    """With toes that hang as the knee bends: the more, the higher the foot is lifted."""
    if foot.stiff:  # it has no knee to bend: toes that hang would drag
        return replace(swing, tip=0.0)
    top = max(float(spot.place[1] - stance.place[1]), 0.0) + swing.top
    uphill = max(float(rotation.rotate(stance.turn, foot.ahead)[1]), 0.0)  # the ankle is bent by that already
    return replace(swing, tip=_LEAST_TIP + _TIP * max(top / foot.leg - 0.05, 0.0) + 1.5 * uphill)


def _raise(
    foot: WalkingFoot, leaves: FootStance, lands: FootStance, swing: FootSwing, terrain: Terrain
) -> tuple[float, float]:
    """m, how much too low a swing is at its worst, and by how much more it should rise."""
    from poise.walking.feet.kernels import measure_swing

    below = max(float(leaves.place[1]), float(lands.place[1])) + _HIGHEST
    # A little longer than it is: edges are passed, not grazed.
    tip = np.where((foot.front @ foot.ahead > np.mean(foot.corners @ foot.ahead))[:, None], _PASS * foot.ahead, 0.0)
    heel, front = foot.back - _PASS * foot.ahead, foot.front + tip
    check = SwingCheck(
        samples=len(_SAMPLES), heel_points=len(heel), front_points=len(front), clearance=_CLEAR, tolerance=_TOUCH,
        below=below, headroom=terrain.room, times=_SAMPLES, heel=heel, front=front,
    )  # fmt: skip
    stances = build_stances((leaves, lands), (swing,))
    deepest, more = measure_swing(terrain.record(0.0), foot.build_shape(), stances, check)
    return float(deepest), float(more)
