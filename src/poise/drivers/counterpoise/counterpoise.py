"""Counterpoise: a trunk that leans against what the arms do, under a head that stays level.

People who lift their arms to the front move hips, chest and head back. Legs that balance move the hips and lean the
pelvis (`Balance`); the spine and the head are this driver's:

    spine   turns back by `spine` rad for each metre by which the arms shift the body's centre of mass, half of it
            sideways, shared evenly by its joints, `cap` rad at most
    head    neck and head undo `keep_level` of what pelvis and spine lean by

Pushes, contacts, and loads on the trunk bend it: every joint gives way to them by a spring and a damper, as firm as
those that hold joints which nobody drives, against the inertia of what it carries on hips that stay where they are.
What hits an arm whose motion is given bends the trunk, too; a limp arm gives way by itself. Contacts of a body with
itself do not count.

It gives its joints' motion with velocity and acceleration, at once with the arms': what the arms' own driver gives, or
what physics makes of them, in the same step. It stands on a pose that it holds, or on a clip that it plays. Trunk and
head that nobody drives are under it wherever legs balance, with `exact` coupling; with `paper` coupling springs hold
them, whose aims lean as much (`counterpoise.py`).

With `paper` coupling springs lean instead: their aims lean, for trunk and head that have no driver, over legs that
balance.

That coupling takes no heavy trunk whose motion is given. So the trunk keeps the springs that hold it, and their aims
turn as `Counterpoise` turns joints: the spine's by its share of the lean, those of neck and head back by as much.

They resist what the arms' motion puts on them, as they carry weight: both are known in the step. So quick arms move the
hips and not the trunk above, and the head stays level. Pushes and contacts still bend the trunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.drivers.checks import check_idle
from poise.drivers.counterpoise.lean import PELVIS, SPINE, ArmShift, find_arms, find_chest, find_shift_of
from poise.drivers.driver import MOTION, POST_STEP, WRITE, Claim, Driver, MotionPlayer, Player
from poise.drivers.kinematic.kinematic import Kinematic, KinematicPlayer
from poise.drivers.loose.loose import FIRM, Loose, LoosePlayer
from poise.dynamics.tree import build_tree
from poise.errors import InputError, check_range
from poise.kinds import checked
from poise.motion.clip import Clip


@checked
@dataclass(frozen=True, eq=False)
class Counterpoise(Driver):
    """Leans the trunk against the arms, and keeps the head level.

    spine   rad that the spine leans by for each metre by which the arms shift the body's centre of mass; people: 1.3
    keep_level  share of the lean of pelvis and spine that neck and head undo: 1 keeps the gaze level, 0 lets the head
            lean along
    cap     rad, that the spine leans by at most
    pelvis  rad per m, how far the legs lean the pelvis: `counter_lean` of their `Balance`
    follow  a clip whose motion its joints play, with the lean on top. Only what the clip's own arms do not do is leaned
            against; None: its joints hold their pose
    follow_start  s of the stage's clock at which the clip's own time is 0
    """

    spine: float = SPINE
    keep_level: float = 1.0
    cap: float = 0.10
    pelvis: float = PELVIS
    follow: Clip | None = None
    follow_start: float = 0.0
    level = MOTION

    def __post_init__(self) -> None:
        for what, value, low, most in (
            ("spine (rad/m)", self.spine, 0.0, 10.0),
            ("keep_level", self.keep_level, 0.0, 1.0),
            ("cap (rad)", self.cap, 0.0, 0.5),
            ("pelvis (rad/m)", self.pelvis, 0.0, 10.0),
            ("follow_start (s)", self.follow_start, -1e9, 1e9),
        ):
            check_range(f"the {what} of a counterpoise", value, low, most)
        if self.follow is not None and not isinstance(self.follow, Clip):
            raise InputError(f"Counterpoise follows a Clip, as of poise.load_clip; got {self.follow!r:.60}.")
        if self.follow is None:
            check_idle(self, ["follow_start"], "without a clip to follow", "Give follow")

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """All joints of the part: those that do not lean hold their pose."""
        spine, head = find_spine_and_head(character.skeleton)
        if not {*spine, *head} & set(joints):
            raise InputError(
                f"Counterpoise leans a spine and keeps a head level; '{part}' has neither. Drive 'trunk' or 'head' "
                "with it."
            )
        if self.follow is not None and self.follow.skeleton.names != character.skeleton.names:
            raise InputError(
                "Counterpoise follows a clip of its own skeleton; this clip has others. Retarget it first."
            )
        return Claim(tuple(joints), after_others=True, carries_physical=True, yields=True)

    def build(self, body: Body, joints: np.ndarray, t: float) -> CounterpoisePlayer:
        """See `Driver.build`."""
        return CounterpoisePlayer(self, body, np.asarray(joints, np.int64), t)


def answer_with(counter_lean: float, follow: Clip | None = None, follow_start: float = 0.0) -> Counterpoise:
    """What drives trunk and head over legs that lean the pelvis by so many rad per m: the spine in proportion."""
    return Counterpoise(
        spine=min(SPINE / PELVIS * counter_lean, 10.0), pelvis=counter_lean, follow=follow, follow_start=follow_start
    )


class CounterpoisePlayer(MotionPlayer):
    """The trunk and the head of one actor.

    pose     (K, 4) rotations that its joints have when nothing leans
    springs  (K, 2) N m/rad and N m s/rad of each joint;  bent (K, 3, 3) rad, rad/s and rad/s2, own axes: how far
             each has given way to pushes, contacts and loads
    contacts (K + 1, 3) N m, own axes: what contacts put on each as it is felt; then the share of a step's that is
    """

    def __init__(self, driver: Counterpoise, body: Body, joints: np.ndarray, t: float):
        from poise.drivers.counterpoise import kernels as law

        self.driver, self.joints, self._kernels, self._body = driver, joints, law, body
        self.pose = np.array([body.held.get(int(i), body.state.q[i]) for i in joints])
        self._shift = find_shift_of(body, driver.follow, driver.follow_start)
        count = len(body.tree)
        carried = np.zeros((len(joints), count), np.int64)
        for k, i in enumerate(joints):
            carried[k, body.skeleton.descendants(int(i))] = 1
        self.bent, self.springs = body.arena.zeros(len(joints), 3, 3), np.zeros((len(joints), 2))
        self.contacts = body.arena.zeros(len(joints) + 1, 3)
        self._loads = np.zeros((count, 4))
        self.block = Block(
            law.COUNTERPOISE, body.arena, joints=joints, count=len(joints), pose=self.pose,
            shares=share_lean(body.skeleton, joints, driver.keep_level), rates=np.array([driver.spine, driver.pelvis]),
            most=driver.cap, part=body.taking_part.block.address,
            shift=0 if self._shift is None else self._shift.block.address,
            springs=self.springs, bent=self.bent, felt=body.felt,
            pressed=body.pressed, contacts=self.contacts, loads=self._loads, bent_at=t,
            carried=carried, work=np.zeros((3 * len(joints), 3 * len(joints))), torque=np.zeros(3 * len(joints)),
        )  # fmt: skip
        self._look_at_masses(body)
        self._base: KinematicPlayer | None = None
        if driver.follow is not None:
            base = Kinematic(driver.follow, start=driver.follow_start).build(body, joints, t)
            assert isinstance(base, KinematicPlayer)
            self._base = base
            base_law, base_block = base.laws()[WRITE]
            self.block.set(base=base_law.address, base_block=base_block.address)
        else:
            self.held = dict(zip(self.joints.tolist(), self.pose, strict=True))

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """See `Player.laws`."""
        return {WRITE: (self._kernels.write, self.block), POST_STEP: (self._kernels.bend, self.block)}

    def _look_at_masses(self, body: Body) -> None:
        """How firm the joints are, and what loads there are on the trunk."""
        bare = build_tree(body.character)
        firm = Loose(stiffness=FIRM, damping=1.0).build(body, self.joints, 0.0)
        self.springs[:] = np.stack([firm.stiffness, firm.damping], axis=1)
        moment, own = body.tree.masses[:, None] * body.tree.centers, bare.masses[:, None] * bare.centers
        self._loads[:] = np.column_stack([moment - own, body.tree.masses - bare.masses])
        self._loads[sorted(find_arms(body.skeleton))] = 0.0
        self.block["is_loaded"] = bool(self._loads[:, 3].any())

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """Begin in the pose, or where the joints are, and go over to the lean."""
        if starting:
            at = self.joints
            if self._base is not None:
                self._base.pose(body, t)
            else:
                body.state.q[at] = self.pose
        body.felt[self.joints] = body.pressed[:] = 0.0  # nobody took it before
        super().begin(body, t, starting=False)

    def on_mass_changed(self, body: Body) -> None:
        """See `Player.on_mass_changed`: the trunk goes over to how it leans against the new load."""
        self._look_at_masses(body)
        if self._shift is not None:
            self._shift.on_mass_changed(body)
            super().begin(body, body.time, starting=False)

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {"pose": self.pose, "bent": self.bent, "springs": self.springs, "contacts": self.contacts}

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        return {
            **super().save(),
            "bent_at": float(self.block["bent_at"]),
            "base": None if self._base is None else self._base.save(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        super().restore(saved)
        self.block["bent_at"] = saved["bent_at"]
        if self._base is not None:
            self._base.restore(saved["base"])


def find_spine_and_head(skeleton: Skeleton) -> tuple[list[int], list[int]]:
    """Joints of the spine, above the hips up to what the arms hang from, and those above that up to the head."""
    hips, top = skeleton.find_role("hips") or 0, None
    for role in ("head", "neck"):
        top = skeleton.find_role(role) if top is None else top
    chest = find_chest(skeleton)
    if chest is None:
        chest = next((i for i in map(skeleton.find_role, ("upperChest", "chest", "spine")) if i is not None), hips)
    below = set(skeleton.chain(hips))
    spine = [i for i in skeleton.chain(chest) if i not in below]
    head = [] if top is None else [i for i in skeleton.chain(top) if i not in below and i not in spine]
    return spine, head


def share_lean(skeleton: Skeleton, joints: np.ndarray, level: float) -> np.ndarray:
    """(K, 2) how much of the lean of the spine and of the pelvis each joint turns by."""
    spine, head = ([i for i in part if i in joints] for part in find_spine_and_head(skeleton))
    shares = np.zeros((len(joints), 2))
    for k, i in enumerate(joints):
        if i in spine:
            shares[k, 0] = 1.0 / len(spine)
        elif i in head:
            shares[k] = -level / len(head) * (len(spine) > 0), -level / len(head)
    return shares


class Leaning:
    """How the aims of some springs lean.

    goal, rate  (K, 4) and (K, 3) rad/s, own axes: what the springs aim at now, and how fast that turns
    is_on       (1,) 1 where they lean, 0 where the body has lost its balance
    """

    def __init__(self, springs: LoosePlayer, body: Body, trunk: Counterpoise, before: Leaning | None):
        from poise.drivers.counterpoise import kernels

        self._laws, self._springs = kernels, springs
        self.goal, self.rate, self.is_on = springs.aim.copy(), np.zeros((len(springs.joints), 3)), np.zeros(1)
        self._shift: ArmShift | None = find_shift_of(body) if before is None else before._shift
        if self._shift is not None:
            self._shift.on_mass_changed(body)
        self.block = Block(
            kernels.LEANING, None, springs=springs.block.address, part=body.taking_part.block.address,
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
        body.block.at = t
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
