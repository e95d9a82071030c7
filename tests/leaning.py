"""Clips that lean: all of a body turned about its ankles, its feet left flat, or stiff as a board."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation


def lean(clip, degrees, axis=(1.0, 0.0, 0.0), stiff=False):
    """A clip with its body turned about the middle of its ankles; stiff: about the ground below them, feet too."""
    turn = Rotation.from_rotvec(np.radians(degrees) * np.asarray(axis, float) / np.linalg.norm(axis))
    places, world = clip.world
    feet = [clip.skeleton.index(side + "Foot") for side in ("left", "right")]
    pivot = places[:, feet].mean(axis=1) * ([1.0, 0.0, 1.0] if stiff else [1.0, 1.0, 1.0])
    rotations = clip.rotations.copy()
    rotations[:, 0] = (turn * Rotation.from_quat(rotations[:, 0], scalar_first=True)).as_quat(scalar_first=True)
    if not stiff:
        for foot in feet:
            shin = turn * Rotation.from_quat(world[:, clip.skeleton.parents[foot]], scalar_first=True)
            flat = Rotation.from_quat(world[:, foot], scalar_first=True)
            rotations[:, foot] = (shin.inv() * flat).as_quat(scalar_first=True)
    return clip.replace(root=pivot + turn.apply(clip.root - pivot), rotations=rotations)


def margin_in_hull(points, spot):
    """m, how far a place (2,) is inside the hull of points (N, 2), by SciPy's Qhull; negative outside."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    return float(-(hull.equations[:, :2] @ spot + hull.equations[:, 2]).max())


def soles_of(body, turns, places, feet=("left", "right")):
    """(N, 2) m, x and z of the corners of soles, from the skeleton's own heel and toe and a breadth of 0.37."""
    from poise.body.geometry.soles import find_soles

    corners = []
    for side, sole in zip(("left", "right"), find_soles(body.skeleton), strict=True):
        if side not in feet:
            continue
        toes = sole.foot if sole.toes is None else sole.toes
        heel = places[sole.foot] + turns[sole.foot].apply(sole.heel)
        tip = places[toes] + turns[toes].apply(sole.tip)
        along = (tip - heel)[[0, 2]]
        half = 0.5 * 0.37 * np.array([along[1], -along[0]])
        corners += [end[[0, 2]] + sign * half for end in (heel, tip) for sign in (-1.0, 1.0)]
    return np.array(corners)
