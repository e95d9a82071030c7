"""Shapes of a body for collisions: a capsule along every segment, as thick as its mass makes it; and its outermost
points.

The outermost points, of the body as it is drawn, must not be below the ground.
"""

from __future__ import annotations

import numpy as np

from poise.body.character import Character
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.primitives import Capsule, Shape, Sphere, capsule_radius
from poise.body.skeleton import remembered

# kg/m3, whole body: Winter (2009), Biomechanics and motor control of human movement, 4.1.2: 1.06 for an average body.
_DENSITY = 1060.0


def build_bulk(character: Character) -> dict[int, Shape]:
    """Joint -> capsule or sphere in its frame, for every joint that carries mass.

    A segment reaches from its joint to the middle of the next joints, or to its tip; one that has neither (a head, a
    hand) reaches twice as far as its centre of mass, and a hand whose fingers weigh nothing of their own to the middle
    of their tips. Its volume is its mass over the body's density.
    """
    skeleton = character.skeleton
    shapes: dict[int, Shape] = {}
    for i, inertia in enumerate(character.inertias):
        if inertia.mass <= 0.0:
            continue
        end = _find_end(character, i)
        length = float(np.linalg.norm(end))
        volume = inertia.mass / _DENSITY
        ball = (3.0 * volume / (4.0 * np.pi)) ** (1.0 / 3.0)
        if length <= 2.0 * ball or skeleton.parents[i] < 0:
            shapes[i] = Sphere(np.array(inertia.center), float(ball))
            continue
        radius, along = capsule_radius(volume, length), end / length
        shapes[i] = Capsule(radius * along, (length - radius) * along, radius)
    return shapes


def _find_end(character: Character, i: int) -> np.ndarray:
    """(3,) m, where a segment ends, in its joint's frame."""
    skeleton = character.skeleton
    children = skeleton.children(i)
    below = [k for k in skeleton.descendants(i) if k != i]
    if below and all(character.inertias[k].mass <= 0.0 for k in below):
        rest = skeleton.rest_positions()
        ends = [rest[k] + (skeleton.tips[k] if skeleton.has_tip[k] else 0.0) for k in below if not skeleton.children(k)]
        return np.asarray(np.mean(ends, axis=0) - rest[i])
    if children:
        return np.asarray(np.mean([skeleton.offsets[child] for child in children], axis=0))
    if skeleton.has_tip[i]:
        return np.asarray(skeleton.tips[i])
    return 2.0 * np.asarray(character.inertias[i].center)


_DIRECTIONS = 400  # in which the outermost points of a segment are looked for; spread evenly


@remembered
def find_outside(character: Character) -> dict[int, np.ndarray]:
    """Points (N, 3) m of each drawn segment, in the frame of its joint, by the joint's index."""
    golden = np.pi * (3.0 - np.sqrt(5.0))  # a Fibonacci sphere
    k = np.arange(_DIRECTIONS)
    y = 1.0 - (2.0 * k + 1.0) / _DIRECTIONS
    level = np.sqrt(1.0 - y * y)
    ways = np.stack([level * np.cos(golden * k), y, level * np.sin(golden * k)], axis=1)
    found = {}
    for name, mesh in build_mannequin(character.skeleton, character.mass).items():
        vertices = mesh.vertices[np.unique(mesh.faces)]
        found[character.skeleton.index(name)] = vertices[np.unique(np.argmax(vertices @ ways.T, axis=0))]
    return found
