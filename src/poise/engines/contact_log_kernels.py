"""Contacts followed from step to step, compiled: which are new, and with what impulse they began.

An episode is a row of a table: two things, the steps in which it began and was last seen, the impulse so far on the
second thing, and whether it is over: told, or too long ago to be new. All segments of a body that touch one movable
prop share an episode, with the vector sum of their impulses, which is the prop's change of momentum: a ball between two
legs is one hit. It names the segment of the largest contact force.

The peak force is the largest mean over a sliding window of `PEAK` seconds, from the impulses of single steps: the force
of one step depends on its length, as stiff contacts last for a step or two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields
from poise.compiled.views import floats, integers, vectors
from poise.engines.contact_log import PRESSED

SLOTS, COLUMNS = 64, 12  # pairs that are followed at once, and what is known of one
FIRST, SECOND, BEGAN, SEEN, X, OVER, LARGEST, ME, OTHER, TOP = 0, 1, 2, 3, 4, 7, 8, 9, 10, 11
RING = 128  # steps whose impulses are kept for the peak force
PEAK = 0.02  # s
# What a thing is: a segment, one that may stand on the ground, a prop that moves, what does not move.
SEGMENT, FOOT, MOVABLE, FIXED = range(4)
# table (SLOTS, COLUMNS), told alike, counts (2,): steps so far and rows of `told` that are used
# ring (SLOTS RING, 3) N s, of the last steps of each pair
# rows   (T,) addresses of rows of `Body.pressed` that contacts add to, 0 for none;  points (T,) of the joints' places
# masses (T,) kg: of a segment its whole body's
# kind (T,), limit (T,) N s, group (T,) of each thing: the number of its body's first segment, or its own;  up (3,)
HITS = fields(
    arrays="table told ring counts kind limit group up rows points masses",
    integers="things presses",
    floats="dt window",
)  # window: steps in which the impulse of a hit adds up, and for which two part before they hit each other again


@kernel
def note_contact(
    x: Any, first: int, second: int, px: float, py: float, pz: float, fx: float, fy: float, fz: float
) -> None:
    """A force (N) at a point (m) on the second of two things in this step."""
    if x.presses == 1:
        _press(x, first, second, px, py, pz, -fx, -fy, -fz)
        _press(x, second, first, px, py, pz, fx, fy, fz)
    kind, up = integers(x.kind, x.things), floats(x.up, 3)
    if first < 0 or second < 0 or (kind[first] > FOOT and kind[second] > FOOT):
        return
    size = np.sqrt(fx * fx + fy * fy + fz * fz)
    if size == 0.0:
        return
    share = (fx * up[0] + fy * up[1] + fz * up[2]) / size
    if (kind[first] == FIXED and kind[second] == FOOT and share > 0.7) or (
        kind[second] == FIXED and kind[first] == FOOT and share < -0.7
    ):
        return  # it stands
    sign = 1.0
    if first > second:
        first, second, sign = second, first, -1.0
    me, it, group = first, second, integers(x.group, x.things)
    if kind[first] == MOVABLE or kind[second] == MOVABLE:
        first, second = group[first], group[second]
    table, step = vectors(x.table, SLOTS, COLUMNS), integers(x.counts, 2)[0]
    empty, row = -1, -1
    for k in range(SLOTS):
        if table[k, FIRST] < 0.0:
            empty = k if empty < 0 else empty
        elif table[k, FIRST] == first and table[k, SECOND] == second:
            row = k
            break
    if row < 0:
        if empty < 0:
            return
        row = empty
        table[row, :] = 0.0
        table[row, FIRST], table[row, SECOND], table[row, BEGAN] = first, second, step
        table[row, OVER] = 1.0 if step == 0 else 0.0  # what touched from the start is nothing new
        ring = vectors(x.ring, SLOTS * RING, 3)
        for k in range(row * RING, (row + 1) * RING):
            ring[k, 0] = ring[k, 1] = ring[k, 2] = 0.0
    table[row, SEEN] = step
    if size > table[row, LARGEST]:
        table[row, LARGEST], table[row, ME], table[row, OTHER] = size, me, it
    if table[row, OVER] == 0.0:
        last = vectors(x.ring, SLOTS * RING, 3)[row * RING + step % RING]
        for k, force in enumerate((fx, fy, fz)):
            table[row, X + k] += sign * force * x.dt
            last[k] += sign * force * x.dt


@kernel
def _press(x: Any, me: int, other: int, px: float, py: float, pz: float, fx: float, fy: float, fz: float) -> None:
    """Add a contact's wrench to what presses on a segment, if anything asks for it; not of its own body's contacts.

    The mass behind the force is at most what both sides weigh together in a blow: m M / (m + M).
    """
    group, to = integers(x.group, x.things), integers(x.rows, x.things)
    if me < 0 or other < 0 or to[me] == 0 or group[me] == group[other]:
        return
    row, at, masses = floats(to[me], PRESSED), floats(integers(x.points, x.things)[me], 3), floats(x.masses, x.things)
    rx, ry, rz = px - at[0], py - at[1], pz - at[2]
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
def _mean_force(x: Any, row: int, step: int) -> float:
    """Return the mean force (N) of a pair over the last `PEAK` seconds; over the last step, if that is longer."""
    ring = vectors(x.ring, SLOTS * RING, 3)
    steps = min(max(PEAK / x.dt, 1.0), RING - 1.0)
    fx, fy, fz = 0.0, 0.0, 0.0
    for k in range(int(np.ceil(steps))):
        part, at = min(1.0, steps - k), row * RING + (step - k) % RING
        fx, fy, fz = fx + part * ring[at, 0], fy + part * ring[at, 1], fz + part * ring[at, 2]
    return np.sqrt(fx * fx + fy * fy + fz * fz) / (steps * x.dt)


@kernel
def _clear_next(x: Any, row: int, step: int) -> None:
    """Make room for the impulse of the next step."""
    ring, at = vectors(x.ring, SLOTS * RING, 3), row * RING + (step + 1) % RING
    ring[at, 0] = ring[at, 1] = ring[at, 2] = 0.0


@kernel
def end_step(x: Any, all_over: bool) -> None:
    """Report the hits whose window ends with this step; all_over: the others too."""
    table, told = vectors(x.table, SLOTS, COLUMNS), vectors(x.told, SLOTS, COLUMNS)
    counts, limit = integers(x.counts, 2), floats(x.limit, x.things)
    step = counts[0]
    for k in range(SLOTS):
        if table[k, FIRST] < 0.0:
            continue
        if table[k, OVER] == 0.0:
            table[k, TOP] = max(table[k, TOP], _mean_force(x, k, step))
            _clear_next(x, k, step)
        if table[k, OVER] == 0.0 and (all_over or step - table[k, BEGAN] + 1 >= x.window):
            table[k, OVER] = 1.0
            size = np.sqrt(table[k, X] ** 2 + table[k, X + 1] ** 2 + table[k, X + 2] ** 2)
            least = min(limit[int(table[k, FIRST])], limit[int(table[k, SECOND])])
            if size > least and counts[1] < SLOTS:
                told[counts[1], :] = table[k, :]
                counts[1] += 1
        if table[k, OVER] != 0.0 and step - table[k, SEEN] >= x.window:
            table[k, FIRST] = -1.0
    counts[0] += 1
