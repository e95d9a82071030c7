"""A body to simulate: skeleton, segments, joint limits and degrees of freedom; frozen and checked.

A segment is one rigid body of it: the matter between a joint and the next joints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.joints import JointLimits, find_freedoms, find_limits, get_preset
from poise.body.role_finding.guess import check_human, with_roles
from poise.body.roles import mirror_role
from poise.body.segments.distribution import lay_table
from poise.body.segments.proportions import build_skeleton, compute_proportions
from poise.body.segments.stature import STATURES, estimate_mass, estimate_stature
from poise.body.segments.tables import check_sex_age, get_table
from poise.body.skeleton import Skeleton
from poise.errors import InputError, check_range, unknown_name
from poise.frozen import Portable
from poise.kinds import checked
from poise.spatial.inertia import RigidInertia

MASSES = (1.0, 1000.0)
_FARTHEST = 10.0  # times the height, that a segment's matter may be from its joint
# A role's matter by the name of the density table; the trunk's joints by their order upwards.
SEGMENT_OF_ROLE = {
    "hips": "lowerTrunk",
    "spine": "middleTrunk",
    "chest": "upperTrunk",
    "upperChest": "upperTrunk",
    "neck": "head",
    "head": "head",
    "leftShoulder": "upperTrunk",
    "leftUpperArm": "upperArm",
    "leftLowerArm": "forearm",
    "leftHand": "hand",
    "leftUpperLeg": "thigh",
    "leftLowerLeg": "shank",
    "leftFoot": "foot",
    "leftToes": "foot",
}


@dataclass(frozen=True, eq=False)
class Character(Portable):
    """A body that can be simulated.

    name      what it is called
    skeleton  its joints, with roles
    segments  the matter each joint carries; joints without a segment have no mass
    height    m, sole to vertex
    limits    joint name -> how far it turns; joints without an entry turn freely
    freedoms  joint name -> axes (n, 3) in its frame; joints without an entry do not turn. The root is free.
    sex       male, female or neutral
    age       years
    table     where the masses are from: the name of a table, or `meshes`
    model     how the file of the model was read that it is of (`files/reading/pipeline.py:Reading`); None if it is of
              none
    """

    name: str
    skeleton: Skeleton
    segments: tuple[Segment, ...]
    height: float
    limits: Mapping[str, JointLimits] = field(default_factory=dict)
    freedoms: Mapping[str, np.ndarray] = field(default_factory=dict)
    sex: str = "neutral"
    age: float = 30.0
    table: str = "deleva"
    model: object | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "segments", tuple(self.segments))
        set_(self, "limits", MappingProxyType(dict(self.limits)))
        set_(self, "freedoms", MappingProxyType({name: _check_axes(name, a) for name, a in self.freedoms.items()}))
        check_sex_age(self.sex, self.age)
        check_range("height", self.height, *STATURES, "m")
        for what, names in (
            ("segment's joint", [segment.joint for segment in self.segments]),
            ("joint of the limits", list(self.limits)),
            ("joint of the freedoms", list(self.freedoms)),
        ):
            for name in names:
                if name not in self.skeleton.names:
                    raise unknown_name(what, name, self.skeleton.names, f"character '{self.name}'")
        for what, labels in (("joint", [s.joint for s in self.segments]), ("name", [s.name for s in self.segments])):
            doubles = sorted({label for label in labels if labels.count(label) > 1})
            if doubles:
                raise InputError(f"more than one segment has the {what} {', '.join(doubles)}; each has its own.")
        if self.skeleton.names[0] in self.freedoms:
            raise InputError(f"the root joint '{self.skeleton.names[0]}' is free; it has no axes of its own.")
        check_range("mass", self.mass, *MASSES, "kg")
        for segment in self.segments:
            reach = segment.inertia.reach()
            if reach > _FARTHEST * self.height:
                raise InputError(
                    f"the matter of '{segment.name}' reaches {reach:.3g} m from its joint, on a body {self.height:.3g} "
                    f"m tall; at most {_FARTHEST:g} times that can be. Mend the offsets of its bones."
                )

    @staticmethod
    @checked
    def human(
        height: float = 1.75,
        mass: float | None = 75.0,
        sex: str = "neutral",
        age: float = 30.0,
        preset: str = "full",
        table: str = "deleva",
        name: str | None = None,
    ) -> Character:
        """An average human in a T-pose, by height (m), mass (kg; None for an average one), sex and age (years).

        preset  which joints: `mix`, `strength`, `tracking` or `full` (see `presets`)
        table   whose masses: `deleva` or `winter`
        """
        check_sex_age(sex, age)
        check_range("height", height, *STATURES, "m")
        body = get_preset(preset)
        skeleton = build_skeleton(float(height), compute_proportions(sex, age), body.roles)
        return Character._build(skeleton, mass, height, sex, age, table, name or preset, body.axes)

    @staticmethod
    @checked
    def from_skeleton(
        skeleton: Skeleton,
        mass: float | None = None,
        height: float | None = None,
        sex: str = "neutral",
        age: float = 30.0,
        table: str = "deleva",
        name: str = "human",
    ) -> Character:
        """The body of any human skeleton. Height (m) and mass (kg) are estimated, from bones and height, if not given.

        A given height is that of the body as it stands there; it does not scale the skeleton.
        """
        check_sex_age(sex, age)
        skeleton = with_roles(skeleton)
        check_human(skeleton)
        if height is None:
            height = estimate_stature(skeleton)
        check_range("height", height, *STATURES, "m")
        return Character._build(skeleton, mass, height, sex, age, table, name, None)

    @staticmethod
    def _build(
        skeleton: Skeleton,
        mass: float | None,
        height: float,
        sex: str,
        age: float,
        table: str,
        name: str,
        axes: Mapping[str, str] | None,
    ) -> Character:
        if mass is None:
            mass = estimate_mass(height, sex, age)
        check_range("mass", mass, *MASSES, "kg")
        inertias = lay_table(skeleton, mass, get_table(table, sex, age), height)
        return Character(
            name,
            skeleton,
            _to_segments(skeleton, inertias),
            float(height),
            find_limits(skeleton),
            find_freedoms(skeleton) if axes is None else find_freedoms(skeleton, axes),
            sex,
            float(age),
            table,
        )

    @staticmethod
    def from_meshes(
        skeleton: Skeleton,
        meshes: Mapping[str, Mesh],
        densities: Mapping[str, float] | float | None = None,
        mass: float | None = None,
        height: float | None = None,
        name: str = "human",
    ) -> Character:
        """A body of closed meshes, each uniformly dense: mass, centre and inertia by exact integration.   [mix, 3.1]

        meshes     joint name or role -> closed mesh in the joint's frame at rest, in metres
        densities  kg/m3: one for all, or by joint name or role; by default those of Winter's table 4.1 (Dempster)
        mass       kg of the whole, to which all densities are scaled alike; without it they are taken as they are.
                   Meshes that overlap at the joints count twice there, so give it where the mass is known.
        """
        from poise.body.geometry.polyhedron import mass_properties

        skeleton = with_roles(skeleton)
        if not meshes:
            raise InputError("no meshes are given; a body needs at least one.")
        inertias = [RigidInertia.zero()] * len(skeleton)
        for joint, mesh in meshes.items():
            index = skeleton.index(joint)
            inertias[index] = mass_properties(mesh, _find_density(skeleton, index, joint, densities))
        if mass is not None:
            check_range("mass", mass, *MASSES, "kg")
            factor = mass / math.fsum(inertia.mass for inertia in inertias)
            inertias = [RigidInertia(factor * i.mass, i.center, factor * i.inertia) for i in inertias]
        return Character(
            name,
            skeleton,
            _to_segments(skeleton, inertias),
            float(estimate_stature(skeleton) if height is None else height),
            find_limits(skeleton),
            find_freedoms(skeleton),
            table="meshes",
        )

    @cached_property
    def mass(self) -> float:
        """kg, the sum of the segments."""
        return math.fsum(segment.mass for segment in self.segments)

    @cached_property
    def inertias(self) -> tuple[RigidInertia, ...]:
        """The inertia that each joint carries, in its frame, in the skeleton's order; zero for a joint without mass."""
        of = {segment.joint: segment.inertia for segment in self.segments}
        return tuple(of.get(name, RigidInertia.zero()) for name in self.skeleton.names)

    @property
    def degrees_of_freedom(self) -> int:
        """How many, besides the root's six."""
        return sum(len(axes) for axes in self.freedoms.values())

    def segment(self, joint: str) -> Segment:
        """The segment that a joint carries, by the joint's name or role."""
        index = self.skeleton.index(joint)
        found = next((s for s in self.segments if s.joint == self.skeleton.names[index]), None)
        if found is None:
            massive = ", ".join(segment.name for segment in self.segments)
            raise InputError(f"joint '{joint}' of character '{self.name}' carries no mass. Segments: {massive}.")
        return found

    def center_of_mass(self) -> np.ndarray:
        """(3,) m, in the rest pose."""
        rest = self.skeleton.rest_positions()
        moments = [inertia.mass * (at + inertia.center) for inertia, at in zip(self.inertias, rest, strict=True)]
        return np.asarray(sum(moments, np.zeros(3)) / self.mass)


def _to_segments(skeleton: Skeleton, inertias: list[RigidInertia]) -> tuple[Segment, ...]:
    """A segment for each joint that has mass, called after the joint's role."""
    return tuple(
        Segment(label, name, inertia)
        for label, name, inertia in zip(skeleton.labels, skeleton.names, inertias, strict=True)
        if inertia.mass > 0.0
    )


def _find_density(skeleton: Skeleton, index: int, key: str, densities: Mapping[str, float] | float | None) -> float:
    from poise.body.segments.tables import DENSITIES

    if isinstance(densities, int | float):
        density = float(densities)
    else:
        names = (key, skeleton.names[index], skeleton.labels[index])
        given = next((densities[name] for name in names if densities and name in densities), None)
        label = skeleton.labels[index]
        role = mirror_role(label) if label.startswith("right") else label
        if given is None and role not in SEGMENT_OF_ROLE:
            raise InputError(
                f"joint '{key}' has no role with a known density. Give densities={{'{key}': 1050.0}} (kg/m3)."
            )
        density = float(given) if given is not None else DENSITIES[SEGMENT_OF_ROLE[role]]
    if not (math.isfinite(density) and density > 0.0):
        raise InputError(f"the density of '{key}' is {density:g} kg/m3; it must be positive.")
    return density


def _check_axes(name: str, axes: np.ndarray) -> np.ndarray:
    array = np.array(axes, float)
    if array.ndim != 2 or array.shape[1] != 3 or not 1 <= len(array) <= 3:
        raise InputError(f"the freedoms of '{name}' must be one to three axes (n, 3); given {array.shape}.")
    if not all(abs(math.hypot(*axis) - 1.0) <= 1e-6 for axis in array.tolist()):  # nor NaN
        raise InputError(f"the freedoms of '{name}' must be unit axes.")
    array.flags.writeable = False
    return array


MOST_MASS, MOST_REACH = 1e4, 1e3  # kg, m: beyond any body, below what round-off makes nonsense of


@dataclass(frozen=True, eq=False)
class Segment(Portable):
    """The matter that turns with a joint.

    name     what it is called, by default the joint's role
    joint    name of the joint whose frame it moves with
    inertia  mass (kg), centre (m) and inertia (kg m2), in the joint's frame
    """

    name: str
    joint: str
    inertia: RigidInertia

    def __post_init__(self) -> None:
        mass, center = float(self.inertia.mass), np.array(self.inertia.center, float)
        tensor = np.array(self.inertia.inertia, float)
        if center.shape != (3,) or tensor.shape != (3, 3):
            raise InputError(
                f"segment '{self.name}' needs a centre (3,) and an inertia (3, 3); "
                f"given {center.shape} and {tensor.shape}."
            )
        place, flat = center.tolist(), tensor.ravel().tolist()
        if not all(map(math.isfinite, (mass, *place, *flat))):
            raise InputError(f"segment '{self.name}' has a mass, centre or inertia that is not a finite number.")
        for what, size, most, unit in (
            ("mass", abs(mass), MOST_MASS, "kg"),
            ("centre", max(map(abs, place)), MOST_REACH, "m from its joint"),
            ("inertia", max(map(abs, flat)), MOST_MASS * MOST_REACH**2, "kg m2"),
        ):
            if size > most:
                raise InputError(
                    f"segment '{self.name}' has a {what} of {size:g} {unit}; at most {most:g} can be used. Check units."
                )
        if mass < 0.0:
            raise InputError(f"segment '{self.name}' has a mass of {mass:g} kg; it cannot be negative.")
        upper, lower = (flat[1], flat[2], flat[5]), (flat[3], flat[6], flat[7])
        if upper != lower and not np.allclose(tensor, tensor.T, rtol=1e-9, atol=1e-15):
            raise InputError(f"segment '{self.name}' has an inertia that is not symmetric.")
        inertia = RigidInertia(mass, center, 0.5 * (tensor + tensor.T))
        if not inertia.is_physical():
            raise InputError(
                f"segment '{self.name}' has an inertia that no body of {mass:g} kg can have: its principal moments "
                "must be positive and each at most the sum of the other two."
            )
        for array in (inertia.center, inertia.inertia):
            array.flags.writeable = False
        object.__setattr__(self, "inertia", inertia)

    @property
    def mass(self) -> float:
        """kg."""
        return self.inertia.mass
