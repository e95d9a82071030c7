"""Hybrid dynamics: some accelerations given, some forces given, the rest found exactly, in time linear in the bodies.

Source: Featherstone (2008), section 9.2, on the articulated-body algorithm of chapter 7; the equation solved is eq 1 of
the mix paper. Spatial vectors in body axes about the body's joint, angular rows first, over all frames at once.

    I^A_i, p^A_i   articulated inertia and bias force of body i with all it carries: f_i = I^A_i a_i + p^A_i
    S_i            6 x k, unit turns of joint i whose *force* is given (k = 0, 1, 2 or 3)
    c_i            what is known of the joint's acceleration: given turns and v_i x S qd
    a_i = X a_p + c_i + S qdd

where forces are given, qdd = D^-1 (tau - S^T (I^A (X a_p + c) + p^A)) with D = S^T I^A S, and the parent feels

    I^a = I^A - I^A S D^-1 S^T I^A,      p^a = p^A + I^a c + I^A S D^-1 (tau - S^T p^A)

A joint whose acceleration is all given (k = 0) hands on its inertia whole: the part behind it acts on its connector as
one rigid body in its present pose, plus the wrench of its own motion. That is the exact coupling of kinematic and
physical parts, without the previous frame's acceleration that the paper falls back to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import GRAVITY, Tree, TreeState, pack, unpack
from poise.errors import InputError, SolveError
from poise.spatial import rotation
from poise.spatial.inertia import skew

# Smallest to largest inertia about a joint's free directions. Thin limbs have 1e-3; rounding leaves 1e-15 of nothing.
_LEAST_RESISTANCE = 1e-12


@dataclass(frozen=True, eq=False)
class HybridSolution:
    """Every acceleration and every force.

    acceleration  (..., n) generalised acceleration
    force         (..., n) generalised force; see `tree.py` for both
    """

    acceleration: np.ndarray
    force: np.ndarray


def solve_hybrid_dynamics(
    tree: Tree,
    state: TreeState,
    force: np.ndarray,
    is_given: np.ndarray,
    external: np.ndarray | None = None,
    gravity: np.ndarray = GRAVITY,
) -> HybridSolution:
    """The accelerations where forces are given and the forces where accelerations are.   [mix, eq 1]

    state     poses and velocities; its accelerations are read where `is_given`
    force     (..., n) generalised force, read where not `is_given`
    is_given  (n,) bool, one for all frames: whether that acceleration is known (a kinematic joint) or that force
    external  (..., J, 6) wrench [torque, force] on each body about its joint, world axes
    """
    is_given = np.asarray(is_given, bool)
    if is_given.shape != (tree.size,) or np.shape(force) != (*state.batch, tree.size):
        raise InputError(
            f"force and is_given have shapes {np.shape(force)} and {is_given.shape}; "
            f"wanted {(*state.batch, tree.size)} and {(tree.size,)}."
        )
    known = np.where(is_given, state.generalised_acceleration, 0.0)
    acceleration = _solve_accelerations(tree, state, np.asarray(force, float), is_given, known, external, gravity)
    linear, angular = unpack(acceleration)
    solved = TreeState(state.root, state.rotations, state.velocity, state.angular_velocity, linear, angular)
    found = compute_inverse_dynamics(tree, solved, external, gravity).generalised
    return HybridSolution(acceleration, np.where(is_given, found, force))


def _solve_accelerations(
    tree: Tree,
    state: TreeState,
    force: np.ndarray,
    is_given: np.ndarray,
    known: np.ndarray,
    external: np.ndarray | None,
    gravity: np.ndarray,
) -> np.ndarray:
    joints = len(tree)
    E = rotation.to_matrix(state.rotations)  # body axes to the parent's
    X = _transforms(tree, E)
    v, c = _velocities(tree, state, E, X, unpack(known)[1])
    I_A = [np.broadcast_to(tree.body(i).matrix(), (*state.batch, 6, 6)).copy() for i in range(joints)]
    p_A = [_cross_force(v[i], _apply(I_A[i], v[i])) for i in range(joints)]
    if external is not None:
        _subtract_external(p_A, tree, E, external)
    tau = unpack(force)[1]
    free = [np.flatnonzero(~is_given[3 + 3 * i : 6 + 3 * i]) for i in range(joints)]
    for i in reversed(range(1, joints)):
        p = int(tree.parents[i])
        I_a, p_a = I_A[i], p_A[i] + _apply(I_A[i], c[i])
        if len(free[i]):
            # S picks rows of the angular part, so I^A S is some columns of I^A and S^T some rows.
            U = I_A[i][..., :, free[i]]
            gain = np.swapaxes(_solve(U[..., free[i], :], np.swapaxes(U, -1, -2), tree.names[i]), -1, -2)
            missing = tau[..., i, free[i]] - p_a[..., free[i]]
            I_a = I_a - gain @ np.swapaxes(U, -1, -2)
            p_a = p_a + _apply(gain, missing)
        I_A[p] += np.swapaxes(X[i], -1, -2) @ I_a @ X[i]
        p_A[p] += _apply(np.swapaxes(X[i], -1, -2), p_a)
    out_linear, out_angular = unpack(known.copy())
    a = [np.zeros((*state.batch, 6)) for _ in range(joints)]
    a[0] = _solve_root(tree, state, E[..., 0, :, :], I_A[0], p_A[0], force, is_given, known, gravity)
    # Back from spatial to the point's own acceleration: a point + w x v, with gravity taken off again.  [mix, eq 19]
    point = a[0][..., 3:] + np.cross(v[0][..., :3], v[0][..., 3:])
    found_linear = _apply(E[..., 0, :, :], point) + gravity
    out_linear = np.where(is_given[:3], out_linear, found_linear)
    out_angular[..., 0, :] = np.where(is_given[3:6], out_angular[..., 0, :], a[0][..., :3])
    for i in range(1, joints):
        a[i] = _apply(X[i], a[int(tree.parents[i])]) + c[i]
        if len(free[i]):
            # qdd = D^-1 (tau - S^T (I^A a' + p^A)), with a' = X a_p + c
            pull = tau[..., i, free[i]] - (_apply(I_A[i], a[i]) + p_A[i])[..., free[i]]
            U = I_A[i][..., :, free[i]]
            qdd = _solve(U[..., free[i], :], pull[..., None], tree.names[i])[..., 0]
            a[i][..., free[i]] += qdd
            out_angular[..., i, free[i]] = qdd
    return pack(out_linear, out_angular)


def _solve_root(
    tree: Tree,
    state: TreeState,
    E: np.ndarray,
    I_A: np.ndarray,
    p_A: np.ndarray,
    force: np.ndarray,
    is_given: np.ndarray,
    known: np.ndarray,
    gravity: np.ndarray,
) -> np.ndarray:
    """Spatial acceleration of the root, gravity included, from f_0 = I^A a_0 + p^A and what is given of its six."""
    w, linear = state.angular_velocity[..., 0, :], _apply(np.swapaxes(E, -1, -2), state.velocity)
    # a_0 = B [acc, dw] + bias: linear acceleration is given in world axes, angular in the root's own.
    B = np.zeros((*state.batch, 6, 6))
    B[..., 3:, :3] = np.swapaxes(E, -1, -2)
    B[..., :3, 3:] = np.eye(3)
    bias = np.concatenate([np.zeros_like(w), -np.cross(w, linear)], axis=-1)
    x = known[..., :6].copy()
    x[..., :3] -= np.where(is_given[:3], gravity, 0.0)
    free = np.flatnonzero(~is_given[:6])
    if len(free):
        Bt = np.swapaxes(B, -1, -2)
        H = Bt @ I_A @ B
        rest = force[..., :6] - _apply(Bt, p_A + _apply(I_A, bias + _apply(B, x)))
        x[..., free] = _solve(H[..., free[:, None], free], rest[..., free, None], tree.names[0])[..., 0]
    return _apply(B, x) + bias


def _transforms(tree: Tree, E: np.ndarray) -> list[np.ndarray]:
    """X_i (..., 6, 6) = [E^T 0; -E^T [r]x E^T], from the parent's coordinates to body i's."""
    transforms = []
    for i in range(len(tree)):
        Et = np.swapaxes(E[..., i, :, :], -1, -2)
        X = np.zeros((*Et.shape[:-2], 6, 6))
        X[..., :3, :3] = X[..., 3:, 3:] = Et
        X[..., 3:, :3] = -Et @ skew(tree.offsets[i])
        transforms.append(X)
    return transforms


def _velocities(
    tree: Tree, state: TreeState, E: np.ndarray, X: list[np.ndarray], known: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Spatial velocities v_i, and the known accelerations c_i = S qdd (given) + v_i x S qd of the joints."""
    linear = _apply(np.swapaxes(E[..., 0, :, :], -1, -2), state.velocity)
    v = [np.concatenate([state.angular_velocity[..., 0, :], linear], axis=-1)]
    c = [np.zeros_like(v[0])]
    for i in range(1, len(tree)):
        w = state.angular_velocity[..., i, :]
        velocity = _apply(X[i], v[int(tree.parents[i])])
        velocity[..., :3] += w
        v.append(velocity)
        turn = known[..., i, :] + np.cross(velocity[..., :3], w)
        c.append(np.concatenate([turn, np.cross(velocity[..., 3:], w)], axis=-1))
    return v, c


def _subtract_external(p_A: list[np.ndarray], tree: Tree, E: np.ndarray, external: np.ndarray) -> None:
    turns = E.copy()
    for i in range(len(tree)):
        if i:
            turns[..., i, :, :] = turns[..., int(tree.parents[i]), :, :] @ turns[..., i, :, :]
        into = np.swapaxes(turns[..., i, :, :], -1, -2)
        p_A[i] -= np.concatenate([_apply(into, external[..., i, :3]), _apply(into, external[..., i, 3:])], axis=-1)


def _apply(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return (matrix @ vector[..., None])[..., 0]


def _cross_force(v: np.ndarray, f: np.ndarray) -> np.ndarray:
    """v x* f = [w x n + v x f; w x f].   [mix, eq 22]"""
    w, linear, n, force = v[..., :3], v[..., 3:], f[..., :3], f[..., 3:]
    return np.concatenate([np.cross(w, n) + np.cross(linear, force), np.cross(w, force)], axis=-1)


def _solve(D: np.ndarray, right: np.ndarray, joint: str) -> np.ndarray:
    """D^-1 right, refused where nothing resists: a joint that carries no mass, or none but through a free joint."""
    moments = np.linalg.eigvalsh(D)
    if np.any(moments[..., 0] <= _LEAST_RESISTANCE * moments[..., -1]):
        raise SolveError(
            f"joint '{joint}' is driven by force but no mass resists it, so its acceleration has no answer. "
            "Give its acceleration instead, or give it a segment."
        )
    return np.linalg.solve(D, right)
