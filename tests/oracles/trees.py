"""Trees of bodies in other people's dynamics: Pinocchio and MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

from poise import rotation
from poise.dynamics.tree import GRAVITY, Tree, TreeState


class Pinocchio:
    """A tree in Pinocchio: free flyer and spherical joints. Angular velocities are in the body there too."""

    def __init__(self, tree: Tree):
        self.pin = pin = pytest.importorskip("pinocchio", reason="no Pinocchio here (pip install pin)")
        self.tree, self.model = tree, pin.Model()
        ids: list[int] = []
        for i, parent in enumerate(tree.parents):
            joint = pin.JointModelFreeFlyer() if parent < 0 else pin.JointModelSpherical()
            place = pin.SE3(np.eye(3), np.zeros(3) if parent < 0 else tree.offsets[i].copy())
            ids.append(self.model.addJoint(0 if parent < 0 else ids[parent], joint, place, tree.names[i]))
            inertia = pin.Inertia(float(tree.masses[i]), tree.centers[i].copy(), tree.inertias[i].copy())
            self.model.appendBodyToJoint(ids[i], inertia, pin.SE3.Identity())
        self.ids = ids
        self.model.gravity.linear = GRAVITY.copy()
        self.data = self.model.createData()

    def coordinates(self, state: TreeState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v, a with any leading axes; the free flyer's linear parts are in the body's axes and spatial."""
        batch, turn = state.batch, rotation.conjugate(state.rotations[..., 0, :])
        q = np.concatenate([state.root, state.rotations[..., [1, 2, 3, 0]].reshape(*batch, -1)], axis=-1)
        linear = rotation.rotate(turn, state.velocity)
        spatial = rotation.rotate(turn, state.acceleration) - np.cross(state.angular_velocity[..., 0, :], linear)
        v = np.concatenate([linear, state.angular_velocity.reshape(*batch, -1)], axis=-1)
        a = np.concatenate([spatial, state.angular_acceleration.reshape(*batch, -1)], axis=-1)
        return q, v, a

    def inverse_dynamics(self, state: TreeState, external: np.ndarray | None = None) -> np.ndarray:
        """tau of one frame in our coordinates; external (J, 6) [torque, force] about the joints, world axes."""
        pin, (q, v, a) = self.pin, self.coordinates(state)
        if external is None:
            tau = pin.rnea(self.model, self.data, q, v, a)
        else:
            pin.forwardKinematics(self.model, self.data, q)
            forces = pin.StdVec_Force()
            forces.extend([pin.Force.Zero() for _ in range(self.model.njoints)])
            for i, joint in enumerate(self.ids):
                turn = self.data.oMi[joint].rotation.T
                forces[joint] = pin.Force(turn @ external[i, 3:], turn @ external[i, :3])
            tau = pin.rnea(self.model, self.data, q, v, a, forces)
        tau = np.array(tau)
        tau[:3] = rotation.rotate(state.rotations[0], tau[:3])
        return tau


class MuJoCo:
    """A tree in MuJoCo: its free and ball joints have exactly our generalised velocity."""

    def __init__(self, tree: Tree):
        self.mujoco = mujoco = pytest.importorskip("mujoco", reason="no MuJoCo here (pip install mujoco)")
        self.tree = tree
        spec = mujoco.MjSpec()
        spec.option.gravity = GRAVITY
        bodies = []
        for i, parent in enumerate(tree.parents):
            holder = spec.worldbody if parent < 0 else bodies[parent]
            inertia = tree.inertias[i]
            body = holder.add_body(
                name=tree.names[i],
                pos=np.zeros(3) if parent < 0 else tree.offsets[i],
                mass=tree.masses[i],
                ipos=tree.centers[i],
                fullinertia=[*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]],
                explicitinertial=True,
            )
            kind = mujoco.mjtJoint.mjJNT_FREE if parent < 0 else mujoco.mjtJoint.mjJNT_BALL
            body.add_joint(type=kind)
            bodies.append(body)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        # MuJoCo numbers bodies depth first: `ids` are its bodies in our order, `dofs` its degrees of freedom in ours.
        self.ids = np.array([self.model.body(name).id for name in tree.names])
        self.dofs = np.concatenate([np.arange(3), *(3 + 3 * (k - 1) + np.arange(3) for k in self.ids)])

    def set(self, state: TreeState) -> None:
        """Put one frame into MuJoCo's state."""
        rotations = np.empty_like(state.rotations)
        rotations[self.ids - 1] = state.rotations
        self.data.qpos[:] = np.concatenate([state.root, rotations.ravel()])
        self.data.qvel[self.dofs] = state.generalised_velocity
        self.mujoco.mj_forward(self.model, self.data)
        self.data.qacc[self.dofs] = state.generalised_acceleration

    def inverse_dynamics(self, state: TreeState, external: np.ndarray | None = None) -> np.ndarray:
        """tau of one frame in our coordinates; external (J, 6) [torque, force] about the joints, world axes."""
        self.set(state)
        self.mujoco.mj_inverse(self.model, self.data)
        tau = self.data.qfrc_inverse.copy()
        if external is not None:
            applied = np.zeros(self.model.nv)
            for (*torque, fx, fy, fz), body in zip(external, self.ids, strict=True):
                at = self.data.xpos[body].copy()
                self.mujoco.mj_applyFT(self.model, self.data, [fx, fy, fz], torque, at, body, applied)
            tau -= applied
        return tau[self.dofs]

    def inertia(self, state: TreeState) -> np.ndarray:
        """H of one frame in our coordinates."""
        self.set(state)
        H = np.zeros((self.model.nv, self.model.nv))
        self.mujoco.mj_fullM(self.model, self.data, H)
        return H[np.ix_(self.dofs, self.dofs)]

    def momentum_jacobian(self, state: TreeState) -> np.ndarray:
        """(6, n): angular momentum about the centre of mass, then linear momentum, of the whole body."""
        self.set(state)
        angular, linear = (np.zeros((3, self.model.nv)) for _ in range(2))
        self.mujoco.mj_angmomMat(self.model, self.data, angular, 0)
        self.mujoco.mj_jacSubtreeCom(self.model, self.data, linear, 0)
        return np.vstack([angular, self.tree.mass * linear])[:, self.dofs]

    def point_jacobian(self, state: TreeState, body: int, point: np.ndarray) -> np.ndarray:
        """(6, n): angular velocity of a body and velocity of a point given in its frame."""
        self.set(state)
        k = self.ids[body]
        at = self.data.xpos[k] + self.data.xmat[k].reshape(3, 3) @ point
        angular, linear = (np.zeros((3, self.model.nv)) for _ in range(2))
        self.mujoco.mj_jac(self.model, self.data, linear, angular, at, k)
        return np.vstack([angular, linear])[:, self.dofs]
