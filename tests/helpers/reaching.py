"""Hands that reach at random, on two feet or one, and how near a constrained optimiser gets: SciPy's SLSQP.

Where everything is, and how that changes with every angle, comes from NumPy here; no kernel of the solver has a part in
it. A pose is placed as its joints are made: before, swing, twist, after. An angle's axis in the world is the column of
the swing's left Jacobian (Sola et al. 2018, "A micro Lie theory", eq 145), or the twist's axis as the swing turns it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from helpers.kinematics import find_center, place_joints
from poise import Character, rotation
from poise.ik.goals import Goal, OrientationGoal, PositionGoal
from poise.ik.model import CharacterModel
from poise.ik.support_polygon import find_edges

BODY = Character.human(1.75, 75.0)


def place(root, rotations, body=BODY):
    """Orientations, places (J, 3) m and center of mass (3,) m, by SciPy and by the character's own segments."""
    places, turns = place_joints(body.skeleton, root, rotations)
    return turns, places, find_center(body, places, turns)


def draw(rng, size=0.6, body=BODY):
    """A random pose within the ranges."""
    turns = rotation.identity((len(body.skeleton),))
    for i, name in enumerate(body.skeleton.names):
        if i and name in body.limits and name in body.freedoms:
            ends = body.limits[name]
            turns[i] = ends.rotation(np.clip(size * rng.uniform(ends.lower, ends.upper), ends.lower, ends.upper))
    turns[0] = rotation.exp(rng.normal(size=3) * 0.3)
    return rng.normal(size=3), turns


def stand(body=BODY):
    """Standing, arms hanging: root, rotations, and the corners of a support of two feet."""
    skeleton = body.skeleton
    turns = rotation.identity((len(skeleton),))
    for name, ends in body.limits.items():
        turns[skeleton.index(name)] = ends.rotation(np.clip(0.0, ends.lower, ends.upper))
    _, places, _ = place(np.zeros(3), turns, body)
    feet = places[[skeleton.index("leftFoot"), skeleton.index("rightFoot")]]
    corners = np.concatenate(
        [foot[[0, 2]] + [[0.05, -0.06], [-0.05, -0.06], [0.05, 0.2], [-0.05, 0.2]] for foot in feet]
    )
    return np.zeros(3), turns, corners


def keep(joint, turns, places, body=BODY):
    """Goals that keep a foot where it is."""
    i = body.skeleton.index(joint)
    return [
        PositionGoal(joint, places[i], first=True),
        OrientationGoal(joint, turns[i].as_quat(scalar_first=True), first=True),
    ]


HAND, LEFT, RIGHT = (BODY.skeleton.index(name) for name in ("rightHand", "leftFoot", "rightFoot"))
ENOUGH, NEAR, INSIDE = 1e-3, 0.02, -1e-6  # m: met; as near as the optimiser; its centre of mass
_SCALE = 100.0
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
        self.stand, self.figure, self.edges = stand, CharacterModel(BODY, False, {}, 0.0), stand.edges
        arrays, skeleton = self.figure.arrays, BODY.skeleton
        self.joint, self.which, self.low, self.high = arrays.joint, arrays.axis, arrays.low, arrays.high
        none, count = rotation.identity(), len(skeleton)
        limits = [BODY.limits.get(name) for name in skeleton.names]
        self.before = rotation.to_matrix(
            np.array([none if ends is None else rotation.conjugate(ends.parent_zero) for ends in limits])
        )
        self.after = rotation.to_matrix(np.array([none if ends is None else ends.child_zero for ends in limits]))
        self.masses, self.centers = np.zeros(count), np.zeros((count, 3))
        for segment in BODY.segments:
            i = skeleton.index(segment.joint)
            self.masses[i], self.centers[i] = segment.inertia.mass, segment.inertia.center
        # (J, J), whether a joint moves another
        self.moves = np.eye(count, dtype=bool)
        for i, parent in enumerate(skeleton.parents):
            if parent >= 0:
                self.moves[:, i] |= self.moves[:, parent]
        self.was_R, self.was_p, _ = self._place(self.read(stand.turns))[:3]

    def read(self, turns: np.ndarray) -> np.ndarray:
        return self.figure.angles(turns)[self.joint, self.which]

    def _place(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Orientations (J, 3, 3), places (J, 3), parts' centres of mass (J, 3) and axes (n, 3) of angles (n,).

        In the frame of the root.
        """
        skeleton = BODY.skeleton
        angles = np.zeros((len(skeleton), 3))
        angles[self.joint, self.which] = values
        swing, twist = angles * [1.0, 0.0, 1.0], angles * [0.0, 1.0, 0.0]
        swung = _exp(swing)
        local = self.before @ swung @ _exp(twist) @ self.after
        R, p = np.tile(np.eye(3), (len(skeleton), 1, 1)), np.zeros((len(skeleton), 3))
        for i, parent in enumerate(skeleton.parents):
            if parent >= 0:
                R[i] = R[parent] @ local[i]
                p[i] = p[parent] + R[parent] @ skeleton.offsets[i]
        own = np.where((self.which == 1)[:, None], swung[self.joint, :, 1], _left(swing)[self.joint, :, self.which])
        parents = np.array(skeleton.parents)[self.joint]
        axes = np.einsum("nij,njk,nk->ni", R[parents], self.before[self.joint], own)
        return R, p, p + np.einsum("jik,jk->ji", R, self.centers), axes

    def measure(self, values: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(1 + K + 6,) the hand's distance squared, how far inside each edge, how far off the right foot is; slopes
        of these (1 + K + 6, n).
        """
        R, p, parts, axes = self._place(values)
        all_ = self.masses.sum()
        mass = self.masses @ parts / all_
        # what each angle turns: the hand, the feet; and how much mass about it
        below = self.moves * self.masses
        weights = below.sum(axis=1)[self.joint, None]
        about = (below @ parts)[self.joint] - weights * p[self.joint]
        turns_foot = axes * self.moves[self.joint, LEFT, None]
        foot_moves = np.cross(turns_foot, p[LEFT] - p[self.joint])
        back = self.was_R[LEFT] @ R[LEFT].T

        def hold(place: np.ndarray, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """With the left foot where it was: all of the body goes with it."""
            slopes = slopes - foot_moves - np.cross(turns_foot, place - p[LEFT])
            return self.was_p[LEFT] + back @ (place - p[LEFT]), slopes @ back.T

        def follow(i: int) -> tuple[np.ndarray, np.ndarray]:
            return hold(p[i], np.cross(axes * self.moves[self.joint, i, None], p[i] - p[self.joint]))

        hand, hand_slopes = follow(HAND)
        center, center_slopes = hold(mass, np.cross(axes, about) / all_)
        off = hand - target
        inside = self.edges[:, 2] - self.edges[:, :2] @ center[[0, 2]]
        rows = [[off @ off], inside]
        slopes = [2.0 * off @ hand_slopes.T, -self.edges[:, :2] @ center_slopes[:, [0, 2]].T]
        if self.stand.feet:
            place, place_slopes = follow(RIGHT)
            T = back @ R[RIGHT] @ self.was_R[RIGHT].T
            axis = np.array([T[2, 1] - T[1, 2], T[0, 2] - T[2, 0], T[1, 0] - T[0, 1]])
            spin = (axes * self.moves[self.joint, RIGHT, None] - turns_foot) @ back.T
            # [w] T + T' [w] = [(tr T - T) w]
            rows += [place - self.was_p[RIGHT], 0.1 * axis]
            slopes += [place_slopes.T, 0.1 * (np.trace(T) * np.eye(3) - T) @ spin.T]
        return np.concatenate(rows), np.concatenate([np.atleast_2d(part) for part in slopes])

    def reach(self, target: np.ndarray, starts: list[np.ndarray]) -> float:
        """m, how near the hand gets with the feet where they are and the centre of mass inside its support."""
        best, kept = np.inf, [b"", np.zeros(0), np.zeros(0)]

        def look(values: np.ndarray, what: int) -> np.ndarray:
            key = values.tobytes()
            if kept[0] != key:
                kept[:] = key, *self.measure(values, target)
            return kept[1 + what]

        edges = len(self.edges)
        inside, off = slice(1, 1 + edges), slice(1 + edges, None)
        limits = [{"type": "ineq", "fun": lambda v: look(v, 0)[inside], "jac": lambda v: look(v, 1)[inside]}]
        if self.stand.feet:
            limits.append({"type": "eq", "fun": lambda v: look(v, 0)[off], "jac": lambda v: look(v, 1)[off]})
        for start in starts:
            found = minimize(
                lambda v: _SCALE * float(look(v, 0)[0]), np.clip(start, self.low, self.high),
                jac=lambda v: _SCALE * look(v, 1)[0],
                bounds=list(zip(self.low, self.high, strict=True)), constraints=limits, method="SLSQP",
                options={"maxiter": 200, "ftol": 1e-9},
            )  # fmt: skip
            row = self.measure(found.x, target)[0]
            is_held = row[1 : 1 + edges].min() > INSIDE and np.abs(row[1 + edges :]).max(initial=0.0) < 1e-3
            if is_held:
                best = min(best, float(np.sqrt(row[0])))
        return best


def _cross_matrices(vectors: np.ndarray) -> np.ndarray:
    """(N, 3, 3) of vectors (N, 3)."""
    x, y, z = vectors.T
    none = np.zeros(len(vectors))
    return np.stack([none, -z, y, z, none, -x, -y, x, none], axis=1).reshape(-1, 3, 3)


def _shares(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N, 1, 1) sin a / a, (1 - cos a) / a^2 and (a - sin a) / a^3."""
    a = np.maximum(np.linalg.norm(vectors, axis=1), 1e-4)[:, None, None]
    return np.sin(a) / a, (1.0 - np.cos(a)) / a**2, (a - np.sin(a)) / a**3


def _exp(vectors: np.ndarray) -> np.ndarray:
    """(N, 3, 3) rotations by vectors (N, 3) rad: Rodrigues."""
    K, (one, two, _) = _cross_matrices(vectors), _shares(vectors)
    return np.eye(3) + one * K + two * K @ K


def _left(vectors: np.ndarray) -> np.ndarray:
    """(N, 3, 3) left Jacobians of rotations by vectors (N, 3) rad."""
    K, (_, two, three) = _cross_matrices(vectors), _shares(vectors)
    return np.eye(3) + two * K + three * K @ K
