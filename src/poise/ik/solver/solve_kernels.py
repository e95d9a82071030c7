"""A pose that meets goals, the centre of mass first: compiled.

Iteration by iteration: place the bodies, write a row for each number that a goal asks for, solve the rows
(`block_kernels.py`), turn the joints. Primary goals, the centre of mass over its support and the planted feet, are
weighted by the paper's bias [balance, 9 as corrected]: both sides of their rows by the square root of mu, where mu
follows the largest of these errors, E:

    mu <- sqrt(mu (1 + E / TRUE))                                                                [steps, 4]

Without a conflict E vanishes and mu is 1. If a hand reaches for a target from which the body would fall, its error H is
balanced by mu E, so that E settles at sqrt(TRUE H): 3 mm for a hand that is kept back by a metre. The square root
halves mu's steps to there, since E goes as 1 / mu: it converges at once and does not oscillate.

If all goals can be met at once, full steps for all of them get there in five or six iterations, and no weight matters:
that is tried first (`blocks`), damped by the square of the largest error. If errors stay, it begins anew with care:

Goals that cannot be met bend the path there: a step that is right for one rate of change takes feet off the ground. So
primary goals are restored after each step, by steps for them alone; then the step is kept if secondary goals came
nearer, and undone and damped more if not (Levenberg and Marquardt's method, on planted feet).
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.model_kernels import find_angles, place_root, set_matrix, set_quaternion, set_turn
from poise.ik.solver.records import (
    BLOCKS,
    IkGoals,
    IkModel,
    IkWorkspace,
    LinearSystem,
    PoseSearch,
    QuadraticProblem,
    SolverReport,
    SolverSettings,
)
from poise.ik.solver.row_kernels import copy_numbers, forget_bounds, write_rows
from poise.ik.solver.step_kernels import raise_primary_factor, restore_primary, take_step, turn_joints
from poise.ik.solver.unreachable_kernels import FEW, ROUNDS, approach_unreachable, has_unmet

# Full steps: the fraction of the error that an iteration may leave; iterations that may leave more; times the step of a
# damped one; m of error that doubles the damping
_NEARER, _PATIENCE, _WIDE, _AWAY = 0.8, 3, 3.0, 0.06
_RESTORES = 6  # steps for primary goals alone after each damped step, at most
_LAST_RESTORES = 20  # and at the end
_AS_NEAR = 1.25  # times the best error so far: an attempt that ends farther off is not brought nearer


@kernel
def solve_pose(
    model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, settings: SolverSettings,
    report: SolverReport,
) -> None:  # fmt: skip
    """Change the pose of `work` to one that meets the goals."""
    report.iterations = report.solves = 0
    system.primary_factor = 1.0
    forget_bounds(system)
    write_rows(model, goals, work, system)
    if settings.method != BLOCKS or not _take_full_steps(model, goals, work, system, settings, report):
        _take_damped_steps(model, goals, work, system, settings, report)
    report.primary_error, report.secondary_error = system.primary_error, system.secondary_error


@kernel
def _take_full_steps(
    model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, settings: SolverSettings,
    report: SolverReport,
) -> bool:  # fmt: skip
    """Step for all goals at once; if that does not meet them, restore the pose and return False."""
    kept = np.empty(work.pose_size)
    copy_numbers(work.pose, kept)
    nearest, slow = np.inf, 0
    while True:
        worst = max(system.primary_error, system.secondary_error)
        if worst < settings.tolerance:
            return True
        slow = slow + 1 if worst > _NEARER * nearest else 0
        nearest = min(nearest, worst)
        if slow > _PATIENCE or report.iterations >= settings.max_iterations:
            break
        damping = max(1.0, (worst / _AWAY) ** 2)
        report.solves += take_step(model, work, system, settings, damping, True, _WIDE * settings.max_step)
        write_rows(model, goals, work, system)
        report.iterations += 1
    copy_numbers(kept, work.pose)
    forget_bounds(system)
    write_rows(model, goals, work, system)
    return False


@kernel
def _take_damped_steps(
    model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, settings: SolverSettings,
    report: SolverReport,
) -> None:  # fmt: skip
    """Step for all goals, restore the primary ones after each step, and keep the steps that make the pose better."""
    kept = np.empty(work.pose_size)
    copy_numbers(work.pose, kept)
    last, tolerance = settings.max_iterations + report.iterations, settings.tolerance
    damping, slow, best_primary, best_cost, allowed = 1.0, 0, np.inf, np.inf, np.inf
    while True:
        # Primary goals come first, except for an error that the next step corrects by the way
        allowed = max(0.5 * tolerance, min(0.1 * system.secondary_error, allowed))
        most = min(_RESTORES, last - report.iterations)
        restore_primary(model, goals, work, system, settings, report, allowed, most)
        if _is_improved(system, allowed, best_primary, best_cost):
            if best_cost < np.inf:
                slow = slow + 1 if best_cost - system.cost < 3e-3 * best_cost else 0
                damping = max(0.25 * damping, 1.0)
            best_primary, best_cost = system.primary_error, system.cost
            copy_numbers(work.pose, kept)
        else:
            copy_numbers(kept, work.pose)
            damping *= 6.0
            write_rows(model, goals, work, system)
        if slow > 2 or damping > 1e6:
            if not (allowed > tolerance and report.iterations < last):
                break
            # Once more, with primary goals met exactly
            allowed, slow, damping, best_cost, best_primary = 0.0, 0, 1.0, np.inf, np.inf
            continue
        if report.iterations >= last or max(system.primary_error, system.secondary_error) < tolerance:
            break
        raise_primary_factor(system)
        report.solves += take_step(model, work, system, settings, damping, True, settings.max_step)
        write_rows(model, goals, work, system)
        report.iterations += 1
    restore_primary(model, goals, work, system, settings, report, 0.5 * tolerance, _LAST_RESTORES)


@kernel
def _is_improved(system: LinearSystem, allowed: float, best_primary: float, best_cost: float) -> bool:
    """Return whether the pose is better: by its cost, if its primary error is allowed or equal, else by that error."""
    if max(system.primary_error, allowed) == max(best_primary, allowed):
        return bool(system.cost < best_cost)
    return bool(system.primary_error < best_primary)


@kernel
def search_pose(
    model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, quadratic: QuadraticProblem,
    settings: SolverSettings, search: PoseSearch, report: SolverReport,
) -> None:  # fmt: skip
    """Find a pose that meets the goals, and write it into `search`.

    The first attempt begins at the given pose. If goals are not met and there are starts, each is tried, the best pose
    is taken, and brought as near to its goals as it gets (`unreachable_kernels.py`). Without starts an unmet goal is
    left as it is.

    Long kernels are called in one place each: every call compiles them again.
    """
    is_missed, starts = False, search.starts
    _begin(model, goals, work, search)
    for s in range(-1, starts + 1):  # the given pose, then each start, then the best of them
        is_last, approaches, rounds = s == starts, False, FEW
        if not is_last:
            if s >= 0:
                if max(search.primary_error, search.secondary_error) < settings.tolerance:
                    continue
                _start(model, work, system, search, s)
            solve_pose(model, goals, work, system, settings, report)
            if s < 0:
                worst = max(report.primary_error, report.secondary_error)
                is_missed = approaches = starts > 0 and worst >= settings.tolerance
            else:
                approaches = report.secondary_error < _AS_NEAR * search.secondary_error
        else:
            if is_missed:
                copy_numbers(search.best_pose, work.pose)
                write_rows(model, goals, work, system)
            _load_report(search, report)
            approaches, rounds = starts > 0, ROUNDS
        if approaches and settings.method == BLOCKS and has_unmet(goals, system, settings, report):
            approach_unreachable(model, goals, work, system, quadratic, settings, report, rounds)
        _take_attempt(work, settings, search, report, s)
    _write_found(model, goals, work, system, search)


@kernel
def _load_report(search: PoseSearch, report: SolverReport) -> None:
    """Continue the report of the best pose."""
    report.iterations, report.solves = search.iterations, search.solves
    report.primary_error, report.secondary_error = search.primary_error, search.secondary_error


@kernel
def _take_attempt(
    work: IkWorkspace, settings: SolverSettings, search: PoseSearch, report: SolverReport, s: int
) -> None:
    """Keep the pose of the attempt from start s if it is the best so far, and count its iterations."""
    if s < 0 or s == search.starts:
        search.iterations, search.solves = report.iterations, report.solves
        search.primary_error, search.secondary_error = report.primary_error, report.secondary_error
        if s < 0:
            copy_numbers(work.pose, search.best_pose)
        return
    if _is_better(report, search, settings.tolerance):
        copy_numbers(work.pose, search.best_pose)
        search.primary_error, search.secondary_error = report.primary_error, report.secondary_error
    search.iterations += report.iterations
    search.solves += report.solves


@kernel
def _is_better(report: SolverReport, best: PoseSearch, tolerance: float) -> bool:
    """Return whether primary goals are as near and the others nearer, or primary goals that were not met nearer."""
    if max(report.primary_error, tolerance) == max(best.primary_error, tolerance):
        return bool(report.secondary_error < best.secondary_error)
    return bool(report.primary_error < best.primary_error)


@kernel
def _begin(model: IkModel, goals: IkGoals, work: IkWorkspace, search: PoseSearch) -> None:
    """Set the workspace to the given pose, with ranges that are wide enough for it."""
    for g in range(goals.orientation_count):
        set_matrix(goals.orientation_target[g], goals.orientation_matrix[g])
    for k in range(model.joints):
        set_matrix(search.rotations[k], work.local[k])
        if model.has_angles[k]:
            find_angles(search.rotations[k], model.before[k], model.after[k], work.angles[k])
    for j in range(model.dofs):
        angle = work.angles[model.joint[j], model.axis[j]] if model.joint[j] >= 0 else 0.0
        model.low[j], model.high[j] = min(search.low[j], angle), max(search.high[j], angle)
    place_root(model, search.root, work.local[0], work)
    base = max(work.base, 0)
    work.base_position[:], work.base_orientation[:] = work.p[base], work.R[base]
    search.base_position[:], search.base_orientation[:] = work.p[base], work.R[base]


@kernel
def _start(model: IkModel, work: IkWorkspace, system: LinearSystem, search: PoseSearch, s: int) -> None:
    """Set the workspace to the angles of start s, with the base where it began."""
    work.base_position[:], work.base_orientation[:] = search.base_position, search.base_orientation
    for k in range(1, model.joints):
        if model.has_angles[k]:
            work.angles[k] = search.start_angles[s, k]
    system.step[:] = 0.0
    turn_joints(model, work, system.step)


@kernel
def _write_found(model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, search: PoseSearch) -> None:
    """Write the pose of the workspace, and the error of each goal: points, orientations, looks."""
    rotations, found = search.rotations, search.found_rotations
    search.found_root[:], found[:] = work.p[0], rotations
    for k in range(1, model.joints):
        if model.has_angles[k]:
            set_turn(work.angles[k], model.before[k], model.after[k], found[k])
    set_quaternion(work.R[0], rotations[0], found[0])
    for a in range(3):
        search.center[a] = work.masses_under[0, 1 + a] / work.masses_under[0, 0]
    e, row = system.e, system.rows - 3 * search.goals
    for g in range(search.goals):
        error = np.sqrt(e[row] ** 2 + e[row + 1] ** 2 + e[row + 2] ** 2)
        if g < goals.point_count and goals.point_is_floor[g]:
            error = max(-e[row + 1], 0.0)
        search.errors[g] = error if g < goals.point_count else error / model.radian_length
        row += 3
