"""Contacts met before they are there, compiled: what falls fast comes to rest on a surface, and not under it.

A body that lands at 4 m/s moves by 20 mm in a step of 5 ms. An engine that looks at the beginning of each step finds it
deep in the ground, and what then pushes it out gives it energy. So a shape's contacts begin as far ahead as it may get
in a step,

    reach = WHIP h (|v| + |om| r)       v of its middle, r the radius around it                      [landing, eq 1]

which is farther than it gets by itself: a heel that lands at 3 m/s has the toes slap down at 10 in the same step. With
g the gap and v_n the speed at which it grows, a contact asks for no more than what closes it in this step:

    v_n' >= -g / h                      g > 0: a = -(v_n + g / h) / h                                [landing, eq 2]
    a = -v_n / h + u / h                g <= 0: met; stopped at once, and pushed out at              [landing, eq 3]
    u = min(-PUSH g / h, OUT)

Both take energy and give none, but for what pushes out. Who is slow has no contacts ahead, and is left to the engine,
but where he is deep in something: whoever was animated into the ground, and is let go, would be shot out of it. Where
things are soft, or bounce, or something animated hangs on a body, the engine's own contacts stay, and what is deep is
held back alone:

    a = min(a, (OUT - v_n) / h)         g < -DEEP; a: what the engine asks for                       [landing, eq 4]

Free props land in the same way, each by itself: the engine's contacts are springs of 8 ms or two steps, which a box
that fell 0.85 m compresses by 20 to 50 mm and which then throw it up. A prop is fast from SLOW / max(h, CATCH) on. Of
its contacts, those ahead and those that close as fast follow eq 2 and 3; the others are the engine's, which reads a
contact as deeper by what was added to its margin. That is taken back:

    a' = a - K I w / (1 + h B + h2 K I)     w: m, added;  K, B, I: stiffness, damping, impedance     [landing, eq 5]

Both laws, for bodies that fall and for the step in three, work on MuJoCo's own structures; see `landing.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import call_with_two, floats, integers, record, shorts, vectors
from poise.engines.mujoco.contact_kernels import NEVER, shift
from poise.engines.mujoco.kernels import DATA, keep_before
from poise.engines.mujoco.landing import GRADIENTS, LONGEST

SLOW = 1e-3  # m that nothing moves by in a step: then there is nothing to look ahead for
# s, about how long the engine's contacts take to catch something at short steps, divided by e: at 0.33 m/s what falls
# on them gets 1 mm deep
CATCH = 0.003
FARTHEST = 0.1  # m, that is looked ahead at the most
# Of 64 drops at 5 ms the deepest on the way was 21 mm in the floor with 1, toes all of them; 11 with 3.
WHIP = 3.0
PUSH = 0.015
OUT = 1.0  # m/s, at the most, as in Bullet
DEEP = 0.03  # m: nobody gets there by landing
# What the shape of a contact is of: something that stays with its engine's contacts, a body that falls, a free prop,
# or a segment that something given moves.
OTHER, FALLING, LOOSE, MOVED = range(4)


@kernel
def is_slow(qvel: np.ndarray, watched: np.ndarray, length: float, span: float) -> bool:
    """Whether surely no point moves by `SLOW` in a time.

    watched  the velocities that count;  length: m, from a joint to a point that it moves, at most;  span: s
    """
    total = 0.0
    for i in watched:
        total += abs(qvel[i])
    return span * total * max(length, 1.0) < SLOW


@kernel
def look_ahead(
    cvel: np.ndarray,
    com: np.ndarray,
    root: np.ndarray,
    body: np.ndarray,
    at: np.ndarray,
    kind: np.ndarray,
    bound: np.ndarray,
    base: np.ndarray,
    dt: float,
    margin: np.ndarray,
    widest: np.ndarray,
) -> bool:
    """Set how far ahead the contacts of each shape begin; whether any body falls fast.   [landing, eq 1]

    cvel, com  (B, 6) and (B, 3): MuJoCo's velocities of bodies, about the centre of mass of the tree that they are of
    root       (B,) the first body of that tree;  body (G,) whose shape it is;  kind (G,) what that is
    at, bound  (G, 3) m, the shape's middle; (G,) m, the radius around it, 0: its contacts are not met ahead
    base       (G,) m, where contacts begin anyway;  margin (G,), widest (B,): where they begin now, of all of a body
    """
    is_fast = False
    for b in range(len(widest)):
        widest[b] = 0.0
    for g in range(len(body)):
        b = body[g]
        speed = 0.0
        if bound[g] > 0.0:
            c, v = com[root[b]], cvel[b]
            x, y, z = at[g, 0] - c[0], at[g, 1] - c[1], at[g, 2] - c[2]
            vx = v[3] + v[1] * z - v[2] * y
            vy = v[4] + v[2] * x - v[0] * z
            vz = v[5] + v[0] * y - v[1] * x
            spin = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
            speed = np.sqrt(vx * vx + vy * vy + vz * vz) + spin * bound[g]
        if kind[g] == LOOSE and speed * max(dt, CATCH) < SLOW:
            speed = 0.0
        is_fast = is_fast or (kind[g] == FALLING and speed * dt >= SLOW)
        margin[g] = base[g] + min(WHIP * dt * speed, FARTHEST)
    for g in range(len(body)):
        if kind[g] == FALLING and not is_fast:
            margin[g] = base[g]
        widest[body[g]] = max(widest[body[g]], margin[g])
    return is_fast


@kernel
def meet_contact(
    kinds: tuple[int, int], gap: float, wide: float, speed: float, dt: float, is_fast: bool, ahead: bool,
    asked: float, kbip: np.ndarray,
) -> float:  # fmt: skip
    """m/s2 that a contact asks for along its normal, of what the engine asks for.

    kinds    of its two shapes;  gap: m;  wide: m, by how much earlier than usual it begins;  speed: m/s, of the gap
    is_fast  whether a body falls fast;  ahead: whether contacts of bodies that fall are met ahead
    kbip     (4,) stiffness, damping and impedance of MuJoCo's spring
    """
    if max(kinds) == MOVED:
        if wide > 0.0:
            return -NEVER if gap > 0.0 else narrow(asked, wide, dt, kbip)
        return asked
    if kinds[0] == FALLING or kinds[1] == FALLING:
        if ahead and (is_fast or gap < -DEEP):
            return land(gap, speed, dt)
        if gap < -DEEP:
            return hold_back(asked, speed, dt)
    if wide > 0.0:
        is_met = gap > 0.0 or -speed * max(dt, CATCH) >= SLOW
        return land(gap, speed, dt) if is_met else narrow(asked, wide, dt, kbip)
    return asked


@kernel
def narrow(asked: float, wide: float, dt: float, kbip: np.ndarray) -> float:
    """m/s2 that a contact would ask for that began later by `wide` m.   [landing, eq 5]"""
    K, B = kbip[0] * kbip[2], kbip[1]
    return asked - K * wide / (1.0 + dt * B + dt * dt * K)


@kernel
def land(gap: float, speed: float, dt: float) -> float:
    """m/s2 that a contact asks for along its normal.   [landing, eq 2 and 3]"""
    if gap > 0.0:
        return -(speed + gap / dt) / dt
    return -(speed - min(-PUSH * gap / dt, OUT)) / dt


@kernel
def hold_back(asked: float, speed: float, dt: float) -> float:
    """m/s2 that a contact deep in something asks for along its normal, of what it would.   [landing, eq 4]"""
    return min(asked, (OUT - speed) / dt)


# See `engines/mujoco/landing.py:LandingContacts`; MuJoCo's functions; where its velocities are
# (`engines/mujoco/library.py`).
LANDING = fields(
    arrays="base around root body wide kind bound margin widest watched",
    integers="geoms bodies ahead count kinematics middle velocity speed cvel com at",
    floats="length dt span",
)


@kernel
def look(d: Any, x: Any) -> bool:
    """See `LandingContacts.look`; d: `engines/mujoco/kernels.py:DATA`, x: LANDING."""
    if is_slow(floats(d.qvel, d.nv), integers(x.watched, x.count), x.length, x.span):
        if integers(x.wide, 1)[0] != 0:
            _narrow(x)
        return False
    call_with_two(x.kinematics, d.model, d.data)
    call_with_two(x.middle, d.model, d.data)
    call_with_two(x.velocity, d.model, d.data)
    n, g = x.bodies, x.geoms
    integers(x.wide, 1)[0] = 1
    return look_ahead(
        vectors(integers(d.data + x.cvel, 1)[0], n, 6), vectors(integers(d.data + x.com, 1)[0], n, 3),
        integers(x.root, n), integers(x.body, g), vectors(integers(d.data + x.at, 1)[0], g, 3), integers(x.kind, g),
        floats(x.bound, g), floats(x.base, g), x.dt, floats(x.margin, g), floats(x.widest, n),
    )  # fmt: skip


@kernel
def _narrow(x: Any) -> None:
    """Have contacts begin where they begin anyway."""
    margin, base = floats(x.margin, x.geoms), floats(x.base, x.geoms)
    for g in range(x.geoms):
        margin[g] = base[g]
    widest, around = floats(x.widest, x.bodies), floats(x.around, x.bodies)
    for b in range(x.bodies):
        widest[b] = around[b]
    integers(x.wide, 1)[0] = 0


@kernel
def meet(d: Any, x: Any, is_fast: bool) -> bool:
    """See `LandingContacts.meet`."""
    efc, g = shorts(d.data + d.nefc, 1)[0], x.geoms
    base, kind, margin = floats(x.base, g), integers(x.kind, g), floats(x.margin, g)
    at = integers(d.data + d.contact, 1)[0]
    aref, speed = floats(integers(d.data + d.aref, 1)[0], efc), floats(integers(d.data + x.speed, 1)[0], efc)
    kbip = vectors(integers(d.data + d.kbip, 1)[0], efc, 4)
    is_met = False
    for _ in range(shorts(d.data + d.ncon, 1)[0]):
        geom, row = shorts(at + d.geom, 2), shorts(at + d.address, 1)[0]
        if row >= 0 and geom[0] >= 0 and geom[1] >= 0:
            one, other = geom[0], geom[1]
            begins = base[one] + base[other]
            wide, gap = margin[one] + margin[other] - begins, floats(at + d.dist, 1)[0] - begins
            asked = meet_contact(
                (kind[one], kind[other]), gap, wide, speed[row], x.dt, is_fast, x.ahead != 0, aref[row], kbip[row]
            )
            if asked != aref[row]:
                aref[row], is_met = asked, True
                floats(at + d.margin, 1)[0] = begins
        at += d.size
    return is_met


@law
def step(_body: int, block: int) -> None:
    """MuJoCo's step, with contacts ahead of what falls, and such as know how fast the segments in them are."""
    d = record(block, DATA)
    if d.is_away == 1:
        keep_before(d)
    is_fast = False
    if d.landing != 0:
        is_fast = look(d, record(d.landing, LANDING))
    d.unsolved = 0
    call_with_two(d.forward, d.model, d.data)
    is_met = False
    if d.landing != 0:
        is_met = meet(d, record(d.landing, LANDING), is_fast)
    if shift(d) or is_met:
        call_with_two(d.solve, d.model, d.data)
    if shorts(d.data + d.niter, 1)[0] >= shorts(d.model + d.iterations, 1)[0]:
        _solve_again(d)
    call_with_two(d.advance, d.model, d.data)


@kernel
def _solve_again(d: Any) -> None:
    """Contacts by conjugate gradients, where Newton's method has found no end."""
    solver, most = shorts(d.model + d.solver, 1), shorts(d.model + d.iterations, 1)
    before, usual = solver[0], most[0]
    solver[0], most[0] = GRADIENTS, LONGEST
    call_with_two(d.solve, d.model, d.data)
    d.unsolved = 1 if shorts(d.data + d.niter, 1)[0] >= LONGEST else 0
    solver[0], most[0] = before, usual
