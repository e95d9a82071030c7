"""Joints at the ends of their ranges in Bullet: held against what touches them.

What keeps a joint in its range is a torque t with damping D, far more of it than the limb weighs. Bullet has no
implicit damping, and what is foreseen in its place (`engines/bullet/damping_kernels.py`) does not know what contacts
will do in the step: a limb that the body lies on would be pushed back with no more than what a free limb needs, and go
100 degrees beyond its range. So Bullet's own motor does it, inside the solve for contacts:

    w = t / D, and no faster back than _BACK;  with |t| + D |w| at the most

About the axes that are not at an end the joint goes on as it was, a little slower.
"""

from __future__ import annotations

import numpy as np

from poise.engines.bullet.model import BulletBody, Multibody
from poise.engines.bullet.world import HERE, BulletWorld, xyzw
from poise.spatial import rotation

# Of the speed about an axis that is at no end, from one step to the next.
_ON = 0.9
_BACK = 0.5  # rad/s, at which a joint is turned back into its range


def stop_joints(world: BulletWorld, held: BulletBody, axial: np.ndarray, dt: float) -> None:
    """Set motors for the joints that have axial damping (J, 3), and none for others. held.stops: t, world axes."""
    ends = set(np.flatnonzero(axial.any(axis=1)).tolist())
    if not (ends or held.stopped):
        return
    for piece in held.pieces:
        for k, joint in enumerate(piece.joints):
            if joint in ends:
                _hold(world, held, piece, k, axial[joint], dt)
            elif joint in held.stopped:
                _let_go(world, piece, k)
    held.stopped = ends


def _hold(world: BulletWorld, held: BulletBody, piece: Multibody, k: int, axial: np.ndarray, dt: float) -> None:
    bullet, joint, dof, options = world.bullet, piece.joints[k], piece.dof[k], {"physicsClientId": world.client}
    S, R, count = held.damping.S[joint], held.R[joint], held.count[joint]
    now, torque = S @ (R @ held.state.w[joint]), S @ held.stops[joint]
    D = np.einsum("ab,b->a", (S @ R) ** 2, axial)  # about each turn
    share = D / max(float(D[:count].max()), 1e-12)
    wanted = np.where(D > 0.0, torque / np.where(D > 0.0, D, 1.0), 0.0)
    # it is stopped and brought back slowly, never flung
    fastest = np.maximum(_BACK, np.where(wanted * now > 0.0, np.abs(now), 0.0))
    target = share * np.clip(wanted, -fastest, fastest) + (1.0 - share) * _ON * now
    most = np.abs(torque) + D * np.abs(now)
    if dof >= 0:
        bullet.setJointMotorControl2(
            piece.uid, piece.links[k], bullet.VELOCITY_CONTROL, targetVelocity=target[dof], force=most[dof], **options
        )
        return
    back = rotation.conjugate(rotation.from_matrix(piece.P[k]))
    q = rotation.multiply(rotation.multiply(back, held.state.q[joint]), rotation.conjugate(back))
    turn = rotation.exp(rotation.rotate(back, dt / world.share * target))  # of which it makes its share in a step
    bullet.setJointMotorControlMultiDof(
        piece.uid, piece.links[k], bullet.POSITION_CONTROL, targetPosition=xyzw(rotation.multiply(q, turn)),
        positionGain=1.0, velocityGain=1.0, force=[float(np.linalg.norm(most))] * 3, **options,
    )  # fmt: skip


def _let_go(world: BulletWorld, piece: Multibody, k: int) -> None:
    bullet, options = world.bullet, {"physicsClientId": world.client}
    if piece.dof[k] >= 0:
        bullet.setJointMotorControl2(piece.uid, piece.links[k], bullet.VELOCITY_CONTROL, force=0, **options)
        return
    bullet.setJointMotorControlMultiDof(
        piece.uid, piece.links[k], bullet.POSITION_CONTROL, targetPosition=HERE, positionGain=0, velocityGain=1,
        force=[0, 0, 0], **options,
    )  # fmt: skip
