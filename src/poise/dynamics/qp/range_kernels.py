"""Torque ranges as bounds of `active_set_kernels.py`, and back.

    t = H x + b,   low <= t <= high
    z = (x - center) / scales               scales 1 / sqrt(weight), with weights of mean 1
    rows_i = H_i scales / lengths_i         of length 1

The answer is checked against the ranges as they were given; torques that are out of range are clipped.
"""

from __future__ import annotations

import math

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.qp.problem import CLIPPED, OK, OUT, QpProblem, QpSolution, QpWorkspace
from poise.dynamics.qp.row_kernels import add_to, dot, factor_square, solve_lower, solve_square

_ENOUGH = 1e-10  # of a range, by which the search may miss a bound: a tenth of what is promised
_PROMISED = 1e-9  # of a range, by which an answer may be outside
_ROUNDING = 2.3e-16  # relative, of a float64


@kernel
def begin(work: QpWorkspace, problem: QpProblem) -> None:
    """Write the scales of the unknowns and the bounds' rows; empty the active set."""
    n, width, weights, H, scales = problem.unknowns, work.width, problem.weights, problem.H, work.scales
    mean = 0.0
    for i in range(n):
        mean += weights[i] / n
    for i in range(n):
        scales[i] = math.sqrt(mean / weights[i])
    for i in range(problem.bounds):
        row = work.rows[i]
        for j in range(n):
            row[j] = H[i, j] * scales[j]
        for j in range(n, width):
            row[j] = 0.0
        length = math.sqrt(dot(row, row, n))
        work.lengths[i] = length if length > 0.0 else 1.0
        for j in range(n):
            row[j] /= work.lengths[i]
    work.state[:] = 0
    work.z[:] = 0.0
    work.members = work.fixed = work.rounds = work.kept_goals = 0


@kernel
def set_center(work: QpWorkspace, problem: QpProblem, center: np.ndarray) -> None:
    """Measure z from a centre (n,): write the bounds on the change of each torque, divided by its row's length."""
    H, b, low, high, lengths = problem.H, problem.b, problem.low, problem.high, work.lengths
    n = problem.unknowns
    largest = 0.0
    for i in range(n):
        work.center[i] = center[i]
        largest += (center[i] / work.scales[i]) ** 2
    largest = math.sqrt(largest)
    for i in range(problem.bounds):
        value = dot(H[i], work.center, n) + b[i]
        work.low[i], work.high[i] = (low[i] - value) / lengths[i], (high[i] - value) / lengths[i]
        near = min(abs(work.low[i]), abs(work.high[i]))
        span = _find_span(low[i], high[i], lengths[i])
        work.tolerance[i] = _ENOUGH * span + 4.0 * _ROUNDING * (abs(b[i]) / lengths[i] + largest + near + span)


@kernel
def _find_span(low: float, high: float, length: float) -> float:
    """Return the width of a range over its row's length; 0 if a bound is infinite."""
    span = (high - low) / length
    return span if span < np.inf else 0.0


@kernel
def set_x(work: QpWorkspace, x: np.ndarray) -> None:
    """Write x (n,) of z."""
    center, scales, z = work.center, work.scales, work.z
    for i in range(work.unknowns):
        x[i] = center[i] + scales[i] * z[i]


@kernel
def move_center(work: QpWorkspace, goals: int) -> None:
    """Measure z of all bounds and the first goals from its present value."""
    n = work.unknowns
    for i in range(work.bounds + goals):
        value = dot(work.rows[i], work.z, n)
        work.low[i] -= value
        work.high[i] -= value
    set_x(work, work.center)


@kernel
def polish(work: QpWorkspace, problem: QpProblem, x: np.ndarray) -> None:
    """Remove rounding from x (n,): torques of active bounds are then exactly at them."""
    n, k = problem.unknowns, work.members
    H, b, low, high = problem.H, problem.b, problem.low, problem.high
    for _ in range(2):
        for j in range(k):
            i = work.row_of[j]
            work.c[j] = 0.0
            if i < problem.bounds:
                value = dot(H[i], x, n) + b[i]
                work.c[j] = ((high[i] if work.side[j] < 0 else low[i]) - value) / work.lengths[i]
        solve_lower(work.R, k, work.c, work.y)
        v = work.v
        v[:] = 0.0
        for j in range(k):
            add_to(v, work.y[j], work.Q[j], n)
        for i in range(n):
            x[i] += work.scales[i] * v[i]


@kernel
def clip_torques(work: QpWorkspace, problem: QpProblem, x: np.ndarray) -> int:
    """Return OK if torques are in range; else clip them, x = H^-1 (clip(t) - b), and return CLIPPED, or OUT if they

    are still out of range. With fewer unknowns than bounds, or more, nothing can be clipped.
    """
    if is_within(problem, x):
        return OK
    n, H, b, low, high = problem.bounds, problem.H, problem.b, problem.low, problem.high
    if n != problem.unknowns:
        return OUT
    square, order = work.square, work.order
    for i in range(n):
        for j in range(n):
            square[i, j] = H[i, j]
    if factor_square(square, n, order):
        clipped, right, change = work.value, work.c, work.moved
        for i in range(n):
            t = dot(H[i], x, n) + b[i]
            clipped[i] = min(max(t, low[i]), high[i]) if abs(t) < np.inf else 0.5 * (low[i] + high[i])
            right[i] = clipped[i] - b[i]
        solve_square(square, n, order, right, x)
        for _ in range(3):
            if is_within(problem, x):
                return CLIPPED
            for i in range(n):
                right[i] = clipped[i] - b[i] - dot(H[i], x, n)
            solve_square(square, n, order, right, change)
            add_to(x, 1.0, change, n)
        if is_within(problem, x):
            return CLIPPED
    return OUT


@kernel
def is_within(problem: QpProblem, x: np.ndarray) -> bool:
    """Return whether torques are in range, except for 1e-9 of the range and the rounding of sums of this size."""
    H, b, low, high = problem.H, problem.b, problem.low, problem.high
    n, largest = problem.unknowns, 0.0
    for j in range(n):
        largest = max(largest, abs(x[j]))
    for i in range(problem.bounds):
        t, size = b[i] + dot(H[i], x, n), abs(b[i])
        for j in range(n):
            size += abs(H[i, j]) * largest
        slip = _PROMISED * _find_span(low[i], high[i], 1.0) + 8.0 * _ROUNDING * size
        if not low[i] - slip <= t <= high[i] + slip:
            return False
    return True


@kernel
def write_torques(problem: QpProblem, solution: QpSolution) -> None:
    """Write the torques of the solution's x, and at which bound they are."""
    H, b, low, high, x, torque = problem.H, problem.b, problem.low, problem.high, solution.x, solution.torque
    for i in range(problem.bounds):
        torque[i] = dot(H[i], x, problem.unknowns) + b[i]
        slip = 1e-8 * _find_span(low[i], high[i], 1.0) + 8.0 * _ROUNDING * abs(b[i])
        is_low, is_high = torque[i] <= low[i] + slip, torque[i] >= high[i] - slip
        solution.at_bound[i] = 0
        if is_low and (not is_high or torque[i] - low[i] <= high[i] - torque[i]):
            solution.at_bound[i] = -1
        elif is_high:
            solution.at_bound[i] = 1
