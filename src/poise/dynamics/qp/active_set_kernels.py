"""The shortest vector within bounds on its products with rows, by an active set that rows join and leave.

    least |z|   with   low_i <= a_i . z <= high_i        for b rows a_i of length 1 or nothing
                and    a_i . z = t_i                     for rows that always count

The dual method of Goldfarb and Idnani (1983) where the Hessian is the identity. z = sum of mu_i a_i over the members
of the active set; mu_i is positive at a low bound and negative at a high one. From the shortest vector that the members
so far allow, the bound that is missed by most is approached along v, what of its row is across the members' rows. On
the way a member's multiplier may come to nothing: it leaves, and the way is found anew. The length of z grows with
every bound that is reached, so that no set of members comes twice, and it ends.

Rounding can break that: when a bound is missed by rounding alone and its row is nearly in the span of the members, its
multiplier is all rounding, and members that belong there are dropped when multipliers are computed anew. A search that
arrives within all bounds again, with a z that is no longer than the last time, ends there.

A row that lies in the span of the members while none of them can leave is *set aside*: no z meets it and them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.qp.row_kernels import add_to, append, dot, remove, solve_lower, solve_upper, split

# |v|^2 of a row of length 1: what is left of it across the others below this is rounding.
_DEPENDENT = 1e-22
# Of the largest multiplier: rounding.
_WRONG = 1e-13
# |z|^2 that grows by a smaller share than this does not grow.
_GROWTH = 1e-12
ASIDE, IGNORED = 2, 3
# Numbers in `counts`. They are there and not in arguments: Numba compiles a kernel once for each constant it is given.
MEMBERS, FIXED, ROUNDS, KEPT = range(4)


class Room(NamedTuple):
    """Arrays to work in, N = n + m wide: n unknowns and m rows of goals, each of which has a slack of its own.

    rows          (b + m, N) of length 1: b of the bounds, m of the goals
    low, high     (b + m,) bounds of their products with z; of goals, both are what is wanted
    slip          (b + m,) by how much a bound may be missed: rounding
    Q, R          the members' rows, see `dynamics/qp/row_kernels.py`
    z             (N,), the answer
    mu            (N,) multipliers of the members, in their order; those that always count have none
    members       (N,) row of each member;  side (N,): 1 at its low bound, -1 at its high one, 0 of an equation
    state         (b + m,) of each row: its side where it is a member, 0, `ASIDE`, or `IGNORED`: none that counts
    counts        (4,) members, those of them that always count (they come first), rounds so far, goals that are kept
    d, r, v, y, c (N,)
    center        (n,) where z is nothing;  roots (n,) 1 / sqrt(weight);  sizes (b + m,) what rows were divided by
    kept          (m,) values that goals which are fixed keep;  value (b,) of the bounds;  moved (n,)
    gram, turned  (m, m)
    """

    rows: np.ndarray
    low: np.ndarray
    high: np.ndarray
    slip: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    z: np.ndarray
    mu: np.ndarray
    members: np.ndarray
    side: np.ndarray
    state: np.ndarray
    counts: np.ndarray
    d: np.ndarray
    r: np.ndarray
    v: np.ndarray
    y: np.ndarray
    c: np.ndarray
    center: np.ndarray
    roots: np.ndarray
    sizes: np.ndarray
    kept: np.ndarray
    value: np.ndarray
    moved: np.ndarray
    gram: np.ndarray
    turned: np.ndarray


@kernel
def join(room: Room, row: int, side: int) -> bool:
    """Let a row be a member, whatever its multiplier; False where it is in the span of those that are."""
    k = room.counts[MEMBERS]
    square = split(room.Q, k, room.rows[row], room.d, room.v)
    if not square > _DEPENDENT or k >= len(room.v):
        return False
    append(room.Q, room.R, k, room.d, room.v, np.sqrt(square))
    room.members[k], room.side[k], room.state[row] = row, side, side
    room.counts[MEMBERS] = k + 1
    return True


@kernel
def leave(room: Room, j: int) -> None:
    """Let member j go."""
    k = room.counts[MEMBERS]
    room.state[room.members[j]] = 0
    remove(room.Q, room.R, k, j)
    for i in range(j, k - 1):
        room.members[i], room.side[i], room.mu[i] = room.members[i + 1], room.side[i + 1], room.mu[i + 1]
    room.counts[MEMBERS] = k - 1


@kernel
def bound_of(room: Room, j: int) -> float:
    """What member j's product with z is to be."""
    row = room.members[j]
    return room.high[row] if room.side[j] < 0 else room.low[row]


@kernel
def settle(room: Room) -> None:
    """Compute z and mu of the members; bounds whose multiplier has the wrong sign leave."""
    _find_multipliers(room)
    worst = _find_wrong(room)
    while worst >= 0:
        leave(room, worst)
        _find_multipliers(room)
        worst = _find_wrong(room)
    _set_z(room)


@kernel
def _find_multipliers(room: Room) -> None:
    """Compute mu of the members, and y, the components of z along the rows of Q."""
    k = room.counts[MEMBERS]
    for j in range(k):
        room.c[j] = bound_of(room, j)
    solve_lower(room.R, k, room.c, room.y)
    solve_upper(room.R, room.counts[FIXED], k, room.y, room.mu)


@kernel
def _set_z(room: Room) -> None:
    """Compute z from its components y."""
    room.z[:] = 0.0
    for j in range(room.counts[MEMBERS]):
        add_to(room.z, room.y[j], room.Q[j], len(room.z))


@kernel
def _find_wrong(room: Room) -> int:
    """The bound among the members whose multiplier has the wrong sign by most; -1 where none has."""
    largest, worst, wrong = 0.0, -1, 0.0
    for j in range(room.counts[FIXED], room.counts[MEMBERS]):
        largest = max(largest, abs(room.mu[j]))
    for j in range(room.counts[FIXED], room.counts[MEMBERS]):
        value = room.mu[j] * room.side[j]
        if value < -_WRONG * largest and value < wrong:
            worst, wrong = j, value
    return worst


@kernel
def find_worst(room: Room) -> tuple[int, int]:
    """The bound that is missed by most, and which: 1 the low, -1 the high; (-1, 0) where all are kept."""
    row, side, most, width = -1, 0, 0.0, len(room.center)
    for i in range(len(room.value)):
        if room.state[i] != 0:
            continue
        value = dot(room.rows[i], room.z, width)
        under, over = room.low[i] - value, value - room.high[i]
        if under > most and under > room.slip[i]:
            row, side, most = i, 1, under
        if over > most and over > room.slip[i]:
            row, side, most = i, -1, over
    return row, side


@kernel
def approach(room: Room, row: int, side: int, limit: int) -> bool:
    """Go to a bound that is missed, letting members go whose multipliers come to nothing on the way.

    Returns whether it was reached, and z and mu are those of the members.
    """
    d, r, v, z, mu, size = room.d, room.r, room.v, room.z, room.mu, len(room.z)
    own, fixed = 0.0, room.counts[FIXED]
    goal = room.low[row] if side > 0 else room.high[row]
    while room.counts[ROUNDS] < limit:
        room.counts[ROUNDS] += 1
        k = room.counts[MEMBERS]
        square = split(room.Q, k, room.rows[row], d, v)
        is_in_span = not square > _DEPENDENT or k >= size
        solve_upper(room.R, fixed, k, d, r)
        step, first = np.inf, -1
        for j in range(fixed, k):
            rate = side * r[j] * room.side[j]
            if rate > 0.0:
                t = max(mu[j] * room.side[j], 0.0) / rate
                if t < step:
                    step, first = t, j
        if is_in_span and first < 0:
            room.state[row] = ASIDE
            return False
        whole = np.inf if is_in_span else max(side * (goal - dot(room.rows[row], z, size)), 0.0) / square
        t = min(step, whole)
        if not is_in_span:
            add_to(z, side * t, v, size)
        add_to(mu[fixed:], -side * t, r[fixed:], k - fixed)
        own += side * t
        if whole <= step:
            append(room.Q, room.R, k, d, v, np.sqrt(square))
            room.members[k], room.side[k], room.state[row], mu[k] = row, side, side, own
            room.counts[MEMBERS] = k + 1
            return True
        leave(room, first)
    return False


@kernel
def find_nearest(room: Room, more: int) -> bool:
    """The shortest z within all bounds, from the members that there are, in so many more rounds at most.

    Returns whether all bounds but those set aside are kept.
    """
    settle(room)
    limit, is_fresh, longest = room.counts[ROUNDS] + more, True, -1.0
    while room.counts[ROUNDS] < limit:
        row, side = find_worst(room)
        if row >= 0:
            is_fresh = False
            if approach(room, row, side, limit):
                continue
        elif is_fresh:
            return True
        else:
            length = dot(room.z, room.z, len(room.z))
            if not length > (1.0 + _GROWTH) * longest:
                _find_multipliers(room)
                _set_z(room)
                return True
            longest = length
        settle(room)  # once more, without what rounding has summed up
        is_fresh = True
    return False
