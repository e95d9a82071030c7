"""A character as a MuJoCo model (MJCF XML).

One body a joint, in the skeleton's own frames and names: y up, metres, kilograms, gravity (0, -9.81, 0). The root is
free; a joint with three freedoms is a ball, with fewer a hinge for each, and one with none is welded. With all joint
coordinates at rest (hinges 0, balls identity, root at its rest position) the model stands in the skeleton's rest pose.
Inertias are the character's, to the last digit that MuJoCo's diagonalisation keeps.

MuJoCo wants every moving body to have mass: one without gets `TRACE_MASS` and `TRACE_INERTIA`, lost in round-off.
A ball's range in MuJoCo is one angle from the rest pose; it is the largest that the joint's limits allow in any
direction. A name that MuJoCo has itself (`world`), that comes twice or that XML cannot hold becomes the nearest that
will do: `world~2`. Geoms touch the floor only, not one another: neighbouring segments overlap by design.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from xml.etree import ElementTree

import numpy as np

from poise.body.character import Character
from poise.body.fit_names import fit_name
from poise.body.limits import JointLimits
from poise.body.shape import Capsule, Shape, Sphere, collision_shapes
from poise.files.atomic import write_bytes
from poise.spatial import rotation

TRACE_MASS = 1e-12
TRACE_INERTIA = 1e-12
GRAVITY = (0.0, -9.81, 0.0)
_SIX = (np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2]))


def save_mjcf(
    character: Character,
    path: str | PathLike[str],
    *,
    shapes: Mapping[str, Shape] | None = None,
    floor: bool = True,
) -> None:
    """Write a character as MJCF. See `build_mjcf` for the options."""
    write_bytes(path, build_mjcf(character, shapes=shapes, floor=floor).encode())


def build_mjcf(character: Character, *, shapes: Mapping[str, Shape] | None = None, floor: bool = True) -> str:
    """The XML text of a character's MuJoCo model.

    shapes  joint name -> shape in the joint's frame that touches the floor; those of the mannequin (boxes for feet,
            capsules for the rest) by default, {} for none
    floor   whether there is a floor at y = 0
    """
    if shapes is None:
        from poise.body.mannequin import build_mannequin

        meshes = build_mannequin(character.skeleton, character.mass)
        shapes = collision_shapes(meshes, character.skeleton.roles)
    root = ElementTree.Element("mujoco", model=fit_name(character.name, set(), "character"))
    ElementTree.SubElement(
        root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false", fusestatic="false"
    )
    ElementTree.SubElement(root, "option", gravity=_text(GRAVITY), integrator="implicitfast")
    world = ElementTree.SubElement(root, "worldbody")
    if floor:
        ElementTree.SubElement(
            world, "geom", name="floor", type="plane", size="0 0 1", zaxis="0 1 0", contype="0", conaffinity="1"
        )
    _add_bodies(character, shapes, world)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_bodies(character: Character, shapes: Mapping[str, Shape], world: ElementTree.Element) -> None:
    skeleton = character.skeleton
    bodies: list[ElementTree.Element] = []
    called, taken, geoms = {"world"}, set[str](), {"floor"}  # bodies, joints and geoms have each names of their own
    for i, name in enumerate(skeleton.names):
        parent = int(skeleton.parents[i])
        fitted = fit_name(name, called)
        body = ElementTree.SubElement(
            bodies[parent] if parent >= 0 else world, "body", name=fitted, pos=_text(skeleton.offsets[i])
        )
        bodies.append(body)
        moves = parent < 0 or name in character.freedoms
        if parent < 0:
            ElementTree.SubElement(body, "freejoint", name=fit_name(name, taken))
        elif moves:
            _add_joints(body, name, character.freedoms[name], character.limits.get(name), taken)
        _add_inertia(body, character, i, moves)
        if name in shapes:
            geom = {"name": fit_name(name, geoms), "contype": "1", "conaffinity": "0"} | _geom(shapes[name])
            ElementTree.SubElement(body, "geom", geom)


def _geom(shape: Shape) -> dict[str, str]:
    """The attributes of a shape's geom."""
    if isinstance(shape, Sphere):
        return {"type": "sphere", "size": _text([shape.radius]), "pos": _text(shape.center)}
    if isinstance(shape, Capsule):
        return {"type": "capsule", "size": _text([shape.radius]), "fromto": _text([*shape.start, *shape.end])}
    return {"type": "box", "size": _text(shape.half), "pos": _text(shape.center), "quat": _text(shape.turn)}


def _add_joints(
    body: ElementTree.Element, name: str, axes: np.ndarray, limits: JointLimits | None, taken: set[str]
) -> None:
    if len(axes) == 3:
        joint = ElementTree.SubElement(body, "joint", name=fit_name(name, taken), type="ball")
        reach = np.pi if limits is None else _largest_angle(limits)
        if reach < np.pi:
            joint.set("range", _text([0.0, reach]))
        return
    for k, axis in enumerate(axes):
        label = name if len(axes) == 1 else f"{name}.{k + 1}"
        joint = ElementTree.SubElement(body, "joint", name=fit_name(label, taken), type="hinge", axis=_text(axis))
        bounds = None if limits is None else _hinge_range(limits, axis)
        if bounds is not None:
            joint.set("range", _text(bounds))


def _hinge_range(limits: JointLimits, axis: np.ndarray) -> tuple[float, float] | None:
    """The range of a hinge about one of the limits' axes, counted from the rest pose; None about any other axis."""
    along = limits.axes @ axis
    k = int(np.argmax(np.abs(along)))
    if abs(along[k]) < 1.0 - 1e-9:
        return None
    at_rest = limits.angles(rotation.identity())[k]
    low, high = sorted(np.sign(along[k]) * (np.array([limits.lower[k], limits.upper[k]]) - at_rest))
    return float(low), float(high)


def _largest_angle(limits: JointLimits) -> float:
    """The largest turn from the rest pose (rad) that the limits allow, over a grid of their angles."""
    grid = np.meshgrid(*np.linspace(limits.lower, limits.upper, 7).T, indexing="ij")
    allowed = limits.rotation(np.stack(grid, axis=-1).reshape(-1, 3))
    return float(np.max(rotation.angle(rotation.identity(), allowed)))


def _add_inertia(body: ElementTree.Element, character: Character, joint: int, moves: bool) -> None:
    inertia = character.inertias[joint]
    if inertia.mass > 0.0:
        ElementTree.SubElement(
            body,
            "inertial",
            pos=_text(inertia.center),
            mass=repr(float(inertia.mass)),
            fullinertia=_text(inertia.inertia[_SIX]),
        )
    elif moves:
        trace = _text([TRACE_INERTIA] * 3)
        ElementTree.SubElement(body, "inertial", pos="0 0 0", mass=repr(TRACE_MASS), diaginertia=trace)


def _text(numbers: np.ndarray | list[float] | tuple[float, ...]) -> str:
    return " ".join(repr(float(number)) for number in numbers)
