"""The last part of the way to a goal that is out of reach, or hardly within it: compiled.

The steps of `solve_kernels.py` use first derivatives alone. With a remaining error h they reduce the distance by a
fraction per iteration, which is the smaller the more the goals bend across h, and they end some millimetres short,
sometimes centimetres. Here every round uses second derivatives too, those of primary goals among them: sequential
quadratic programming with exact second derivatives. With e the errors of the secondary goals, w their weights, and y
the multipliers of the primary rows in the round before,

    least  1/2 d^T (H + P) d - sum w e J d      with  J_1 d = 0,  J_edge d <= room left,  every angle in its range
    H = sum w J^T J - sum w e d2x + sum y d2x_1,      P = S sigma + RHO (J_1^T J_1 and angles at their ends)    [end, 4]

The second part of P changes nothing along directions that are allowed, and makes H positive definite if it is so along
these; sigma, times the stiffness of each angle, grows until H + P is. Then primary goals are restored, as after every
step, and the step is kept if secondary goals came nearer; sigma follows the fraction of the promised decrease that came
true (Levenberg and Marquardt). It ends when hardly any decrease is promised: 5 to 20 rounds.

Source: Nocedal and Wright (2006), Numerical Optimization, sections 18.1 to 18.4, and 16.5 for P.

Second derivatives of the rows: of two angles the *outer* one, nearer to the base, rotates the line of the inner one,
and the effect of the inner one as a whole. With w = s r the rotation by an angle and v its effect on a point or on the
centre of mass (`row_kernels.py`),

    d2X / dq_i dq_j = w_i x v_j                                       i outer                                [end, 1]

A sum of these, each times a vector f that pulls at its point, needs two vectors, one per angle and one per joint:

    K_j = sum v_j x f,      T_k = sum (X - O_k) x f  (of the points that joint k moves),      d2(sum f X) = w_i . K_j

Orientations count by half: the derivatives of a rotation vector are those of both orders, w_i x w_j and zero. The twist
is inside its joint's swing if the side under the joint moves, and outside of it if the other side does. Of the angles
of one swing (x, z), which rotate about axes that change with both of them, L e_a as in [steps, 1],

    d2 = (w_i . K_j + w_j . K_i) / 2 + u_ij . T_k                                                           [end, 2]

with u_ij the mean of the derivatives of L e_i by j and of L e_j by i, in the world: as they are, or rotated by the
swing and taken at the opposite angles if the other side moves. Second derivatives of looks, and of orientations with
large errors, are left out.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.model_kernels import multiply_into
from poise.ik.solver.quadratic_kernels import MOST, NOT, ZERO, factor, solve_quadratic
from poise.ik.solver.records import (
    BOTH,
    IkGoals,
    IkModel,
    IkWorkspace,
    LinearSystem,
    QuadraticProblem,
    SolverReport,
    SolverSettings,
)
from poise.ik.solver.row_kernels import copy_numbers, forget_bounds, write_rows
from poise.ik.solver.step_kernels import restore_primary, turn_joints

ROUNDS, FEW = 40, 6  # at most; and of those that only tell how near a start comes
_RHO = 10.0  # compared with a weight of 1; any of 1 to 100 does
_SIGMA, _LEAST_SIGMA, _MOST_SIGMA = 1e-2, 1e-6, 1e6  # at first, at least, and at most
_TIGHT, _RESTORES = 0.02, 6  # of the tolerance, that is left of a primary error after a step; steps for it
_PROMISED = 3e-5  # of the cost that is left: less is not worth a round
_OUTSIDE = 0.2  # of the tolerance, that the centre of mass may be outside its support by


@kernel
def has_unmet(goals: IkGoals, system: LinearSystem, settings: SolverSettings, report: SolverReport) -> bool:
    """Return whether a goal is not met, or the centre of mass is outside its support.

    Goals that are met within the tolerance may pull at a primary one, as long as that is met: at the end of a reach.
    """
    outside = 0.0
    for i in range(goals.edge_count):
        outside = max(outside, -system.e[i])
    worst = max(report.primary_error, report.secondary_error)
    return outside > _OUTSIDE * settings.tolerance or worst >= settings.tolerance


@kernel
def approach_unreachable(
    model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, problem: QuadraticProblem,
    settings: SolverSettings, report: SolverReport, rounds: int,
) -> None:  # fmt: skip
    """Bring secondary goals nearer, from the pose of `work` on; the iterations are added to the report."""
    scale, tight = 1.0 / goals.edge_weight, _TIGHT * settings.tolerance
    before, kept = np.empty(work.pose_size), np.empty(work.pose_size)
    problem.multiplier[:], problem.range_multiplier[:] = 0.0, 0.0
    copy_numbers(work.pose, before)
    write_rows(model, goals, work, system)
    was_primary, was_cost = system.primary_error, system.cost
    _restore(model, goals, work, system, settings, report, tight)
    best, is_held = system.cost, system.primary_error <= tight
    copy_numbers(work.pose, kept)
    sigma, growth, k, is_kept = _SIGMA, 3.0, 0, False
    while is_held and system.secondary_error >= settings.tolerance and k < rounds:
        k += 1
        _write_problem(model, goals, work, system, problem, settings)
        sigma = _damp(model, problem, sigma)
        if sigma > _MOST_SIGMA:
            break
        solve_quadratic(problem)
        promised = _find_fall(problem.H, problem.g, problem.step)
        if promised < _PROMISED * 0.5 * scale * best:
            break
        turn_joints(model, work, problem.step)
        _restore(model, goals, work, system, settings, report, tight)
        fraction = 0.5 * scale * (best - system.cost) / promised
        if system.primary_error <= tight and fraction > 0.0:
            best = system.cost
            copy_numbers(work.pose, kept)
            if fraction > 0.7:
                sigma = max((0.2 if is_kept or k == 1 else 0.7) * sigma, _LEAST_SIGMA)
            elif fraction < 0.3:
                sigma *= 2.0
            is_kept, growth = True, 3.0
        else:
            copy_numbers(kept, work.pose)
            write_rows(model, goals, work, system)
            sigma, growth, is_kept = growth * sigma, 2.0 * growth, False
    is_better = best < was_cost or system.secondary_error < settings.tolerance
    is_better = is_better or was_primary > _OUTSIDE * settings.tolerance
    if not (is_better if is_held else system.primary_error < was_primary):
        copy_numbers(before, work.pose)
        write_rows(model, goals, work, system)
    report.iterations += k
    report.solves += k
    report.primary_error, report.secondary_error = system.primary_error, system.secondary_error


@kernel
def _restore(
    model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, settings: SolverSettings,
    report: SolverReport, tight: float,
) -> None:  # fmt: skip
    """Bring primary errors to `tight` (m), from no knowledge of weights and bounds on."""
    system.primary_factor = 1.0
    forget_bounds(system)
    write_rows(model, goals, work, system)
    restore_primary(model, goals, work, system, settings, report, tight, _RESTORES)


@kernel
def _write_problem(
    model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, problem: QuadraticProblem,
    settings: SolverSettings,
) -> None:  # fmt: skip
    """Write second derivatives except for sigma (lower half), gradient, rows and ranges.   [end, 4]

    The multipliers of rows and ranges are those of the round before; those of secondary rows are written.
    """
    H, g, multiplier, scale = problem.H, problem.g, problem.multiplier, 1.0 / goals.edge_weight
    H[:], g[:] = 0.0, 0.0
    for i in range(system.rows):
        J, w = system.J[i], scale * system.weight[i]
        problem.kind[i] = NOT
        if w == 0.0:
            multiplier[i] = 0.0
        elif system.is_primary[i]:
            is_both = system.kind[i] == BOTH
            problem.kind[i], problem.bound[i] = ZERO if is_both else MOST, max(system.e[i], 0.0)
            w = _RHO if is_both or multiplier[i] > 0.0 else 0.0
        else:
            multiplier[i] = -w * system.e[i]
            for j in range(problem.dofs):
                g[j] += multiplier[i] * J[j]
        if w > 0.0:
            _add_square(H, w, J)
    add_curvature(model, goals, work, system, multiplier, H)
    _write_ranges(model, work, problem, settings.max_step)


@kernel
def _add_square(H: np.ndarray, w: float, J: np.ndarray) -> None:
    """Add w J^T J of one row to the lower half of H."""
    for j in range(len(J)):
        if J[j] != 0.0:
            by, own = w * J[j], H[j]
            for c in range(j + 1):
                own[c] += by * J[c]


@kernel
def _write_ranges(model: IkModel, work: IkWorkspace, problem: QuadraticProblem, most: float) -> None:
    """Write the least and the largest change of each angle; those that stay at an end count as rows that hold."""
    low, high, multiplier = problem.low, problem.high, problem.range_multiplier
    for j in range(problem.dofs):
        i = model.joint[j]
        low[j], high[j] = -most, most
        if i >= 0:
            angle = work.angles[i, model.axis[j]]
            low[j], high[j] = min(max(model.low[j] - angle, -most), 0.0), max(min(model.high[j] - angle, most), 0.0)
        if (multiplier[j] > 0.0 and low[j] == 0.0) or (multiplier[j] < 0.0 and high[j] == 0.0):
            problem.H[j, j] += _RHO


@kernel
def _damp(model: IkModel, problem: QuadraticProblem, sigma: float) -> float:
    """Factor H + S sigma with sigma as large as that takes; return it."""
    H, L = problem.H, problem.L
    while sigma <= _MOST_SIGMA:
        for j in range(problem.dofs):
            L[j, : j + 1] = H[j, : j + 1]
            L[j, j] += sigma / model.compliance[j]
        if factor(L, problem.W):
            return sigma
        sigma *= 4.0
    return sigma


@kernel
def _find_fall(H: np.ndarray, g: np.ndarray, d: np.ndarray) -> float:
    """Return -(g d + 1/2 d^T H d), H by its lower half."""
    total = 0.0
    for j in range(len(d)):
        bend = 0.5 * H[j, j] * d[j]
        for c in range(j):
            bend += H[j, c] * d[c]
        total -= d[j] * (g[j] + bend)
    return total


@kernel
def add_curvature(
    model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, multiplier: np.ndarray, H: np.ndarray
) -> None:
    """Add the second derivatives of the rows, each times its multiplier (m,), to the lower half of H (n, n).

    Workspace and system are as `write_rows` leaves them.
    """
    n, count, p, R = model.dofs, model.joints, work.p, work.R
    K, T, signs = np.zeros((n, 3)), np.zeros((count, 3)), np.zeros(count)
    for j in range(n):
        if model.joint[j] > 0:
            signs[model.joint[j]] = work.signs[0, j]
    moved, arm = _find_moved(model.is_under, work.base), np.empty(3)
    row = _pull_center(goals, signs, work, multiplier, K, T)
    for i in range(goals.point_count):
        body, f = goals.point_body[i], multiplier[row : row + 3]
        if goals.point_is_floor[i]:
            f = -f  # its row is that of -y
        X = p[body] + R[body] @ goals.point_offset[i]
        _add_crosses(system.J[row : row + 3], f, 1.0, K)
        for k in range(1, count):
            if signs[k] != 0.0 and moved[k, body]:
                for a in range(3):
                    arm[a] = X[a] - p[k, a]
                _add_cross(arm, f, T[k])
        row += 3
    for i in range(goals.orientation_count):
        f = multiplier[row : row + 3]
        _add_crosses(system.J[row : row + 3], f, 0.5, K)
        for k in range(1, count):
            if signs[k] != 0.0 and moved[k, goals.orientation_body[i]]:
                for a in range(3):
                    T[k, a] += model.radian_length * f[a]
        row += 3
    _add_pairs(model, work, moved, signs, K, H)
    _add_swings(model, signs, work, T, H)


@kernel
def _find_moved(is_under: np.ndarray, base: int) -> np.ndarray:
    """Return (J, J) whether joint k moves body b."""
    count = len(is_under)
    moved = np.empty((count, count), np.bool_)
    for k in range(count):
        other = base >= 0 and is_under[k, base]
        for b in range(count):
            moved[k, b] = is_under[k, b] != other
    return moved


@kernel
def _add_cross(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Add a x b to out."""
    out[0] += a[1] * b[2] - a[2] * b[1]
    out[1] += a[2] * b[0] - a[0] * b[2]
    out[2] += a[0] * b[1] - a[1] * b[0]


@kernel
def _add_crosses(v: np.ndarray, f: np.ndarray, factor: float, K: np.ndarray) -> None:
    """Add factor v_j x f to K_j, v (3, n)."""
    x, y, z = factor * f[0], factor * f[1], factor * f[2]
    for j in range(len(K)):
        K[j, 0] += v[1, j] * z - v[2, j] * y
        K[j, 1] += v[2, j] * x - v[0, j] * z
        K[j, 2] += v[0, j] * y - v[1, j] * x


@kernel
def _pull_center(
    goals: IkGoals, signs: np.ndarray, work: IkWorkspace, multiplier: np.ndarray, K: np.ndarray, T: np.ndarray
) -> int:
    """Add the rows of the centre of mass, those of its support included; return how many they are."""
    f, row = np.zeros(3), int(goals.edge_count)
    for i in range(row):
        f[0] += multiplier[i] * goals.edges[i, 0]
        f[2] += multiplier[i] * goals.edges[i, 1]
    for a in range(3):
        if goals.center_weight[a] > 0.0:
            f[a] += multiplier[row]
            row += 1
    _add_crosses(work.center_rates, f, 1.0, K)
    arm, under = np.empty(3), work.masses_under
    for k in range(1, len(T)):
        if signs[k] == 0.0:
            continue
        m = under[k, 0] if signs[k] > 0.0 else under[0, 0] - under[k, 0]
        for a in range(3):
            whole = under[k, 1 + a] if signs[k] > 0.0 else under[0, 1 + a] - under[k, 1 + a]
            arm[a] = (whole - m * work.p[k, a]) / under[0, 0]
        _add_cross(arm, f, T[k])
    return row


@kernel
def _add_pairs(
    model: IkModel, work: IkWorkspace, moved: np.ndarray, signs: np.ndarray, K: np.ndarray, H: np.ndarray
) -> None:
    """Add w_i . K_j of all pairs, i the outer one.   [end, 1]"""
    n, lines = len(K), work.lines
    w = np.empty((n, 3))
    for j in range(n):
        for a in range(3):
            w[j, a] = work.signs[0, j] * lines[j, a]
    for i in range(n):
        for j in range(i + 1):
            if model.joint[i] == -1 or model.joint[j] == -1:  # the root's position bends nothing
                continue
            is_outer, is_inner = _order(model, moved, signs, i, j)
            total = 0.0
            if is_outer:
                total += w[i, 0] * K[j, 0] + w[i, 1] * K[j, 1] + w[i, 2] * K[j, 2]
            if is_inner:
                total += w[j, 0] * K[i, 0] + w[j, 1] * K[i, 1] + w[j, 2] * K[i, 2]
            H[i, j] += 0.5 * total if is_outer and is_inner else total


@kernel
def _order(model: IkModel, moved: np.ndarray, signs: np.ndarray, i: int, j: int) -> tuple[bool, bool]:
    """Return whether angle i is outside of angle j, and whether it is inside; two angles of a swing are both."""
    k, q = model.joint[i], model.joint[j]
    if k != q:
        is_outer = k == -2 or (q != -2 and moved[k, q])
        return is_outer, not is_outer and (q == -2 or moved[q, k])
    is_twist = model.axis[i] == 1
    if k > 0 and is_twist != (model.axis[j] == 1):
        is_inner = is_twist == (signs[k] > 0.0)
        return not is_inner, is_inner
    return True, True


@kernel
def _add_swings(model: IkModel, signs: np.ndarray, work: IkWorkspace, T: np.ndarray, H: np.ndarray) -> None:
    """Add u_ij . T_k of the angles of one swing.   [end, 2]"""
    u, B, t = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for i in range(len(H)):
        k = model.joint[i]
        if k <= 0 or model.axis[i] == 1:
            continue
        multiply_into(work.R[model.parents[k]], model.before_matrix[k], B)
        for a in range(3):
            t[a] = B[0, a] * T[k, 0] + B[1, a] * T[k, 1] + B[2, a] * T[k, 2]
        x, z = work.angles[k, 0], work.angles[k, 2]
        if signs[k] < 0.0:
            x, z = -x, -z
            _rotate_swing(x, z, t)
        _find_slopes(x, z, u)
        for j in range(i + 1):
            if model.joint[j] == k and model.axis[j] != 1:
                pair = (model.axis[i] + model.axis[j]) // 2
                H[i, j] += u[pair, 0] * t[0] + u[pair, 1] * t[1] + u[pair, 2] * t[2]


@kernel
def _rotate_swing(x: float, z: float, t: np.ndarray) -> None:
    """Rotate t by exp(x, 0, z): Rodrigues."""
    size = np.sqrt(x * x + z * z)
    if size < 1e-12:
        return
    c, s, x, z = np.cos(size), np.sin(size), x / size, z / size
    along = (1.0 - c) * (x * t[0] + z * t[2])
    t[0], t[1], t[2] = (
        c * t[0] - s * z * t[1] + along * x,
        c * t[1] + s * (z * t[0] - x * t[2]),
        c * t[2] + s * x * t[1] + along * z,
    )


@kernel
def _find_slopes(x: float, z: float, u: np.ndarray) -> None:
    """Write u (3, 3): the derivative of L e_x by x; the mean of L e_x by z and L e_z by x; of L e_z by z.   [end, 2]

    L e_x = (1 - b z^2, a z, b x z), L e_z = (b x z, -a x, 1 - b x^2), with a and b as in `find_axes`.
    """
    square = x * x + z * z
    t = np.sqrt(square)
    if t < 0.02:  # the series' next terms are below 1e-11
        b = 1.0 / 6.0 - square / 120.0
        A, B = -1.0 / 12.0 + square / 180.0, -1.0 / 60.0 + square / 1260.0
    else:
        a, b, s = (1.0 - np.cos(t)) / square, (t - np.sin(t)) / (square * t), np.sin(t) / t
        A, B = (s - 2.0 * a) / square, (a - 3.0 * b) / square  # a' / t and b' / t
    u[0, 0], u[0, 1], u[0, 2] = -B * x * z * z, A * x * z, b * z + B * x * x * z
    u[1, 0], u[1, 1], u[1, 2] = (
        0.5 * (-b * z - B * z**3 + B * x * x * z),
        0.5 * A * (z * z - x * x),
        0.5 * (-b * x - B * x**3 + B * x * z * z),
    )
    u[2, 0], u[2, 1], u[2, 2] = b * x + B * x * z * z, -A * x * z, -B * z * x * x
