"""Gestures that go with speech: beats and points whose strokes end on the stressed syllables.

A gesture phrase is preparation, stroke, hold and retraction (A. Kendon 1980; D. McNeill, "Hand and mind", 1992). The
stroke ends on the stress: a beat's hand is then at its lowest, a pointing one furthest out. Strokes that follow each
other soon are chained, from the hold straight into the next preparation; only before a longer pause does the arm go
down to hang.

Each hand's way is a chain of quintics through knots with given velocity and acceleration, so C2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from poise.errors import InputError, check_range
from poise.motion.gestures.arm import Arm, ArmPath
from poise.motion.gestures.gesture import HANDS, SingleGesture, check_choice
from poise.motion.samples.curves import through

KINDS = ("beat", "point")
# s: the stroke, the preparation before it, the hold after it, at ease. Beats are quick and held shortly (McNeill).
_STROKE = {"beat": 0.24, "point": 0.38}
_PREPARE, _HOLD, _RETRACT = 0.45, {"beat": 0.16, "point": 0.45}, 0.8
_FIRST = {"beat": 0.5, "point": 0.65}  # s, the least time in which a hanging hand gets there
_CLOSEST = {"beat": 0.25, "point": 0.5}  # s, the least after a stroke before
_CHAIN = 1.6  # s from one stroke's hold to the next stroke's end, above which the arm goes down between them
# (out, up, forward) in arm lengths from between the shoulders.
_HOME = np.array([0.30, -0.42, 0.58])  # where beats end
_APEX = np.array([0.04, 0.17, -0.06])  # from there to where their strokes begin
_REBOUND = np.array([0.02, 0.035, 0.01])
_DRIFT = 0.05  # arm lengths by which beats differ from each other in place: nobody beats twice on one spot
_GOLDEN = 0.6180339887498949
_POINT_REACH = 0.96  # of the arm, along the direction
_PALMS = {"hang": (-1.0, 0.0, 0.0), "beat": (-1.0, 0.4, -0.1), "point": (-0.6, -0.75, 0.1)}
_FLEXIONS = {"hang": 0.0, "beat": np.radians(-6.0), "point": np.radians(4.0)}
_COCKED = np.radians(-16.0)  # the wrist before a beat's stroke


@dataclass(frozen=True)
class Stress:
    """A stressed syllable and what the hands do on it.

    time       s from the gesture's beginning, when the stroke ends
    kind       "beat" or "point"
    hand       "right", "left" or "both"
    direction  of a point, (left, up, forward) in the body's axes, any length; not backward
    """

    time: float
    kind: str = "beat"
    hand: str = "right"
    direction: tuple[float, float, float] = (0.0, 0.05, 1.0)

    def __post_init__(self) -> None:
        check_range("speak: stress: time", self.time, 0.0, 36000.0, "s")
        check_choice("speak: stress", "kind", self.kind, KINDS)
        check_choice("speak: stress", "hand", self.hand, list(HANDS))
        aim = np.asarray(self.direction, float)
        if aim.shape != (3,) or not np.isfinite(aim).all() or aim[2] < 0.15 * np.linalg.norm(aim) or not aim.any():
            raise InputError(
                "speak: stress: direction must be three numbers (left, up, forward) that do not point backward, at "
                f"most 81 degrees from straight ahead; given {self.direction!r}."
            )
        object.__setattr__(self, "direction", tuple(float(x) for x in aim))


@dataclass(frozen=True)
class Speak(SingleGesture):
    """Beats and points on given stresses. Phase is seconds; at 0 and at the end the arms hang.

    stresses  in the order of their times; a hand needs 0.5 s for its first beat (a point 0.65) and 0.25 s (0.5) for
              each further one
    size      of beats, 0.2 to 2; 1 is a hand's breadth
    """

    stresses: tuple[Stress, ...]
    size: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "stresses", tuple(self.stresses))
        check_range("speak: size", self.size, 0.2, 2.0)
        if not self.stresses:
            raise InputError("speak: no stresses given; give at least one, such as Stress(1.0).")
        for stress in self.stresses:
            if not isinstance(stress, Stress):
                raise InputError(f"speak: stresses must be Stress(time, kind, hand) each; given {stress!r}.")
        for before, stress in zip(self.stresses, self.stresses[1:], strict=False):
            if stress.time <= before.time:
                raise InputError(
                    f"speak: stress times must increase; {stress.time:g} s follows {before.time:g} s. Sort them, and "
                    "use hand='both' for both hands at once."
                )
        for side in self.sides:
            self._check_room(side)

    def restored(self, parameters: dict[str, Any]) -> Self:
        """See `Motion.restored`."""
        found = [Stress(**{**x, "direction": tuple(x["direction"])}) for x in parameters.get("stresses", ())]
        return super().restored({**parameters, "stresses": found} if found else parameters)

    def _check_room(self, side: str) -> None:
        """Raise where a hand has no time for a stroke."""
        before = None
        for stress in self.strokes(side):
            since = 0.0 if before is None else before
            needed = (_FIRST if before is None else _CLOSEST)[stress.kind]
            if stress.time - since < needed - 1e-9:
                what = "the beginning" if before is None else f"its stroke at {before:g} s"
                raise InputError(
                    f"speak: the {side} hand's {stress.kind} at {stress.time:g} s comes {stress.time - since:.3g} s "
                    f"after {what}, and needs {needed:g} s. Move it, leave it out or give it to the other hand."
                )
            before = stress.time

    def strokes(self, side: str) -> list[Stress]:
        """The stresses on which a hand moves."""
        return [stress for stress in self.stresses if side in HANDS[stress.hand]]

    @property
    def length(self) -> float:
        """s, until the last hand hangs again."""
        return max(s.time + _HOLD[s.kind] + _RETRACT for s in self.stresses)

    @property
    def sides(self) -> tuple[str, ...]:
        """The arms that have a stroke."""
        used = {side for stress in self.stresses for side in HANDS[stress.hand]}
        return tuple(side for side in HANDS["both"] if side in used)

    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """One hand through all its strokes."""
        side = "left" if arm.sign > 0 else "right"
        state = _fit(self, side, tuple(arm.hanging), tuple(arm.shoulder), arm.length)(np.clip(phase, 0.0, self.length))
        return ArmPath(state[:, :3], state[:, 3:6], state[:, 6])


@lru_cache(maxsize=32)
def _fit(speak: Speak, side: str, hanging: tuple[float, ...], shoulder: tuple[float, ...], length: float) -> Any:
    """The curve of (wrist m, palm, flexion) over seconds."""
    rest = _state(np.array(hanging), "hang")
    strokes = speak.strokes(side)
    knots = [_Knot(0.0, rest)]
    free = 0.0  # when the hand may leave where it is
    for i, stress in enumerate(strokes):
        gap = stress.time - free
        stroke = min(_STROKE[stress.kind], 0.45 * gap)
        prepare = min(_PREPARE + (0.15 if knots[-1].state is rest else 0.0), gap - stroke)
        begin = stress.time - stroke - prepare
        if begin > free + 1e-9:
            knots.append(_Knot(begin, knots[-1].state))
        knots += _make_stroke(stress, stroke, side, i, speak.size, np.array(shoulder), length)
        following = strokes[i + 1].time if i + 1 < len(strokes) else np.inf
        hold = min(_HOLD[stress.kind], 0.25 * (following - stress.time))
        free = stress.time + hold
        knots.append(_Knot(free, _rebound(stress, knots[-1].state, length)))
        if following - free > _CHAIN:
            free += _RETRACT
            knots.append(_Knot(free, rest))
    if knots[-1].time < speak.length:
        knots.append(_Knot(speak.length, rest))
    return through([(k.time, k.state, k.velocity, k.acceleration) for k in knots])


class _Knot:
    """A state (7,) at a time, passed with a velocity and an acceleration."""

    def __init__(
        self, time: float, state: np.ndarray, velocity: np.ndarray | None = None, push: np.ndarray | None = None
    ):
        self.time, self.state = time, state
        self.velocity, self.acceleration = np.zeros(7), np.zeros(7)
        if velocity is not None:
            self.velocity[:3] = velocity
        if push is not None:
            self.acceleration[:3] = push


def _state(wrist: np.ndarray, kind: str, flexion: float | None = None) -> np.ndarray:
    return np.concatenate([wrist, _PALMS[kind], [_FLEXIONS[kind] if flexion is None else flexion]])


def _make_stroke(
    stress: Stress, stroke: float, side: str, index: int, size: float, shoulder: np.ndarray, length: float
) -> list[_Knot]:
    """The knots where a stroke of `stroke` seconds begins and ends.

    It ends at rest but still slowed down, by what brings it back after: the turning point is exactly on the stress.
    """
    if stress.kind == "beat":
        # Places spread evenly by the golden ratio, the same every time.
        drift = _DRIFT * (2.0 * np.mod((index + 1) * _GOLDEN, 1.0) - 1.0)
        end = length * (_HOME + np.array([drift, 0.3 * drift, -0.4 * drift]))
        height = length * size * stroke / _STROKE["beat"]  # a hurried beat is a small one
        apex = height * _APEX
        # The hand comes over the top in an arc, forward.
        over = height * np.array([0.02, 0.0, 0.10]) / stroke
        push = np.array([0.0, 8.0 * apex[1], 0.0]) / stroke**2
        first = _Knot(stress.time - stroke, _state(end + apex, "beat", _COCKED), over)
        return [first, _Knot(stress.time, _state(end, "beat"), push=push)]
    aim = np.asarray(stress.direction) * np.array([1.0 if side == "left" else -1.0, 1.0, 1.0])
    aim = aim / np.linalg.norm(aim)
    end = shoulder + length * _POINT_REACH * aim
    # From a hand drawn up before the shoulder, below the line it will point along.
    start = shoulder + length * (0.52 * aim + np.array([-0.04, -0.22, 0.10]))
    along = (end - start) / stroke
    first = _Knot(
        stress.time - stroke, _state(start, "point"), 0.35 * along + np.array([0.0, 0.25 * length / stroke, 0.0])
    )
    return [
        first,
        _Knot(stress.time, _state(end, "point"), push=-4.0 * (_POINT_REACH - 0.52) * length * aim / stroke**2),
    ]


def _rebound(stress: Stress, end: np.ndarray, length: float) -> np.ndarray:
    """The state held after a stroke."""
    held = end.copy()
    if stress.kind == "beat":
        held[:3] += length * _REBOUND
    else:
        held[:3] += 0.03 * length * np.array([0.0, -0.3, -1.0])
    return held


def speak(stresses: Sequence[Stress], size: float = 1.0) -> Speak:
    """Beat and point gestures whose strokes end on the stresses' times; see `Stress` and `Speak`."""
    return Speak(tuple(stresses), size)
