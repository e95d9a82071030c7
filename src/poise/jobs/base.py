"""What a mix stands on: feet that are planted under a balance, or the clip's own legs.

Nothing takes a physical step yet. A clip that stands keeps its feet where they first are, and its legs balance; one
that goes elsewhere, or that lies, sits or falls, would be torn from planted feet: its root and legs follow the clip,
and only what else is asked for is physical.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.body.character import Character
from poise.body.soles import leg_length
from poise.drivers.outline import find_outline
from poise.dynamics.momentum import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.errors import InputError
from poise.jobs.figures import find_sole_corners
from poise.jobs.plan import AUTO, KINEMATIC, PLANTED, MixPlan
from poise.motion.clip import Clip
from poise.motion.contacts import find_contacts
from poise.motion.parts import part_joints
from poise.motion.runs import find_runs
from poise.motion.stepping import Step, describe_steps, find_steps

# Of the legs' length: a centre of mass this far outside of the feet is carried by something else, or falls; after so
# many seconds of it somebody who stands would lie.
OUTSIDE, TOO_LONG = 0.3, 0.4
ALOFT = 0.1  # s: shorter flights are gaps in what was found to touch


class Base(NamedTuple):
    """What a mix stands on.

    name   `planted` or `kinematic`
    steps  steps of the clip
    why    what there is to say of it; empty: nothing
    """

    name: str
    steps: tuple[Step, ...] = ()
    why: str = ""


def choose_base(clip: Clip, character: Character, plan: MixPlan, balances: bool) -> Base:
    """What a clip is mixed on. balances: whether its legs would be physical, all of them."""
    if not has_feet(clip):
        return Base(KINEMATIC)
    steps = find_steps(clip)
    if plan.base == KINEMATIC or not balances:
        return Base(KINEMATIC, steps, "its root and legs follow the clip, as asked." if balances else "")
    away = find_off_its_feet(clip, character)
    if plan.base == PLANTED or plan.pinned:
        if away is not None and away == clip.times[0]:
            raise InputError(
                "the clip begins off its feet, lying or sitting: planted feet cannot carry it. Trim it to where it "
                f"stands, or leave the base at {AUTO}."
            )
        return Base(PLANTED, steps, f"{say_steps(steps)}; its feet stay planted here." if steps else "")
    if steps:
        why = f"{say_steps(steps)}: its root and legs follow it, and no balance is simulated."
        return Base(KINEMATIC, steps, why)
    if away is not None:
        when = f"{away - clip.times[0]:.1f} s"
        why = f"the clip is off its feet at {when}: its root and legs follow it, and no balance is simulated."
        return Base(KINEMATIC, steps, why)
    return Base(PLANTED, steps)


def say_steps(steps: tuple[Step, ...]) -> str:
    """Return the beginning of a sentence about a clip that steps: when each foot first does."""
    return f"the clip steps ({describe_steps(steps)})"


def find_off_its_feet(clip: Clip, character: Character) -> float | None:
    """s, the clip's time from which it does not stand: in the air, or its centre of mass far outside of its feet.

    Whoever jumps, lies, sits on something or falls does; who bows, squats or leans does not. None: never.
    """
    every = max(1, int(0.05 * clip.fps))
    soles = find_sole_corners(clip)[::every]
    center = compute_center_of_mass(build_tree(character), *clip.poses)[::every]
    leg, lowest = leg_length(clip.skeleton, "left"), soles[..., 1].min(axis=(1, 2))
    margin = [find_outline(c).find_margin(spot[0], spot[2]) for c, spot in zip(soles, center, strict=True)]
    off = (center[:, 1] < lowest + OUTSIDE * leg) | (np.array(margin) < -OUTSIDE * leg)
    found = [
        _find_first(clip.times[::every], off, TOO_LONG),
        _find_first(clip.times, find_contacts(clip).flight, ALOFT),
    ]
    return min((time for time in found if time is not None), default=None)


def _find_first(times: np.ndarray, frames: np.ndarray, least: float) -> float | None:
    """s, when frames (F,) first are true for at least so long (s)."""
    runs = find_runs(frames)
    return next((float(times[first]) for first, last in runs if times[last] - times[first] >= least), None)


def has_feet(clip: Clip) -> bool:
    """Whether a clip's body has legs with feet."""
    if any(clip.skeleton.find_role(side + "Foot") is None for side in ("left", "right")):
        return False
    try:
        return bool(part_joints(clip.skeleton, "legs"))
    except InputError:
        return False
