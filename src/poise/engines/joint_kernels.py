"""What every engine needs at the joints, compiled: forces gathered there, and a first hinge as the second turns it."""

from __future__ import annotations

import numpy as np

from poise.spatial.compile import kernel


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
