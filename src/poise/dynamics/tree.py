"""The compiled body: a tree of rigid bodies on ball joints, with a root that moves freely.

A `Tree` is what the algorithms of this layer read: plain arrays, one row a joint. It is built once from a character and
never changes. The state of a body is a `TreeState`: where it is, how fast it moves and how that changes.

Every joint is a ball joint here, so that one algorithm serves every skeleton and any animation; what a hinge cannot
turn about is a direction whose acceleration is given.

Generalised velocity, of length n = 3 + 3 J:

    u = [v_0, w_0, w_1, ..., w_{J-1}]

v_0 m/s, velocity of the root joint in world axes; w_i rad/s, angular velocity of body i relative to its parent (the
root's relative to the world) in body i's own axes. Its time derivative, component by component, is the generalised
acceleration; the generalised force dual to it is

    tau = [f_0, n_0, n_1, ..., n_{J-1}]

f_0 N in world axes, n_i N m at joint i in body i's axes, so that power is tau . u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from poise.body.character import Character
from poise.errors import InputError
from poise.frozen import Portable
from poise.spatial.inertia import RigidInertia

GRAVITY = np.array([0.0, -9.81, 0.0])
GRAVITY.flags.writeable = False


def find_weight_per_mass(gravity: np.ndarray) -> float:
    """m/s2, the size of gravity (3,); the Earth's where there is none: what springs and limits are scaled by."""
    return float(np.linalg.norm(gravity)) or float(-GRAVITY[1])


@dataclass(frozen=True, eq=False)
class Tree(Portable):
    """Rigid bodies on ball joints. Body i is what joint i carries up to the next joints.

    names     (J,) joint names
    parents   (J,) index of the parent, -1 for the root; parents first
    offsets   (J, 3) m, joint in the parent body's frame; the root's is not used
    masses    (J,) kg; a joint may carry no mass
    centers   (J, 3) m, centre of mass in the body's frame, whose origin is its joint
    inertias  (J, 3, 3) kg m2 about the centre of mass, in the body's axes
    """

    names: tuple[str, ...]
    parents: np.ndarray
    offsets: np.ndarray
    masses: np.ndarray
    centers: np.ndarray
    inertias: np.ndarray

    def __post_init__(self) -> None:
        n = len(self.names)
        shapes = {"parents": (n,), "offsets": (n, 3), "masses": (n,), "centers": (n, 3), "inertias": (n, 3, 3)}
        for name, shape in shapes.items():
            array = np.array(getattr(self, name), int if name == "parents" else float)
            if array.shape != shape:
                raise InputError(f"a tree of {n} bodies needs {name} of shape {shape}; given {array.shape}.")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if n == 0 or self.parents[0] != -1 or np.any(self.parents[1:] < 0):
            raise InputError("a tree needs exactly one root, as its first body.")
        if np.any(self.parents >= np.arange(n)):
            raise InputError("a tree lists parents before their children; this order does not.")
        if np.any(self.masses < 0) or self.mass <= 0:
            raise InputError(f"masses must not be negative and must not all be zero; given {self.masses.tolist()}.")

    @classmethod
    def of(
        cls, names: tuple[str, ...], parents: np.ndarray, offsets: np.ndarray, bodies: Sequence[RigidInertia]
    ) -> Self:
        """A tree of some rigid bodies, each in its joint's frame."""
        masses = np.array([body.mass for body in bodies])
        centers, inertias = np.stack([body.center for body in bodies]), np.stack([body.inertia for body in bodies])
        return cls(names, parents, offsets, masses, centers, inertias)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def mass(self) -> float:
        """kg, all bodies together."""
        return float(self.masses.sum())

    @property
    def size(self) -> int:
        """Length n of the generalised velocity: 3 + 3 J."""
        return 3 + 3 * len(self)

    def body(self, i: int) -> RigidInertia:
        """The inertia of body i in its own frame."""
        return RigidInertia(float(self.masses[i]), self.centers[i], self.inertias[i])


def build_tree(character: Character) -> Tree:
    """The tree of a character: every joint of its skeleton, with the mass of the segments it carries."""
    skeleton = character.skeleton
    bodies = [
        RigidInertia.total(segment.inertia for segment in character.segments if segment.joint == name)
        for name in skeleton.names
    ]
    return Tree.of(skeleton.names, skeleton.parents, skeleton.offsets, bodies)


_FIELDS = 6  # of a TreeState whose joints do not slide


@dataclass(frozen=True, eq=False)
class TreeState:
    """Where a tree is, how fast it moves and how that changes; any leading axes (frames, characters).

    root                 (..., 3) m, root joint in the world
    rotations            (..., J, 4) wxyz, each body relative to its parent, the root's to the world
    velocity             (..., 3) m/s, of the root joint, world axes
    angular_velocity     (..., J, 3) rad/s, of each body relative to its parent, in the body's axes
    acceleration         (..., 3) m/s2, of the root joint, world axes
    angular_acceleration (..., J, 3) rad/s2, time derivative of `angular_velocity`, component by component
    shift                (..., J, 3) m, how far each joint is from its offset, in the parent's axes; None: nowhere. The
                         root's are not used. Given motion: joints that slide are no freedoms of the tree
    shift_velocity       (..., J, 3) m/s, its time derivative, component by component; None with `shift`
    shift_acceleration   (..., J, 3) m/s2, that one's
    """

    root: np.ndarray
    rotations: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    acceleration: np.ndarray
    angular_acceleration: np.ndarray
    shift: np.ndarray | None = None
    shift_velocity: np.ndarray | None = None
    shift_acceleration: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in self._given:
            object.__setattr__(self, name, np.asarray(getattr(self, name), float))
        if len(self._given) not in (_FIELDS, _FIELDS + 3):
            raise InputError("joints that slide need their shift, its velocity and its acceleration; some are missing.")
        batch, j = self.rotations.shape[:-2], self.rotations.shape[-2]
        wanted = {
            "root": (*batch, 3),
            "velocity": (*batch, 3),
            "acceleration": (*batch, 3),
            "angular_velocity": (*batch, j, 3),
            "angular_acceleration": (*batch, j, 3),
            **dict.fromkeys(self._given[_FIELDS:], (*batch, j, 3)),
        }
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise InputError(
                    f"{name} has shape {getattr(self, name).shape}, rotations {self.rotations.shape} ask for {shape}."
                )

    @staticmethod
    def at_rest(root: np.ndarray, rotations: np.ndarray) -> TreeState:
        """A pose without speed or acceleration."""
        root, rotations = np.asarray(root, float), np.asarray(rotations, float)
        still, turns = np.zeros_like(root), np.zeros((*rotations.shape[:-1], 3))
        return TreeState(root, rotations, still, turns, still, turns)

    @property
    def _given(self) -> list[str]:
        """The fields that are not None."""
        return [name for name in self.__dataclass_fields__ if getattr(self, name) is not None]

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes."""
        return self.rotations.shape[:-2]

    def __getitem__(self, item: int | slice | np.ndarray | tuple) -> TreeState:
        """Some frames, by indexing the leading axes."""
        return TreeState(*(getattr(self, name)[item] for name in self._given))

    @staticmethod
    def stack(states: Sequence[TreeState]) -> TreeState:
        """Several of equal shape along a new first axis."""
        return TreeState(*(np.stack([getattr(m, name) for m in states]) for name in states[0]._given))

    @property
    def generalised_velocity(self) -> np.ndarray:
        """u, (..., 3 + 3 J)."""
        return pack(self.velocity, self.angular_velocity)

    @property
    def generalised_acceleration(self) -> np.ndarray:
        """The time derivative of u, (..., 3 + 3 J)."""
        return pack(self.acceleration, self.angular_acceleration)


def pack(linear: np.ndarray, angular: np.ndarray) -> np.ndarray:
    """[linear, angular_0, angular_1, ...]: (..., 3) and (..., J, 3) to (..., 3 + 3 J)."""
    return np.concatenate([linear, angular.reshape(*angular.shape[:-2], -1)], axis=-1)


def unpack(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of `pack`."""
    return u[..., :3], u[..., 3:].reshape(*u.shape[:-1], -1, 3)
