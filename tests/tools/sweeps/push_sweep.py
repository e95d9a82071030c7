"""Pushes at the chest from all around: the largest that a body takes without a step, beside what mechanics allows.

A body that can only move its centre of pressure comes to rest over its feet if its capture point stays within the
support: an impulse of m w d, with w = sqrt(g / height of the centre of mass) and d the distance from where the centre
of mass stands to the support's edge in the push's direction.
"""

from __future__ import annotations

import math

import numpy as np

from poise import Balance, Character, Kinematic, Stage, gestures
from poise.drivers.balance.balance import BalancePlayer
from poise.errors import SolveError
from poise.stage.actor import Actor
from tools.sweeps.page import table

BODIES = (
    (1.75, 75.0, "mix"), (1.75, 75.0, "full"), (1.2, 30.0, "mix"), (1.2, 30.0, "full"), (2.1, 150.0, "mix"),
    (2.1, 150.0, "full"),
)  # fmt: skip
DIRECTIONS = 8
DURATIONS = (0.1, 0.2, 0.4)  # s
# What the rest of the body does: it is held by the animation, it conducts, or only the arms are given and the trunk is
# held by springs.
WAYS = ("still", "conducting", "arms only")
START, WATCHED = 1.0, 5.0  # s, of the push, and afterwards until it counts as recovered
LEAST, LEAST_RATIO = 15.0, 0.7  # N s for 75 kg, and share of m w d
_CLOSE = 0.02  # of m w d: how closely the largest impulse is bracketed


def build(height: float, mass: float, preset: str, way: str) -> tuple[Stage, Actor]:
    """A body that stands, with its arms as they are said to be."""
    stage = Stage()
    actor = stage.add(Character.human(height, mass, preset=preset), name="actor")
    actor.drive("legs", Balance())
    if way == "conducting":
        actor.drive("upperBody", Kinematic(gestures.conduct(hands="both")))
    elif way == "still":
        actor.drive("upperBody", Kinematic(gestures.breathe(depth=0.0)))
    else:
        actor.drive("arms", Kinematic(gestures.conduct()))
    return stage, actor


class Pusher:
    """One body just before it is pushed, again and again."""

    def __init__(self, height: float, mass: float, preset: str, way: str):
        self.stage, self.actor = build(height, mass, preset, way)
        while self.stage.time < START - 1e-9:
            self.stage.step()
        self.saved = self.stage.save()
        self.broken = 0  # runs that broke off
        balance = self.actor.player("legs")
        if not isinstance(balance, BalancePlayer):
            raise TypeError("it has no balance")
        body = self.actor.body
        self.balance, self.mass = balance, body.tree.mass
        # The highest joint of the trunk that the preset has.
        roles = self.actor.character.skeleton.roles
        self.chest = next(role for role in ("chest", "spine") if role in roles)
        self.omega = math.sqrt(9.81 / (body.c[1] - balance.ground))
        self.target = np.array(balance.aim[:2])
        self.hull = np.concatenate(
            [body.p[leg[2]] + sole @ body.R[leg[2]].T for leg, sole in zip(balance.legs, balance.corners, strict=True)]
        )[:, [0, 2]]

    def limit(self, angle: float) -> float:
        """m w d, N s."""
        return self.mass * self.omega * find_reach(self.hull, self.target, angle)

    def recovers(self, impulse: float, angle: float, seconds: float) -> bool:
        """Whether a push of this impulse (N s) leaves it standing, its feet where they were."""
        self.stage.restore(self.saved)
        force = impulse / seconds * np.array([math.sin(angle), 0.0, math.cos(angle)])
        self.actor.pushes.clear()
        self.actor.push(self.chest, force, seconds)
        while self.stage.time < START + WATCHED:
            try:
                self.stage.step()
            except SolveError:  # neither a recovery nor a fall
                self.broken += 1
                return False
            if self.balance.gone is not None or self.actor.fallen is not None:
                return False
        return True

    def largest(self, angle: float, seconds: float) -> tuple[float, bool]:
        """The largest impulse (N s) that it recovers from, by bisection, and whether twice m w d makes it fall."""
        limit = self.limit(angle)
        low, high = 0.0, 2.0 * limit
        falls = not self.recovers(high, angle, seconds)
        while high - low > _CLOSE * limit:
            middle = 0.5 * (low + high)
            if self.recovers(middle, angle, seconds):
                low = middle
            else:
                high = middle
        return low, falls


def find_reach(points: np.ndarray, start: np.ndarray, angle: float) -> float:
    """m, from a place to the edge of the hull of points (N, 2), in the direction of an angle from +Z to +X."""
    from scipy.spatial import ConvexHull

    way = np.array([math.sin(angle), math.cos(angle)])
    # rows (n, b) with n . x + b <= 0 inside: start + s way is on an edge where s = -(n . start + b) / (n . way)
    edges = ConvexHull(points).equations
    toward = edges[:, :2] @ way
    return float(np.min(-(edges[toward > 1e-12] @ np.append(start, 1.0)) / toward[toward > 1e-12]))


def sweep() -> tuple[str, int]:
    """Every body, way, duration and direction."""
    rows, missed = [], 0
    for height, mass, preset in BODIES:
        for way in WAYS:
            pusher = Pusher(height, mass, preset, way)
            for seconds in DURATIONS if (way, preset) == ("still", "mix") else (0.2,):
                row, bad = measure(pusher, seconds)
                missed += bad
                rows.append((f"{height:g}", f"{mass:g}", preset, way, f"{seconds:g}", *row))
                print(*rows[-1], flush=True)
    head = [f"{360 * k // DIRECTIONS}°" for k in range(DIRECTIONS)]
    text = [
        "Each cell is the largest impulse recovered, N s, and its share of m w d. 0° pushes forwards, 90° to the left."
        f" Wanted: at least {LEAST_RATIO:g} of m w d, at least {LEAST:g} N s for 75 kg, and a fall at twice m w d.",
        "",
        table(("m", "kg", "preset", "arms", "s", *head, "2 m w d falls"), rows),
    ]
    return "\n".join(text), missed


def measure(pusher: Pusher, seconds: float) -> tuple[list[str], int]:
    """A row, and how many aims it misses."""
    cells, missed, fell, before = [], 0, 0, pusher.broken
    for k in range(DIRECTIONS):
        angle = 2.0 * math.pi * k / DIRECTIONS
        impulse, falls = pusher.largest(angle, seconds)
        ratio = impulse / pusher.limit(angle)
        bad = not ratio >= LEAST_RATIO or (abs(pusher.mass - 75.0) < 1.0 and not impulse >= LEAST)
        missed += bad + (not falls)
        fell += falls
        cells.append(f"{'**' if bad else ''}{impulse:.0f} {ratio:.2f}{'**' if bad else ''}")
    broken = pusher.broken - before
    said = f", **{broken} broke**" if broken else ""
    return [*cells, f"{fell} of {DIRECTIONS}{said}"], missed + broken
