"""A playground swing: a seat on two ropes that stay straight, as one rigid body that hangs from a bar.

Its frame has its origin in the middle of the seat's upper face, +Y along the ropes, +Z the way its rider faces. A
positive angle is a swing that has gone back.
"""

from __future__ import annotations

import math

import numpy as np

from poise.body.geometry.primitives import Box, Capsule
from poise.errors import InputError, check_range
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.world.prop import Hinge, Prop

SEAT = (0.23, 0.015, 0.10)  # m, half its edges: a common plank of 46 x 20 x 3 cm
SEAT_MASS, ROPE_MASS = 2.0, 0.6  # kg: the plank in hardwood, a rope of 2 m with its fittings
ROPE_RADIUS = 0.011  # m


def build_swing(
    length: float = 2.2, angle: float = 0.0, clearance: float = 0.5, damping: float = 0.0, name: str = "swing"
) -> Prop:
    """A swing over the origin of the ground, at rest at an angle.

    length     m, from bar to seat
    angle      rad from hanging, positive back; within a quarter turn
    clearance  m, of the seat over the ground when it hangs
    damping    N m s/rad at the bar: 0 swings for ever, 10 stops a grown rider within a few swings
    """
    for what, value, low, high in (
        ("length", length, 0.2, 50.0),
        ("angle", angle, -math.pi / 2, math.pi / 2),
        ("clearance", clearance, 0.0, 50.0),
        ("damping", damping, 0.0, 1e6),
    ):
        check_range(f"the {what} of a swing", value, low, high)
    axis, bar = np.array([1.0, 0.0, 0.0]), np.array([0.0, length, 0.0])
    seat = Box(np.array([0.0, -SEAT[1], 0.0]), np.array(SEAT), rotation.identity())
    sides = [side * (SEAT[0] - 0.01) * axis for side in (1.0, -1.0)]
    ropes = [Capsule(side, side + bar, ROPE_RADIUS) for side in sides]
    inertia = RigidInertia.total([_plank(seat), *(_rod(rope) for rope in ropes)])
    turn = rotation.from_axis_angle(axis, angle)
    pivot = np.array([0.0, clearance + length, 0.0])
    return Prop(
        name,
        (seat, *ropes),
        inertia,
        pivot - rotation.rotate(turn, bar),
        turn,
        Hinge(bar, axis, damping),
        touches=False,
    )


def grip(prop: Prop, side: int, height: float) -> np.ndarray:
    """(3,) m in the swing's frame: where a hand holds the left (0) or right (1) rope, so high above the seat."""
    rope = prop.shapes[1 + side]
    if not isinstance(rope, Capsule):
        raise InputError(f"prop '{prop.name}' has no ropes to hold; make it with build_swing.")
    return np.asarray(rope.start + [0.0, height, 0.0])


def _plank(box: Box) -> RigidInertia:
    x, y, z = np.asarray(box.half) ** 2
    return RigidInertia(SEAT_MASS, box.center, SEAT_MASS / 3.0 * np.diag([y + z, x + z, x + y]))


def _rod(rope: Capsule) -> RigidInertia:
    """Thin, along +Y."""
    moment = ROPE_MASS * rope.length**2 / 12.0
    return RigidInertia(
        ROPE_MASS, 0.5 * (rope.start + rope.end), np.diag([moment, 0.5 * ROPE_MASS * rope.radius**2, moment])
    )
