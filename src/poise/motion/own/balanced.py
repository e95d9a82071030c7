"""Hips that go where the centre of mass of what they carry stays over the feet."""

from __future__ import annotations

import numpy as np

from poise.body.character import Character
from poise.motion.clip import Clip
from poise.motion.own.figure import Figure
from poise.motion.own.tracks import Tracks, build_clip, stand
from poise.spatial import rotation

_ROUNDS = 5  # the hips carry nearly nine tenths of the mass along: each round leaves a small share of the error


def put_hips_under(figure: Figure, tracks: Tracks, axes: tuple[int, ...] = (2,)) -> None:
    """Move the hips along some axes (0 is x, 2 is z) until the centre of mass is where it is in standing."""
    body, along = Character.from_skeleton(figure.skeleton), list(axes)
    standing = _mass_centre(body, build_clip(figure, stand(figure, tracks.times[:1]), ""))[0]
    for _ in range(_ROUNDS):
        off = _mass_centre(body, build_clip(figure, tracks, "")) - standing
        tracks.hips[:, along] -= off[:, along]


def _mass_centre(body: Character, clip: Clip) -> np.ndarray:
    """(F, 3) m, the centre of mass of an average body with the clip's skeleton."""
    positions, orientations = clip.world
    masses = np.array([inertia.mass for inertia in body.inertias])
    centers = positions + rotation.rotate(orientations, np.array([inertia.center for inertia in body.inertias]))
    return np.einsum("j,fja->fa", masses / masses.sum(), centers)
