"""The driver of a body that walks: root, legs and trunk, arms and head unless other drivers have them.   [balance, 4]

Steps are planned a few ahead (`walking.walker`), and poses are found by inverse kinematics 100 times a second, some
frames ahead of what is shown; between frames the motion is smooth to the acceleration (`frame_kernels`). The root hangs
from the stance foot (`support_foot.py`), whose motion is the plan's: a planted foot does not move at all. When the body
changes feet, the difference of the new foot to its plan decays within a fifth of a second.

Joints of other drivers are passed to the poses, with their weight and that of loads in the hands. A load that is picked
up counts gradually: hips shift under it, and do not jump.

The walk takes over the body's pose and velocity: feet that stand stay, a foot in the air is put down first, and the
joints' difference to the plan decays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.checks import check_idle
from poise.drivers.driver import MOTION, Claim, Driver
from poise.drivers.walk.body import find_hindrance
from poise.errors import InputError
from poise.frozen import Portable
from poise.kinds import checked
from poise.walking.feet.foot import build_feet
from poise.walking.gait import Gait, read_manner
from poise.walking.path.planner import read_path
from poise.walking.start import read_facing

if TYPE_CHECKING:
    from poise.drivers.walk.player import WalkPlayer


@checked
@dataclass(frozen=True, eq=False)
class Walk(Driver, Portable):
    """Moves a body that walks.

    steps      number of steps, the last of which brings the feet together; None: to the end of the path, or for ever
    path       (x, z) m, points to walk through; None: straight on
    facing     ahead, back, left or right, relative to the direction of the path; or rad
    manner     a `poise.walking.gait.Gait`, or a table of its numbers: step, width, pace, lift, arms, roll, ...
    wait       s, that it stands first
    waits_for  an actor that follows this one: the clock slows down if it lags by `near` (m), and stops at `far`
    blind      whether it ignores props and walks into them
    """

    steps: int | None = None
    path: Sequence[Sequence[float]] | None = None
    facing: str | float = "ahead"
    manner: Gait | Mapping[str, float] | None = None
    wait: float = 0.2
    waits_for: Any = None
    near: float = 0.1
    far: float = 0.3
    blind: bool = False
    level = MOTION
    root = "also"

    def __post_init__(self) -> None:
        if isinstance(self.manner, Mapping):
            object.__setattr__(self, "manner", read_manner(self.manner))
        read_facing(self.facing)
        if self.steps is not None and not 0 <= self.steps <= 1_000_000:
            raise InputError(f"a walk has 0 to a million steps; given {self.steps}.")
        if not 0.0 <= self.wait <= 1e6:
            raise InputError(f"a walk waits for 0 s or more before it begins; given {self.wait:g}.")
        if self.path is not None:
            object.__setattr__(self, "path", read_path(self.path))
        if not 0.0 < self.near < self.far <= 100.0:
            raise InputError(
                f"a walk slows down at `near` and stands at `far`, which is more; given {self.near:g}, {self.far:g} m."
            )
        if self.waits_for is not None and not hasattr(self.waits_for, "pose"):
            raise InputError(f"a walk waits for an actor; given {self.waits_for!r:.60}.")
        if self.waits_for is None:
            check_idle(self, ["near", "far"], "without an actor to wait for", "Give waits_for")

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """See `Driver.claim`: all joints of the part, which must have both legs."""
        skeleton = character.skeleton
        roles = [side + stem for side in SIDES for stem in ("UpperLeg", "LowerLeg", "Foot")]
        missing = [role for role in roles if skeleton.find_role(role) is None]
        if missing:
            raise InputError(
                f"Walk goes on two legs: character '{character.name}' has no {', '.join(missing)}. Name them with "
                "roles, or move it by something else."
            )
        needed = {skeleton.index(role) for role in roles}
        needed |= {i for joint in list(needed) for i in skeleton.chain(joint)} - {0}
        needed |= {foot.toes for foot in build_feet(character) if foot.toes >= 0}
        absent = [skeleton.labels[i] for i in sorted(needed) if i not in joints]
        if absent:
            raise InputError(
                f"Walk needs the whole of both legs; '{part}' lacks {', '.join(absent)}. Drive 'body' with it."
            )
        return Claim(tuple(joints), after_others=True)

    def check(self, body: Body) -> None:
        """See `Driver.check`: the body must stand or step."""
        body.update()
        what = find_hindrance(build_feet(body.character), body)
        if what is not None:
            raise InputError(
                f"Walk takes over from somebody who stands or steps; this body {what}. Have it get up first."
            )

    def build(self, body: Body, joints: np.ndarray, t: float) -> WalkPlayer:
        """See `Driver.build`."""
        from poise.drivers.walk.player import WalkPlayer

        return WalkPlayer(self, body, np.asarray(joints, np.int64), t)
