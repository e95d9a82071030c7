"""Accelerations within torque ranges by other means: Lawson and Hanson's, in SciPy.

Each problem is least |E x - f| with low <= H x + b <= high. By the QR factors of E it is a problem of least distance,
whose dual has no constraints but signs, for `scipy.optimize.nnls` (Lawson and Hanson 1974, chapter 23).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

HEAVY = 1e5  # of what earlier levels keep, and of each level, beside the one after it


def solve_levels(
    H: np.ndarray,
    b: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    wanted: np.ndarray,
    goals: Sequence[tuple[np.ndarray, np.ndarray]],
    weights: np.ndarray,
) -> list[np.ndarray]:
    """A x of each level: the least |A x - y| of all x with torques in range that leave earlier levels as they are.

    Earlier levels are kept by rows of weight 1e5, and a weight of 1e-5 on x makes it one; it is made better from there
    until it stays. No damping.
    """
    roots = np.sqrt(weights / weights.mean())
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for A, y in goals:
        x = wanted
        for _ in range(8):
            x = solve_bounded([(np.diag(roots) / HEAVY, roots * x / HEAVY), *kept, (A, y)], H, low - b, high - b, x)
        kept.append((HEAVY * A, HEAVY * A @ x))
    return [values / HEAVY for _, values in kept]


def solve_damped(
    H: np.ndarray,
    b: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    wanted: np.ndarray,
    goals: Sequence[tuple[np.ndarray, np.ndarray]],
    weights: np.ndarray,
    damping: float,
    passes: int = 3,
) -> np.ndarray:
    """x (n,) by the definition: each level damped, in passes, and its singular directions kept as stiffly as they are.

    Written from the text of `dynamics/qp/priority_kernels.py`, by SVD.
    """
    roots = np.sqrt(weights / weights.mean())
    most = max([1.0, *(float(np.max(np.sum((A / roots) ** 2, axis=1), initial=0.0)) / damping**2 for A, _ in goals)])
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for A, y in goals:
        x = wanted
        for _ in range(passes):
            x = solve_bounded([(np.diag(roots), roots * x), *kept, (A / damping, y / damping)], H, low - b, high - b, x)
        _, s, V = np.linalg.svd(A / roots, full_matrices=False)
        t = s / damping
        spring = np.minimum(t * t * np.exp(np.minimum(18.0 * (t - 1.0), 50.0)), min(1e10 * most, 1e18))
        rows = np.sqrt(spring)[:, None] * V * roots
        kept.append((rows, rows @ x))
    return solve_bounded([(np.diag(roots), roots * wanted), *kept], H, low - b, high - b, wanted)


def solve_bounded(
    pieces: list[tuple[np.ndarray, np.ndarray]], H: np.ndarray, low: np.ndarray, high: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """x (n,) with the least sum of |E_i x - f_i|^2 over pieces, within low <= H x <= high."""
    # heavy rows first, so that none of the light ones drowns in them
    E, f = (np.concatenate(part) for part in zip(*pieces, strict=True))
    f = f - E @ start
    order = np.argsort(-np.linalg.norm(E, axis=1), kind="stable")
    Q, R = np.linalg.qr(E[order])
    middle = Q.T @ f[order]
    # z = R x - middle:   least |z|   with   G z >= h
    size = np.linalg.norm(H, axis=1)
    G = np.linalg.solve(R.T, np.concatenate([H, -H]).T).T / np.tile(size, 2)[:, None]
    t = H @ start
    h = np.concatenate([low - t, t - high]) / np.tile(size, 2) - G @ middle
    length = np.linalg.norm(G, axis=1)
    G, h = G / length[:, None], h / length
    scale = 1.0
    for _ in range(3):  # least distances are exact where they are about 1
        u, _ = nnls(np.vstack([G.T, h / scale]), np.append(np.zeros(G.shape[1]), 1.0), maxiter=10000)
        left = np.append(np.zeros(G.shape[1]), 1.0) - np.vstack([G.T, h / scale]) @ u
        z = -scale * left[:-1] / left[-1]
        if not np.any(u > 0.0):
            break
        scale = float(np.linalg.norm(z))
    active = u > 0.0
    if active.any():
        z = np.linalg.lstsq(G[active], h[active], rcond=None)[0]
    return np.asarray(start + np.linalg.solve(R, z + middle))


def find_breach(
    H: np.ndarray,
    b: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    wanted: np.ndarray,
    x: np.ndarray,
    weights: np.ndarray | None = None,
) -> tuple[float, float]:
    """How far x is from the conditions that only the nearest one meets, by plain NumPy.

    The change of x is W^-1 H^T mu, with mu >= 0 at low bounds, <= 0 at high ones, and 0 between (Karush, Kuhn and
    Tucker). Returned: the largest torque beyond its range and rounding, over that range; and the largest multiplier of
    the wrong sign, or of a torque that is not at a bound, over the largest of all, each in units of what it moves x by,
    of which a millionth of x itself is the least that counts.
    """
    w = np.ones(len(b)) if weights is None else weights
    t, span = H @ x + b, high - low
    rounding = 1e-15 * (np.abs(H) @ np.abs(x) + np.abs(b))  # of the sums that torques are
    out = float(np.max((np.maximum(low - t, t - high) - rounding) / span, initial=0.0))
    mu = np.linalg.solve(H.T, w * (x - wanted))
    moves = np.linalg.norm(H / np.sqrt(w), axis=1)  # by which a unit of each multiplier moves x
    near = 1e-7 * span + 10.0 * rounding
    at_low, at_high = t <= low + near, t >= high - near
    wrong = np.where(at_low & at_high, 0.0, np.where(at_low, -mu, np.where(at_high, mu, np.abs(mu))))
    scale = max(np.max(np.abs(mu) * moves), 1e-6 * float(np.linalg.norm(np.sqrt(w) * x)), 1e-300)
    return out, float(np.max(wrong * moves, initial=0.0) / scale)
