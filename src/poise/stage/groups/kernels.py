"""Positions and velocities of the shapes of many bodies, compiled."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.layout import Floats, Ints, Layout, at
from poise.dynamics.body_kernels import Body, move_bodies, pose_bodies, turn


class CapsuleSet(Layout):
    """The capsules of some bodies (`overlap.Lines`), and where they are now."""

    count: int
    joint: Annotated[Ints, "count"]
    ends: Annotated[Floats, "count", 2, 3]  # m, in the joint's frame
    radius: Annotated[Floats, "count"]  # m
    body_count: int
    bodies: Annotated[Ints, "body_count"]  # addresses
    first_count: int  # one more than there are bodies
    first: Annotated[Ints, "first_count"]  # the capsules of body b are first[b] to first[b + 1]
    max_joints: int  # of one body
    places: Annotated[Floats, "count", 2, 3]  # m, both ends in the world
    speeds: Annotated[Floats, "count"]  # m/s, of the faster end
    boxes: Annotated[Floats, "body_count", 2, 3]  # m, lowest and highest corner of a box around each body


@kernel
def find_places(address: int, ahead: float) -> None:
    """Write places, speeds and boxes of a `CapsuleSet`; the boxes have room for `ahead` s at the present speed."""
    capsules = at(address, CapsuleSet)
    most, bodies, first, joint, ends = (
        capsules.max_joints,
        capsules.bodies,
        capsules.first,
        capsules.joint,
        capsules.ends,
    )
    radius, places, speeds, boxes = capsules.radius, capsules.places, capsules.speeds, capsules.boxes
    R, p = np.empty((most, 3, 3)), np.empty((most, 3))
    om, v = np.empty((most, 3)), np.empty((most, 3))
    for k in range(capsules.body_count):
        b = at(bodies[k], Body)
        j = b.joints
        pose_bodies(b.parents, b.offsets, b.root, b.q, R[:j], p[:j])
        move_bodies(b.parents, R[:j], p[:j], b.v, b.w, om[:j], v[:j])
        boxes[k, 0, :] = np.inf
        boxes[k, 1, :] = -np.inf
        for n in range(first[k], first[k + 1]):
            i = joint[n]
            speeds[n] = 0.0
            for e in range(2):
                x, y, z = turn(R[i], ends[n, e])
                u = v[i, 0] + om[i, 1] * z - om[i, 2] * y
                s = v[i, 1] + om[i, 2] * x - om[i, 0] * z
                t = v[i, 2] + om[i, 0] * y - om[i, 1] * x
                speeds[n] = max(speeds[n], np.sqrt(u * u + s * s + t * t))
                places[n, e, 0], places[n, e, 1], places[n, e, 2] = p[i, 0] + x, p[i, 1] + y, p[i, 2] + z
                for a in range(3):
                    moved = ahead * (u if a == 0 else (s if a == 1 else t))
                    now = places[n, e, a]
                    boxes[k, 0, a] = min(boxes[k, 0, a], now - radius[n], now + moved - radius[n])
                    boxes[k, 1, a] = max(boxes[k, 1, a], now + radius[n], now + moved + radius[n])
