"""Data of the bounded least-squares problems of this folder, shared by Python and compiled code.

    t = H x + b,   low <= t <= high     torques (N m) and their ranges; there may be more or fewer of them than unknowns
    A x = y                             goals, row by row, each of a level of priority
    |x|^2 = sum of weights_i x_i^2 / mean(weights)

A `QpProblem` is what is solved, a `QpSolution` the answer, and a `QpWorkspace` the memory that the solver works in.
Workspaces can be used again for problems of the same sizes.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.layout import Floats, Ints, Layout

OK, CLIPPED, OUT = range(3)  # states of a solution


class QpProblem(Layout):
    """Find x near `target` with H x + b in range and A x near y. `priority_kernels.py` defines near."""

    unknowns: int
    bounds: int
    goals: int  # rows of A
    damping: float  # l of the goals, in the unit of their rows; positive
    H: Annotated[Floats, "bounds", "unknowns"]  # kg m2, not always symmetric
    b: Annotated[Floats, "bounds"]  # N m
    low: Annotated[Floats, "bounds"]  # N m; infinite: no such bound
    high: Annotated[Floats, "bounds"]
    target: Annotated[Floats, "unknowns"]  # rad/s2
    weights: Annotated[Floats, "unknowns"]  # positive
    A: Annotated[Floats, "goals", "unknowns"]
    y: Annotated[Floats, "goals"]
    level: Annotated[Ints, "goals"]  # in ascending order; rows with the same number are one level


class QpSolution(Layout):
    """Answer to a `QpProblem`."""

    unknowns: int
    bounds: int
    goals: int
    status: int  # OK; CLIPPED: the search was given up and torques were cut to their ranges; OUT: out of range
    rounds: int  # of the active set
    x: Annotated[Floats, "unknowns"]  # rad/s2
    torque: Annotated[Floats, "bounds"]  # N m, H x + b
    at_bound: Annotated[Ints, "bounds"]  # -1 at its low bound, 1 at its high one, 0 between
    residual: Annotated[Floats, "goals"]  # A x - y


class QpWorkspace(Layout):
    """Memory of the solver: rows are the bounds, then the goals; a column is an unknown, or the slack of a goal."""

    unknowns: int
    bounds: int
    goals: int
    count: int  # of rows: bounds and goals
    width: int  # of a row: unknowns and goals
    members: int  # rows in the active set
    fixed: int  # members that are equations; they come first
    rounds: int  # so far
    kept_goals: int  # goals of levels that are done
    rows: Annotated[Floats, "count", "width"]  # of length 1
    low: Annotated[Floats, "count"]  # bounds of the rows' products with z; both the same for a goal
    high: Annotated[Floats, "count"]
    tolerance: Annotated[Floats, "count"]  # by which a bound may be missed: rounding
    lengths: Annotated[Floats, "count"]  # by which rows were divided
    state: Annotated[Ints, "count"]  # side of a member; 0, INFEASIBLE or IGNORED of other rows
    Q: Annotated[Floats, "width", "width"]  # factors of the members' rows, see `row_kernels.py`
    R: Annotated[Floats, "width", "width"]
    z: Annotated[Floats, "width"]  # the answer, measured from `center` in units of `scales`
    multipliers: Annotated[Floats, "width"]  # of the members, in their order; equations have none
    row_of: Annotated[Ints, "width"]  # row of each member
    side: Annotated[Ints, "width"]  # of each member: 1 at its low bound, -1 at its high one, 0 an equation
    d: Annotated[Floats, "width"]  # Q^T a of the row a that is added
    r: Annotated[Floats, "width"]  # R^-1 d
    v: Annotated[Floats, "width"]  # a across the members' rows
    y: Annotated[Floats, "width"]  # components of z along the rows of Q
    c: Annotated[Floats, "width"]  # right-hand side
    center: Annotated[Floats, "unknowns"]  # where z is 0
    scales: Annotated[Floats, "unknowns"]  # 1 / sqrt(weight), of mean weight 1
    moved: Annotated[Floats, "unknowns"]
    value: Annotated[Floats, "bounds"]
    kept: Annotated[Floats, "goals"]  # values that goals of levels that are done keep
    gram: Annotated[Floats, "goals", "goals"]
    axes: Annotated[Floats, "goals", "goals"]
    square: Annotated[Floats, "bounds", "bounds"]  # LU factors of H
    order: Annotated[Ints, "bounds"]  # of their rows


def make_problem(
    bounds: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    target: np.ndarray,
    weights: np.ndarray,
    goals: tuple[np.ndarray, np.ndarray, np.ndarray],
    damping: float,
) -> QpProblem:
    """Return a problem that shares the arrays of its bounds (H, b, low, high) and goals (A, y, level)."""
    (H, b, low, high), (A, y, level) = bounds, goals
    return QpProblem(
        unknowns=len(target), bounds=len(b), goals=len(y), damping=damping,
        H=H, b=b, low=low, high=high, target=target, weights=weights, A=A, y=y, level=level,
    )  # fmt: skip


def make_workspace(bounds: int, unknowns: int, goals: int) -> QpWorkspace:
    """Return a workspace for problems of these sizes."""
    return QpWorkspace(
        unknowns=unknowns, bounds=bounds, goals=goals, count=bounds + goals, width=unknowns + goals
    )  # fmt: skip


def make_solution(bounds: int, unknowns: int, goals: int) -> QpSolution:
    """Return memory for the solution of problems of these sizes."""
    return QpSolution(unknowns=unknowns, bounds=bounds, goals=goals)
