"""Is the frame rate of a clip that stands or walks true? The soles tell: the ground pushes only where they are.

A clip whose true rate is 1/r of the stated one shows every acceleration r^2 times as large, and the point where the
ground would have to push (the zero-moment point) lies r^2 times as far from where it is in a body at rest. People keep
it under their soles; at twice their speed it leaves them. So a rate is doubted where

    stated   the point is clearly outside the soles: in some frames of a clip whose feet stay, in many of one that steps
    1/2, 1/4 at this rate it stays inside

and nothing is said where no rate brings it inside: somebody leans, sits or lies, or holds on to something. Which feet
are down is told without a speed, since speeds are what is in doubt. Accelerations are low-passed once, so that those of
the other rates are the same ones, 1/r^2 times as large. A rate stated too low is not seen: slow motion is possible.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.dynamics.ground_reaction import compute_ground_reaction
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import GRAVITY, Tree, TreeState, build_tree
from poise.errors import PoiseError
from poise.motion.clip import Clip
from poise.motion.contacts.points import foot_points
from poise.motion.forces.forces import compute_kinematics
from poise.motion.parts import find_runs
from poise.spatial.cutoff import choose_cutoff

FACTORS = (2.0, 4.0)  # how many times too high a rate is that is looked for
FASTEST = 6.0  # Hz: what is faster in a centre of mass over feet that stay down is noise
# m: soles reach this far to all sides of the line from heel to toe tip, and more than is known of their shape and of
# the body's masses. (Recordings known to be right, feet that stay: 1 cm at most beyond the first.)
_WIDTH, _BEYOND = 0.05, 0.04
_PUSHED = 0.5  # of the weight: where the ground pushes less, the point is anywhere
_DOWN = 0.06  # m above where a foot mostly is: lower, it may bear
# m from where a foot mostly is, and the share of frames in which both are there: then only those count.
_STAYS, _MOSTLY = 0.08, 0.5
_FEET_DOWN = 0.9  # share of frames with a foot down, without which it is no standing or walking
# Share of the frames outside that makes a rate doubtful: feet that stay (and at least so many in a row), feet that step
# (walks known to be right: 0.07, walks that are made 0.14, and at twice their rate 0.36 and more). What may be left at
# the true one: a share of that, and of the frames where feet step.
_STANDING, _IN_A_ROW, _STEPPING, _LEFT, _LEFT_STEPPING = 0.01, 4, 0.35, 0.05, 0.15
_G = float(np.linalg.norm(GRAVITY))
_DIRECTIONS = np.stack([np.cos(a := np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)), np.sin(a)], axis=1)


@dataclass(frozen=True)
class Overreach:
    """How a stated rate overreaches the soles.

    factor  how many times too high it is
    far     m, by which the point leaves the soles, but for the worst tenth of those frames;  time s, of the worst
    share   of the frames that count, in which it is clearly outside
    stays   whether the feet stay where they are
    """

    factor: float
    far: float
    time: float
    share: float
    stays: bool


def find_overreach(clip: Clip) -> Overreach | None:
    """What speaks against the stated rate of a clip in metres, Y up; None: nothing."""
    try:
        tree = build_tree(Character.from_skeleton(clip.skeleton))
        soles = foot_points(clip)
        center = compute_center_of_mass(tree, *clip.bridged)
        state = compute_kinematics(clip, min(FASTEST, choose_cutoff(center, clip.fps).hz))
    except PoiseError:
        return None
    low = soles[..., 1].min(axis=2)
    usual = np.median(low, axis=0)
    down = low < usual + _DOWN
    if down.any(axis=1).mean() < _FEET_DOWN:
        return None
    places = soles[..., [0, 2]].mean(axis=2)
    near = np.linalg.norm(places - np.median(places, axis=0), axis=-1) < _STAYS
    planted = (near & down).all(axis=1)
    stays = bool(planted.mean() >= _MOSTLY)
    counts = planted if stays else np.ones(len(clip), bool)
    stated = np.where(counts, _find_distance(tree, state, soles, down, 1.0), -_WIDTH)
    outside = stated > _BEYOND
    share = float(outside[counts].mean())
    longest = max((last - first + 1 for first, last in find_runs(outside)), default=0)
    if share < (_STANDING if stays else _STEPPING) or longest < _IN_A_ROW:
        return None
    worst = int(np.argmax(stated))
    for factor in FACTORS:
        slower = _find_distance(tree, state, soles, down, factor)
        if float((slower > _BEYOND)[counts].mean()) <= (_LEFT * share if stays else _LEFT_STEPPING):
            far = float(np.percentile(stated[outside], 90.0))
            return Overreach(factor, far, float(clip.times[worst]), share, stays)
    return None


def _find_distance(tree: Tree, state: TreeState, soles: np.ndarray, down: np.ndarray, factor: float) -> np.ndarray:
    """(F,) m, from the feet that are down to the point where the ground pushes, below 0 inside: at a rate / factor."""
    rates = {"velocity": 1.0, "angular_velocity": 1.0, "acceleration": 2.0, "angular_acceleration": 2.0}
    if state.shift is not None:
        rates |= {"shift_velocity": 1.0, "shift_acceleration": 2.0}
    slower = dataclasses.replace(state, **{name: getattr(state, name) / factor**n for name, n in rates.items()})
    reaction = compute_ground_reaction(tree, slower, height=float(np.median(soles[..., 1].min(axis=2))))
    point, pushed = reaction.pressure, reaction.force[:, 1] > _PUSHED * tree.mass * _G
    # The support in each direction is the farthest point of any foot that is down; the largest gap is the distance.
    reach = np.where(down[:, :, None, None], soles[..., [0, 2]] @ _DIRECTIONS.T, -np.inf).max(axis=(1, 2))
    gap = (point[:, [0, 2]] @ _DIRECTIONS.T - reach).max(axis=1) - _WIDTH
    return np.where(np.isfinite(gap) & pushed, gap, -_WIDTH)
