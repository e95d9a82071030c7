"""The algorithms of `poise.dynamics` once more, for reading and as oracle: spatial 6-vectors, one frame, no speed.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), tables 5.1, 6.2 and 9.2, in body coordinates, as used by
the mix paper (van Welbergen, Zwiers, Ruttkay), eq 2-7 and 18-22.

Symbols (all of body i, in body i's axes with its joint as origin; angular rows first)
    X_i   6 x 6, motion transform from the parent's coordinates to body i's
    S_i   6 x 3, motion subspace of a ball joint: [1; 0]                                        [mix, eq 13]
    v_i   spatial velocity, a_i spatial acceleration, f_i wrench that the parent puts on body i
    I_i   spatial inertia                                                                        [mix, eq 21]
    qd, qdd   the joint's angular velocity and its derivative

Differences from the mix paper: eq 2, 3 and 5 need the transforms X and X^T between bodies, and eq 3 the term
v_i x S qd; a_g is the fictitious *upward* acceleration -g; the root is a free body, not a connector with given motion.
"""

from __future__ import annotations

import numpy as np

from poise.dynamics.tree import GRAVITY, Tree, TreeState, pack, unpack
from poise.spatial import rotation
from poise.spatial.inertia import skew

BALL = np.vstack([np.eye(3), np.zeros((3, 3))])


def compute_inverse_dynamics(
    tree: Tree, state: TreeState, external: np.ndarray | None = None, gravity: np.ndarray = GRAVITY
) -> np.ndarray:
    """Generalised force (3 + 3 J,) that makes one frame happen: recursive Newton-Euler.   [mix, eq 2-7; W2]

    external  (J, 6) wrench [torque, force] on each body about its joint, in world axes
    """
    turns = _world_matrices(tree, state)
    v, a, f = (np.zeros((len(tree), 6)) for _ in range(3))
    for i, p in enumerate(tree.parents):
        w = state.angular_velocity[i]
        if p < 0:
            # v_0 in body axes; eq 19: the spatial acceleration of the root is its point's acceleration - w x v.
            linear = turns[0].T @ state.velocity
            v[0] = np.concatenate([w, linear])
            point = turns[0].T @ (state.acceleration - gravity)
            a[0] = np.concatenate([state.angular_acceleration[0], point - np.cross(w, linear)])
        else:
            X = _transform(tree, state, i)
            v_joint, a_joint = BALL @ w, BALL @ state.angular_acceleration[i]
            if state.shift_velocity is not None and state.shift_acceleration is not None:
                # It slides at s' along the parent's axes: E s' in the body's, which changes by E s'' - w x E s'.
                E = X[:3, :3]
                slide = E @ state.shift_velocity[i]
                v_joint = np.concatenate([w, slide])
                a_joint[3:] = E @ state.shift_acceleration[i] - np.cross(w, slide)
            v[i] = X @ v[p] + v_joint  # v_i = X v_p + S qd                        [mix, eq 2]
            # a_i = X a_p + S qdd + v_i x S qd                                     [mix, eq 3]
            a[i] = X @ a[p] + a_joint + _cross_motion(v[i]) @ v_joint
        I = tree.body(i).matrix()
        f[i] = I @ a[i] - _cross_motion(v[i]).T @ (I @ v[i])  # I a + v x* I v     [mix, eq 4]
        if external is not None:
            f[i] -= np.concatenate([turns[i].T @ external[i, :3], turns[i].T @ external[i, 3:]])
    tau = np.zeros((len(tree), 3))
    for i in reversed(range(len(tree))):
        tau[i] = BALL.T @ f[i]  # tau_i = S^T f_i                                  [mix, eq 7]
        if tree.parents[i] >= 0:
            f[tree.parents[i]] += _transform(tree, state, i).T @ f[i]  # + sum of f_k  [mix, eq 5]
    return pack(turns[0] @ f[0, 3:], tau)


def compute_joint_space_inertia(tree: Tree, root: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    """H (n, n) of one frame, column by column: the force that a unit acceleration asks for at rest without gravity."""
    n = tree.size
    H = np.empty((n, n))
    rest = TreeState.at_rest(root, rotations)
    for k in range(n):
        linear, angular = unpack(np.eye(n)[k])
        push = TreeState(rest.root, rest.rotations, rest.velocity, rest.angular_velocity, linear, angular)
        H[:, k] = compute_inverse_dynamics(tree, push, gravity=np.zeros(3))
    return H


def solve_hybrid_dynamics(
    tree: Tree,
    state: TreeState,
    force: np.ndarray,
    is_given: np.ndarray,
    external: np.ndarray | None = None,
    gravity: np.ndarray = GRAVITY,
) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and forces where some of each are known, by the dense equation of motion.   [mix, eq 1]

    state     its accelerations are read where `is_given`
    force     (n,) generalised force, read where not `is_given`
    is_given  (n,) bool, whether the acceleration is known
    Returns (generalised acceleration, generalised force), both (n,) and complete.
    """
    linear, angular = np.zeros(3), np.zeros((len(tree), 3))
    still = TreeState(state.root, state.rotations, state.velocity, state.angular_velocity, linear, angular)
    C = compute_inverse_dynamics(tree, still, external, gravity)
    H = compute_joint_space_inertia(tree, state.root, state.rotations)
    k, p = np.flatnonzero(is_given), np.flatnonzero(~is_given)
    qdd, tau = state.generalised_acceleration.copy(), np.array(force, float)
    # tau_p = H_pp qdd_p + H_pk qdd_k + C_p, solved for qdd_p; then tau_k follows.
    qdd[p] = np.linalg.solve(H[np.ix_(p, p)], tau[p] - C[p] - H[np.ix_(p, k)] @ qdd[k])
    tau[k] = H[k] @ qdd + C[k]
    return qdd, tau


def _world_matrices(tree: Tree, state: TreeState) -> np.ndarray:
    """(J, 3, 3) from each body's axes to the world's."""
    turns = rotation.to_matrix(state.rotations)
    for i in range(1, len(tree)):
        turns[i] = turns[tree.parents[i]] @ turns[i]
    return turns


def _transform(tree: Tree, state: TreeState, i: int) -> np.ndarray:
    """X_i = [E 0; -E [r]x E], with E from the parent's axes to body i's and r the joint in the parent's frame."""
    E = rotation.to_matrix(state.rotations[i]).T
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = E
    shift = np.zeros(3) if state.shift is None else state.shift[i]
    X[3:, :3] = -E @ skew(tree.offsets[i] + shift)
    return X


def _cross_motion(v: np.ndarray) -> np.ndarray:
    """The matrix of v x m for motion vectors; v x* f is minus its transpose times f.   [mix, eq 22]"""
    w, linear = skew(v[:3]), skew(v[3:])
    return np.block([[w, np.zeros((3, 3))], [linear, w]])
