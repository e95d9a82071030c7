"""Tracking: springs at all joints of a simulated part follow a motion (Z2).   [tracking, section 3]

Of one stiffness s (1/s2), whatever a joint carries, by one of three laws:

    paper        t = k e - k/10 w               k = s I, I of the one body outboard of the joint   [tracking, eq 2]
    critical     t = k e + d (w* - w)           k = s I, d = 2 z sqrt(k I), I of all that the joint carries
    feedforward  t = k e + d (w* - w) + t*      t* what the motion's acceleration dw* asks for in the present state:
                                                inverse dynamics, with weight and with how what carries it moves

e turns the joint to where the motion is, the short way round; w* is the motion's angular velocity. The paper's law
lags by 100 ms at any stiffness, since its damper holds back the motion itself; the second makes up for that and rests
as much too low as its springs give way; the third has springs for what nobody foresaw, a blow or a touch. Springs and
dampers are taken at the end of the step (`kernels.py`), so that no stiffness is too much for a step.

Differences from the paper: joints that carry much beside a light body, a collar bone or a twist joint, have at least a
share of what all of it asks for (`LEAST`). What is fed forward is bounded by `MOST`, so that a mistake in a recording
throws nobody; no engine is asked for more.

When it takes over, what is followed begins where the joints are, as fast as they are, and goes over to the motion as
under `Kinematic`; what moved them so far, beside what this asks for, dies away. So it does at a start where the body is
in another pose than the motion; else it begins as fast as the motion is. Over legs that balance, which begin at rest,
the trunk does too: of 84 stretches from the middle of recordings 7 fell with a trunk that was fast over hips that were
not, 2 where all of it was at rest, 1 so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.drivers.checks import LIVE, check_idle, check_playable
from poise.drivers.counterpoise.taking_part import Offer
from poise.drivers.driver import POST_STEP, TORQUE, WRITE, Claim, Driver, Player
from poise.drivers.kinematic.kinematic import Kinematic, KinematicPlayer
from poise.drivers.kinematic.live import LivePlayer
from poise.drivers.loose.loose import Loose, LoosePlayer
from poise.drivers.transition.transition import GENTLE
from poise.errors import InputError, check_range, unknown_name
from poise.kinds import checked
from poise.motion.motion import Motion, as_motion
from poise.spatial import rotation

PAPER, CRITICAL, FEEDFORWARD = LAWS = ("paper", "critical", "feedforward")
# 1/s2, where none is said. 900 is 30 rad/s: errors die away within 0.1 s. The paper's, which carries by one body's
# inertia what several weigh, sags by some degrees with this one.
USUAL = {PAPER: 4000.0, CRITICAL: 900.0, FEEDFORWARD: 900.0}
LOWEST, HIGHEST = 1.0, 1e6  # 1/s2
TRACE = 1e-6  # of the whole body's inertia, at least: fingers of many files have no mass, and would spin
LEAST = 0.02  # of the inertia that a joint carries, in the paper's law
# Of what is fed forward: rad/s2 of all that a joint carries, and times its weight held out level. Boxers, dancers ask
# for less; jumps that are played at twice their speed for more, at the wrists.
MOST = 500.0, 40.0
# Hz, of the low-pass under a recording's rates: at 15 a boxer's punch lags by 1.6 ms, at the 4 that its noise suggests
# by 10, since springs alone follow what is above; at 50 noise becomes torque.
CUTOFF = 15.0
HEAVY = 0.05  # of the body's mass, an arm: a blow is compared with the weight of this, if a joint carries more
NEAR, QUICK = 0.1, 30.0  # rad, rad/s: a body that begins nearer to the motion's pose begins with its speed, up to this


@checked
@dataclass(frozen=True, eq=False)
class Track(Driver):
    """Follows a motion by springs.

    stiffness  1/s2, of every joint's spring over the inertia that it turns: 30 is soft, 900 follows closely, 10,000
               hardly gives way to a touch; None: `USUAL`
    damping    of critical; the paper's law has its own, and takes no other
    start      s of the stage's clock at which the motion's own time is 0
    active_after_fall  whether it follows on when the body has lost its balance
    law        `feedforward` does not lag; `critical` sags under its weight; `paper` lags by 100 ms
    give       how much of its stiffness a joint loses, 0 to 1, while something hits what it carries; it is back
               within a second, and so is the motion. 0: none; 0.9 is limp in a blow (`kernels.py`)
    cutoff     Hz of the low-pass under the rates of a recording, which are fed forward; poses are not filtered. Not
               for a live motion
    """

    motion: Motion
    stiffness: float | None = None
    damping: float = 1.0
    start: float = 0.0
    active_after_fall: bool = False
    law: str = FEEDFORWARD
    cutoff: float = CUTOFF
    give: float = 0.0
    level = TORQUE

    def __post_init__(self) -> None:
        check_playable(self.motion, "Track")
        object.__setattr__(self, "motion", as_motion(self.motion))
        if self.law not in LAWS:
            raise unknown_name("law", self.law, LAWS)
        if self.stiffness is not None:
            check_range("the stiffness of tracking", self.stiffness, LOWEST, HIGHEST, "1/s2")
        check_range("the damping of tracking", self.damping, 0.0, 100.0, "of critical")
        check_range("the compliance of tracking (give)", self.give, 0.0, 1.0)
        if not self.cutoff > 0.0:
            raise InputError(f"the low-pass of tracking begins at more than 0 Hz; given {self.cutoff:g}.")
        if not math.isfinite(self.start):
            raise InputError(f"tracking starts at a finite time; given {self.start:g} s.")
        if self.law == PAPER:
            check_idle(self, ["damping"], "under the paper's law, which has its own", "Choose another law")
        if self.motion.is_live:
            check_idle(self, ["cutoff"], *LIVE)

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """What the motion moves is tracked; a gesture's other joints are left to whoever holds them."""
        return Claim(Kinematic(self.motion).claim(character, joints, part).moved)

    def find_gains(self, body: Body, joints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(K,) N m/rad and N m s/rad: what joints have of one stiffness."""
        s = USUAL[self.law] if self.stiffness is None else self.stiffness
        _, _, carried = body.outboard()
        carried = np.maximum(carried, TRACE * carried[0])
        if self.law == PAPER:
            k = s * np.maximum(find_own_inertia(body), LEAST * carried)[joints]
            return k, k / 10.0
        k = s * carried[joints]
        return k, 2.0 * self.damping * np.sqrt(k * carried[joints])

    def build(self, body: Body, joints: np.ndarray, t: float) -> TrackPlayer:
        """See `Driver.build`."""
        return TrackPlayer(self, body, joints, t)


def find_own_inertia(body: Body) -> np.ndarray:
    """(J,) kg m2, of each body alone about its joint: the largest about any axis."""
    tree = body.tree
    arm = np.linalg.norm(tree.centers, axis=-1)
    return np.asarray(np.linalg.eigvalsh(tree.inertias)[..., -1] + tree.masses * arm**2)


class TrackPlayer(Player):
    """Springs of one actor, and the motion that they follow."""

    def __init__(self, driver: Track, body: Body, joints: np.ndarray, t: float):
        self.joints, self._law, followed = np.asarray(joints, np.int64), *_find_law(driver.motion)
        self.springs: LoosePlayer = Loose().build(body, self.joints, t)
        self.springs.offset[:] = 0.0  # it is the guide that begins where the joints are
        self.springs.stiffness[:], self.springs.damping[:] = driver.find_gains(body, self.joints)
        guide = Kinematic(driver.motion, driver.start, None if driver.motion.is_live else driver.cutoff)
        self.guide: KinematicPlayer | LivePlayer = guide.build(body, self.joints, t)
        self.needs_before_step = self.guide.needs_before_step
        mass, arm, inertia = body.outboard()
        weight = float(np.linalg.norm(body.gravity)) * mass * arm  # 0 where nothing falls
        self.most = body.arena.copy((MOST[0] * inertia + MOST[1] * weight)[self.joints])
        # a spring that gives way still aims at what the motion asks for: ranges of joints make room for it
        self.firm = body.arena.copy(np.maximum(self.springs.stiffness, weight[self.joints]))
        self._work = body.arena.zeros(3, len(mass), 3)
        self.soft, self.late = body.arena.zeros(len(self.joints)), body.arena.zeros(len(self.joints))
        self.root = body.arena.zeros(13)
        held = np.maximum(body.weight_per_mass * mass * arm, body.weight_per_mass * inertia)
        cap = np.minimum(1.0, HEAVY * mass[0] / np.maximum(mass, TRACE))
        self.weight = body.arena.copy(np.maximum(cap * held, TRACE * held[0])[self.joints])
        self.block = Block(
            followed, body.arena, springs=self.springs.block.address, guide=self.guide.block.address, most=self.most,
            firm=self.firm, work=self._work, soft=self.soft, late=self.late, weight=self.weight, root=self.root,
            give=driver.give,
            kind=LAWS.index(driver.law),
        )  # fmt: skip

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """Follow what begins at the body's pose and velocity and goes over to the motion, or the motion at once."""
        if starting and self._start_along(body, t):
            return
        kept = body.turning.copy()
        np.clip(body.turning, -GENTLE, GENTLE, out=body.turning)
        self.guide.begin(body, t, starting=False)
        body.turning[:] = kept
        self._lead(body, t)

    def _start_along(self, body: Body, t: float) -> bool:
        """Be as fast as the motion, where the body is in its pose; a trunk over legs that balance is at rest."""
        if not isinstance(self.guide, KinematicPlayer):
            return True
        q, w = self.guide.sample(t)
        off = rotation.log(rotation.multiply(rotation.conjugate(body.state.q[self.joints]), q))
        if np.linalg.norm(off, axis=-1).max() > NEAR:
            return False
        speed = np.linalg.norm(w, axis=-1, keepdims=True)
        body.state.w[self.joints] = w * np.minimum(1.0, QUICK / np.maximum(speed, QUICK))
        if body.stands:
            body.state.w[self.joints[body.find_trunk()[self.joints]]] = 0.0
        return True

    def _lead(self, body: Body, t: float) -> None:
        """Have what moved the joints so far, beside what this asks for at once, die away."""
        springs, torque, damping, dw = self.springs, body.torque.copy(), body.damping.copy(), body.dw.copy()
        handed = springs.lead.copy()
        springs.lead[:] = 0.0
        body.update()
        self.write(body, t)
        asked = np.einsum("jba,jb->ja", body.R, body.torque)[self.joints]
        asked -= (body.damping[:, None] * body.state.w)[self.joints]
        body.torque[:], body.damping[:], body.dw[:] = torque, damping, dw
        if np.any(handed):
            springs.lead[:] = handed - asked

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """See `Player.laws`."""
        found = {WRITE: (self._law, self.block)}
        if self.block["give"] > 0.0:
            from poise.drivers.track.kernels import feel

            found[POST_STEP] = (feel, self.block)
        return found

    @property
    def gesture(self) -> Offer | None:
        """See `Player.gesture`."""
        return self.guide.gesture

    def before_step(self, body: Body, t: float) -> None:
        """See `Player.before_step`."""
        self.guide.before_step(body, t)

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        names = ("soft", "late", "root", "most", "firm", "weight")  # the last ones are of the pose when it took over
        return {name: getattr(self, name) for name in names}

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        return {"springs": self.springs.save(), "guide": self.guide.save(), **super().save()}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        super().restore({name: saved[name] for name in self.numbers()})
        self.springs.restore(saved["springs"])
        self.guide.restore(saved["guide"])


def _find_law(motion: Motion) -> tuple[Law, np.dtype]:
    """The law that follows a motion, and the fields of its block."""
    from poise.drivers.track.kernels import FOLLOWED, follow, follow_live

    return follow_live if motion.is_live else follow, FOLLOWED
