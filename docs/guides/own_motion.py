"""A driver of one's own that gives a motion: a metronome. Nobody integrates it; the body under it feels it."""

from dataclasses import dataclass

import numpy as np

import poise
from poise import rotation

AXIS = np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True)
class Metronome(poise.extend.Driver):
    """Swings the first joint of its part about its own x axis, and holds the others. bpm: beats a minute; swing: rad"""

    bpm: float = 60.0
    swing: float = 0.5
    level = "motion"

    def claim(self, character, joints, part):
        return poise.extend.Claim(moved=tuple(joints[:1]), held=tuple(joints[1:]))

    def build(self, body, joints, t):
        return MetronomePlayer(self, body, joints)


class MetronomePlayer(poise.extend.MotionPlayer):
    def __init__(self, driver, body, joints):
        self.joints, self.swing, self.rate = joints, driver.swing, np.pi * driver.bpm / 60.0
        self.rest = body.state.q[joints]

    def write(self, body, t):
        """Rotation, angular velocity and acceleration at time t. How the joint gets there is not its job."""
        sine, cosine = np.sin(self.rate * t), np.cos(self.rate * t)
        body.state.q[self.joints] = rotation.multiply(self.rest, rotation.exp(self.swing * sine * AXIS))
        body.state.w[self.joints] = self.swing * self.rate * cosine * AXIS
        body.dw[self.joints] = -self.swing * self.rate**2 * sine * AXIS

    def numbers(self):
        return {"rest": self.rest}


poise.extend.register_driver("metronome", Metronome)
