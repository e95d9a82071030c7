"""Following within strength from beginning to end: read, simulated, written, measured on what was written, and drawn.

`run_lift` is what the command and `poise.lift` call alike. What it does not say itself is as of a mix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.errors import SolveError
from poise.files.reporting import SILENT, Reporter
from poise.jobs.lift.follow import Efforts, Lifted
from poise.jobs.lift.metrics import describe_limits, find_changes, list_joints, list_limits, say_limits
from poise.jobs.lift.plan import LiftPlan
from poise.jobs.shared.base import BALANCE
from poise.jobs.shared.body import ClipBody
from poise.jobs.shared.metrics import measure_error
from poise.jobs.shared.options import PLANTED
from poise.jobs.shared.simulation import Mix
from poise.motion.clip import Clip
from poise.motion.root import root_at_hips


@dataclass(frozen=True, eq=False)
class Lift:
    """What came of it.

    mix      take, result, and whether it fell: see `Mix`
    efforts  what the degrees of freedom did, step by step
    wanted   the clip that was followed, on the body that followed it
    body     that body
    figures  under the names of `poise lift --json`
    notes, warnings   a sentence each
    """

    mix: Mix
    efforts: Efforts
    wanted: Clip
    body: Character
    figures: Mapping[str, Any]
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def clip(self) -> Clip:
        """The motion of the body."""
        return self.mix.clip

    @property
    def fell(self) -> bool:
        """Whether it fell, or the simulation broke off."""
        return self.mix.fell


def write_lifted(
    found: Lifted, body: ClipBody, plan: LiftPlan, output: Path | None, audience: Reporter = SILENT
) -> dict[str, Any]:
    """Write the motion; its figures, of what was written."""
    from poise.jobs.shared.results import write_mix

    mix = found.mix
    written = write_mix(mix, body, plan, output, audience)
    stood = found.efforts.before(mix.fell_at)
    limits = list_limits(stood)
    changes = _find_changes(found, written.clip, written.wanted)
    ratio = stood.ratio
    peak = np.unravel_index(int(np.argmax(ratio)), ratio.shape) if ratio.size else None
    return {
        **written.start,
        "tracking_error_rad": measure_error(written.clip, written.wanted, mix.tracked),
        "peak_torque_ratio": None if peak is None else float(ratio[peak]),
        "peak_torque_ratio_joint": None if peak is None else found.efforts.joints[peak[1]],
        "limited_joints": list_joints(limits),
        "limits": describe_limits(limits),
        "changes_degrees": changes,
        "told": say_limits(limits, changes),
        "load_kg": sum(load.mass for load in plan.loads),
        "weak": plan.weak,
        "center": plan.center,
        "lead": [f"{joint}={way}" for joint, way in plan.lead.items()],
        "paths": list(plan.paths),
        "base": BALANCE if mix.base == PLANTED else mix.base,
        "tracked_joints": len(mix.tracked),
        **written.end,
    }


def _find_changes(found: Lifted, result: Clip, wanted: Clip) -> dict[str, float]:
    """See `find_changes`; until it fell."""
    kept = np.arange(len(result))
    if found.mix.fell_at is not None:
        kept = kept[np.asarray(result.times) - result.times[0] <= found.mix.fell_at]
    if not len(kept):
        return {}
    apart = [root_at_hips(clip).body.pick(kept) for clip in (result, wanted)]
    return find_changes(apart[0], apart[1], found.muscles)


def draw_efforts(efforts: Efforts, fell_at: float | None, title: str = "") -> bytes:
    """PNG of torque over strength, of the joints that used most of it."""
    from poise.pictures.plots import plot_strength

    if not len(efforts.times):
        raise SolveError("the simulation broke off in its first step: there is nothing to draw.")
    ratio, joints = efforts.ratio, dict.fromkeys(efforts.joints)
    each = {
        joint: ratio[:, [k for k, name in enumerate(efforts.joints) if name == joint]].max(axis=1) for joint in joints
    }
    return plot_strength(efforts.times, each, fell_at, title)
