"""A figure as others' inverse kinematics wants it: hinges, as MJCF.

A ball joint is up to three hinges at one place, about the axes of its angles (`body/joints.py`): x, then z, then y,
each with the same range. Where only one of x and z is turned the rotations are the same; where both are, two hinges one
after the other are not one turn about the axis between them, so `draw_pose` gives poses that are legal for both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import poise
from poise import rotation
from poise.dynamics.tree import build_tree
from poise.ik.model import CharacterModel

_ORDER = (0, 2, 1)  # x, z, y


@dataclass(frozen=True)
class HingeJoint:
    """One angle of a joint: its name, its axis (3,) in the joint's frame, its range and where it begins, in rad."""

    name: str
    axis: np.ndarray
    low: float
    high: float
    start: float


@dataclass(frozen=True)
class Link:
    """A joint of the tree: at `offset` in its parent's frame, turned by `turn` (4,), then by its hinges."""

    name: str
    parent: int
    offset: np.ndarray
    turn: np.ndarray
    mass: float
    center: np.ndarray
    hinges: tuple[HingeJoint, ...]


def list_links(character: poise.Character) -> list[Link]:
    """The tree of a character, as hinges."""
    arrays, tree = CharacterModel(character, False, {}, 0.0).arrays, build_tree(character)
    links = []
    for i, name in enumerate(tree.names):
        # P^-1 E C = (P^-1 C) C^-1 E C: hinges turn after the joint's own rotation, about C^-1 of their axes
        turn = rotation.multiply(arrays.before[i], arrays.after[i])
        axes = rotation.rotate(rotation.conjugate(arrays.after[i]), np.eye(3))
        hinges = []
        for a in _ORDER:
            for j in np.flatnonzero((arrays.joint == i) & (arrays.axis == a)):
                low, high = float(arrays.low[j]), float(arrays.high[j])
                hinges.append(HingeJoint(f"{name}_{'xyz'[a]}", axes[a], low, high, float(arrays.rest[j])))
        links.append(
            Link(
                name, int(tree.parents[i]), tree.offsets[i], turn, float(tree.masses[i]), tree.centers[i], tuple(hinges)
            )
        )
    return links


def write_mjcf(links: list[Link]) -> str:
    """A model for MuJoCo, with a free root."""
    children: dict[int, list[int]] = {}
    for i, link in enumerate(links):
        children.setdefault(link.parent, []).append(i)

    def write(i: int) -> str:
        link = links[i]
        joints = '<freejoint name="root"/>' if link.parent < 0 else ""
        joints += "".join(
            f'<joint name="{h.name}" axis="{_show(h.axis)}" range="{h.low!r} {h.high!r}"/>' for h in link.hinges
        )
        mass = max(link.mass, 1e-9)
        inertial = f'<inertial mass="{mass!r}" pos="{_show(link.center)}" diaginertia="1e-3 1e-3 1e-3"/>'
        inner = "".join(write(k) for k in children.get(i, []))
        place = np.zeros(3) if link.parent < 0 else link.offset
        return (
            f'<body name="{link.name}" pos="{_show(place)}" quat="{_show(link.turn)}">{joints}{inertial}{inner}</body>'
        )

    return (
        '<mujoco><compiler angle="radian" autolimits="true"/><worldbody>' + write(0) + "</worldbody></mujoco>"
    )  # fmt: skip


def draw_pose(character: poise.Character, rng: np.random.Generator, size: float) -> np.ndarray:
    """(J, 4) a random pose that is legal, of angles and of hinges; size: of the ranges, that is used."""
    figure = CharacterModel(character, False, {}, 0.0)
    arrays = figure.arrays
    turns = rotation.identity((len(character.skeleton),))
    for i in np.flatnonzero(arrays.has_angles):
        ends = character.limits[character.skeleton.names[i]]
        own = arrays.axis[arrays.joint == i]
        low, high = np.zeros(3), np.zeros(3)
        low[own], high[own] = arrays.low[arrays.joint == i], arrays.high[arrays.joint == i]
        while True:
            angles = np.clip(size * rng.uniform(low, high), low, high)
            if 1 not in own and {0, 2} <= set(own.tolist()):  # no turn about y to make up for the order of x and z
                angles[rng.choice([0, 2])] = 0.0
            hinges = find_hinge_angles(angles)
            if np.all(hinges >= low - 1e-9) and np.all(hinges <= high + 1e-9):
                break
        turns[i] = ends.rotation(angles)
    return turns


def find_hinge_angles(angles: np.ndarray) -> np.ndarray:
    """(3,) x, y, z of hinges in the order x, z, y that turn as angles (3,) of `limits` do."""
    swing, twist = rotation.exp(angles * [1.0, 0.0, 1.0]), rotation.exp(angles * [0.0, 1.0, 0.0])
    m = rotation.to_matrix(rotation.multiply(swing, twist))
    # Rx(a) Rz(b) Ry(c): its first row is (cos b cos c, -sin b, cos b sin c), its middle column (-sin b, cos a cos b, .)
    return np.array([np.arctan2(m[2, 1], m[1, 1]), np.arctan2(m[0, 2], m[0, 0]), np.arcsin(np.clip(-m[0, 1], -1, 1))])


def _show(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)
