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

The law works on MuJoCo's own structures; `landing.py` explains the step in three.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import law
from poise.compiled.layout import Floats, Ints, Layout, at
from poise.compiled.views import call_with_two, floats, integers, shorts, vectors
from poise.engines.mujoco.contact_kernels import NEVER, shift
from poise.engines.mujoco.kernels import MujocoScene, MujocoState, Offsets, keep_before
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


class Landing(Layout):
    """Shapes whose contacts are met ahead. A shape's `bound` is 0 if its contacts are not."""

    # Addresses of MuJoCo's functions: poses of bodies, centres of mass, velocities.
    kinematics: int
    middle: int
    velocity: int
    meets_bodies: int  # 1: contacts of bodies that fall are met before they are there; else deep ones are held back
    dt: float  # s
    span: float  # s, in which what is fast moves by `SLOW`
    length: float  # m, from a joint to a point that it moves, at most
    watched_count: int
    watched: Annotated[Ints, "watched_count"]  # velocities by which such shapes may be fast
    bodies: int
    root: Annotated[Ints, "bodies"]  # first body of each body's tree
    around: Annotated[Floats, "bodies"]  # m, where contacts of each body begin by default
    widest: Annotated[Floats, "bodies"]  # m, where they begin now
    geoms: int
    body: Annotated[Ints, "geoms"]  # whose shape it is
    kind: Annotated[Ints, "geoms"]
    bound: Annotated[Floats, "geoms"]  # m, radius around the shape
    base: Annotated[Floats, "geoms"]  # m, where its contacts begin by default
    margin: Annotated[Floats, "geoms"]  # m, where they begin now
    is_wide: Annotated[Ints, 1]  # 1: contacts begin farther out now


@kernel
def is_slow(x: Landing, qvel: np.ndarray) -> bool:
    """Return whether surely no point moves by `SLOW` in the span."""
    total = 0.0
    for i in x.watched:
        total += abs(qvel[i])
    return x.span * total * max(x.length, 1.0) < SLOW


@kernel
def look_ahead(x: Landing, cvel: np.ndarray, com: np.ndarray, xpos: np.ndarray) -> bool:
    """Set how far ahead the contacts of each shape begin; return whether any body falls fast.   [landing, eq 1]

    cvel, com  (B, 6), (B, 3): MuJoCo's velocities of bodies, about the centre of mass of the tree that they are of
    xpos       (G, 3) m, the shapes' middles
    """
    root, body, kind, bound, base, dt = x.root, x.body, x.kind, x.bound, x.base, x.dt
    margin, widest = x.margin, x.widest
    is_fast = False
    for i in range(x.bodies):
        widest[i] = 0.0
    for g in range(x.geoms):
        i = body[g]
        speed = 0.0
        if bound[g] > 0.0:
            c, v = com[root[i]], cvel[i]
            rx, ry, rz = xpos[g, 0] - c[0], xpos[g, 1] - c[1], xpos[g, 2] - c[2]
            vx = v[3] + v[1] * rz - v[2] * ry
            vy = v[4] + v[2] * rx - v[0] * rz
            vz = v[5] + v[0] * ry - v[1] * rx
            spin = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
            speed = np.sqrt(vx * vx + vy * vy + vz * vz) + spin * bound[g]
        if kind[g] == LOOSE and speed * max(dt, CATCH) < SLOW:
            speed = 0.0
        is_fast = is_fast or (kind[g] == FALLING and speed * dt >= SLOW)
        margin[g] = base[g] + min(WHIP * dt * speed, FARTHEST)
    for g in range(x.geoms):
        if kind[g] == FALLING and not is_fast:
            margin[g] = base[g]
        widest[body[g]] = max(widest[body[g]], margin[g])
    return is_fast


@kernel
def meet_contact(
    x: Landing, kinds: tuple[int, int], gap: float, wide: float, speed: float, is_fast: bool, asked: float,
    kbip: np.ndarray,
) -> float:  # fmt: skip
    """Return the acceleration (m/s2) that a contact asks for along its normal, from what the engine asks for.

    kinds    of its two shapes;  gap: m;  wide: m, by how much earlier than by default it begins
    speed    m/s, of the gap;  is_fast: whether a body falls fast
    kbip     (4,) stiffness, damping and impedance of MuJoCo's spring
    """
    dt = x.dt
    if max(kinds) == MOVED:
        if wide > 0.0:
            return -NEVER if gap > 0.0 else narrow(asked, wide, dt, kbip)
        return asked
    if kinds[0] == FALLING or kinds[1] == FALLING:
        if x.meets_bodies != 0 and (is_fast or gap < -DEEP):
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


@kernel
def look(scene: MujocoScene, x: Landing) -> bool:
    """Let contacts begin as far ahead as shapes get in the next step; return whether any body falls fast."""
    s, o = at(scene.state, MujocoState), at(scene.offsets, Offsets)
    if is_slow(x, s.qvel):
        if x.is_wide[0] != 0:
            x.margin[:] = x.base
            x.widest[:] = x.around
            x.is_wide[0] = 0
        return False
    call_with_two(x.kinematics, scene.model, s.data)
    call_with_two(x.middle, scene.model, s.data)
    call_with_two(x.velocity, scene.model, s.data)
    x.is_wide[0] = 1
    return look_ahead(
        x, vectors(integers(s.data + o.cvel, 1)[0], x.bodies, 6), vectors(integers(s.data + o.com, 1)[0], x.bodies, 3),
        vectors(integers(s.data + o.xpos, 1)[0], x.geoms, 3),
    )  # fmt: skip


@kernel
def meet(scene: MujocoScene, x: Landing, is_fast: bool) -> bool:
    """Change what contacts ask for to what brings the two together; return whether any has changed.

    is_fast  whether a body falls fast; else only deep contacts of bodies are changed, and those of fast props
    """
    s, o = at(scene.state, MujocoState), at(scene.offsets, Offsets)
    efc, base, kind, margin = shorts(s.data + o.nefc, 1)[0], x.base, x.kind, x.margin
    aref, speed = floats(integers(s.data + o.aref, 1)[0], efc), floats(integers(s.data + o.speed, 1)[0], efc)
    kbip = vectors(integers(s.data + o.kbip, 1)[0], efc, 4)
    contact = integers(s.data + o.contact, 1)[0]
    is_met = False
    for _ in range(shorts(s.data + o.ncon, 1)[0]):
        geom, row = shorts(contact + o.geom, 2), shorts(contact + o.row, 1)[0]
        if row >= 0 and geom[0] >= 0 and geom[1] >= 0:
            one, other = geom[0], geom[1]
            begins = base[one] + base[other]
            wide, gap = margin[one] + margin[other] - begins, floats(contact + o.dist, 1)[0] - begins
            asked = meet_contact(x, (kind[one], kind[other]), gap, wide, speed[row], is_fast, aref[row], kbip[row])
            if asked != aref[row]:
                aref[row], is_met = asked, True
                floats(contact + o.margin, 1)[0] = begins
        contact += o.size
    return is_met


@law
def step(_body: int, block: int) -> None:
    """Make MuJoCo's step in three, with contacts met ahead, and contacts that know the velocity of their segments."""
    scene = at(block, MujocoScene)
    s, o = at(scene.state, MujocoState), at(scene.offsets, Offsets)
    keep_before(scene)
    is_fast = False
    if scene.landing != 0:
        is_fast = look(scene, at(scene.landing, Landing))
    scene.unsolved = 0
    call_with_two(scene.forward, scene.model, s.data)
    is_met = False
    if scene.landing != 0:
        is_met = meet(scene, at(scene.landing, Landing), is_fast)
    if shift(scene) or is_met:
        call_with_two(scene.solve, scene.model, s.data)
    if shorts(s.data + o.niter, 1)[0] >= shorts(scene.model + o.iterations, 1)[0]:
        _solve_again(scene, s, o)
    call_with_two(scene.advance, scene.model, s.data)


@kernel
def _solve_again(scene: MujocoScene, s: MujocoState, o: Offsets) -> None:
    """Solve contacts by conjugate gradients, if Newton's method does not converge."""
    solver, most = shorts(scene.model + o.solver, 1), shorts(scene.model + o.iterations, 1)
    before, default = solver[0], most[0]
    solver[0], most[0] = GRADIENTS, LONGEST
    call_with_two(scene.solve, scene.model, s.data)
    scene.unsolved = 1 if shorts(s.data + o.niter, 1)[0] >= LONGEST else 0
    solver[0], most[0] = before, default
