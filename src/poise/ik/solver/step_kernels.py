"""One iteration: the rows solved, the joints turned, and primary goals restored. Compiled."""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.block_kernels import sweep_blocks
from poise.ik.solver.model_kernels import set_matrix, set_turn
from poise.ik.solver.published_kernels import sweep_null_space, sweep_rows
from poise.ik.solver.records import (
    NULL_SPACE,
    ROWS,
    IkGoals,
    IkModel,
    IkWorkspace,
    LinearSystem,
    SolverReport,
    SolverSettings,
)
from poise.ik.solver.row_kernels import write_rows

_TRUE = 1e-5  # m: a primary error that doubles its weight
_ROW_SWEEPS, _ROW_TOLERANCE = 3, 1e-5  # row by row takes more sweeps: times the others'; m


@kernel
def take_step(
    model: IkModel, work: IkWorkspace, system: LinearSystem, settings: SolverSettings, damping: float, is_all: bool,
    max_step: float,
) -> int:  # fmt: skip
    """Solve all rows, or only the primary ones, and turn the joints; return how many sweeps it took."""
    for i in range(system.rows):
        if system.is_primary[i]:
            system.weight[i] *= system.primary_factor
        elif not is_all:
            system.weight[i] = 0.0
    for j in range(model.dofs):
        i, a = model.joint[j], model.axis[j]
        system.compliance[j] = model.compliance[j] / damping
        system.preferred[j] = 0.0
        if i >= 0:
            angle = work.angles[i, a]
            system.low[j] = max(model.low[j] - angle, -max_step)
            system.high[j] = max(min(model.high[j] - angle, max_step), system.low[j])
            if is_all:
                preferred = model.comfort[j] / damping * (model.rest[j] - angle)
                system.preferred[j] = min(max(preferred, system.low[j]), system.high[j])
        else:
            system.low[j], system.high[j] = -max_step, max_step
    if settings.method == ROWS:
        took = sweep_rows(system, _ROW_SWEEPS * settings.max_sweeps, _ROW_TOLERANCE)
    elif settings.method == NULL_SPACE:
        took = sweep_null_space(system, settings.max_sweeps)
    else:
        took = sweep_blocks(system, settings.max_sweeps)
    turn_joints(model, work, system.step)
    return took


@kernel
def raise_primary_factor(system: LinearSystem) -> None:
    """Weight primary rows by their largest error.   [steps, 4]"""
    factor = np.sqrt(system.primary_factor * (1.0 + system.primary_error / _TRUE))
    system.primary_factor = max(1.0, factor)


@kernel
def restore_primary(
    model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, settings: SolverSettings,
    report: SolverReport, allowed: float, max_steps: int,
) -> None:  # fmt: skip
    """Take steps for the primary goals alone, until their largest error is at most `allowed` (m)."""
    steps = 0
    while steps < max_steps and system.primary_error > allowed:
        raise_primary_factor(system)
        report.solves += take_step(model, work, system, settings, 1.0, False, settings.max_step)
        write_rows(model, goals, work, system)
        steps += 1
    report.iterations += steps


@kernel
def turn_joints(model: IkModel, work: IkWorkspace, d: np.ndarray) -> None:
    """Change the free angles by d (n,), and the root if it moves freely."""
    q, R = np.empty(4), np.empty((3, 3))
    turned = np.zeros(3)
    for j in range(len(d)):
        i = model.joint[j]
        if i == -1:
            work.base_position[model.axis[j]] += d[j]
        elif i == -2:
            turned[model.axis[j]] = d[j]
        else:
            work.angles[i, model.axis[j]] += d[j]
    size = np.sqrt(turned @ turned)
    if size > 0.0:
        s = np.sin(0.5 * size) / size
        q[0], q[1], q[2], q[3] = np.cos(0.5 * size), s * turned[0], s * turned[1], s * turned[2]
        set_matrix(q, R)
        work.base_orientation[:] = R @ work.base_orientation
    for i in range(1, model.joints):
        if model.has_angles[i]:
            set_turn(work.angles[i], model.before[i], model.after[i], q)
            set_matrix(q, work.local[i])
