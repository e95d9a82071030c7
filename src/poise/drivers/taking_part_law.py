"""How a body takes part in a gesture at one time, as a law: `taking_part.py` has the formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.motion.body_track import MOVES
from poise.motion.curve_kernels import find_segment, phase_at
from poise.spatial.addresses import blocks, call_with_two, floats, record, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

LEAD = 0.04  # s by which the body is ahead of the hands
FADE = 1.0  # s, in which a body goes over to another amount, or to another way

# clock   (6,) of the gesture: see `curve_kernels`
# amount  (1 + 4 * 4,): when it began to change (s), of each move what it goes to, and how far it was from that, with
#         first and second derivatives
# rest    (1 + 3 * 4,): when another curve was taken up (s), and how far that was from the one before, likewise
# knots, curve   (N,) and (N - 1, 4, 4): see `BodyTrack`
# now     (3, 4) moves, their rates and accelerations, as written by `take_part` for the time `at` (s)
# law     the address of `take_part`; 0: the body never took part in anything, and `now` is zero
TAKING = fields(arrays="clock amount rest knots curve now", integers="knot_count law", floats="period at")


@kernel
def die_off(x: float, v: float, a: float, u: float) -> tuple[float, float, float]:
    """What is left of a number with first and second derivatives after u in 0..1 of `FADE`: a quintic, with its own."""
    if u >= 1.0:
        return 0.0, 0.0, 0.0
    S = FADE
    return (
        x * (1.0 + u**3 * (-10.0 + u * (15.0 - 6.0 * u)))
        + S * v * (u + u**3 * (-6.0 + u * (8.0 - 3.0 * u)))
        + 0.5 * S * S * a * u**2 * (1.0 - u) ** 3,
        x / S * u**2 * (-30.0 + u * (60.0 - 30.0 * u))
        + v * (1.0 + u**2 * (-18.0 + u * (32.0 - 15.0 * u)))
        + 0.5 * S * a * u * (2.0 + u * (-9.0 + u * (12.0 - 5.0 * u))),
        x / (S * S) * u * (-60.0 + u * (180.0 - 120.0 * u))
        + v / S * u * (-36.0 + u * (96.0 - 60.0 * u))
        + 0.5 * a * (2.0 + u * (-18.0 + u * (36.0 - 20.0 * u))),
    )


@kernel
def find_amount(x: Any, t: float, out: np.ndarray) -> None:
    """The amounts (3, 4) at time t, with their derivatives."""
    amount, n = floats(x.amount, 1 + 4 * MOVES), MOVES
    for m in range(n):
        goal, k = amount[1 + m], 1 + n + m
        a, out[1, m], out[2, m] = die_off(amount[k], amount[k + n], amount[k + 2 * n], (t - amount[0]) / FADE)
        out[0, m] = goal + a


@kernel
def find_way(x: Any, t: float, way: np.ndarray) -> None:
    """The moves (3, 4) at an amount of 1 at time t, with their derivatives."""
    n = x.knot_count
    phase, rate, slope = phase_at(floats(x.clock, 6), t + LEAD)
    k, u, inside = find_segment(floats(x.knots, n), x.period, phase)
    if not inside:
        rate = slope = 0.0
    curve, rest = blocks(x.curve, n - 1, 4, MOVES)[k], floats(x.rest, 1 + 3 * MOVES)
    for m in range(MOVES):
        first = (3.0 * curve[0, m] * u + 2.0 * curve[1, m]) * u + curve[2, m]
        second = 6.0 * curve[0, m] * u + 2.0 * curve[1, m]
        p, v, a = die_off(rest[1 + m], rest[1 + MOVES + m], rest[1 + 2 * MOVES + m], (t - rest[0]) / FADE)
        way[0, m] = ((curve[0, m] * u + curve[1, m]) * u + curve[2, m]) * u + curve[3, m] + p
        way[1, m] = first * rate + v
        way[2, m] = second * rate * rate + first * slope + a


@law
def take_part(_body: int, block: int) -> None:
    """The moves and their derivatives at the block's own time into its `now`."""
    x = record(block, TAKING)
    now, way, amount = vectors(x.now, 3, MOVES), np.empty((3, MOVES)), np.empty((3, MOVES))
    find_amount(x, x.at, amount)
    find_way(x, x.at, way)
    for m in range(MOVES):
        a, da, dda = amount[0, m], amount[1, m], amount[2, m]
        now[0, m] = a * way[0, m]
        now[1, m] = a * way[1, m] + da * way[0, m]
        now[2, m] = a * way[2, m] + 2.0 * da * way[1, m] + dda * way[0, m]


@kernel
def find_part(block: int, t: float) -> np.ndarray:
    """(3, 4) moves and their derivatives at time t; the next call writes over it."""
    x = record(block, TAKING)
    if x.law != 0:
        x.at = t
        call_with_two(x.law, 0, block)
    return vectors(x.now, 3, MOVES)
