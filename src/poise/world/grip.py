"""A prop in a hand: as long as it is held it is a part of the hand's body, in whatever engine, to the last digit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.geometry.primitives import Capsule, Shape
from poise.errors import InputError
from poise.kinds import checked
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.world.collision_shapes import build_bulk
from poise.world.overlap import place_shape
from poise.world.prop import Prop

# What a fist holds lies across it: at rest, arms out to the sides and palms down, from the little finger to the thumb,
# which is forward. A prop's own up is towards the thumb.
ACROSS = rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.5 * np.pi)


@checked
@dataclass(frozen=True, eq=False)
class Grip:
    """A prop that a joint's body holds.

    joint  name or role
    place  (3,) m where the prop's frame is in the joint's;  turn (4,) how it is turned there
    """

    joint: str
    prop: Prop
    place: np.ndarray = field(default_factory=lambda: np.zeros(3))
    turn: np.ndarray = field(default_factory=lambda: ACROSS.copy())

    def __post_init__(self) -> None:
        for what, size in (("place", 3), ("turn", 4)):
            values: Any = getattr(self, what)
            try:
                numbers = np.asarray(values, float)
            except (TypeError, ValueError):
                numbers = np.zeros(0)
            if numbers.shape != (size,) or not np.all(np.abs(numbers) <= 1000.0):
                raise InputError(
                    f"the {what} of '{self.prop.name}' in '{self.joint}' is {size} numbers of at most 1000; given "
                    f"{values!r:.60}."
                )
            object.__setattr__(self, what, numbers)
        length = float(np.linalg.norm(self.turn))
        if length < 1e-6:
            raise InputError(f"the turn of '{self.prop.name}' in '{self.joint}' must be a quaternion that is not zero.")
        object.__setattr__(self, "turn", self.turn / length)
        if self.prop.inertia is None or self.prop.hinge is not None:
            why = "has no mass and stands still for good" if self.prop.inertia is None else "hangs on a hinge"
            raise InputError(f"'{self.joint}' cannot hold '{self.prop.name}', which {why}. Hold what moves freely.")

    @property
    def mass(self) -> float:
        """kg."""
        return float(self.inertia.mass)

    @property
    def offset(self) -> tuple[float, float, float]:
        """m, the prop's centre of mass in the joint's frame."""
        x, y, z = self.inertia.center.tolist()
        return x, y, z

    @property
    def inertia(self) -> RigidInertia:
        """The prop's, in the joint's frame."""
        assert self.prop.inertia is not None
        return self.prop.inertia.moved(rotation.to_matrix(self.turn), self.place)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """What of the prop touches things, in the joint's frame."""
        return (
            tuple(place_shape(shape, self.turn, self.place) for shape in self.prop.shapes) if self.prop.touches else ()
        )

    def follow(self, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) m and turn (4,) of the prop where its joint's body is: matrix R (3, 3), joint p (3,) m."""
        return p + R @ self.place, rotation.multiply(rotation.from_matrix(R), self.turn)


def find_fist(character: Character, joint: str) -> np.ndarray:
    """(3,) m, in its frame, where a joint's body holds things: the middle of it."""
    shape = build_bulk(character).get(character.skeleton.index(joint))
    if isinstance(shape, Capsule):
        return 0.5 * (shape.start + shape.end)
    return np.zeros(3) if shape is None else np.array(shape.center)
