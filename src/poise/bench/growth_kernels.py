"""What kinematic parts cost per step, for any tree: the kernels of the stage's step, over many frames."""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.body_kernels import Body, update_body
from poise.stage.coupling.kernels import Coupling, couple_exact, hand_to_connectors


@kernel
def couple_frames(
    b: Body, coupling: Coupling, q: np.ndarray, w: np.ndarray, dw: np.ndarray, wrench: np.ndarray
) -> None:
    """Pose, move and couple a body at every frame: q (F, J, 4), w and dw (F, J, 3); write wrench (F, J, 6)."""
    for k in range(len(q)):
        b.q[:], b.w[:], b.dw[:] = q[k], w[k], dw[k]
        wrench[k] = 0.0
        update_body(b)
        couple_exact(b, coupling, wrench[k])
        hand_to_connectors(b.parents, coupling.accelerating, b.p, wrench[k])
