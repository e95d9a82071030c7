"""Counterpoise, compiled: the shift of the centre of mass by the arms, the lean against it, and taking part in a
gesture.

How far arms shift a body's centre of mass:

    r = (sum of m_i x_i - the same of hanging arms) / m     over the segments of the arms with what they hold

x_i are their centres of mass in the axes of the chest, m is the mass of the whole body: r is the shift of the body's
centre of mass by the joint angles of the arms alone. Where a clip is followed, the r of its own arms is taken off: only
what the clip does not contain is answered.

Its laws: springs whose aims lean against the arms, and the motion of a trunk that leans (`counterpoise.py`); and how a
body takes part in a gesture at a time (`taking_part.py` has the formulas).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import blocks, call_with_two, floats, integers, record, tables, vectors
from poise.drivers.counterpoise.taking_part import PELVIS_BOW
from poise.drivers.loose.kernels import SPRINGS, carry_weight, go_along, pull_to
from poise.dynamics.body_kernels import BODY, matrix_of, turn, turn_back
from poise.engines.contact_log import PRESSED
from poise.motion.body_track import BOW, CHEST_YAW, MOVES, PELVIS_YAW
from poise.motion.playback.kernels import find_segment, phase_at
from poise.motion.playback.part_kernels import multiply, rotate_back, set_exp, take_over

SIDEWAYS = 0.5  # people lean sideways half as far per metre as they lean back [visible coupling of nine recordings]
# arms    (K,) joints from the chest outwards, parents first;  above (K,) the place of each one's parent among them, -1
#         for the chest;  counts (K,) 1 for segments of the arms, 0 for what is between the chest and them
# hanging (3,) kg m, sum of m_i x_i of arms that hang, chest axes;  mass: kg, of the whole body
# frames  (K, 30) for work: each joint's orientation and position, angular velocity and velocity, their derivatives, and
#         velocity and acceleration of its segment's centre of mass; chest axes
# times, clip   (F,) s and (F, 9): r, r' and r'' of the clip that is followed, whose time 0 is `start`; F = 0: none is
SHIFT = fields(arrays="arms above counts hanging frames times clip", integers="count clip_count", floats="mass start")


@kernel
def find_shift(b: Any, x: Any, q: np.ndarray, t: float, out: np.ndarray) -> None:
    """Write r and its first and second derivatives (3, 3), in m and s along the axes of the chest.

    q  (J, 4) rotations of all joints; their velocities and accelerations are the body's
    """
    j, k = b.joints, x.count
    arms, above, counts = integers(x.arms, k), integers(x.above, k), integers(x.counts, k)
    offsets, centers, masses = vectors(b.offsets, j, 3), vectors(b.centers, j, 3), floats(b.masses, j)
    w, dw, frames = vectors(b.w, j, 3), vectors(b.dw, j, 3), vectors(x.frames, k, 30)
    out[:] = 0.0
    for n in range(k):
        i, own = arms[n], frames[n]
        R, p = own[:9].reshape(3, 3), own[9:12]
        om, v, al, a = own[12:15], own[15:18], own[18:21], own[21:24]
        R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2] = matrix_of(q[i])
        if above[n] < 0:
            for c in range(3):
                p[c] = offsets[i, c]
                om[c] = v[c] = al[c] = a[c] = 0.0
        else:
            before = frames[above[n]]
            base = before[:9].reshape(3, 3)
            dx, dy, dz = turn(base, offsets[i])
            _move_point(before[12:24], dx, dy, dz, v, a)
            p[0], p[1], p[2] = before[9] + dx, before[10] + dy, before[11] + dz
            _multiply(base, R)
            for c in range(3):
                om[c], al[c] = before[12 + c], before[18 + c]
        wx, wy, wz = turn(R, w[i])
        ax, ay, az = turn(R, dw[i])
        al[0] += ax + om[1] * wz - om[2] * wy
        al[1] += ay + om[2] * wx - om[0] * wz
        al[2] += az + om[0] * wy - om[1] * wx
        om[0] += wx
        om[1] += wy
        om[2] += wz
        if counts[n] == 0:
            continue
        dx, dy, dz = turn(R, centers[i])
        _move_point(own[12:24], dx, dy, dz, own[24:27], own[27:30])
        share = masses[i] / x.mass
        out[0, 0] += share * (p[0] + dx)
        out[0, 1] += share * (p[1] + dy)
        out[0, 2] += share * (p[2] + dz)
        for c in range(3):
            out[1, c] += share * own[24 + c]
            out[2, c] += share * own[27 + c]
    _take_off_rest(x, t, out)


@kernel
def find_shift_now(b: Any, x: Any, chest: int, out: np.ndarray) -> None:
    """Write r and its first derivative (2, 3) as of `find_shift`, from the world poses and velocities of the body."""
    j, k = b.joints, x.count
    arms, counts = integers(x.arms, k), integers(x.counts, k)
    centers, masses = vectors(b.centers, j, 3), floats(b.masses, j)
    R, p, om, v = blocks(b.R, j, 3, 3), vectors(b.p, j, 3), vectors(b.om, j, 3), vectors(b.vel, j, 3)
    rx = ry = rz = ux = uy = uz = 0.0
    for n in range(k):
        if counts[n] == 0:
            continue
        i = arms[n]
        share = masses[i] / x.mass
        dx, dy, dz = turn(R[i], centers[i])
        rx += share * (p[i, 0] + dx - p[chest, 0])
        ry += share * (p[i, 1] + dy - p[chest, 1])
        rz += share * (p[i, 2] + dz - p[chest, 2])
        ux += share * (v[i, 0] + om[i, 1] * dz - om[i, 2] * dy - v[chest, 0])
        uy += share * (v[i, 1] + om[i, 2] * dx - om[i, 0] * dz - v[chest, 1])
        uz += share * (v[i, 2] + om[i, 0] * dy - om[i, 1] * dx - v[chest, 2])
    ux -= om[chest, 1] * rz - om[chest, 2] * ry
    uy -= om[chest, 2] * rx - om[chest, 0] * rz
    uz -= om[chest, 0] * ry - om[chest, 1] * rx
    c = R[chest]
    for a in range(3):
        out[0, a] = c[0, a] * rx + c[1, a] * ry + c[2, a] * rz
        out[1, a] = c[0, a] * ux + c[1, a] * uy + c[2, a] * uz
    _take_off_rest(x, b.t, out)


@kernel
def _take_off_rest(x: Any, t: float, out: np.ndarray) -> None:
    """Take off what arms that hang, and those of a clip that is followed, have of r and its derivatives (N, 3)."""
    hanging = floats(x.hanging, 3)
    for c in range(3):
        out[0, c] -= hanging[c] / x.mass
    if x.clip_count > 0:
        _take_off_clip(floats(x.times, x.clip_count), vectors(x.clip, x.clip_count, 9), t - x.start, out)


@kernel
def _take_off_clip(times: np.ndarray, clip: np.ndarray, t: float, out: np.ndarray) -> None:
    """Take r of a clip's own arms and its derivatives (F, 9) off; before and after the clip they are at rest."""
    last = len(times) - 1
    if t <= times[0] or t >= times[last]:
        k = 0 if t <= times[0] else last
        for c in range(3):
            out[0, c] -= clip[k, c]
        return
    k = min(max(int((t - times[0]) / (times[last] - times[0]) * last), 0), last - 1)
    while k > 0 and t < times[k]:
        k -= 1
    while k < last - 1 and t >= times[k + 1]:
        k += 1
    u = (t - times[k]) / (times[k + 1] - times[k])
    for c in range(3 * len(out)):
        out[c // 3, c % 3] -= (1.0 - u) * clip[k, c] + u * clip[k + 1, c]


@kernel
def lean_by(rate: float, most: float, r: float, dr: float, ddr: float) -> tuple[float, float, float]:
    """An angle of `rate` rad per m of r that approaches `most` rad, with its first and second derivatives."""
    if most <= 0.0:
        return 0.0, 0.0, 0.0
    s = np.tanh(rate * r / most)
    slope = rate * (1.0 - s * s)
    return most * s, slope * dr, slope * ddr - 2.0 * s * slope * rate * dr * dr / most


@kernel
def _multiply(a: np.ndarray, b: np.ndarray) -> None:
    """b = a b, of matrices."""
    for c in range(3):
        x, y, z = b[0, c], b[1, c], b[2, c]
        for r in range(3):
            b[r, c] = a[r, 0] * x + a[r, 1] * y + a[r, 2] * z


@kernel
def _move_point(
    motion: np.ndarray, dx: float, dy: float, dz: float, velocity: np.ndarray, acceleration: np.ndarray
) -> None:
    """Velocity and acceleration of a point at d from another one of the same rigid body.

    motion  (12,) the body's angular velocity, that point's velocity, and their derivatives
    """
    om, v, al, a = motion[:3], motion[3:6], motion[6:9], motion[9:]
    sx, sy, sz = om[1] * dz - om[2] * dy, om[2] * dx - om[0] * dz, om[0] * dy - om[1] * dx
    velocity[0], velocity[1], velocity[2] = v[0] + sx, v[1] + sy, v[2] + sz
    acceleration[0] = a[0] + al[1] * dz - al[2] * dy + om[1] * sz - om[2] * sy
    acceleration[1] = a[1] + al[2] * dx - al[0] * dz + om[2] * sx - om[0] * sz
    acceleration[2] = a[2] + al[0] * dy - al[1] * dx + om[0] * sy - om[1] * sx


# springs     address of a block of SPRINGS, of K joints
# goal, rate  (K, 4) and (K, 3) rad/s, own axes: what the springs were last told to aim at, and how fast that turns
# is_on       (1,) 1 where they lean, 0 where not
# the rest    as of COUNTERPOISE
LEANING = fields(arrays="goal rate is_on shares rates", integers="springs shift part", floats="most")


@kernel
def find_goals(b: Any, x: Any, t: float) -> None:
    """Write where the springs aim at time t into `goal`, and how fast that turns into `rate`."""
    s = record(x.springs, SPRINGS)
    k = s.count
    aim, offset, span = vectors(s.aim, k, 4), blocks(s.offset, 3, k, 3), vectors(s.span, k, 2)
    goal, rate, shares = vectors(x.goal, k, 4), vectors(x.rate, k, 3), vectors(x.shares, k, 2)
    leans, e, tilt, dw, part = np.zeros((2, 3, 3)), np.empty((2, 3)), np.empty(4), np.zeros((1, 3)), np.zeros(5)
    if floats(x.is_on, 1)[0] > 0.0:
        find_leans(b, x, vectors(b.q, b.joints, 4), t, leans)
    for n in range(k):
        for c in range(3):
            for r in range(2):
                e[r, c] = shares[n, 0] * leans[0, r, c] + shares[n, 1] * leans[1, r, c]
        set_exp(e[0], tilt)
        multiply(aim[n], tilt, goal[n])
        rate[n, 0], rate[n, 1], rate[n, 2] = bend_rate(e[0], e[1])
        if t < span[n, 0] + span[n, 1]:
            part[3], part[4] = span[n, 0], span[n, 1]
            take_over(part, offset[:, n : n + 1], t, goal[n : n + 1], rate[n : n + 1], dw)


@law
def aim(body: int, block: int) -> None:
    """Where the springs aim at the body's `at`."""
    b = record(body, BODY)
    find_goals(b, record(block, LEANING), b.at)


@law
def pull(body: int, block: int) -> None:
    """Torques and damping of springs whose aims lean, and the weight of what hangs from them."""
    b, x = record(body, BODY), record(block, LEANING)
    s = record(x.springs, SPRINGS)
    find_goals(b, x, b.t + b.dt)
    pull_to(b, s, vectors(x.goal, s.count, 4))
    go_along(b, s, vectors(x.rate, s.count, 3))
    if floats(s.carries, 1)[0] > 0.0:
        carry_weight(b, integers(s.joints, s.count))
        carry_reaction(b, integers(s.joints, s.count))


@kernel
def carry_reaction(b: Any, joints: np.ndarray) -> None:
    """Add the torques (N m, world axes) that resist what the motion of given segments puts on what carries them.

    It is known in the step. How the segments are carried along is no part of it: that is of the steps before, and
    resisting it would feed accelerations back.
    """
    j = b.joints
    parents, p, torque = integers(b.parents, j), vectors(b.p, j, 3), vectors(b.torque, j, 3)
    reaction, f, n = vectors(b.reaction, j, 6), vectors(b.f, j, 3), vectors(b.n, j, 3)
    for i in range(j):
        for c in range(3):
            n[i, c], f[i, c] = reaction[i, c], reaction[i, 3 + c]
    for i in range(j - 1, 0, -1):
        k = parents[i]
        rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
        n[k, 0] += n[i, 0] + ry * f[i, 2] - rz * f[i, 1]
        n[k, 1] += n[i, 1] + rz * f[i, 0] - rx * f[i, 2]
        n[k, 2] += n[i, 2] + rx * f[i, 1] - ry * f[i, 0]
        for c in range(3):
            f[k, c] += f[i, c]
    for i in joints:
        for c in range(3):
            torque[i, c] -= n[i, c]


# Below this (N m, rad, rad/s and rad/s2) what is over is no longer felt.
FAINT = 1e-6
TINY = 1e-12  # kg m2: a joint that carries next to nothing
# joints  (K,);  pose (K, 4) what they hold where no motion is played
# shares  (K, 2) how much of the spine's lean and of the pelvis' each joint turns by
# rates   (2,) rad per m of the spine and the pelvis, which lean by `most` rad at most
# springs (K, 2) N m/rad and N m s/rad of each joint, which gives way to pushes, contacts and loads on the trunk; bent
#         (K, 3, 3) rad, rad/s, rad/s2, own axes: how far it has, at time `bent_at`;  felt (J, 3), pressed (J, PRESSED):
#         see `Body`;  contacts (K + 1, 3): see `CounterpoisePlayer`;  work (3 K, 3 K) and torque (3 K,): for work
# loads   (J, 4) kg m and kg, own axes: first moment and mass of loads on each body but the arms;  carried (K, J) flags:
#         which bodies each joint carries
# base, base_block: law of a motion that they play, and its block; 0: none
COUNTERPOISE = fields(
    arrays="joints pose shares rates springs bent felt pressed contacts loads carried work torque",
    integers="count base base_block shift is_loaded part",
    floats="most bent_at",
)


@kernel
def find_leans(b: Any, x: Any, q: np.ndarray, t: float, leans: np.ndarray) -> None:
    """How far the spine and the pelvis lean, (2, 3, 3): rotation vectors and their first and second derivatives.

    Of chest axes: x points to the left, z ahead. With what they take part in a gesture by.
    """
    shift, rates = np.empty((3, 3)), floats(x.rates, 2)
    leans[:] = 0.0
    moves = find_part(x.part, t)
    for n in range(3):
        leans[1, n, 0], leans[1, n, 1] = PELVIS_BOW * moves[n, BOW], moves[n, PELVIS_YAW]
        leans[0, n, 0], leans[0, n, 1] = moves[n, BOW] - leans[1, n, 0], moves[n, CHEST_YAW] - moves[n, PELVIS_YAW]
    if x.shift == 0:
        return
    find_shift(b, record(x.shift, SHIFT), q, t, shift)
    for k in range(2):
        back = lean_by(rates[k], x.most, shift[0, 2], shift[1, 2], shift[2, 2])
        aside = lean_by(SIDEWAYS * rates[k], x.most, shift[0, 0], shift[1, 0], shift[2, 0])
        for n in range(3):
            leans[k, n, 0] -= back[n]
            leans[k, n, 2] += aside[n]


@law
def write(body: int, block: int) -> None:
    """Where the joints are without the lean, and the lean on top, with velocities and accelerations."""
    b, x = record(body, BODY), record(block, COUNTERPOISE)
    j, k = b.joints, x.count
    joints, pose, shares = integers(x.joints, k), vectors(x.pose, k, 4), vectors(x.shares, k, 2)
    q, w, dw = vectors(b.q, j, 4), vectors(b.w, j, 3), vectors(b.dw, j, 3)
    if x.base != 0:
        call_with_two(x.base, body, x.base_block)
    else:
        for n in range(k):
            for c in range(4):
                q[joints[n], c] = pose[n, c]
            for c in range(3):
                w[joints[n], c] = dw[joints[n], c] = 0.0
    leans, e, tilt, out = np.empty((2, 3, 3)), np.empty((3, 3)), np.empty(4), np.empty(4)
    find_leans(b, x, q, b.at, leans)
    bent, ahead = blocks(x.bent, k, 3, 3), b.at - x.bent_at
    for n in range(k):
        i = joints[n]
        for c in range(3):
            for r in range(3):
                e[r, c] = shares[n, 0] * leans[0, r, c] + shares[n, 1] * leans[1, r, c] + bent[n, r, c]
            e[0, c] += ahead * bent[n, 1, c]
        set_exp(e[0], tilt)
        multiply(q[i], tilt, out)
        for c in range(4):
            q[i, c] = out[c]
        wx, wy, wz = rotate_back(tilt, w[i, 0], w[i, 1], w[i, 2])
        ax, ay, az = rotate_back(tilt, dw[i, 0], dw[i, 1], dw[i, 2])
        # own rates of a small turn: e' - e x e' / 2, and its derivative
        px, py, pz = bend_rate(e[0], e[1])
        sx, sy, sz = bend_rate(e[0], e[2])
        w[i, 0], w[i, 1], w[i, 2] = wx + px, wy + py, wz + pz
        dw[i, 0] = ax + sx + wy * pz - wz * py
        dw[i, 1] = ay + sy + wz * px - wx * pz
        dw[i, 2] = az + sz + wx * py - wy * px


@law
def bend(body: int, block: int) -> None:
    """After the step: how far the joints give way to pushes, contacts and loads on the trunk by the end of the next.

    A spring and a damper at each joint, all joints at once and implicitly, which no step makes unstable:

        (M + h D + h^2 K) a = t - K e - (D + h K) e'                                            [counterpoise, eq 1]

    M is the inertia of all that the joints carry, on hips that stay where they are.
    """
    b, x = record(body, BODY), record(block, COUNTERPOISE)
    j, k = b.joints, x.count
    x.bent_at = b.t + b.dt
    if not _is_moved(x, j):
        return
    joints, springs, bent = integers(x.joints, k), vectors(x.springs, k, 2), blocks(x.bent, k, 3, 3)
    R, felt, contacts = blocks(b.R, j, 3, 3), vectors(x.felt, j, 3), vectors(x.contacts, k + 1, 3)
    A, torque = vectors(x.work, 3 * k, 3 * k), floats(x.torque, 3 * k)
    find_inertia(b, x, A)
    for n in range(k):
        for c in range(3):
            A[3 * n + c, 3 * n + c] += b.dt * (springs[n, 1] + b.dt * springs[n, 0])
    factor(A)
    feel_contacts(b, x, A, torque, contacts)
    for n in range(k):
        i = joints[n]
        if x.is_loaded == 1:
            _feel_loads(b, x, n, felt[i])
        stiffness, damping = springs[n, 0], springs[n, 1] + b.dt * springs[n, 0]
        px, py, pz = turn(R[i], contacts[n])
        ex, ey, ez = turn(R[i], bent[n, 0])
        vx, vy, vz = turn(R[i], bent[n, 1])
        torque[3 * n] = felt[i, 0] + px - stiffness * ex - damping * vx
        torque[3 * n + 1] = felt[i, 1] + py - stiffness * ey - damping * vy
        torque[3 * n + 2] = felt[i, 2] + pz - stiffness * ez - damping * vz
        felt[i] = 0.0
    solve(A, torque)
    for n in range(k):
        bent[n, 2, 0], bent[n, 2, 1], bent[n, 2, 2] = turn_back(R[joints[n]], torque[3 * n : 3 * n + 3])
        for c in range(3):
            bent[n, 1, c] += b.dt * bent[n, 2, c]
            bent[n, 0, c] += b.dt * bent[n, 1, c]


@kernel
def _is_moved(x: Any, joints: int) -> bool:
    """Whether anything bends the joints, or has and is not over."""
    k = x.count
    felt, pressed, at = vectors(x.felt, joints, 3), vectors(x.pressed, joints, PRESSED), integers(x.joints, k)
    bent, contacts = floats(x.bent, 9 * k), floats(x.contacts, 3 * k + 3)
    if x.is_loaded == 1 or contacts[3 * k] != 0.0:
        return True
    most = 0.0
    for n in range(k):
        i = at[n]
        if felt[i, 0] != 0.0 or felt[i, 1] != 0.0 or felt[i, 2] != 0.0 or pressed[i, 6] != 0.0:
            return True
    for n in range(9 * k):
        most = max(most, abs(bent[n]))
    if most > FAINT:
        return True
    bent[:] = 0.0
    return False


@kernel
def find_inertia(b: Any, x: Any, M: np.ndarray) -> None:
    """Write the inertia (3 K, 3 K) kg m2 of the joints' rotations in world axes, with all that they carry.

    Of an outer joint l and an inner one k, r from k to l, with S the first moment and J the inertia about l of what l
    carries:  M_kl a = J a + r x (a x S)
    """
    j, k = b.joints, x.count
    joints, carried = integers(x.joints, k), tables(x.carried, k, j)
    masses, centers, inertias = floats(b.masses, j), vectors(b.centers, j, 3), blocks(b.inertias, j, 3, 3)
    parents, R, p, d = integers(b.parents, j), blocks(b.R, j, 3, 3), vectors(b.p, j, 3), np.empty(3)
    mass, S, J = masses.copy(), np.empty((j, 3)), np.empty((j, 3, 3))
    for i in range(j - 1, 0, -1):
        S[i], J[i] = 0.0, 0.0
    for i in range(j - 1, 0, -1):
        # its own segment
        d[0], d[1], d[2] = turn(R[i], centers[i])
        size = masses[i] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        for r in range(3):
            S[i, r] += masses[i] * d[r]
            J[i, r, r] += size
            for c in range(3):
                own = 0.0
                for s in range(3):
                    part = R[i, r, 0] * inertias[i, 0, s] + R[i, r, 1] * inertias[i, 1, s]
                    own += (part + R[i, r, 2] * inertias[i, 2, s]) * R[i, c, s]
                J[i, r, c] += own - masses[i] * d[r] * d[c]
        # all of it about the joint before, d from there
        before = parents[i]
        if before == 0:
            continue
        size = 0.0
        for c in range(3):
            d[c] = p[i, c] - p[before, c]
            size += d[c] * (mass[i] * d[c] + 2.0 * S[i, c])
        for r in range(3):
            S[before, r] += S[i, r] + mass[i] * d[r]
            J[before, r, r] += size
            for c in range(3):
                J[before, r, c] += J[i, r, c] - mass[i] * d[r] * d[c] - d[r] * S[i, c] - S[i, r] * d[c]
        mass[before] += mass[i]
    M[:] = 0.0
    for n in range(k):
        i = joints[n]
        for m in range(k):
            if carried[m, i] == 0:
                continue
            rx, ry, rz = p[i, 0] - p[joints[m], 0], p[i, 1] - p[joints[m], 1], p[i, 2] - p[joints[m], 2]
            for c in range(3):
                # a x S for the unit vector a along c
                u, v = (c + 1) % 3, (c + 2) % 3
                d[c], d[u], d[v] = 0.0, -S[i, v], S[i, u]
                M[3 * m, 3 * n + c] = J[i, 0, c] + ry * d[2] - rz * d[1]
                M[3 * m + 1, 3 * n + c] = J[i, 1, c] + rz * d[0] - rx * d[2]
                M[3 * m + 2, 3 * n + c] = J[i, 2, c] + rx * d[1] - ry * d[0]
                for r in range(3):
                    M[3 * n + c, 3 * m + r] = M[3 * m + r, 3 * n + c]


@kernel
def factor(A: np.ndarray) -> None:
    """Replace the lower half of a positive definite matrix by its Cholesky factor."""
    n = len(A)
    for c in range(n):
        for r in range(c, n):
            total = A[r, c]
            for s in range(c):
                total -= A[r, s] * A[c, s]
            A[r, c] = np.sqrt(max(total, TINY)) if r == c else total / A[c, c]


@kernel
def solve(A: np.ndarray, y: np.ndarray) -> None:
    """Solve in place with what `factor` left."""
    n = len(A)
    for r in range(n):
        for s in range(r):
            y[r] -= A[r, s] * y[s]
        y[r] /= A[r, r]
    for r in range(n - 1, -1, -1):
        for s in range(r + 1, n):
            y[r] -= A[s, r] * y[s]
        y[r] /= A[r, r]


@kernel
def feel_contacts(b: Any, x: Any, A: np.ndarray, y: np.ndarray, contacts: np.ndarray) -> None:
    """Let contacts (K + 1, 3) follow what contacts of this step put on the joints, and forget that.

    An engine meets a trunk whose motion is given as a rigid one, and what pushes less because it gives way does so a
    step late. So what is felt is a low-pass of it:

        T += s (t - T),   s = 1 / (1 + m c),   c = t (M + h D + h^2 K)^-1 t / f^2            [counterpoise, eq 2]

    with f the contact force, m the mass behind it and c how fast the springs let the touched point accelerate. That is
    the implicit step in which the mass m resists that the trunk gives way faster. It conserves the impulse, and lasts
    for a number of steps: what it delays vanishes as the step shrinks.

    A (3 K, 3 K), factored;  y (3 K,) for work
    """
    j, k = b.joints, x.count
    joints = integers(x.joints, k)
    R, pressed = blocks(b.R, j, 3, 3), vectors(x.pressed, j, PRESSED)
    force, mass, most = 0.0, 0.0, 0.0
    for n in range(k):
        row = pressed[joints[n]]
        if row[6] > force:
            force, mass = row[6], row[7] / row[6]
    if force > 0.0:
        give = 0.0
        for n in range(k):
            for c in range(3):
                y[3 * n + c] = pressed[joints[n], c] / force
        solve(A, y)
        for n in range(k):
            for c in range(3):
                give += y[3 * n + c] * pressed[joints[n], c] / force
        contacts[k, 0] = 1.0 / (1.0 + mass * give)
    elif contacts[k, 0] == 0.0:
        return
    share = contacts[k, 0]
    for n in range(k):
        t = turn_back(R[joints[n]], pressed[joints[n]])
        for c in range(3):
            contacts[n, c] += share * (t[c] - contacts[n, c])
            most = max(most, abs(contacts[n, c]))
    pressed[:] = 0.0
    if force == 0.0 and most < FAINT:
        contacts[:] = 0.0


@kernel
def _feel_loads(b: Any, x: Any, n: int, torque: np.ndarray) -> None:
    """Add what loads put on the n-th joint by their weight: (3,) N m, world axes."""
    j = b.joints
    R, p, loads, carried = (
        blocks(b.R, j, 3, 3),
        vectors(b.p, j, 3),
        vectors(x.loads, j, 4),
        tables(x.carried, x.count, j),
    )
    own, g = p[integers(x.joints, x.count)[n]], floats(b.gravity, 3)
    for i in range(j):
        mass = loads[i, 3]
        if carried[n, i] == 0 or mass == 0.0:
            continue
        rx, ry, rz = turn(R[i], loads[i])
        rx, ry, rz = rx + mass * (p[i, 0] - own[0]), ry + mass * (p[i, 1] - own[1]), rz + mass * (p[i, 2] - own[2])
        torque[0] += ry * g[2] - rz * g[1]
        torque[1] += rz * g[0] - rx * g[2]
        torque[2] += rx * g[1] - ry * g[0]


@kernel
def bend_rate(e: np.ndarray, rate: np.ndarray) -> tuple[float, float, float]:
    """The right Jacobian of rotations times a rate, for a small rotation vector e: rate - e x rate / 2."""
    return (
        rate[0] - 0.5 * (e[1] * rate[2] - e[2] * rate[1]),
        rate[1] - 0.5 * (e[2] * rate[0] - e[0] * rate[2]),
        rate[2] - 0.5 * (e[0] * rate[1] - e[1] * rate[0]),
    )


LEAD = 0.04  # s by which the body is ahead of the hands
FADE = 1.0  # s, in which a body goes over to another amount, or to another way
# clock   (6,) of the gesture: see `motion/playback/kernels.py`
# amount  (1 + 4 * 4,): when it began to change (s), of each move what it goes to, and how far it was from that, with
#         first and second derivatives
# rest    (1 + 3 * 4,): when another curve was taken up (s), and how far that was from the one before, likewise
# knots, curve   (N,) and (N - 1, 4, 4): see `BodyTrack`
# now     (3, 4) moves, their rates and accelerations, as written by `take_part` for the time `at` (s)
# law     the address of `take_part`; 0: the body never took part in anything, and `now` is zero
TAKING = fields(arrays="clock amount rest knots curve now", integers="knot_count law", floats="period at")


@kernel
def die_off(x: float, v: float, a: float, u: float) -> tuple[float, float, float]:
    """What is left of a number with first and second derivatives after u in 0..1 of `FADE`: a quintic, with its own."""
    if u >= 1.0:
        return 0.0, 0.0, 0.0
    S = FADE
    return (
        x * (1.0 + u**3 * (-10.0 + u * (15.0 - 6.0 * u)))
        + S * v * (u + u**3 * (-6.0 + u * (8.0 - 3.0 * u)))
        + 0.5 * S * S * a * u**2 * (1.0 - u) ** 3,
        x / S * u**2 * (-30.0 + u * (60.0 - 30.0 * u))
        + v * (1.0 + u**2 * (-18.0 + u * (32.0 - 15.0 * u)))
        + 0.5 * S * a * u * (2.0 + u * (-9.0 + u * (12.0 - 5.0 * u))),
        x / (S * S) * u * (-60.0 + u * (180.0 - 120.0 * u))
        + v / S * u * (-36.0 + u * (96.0 - 60.0 * u))
        + 0.5 * a * (2.0 + u * (-18.0 + u * (36.0 - 20.0 * u))),
    )


@kernel
def find_amount(x: Any, t: float, out: np.ndarray) -> None:
    """The amounts (3, 4) at time t, with their derivatives."""
    amount, n = floats(x.amount, 1 + 4 * MOVES), MOVES
    for m in range(n):
        goal, k = amount[1 + m], 1 + n + m
        a, out[1, m], out[2, m] = die_off(amount[k], amount[k + n], amount[k + 2 * n], (t - amount[0]) / FADE)
        out[0, m] = goal + a


@kernel
def find_way(x: Any, t: float, way: np.ndarray) -> None:
    """The moves (3, 4) at an amount of 1 at time t, with their derivatives."""
    n = x.knot_count
    phase, rate, slope = phase_at(floats(x.clock, 6), t + LEAD)
    k, u, inside = find_segment(floats(x.knots, n), x.period, phase)
    if not inside:
        rate = slope = 0.0
    curve, rest = blocks(x.curve, n - 1, 4, MOVES)[k], floats(x.rest, 1 + 3 * MOVES)
    for m in range(MOVES):
        first = (3.0 * curve[0, m] * u + 2.0 * curve[1, m]) * u + curve[2, m]
        second = 6.0 * curve[0, m] * u + 2.0 * curve[1, m]
        p, v, a = die_off(rest[1 + m], rest[1 + MOVES + m], rest[1 + 2 * MOVES + m], (t - rest[0]) / FADE)
        way[0, m] = ((curve[0, m] * u + curve[1, m]) * u + curve[2, m]) * u + curve[3, m] + p
        way[1, m] = first * rate + v
        way[2, m] = second * rate * rate + first * slope + a


@law
def take_part(_body: int, block: int) -> None:
    """The moves and their derivatives at the block's own time into its `now`."""
    x = record(block, TAKING)
    now, way, amount = vectors(x.now, 3, MOVES), np.empty((3, MOVES)), np.empty((3, MOVES))
    find_amount(x, x.at, amount)
    find_way(x, x.at, way)
    for m in range(MOVES):
        a, da, dda = amount[0, m], amount[1, m], amount[2, m]
        now[0, m] = a * way[0, m]
        now[1, m] = a * way[1, m] + da * way[0, m]
        now[2, m] = a * way[2, m] + 2.0 * da * way[1, m] + dda * way[0, m]


@kernel
def find_part(block: int, t: float) -> np.ndarray:
    """(3, 4) moves and their derivatives at time t; the next call writes over it."""
    x = record(block, TAKING)
    if x.law != 0:
        x.at = t
        call_with_two(x.law, 0, block)
    return vectors(x.now, 3, MOVES)
