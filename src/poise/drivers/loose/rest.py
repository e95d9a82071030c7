"""Joints without a driver: at rest on the animated body, and held by springs on the physical one.

No engine moves joints at rest: they come to rest, and stay.

A joint that moved when its driver left it runs out: it goes on with the velocity and the acceleration that it had, and
rests after a quarter of a second, or sooner where it is fast, half of that time's way further on. It stays within its
anatomical range, and a root comes to rest in the same way.

Joints that hang from a physical body are held by a firm spring that carries their weight.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from poise.compiled.arena import Arena
from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.drivers.driver import WRITE, MotionPlayer, Player
from poise.drivers.loose.loose import FIRM, LET_GO, TONE, Loose, LoosePlayer
from poise.drivers.transition.transition import GENTLE, Transition
from poise.spatial import rotation

RUN_OUT = 0.25  # s, in which what nobody drives any more comes to rest
_SOONEST, _REACH = 0.1, 0.35  # s at the least; rad that a joint goes on by, beyond which it takes less than `RUN_OUT`
_STILL = 1e-6  # rad/s, m/s: what turns or moves no faster is at rest


class RestPlayer(MotionPlayer):
    """Some joints of one actor at rest, or nearly.

    q, root      (K, 4) rotations and (3,) m in which they rest
    holds_root   whether the root's place is held, too
    """

    def __init__(self, body: Body, joints: np.ndarray, holds_root: bool):
        from poise.drivers.loose import kernels

        self.joints, self.holds_root, self._kernels = np.array(joints, np.int64), holds_root, kernels
        self.q, self.root = body.state.q[self.joints], body.state.root.copy()
        self.block = Block(
            kernels.STILL, None, joints=self.joints, count=len(joints), holds_root=holds_root, **self.numbers()
        )

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """See `Player.laws`."""
        return {WRITE: (self._kernels.write, self.block)}

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """See `Player.begin`."""
        at, state, k = self.joints, body.state, len(self.joints)
        turning = np.clip(body.turning, -GENTLE, GENTLE)
        fastest = float(np.max(np.linalg.norm(state.w[at], axis=-1), initial=0.0))
        span = min(RUN_OUT, max(_SOONEST, 2.0 * _REACH / max(fastest, 1e-9)))
        self.q[:] = find_rest(body, at, span)
        self.root[:] = state.root + 0.5 * span * state.v if self.holds_root else state.root
        self.transition, kept = self._make_transition(body.arena), body.turning.copy()
        body.turning[:] = turning
        nothing, still = np.zeros((k, 3)), np.zeros(3)
        self.transition.measure(body, self.q, nothing, nothing, self.root, still, still, t)
        self.transition.span[1] = span
        body.turning[:] = kept

    def _make_transition(self, room: Arena | None) -> Transition:
        """See `MotionPlayer`."""
        return Transition(room, self.joints, moves_root=self.holds_root)

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {"q": self.q, "root": self.root}

    def describe(self) -> dict[str, Any]:
        """Which joints it holds, as plain data."""
        return {"joints": self.joints.tolist(), "root": self.holds_root}


def build_still(body: Body, described: dict[str, Any] | None) -> RestPlayer | None:
    """A player of the joints that another one described; None: there was none."""
    if described is None:
        return None
    return RestPlayer(body, np.array(described["joints"], np.int64), bool(described["root"]))


def find_rest(body: Body, joints: np.ndarray, span: float) -> np.ndarray:
    """(K, 4) where joints come to rest within some seconds, inside their ranges if they are inside now."""
    q, w = body.state.q[joints], body.state.w[joints]
    rest = rotation.multiply(q, rotation.exp(0.5 * span * w))
    for k, joint in enumerate(joints):
        limits = body.character.limits.get(body.skeleton.names[joint])
        if limits is not None and np.any(limits.excess(rest[k]) > limits.excess(q[k])):
            rest[k] = limits.clamp(rest[k]) if not np.any(limits.excess(q[k]) > 0.0) else q[k]
    return rest


def let_run_out(body: Body, joints: Iterable[int], holds_root: bool, t: float) -> RestPlayer | None:
    """A player that brings given joints that nobody drives to rest; None: they are, and nothing moves them."""
    at = np.array(list(joints), np.int64)
    slides = holds_root and bool(np.any(np.abs(body.state.v) > _STILL))
    if not slides and not np.any(np.abs(body.state.w[at]) > _STILL):
        body.state.w[at] = body.dw[at] = 0.0
        if holds_root:
            body.state.v[:] = body.a[:] = 0.0
        return None
    player = RestPlayer(body, at, holds_root)
    player.begin(body, t, starting=False)
    return player


def hold_pose(
    body: Body,
    joints: list[int],
    t: float,
    aims: Mapping[int, np.ndarray],
    before: LoosePlayer | None = None,
    is_limp: bool = False,
) -> LoosePlayer:
    """Springs that hold some joints from time t on; what still moves comes to rest first.

    aims     (4,) by joint: what was held before is held where it was held, not where it is now
    before   what held joints until now
    is_limp  whether the body has lost its balance: springs that hold a pose firmly would fight the ground
    """
    at, springs = np.array(joints), TONE if is_limp else Loose(stiffness=FIRM, damping=1.0)
    if body.state.w[at].any():
        pose = body.state.q.copy()
        pose[at] = find_rest(body, at, LET_GO)
        springs = dataclasses.replace(springs, pose=pose)
    held = springs.build(body, at, t)
    held.span[:, 1] = LET_GO
    held.carries[0] = 0.0 if is_limp else 1.0
    if is_limp and (before is None or math.isinf(before.relax[0])):
        return held  # from here on it holds nothing as it did
    known = {} if before is None else {int(joint): k for k, joint in enumerate(before.joints)}
    for k, joint in enumerate(joints):
        if joint not in aims:
            continue
        held.aim[k], held.lead[k], held.offset[:, k] = aims[joint], 0.0, 0.0
        if before is not None and joint in known:
            old = known[joint]
            held.lead[k] = before.find_lead(t)[old]
            held.offset[:, k], held.span[k] = before.offset[:, old], before.span[old]
    return held
