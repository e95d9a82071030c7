"""Bodies that differ from the average one, by name: `poise.bodies.build_body("fat")`.   [balance, 4.7.4, fig 16, 17]

A name is a start: any of them can be changed further by `reshaping`, and any character file does as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from poise.body.character import Character
from poise.body.geometry.primitives import Sphere
from poise.body.reshape import add_mass, lengthen, lock, remove
from poise.errors import unknown_name
from poise.kinds import checked

HEIGHT, MASS = 1.75, 75.0
CHILD_AGE = 7.0


class AddedMass(NamedTuple):
    """A ball that a body has on top of its own mass.

    role    the joint it is fixed to
    share   of the body's own mass, that it weighs
    place   (3,) of the height, from the joint
    """

    role: str
    share: float
    place: tuple[float, float, float]


@dataclass(frozen=True)
class Physique:
    """A kind of body.

    summary        what it is
    height, mass   times what was asked for
    age            years
    extras         balls on top of its own mass
    change         what else is done to it
    """

    summary: str
    height: float = 1.0
    mass: float = 1.0
    age: float = 30.0
    extras: tuple[AddedMass, ...] = ()
    change: Callable[[Character], Character] | None = None


_STOMACH = AddedMass("spine", 0.35, (0.0, 0.01, 0.08))
_PACK = AddedMass("upperChest", 0.2, (0.0, 0.0, -0.12))
PHYSIQUES: Mapping[str, Physique] = MappingProxyType(
    {
        "average": Physique("mean proportions"),
        "fat": Physique("a stomach of a third of its weight", extras=(_STOMACH,)),
        "thin": Physique("long and thin", height=1.1, mass=0.85),
        "short": Physique("short and stout", height=0.8, mass=0.8),
        "child": Physique("seven years old: large head, short legs", height=0.7, mass=0.32, age=CHILD_AGE),
        "long-leg": Physique(
            "the left leg 10 % longer", change=lambda body: lengthen(body, 1.1, "leftUpperLeg", "leftLowerLeg")
        ),
        "locked-knee": Physique("a left knee that does not bend", change=lambda body: lock(body, "leftLowerLeg")),
        "one-arm": Physique("no left arm", change=lambda body: remove(body, "leftUpperArm")),
        "backpack": Physique("a fifth of its weight on its back", extras=(_PACK,)),
    }
)


@checked
def build_body(name: str = "average", height: float = HEIGHT, mass: float = MASS) -> Character:
    """A body of a kind: one of `PHYSIQUES`.

    height, mass  m and kg of the average body that it is made from: a short one is shorter, a fat one heavier
    """
    kind = _find(name)
    body = Character.human(kind.height * height, kind.mass * mass, age=kind.age, name=name)
    for joint, ball, weight in list_extras(name, height, mass):
        body = add_mass(body, joint, weight, ball.center.tolist(), ball.radius)
    return body if kind.change is None else kind.change(body)


@checked
def list_extras(name: str = "average", height: float = HEIGHT, mass: float = MASS) -> list[tuple[str, Sphere, float]]:
    """What `build_body` puts on top of a body's own mass: joint, ball in that joint's frame, kg. For pictures."""
    kind, found = _find(name), []
    for extra in kind.extras:
        weight = extra.share * kind.mass * mass
        radius = (3.0 * weight / (4.0 * np.pi * 1000.0)) ** (1.0 / 3.0)
        found.append((extra.role, Sphere(np.array(extra.place) * kind.height * height, float(radius)), weight))
    return found


def _find(name: str) -> Physique:
    if name not in PHYSIQUES:
        raise unknown_name("body", name, PHYSIQUES)
    return PHYSIQUES[name]


__all__ = [
    "PHYSIQUES", "AddedMass", "Physique", "add_mass", "build_body", "lengthen", "list_extras", "lock", "remove",
]  # fmt: skip
