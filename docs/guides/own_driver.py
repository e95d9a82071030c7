"""A driver of one's own: a servo that waves.

Every joint of its part is pulled to where it was when the driver took over, swung to and fro about its own x axis.
"""

from dataclasses import dataclass

import numpy as np

import poise
from poise import rotation


@dataclass(frozen=True)
class Wave(poise.extend.Driver):
    """bpm: beats a minute; swing: rad to each side; stiffness: 1 holds what a level limb weighs, one radian off."""

    bpm: float = 60.0
    swing: float = 0.3
    stiffness: float = 20.0
    level = "torque"

    def build(self, body, joints, t):
        return WavePlayer(self, body, joints)


class WavePlayer(poise.extend.Player):
    def __init__(self, driver, body, joints):
        self.driver, self.joints = driver, joints
        self.aim = body.state.q[joints]
        self.clock = np.array([0.0, driver.bpm, 0.0])  # beats so far, beats per minute, beats reported
        self.spring, self.damper = np.zeros(len(joints)), np.zeros(len(joints))
        self.on_mass_changed(body)

    def on_mass_changed(self, body):
        """Springs and dampers by what each joint carries; called again when a load is picked up or dropped."""
        mass, arm, inertia = body.outboard()
        self.spring[:] = self.driver.stiffness * (9.81 * mass * arm)[self.joints]
        self.damper[:] = 2.0 * np.sqrt(self.spring * inertia[self.joints])

    def write(self, body, t):
        """Torques in world axes, and dampers, which the engine integrates: no step makes them explode."""
        angle = self.driver.swing * np.sin(np.pi * self.clock[0])
        aim = rotation.multiply(self.aim, rotation.exp(np.array([angle, 0.0, 0.0])))
        off = rotation.log(rotation.multiply(rotation.conjugate(body.state.q[self.joints]), aim))
        body.torque[self.joints] = np.einsum("kab,kb->ka", body.R[self.joints], self.spring[:, None] * off)
        body.damping[self.joints] = self.damper + body.dt * self.spring
        body.aim[self.joints], body.firm[self.joints] = aim, self.spring  # joints may leave their ranges for it
        self.clock[0] += body.dt * self.clock[1] / 60.0
        if self.clock[0] >= self.clock[2] + 1.0:
            body.request()

    def handle_request(self, body, t):
        if self.clock[0] >= self.clock[2] + 1.0:
            self.clock[2] += 1.0
            body.emit("beat")
        return False  # the body need not be rebuilt

    def change(self, t, bpm):
        self.clock[1] = bpm

    def numbers(self):
        """All that changes while it runs: this is saved and restored."""
        return {"aim": self.aim, "clock": self.clock, "spring": self.spring, "damper": self.damper}


poise.extend.register_driver("wave", Wave)
