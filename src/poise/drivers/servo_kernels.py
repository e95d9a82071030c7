"""Springs towards a pose, compiled."""

from __future__ import annotations

import numpy as np

from poise.dynamics.instant import turn
from poise.motion.part_kernels import log_between
from poise.spatial.compile import kernel


@kernel
def pull_to_pose(
    joints: np.ndarray,
    stiffness: np.ndarray,
    damping: np.ndarray,
    aim: np.ndarray,
    q: np.ndarray,
    R: np.ndarray,
    dt: float,
    lead: np.ndarray,
    share: float,
    torque: np.ndarray,
    implicit: np.ndarray,
) -> None:
    """torque (J, 3) in world axes and implicit damping (J,) of springs at some joints.

    stiffness, damping  (K,) N m/rad and N m s/rad;  aim (K, 4) rotations wanted

    lead, share         (K, 3) N m in body axes, and how much of it acts besides: what moved the joints before

    The spring is taken at the end of the step, k (e - dt w), by giving the engine k dt more damping to integrate
    implicitly: linearly implicit Euler, which no step size makes unstable.
    """
    e, x = np.empty(3), np.empty(3)
    for k in range(len(joints)):
        i = joints[k]
        # e = log(q* aim): the turn still to be made, in the body's axes
        log_between(q[i], aim[k], e)
        for c in range(3):
            e[c] = stiffness[k] * e[c] + share * lead[k, c]
        x[0], x[1], x[2] = turn(R[i], e)
        for c in range(3):
            torque[i, c] = x[c]
        implicit[i] = damping[k] + stiffness[k] * dt


@kernel
def tell_aims(joints: np.ndarray, stiffness: np.ndarray, aim: np.ndarray, told: np.ndarray, firm: np.ndarray) -> None:
    """What some springs aim at, and how firmly, for whoever asks: told (J, 4), firm (J,) N m/rad."""
    for k in range(len(joints)):
        i = joints[k]
        firm[i] = stiffness[k]
        for c in range(4):
            told[i, c] = aim[k, c]


@kernel
def left_over(fade: np.ndarray, t: float) -> float:
    """What is left at time t of a torque that dies away: 1 at fade[0], 0 from fade[1] seconds later on."""
    u = min(max((t - fade[0]) / fade[1], 0.0), 1.0)
    return (1.0 - u) ** 2 * (1.0 + 2.0 * u)
