"""The player of `Strength`: a body follows a motion within what its muscles can do. `strength.py` has the method."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.strength.joint_strength import JointStrength
from poise.drivers.balance.support_polygon import find_outline
from poise.drivers.body import Body
from poise.drivers.driver import BodyModel, Player, Status
from poise.drivers.loose.loose import Loose
from poise.drivers.strength.contacts import Contacts
from poise.drivers.strength.goals import Goals, Step
from poise.drivers.strength.hand_support import HandSupport
from poise.drivers.strength.loads import ExternalLoads, find_limb_rate, lift_loads
from poise.drivers.strength.problem import Problem, Sized, StepProblem
from poise.drivers.strength.records import Freedoms
from poise.drivers.strength.reference import CaptureShortfall, Reference, find_capture_shortfall
from poise.engines.memory import write_over
from poise.engines.scene import HINGES, Joint

if TYPE_CHECKING:
    from poise.drivers.strength.strength import Strength

# 1/s, at which joints return to the motion, at most; one step's rate at the paper's 30 Hz, for which alpha is given.
RATE = 30.0
# N m/rad, with which joints are reported as held to the motion's pose, so that their ranges yield to it. Not swept.
FIRM = 1e4
# s, time constant of a damper on joint velocities that were not foreseen, if other drivers move joints, too; and the
# largest fraction by which it increases the inertia that a joint's load sees in a step. Not swept.
DRAG_TIME, DRAG_INERTIA = 0.1, 0.05
# Fraction of the strength with which a body that fell brakes its joints, and s within which. Not swept.
BRAKING, BRAKING_TIME = 0.25, 0.1
# kg: joints that carry no more than this hold their pose, and the root's connection to them is stiff. Not swept.
FEATHER = 1e-4


class StrengthPlayer(Player):
    """Follows on one actor.

    n       degrees of freedom;  rows (n,) of them among the muscles';  labels: names of joint and axis
    at      (n,) int8: -1, 1 where the last step's torque is at its low or high bound
    torque  (n,) N m, of the last step;  low, high: its bounds
    ratio   (n,) of the strength that was used, the most since it was last read
    moving  m/s2, by how much feet that should stay accelerated in the last step
    missed  m/s2, by how much the centre of mass missed its plan in the last step
    zmp     (3,) m, zero-moment point of the last step
    drag    (K,) N m s/rad, of each joint's damper on unforeseen velocities: see `_resist`
    fallen  (1,) 1 if the body has been given up
    """

    needs_contacts = True

    def __init__(self, driver: Strength, body: Body, joints: np.ndarray, t: float):
        self.driver, self.joints = driver, np.asarray(joints, np.int64)
        self.muscles = driver.muscles or JointStrength.from_character(body.character)
        own = np.isin(self.muscles.joints, self.joints)
        self.rows = np.flatnonzero(own)
        self._arrays = self.muscles.arrays.pick(own)
        self._joint = self._arrays.axes.joints  # of each degree of freedom
        self.labels = tuple(f"{self.muscles.labels[i]} {self.muscles.axes[i]}" for i in self.rows)
        self._dt, self._rate = body.dt, min(RATE, 1.0 / body.dt)
        self.freedoms = f = Freedoms(
            joints=len(body.tree), driven=len(self.joints), count=len(self.rows), alpha=driver.alpha, dt=body.dt,
            driven_joints=self.joints, joint=self._joint,
        )  # fmt: skip
        self.n, self.torque, self.low, self.high, self.ratio = len(self.rows), f.torque, f.low, f.high, f.ratio
        self._angle, self._speed, self._axis, self._rates, self._dw = f.angle, f.speed, f.axis, f.rate, f.dw
        self._weight, self._vectors = f.weight, f.vectors
        self.reference = Reference(driver, body, self.joints, t)
        led = {body.skeleton.index(joint) for joint in driver.led}
        self._step = self.reference.step
        self.hands = HandSupport(set(self.joints.tolist()) - led if driver.hands else ())
        self.contacts = Contacts(body, self.reference, self.hands)
        self.loads = ExternalLoads(body)
        self._goals = Goals(driver, body, self.reference, self.contacts, self.hands, self._rate)
        self._problem = StepProblem(body, self._step, f, self.loads.felt, self._goals.room, driver.is_strict)
        self.at, self.zmp = np.zeros(self.n, np.int8), self.contacts.points.pressure_center
        self.drag, self.fallen, self._is_reported = np.zeros(len(self.joints)), np.zeros(1), False

    @property
    def moving(self) -> float:
        """See the class."""
        return self._problem.missed[0]

    @property
    def missed(self) -> float:
        """See the class."""
        return self._problem.missed[1]

    @property
    def problem(self) -> Problem | None:
        """The problem that the last step solved, a copy; None before the first."""
        return self._problem.copy()

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """See `Player.begin`: at a start, the body has the motion's pose and velocity."""
        reference = self.reference
        reference.begin(body, t)
        state, there = body.state, reference.pose.state
        if starting:
            state.q[self.joints], state.w[self.joints] = there.q[self.joints], there.w[self.joints]
            if reference.moves_root:
                state.q[0], state.w[0] = there.q[0], there.w[0]
                state.root[:], state.v[:] = there.root, there.v
        body.update()
        mass, _, inertia = body.outboard()
        others = np.setdiff1d(np.arange(1, len(mass)), self.joints)
        is_known = not np.any(mass[others] > FEATHER)  # all joints that move are in the model
        self.drag[:] = 0.0 if is_known else inertia[self.joints] * min(1.0 / DRAG_TIME, DRAG_INERTIA / self._dt)

    # The step.

    def write(self, body: Body, t: float) -> None:
        """See `Player.write`."""
        from poise.drivers.strength.kernels import find_target_accelerations

        f, reference = self.freedoms, self.reference
        self._step.record["body"] = body.block.address
        self._find_torque_ranges(body)
        reference.set_time(t)
        firm = self.loads.update(body)
        limbs = self.loads.body.find_limbs(body, self._joint, self._axis)
        self._rates[:] = self._rate
        for limb in limbs:
            self._rates[self._joint[limb.rows]] = find_limb_rate(limb, self._rate, self._dt)
        find_target_accelerations(self._step.address)
        lift_loads(body, reference.pose, f, limbs, self._rate)
        if self.fallen[0]:
            self._brake(body)
            body.damping[self.joints] += self.drag
            return
        body.aim[self.joints], body.firm[self.joints] = reference.pose.state.q[self.joints], FIRM
        self._weight[:] = 1.0
        shortfall = cache(lambda: find_capture_shortfall(body, reference))
        self.contacts.find(body, shortfall, firm, f, self._rate)
        self._add_torques(body, t, shortfall)
        self._resist(body)
        if self._is_lost(body):
            self.fallen[0] = 1.0
            body.request()

    def _find_torque_ranges(self, body: Body) -> None:
        """Write angles, velocities and axes of the degrees of freedom, and what the muscles can do there.   [eq 5]"""
        from poise.body.strength.kernels import fill_range, fill_state

        m, state = self._arrays, body.state
        fill_state(m.axes, state.q, state.w, self._angle, self._speed, self._axis)
        fill_range(m.curves, m.tables, m.numbers, self._angle, self._speed, self.low, self.high)

    def _add_torques(self, body: Body, t: float, shortfall: Callable[[], CaptureShortfall]) -> None:
        """Add the torques of accelerations and contact forces within their ranges; brake if there are none."""
        from poise.drivers.strength.kernels import write_solution

        contacts, problem, loaded = self.contacts, self._problem, self.loads.body
        sized = problem.get(contacts.count)
        problem.set_masses(loaded.masses, loaded.centers, loaded.inertias)
        if not self._build_model(body, sized):
            self._brake(body)
            return
        self._goals.write(Step(body, t, sized.goals, shortfall, loaded))
        solution = problem.solve(sized, contacts.soles, contacts.pads)
        if solution is None:
            self._brake(body)
            return
        self.at[:] = solution.at_bound[: self.n]
        write_solution(self._step.address)
        body.torque[self.joints] += self._vectors[self.joints]

    def _build_model(self, body: Body, sized: Sized) -> bool:
        """Write the dynamics with the contact points' forces; return whether they can be solved.   [eq 6]"""
        from poise.drivers.strength.kernels import write_contacts
        from poise.dynamics.contact.contact_dynamics_kernels import build_contact_model

        record = sized.model.record
        record["unit"], record["is_prescribed"] = body.tree.mass * body.weight_per_mass, int(body.root_is_given)
        if body.root_is_given:
            sized.a0[:3], sized.a0[3:] = body.a, body.R[0] @ body.dw[0]
        write_contacts(self._step.address)
        # Not from within another kernel: its sums, which may be reordered (`factor`), would have other last bits.
        return bool(build_contact_model(body.block, self._problem.inertia, sized.model))

    def _resist(self, body: Body) -> None:
        """Damp velocities that were not foreseen; without effect if the model is right:

            t = d (w + dt dw) - d w(t + dt)      dw: rad/s2, of the solution                         [resist, eq 1]

        Joints of other drivers are not in the model, and would throw light segments about, which muscles could rotate
        at any speed.
        """
        if not self.drag.any():
            return
        i = self.joints
        ahead = np.einsum("jab,jb->ja", body.R[i], body.state.w[i] + self._dt * self._dw[i])
        body.torque[i] += self.drag[:, None] * ahead
        body.damping[i] += self.drag

    def _brake(self, body: Body) -> None:
        """Only decelerate joints, with a fraction of the strength: dampers do not reverse them at any time step."""
        from poise.dynamics.contact.contact_dynamics_kernels import find_inertia

        tree, inertia, joint, speed = body.tree, self._problem.inertia, self._joint, self._speed
        self._problem.set_masses(tree.masses, tree.centers, tree.inertias)
        find_inertia(body.block, inertia)
        bound = np.where(speed < 0.0, self.high, -self.low)
        most = np.minimum(
            np.diag(inertia.joint_joint) / BRAKING_TIME, BRAKING * bound / np.maximum(np.abs(speed), 1e-9)
        )
        damping = np.full(len(tree), np.inf)
        np.minimum.at(damping, joint, most)
        self.torque[:] = -damping[joint] * speed
        np.maximum(self.ratio, np.abs(self.torque) / np.maximum(bound, 1e-9), out=self.ratio)
        self.at[:], self.zmp[:] = 0, np.nan
        moved = self.joints[np.isfinite(damping[self.joints])]
        body.damping[moved] += damping[moved]

    def _is_lost(self, body: Body) -> bool:
        """Return whether the body lies, or leans so far or is so low that nothing helps."""
        from poise.drivers.strength.kernels import is_lost

        return bool(self.contacts.count) and not body.root_is_given and bool(is_lost(self._step.address))

    # What a stage asks.

    def handle_request(self, body: Body, t: float) -> bool:
        """See `Player.handle_request`: a body that has just fallen is rebuilt."""
        is_new = bool(self.fallen[0]) and not self._is_reported
        self._is_reported = self._is_reported or is_new
        return is_new

    def model(self, body: Body, falling: bool) -> BodyModel:
        """See `Player.model`: a body that fell has hinges where its joints have fewer axes.

        What the whole body hangs from, below a root without mass, is stiff: it would spin.
        """
        if not self.fallen[0]:
            mass = body.outboard()[0]
            return BodyModel({i: Joint(HINGES) for i in self.joints.tolist() if mass[0] - mass[i] <= FEATHER})
        return Loose(stiffness=0.0).build(body, self.joints, 0.0).model(body, True)

    def status(self, body: Body, t: float) -> Status:
        """See `Player.status`: the posture that it aims at is the motion's."""
        reference, pose = self.reference, self.reference.pose
        upright = float((body.R[0] @ pose.R[0][1])[1])  # the motion's up axis, as the body has it
        sunk = min(float(pose.p[0, 1] - reference.began[1]), 0.0)
        points, soles, margin = self.contacts.point[: self.contacts.count], None, math.nan
        if len(points) >= 3:
            soles = reference.find_soles(body)
            margin = find_outline(points).find_margin(float(body.c[0]), float(body.c[2]))
        return Status(False, bool(self.fallen[0]), soles, margin, upright, sunk)

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        hands, loads = self.hands, self.loads
        return {
            **self.reference.numbers(), "planted": self.contacts.planted, "fallen": self.fallen,
            "hands": hands.state, "hand_points": hands.point, "hand_normals": hands.normal,
            "hand_calm": hands.calm, "hand_push": hands.push, "ratio": self.ratio, "zmp": self.zmp,
            "drag": self.drag, "load": loads.load, "pressed": loads.pressed, "laden": loads.laden,
        }  # fmt: skip

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        points = self.contacts.point[: self.contacts.count].copy()
        seen = {name: speed.copy() for name, speed in self.loads.seen.items()}
        return {**super().save(), "guide": self.reference.player.save(), "points": points, "seen": seen}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        write_over(self.numbers(), {name: saved[name] for name in self.numbers()})
        points = np.asarray(saved["points"], float).reshape(-1, 3)[: len(self.contacts.point)]
        self.contacts.count = len(points)
        self.contacts.point[: len(points)] = points
        self.reference.restore(saved)
        self.loads.seen = {name: np.array(speed, float) for name, speed in saved["seen"].items()}
        self.loads.add()
        self._is_reported = bool(self.fallen[0])
