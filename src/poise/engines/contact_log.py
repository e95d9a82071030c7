"""Hits: things that begin to touch, with the impulse. One log follows the contacts of a simulation.

An engine notes its contacts by a law of its own (`Simulation.contact_law`), or the log reads them after each step.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.engines.engine import Simulation
from poise.engines.memory import write_over
from poise.engines.scene import Scene

if TYPE_CHECKING:
    from poise.engines.contact_log_kernels import Episodes
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
        self._open, self._reported = (kernels.Episodes(count=kernels.SLOTS) for _ in range(2))
        self._open.first[:] = -1
        count = len(self._names)
        group = np.arange(count)
        group[: self.firsts[-1]] = np.repeat(self.firsts[:-1], np.diff(self.firsts))
        self.block = kernels.ContactTable(
            things=count, kind=np.array([*kind, kernels.FIXED], np.int64), limit=np.array([*limit, np.inf]),
            group=group, masses=np.array([*masses, _WALL]), up=up, dt=scene.dt,
            window=max(1.0, round(WINDOW / scene.dt)), open=self._open.address, reported=self._reported.address,
            ring_size=kernels.SLOTS * kernels.RING,
        )  # fmt: skip
        self._heard: list[np.ndarray] = []
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
        rows, points = self.block.rows, self.block.points
        rows[:], self._heard = 0, [array for pair in bodies.values() for array in pair]
        for k, (pressed, positions) in bodies.items():
            for i in range(len(pressed)):
                at = self.firsts[k] + i
                rows[at], points[at] = pressed[i].ctypes.data, positions[i].ctypes.data
        self.block.presses = bool(bodies)

    def note(self, simulation: Simulation, bodies: int) -> None:
        """Note the contacts of the last step, as a simulation reports them."""
        if self._places is None:
            self._places = {name: k for k, name in enumerate(self._names)}
        for k in range(bodies):
            touched = simulation.find_contacts(k)
            rows = zip(touched.joints, touched.points, touched.forces, touched.others, strict=True)
            for joint, point, force, other in rows:
                me, it = int(self.firsts[k] + joint), self._places.get(other, self.ground)
                if self._owners[it] is None or me > it:  # two segments tell each other's
                    self._kernels.note_contact(self.block, it, me, np.array(point, float), np.array(force, float))
        self._kernels.end_step(self.block, False)

    def end(self) -> None:
        """End: what has begun counts as it is."""
        self._kernels.end_step(self.block, True)

    @property
    def has_news(self) -> bool:
        """Whether there is something to take."""
        return bool(self.block.reported_count[0])

    def take(self) -> list[Impact]:
        """Return the hits since the last time: twins where two bodies hit each other, one where a body hits itself."""
        found = self._read(self._reported, range(int(self.block.reported_count[0])))
        self.block.reported_count[0] = 0
        return found

    def find_open(self) -> list[Impact]:
        """Return the hits whose window is not over, with the impulse so far; `take` returns them when it is."""
        rows = np.flatnonzero((self._open.first >= 0) & (self._open.is_over == 0))
        return self._read(self._open, rows.tolist())

    def _read(self, episodes: Episodes, rows: Iterable[int]) -> list[Impact]:
        found: list[Impact] = []
        for k in rows:
            first, second = int(episodes.largest_first[k]), int(episodes.largest_second[k])
            impulse, reported = episodes.impulse[k], len(found)
            for me, it, sign in ((first, second, -1.0), (second, first, 1.0)):
                owner, its = self._owners[me], self._owners[it]
                if owner is None or (me == first and its is not None and its[0] == owner[0]):
                    continue
                if np.linalg.norm(impulse) > self.block.limit[me]:
                    force, is_twin = float(episodes.peak[k]), len(found) > reported
                    step = int(episodes.began[k])
                    found.append(Impact(*owner, self._names[it], step, sign * impulse, force, is_twin))
        return sorted(found, key=lambda hit: hit.step)

    def numbers(self) -> dict[str, np.ndarray]:
        """The arrays that change, by name: they are saved, and written to when a state is restored."""
        x = self.block
        return {
            **{f"open_{name}": array for name, array in self._open.arrays.items()},
            **{f"reported_{name}": array for name, array in self._reported.arrays.items()},
            "step": x.step, "reported_count": x.reported_count, "ring": x.ring,
        }  # fmt: skip

    def save(self) -> dict[str, Any]:
        """As plain data."""
        return {name: array.copy() for name, array in self.numbers().items()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore what was saved."""
        write_over(self.numbers(), saved)
