"""What a simulated body stands on: feet planted under a balance, its own legs, or pelvis and legs that the clip moves.

A mix:

Nothing takes a physical step yet. A clip that stands keeps its feet where they first are, and its legs balance; one
that goes elsewhere, or that lies, sits or falls, would be torn from planted feet: its root and legs follow the clip,
and only what else is asked for is physical.

Bodies that follow a clip by their own means:

`track` and `lift` choose alike.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from poise.body.character import Character
from poise.body.geometry.primitives import Box, Capsule
from poise.body.geometry.soles import leg_length
from poise.body.roles import BODY, SIDES
from poise.body.skeleton import Skeleton
from poise.drivers.balance.support_polygon import find_outline
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.errors import InputError, unknown_name
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.metrics import find_sole_corners
from poise.jobs.shared.options import AUTO, BASES, KINEMATIC, PLANTED
from poise.motion.clip import Clip
from poise.motion.contacts.contacts import find_contacts
from poise.motion.contacts.stepping import Step, describe_steps, find_steps
from poise.motion.parts import find_runs, part_joints
from poise.spatial import rotation
from poise.world.contact_settings import ContactSettings
from poise.world.ground.ground import Ground
from poise.world.overlap import find_shapes
from poise.world.scenery import Scenery

# Of the legs' length: a centre of mass this far outside of the feet is carried by something else, or falls; after so
# many seconds of it somebody who stands would lie.
OUTSIDE, TOO_LONG = 0.3, 0.4
ALOFT = 0.1  # s: shorter flights are gaps in what was found to touch


class Base(NamedTuple):
    """What a mix stands on.

    name   `planted` or `kinematic`
    steps  steps of the clip
    why    what there is to say of it; empty: nothing
    is_chosen   whether that was chosen for the user, who may want to override it
    """

    name: str
    steps: tuple[Step, ...] = ()
    why: str = ""
    is_chosen: bool = False


def choose_base(clip: Clip, character: Character, plan: MixPlan, balances: bool) -> Base:
    """What a clip is simulated on. balances: whether its legs would be physical, all of them."""
    if not has_feet(clip):
        return Base(KINEMATIC, (), "its legs and feet are not known: all but what is physical follows the clip.")
    steps = find_steps(clip)
    if plan.base == KINEMATIC or not balances:
        return Base(KINEMATIC, steps, "its pelvis and legs follow the clip, as asked." if balances else "")
    away = find_off_its_feet(clip, character)
    if plan.base == PLANTED or plan.pinned:
        if away is not None and away == clip.times[0]:
            raise InputError(
                "the clip begins off its feet, lying or sitting: legs on planted feet cannot balance it. Trim it to "
                f"where it stands, or leave the base at {AUTO}."
            )
        return Base(PLANTED, steps, f"{say_steps(steps)}; its feet stay planted here." if steps else "")
    if not steps and away is None:
        return Base(PLANTED)
    what = say_steps(steps) if steps else f"the clip is off its feet at {away - clip.times[0]:.1f} s"
    why = f"{what}: pelvis and legs follow it, and no balance is simulated."
    return Base(KINEMATIC, steps, why, is_chosen=True)


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
    skeleton = clip.skeleton
    return bool(find_legs(skeleton)) and all(skeleton.find_role(side + "Foot") is not None for side in SIDES)


BALANCE = "balance"
FOLLOW_BASES = (AUTO, KINEMATIC, BALANCE)


@dataclass(frozen=True)
class FollowPlan(MixPlan):
    """How a clip is followed. What is not said here is as of a mix.

    base      `balance`: legs keep the body on its feet; `kinematic`: pelvis and legs follow the clip; `auto`: balance
              where the clip does not step (`motion/contacts/stepping.py`)
    scenery   segments of the body do not touch one another unless its touch says so
    """

    physical: tuple[str, ...] = (BODY,)
    scenery: Scenery = field(default_factory=lambda: Scenery(touch=ContactSettings(itself=False)))
    planted: ClassVar[str] = BALANCE

    def __post_init__(self) -> None:
        if self.base == BALANCE:
            object.__setattr__(self, "base", PLANTED)
        if self.base not in BASES:
            raise unknown_name("base", str(self.base), FOLLOW_BASES)
        super().__post_init__()

    def fit_ground(self, ground: Ground, clip: Clip, character: Character, base: Base) -> Ground:
        """See `MixPlan.fit_ground`: one that nobody has placed does not cut into a body whose pelvis follows the clip.

        Whoever lies does so on his back, and not on the soles that he stood on before; and no simple shape is as flat
        as a back.
        """
        if base.name == PLANTED or self.scenery.is_placed or type(ground) is not Ground:
            return ground
        legs = find_legs(clip.skeleton)
        lowest = find_lowest(clip, character, [i for i in range(len(clip.skeleton)) if i not in legs])
        return dataclasses.replace(ground, height=min(ground.height, lowest))


def find_legs(skeleton: Skeleton) -> set[int]:
    """Joints (indices) of both legs; none where they are not known."""
    return find_part_joints(skeleton, "legs")


def find_part_joints(skeleton: Skeleton, part: str) -> set[int]:
    """Joints (indices) of a part; none where the skeleton does not have it."""
    try:
        return set(part_joints(skeleton, part))
    except InputError:
        return set()


def find_lowest(clip: Clip, character: Character, joints: list[int]) -> float:
    """m, how low the shapes of some joints ever are in a clip; without end where they have none."""
    every = slice(None, None, max(1, int(0.04 * clip.fps)))
    places, turns = (each[every] for each in clip.world)
    lowest, wanted = math.inf, set(joints)
    for joint, shape in find_shapes(character):
        if joint in wanted:
            radius = 0.0 if isinstance(shape, Box) else shape.radius
            points = (
                shape.corners if isinstance(shape, Box) else np.stack([shape.start, shape.end])
                if isinstance(shape, Capsule) else shape.center[None]
            )  # fmt: skip
            there = places[:, joint, None] + rotation.rotate(turns[:, joint, None], points)
            lowest = min(lowest, float(there[..., 1].min()) - radius)
    return lowest
