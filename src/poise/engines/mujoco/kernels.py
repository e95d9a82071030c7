"""MuJoCo's step as laws: what acts on a body goes in, MuJoCo steps, the body's state comes out.

MuJoCo's velocities of free and ball joints are Poise's own: linear in the world, angular in the body's axes. MuJoCo's
own step is called by its address. A body may step at another `MjData` than its own: see `workspaces.py`.

What every engine needs at the joints is here too: forces gathered there, and a first hinge as the second turns it.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import law
from poise.compiled.layout import Floats, Ints, Layout, at
from poise.compiled.views import call_with_two, integers, shorts
from poise.dynamics.body_kernels import Body, turn_back
from poise.engines.scene import BALL, FREE, HINGES

NOTHING = 1e-9  # N, N m: more than what round-off leaves of a body's hold on itself, less than any touch


class MujocoState(Layout):
    """State and forces in an `MjData`: a simulation's own, or a workspace."""

    nq: int
    nv: int
    data: int  # address of the `MjData`
    qpos: Annotated[Floats, "nq"]
    qvel: Annotated[Floats, "nv"]
    warmstart: Annotated[Floats, "nv"]  # `qacc_warmstart`
    applied: Annotated[Floats, "nv"]  # `qfrc_applied`
    constraint: Annotated[Floats, "nv"]  # `qfrc_constraint`


class Offsets(Layout):
    """Where MuJoCo's structures have their fields, in bytes: see `library.py`."""

    # of `mjData`: counts, and addresses of arrays that move from step to step
    ncon: int
    nefc: int
    niter: int  # iterations of the solver in the last step
    contact: int
    aref: int
    kbip: int
    force: int
    speed: int  # `efc_vel`
    cvel: int
    com: int  # `subtree_com`
    xpos: int  # `geom_xpos`
    time: int
    # of `mjModel`
    solver: int
    iterations: int
    # of `mjContact`
    size: int
    dist: int
    pos: int
    frame: int
    margin: int
    dim: int
    geom: int
    row: int  # of the solver, `efc_address`
    exclude: int
    friction: int


class MujocoScene(Layout):
    """One simulation in MuJoCo."""

    model: int  # address of the `MjModel`
    state: int  # address of the `MujocoState` in which it steps now
    own_state: int  # address of its own
    offsets: int  # address of the `Offsets`
    dt: float  # s
    # Addresses of MuJoCo's functions: the entire step, and its three parts.
    step: int
    forward: int
    solve: int
    advance: int
    # At a workspace: what the last step began with, and the state after it. See `workspaces.py`.
    nq: int
    nv: int
    before_size: int
    before: Annotated[Floats, "before_size"]
    after_size: int
    after: Annotated[Floats, "after_size"]
    ahead: Annotated[Ints, 1]  # steps made at workspaces since its own `MjData` was current
    # Contacts of prescribed segments and of what falls: see `contact_kernels.py` and `landing_kernels.py`.
    geoms: int
    row_of_geom: Annotated[Ints, "geoms"]  # row of `moved` of each shape's segment, -1: nothing prescribed moves it
    moved_count: int
    moved: Annotated[Floats, "moved_count", 15]
    landing: int  # address of a `Landing`; 0: nothing falls
    unsolved: int  # 1: the constraint forces of the last step are not those that moved the bodies


class MujocoBody(Layout):
    """Where one body is in MuJoCo's model."""

    scene: int  # address of the `MujocoScene`
    number: int  # of the body in the scene
    joints: int
    kind: Annotated[Ints, "joints"]
    qadr: Annotated[Ints, "joints"]
    vadr: Annotated[Ints, "joints"]
    count: Annotated[Ints, "joints"]  # axes of a hinge joint
    axes: Annotated[Floats, "joints", 2, 3]
    built: Annotated[Floats, "joints", 4]  # rotations that hinges count from
    given_count: int
    given: Annotated[Ints, "given_count"]  # joints whose bodies are placed, except the root
    given_bodies: Annotated[Ints, "given_count"]  # MuJoCo's numbers of those bodies
    bodies: int  # in the model
    body_quat: Annotated[Floats, "bodies", 4]
    nv: int
    dof_damping: Annotated[Floats, "nv"]
    is_mocap: int  # 1: the root is placed
    mocap_pos: Annotated[Floats, 3]
    mocap_quat: Annotated[Floats, 4]
    rides: int  # 1: a given root stays on the prop that it rides on
    moved_count: int
    moved: Annotated[Floats, "moved_count", 15]  # its rows in `MujocoScene.moved`
    is_open: int  # 1: everything in the scene floats
    geoms: int
    floater: Annotated[Ints, "geoms"]  # which floating thing each shape is of: bodies, then props; -1: it is fixed
    has_floaters: int  # 1: `floater` says which contacts are with floating things
    inverse: int  # address of the block of the engine `inverse`, or 0


# Joints and roots.


@kernel
def read_body(b: Body, x: MujocoBody, s: MujocoState) -> None:
    """Write the state of a body's simulated joints from MuJoCo's coordinates."""
    kind, qadr, vadr, count, axes, built, qpos, qvel = x.kind, x.qadr, x.vadr, x.count, x.axes, x.built, s.qpos, s.qvel
    root, q, v, w = b.root, b.q, b.v, b.w
    for i in range(b.joints):
        m, n = qadr[i], vadr[i]
        if kind[i] == FREE:
            for k in range(3):
                root[k] = qpos[m + k]
                v[k] = qvel[n + k]
                w[i, k] = qvel[n + 3 + k]
            for k in range(4):
                q[i, k] = qpos[m + 3 + k]
        elif kind[i] == BALL:
            for k in range(4):
                q[i, k] = qpos[m + k]
            for k in range(3):
                w[i, k] = qvel[n + k]
        elif kind[i] == HINGES:
            _read_hinges(qpos[m : m + count[i]], qvel[n : n + count[i]], axes[i], built[i], q[i], w[i])


@kernel
def _read_hinges(
    angles: np.ndarray, speeds: np.ndarray, axes: np.ndarray, built: np.ndarray, q: np.ndarray, w: np.ndarray
) -> None:
    """Write rotation q (4,) and angular velocity w (3,) of a joint of up to two hinges."""
    q[:] = built
    s, c = 0.0, 1.0
    for k in range(len(angles)):
        s, c = np.sin(0.5 * angles[k]), np.cos(0.5 * angles[k])
        _turn_about(q, axes[k], s, c)
    for k in range(3):
        w[k] = speeds[0] * axes[0, k] if len(angles) > 0 else 0.0
    if len(angles) == 2:
        x, y, z = turned_back(axes[1], s, c, axes[0])
        w[0] = speeds[0] * x + speeds[1] * axes[1, 0]
        w[1] = speeds[0] * y + speeds[1] * axes[1, 1]
        w[2] = speeds[0] * z + speeds[1] * axes[1, 2]


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
def write_forces(b: Body, x: MujocoBody, s: MujocoState) -> None:
    """Write generalised forces and damping from the forces that `gather_wrenches` wrote to the body's f and n."""
    kind, qadr, vadr, count, axes, qpos = x.kind, x.qadr, x.vadr, x.count, x.axes, s.qpos
    R, force, torque, damping, axial, applied, dof_damping = b.R, b.f, b.n, b.damping, b.axial, s.applied, x.dof_damping
    for i in range(b.joints):
        m, n = qadr[i], vadr[i]
        if kind[i] == FREE:
            applied[n], applied[n + 1], applied[n + 2] = force[0, 0], force[0, 1], force[0, 2]
            applied[n + 3], applied[n + 4], applied[n + 5] = turn_back(R[i], torque[i])
        elif kind[i] == BALL:
            applied[n], applied[n + 1], applied[n + 2] = turn_back(R[i], torque[i])
            for k in range(3):
                dof_damping[n + k] = damping[i] + axial[i, k]
        elif kind[i] == HINGES and count[i] > 0:
            tx, ty, tz = turn_back(R[i], torque[i])
            last = count[i] - 1
            applied[n + last] = axes[i, last, 0] * tx + axes[i, last, 1] * ty + axes[i, last, 2] * tz
            dof_damping[n + last] = damping[i] + (
                axial[i, 0] * axes[i, last, 0] ** 2 + axial[i, 1] * axes[i, last, 1] ** 2
                + axial[i, 2] * axes[i, last, 2] ** 2
            )  # fmt: skip
            if last == 1:
                half = 0.5 * qpos[m + 1]
                u, r, t = turned_back(axes[i, 1], np.sin(half), np.cos(half), axes[i, 0])
                applied[n] = u * tx + r * ty + t * tz
                dof_damping[n] = damping[i] + axial[i, 0] * u * u + axial[i, 1] * r * r + axial[i, 2] * t * t


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


# Bodies that float.


@kernel
def is_free(x: MujocoBody, s: MujocoState, is_open: bool) -> bool:
    """Return whether a body floats and nothing that is fixed pushes it.

    is_open  whether there is nothing fixed in the scene: whatever touches it floats as well

    What constraints put on the root's six freedoms is what they put on the body as a whole: a limit of a joint, and a
    hand on one's own knee, put nothing there.
    """
    if x.kind[0] != FREE:
        return False
    if is_open:
        return True
    total, n, constraint = 0.0, x.vadr[0], s.constraint
    for k in range(6):
        total += abs(constraint[n + k])
    return total < NOTHING


@kernel
def touches_fixed(floater: np.ndarray, first: int, second: int, body: int) -> bool:
    """Return whether a contact of two shapes is one of a body with something that does not float."""
    one, other = floater[first], floater[second]
    return (one == body and other < 0) or (other == body and one < 0)


@kernel
def meets_floaters(x: MujocoBody, s: MujocoState, o: Offsets) -> bool:
    """Return whether all that touches a body floats itself."""
    contact = integers(s.data + o.contact, 1)[0]
    for _ in range(shorts(s.data + o.ncon, 1)[0]):
        geom, row = shorts(contact + o.geom, 2), shorts(contact + o.row, 1)[0]
        if row >= 0 and geom[0] >= 0 and geom[1] >= 0 and touches_fixed(x.floater, geom[0], geom[1], x.number):
            return False
        contact += o.size
    return True


@kernel
def read_state(b: Body, x: MujocoBody, meets_only_floaters: bool) -> None:
    """Write the state of a body's simulated joints, and whether it is airborne.

    meets_only_floaters  whether all that touches the body floats itself
    """
    scene = at(x.scene, MujocoScene)
    s = at(scene.state, MujocoState)
    read_body(b, x, s)
    # where MuJoCo found no forces, what it says that they are is not what moved the body
    b.airborne = 1 if is_free(x, s, x.is_open == 1) else 0
    if b.airborne == 0 and x.kind[0] == FREE and meets_only_floaters:
        b.airborne = 1
    if scene.unsolved == 1 and not is_free(x, s, False):
        b.airborne = 0
    external, constraint, n = b.external_wrench, s.constraint, x.vadr[0]
    for k in range(6):
        external[k] = constraint[n + k] if b.airborne == 1 else 0.0


# The laws.


@law
def write(body: int, block: int) -> None:
    """Write poses of prescribed segments, torques, damping, wrenches and nudges of one body into MuJoCo."""
    b, x = at(body, Body), at(block, MujocoBody)
    s = at(at(x.scene, MujocoScene).state, MujocoState)
    q, given, bodies, quats = b.q, x.given, x.given_bodies, x.body_quat
    for i in range(x.given_count):
        for k in range(4):
            quats[bodies[i], k] = q[given[i], k]
    if x.is_mocap == 1:
        _copy(b.root, x.mocap_pos)
        _copy(q[0], x.mocap_quat)
    gather_wrenches(x.kind, b.parents, b.p, b.wrench, b.torque, b.f, b.n)
    write_forces(b, x, s)
    kind, qadr, R, nudges, nudged = x.kind, x.qadr, b.R, b.nudges, b.nudged
    for i in range(b.joints):
        if nudged[i] == 1 and kind[i] == BALL:
            nudge(s.qpos, qadr[i], R[i], nudges[i])


@law
def step(_body: int, block: int) -> None:
    """Make MuJoCo's step. At a workspace, what it begins with is kept: `workspaces.py` makes it again if needed."""
    scene = at(block, MujocoScene)
    keep_before(scene)
    call_with_two(scene.step, scene.model, at(scene.state, MujocoState).data)


@law
def read(body: int, block: int) -> None:
    """Read the state of a body's simulated joints, and whether it is airborne."""
    b, x = at(body, Body), at(block, MujocoBody)
    scene = at(x.scene, MujocoScene)
    s = at(scene.state, MujocoState)
    read_state(b, x, x.has_floaters == 1 and meets_floaters(x, s, at(scene.offsets, Offsets)))


@law
def set_root_velocity(body: int, block: int) -> None:
    """Set the velocity of a body's root that floats."""
    b, x = at(body, Body), at(block, MujocoBody)
    s = at(at(x.scene, MujocoScene).state, MujocoState)
    if x.kind[0] == FREE:
        v, w, qvel, n = b.v, b.w, s.qvel, x.vadr[0]
        for k in range(3):
            qvel[n + k] = v[k]
            qvel[n + 3 + k] = w[0, k]


@law
def load_state(block: int, workspace: int) -> None:
    """Bring a scene's state to a workspace, and step there from now on."""
    scene, to = at(block, MujocoScene), at(workspace, MujocoState)
    own, nq, nv, after = at(scene.own_state, MujocoState), scene.nq, scene.nv, scene.after
    if scene.ahead[0] > 0:
        _copy(after[:nq], to.qpos)
        _copy(after[nq : nq + nv], to.qvel)
        _copy(after[nq + nv :], to.warmstart)
    else:
        _copy(own.qpos, to.qpos)
        _copy(own.qvel, to.qvel)
        _copy(own.warmstart, to.warmstart)
    _copy(own.applied, to.applied)
    scene.state = workspace


@law
def store_state(block: int, _workspace: int) -> None:
    """Take a scene's state away from a workspace."""
    scene = at(block, MujocoScene)
    _keep_state(scene, scene.after)
    scene.state = scene.own_state


@kernel
def keep_before(scene: MujocoScene) -> None:
    """At a workspace, keep what the step that comes next begins with."""
    if scene.state == scene.own_state:
        return
    _keep_state(scene, scene.before)
    _copy(at(scene.state, MujocoState).applied, scene.before[scene.nq + 2 * scene.nv :])
    scene.ahead[0] += 1


@kernel
def _keep_state(scene: MujocoScene, to: np.ndarray) -> None:
    """Copy what MuJoCo's step begins with."""
    s, nq, nv = at(scene.state, MujocoState), scene.nq, scene.nv
    _copy(s.qpos, to[:nq])
    _copy(s.qvel, to[nq : nq + nv])
    _copy(s.warmstart, to[nq + nv : nq + 2 * nv])


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
