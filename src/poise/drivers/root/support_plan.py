"""Plans of supports: which of them may be anchored, and when. The user gives a plan, or it is found in a clip.

A plan has a row for each stretch of time: which supports are allowed, and which is preferred; none is flight.

In a clip, the supports are those that are down (`motion.contacts`), one at a time. The sequence of supports is the one
whose anchors slide least:

    least over s(t) of   sum dt |v_s|  +  sum over changes (HOLD + SETTLE |v_new - v_old|)            [anchored, 6]

with v the supports' velocities in the clip, relative to the ground. A foot in stance and one that has just come down
are both down for a while: the anchor changes when they move least relative to each other. Other points of the same sole
that are down and still are allowed, too: a level foot stands on a slope by its toes or its heel, depending on the
ground.
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

_HOLD, _SETTLE = 0.002, 0.1  # m and s: cost of a change by itself, and per m/s between the two supports
_NEVER = 1e9  # m: cost of a support that is not down
_STILL = 0.06  # m/s, below which a point of a sole stands
# s: a flight may begin so much before contacts end, and end so much after they begin. A foot that pushes off moves by
# metres per second in the last frame in which it counts as down; an anchor there would hold the body back.
_EARLY = 0.06


@dataclass(frozen=True, eq=False)
class Plan:
    """Allowed supports over time.

    times    (N,) s, from which each row counts; the first counts before its time, too
    allowed  (N, P) whether each support may be anchored
    liked    (N,) the preferred support on level ground; -1: none
    lifts    (P,) m, height over the ground at which each of them rests
    floor    m, height of the ground that the motion is made for
    belt     (3,) m/s, velocity of the ground under the clip: a treadmill's, which an anchored body leaves behind
    """

    times: np.ndarray
    allowed: np.ndarray
    liked: np.ndarray
    lifts: np.ndarray
    floor: float = 0.0
    belt: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def at(self, t: float) -> tuple[np.ndarray, int]:
        """Return which supports (P,) are allowed at time t, and the preferred one."""
        row = max(int(np.searchsorted(self.times, t, side="right")) - 1, 0)
        return self.allowed[row], int(self.liked[row])


def check_times(when: Sequence[tuple[float, str | None]]) -> np.ndarray:
    """Return the times (N,) s of a user's plan; raise InputError if they are invalid."""
    try:
        times = np.array([float(t) for t, _ in when])
    except (TypeError, ValueError):
        raise InputError(
            f"when must be pairs of a time (s) and a support, such as (0.5, 'left'); got {when!r:.80}."
        ) from None
    if not len(times) or not np.isfinite(times).all() or np.any(np.diff(times) <= 0.0):
        raise InputError(f"the times of when must be finite and increase; got {times.tolist()}.")
    return times


def read_plan(when: Sequence[tuple[float, str | None]], names: Sequence[str], may_fly: bool) -> Plan:
    """Return a user's plan: from each time on, the support of a name, or any of a side or a kind ("left").

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
                f"no support is planned at {t:g} s, and flight needs the root path of a motion. Pass a motion to "
                "Anchored, or plan a support."
            )
    return Plan(times, allowed, np.full(len(times), -1), np.zeros(len(names)))


def find_plan(clip: Clip, names: Sequence[str], joints: np.ndarray, points: np.ndarray) -> Plan:
    """Return the plan of a clip, for supports of its soles.

    names           (P,) each with its side, "left" or "right", and its part, "heel", "ball" or "tip"; else any part
    joints, points  (P,), (P, 3) m in the joints' axes
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
    """Return whether a support is down in each frame (F,)."""
    side = 0 if name.startswith("left") else 1
    if name.endswith("heel"):
        return contacts.heel[:, side]
    return np.asarray(contacts.toe[:, side] if name.endswith(("ball", "tip")) else contacts.foot[:, side])


def _widen(times: np.ndarray, flies: np.ndarray) -> np.ndarray:
    """Return whether each frame (F,) is in a flight or close to one."""
    wide = flies.copy()
    for first, last in find_runs(flies):
        wide |= (times >= times[first] - _EARLY) & (times <= times[last] + _EARLY)
    return wide


def _find_way(times: np.ndarray, speeds: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Return the support of each frame (F,), or P for flight, by dynamic programming.   [anchored, 6]"""
    frames, count = down.shape
    # In flight the root follows the clip: nothing slides. It is allowed where nothing is down, or nearly so.
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
