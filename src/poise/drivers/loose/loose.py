"""Loose limbs: joints pulled softly towards a pose, and moved by everything else (W9).   [mix, section 4]

A spring and a damper at every joint, scaled by what the joint carries, so that one number does for a wrist and a waist:

    k = s m g l            s the stiffness, m g l the moment of what the joint carries, held out level
    d = 2 z sqrt(k I)      I its inertia about the joint, z the damping ratio

s = 1 holds a level limb one radian too low; 0.1 lets it dangle; 10 and more holds a pose firmly, and an upright trunk
needs more than 1. Both are integrated implicitly (`kernels.py`): stable at any step.

Nobody is jerked. The spring's aim begins where the joint is, as fast as it is, and goes over to the pose; the torque
that moved the joint so far dies away meanwhile. With `relax` the aim gives way: what is pulled off it for that long is
pulled no more, and a body that has come to lie somewhere rests there.

A body that is let go goes limp: its limbs give at once, and rest where they come to lie.

As `loose.py`, but that nothing is left of the torques that moved the joints: nobody who is let go pushes off. Toes bend
where they touch the ground, no faster than the foot that they are on: they are so light that it would fling them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.drivers.driver import TORQUE, WRITE, BodyModel, Driver, Player
from poise.drivers.joint_limits.limit_torques import build_hinges
from poise.drivers.transition.transition import TAKE_OVER, find_offset, find_span
from poise.engines.scene import HINGES, Joint
from poise.errors import InputError, check_range
from poise.kinds import checked

if TYPE_CHECKING:
    from poise.drivers.counterpoise.counterpoise import Leaning
FIRM = 12.0
LET_GO = 0.25  # s, in which the torque that moved the joints before dies away, so that none lets go at once
# N m/rad at the least: what carries next to nothing (a fingertip) still has tendons.
_LEAST = 1e-3


@checked
@dataclass(frozen=True)
class Loose(Driver):
    """Pulls its joints towards a pose.

    stiffness  s above; 0 is no spring at all
    damping    z above: 1 does not overshoot, 0.1 swings for long
    pose       (J, 4) of the whole skeleton; None: the pose that the joints have when the driver takes over
    relax      s in which the pose that it pulls to gives way to the one that the joints have, for five times as long;
               infinite: it does not
    """

    stiffness: float = 0.3
    damping: float = 0.4
    pose: np.ndarray | None = None
    relax: float = math.inf
    level = TORQUE
    active_after_fall = True

    def __post_init__(self) -> None:
        for name, value in (("stiffness", self.stiffness), ("damping", self.damping)):
            check_range(f"the {name} of a loose limb", value, 0.0, 1e4)
        if not self.relax > 0.0:
            raise InputError(f"a loose limb relaxes in more than 0 s; {self.relax:g} given. Infinite: it does not.")

    def build(self, body: Body, joints: np.ndarray, t: float) -> LoosePlayer:
        """See `Driver.build`."""
        mass, arm, inertia = body.outboard()
        weight = mass * body.weight_per_mass * arm
        stiffness = self.stiffness * np.maximum(weight[joints], _LEAST)
        damping = 2.0 * self.damping * np.sqrt(np.maximum(stiffness, 0.05 * weight[joints]) * inertia[joints])
        pose = body.state.q if self.pose is None else np.asarray(self.pose, float)
        if pose.shape != body.state.q.shape:
            raise InputError(
                f"the pose of a loose limb has shape {pose.shape}; this skeleton asks for {body.state.q.shape}."
            )
        player = LoosePlayer(np.asarray(joints, np.int64), stiffness, damping, pose[joints].copy())
        player.lead[:], player.fade[0] = body.handed[joints], t
        player.span[:, 0] = t
        q, w, none = body.state.q[joints], body.state.w[joints], np.zeros((len(joints), 3))
        if self.pose is not None or w.any():
            player.offset[:] = find_offset(player.aim, none, none, q, w, none)
            player.span[:, 1] = LET_GO if self.pose is None else find_span(player.offset[0], TAKE_OVER)
        player.relax[0] = self.relax
        return player


# What is left in a body that has lost its balance: limbs that are heavy and slow, and rest where they come to lie.
TONE = Loose(stiffness=1.0, damping=1.0, relax=0.5)


class LoosePlayer(Player):
    """Springs at some joints of one actor.

    offset, span  (3, K, 3), (K, 2): how far the aim is off, how fast that changes and how fast that changes, when it
                  began (s), and how long it takes to die away
    relax         (1,) s
    carries       (1,) 1 where the springs carry the weight of what hangs from them besides, so that none sags; else 0
    lean          how the aims lean against the arms, where they can: see `drivers/counterpoise/counterpoise.py`
    bends_toes    see `BodyModel`
    """

    lean: Leaning | None = None
    bends_toes = False

    def __init__(self, joints: np.ndarray, stiffness: np.ndarray, damping: np.ndarray, aim: np.ndarray):
        from poise.drivers.loose import kernels

        self._laws = kernels
        self.joints, self.stiffness, self.damping, self.aim = joints, stiffness, damping, aim
        self.lead, self.fade = np.zeros((len(joints), 3)), np.array([-np.inf, LET_GO])
        self.offset, self.span = np.zeros((3, len(joints), 3)), np.zeros((len(joints), 2))
        self.relax, self.carries = np.array([np.inf]), np.zeros(1)
        self.block = Block(kernels.SPRINGS, None, count=len(joints), joints=joints, **self.numbers())

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """See `Player.laws`."""
        return {WRITE: self._find_law()}

    def _find_law(self) -> tuple[Law, Block]:
        """What pulls: to an aim that leans, to one that moves otherwise, or to one that stays, which is quickest."""
        if self.lean is not None and self.lean.is_on[0]:
            return self.lean.law, self.lean.block
        moves = bool(self.offset.any()) or math.isfinite(self.relax[0])
        return self._laws.pull_along if moves else self._laws.pull, self.block

    def model(self, body: Body, falling: bool) -> BodyModel:
        """See `Player.model`: joints that hang loose or fall and have no play sideways, as an elbow, are hinges.

        Joints with no mass on one side (fingers of many files, a root below the hips) are stiff: whatever turns them,
        they would spin. So is what has none of its own and no range, a twist joint, in a body that falls.
        """
        mass, arm, _ = body.outboard()
        names, limits, none = body.skeleton.names, body.character.limits, 1e-6 * mass[0]
        weight = mass * body.weight_per_mass * arm
        found: dict[int, Joint] = {}
        for i, aim, is_soft in zip(self.joints.tolist(), self.aim, self.stiffness < weight[self.joints], strict=True):
            joint = build_hinges(body, i, None if is_soft else aim) if is_soft or falling else None
            is_bare = body.tree.masses[i] <= none and names[i] not in limits
            if min(mass[i], mass[0] - mass[i]) <= none or (is_bare and falling):
                joint = Joint(HINGES)
            if joint is not None:
                found[i] = joint
        return BodyModel(found, bends_toes=self.bends_toes)

    def go_over(self, at: np.ndarray, t: float, q0: np.ndarray, w0: np.ndarray, q: np.ndarray, w: np.ndarray) -> None:
        """Have the aims of its joints of places `at` go over from q0, w0 at time t to q, w, which they would have."""
        none = np.zeros_like(w)
        self.offset[:, at] = find_offset(q, w, none, q0, w0, none)
        self.span[at] = t, find_span(self.offset[0, at], TAKE_OVER)

    def find_common(self, other: LoosePlayer) -> tuple[np.ndarray, np.ndarray]:
        """Places of the joints that both have: here, and there."""
        _, here, there = np.intersect1d(self.joints, other.joints, return_indices=True)
        return here, there

    def find_lead(self, t: float) -> np.ndarray:
        """(K, 3) N m, what is left at time t of the torque that moved the joints before."""
        from poise.drivers.loose.kernels import left_over

        return np.asarray(left_over(self.fade, t) * self.lead)

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        names = ("stiffness", "damping", "aim", "lead", "fade", "offset", "span", "relax", "carries")
        own = {name: getattr(self, name) for name in names}
        return own if self.lean is None else own | self.lean.numbers()


@dataclass(frozen=True)
class Limp(Loose):
    """As `Loose`, for who falls: so slack that it crumples, and at rest once it lies."""

    stiffness: float = 0.02
    relax: float = 0.5

    def build(self, body: Body, joints: np.ndarray, t: float) -> LoosePlayer:
        """See `Driver.build`."""
        player = super().build(body, joints, t)
        player.bends_toes = True
        player.lead[:] = 0.0
        rows = {int(joint): k for k, joint in enumerate(player.joints)}
        for joint, k in rows.items():
            above = rows.get(int(body.skeleton.parents[joint]))
            if body.skeleton.labels[joint].endswith("Toes") and above is not None:
                player.damping[k] = max(player.damping[k], player.damping[above])
        return player
