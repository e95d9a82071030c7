"""Springs whose aims lean: trunk and head that nobody drives, over legs that balance, with `paper` coupling.

That coupling takes no heavy trunk whose motion is given. So the trunk keeps the springs that hold it, and their aims
turn as `Counterpoise` turns joints: the spine's by its share of the lean, those of neck and head back by as much.

They resist what the arms' motion puts on them, as they carry weight: both are known in the step. So quick arms move the
hips and not the trunk above, and the head stays level. Pushes and contacts still bend the trunk.
"""

from __future__ import annotations

import numpy as np

from poise.drivers.body import Body
from poise.drivers.counterpoise import Counterpoise, share_lean
from poise.drivers.lean import ArmShift, find_shift_of
from poise.drivers.loose import LoosePlayer
from poise.spatial.law import Block, Law


class Leaning:
    """How the aims of some springs lean.

    goal, rate  (K, 4) and (K, 3) rad/s, own axes: what the springs aim at now, and how fast that turns
    is_on       (1,) 1 where they lean, 0 where the body has lost its balance
    """

    def __init__(self, springs: LoosePlayer, body: Body, trunk: Counterpoise, before: Leaning | None):
        from poise.drivers import leaning_law

        self._laws, self._springs = leaning_law, springs
        self.goal, self.rate, self.is_on = springs.aim.copy(), np.zeros((len(springs.joints), 3)), np.zeros(1)
        self._shift: ArmShift | None = find_shift_of(body) if before is None else before._shift
        if self._shift is not None:
            self._shift.weigh(body)
        self.block = Block(
            leaning_law.LEANING, None, springs=springs.block.address, part=body.taking_part.block.address,
            shift=0 if self._shift is None else self._shift.block.address, goal=self.goal, rate=self.rate,
            is_on=self.is_on, shares=share_lean(body.skeleton, springs.joints, trunk.keep_level),
            rates=np.array([trunk.spine, trunk.pelvis]), most=trunk.cap,
        )  # fmt: skip

    @property
    def law(self) -> Law:
        """What pulls while they lean."""
        return self._laws.pull

    def begin(self, body: Body, t: float, before: Leaning | None) -> None:
        """Lean from time t on; the aims go over to that from where they are, or those before them were."""
        self._aim(body, t)
        q, w = self.goal.copy(), self.rate.copy()
        if before is not None:
            own, old = self._springs.find_common(before._springs)
            q[own], w[own] = before.goal[old], before.rate[old]
        self.is_on[0], self._springs.offset[:] = 1.0, 0.0
        self._aim(body, t)
        self._springs.go_over(np.arange(len(q)), t, q, w, self.goal, self.rate)
        self.goal[:], self.rate[:] = q, w

    def end(self, springs: LoosePlayer, t: float) -> None:
        """Have springs after these, which do not lean, go over from time t on to what they hold."""
        own, old = springs.find_common(self._springs)
        springs.go_over(own, t, self.goal[old], self.rate[old], springs.aim[own], np.zeros((len(own), 3)))

    def _aim(self, body: Body, t: float) -> None:
        body.block["at"] = t
        self._laws.aim(body.block, self.block)

    def numbers(self) -> dict[str, np.ndarray]:
        """What of it changes."""
        return {"goal": self.goal, "rate": self.rate, "leans": self.is_on}


def lean_springs(
    springs: LoosePlayer, body: Body, trunk: Counterpoise | None, t: float, before: LoosePlayer | None, balances: bool
) -> None:
    """Have springs that hold joints lean from time t on as a counterpoise would, where there is a trunk or a head.

    trunk     None: they do not lean
    before    what held joints until now
    balances  whether the body does: one that has lost its balance leans no more
    """
    old = None if before is None else before.lean
    if trunk is not None and share_lean(body.skeleton, springs.joints, trunk.keep_level).any():
        springs.lean = Leaning(springs, body, trunk, old)
    if old is not None and not old.is_on[0]:
        old = None
    if springs.lean is not None and balances:
        springs.lean.begin(body, t, old)
    elif old is not None and springs.carries[0]:  # limp ones hold nothing
        old.end(springs, t)
