"""Laws of springs that follow a motion, recorded or live, and that yield to what hits the body.   [tracking, section 3]

What the motion asks of the joints: springs in the tangent space, and inverse dynamics.

    e        the turn that is left to where the motion is at the end of the step, in the body's axes
    w*, dw*  rad/s, rad/s2: how fast the motion turns, and how fast that changes, at mid-step, in the body's axes

An engine takes the damper at the end of the step, and so is the spring, by k dt more damping
(`drivers/loose/kernels.py`):

    t = k e + d w*  - (d + k dt) w(t + dt)  =  k (q*(t + dt) - q(t + dt)) + d (w* - w(t + dt))

which is nothing for a body that is where it should be: it neither lags nor leads, and no step is too long for it.

Springs yield where something hits what they carry, and come back:

What pushes a joint from outside is what its motion in the last step took, less what its spring gave:

    t = |inverse dynamics of the accelerations that were - torque + damping w|      N m

It is a push on the segment and on any further out, with its lever: a blow at the hand is felt in wrist, elbow, shoulder
and trunk, each beside the weight that it holds. What has pushed for longer, a load or a table, is used to: T.

    x = (t - T) / m g l,   T' = (t - T) / LATE      s = 0 to 1 as x goes from FELT to HARD, and in proportion above
    m: the mass that the joint carries, at most HEAVY of the body's: a trunk yields to a blow that a person feels
    soft' = (s - soft) / YIELD where that is more,  - soft / BACK where it is less;  soft is 1 at most

A hard thing hits for a step or two, with a force that depends on the step. s has no upper limit, so that such a blow
softens by its impulse, whatever the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import blocks, floats, integers, record, vectors
from poise.drivers.kinematic.kernels import FOLLOWER, PART, play, play_live
from poise.drivers.loose.kernels import SPRINGS, left_over, tell_aims
from poise.dynamics.body_kernels import BODY, accelerate_bodies, cross, gather_inward, net_forces, spin, turn, turn_back
from poise.motion.playback.part_kernels import log_between, multiply, rotate_back, set_exp

# rad/s, rad/s2: no joint of a person turns faster, or is turned faster into it, for longer than a blow; what does is a
# mistake in a recording. A pitcher's shoulder: 120 and 9000.
FASTEST, HARDEST = 120.0, 3000.0
AT_ONCE = 0.5  # rad, that a joint is turned in a step at most: beyond, what turns whirls faster than engines can follow
_FLAT = 1e-12  # of the product of its largest moments: a line or a point of mass has no spin of its own


@kernel
def aim_ahead(
    dt: float, q: np.ndarray, w: np.ndarray, dw: np.ndarray, x: np.ndarray, by: np.ndarray, aim: np.ndarray
) -> None:
    """aim (4,): where a joint at q (4,) with rates w and dw (3,) at mid-step is at the end of the step.

    x (3,), by (4,): room
    """
    for c in range(3):
        x[c] = 0.5 * dt * (w[c] + 0.25 * dt * dw[c])
    set_exp(x, by)
    multiply(q, by, aim)


@kernel
def keep_below(x: np.ndarray, most: float) -> None:
    """Shorten x (3,) to a length."""
    square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
    if square > most * most:
        size = np.sqrt(square)
        for c in range(3):
            x[c] *= most / size


@kernel
def set_off(aim: np.ndarray, q: np.ndarray, off: np.ndarray) -> None:
    """off (4,) = aim* q: what `rotate_back` takes to say in a joint's axes, at q, what was said in those at `aim`."""
    w, x, y, z = aim[0], -aim[1], -aim[2], -aim[3]
    off[0] = w * q[0] - x * q[1] - y * q[2] - z * q[3]
    off[1] = w * q[1] + x * q[0] + y * q[3] - z * q[2]
    off[2] = w * q[2] - x * q[3] + y * q[0] + z * q[1]
    off[3] = w * q[3] + x * q[2] - y * q[1] + z * q[0]


@kernel
def ask_dynamics(b: Any, work: np.ndarray, w: np.ndarray, dw: np.ndarray, a0: np.ndarray, is_aloft: bool) -> None:
    """Write what joints must give (N m, world axes) for velocities w and accelerations dw (J, 3) into the body's `n`.

    work      (2, J, 3) room for accelerations
    a0        (3,) m/s2, of a root that is given; nothing for one that floats and is held up
    is_aloft  whether nothing holds it up: the root then moves as those accelerations alone make it move
    """
    gravity, up, kept = floats(b.gravity, 3), np.empty(3), dw[0].copy()
    for c in range(3):
        up[c] = 0.0 if is_aloft else a0[c] - gravity[c]
        if is_aloft:
            dw[0, c] = 0.0
    _ask(b, work, w, dw, up)
    if is_aloft:
        _let_float(b, dw[0], up)
        _ask(b, work, w, dw, up)
        for c in range(3):
            dw[0, c] = kept[c]


@kernel
def _ask(b: Any, work: np.ndarray, w: np.ndarray, dw: np.ndarray, a0: np.ndarray) -> None:
    """Newton-Euler, outward and inward."""
    j = b.joints
    parents, masses, centers = integers(b.parents, j), floats(b.masses, j), vectors(b.centers, j, 3)
    inertias, R, p, om = blocks(b.inertias, j, 3, 3), blocks(b.R, j, 3, 3), vectors(b.p, j, 3), vectors(b.om, j, 3)
    al, acc, f, n = work[0], work[1], vectors(b.f, j, 3), vectors(b.n, j, 3)
    accelerate_bodies(parents, R, p, w, dw, om, a0, al, acc)
    net_forces(masses, centers, inertias, R, om, al, acc, f, n)
    gather_inward(parents, p, f, n)


@kernel
def _let_float(b: Any, dw0: np.ndarray, a0: np.ndarray) -> None:
    """Write the root's accelerations dw0 (3,), in its axes, and a0 (3,), at which a body needs nothing from outside.

    What it needs with a root at rest, force and moment at the root joint, the whole body, locked, takes up:

        I_c al = -(moment - r x force)      a = -force / m - al x r       r: from the root to the centre of mass
    """
    j = b.joints
    masses, centers, inertias = floats(b.masses, j), vectors(b.centers, j, 3), blocks(b.inertias, j, 3, 3)
    R, p, force, moment = blocks(b.R, j, 3, 3), vectors(b.p, j, 3), vectors(b.f, j, 3)[0], vectors(b.n, j, 3)[0]
    mass, r, d, u, inertia = 0.0, np.zeros(3), np.empty(3), np.empty(3), np.zeros((3, 3))
    for i in range(len(masses)):
        u[0], u[1], u[2] = turn(R[i], centers[i])
        mass += masses[i]
        for c in range(3):
            r[c] += masses[i] * (p[i, c] + u[c] - p[0, c])
    for c in range(3):
        r[c] /= mass
    for i in range(len(masses)):
        m = masses[i]
        if m == 0.0:
            continue
        u[0], u[1], u[2] = turn(R[i], centers[i])
        for c in range(3):
            d[c] = p[i, c] + u[c] - p[0, c] - r[c]
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        for c in range(3):
            column = spin(R[i], inertias[i], 1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
            for k in range(3):
                inertia[k, c] += column[k] - m * d[k] * d[c]
            inertia[c, c] += m * square
    x, y, z = cross(r, force)
    d[0], d[1], d[2] = x - moment[0], y - moment[1], z - moment[2]
    _solve(inertia, d, u)
    x, y, z = cross(u, r)
    a0[0], a0[1], a0[2] = -force[0] / mass - x, -force[1] / mass - y, -force[2] / mass - z
    dw0[0], dw0[1], dw0[2] = turn_back(R[0], u)


@kernel
def _solve(A: np.ndarray, y: np.ndarray, x: np.ndarray) -> None:
    """x (3,) = A^-1 y for a symmetric A (3, 3) by its adjugate; zero where A is singular."""
    adjugate = np.empty((3, 3))
    for a in range(3):
        i, k = (a + 1) % 3, (a + 2) % 3
        for b in range(3):
            r, s = (b + 1) % 3, (b + 2) % 3
            adjugate[b, a] = A[i, r] * A[k, s] - A[i, s] * A[k, r]
    det = A[0, 0] * adjugate[0, 0] + A[0, 1] * adjugate[1, 0] + A[0, 2] * adjugate[2, 0]
    for a in range(3):
        x[a] = 0.0
        if det > _FLAT * A[0, 0] * A[1, 1] * A[2, 2]:
            for b in range(3):
                x[a] += adjugate[a, b] * y[b] / det


PAPER, CRITICAL, FEEDFORWARD = range(3)
# s, over which the accelerations of a root that floats are followed. Five recordings over legs that balance: the error
# is half of what it is without, and feet slide half as far; 0.05 is better yet, at 0.02 all fall.
LATELY = 0.1
JERKED = 50.0, 100.0  # m/s2, rad/s2: more is a blow
# springs, guide: addresses of blocks, of SPRINGS and of what they follow, a PART or a FOLLOWER
# work   (3, J, 3) room for accelerations;  most (K,) N m, what is fed forward at most;  firm (K,): see `Body`
# soft   (K,) how far each spring has given way, 0 to 1;  late (K,) what has pushed it as of late
# weight (K,) N m, m g l there;  give: how much of its stiffness a spring loses at most
# root   (13,) a root that floats: its velocity and spin in the last step, its accelerations as of late, and whether
#        those are known
# kind   which of the laws above
FOLLOWED = fields(arrays="work most firm soft late weight root", integers="springs guide kind", floats="give")


@kernel
def pull_along(b: Any, x: Any, s: Any, q: np.ndarray, w: np.ndarray, dw: np.ndarray) -> None:
    """Torques of springs towards a motion that is at q (K, 4) with rates w and dw (K, 3) at mid-step.

    The damper acts on the speed beside the motion's own, or with the law `PAPER` on all of it.   [tracking, eq 2]
    """
    j, k = b.joints, s.count
    joints, aim, lead = integers(s.joints, k), vectors(s.aim, k, 4), vectors(s.lead, k, 3)
    stiffness, damping = floats(s.stiffness, k), floats(s.damping, k)
    here, R, wanted = vectors(b.q, j, 4), blocks(b.R, j, 3, 3), vectors(b.dw, j, 3)
    torque, implicit = vectors(b.torque, j, 3), floats(b.damping, j)
    soft = floats(x.soft, k)
    share, along = left_over(floats(s.fade, 2), b.t), x.kind != PAPER
    x3, x4, fastest = np.empty(3), np.empty(4), min(FASTEST, AT_ONCE / b.dt)
    for n in range(k):
        i = joints[n]
        aim_ahead(b.dt, q[n], w[n], dw[n], x3, x4, aim[n])
        keep_below(w[n], fastest)
        set_off(aim[n], here[i], x4)
        w[n, 0], w[n, 1], w[n, 2] = rotate_back(x4, w[n, 0], w[n, 1], w[n, 2])
        ease = 1.0 - x.give * soft[n]  # the damper goes along: what gives way does not swing either
        k_n, d_n = ease * stiffness[n], np.sqrt(ease) * damping[n]
        # a spring that is far off draws the joint along at k e / (d + k dt)
        most = fastest * (d_n / k_n + b.dt) if k_n > 0.0 else np.inf
        log_between(here[i], aim[n], x3)
        keep_below(x3, most)
        for c in range(3):
            x3[c] = k_n * x3[c] + share * lead[n, c]
            if along:
                x3[c] += d_n * w[n, c]
        torque[i, 0], torque[i, 1], torque[i, 2] = turn(R[i], x3)
        implicit[i] = d_n + k_n * b.dt
        if x.kind == FEEDFORWARD:
            keep_below(dw[n], HARDEST)
            wanted[i, 0], wanted[i, 1], wanted[i, 2] = rotate_back(x4, dw[n, 0], dw[n, 1], dw[n, 2])
    tell_aims(joints, floats(x.firm, k), aim, vectors(b.aim, j, 4), floats(b.firm, j))
    if x.kind == FEEDFORWARD:
        feed_forward(b, x, s)


@kernel
def feed_forward(b: Any, x: Any, s: Any) -> None:
    """Add what the wanted accelerations, in the body's `dw`, ask of the joints in its present state.

    Joints under other drivers turn as those say, or not at all.
    """
    j, k = b.joints, s.count
    joints, most, work = integers(s.joints, k), floats(x.most, k), blocks(x.work, 3, j, 3)
    torque, n = vectors(b.torque, j, 3), vectors(b.n, j, 3)
    a0, kept = np.empty(3), np.empty(3)
    swing_root(b, floats(x.root, 13), a0, kept)
    ask_dynamics(b, work, vectors(b.w, j, 3), vectors(b.dw, j, 3), a0, b.airborne == 1)
    for c in range(3):
        vectors(b.dw, j, 3)[0, c] = kept[c]
    for i in range(k):
        keep_below(n[joints[i]], most[i])
        for c in range(3):
            torque[joints[i], c] += n[joints[i], c]


@kernel
def swing_root(b: Any, root: np.ndarray, a0: np.ndarray, kept: np.ndarray) -> None:
    """How the root accelerates: a0 (3,) m/s2, and rad/s2 in its row of the body's `dw`, of which `kept` (3,) was there.

    One that is given says so. One that floats and is held up goes on, about, as it did: what this asks of the joints
    moves it at once, so that it is followed slowly.
    """
    a, v, w, dw = floats(b.a, 3), floats(b.v, 3), vectors(b.w, b.joints, 3)[0], vectors(b.dw, b.joints, 3)[0]
    is_given = False
    for c in range(3):
        a0[c], kept[c] = a[c], dw[c]
        is_given = is_given or a[c] != 0.0 or dw[c] != 0.0
    if is_given or b.airborne == 1:
        root[12] = 0.0
        return
    share = min(b.dt / LATELY, 1.0)
    for c in range(3):
        if root[12] == 1.0:
            root[6 + c] += share * ((v[c] - root[c]) / b.dt - root[6 + c])
            root[9 + c] += share * ((w[c] - root[3 + c]) / b.dt - root[9 + c])
        else:
            root[6 + c] = root[9 + c] = 0.0
        root[c], root[3 + c] = v[c], w[c]
    keep_below(root[6:9], JERKED[0])
    keep_below(root[9:12], JERKED[1])
    root[12] = 1.0
    for c in range(3):
        a0[c], dw[c] = root[6 + c], root[9 + c]


@law
def follow(body: int, block: int) -> None:
    """Torques towards where the motion is at the end of the step."""
    b, x = record(body, BODY), record(block, FOLLOWED)
    s, g = record(x.springs, SPRINGS), record(x.guide, PART)
    play(x.guide, b.t + 0.5 * b.dt)
    pull_along(b, x, s, vectors(g.q, s.count, 4), vectors(g.w, s.count, 3), vectors(g.dw, s.count, 3))


@law
def follow_live(body: int, block: int) -> None:
    """Torques towards where the motion is at the end of the step."""
    b, x = record(body, BODY), record(block, FOLLOWED)
    s, g = record(x.springs, SPRINGS), record(x.guide, FOLLOWER)
    play_live(g, b.t + 0.5 * b.dt)
    pull_along(b, x, s, vectors(g.q, s.count, 4), vectors(g.w, s.count, 3), vectors(g.dw, s.count, 3))


FELT, HARD = 0.1, 1.0  # of m g l
YIELD, BACK, LATE = 0.01, 0.15, 0.5  # s


@law
def feel(body: int, block: int) -> None:
    """After the step: how far each spring gives way in the next."""
    b, x = record(body, BODY), record(block, FOLLOWED)
    s = record(x.springs, SPRINGS)
    j, k = b.joints, s.count
    joints, soft, late, weight = integers(s.joints, k), floats(x.soft, k), floats(x.late, k), floats(x.weight, k)
    n = _ask_last(b, x)
    R, torque, damping = blocks(b.R, j, 3, 3), vectors(b.torque, j, 3), floats(b.damping, j)
    w, axial, out = vectors(b.w, j, 3), vectors(b.axial, j, 3), np.empty(3)
    for i in range(k):
        at = joints[i]
        for c in range(3):
            out[c] = n[at, c] - torque[at, c]
        out[0], out[1], out[2] = turn_back(R[at], out)
        size = 0.0
        for c in range(3):
            out[c] += (damping[at] + axial[at, c]) * w[at, c]
            size += out[c] * out[c]
        late[i], soft[i] = soften(np.sqrt(size) / weight[i], late[i], soft[i], b.dt)


@kernel
def soften(blow: float, late: float, soft: float, dt: float) -> tuple[float, float]:
    """Return T / m g l and the softness (0 to 1) after a step with a blow of t / m g l."""
    u = max((blow - late - FELT) / (HARD - FELT), 0.0)
    hit = u * u * (3.0 - 2.0 * u) if u < 1.0 else u
    late += min(dt / LATE, 1.0) * (blow - late)
    if hit > soft:
        return late, min(soft + min(dt / YIELD, 1.0) * (hit - soft), 1.0)
    return late, max(hit, soft * np.exp(-dt / BACK))


@kernel
def _ask_last(b: Any, x: Any) -> np.ndarray:
    """(J, 3) N m, world axes: what the last step's accelerations took of the joints.

    Who is given has the same velocity before and after the step, and says how it accelerates.
    """
    j = b.joints
    w, w_before, dw = vectors(b.w, j, 3), vectors(b.w_before, j, 3), vectors(b.dw, j, 3)
    v, v_before, a = floats(b.v, 3), floats(b.v_before, 3), floats(b.a, 3)
    work, n, a0 = blocks(x.work, 3, j, 3), vectors(b.n, j, 3), np.empty(3)
    was = work[2]
    for i in range(j):
        moved = w[i, 0] != w_before[i, 0] or w[i, 1] != w_before[i, 1] or w[i, 2] != w_before[i, 2]
        for c in range(3):
            was[i, c] = (w[i, c] - w_before[i, c]) / b.dt if moved else dw[i, c]
    moved = v[0] != v_before[0] or v[1] != v_before[1] or v[2] != v_before[2]
    for c in range(3):
        a0[c] = (v[c] - v_before[c]) / b.dt if moved else a[c]
    ask_dynamics(b, work, w_before, was, a0, False)
    return n
