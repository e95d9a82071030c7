"""What a crowd looks like: a few meshes, each drawn at the size of whoever wears it.

Making a mesh takes a third of a second and half a megabyte, so a thousand bodies cannot have one each. People of one
sex have the same proportions here (`Character.human`), so the mesh of one fits another of any stature exactly, scaled;
of those, each wears the one whose girth is nearest to his.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import poise
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.mesh import Mesh

MOST = 16  # meshes in a crowd
# sRGB, muted, told apart beside one another
COLORS = (
    (0.80, 0.71, 0.60), (0.52, 0.66, 0.80), (0.60, 0.75, 0.58), (0.78, 0.62, 0.74), (0.86, 0.76, 0.50),
    (0.55, 0.70, 0.72), (0.80, 0.56, 0.50), (0.66, 0.64, 0.72),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Lookalike:
    """A body that others of its proportions look like.

    meshes  by joint
    color   sRGB
    """

    character: poise.Character
    meshes: dict[str, Mesh]
    color: tuple[float, float, float]


def find_looks(characters: Sequence[poise.Character], most: int = MOST) -> list[tuple[Lookalike, float]]:
    """A look and its scale for each; the first few different ones have their own."""
    looks: dict[int, Lookalike] = {}
    found = []
    for character in characters:
        if id(character) not in looks and len(looks) < most:
            meshes = build_mannequin(character.skeleton, character.mass)
            looks[id(character)] = Lookalike(character, meshes, COLORS[len(looks) % len(COLORS)])
        found.append(_choose(character, looks))
    return found


def _choose(character: poise.Character, looks: dict[int, Lookalike]) -> tuple[Lookalike, float]:
    """The look of the nearest girth among those that fit."""
    if id(character) in looks:
        return looks[id(character)], 1.0
    size, best = _size(character), None
    for look in looks.values():
        scale = size / _size(look.character)
        ours, theirs = character.skeleton.offsets, scale * np.asarray(look.character.skeleton.offsets)
        if ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=0.0, atol=1e-6):
            continue
        # girth goes as the root of mass over length
        off = abs(np.log(character.mass / look.character.mass / scale))
        if best is None or off < best[0]:
            best = off, look, scale
    if best is None:  # proportions of his own
        meshes = build_mannequin(character.skeleton, character.mass)
        looks[id(character)] = look = Lookalike(character, meshes, COLORS[len(looks) % len(COLORS)])
        return look, 1.0
    return best[1], best[2]


def _size(character: poise.Character) -> float:
    """m, all bones end to end."""
    return float(np.linalg.norm(character.skeleton.offsets[1:], axis=1).sum())
