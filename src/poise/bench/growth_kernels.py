"""What kinematic parts cost a step, for any tree: the kernels of the stage's step, over many frames."""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.body_kernels import move_bodies, pose_bodies
from poise.stage.coupling.kernels import couple_exact, hand_to_connectors


@kernel
def couple_frames(
    parents: np.ndarray,
    offsets: np.ndarray,
    masses: np.ndarray,
    centers: np.ndarray,
    inertias: np.ndarray,
    given: np.ndarray,
    q: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    wrench: np.ndarray,
) -> None:
    """Bodies placed, moved and coupled at every frame: q (F, J, 4), w and dw (F, J, 3); wrench (F, J, 6) is written."""
    j = len(parents)
    R, p, om, vel = np.empty((j, 3, 3)), np.empty((j, 3)), np.empty((j, 3)), np.empty((j, 3))
    work, still = np.empty((3, j, 3)), np.zeros(3)
    for k in range(len(q)):
        wrench[k] = 0.0
        pose_bodies(parents, offsets, still, q[k], R, p)
        move_bodies(parents, R, p, still, w[k], om, vel)
        couple_exact(
            parents, masses, centers, inertias, given, given, R, p, w[k], dw[k], still, om, 1.0, work, wrench[k]
        )
        hand_to_connectors(parents, given, p, wrench[k])
