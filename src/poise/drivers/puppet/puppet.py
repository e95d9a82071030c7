"""The driver of a body that two hands play: root, legs, trunk, arms and head.   [marionette]

Layers of hands write the joints' targets (`puppetry/layers.py`), joints swing after them (`puppetry/marionette.py`),
the root hangs from a point of a foot on the ground (`drivers/root/anchored.py`), and feet that are down stay
(`feet.py`). Frames are made 120 times a second, two ahead of what is shown; between them the motion is smooth to the
acceleration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.driver import MOTION, Claim, Driver
from poise.errors import InputError
from poise.frozen import Portable
from poise.kinds import checked
from poise.puppetry.layers import PuppetLayer
from poise.puppetry.marionette import Marionette
from poise.puppetry.springs import SPRINGS, Spring, read_springs

if TYPE_CHECKING:
    from poise.drivers.puppet.player import PuppetPlayer
SETTLE = 0.12  # s, until a new support rests: less jolts more; more slides more, which legs have to compensate


@checked
@dataclass(frozen=True, eq=False)
class Puppet(Driver, Portable):
    """Moves a body by hands.

    layers   of the performance, each with its mapping and its hands; later ones replace earlier ones
    springs  of its joints, by kind: `poise.puppetry.springs`. None: those of the layers' mappings
    settle   s, until a newly anchored foot rests on the ground
    """

    layers: Sequence[PuppetLayer]
    springs: Mapping[str, Spring] | None = None
    settle: float = SETTLE
    level = MOTION
    root = "also"

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        if not self.layers or not all(isinstance(each, PuppetLayer) for each in self.layers):
            raise InputError("layers must be a list of PuppetLayer, at least one.")
        if not 0.005 <= self.settle <= 1.0:
            raise InputError(f"settle must be from 0.005 to 1 s; got {self.settle:g} s.")
        if self.springs is None:
            given: dict[str, dict[str, float]] = {}
            for layer in self.layers:
                for kind, numbers in layer.mapping.springs.items():
                    given.setdefault(kind, {}).update(numbers)
            object.__setattr__(self, "springs", read_springs(given))

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """See `Driver.claim`: all joints of the part, which must have the root and both legs."""
        body = Marionette(character, self.springs or SPRINGS)
        needed = {int(joint) for joint, side in zip(body.indices, body.joints.side, strict=True) if side >= 0}
        needed |= {0, *(character.skeleton.index(f"{side}UpperLeg") for side in SIDES)}
        absent = [character.skeleton.labels[i] for i in sorted(needed) if i not in joints]
        if absent:
            raise InputError(
                f"Puppet needs the root and the whole of both legs; '{part}' lacks {', '.join(absent)}. Drive 'body' "
                "with it."
            )
        return Claim(tuple(joints), after_others=True)

    def check(self, body: Body) -> None:
        """See `Driver.check`: it stands on the ground and hangs in gravity. Its player checks a stage's start."""
        if body.floor.ground is None:
            raise InputError("Puppet stands on the ground, and this stage has none. Give it one: Stage(ground=...).")
        if body.gravity[1] > 0.0:
            raise InputError(
                f"Puppet's limbs hang in gravity, and this stage's, {body.gravity.round(3).tolist()} m/s2, points up. "
                "Give the stage one that points down: Stage(gravity=(0, -9.81, 0))."
            )

    def build(self, body: Body, joints: np.ndarray, t: float) -> PuppetPlayer:
        """See `Driver.build`."""
        from poise.drivers.puppet.player import PuppetPlayer

        return PuppetPlayer(self, body, np.asarray(joints, np.int64), t)
