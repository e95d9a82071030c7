"""Forces of movable props and of other bodies on a body that follows a motion, and loads that rest on it.

A force that another body or a moving prop exerts is filtered and added to the dynamics as an external wrench. What
rests on the body is instead added to its segments' masses (`LoadedBody`): the solver then knows what it takes to
accelerate a load, and not only what it weighs.

A torque holds for a whole step. A limb that is accelerated together with its load swings if it loses the load in that
step; `find_limb_rate` slows it, and `lift_loads` keeps the load's vertical motion at the full rate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.drivers.body import Body
from poise.drivers.strength.records import Freedoms
from poise.dynamics.contact.records import InertiaModel
from poise.engines.engine import PropState
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.world.ground.floor import Floor

# s, time constant with which a force comes to count; shorter blows are over before muscles respond. Not swept.
FELT = 0.1
# s, time constant with which the weight of a load comes to count: contacts flicker. Not swept.
WEIGHED = 0.02
# Fraction of a force that is compensated; no unit. At 1, arms that held a box squeezed it ever harder, by 2 N/s.
COMPENSATED = 0.9
# Largest fraction of its velocity that a limb may lose in the step after it loses its load; no unit. From 2 on the limb
# swings ever farther.
LARGEST_SWING = 1.5


class Limb(NamedTuple):
    """A limb that carries a load, by its degrees of freedom.

    rows     (k,) indices of the degrees of freedom
    heavier  the largest factor by which the load increases the limb's inertia, over all directions
    lift     (k,) m, upward velocity of the load's centre at 1 rad/s of each degree of freedom
    way      (k,) 1/m, velocities that lift the load at 1 m/s with the least kinetic energy
    """

    rows: np.ndarray
    heavier: float
    lift: np.ndarray
    way: np.ndarray


class LoadedBody(NamedTuple):
    """Masses of a body with the loads that rest on it.

    masses (J,), centers (J, 3), inertias (J, 3, 3)  as of a tree
    mass, c, dc  mass, centre of mass and its velocity, of body and loads together
    laid         (J, 4, 4) the loads: see `ExternalLoads`
    """

    masses: np.ndarray
    centers: np.ndarray
    inertias: np.ndarray
    mass: float
    c: np.ndarray
    dc: np.ndarray
    laid: np.ndarray

    @staticmethod
    def of(body: Body, laid: np.ndarray) -> LoadedBody:
        """Return a body with its loads."""
        tree = body.tree
        if not laid.any():
            return LoadedBody(tree.masses, tree.centers, tree.inertias, tree.mass, body.c, body.dc, laid)
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
        return LoadedBody(masses, centers, inertias, mass, c / mass, dc / mass, laid)

    def add_loads(self, place: np.ndarray, motion: Body, shift: np.ndarray) -> np.ndarray:
        """Return the centre of mass with loads if the body's own is at a place (3,) m, in the motion's pose."""
        loads = self.laid[:, 3, 3]
        at = loads[:, None] * (motion.p + shift) + np.einsum("jab,jb->ja", motion.R, self.laid[:, :3, 3])
        return np.asarray(((self.mass - loads.sum()) * place + at.sum(axis=0)) / self.mass)

    def find_limbs(self, body: Body, joints: np.ndarray, axes: np.ndarray) -> list[Limb]:
        """Return every limb that carries a load.

        joints, axes  (n,), (n, 3) of the degrees of freedom, in segment axes; the trunk is too heavy to count as a limb
        """
        from poise.dynamics.contact.contact_dynamics_kernels import find_inertia

        found: list[Limb] = []
        laden = np.flatnonzero(self.laid[:, 3, 3])
        if not len(laden):
            return found
        tree, trunk, (j, n) = body.tree, body.find_trunk(), (len(body.tree), len(joints))
        limbs = np.arange(j)
        for i in range(1, j):
            if not trunk[tree.parents[i]]:
                limbs[i] = limbs[tree.parents[i]]
        e, models = np.einsum("nab,nb->na", body.R[joints], axes), []
        for masses, centers, inertias in (
            (tree.masses, tree.centers, tree.inertias), (self.masses, self.centers, self.inertias)
        ):  # fmt: skip
            model = InertiaModel(
                joints=j, freedoms=n, masses=masses, centers=centers, inertias=inertias, joint=joints, axis=e
            )
            find_inertia(body.block, model)
            models.append(model.joint_joint)
        for limb in sorted({int(limbs[i]) for i in laden if not trunk[i]}):
            rows = np.flatnonzero(limbs[joints] == limb)
            own, both = (H[np.ix_(rows, rows)] for H in models)
            heavier = float(np.abs(np.linalg.eigvals(np.linalg.solve(own, both))).max(initial=1.0))
            lift = np.zeros(len(rows))
            for i in laden[limbs[laden] == limb].tolist():
                lift += self._find_lift(body, i, joints[rows], e[rows])
            lift /= float(self.laid[limbs == limb, 3, 3].sum())
            alone = np.linalg.solve(both, lift)
            found.append(Limb(rows, heavier, lift, alone / max(float(lift @ alone), 1e-12)))
        return found

    def _find_lift(self, body: Body, segment: int, joints: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return (n,) kg m: mass on a segment times its upward velocity at 1 rad/s about world axes e (n, 3)."""
        laid, carriers = self.laid[segment], body.skeleton.chain(segment)
        levers = body.R[segment] @ laid[:3, 3] + laid[3, 3] * (body.p[segment] - body.p[joints])
        up = -body.gravity / max(float(np.linalg.norm(body.gravity)), 1e-9)
        return np.asarray(np.where(np.isin(joints, carriers), np.cross(e, levers) @ up, 0.0))


class ExternalLoads:
    """Forces of movable props and other bodies on a body, and loads that rest on it.

    laden    (J, 4, 4) sum of m [r 1]^T [r 1] over the loads that rest on each segment, kg and m in its axes
    felt     (J, 6) N m about each joint and N, world axes: `load`, forces of props that are pushed along, and
             `pressed`, all other forces
    body     masses of the body with its loads
    seen     velocity (6,) of each free prop in the last step, by name
    """

    def __init__(self, body: Body):
        j = len(body.tree)
        self._dt = body.dt
        self._felt_share, self._weighed_share = 1.0 - math.exp(-body.dt / FELT), 1.0 - math.exp(-body.dt / WEIGHED)
        self.load, self.pressed, self.felt = np.zeros((j, 6)), np.zeros((j, 6)), np.zeros((j, 6))
        self.laden = np.zeros((j, 4, 4))
        self.body = LoadedBody.of(body, self.laden)
        self.seen: dict[str, np.ndarray] = {}
        self._floor: Floor | None = None
        self._fixed: set[str] = set()  # what never moves
        self._free: dict[str, RigidInertia] = {}

    def update(self, body: Body) -> np.ndarray:
        """Read the contacts of the last step; return which of them (n,) are with what never moves and can support."""
        touches, part, soon = body.touches, self._felt_share, self._weighed_share
        self._find_props(body)
        firm = np.array([other in self._fixed for other in touches.others], bool)
        of_prop = np.array([other in self._free for other in touches.others], bool)
        pushed = ~firm & (of_prop | ~_find_twice(touches.points)) if not firm.all() else np.zeros(len(firm), bool)
        joints, points, forces = touches.joints[pushed], touches.points[pushed], touches.forces[pushed]
        others = [other for other, is_pushed in zip(touches.others, pushed.tolist(), strict=True) if is_pushed]
        masses, places, weights, rest = self._weigh(body, others, points, forces)
        self.laden *= 1.0 - soon
        for i, mass, place in zip(joints.tolist(), masses.tolist(), places, strict=True):
            turn = body.R[i].T
            under = _sink(turn @ (place - body.p[i]), body.tree.centers[i], turn @ body.gravity)
            own = np.append(under, 1.0)
            self.laden[i] += soon * mass * np.outer(own, own)
        self.load *= 1.0 - soon
        _add_forces(self.load, joints, points - body.p[joints], soon * weights)
        self.pressed *= 1.0 - part
        _add_forces(self.pressed, joints, points - body.p[joints], COMPENSATED * part * rest)
        self.add()
        self.body = LoadedBody.of(body, self.laden)
        return firm

    def add(self) -> None:
        """Write the sum of both kinds of forces."""
        np.add(self.load, self.pressed, out=self.felt)

    def _find_props(self, body: Body) -> None:
        """List fixed and free props, if the world has changed."""
        if self._floor is not body.floor:
            props, self._floor = body.floor.props, body.floor
            self._fixed = {"ground", *(prop.name for prop in props if prop.inertia is None)}
            self._free = {prop.name: prop.inertia for prop in props if prop.inertia is not None}
            self.seen = {name: seen for name, seen in self.seen.items() if name in self._free}

    def _weigh(
        self, body: Body, others: list[str], points: np.ndarray, forces: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return masses (n,) kg of props that rest on the body at each force (n, 3) N, and their positions (n, 3) m.

        Also (n, 3) N, what the force would be besides if the prop did not accelerate, and the remainder, which squeezes
        the prop and has no resultant.

            F = sum f + m (v - v_last) / dt       of all forces of a prop, along their sum           [weigh, eq 1]

        F is what a load weighs, less what others carry of it, whether the arms sink under it or not, and is without
        blows. Its downward part is the mass that rests on the body; its horizontal part, as of a crate that is pushed
        along, is a force. The contacts share F so that it acts below the prop's centre of mass, as near to their own
        shares as that allows: a load that tips from hand to forearm is then not felt at the wrong one.
        """
        masses, places = np.zeros(len(forces)), points.copy()
        weights, rest = np.zeros_like(forces), forces.copy()
        g = float(np.linalg.norm(body.gravity))
        for name, inertia in self._free.items():
            state = body.read_prop(name)
            center, speed = _find_center(state, inertia)
            last, now = self.seen.get(name), np.concatenate([speed, state.spin])
            self.seen[name] = now
            rows = [i for i, other in enumerate(others) if other == name]
            if last is None or not rows or not np.abs(forces[rows]).sum() > 1e-9:
                continue
            turn = rotation.to_matrix(state.turn)
            gone = (now - last) / self._dt
            gone[:3] *= inertia.mass
            gone[3:] = turn @ inertia.inertia @ turn.T @ gone[3:]
            at = forces[rows] + _find_correction(points[rows] - center, forces[rows], gone)
            total = at.sum(axis=0)
            masses[rows] = np.maximum(at @ body.gravity, 0.0) / max(g * g, 1e-9)
            masses[rows] *= min(1.0, inertia.mass / max(float(masses[rows].sum()), 1e-9))
            across = total - float(masses[rows].sum()) * body.gravity
            share = np.maximum(at @ across, 0.0) + 1e-9
            share /= share.sum()
            weights[rows] = np.outer(share, across)
            rest[rows] = 0.0  # if it were compensated, a squeeze would grow by itself
        return masses, places, weights, rest


def find_limb_rate(limb: Limb, rate: float, dt: float) -> float:
    """Return the rate (1/s) at which a loaded limb returns to the motion: lower if it would swing without its load.

    What takes a fraction s = rate dt of the velocity off the limb with its load takes x times as much off the limb
    alone, with H and H' the inertia without and with the load:

        s x <= LARGEST_SWING,    H' v = x H v                                                         [rates, eq 1]
    """
    return min(rate, LARGEST_SWING / (dt * limb.heavier))


def lift_loads(body: Body, motion: Body, freedoms: Freedoms, limbs: list[Limb], rate: float) -> None:
    """Add accelerations that move loads up and down at the rate of limbs without loads.

    A load slides across its support, which [rates, eq 1] is for; upwards its weight keeps it in place. At the lower
    rate s alone, 15 kg that had reached 0.6 m/s before they were felt sank by 19 cm at 30 steps per second. The load's
    upward velocity is j^T w, and the accelerations that change it with the least energy are added:

        x += (rate - s) H'^-1 j / (j^T H'^-1 j)  j^T (w* - w + alpha s (q* - q))                      [rates, eq 2]

    The pose returns as slowly as in eq 1: at the full rate a load was pushed off its support.
    """
    now, aim = body.state, motion.state
    for limb in limbs:
        slow, i = find_limb_rate(limb, rate, body.dt), freedoms.joint[limb.rows]
        off = rotation.log(rotation.multiply(rotation.conjugate(now.q[i]), aim.q[i]))
        speed = aim.w[i] - now.w[i] + freedoms.alpha * slow * off
        lifted = float(limb.lift @ np.einsum("na,na->n", freedoms.axis[limb.rows], speed))
        freedoms.target[limb.rows] += (rate - slow) * lifted * limb.way


def _find_center(state: PropState, inertia: RigidInertia) -> tuple[np.ndarray, np.ndarray]:
    """Return a prop's centre of mass (3,) m and its velocity (3,) m/s."""
    if not inertia.center.any():
        return state.position, state.velocity
    lever = rotation.rotate(state.turn, inertia.center)
    return state.position + lever, state.velocity + np.cross(state.spin, lever)


def _add_forces(wrenches: np.ndarray, joints: np.ndarray, levers: np.ndarray, forces: np.ndarray) -> None:
    """Add forces (n, 3) N at levers (n, 3) m from their joints (n,) to wrenches (J, 6)."""
    np.add.at(wrenches[:, :3], joints, np.cross(levers, forces))
    np.add.at(wrenches[:, 3:], joints, forces)


def _find_correction(levers: np.ndarray, forces: np.ndarray, gone: np.ndarray) -> np.ndarray:
    """Return (n, 3) N that remove a wrench `gone` (6,), N and N m about a centre, from forces (n, 3) N.

    The forces act at levers (n, 3) m from the centre. The correction is the smallest in proportion to their sizes.
    """
    A = np.zeros((6, len(levers), 3))
    A[:3] = np.eye(3)[:, None]
    x, y, z = levers.T
    A[3, :, 1], A[3, :, 2], A[4, :, 0], A[4, :, 2], A[5, :, 0], A[5, :, 1] = -z, y, z, -x, -y, x
    size = np.linalg.norm(forces, axis=1)
    W = size / size.sum()
    M = np.einsum("ink,n,jnk->ij", A, W, A)
    M[np.diag_indices(6)] += 1e-4
    return np.asarray(W[:, None] * np.einsum("ink,i->nk", A, np.linalg.solve(M, gone)))


def _sink(point: np.ndarray, along: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Return the place above or below a point (3,) m that is nearest to the line from the origin along a vector (3,).

    A load on a forearm does not turn with it about its length.
    """
    d = along / max(float(np.linalg.norm(along)), 1e-9)
    across, off = down - (down @ d) * d, point - (point @ d) * d
    size = float(across @ across)
    return point - (off @ across) / size * down if size > 0.01 * float(down @ down) else point


def _find_twice(points: np.ndarray) -> np.ndarray:
    """Return which points (n, 3) occur more than once: contacts of a body with itself do, from both sides."""
    same = np.all(points[:, None] == points[None], axis=-1)
    return np.asarray(same.sum(axis=1) > 1)
