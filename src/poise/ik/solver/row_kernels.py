"""A row for each number that goals ask for: compiled.

Every free angle is a rotation about a line in space (the root's position, a shift along one), so one pair of vectors
describes it: r, the line's direction, and o = O x r, the velocity of a point at the origin. With s as in
`ik/solver/model_kernels.py`,

    dX / dangle = s (r x X + o),     dc / dangle = (s / M) (r x m V + m o),     a rotation by s r           [steps, 6]

Which angles move which body depends on the base alone: these signs are found when the base changes.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.model_kernels import find_axes, find_centers, place_bodies
from poise.ik.solver.records import BELOW, BOTH, IkGoals, IkModel, IkWorkspace, LinearSystem


@kernel
def copy_numbers(source: np.ndarray, target: np.ndarray) -> None:
    """Copy a row of numbers.

    Numba compiles every `a[:] = b` where it stands, with all that broadcasting needs. Poses are saved in a dozen places
    of long kernels: with one function they take half the machine code, and half the time to compile.
    """
    for k in range(len(source)):
        target[k] = source[k]


@kernel
def forget_bounds(system: LinearSystem) -> None:
    """Begin anew with the angles that are at an end of their range, and with the rows that push."""
    for j in range(system.dofs):
        system.locked[j] = 0
    for i in range(system.rows):
        system.pushing[i] = 0


@kernel
def write_rows(model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem) -> None:
    """Place the bodies, write a row for each number that is asked for, and the errors of the pose."""
    if work.signs_base != work.base:
        _set_signs(model, goals, work)
    place_bodies(model, work)
    find_centers(model.parents, model.masses, model.centers, work.R, work.p, work.masses_under)
    find_axes(model.parents, model.before_matrix, work.angles, model.has_angles, work.R, work.axes)
    find_lines(model.joint, model.axis, work.p, work.axes, work.lines)
    write_center(work.lines, model.joint, work.masses_under, work.signs[0], work.center_rates)
    system.primary_error = system.secondary_error = system.cost = 0.0
    row = _write_edges(goals, work, system)
    row = _write_center_target(goals, work, system, row)
    row = _write_points(goals, work, system, row)
    row = _write_orientations(model, goals, work, system, row)
    row = _write_looks(model, goals, work, system, row)
    system.weight[row:] = 0.0  # of a centre of mass that has fewer targets now


@kernel
def count_rows(goals: IkGoals) -> int:
    """Return the number of rows of all goals."""
    count = goals.edge_count + 3 * (goals.point_count + goals.orientation_count + goals.look_count)
    for a in range(3):
        if goals.center_weight[a] > 0.0:
            count += 1
    return count


@kernel
def _set_signs(model: IkModel, goals: IkGoals, work: IkWorkspace) -> None:
    """Find which angles move which goal's body, and in which direction, with the present base."""
    base = work.signs_base = work.base
    for j in range(model.dofs):  # of the centre of mass: -1 if the side moves that is not under the joint
        work.signs[0, j] = -1.0 if model.joint[j] >= 0 and base >= 0 and model.is_under[model.joint[j], base] else 1.0
    row = 1
    for bodies in (goals.point_body, goals.orientation_body, goals.look_body):
        for i in range(len(bodies)):
            _find_signs(model, base, bodies[i], work.signs[row])
            row += 1


@kernel
def _find_signs(model: IkModel, base: int, body: int, signs: np.ndarray) -> None:
    """Write 1 or -1 if an angle moves a body, by its direction, else 0: signs (n,)."""
    for j in range(len(signs)):
        k = model.joint[j]
        if k < 0:
            signs[j] = 1.0
            continue
        below, other = model.is_under[k, body], base >= 0 and model.is_under[k, base]
        signs[j] = 0.0 if below == other else (1.0 if below else -1.0)


@kernel
def find_lines(joint: np.ndarray, axis: np.ndarray, p: np.ndarray, axes: np.ndarray, lines: np.ndarray) -> None:
    """Write r and o of each free angle: lines (n, 6).   [steps, 6]"""
    for j in range(len(joint)):
        k, a = joint[j], axis[j]
        if k < 0:
            for c in range(6):
                lines[j, c] = 0.0
            lines[j, a if k == -2 else 3 + a] = 1.0
            if k == -1:
                continue
            k = 0
        else:
            lines[j, 0], lines[j, 1], lines[j, 2] = axes[k, a, 0], axes[k, a, 1], axes[k, a, 2]
        x, y, z = lines[j, 0], lines[j, 1], lines[j, 2]
        u, v, w = p[k, 0], p[k, 1], p[k, 2]
        lines[j, 3], lines[j, 4], lines[j, 5] = v * z - w * y, w * x - u * z, u * y - v * x


@kernel
def write_center(lines: np.ndarray, joint: np.ndarray, under: np.ndarray, signs: np.ndarray, out: np.ndarray) -> None:
    """Write the derivative of the centre of mass by each angle: out (3, n).   [balance, 14 as corrected; steps, 6]"""
    mass = under[0, 0]
    for j in range(len(joint)):
        k, s = max(joint[j], 0), signs[j] / mass
        m, x, y, z = under[k, 0], under[k, 1], under[k, 2], under[k, 3]
        if s < 0.0:  # the other side moves
            m, x, y, z = mass - m, under[0, 1] - x, under[0, 2] - y, under[0, 3] - z
        u, v, w = lines[j, 0], lines[j, 1], lines[j, 2]
        out[0, j] = s * (v * z - w * y + m * lines[j, 3])
        out[1, j] = s * (w * x - u * z + m * lines[j, 4])
        out[2, j] = s * (u * y - v * x + m * lines[j, 5])


@kernel
def write_point(lines: np.ndarray, signs: np.ndarray, x: float, y: float, z: float, out: np.ndarray) -> None:
    """Write the derivative of a body's point by each angle: out (3, n).   [balance, 10; steps, 6]"""
    for j in range(len(signs)):
        s, u, v, w = signs[j], lines[j, 0], lines[j, 1], lines[j, 2]
        out[0, j] = s * (v * z - w * y + lines[j, 3])
        out[1, j] = s * (w * x - u * z + lines[j, 4])
        out[2, j] = s * (u * y - v * x + lines[j, 5])


@kernel
def write_rotation(lines: np.ndarray, signs: np.ndarray, radian_length: float, out: np.ndarray) -> None:
    """Write a body's rotation by each angle, world axes, times `radian_length`: out (3, n)."""
    for j in range(len(signs)):
        s = radian_length * signs[j]
        out[0, j], out[1, j], out[2, j] = s * lines[j, 0], s * lines[j, 1], s * lines[j, 2]


@kernel
def find_orientation_error(R: np.ndarray, target: np.ndarray, out: np.ndarray) -> None:
    """Write the rotation vector (3,), world axes, that takes R (3, 3) to the target."""
    # D = target R^T; v = its axis times 2 sin
    vx = vy = vz = trace = 0.0
    for a in range(3):
        vx += target[2, a] * R[1, a] - target[1, a] * R[2, a]
        vy += target[0, a] * R[2, a] - target[2, a] * R[0, a]
        vz += target[1, a] * R[0, a] - target[0, a] * R[1, a]
        trace += target[0, a] * R[0, a] + target[1, a] * R[1, a] + target[2, a] * R[2, a]
    sine, cosine = 0.5 * np.sqrt(vx * vx + vy * vy + vz * vz), 0.5 * (trace - 1.0)
    angle = np.arctan2(sine, cosine)
    scale = 0.5 if sine < 1e-9 else 0.5 * angle / sine
    out[0], out[1], out[2] = scale * vx, scale * vy, scale * vz


@kernel
def _write_edges(goals: IkGoals, work: IkWorkspace, system: LinearSystem) -> int:
    """Write the rows that keep the centre of mass inside its support; return the next row."""
    edges, under, rates = goals.edges, work.masses_under, work.center_rates
    J, e, mass = system.J, system.e, work.masses_under[0, 0]
    x, z = under[0, 1] / mass, under[0, 3] / mass
    for i in range(goals.edge_count):
        nx, nz = edges[i, 0], edges[i, 1]
        e[i] = edges[i, 2] - nx * x - nz * z
        for j in range(work.dofs):
            J[i, j] = nx * rates[0, j] + nz * rates[2, j]
        system.kind[i], system.weight[i], system.is_primary[i] = BELOW, goals.edge_weight, True
        system.primary_error = max(system.primary_error, -e[i])
    return int(goals.edge_count)


@kernel
def _write_center_target(goals: IkGoals, work: IkWorkspace, system: LinearSystem, row: int) -> int:
    """Write a row for each axis that the centre of mass has a target of; return the next row."""
    mass = work.masses_under[0, 0]
    for a in range(3):
        weight = goals.center_weight[a]
        if weight > 0.0:
            error = goals.center[a] - work.masses_under[0, 1 + a] / mass
            for j in range(work.dofs):
                system.J[row, j] = work.center_rates[a, j]
            system.e[row], system.kind[row], system.weight[row] = error, BOTH, weight
            system.is_primary[row] = goals.center_is_primary[a]
            if goals.center_is_primary[a]:
                system.primary_error = max(system.primary_error, abs(error))
            else:
                system.cost += weight * error**2
                if weight >= goals.edge_weight:  # as heavy as a goal, not a preference
                    system.secondary_error = max(system.secondary_error, abs(error))
            row += 1
    return row


@kernel
def _write_points(goals: IkGoals, work: IkWorkspace, system: LinearSystem, row: int) -> int:
    """Write three rows for each point; return the next row."""
    e = system.e
    for i in range(goals.point_count):
        o, target = goals.point_offset[i], goals.point_target[i]
        R, p = work.R[goals.point_body[i]], work.p[goals.point_body[i]]
        x = p[0] + R[0, 0] * o[0] + R[0, 1] * o[1] + R[0, 2] * o[2]
        y = p[1] + R[1, 0] * o[0] + R[1, 1] * o[1] + R[1, 2] * o[2]
        z = p[2] + R[2, 0] * o[0] + R[2, 1] * o[1] + R[2, 2] * o[2]
        write_point(work.lines, work.signs[1 + i], x, y, z, system.J[row : row + 3])
        e[row], e[row + 1], e[row + 2] = target[0] - x, target[1] - y, target[2] - z
        square = _weigh_rows(system, row, goals.point_weight[i], goals.point_is_primary[i])
        if goals.point_is_floor[i]:
            square = _make_floor(system, row)
        _count_error(system, goals.point_weight[i], goals.point_is_primary[i], square)
        row += 3
    return row


@kernel
def _write_orientations(model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, row: int) -> int:
    """Write three rows for each orientation; return the next row."""
    for i in range(goals.orientation_count):
        signs = work.signs[1 + goals.point_count + i]
        write_rotation(work.lines, signs, model.radian_length, system.J[row : row + 3])
        error = system.e[row : row + 3]
        find_orientation_error(work.R[goals.orientation_body[i]], goals.orientation_matrix[i], error)
        for a in range(3):
            error[a] *= model.radian_length
        square = _weigh_rows(system, row, goals.orientation_weight[i], goals.orientation_is_primary[i])
        _count_error(system, goals.orientation_weight[i], goals.orientation_is_primary[i], square)
        row += 3
    return row


@kernel
def _write_looks(model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, row: int) -> int:
    """Write three rows for each line of sight; return the next row."""
    for i in range(goals.look_count):
        write_look(model, goals, work, system, i, row)
        square = _weigh_rows(system, row, goals.look_weight[i], False)
        _count_error(system, goals.look_weight[i], False, square)
        row += 3
    return row


@kernel
def _weigh_rows(system: LinearSystem, row: int, weight: float, is_primary: bool) -> float:
    """Set kind and weight of a goal's three rows; return the square of its error."""
    e = system.e
    for a in range(row, row + 3):
        system.kind[a], system.weight[a], system.is_primary[a] = BOTH, weight, is_primary
    return e[row] ** 2 + e[row + 1] ** 2 + e[row + 2] ** 2


@kernel
def _make_floor(system: LinearSystem, row: int) -> float:
    """Make the rows of a point one that only pushes up: -dy <= y - target; return the square of its error."""
    J, e = system.J, system.e
    e[row], e[row + 1], e[row + 2] = 0.0, -e[row + 1], 0.0
    for j in range(system.dofs):
        J[row + 1, j] = -J[row + 1, j]
    system.kind[row + 1], system.weight[row], system.weight[row + 2] = BELOW, 0.0, 0.0
    return min(e[row + 1], 0.0) ** 2


@kernel
def _count_error(system: LinearSystem, weight: float, is_primary: bool, square: float) -> None:
    """Count a goal's error among the primary or the secondary ones."""
    if weight == 0.0:
        return
    if is_primary:
        system.primary_error = max(system.primary_error, np.sqrt(square))
    else:
        system.secondary_error = max(system.secondary_error, np.sqrt(square))
        system.cost += weight * square


@kernel
def write_look(model: IkModel, goals: IkGoals, work: IkWorkspace, system: LinearSystem, i: int, row: int) -> None:
    """Write the rows that turn the line of sight of look i to its target, times `radian_length`.

    With u the line of sight and v the direction to the target, it turns by u x v. A rotation about u does not count,
    and as the eye moves by dx, the direction to a target at a distance D turns by -v x dx / D.
    """
    body, lines, signs = goals.look_body[i], work.lines, work.signs[1 + goals.point_count + goals.orientation_count + i]
    R, J, e = work.R[body], system.J[row : row + 3], system.e[row : row + 3]
    u, x = R @ goals.look_along[i], work.p[body] + R @ goals.look_eye[i]
    v = goals.look_target[i] - x
    far = max(np.sqrt(v @ v), 1e-3)
    v /= far
    c = np.array([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])
    sine, cosine = np.sqrt(c @ c), u @ v
    angle = np.arctan2(sine, cosine)
    if sine < 1e-9 and cosine < 0.0:  # right behind it: any direction will do
        c = np.array([0.0, 1.0, 0.0]) if abs(u[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
        c -= (c @ u) * u
        c /= np.sqrt(c @ c)
        sine = 1.0
    for j in range(len(signs)):
        s, rx, ry, rz = model.radian_length * signs[j], lines[j, 0], lines[j, 1], lines[j, 2]
        about = u[0] * rx + u[1] * ry + u[2] * rz
        dx = (ry * x[2] - rz * x[1] + lines[j, 3]) / far
        dy = (rz * x[0] - rx * x[2] + lines[j, 4]) / far
        dz = (rx * x[1] - ry * x[0] + lines[j, 5]) / far
        J[0, j] = s * (rx - about * u[0] + v[1] * dz - v[2] * dy)
        J[1, j] = s * (ry - about * u[1] + v[2] * dx - v[0] * dz)
        J[2, j] = s * (rz - about * u[2] + v[0] * dy - v[1] * dx)
    for a in range(3):
        e[a] = model.radian_length * angle * c[a] / max(sine, 1e-12)
