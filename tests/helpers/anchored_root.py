"""A motion on an anchored root, without a stage, and what it does measured by forward kinematics of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from helpers.kinematics import place_joints
from poise import Character, Clip
from poise.drivers.body import Body
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.root.anchored import Anchored, AnchoredPlayer

GROUNDS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "flat": lambda x, z: 0.0 * (x + z),
    "up 5": lambda x, z: np.tan(np.radians(5.0)) * z,
    "up 10": lambda x, z: np.tan(np.radians(10.0)) * z,
    "down 10": lambda x, z: -np.tan(np.radians(10.0)) * z,
    "aside 10": lambda x, z: np.tan(np.radians(10.0)) * x + 0.0 * z,
    "steps up": lambda x, z: 0.1 * np.floor(z + 0.25) + 0.0 * x,
    "steps down": lambda x, z: -0.1 * np.floor(z + 0.25) + 0.0 * x,
}


def place_point(body: Body, joint: int, offset: np.ndarray) -> np.ndarray:
    """(3,) m, where a point of a body is."""
    places, turns = place_joints(body.skeleton, body.state.root, body.state.q)
    return np.asarray(places[joint] + turns[joint].apply(np.asarray(offset, float)))


@dataclass
class Handover:
    """What happened at a change of support.

    jump, kick  m and m/s, of the root's place and velocity, beyond what its velocity and acceleration say
    gaps        m and m/s, between the root of the old support and of the new one at the very same time
    blow        m/s2, of its acceleration
    """

    t: float
    support: str | None
    jump: float
    kick: float
    gaps: tuple[float, float]
    blow: float


@dataclass
class Walked:
    """A motion that was played: times (N,), root (N, 3), velocity and acceleration of it, the support at each.

    point   (N, 3) m, where the point that carries is; NaN in flight
    over    (N,) m, how high it is over the ground
    """

    times: np.ndarray
    root: np.ndarray
    v: np.ndarray
    a: np.ndarray
    chosen: np.ndarray
    point: np.ndarray
    over: np.ndarray
    handovers: list[Handover]

    def stances(self) -> list[tuple[int, int]]:
        """First and last index of each stretch with one support."""
        edges = np.flatnonzero(np.diff(self.chosen)) + 1
        return list(zip([0, *edges], [*(edges - 1), len(self.chosen) - 1], strict=True))

    def slide(self, first: int, last: int) -> float:
        """m, how far the support goes along the ground in a stance, there and back counted."""
        return float(np.linalg.norm(np.diff(self.point[first : last + 1, [0, 2]], axis=0), axis=1).sum())

    def travel(self, first: int, last: int, after: float) -> float:
        """m, how far the support gets from where it is at the end of a stance, from `after` s into it on."""
        inside = self.times[first : last + 1] >= self.times[first] + after
        way = self.point[first : last + 1][inside]
        return float(np.linalg.norm(way - way[-1], axis=1).max()) if len(way) else 0.0


class Walker:
    """A clip on all joints but the root, which is anchored."""

    def __init__(self, character: Character, clip: Clip, driver: Anchored, dt: float = 0.005, cutoff: float = np.inf):
        self.body = Body(character)
        self.body.dt = dt
        joints = np.arange(1, len(character.skeleton))
        self.others = Kinematic(clip, cutoff=cutoff).build(self.body, joints, 0.0)
        self.others.write(self.body, 0.0)
        self.player: AnchoredPlayer = driver.build(self.body, np.zeros(1, int), 0.0)
        self.player.pose(self.body, 0.0)

    def look(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Place, velocity and acceleration of the root at time t."""
        self.others.write(self.body, t)
        self.player.write(self.body, t)
        return self.body.state.root.copy(), self.body.state.v.copy(), self.body.a.copy()

    def run(self, seconds: float, ground: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Walked:
        """Steps of dt, each looked at in its middle; changes of support are looked at closely."""
        player, dt, near = self.player, self.body.dt, 1e-5
        rows, points, chosen, handovers = [], [], [], []
        times = (np.arange(int(seconds / dt)) + 0.5) * dt
        for t in times:
            r0, v0, a0 = self.look(t - near)  # before its middle a step decides nothing
            before, anchor = player.current, player.anchor.save()
            row = self.look(t)
            if player.current != before:
                r1, v1, a1 = self.look(t + near)
                jump = r1 - r0 - near * (v0 + v1)
                kick = v1 - v0 - near * (a0 + a1)
                gaps = self._compare(t, before, anchor, row)
                handovers.append(Handover(t, player.support, _norm(jump), _norm(kick), gaps, _norm(a1 - a0)))
                self.look(t)
            rows.append(row)
            chosen.append(player.current)
            if player.support is None:
                points.append(np.full(3, np.nan))
            else:
                supports = player.selector.supports
                joint, offset = int(supports.joints[player.current]), supports.points[player.current]
                points.append(place_point(self.body, joint, offset))
        root, v, a = (np.array(column) for column in zip(*rows, strict=True))
        point = np.array(points)
        over = point[:, 1] - ground(point[:, 0], point[:, 2])
        return Walked(times, root, v, a, np.array(chosen), point, over, handovers)

    def _compare(self, t: float, chosen: int, anchor: Any, row: tuple[np.ndarray, ...]) -> tuple[float, float]:
        """How far the root would be, and how fast, from what it is (row) if the support before still carried."""
        player = self.player
        now = player.current, player.anchor.save()
        player.current = chosen
        player.anchor.restore(anchor)
        old = self.look(t)
        player.current = now[0]
        player.anchor.restore(now[1])
        return _norm(row[0] - old[0]), _norm(row[1] - old[1])


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))
