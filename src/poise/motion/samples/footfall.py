"""A foot that comes down on its heel, rolls over the flat sole onto the ball, and leaves by its toes.

The pitch theta (rad, positive lifts the heel) says where the foot turns: below zero about the back of the heel, above
zero about the toes' joint while the toes stay flat. The ankle is a = P - R(theta) p, with P the pivot's fixed place
and p the vector from ankle to pivot, so
    adot  = -R' p thetadot,    addot = -R'' p thetadot^2 - R' p thetaddot,    R' p = R (e_x x p)
and a foot on the ground cannot slip. In the air the ankle takes a quintic that has these rates at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.motion.samples.body import Figure
from poise.motion.samples.curves import hump, through
from poise.motion.samples.tracks import X, foot_turn
from poise.spatial import rotation


@dataclass(frozen=True)
class Swing:
    """One step through the air.

    heel_off, toe_off, land, flat   s: the heel lifts, the toes leave, the heel (or the ball) is down, the sole is flat
    toe_off_pitch, land_pitch       rad: at toe_off (positive) and at land (negative lands on the heel)
    toe_off_rate, land_rate         rad/s, of the pitch at those moments
    air                             between: (share of the time in the air, pitch rad, its rate rad/s)
    to                              (3,) m, where the ankle is when the foot is flat again
    """

    heel_off: float
    toe_off: float
    land: float
    flat: float
    toe_off_pitch: float
    land_pitch: float
    toe_off_rate: float
    land_rate: float
    air: tuple[tuple[float, float, float], ...]
    to: np.ndarray


def follow_swings(
    figure: Figure, side: int, start: np.ndarray, swings: list[Swing], times: np.ndarray, clearance: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ankle (F, 3) m, the foot's orientation (F, 4) and the toes' own pitch (F,) rad of one foot over its steps.

    start      (3,) m, the ankle of the flat foot before the first step
    clearance  m, what the sole keeps from the ground in the middle of a swing
    """
    pitch_curve, toes_curve = _pitch_curves(figure, side, swings, times)
    pitch, toes = pitch_curve(times), toes_curve(times)
    ankle = _rolled(figure, side, start, pitch)
    before = start
    for swing in swings:
        after = times >= swing.toe_off
        ankle[after] = _rolled(figure, side, swing.to, pitch[after])
        ends = []
        for flat, t in ((before, swing.toe_off), (swing.to, swing.land)):
            rates = [float(pitch_curve(t, order)) for order in range(3)]
            ends.append((t, *ankle_rates(figure, side, flat, *rates)))
        path = through(ends)
        u = (times - swing.toe_off) / (swing.land - swing.toe_off)
        air = (u > 0) & (u < 1)
        ankle[air] = path(times[air])
        ankle[air, 1] += _lift(figure, side, swing, path, pitch_curve, toes_curve, clearance) * hump(u[air])
        before = swing.to
    return ankle, foot_turn(side, pitch), toes


def _pitch_curves(figure: Figure, side: int, swings: list[Swing], times: np.ndarray) -> tuple[Any, Any]:
    """Curves over time of the foot's pitch, and of the toes' own, which keeps them flat while they carry the foot."""
    bend = 0.0 if figure.soles[side].toes is None else -1.0
    still = (0.0, 0.0, 0.0)
    foot: list[tuple[float, ...]] = [(min(times[0], swings[0].heel_off) - 1.0, *still)]
    toes = list(foot)
    for s in swings:
        straight = 0.5 * (s.toe_off + s.land)
        leave, land = (s.toe_off_pitch, s.toe_off_rate, 0.0), (s.land_pitch, s.land_rate, 0.0)
        bent_landing = tuple(bend * v for v in land) if s.land_pitch > 0 else still
        air = [(s.toe_off + share * (s.land - s.toe_off), pitch, rate, 0.0) for share, pitch, rate in s.air]
        foot += [(s.heel_off, *still), (s.toe_off, *leave), *air, (s.land, *land), (s.flat, *still)]
        toes += [(s.heel_off, *still), (s.toe_off, *(bend * v for v in leave)), (straight, *still)]
        toes += [(s.land, *bent_landing), (s.flat, *still)]
    end = (max(times[-1], swings[-1].flat) + 1.0, *still)
    return through([*foot, end]), through([*toes, end])


def _pivots(figure: Figure, side: int, pitch: np.ndarray) -> np.ndarray:
    """(F, 3) m, from the ankle to the point about which the foot turns at each pitch."""
    return np.where(np.asarray(pitch)[..., None] > 0, figure.pivot(side), figure.soles[side].heel)


def _rolled(figure: Figure, side: int, flat: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """(F, 3) m, the ankle of a foot on the ground, which is at `flat` when the pitch is zero."""
    p = _pivots(figure, side, pitch)
    # a = P - R(theta) p,  P = flat + R(0) p
    return flat + rotation.rotate(foot_turn(side, np.zeros_like(pitch)), p) - rotation.rotate(foot_turn(side, pitch), p)


def ankle_rates(
    figure: Figure, side: int, flat: np.ndarray, theta: float, rate: float, second: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, velocity and acceleration (3,) of the ankle of a foot on the ground, from its pitch and rates."""
    pitch = np.array([theta])
    p = _pivots(figure, side, pitch)[0]
    turn = foot_turn(side, pitch)[0]
    once, twice = np.cross(X, p), np.cross(X, np.cross(X, p))
    velocity = -rotation.rotate(turn, once) * rate
    acceleration = -rotation.rotate(turn, twice) * rate**2 - rotation.rotate(turn, once) * second
    return _rolled(figure, side, flat, pitch)[0], velocity, acceleration


def _lift(
    figure: Figure, side: int, swing: Swing, path: Any, pitch_curve: Any, toes_curve: Any, clearance: float
) -> float:
    """m, how much higher the middle of the swing must be for the sole to clear the ground by `clearance` hump(u)."""
    u = np.linspace(0.1, 0.9, 41)
    t = swing.toe_off + u * (swing.land - swing.toe_off)
    ankle, turn, sole = path(t), foot_turn(side, pitch_curve(t)), figure.soles[side]
    front, front_turn = ankle, turn
    if sole.toes is not None:
        front = ankle + rotation.rotate(turn, figure.pivot(side))
        front_turn = rotation.multiply(turn, rotation.exp(toes_curve(t)[:, None] * X))
    points = (
        ankle + rotation.rotate(turn, sole.heel),
        *(front + rotation.rotate(front_turn, p) for p in (sole.ball, sole.tip)),
    )
    lowest = np.min([point[:, 1] for point in points], axis=0)
    return max(0.0, float(np.max(clearance - lowest / hump(u))))
