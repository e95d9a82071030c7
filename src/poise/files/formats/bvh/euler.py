"""Euler angles as curves over time: what BVH keeps, and what an animator sees in a graph editor.

Angles are in radians; order "ZXY" means R = Rz(a) Rx(b) Ry(c), the first axis outermost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.spatial import rotation

_AXES = {"X": 0, "Y": 1, "Z": 2}
# cos(b) below which the first and third axes count as parallel: keeping the third angle where it was then turns the
# result by at most this many radians times pi.
_LOCKED = 1e-8


def _split_order(order: str) -> tuple[int, int, int, float]:
    """The three axes of an order, and +1 if they are X, Y, Z in turn, -1 if backwards."""
    i, j, k = (_AXES[axis] for axis in order)
    return i, j, k, 1.0 if (j - i) % 3 == 1 else -1.0


def from_euler_curves(angles: np.ndarray, orders: Sequence[str]) -> np.ndarray:
    """Quaternions (F, J, 4) of angles (F, J, 3), each joint with its own order of three different axes."""
    first, second, third = np.moveaxis(0.5 * angles, -1, 0)
    c1, c2, c3 = np.cos(first), np.cos(second), np.cos(third)
    s1, s2, s3 = np.sin(first), np.sin(second), np.sin(third)
    axes = [_split_order(order) for order in orders]
    sign = np.array([split[3] for split in axes])
    joints = np.arange(len(orders))
    q = np.empty((*angles.shape[:-1], 4))
    # The product (c1 + s1 i)(c2 + s2 j)(c3 + s3 k), with i j = +-k by the sense of the order.
    q[..., 0] = c1 * c2 * c3 - sign * (s1 * s2 * s3)
    q[:, joints, [1 + split[0] for split in axes]] = s1 * c2 * c3 + sign * (c1 * s2 * s3)
    q[:, joints, [1 + split[1] for split in axes]] = c1 * s2 * c3 - sign * (s1 * c2 * s3)
    q[:, joints, [1 + split[2] for split in axes]] = c1 * c2 * s3 + sign * (s1 * s2 * c3)
    return q


def to_euler_curves(q: np.ndarray, order: str) -> np.ndarray:
    """Angles (F, ..., 3) of rotations (F, ..., 4) over time, without jumps where the motion has none.

    Every rotation has two triples, (a, b, c) and (a + pi, pi - b, c + pi), and whole turns besides: each frame takes
    the nearest to the frame before. In gimbal lock only the sum of the outer angles is defined; the third stays where
    it was last known and the first takes the rest.
    """
    m = rotation.to_matrix(q)
    third, known = _find_third(m, order)
    angles = _find_others(m, order, _hold(third, known))
    return np.unwrap(_choose_triple(angles), axis=0)


def to_euler_near(q: np.ndarray, order: str, reference: np.ndarray) -> np.ndarray:
    """Angles (..., 3) of rotations (..., 4), each triple the nearest to its own reference (..., 3), whole turns too.

    In gimbal lock the third angle is the reference's.
    """
    m = rotation.to_matrix(q)
    third, known = _find_third(m, order)
    angles = _find_others(m, order, np.where(known, third, reference[..., 2]))
    other = _other_triple(angles)
    use_other = _turned(reference, other) < _turned(reference, angles)
    angles = np.where(use_other[..., None], other, angles)
    return angles + 2 * np.pi * np.round((reference - angles) / (2 * np.pi))


def _find_third(m: np.ndarray, order: str) -> tuple[np.ndarray, np.ndarray]:
    """The third angle of matrices (..., 3, 3), and whether it is known: not in gimbal lock."""
    i, j, _, sign = _split_order(order)
    third = np.arctan2(-sign * m[..., i, j], m[..., i, i])
    return third, np.hypot(m[..., i, i], m[..., i, j]) >= _LOCKED


def _find_others(m: np.ndarray, order: str, third: np.ndarray) -> np.ndarray:
    """All three angles (..., 3), the third given."""
    i, j, k, sign = _split_order(order)
    # R Rk(-c) = Ri(a) Rj(b): its column j gives a, its row i gives b, and both are well conditioned for any c.
    c, s = np.cos(third), sign * np.sin(third)
    column_i = c[..., None] * m[..., :, i] - s[..., None] * m[..., :, j]
    column_j = s[..., None] * m[..., :, i] + c[..., None] * m[..., :, j]
    first = np.arctan2(sign * column_j[..., k], column_j[..., j])
    second = np.arctan2(sign * m[..., i, k], column_i[..., i])
    return np.stack([first, second, third], axis=-1)


def _hold(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Values over time with the unknown ones replaced by the last known before them; zero where there is none."""
    frames = np.arange(len(values)).reshape(-1, *[1] * (values.ndim - 1))
    last = np.maximum.accumulate(np.where(known, frames, -1), axis=0)
    held = np.take_along_axis(values, np.maximum(last, 0), axis=0)
    return np.where(last < 0, 0.0, held)


def _choose_triple(angles: np.ndarray) -> np.ndarray:
    """Of each frame's two triples the one nearer to the frame before, up to whole turns."""
    other = _other_triple(angles)
    # The step between two first triples is as long as between the two others, and mixed steps alike: so whether a frame
    # changes sides depends on the two frames only, and its side is the parity of the changes so far.
    change = _turned(angles[:-1], angles[1:]) > _turned(angles[:-1], other[1:])
    side = np.concatenate([np.zeros(change.shape[1:], bool)[None], change]).cumsum(axis=0) % 2
    return np.where(side[..., None] == 1, other, angles)


def _other_triple(angles: np.ndarray) -> np.ndarray:
    """The other triple of the same rotation."""
    first, second, third = np.moveaxis(angles, -1, 0)
    return np.stack([first + np.pi, np.pi - second, third + np.pi], axis=-1)


def _turned(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared length of the step from triple a to b, each angle the shorter way round."""
    step = np.mod(b - a + np.pi, 2 * np.pi) - np.pi
    return np.asarray(np.sum(step * step, axis=-1))
