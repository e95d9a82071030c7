"""Which supports may carry, and when: said by somebody, or found in a clip.

A plan is a row for each stretch of time, of which supports may carry then, and which is liked best; none: it flies.

In a clip the supports are those that are down (`motion.contacts`), one at a time. Which one, and when it hands on to
the next, is the way through the clip whose anchors slide least:

    least over s(t) of   sum dt |v_s|  +  sum over hand-overs (HOLD + SETTLE |v_new - v_old|)         [anchored, 6]

with v the supports' velocities in the clip, relative to the ground. A foot that stands still and one that has just come
down are both down for a while: there they change hands when they move least against one another. What else of the
same sole is down and still may carry as well: a level foot stands on a slope by its toes or its heel, which only the
ground can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from poise.errors import InputError, unknown_name
from poise.motion.clip import Clip
from poise.motion.contacts.contacts import Contacts, find_contacts, point_velocity
from poise.motion.parts import find_runs
from poise.spatial import rotation

_HOLD, _SETTLE = 0.002, 0.1  # m and s: what a hand-over costs by itself, and for each m/s of the new support
_NEVER = 1e9
_STILL = 0.06  # m/s: below it a point of a sole stands
# s: a flight may begin so much before contacts end, and end so much after they begin. A foot that pushes off moves by
# metres a second in the last frame in which it counts as down, and whoever holds it there holds the body back.
_EARLY = 0.06


@dataclass(frozen=True, eq=False)
class Plan:
    """Which supports may carry.

    times    (N,) s, from when each row counts; the first counts before its time, too
    allowed  (N, P) whether each support may carry
    liked    (N,) which of them is best where the ground is level; -1: none more than the others
    lifts    (P,) m, how high over the ground each of them rests
    floor    m, height of the ground that the motion is made for
    belt     (3,) m/s, how the ground moves under the clip: a treadmill's, which an anchored body leaves behind
    """

    times: np.ndarray
    allowed: np.ndarray
    liked: np.ndarray
    lifts: np.ndarray
    floor: float = 0.0
    belt: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def at(self, t: float) -> tuple[np.ndarray, int]:
        """(P,) which supports may carry at time t, and which is liked best."""
        row = max(int(np.searchsorted(self.times, t, side="right")) - 1, 0)
        return self.allowed[row], int(self.liked[row])


def check_times(when: Sequence[tuple[float, str | None]]) -> np.ndarray:
    """(N,) s, the times of a plan that somebody says."""
    try:
        times = np.array([float(t) for t, _ in when])
    except (TypeError, ValueError):
        raise InputError(
            f"supports are planned by pairs of a time (s) and a support, as in (0.5, 'left'); given {when!r:.80}."
        ) from None
    if not len(times) or not np.isfinite(times).all() or np.any(np.diff(times) <= 0.0):
        raise InputError(f"supports are planned at finite times that increase; given {times.tolist()}.")
    return times


def read_plan(when: Sequence[tuple[float, str | None]], names: Sequence[str], may_fly: bool) -> Plan:
    """A plan that somebody says: from each time on, the support of a name, or any of a side or a kind ("left").

    None is flight.
    """
    times = check_times(when)
    allowed = np.zeros((len(when), len(names)), bool)
    for row, (t, name) in zip(allowed, when, strict=True):
        row[:] = [name == each or name in each.split() for each in names]
        if name is not None and not row.any():
            raise unknown_name("support", name, [*names, *sorted({word for each in names for word in each.split()})])
        if name is None and not may_fly:
            raise InputError(
                f"nothing carries at {t:g} s, but only a body whose root a motion turns can fly: it needs the motion's "
                "path. Give Anchored that motion, or a support."
            )
    return Plan(times, allowed, np.full(len(times), -1), np.zeros(len(names)))


def find_plan(clip: Clip, names: Sequence[str], joints: np.ndarray, points: np.ndarray) -> Plan:
    """The plan of a clip, for supports that are of its soles.

    names          (P,) each with its side, "left" or "right"; of the heel alone where it says so, else of any part
    joints, points (P,), (P, 3) m in the joints' axes
    """
    contacts = find_contacts(clip)
    positions, turns = clip.world
    places = positions[:, joints] + rotation.rotate(turns[:, joints], points)
    speeds = point_velocity(clip.times, places) - contacts.ground_velocity
    down = np.stack([_is_down(contacts, name) for name in names], axis=1)
    chosen = _find_way(clip.times, speeds, down)
    is_left = np.array([name.startswith("left") for name in names])
    of_same = is_left[np.minimum(chosen, len(names) - 1)][:, None] == is_left
    still = down & of_same & (np.linalg.norm(speeds, axis=-1) < _STILL)
    allowed = (chosen[:, None] == np.arange(len(names))) | (still & (chosen < len(names))[:, None])
    changes = (np.diff(chosen) != 0) | np.any(allowed[1:] != allowed[:-1], axis=1)
    starts = np.flatnonzero(np.concatenate([[True], changes]))
    floor = np.stack([contacts.floor[:, 0 if name.startswith("left") else 1] for name in names], axis=1)
    over = np.where(chosen[:, None] == np.arange(len(names)), places[..., 1] - floor, np.nan)
    lifts = np.array([np.nanmedian(column) if np.isfinite(column).any() else 0.0 for column in over.T])
    return Plan(
        clip.times[starts], allowed[starts], chosen[starts], lifts, contacts.ground_height, contacts.ground_velocity
    )


def _is_down(contacts: Contacts, name: str) -> np.ndarray:
    """(F,) whether a support is down."""
    side = 0 if name.startswith("left") else 1
    if name.endswith("heel"):
        return contacts.heel[:, side]
    return np.asarray(contacts.toe[:, side] if name.endswith(("ball", "tip")) else contacts.foot[:, side])


def _widen(times: np.ndarray, flies: np.ndarray) -> np.ndarray:
    """(F,) whether a frame is in a flight or close to one."""
    wide = flies.copy()
    for first, last in find_runs(flies):
        wide |= (times >= times[first] - _EARLY) & (times <= times[last] + _EARLY)
    return wide


def _find_way(times: np.ndarray, speeds: np.ndarray, down: np.ndarray) -> np.ndarray:
    """(F,) the support of each frame, or P for flight, by dynamic programming.   [anchored, 6]"""
    frames, count = down.shape
    # Flight goes along with the clip: it does not slide, and is where nothing is down, or nearly so.
    speeds = np.concatenate([speeds, np.zeros((frames, 1, 3))], axis=1)
    flies = _widen(times, np.logical_not(down.any(axis=1)))
    may = np.concatenate([down, flies[:, None]], axis=1)
    dt = np.gradient(times) if frames > 1 else np.ones(1)
    cost = np.where(may, dt[:, None] * np.linalg.norm(speeds, axis=-1), _NEVER)
    total, came = cost[0], np.zeros((frames, count + 1), np.int64)
    hold = _HOLD * (1.0 - np.eye(count + 1))
    for k in range(1, frames):
        apart = np.linalg.norm(speeds[k, :, None] - speeds[k, None], axis=-1)
        ways = total[:, None] + hold + _SETTLE * apart
        came[k] = np.argmin(ways, axis=0)
        total = ways[came[k], np.arange(count + 1)] + cost[k]
    chosen = np.zeros(frames, np.int64)
    chosen[-1] = int(np.argmin(total))
    for k in range(frames - 1, 0, -1):
        chosen[k - 1] = came[k, chosen[k]]
    return chosen
