"""Segments of prescribed joints in Bullet: inertia on the body that carries them, or bodies of their own.

Inertia: links on a simulated body, whose masses are rewritten every step.

See `locked_kernels.py` for how a rigid piece becomes four links.

Bodies of their own, for segments of GIVEN joints that may touch something, or that hold simulated limbs.

Each is fixed by a constraint to the simulated body that carries it, or to the world. A constraint's frame is rewritten
before every step to where the segment is at its end:

    v_segment - v_carrier = (where it is to be - where it is) / dt                                     [held, eq 1]

which is what Bullet's fixed constraint asks for when it takes back all of an error in a step. Its solver finds what
that puts on the carrier together with all contacts, so a hand strikes, pushes and carries with the speed and the
inertia that it has, and physical and given joints may alternate. What a given motion does to what carries it is in
Bullet's step then, to the solver's precision, and nobody has to apply it. In the first two steps what turns fast is
followed too late, by half a step of its centripetal acceleration.

Where nothing given can touch and nothing hangs from it, the links do the same without a solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.engines.bullet.world import HERE, BulletWorld, principal, xyzw
from poise.engines.engine import BodyState
from poise.engines.scene import GIVEN, SceneBody, find_moved
from poise.errors import InputError
from poise.spatial import rotation

if TYPE_CHECKING:
    from poise.dynamics.body_kernels import Body
    from poise.engines.bullet.model import BulletBody
# Directions of the four links from the joint of their carrier.
CORNERS = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]) / np.sqrt(3.0)
_SLACK = 1.001  # of what is reached: a mass at the very edge is none
_LEAST = 0.01  # m, that something reaches at least


def find_carriers(body: SceneBody) -> dict[int, float]:
    """How far (m) the corners have to be of each simulated body that carries something given, where that is locked."""
    if not body.is_locked:
        return {}
    reach = np.zeros(len(body.tree))
    for i in range(len(body.tree) - 1, 0, -1):
        if body.joints[i].kind == GIVEN:
            tree, parent = body.tree, int(body.tree.parents[i])
            own = max(float(np.linalg.norm(tree.centers[i])), reach[i])
            reach[parent] = max(reach[parent], own + float(np.linalg.norm(tree.offsets[i])))
    carries = {int(body.tree.parents[i]) for i, joint in enumerate(body.joints) if i and joint.kind == GIVEN}
    # the largest ball inside a tetrahedron reaches a third as far as its corners
    return {
        i: 3.0 * _SLACK * max(float(reach[i]), _LEAST) for i in sorted(carries) if body.joints[i].kind != GIVEN
    }  # fmt: skip


def list_turns() -> list[np.ndarray]:
    """Axes of the four links, wxyz."""
    return [rotation.identity(), *(rotation.from_axis_angle(axis, 0.25 * np.pi) for axis in np.eye(3))]


class LockedInertia:
    """The links of one body that stand for what is given.

    links   by joint of their carrier: Bullet's id of the multibody, the first link's number, and how far corners are
    """

    def __init__(self, body: SceneBody):
        self._tree, self._kind = body.tree, np.array([joint.kind for joint in body.joints])
        self.links: dict[int, tuple[int, int, float]] = {}
        self._sums = np.zeros((len(body.tree), 13))
        self._sent: dict[int, np.ndarray] = {}
        self._masses, self._moments = np.zeros(4), np.zeros((4, 3))

    def send(self, bullet: Any, client: int, q: np.ndarray) -> None:
        """Give Bullet's links the inertia of the prescribed segments at joint rotations q (J, 4)."""
        if not self.links:
            return
        from poise.engines.bullet.locked_kernels import add_up, spread

        tree = self._tree
        add_up(self._kind, tree.parents, tree.offsets, tree.masses, tree.centers, tree.inertias, q, self._sums)
        for joint, (uid, first, reach) in self.links.items():
            row = self._sums[joint]
            if joint in self._sent and np.array_equal(self._sent[joint], row):
                continue
            self._sent[joint] = row.copy()
            spread(row, reach, self._masses, self._moments)
            pairs = zip(self._masses.tolist(), self._moments.tolist(), strict=True)
            for k, (mass, moments) in enumerate(pairs):
                bullet.changeDynamics(
                    uid, first + k, mass=mass, localInertiaDiagonal=moments, physicsClientId=client
                )  # fmt: skip


WORLD = -1
_STRONGEST = 1e9  # N, N m: what holds them
# m, rad: by so much what is given may differ from where it was to be; beyond it was put somewhere else.
_JUMP = 0.005
_MOST_CARRIED = 1000.0  # times its own mass, that a root may carry of what is GIVEN


def is_moved(body: SceneBody) -> bool:
    """Whether a body's GIVEN segments are bodies of their own: what they move can touch, or is simulated."""
    if not body.is_locked:
        return False
    moved = set(find_moved(body).tolist())
    touching = {joint for joint, _ in body.shapes}
    return bool(moved & touching) or any(_hangs(body, i) for i in range(len(body.tree)))


def _hangs(body: SceneBody, i: int) -> bool:
    """Whether a joint is simulated, and on something given that a simulated body carries."""
    if i == 0 or body.joints[i].kind == GIVEN:
        return False
    k = int(body.tree.parents[i])
    return body.joints[k].kind == GIVEN and find_carrier(body, k) != WORLD


def find_carrier(body: SceneBody, i: int) -> int:
    """The simulated body that a GIVEN joint's moves with; WORLD for none."""
    while i >= 0 and body.joints[i].kind == GIVEN:
        i = int(body.tree.parents[i])
    return i


@dataclass(frozen=True, eq=False)
class _Hold:
    """One segment: Bullet's ids of its body and of its constraint, its joint and that of its carrier."""

    uid: int
    pin: int
    joint: int
    carrier: int


class PrescribedSegments:
    """The GIVEN segments of one body that are bodies of their own, and where they are to be.

    aim  (n, 7) their places and turns in what carries them, at the end of the step before; NaN at first
    """

    def __init__(self, world: BulletWorld, index: int, held: BulletBody, joints: list[int]):
        self._world, self._held, body = world, held, held.body
        _check_root(body, joints)
        frames = [principal(own)[0] for own in held.own]
        for i in joints:
            if find_carrier(body, i) == WORLD:
                frames[i] = rotation.identity()  # as heavy about any axis
        self._axes, self._centers = np.array(frames), np.array([own.center for own in held.own])
        self._inside = np.where(held.kind == GIVEN, body.tree.parents, -1)
        links = world.find_segments()
        self._holds = [self._fix(links, index, i) for i in joints]
        self._joints = np.array(joints, int)
        self._carriers = np.array([hold.carrier for hold in self._holds], int)
        self.aim = np.full((len(joints), 7), np.nan)
        self._way: tuple[BodyState, np.ndarray, np.ndarray, float] | None = None

    def _fix(self, links: dict[tuple[int, int], tuple[int, int]], index: int, i: int) -> _Hold:
        bullet, client = self._world.bullet, self._world.client
        uid, carrier = links[index, i][0], find_carrier(self._held.body, i)
        # Held by its centre of mass: by any other point a push on it would turn it, and the solver takes for ever.
        to = (-1, -1) if carrier == WORLD else links[index, carrier]
        pin = bullet.createConstraint(
            uid, -1, *to, bullet.JOINT_FIXED, [0, 0, 0], [0, 0, 0], [0, 0, 0], HERE, HERE, physicsClientId=client
        )
        return _Hold(uid, int(pin), i, carrier)

    def move(self, body: Body, dt: float) -> None:
        """Move them through the next step, `go` by `go`, as is prescribed at its midpoint."""
        state = BodyState(body.root.copy(), body.q.copy(), body.v.copy(), body.w.copy())
        dw, a = body.dw.copy(), body.a.copy()
        places, turns = self._place(state, dw, a, -0.5 * dt)
        off = np.abs(places - self.aim[:, :3]).max(initial=0.0) + _apart(turns, self.aim[:, 3:])
        if not off < _JUMP:  # NaN is one
            self._jump(state, dw, a, dt)
        self.aim[:, :3], self.aim[:, 3:] = self._place(state, dw, a, 0.5 * dt)
        self._way = state, dw, a, dt

    def go(self, until: float) -> None:
        """Move them, in the substep that comes next, to where they are so many seconds into the step."""
        if self._way is not None:
            state, dw, a, dt = self._way
            self._send(*self._place(state, dw, a, until - 0.5 * dt))

    def spread(self, force: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Spread a wrench at the root over it and what it carries, as on one rigid body; what is left for the root.

            f_i = m_i (F / M + alpha x (c_i - c)),   n_i = I_i alpha,   alpha = I^-1 (N + (p - c) x F)   [spread, eq 1]

        All of it on the root would be the same, if the solver had all the time: a moment that is meant for a trunk of
        35 kg spins a pelvis of 8 kg, and feet on the ground feel that before constraints have taken it back.
        """
        held = self._held
        rows = np.flatnonzero(self._carriers == 0)
        at = np.array([0, *self._joints[rows]])
        R, mass = held.R[at], np.array([held.own[i].mass for i in at])
        if not mass[1:].any() or not (np.any(force) or np.any(torque)):
            return force, torque
        places = held.p[at] + np.einsum("nab,nb->na", R, self._centers[at])
        middle = mass @ places / mass.sum()
        arms = places - middle
        own = np.einsum("nab,nbc,ndc->nad", R, [held.own[i].inertia for i in at], R)
        whole = (own + mass[:, None, None] * (np.sum(arms**2, axis=1)[:, None, None] * np.eye(3)
                                              - arms[:, :, None] * arms[:, None])).sum(axis=0)  # fmt: skip
        alpha = np.linalg.solve(whole, torque + np.cross(held.p[0] - middle, force))
        forces = mass[:, None] * (force / mass.sum() + np.cross(alpha, arms))
        torques = own @ alpha
        bullet, options = self._world.bullet, {"physicsClientId": self._world.client}
        for k, row in enumerate(rows, 1):
            uid = self._holds[row].uid
            bullet.applyExternalForce(uid, -1, forces[k], places[k], bullet.WORLD_FRAME, **options)
            bullet.applyExternalTorque(uid, -1, torques[k], bullet.WORLD_FRAME, **options)
        moments = torques[1:] + np.cross(places[1:] - held.p[0], forces[1:])
        return force - forces[1:].sum(axis=0), torque - moments.sum(axis=0)

    def _place(self, state: BodyState, dw: np.ndarray, a: np.ndarray, ahead: float) -> tuple[np.ndarray, np.ndarray]:
        """Places (n, 3) m and turns (n, 4) in what carries them, some time (s) from mid-step."""
        from poise.dynamics.body_kernels import pose_bodies

        tree, kind = self._held.tree, self._held.kind
        q = np.where((kind == GIVEN)[:, None], _turn_on(state.q, state.w, dw, ahead), rotation.identity())
        R, p = np.empty((len(tree), 3, 3)), np.empty((len(tree), 3))
        pose_bodies(self._inside, tree.offsets, np.zeros(3), q, R, p)
        places, turns = p[self._joints], rotation.from_matrix(R[self._joints])
        if kind[0] == GIVEN:
            root = state.root + ahead * (state.v + 0.5 * ahead * a)
            places = places + np.where((self._carriers == WORLD)[:, None], root, 0.0)
        return places, turns

    def _send(self, places: np.ndarray, turns: np.ndarray) -> None:
        bullet, client = self._world.bullet, self._world.client
        own, centers = self._axes[self._joints], self._centers[self._joints]
        outer = rotation.multiply(turns, own)  # axes of the segment's inertia, in its carrier
        at = places + rotation.rotate(turns, centers)
        held = self._carriers != WORLD
        c = self._carriers[held]
        back = rotation.conjugate(self._axes[c])  # to the frame of its carrier's inertia, which is Bullet's
        at[held] = rotation.rotate(back, at[held] - self._centers[c])
        outer[held] = rotation.multiply(back, outer[held])
        for hold, pivot, turn in zip(self._holds, at.tolist(), outer, strict=True):
            bullet.changeConstraint(
                hold.pin, jointChildPivot=pivot, jointChildFrameOrientation=xyzw(turn), maxForce=_STRONGEST,
                physicsClientId=client,
            )  # fmt: skip

    def _jump(self, state: BodyState, dw: np.ndarray, a: np.ndarray, dt: float) -> None:
        """Put all where they are as the step begins, at the speed that they have there."""
        from poise.dynamics.body_kernels import move_bodies, pose_bodies

        bullet, client, held, tree = self._world.bullet, self._world.client, self._held, self._held.tree
        given = held.kind == GIVEN
        q = np.where(given[:, None], _turn_on(state.q, state.w, dw, -0.5 * dt), held.state.q)
        w = np.where(given[:, None], state.w - dt * dw, held.state.w)
        root, v = held.state.root, held.state.v
        if given[0]:
            root, v = state.root - 0.5 * dt * (state.v - 0.25 * dt * a), state.v - dt * a
        R, p, om, u = np.empty((len(tree), 3, 3)), *(np.empty((len(tree), 3)) for _ in range(3))
        pose_bodies(tree.parents, tree.offsets, root, q, R, p)
        move_bodies(tree.parents, R, p, v, w, om, u)
        for hold in self._holds:
            i = hold.joint
            lever = R[i] @ self._centers[i]
            turn = rotation.multiply(rotation.from_matrix(R[i]), self._axes[i])
            bullet.resetBasePositionAndOrientation(hold.uid, p[i] + lever, xyzw(turn), physicsClientId=client)
            bullet.resetBaseVelocity(hold.uid, u[i] + np.cross(om[i], lever), om[i], physicsClientId=client)


def _check_root(body: SceneBody, joints: list[int]) -> None:
    """Raise InputError where what a root of no mass carries is GIVEN (`joints`): no solver holds that together."""
    tree = body.tree
    given = sum(float(tree.masses[i]) for i in joints if find_carrier(body, i) == 0)
    if given > _MOST_CARRIED * tree.masses[0]:
        raise InputError(
            f"the root of '{body.name}', {tree.names[0]}, has no mass to speak of and floats, and what it carries is "
            "animated: Bullet cannot hold that. Leave the hips to physics, give the root a motion, or take the engine "
            "'mujoco'."
        )


def _turn_on(q: np.ndarray, w: np.ndarray, dw: np.ndarray, ahead: float) -> np.ndarray:
    """Joint rotations some time (s) later, which may be negative."""
    return rotation.multiply(q, rotation.exp(ahead * (w + 0.5 * ahead * dw)))


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    """rad, at most, between turns (n, 4)."""
    cosine = np.abs(np.einsum("na,na->n", a, b)).min(initial=1.0)
    return 2.0 * float(np.sqrt(max(0.0, 1.0 - cosine * cosine))) if cosine == cosine else np.nan
