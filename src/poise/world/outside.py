"""The outermost points of a body as it is drawn: what must not be below the ground."""

from __future__ import annotations

import numpy as np

from poise.body.character import Character
from poise.body.mannequin import build_mannequin
from poise.body.structure import remembered

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
