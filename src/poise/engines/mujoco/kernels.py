"""MuJoCo's step as laws: what acts on a body goes in, MuJoCo steps, the body's state comes out.

Between Poise's bodies and MuJoCo's coordinates:

A body's joints in `qpos` and `qvel`: kind (J,), qadr (J,), vadr (J,), count (J,) axes, axes (J, 2, 3), built (J, 4).
MuJoCo's velocities of free and ball joints are Poise's own: linear in the world, angular in the body's axes.

MuJoCo's own step is called by its address. A body may step at another `MjData` than its own: see `workspaces.py`.

What every engine needs at the joints is here too: forces gathered there, and a first hinge as the second turns it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import blocks, call_with_two, floats, integers, record, shorts, vectors
from poise.dynamics.body_kernels import BODY, turn_back
from poise.engines.scene import BALL, FREE, HINGES

NOTHING = 1e-9  # N, N m: more than what round-off leaves of a body's hold on itself, less than any touch


@kernel
def read_body(
    kind: np.ndarray,
    qadr: np.ndarray,
    vadr: np.ndarray,
    count: np.ndarray,
    axes: np.ndarray,
    built: np.ndarray,
    qpos: np.ndarray,
    qvel: np.ndarray,
    root: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    w: np.ndarray,
) -> None:
    """The state of a body's simulated joints out of MuJoCo's coordinates."""
    for i in range(len(kind)):
        a, b = qadr[i], vadr[i]
        if kind[i] == FREE:
            for k in range(3):
                root[k] = qpos[a + k]
                v[k] = qvel[b + k]
                w[i, k] = qvel[b + 3 + k]
            for k in range(4):
                q[i, k] = qpos[a + 3 + k]
        elif kind[i] == BALL:
            for k in range(4):
                q[i, k] = qpos[a + k]
            for k in range(3):
                w[i, k] = qvel[b + k]
        elif kind[i] == HINGES:
            for k in range(4):
                q[i, k] = built[i, k]
            s, c = 0.0, 1.0
            for k in range(count[i]):
                s, c = np.sin(0.5 * qpos[a + k]), np.cos(0.5 * qpos[a + k])
                _turn_about(q[i], axes[i, k], s, c)
            for k in range(3):
                w[i, k] = qvel[b] * axes[i, 0, k] if count[i] > 0 else 0.0
            if count[i] == 2:
                x, y, z = turned_back(axes[i, 1], s, c, axes[i, 0])
                w[i, 0] = qvel[b] * x + qvel[b + 1] * axes[i, 1, 0]
                w[i, 1] = qvel[b] * y + qvel[b + 1] * axes[i, 1, 1]
                w[i, 2] = qvel[b] * z + qvel[b + 1] * axes[i, 1, 2]


@kernel
def is_aloft(kind: np.ndarray, vadr: np.ndarray, constraint: np.ndarray, is_open: bool) -> bool:
    """Whether a body floats and nothing that stands fast pushes it; constraint: MuJoCo's `qfrc_constraint`.

    is_open  whether there is nothing fixed in the scene: whatever touches it floats as well

    What constraints put on the root's six freedoms is what they put on the body as a whole: a limit of a joint, and a
    hand on one's own knee, put nothing there.
    """
    if kind[0] != FREE:
        return False
    if is_open:
        return True
    total, b = 0.0, vadr[0]
    for k in range(6):
        total += abs(constraint[b + k])
    return total < NOTHING


@kernel
def stands_fast(floater: np.ndarray, first: int, second: int, body: int) -> bool:
    """Whether a contact of two shapes is one of a body with something that does not float."""
    a, b = floater[first], floater[second]
    return (a == body and b < 0) or (b == body and a < 0)


@kernel
def steer_root(kind: np.ndarray, vadr: np.ndarray, v: np.ndarray, w: np.ndarray, qvel: np.ndarray) -> None:
    """The velocity of a root that floats, into MuJoCo's coordinates."""
    if kind[0] == FREE:
        b = vadr[0]
        for k in range(3):
            qvel[b + k] = v[k]
            qvel[b + 3 + k] = w[0, k]


@kernel
def _turn_about(q: np.ndarray, axis: np.ndarray, s: float, c: float) -> None:
    """Q becomes q * R(axis, angle); s and c are the sine and cosine of half the angle."""
    x, y, z = s * axis[0], s * axis[1], s * axis[2]
    a, b, d, e = q[0], q[1], q[2], q[3]
    q[0] = a * c - b * x - d * y - e * z
    q[1] = a * x + b * c + d * z - e * y
    q[2] = a * y - b * z + d * c + e * x
    q[3] = a * z + b * y - d * x + e * c


@kernel
def write_forces(
    kind: np.ndarray,
    qadr: np.ndarray,
    vadr: np.ndarray,
    count: np.ndarray,
    axes: np.ndarray,
    qpos: np.ndarray,
    R: np.ndarray,
    force: np.ndarray,
    torque: np.ndarray,
    damping: np.ndarray,
    axial: np.ndarray,
    qfrc: np.ndarray,
    dof_damping: np.ndarray,
) -> None:
    """Generalised forces and damping out of what acts at each joint.

    R (J, 3, 3); force (3,) N at the root joint; torque (J, 3) N m at each joint, the root's included; world axes
    damping (J,) about any axis of a joint, and axial (J, 3) about its body's own; N m s/rad
    """
    for i in range(len(kind)):
        a, b = qadr[i], vadr[i]
        if kind[i] == FREE:
            qfrc[b], qfrc[b + 1], qfrc[b + 2] = force[0], force[1], force[2]
            qfrc[b + 3], qfrc[b + 4], qfrc[b + 5] = turn_back(R[i], torque[i])
        elif kind[i] == BALL:
            qfrc[b], qfrc[b + 1], qfrc[b + 2] = turn_back(R[i], torque[i])
            for k in range(3):
                dof_damping[b + k] = damping[i] + axial[i, k]
        elif kind[i] == HINGES and count[i] > 0:
            x, y, z = turn_back(R[i], torque[i])
            last = count[i] - 1
            qfrc[b + last] = axes[i, last, 0] * x + axes[i, last, 1] * y + axes[i, last, 2] * z
            dof_damping[b + last] = damping[i] + (
                axial[i, 0] * axes[i, last, 0] ** 2 + axial[i, 1] * axes[i, last, 1] ** 2
                + axial[i, 2] * axes[i, last, 2] ** 2
            )  # fmt: skip
            if last == 1:
                half = 0.5 * qpos[a + 1]
                u, r, s = turned_back(axes[i, 1], np.sin(half), np.cos(half), axes[i, 0])
                qfrc[b] = u * x + r * y + s * z
                dof_damping[b] = damping[i] + axial[i, 0] * u * u + axial[i, 1] * r * r + axial[i, 2] * s * s


@kernel
def nudge(qpos: np.ndarray, a: int, R: np.ndarray, turn: np.ndarray) -> None:
    """Turn the ball joint whose quaternion begins at `a` by a tiny rotation (3,) in world axes; R is its body's."""
    x, y, z = turn_back(R, turn)
    w, b, c, d = qpos[a], qpos[a + 1], qpos[a + 2], qpos[a + 3]
    # q exp(x): to first order, then normalised
    x, y, z = 0.5 * x, 0.5 * y, 0.5 * z
    qpos[a] = w - b * x - c * y - d * z
    qpos[a + 1] = b + w * x + c * z - d * y
    qpos[a + 2] = c + w * y + d * x - b * z
    qpos[a + 3] = d + w * z + b * y - c * x
    norm = np.sqrt(qpos[a] ** 2 + qpos[a + 1] ** 2 + qpos[a + 2] ** 2 + qpos[a + 3] ** 2)
    for k in range(4):
        qpos[a + k] /= norm


# Of one body: where its joints are (`BodyLayout`), where a GIVEN root is placed (0: it floats), and its rows in
# `PrescribedContacts`. number: which body of the scene; floater (geoms,): see `MujocoSimulation.floater`, or 0; scene:
# the block of the engine `inverse`, or 0.
PLACES = fields(
    arrays="""
        kind qadr vadr count axes built given given_bodies dof_damping body_quat mocap_pos mocap_quat moved floater
    """,
    integers="data given_count bodies is_open number geoms scene",
)
# Of a scene: MuJoCo's step, model and data, the state in it, and what `engines/mujoco/workspaces.py` needs. With
# segments that are moved, or things that float: MuJoCo's step in three, and where its contacts are
# (`engines/mujoco/library.py`); landing: `engines/mujoco/landing_kernels.py`'s block.
DATA = fields(
    arrays="""
        qpos qvel warm force constraint own_qpos own_qvel own_warm own_force own_constraint before after ahead
        moved row_of_geom
    """,
    integers="""
        step model data own_data nq nv is_away
        forward solve advance moved_count geoms ncon nefc contact aref kbip size dist pos frame margin
        dim geom address landing niter solver iterations unsolved
    """,
    floats="dt",
)
# A workspace: an `MjData` and its arrays.
DESK = fields(arrays="qpos qvel warm force constraint", integers="data")
_NUMBER = 8  # bytes


@law
def take(body: int, block: int) -> None:
    """Places of what is given, torques, damping, wrenches and nudges of one body, into MuJoCo."""
    b, x = record(body, BODY), record(block, PLACES)
    d = record(x.data, DATA)
    j, count = b.joints, x.given_count
    q = vectors(b.q, j, 4)
    given, bodies, quats = integers(x.given, count), integers(x.given_bodies, count), vectors(x.body_quat, x.bodies, 4)
    for i in range(count):
        for k in range(4):
            quats[bodies[i], k] = q[given[i], k]
    if x.mocap_pos != 0:
        _copy(floats(b.root, 3), floats(x.mocap_pos, 3))
        _copy(floats(b.q, 4), floats(x.mocap_quat, 4))
    kind, qadr = integers(x.kind, j), integers(x.qadr, j)
    p, R, f, n = vectors(b.p, j, 3), blocks(b.R, j, 3, 3), vectors(b.f, j, 3), vectors(b.n, j, 3)
    qpos = floats(d.qpos, d.nq)
    gather_wrenches(kind, integers(b.parents, j), p, vectors(b.wrench, j, 6), vectors(b.torque, j, 3), f, n)
    write_forces(
        kind, qadr, integers(x.vadr, j), integers(x.count, j), blocks(x.axes, j, 2, 3), qpos, R, f[0], n,
        floats(b.damping, j), vectors(b.axial, j, 3), floats(d.force, d.nv), floats(x.dof_damping, d.nv),
    )  # fmt: skip
    nudges, nudged = vectors(b.nudges, j, 3), integers(b.nudged, j)
    for i in range(j):
        if nudged[i] == 1 and kind[i] == BALL:
            nudge(qpos, qadr[i], R[i], nudges[i])


@law
def step(_body: int, block: int) -> None:
    """MuJoCo's step. At a desk, what it is a function of is kept: `engines/mujoco/workspaces.py` makes it again if
    somebody looks.
    """
    d = record(block, DATA)
    if d.is_away == 1:
        keep_before(d)
    call_with_two(d.step, d.model, d.data)


@law
def read(body: int, block: int) -> None:
    """The state of a body's simulated joints, and whether it is in flight."""
    b, x = record(body, BODY), record(block, PLACES)
    d = record(x.data, DATA)
    read_state(b, x, d, x.floater != 0 and _meets_floaters(d, x))


@kernel
def read_state(b: Any, x: Any, d: Any, meets_floaters: bool) -> None:
    """Write the state of a body's simulated joints, and whether it is in flight.

    meets_floaters  whether all that touches the body floats itself
    """
    j = b.joints
    kind, vadr = integers(x.kind, j), integers(x.vadr, j)
    read_body(
        kind, integers(x.qadr, j), vadr, integers(x.count, j), blocks(x.axes, j, 2, 3), vectors(x.built, j, 4),
        floats(d.qpos, d.nq), floats(d.qvel, d.nv), floats(b.root, 3), vectors(b.q, j, 4), floats(b.v, 3),
        vectors(b.w, j, 3),
    )  # fmt: skip
    constraint = floats(d.constraint, d.nv)
    # where MuJoCo found no forces, what it says that they are is not what moved the body
    b.airborne = 1 if is_aloft(kind, vadr, constraint, x.is_open == 1) else 0
    if b.airborne == 0 and kind[0] == FREE and meets_floaters:
        b.airborne = 1
    if d.unsolved == 1 and not is_aloft(kind, vadr, constraint, False):
        b.airborne = 0
    for k in range(6):
        floats(b.external_wrench, 6)[k] = constraint[vadr[0] + k] if b.airborne == 1 else 0.0


@kernel
def _meets_floaters(d: Any, x: Any) -> bool:
    """Whether all that touches a body floats itself."""
    floater, at = integers(x.floater, x.geoms), integers(d.data + d.contact, 1)[0]
    for _ in range(shorts(d.data + d.ncon, 1)[0]):
        geom, row = shorts(at + d.geom, 2), shorts(at + d.address, 1)[0]
        if row >= 0 and geom[0] >= 0 and geom[1] >= 0 and stands_fast(floater, geom[0], geom[1], x.number):
            return False
        at += d.size
    return True


@law
def steer(body: int, block: int) -> None:
    """Another velocity of a body's root."""
    b, x = record(body, BODY), record(block, PLACES)
    d, j = record(x.data, DATA), b.joints
    steer_root(integers(x.kind, j), integers(x.vadr, j), floats(b.v, 3), vectors(b.w, j, 3), floats(d.qvel, d.nv))


@law
def load_state(block: int, desk: int) -> None:
    """Bring a scene's state to a desk, and step there from now on."""
    d, to = record(block, DATA), record(desk, DESK)
    nq, nv = d.nq, d.nv
    qpos, qvel, warm = floats(to.qpos, nq), floats(to.qvel, nv), floats(to.warm, nv)
    if integers(d.ahead, 1)[0] > 0:
        _copy(floats(d.after, nq), qpos)
        _copy(floats(d.after + _NUMBER * nq, nv), qvel)
        _copy(floats(d.after + _NUMBER * (nq + nv), nv), warm)
    else:
        _copy(floats(d.own_qpos, nq), qpos)
        _copy(floats(d.own_qvel, nv), qvel)
        _copy(floats(d.own_warm, nv), warm)
    _copy(floats(d.own_force, nv), floats(to.force, nv))
    d.data, d.qpos, d.qvel, d.warm, d.force, d.is_away = to.data, to.qpos, to.qvel, to.warm, to.force, 1
    d.constraint = to.constraint


@law
def store_state(block: int, _desk: int) -> None:
    """Take a scene's state away from a desk."""
    d = record(block, DATA)
    _keep_state(d, d.after)
    d.data, d.qpos, d.qvel, d.warm, d.force = d.own_data, d.own_qpos, d.own_qvel, d.own_warm, d.own_force
    d.constraint, d.is_away = d.own_constraint, 0


@kernel
def keep_before(d: Any) -> None:
    """What the step at a desk that comes next is a function of."""
    _keep_state(d, d.before)
    _copy(floats(d.force, d.nv), floats(d.before + _NUMBER * (d.nq + 2 * d.nv), d.nv))
    integers(d.ahead, 1)[0] += 1


@kernel
def _keep_state(d: Any, to: int) -> None:
    """What MuJoCo's step begins with, to an address."""
    nq, nv = d.nq, d.nv
    _copy(floats(d.qpos, nq), floats(to, nq))
    _copy(floats(d.qvel, nv), floats(to + _NUMBER * nq, nv))
    _copy(floats(d.warm, nv), floats(to + _NUMBER * (nq + nv), nv))


@kernel
def _copy(x: np.ndarray, to: np.ndarray) -> None:
    for i in range(len(x)):
        to[i] = x[i]


@kernel
def gather_wrenches(
    kind: np.ndarray,
    parents: np.ndarray,
    p: np.ndarray,
    wrench: np.ndarray,
    torque: np.ndarray,
    f: np.ndarray,
    n: np.ndarray,
) -> None:
    """Wrenches on bodies (J, 6) as forces at the simulated joints: n (J, 3) with `torque` added, f[0] at the root."""
    for i in range(len(kind)):
        for k in range(3):
            n[i, k] = wrench[i, k]
            f[i, k] = wrench[i, 3 + k]
    for i in range(len(kind) - 1, 0, -1):
        k = parents[i]
        rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
        n[k, 0] += n[i, 0] + ry * f[i, 2] - rz * f[i, 1]
        n[k, 1] += n[i, 1] + rz * f[i, 0] - rx * f[i, 2]
        n[k, 2] += n[i, 2] + rx * f[i, 1] - ry * f[i, 0]
        for a in range(3):
            f[k, a] += f[i, a]
    for i in range(1, len(kind)):
        for a in range(3):
            n[i, a] += torque[i, a]


@kernel
def turned_back(axis: np.ndarray, s: float, c: float, x: np.ndarray) -> tuple[float, float, float]:
    """R(axis, angle)^T x, by Rodrigues; s and c are the sine and cosine of half the angle."""
    s, c = -2.0 * s * c, 1.0 - 2.0 * s * s
    d = (1.0 - c) * (axis[0] * x[0] + axis[1] * x[1] + axis[2] * x[2])
    return (
        c * x[0] + s * (axis[1] * x[2] - axis[2] * x[1]) + d * axis[0],
        c * x[1] + s * (axis[2] * x[0] - axis[0] * x[2]) + d * axis[1],
        c * x[2] + s * (axis[0] * x[1] - axis[1] * x[0]) + d * axis[2],
    )
