"""Where the centre of mass of a clip is."""

from __future__ import annotations

import numpy as np

from poise.dynamics.tree import Tree
from poise.motion.clip import Clip
from poise.spatial import rotation


def find_center(clip: Clip, tree: Tree) -> np.ndarray:
    """(F, 3) m, centre of mass in the world of a clip on a body of the same joints; sliding joints are honoured."""
    positions, turns = clip.world
    centers = positions + rotation.rotate(turns, tree.centers)
    return np.asarray(np.einsum("j,fja->fa", tree.masses, centers) / tree.mass)
