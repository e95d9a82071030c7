"""The law of `own_driver.py`, compiled: a C function of a body and of a layout, a record with named fields."""

import math
from typing import Annotated

import numpy as np

from poise.extend import laws


class WaveLayout(laws.Layout):
    count: int  # number of joints
    swing: float  # rad
    clock: Annotated[laws.Floats, 3]  # beats so far, beats a minute, beats when the last one was reported
    joints: Annotated[laws.Ints, "count"]
    aim: Annotated[laws.Floats, "count", 4]  # rotations about which they swing
    spring: Annotated[laws.Floats, "count"]  # N m/rad
    damper: Annotated[laws.Floats, "count"]  # N m s/rad


@laws.law
def wave(body, block):
    swing_joints(laws.at(body, laws.Body), laws.at(block, WaveLayout))


@laws.kernel
def swing_joints(b, x):
    """Torques towards a pose that swings, and dampers; it makes a request when there is a beat to report."""
    swung, aim, off = np.zeros(4), np.empty(4), np.empty(3)
    angle = x.swing * math.sin(math.pi * x.clock[0])
    swung[0], swung[1] = math.cos(0.5 * angle), math.sin(0.5 * angle)
    for i in range(x.count):
        joint = x.joints[i]
        laws.multiply(x.aim[i], swung, aim)
        laws.log_between(b.q[joint], aim, off)
        for c in range(3):
            off[c] *= x.spring[i]
        b.torque[joint, 0], b.torque[joint, 1], b.torque[joint, 2] = laws.turn(b.R[joint], off)
        b.damping[joint] = x.damper[i] + b.dt * x.spring[i]
        b.firm[joint] = x.spring[i]  # joints may leave their ranges for it
        b.aim[joint] = aim
    x.clock[0] += b.dt * x.clock[1] / 60.0
    if x.clock[0] >= x.clock[2] + 1.0:
        b.request = 1
