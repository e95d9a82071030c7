"""A walk as plain data: arrays and numbers, from which it continues with the same bits."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from poise.walking.center_of_mass import SplinePath
from poise.walking.feet.stance import FootStance, FootSwing
from poise.walking.gait import Gait
from poise.walking.path.planner import WalkPath
from poise.walking.poses import WalkPoser
from poise.walking.steps import Step
from poise.walking.walker import HipOffsets

_OUTLINES = ("whole", "front", "back")
# every other number of a stance: one that is added there is saved here
_TIMES = tuple(
    field.name for field in dataclasses.fields(FootStance) if field.name not in ("place", "turn", *_OUTLINES)
)
_SWING = tuple(field.name for field in dataclasses.fields(FootSwing))
_MANNER = tuple(field.name for field in dataclasses.fields(Gait))


def save_walk(poser: WalkPoser) -> dict[str, Any]:
    """Return the plan of a walk and the state of its poses."""
    walker = poser.walker
    course, way = walker.course, walker.way
    heading = np.nan if way.heading is None else way.heading
    return {
        "feet": [
            {
                "places": np.stack([stance.place for stance in row]),
                "turns": np.stack([stance.turn for stance in row]),
                "times": np.array([[getattr(stance, name) for name in _TIMES] for stance in row]),
                "outlines": [{name: _save_outline(getattr(stance, name)) for name in _OUTLINES} for stance in row],
                "swings": np.array([[getattr(each, name) for name in _SWING] for each in swings]).reshape(
                    -1, len(_SWING)
                ),
            }
            for row, swings in zip(course.stances, course.swings, strict=True)
        ],
        "steps": np.array([[step.side, step.begin, step.off, step.land] for step in course.steps]).reshape(-1, 4),
        "center": walker.center.controls.copy(),
        "height": walker.height.controls.copy(),
        "starts": np.array([walker.center.start, walker.height.start]),
        "way": way.points.copy(),
        "facing": np.array([way.facing, float(way.endless), heading]),
        "manner": np.array([getattr(walker.manner, name) for name in _MANNER]),
        "hang": np.concatenate([walker.hang.hips[None], walker.hang.joints]),
        "mass": np.array(walker.hang.mass),
        "walker": np.array(
            [
                -1.0 if walker._left is None else walker._left,
                *walker._s,
                walker._next,
                walker.done,
                walker.worst,
                walker._known,
                walker._wait,
            ]
        ),
        "follower": poser.follower.state(),
    }


def restore_walk(poser: WalkPoser, saved: dict[str, Any]) -> None:
    """Continue a saved walk with a poser of the same body."""
    walker = poser.walker
    course = walker.course
    for side, foot in enumerate(saved["feet"]):
        rows = zip(foot["places"], foot["turns"], foot["times"], foot["outlines"], strict=True)
        course.stances[side][:] = [
            _restore_stance(place, turn, times, outlines) for place, turn, times, outlines in rows
        ]
        course.swings[side][:] = [FootSwing(*map(float, row)) for row in foot["swings"]]
    course.steps[:] = [Step(int(row[0]), *map(float, row[1:])) for row in saved["steps"]]
    starts = saved["starts"]
    walker.center = SplinePath(float(starts[0]), np.array(saved["center"]))
    walker.height = SplinePath(float(starts[1]), np.array(saved["height"]))
    facing, endless, heading = map(float, saved["facing"])
    walker.way = WalkPath(np.array(saved["way"]), facing, bool(endless), None if np.isnan(heading) else heading)
    walker.manner = Gait(**dict(zip(_MANNER, map(float, saved["manner"]), strict=True)))
    walker._scale = walker.manner.scale(walker.leg)
    hang = np.array(saved["hang"])
    walker.hang = HipOffsets(hang[0], hang[1:], float(saved["mass"]))
    left, s0, s1, first, done, worst, known, wait = map(float, saved["walker"])
    walker._left, walker._s, walker._next = None if left < 0.0 else int(left), [s0, s1], int(first)
    walker.done, walker.worst, walker._known, walker._wait = bool(done), worst, known, wait
    poser.follower.restore(saved["follower"])


def _restore_stance(place: Any, turn: Any, times: Any, outlines: dict[str, Any]) -> FootStance:
    fields: dict[str, Any] = dict(zip(_TIMES, map(float, times), strict=True))
    fields |= {name: _restore_outline(outline) for name, outline in outlines.items()}
    return FootStance(np.array(place), np.array(turn), **fields)


def _save_outline(points: np.ndarray | None) -> dict[str, Any]:
    """An outline, or that there is none: all of it."""
    return {"has": points is not None, "points": np.zeros((0, 3)) if points is None else points.copy()}


def _restore_outline(saved: dict[str, Any]) -> np.ndarray | None:
    return np.array(saved["points"]).reshape(-1, 3) if saved["has"] else None
