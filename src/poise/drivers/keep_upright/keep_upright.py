"""Task control: a wrist that keeps what it holds upright, against gravity and whatever the arm does (Z6).

[tracking, section 4.2]: the wrist does not follow the motion; a spring and a damper in it pull the staff upright, and
the rest of the body moves as it was told. Here the aim is a rotation of the wrist within its range, the one from its
natural pose on that brings the prop's own up nearest to the world's, and

    torque = k e + d (w* - w) - r x m g        e the turn from where the wrist is to the aim, w* the aim's speed
    k = I f^2,  d = 2 z I f                    I the inertia of hand and prop about the wrist

with the weight of hand and prop m g, at r from the wrist, held. It is integrated implicitly, as in
`drivers/loose/kernels.py`, and is never more than the wrist's strength: a prop that asks for more leans. Where it leans
by more than a tolerance because the wrist is at the end of its range or has no more strength, the actor tells so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.strength.static import static_strength
from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.drivers.driver import TORQUE, WRITE, Claim, Driver, Player
from poise.errors import InputError, check_range
from poise.kinds import checked
from poise.spatial import rotation

CANNOT = "cannot keep upright"
PATIENCE = 0.2  # s, for which it may lean before that is told
_UP = (0.0, 1.0, 0.0)
_WHY = ("", "has no more strength than {strength:.3g} N m", "is at the end of its range")


@checked
@dataclass(frozen=True)
class KeepUpright(Driver):
    """Keeps a prop upright, in the wrist of the hand that holds it (`Actor.grasp`).

    prop       its name
    quickness  f above, rad/s: how fast it rights itself
    damping    z above: 1 does not overshoot, less sways
    axis       (3,) which way is up in the prop's own frame
    tolerance  rad, that it may lean without a word
    strength   N m, of the wrist; None: as strong as it is
    twists     whether the hand may also turn about the forearm, as far as the forearm's own turning has room left: a
               wrist has no such turn, but one that holds a staff across it cannot right it sideways without
    """

    prop: str
    quickness: float = 18.0
    damping: float = 1.0
    axis: tuple[float, float, float] = _UP
    tolerance: float = math.radians(5.0)
    strength: float | None = None
    twists: bool = True
    level = TORQUE

    def __post_init__(self) -> None:
        for name, value, least, most in (
            ("quickness", self.quickness, 0.1, 200.0), ("damping", self.damping, 0.0, 100.0),
            ("tolerance", self.tolerance, 0.001, math.pi), ("strength", self.strength, 0.0, 1e4),
        ):  # fmt: skip
            if value is not None:
                check_range(f"the {name} of KeepUpright", value, least, most)
        axis = np.asarray(self.axis if isinstance(self.axis, Iterable) else [], float)
        if axis.shape != (3,) or not 1e-6 < float(np.linalg.norm(axis)) < 1e6:
            raise InputError(
                f"the axis of KeepUpright is three numbers that are not all zero; given {self.axis!r:.60}."
            )

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """One wrist."""
        if len(joints) != 1:
            raise InputError(
                f"KeepUpright moves one wrist, and '{part}' is {len(joints)} joints. Drive that of the hand that holds "
                f"'{self.prop}', as in actor.drive(['rightHand'], poise.KeepUpright('{self.prop}'))."
            )
        return Claim(tuple(joints))

    def build(self, body: Body, joints: np.ndarray, t: float) -> KeepUprightPlayer:
        """See `Driver.build`."""
        return KeepUprightPlayer(self, body, joints)


class KeepUprightPlayer(Player):
    """A wrist of one actor.

    aim     (4,) the wrist's rotation that it pulls to, and (4,) that of the step before
    memory  (5,) for how long (s) it leaned too far, how far it leans (rad), why (`_WHY`), whether that was told, and
            whether it has an aim already
    """

    def __init__(self, driver: KeepUpright, body: Body, joints: np.ndarray):
        from poise.drivers.keep_upright import kernels

        self.driver, self.joints, self._law = driver, np.asarray(joints, np.int64), kernels.right_itself
        i = int(self.joints[0])
        up = int(body.tree.parents[i])
        limits, forearm = (body.character.limits.get(body.skeleton.names[k]) for k in (i, up))
        none = rotation.identity()
        self.aim, self.memory = np.tile(body.state.q[i], (2, 1)), np.zeros(5)
        self.block = Block(
            kernels.WRIST, None, joint=i, parent=up, aim=self.aim, memory=self.memory,
            natural=none,
            P=none if limits is None else limits.parent_zero, C=none if limits is None else limits.child_zero,
            lower=np.full(3, -3.0) if limits is None else limits.lower.copy(),
            upper=np.full(3, 3.0) if limits is None else limits.upper.copy(),
            twists=int(driver.twists and forearm is not None), P_up=none if forearm is None else forearm.parent_zero,
            C_up=none if forearm is None else forearm.child_zero,
            turns=np.zeros(2) if forearm is None else np.array([forearm.lower[1], forearm.upper[1]]),
            tolerance=driver.tolerance, patience=PATIENCE,
            strength=float(static_strength(body.character)[i]) if driver.strength is None else driver.strength,
        )  # fmt: skip
        self.on_mass_changed(body)
        if not self.block["is_on"]:
            name = body.skeleton.labels[i]
            raise InputError(
                f"{name} does not hold '{driver.prop}', which it is to keep upright. Have it grasped first: "
                f"actor.grasp('{name}', '{driver.prop}')."
            )

    def on_mass_changed(self, body: Body) -> None:
        """See `Player.on_mass_changed`: what is held may be another thing now, or nothing."""
        i, index = int(self.joints[0]), body.skeleton.index
        held = next((g for g in body.grips if g.prop.name == self.driver.prop and index(g.joint) == i), None)
        inertia = body.outboard()[2][i]
        f = self.driver.quickness
        self.block.set(stiffness=inertia * f * f, damping=2.0 * self.driver.damping * inertia * f)
        self.block.set(is_on=int(held is not None))
        if held is not None:
            axis = np.asarray(self.driver.axis, float)
            self.block.set(axis=rotation.rotate(held.turn, axis / np.linalg.norm(axis)))

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """See `Player.laws`."""
        return {WRITE: (self._law, self.block)}

    def handle_request(self, body: Body, t: float) -> bool:
        """See `Player.handle_request`: it leans, and nothing can be done."""
        if self.memory[3] == 1.0:
            self.memory[3] = 2.0
            name, lean = body.skeleton.labels[int(self.joints[0])], math.degrees(self.memory[1])
            why = _WHY[int(self.memory[2])].format(strength=float(self.block["strength"]))
            message = f"{CANNOT}: '{self.driver.prop}' leans {lean:.0f} degrees, {name} {why}"
            body.emit(CANNOT.replace(" ", "-"), message)
        return False

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {"aim": self.aim, "memory": self.memory}

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        gains = np.array([self.block["stiffness"], self.block["damping"]])  # of the pose when it last weighed the prop
        return {**super().save(), "gains": gains}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        super().restore({name: saved[name] for name in self.numbers()})
        stiffness, damping = np.asarray(saved["gains"], float).tolist()
        self.block.set(stiffness=stiffness, damping=damping)
