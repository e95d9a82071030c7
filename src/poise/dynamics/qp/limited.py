"""Accelerations within torque ranges, nearest to target accelerations, with goals of strict priority.

    found = limit_accelerations(H, b, low, high, target, goals=[(J_foot, 0), (J_center, a), (J_hand, a_hand)])
    found.acceleration, found.torque, found.at_bound

`dynamics/qp/priority_kernels.py` defines the problem and solves it; compiled code calls that directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.dynamics.qp.problem import CLIPPED, OUT, QpSolution, make_problem, make_solution, make_workspace
from poise.errors import InputError

DAMPING = 0.005  # m/rad, for a body of about 1.7 m. 0.001 to 0.03 works: docs/limited-sweep.md
MOST = 2000  # degrees of freedom and rows of goals together


@dataclass(frozen=True, eq=False)
class LimitedAccelerations:
    """Solution of `limit_accelerations`.

    acceleration  (n,) rad/s2
    torque        (n,) N m, of that acceleration
    at_bound      (n,) int8: -1 where a torque is at its low bound, 1 at its high one, 0 between
    residuals     of each level (m_k,): A_k x - y_k
    rounds        of the active set
    is_clipped    whether the search was given up and torques were clipped to their ranges
    is_within     whether torques are in range, to 1e-9 of it; False only if H is singular
    """

    acceleration: np.ndarray
    torque: np.ndarray
    at_bound: np.ndarray
    residuals: tuple[np.ndarray, ...]
    rounds: int
    is_clipped: bool
    is_within: bool


def limit_accelerations(
    H: np.ndarray,
    b: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    target: np.ndarray,
    goals: Sequence[tuple[np.ndarray, np.ndarray | float]] = (),
    weights: np.ndarray | None = None,
    damping: float = DAMPING,
) -> LimitedAccelerations:
    """Return the accelerations x nearest to `target` with low <= H x + b <= high.   [strength, eq 6 to 18]

    H        (n, n) kg m2, regular, symmetric or not;  b (n,) N m
    low      (n,) N m, at most high
    target   (n,) rad/s2
    goals    levels, the first one first: (A (m_k, n), y (m_k,) or a number): A x should be y
    weights  (n,) positive: of a change of each acceleration; None: all equal
    damping  l of the goals, in the unit of their rows. Smaller: x meets them nearer to singular poses, and jumps there.
             Larger: x is smooth, and misses (1 + s^2 / l^2)^-3 of them in directions with singular value s
    """
    from poise.dynamics.qp.priority_kernels import solve_prioritized

    b = _read(b, "b", (-1,))
    n = len(b)
    H = _read(H, "H", (n, n))
    low, high, target = (_read(value, name, (n,)) for value, name in ((low, "low"), (high, "high"), (target, "target")))
    weights = np.ones(n) if weights is None else _read(weights, "weights", (n,))
    if np.any(low > high):
        i = int(np.argmax(low > high))
        raise InputError(f"low must be at most high; got {low[i]:g} and {high[i]:g} N m for degree of freedom {i}.")
    if np.any(weights <= 0.0):
        raise InputError(f"weights must be positive; got {weights.min():g}.")
    if not 0.0 < damping < np.inf:
        raise InputError(f"damping must be positive, in the unit of the goals' rows; got {damping}.")
    rows = [_read(A, "the matrix of a goal", (-1, n)) for A, _ in goals]
    values = [
        np.full(len(A), float(y)) if np.ndim(y) == 0 else _read(y, "the values of a goal", (len(A),))
        for A, (_, y) in zip(rows, goals, strict=True)
    ]
    sizes = [len(A) for A in rows]
    m = sum(sizes)
    if n + m > MOST:
        raise InputError(f"degrees of freedom and rows of goals must be at most {MOST} together; got {n} and {m}.")
    A = np.concatenate([np.zeros((0, n)), *rows])
    y = np.concatenate([np.zeros(0), *values])
    level = np.repeat(np.arange(len(rows)), sizes)
    solution, work = make_solution(n, n, m), make_workspace(n, n, m)
    solve_prioritized(make_problem((H, b, low, high), target, weights, (A, y, level), damping), work, solution)
    return read_solution(solution, sizes)


def read_solution(solution: QpSolution, sizes: Sequence[int]) -> LimitedAccelerations:
    """Return a solution with the residuals of each level, which has so many rows."""
    residuals = tuple(np.split(solution.residual, np.cumsum(sizes)[:-1])) if sizes else ()
    return LimitedAccelerations(
        solution.x, solution.torque, solution.at_bound.astype(np.int8), residuals, solution.rounds,
        solution.status == CLIPPED, solution.status != OUT,
    )  # fmt: skip


def _read(value: object, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of finite numbers; raise InputError if it has another shape. -1: any length."""
    try:
        found = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers.") from None
    if found.ndim != len(shape) or any(want not in (-1, have) for want, have in zip(shape, found.shape, strict=True)):
        stated = ", ".join("any" if want < 0 else str(want) for want in shape)
        raise InputError(f"{name} must have the shape ({stated}); got {found.shape}.")
    if not np.all(np.isfinite(found)):
        raise InputError(f"{name} must be finite; {int(np.sum(~np.isfinite(found)))} of its numbers are not.")
    return found
