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
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.geometry.primitives import Box, Shape, Sphere
from poise.engines.engine import BodyContacts, Engine, PropState, Simulation
from poise.engines.memory import count_memory
from poise.engines.scene import Scene, Thing
from poise.spatial import rotation
from poise.world.contact_settings import FORCES, find_damping

if TYPE_CHECKING:
    from poise.dynamics.body_kernels import Body
    from poise.engines.penalty_kernels import PenaltyScene
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

    inner  the engine's own, for callers that read it
    block  the layout `PenaltyScene`
    """

    def __init__(self, inner: Simulation, scene: Scene):
        self.inner, self.scene, self.memory_bytes = inner, scene, inner.memory_bytes
        self._first = np.cumsum([0, *(len(body.tree) for body in scene.bodies)])
        self._props = {prop.name: int(self._first[-1]) + k for k, prop in enumerate(scene.props)}
        self._written: dict[int, Body] = {}
        self._touched = [BodyContacts.none() for _ in scene.bodies]
        self._floats = scene.find_floating()
        self.block = self._build_block()

    def __getattr__(self, name: str) -> Any:
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    # What may touch.

    def _build_block(self) -> PenaltyScene:
        from poise.engines.penalty_kernels import MOST, PenaltyScene

        shapes: list[tuple[Thing, int, Shape]] = []  # of what, its number, and the shape
        for k, body in enumerate(self.scene.bodies):
            shapes += [((k, joint), int(self._first[k]) + joint, shape) for joint, shape in body.shapes]
        for prop in self.scene.props:
            shapes += [(prop.name, self._props[prop.name], shape) for shape in (prop.shapes if prop.touches else ())]
        owners, apart = [owner for owner, _, _ in shapes], {frozenset(pair) for pair in self.scene.apart}
        pairs = [
            (i, j)
            for i in range(len(owners))
            for j in range(i + 1, len(owners))
            if self._may_touch(owners[i], owners[j]) and frozenset((owners[i], owners[j])) not in apart
        ]
        gains = np.array([self._find_gain(owners[i], owners[j]) for i, j in pairs], float).reshape(-1, 3).T.copy()
        return PenaltyScene(
            things=int(self._first[-1]) + len(self.scene.props), **self._find_lightness(), shape_count=len(shapes),
            thing=np.array([thing for _, thing, _ in shapes], np.int64), **list_shapes([each[2] for each in shapes]),
            pair_count=len(pairs), pairs=np.array(pairs, np.int64).reshape(-1, 2), softness=gains[0],
            damping_ratio=gains[1], friction=gains[2], most=MOST,
        )  # fmt: skip

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

    def _find_lightness(self) -> dict[str, np.ndarray]:
        """Return inverse mass, centre and inverse inertia of each thing by itself."""
        parts = [body.tree.body(i) for body in self.scene.bodies for i in range(len(body.tree))]
        found = [*parts, *(prop.inertia for prop in self.scene.props)]
        mass, center, inverse = np.zeros(len(found)), np.zeros((len(found), 3)), np.zeros((len(found), 3, 3))
        for k, inertia in enumerate(found):
            if inertia is not None and inertia.mass > 0.0:
                mass[k], center[k] = 1.0 / inertia.mass, inertia.center
                inverse[k] = np.linalg.inv(inertia.inertia + 1e-9 * np.eye(3))
        return {"inverse_mass": mass, "center": center, "inverse_inertia": inverse}

    # The step.

    def write(self, body: int, state: Body) -> None:
        """See `Simulation.write`; the engine gets it with the step, when it is known what touches."""
        self._written[body] = state

    def step(self) -> None:
        """See `Simulation.step`."""
        self._press()
        for body, state in self._written.items():
            own = state.wrench.copy()
            state.wrench[:] = own + self.block.wrench[self._first[body] : self._first[body + 1]]
            self.inner.write(body, state)
            state.wrench[:] = own
        for name, thing in self._props.items():
            if self.block.wrench[thing].any():
                self.inner.push_prop(name, self.block.wrench[thing])
        self.inner.step()

    def _press(self) -> None:
        """What touches now, and what that puts on everything."""
        from poise.engines.penalty_kernels import place_shapes, press

        x = self.block
        for k, state in self._written.items():
            rows = slice(self._first[k], self._first[k + 1])
            x.R[rows], x.p[rows], x.om[rows], x.v[rows] = state.R, state.p, state.om, state.vel
        for name, thing in self._props.items():
            now = self.inner.read_prop(name)
            x.R[thing], x.p[thing] = rotation.to_matrix(now.turn), now.position
            x.om[thing], x.v[thing] = now.spin, now.velocity
        place_shapes(x)
        count = press(x)
        told = np.hstack([x.contact_things[:count], x.contact_points[:count], x.contact_forces[:count]])
        self._touched = [self._list_touches(k, told) for k in range(len(self.scene.bodies))]

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

    def read(self, body: int, state: Body) -> None:
        """See `Simulation.read`: a body is airborne if what touches it floats."""
        self.inner.read(body, state)
        if not self._floats.issuperset(self._touched[body].others):
            state.airborne = 0
        if state.airborne:
            state.external_wrench[:] = state.external_wrench + self._find_external(body)
        else:
            state.external_wrench[:] = 0.0

    def _find_external(self, body: int) -> np.ndarray:
        """(6,) what other bodies and props put on one: force in the world, torque about its root in its axes."""
        touched, root = self._touched[body], int(self._first[body])
        own = self.scene.bodies[body].name + "/"
        others = np.array([not name.startswith(own) for name in touched.others], bool)
        points, forces = touched.points[others], touched.forces[others]
        torque = np.cross(points - self.block.p[root], forces).sum(axis=0)
        return np.concatenate([forces.sum(axis=0), self.block.R[root].T @ torque])

    def find_contacts(self, body: int) -> BodyContacts:
        """See `Simulation.find_contacts`: the engine's and these."""
        found, more = self.inner.find_contacts(body), self._touched[body]
        return BodyContacts(
            np.concatenate([found.joints, more.joints]), np.concatenate([found.points, more.points]),
            np.concatenate([found.forces, more.forces]), (*found.others, *more.others),
        )  # fmt: skip

    # The rest is the engine's.

    def set_root_velocity(self, body: int, state: Body) -> None:
        """See `Simulation.set_root_velocity`."""
        self.inner.set_root_velocity(body, state)

    def move_pin(self, body: int, joint: int, place: np.ndarray, turn: np.ndarray) -> None:
        """See `Simulation.move_pin`."""
        self.inner.move_pin(body, joint, place, turn)

    def handles_coupling(self, body: int) -> bool:
        """See `Simulation.handles_coupling`."""
        return self.inner.handles_coupling(body)

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


def list_shapes(shapes: Sequence[Shape]) -> dict[str, np.ndarray]:
    """Return fields of `PenaltyScene` for some shapes."""
    from poise.engines.penalty_kernels import BOX, LINE

    count = len(shapes)
    kind, radius = np.full(count, LINE), np.zeros(count)
    a, b, axes = np.zeros((count, 3)), np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1))
    for k, shape in enumerate(shapes):
        if isinstance(shape, Box):
            kind[k], a[k], b[k], axes[k] = BOX, shape.center, shape.half, rotation.to_matrix(shape.turn)
        else:
            ends = (shape.center, shape.center) if isinstance(shape, Sphere) else (shape.start, shape.end)
            (a[k], b[k]), radius[k] = ends, shape.radius
    return {"kind": kind, "radius": radius, "a": a, "b": b, "axes": axes}
