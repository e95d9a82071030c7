"""What a body's joints are asked for at an instant, compiled: torques by inverse dynamics, and their share of strength.

Letters as in `dynamics/body_kernels.py`. Everything that is written to is given, so that a loop without Python can call
it.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.body_kernels import accelerate_bodies, gather_inward, net_forces

WORK = 6  # arrays (J, 3) that `measure` works in


@kernel
def measure(
    parents: np.ndarray,
    masses: np.ndarray,
    centers: np.ndarray,
    inertias: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    om: np.ndarray,
    w: np.ndarray,
    v: np.ndarray,
    w_before: np.ndarray,
    v_before: np.ndarray,
    dw: np.ndarray,
    given: np.ndarray,
    driven: np.ndarray,
    damping: np.ndarray,
    axial: np.ndarray,
    gravity: np.ndarray,
    strength: np.ndarray,
    dt: float,
    work: np.ndarray,
    torque: np.ndarray,
    effort: np.ndarray,
    strained: np.ndarray,
) -> int:
    """Write torque (J, 3) N m, body axes, and effort (J,), its share of strength (J,); see `Actor.measure`.

    v, v_before   (3,) m/s, of the root now and before the last step; w, w_before (J, 3) rad/s alike
    dw            (J, 3) rad/s2, of the joints that are given, which `given` (J,) marks
    driven        (J, 3) N m, world axes, that drivers gave the others
    damping       (J,) N m s/rad about all axes, and axial (J, 3) about each of the body's: taken at the step's end. A
                  servo's torque and its damper may be large and all but cancel: what acted is both
    gravity       (3,) m/s2;  dt s;  work (WORK, J, 3)
    strained      (J,) which joints are overloaded already: see `is_over`

    Returns the number of joints whose overload begins or ends.
    """
    turning, al, acc, f, n, a0 = work[0], work[1], work[2], work[3], work[4], work[5, 0]
    for i in range(len(parents)):
        for a in range(3):
            turning[i, a] = dw[i, a] if given[i] else (w[i, a] - w_before[i, a]) / dt
    for a in range(3):
        a0[a] = (v[a] - v_before[a]) / dt - gravity[a]
    accelerate_bodies(parents, R, p, w, turning, om, a0, al, acc)
    net_forces(masses, centers, inertias, R, om, al, acc, f, n)
    gather_inward(parents, p, f, n)
    changed = 0
    for i in range(len(parents)):
        x, y, z = driven[i, 0], driven[i, 1], driven[i, 2]
        if given[i]:
            x, y, z = n[i, 0], n[i, 1], n[i, 2]
        for b in range(3):
            torque[i, b] = 0.0 + R[i, 0, b] * x + R[i, 1, b] * y + R[i, 2, b] * z
            if not given[i]:
                torque[i, b] -= (damping[i] + axial[i, b]) * w[i, b]
        size = np.sqrt(torque[i, 0] * torque[i, 0] + torque[i, 1] * torque[i, 1] + torque[i, 2] * torque[i, 2])
        effort[i] = size / strength[i]
        changed += is_over(effort[i], given[i], strained[i]) != strained[i]
    return changed


@kernel
def is_over(effort: float, is_given: bool, was_over: bool) -> bool:
    """Return whether a joint is overloaded: a given joint above its strength, and until it is back below 0.9 of it."""
    return is_given and effort > (0.9 if was_over else 1.0)
