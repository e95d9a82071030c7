"""A walk that is changed while it goes on: another way, another manner, another place, a stop.

Steps that have begun are made.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from poise.spatial import rotation
from poise.walking.center_path import KNOT, SplinePath
from poise.walking.course import StepCourse
from poise.walking.manner import Manner, suit
from poise.walking.walker import Walker
from poise.walking.way import WalkWay

_BESIDE = 0.12  # of the leg: feet that are no farther apart along the way stand beside each other
_MEMORY = 2.0  # s of the past that are kept


def redirect(
    walker: Walker, t: float, way: WalkWay | None = None, manner: Manner | None = None, steps: int | None = -1
) -> None:
    """Plan all steps anew that have not begun by time t.

    steps  how many from now on; None: as many as the way is long; -1: as before
    """
    now = KNOT * math.ceil(t / KNOT - 1e-9)
    walker.reach(now)
    course, dropped = walker.course, _drop_steps(walker.course, now)
    if walker._left is not None:
        walker._left += dropped
    walker.way = walker.way if way is None else way
    if manner is not None:
        walker.manner = suit(manner, any(foot.stiff for foot in course.feet))
        walker._scale = walker.manner.scale(walker.leg)
    if steps != -1:
        walker._left = steps
    for side, outward in enumerate((1.0, -1.0)):
        place = course.stances[side][-1].place[[0, 2]]
        heading = walker.way.at(find_along(walker.way, place))[1]
        half = 0.5 * walker.manner.width * walker.leg * outward  # sideways that is along the way
        walker._s[side] = find_along(walker.way, place - half * np.array([np.cos(heading), -np.sin(heading)]))
    walker._next = 1 - course.steps[-1].side if course.steps else walker._first_side()
    walker.done = walker._left == 0
    walker._plan(now, walker.state_at(now))


def stop(walker: Walker, t: float) -> None:
    """Come to a stand: the step that is under way is made, and the feet are brought together."""
    now = KNOT * math.ceil(t / KNOT - 1e-9)
    walker.reach(now)
    _drop_steps(walker.course, now)
    left, right = (row[-1].place[[0, 2]] for row in walker.course.stances)
    heading = walker.way.at(max(walker._s))[1]
    apart = abs(float((left - right) @ np.array([np.sin(heading), np.cos(heading)])))
    redirect(walker, t, steps=0 if apart < _BESIDE * walker.leg else 1)


def _drop_steps(course: StepCourse, now: float) -> int:
    """Forget steps that nothing has been done for yet; how many."""
    kept = len(course.steps)
    while kept:
        step = course.steps[kept - 1]
        i = next(i for i, stance in enumerate(course.stances[step.side]) if stance.land == step.land)
        if step.begin < now - 1e-9 or course.stances[step.side][i - 1].rise < now - 1e-9:
            break
        kept -= 1
    dropped = len(course.steps) - kept
    course.drop_from(kept)
    return dropped


def carry(walker: Walker, yaw: float, shift: np.ndarray) -> None:
    """Have all of the plan elsewhere: turned about the vertical through the origin (rad), then moved by x and z (2,) m.

    No joint turns for it: the walk is the same, at another place. The way and the ground stay.
    """
    turn, c, s = rotation.exp(np.array([0.0, yaw, 0.0])), np.cos(yaw), np.sin(yaw)

    def moved(points: np.ndarray) -> np.ndarray:
        return np.asarray(rotation.rotate(turn, points) + [shift[0], 0.0, shift[1]])

    for row in walker.course.stances:
        for i, stance in enumerate(row):
            parts = {name: getattr(stance, name) for name in ("whole", "front", "back")}
            parts = {name: part if part is None else moved(part) for name, part in parts.items()}
            row[i] = replace(stance, place=moved(stance.place), turn=rotation.multiply(turn, stance.turn), **parts)
    path = walker.center
    walker.center = SplinePath(path.start, path.controls @ np.array([[c, -s], [s, c]]) + shift)


def find_along(way: WalkWay, place: np.ndarray) -> float:
    """m along a way, of the point of it that is nearest to a place (2,) m."""
    points, along = way.points, way._along  # type: ignore[attr-defined]
    best, found = np.inf, 0.0
    for i in range(len(points) - 1):
        step = points[i + 1] - points[i]
        length = float(np.linalg.norm(step))
        u = max(float((place - points[i]) @ step) / length**2, 0.0)
        if not (way.endless and i == len(points) - 2):
            u = min(u, 1.0)
        off = float(np.linalg.norm(points[i] + u * step - place))
        if off < best - 1e-12:
            best, found = off, along[i] + u * length
    return float(found)


def forget(walker: Walker, t: float) -> None:
    """Drop what is long past at time t: somebody may walk for hours."""
    old, course = t - _MEMORY, walker.course
    for side in range(2):
        row = course.stances[side]
        while len(row) > 2 and row[1].land < old:
            row.pop(0)
            course.swings[side].pop(0)
    while len(course.steps) > 2 and course.steps[1].land < old:
        course.steps.pop(0)
    for name in ("center", "height"):
        path = getattr(walker, name)
        count = min(int((old - path.start) / KNOT), len(path.controls) - 4)
        if count > 0:
            setattr(walker, name, SplinePath(path.start + KNOT * count, path.controls[count:]))
