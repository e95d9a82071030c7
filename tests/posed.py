"""Bodies that are posed: where everything is by SciPy, random legal poses, and a stand on two feet."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from poise import Character
from poise.ik.goals import OrientationGoal, PositionGoal
from poise.spatial import rotation

BODY = Character.human(1.75, 75.0)


def place(root, rotations, body=BODY):
    """Orientations, places and centre of mass, by SciPy and by the character's own segments."""
    skeleton = body.skeleton
    turns, places = [], []
    for i, parent in enumerate(skeleton.parents):
        own = Rotation.from_quat(rotations[i], scalar_first=True)
        turns.append(own if parent < 0 else turns[parent] * own)
        places.append(
            np.array(root) if parent < 0 else places[parent] + turns[parent].apply(skeleton.offsets[i].copy())
        )
    total = sum(segment.inertia.mass for segment in body.segments)
    center = sum(
        segment.inertia.mass * (places[i] + turns[i].apply(np.array(segment.inertia.center)))
        for segment in body.segments
        for i in [skeleton.index(segment.joint)]
    )
    return turns, np.array(places), center / total


def draw(rng, size=0.6, body=BODY):
    """A random pose within the ranges."""
    turns = rotation.identity((len(body.skeleton),))
    for i, name in enumerate(body.skeleton.names):
        if i and name in body.limits and name in body.freedoms:
            ends = body.limits[name]
            turns[i] = ends.rotation(np.clip(size * rng.uniform(ends.lower, ends.upper), ends.lower, ends.upper))
    turns[0] = rotation.exp(rng.normal(size=3) * 0.3)
    return rng.normal(size=3), turns


def stand(body=BODY):
    """Standing, arms hanging: root, rotations, and the corners of a support of two feet."""
    skeleton = body.skeleton
    turns = rotation.identity((len(skeleton),))
    for name, ends in body.limits.items():
        turns[skeleton.index(name)] = ends.rotation(np.clip(0.0, ends.lower, ends.upper))
    _, places, _ = place(np.zeros(3), turns, body)
    feet = places[[skeleton.index("leftFoot"), skeleton.index("rightFoot")]]
    corners = np.concatenate(
        [foot[[0, 2]] + [[0.05, -0.06], [-0.05, -0.06], [0.05, 0.2], [-0.05, 0.2]] for foot in feet]
    )
    return np.zeros(3), turns, corners


def keep(joint, turns, places, body=BODY):
    """Goals that keep a foot where it is."""
    i = body.skeleton.index(joint)
    return [
        PositionGoal(joint, places[i], first=True),
        OrientationGoal(joint, turns[i].as_quat(scalar_first=True), first=True),
    ]
