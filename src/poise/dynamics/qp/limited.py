"""Accelerations that muscles can give, nearest to those that are wanted, with goals before them.

    found = limit_accelerations(H, b, low, high, wanted, goals=[(J_foot, 0), (J_center, a), (J_hand, a_hand)])
    found.acceleration, found.torque, found.at_bound

What is solved and how is said in `priority_kernels`, which laws call without Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.errors import InputError

DAMPING = 0.005  # m/rad, for a body of some 1.7 m. 0.001 to 0.03 works: see docs/limited-sweep.md
MOST = 2000  # freedoms and rows of goals together


@dataclass(frozen=True, eq=False)
class LimitedAccelerations:
    """What was found, and what could not be reached.

    acceleration  (n,) rad/s2
    torque        (n,) N m, of that acceleration
    at_bound      (n,) int8: -1 where a torque is at its low bound, 1 at its high one, 0 between
    residuals     of each level (m_k,): A_k x - y_k
    rounds        of the active set
    is_clipped    whether the search was given up and torques were cut to their ranges instead
    is_within     whether torques are in range, to a billionth of it; False only where H is singular
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
    wanted: np.ndarray,
    goals: Sequence[tuple[np.ndarray, np.ndarray | float]] = (),
    weights: np.ndarray | None = None,
    damping: float = DAMPING,
) -> LimitedAccelerations:
    """Accelerations x near `wanted` with low <= H x + b <= high.   [strength, eq 6 to 18]

    H        (n, n) kg m2, regular, symmetric or not;  b (n,) N m
    low      (n,) N m, below high
    wanted   (n,) rad/s2
    goals    levels, first things first: (A (m_k, n), y (m_k,) or a number): A x should be y
    weights  (n,) positive: how dear a change of each acceleration is; None: all alike
    damping  l of the goals, in the unit of their rows. Smaller: goals are met nearer to where they cannot be, and x
             jumps there. Larger: smooth, and they are missed by (1 + s^2 / l^2)^-3 where singular values are s
    """
    from poise.dynamics.qp import priority_kernels as kernels

    b = _read(b, "b", (-1,))
    n = len(b)
    H = _read(H, "H", (n, n))
    low, high, wanted = (_read(value, name, (n,)) for value, name in ((low, "low"), (high, "high"), (wanted, "wanted")))
    weights = np.ones(n) if weights is None else _read(weights, "weights", (n,))
    if np.any(low > high):
        i = int(np.argmax(low > high))
        raise InputError(f"low must be at most high; given {low[i]:g} and {high[i]:g} N m for freedom {i}.")
    if np.any(weights <= 0.0):
        raise InputError(f"weights must be positive; given {weights.min():g}.")
    if not 0.0 < damping < np.inf:
        raise InputError(f"damping must be positive, in the unit of the goals' rows; given {damping}.")
    rows = [_read(A, "the matrix of a goal", (-1, n)) for A, _ in goals]
    values = [
        np.full(len(A), float(y)) if np.ndim(y) == 0 else _read(y, "what a goal wants", (len(A),))
        for A, (_, y) in zip(rows, goals, strict=True)
    ]
    sizes = [len(A) for A in rows]
    m = sum(sizes)
    if n + m > MOST:
        raise InputError(f"at most {MOST} freedoms and rows of goals can be had together; given {n} and {m}.")
    A = np.concatenate([np.zeros((0, n)), *rows])
    y = np.concatenate([np.zeros(0), *values])
    level = np.repeat(np.arange(len(rows)), sizes)
    x, torque, at, residual = np.zeros(n), np.zeros(n), np.zeros(n, np.int8), np.zeros(m)
    floats = np.zeros(kernels.count_floats(n, n, m))
    integers = np.zeros(kernels.count_integers(n, n, m), np.int64)
    rounds, status = kernels.limit(
        H, b, low, high, wanted, weights, A, y, level, damping, floats, integers, x, torque, at, residual
    )
    parts = tuple(np.split(residual, np.cumsum(sizes)[:-1])) if sizes else ()
    return LimitedAccelerations(x, torque, at, parts, rounds, status == kernels.CLIPPED, status != kernels.OUT)


def _read(value: object, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array of finite numbers of a shape; -1: any length."""
    try:
        found = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers.") from None
    if found.ndim != len(shape) or any(want not in (-1, have) for want, have in zip(shape, found.shape, strict=True)):
        told = ", ".join("any" if want < 0 else str(want) for want in shape)
        raise InputError(f"{name} has the shape {found.shape}; ({told}) is needed.")
    if not np.all(np.isfinite(found)):
        raise InputError(f"{name} must be finite; {int(np.sum(~np.isfinite(found)))} of its numbers are not.")
    return found
