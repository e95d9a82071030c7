"""The stiffness at which a clip is followed best (Z3): a search over its logarithm.   [tracking, eq 3]

Whole decades are tried first; between the neighbours of the best one golden sections close in on the least error. Where
that curve is flat, a body that is needlessly stiff would follow no better and give way less to a touch: the softest one
that is as good (`AS_GOOD`, or by less than can be seen, `UNSEEN`) is found by halves and taken.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.errors import InputError
from poise.files.reporting import SILENT, Reporter
from poise.jobs.shared.metrics import find_lag, sum_error
from poise.jobs.shared.simulation import simulate
from poise.jobs.track.plan import TrackPlan
from poise.motion.clip import Clip

SEARCHED = 10.0, 100_000.0  # 1/s2
TRIES = 5, 6, 3  # decades, golden sections and halves
AS_GOOD, UNSEEN = 1.05, 5e-4  # times the least error, and rad on the mean of joints and frames more
LONGEST = 20.0  # s of a clip that are tried
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True)
class Trial:
    """One stiffness (1/s2): the summed error and the RMS error (rad) of so many joints, and the lag (s)."""

    stiffness: float
    total: float
    error: float
    lag: float | None
    fell: bool
    joints: int


def find_best(
    clip: Clip, character: Character, plan: TrackPlan, audience: Reporter = SILENT
) -> tuple[float, tuple[Trial, ...]]:
    """The stiffness that follows a clip best, and all that were tried, the softest first."""
    short = clip if clip.duration <= LONGEST else clip.pick(np.flatnonzero(clip.times <= clip.times[0] + LONGEST))
    pushes = tuple(push for push in plan.pushes if push.start < short.duration)
    plan = dataclasses.replace(plan, pushes=pushes)
    tried: dict[float, Trial] = {}
    low, high = map(math.log10, SEARCHED)

    def weigh(log: float) -> float:
        stiffness = float(f"{10.0**log:.4g}")
        if stiffness not in tried:
            audience.advance("searching the stiffness", len(tried), sum(TRIES))
            tried[stiffness] = try_one(short, character, plan, stiffness)
        return tried[stiffness].total

    decades = np.linspace(low, high, TRIES[0])
    k = int(np.argmin([weigh(log) for log in decades]))
    a, b = decades[max(k - 1, 0)], decades[min(k + 1, TRIES[0] - 1)]
    x, y = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
    for _ in range(TRIES[1] - 1):
        if weigh(x) <= weigh(y):
            b, y = y, x
            x = b - _GOLDEN * (b - a)
        else:
            a, x = x, y
            y = a + _GOLDEN * (b - a)
    least = min(each.total for each in tried.values())
    if not math.isfinite(least):
        raise InputError("no stiffness follows this clip: all simulations broke off. Give a smaller step.")
    enough = AS_GOOD * least + UNSEEN * len(short) * max(each.joints for each in tried.values())
    for _ in range(TRIES[2]):
        soft = min(each.stiffness for each in tried.values() if each.total <= enough)
        softer = [each.stiffness for each in tried.values() if each.stiffness < soft]
        if not softer:
            break
        weigh(0.5 * (math.log10(soft) + math.log10(max(softer))))
    audience.advance("searching the stiffness", sum(TRIES), sum(TRIES))
    trials = tuple(sorted(tried.values(), key=lambda each: each.stiffness))
    return next(each.stiffness for each in trials if each.total <= enough), trials


def try_one(clip: Clip, character: Character, plan: TrackPlan, stiffness: float) -> Trial:
    """Track a clip with a stiffness (1/s2). One whose simulation breaks off has no end of errors."""
    found = simulate(clip, character, dataclasses.replace(plan, springs=stiffness))
    if found.broken is not None or len(found.clip) < len(clip):
        return Trial(stiffness, math.inf, math.inf, None, True, len(found.tracked))
    from poise.jobs.shared.metrics import measure_error

    total = sum_error(found.clip, clip, found.tracked)
    error = measure_error(found.clip, clip, found.tracked) or 0.0
    return Trial(stiffness, total, error, find_lag(found.clip, clip, found.tracked), found.fell, len(found.tracked))
