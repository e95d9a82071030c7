"""MuJoCo's contacts of some bodies, sorted by groups of them: one pass over its arrays, with no Python a contact."""

from __future__ import annotations

import numpy as np

from poise.spatial.compile import kernel

SHORT = 8  # numbers that NumPy adds up one after the other, too, if there are fewer


@kernel
def sort_contacts(
    address: np.ndarray,
    geom: np.ndarray,
    frame: np.ndarray,
    pos: np.ndarray,
    row_force: np.ndarray,
    body_of_geom: np.ndarray,
    group_of_body: np.ndarray,
    forces: np.ndarray,
    points: np.ndarray,
    counts: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Write forces (G, n, 3) N on the bodies of each group, points (G, n, 3) m and how many there are, counts (G,).

    totals         (G, 3) N, the sums of the forces, one after the other

    address        (n,) of each contact's first row, negative where it carries nothing; geom (n, 2) its two shapes
    frame          (n, 9) its axes in the world, the normal first, from the first shape to the second; pos (n, 3)
    row_force      (m,) N, by row: elliptic cones have three, in the contact's frame
    group_of_body  (B,) -1 for a body of none

    In the order of `find_contacts`: those that a group's body is the second of, then those that it is the first of.
    """
    counts[:] = 0
    totals[:] = 0.0
    for mine in (1, 0):
        sign = 1.0 if mine == 1 else -1.0
        for k in range(len(address)):
            row, group = address[k], group_of_body[body_of_geom[geom[k, mine]]]
            if group < 0 or row < 0 or row + 2 >= len(row_force) or counts[group] >= forces.shape[1]:
                continue
            at = counts[group]
            counts[group] += 1
            for b in range(3):
                total = 0.0
                for a in range(3):
                    total += row_force[row + a] * frame[k, 3 * a + b]
                forces[group, at, b], points[group, at, b] = sign * total, pos[k, b]
                totals[group, b] += sign * total


@kernel
def list_contacts(
    address: np.ndarray,
    geom: np.ndarray,
    frame: np.ndarray,
    pos: np.ndarray,
    dist: np.ndarray,
    row_force: np.ndarray,
    base: np.ndarray,
    body_of_geom: np.ndarray,
    joint_of_body: np.ndarray,
    joints: np.ndarray,
    others: np.ndarray,
    points: np.ndarray,
    forces: np.ndarray,
) -> int:
    """Write joints (2 n,), others (2 n,), points and forces (2 n, 3) of all contacts of a body; how many there are.

    base           (G,) m, how far ahead of each shape a contact counts; (0,): wherever the engine has it
    joint_of_body  (B,) -1 for what is not the body's;  others are numbers of bodies

    The rest is as of `sort_contacts`, and so is the order.
    """
    count = 0
    for mine in (1, 0):
        sign = 1.0 if mine == 1 else -1.0
        for k in range(len(address)):
            row, first, second = address[k], geom[k, 0], geom[k, 1]
            joint = joint_of_body[body_of_geom[second if mine == 1 else first]]
            if row < 0 or joint < 0:
                continue
            if len(base) > 0 and dist[k] - (base[first] + base[second]) > 0.0 and not row_force[row] > 0.0:
                continue
            joints[count], others[count] = joint, body_of_geom[first if mine == 1 else second]
            for b in range(3):
                total = 0.0
                for a in range(3):
                    total += row_force[row + a] * frame[k, 3 * a + b]
                forces[count, b], points[count, b] = sign * total, pos[k, b]
            count += 1
    return count
