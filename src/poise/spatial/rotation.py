"""Rotations as unit quaternions, `wxyz`, batched over any leading axes.

A quaternion q of a joint turns the child's coordinates into the parent's: v_parent = q v_child q^-1. The product
`multiply(a, b)` therefore first turns by b, then by a, like the product of matrices. Arrays are float64, shape (..., 4)
for quaternions, (..., 3) for vectors and rotation vectors, (..., 3, 3) for matrices.

Lengths of vectors: what `np.linalg.norm` gives, to the last bit, without its search for what kind of norm is meant.

For a few short vectors that search takes longer than the norm.
"""

from __future__ import annotations

import math

import numpy as np

from poise.spatial import one_rotation as one

_AXES = {"X": 0, "Y": 1, "Z": 2}
_SMALL = one.SMALL
_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
_CONJUGATE.flags.writeable = False


def identity(shape: tuple[int, ...] = ()) -> np.ndarray:
    """No rotation, `shape` times: (*shape, 4)."""
    q = np.zeros((*shape, 4))
    q[..., 0] = 1.0
    return q


def normalize(q: np.ndarray) -> np.ndarray:
    """The unit quaternion along q. A zero quaternion has no direction and gives NaN."""
    q = np.asarray(q, float)
    if q.size == 4 and (found := one.normalize(q.ravel().tolist())) is not None:
        return np.array(found).reshape(q.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        return q / lengths(q, keepdims=True)


def conjugate(q: np.ndarray) -> np.ndarray:
    """The opposite rotation of a unit quaternion."""
    return np.asarray(q, float) * _CONJUGATE


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The Hamilton product a b: turn by b, then by a."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.size == 4 and b.size == 4:
        return np.array(one.multiply(a.ravel().tolist(), b.ravel().tolist())).reshape(_wider(a, b))
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    w = aw * bw - ax * bx - ay * by - az * bz
    product = np.empty((*w.shape, 4))
    product[..., 0] = w
    product[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    product[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    product[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return product


def _wider(a: np.ndarray, b: np.ndarray) -> tuple[int, ...]:
    """The shape of two arrays of one vector each, broadcast."""
    return a.shape if a.ndim >= b.ndim else b.shape


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b, (..., 3): `np.cross` for three numbers, which takes four times as long to find out that they are three."""
    if a.size == 3 and b.size == 3:
        return np.array(one.cross(a.ravel().tolist(), b.ravel().tolist()), float).reshape(_wider(a, b))
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    x = ay * bz - az * by
    product = np.empty((*x.shape, 3))
    product[..., 0] = x
    product[..., 1] = az * bx - ax * bz
    product[..., 2] = ax * by - ay * bx
    return product


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """v turned by q: q v q^-1, as v + w t + u x t with t = 2 u x v."""
    q, v = np.asarray(q, float), np.asarray(v, float)
    if q.size == 4 and v.size == 3:
        shape = q.shape[:-1] if q.ndim > v.ndim else v.shape[:-1]
        return np.array(one.rotate(q.ravel().tolist(), v.ravel().tolist())).reshape(*shape, 3)
    w, u = q[..., :1], q[..., 1:]
    t = 2.0 * cross(u, v)
    return np.asarray(v + w * t + cross(u, t))


def to_matrix(q: np.ndarray) -> np.ndarray:
    """The rotation matrix of a unit quaternion."""
    q = np.asarray(q, float)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    m = np.empty((*q.shape[:-1], 3, 3))
    m[..., 0, 0], m[..., 0, 1], m[..., 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    m[..., 1, 0], m[..., 1, 1], m[..., 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    m[..., 2, 0], m[..., 2, 1], m[..., 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return m


def from_matrix(m: np.ndarray) -> np.ndarray:
    """The unit quaternion of a rotation matrix, with w >= 0 (Shepperd's choice of the largest component)."""
    m = np.asarray(m, float)
    if m.size == 9 and (found := one.from_matrix(m.reshape(3, 3).tolist())) is not None:
        return np.array(found).reshape(*m.shape[:-2], 4)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    # Four times the square of each component; dividing by the largest is always well conditioned.
    candidates = np.empty((*xx.shape, 4, 4))
    candidates[..., 0, 0], candidates[..., 1, 1] = 1 + xx + yy + zz, 1 + xx - yy - zz
    candidates[..., 2, 2], candidates[..., 3, 3] = 1 - xx + yy - zz, 1 - xx - yy + zz
    candidates[..., 0, 1] = candidates[..., 1, 0] = m[..., 2, 1] - m[..., 1, 2]
    candidates[..., 0, 2] = candidates[..., 2, 0] = m[..., 0, 2] - m[..., 2, 0]
    candidates[..., 0, 3] = candidates[..., 3, 0] = m[..., 1, 0] - m[..., 0, 1]
    candidates[..., 1, 2] = candidates[..., 2, 1] = m[..., 1, 0] + m[..., 0, 1]
    candidates[..., 1, 3] = candidates[..., 3, 1] = m[..., 0, 2] + m[..., 2, 0]
    candidates[..., 2, 3] = candidates[..., 3, 2] = m[..., 2, 1] + m[..., 1, 2]
    squares = candidates[..., range(4), range(4)]
    largest = np.argmax(squares, axis=-1).ravel()
    q = normalize(candidates.reshape(-1, 4, 4)[np.arange(len(largest)), largest].reshape(*xx.shape, 4))
    return np.where(q[..., :1] < 0, -q, q)


def exp(rotvec: np.ndarray) -> np.ndarray:
    """The rotation by |rotvec| radians about rotvec."""
    rotvec = np.asarray(rotvec, float)
    if rotvec.size == 3:
        return np.array(one.exp(rotvec.ravel().tolist())).reshape(*rotvec.shape[:-1], 4)
    angle = lengths(rotvec, keepdims=True)
    safe = np.where(angle < _SMALL, 1.0, angle)
    half_sinc = np.where(angle < _SMALL, 0.5 - angle**2 / 48.0, np.sin(0.5 * safe) / safe)
    return np.concatenate([np.cos(0.5 * angle), half_sinc * rotvec], axis=-1)


def log(q: np.ndarray) -> np.ndarray:
    """The rotation vector of q, the shorter way round: length in [0, pi]."""
    q = np.asarray(q, float)
    if q.size == 4:
        return np.array(one.log(q.ravel().tolist())).reshape(*q.shape[:-1], 3)
    q = np.where(q[..., :1] < 0, -q, q)
    w, u = q[..., :1], q[..., 1:]
    s = lengths(u, keepdims=True)
    safe = np.where(s < _SMALL, 1.0, s)
    # angle / sin(angle/2); the series is that of 2 asin(s)/s at small s.
    scale = np.where(s < _SMALL, 2.0 + s**2 / 3.0, 2.0 * np.arctan2(safe, w) / safe)
    return scale * u


def angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The geodesic angle between rotations a and b in radians, shape without the last axis."""
    return lengths(log(multiply(conjugate(a), b)))


def slerp(a: np.ndarray, b: np.ndarray, u: np.ndarray | float) -> np.ndarray:
    """From a (u = 0) to b (u = 1) at constant angular speed, the shorter way; u broadcasts without the last axis."""
    step = log(multiply(conjugate(a), b))
    return multiply(a, exp(np.asarray(u, float)[..., None] * step))


def from_axis_angle(axis: np.ndarray, angle: np.ndarray | float) -> np.ndarray:
    """The rotation by `angle` radians about `axis`, which need not have unit length."""
    axis = np.asarray(axis, float)
    if axis.ndim == 1 and np.ndim(angle) == 0 and (found := one.from_axis_angle(axis.tolist(), float(angle))):
        return np.array(found)
    axis = axis / lengths(axis, keepdims=True)
    return exp(axis * np.asarray(angle, float)[..., None])


def between(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The smallest rotation that turns direction u into direction v. Opposite directions turn about any normal.

    To or from a vector without length nothing turns.
    """
    u, v = np.asarray(u, float), np.asarray(v, float)
    if u.size == 3 and v.size == 3 and (found := one.between(u.ravel().tolist(), v.ravel().tolist())) is not None:
        return np.array(found).reshape(*(u if u.ndim > v.ndim else v).shape[:-1], 4)
    u = u / np.maximum(lengths(u, keepdims=True), 1e-300)
    v = v / np.maximum(lengths(v, keepdims=True), 1e-300)
    w = 1.0 + np.sum(u * v, axis=-1, keepdims=True)
    q = np.concatenate([w, cross(u, v)], axis=-1)
    # Opposite: half a turn about the axis most nearly normal to u.
    helper = np.eye(3)[np.argmin(np.abs(u), axis=-1)]
    opposite = np.concatenate([np.zeros_like(w), cross(u, helper)], axis=-1)
    return normalize(np.where(w < 1e-12, opposite, q))


def from_euler(angles: np.ndarray, order: str) -> np.ndarray:
    """Rotation from angles (..., n) in radians about the axes of `order`, e.g. "ZXY" = Rz Rx Ry (BVH's reading)."""
    angles = np.asarray(angles, float)
    q = identity(angles.shape[:-1])
    for i, axis in enumerate(order.upper()):
        q = multiply(q, from_axis_angle(np.eye(3)[_AXES[axis]], angles[..., i]))
    return q


def make_continuous(q: np.ndarray, axis: int = 0) -> np.ndarray:
    """The same rotations with signs chosen so that neighbours along `axis` lie on one side.   [mix, eq 8, 9]

    Each sample is compared with the one before it *as already flipped* (erratum of the paper), so a flip is carried on.
    """
    q = np.asarray(q, float)
    if axis:
        return np.moveaxis(make_continuous(np.moveaxis(q, axis, 0)), 0, axis)
    # The sign of the product of all neighbouring dot products so far is the sign that the sample needs.
    dots = np.sum(q[1:] * q[:-1], axis=-1, keepdims=True)
    flips = np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=0)
    return np.concatenate([q[:1], q[1:] * flips], axis=0)


def random(rng: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:
    """Uniformly distributed rotations (*shape, 4)."""
    return normalize(rng.standard_normal((*shape, 4)))


def length(v: np.ndarray) -> float:
    """Of one vector (n,): np.linalg.norm(v)."""
    v = np.ascontiguousarray(v)
    return math.sqrt(v.dot(v))


def lengths(v: np.ndarray, keepdims: bool = False) -> np.ndarray:
    """Along the last axis: np.linalg.norm(v, axis=-1)."""
    squares = np.add.reduce(v * v, axis=-1)
    return np.asarray(np.sqrt(squares[..., None] if keepdims else squares))
