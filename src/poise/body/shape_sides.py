"""Left and right of a body whose limbs are known: by where the feet point, or by how the knees bend in the motion."""

from __future__ import annotations

import numpy as np

from poise.body.limb_pairs import Limb, Pair
from poise.body.skeleton import Skeleton

_NO_TRUNK = 0.05  # of the leg's length: a joint no further above the hips than this is no trunk


def tell_sides(
    skeleton: Skeleton, poses: np.ndarray | None, legs: Pair, arms: Pair | None, top: int
) -> tuple[dict[str, bool], float]:
    """Whether the first limb of each pair is the left one, and how sure that is, 0.5 to 1. top: a joint above the hips.

    Front is left x up. For the hips' line d from the second leg to the first and the trunk's line up, (d x up) . toes
    is positive where the first is left; likewise with the knees' way off the line from hip to ankle. The arms' sides
    are the legs': their line is along the hips'.
    """
    rest = skeleton.rest_positions()
    places = rest[None] if poses is None else np.concatenate([rest[None], poses])
    weights = np.concatenate([[max(1.0, 0.5 * (len(places) - 1))], np.ones(len(places) - 1)])
    hips = [places[:, limb.upper] for limb in legs.limbs]
    across, up = hips[0] - hips[1], places[:, top] - 0.5 * (hips[0] + hips[1])
    if np.linalg.norm(up[0]) < _NO_TRUNK * legs.length:  # legs alone: away from the ankles
        up = 0.5 * sum(hip - places[:, limb.end] for hip, limb in zip(hips, legs.limbs, strict=True))
    normal = np.cross(across, up)
    size = np.linalg.norm(normal, axis=1) + 1e-12
    votes = np.zeros(2)  # by the feet, by the knees
    ends = [_foot_ends(skeleton, limb) for limb in legs.limbs]
    for limb, end in zip(legs.limbs, ends, strict=True):
        if end is not None:
            joint, tip = end
            toes = places[:, joint] - places[:, limb.end]
            toes[0] += tip  # in the rest pose the end site's place is known without orientations
            votes[0] += float(np.sum(weights * np.einsum("ka,ka->k", normal, toes) / size))
        hip, knee, ankle = (places[:, i] for i in (limb.upper, limb.lower, limb.end))
        leg = ankle - hip
        share = np.einsum("ka,ka->k", knee - hip, leg) / (np.einsum("ka,ka->k", leg, leg) + 1e-12)
        votes[1] += float(np.sum(weights * np.einsum("ka,ka->k", normal, knee - hip - share[:, None] * leg) / size))
    vote = votes[0] if abs(votes[0]) > 0.02 * legs.length * weights.sum() else votes[0] + votes[1]
    is_known = abs(vote) > 1e-3 * legs.length * weights.sum()
    legs_first = bool(vote > 0) if is_known else bool(np.sum(weights * across[:, 0]) > 0)
    sides = {"legs": legs_first, "arms": legs_first}
    if arms is not None:
        line = places[:, arms.limbs[0].joints[0]] - places[:, arms.limbs[1].joints[0]]
        line = line + places[:, arms.limbs[0].upper] - places[:, arms.limbs[1].upper]
        sides["arms"] = legs_first == bool(np.sum(weights * np.einsum("ka,ka->k", line, across)) > 0)
    return sides, 1.0 if is_known else 0.5


def _foot_ends(skeleton: Skeleton, leg: Limb) -> tuple[int, np.ndarray] | None:
    """The last joint of a foot and its end site's offset; None where the ankle is the end."""
    last = leg.joints[-1]
    tip = np.asarray(skeleton.tips[last]) if skeleton.has_tip[last] else np.zeros(3)
    return None if last == leg.end and not tip.any() else (last, tip)
