"""A simulation that a test drives part by part: what is prescribed, what acts, one step."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.dynamics.body_kernels import Body, update
from poise.engines.engine import BodyState, Engine, Simulation
from poise.engines.scene import Scene


class Verbs:
    """A simulation, with the bodies that are written to it. All else is the simulation's own."""

    def __init__(self, simulation: Simulation):
        self.simulation: Any = simulation
        self._changed: set[int] = set()
        self.bodies = []
        for body in simulation.scene.bodies:  # type: ignore[attr-defined]
            tree = body.tree
            made = Body(
                joints=len(tree), dt=simulation.scene.dt, parents=tree.parents, offsets=np.array(tree.offsets),  # type: ignore[attr-defined]
                masses=np.array(tree.masses), centers=np.array(tree.centers), inertias=np.array(tree.inertias),
            )  # fmt: skip
            made.root[:], made.q[:], made.v[:], made.w[:] = (
                body.root, body.rotations, body.velocity, body.angular_velocity,
            )  # fmt: skip
            self.bodies.append(made)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.simulation, name)

    def place(self, k: int, state: BodyState) -> None:
        """Where GIVEN joints are in the next step."""
        body, given = self.bodies[k], self._given(k)
        body.q[given] = state.q[given]
        if given[0]:
            body.root[:] = state.root
        self._changed.add(k)

    def apply(
        self, k: int, torque: np.ndarray, damping: np.ndarray, wrench: np.ndarray, axial: np.ndarray | None = None
    ) -> None:
        """What acts in the next step."""
        body = self.bodies[k]
        body.torque[:], body.damping[:], body.wrench[:] = torque, damping, wrench
        body.axial[:] = 0.0 if axial is None else axial
        self._changed.add(k)

    def speed(self, k: int, state: BodyState, dw: np.ndarray, a: np.ndarray) -> None:
        """How fast GIVEN joints move, in the middle of the next step."""
        body, given = self.bodies[k], self._given(k)
        body.w[given], body.dw[:], body.a[:] = state.w[given], dw, a
        if given[0]:
            body.v[:] = state.v
        self._changed.add(k)

    def step(self) -> None:
        """Write what has changed, and step."""
        self.write()
        self.simulation.step()

    def read(self, k: int, state: BodyState) -> None:
        """Write the state of simulated joints to another one."""
        body, moved = self.bodies[k], ~self._given(k)
        self.simulation.read(k, body)
        state.q[moved], state.w[moved] = body.q[moved], body.w[moved]
        if moved[0]:
            state.root[:], state.v[:] = body.root, body.v

    def _given(self, k: int) -> np.ndarray:
        return np.array([joint.is_given for joint in self.scene.bodies[k].joints])

    def write(self) -> None:
        """Write what has changed."""
        for k in sorted(self._changed):
            body = self.bodies[k]
            self.simulation.read(k, body)
            update(body, body)
            self.simulation.write(k, body)
        self._changed.clear()


class VerbEngine(Engine):
    """An engine whose simulations are driven part by part."""

    def __init__(self, engine: Engine):
        self.engine, self.name, self.abilities = engine, engine.name, engine.abilities

    def build(self, scene: Scene) -> Any:
        """Build a scene."""
        return Verbs(self.engine.build(scene))
