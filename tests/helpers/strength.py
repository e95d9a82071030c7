"""What the strength model has at a point that somebody measured."""

from __future__ import annotations

import numpy as np

from oracles.cited_strength import BOTH, MAN, WOMAN, Point
from poise import Character, JointStrength

BODIES = {
    MAN: Character.human(1.75, 78.0, sex="male", age=25.0),
    WOMAN: Character.human(1.62, 64.0, sex="female", age=25.0),
}


def find_torque(point: Point) -> float:
    """N m, or N m/kg where the point is."""
    who = (MAN, WOMAN) if point.who == BOTH else (point.who,)
    return float(np.mean([_find_torque(point, BODIES[each]) for each in who]))


def _find_torque(point: Point, body: Character) -> float:
    muscles = JointStrength.from_character(body)
    row = muscles.row(point.joint, point.axis)
    degrees = np.arange(-180.0, 181.0) if point.degrees is None else np.array([point.degrees])
    angles, rates = np.zeros((len(degrees), len(muscles))), np.zeros(len(muscles))
    angles[:, row], rates[row] = np.radians(degrees), point.sign * np.radians(point.speed)
    low, high = muscles.torque_range(angles, rates)
    most = (high if point.sign > 0 else -low)[:, row].max()
    return float(most / body.mass if point.a_kg else most)
