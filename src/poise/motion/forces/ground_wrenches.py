"""Where and when the ground pushes a body that moves: soles, knees and hands, and the wrenches on their bodies."""

from __future__ import annotations

import numpy as np

from poise.body.geometry.soles import find_soles
from poise.body.roles import SIDES
from poise.dynamics.ground_reaction import FootForces, Soles
from poise.motion.clip import Clip
from poise.motion.contacts.contacts import Contacts
from poise.motion.contacts.points import find_touch_points, foot_points
from poise.motion.parts import find_runs
from poise.spatial import rotation

# Of the three points of a sole, those within about a centimetre of the lowest carry the foot.
_SOLE_SOFTNESS = 0.01
# s, over which a foot comes into play around its contact. On walks over force plates 0 to 50 ms do alike.
_EASE = 0.04
# What may carry a body beside its feet, left before right: shins where knees rest, and hands.
OTHERS = tuple(side + stem for stem in ("LowerLeg", "Hand") for side in SIDES)
# Which of feet, knees and hands lie on one path to the root: the knee above a foot.
PATHS = (0, 1, 0, 1, 2, 3)


def find_foot_soles(clip: Clip) -> Soles:
    """Both soles in every frame."""
    points = foot_points(clip)
    return Soles(_find_middle(points), points[..., 0, :], points[..., -1, :])


def _find_middle(points: np.ndarray) -> np.ndarray:
    """(..., 3) m, the middle of what touches of points (..., n, 3): low ones weigh more, smoothly."""
    height = points[..., 1] - points[..., 1].min(axis=-1, keepdims=True)
    weight = np.exp(-height / _SOLE_SOFTNESS)[..., None]
    return np.sum(weight * points, axis=-2) / np.sum(weight, axis=-2)


def find_all_soles(clip: Clip, contacts: Contacts) -> tuple[Soles, np.ndarray]:
    """Feet, knees and hands, left before right: where they can be pushed, and (F, 6) whether they are down.

    A hand bears with what is low between wrist and finger tips. What a skeleton has not is never down.
    """
    feet, points = find_foot_soles(clip), find_touch_points(clip)
    middle, heel, tip = [feet.middle], [feet.heel], [feet.tip]
    for kind in ("knee", "hand"):
        for side in range(2):
            own = points.places[:, points.of(side, kind)]
            own = own if own.shape[1] else np.zeros((len(clip), 1, 3))
            middle.append(_find_middle(own)[:, None])
            heel.append(own[:, :1])
            tip.append(own[:, -1:])
    down = np.concatenate([contacts.foot, contacts.knee, contacts.hand], axis=1)
    return Soles(*(np.concatenate(part, axis=1) for part in (middle, heel, tip))), down


def ease_in(contacts: Contacts, down: np.ndarray) -> np.ndarray:
    """(F, n) how far each support is in play: 1 where it is `down` (F, n), coming and going within `_EASE` seconds.

    In flight all stay out: no foot reaches for the ground from there.
    """
    times = contacts.times
    weights = down.astype(float)
    for column in range(down.shape[1]):
        for first, last in times[find_runs(down[:, column])]:
            u = np.clip(1.0 - np.maximum(first - times, times - last) / _EASE, 0.0, 1.0)
            weights[:, column] = np.maximum(weights[:, column], u * u * (3.0 - 2.0 * u))
    return weights * ~contacts.flight[:, None]


def push_others(wrenches: np.ndarray, clip: Clip, others: FootForces) -> None:
    """Add the ground's wrench on shins and hands, to those of `push_feet`."""
    positions = clip.world[0]
    for support, role in enumerate(OTHERS):
        joint = clip.skeleton.find_role(role)
        if joint is not None:
            point, force = others.point[:, support], others.force[:, support]
            wrenches[:, joint, :3] += np.cross(point - positions[:, joint], force)
            wrenches[:, joint, 1] += others.free_moment[:, support]
            wrenches[:, joint, 3:] += force


def push_feet(wrenches: np.ndarray, clip: Clip, feet: FootForces) -> None:
    """Add the ground's wrench on feet and toes to (F, J, 6) [torque, force] on each body about its joint, world axes.

    A foot's force acts on the toes where its pressure centre is ahead of their joint, else on the foot. The change-over
    happens with the force through that joint, so no torque jumps.
    """
    positions, orientations = clip.world
    for side, sole in enumerate(find_soles(clip.skeleton)):
        point, force = feet.point[:, side], feet.force[:, side]
        moment = np.zeros_like(force)
        moment[:, 1] = feet.free_moment[:, side]
        ahead = np.zeros(len(clip), bool)
        if sole.toes is not None:
            forward = rotation.rotate(orientations[:, sole.foot], sole.ball - sole.heel)
            ahead = np.sum((point - positions[:, sole.toes]) * forward, axis=-1) > 0
        for joint, here in ((sole.toes, ahead), (sole.foot, ~ahead)):
            if joint is not None:
                wrenches[here, joint, :3] += (moment + np.cross(point - positions[:, joint], force))[here]
                wrenches[here, joint, 3:] += force[here]
