"""Contacts followed from step to step, compiled: which are new, and with what impulse they began.

An episode is a row of `Episodes`: two things, the steps in which it began and was last seen, the impulse so far on the
second thing, and whether it is over: reported, or too long ago to be new. All segments of a body that touch one movable
prop share an episode, with the vector sum of their impulses, which is the prop's change of momentum: a ball between two
legs is one hit. It names the segment of the largest contact force.

The peak force is the largest mean over a sliding window of `PEAK` seconds, from the impulses of single steps: the force
of one step depends on its length, as stiff contacts last for a step or two.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.layout import Floats, Ints, Layout, at
from poise.compiled.views import floats

SLOTS = 64  # pairs that are followed at once
RING = 128  # steps whose impulses are kept for the peak force
PEAK = 0.02  # s
STANDING = 0.7  # component of a contact force on a foot that is upward, from which the foot stands
# Kinds of things: a segment, one that may stand on the ground, a prop that moves, what does not move.
SEGMENT, FOOT, MOVABLE, FIXED = range(4)


class Episodes(Layout):
    """Contacts of pairs of things, a row each."""

    count: int
    first: Annotated[Ints, "count"]  # number of a thing; -1: the row is free
    second: Annotated[Ints, "count"]  # number of the other, which is larger
    began: Annotated[Ints, "count"]  # step
    last_seen: Annotated[Ints, "count"]  # step
    is_over: Annotated[Ints, "count"]  # 1: reported, or no hit
    impulse: Annotated[Floats, "count", 3]  # N s, on the second thing, world axes
    largest: Annotated[Floats, "count"]  # N, force of a single contact
    largest_first: Annotated[Ints, "count"]  # the two segments of that contact
    largest_second: Annotated[Ints, "count"]
    peak: Annotated[Floats, "count"]  # N


class ContactTable(Layout):
    """The contacts of one simulation. Things have numbers: bodies' segments, props, ground."""

    things: int
    kind: Annotated[Ints, "things"]
    limit: Annotated[Floats, "things"]  # N s, impulse from which a contact is a hit
    group: Annotated[Ints, "things"]  # number of its body's first segment, or its own
    masses: Annotated[Floats, "things"]  # kg, of a segment its whole body's
    up: Annotated[Floats, 3]
    dt: float  # s
    window: float  # steps in which an impulse adds up, and for which two part before they hit each other again
    step: Annotated[Ints, 1]  # steps so far
    open: int  # address of the `Episodes` that are followed
    reported: int  # address of those that are over, to be taken
    reported_count: Annotated[Ints, 1]
    ring_size: int
    ring: Annotated[Floats, "ring_size", 3]  # N s, of the last `RING` steps of each row of `open`
    # Rows of `Body.pressed` that contacts add to, and positions of the segments' joints, by address; 0: none.
    presses: int  # 1 if there is any
    rows: Annotated[Ints, "things"]
    points: Annotated[Ints, "things"]


@kernel
def note_contact(x: ContactTable, first: int, second: int, point: np.ndarray, force: np.ndarray) -> None:
    """Note a force (3,) N at a point (3,) m on the second of two things in this step."""
    if x.presses == 1:
        _press(x, first, second, point, force, -1.0)
        _press(x, second, first, point, force, 1.0)
    if first < 0 or second < 0 or (x.kind[first] > FOOT and x.kind[second] > FOOT):
        return
    size = np.sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2])
    if size == 0.0 or _is_stance(x, first, second, force, size):
        return
    sign = 1.0
    if first > second:
        first, second, sign = second, first, -1.0
    row = _find_row(x, first, second)
    if row < 0:
        return
    e, step = at(x.open, Episodes), x.step[0]
    e.last_seen[row] = step
    if size > e.largest[row]:
        e.largest[row], e.largest_first[row], e.largest_second[row] = size, first, second
    if e.is_over[row] == 0:
        last, impulse = x.ring[row * RING + step % RING], e.impulse[row]
        for c in range(3):
            impulse[c] += sign * force[c] * x.dt
            last[c] += sign * force[c] * x.dt


@kernel
def _is_stance(x: ContactTable, first: int, second: int, force: np.ndarray, size: float) -> bool:
    """Return whether a foot stands on something that does not move."""
    kind, up = x.kind, x.up
    upward = (force[0] * up[0] + force[1] * up[1] + force[2] * up[2]) / size
    if kind[first] == FIXED and kind[second] == FOOT:
        return upward > STANDING
    return kind[second] == FIXED and kind[first] == FOOT and upward < -STANDING


@kernel
def _find_row(x: ContactTable, first: int, second: int) -> int:
    """Return the row of two things, a new one if they have none; -1 if no row is free."""
    e, step, kind, group = at(x.open, Episodes), x.step[0], x.kind, x.group
    if kind[first] == MOVABLE or kind[second] == MOVABLE:
        first, second = group[first], group[second]
    empty = -1
    for k in range(SLOTS):
        if e.first[k] < 0:
            empty = k if empty < 0 else empty
        elif e.first[k] == first and e.second[k] == second:
            return k
    if empty < 0:
        return -1
    e.first[empty], e.second[empty], e.began[empty] = first, second, step
    e.is_over[empty] = 1 if step == 0 else 0  # a contact from the start on is not new
    e.impulse[empty] = 0.0
    e.largest[empty], e.largest_first[empty], e.largest_second[empty], e.peak[empty] = 0.0, 0, 0, 0.0
    ring = x.ring
    for k in range(empty * RING, (empty + 1) * RING):
        ring[k, 0] = ring[k, 1] = ring[k, 2] = 0.0
    return empty


@kernel
def _press(x: ContactTable, me: int, other: int, point: np.ndarray, force: np.ndarray, sign: float) -> None:
    """Add a contact's wrench to what presses on a segment, if any player reads it; not of its own body's contacts.

    The mass behind the force is at most what both sides weigh together in a blow: m M / (m + M).
    """
    group, to = x.group, x.rows
    if me < 0 or other < 0 or to[me] == 0 or group[me] == group[other]:
        return
    row, joint, masses = floats(to[me], 8), floats(x.points[me], 3), x.masses
    rx, ry, rz = point[0] - joint[0], point[1] - joint[1], point[2] - joint[2]
    fx, fy, fz = sign * force[0], sign * force[1], sign * force[2]
    row[0] += ry * fz - rz * fy
    row[1] += rz * fx - rx * fz
    row[2] += rx * fy - ry * fx
    row[3] += fx
    row[4] += fy
    row[5] += fz
    size = np.sqrt(fx * fx + fy * fy + fz * fz)
    row[6] += size
    row[7] += size / (1.0 / masses[me] + 1.0 / masses[other])


@kernel
def _mean_force(x: ContactTable, row: int, step: int) -> float:
    """Return the mean force (N) of a pair over the last `PEAK` seconds; over the last step, if that is longer."""
    ring = x.ring
    steps = min(max(PEAK / x.dt, 1.0), RING - 1.0)
    fx, fy, fz = 0.0, 0.0, 0.0
    for k in range(int(np.ceil(steps))):
        part, i = min(1.0, steps - k), row * RING + (step - k) % RING
        fx, fy, fz = fx + part * ring[i, 0], fy + part * ring[i, 1], fz + part * ring[i, 2]
    return np.sqrt(fx * fx + fy * fy + fz * fz) / (steps * x.dt)


@kernel
def end_step(x: ContactTable, all_over: bool) -> None:
    """Report the hits whose window ends with this step; all_over: the others too."""
    e, limit, step, ring = at(x.open, Episodes), x.limit, x.step[0], x.ring
    for k in range(SLOTS):
        if e.first[k] < 0:
            continue
        if e.is_over[k] == 0:
            e.peak[k] = max(e.peak[k], _mean_force(x, k, step))
            after = k * RING + (step + 1) % RING  # room for the impulse of the next step
            ring[after, 0] = ring[after, 1] = ring[after, 2] = 0.0
        if e.is_over[k] == 0 and (all_over or step - e.began[k] + 1 >= x.window):
            e.is_over[k] = 1
            size = np.sqrt(e.impulse[k, 0] ** 2 + e.impulse[k, 1] ** 2 + e.impulse[k, 2] ** 2)
            if size > min(limit[e.first[k]], limit[e.second[k]]):
                _report(x, k)
        if e.is_over[k] != 0 and step - e.last_seen[k] >= x.window:
            e.first[k] = -1
    x.step[0] += 1


@kernel
def _report(x: ContactTable, k: int) -> None:
    """Copy row k to the reported ones, unless they are full."""
    e, to, n = at(x.open, Episodes), at(x.reported, Episodes), x.reported_count[0]
    if n >= SLOTS:
        return
    to.first[n], to.second[n], to.began[n], to.last_seen[n] = e.first[k], e.second[k], e.began[k], e.last_seen[k]
    to.is_over[n], to.largest[n], to.peak[n] = e.is_over[k], e.largest[k], e.peak[k]
    to.largest_first[n], to.largest_second[n] = e.largest_first[k], e.largest_second[k]
    to.impulse[n] = e.impulse[k]
    x.reported_count[0] += 1
