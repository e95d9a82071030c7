"""What tracking is made of: frames at an even rate, the motion written and measured, pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.files.reporting import SILENT, Reporter
from poise.jobs.shared.base import BALANCE
from poise.jobs.shared.body import ClipBody
from poise.jobs.shared.metrics import find_angles, find_lag, find_spins, measure_error
from poise.jobs.shared.options import PLANTED
from poise.jobs.shared.simulation import Mix
from poise.jobs.track.plan import TrackPlan
from poise.jobs.track.stiffness_search import Trial
from poise.motion.clip import Clip
from poise.motion.edits.timing import resample

UNEVEN = 0.02  # of their mean: frames whose distances differ by more have no rate
RATES = (
    60.0,
    240.0,
)  # frames a second that are written of such a clip; a tenth of its frames may be nearer to each other


@dataclass(frozen=True, eq=False)
class Tracked:
    """What came of it.

    mix      take, result, base, and whether it fell: see `Mix`
    wanted   the clip that was followed, on the body that followed it
    body     that body
    figures  under the names of `poise track --json`
    trials   stiffnesses that were tried, the softest first
    notes, warnings   a sentence each
    """

    mix: Mix
    wanted: Clip
    body: Character
    figures: Mapping[str, Any]
    trials: tuple[Trial, ...] = ()
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default_factory=tuple)

    @property
    def clip(self) -> Clip:
        """The motion of the body."""
        return self.mix.clip

    @property
    def fell(self) -> bool:
        """Whether it fell, or the simulation broke off."""
        return self.mix.fell


def make_even(clip: Clip, audience: Reporter) -> Clip:
    """A clip at an even rate: itself, or where its frames come at uneven times splines through them."""
    steps = np.diff(clip.times)
    if not len(steps) or np.abs(steps - steps.mean()).max() <= UNEVEN * steps.mean():
        return clip
    fps = round(float(np.clip(1.0 / np.quantile(steps, 0.1), *RATES)))
    audience.note(
        f"its frames are {1e3 * steps.min():.3g} to {1e3 * steps.max():.3g} ms apart: splines through them are "
        f"followed, and {fps} frames a second are written."
    )
    return resample(clip, fps)


def write_tracked(
    found: Mix, body: ClipBody, plan: TrackPlan, output: Path | None, audience: Reporter = SILENT
) -> dict[str, Any]:
    """Write the motion; its figures, of what was written."""
    from poise.jobs.shared.results import write_mix

    written = write_mix(found, body, plan, output, audience)
    result, wanted, joints = written.clip, written.wanted, found.tracked
    lag, angles = find_lag(result, wanted, joints), find_angles(result, wanted, joints)
    return {
        **written.start,
        "tracking_error_rad": measure_error(result, wanted, joints),
        "largest_error_rad": float(angles.max()) if angles.size else None,
        "worst_joint": _find_worst(wanted, joints, angles),
        "lag_ms": None if lag is None else 1000.0 * lag,
        "stiffness": plan.stiffest,
        "law": plan.law,
        "give": plan.give,
        "base": BALANCE if found.base == PLANTED else found.base,
        "tracked_joints": len(joints),
        **written.end,
    }


def _find_worst(clip: Clip, joints: list[int], angles: np.ndarray) -> str | None:
    """Return the joint whose angles (F, K) are the largest on the whole."""
    return clip.skeleton.labels[joints[int(np.argmax(np.mean(angles**2, axis=0)))]] if angles.size else None


def describe_search(trials: tuple[Trial, ...]) -> dict[str, Any]:
    """`search`: the curve, where there was one."""
    if not trials:
        return {}
    return {"search": {name: values.tolist() for name, values in _list_curve(trials).items()}}


def _list_curve(trials: tuple[Trial, ...]) -> dict[str, np.ndarray]:
    """What was tried, as arrays."""
    lags = [np.nan if each.lag is None else 1000.0 * each.lag for each in trials]
    return {
        "stiffness": np.array([each.stiffness for each in trials]),
        "error_rad": np.array([each.error for each in trials]),
        "summed_error_rad": np.array([each.total for each in trials]),
        "lag_ms": np.array(lags),
    }


def draw_tracking(found: Mix, wanted: Clip, plan: TrackPlan, trials: tuple[Trial, ...] = ()) -> bytes:
    """PNG of how far off the joints are over time, and of the search."""
    from poise.pictures.plots import plot_tracking

    joints, n = found.tracked, len(found.clip)
    wanted = wanted if n == len(wanted) else wanted.pick(slice(0, n))
    labels = [wanted.skeleton.labels[i] for i in joints]
    speeds = None
    if joints and n > 1:
        spins = [np.linalg.norm(find_spins(each, joints), axis=-1) for each in (wanted, found.clip)]
        live = int(np.argmax(np.mean(spins[0] ** 2, axis=0)))
        each_frame = [np.append(each[:, live], each[-1, live]) for each in spins]
        speeds = each_frame[0], each_frame[1]
    return plot_tracking(
        np.asarray(found.clip.times) - found.clip.times[0], find_angles(found.clip, wanted, joints), labels,
        found.clip.name, speeds, _list_curve(trials) if trials else None, plan.stiffest,
    )  # fmt: skip
