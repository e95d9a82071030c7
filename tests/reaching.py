"""Hands that reach at random, on two feet or one, and how near a constrained optimiser gets: SciPy's SLSQP.

Where everything is comes from NumPy here, pose by pose in one array; no kernel of the solver has a part in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from poise.ik.figure import Figure
from poise.ik.goals import Goal
from poise.ik.support import find_edges
from poise.spatial import rotation
from posed import BODY, keep, place, stand

HAND, LEFT, RIGHT = (BODY.skeleton.index(name) for name in ("rightHand", "leftFoot", "rightFoot"))
ENOUGH, NEAR, INSIDE = 1e-3, 0.02, -1e-6  # m: met; as near as the optimiser; its centre of mass
_STEP, _SCALE = 1e-6, 100.0
_SOLE = np.array([[0.05, -0.06], [-0.05, -0.06], [0.05, 0.2], [-0.05, 0.2]])


@dataclass(frozen=True)
class Stand:
    """Where a body stands: root, rotations, the corners that carry it, and the goals that keep its feet."""

    root: np.ndarray
    turns: np.ndarray
    corners: np.ndarray
    feet: list[Goal]

    @property
    def edges(self) -> np.ndarray:
        return find_edges(self.corners)


def make_stand(feet: int) -> Stand:
    """On two feet, or on the left one."""
    root, turns, corners = stand()
    seen, places, _ = place(root, turns)
    if feet == 2:
        return Stand(root, turns, corners, keep("rightFoot", seen, places))
    return Stand(root, turns, places[LEFT][[0, 2]] + _SOLE, [])


def draw_places(rng: np.random.Generator, count: int) -> np.ndarray:
    """(N, 3) m, anywhere about a body: in reach, and not."""
    root, turns, _ = stand()
    foot = place(root, turns)[1][LEFT]
    return np.array([0.0, foot[1], 0.0]) + rng.uniform((-1.1, 0.05, -0.9), (1.1, 2.2, 1.1), size=(count, 3))


class Optimiser:
    """SLSQP on the angles of a body on its left foot."""

    def __init__(self, stand: Stand):
        self.stand, self.figure = stand, Figure(BODY, False, {}, 0.0)
        arrays = self.figure.arrays
        self.joint, self.which, self.low, self.high = arrays.joint, arrays.which, arrays.low, arrays.high
        none = rotation.identity()
        limits = [BODY.limits.get(name) for name in BODY.skeleton.names]
        self.before = np.array([none if ends is None else rotation.conjugate(ends.parent_zero) for ends in limits])
        self.after = np.array([none if ends is None else ends.child_zero for ends in limits])
        R, p = self._place(self.read(stand.turns)[None])[:2]
        self.was_R, self.was_p = R[0], p[0]

    def read(self, turns: np.ndarray) -> np.ndarray:
        return self.figure.angles(turns)[self.joint, self.which]

    def _place(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Orientations (B, J, 3, 3), places (B, J, 3) and centres of mass (B, 3) of angles (B, n); the foot stays."""
        skeleton, count = BODY.skeleton, len(values)
        angles = np.zeros((count, len(skeleton), 3))
        angles[:, self.joint, self.which] = values
        R, p = np.tile(np.eye(3), (count, len(skeleton), 1, 1)), np.zeros((count, len(skeleton), 3))
        swing, twist = rotation.exp(angles * [1.0, 0.0, 1.0]), rotation.exp(angles * [0.0, 1.0, 0.0])
        turned = rotation.multiply(rotation.multiply(self.before, rotation.multiply(swing, twist)), self.after)
        local = rotation.to_matrix(turned)
        for i, parent in enumerate(skeleton.parents):
            if parent < 0:
                continue
            R[:, i] = R[:, parent] @ local[:, i]
            p[:, i] = p[:, parent] + R[:, parent] @ skeleton.offsets[i]
        masses = np.array([segment.inertia.mass for segment in BODY.segments])
        at = [skeleton.index(segment.joint) for segment in BODY.segments]
        centers = np.array([segment.inertia.center for segment in BODY.segments])
        where = p[:, at] + np.einsum("bsij,sj->bsi", R[:, at], centers)
        mass = np.einsum("s,bsi->bi", masses, where) / masses.sum()
        if hasattr(self, "was_R"):
            back = self.was_R[LEFT] @ np.swapaxes(R[:, LEFT], 1, 2)
            foot = p[:, LEFT].copy()
            p = self.was_p[LEFT] + np.einsum("bij,bkj->bki", back, p - foot[:, None])
            mass = self.was_p[LEFT] + np.einsum("bij,bj->bi", back, mass - foot)
            R = back[:, None] @ R
        return R, p, mass

    def measure(self, values: np.ndarray, target: np.ndarray) -> np.ndarray:
        """(B, 1 + K + 6): the hand's distance squared, how far inside each edge, and how far off the right foot is."""
        R, p, mass = self._place(values)
        hand = np.sum((p[:, HAND] - target) ** 2, axis=1)
        edges = self.stand.edges
        inside = edges[:, 2] - mass[:, [0, 2]] @ edges[:, :2].T
        parts = [hand[:, None], inside]
        if self.stand.feet:
            turned = R[:, RIGHT] @ self.was_R[RIGHT].T
            axis = np.stack([turned[:, 2, 1] - turned[:, 1, 2], turned[:, 0, 2] - turned[:, 2, 0],
                             turned[:, 1, 0] - turned[:, 0, 1]], axis=1)  # fmt: skip
            parts += [p[:, RIGHT] - self.was_p[RIGHT], 0.1 * axis]
        return np.concatenate(parts, axis=1)

    def reach(self, target: np.ndarray, starts: list[np.ndarray]) -> float:
        """m, how near the hand gets with the feet where they are and the centre of mass inside its support."""
        best, count = np.inf, len(self.joint)
        kept: dict[str, tuple[bytes, np.ndarray]] = {}

        def look(values: np.ndarray, what: str) -> np.ndarray:
            key = values.tobytes()
            if kept.get(what, (b"",))[0] != key:
                if what == "value":
                    kept[what] = key, self.measure(values[None], target)[0]
                else:
                    all_ = self.measure(np.concatenate([values[None], values + _STEP * np.eye(count)]), target)
                    kept[what] = key, (all_[1:] - all_[0]).T / _STEP
            return kept[what][1]

        edges = len(self.stand.edges)
        inside, off = slice(1, 1 + edges), slice(1 + edges, None)
        limits = [
            {"type": "ineq", "fun": lambda v: look(v, "value")[inside], "jac": lambda v: look(v, "slope")[inside]}
        ]
        if self.stand.feet:
            limits.append(
                {"type": "eq", "fun": lambda v: look(v, "value")[off], "jac": lambda v: look(v, "slope")[off]}
            )
        for start in starts:
            found = minimize(
                lambda v: _SCALE * float(look(v, "value")[0]), np.clip(start, self.low, self.high),
                jac=lambda v: _SCALE * look(v, "slope")[0],
                bounds=list(zip(self.low, self.high, strict=True)), constraints=limits, method="SLSQP",
                options={"maxiter": 200, "ftol": 1e-9},
            )  # fmt: skip
            row = self.measure(found.x[None], target)[0]
            is_held = row[1 : 1 + edges].min() > INSIDE and np.abs(row[1 + edges :]).max(initial=0.0) < 1e-3
            if is_held:
                best = min(best, float(np.sqrt(row[0])))
        return best
