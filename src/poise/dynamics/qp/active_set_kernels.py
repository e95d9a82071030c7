"""The shortest vector within bounds on its products with rows, by a dual active-set method.

    least |z|   with   low_i <= a_i . z <= high_i        for rows a_i of length 1, or 0
                and    a_i . z = t_i                     for rows that are equations

Source: Goldfarb and Idnani (1983), with the identity as Hessian. z = sum of mu_i a_i over the members of the active
set; the multiplier mu_i is positive at a low bound and negative at a high one. From the shortest vector that the
members allow, the bound that is violated most is approached along v, the component of its row across the members' rows.
When a member's multiplier reaches 0 on the way, the member is dropped and v computed again. |z| grows with every bound
that is reached, so no active set comes twice and the search ends.

Rounding can break that: if a bound is violated by rounding alone and its row is nearly in the span of the members, its
multiplier is all rounding, and members that belong there are dropped when multipliers are computed again. A search that
arrives within all bounds a second time with a z that is not longer ends there.

A row in the span of the members, none of which can be dropped, is `INFEASIBLE`: no z meets it and them.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.qp.problem import QpWorkspace
from poise.dynamics.qp.row_kernels import add_to, append, dot, remove, solve_lower, solve_upper, split

_DEPENDENT = 1e-22  # |v|^2 of a row of length 1: less is rounding
_WRONG = 1e-13  # of the largest multiplier: less is rounding
_GROWTH = 1e-12  # relative growth of |z|^2: less is none
INFEASIBLE, IGNORED = 2, 3  # states of a row that cannot be met; that the search does not look at


@kernel
def add_row(work: QpWorkspace, row: int, side: int) -> bool:
    """Make a row a member, whatever its multiplier; return False if it is in the span of the members."""
    k = work.members
    square = split(work.Q, k, work.rows[row], work.d, work.v)
    if not square > _DEPENDENT or k >= work.width:
        return False
    append(work.Q, work.R, k, work.d, work.v, np.sqrt(square))
    work.row_of[k], work.side[k], work.state[row] = row, side, side
    work.members = k + 1
    return True


@kernel
def drop_row(work: QpWorkspace, j: int) -> None:
    """Remove member j from the active set."""
    k, row_of, side, multipliers = work.members, work.row_of, work.side, work.multipliers
    work.state[row_of[j]] = 0
    remove(work.Q, work.R, k, j)
    for i in range(j, k - 1):
        row_of[i], side[i], multipliers[i] = row_of[i + 1], side[i + 1], multipliers[i + 1]
    work.members = k - 1


@kernel
def solve_members(work: QpWorkspace) -> None:
    """Compute z and the multipliers of the members; drop bounds whose multiplier has the wrong sign."""
    _compute_multipliers(work)
    worst = _find_wrong(work)
    while worst >= 0:
        drop_row(work, worst)
        _compute_multipliers(work)
        worst = _find_wrong(work)
    _compute_z(work)


@kernel
def _compute_multipliers(work: QpWorkspace) -> None:
    """Compute the multipliers of the members, and y, the components of z along the rows of Q."""
    k, c, row_of, side, low, high = work.members, work.c, work.row_of, work.side, work.low, work.high
    for j in range(k):
        c[j] = high[row_of[j]] if side[j] < 0 else low[row_of[j]]
    solve_lower(work.R, k, c, work.y)
    solve_upper(work.R, work.fixed, k, work.y, work.multipliers)


@kernel
def _compute_z(work: QpWorkspace) -> None:
    """Compute z from its components y."""
    z, y, Q, width = work.z, work.y, work.Q, work.width
    z[:] = 0.0
    for j in range(work.members):
        add_to(z, y[j], Q[j], width)


@kernel
def _find_wrong(work: QpWorkspace) -> int:
    """Return the bound among the members whose multiplier has the wrong sign by most, or -1."""
    largest, worst, wrong = 0.0, -1, 0.0
    multipliers, side = work.multipliers, work.side
    for j in range(work.fixed, work.members):
        largest = max(largest, abs(multipliers[j]))
    for j in range(work.fixed, work.members):
        value = multipliers[j] * side[j]
        if value < -_WRONG * largest and value < wrong:
            worst, wrong = j, value
    return worst


@kernel
def find_violated(work: QpWorkspace) -> tuple[int, int]:
    """Return the bound that is violated most and its side, 1 low or -1 high; (-1, 0) if none is."""
    row, side, most, width = -1, 0, 0.0, work.unknowns
    rows, z, low, high, tolerance, state = work.rows, work.z, work.low, work.high, work.tolerance, work.state
    for i in range(work.bounds):
        if state[i] != 0:
            continue
        value = dot(rows[i], z, width)
        under, over = low[i] - value, value - high[i]
        if under > most and under > tolerance[i]:
            row, side, most = i, 1, under
        if over > most and over > tolerance[i]:
            row, side, most = i, -1, over
    return row, side


@kernel
def approach(work: QpWorkspace, row: int, side: int, limit: int) -> bool:
    """Move z to a violated bound, and drop members whose multipliers reach 0 on the way.

    Returns whether the bound was reached and is a member. limit: rounds after which the search is given up
    """
    d, r, v, z, multipliers, size = work.d, work.r, work.v, work.z, work.multipliers, work.width
    own, fixed = 0.0, work.fixed
    goal = work.low[row] if side > 0 else work.high[row]
    while work.rounds < limit:
        work.rounds += 1
        k = work.members
        square = split(work.Q, k, work.rows[row], d, v)
        is_in_span = not square > _DEPENDENT or k >= size
        solve_upper(work.R, fixed, k, d, r)
        step, first = np.inf, -1
        for j in range(fixed, k):
            rate = side * r[j] * work.side[j]
            if rate > 0.0:
                t = max(multipliers[j] * work.side[j], 0.0) / rate
                if t < step:
                    step, first = t, j
        if is_in_span and first < 0:
            work.state[row] = INFEASIBLE
            return False
        full = np.inf if is_in_span else max(side * (goal - dot(work.rows[row], z, size)), 0.0) / square
        t = min(step, full)
        if not is_in_span:
            add_to(z, side * t, v, size)
        add_to(multipliers[fixed:], -side * t, r[fixed:], k - fixed)
        own += side * t
        if full <= step:
            append(work.Q, work.R, k, d, v, np.sqrt(square))
            work.row_of[k], work.side[k], work.state[row], multipliers[k] = row, side, side, own
            work.members = k + 1
            return True
        drop_row(work, first)
    return False


@kernel
def find_shortest(work: QpWorkspace) -> bool:
    """Find the shortest z within all bounds, starting from the present members.

    Returns whether all bounds that are feasible are met. A search takes about two rounds for each bound that becomes
    active; it is given up after ten times as many.
    """
    solve_members(work)
    limit, is_fresh, longest = work.rounds + 20 * work.width + 100, True, -1.0
    while work.rounds < limit:
        row, side = find_violated(work)
        if row >= 0:
            is_fresh = False
            if approach(work, row, side, limit):
                continue
        elif is_fresh:
            return True
        else:
            length = dot(work.z, work.z, work.width)
            if not length > (1.0 + _GROWTH) * longest:
                _compute_multipliers(work)
                _compute_z(work)
                return True
            longest = length
        solve_members(work)  # again, without the rounding that has accumulated
        is_fresh = True
    return False
