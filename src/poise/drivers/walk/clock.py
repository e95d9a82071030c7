"""The clock of a walk, which slows down for an actor that follows."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.stateful import Stateful
from poise.dynamics.tree import build_tree

_FASTER, _SLOWER = 2.5, 8.0  # 1/s, by which the rate rises and falls at most
_REACTS = 0.04  # s, in which the rate would reach its target
# Joints whose distance between the two bodies is the lag.
_COMPARED = (
    "hips", "spine", "chest", "upperChest", "head",
    *(f"{side}{part}" for side in SIDES for part in ("LowerLeg", "Foot")),
)  # fmt: skip


class WalkClock(Stateful):
    """The walk's own time as a function of the stage's.

    other       actor that the walk waits for; None: it does not wait
    near, far   m: lag at which the clock begins to slow down, and at which it stops
    since       s of the stage's clock, when `time`, `rate` and `slope` were set
    time, rate, slope   s, its rate relative to the stage's clock, and the rate's change, 1/s
    lag         m, the largest distance between compared joints of the two bodies
    is_alone    whether the other actor has left the stage: the walk no longer waits
    """

    STATE = ("since", "time", "rate", "slope", "lag")

    def __init__(self, t: float, other: Any, near: float, far: float):
        self.other, self.near, self.far = other, near, far
        self.since, self.time, self.rate, self.slope = t, 0.0, 1.0, 0.0
        self.lag, self.is_alone = 0.0, False

    def restart(self, t: float) -> None:
        """Begin at time t (s) of the stage's clock."""
        self.since, self.time, self.rate, self.slope = t, 0.0, 1.0, 0.0

    def read(self, t: float) -> tuple[float, float, float]:
        """Return the walk's time at time t of the stage's clock, its rate, and the rate's change."""
        x = t - self.since
        return self.time + x * (self.rate + 0.5 * self.slope * x), self.rate + self.slope * x, self.slope

    def update(self, t: float, dt: float, is_ready: bool) -> None:
        """Set the rate's change for the step around time t: the clock stops if the other lags or is not ready."""
        if self.other is None:
            return
        time, rate, _ = self.read(t)
        target = float(np.clip((self.far - self.lag) / (self.far - self.near), 0.0, 1.0)) if is_ready else 0.0
        slope = float(np.clip((target - rate) / _REACTS, -_SLOWER, _FASTER))
        self.since, self.time, self.rate, self.slope = t, time, rate, max(slope, -rate / dt)  # never backwards

    def measure_lag(self, body: Body, t: float) -> None:
        """Measure the lag of the other actor at time t (s); report if it has left the stage."""
        other, skeleton = self.other, body.skeleton
        if getattr(other, "has_left", False):
            if not self.is_alone:
                self.is_alone, self.lag = True, 0.0
                body.emit("waits-no-longer", f"waits no longer: '{other.name}' left the stage")
            return
        pose = other.pose(t)
        there = _find_positions(other.character, pose.root, pose.rotations)
        here = _find_positions(body.character, body.state.root, body.state.q)
        names = [role for role in _COMPARED if skeleton.find_role(role) is not None]
        self.lag = max(
            float(np.linalg.norm(here[skeleton.index(role)] - there[other.character.skeleton.index(role)]))
            for role in names
        )

    def is_free(self, support: int) -> bool:
        """Return whether the other actor can stand where the walk is going to."""
        if self.is_alone:
            return True
        players = getattr(self.other, "players", ())
        return all(player.can_stand(support) for player in players if hasattr(player, "can_stand"))


def _find_positions(character: Character, root: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    """Return the positions (J, 3) m of a body's joints."""
    from poise.dynamics.body_kernels import pose_bodies

    tree = build_tree(character)
    R, p = np.zeros((len(tree), 3, 3)), np.zeros((len(tree), 3))
    pose_bodies(tree.parents, tree.offsets, root, rotations, R, p)
    return p
