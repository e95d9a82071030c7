"""Hits: things that begin to touch, with the impulse of it. One log follows the contacts of a simulation.

An engine notes its contacts in it by a law of its own (`Simulation.feel`), or is asked for them after each step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from poise.compiled.law import Block
from poise.engines.engine import Simulation
from poise.engines.memory import write_over
from poise.engines.scene import Scene

# N s for every kg of the body that is hit: what changes its speed by a fiftieth of a metre a second. A hand of half a
# kilogram that is put down at 1 m/s is below it, a ball of the same weight at 4 m/s above.
LEAST = 0.02
# s from the first touch on in which the impulse of a hit adds up, whether the two stay in touch or part and touch
# again; and for which they must then be apart before a touch is another hit
WINDOW = 0.05
# Columns of what contacts press on a segment: torque N m about its joint (3) and force N (3), world axes, the sum of
# the sizes of the forces, and that of each times the mass (kg) behind it
PRESSED = 8
_WALL = 1e9  # kg, of what never moves


class Impact(NamedTuple):
    """A contact that began, as one body felt it.

    body, joint  whose;  other: what touched it, as in `BodyContacts`;  step: in which it began, from the log's
    beginning
    impulse      (3,) N s on the body;  force: N, the largest mean over a sliding window of PEAK s
                 (`engines/contact_log_kernels.py`)
    is_twin      whether the hit before this one is the same contact, as the other body felt it
    """

    body: int
    joint: int
    other: str
    step: int
    impulse: np.ndarray
    force: float
    is_twin: bool = False


def find_peak(force: np.ndarray, dt: float) -> float:
    """Return the largest mean (N) over a sliding window of `engines/contact_log_kernels.py:PEAK` s of the forces (n,)
    of steps of dt s.

    The force of a single step depends on dt, since a stiff contact lasts for a step or two; its impulse does not.
    """
    from poise.engines.contact_log_kernels import PEAK

    return find_impulse(force, dt, max(PEAK, dt)) / max(PEAK, dt)


def find_impulse(force: np.ndarray, dt: float, window: float = WINDOW) -> float:
    """Return the largest impulse (N s) within a window (s) of the forces (n,) of steps of dt s."""
    times, impulse = dt * np.arange(len(force) + 1), np.concatenate([[0.0], np.cumsum(force)]) * dt
    return float(np.max(np.interp(times + window, times, impulse) - impulse))


class ContactLog:
    """Follows the contacts of one simulation."""

    def __init__(self, scene: Scene, feet: list[set[int]]):
        """feet: the joints of each body that may stand on the ground, which is no hit."""
        from poise.engines import contact_log_kernels as kernels

        self._kernels = kernels
        self._owners: list[tuple[int, int] | None] = []
        self._names: list[str] = []
        kind, limit, masses = [], [], []
        for k, body in enumerate(scene.bodies):
            for i, name in enumerate(body.tree.names):
                self._add((k, i), f"{body.name}/{name}")
                kind.append(kernels.FOOT if i in feet[k] else kernels.SEGMENT)
                limit.append(LEAST * body.tree.mass)
                masses.append(body.tree.mass)
        for prop in scene.props:
            self._add(None, prop.name)
            kind.append(kernels.FIXED if prop.inertia is None else kernels.MOVABLE)
            limit.append(np.inf)
            masses.append(_WALL if prop.inertia is None else prop.inertia.mass)
        self._add(None, "ground")
        self.firsts = np.cumsum([0, *(len(body.tree) for body in scene.bodies)])
        pull = float(np.linalg.norm(scene.gravity))
        up = -np.asarray(scene.gravity, float) / pull if pull > 0.0 else np.zeros(3)
        self._table = np.full((kernels.SLOTS, kernels.COLUMNS), -1.0)
        self._told, self._counts = np.zeros((kernels.SLOTS, kernels.COLUMNS)), np.zeros(2, np.int64)
        self._ring = np.zeros((kernels.SLOTS * kernels.RING, 3))
        count = len(self._names)
        group = np.arange(count)
        group[: self.firsts[-1]] = np.repeat(self.firsts[:-1], np.diff(self.firsts))
        self._limit = np.array([*limit, np.inf])
        self._rows, self._points = np.zeros((2, count), np.int64)
        self._heard: list[np.ndarray] = []
        self.block = Block(
            kernels.HITS, table=self._table, told=self._told, counts=self._counts, ring=self._ring, group=group,
            kind=np.array([*kind, kernels.FIXED], np.int64), limit=self._limit, up=up, things=len(self._names),
            rows=self._rows, points=self._points, masses=np.array([*masses, _WALL]),
            dt=scene.dt, window=max(1.0, round(WINDOW / scene.dt)),
        )  # fmt: skip
        self._places: dict[str, int] | None = None

    def _add(self, owner: tuple[int, int] | None, name: str) -> None:
        self._owners.append(owner)
        self._names.append(name)

    @property
    def ground(self) -> int:
        """The number of the ground among all things: bodies' segments, props, ground."""
        return len(self._names) - 1

    def listen(self, bodies: dict[int, tuple[np.ndarray, np.ndarray]]) -> None:
        """From now on, add what contacts press on some bodies to arrays of theirs: by number, of J joints.

        (J, PRESSED) to which each step adds, and the joints' positions (J, 3) m. A body's contacts with itself are no
        part of it. Contacts of a body that is not listed are added nowhere.
        """
        self._rows[:], self._heard = 0, [array for pair in bodies.values() for array in pair]
        for k, (pressed, points) in bodies.items():
            for i in range(len(pressed)):
                at = self.firsts[k] + i
                self._rows[at], self._points[at] = pressed[i].ctypes.data, points[i].ctypes.data
        self.block["presses"] = bool(bodies)

    def note(self, simulation: Simulation, bodies: int) -> None:
        """The contacts of the last step, as a simulation tells them."""
        record = self.block.record[0]
        if self._places is None:
            self._places = {name: k for k, name in enumerate(self._names)}
        for k in range(bodies):
            touched = simulation.find_contacts(k)
            rows = zip(touched.joints, touched.points, touched.forces, touched.others, strict=True)
            for joint, point, force, other in rows:
                me, it = int(self.firsts[k] + joint), self._places.get(other, self.ground)
                if self._owners[it] is None or me > it:  # two segments tell each other's
                    self._kernels.note_contact(record, it, me, *map(float, point), *map(float, force))
        self._kernels.end_step(record, False)

    def end(self) -> None:
        """There will be no more steps: what has begun counts as it is."""
        self._kernels.end_step(self.block.record[0], True)

    @property
    def has_news(self) -> bool:
        """Whether there is something to take."""
        return bool(self._counts[1])

    def take(self) -> list[Impact]:
        """Return the hits since the last time: twins where two bodies hit each other, one where a body hits itself."""
        found = self._read(self._told[: self._counts[1]])
        self._counts[1] = 0
        return found

    def find_open(self) -> list[Impact]:
        """Return the hits whose window is not over, with the impulse so far; `take` returns them when it is."""
        table = self._table
        return self._read(table[(table[:, self._kernels.FIRST] >= 0.0) & (table[:, self._kernels.OVER] == 0.0)])

    def _read(self, rows: np.ndarray) -> list[Impact]:
        found: list[Impact] = []
        for row in rows:
            first, second, impulse = int(row[self._kernels.ME]), int(row[self._kernels.OTHER]), row[4:7]
            told = len(found)
            for me, it, sign in ((first, second, -1.0), (second, first, 1.0)):
                owner, its = self._owners[me], self._owners[it]
                if owner is None or (me == first and its is not None and its[0] == owner[0]):
                    continue
                if np.linalg.norm(impulse) > self._limit[me]:
                    force, is_twin = float(row[self._kernels.TOP]), len(found) > told
                    found.append(Impact(*owner, self._names[it], int(row[2]), sign * impulse, force, is_twin))
        return sorted(found, key=lambda hit: hit.step)

    def numbers(self) -> dict[str, np.ndarray]:
        """All that changes, by name: it is saved and written over."""
        return {"table": self._table, "told": self._told, "counts": self._counts, "ring": self._ring}

    def save(self) -> dict[str, Any]:
        """As plain data."""
        return {name: array.copy() for name, array in self.numbers().items()}

    def restore(self, saved: dict[str, Any]) -> None:
        """What was saved."""
        write_over(self.numbers(), saved)
