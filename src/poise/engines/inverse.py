"""The strength paper's simulator: hard contacts at any step.   [strength, section 3]

What acts on a body comes from inverse dynamics (`Strength`, which knows what muscles can do), and what the ground and
other things do to it from here: an *impact* takes the speed at which things meet out of all joints at once, through the
whole articulated body; a *contact* then holds as long as what is asked of it is a push within its friction, and parts
or slides otherwise. A foot whose centre of pressure comes to its edge turns about that edge, or about a corner. All
of that is one problem with one answer (`cone_kernels.py`), with no spring in it: it is solved at the paper's 30 steps a
second as well as at 200.

Shapes, masses and equations of motion are MuJoCo's, of the same model as `mujoco.py` makes; what that engine does with
soft contacts is done here by impulses. A step is cut into shorter ones where bodies are fast.

Points that hold are also brought back to where they began to, by a fifth of what they are off a step: feet do not
creep.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from poise.engines.engine import Abilities, Engine, Simulation, SimulationLaws, Touches
from poise.engines.hits import Hits
from poise.engines.mujoco import MujocoSimulation
from poise.engines.scene import Scene
from poise.errors import InputError
from poise.spatial.law import Block, Law

_SHORTEST = 1.0 / 1000.0  # s, of a part of a step in which something is fast
_FAST = 0.05  # rad, by which a joint turns in a part of a step
_AHEAD = 0.05  # m: contacts are seen from here on
_BACK, _PUSHED = 0.2, 0.5  # a step, and m/s at most: how depth and creep are taken back
_SLOP = 1e-4  # m, in which nothing is taken back
_STUCK = 0.99  # of friction: more of it slides
_ALIKE, _SLID = math.cos(0.1), 0.02  # of the turn (0.1 rad), m: from when on where a contact began is forgotten
_HEAVY = 20.0  # times the mass of all: the weight of a contact that gives way, in the search for its impulse
_EXACT = 1e-6  # of the mass of all times 1 m/s, to which impulses are found


class InverseEngine(Engine):
    """Hard contacts, at steps of up to 40 ms."""

    name = "inverse"
    abilities = Abilities(couplings=("exact",), pins=False, carriers=False, moving=False, axial=True, nudges=True)

    def build(self, scene: Scene) -> Simulation:
        """A model of the scene with its state."""
        for body in scene.bodies:
            if body.carrier is not None:
                raise InputError(
                    f"body '{body.name}' rides on '{body.carrier}', which engine 'inverse' cannot do. Use mujoco."
                )
        return InverseSimulation(scene)


class InverseSimulation(MujocoSimulation):
    """One scene. Contacts of what is kinematic take it for still."""

    def __init__(self, scene: Scene):
        super().__init__(scene)
        self._care, model = None, self.model
        model.geom_margin[:] = np.maximum(model.geom_margin, 0.5 * _AHEAD)
        model.body_margin[:] = np.maximum(model.body_margin, 0.5 * _AHEAD)
        self._mass, nv = max(float(model.body_mass.sum()), 1e-6), model.nv
        self._M, self._jacobian = np.zeros((nv, nv)), np.zeros((3, nv))
        self._felt = _Felt.none()
        self._began: dict[tuple[int, int], np.ndarray] = {}
        self._last = np.zeros((0, 2), int), np.zeros((0, 3)), 1.0
        self.rounds = 0  # that the last step took

    def step(self) -> None:
        """See `Simulation.step`."""
        data, parts = self.data, self._count_parts()
        dt = self.scene.dt / parts
        total: _Felt | None = None
        self.rounds = 0
        for _ in range(parts):
            felt = self._step(dt)
            total = felt if total is None else total.after(felt)
        self._felt = total.scaled(1.0 / self.scene.dt) if total is not None else _Felt.none()
        data.qfrc_applied[:] = 0.0
        data.xfrc_applied[:] = 0.0

    def _count_parts(self) -> int:
        """In how many parts a step is made."""
        dt, speed = self.scene.dt, float(np.abs(self.data.qvel).max(initial=0.0))
        if not math.isfinite(speed):
            return 1
        return min(max(1, math.ceil(speed * dt / _FAST)), max(1, math.ceil(dt / _SHORTEST)))

    def _step(self, dt: float) -> _Felt:
        from poise.dynamics.cone_kernels import solve_contacts

        mujoco, model, data, M = self._mujoco, self.model, self.data, self._M
        model.opt.timestep = dt
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_fwdAcceleration(model, data)
        mujoco.mj_fullM(model, data, M)
        M[np.diag_indices(len(M))] += dt * model.dof_damping
        free = data.qvel + dt * np.linalg.solve(M, data.qfrc_smooth)
        felt, J = self._find_felt(free, dt)
        count, u = len(felt.friction), np.empty(model.nv)
        now = self._find_places(felt)
        slip = self._find_slips(felt, now)
        t = _find_room(felt, slip, dt)
        self._warm(felt, dt)
        ends, room = self._find_ends(dt)
        J, t = np.concatenate([J, ends]), np.concatenate([t, room])
        impulse, friction = (
            np.concatenate([a, np.zeros((len(room), *a.shape[1:]))]) for a in (felt.impulse, felt.friction)
        )
        rounds = solve_contacts(M, free, J, t, friction, _HEAVY * self._mass, impulse, u, _EXACT * self._mass)
        felt.impulse[:] = impulse[:count]
        self.rounds += max(rounds, 0)
        data.qvel[:] = u if rounds >= 0 else free
        mujoco.mj_integratePos(model, data.qpos, data.qvel, dt)
        data.time += dt
        self._remember(felt, now, slip)
        self._last = felt.geoms, felt.impulse.copy(), dt
        return felt.where(np.flatnonzero(felt.impulse[:, 0] > 0.0)) if count else felt

    def _warm(self, felt: _Felt, dt: float) -> None:
        """Begin with the impulses of the last part of a step, where the same things touch."""
        geoms, impulse, span = self._last
        if geoms.shape == felt.geoms.shape and np.array_equal(geoms, felt.geoms):
            felt.impulse[:] = impulse * (dt / span)

    def _find_felt(self, free: np.ndarray, dt: float) -> tuple[_Felt, np.ndarray]:
        """Contacts that are there, or would be by the end of the step, and their rows (3 P, N)."""
        contact = self.data.contact
        if not self.data.ncon:
            return _Felt.none(), np.zeros((0, self.model.nv))
        fits = np.flatnonzero(contact.exclude == 0)
        felt = _Felt(
            contact.geom[fits].reshape(-1, 2).copy(), contact.pos[fits].reshape(-1, 3).copy(),
            contact.frame[fits].reshape(-1, 3, 3).copy(), contact.dist[fits].copy(),
            contact.friction[fits].reshape(len(fits), -1)[:, 0].copy(), np.zeros((len(fits), 3)),
        )  # fmt: skip
        J = self._find_jacobian(felt)
        closing = J[0::3] @ np.minimum(free, np.inf)
        speed = np.maximum(-closing, -(J[0::3] @ self.data.qvel))
        rows = np.flatnonzero(felt.gap - dt * speed < 2e-3)
        return felt.where(rows), J.reshape(-1, 3, J.shape[1])[rows].reshape(-1, J.shape[1])

    def _find_jacobian(self, felt: _Felt) -> np.ndarray:
        """(3 P, N), of each contact's velocity, of its second thing beside the first, in the contact's axes."""
        mujoco, model, data, row = self._mujoco, self.model, self.data, self._jacobian
        J = np.zeros((3 * len(felt.gap), model.nv))
        bodies = model.geom_bodyid[felt.geoms]
        for i in range(len(felt.gap)):
            for side, sign in ((0, -1.0), (1, 1.0)):
                if model.body_weldid[bodies[i, side]]:
                    mujoco.mj_jac(model, data, row, None, felt.point[i], bodies[i, side])
                    J[3 * i : 3 * i + 3] += sign * (felt.frame[i] @ row)
        return J

    def _find_ends(self, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """Rows and room of hinges with ranges of their own that are near an end, as of contacts without friction."""
        model, data, rows, room = self.model, self.data, [], []
        for k in np.flatnonzero(model.jnt_limited & (model.jnt_type == self._mujoco.mjtJoint.mjJNT_HINGE)):
            angle, speed = data.qpos[model.jnt_qposadr[k]], abs(data.qvel[model.jnt_dofadr[k]])
            for sign, end in ((1.0, model.jnt_range[k, 0]), (-1.0, model.jnt_range[k, 1])):
                gap = sign * (angle - end)
                if gap < _FAST + 2.0 * dt * speed:
                    row = np.zeros((3, model.nv))
                    row[0, model.jnt_dofadr[k]] = sign
                    rows.append(row)
                    room.append([gap / dt if gap > 0.0 else max(_BACK * gap / dt, -_PUSHED), 0.0, 0.0])
        if not rows:
            return np.zeros((0, model.nv)), np.zeros((0, 3))
        return np.concatenate(rows), np.array(room)

    def _find_places(self, felt: _Felt) -> np.ndarray:
        """(P, 2, 4, 3), where the bodies of both things are: axes (3, 3), then the place (3,)."""
        bodies = self.model.geom_bodyid[felt.geoms].reshape(-1, 2)
        places = np.empty((len(bodies), 2, 4, 3))
        places[:, :, :3] = self.data.xmat[bodies].reshape(-1, 2, 3, 3)
        places[:, :, 3] = self.data.xpos[bodies]
        return places

    def _find_slips(self, felt: _Felt, now: np.ndarray) -> np.ndarray:
        """(P, 3) m, how far second things have moved along the first since they touched, where they touch now."""
        began = now.copy()
        for i, pair in enumerate(map(tuple, felt.geoms.tolist())):
            if pair in self._began:
                began[i] = self._began[pair]
        local = np.einsum("ksba,ksb->ksa", now[:, :, :3], felt.point[:, None] - now[:, :, 3])
        then = began[:, :, 3] + np.einsum("ksab,ksb->ksa", began[:, :, :3], local)
        # both are at the contact now; they were apart by `then[1] - then[0]`, seen from the first
        apart = np.einsum("kba,kb->ka", began[:, 0, :3], then[:, 1] - then[:, 0])
        return -np.einsum("kab,kb->ka", now[:, 0, :3], apart)

    def _remember(self, felt: _Felt, now: np.ndarray, slip: np.ndarray) -> None:
        """Where contacts that hold began to."""
        kept: dict[tuple[int, int], np.ndarray] = {}
        push, drag = felt.impulse[:, 0], np.sqrt(felt.impulse[:, 1] ** 2 + felt.impulse[:, 2] ** 2)
        stays = (drag <= _STUCK * felt.friction * push) & (np.sqrt(np.sum(slip * slip, axis=1)) < _SLID)
        for i, pair in enumerate(map(tuple, felt.geoms.tolist())):
            if push[i] <= 0.0 or pair in kept:
                continue
            began = self._began.get(pair)
            kept[pair] = now[i]
            if began is not None and stays[i]:
                cosines = 0.5 * (np.sum(began[:, :3] * now[i, :, :3], axis=(1, 2)) - 1.0)
                if cosines.min() > _ALIKE:
                    kept[pair] = began
        self._began = kept

    def find_contacts(self, body: int) -> Touches:
        """See `Simulation.find_contacts`."""
        if self._touched is not None and self._is_restored:
            return self._touched[1][body]
        layout, felt = self.layouts[body], self._felt
        joint_of = np.full(self.model.nbody, -1)
        joint_of[layout.bodies] = np.arange(len(layout.bodies))
        pair = self.model.geom_bodyid[felt.geoms].reshape(-1, 2)
        force = np.einsum("ka,kab->kb", felt.impulse, felt.frame)
        joints, points, forces, others = [], [], [], []
        for mine, other, sign in ((1, 0, 1.0), (0, 1, -1.0)):
            found = np.flatnonzero(joint_of[pair[:, mine]] >= 0)
            joints.append(joint_of[pair[found, mine]])
            points.append(felt.point[found])
            forces.append(sign * force[found])
            others += [self._name(int(b)) for b in pair[found, other]]
        return Touches(np.concatenate(joints), np.concatenate(points), np.concatenate(forces), tuple(others))

    def press(self, body: int, groups: np.ndarray, force: np.ndarray, pressure: np.ndarray) -> bool:
        """See `Simulation.press`: whoever asks adds up."""
        return False

    def feel(self, hits: Hits) -> tuple[Law, Block] | None:
        """See `Simulation.feel`: it is asked."""
        return None

    def laws(self, bodies: list[Block]) -> SimulationLaws | None:
        """See `Simulation.laws`: all is done from Python."""
        return None

    def is_aloft(self, body: int) -> bool:
        """See `Simulation.is_aloft`."""
        return False

    def save(self) -> Any:
        """See `Simulation.save`."""
        began = [{"pair": list(pair), "place": place.copy()} for pair, place in self._began.items()]
        last = [self._last[0].copy(), self._last[1].copy(), self._last[2]]
        return {**super().save(), "began": began, "last": last}

    def restore(self, saved: Any) -> None:
        """See `Simulation.restore`."""
        super().restore(saved)
        self._began = {tuple(each["pair"]): np.array(each["place"]) for each in saved["began"]}
        self._last = np.array(saved["last"][0], int).reshape(-1, 2), np.array(saved["last"][1]), float(saved["last"][2])


def _find_room(felt: _Felt, slip: np.ndarray, dt: float) -> np.ndarray:
    """(P, 3) m/s, what contacts may still close, or are to be brought back by."""
    t = np.zeros((len(felt.gap), 3))
    deep = np.minimum(_BACK * np.maximum(-felt.gap - _SLOP, 0.0) / dt, _PUSHED)
    t[:, 0] = np.maximum(felt.gap, 0.0) / dt - deep
    off = _BACK / dt * np.einsum("kab,kb->ka", felt.frame[:, 1:], slip)
    size = np.maximum(np.sqrt(np.sum(off * off, axis=1)), 1e-12)
    t[:, 1:] = off * np.minimum(1.0, _PUSHED / size)[:, None]
    return t


class _Felt:
    """Contacts of a step; P of them.

    geoms (P, 2);  point (P, 3) m;  frame (P, 3, 3), the normal first, from the first thing to the second
    gap (P,) m;  friction (P,);  impulse (P, 3) N s on the second thing, in the frame's axes
    """

    def __init__(
        self, geoms: np.ndarray, point: np.ndarray, frame: np.ndarray, gap: np.ndarray, friction: np.ndarray,
        impulse: np.ndarray,
    ):  # fmt: skip
        self.geoms, self.point, self.frame = geoms, point, frame
        self.gap, self.friction, self.impulse = gap, friction, impulse

    @staticmethod
    def none() -> _Felt:
        """Nothing touches."""
        return _Felt(
            np.zeros((0, 2), int), np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros(0), np.zeros(0), np.zeros((0, 3))
        )

    def where(self, rows: np.ndarray) -> _Felt:
        """Some of them."""
        return _Felt(
            self.geoms[rows], self.point[rows], self.frame[rows], self.gap[rows], self.friction[rows],
            self.impulse[rows],
        )  # fmt: skip

    def after(self, later: _Felt) -> _Felt:
        """All of these and of a later part of the step."""
        both = [
            np.concatenate([getattr(self, name), getattr(later, name)])
            for name in ("geoms", "point", "frame", "gap", "friction", "impulse")
        ]
        return _Felt(both[0], both[1], both[2], both[3], both[4], both[5])

    def scaled(self, by: float) -> _Felt:
        """With impulses times a number."""
        return _Felt(self.geoms, self.point, self.frame, self.gap, self.friction, by * self.impulse)
