"""How far legs that swing throw the pressure under a body off that of a point mass.

A point mass at the centre of mass presses at c - (h / g) c''. A body's pressure is off that by what its parts move
about its centre of mass:                                                                                    [walk, 3]

    n = sum m_i (x_i - c) x (x_i'' - c'')            d = (n_z, -n_x) / (M g), along x and z

Legs are most of it: 12 cm to and fro as a foot is flung ahead, 2 cm aside. They are known before the poses are: feet
from the course, hips from the centre of mass, knees ahead between them. Each bone is two points that have its mass, its
centre and how hard it is to turn; the rest of the body is where the centre of mass then needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.dynamics.tree import build_tree
from poise.spatial import rotation
from poise.walking.feet.stance import FootState
from poise.walking.steps import KNOT

FINE = 0.01  # s, from time to time
_GRAVITY = 9.81
_UP = np.array([0.0, 1.0, 0.0])
_LEFT = np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class SwingingLeg:
    """One leg as points.

    bones   (2,) m, lengths of thigh and shank
    masses  (4,) kg, of two points on each;  shares (4, 3) of hip, knee and ankle that each is
    foot    kg of the foot and all that is on it, and (3,) m where that is in the foot's frame
    """

    bones: np.ndarray
    masses: np.ndarray
    shares: np.ndarray
    foot: tuple[float, np.ndarray]


@lru_cache(maxsize=16)
def build_legs(character: Character) -> tuple[SwingingLeg, SwingingLeg]:
    """The left and the right leg of a body."""
    tree, skeleton = build_tree(character), character.skeleton
    rest, legs = skeleton.rest_positions(), []
    for side in SIDES:
        at = [skeleton.index(side + stem) for stem in ("UpperLeg", "LowerLeg", "Foot")]
        bones, masses, shares = [], [], []
        for k in range(2):
            i, bone = at[k], rest[at[k + 1]] - rest[at[k]]
            long = float(np.linalg.norm(bone))
            middle = float(tree.centers[i] @ bone) / long**2
            mass = max(float(tree.masses[i]), 1e-9)
            # how hard it is to turn across the bone, as two points r from its centre: m r^2
            across = 0.5 * (np.trace(tree.inertias[i]) - float(bone @ tree.inertias[i] @ bone) / long**2)
            apart = np.sqrt(max(across, 0.0) / mass) / long
            for share in (middle - apart, middle + apart):
                row = np.zeros(3)
                row[k], row[k + 1] = 1.0 - share, share
                shares.append(row)
                masses.append(0.5 * mass)
            bones.append(long)
        ends = [i for i in range(len(skeleton)) if i == at[2] or at[2] in skeleton.chain(i)]
        weight = max(float(tree.masses[ends].sum()), 1e-9)
        center = sum(tree.masses[i] * (rest[i] - rest[at[2]] + tree.centers[i]) for i in ends) / weight
        legs.append(SwingingLeg(np.array(bones), np.array(masses), np.array(shares), (weight, np.asarray(center))))
    return legs[0], legs[1]


def find_sway(
    character: Character, mass: float, center: np.ndarray, hips: np.ndarray, heading: np.ndarray,
    feet: tuple[FootState, FootState],
) -> np.ndarray:  # fmt: skip
    """(F, 2) m, along x and z: how far the pressure is off a point mass's, at times that are `FINE` apart.

    mass    kg, all of it;  center (F, 3) m, its path
    hips    (F, 2, 3) m, of the hip joints;  heading (F,) rad
    """
    points, masses = [], []
    aside = rotation.rotate(rotation.exp(heading[:, None] * _UP), _LEFT)
    for leg, foot, hip in zip(build_legs(character), feet, np.swapaxes(hips, 0, 1), strict=True):
        joints = np.stack([hip, _find_knees(hip, foot.place, aside, leg.bones), foot.place], axis=1)
        points += [*np.swapaxes(leg.shares @ joints, 0, 1), foot.place + rotation.rotate(foot.turn, leg.foot[1])]
        masses += [*leg.masses, leg.foot[0]]
    weights = np.array(masses)
    from_center = np.stack(points) - center
    rest = -np.einsum("i,ifa->fa", weights, from_center) / (mass - weights.sum())
    places = np.concatenate([from_center, rest[None]])
    pulls = np.zeros_like(places)
    pulls[:, 1:-1] = (places[:, 2:] - 2.0 * places[:, 1:-1] + places[:, :-2]) / FINE**2
    turning = np.einsum("i,ifa->fa", np.append(weights, mass - weights.sum()), np.cross(places, pulls))  # [walk, 3]
    return np.asarray(np.stack([turning[:, 2], -turning[:, 0]], axis=1) / (mass * _GRAVITY))


def _find_knees(hip: np.ndarray, ankle: np.ndarray, aside: np.ndarray, bones: np.ndarray) -> np.ndarray:
    """(F, 3) m, knees that point ahead, of hips and ankles (F, 3); aside (F, 3) to the left."""
    line = ankle - hip
    far = np.linalg.norm(line, axis=1)
    along = line / far[:, None]
    far = np.minimum(far, 0.999 * bones.sum())
    ahead = np.cross(along, aside)
    ahead /= np.linalg.norm(ahead, axis=1)[:, None]
    # the law of cosines
    share = (bones[0] ** 2 - bones[1] ** 2 + far**2) / (2.0 * far)
    out = np.sqrt(np.maximum(bones[0] ** 2 - share**2, 0.0))
    return np.asarray(hip + share[:, None] * along + out[:, None] * ahead)


def at_knots(sway: np.ndarray, count: int) -> np.ndarray:
    """(N, 2) the mean about each of N knots of what is `FINE` apart."""
    each, half = round(KNOT / FINE), round(0.5 * KNOT / FINE)
    padded = np.pad(sway, ((half, half), (0, 0)))
    means = np.stack([padded[k : k + len(sway)] for k in range(2 * half + 1)]).mean(axis=0)
    return np.asarray(means[::each][:count])
