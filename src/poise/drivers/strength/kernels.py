"""Kernels of `Strength`: target accelerations, contact points, goals, and the torques of a solution.

Symbols are those of `dynamics/contact/contact_dynamics_kernels.py`; the records are in `records.py`. Python calls the
kernels before the first whose name begins with an underscore, with the address of a `StepRecord`, in this order.
`plan_center` plans the centre of mass a few seconds ahead.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.layout import at
from poise.compiled.views import record
from poise.drivers.balance.support_kernels import clamp_to_hull, find_hull, hull_margin
from poise.drivers.strength.records import (
    CenterGoal,
    CenterPlan,
    ContactPoints,
    Feet,
    Freedoms,
    GoalRows,
    PointGoal,
    StepRecord,
)
from poise.dynamics.body_kernels import Body, turn
from poise.dynamics.contact.contact_dynamics_kernels import find_joint_torques, find_point_rows, find_pressure_center
from poise.dynamics.contact.records import ContactModel, InertiaModel
from poise.dynamics.qp.problem import QpSolution
from poise.motion.playback.part_kernels import log_between
from poise.world.ground.kernels import find_floor
from poise.world.ground.record import GROUND

# m: a floor that is higher than this above a sole is not under it. Not swept.
ABOVE = 0.05
# rad/s2, the largest acceleration that is asked of a joint: a jump in a clip is not followed. Not swept.
MOST_ACCELERATION = 2e3
# Largest normal force on a corner of a sole, or on a hand, over the body's weight; no unit. It bounds the search. Not
# swept.
MOST_FORCE = 20.0
# Fraction of a corner's distance from the middle of the sole at which the model has its force. Not swept; below 1, so
# that the model tips before the engine does.
INSIDE = 0.97
# m, height of a corner over the floor up to which it carries as much as any, and from which on it carries nothing. Not
# swept.
FLAT, NEAR = 1e-3, 4e-3
# m/s and m: the motion lifts a foot whose sole rises faster, or is higher, than this. Not swept.
LIFT_SPEED, LIFT_HEIGHT = 0.02, 0.01
# Cosine of the lean (60 degrees), and fraction of the height, both compared with the motion's, below which a body is
# given up; no unit. Not swept.
LOST = 0.5


@kernel
def find_target_accelerations(step: int) -> None:
    """Write target accelerations and world axes of the degrees of freedom."""
    s = at(step, StepRecord)
    _find_target_accelerations(at(s.body, Body), at(s.motion, Body), at(s.end, Body), at(s.freedoms, Freedoms))


@kernel
def is_lifted(step: int, side: int) -> bool:
    """Return whether the motion lifts a foot."""
    s = at(step, StepRecord)
    return _is_lifted(at(s.motion, Body), at(s.feet, Feet), side)


@kernel
def add_sole(step: int, side: int, lifted: bool) -> int:
    """Add the corners of a sole that are on the floor to the contact points; return how many are.

    A foot that the motion lifts counts only while all of its corners are down.
    """
    s = at(step, StepRecord)
    return _add_sole(at(s.body, Body), at(s.feet, Feet), side, lifted, at(s.contacts, ContactPoints))


@kernel
def write_contacts(step: int) -> None:
    """Write the forces at the contact points into the model, and the ranges of these and of the torques."""
    s = at(step, StepRecord)
    model, freedoms = at(s.model, ContactModel), at(s.freedoms, Freedoms)
    for k in range(freedoms.count):
        model.low[k], model.high[k] = freedoms.low[k], freedoms.high[k]
    _write_forces(at(s.contacts, ContactPoints), model)


@kernel
def lead_point(step: int, segment: int) -> None:
    """Draft the goal that brings a point of a segment to a place, and the segment to an orientation."""
    s = at(step, StepRecord)
    goals = at(s.goals, GoalRows)
    _lead_point(
        at(s.body, Body), at(s.inertia, InertiaModel), at(s.model, ContactModel), segment, at(s.point, PointGoal),
        goals.draft, goals.draft_y,
    )  # fmt: skip


@kernel
def lead_center(step: int) -> None:
    """Draft the goal of the centre of mass, as far as soles can push it."""
    s = at(step, StepRecord)
    goals = at(s.goals, GoalRows)
    _lead_center(at(s.body, Body), at(s.model, ContactModel), at(s.center, CenterGoal), goals.draft, goals.draft_y)


@kernel
def add_goal(step: int, first: int, last: int, kind: int, scale: float, turns: float) -> None:
    """Append rows `first` to `last` of the draft, times a scale.

    turns  another factor of the rows after the third, which lead a segment's orientation
    """
    goals = at(at(step, StepRecord).goals, GoalRows)
    count = goals.count
    for i in range(first, last):
        s = scale * turns if i - first >= 3 else scale
        goals.kind[count], goals.scale[count], goals.y[count] = kind, s, s * goals.draft_y[i]
        for k in range(goals.unknowns):
            goals.rows[count, k] = s * goals.draft[i, k]
        count += 1
    goals.count = count


@kernel
def find_shift(step: int, shift: np.ndarray) -> None:
    """Write how far, seen from above, feet that stand are from those of the motion; without any, leave it as it is."""
    s = at(step, StepRecord)
    p, asked, feet = at(s.body, Body).p, at(s.motion, Body).p, at(s.feet, Feet)
    count, x, z = 0, 0.0, 0.0
    for side in range(feet.count):
        if feet.stands[side]:
            i = feet.joint[side]
            count, x, z = count + 1, x + p[i, 0] - asked[i, 0], z + p[i, 2] - asked[i, 2]
    if count:
        shift[0], shift[2] = x / count, z / count


@kernel
def write_solution(step: int) -> None:
    """Write accelerations and torques of all joints, the centre of pressure, and by how much goals are missed."""
    s = at(step, StepRecord)
    model, freedoms, contacts, solution = (
        at(s.model, ContactModel), at(s.freedoms, Freedoms), at(s.contacts, ContactPoints), at(s.solution, QpSolution),
    )  # fmt: skip
    push = np.empty(model.forces)
    for i in range(model.forces):
        push[i] = model.unit * solution.x[freedoms.count + i]
    _write_pushes(contacts, solution, freedoms.count)
    _write_missed(at(s.goals, GoalRows), solution)
    _write_torques(at(s.body, Body), at(s.inertia, InertiaModel), model, freedoms, solution, push)
    find_pressure_center(model.point, model.direction, push, contacts.pressure_center)


@kernel
def is_lost(step: int) -> bool:
    """Return whether a body lies, or leans so far or is so low compared with the motion that nothing helps."""
    s = at(step, StepRecord)
    body, motion, feet, contacts = at(s.body, Body), at(s.motion, Body), at(s.feet, Feet), at(s.contacts, ContactPoints)
    c, p, ghost_p = body.c, body.p, motion.p
    up, asked = c.copy(), motion.c.copy()
    for i in feet.joint:
        up -= p[i] / feet.count
        asked -= ghost_p[i] / feet.count
    lean = up[1] / max(np.sqrt(up[0] ** 2 + up[1] ** 2 + up[2] ** 2), 1e-9)
    wanted = asked[1] / max(np.sqrt(asked[0] ** 2 + asked[1] ** 2 + asked[2] ** 2), 1e-9)
    lowest = np.inf
    for i in range(contacts.count):
        lowest = min(lowest, contacts.point[i, 1])
    return lean < LOST * wanted or c[1] - lowest < LOST * asked[1]


@kernel
def add_sample(body: Body, feet: Feet, plan: CenterPlan, i: int) -> None:
    """Write sample i of a plan: centre of mass and soles of a body in the motion's pose."""
    R, p, soles = body.R, body.p, plan.soles[i]
    plan.center[i], plan.velocity[i] = body.c, body.dc
    for f in range(feet.count):
        k = feet.joint[f]
        for c in range(4):
            x, y, z = turn(R[k], feet.corners[f, c])
            soles[f, c, 0], soles[f, c, 1], soles[f, c, 2] = p[k, 0] + x, p[k, 1] + y, p[k, 2] + z
        plan.lifted[i, f] = _is_lifted(body, feet, f)


@kernel
def plan_center(plan: CenterPlan) -> None:
    """Plan a centre of mass that follows the motion as far as the soles can push it.

    Seen from above, with p the centre of pressure that the motion asks for, moved into the soles,

        c'' = (g + y'') / y (c - p)

    which is unstable forwards in time; so it is solved as a boundary value problem, from where the body is to rest over
    the last p.
    """
    c, dc, lifted, h, g, start, planned = (
        plan.center, plan.velocity, plan.lifted, plan.interval, plan.gravity, plan.start, plan.planned,
    )  # fmt: skip
    N, F = plan.samples, lifted.shape[1]
    points, hull, p = np.empty((4 * F, 3)), np.empty((4 * F + 1, 2)), np.empty((N, 2))
    stiff, y = np.empty(N), np.empty((N, 2))
    for i in range(N):
        before, after = max(i - 1, 0), min(i + 1, N - 1)
        a = (dc[after] - dc[before]) / max((after - before) * h, 1e-9)
        count = 0
        for f in range(F):
            if not lifted[i, f]:
                for k in range(4):
                    points[count] = plan.soles[i, f, k]
                    count += 1
        planned[i, 0], planned[i, 1], planned[i, 2] = c[i], dc[i], a
        p[i, 0], p[i, 1], stiff[i] = c[i, 0], c[i, 2], 0.0
        if count == 0:
            continue
        size, height = outline_of(points, count, plan.scale, hull)
        up = max(c[i, 1] - height, 0.1)
        stiff[i] = max(g + a[1], 0.05 * g) / up
        p[i] = clamp_to_hull(hull, size, c[i, 0] - a[0] / stiff[i], c[i, 2] - a[2] / stiff[i])
    # c_(i-1) - (2 + h^2 s_i) c_i + c_(i+1) = -h^2 s_i p_i, with both ends given: a tridiagonal system   [Thomas]
    y[0, 0], y[0, 1], y[N - 1] = start[0], start[2], p[N - 1]
    upper, right = np.zeros(N), np.zeros((N, 2))
    right[0] = y[0]
    for i in range(1, N - 1):
        k = h * h * stiff[i]
        down = 2.0 + k - upper[i - 1]
        upper[i] = 1.0 / down
        right[i] = (k * p[i] + right[i - 1]) / down
    for i in range(N - 2, 0, -1):
        y[i] = right[i] + upper[i] * y[i + 1]
    for i in range(N):
        before, after = max(i - 1, 0), min(i + 1, N - 1)
        speed = (y[after] - y[before]) / max((after - before) * h, 1e-9)
        for k in range(2):
            planned[i, 0, 2 * k], planned[i, 1, 2 * k] = y[i, k], speed[k]
            planned[i, 2, 2 * k] = stiff[i] * (y[i, k] - p[i, k])


@kernel
def outline_of(points: np.ndarray, count: int, scale: float, hull: np.ndarray) -> tuple[int, float]:
    """Write the outline of points (N, 3), seen from above and scaled about its middle; return its size and height."""
    level = np.empty((count, 2))
    height = 0.0
    for i in range(count):
        level[i, 0], level[i, 1] = points[i, 0], points[i, 2]
        height += points[i, 1] / count
    size = find_hull(level, count, hull)
    mx, mz = 0.0, 0.0
    for i in range(size):
        mx, mz = mx + hull[i, 0] / size, mz + hull[i, 1] / size
    for i in range(size):
        hull[i, 0], hull[i, 1] = mx + scale * (hull[i, 0] - mx), mz + scale * (hull[i, 1] - mz)
    return size, height


@kernel
def set_frame(x: float, y: float, z: float, frame: np.ndarray) -> None:
    """Write axes (3, 3) whose first is a unit normal."""
    # perpendicular to the coordinate axis that it is farthest from
    if abs(x) < 0.9:
        ax, ay, az = 0.0, z, -y
    else:
        ax, ay, az = -z, 0.0, x
    size = np.sqrt(ax * ax + ay * ay + az * az)
    ax, ay, az = ax / size, ay / size, az / size
    frame[0, 0], frame[0, 1], frame[0, 2] = x, y, z
    frame[1, 0], frame[1, 1], frame[1, 2] = ax, ay, az
    frame[2, 0], frame[2, 1], frame[2, 2] = y * az - z * ay, z * ax - x * az, x * ay - y * ax


@kernel
def _find_target_accelerations(body: Body, motion: Body, end: Body, freedoms: Freedoms) -> None:
    """Write the target acceleration (n,) of each degree of freedom, and in dw (J, 3) all else that joints do.

    dw = (w*' - w*) / dt + rate (w* - w) + alpha rate^2 (q* - q)   [strength, eq 4]

    motion  the body in the motion's pose, q* and w*;  end: the same at the end of the step, w*'

    Accelerations of joints that are not driven are the body's `dw`. Also writes the axes in the world.
    """
    q, w, aim, speed, ahead, h, off = body.q, body.w, motion.q, motion.w, end.w, freedoms.dt, np.empty(3)
    dw, x, e, axes, joint, R = (
        freedoms.dw, freedoms.target, freedoms.world_axis, freedoms.axis, freedoms.joint, body.R,
    )  # fmt: skip
    alpha, most = freedoms.alpha, MOST_ACCELERATION
    dw[:] = body.dw
    for i in freedoms.driven_joints:
        log_between(q[i], aim[i], off)
        size, rate = 0.0, freedoms.rate[i]
        for a in range(3):
            dw[i, a] = (ahead[i, a] - speed[i, a]) / h + rate * (speed[i, a] - w[i, a]) + alpha * rate * rate * off[a]
            size += dw[i, a] ** 2
        if size > most * most:
            for a in range(3):
                dw[i, a] *= most / np.sqrt(size)
    for k in range(len(joint)):
        i = joint[k]
        x[k] = axes[k, 0] * dw[i, 0] + axes[k, 1] * dw[i, 1] + axes[k, 2] * dw[i, 2]
        e[k, 0], e[k, 1], e[k, 2] = turn(R[i], axes[k])
    for k in range(len(joint)):
        for a in range(3):
            dw[joint[k], a] -= x[k] * axes[k, a]


@kernel
def _is_lifted(body: Body, feet: Feet, side: int) -> bool:
    """Return whether the motion, in whose pose the body is, lifts a foot off what it is on."""
    if feet.has_motion == 0:
        return False
    i, corners = feet.joint[side], feet.corners[side]
    R, p, om, v = body.R[i], body.p[i], body.om[i], body.vel[i]
    least, lowest = np.inf, np.inf
    for c in range(4):
        x, y, z = turn(R, corners[c])
        least = min(least, v[1] + om[2] * x - om[0] * z)
        lowest = min(lowest, p[1] + y)
    return (lowest > feet.ground + LIFT_HEIGHT and least > -LIFT_SPEED) or least > LIFT_SPEED


@kernel
def _add_sole(body: Body, feet: Feet, side: int, lifted: bool, contacts: ContactPoints) -> int:
    """Add the corners of a sole that are on the floor to the contact points; return how many are.

    A foot that the motion lifts counts only while all of its corners are down.
    """
    R, p, foot, corners, floor = body.R, body.p, feet.joint[side], feet.corners[side], record(body.floor, GROUND)
    points, count, down = contacts.point, contacts.count, 0
    middle = np.zeros(3)
    for c in range(4):
        middle += corners[c] / 4.0
    for c in range(4):
        x, y, z = turn(R[foot], corners[c])
        x, y, z = x + p[foot, 0], y + p[foot, 1], z + p[foot, 2]
        height, nx, ny, nz = find_floor(floor, x, z, y + ABOVE)
        if y - height >= NEAR:
            continue
        contacts.most[count] = MOST_FORCE * min(1.0, (NEAR - (y - height)) / (NEAR - FLAT))
        x, y, z = turn(R[foot], middle + INSIDE * (corners[c] - middle))
        points[count, 0], points[count, 1], points[count, 2] = x + p[foot, 0], y + p[foot, 1], z + p[foot, 2]
        set_frame(nx, ny, nz, contacts.frame[count])
        contacts.segment[count] = foot
        count += 1
        down += 1
    if not lifted or down == 4:
        contacts.count = count
    return down


@kernel
def _write_forces(contacts: ContactPoints, model: ContactModel) -> None:
    """Give each contact point four forces, along the edges of a pyramid inside its friction cone.

    Each is between zero and the point's largest force: rows of the model's bounds after the torques'.
    """
    n, points, frames, friction, most = model.freedoms, contacts.point, contacts.frame, contacts.friction, contacts.most
    H, b, low, high, ways = model.H, model.b, model.low, model.high, model.direction
    for i in range(contacts.count):
        for k in range(4):
            j, side = 4 * i + k, friction[i] if k % 2 else -friction[i]
            model.segment[j] = contacts.segment[i]
            for a in range(3):
                model.point[j, a] = points[i, a]
                ways[j, a] = frames[i, 0, a] + side * frames[i, 1 + k // 2, a]
            H[n + j] = 0.0
            H[n + j, n + j] = 1.0
            b[n + j], low[n + j], high[n + j] = 0.0, 0.0, most[i]


@kernel
def _lead_point(
    body: Body, inertia: InertiaModel, model: ContactModel, segment: int, goal: PointGoal, rows: np.ndarray,
    y: np.ndarray,
) -> None:  # fmt: skip
    """Write rows (6, U), y (6,) that bring a point of a segment to a place, and the segment to an orientation."""
    R, p, om, v, at, place = body.R, body.p, body.om, body.vel, goal.at, goal.place
    speed, going, rate, alpha = goal.velocity, goal.acceleration, goal.rate, goal.alpha
    c, off, q = np.empty(6), np.empty(3), np.empty(4)
    find_point_rows(body, inertia, model, segment, at, rows, c)
    rx, ry, rz = at[0] - p[segment, 0], at[1] - p[segment, 1], at[2] - p[segment, 2]
    w, v = om[segment], v[segment]
    now = (v[0] + w[1] * rz - w[2] * ry, v[1] + w[2] * rx - w[0] * rz, v[2] + w[0] * ry - w[1] * rx)
    set_quaternion(R[segment], q)
    log_between(q, goal.orientation, off)  # in the segment's axes
    askew = turn(R[segment], off)
    for a in range(3):
        y[a] = going[a] + rate * (speed[a] - now[a]) + alpha * rate * rate * (place[a] - at[a]) - c[a]
        y[3 + a] = going[3 + a] + rate * (speed[3 + a] - w[a]) + alpha * rate * rate * askew[a] - c[3 + a]


@kernel
def set_quaternion(R: np.ndarray, q: np.ndarray) -> None:
    """Write the unit quaternion q (4,) wxyz of a rotation matrix, by its largest component."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    if trace > 0.0:
        s = 2.0 * np.sqrt(trace + 1.0)
        q[0], q[1], q[2], q[3] = 0.25 * s, (R[2, 1] - R[1, 2]) / s, (R[0, 2] - R[2, 0]) / s, (R[1, 0] - R[0, 1]) / s
        return
    i = 0
    if R[1, 1] > R[0, 0]:
        i = 1
    if R[2, 2] > R[i, i]:
        i = 2
    j, k = (i + 1) % 3, (i + 2) % 3
    s = 2.0 * np.sqrt(max(1.0 + R[i, i] - R[j, j] - R[k, k], 1e-300))
    q[0], q[1 + i] = (R[k, j] - R[j, k]) / s, 0.25 * s
    q[1 + j], q[1 + k] = (R[j, i] + R[i, j]) / s, (R[k, i] + R[i, k]) / s


@kernel
def _lead_center(body: Body, model: ContactModel, goal: CenterGoal, rows: np.ndarray, y: np.ndarray) -> None:
    """Write rows (m, U), y (m,) that bring the centre of mass c to a place, along m axes, as far as soles can push it.

    Seen from above, e off its place and with s^2 = g over its height, the centre of pressure leads the capture point,

        c'' = c*'' - gain s^2 e - (1 + gain) s e'        p = c - c'' / s^2

    and, where that is outside of the soles, is moved to the point where the line from the capture point leaves them:
    the nearest point of the soles is often a corner, which pushes another way and asks most of an ankle.
    """
    c, dc, place, speed, going, gravity = (
        goal.center, goal.center_velocity, goal.place, goal.velocity, goal.acceleration, body.gravity,
    )  # fmt: skip
    gain, rate, alpha, hull, size, axes = goal.gain, goal.rate, goal.alpha, goal.hull, goal.size, goal.direction
    g = np.sqrt(gravity[0] ** 2 + gravity[1] ** 2 + gravity[2] ** 2)
    up = max(c[1] - goal.height, 0.05)
    s = np.sqrt(g / up)
    go = np.empty(3)
    for a in range(3):
        off, late = c[a] - place[a], dc[a] - speed[a]
        if a == 1:
            go[a] = going[a] - rate * late - alpha * rate * rate * off
        else:
            go[a] = going[a] - gain * s * s * off - (1.0 + gain) * s * late
    if size >= 3 and g > 0.0:
        x, z = draw_to_hull(hull, size, c[0] + dc[0] / s, c[2] + dc[2] / s, c[0] - go[0] / s**2, c[2] - go[2] / s**2)
        go[0], go[2] = (c[0] - x) * s**2, (c[2] - z) * s**2
    for i in range(len(axes)):
        a = axes[i]
        rows[i] = 0.0
        for k in range(model.forces):
            rows[i, model.freedoms + k] = model.unit / goal.mass * model.direction[k, a]
        y[i] = go[a] - gravity[a]  # m c'' = sum f + m g


@kernel
def _write_pushes(contacts: ContactPoints, solution: QpSolution, n: int) -> None:
    """Write the force on each supporting hand; forces are after the first n unknowns."""
    push, hand = contacts.push, contacts.hand
    push[:] = 0.0
    for i in range(contacts.count):
        if hand[i] >= 0:
            for k in range(4):
                push[hand[i]] += solution.x[n + 4 * i + k]


@kernel
def _write_torques(
    body: Body, inertia: InertiaModel, model: ContactModel, freedoms: Freedoms, solution: QpSolution, push: np.ndarray
) -> None:
    """Write accelerations and torques of all joints, with contact forces (P,) N."""
    u, a, joint, axes, dw = solution.x, model.a0.copy(), freedoms.joint, freedoms.axis, freedoms.dw
    for i in range(6):
        for k in range(model.unknowns):
            a[i] += model.A[i, k] * u[k]
    for k in range(freedoms.count):
        for c in range(3):
            dw[joint[k], c] += u[k] * axes[k, c]
    find_joint_torques(body, inertia, model, dw, a, push, freedoms.vectors)
    _clip_torques(freedoms, freedoms.vectors)


@kernel
def _clip_torques(freedoms: Freedoms, vectors: np.ndarray) -> None:
    """Move torques (J, 3) so that their components about the axes are exactly in range; write torque and ratio."""
    joint, e, low, high = freedoms.joint, freedoms.world_axis, freedoms.low, freedoms.high
    for k in range(freedoms.count):
        i = joint[k]
        found = e[k, 0] * vectors[i, 0] + e[k, 1] * vectors[i, 1] + e[k, 2] * vectors[i, 2]
        kept = min(max(found, low[k]), high[k])
        for a in range(3):
            vectors[i, a] += (kept - found) * e[k, a]
        freedoms.torque[k] = kept
        bound = high[k] if kept > 0.0 else -low[k]
        freedoms.ratio[k] = max(freedoms.ratio[k], abs(kept) / max(bound, 1e-9))


@kernel
def _write_missed(goals: GoalRows, solution: QpSolution) -> None:
    """Write the most by which goals of the first two kinds are missed."""
    kind, missed = goals.kind, goals.missed
    missed[:] = 0.0
    for i in range(goals.count):
        if kind[i] < len(missed):
            missed[kind[i]] = max(missed[kind[i]], abs(solution.residual[i]) / goals.scale[i])


@kernel
def draw_to_hull(hull: np.ndarray, size: int, x: float, z: float, px: float, pz: float) -> tuple[float, float]:
    """Return the last point of a convex polygon on the way from (x, z) in it to (px, pz).

    If (x, z) is outside, return the point of the polygon nearest to (px, pz).
    """
    if size < 3 or hull_margin(hull, size, x, z) <= 0.0:
        return clamp_to_hull(hull, size, px, pz)
    share = 1.0
    ax, az = hull[size - 1, 0], hull[size - 1, 1]
    for i in range(size):
        ex, ez = hull[i, 0] - ax, hull[i, 1] - az
        out = ez * (px - x) - ex * (pz - z)  # how fast the way leaves over this edge
        inside = ex * (z - az) - ez * (x - ax)
        if out > inside:
            share = min(share, inside / out)
        ax, az = hull[i, 0], hull[i, 1]
    return x + share * (px - x), z + share * (pz - z)
