"""The step of the engine `inverse`, compiled, on MuJoCo's own structures (`engine.py`), with contacts as rows.

Contacts of a part of a step, and what is remembered of them.

N velocities, P contacts, B bodies of MuJoCo's. A contact's axes are its frame (3, 3), the normal first, from its first
thing to its second; its velocity is that of the second beside the first.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import law
from poise.compiled.layout import Floats, Ints, Layout, at
from poise.compiled.views import call_with_three, call_with_two, floats, integers, record, shorts, tables, vectors
from poise.dynamics.body_kernels import Body
from poise.dynamics.contact.cone_kernels import (
    ConeContacts,
    factor_back,
    solve_down,
    solve_factored_contacts,
    solve_up,
)
from poise.engines.contact_log_kernels import ContactTable, end_step, note_contact
from poise.engines.engine import SUBSTEP
from poise.engines.mujoco.kernels import MujocoBody, MujocoState, Offsets, read_state, touches_fixed

SHORTEST = 1.0 / 1000.0  # s, of a part of a step in which something is fast
FAST = 0.05  # rad, by which a joint turns in a part of a step
STRUCK = 0.01  # rad, by which a joint turns otherwise than it was about to: the part is made again
NEAR = 2e-3  # m: what comes so near in a part is a contact of it
BACK, PUSHED = 0.2, 0.5  # a step, and m/s at most: how depth and creep are taken back
SLOP = 1e-4  # m, in which nothing is taken back
STUCK = 0.99  # of friction: more of it slides
ALIKE, SLID = math.cos(0.1), 0.02  # of the turn (0.1 rad), m: from when on where a contact began is forgotten
FREE_JOINT, BALL_JOINT, HINGE_JOINT = 0, 1, 3  # MuJoCo's kinds of joints


@kernel
def count_parts(qvel: np.ndarray, dt: float) -> int:
    """In how many parts a step is made."""
    speed = 0.0
    for k in range(len(qvel)):
        if not abs(qvel[k]) < np.inf:
            return 1
        speed = max(speed, abs(qvel[k]))
    return min(max(1, math.ceil(speed * dt / FAST)), max(1, math.ceil(dt / SHORTEST)))


@kernel
def integrate(
    kind: np.ndarray, qadr: np.ndarray, vadr: np.ndarray, dt: float, qvel: np.ndarray, qpos: np.ndarray
) -> None:
    """Move qpos by qvel for a time, joint by joint."""
    for k in range(len(kind)):
        a, b = qadr[k], vadr[k]
        if kind[k] == FREE_JOINT:
            for c in range(3):
                qpos[a + c] += dt * qvel[b + c]
            _turn(qpos[a + 3 : a + 7], qvel[b + 3 : b + 6], dt)
        elif kind[k] == BALL_JOINT:
            _turn(qpos[a : a + 4], qvel[b : b + 3], dt)
        else:
            qpos[a] += dt * qvel[b]


@kernel
def _turn(q: np.ndarray, w: np.ndarray, dt: float) -> None:
    """Q becomes q exp(dt w)."""
    speed = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    half = 0.5 * dt * speed
    c, s = np.cos(half), 0.5 * dt if speed < 1e-12 else np.sin(half) / speed
    x, y, z = s * w[0], s * w[1], s * w[2]
    a, b, d, e = q[0], q[1], q[2], q[3]
    q[0] = a * c - b * x - d * y - e * z
    q[1] = a * x + b * c + d * z - e * y
    q[2] = a * y - b * z + d * c + e * x
    q[3] = a * z + b * y - d * x + e * c
    size = np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    for k in range(4):
        q[k] /= size


@kernel
def add_side(
    J: np.ndarray, sign: float, frame: np.ndarray, offset: np.ndarray, last: int, above: np.ndarray, cdof: np.ndarray
) -> None:
    """Add how a point of a body moves to a contact's rows J (3, N), in its frame (3, 3).

    offset  (3,) m, of the point from where MuJoCo's `cdof` (N, 6) is taken
    last    the body's last freedom, -1 for none;  above (N,): the one before each
    """
    i = last
    while i >= 0:
        a, b, c = cdof[i, 0], cdof[i, 1], cdof[i, 2]
        x = cdof[i, 3] + b * offset[2] - c * offset[1]
        y = cdof[i, 4] + c * offset[0] - a * offset[2]
        z = cdof[i, 5] + a * offset[1] - b * offset[0]
        for k in range(3):
            J[k, i] += sign * (frame[k, 0] * x + frame[k, 1] * y + frame[k, 2] * z)
        i = above[i]


@kernel
def place_of(xmat: np.ndarray, xpos: np.ndarray, to: np.ndarray) -> None:
    """Where a body is, to (4, 3): axes, then the place."""
    for a in range(3):
        for b in range(3):
            to[a, b] = xmat[3 * a + b]
        to[3, a] = xpos[a]


@kernel
def find_pair(pairs: np.ndarray, count: int, first: int, second: int) -> int:
    """Which row of pairs has these two things; -1: none."""
    for i in range(count):
        if pairs[i, 0] == first and pairs[i, 1] == second:
            return i
    return -1


@kernel
def find_slip(began: np.ndarray, now: np.ndarray, point: np.ndarray, slip: np.ndarray) -> None:
    """Slip (3,) m, how far the second thing has moved along the first since they touched, where they touch now.

    began, now  (2, 4, 3) see `place_of`
    """
    there = np.empty((2, 3))
    for s in range(2):
        for a in range(3):
            there[s, a] = began[s, 3, a]
        for b in range(3):
            local = 0.0
            for a in range(3):
                local += now[s, a, b] * (point[a] - now[s, 3, a])
            for a in range(3):
                there[s, a] += began[s, a, b] * local
    # both are at the contact now; they were apart by there[1] - there[0], seen from the first
    for a in range(3):
        slip[a] = 0.0
    for b in range(3):
        apart = 0.0
        for a in range(3):
            apart += began[0, a, b] * (there[1, a] - there[0, a])
        for a in range(3):
            slip[a] -= now[0, a, b] * apart


@kernel
def is_turned(began: np.ndarray, now: np.ndarray) -> bool:
    """Whether one of two things has turned so far that where it began counts no more."""
    for s in range(2):
        total = 0.0
        for a in range(3):
            for b in range(3):
                total += began[s, a, b] * now[s, a, b]
        if not 0.5 * (total - 1.0) > ALIKE:
            return True
    return False


@kernel
def find_room(gap: float, frame: np.ndarray, slip: np.ndarray, dt: float, t: np.ndarray) -> None:
    """T (3,) m/s, what a contact may still close, or is to be brought back by."""
    deep = min(BACK * max(-gap - SLOP, 0.0) / dt, PUSHED)
    t[0] = max(gap, 0.0) / dt - deep
    for k in range(1, 3):
        t[k] = BACK / dt * (frame[k, 0] * slip[0] + frame[k, 1] * slip[1] + frame[k, 2] * slip[2])
    size = np.sqrt(t[1] * t[1] + t[2] * t[2])
    if size > PUSHED:
        t[1] *= PUSHED / size
        t[2] *= PUSHED / size


class InverseScene(Layout):
    """One simulation: MuJoCo's model, and what a step remembers of the last one, for `most` contacts at a time."""

    # Addresses of MuJoCo's functions, structures and offsets.
    position: int
    velocity: int
    acceleration: int
    inertia: int
    model: int
    state: int
    offsets: int
    substep: int  # a block of SUBSTEP
    dt: float  # s
    heavy: float  # kg, weight of a contact that yields, in the search for its impulse
    exact: float  # kg m/s, to which impulses are found
    nv: int
    bodies: int
    bodies_by_6: int  # 6 bodies
    smooth: Annotated[Floats, "nv"]  # `qfrc_smooth`
    outside: Annotated[Floats, "bodies_by_6"]  # `xfrc_applied`
    damping: Annotated[Floats, "nv"]
    cdof: Annotated[Floats, "nv", 6]
    com: Annotated[Floats, "bodies", 3]  # `subtree_com`
    xmat: Annotated[Floats, "bodies", 9]
    xpos: Annotated[Floats, "bodies", 3]
    last_dof: Annotated[Ints, "bodies"]  # the last freedom that moves each body; -1: none does
    above: Annotated[Ints, "nv"]  # the freedom before each
    root: Annotated[Ints, "bodies"]
    shape_count: int
    body_of_geom: Annotated[Ints, "shape_count"]
    joints: int
    jnt_type: Annotated[Ints, "joints"]
    jnt_qadr: Annotated[Ints, "joints"]
    jnt_vadr: Annotated[Ints, "joints"]
    jnt_range: Annotated[Floats, "joints", 2]
    most: int
    counts: Annotated[Ints, 4]  # of pairs that hold, of contacts of the last part, of the last step; rounds in that
    span: Annotated[Floats, 1]  # s, of the last part
    pairs: Annotated[Ints, "most", 2]  # that hold
    places: Annotated[Floats, "most", 2, 4, 3]  # where they began: see `place_of`
    last: Annotated[Ints, "most", 2]  # contacts of the last part
    impulses: Annotated[Floats, "most", 3]  # their impulses, N s, in their frames
    geoms: Annotated[Ints, "most", 2]  # contacts of the last step
    points: Annotated[Floats, "most", 3]  # m
    forces: Annotated[Floats, "most", 3]  # N, world axes
    pushes: Annotated[Floats, "most"]  # N s, along the normal


class Contacts(NamedTuple):
    """Contacts of a part of a step.

    geoms  (P, 2) the shapes;  at: (P,) addresses in MuJoCo;  gaps: (P,) m;  mu: (P,) friction
    """

    geoms: np.ndarray
    at: np.ndarray
    gaps: np.ndarray
    mu: np.ndarray


@kernel
def list_ends(x: InverseScene, qpos: np.ndarray, qvel: np.ndarray, dt: float, rows: np.ndarray) -> int:
    """Write rows (2 K, 3) of freedom, sign and room (rad/s) for hinges near an end of their ranges; return how many."""
    kind, qadr, vadr, ranges, count = x.jnt_type, x.jnt_qadr, x.jnt_vadr, x.jnt_range, 0
    for k in range(x.joints):
        if kind[k] != HINGE_JOINT or not ranges[k, 0] < ranges[k, 1]:
            continue
        angle, speed = qpos[qadr[k]], abs(qvel[vadr[k]])
        for side in range(2):
            sign = 1.0 - 2.0 * side
            gap = sign * (angle - ranges[k, side])
            if gap < FAST + 2.0 * dt * speed:
                rows[count, 0], rows[count, 1] = vadr[k], sign
                rows[count, 2] = gap / dt if gap > 0.0 else max(BACK * gap / dt, -PUSHED)
                count += 1
    return count


@kernel
def add_felt(x: InverseScene, pair: tuple[int, int], point: np.ndarray, push: float, force: np.ndarray) -> None:
    """Add an impulse to those of a step; the same two things within `SAME` are one contact.

    force (3,) N s in the world, push its normal part
    """
    geoms, points, forces, pushes, count = x.geoms, x.points, x.forces, x.pushes, x.counts[FELT]
    row, nearest = count, SAME * SAME
    for i in range(count):
        if geoms[i, 0] == pair[0] and geoms[i, 1] == pair[1]:
            rx, ry, rz = point[0] - points[i, 0], point[1] - points[i, 1], point[2] - points[i, 2]
            if rx * rx + ry * ry + rz * rz <= nearest or count == len(geoms):
                row, nearest = i, rx * rx + ry * ry + rz * rz
    if row == len(geoms):
        return
    if row == count:
        geoms[row, 0], geoms[row, 1], pushes[row] = pair[0], pair[1], 0.0
        for a in range(3):
            points[row, a] = forces[row, a] = 0.0
        x.counts[FELT] += 1
    # where their common push acts
    share = push / (pushes[row] + push)
    for a in range(3):
        points[row, a] += share * (point[a] - points[row, a])
        forces[row, a] += force[a]
    pushes[row] += push


PAIRS, LAST, FELT, ROUNDS = range(4)
SAME = 0.02  # m: within a step, contacts of the same two things so near to each other are one


@law
def step(_body: int, block: int) -> None:
    """Advance all by the scene's dt, in parts where something is fast."""
    x = at(block, InverseScene)
    s = at(x.state, MujocoState)
    qvel, constraint, applied = s.qvel, s.constraint, s.applied
    x.counts[FELT] = x.counts[ROUNDS] = 0
    constraint[:] = 0.0
    left, is_cut, dt, u, before = x.dt, False, x.dt, np.empty(x.nv), np.empty(x.nv)
    while left > 1e-9 * x.dt:
        dt = left / count_parts(qvel, left)
        is_cut = is_cut or dt < x.dt
        if is_cut:
            _run_substep(record(x.substep, SUBSTEP), dt)
        speed = advance(x, s, dt, u, True)
        if speed > 0.0:
            # something was struck: again, in a shorter part, with what stops joints that are as fast as it makes them
            dt, is_cut = min(max(FAST / speed, SHORTEST), dt), True
            before[:] = qvel
            qvel[:] = u
            _run_substep(record(x.substep, SUBSTEP), dt)
            qvel[:] = before
            advance(x, s, dt, u, False)
        left -= dt
    forces = x.forces
    for i in range(x.counts[FELT]):
        for a in range(3):
            forces[i, a] /= x.dt
    for k in range(x.nv):
        constraint[k] /= x.dt
        applied[k] = 0.0
    x.outside[:] = 0.0


@kernel
def _run_substep(substep: Any, dt: float) -> None:
    """Make the calls that come before each part."""
    substep.dt = dt
    rows = tables(substep.rows, substep.count, 3)
    for i in range(substep.count):
        call_with_two(rows[i, 0], rows[i, 1], rows[i, 2])


@kernel
def advance(x: InverseScene, s: MujocoState, dt: float, u: np.ndarray, may_refuse: bool) -> float:
    """Make one part of a step, with velocities u (N,); if those are too fast for it, do nothing and return how fast."""
    n, qpos, qvel = x.nv, s.qpos, s.qvel
    L, free = np.empty((n, n)), np.empty(n)
    if not _solve_free(x, s, dt, L, free):
        qvel[:] = np.nan
        return 0.0
    found = shorts(s.data + at(x.offsets, Offsets).ncon, 1)[0]
    ends = np.empty((2 * x.joints, 3))
    ended = list_ends(x, qpos, qvel, dt, ends)
    J, t, mu = np.zeros((3 * (found + ended), n)), np.zeros((found + ended, 3)), np.zeros(found + ended)
    contacts = Contacts(np.empty((found, 2), np.int64), np.empty(found, np.int64), np.empty(found), mu)
    count = _list_contacts(x, s, dt, free, J, contacts)
    now, slips, f = np.empty((count, 2, 4, 3)), np.zeros((count, 3)), np.zeros((count + ended, 3))
    _find_slips(x, dt, contacts, now, slips, t)
    _warm(x, dt, contacts.geoms[:count], f)
    for i in range(ended):
        J[3 * (count + i), int(ends[i, 0])] = ends[i, 1]
        t[count + i, 0] = ends[i, 2]
    total = count + ended
    cones = ConeContacts(J[: 3 * total], t[:total], mu[:total], x.heavy)
    rounds = solve_factored_contacts(L, free, cones, f, u, x.exact)
    x.counts[ROUNDS] += rounds
    if may_refuse:
        speed, jump = 0.0, 0.0
        for k in range(n):
            speed, jump = max(speed, abs(u[k])), max(jump, abs(u[k] - qvel[k]))
        if (speed * dt > 1.5 * FAST and dt > SHORTEST) or jump * dt > STRUCK:
            return speed
    qvel[:] = u
    integrate(x.jnt_type, x.jnt_qadr, x.jnt_vadr, dt, qvel, qpos)
    floats(s.data + at(x.offsets, Offsets).time, 1)[0] += dt
    _add_constraint(s.constraint, J, f[:total])
    _remember(x, dt, contacts, f[:count], now, slips)
    return 0.0


@kernel
def _solve_free(x: InverseScene, s: MujocoState, dt: float, L: np.ndarray, free: np.ndarray) -> bool:
    """Write the factors L (N, N) of the inertia, and velocities free (N,) without contacts; False: it is singular."""
    n, qvel, damping, smooth = x.nv, s.qvel, x.damping, x.smooth
    call_with_two(x.position, x.model, s.data)
    call_with_two(x.velocity, x.model, s.data)
    call_with_two(x.acceleration, x.model, s.data)
    call_with_three(x.inertia, x.model, s.data, L.ctypes.data)
    for k in range(n):
        L[k, k] += dt * damping[k]
        free[k] = smooth[k]
    if not factor_back(L, n):
        return False
    solve_up(L, n, free)
    solve_down(L, n, free)
    for k in range(n):
        free[k] = qvel[k] + dt * free[k]
    return True


@kernel
def _find_slips(
    x: InverseScene, dt: float, contacts: Contacts, now: np.ndarray, slips: np.ndarray, t: np.ndarray
) -> None:
    """Write where the things of contacts are, now (P, 2, 4, 3), how far they have slipped, and what they may close."""
    o, pairs, body_of, xmat, xpos = at(x.offsets, Offsets), x.pairs, x.body_of_geom, x.xmat, x.xpos
    for i in range(len(slips)):
        one, other = contacts.geoms[i, 0], contacts.geoms[i, 1]
        place_of(xmat[body_of[one]], xpos[body_of[one]], now[i, 0])
        place_of(xmat[body_of[other]], xpos[body_of[other]], now[i, 1])
        row = find_pair(pairs, x.counts[PAIRS], one, other)
        point, frame = floats(contacts.at[i] + o.pos, 3), vectors(contacts.at[i] + o.frame, 3, 3)
        if row >= 0:
            find_slip(x.places[row], now[i], point, slips[i])
        find_room(contacts.gaps[i], frame, slips[i], dt, t[i])


@kernel
def _add_constraint(constraint: np.ndarray, J: np.ndarray, f: np.ndarray) -> None:
    """Add the generalised impulses of contacts."""
    for i in range(len(f)):
        for a in range(3):
            if f[i, a] != 0.0:
                for k in range(len(constraint)):
                    constraint[k] += J[3 * i + a, k] * f[i, a]


@kernel
def _list_contacts(
    x: InverseScene, s: MujocoState, dt: float, free: np.ndarray, J: np.ndarray, contacts: Contacts
) -> int:
    """List contacts that are there, or would be by the end of the part, and their rows J (3 P, N); return how many."""
    o, n, count = at(x.offsets, Offsets), x.nv, 0
    last, above, root, body_of, com, cdof = x.last_dof, x.above, x.root, x.body_of_geom, x.com, x.cdof
    qvel, offset = s.qvel, np.empty(3)
    here = integers(s.data + o.contact, 1)[0] - o.size
    for _ in range(shorts(s.data + o.ncon, 1)[0]):
        here += o.size
        geom, point, frame = shorts(here + o.geom, 2), floats(here + o.pos, 3), vectors(here + o.frame, 3, 3)
        if shorts(here + o.exclude, 1)[0] != 0 or geom[0] < 0 or geom[1] < 0:
            continue
        rows = J[3 * count : 3 * count + 3]
        for side in range(2):
            body = body_of[geom[side]]
            for a in range(3):
                offset[a] = point[a] - com[root[body], a]
            add_side(rows, 2.0 * side - 1.0, frame, offset, last[body], above, cdof)
        closing, going = 0.0, 0.0
        for k in range(n):
            closing -= rows[0, k] * free[k]
            going -= rows[0, k] * qvel[k]
        gap = floats(here + o.dist, 1)[0]
        if gap - dt * max(closing, going) < NEAR:
            contacts.geoms[count, 0], contacts.geoms[count, 1] = geom[0], geom[1]
            contacts.at[count], contacts.gaps[count] = here, gap
            contacts.mu[count] = floats(here + o.friction, 1)[0]
            count += 1
        else:
            rows[:] = 0.0
    return count


@kernel
def _warm(x: InverseScene, dt: float, geoms: np.ndarray, f: np.ndarray) -> None:
    """Begin with the impulses of the last part of a step, if the same things touch."""
    last, impulses, count = x.last, x.impulses, len(geoms)
    if x.counts[LAST] != count:
        return
    for i in range(count):
        if last[i, 0] != geoms[i, 0] or last[i, 1] != geoms[i, 1]:
            return
    share = dt / x.span[0]
    for i in range(count):
        for a in range(3):
            f[i, a] = share * impulses[i, a]


@kernel
def _remember(
    x: InverseScene, dt: float, contacts: Contacts, f: np.ndarray, now: np.ndarray, slips: np.ndarray
) -> None:
    """Keep where contacts that hold began to, what they push, and what is felt of them."""
    o, most, counts, pairs, places, count = at(x.offsets, Offsets), x.most, x.counts, x.pairs, x.places, len(f)
    kept, before, force = 0, counts[PAIRS], np.empty(3)
    old, began = pairs[:before].copy(), places[:before].copy()
    counts[LAST] = count if count <= most else -1
    x.span[0] = dt
    for i in range(count):
        first, second, push = contacts.geoms[i, 0], contacts.geoms[i, 1], f[i, 0]
        if i < most:
            x.last[i, 0], x.last[i, 1] = first, second
            for a in range(3):
                x.impulses[i, a] = f[i, a]
        if push <= 0.0:
            continue
        frame, point = vectors(contacts.at[i] + o.frame, 3, 3), floats(contacts.at[i] + o.pos, 3)
        for a in range(3):
            force[a] = f[i, 0] * frame[0, a] + f[i, 1] * frame[1, a] + f[i, 2] * frame[2, a]
        add_felt(x, (first, second), point, push, force)
        if kept == most or find_pair(pairs, kept, first, second) >= 0:
            continue
        row, place = find_pair(old, before, first, second), now[i]
        drag = np.sqrt(f[i, 1] ** 2 + f[i, 2] ** 2)
        slid = np.sqrt(slips[i, 0] ** 2 + slips[i, 1] ** 2 + slips[i, 2] ** 2)
        if row >= 0 and drag <= STUCK * contacts.mu[i] * push and slid < SLID and not is_turned(began[row], now[i]):
            place = began[row]
        pairs[kept, 0], pairs[kept, 1] = first, second
        places[kept] = place
        kept += 1
    counts[PAIRS] = kept


@law
def read(body: int, block: int) -> None:
    """Read a body's state: what touched it is what pushed it in any part of the step."""
    b, own = at(body, Body), at(block, MujocoBody)
    read_state(b, own, own.has_floaters == 1 and _meets_floaters(at(own.inverse, InverseScene), own))


@kernel
def _meets_floaters(x: InverseScene, own: MujocoBody) -> bool:
    """Return whether all that pushed a body in the last step floats itself."""
    is_fixed = False
    for i in range(x.counts[FELT]):
        is_fixed = is_fixed or touches_fixed(own.floater, x.geoms[i, 0], x.geoms[i, 1], own.number)
    return not is_fixed


class InverseSource(Layout):
    """Where a log of hits reads contacts."""

    log: int  # address of the `ContactTable`
    scene: int  # address of the `InverseScene`
    geoms: int
    thing: Annotated[Ints, "geoms"]  # number in the log of what each shape is of


@law
def note_contacts(_body: int, block: int) -> None:
    """Note every contact of the last step in a log."""
    source = at(block, InverseSource)
    log, x, thing = at(source.log, ContactTable), at(source.scene, InverseScene), source.thing
    for i in range(x.counts[FELT]):
        note_contact(log, thing[x.geoms[i, 0]], thing[x.geoms[i, 1]], x.points[i], x.forces[i])
    end_step(log, False)
