"""Which way a body with given limbs stands, at rest and in motion, and how its other parts lie to that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.limb_pairs import LIKENESS, Pair
from poise.body.shape_tree import Shape

# What goes up from the chest beside the middle by this share of its length is no head; chains this share of their
# length off it, on either side, are twins.
_ASIDE, _OFF_MIDDLE = 0.6, 0.15


@dataclass(frozen=True, eq=False)
class View:
    """Which way is up, and across from one limb of a pair to the other, at rest and in poses, for a pair of hubs.

    places      (K, J, 3), the rest pose first
    up, across  (K, 3) unit, None where the rest pose does not tell
    tips        (J, 3) end sites at rest
    """

    places: np.ndarray
    up: np.ndarray | None
    across: np.ndarray
    tips: np.ndarray


def look(shape: Shape, places: np.ndarray, legs: Pair, arms: Pair | None) -> View:
    """The view of a body with these legs and arms: up from the legs' middle to the arms', or along the legs."""
    uppers = [places[:, limb.upper] for limb in legs.limbs]
    middle = 0.5 * (uppers[0] + uppers[1])
    if arms is None:
        ends = [places[:, limb.end] for limb in legs.limbs]
        up, size = middle - 0.5 * (ends[0] + ends[1]), legs.length
    else:
        up = 0.5 * (places[:, arms.limbs[0].upper] + places[:, arms.limbs[1].upper]) - middle
        size = arms.length
    across = unit(uppers[0] - uppers[1])
    is_told = float(np.linalg.norm(up[0])) > 0.2 * size and float(np.linalg.norm(across[0])) > 0.5
    return View(places, unit(up) if is_told else None, across, np.nan_to_num(np.asarray(shape.skeleton.tips)))


def unit(v: np.ndarray) -> np.ndarray:
    """Directions (..., 3); zeros for what has no length."""
    return np.asarray(v / (np.linalg.norm(v, axis=-1, keepdims=True) + 1e-12))


def compute_height(shape: Shape, joint: int, hub: int, view: View) -> float:
    """How far above a hub the highest point is of what hangs on a joint; its reach where the rest pose tells no up.

    What is off the middle counts for less: a weapon on the back, a single wing.
    """
    if view.up is None:
        return float(shape.reach[joint] + shape.bones[joint])
    carried = shape.skeleton.descendants(joint)
    lines = view.places[:, carried] - view.places[:, [hub]]
    tips = np.array([view.tips[i] if shape.tips[i] > 0.0 else np.zeros(3) for i in carried])
    heights = np.einsum("kja,ka->kj", lines, view.up)
    heights[0] = np.maximum(heights[0], (lines[0] + tips) @ view.up[0])
    top = heights.argmax(axis=1)
    highest = lines[np.arange(len(lines)), top]
    aside = np.abs(np.einsum("ka,ka->k", highest, view.across)) / (np.linalg.norm(highest, axis=1) + 1e-12)
    return float(np.mean(heights.max(axis=1))) * (1.0 if float(np.mean(aside)) < _ASIDE else 0.3)


def are_twins(shape: Shape, a: int, b: int, hub: int, view: View) -> bool:
    """Whether two chains on a hub are as long and as far on either side of the middle."""
    lengths = [float(shape.reach[c] + shape.bones[c]) for c in (a, b)]
    if view.up is None or abs(lengths[0] - lengths[1]) > LIKENESS * max(lengths):
        return False
    ends = [view.places[0, shape.main_chain(c)[-1]] - view.places[0, hub] for c in (a, b)]
    sides = [float(end @ view.across[0]) for end in ends]
    off = max(abs(side) for side in sides)
    return off > _OFF_MIDDLE * max(lengths) and abs(sides[0] + sides[1]) < 0.3 * off
