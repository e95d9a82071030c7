"""What bodies that follow a clip by their own means stand on: their own legs, or pelvis and legs that the clip moves.

`track` and `lift` choose alike.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from poise.body.character import Character
from poise.body.shape import Box, Capsule
from poise.body.skeleton import Skeleton
from poise.body.vocabulary import BODY
from poise.errors import InputError, unknown_name
from poise.jobs.plan import AUTO, BASES, KINEMATIC, PLANTED, MixPlan, Scenery
from poise.motion.clip import Clip
from poise.motion.parts import part_joints
from poise.spatial import rotation
from poise.world.ground import Ground
from poise.world.overlap import find_shapes
from poise.world.touch import Touch

if TYPE_CHECKING:
    from poise.jobs.base import Base

BALANCE = "balance"
FOLLOW_BASES = (AUTO, KINEMATIC, BALANCE)


@dataclass(frozen=True)
class FollowPlan(MixPlan):
    """How a clip is followed. What is not said here is as of a mix.

    base      `balance`: legs keep the body on its feet; `kinematic`: pelvis and legs follow the clip; `auto`: balance
              where the clip does not step (`motion.stepping`)
    scenery   segments of the body do not touch one another unless its touch says so
    """

    physical: tuple[str, ...] = (BODY,)
    scenery: Scenery = field(default_factory=lambda: Scenery(touch=Touch(itself=False)))
    planted: ClassVar[str] = BALANCE

    def __post_init__(self) -> None:
        if self.base == BALANCE:
            object.__setattr__(self, "base", PLANTED)
        if self.base not in BASES:
            raise unknown_name("base", str(self.base), FOLLOW_BASES)
        super().__post_init__()

    def choose_base(self, clip: Clip, character: Character, balances: bool) -> Base:
        """See `MixPlan.choose_base`."""
        from poise.jobs.base import Base, find_off_its_feet, has_feet, say_steps
        from poise.motion.stepping import find_steps

        if not has_feet(clip):
            return Base(KINEMATIC, (), "its legs and feet are not known: all but what is physical follows the clip.")
        steps = find_steps(clip)
        off = None if self.base == KINEMATIC or not balances else find_off_its_feet(clip, character)
        if self.base == KINEMATIC or not balances:
            return Base(KINEMATIC, steps, "pelvis and legs follow the clip, as asked." if balances else "")
        if self.base == PLANTED:
            if off is not None and off == clip.times[0]:
                raise InputError(
                    "the clip begins off its feet, lying or sitting: legs cannot balance it. Trim it to where it "
                    f"stands, or leave the base at {AUTO}."
                )
            return Base(PLANTED, steps, f"{say_steps(steps)}; here its feet stay." if steps else "")
        if steps:
            why = f"{say_steps(steps)}: pelvis and legs follow it; no balance is simulated."
            return Base(KINEMATIC, steps, why)
        if off is not None:
            when = f"{off - clip.times[0]:.1f} s"
            return Base(KINEMATIC, (), f"the clip is off its feet at {when}: pelvis and legs follow it; no balance "
                        "is simulated.")  # fmt: skip
        return Base(PLANTED)

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
    try:
        return set(part_joints(skeleton, "legs"))
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
