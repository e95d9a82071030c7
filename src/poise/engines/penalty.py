"""Penalty forces instead of an engine's own contacts: springs and dampers between what touches.   [tracking, 4.1]

The paper's collision handler: "reactions are calculated based on penalties for position and velocity errors", at points
of one shape that are in another, on chosen pairs only. A simulation of any engine is wrapped: it has the ground's
contacts, and those of props with one another; what bodies do to bodies and props comes on top, as forces of the step.

    f = max(0, k d - c v)        k = m / s^2,  c = 2 z m / s        d how deep, v how fast they part

s is `ContactSettings.softness`, at least `LEAST` steps; z 1, critical, or less by `ContactSettings.bounce`; m what both
weigh there (`penalty_kernels.py`). It is explicit, hence softer than an engine's contacts at the
same step, and goes deeper.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.geometry.primitives import Box, Shape, Sphere
from poise.engines.engine import BodyContacts, BodyState, Engine, PropState, Simulation
from poise.engines.memory import count_memory
from poise.engines.scene import FREE, Scene, Thing
from poise.spatial import rotation
from poise.world.contact_settings import FORCES, find_damping

if TYPE_CHECKING:
    from poise.engines.contact_log import ContactLog
# Steps: a damper alone is stable up to 1, and three points of a hand may touch at once.
LEAST = 3.0


def build_simulation(engine: Engine, scene: Scene) -> Simulation:
    """Build a scene in an engine, with the contact forces that its `touch` asks for."""
    if scene.touch.forces == FORCES[0]:
        simulation = engine.build(scene)
    else:
        bare = dataclasses.replace(scene, meets=None, apart=(), touch=dataclasses.replace(scene.touch, props=False))
        simulation = PenaltySimulation(engine.build(bare), scene)
    count_memory(simulation)
    return simulation


class PenaltySimulation(Simulation):
    """A simulation in which bodies touch bodies and props by springs and dampers.

    inner  the engine's own, for whoever wants to look
    """

    def __init__(self, inner: Simulation, scene: Scene):
        self.inner, self.scene, self.memory_bytes = inner, scene, inner.memory_bytes
        self._first = np.cumsum([0, *(len(body.tree) for body in scene.bodies)])
        self._props = {prop.name: int(self._first[-1]) + k for k, prop in enumerate(scene.props)}
        count = int(self._first[-1]) + len(scene.props)
        self._R, self._p = np.zeros((count, 3, 3)), np.zeros((count, 3))
        self._om, self._v, self._wrench = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 6))
        self._states = [
            BodyState(b.root.copy(), b.rotations.copy(), b.velocity.copy(), b.angular_velocity.copy())
            for b in scene.bodies
        ]
        self._given = [np.array([joint.is_given for joint in body.joints]) for body in scene.bodies]
        self._asked: dict[int, list[Any]] = {}
        self._touched = [BodyContacts.none() for _ in scene.bodies]
        self._floats = {prop.name for prop in scene.props if prop.inertia is not None and prop.hinge is None}
        for body in scene.bodies:
            if body.joints[0].kind == FREE and not body.pinned:
                self._floats |= {f"{body.name}/{name}" for name in body.tree.names}
        self._light = self._list_light()
        self._build_pairs()

    def __getattr__(self, name: str) -> Any:
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    # What may touch.

    def _build_pairs(self) -> None:
        from poise.engines.penalty_kernels import MOST, ROW

        rows, owners = [], []
        for k, body in enumerate(self.scene.bodies):
            for joint, shape in body.shapes:
                rows.append(_row(shape, int(self._first[k]) + joint))
                owners.append((k, joint))
        for prop in self.scene.props:
            for shape in prop.shapes if prop.touches else ():
                rows.append(_row(shape, self._props[prop.name]))
                owners.append(prop.name)  # type: ignore[arg-type]
        self._rows = np.array(rows, float).reshape(-1, ROW)
        self._placed, self._told = np.zeros_like(self._rows), np.zeros((MOST, 8))
        apart = {frozenset(pair) for pair in self.scene.apart}
        pairs = [
            (i, j)
            for i in range(len(owners))
            for j in range(i + 1, len(owners))
            if self._may_touch(owners[i], owners[j]) and frozenset((owners[i], owners[j])) not in apart
        ]
        self.pairs = np.array(pairs, np.int64).reshape(-1, 2)
        self.gains = np.array([self._find_gain(owners[i], owners[j]) for i, j in pairs], float).reshape(-1, 3)

    def _may_touch(self, a: Thing, b: Thing) -> bool:
        if isinstance(a, str):
            return False  # props touch props by the engine's contacts
        if isinstance(b, str):
            return self.scene.touch.props
        return a != b and self.scene.meets is not None and bool(self.scene.meets[a[0], b[0]])

    def _find_gain(self, a: Thing, b: Thing) -> tuple[float, float, float]:
        """s, z and friction of two things."""
        softness = max(self.scene.touch.softness, LEAST * self.scene.dt)
        ground = self.scene.ground.friction if self.scene.ground is not None else 0.8
        rough = ground if self.scene.touch.friction is None else self.scene.touch.friction
        for thing in (a, b):
            if isinstance(thing, str):
                own = next(prop for prop in self.scene.props if prop.name == thing).friction
                rough = rough if own is None else own
        return softness, find_damping(self.scene.touch.bounce), rough

    def _list_light(self) -> np.ndarray:
        """(T, 13) of each thing by itself: see `penalty_kernels.press`."""
        parts = [body.tree.body(i) for body in self.scene.bodies for i in range(len(body.tree))]
        found = [*parts, *(prop.inertia for prop in self.scene.props)]
        light = np.zeros((len(found), 13))
        for row, inertia in zip(light, found, strict=True):
            if inertia is not None and inertia.mass > 0.0:
                tensor = inertia.inertia + 1e-9 * np.eye(3)
                row[0], row[1:4], row[4:] = 1.0 / inertia.mass, inertia.center, np.linalg.inv(tensor).ravel()
        return light

    # The step.

    def place(self, body: int, state: BodyState) -> None:
        """See `Simulation.place`."""
        own, given = self._states[body], self._given[body]
        own.q[given] = state.q[given]
        if given[0]:
            own.root[:] = state.root
        self.inner.place(body, state)

    def apply(
        self, body: int, torque: np.ndarray, damping: np.ndarray, wrench: np.ndarray, axial: np.ndarray | None = None
    ) -> None:
        """See `Simulation.apply`; it is handed on with the step, when it is known what touches."""
        kept: list[Any] = [
            torque.copy(),
            damping.copy(),
            wrench.copy(),
            None if axial is None else axial.copy(),
            None,
            [],
        ]
        self._asked[body] = kept

    def nudge(self, body: int, joint: int, turn: np.ndarray) -> None:
        """See `Simulation.nudge`."""
        self._asked[body][5].append((joint, np.array(turn)))

    def speed(self, body: int, state: BodyState, dw: np.ndarray, a: np.ndarray) -> None:
        """See `Simulation.speed`."""
        own, given = self._states[body], self._given[body]
        own.w[given] = state.w[given]
        if given[0]:
            own.v[:] = state.v
        self._asked[body][4] = (state.copy(), dw.copy(), a.copy())

    def step(self) -> None:
        """See `Simulation.step`."""
        self._press()
        for body, (torque, damping, wrench, axial, speed, nudges) in self._asked.items():
            more = self._wrench[self._first[body] : self._first[body + 1]]
            self.inner.apply(body, torque, damping, wrench + more, *(() if axial is None else (axial,)))
            for joint, turn in nudges:
                self.inner.nudge(body, joint, turn)
            if speed is not None:
                self.inner.speed(body, *speed)
        self._asked.clear()
        for name, thing in self._props.items():
            if self._wrench[thing].any():
                self.inner.push_prop(name, self._wrench[thing])
        self.inner.step()

    def _press(self) -> None:
        """What touches now, and what that puts on everything."""
        from poise.dynamics.body_kernels import move_bodies, pose_bodies
        from poise.engines.penalty_kernels import place_rows, press

        for k, (body, own) in enumerate(zip(self.scene.bodies, self._states, strict=True)):
            self.inner.read(k, own)
            at, tree = slice(self._first[k], self._first[k + 1]), body.tree
            pose_bodies(tree.parents, tree.offsets, own.root, own.q, self._R[at], self._p[at])
            move_bodies(tree.parents, self._R[at], self._p[at], own.v, own.w, self._om[at], self._v[at])
        for name, thing in self._props.items():
            now = self.inner.read_prop(name)
            self._R[thing], self._p[thing] = rotation.to_matrix(now.turn), now.position
            self._om[thing], self._v[thing] = now.spin, now.velocity
        self._wrench[:] = 0.0
        place_rows(self._rows, self._R, self._p, self._placed)
        count = press(
            self.pairs, self.gains, self._placed, self._R, self._p, self._om, self._v, self._light, self._wrench,
            self._told,
        )  # fmt: skip
        self._touched = [self._list_touches(k, self._told[:count]) for k in range(len(self.scene.bodies))]

    def _list_touches(self, body: int, told: np.ndarray) -> BodyContacts:
        if not len(told):
            return BodyContacts.none()
        low, high = self._first[body], self._first[body + 1]
        joints, points, forces, others = [], [], [], []
        for row in told:
            for mine, other, sign in ((int(row[0]), int(row[1]), 1.0), (int(row[1]), int(row[0]), -1.0)):
                if low <= mine < high:
                    joints.append(mine - low)
                    points.append(row[2:5].copy())
                    forces.append(sign * row[5:8])
                    others.append(self._name(other))
        return BodyContacts(np.array(joints, int), np.array(points).reshape(-1, 3), np.array(forces).reshape(-1, 3),
                       tuple(others))  # fmt: skip

    def _name(self, thing: int) -> str:
        if thing >= self._first[-1]:
            return self.scene.props[thing - int(self._first[-1])].name
        k = int(np.searchsorted(self._first, thing, side="right")) - 1
        return f"{self.scene.bodies[k].name}/{self.scene.bodies[k].tree.names[thing - int(self._first[k])]}"

    def read(self, body: int, state: BodyState) -> None:
        """See `Simulation.read`."""
        self.inner.read(body, state)

    def find_contacts(self, body: int) -> BodyContacts:
        """See `Simulation.find_contacts`: the engine's and these."""
        found, more = self.inner.find_contacts(body), self._touched[body]
        return BodyContacts(
            np.concatenate([found.joints, more.joints]), np.concatenate([found.points, more.points]),
            np.concatenate([found.forces, more.forces]), (*found.others, *more.others),
        )  # fmt: skip

    # The rest is the engine's.

    def stop(self, body: int, torque: np.ndarray) -> None:
        """See `Simulation.stop`."""
        self.inner.stop(body, torque)

    def feel(self, hits: ContactLog) -> None:
        """See `Simulation.feel`: it is asked for its contacts."""
        return

    def is_aloft(self, body: int) -> bool:
        """See `Simulation.is_aloft`."""
        return self._floats.issuperset(self._touched[body].others) and self.inner.is_aloft(body)

    def find_outside(self, body: int) -> np.ndarray:
        """See `Simulation.find_outside`."""
        touched, root = self._touched[body], int(self._first[body])
        own = self.scene.bodies[body].name + "/"
        others = np.array([not name.startswith(own) for name in touched.others], bool)
        points, forces = touched.points[others], touched.forces[others]
        torque = np.cross(points - self._p[root], forces).sum(axis=0)
        more = np.concatenate([forces.sum(axis=0), self._R[root].T @ torque])
        return np.asarray(self.inner.find_outside(body) + more)

    def steer(self, body: int, state: BodyState) -> None:
        """See `Simulation.steer`."""
        self.inner.steer(body, state)

    def move_pin(self, body: int, joint: int, place: np.ndarray, turn: np.ndarray) -> None:
        """See `Simulation.move_pin`."""
        self.inner.move_pin(body, joint, place, turn)

    def couples(self, body: int) -> bool:
        """See `Simulation.couples`."""
        return self.inner.couples(body)

    def push_prop(self, name: str, wrench: np.ndarray) -> None:
        """See `Simulation.push_prop`."""
        self.inner.push_prop(name, wrench)

    def read_prop(self, name: str) -> PropState:
        """See `Simulation.read_prop`."""
        return self.inner.read_prop(name)

    def save(self) -> dict[str, Any]:
        """See `Simulation.save`."""
        return {"inner": self.inner.save(), "touched": [each.save() for each in self._touched]}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Simulation.restore`."""
        touched = [BodyContacts.load(each) for each in saved["touched"]]
        self.inner.restore(saved["inner"])
        self._touched = touched


def _row(shape: Shape, thing: int) -> np.ndarray:
    """A shape as `penalty_kernels` reads it."""
    from poise.engines.penalty_kernels import BOX, LINE, ROW

    row = np.zeros(ROW)
    row[1] = thing
    if isinstance(shape, Box):
        row[0], row[2:5], row[5:8] = BOX, shape.center, shape.half
        row[9:18] = rotation.to_matrix(shape.turn).ravel()
        return row
    ends = (shape.center, shape.center) if isinstance(shape, Sphere) else (shape.start, shape.end)
    row[0], row[2:5], row[5:8], row[8] = LINE, *ends, shape.radius
    row[9:18] = np.eye(3).ravel()
    return row
