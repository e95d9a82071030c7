"""An engine of one's own: Euler's rule on ball joints, and a ground that holds soles like thick honey.

The equation of motion, with the velocity at the step's end in dampers and ground, so that no step makes them explode:

    (H + dt D) du = tau - C - D u      H inertia, C what speed, gravity and wrenches ask for, D dampers
"""

import numpy as np

import poise
from poise import rotation

SPRING, DAMPER = 1e5, 3e3  # N/m and N s/m at each corner of a sole


class Euler(poise.extend.Engine):
    name = "euler"
    abilities = poise.extend.Capabilities(
        couplings=("exact",), hinges=False, pins=False, carriers=False, props=False, uneven=False, moving=False
    )

    def build(self, scene):
        return EulerSimulation(scene)


class EulerSimulation(poise.extend.Simulation):
    def __init__(self, scene):
        self.scene, self.forces = scene, {}
        self.states = [
            poise.extend.BodyState(*(x.copy() for x in (b.root, b.rotations, b.velocity, b.angular_velocity)))
            for b in scene.bodies
        ]

    def write(self, body, state):
        given = np.array([joint.is_given for joint in self.scene.bodies[body].joints])
        mine = self.states[body]
        mine.q[given], mine.w[given] = state.q[given], 0.0
        if given[0]:
            mine.root[:], mine.v[:] = state.root, 0.0
        self.forces[body] = state.torque.copy(), state.damping.copy(), state.wrench.copy()

    def step(self):
        for k, body in enumerate(self.scene.bodies):
            self.move(body, self.states[k], *self.forces[k])

    def move(self, body, state, torque, damping, wrench):
        tree, dt = body.tree, self.scene.dt
        pose = poise.extend.compute_world_pose(tree, state.root, state.q)
        still = np.zeros_like(state.v), np.zeros_like(state.w)
        now = poise.extend.TreeState(state.root, state.q, state.v, state.w, *still)
        u, n = now.generalised_velocity, np.zeros_like(state.w)
        n[1:] = np.einsum("jab,ja->jb", pose.turns, torque)[1:]
        D = np.diag(np.concatenate([np.zeros(6), np.repeat(damping[1:], 3)]))
        force = np.concatenate([np.zeros(3), n.ravel()]) - poise.extend.compute_bias(
            tree, now, wrench, self.scene.gravity
        )
        for joint, corner in self.find_touching(body, pose):
            J = poise.extend.compute_point_jacobian(tree, state.root, state.q, joint, corner)[3:]
            depth = self.scene.ground.height - (pose.joints[joint] + pose.turns[joint] @ corner)[1]
            force += J.T @ [0.0, SPRING * depth, 0.0]
            D += J.T @ np.diag([DAMPER, DAMPER + dt * SPRING, DAMPER]) @ J
        free = np.repeat([not body.joints[0].is_given, *(not joint.is_given for joint in body.joints)], 3)
        A = poise.extend.compute_joint_space_inertia(tree, state.root, state.q) + dt * D
        u[free] += dt * np.linalg.solve(A[np.ix_(free, free)], (force - D @ u)[free])
        state.v[:], state.w[:] = u[:3], u[3:].reshape(-1, 3)
        state.root += dt * state.v
        state.q[:] = rotation.normalize(rotation.multiply(state.q, rotation.exp(dt * state.w)))

    def find_touching(self, body, pose):
        """(joint, corner in its frame) of all corners of soles that are below the ground."""
        height = -np.inf if self.scene.ground is None else self.scene.ground.height
        corners = [(joint, corner) for joint, shape in body.shapes for corner in getattr(shape, "corners", ())]
        return [(j, c) for j, c in corners if (pose.joints[j] + pose.turns[j] @ c)[1] < height]

    def read(self, body, state):
        moved = np.array([not joint.is_given for joint in self.scene.bodies[body].joints])
        mine = self.states[body]
        state.q[moved], state.w[moved] = mine.q[moved], mine.w[moved]
        if moved[0]:
            state.root[:], state.v[:] = mine.root, mine.v

    def save(self):
        return {str(k): [x.copy() for x in (s.root, s.q, s.v, s.w)] for k, s in enumerate(self.states)}

    def restore(self, saved):
        self.states = [poise.extend.BodyState(*(np.array(x) for x in saved[str(k)])) for k in range(len(self.states))]


poise.extend.register_engine("euler", Euler)
