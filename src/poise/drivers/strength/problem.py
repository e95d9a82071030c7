"""Arrays that a step of `Strength` works in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.drivers.body import Body
from poise.dynamics.qp.problem import (
    QpProblem,
    QpSolution,
    QpWorkspace,
    make_problem,
    make_solution,
    make_workspace,
)

MOST_TOUCHES = 8  # besides soles and hands that help: the hardest ones
PADS = 4  # where hands that help are pushed, at most


class Problem(NamedTuple):
    """One step's problem: u near `target` with H u + b in range and A u near y.

    Weighted priorities solve least |A u - y|^2 + |u - target|^2, strict ones level by level: `solve_weighted` and
    `solve_prioritized` of `dynamics/qp/priority_kernels.py`.
    """

    H: np.ndarray
    b: np.ndarray
    low: np.ndarray
    high: np.ndarray
    target: np.ndarray
    weights: np.ndarray
    A: np.ndarray
    y: np.ndarray
    level: np.ndarray
    u: np.ndarray


class Limb(NamedTuple):
    """A limb on which something is laid, by its freedoms.

    rows     (k,) numbers of the freedoms
    heavier  how many times as heavy the load makes the limb, at the most
    lift     (k,) m, the speed of the load's centre upwards at 1 rad/s of each freedom
    way      (k,) 1/m, the speed of each freedom that lifts the load at 1 m/s with the least energy
    """

    rows: np.ndarray
    heavier: float
    lift: np.ndarray
    way: np.ndarray


class Laden(NamedTuple):
    """A body with what rests on it.

    masses (J,), centers (J, 3), inertias (J, 3, 3)  as of a tree;  mass, c, dc  of all together
    laid  (J, 4, 4) what rests on each segment: see `StrengthPlayer`
    """

    masses: np.ndarray
    centers: np.ndarray
    inertias: np.ndarray
    mass: float
    c: np.ndarray
    dc: np.ndarray
    laid: np.ndarray

    @staticmethod
    def of(body: Body, laid: np.ndarray) -> Laden:
        """The body with what is laid on it."""
        tree = body.tree
        if not laid.any():
            return Laden(tree.masses, tree.centers, tree.inertias, tree.mass, body.c, body.dc, laid)
        loads, moments = laid[:, 3, 3], laid[:, :3, 3]
        masses, centers, inertias = tree.masses + loads, tree.centers.copy(), tree.inertias.copy()
        for i in np.flatnonzero(loads):
            m, c = tree.masses[i], tree.centers[i]
            centers[i] = (m * c + moments[i]) / masses[i]
            second = laid[i, :3, :3] + m * np.outer(c, c) - masses[i] * np.outer(centers[i], centers[i])
            inertias[i] += np.trace(second) * np.eye(3) - second
        mass = float(tree.mass + loads.sum())
        levers = np.einsum("jab,jb->ja", body.R, moments)
        c = tree.mass * body.c + (loads[:, None] * body.p + levers).sum(axis=0)
        dc = tree.mass * body.dc + (loads[:, None] * body.v + np.cross(body.om, levers)).sum(axis=0)
        return Laden(masses, centers, inertias, mass, c / mass, dc / mass, laid)

    def move(self, place: np.ndarray, ghost: Body, shift: np.ndarray) -> np.ndarray:
        """Where the centre of all is, if that of the body alone is at a place (3,) m, in the pose of a ghost."""
        loads = self.laid[:, 3, 3]
        at = loads[:, None] * (ghost.p + shift) + np.einsum("jab,jb->ja", ghost.R, self.laid[:, :3, 3])
        return np.asarray(((self.mass - loads.sum()) * place + at.sum(axis=0)) / self.mass)

    def find_limbs(self, body: Body, joints: np.ndarray, axes: np.ndarray) -> list[Limb]:
        """Return every limb on which something is laid.

        joints, axes  (n,), (n, 3) of the freedoms, in body axes; the trunk is no limb: it is too heavy to notice
        """
        from poise.dynamics.contact.contact_dynamics_kernels import compose, fill_inertia

        found: list[Limb] = []
        laden = np.flatnonzero(self.laid[:, 3, 3])
        if not len(laden):
            return found
        tree, trunk, (j, n) = body.tree, body.find_trunk(), (len(body.tree), len(joints))
        limbs = np.arange(j)
        for i in range(1, j):
            if not trunk[tree.parents[i]]:
                limbs[i] = limbs[tree.parents[i]]
        e, H = np.einsum("nab,nb->na", body.R[joints], axes), np.empty((2, n, n))
        mass, center, inertia = np.empty(j), np.empty((j, 3)), np.empty((j, 3, 3))
        models = ((tree.masses, tree.centers, tree.inertias), (self.masses, self.centers, self.inertias))
        M, W = np.empty((6, 6)), np.empty((6, n))
        for each, model in zip(H, models, strict=True):
            compose(tree.parents, *model, body.R, body.p, mass, center, inertia)
            fill_inertia(tree.parents, body.p, mass, center, inertia, joints, e, M, W, each)
        for limb in sorted({int(limbs[i]) for i in laden if not trunk[i]}):
            rows = np.flatnonzero(limbs[joints] == limb)
            own, both = H[:, rows][..., rows]
            heavier = float(np.abs(np.linalg.eigvals(np.linalg.solve(own, both))).max(initial=1.0))
            lift = np.zeros(len(rows))
            for i in laden[limbs[laden] == limb].tolist():
                lift += self._find_lift(body, i, joints[rows], e[rows])
            lift /= float(self.laid[limbs == limb, 3, 3].sum())
            alone = np.linalg.solve(both, lift)
            found.append(Limb(rows, heavier, lift, alone / max(float(lift @ alone), 1e-12)))
        return found

    def _find_lift(self, body: Body, segment: int, joints: np.ndarray, e: np.ndarray) -> np.ndarray:
        """(n,) kg m: mass on a segment times its speed upwards at 1 rad/s about axes e (n, 3), in the world."""
        laid, carriers = self.laid[segment], body.skeleton.chain(segment)
        levers = body.R[segment] @ laid[:3, 3] + laid[3, 3] * (body.p[segment] - body.p[joints])
        up = -body.gravity / max(float(np.linalg.norm(body.gravity)), 1e-9)
        return np.asarray(np.where(np.isin(joints, carriers), np.cross(e, levers) @ up, 0.0))


class Room(NamedTuple):
    """Arrays of one step's problem of as many bounds as unknowns: letters of
    `dynamics/contact/contact_dynamics_kernels.py` and `dynamics/qp/priority_kernels.py`.
    """

    at: np.ndarray
    ways: np.ndarray
    of: np.ndarray
    A: np.ndarray
    a0: np.ndarray
    H: np.ndarray
    b: np.ndarray
    low: np.ndarray
    high: np.ndarray
    wanted: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    y: np.ndarray


class Work:
    """Arrays that a step writes to.

    points ... most  (P, ...) where the world may push: see `find_soles` and `spread_pushes`; the first are soles'
    kinds   (m,) of goals: 0 stay, 1 the centre of mass, 2 what is led;  scales (m,) what rows were multiplied by
    off     (2,) by how much those of kinds 0 and 1 are missed, at most
    """

    def __init__(self, body: Body, n: int, effectors: int):
        joints, count = len(body.tree), 8 + PADS + MOST_TOUCHES
        self.goals = 14 + 3 * PADS + 3 * MOST_TOUCHES + 3 + 6 * effectors
        self.ahead, self.scout = Body(body.character), Body(body.character)
        self.angles, self.rates, self.axes, self.e = np.zeros(n), np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3))
        self.wanted, self.dw, self.vectors = np.zeros(n), np.zeros((joints, 3)), np.zeros((joints, 3))
        self.al, self.acc, self.still = np.zeros((joints, 3)), np.zeros((joints, 3)), np.zeros(6)
        self.level_turn = np.array([1.0, 0.0, 0.0, 0.0])
        self.level, self.kinds = np.zeros(self.goals, np.int64), np.zeros(self.goals, np.int64)
        self.off = np.zeros(2)
        self.residual, self.scales = np.zeros(self.goals), np.ones(self.goals)
        self.count, self.soles, self.pads, self.edges = 0, 0, 0, [(0, 0), (0, 0)]
        self.sides, self.gaps, self.weights = np.zeros(count, np.int64), np.zeros(count), np.ones(n)
        self.points, self.frames = np.zeros((count, 3)), np.zeros((count, 3, 3))
        self.friction, self.most, self.segments = np.zeros(count), np.zeros(count), np.zeros(count, np.int64)
        self.hull = np.zeros((count + 1, 2))
        self._n, self._rooms = n, dict[int, Room]()
        self._qps = dict[tuple[int, int], tuple[QpProblem, QpWorkspace, QpSolution]]()

    def get(self, size: int) -> Room:
        """Arrays of a problem of this size."""
        if size not in self._rooms:
            pushes = size - self._n
            self._rooms[size] = Room(
                at=np.zeros((pushes, 3)), ways=np.zeros((pushes, 3)), of=np.zeros(pushes, np.int64),
                A=np.zeros((6, size)), a0=np.zeros(6), H=np.zeros((size, size)), b=np.zeros(size), low=np.zeros(size),
                high=np.zeros(size), wanted=np.zeros(size), weights=np.ones(size), rows=np.zeros((self.goals, size)),
                y=np.zeros(self.goals),
            )  # fmt: skip
        return self._rooms[size]

    def qp(self, size: int, goals: int) -> tuple[QpProblem, QpWorkspace, QpSolution]:
        """Return the problem of so many unknowns and rows of goals, a workspace, and memory for its solution."""
        if (size, goals) not in self._qps:
            r = self.get(size)
            problem = make_problem(
                (r.H, r.b, r.low, r.high), r.wanted, r.weights, (r.rows[:goals], r.y[:goals], self.level[:goals]), 1.0
            )
            self._qps[size, goals] = problem, make_workspace(size, size, goals), make_solution(size, size, goals)
        return self._qps[size, goals]
