"""Flights of a body: stretches of time in which nothing but gravity can move it as a whole.

What a flight needs, all of it without a speed, since speeds are what is in doubt:
- both soles are clear of the highest level at which they ever rest, each of its own, and so is every other joint;
- it begins and ends on the ground, rising at first and falling at last;
- the centre of mass goes in a parabola: one acceleration from start to end, straight down, nothing sideways;
- the angular momentum about the centre of mass stays, as no ground turns the body.
A stance on one leg, a seat, a rope or an eased curve fails one or more of these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import leg_length
from poise.dynamics.kinematics import compute_world_pose
from poise.dynamics.tree import Tree, build_tree
from poise.errors import PoiseError
from poise.motion.clip import Clip
from poise.motion.contacts.points import foot_points
from poise.motion.parts import find_runs

# Soles this share of the leg above where they rest (4 cm), for this many frames.
_CLEARANCE, SHORTEST = 0.045, 6
# A sole rests where it stays within so many metres for so long (s, as stated): longer than at the top of any jump, even
# where a clip plays at a third of its speed.
_STILL, _RESTING = 0.015, 0.3
# How far a parabola bends at least (m: 0.16 s in the air), and what it may leave over: a share of that, or m of noise.
_LEAST_SAG, _LEFT_OVER, _NOISE = 0.03, 0.03, 0.0015
# Sideways acceleration as a share of the fall; the acceleration near the ends as a share of the mean; the angular
# momentum's change as a share of mass x fall x time x leg. (Flights here: 0.06; 0.85 to 1.16; 0.01 to 0.07. Stances on
# one leg and eased curves: above 0.2; below 0.6; above 0.1.)
_SIDEWAYS, _EVEN, _TURNED = 0.15, (0.65, 1.4), 0.12
_NEAR_ENDS = 0.8
_UNEQUAL_LEGS = 1.15


@dataclass(frozen=True)
class Flight:
    """A flight: first and last frame, fall (m/s2), how far its parabola bends (m) and what that leaves over (m)."""

    first: int
    last: int
    fall: float
    sag: float
    left_over: float


@dataclass(frozen=True, eq=False)
class Course:
    """A body's way: its centre of mass (F, 3) m, the angular momentum about it (F, 3), its mass, and its leg in m."""

    center: np.ndarray
    angular: np.ndarray
    mass: float
    leg: float


def find_course(clip: Clip) -> Course | None:
    """The way of the centre of mass; None for what is no whole human body, or has one leg longer than the other."""
    try:
        tree = build_tree(Character.from_skeleton(clip.skeleton))
        legs = [leg_length(clip.skeleton, side) for side in ("left", "right")]
    except PoiseError:
        return None
    if min(legs) <= 0.0 or max(legs) > _UNEQUAL_LEGS * min(legs):
        return None
    center, angular = _compute_momentum(tree, clip)
    return Course(center, angular, float(tree.mass), min(legs))


def _compute_momentum(tree: Tree, clip: Clip) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass and the segments' orbital angular momentum about it; their own spins are small beside it."""
    places = compute_world_pose(tree, *clip.poses).centers
    shares = tree.masses / tree.mass
    center = np.einsum("j,fja->fa", shares, places)
    arms = places - center[:, None]
    rates = np.gradient(arms, clip.times, axis=0)
    return center, np.einsum("j,fja->fa", tree.masses, np.cross(arms, rates))


def find_flights(clip: Clip, course: Course, ground: float | None = None) -> list[Flight]:
    """The flights of a clip in metres, Y up. ground: m, the floor's height; from the soles if None."""
    try:
        soles = foot_points(clip)[..., 1].min(axis=2)
    except PoiseError:
        return []
    floor = float(np.percentile(soles, 5)) if ground is None else ground
    clear = np.ones(len(clip), bool)
    for sole in soles.T:
        clear &= sole > max(floor, _highest_rest(clip, sole)) + _CLEARANCE * course.leg
    clear &= clip.positions[..., 1].min(axis=1) > floor + _CLEARANCE * course.leg
    return [
        flight
        for first, last in find_runs(clear).tolist()
        if (flight := _fit_flight(clip, course, first, last)) is not None
    ]


def _highest_rest(clip: Clip, sole: np.ndarray) -> float:
    """The highest level at which a sole stays for a while; its lowest where it never does."""
    frames = max(SHORTEST, math.ceil(_RESTING * clip.fps))
    if len(sole) <= frames:
        return float(sole.max())
    windows = np.lib.stride_tricks.sliding_window_view(sole, frames)
    rests = windows[np.ptp(windows, axis=1) < _STILL]
    return float(rests.mean(axis=1).max()) if len(rests) else float(np.percentile(sole, 5))


def _fit_flight(clip: Clip, course: Course, first: int, last: int) -> Flight | None:
    frames = last - first + 1
    if first == 0 or last == len(clip) - 1 or frames < SHORTEST:
        return None
    t = clip.times[first : last + 1]
    half = 0.5 * float(t[-1] - t[0])
    x = (t - t.mean()) / half
    places = course.center[first : last + 1]
    parabola = np.polynomial.polynomial.polyfit(x, places, 2)  # (3, 3): rows by power, columns by axis
    fall = -2.0 * float(parabola[2, 1]) / half**2
    sag = 0.5 * fall * half**2
    left_over = float(np.std(places[:, 1] - np.polynomial.polynomial.polyval(x, parabola[:, 1])))
    if fall <= 0.0 or sag < _LEAST_SAG or left_over > max(_LEFT_OVER * sag, _NOISE):
        return None
    if 2.0 * math.hypot(parabola[2, 0], parabola[2, 2]) > _SIDEWAYS * fall * half**2:
        return None
    start, end = (float(parabola[1, 1] + 2.0 * parabola[2, 1] * side) for side in (-1.0, 1.0))
    if not start > 0.0 > end or not _is_even(x, places[:, 1], sag):
        return None
    change = np.ptp(course.angular[first + 1 : last], axis=0).max()
    if change > _TURNED * course.mass * fall * 2.0 * half * course.leg:
        return None
    return Flight(first, last, fall, sag, left_over)


def _is_even(x: np.ndarray, height: np.ndarray, sag: float) -> bool:
    """Whether the acceleration is one from start to end: that of a quartic near the ends, but for noise."""
    quartic = np.polynomial.polynomial.polyfit(x, height, 4)
    bends = np.polynomial.polynomial.polyval(np.array([-_NEAR_ENDS, _NEAR_ENDS]), quartic[2:] * [2.0, 6.0, 12.0])
    noise = float(np.std(height - np.polynomial.polynomial.polyval(x, quartic)))
    # The standard error of a quartic's bend there, through n points with that noise, is 60 to 80 noise / sqrt(n).
    slack = 70.0 * noise / math.sqrt(len(x)) / (2.0 * sag)
    shares = -bends / (2.0 * sag)
    return bool(np.all((shares > _EVEN[0] - slack) & (shares < _EVEN[1] + slack)))
