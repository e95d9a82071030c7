"""Joints that nobody drives and no engine moves: they come to rest, and stay.

A joint that moved when its driver left it runs out: it goes on with the velocity and the acceleration that it had, and
rests after a quarter of a second, or sooner where it is fast, half of that time's way further on. It stays within its
anatomical range, and a root comes to rest in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from poise.drivers.body import Body
from poise.drivers.driver import GIVE, SHOW, MotionPlayer
from poise.drivers.hand_over import GENTLE, HandOver
from poise.spatial import rotation
from poise.spatial.law import Block, Law

RUN_OUT = 0.25  # s, in which what nobody drives any more comes to rest
_SOONEST, _REACH = 0.1, 0.35  # s at the least; rad that a joint goes on by, beyond which it takes less than `RUN_OUT`
_STILL = 1e-6  # rad/s, m/s: what turns or moves no faster is at rest


class StillPlayer(MotionPlayer):
    """Some joints of one actor at rest, or nearly.

    q, root      (K, 4) rotations and (3,) m in which they rest
    holds_root   whether the root's place is held, too
    """

    def __init__(self, body: Body, joints: np.ndarray, holds_root: bool):
        from poise.drivers import still_law

        self.joints, self.holds_root, self._law = np.array(joints, np.int64), holds_root, still_law
        self.q, self.root = body.state.q[self.joints], body.state.root.copy()
        self.block = Block(
            still_law.STILL, None, joints=self.joints, count=len(joints), holds_root=holds_root, **self.numbers()
        )

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """See `Player.laws`."""
        return {GIVE: (self._law.give, self.block), SHOW: (self._law.show, self.block)}

    def begin(self, body: Body, t: float, starting: bool) -> None:
        """See `Player.begin`."""
        at, state, k = self.joints, body.state, len(self.joints)
        turning = np.clip(body.turning, -GENTLE, GENTLE)
        fastest = float(np.max(np.linalg.norm(state.w[at], axis=-1), initial=0.0))
        span = min(RUN_OUT, max(_SOONEST, 2.0 * _REACH / max(fastest, 1e-9)))
        self.q[:] = find_rest(body, at, span)
        self.root[:] = state.root + 0.5 * span * state.v if self.holds_root else state.root
        self.hand_over, kept = self.make_hand_over(body), body.turning.copy()
        body.turning[:] = turning
        nothing, still = np.zeros((k, 3)), np.zeros(3)
        self.hand_over.measure(body, self.q, nothing, nothing, self.root, still, still, t)
        self.hand_over.span[1] = span
        body.turning[:] = kept

    def make_hand_over(self, body: Body) -> HandOver:
        """See `MotionPlayer`."""
        return HandOver(body, self.joints, moves_root=self.holds_root)

    def give(self, body: Body, t: float) -> None:
        """See `MotionPlayer.give`."""
        self._law.give(body.block, self.block)

    def show(self, body: Body, t: float) -> None:
        """See `MotionPlayer.show`."""
        self._law.show(body.block, self.block)

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {"q": self.q, "root": self.root}

    def describe(self) -> dict[str, Any]:
        """Which joints it holds, as plain data."""
        return {"joints": self.joints.tolist(), "root": self.holds_root}


def build_still(body: Body, described: dict[str, Any] | None) -> StillPlayer | None:
    """A player of the joints that another one described; None: there was none."""
    if described is None:
        return None
    return StillPlayer(body, np.array(described["joints"], np.int64), bool(described["root"]))


def find_rest(body: Body, joints: np.ndarray, span: float) -> np.ndarray:
    """(K, 4) where joints come to rest within some seconds, inside their ranges if they are inside now."""
    q, w = body.state.q[joints], body.state.w[joints]
    rest = rotation.multiply(q, rotation.exp(0.5 * span * w))
    for k, joint in enumerate(joints):
        limits = body.character.limits.get(body.skeleton.names[joint])
        if limits is not None and np.any(limits.excess(rest[k]) > limits.excess(q[k])):
            rest[k] = limits.clamp(rest[k]) if not np.any(limits.excess(q[k]) > 0.0) else q[k]
    return rest


def let_run_out(body: Body, joints: Iterable[int], holds_root: bool, t: float) -> StillPlayer | None:
    """A player that brings given joints that nobody drives to rest; None: they are, and nothing moves them."""
    at = np.array(list(joints), np.int64)
    slides = holds_root and bool(np.any(np.abs(body.state.v) > _STILL))
    if not slides and not np.any(np.abs(body.state.w[at]) > _STILL):
        body.state.w[at] = body.dw[at] = 0.0
        if holds_root:
            body.state.v[:] = body.a[:] = 0.0
        return None
    player = StillPlayer(body, at, holds_root)
    player.begin(body, t, starting=False)
    return player
