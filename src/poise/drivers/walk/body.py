"""What a walk reads from a body: loads that it carries, its heading, and whether it can begin to walk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.stateful import Stateful
from poise.dynamics.tree import build_tree
from poise.walking.feet.foot import WalkingFoot
from poise.world.forces import Load

_LEAST = 1e-6  # kg: a smaller load does not count
_LIFTING = 80  # frames, in which a load that is picked up or dropped comes to count
# A body can begin to walk if its hips are over its feet by that fraction of a leg, and its trunk leans by less than
# that cosine; if its centre of mass (m/s for a leg of 1 m) and its root (rad/s) are slower than runners'; and if its
# soles are within that fraction of a leg over the ground.
_CROUCHED, _UPRIGHT, _FAST, _SPUN, _IN_AIR = 0.5, 0.5, 5.0, 10.0, 0.3


class CarriedLoads(Stateful):
    """Loads on a body as the walk counts them: a change is blended in, so that hips shift and do not jump.

    now, target, before  (J, 4) per joint, in addition to its own segment: kg, and kg m in its axes
    frames_left          until `now` is `target`
    """

    STATE = ("now", "target", "before", "frames_left")

    def __init__(self, joints: int):
        self.now, self.target, self.before, self.frames_left = *np.zeros((3, joints, 4)), 0

    def begin(self, body: Body) -> None:
        """Count what a body carries at once."""
        self.now[:] = self.target[:] = self.before[:] = _find_loads(body)

    def change(self, body: Body) -> None:
        """Begin to count what a body carries now."""
        self.target[:], self.before[:], self.frames_left = _find_loads(body), self.now, _LIFTING

    def advance(self) -> bool:
        """Advance the blend by a frame; return whether the loads changed."""
        if not self.frames_left:
            return False
        self.frames_left -= 1
        u = 1.0 - self.frames_left / _LIFTING
        self.now[:] = self.before + u**3 * (10.0 - 15.0 * u + 6.0 * u * u) * (self.target - self.before)
        if not self.frames_left:
            self.now[:] = self.target
        return True

    def list(self, character: Character) -> list[Load]:
        """Return the loads that count now."""
        names = character.skeleton.names
        return [
            Load(names[i], float(row[0]), tuple(float(x) for x in row[1:] / row[0]))  # type: ignore[arg-type]
            for i, row in enumerate(self.now) if row[0] > _LEAST
        ]  # fmt: skip


def _find_loads(body: Body) -> np.ndarray:
    """Return what each joint carries in addition to its own segment (J, 4): kg, and kg m in its axes."""
    own, tree = build_tree(body.character), body.tree
    found = np.zeros((len(tree), 4))
    found[:, 0] = tree.masses - own.masses
    found[:, 1:] = tree.masses[:, None] * tree.centers - own.masses[:, None] * own.centers
    found[np.abs(found[:, 0]) < _LEAST] = 0.0
    return found


def find_hindrance(feet: Sequence[WalkingFoot], body: Body) -> str | None:
    """Return why a body cannot begin to walk, in words; None if it stands or steps."""
    leg, index = min(foot.leg for foot in feet), body.skeleton.index
    hips = np.mean([body.p[index(side + "UpperLeg")] for side in SIDES], axis=0)
    lowest = min(float(body.p[foot.joint, 1]) for foot in feet)
    rise = body.skeleton.find_role("head")
    trunk = (body.p[rise] if rise is not None else body.c) - hips
    if hips[1] - lowest < _CROUCHED * leg or trunk[1] < _UPRIGHT * np.linalg.norm(trunk):
        return "lies or bends too low"
    fast = float(np.linalg.norm(body.dc)) / np.sqrt(leg)
    if fast > _FAST or max(float(np.abs(body.om[0]).max()), 0.4 * float(np.abs(body.state.w).max())) > _SPUN:
        return "is flung about"
    under = [body.p[foot.joint] + body.R[foot.joint] @ corner for foot in feet for corner in foot.corners]
    gap = min(float(at[1]) - body.floor.find(float(at[0]), float(at[2]), float(at[1]) + 0.1)[0] for at in under)
    return "is in the air" if gap > _IN_AIR * leg else None


def find_heading_of(body: Body) -> float:
    """Return the direction (rad) in which a body's hips face."""
    ahead = body.R[body.skeleton.index("hips")] @ np.array([0.0, 0.0, 1.0])
    return float(np.arctan2(ahead[0], ahead[2]))
