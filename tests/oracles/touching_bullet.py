"""The body of `touching.Case` whole in plain pybullet: hinges held to the same angles by motors that nothing moves.

Knows nothing of Poise's engine: a multibody of its own, as long as Bullet's solver needs for it.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pybullet

from oracles.touching import CENTERS, HAND, MASSES, MOMENTS, OFFSETS, TRUNK_AT, Case, Run
from poise.body.geometry.primitives import Box, Shape, Sphere

HERE = [0.0, 0.0, 0.0, 1.0]


class WholeBullet:
    """All of it simulated. A GIVEN root is a slider along x."""

    def __init__(self, case: Case, dt: float):
        self.case, self.dt, self.time = case, dt, 0.0
        self.client = pybullet.connect(pybullet.DIRECT)
        weakref.finalize(self, pybullet.disconnect, self.client)
        self.options = {"physicsClientId": self.client}
        pybullet.setGravity(0, -case.gravity, 0, **self.options)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=dt, numSubSteps=0, numSolverIterations=5000, solverResidualThreshold=1e-12, **self.options
        )
        if case.ground:
            plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE, planeNormal=[0, 1, 0], **self.options)
            self._rub(pybullet.createMultiBody(0, plane, **self.options), -1)
        self.prop = self._add_prop()
        self.body = self._add_body()
        self.motions = [case.shoulder, case.elbow]
        self.links = [0, 1] if case.root is None else [1, 2]
        if case.root is not None:
            self.motions, self.links = [case.root, *self.motions], [0, *self.links]
        for link, motion in zip(self.links, self.motions, strict=True):
            place, rate, _ = motion(0.0)
            pybullet.resetJointState(self.body, link, place, rate, **self.options)
        self.trunk, self.hand = (-1, 2) if case.root is None else (0, 3)

    def _rub(self, uid: int, link: int) -> None:
        pybullet.changeDynamics(
            uid, link, lateralFriction=np.sqrt(self.case.friction), spinningFriction=0, rollingFriction=0,
            restitution=0, linearDamping=0, angularDamping=0, jointDamping=0, **self.options,
        )  # fmt: skip

    def _shape(self, shape: Shape | None) -> int:
        if isinstance(shape, Box):
            return int(
                pybullet.createCollisionShape(
                    pybullet.GEOM_BOX, halfExtents=shape.half.tolist(),
                    collisionFramePosition=shape.center.tolist(), **self.options,
                )
            )  # fmt: skip
        center, radius = (shape.center, shape.radius) if isinstance(shape, Sphere) else (np.zeros(3), 1e-3)
        return int(
            pybullet.createCollisionShape(
                pybullet.GEOM_SPHERE, radius=radius, collisionFramePosition=center.tolist(), **self.options
            )
        )

    def _add_prop(self) -> int:
        prop = self.case.prop
        assert prop is not None
        mass = prop.inertia.mass if prop.inertia is not None else 0.0
        uid = int(
            pybullet.createMultiBody(mass, self._shape(prop.shapes[0]), -1, prop.position.tolist(), **self.options)
        )
        self._rub(uid, -1)
        if prop.inertia is not None:
            moments = np.diag(prop.inertia.inertia).tolist()
            pybullet.changeDynamics(uid, -1, localInertiaDiagonal=moments, **self.options)
        return uid

    def _add_body(self) -> int:
        first = 1 if self.case.root is None else 0
        rows = range(first, 4)
        kinds = [
            pybullet.JOINT_PRISMATIC if i == 0 else pybullet.JOINT_FIXED if i == HAND else pybullet.JOINT_REVOLUTE
            for i in rows
        ]
        axes = [[1.0, 0, 0] if i == 0 else list(self.case.axis) for i in rows]
        floats: dict[str, Any] = {"baseInertialFramePosition": CENTERS[0].tolist()} if first else {}
        uid = int(
            pybullet.createMultiBody(
                MASSES[0] if first else 0.0, self._shape(None), -1, TRUNK_AT.tolist(), HERE, **floats,
                linkMasses=MASSES[first:].tolist(),
                linkCollisionShapeIndices=[self._shape(self.case.hand if i == HAND else None) for i in rows],
                linkVisualShapeIndices=[-1] * len(rows), linkPositions=[OFFSETS[i].tolist() for i in rows],
                linkOrientations=[HERE] * len(rows), linkInertialFramePositions=[CENTERS[i].tolist() for i in rows],
                linkInertialFrameOrientations=[HERE] * len(rows), linkParentIndices=list(range(len(rows))),
                linkJointTypes=kinds, linkJointAxis=axes, flags=pybullet.URDF_MAINTAIN_LINK_ORDER, **self.options,
            )
        )  # fmt: skip
        for link, i in enumerate(range(4), start=-first):
            self._rub(uid, link)
            pybullet.changeDynamics(uid, link, localInertiaDiagonal=MOMENTS[i].tolist(), **self.options)
            if i != HAND:
                pybullet.setCollisionFilterGroupMask(uid, link, 0, 0, **self.options)
        return uid

    def step(self) -> None:
        for link, motion in zip(self.links, self.motions, strict=True):
            now = pybullet.getJointState(self.body, link, **self.options)[0]
            speed = (motion(self.time + self.dt)[0] - now) / self.dt
            pybullet.setJointMotorControl2(
                self.body, link, pybullet.VELOCITY_CONTROL, targetVelocity=speed, force=1e9, **self.options
            )
        pybullet.stepSimulation(**self.options)
        self.time += self.dt

    def run(self, seconds: float) -> Run:
        rows = []
        for _ in range(round(seconds / self.dt)):
            self.step()
            total = np.zeros(3)
            for x in pybullet.getContactPoints(self.body, self.prop, self.hand, -1, **self.options) or ():
                total += x[9] * np.array(x[7]) + x[10] * np.array(x[11]) + x[12] * np.array(x[13])
            at, _ = pybullet.getBasePositionAndOrientation(self.prop, **self.options)
            speed, _ = pybullet.getBaseVelocity(self.prop, **self.options)
            trunk, spin = np.zeros(3), np.zeros(3)
            if self.trunk < 0:
                v, spin = map(np.array, pybullet.getBaseVelocity(self.body, **self.options))
                turn = pybullet.getBasePositionAndOrientation(self.body, **self.options)[1]
                R = np.array(pybullet.getMatrixFromQuaternion(turn)).reshape(3, 3)
                trunk = v - np.cross(spin, R @ CENTERS[0])
            rows.append((np.linalg.norm(total), np.array(at), np.array(speed), trunk, spin))
        return Run(*(np.array(column) for column in zip(*rows, strict=True)))
