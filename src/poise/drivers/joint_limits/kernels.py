"""Joints kept in their ranges, compiled; `limit_torques.py` says how and why.

    E = P q C^-1 = exp(x, 0, z) exp(0, y, 0)                             see `body/joints.py`
    (x, z)' = A (T om)_xz with T = exp(0, y, 0), s the direction of (x, z), a its size
    A = s s^T + f (1 - s s^T),  f = a / sin a
    y' = om_y, the swing's own share in it left out: it has no end where the swing comes to half a turn

om is the joint's velocity in the zero pose's axes of the segment that it carries, C w.

Joints kept in their ranges, as a law.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import blocks, floats, integers, record, vectors
from poise.dynamics.body_kernels import BODY, turn, turn_back
from poise.motion.playback.part_kernels import multiply

ZONE = np.radians(5.0)  # rad before the end, in which a joint is braked
DEEP = 0.8  # rad beyond the end: nobody got there by moving, so the range is widened and nothing is flung back
FARTHEST = 0.17  # rad beyond the end that a spring pulls back from at once: return is as slow as from there
NARROW = 1.0  # rad/s, at which a range that was widened closes again
LOOK = 2.0  # steps ahead: who would come to the end by then is braked, wherever he is
# rad, of play that a joint has about an axis that it has not, while a spring firmly aims at something: the damping that
# keeps an elbow from bending sideways also slows its bending, once the forearm is turned (`spread_damping`), and what
# follows a motion by springs would be 10 degrees off instead of 2.
EASE = 0.17
STEEP = 3.0  # f above, at most
_FAR = 2.6  # rad of swing, from where on every step looks closely


@kernel
def find_angles(P: np.ndarray, q: np.ndarray, C: np.ndarray, work: np.ndarray, angles: np.ndarray) -> None:
    """angles (5,): x, y, z, and cosine and sine of half the twist. work (2, 4)."""
    back, turned = work[0], work[1]
    back[0], back[1], back[2], back[3] = C[0], -C[1], -C[2], -C[3]
    multiply(P, q, turned)
    multiply(turned, back, angles[:4])
    w, x, y, z = angles[0], angles[1], angles[2], angles[3]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    n = np.sqrt(w * w + y * y)
    c, s = (w / n, y / n) if n > 1e-9 else (1.0, 0.0)
    x, z = x * c + z * s, z * c - x * s
    m = np.sqrt(x * x + z * z)
    f = 2.0 if m < 1e-12 else 2.0 * np.arctan2(m, n) / m
    angles[0], angles[1], angles[2] = f * x, 2.0 * np.arctan2(s, c), f * z
    angles[3], angles[4] = c, s


@kernel
def is_near(q: np.ndarray, p: np.ndarray, angle: float) -> bool:
    """Whether a turn by surely less than an angle (rad, at most 1) leads from one rotation (4,) to the other.

    x <= 1.03 sqrt(2 (1 - cos x)) for x = angle / 2 up to 0.8
    """
    cosine = abs(q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3])
    return bool(8.49 * (1.0 - cosine) < angle * angle)


@kernel
def _choose_branch(angles: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """A swing is one the other way, by the rest of a whole turn: that which is less beyond the range."""
    size = np.sqrt(angles[0] ** 2 + angles[2] ** 2)
    if size < 2.0:
        return
    f = 1.0 - 2.0 * np.pi / size
    x, z = f * angles[0], f * angles[2]
    here = max(angles[0] - high[0], low[0] - angles[0], angles[2] - high[2], low[2] - angles[2])
    there = max(x - high[0], low[0] - x, z - high[2], low[2] - z)
    if there < here and here > 0.0:
        angles[0], angles[2] = x, z


@kernel
def keep_in_range(
    lower: np.ndarray,
    upper: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    angles: np.ndarray,
    aim: np.ndarray,
    is_aimed: bool,
    om: np.ndarray,
    stiffness: float,
    tau: float,
    dt: float,
    t: np.ndarray,
    F: np.ndarray,
) -> float:
    """Torque t (3,) and damping F (3, 3) of one joint, zero pose's axes of what it carries; how far it is from both.

    lower, upper  (4,) rad, of x, y, z and the size of the swing;  low, high (4,) as they are now, widened
    aim           (5,) the angles that are aimed at, where somebody does so firmly

    The answer is in rad: so far it may turn any way and still nothing would be asked of it.
    """
    for a in range(3):
        t[a] = 0.0
        for b in range(3):
            F[a, b] = 0.0
    _choose_branch(angles, low, high)
    x, z, c, s = angles[0], angles[2], angles[3], angles[4]
    size = np.sqrt(x * x + z * z)
    ux, uz = (x / size, z / size) if size > 1e-9 else (1.0, 0.0)
    f = 1.0
    if size > 1e-4:
        sine = np.sin(size)
        f = min(max(size / sine if abs(sine) > 1e-6 else STEEP, -STEEP), STEEP)
    # T is a turn about y by twice the angle of c and s
    px, pz = c * c - s * s, 2.0 * c * s
    free = 10.0
    for k in range(4):
        value = size if k == 3 else angles[k]
        wanted_low, wanted_high = lower[k], upper[k]
        if is_aimed:
            asked = np.sqrt(aim[0] ** 2 + aim[2] ** 2) if k == 3 else aim[k]
            ease = EASE if wanted_high - wanted_low < EASE else 0.0
            if asked < wanted_low or asked > wanted_high:
                free = 0.0
            wanted_low, wanted_high = min(wanted_low, asked) - ease, max(wanted_high, asked) + ease
        low[k] = min(wanted_low, low[k] + NARROW * dt)
        high[k] = max(wanted_high, high[k] - NARROW * dt)
        if low[k] != wanted_low or high[k] != wanted_high:
            free = 0.0  # a range that changes is looked at in every step
        if value > high[k] + DEEP:
            high[k] = value
        if value < low[k] - DEEP:
            low[k] = value
        zone = min(ZONE, 0.25 * (high[k] - low[k]))
        free = min(free, high[k] - ZONE - value, value - low[k] - ZONE)
        up = value - high[k] > low[k] - value
        e = value - high[k] if up else low[k] - value
        if e < -4.0:
            continue
        # r: the direction in which the angle grows fastest, and how fast it then does
        if k == 1:
            rx, ry, rz, g = 0.0, 1.0, 0.0, 1.0
        else:
            if k == 0:
                ax, az = ux * ux + f * uz * uz, (1.0 - f) * ux * uz
            elif k == 2:
                ax, az = (1.0 - f) * ux * uz, uz * uz + f * ux * ux
            else:
                ax, az = ux, uz
            g = np.sqrt(ax * ax + az * az)
            rx, ry, rz = (px * ax - pz * az) / g, 0.0, (px * az + pz * ax) / g
        if not up:
            rx, ry, rz = -rx, -ry, -rz
        speed = rx * om[0] + ry * om[1] + rz * om[2]
        zone = max(zone, LOOK * dt * g * speed)
        if e < -zone:
            continue
        e = min(e, FARTHEST) / g
        span = tau
        if e + tau * speed <= 0.0:
            if e <= 0.0:
                continue
            # On the way back: nothing is asked for now, but what would press it out again in this step is resisted.
            # Let go of, a joint under load chatters; braked, it comes back late.
            span = -e / speed
        # torque = -k (e + tau r.om) r, the second of it as damping
        t[0] -= stiffness * e * rx
        t[1] -= stiffness * e * ry
        t[2] -= stiffness * e * rz
        d = stiffness * span
        F[0, 0] += d * rx * rx
        F[1, 1] += d * ry * ry
        F[2, 2] += d * rz * rz
        F[0, 2] += d * rx * rz
        F[2, 0] += d * rx * rz
    # How much a turn changes the angles at the most: 1 / cos(|s| / 2) for y, f for x and z.
    free = min(free, 0.5)
    reach = size + free
    if free <= 0.0 or reach > _FAR:
        return 0.0
    return free / max(1.0 / np.cos(0.5 * reach), reach / np.sin(reach))


@kernel
def spread_damping(C: np.ndarray, F: np.ndarray, isotropic: bool, axial: np.ndarray) -> None:
    """The damping (3,) about a body's own axes that stands for F (3, 3) about the zero pose's.

    C  (3, 3) from the body's axes to the zero pose's

    An engine takes damping about the three axes of a joint apart, or one for all. What F has besides is made up for by
    as much more about the axes as keeps it from ever giving energy (Gershgorin): the rest of the joint's ways are slow
    while it is at its end. With an inertia in place of that, falling bodies gained 3 % of their height.
    """
    most = 0.0
    for a in range(3):
        axial[a] = 0.0
        for b in range(3):
            # (C^T F C)_ab
            g = 0.0
            for k in range(3):
                for m in range(3):
                    g += C[k, a] * F[k, m] * C[m, b]
            axial[a] += abs(g)
        most = max(most, axial[a])
    if isotropic:
        for a in range(3):
            axial[a] = most


# quick (K, 6): a rotation, the turn from it (rad) up to which a joint surely is free, and whether it was aimed then
# work (WORK,): room
WORK = 33
LIMITS = fields(
    arrays="joints quick P C turns lower upper low high stiffness tau weight work",
    integers="count isotropic",
)


@law
def keep_ranges(body: int, block: int) -> None:
    """What keeps joints in their ranges, on top of what their drivers ask for."""
    b, x = record(body, BODY), record(block, LIMITS)
    j, count = b.joints, x.count
    joints, quick, q = integers(x.joints, count), vectors(x.quick, count, 6), vectors(b.q, j, 4)
    stops, axial, aims = vectors(b.stops, j, 3), vectors(b.axial, j, 3), vectors(b.aim, j, 4)
    firm, weight = floats(b.firm, j), floats(x.weight, count)
    rows, more, work = vectors(x.work, 5, 3), vectors(x.work + 8 * 15, 2, 5), vectors(x.work + 8 * 25, 2, 4)
    ahead = STEEP * LOOK * b.dt
    for n in range(count):
        i = joints[n]
        near, now, w, is_aimed = quick[n], q[i], vectors(b.w, j, 3)[i], firm[i] >= weight[n]
        # one that is near where it was surely free, and whose aim is, is free, as far as it gets before the next looks
        left = near[4] - max(ahead * np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) - ZONE, 0.0)
        is_known = left > 0.0 and (near[5] == 1.0) == is_aimed and is_near(near, now, left)
        if is_known and (not is_aimed or is_near(near, aims[i], near[4])):
            continue
        P, C, turns = vectors(x.P, count, 4), vectors(x.C, count, 4), blocks(x.turns, count, 3, 3)
        om, t, F, angles, aim = rows[0], rows[1], rows[2:5], more[0], more[1]
        find_angles(P[n], now, C[n], work, angles)
        if is_aimed:
            find_angles(P[n], aims[i], C[n], work, aim)
        om[0], om[1], om[2] = turn(turns[n], w)
        free = keep_in_range(
            vectors(x.lower, count, 4)[n], vectors(x.upper, count, 4)[n], vectors(x.low, count, 4)[n],
            vectors(x.high, count, 4)[n], angles, aim, is_aimed, om, floats(x.stiffness, count)[n],
            floats(x.tau, count)[n], b.dt, t, F,
        )  # fmt: skip
        for a in range(4):
            near[a] = now[a]
        near[5] = 1.0 if is_aimed else 0.0
        is_free = F[0, 0] + F[1, 1] + F[2, 2] == 0.0
        # one that is braked for its speed alone is looked at in the next step: else its brake would stay
        near[4] = free if is_free else 0.0
        if is_free:
            for a in range(3):
                stops[i, a] = axial[i, a] = 0.0
            continue
        spread_damping(turns[n], F, x.isotropic == 1, axial[i])
        om[0], om[1], om[2] = turn_back(turns[n], t)
        torque = vectors(b.torque, j, 3)
        stops[i, 0], stops[i, 1], stops[i, 2] = turn(blocks(b.R, j, 3, 3)[i], om)
        for a in range(3):
            torque[i, a] += stops[i, a]
        if x.isotropic == 1:
            floats(b.damping, j)[i] += axial[i, 0]
            for a in range(3):
                axial[i, a] = 0.0
