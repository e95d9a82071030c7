"""The step of the engine `inverse`, compiled, on MuJoCo's own structures (`engine.py`), with contacts as rows.

Contacts of a part of a step, and what is remembered of them.

N velocities, P contacts, B bodies of MuJoCo's. A contact's axes are its frame (3, 3), the normal first, from its first
thing to its second; its velocity is that of the second beside the first.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import (
    blocks,
    call_with_three,
    call_with_two,
    floats,
    integers,
    record,
    shorts,
    tables,
    vectors,
)
from poise.dynamics.body_kernels import BODY
from poise.dynamics.contact.cone_kernels import factor_back, solve_down, solve_factored_contacts, solve_up
from poise.engines.contact_log_kernels import HITS, end_step, note_contact
from poise.engines.engine import SUBSTEP
from poise.engines.mujoco.kernels import DATA, PLACES, read_state, stands_fast

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


@kernel
def list_ends(
    kind: np.ndarray, qadr: np.ndarray, vadr: np.ndarray, ranges: np.ndarray, qpos: np.ndarray, qvel: np.ndarray,
    dt: float, rows: np.ndarray,
) -> int:  # fmt: skip
    """Hinges with ranges (K, 2) of their own that are near an end: rows (2 K, 3) of freedom, sign and room (rad/s)."""
    count = 0
    for k in range(len(kind)):
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
def add_felt(
    first: int, second: int, point: np.ndarray, push: float, force: np.ndarray, geoms: np.ndarray, points: np.ndarray,
    forces: np.ndarray, pushes: np.ndarray, count: int, apart: float,
) -> int:  # fmt: skip
    """Add an impulse to those of a step, at most so many; the same two things within `apart` (m) are one contact.

    force (3,) N s in the world, push its normal part;  geoms (F, 2), points (F, 3), forces (F, 3), pushes (F,)
    """
    row, nearest = count, apart * apart
    for i in range(count):
        if geoms[i, 0] == first and geoms[i, 1] == second:
            x, y, z = point[0] - points[i, 0], point[1] - points[i, 1], point[2] - points[i, 2]
            if x * x + y * y + z * z <= nearest or count == len(geoms):
                row, nearest = i, x * x + y * y + z * z
    if row == len(geoms):
        return count
    if row == count:
        geoms[row, 0], geoms[row, 1], pushes[row] = first, second, 0.0
        for a in range(3):
            points[row, a] = forces[row, a] = 0.0
        count += 1
    # where their common push acts
    share = push / (pushes[row] + push)
    for a in range(3):
        points[row, a] += share * (point[a] - points[row, a])
        forces[row, a] += force[a]
    pushes[row] += push
    return count


# MuJoCo's functions and structures, its arrays, what they are by number (int64), and what is kept from step to step:
# pairs (most, 2) that hold and places (most, 24) where they began; last (most, 2), impulses (most, 3) of the last part;
# felt of the last step: geoms (most, 2), points (most, 3), forces (most, 3) N, pushes (most,);
# counts: of pairs, last, felt, and rounds that the last step took;  span: s, of the last part
INVERSE = fields(
    arrays="""
        qpos qvel smooth applied outside constraint damping cdof com xmat xpos
        last_dof above root body_of_geom jnt_type jnt_qadr jnt_vadr jnt_range
        pairs places last impulses geoms points forces pushes counts span
    """,
    integers="""
        position velocity acceleration inertia model data nv nq bodies shapes joints most
        ncon contact size dist pos frame geom exclude friction time substep
    """,
    floats="dt heavy exact",
)
PAIRS, LAST, FELT, ROUNDS = range(4)
SAME = 0.02  # m: within a step, contacts of the same two things so near to each other are one


@law
def step(_body: int, block: int) -> None:
    """Advance all by the scene's dt, in parts where something is fast."""
    x = record(block, INVERSE)
    n, counts = x.nv, integers(x.counts, 4)
    qvel, applied, outside = floats(x.qvel, n), floats(x.applied, n), floats(x.outside, 6 * x.bodies)
    constraint = floats(x.constraint, n)
    counts[FELT] = counts[ROUNDS] = 0
    constraint[:] = 0.0
    left, is_cut, dt, u, before = x.dt, False, x.dt, np.empty(n), np.empty(n)
    while left > 1e-9 * x.dt:
        dt = left / count_parts(qvel, left)
        is_cut = is_cut or dt < x.dt
        if is_cut:
            _run_again(record(x.substep, SUBSTEP), dt)
        speed = advance(x, dt, u, True)
        if speed > 0.0:
            # something was struck: again, in a shorter part, with what stops joints that are as fast as it makes them
            dt, is_cut = min(max(FAST / speed, SHORTEST), dt), True
            before[:] = qvel
            qvel[:] = u
            _run_again(record(x.substep, SUBSTEP), dt)
            qvel[:] = before
            advance(x, dt, u, False)
        left -= dt
    forces = vectors(x.forces, x.most, 3)
    for i in range(counts[FELT]):
        for a in range(3):
            forces[i, a] /= x.dt
    for k in range(n):
        constraint[k] /= x.dt
        applied[k] = 0.0
    outside[:] = 0.0


@kernel
def _run_again(again: Any, dt: float) -> None:
    """What is asked for anew in every part."""
    again.dt = dt
    rows = tables(again.rows, again.count, 3)
    for i in range(again.count):
        call_with_two(rows[i, 0], rows[i, 1], rows[i, 2])


@kernel
def advance(x: Any, dt: float, u: np.ndarray, may_refuse: bool) -> float:
    """One part of a step, its velocities u (N,); where those are too fast for it, nothing is done, and how fast."""
    n, counts, most = x.nv, integers(x.counts, 4), x.most
    qpos, qvel, smooth, damping = floats(x.qpos, x.nq), floats(x.qvel, n), floats(x.smooth, n), floats(x.damping, n)
    call_with_two(x.position, x.model, x.data)
    call_with_two(x.velocity, x.model, x.data)
    call_with_two(x.acceleration, x.model, x.data)
    L, free = np.empty((n, n)), np.empty(n)
    call_with_three(x.inertia, x.model, x.data, L.ctypes.data)
    for k in range(n):
        L[k, k] += dt * damping[k]
        free[k] = smooth[k]
    if not factor_back(L, n):
        qvel[:] = np.nan
        return 0.0
    solve_up(L, n, free)
    solve_down(L, n, free)
    for k in range(n):
        free[k] = qvel[k] + dt * free[k]
    found = shorts(x.data + x.ncon, 1)[0]
    kind, qadr, vadr = integers(x.jnt_type, x.joints), integers(x.jnt_qadr, x.joints), integers(x.jnt_vadr, x.joints)
    ends = np.empty((2 * x.joints, 3))
    ended = list_ends(kind, qadr, vadr, vectors(x.jnt_range, x.joints, 2), qpos, qvel, dt, ends)
    J, t, mu = np.zeros((3 * (found + ended), n)), np.zeros((found + ended, 3)), np.zeros(found + ended)
    geoms, at, gaps = np.empty((found, 2), np.int64), np.empty(found, np.int64), np.empty(found)
    count = _list_contacts(x, dt, free, J, mu, geoms, at, gaps)
    # where they are and how far they have slipped
    now, slips, f = np.empty((count, 2, 4, 3)), np.zeros((count, 3)), np.zeros((count + ended, 3))
    pairs, places = tables(x.pairs, most, 2), blocks(x.places, 8 * most, 1, 3)
    body_of = integers(x.body_of_geom, x.shapes)
    xmat, xpos = vectors(x.xmat, x.bodies, 9), vectors(x.xpos, x.bodies, 3)
    for i in range(count):
        for s in range(2):
            place_of(xmat[body_of[geoms[i, s]]], xpos[body_of[geoms[i, s]]], now[i, s])
        row = find_pair(pairs, counts[PAIRS], geoms[i, 0], geoms[i, 1])
        point, frame = floats(at[i] + x.pos, 3), vectors(at[i] + x.frame, 3, 3)
        if row >= 0:
            find_slip(_place(places, row), now[i], point, slips[i])
        find_room(gaps[i], frame, slips[i], dt, t[i])
    _warm(x, dt, count, geoms, f)
    for i in range(ended):
        J[3 * (count + i), int(ends[i, 0])] = ends[i, 1]
        t[count + i, 0] = ends[i, 2]
    total = count + ended
    rounds = solve_factored_contacts(L, free, J[: 3 * total], t[:total], mu[:total], x.heavy, f, u, x.exact)
    counts[ROUNDS] += rounds
    if may_refuse:
        speed, jump = 0.0, 0.0
        for k in range(n):
            speed, jump = max(speed, abs(u[k])), max(jump, abs(u[k] - qvel[k]))
        if (speed * dt > 1.5 * FAST and dt > SHORTEST) or jump * dt > STRUCK:
            return speed
    qvel[:] = u
    integrate(kind, qadr, vadr, dt, qvel, qpos)
    floats(x.data + x.time, 1)[0] += dt
    constraint = floats(x.constraint, n)
    for i in range(total):
        for a in range(3):
            if f[i, a] != 0.0:
                for k in range(n):
                    constraint[k] += J[3 * i + a, k] * f[i, a]
    _remember(x, dt, count, geoms, at, mu, f, now, slips)
    return 0.0


@kernel
def _list_contacts(
    x: Any, dt: float, free: np.ndarray, J: np.ndarray, mu: np.ndarray, geoms: np.ndarray, at: np.ndarray,
    gaps: np.ndarray,
) -> int:  # fmt: skip
    """Contacts that are there, or would be by the end of the part: their rows J (3 P, N), and where MuJoCo has them."""
    n, count = x.nv, 0
    last, above, root = integers(x.last_dof, x.bodies), integers(x.above, n), integers(x.root, x.bodies)
    body_of, com, cdof = integers(x.body_of_geom, x.shapes), vectors(x.com, x.bodies, 3), vectors(x.cdof, n, 6)
    qvel, offset = floats(x.qvel, n), np.empty(3)
    here = integers(x.data + x.contact, 1)[0] - x.size
    for _ in range(shorts(x.data + x.ncon, 1)[0]):
        here += x.size
        if shorts(here + x.exclude, 1)[0] != 0:
            continue
        geom, point, frame = shorts(here + x.geom, 2), floats(here + x.pos, 3), vectors(here + x.frame, 3, 3)
        if geom[0] < 0 or geom[1] < 0:
            continue
        rows = J[3 * count : 3 * count + 3]
        for s in range(2):
            body = body_of[geom[s]]
            for a in range(3):
                offset[a] = point[a] - com[root[body], a]
            add_side(rows, 2.0 * s - 1.0, frame, offset, last[body], above, cdof)
        closing, going = 0.0, 0.0
        for k in range(n):
            closing -= rows[0, k] * free[k]
            going -= rows[0, k] * qvel[k]
        gap = floats(here + x.dist, 1)[0]
        if gap - dt * max(closing, going) < NEAR:
            geoms[count, 0], geoms[count, 1], at[count], gaps[count] = geom[0], geom[1], here, gap
            mu[count] = floats(here + x.friction, 1)[0]
            count += 1
        else:
            rows[:] = 0.0
    return count


@kernel
def _place(places: np.ndarray, row: int) -> np.ndarray:
    """A row of places as (2, 4, 3)."""
    return places[8 * row : 8 * row + 8].reshape(2, 4, 3)


@kernel
def _warm(x: Any, dt: float, count: int, geoms: np.ndarray, f: np.ndarray) -> None:
    """Begin with the impulses of the last part of a step, where the same things touch."""
    last, impulses = tables(x.last, x.most, 2), vectors(x.impulses, x.most, 3)
    if integers(x.counts, 4)[LAST] != count:
        return
    for i in range(count):
        if last[i, 0] != geoms[i, 0] or last[i, 1] != geoms[i, 1]:
            return
    share = dt / floats(x.span, 1)[0]
    for i in range(count):
        for a in range(3):
            f[i, a] = share * impulses[i, a]


@kernel
def _remember(
    x: Any, dt: float, count: int, geoms: np.ndarray, at: np.ndarray, mu: np.ndarray, f: np.ndarray, now: np.ndarray,
    slips: np.ndarray,
) -> None:  # fmt: skip
    """Where contacts that hold began to, what they push, and what is felt of them."""
    most, counts = x.most, integers(x.counts, 4)
    pairs, places = tables(x.pairs, most, 2), blocks(x.places, 8 * most, 1, 3)
    last, impulses = tables(x.last, most, 2), vectors(x.impulses, most, 3)
    felt, points = tables(x.geoms, most, 2), vectors(x.points, most, 3)
    forces, pushes = vectors(x.forces, most, 3), floats(x.pushes, most)
    kept, before, force = 0, counts[PAIRS], np.empty(3)
    old, began = pairs[:before].copy(), places[: 8 * before].copy()
    counts[LAST] = count if count <= most else -1
    floats(x.span, 1)[0] = dt
    for i in range(count):
        first, second, push = geoms[i, 0], geoms[i, 1], f[i, 0]
        if i < most:
            last[i, 0], last[i, 1] = first, second
            for a in range(3):
                impulses[i, a] = f[i, a]
        if push <= 0.0:
            continue
        frame, point = vectors(at[i] + x.frame, 3, 3), floats(at[i] + x.pos, 3)
        for a in range(3):
            force[a] = f[i, 0] * frame[0, a] + f[i, 1] * frame[1, a] + f[i, 2] * frame[2, a]
        counts[FELT] = add_felt(first, second, point, push, force, felt, points, forces, pushes, counts[FELT], SAME)
        if kept == most or find_pair(pairs, kept, first, second) >= 0:
            continue
        row, place = find_pair(old, before, first, second), now[i]
        drag = np.sqrt(f[i, 1] ** 2 + f[i, 2] ** 2)
        slid = np.sqrt(slips[i, 0] ** 2 + slips[i, 1] ** 2 + slips[i, 2] ** 2)
        if row >= 0 and drag <= STUCK * mu[i] * push and slid < SLID and not is_turned(_place(began, row), now[i]):
            place = _place(began, row)
        pairs[kept, 0], pairs[kept, 1] = first, second
        _place(places, kept)[:] = place
        kept += 1
    counts[PAIRS] = kept


@law
def read(body: int, block: int) -> None:
    """See `engines/mujoco/kernels.py:read`: what touched a body is what pushed it in any part of the step."""
    b, p = record(body, BODY), record(block, PLACES)
    read_state(b, p, record(p.data, DATA), p.floater != 0 and _meets_floaters(record(p.scene, INVERSE), p))


@kernel
def _meets_floaters(x: Any, p: Any) -> bool:
    """Whether all that pushed a body in the last step floats itself."""
    floater, geoms = integers(p.floater, p.geoms), tables(x.geoms, x.most, 2)
    is_met = False
    for i in range(integers(x.counts, 4)[FELT]):
        is_met = is_met or stands_fast(floater, geoms[i, 0], geoms[i, 1], p.number)
    return not is_met


# hits: the block of `ContactLog`;  scene: the simulation's;  thing (shapes,): what each shape is of
SOURCE = fields(arrays="thing", integers="hits scene")


@law
def feel(_body: int, block: int) -> None:
    """Note every contact of the last step."""
    s = record(block, SOURCE)
    hits, x = record(s.hits, HITS), record(s.scene, INVERSE)
    thing, geoms = integers(s.thing, x.shapes), tables(x.geoms, x.most, 2)
    forces, points = vectors(x.forces, x.most, 3), vectors(x.points, x.most, 3)
    for i in range(integers(x.counts, 4)[FELT]):
        f, p = forces[i], points[i]
        note_contact(hits, thing[geoms[i, 0]], thing[geoms[i, 1]], p[0], p[1], p[2], f[0], f[1], f[2])
    end_step(hits, False)
