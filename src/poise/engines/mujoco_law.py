"""A body in MuJoCo, as laws: what acts on it goes in, MuJoCo steps, its state comes out.

MuJoCo's own step is called by its address. A body may step at another `MjData` than its own: see `mujoco_desk`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.dynamics.body_kernels import BODY
from poise.engines.joint_kernels import gather_wrenches
from poise.engines.mujoco_kernels import is_aloft, nudge, read_body, stands_fast, steer_root, write_forces
from poise.engines.scene import BALL, FREE
from poise.spatial.addresses import blocks, call_with_two, floats, integers, record, shorts, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

# Of one body: where its joints are (`BodyLayout`), where a GIVEN root is placed (0: it floats), and its rows in
# `MovedSegments`. number: which body of the scene; floater (geoms,): see `MujocoSimulation.floater`, or 0; scene: the
# block of the engine `inverse`, or 0.
PLACES = fields(
    arrays="""
        kind qadr vadr count axes built given given_bodies dof_damping body_quat mocap_pos mocap_quat moved floater
    """,
    integers="data given_count bodies is_open number geoms scene",
)
# Of a scene: MuJoCo's step, model and data, the state in it, and what `mujoco_desk` needs. With segments that are
# moved, or things that float: MuJoCo's step in three, and where its contacts are (`mujoco_offsets`); landing:
# `mujoco_landing_law`'s block.
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
    """MuJoCo's step. At a desk, what it is a function of is kept: `mujoco_desk` makes it again if somebody looks."""
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
    b.aloft = 1 if is_aloft(kind, vadr, constraint, x.is_open == 1) else 0
    if b.aloft == 0 and kind[0] == FREE and meets_floaters:
        b.aloft = 1
    if d.unsolved == 1 and not is_aloft(kind, vadr, constraint, False):
        b.aloft = 0
    for k in range(6):
        b.outside[k] = constraint[vadr[0] + k] if b.aloft == 1 else 0.0


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
def sit_down(block: int, desk: int) -> None:
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
def get_up(block: int, _desk: int) -> None:
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
