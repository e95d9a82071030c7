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
_TURNED, _SLID = 0.1, 0.02  # rad, m: from when on where a contact began is forgotten
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
        felt = self._find_felt(free, dt)
        count, u = len(felt.friction), np.empty(model.nv)
        J, t = self._find_rows(felt, dt)
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
        self._remember(felt)
        self._last = felt.geoms, felt.impulse.copy(), dt
        return felt.where(np.flatnonzero(felt.impulse[:, 0] > 0.0)) if count else felt

    def _warm(self, felt: _Felt, dt: float) -> None:
        """Begin with the impulses of the last part of a step, where the same things touch."""
        geoms, impulse, span = self._last
        if geoms.shape == felt.geoms.shape and np.array_equal(geoms, felt.geoms):
            felt.impulse[:] = impulse * (dt / span)

    def _find_felt(self, free: np.ndarray, dt: float) -> _Felt:
        """Contacts that are there, or would be by the end of the step."""
        contact = self.data.contact
        if not self.data.ncon:
            return _Felt.none()
        fits = np.flatnonzero(contact.exclude == 0)
        felt = _Felt(
            contact.geom[fits].reshape(-1, 2).copy(), contact.pos[fits].reshape(-1, 3).copy(),
            contact.frame[fits].reshape(-1, 3, 3).copy(), contact.dist[fits].copy(),
            contact.friction[fits].reshape(len(fits), -1)[:, 0].copy(), np.zeros((len(fits), 3)),
        )  # fmt: skip
        J = self._find_jacobian(felt)
        closing = J[0::3] @ np.minimum(free, np.inf)
        speed = np.maximum(-closing, -(J[0::3] @ self.data.qvel))
        return felt.where(np.flatnonzero(felt.gap - dt * speed < 2e-3))

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

    def _find_rows(self, felt: _Felt, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """J, and what contacts may still close or are to be brought back by, m/s."""
        J, t = self._find_jacobian(felt), np.zeros((len(felt.gap), 3))
        deep = np.minimum(_BACK * np.maximum(-felt.gap - _SLOP, 0.0) / dt, _PUSHED)
        t[:, 0] = np.maximum(felt.gap, 0.0) / dt - deep
        for i, (a, b) in enumerate(felt.geoms.tolist()):
            began = self._began.get((a, b))
            if began is not None:
                off = _BACK / dt * felt.frame[i, 1:] @ self._find_slip(felt, i, began)
                t[i, 1:] = off * min(1.0, _PUSHED / max(float(np.linalg.norm(off)), 1e-12))
        return J, t

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

    def _place(self, geom: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the body of a shape is: place (3,) and axes (3, 3)."""
        b = self.model.geom_bodyid[geom]
        return self.data.xpos[b], self.data.xmat[b].reshape(3, 3)

    def _find_slip(self, felt: _Felt, i: int, began: np.ndarray) -> np.ndarray:
        """(3,) m, how far the second thing has moved along the first since they touched, where they touch now."""
        places = [self._place(int(geom)) for geom in felt.geoms[i]]
        local = [R.T @ (felt.point[i] - p) for p, R in places]
        then = [began[k, 3] + began[k, :3] @ local[k] for k in (0, 1)]
        # both are at the contact now; they were apart by `then[1] - then[0]`, seen from the first
        return np.asarray(-places[0][1] @ began[0, :3].T @ (then[1] - then[0]))

    def _remember(self, felt: _Felt) -> None:
        """Where contacts that hold began to."""
        kept: dict[tuple[int, int], np.ndarray] = {}
        for i, pair in enumerate(map(tuple, felt.geoms.tolist())):
            push, drag = felt.impulse[i, 0], float(np.linalg.norm(felt.impulse[i, 1:]))
            if push <= 0.0 or pair in kept:
                continue
            began = self._began.get(pair)
            now = np.stack([np.vstack([R, p]) for p, R in (self._place(g) for g in pair)])
            if began is not None and drag <= _STUCK * felt.friction[i] * push:
                turned = np.arccos(np.clip(0.5 * (np.einsum("kab,kab->k", began[:, :3], now[:, :3]) - 1.0), -1.0, 1.0))
                if abs(turned).max() < _TURNED and np.linalg.norm(self._find_slip(felt, i, began)) < _SLID:
                    now = began
            kept[pair] = now
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
