"""The law of `own_driver.py`, compiled: a C function of a body and of a block with named fields."""

import math

import numpy as np

from poise.extend import laws

WAVE = laws.fields(arrays="joints aim clock spring damper", integers="count", floats="swing")


@laws.law
def wave(body, block):
    """Torques towards a pose that swings, and dampers; it makes a request when there is a beat to report."""
    b, x = laws.record(body, laws.BODY), laws.record(block, WAVE)
    j, k = b.joints, x.count
    joints, clock = laws.integers(x.joints, k), laws.floats(x.clock, 3)
    rest, spring, damper = laws.vectors(x.aim, k, 4), laws.floats(x.spring, k), laws.floats(x.damper, k)
    q, R, torque, damping = laws.vectors(b.q, j, 4), laws.blocks(b.R, j, 3, 3), laws.vectors(b.torque, j, 3), b.damping
    swung, aim, off = np.zeros(4), np.empty(4), np.empty(3)
    angle = x.swing * math.sin(math.pi * clock[0])
    swung[0], swung[1] = math.cos(0.5 * angle), math.sin(0.5 * angle)
    for i in range(k):
        joint = joints[i]
        laws.multiply(rest[i], swung, aim)
        laws.log_between(q[joint], aim, off)
        for c in range(3):
            off[c] *= spring[i]
        torque[joint, 0], torque[joint, 1], torque[joint, 2] = laws.turn(R[joint], off)
        laws.floats(damping, j)[joint] = damper[i] + b.dt * spring[i]
        laws.floats(b.firm, j)[joint] = spring[i]  # joints may leave their ranges for it
        laws.vectors(b.aim, j, 4)[joint] = aim
    clock[0] += b.dt * clock[1] / 60.0
    if clock[0] >= clock[2] + 1.0:
        b.request = 1
