"""Between Poise's bodies and MuJoCo's coordinates, compiled.

A body's joints in `qpos` and `qvel`: kind (J,), qadr (J,), vadr (J,), count (J,) axes, axes (J, 2, 3), built (J, 4).
MuJoCo's velocities of free and ball joints are Poise's own: linear in the world, angular in the body's axes.
"""

from __future__ import annotations

import numpy as np

from poise.dynamics.instant import turn_back
from poise.engines.joint_kernels import turned_back
from poise.engines.scene import BALL, FREE, HINGES
from poise.spatial.compile import kernel

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
