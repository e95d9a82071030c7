"""What carries a body over time, and where the pressure under it is best."""

from __future__ import annotations

import numpy as np

from poise.spatial import rotation
from poise.walking.center_path import KNOT, Regions, build_regions
from poise.walking.course import StepCourse

_SETTLE = 0.6  # s, in which the pressure comes to the middle of both feet after the last step


def list_regions(
    course: StepCourse, start: float, end: float, margin: float, press_margin: float
) -> tuple[Regions, Regions]:
    """What carries at the knots from `start` to `end`: for the centre of mass, and for the pressure."""
    times = start + KNOT * np.arange(round((end - start) / KNOT) + 1)
    corners = [np.concatenate(course.carriers_at(float(t)))[:, [0, 2]] for t in times]
    middles = [find_middle(course, float(t)) for t in times]
    return build_regions(corners, middles, margin), build_regions(corners, middles, press_margin)


def find_middle(course: StepCourse, t: float) -> np.ndarray:
    """(2,) m, where the pressure is best at time t: it goes from foot to foot, and forward under each."""
    left, right = (_middle_of(course, side, t) for side in range(2))
    feet, both = (left, right), 0.5 * (left + right)
    i = course.step_at(t)
    if i < 0:
        return both
    step = course.steps[i]
    stands, goes = feet[1 - step.side], feet[step.side]
    if t <= step.off:
        u = (t - step.begin) / (step.off - step.begin)
        is_first = i == 0 or course.steps[i - 1].land < step.begin - 1e-9
        begin = both if is_first else goes
        return np.asarray(begin + u * (stands - begin))
    if t <= step.land:
        return stands
    u = min((t - step.land) / _SETTLE, 1.0)
    return np.asarray(stands + u * (both - stands))


def _middle_of(course: StepCourse, side: int, t: float) -> np.ndarray:
    """(2,) m, of a sole: the one that it stands on, or left."""
    stance, foot = course.stances[side][course.stance_at(side, t)], course.feet[side]
    return np.asarray(stance.place + rotation.rotate(stance.turn, foot.corners.mean(axis=0)))[[0, 2]]
