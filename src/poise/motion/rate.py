"""Is a clip's frame rate true? Gravity tells: the one acceleration that recordings contain and nobody chose.

A clip whose true rate is r times the stated one shows every acceleration 1/r^2 times as large. Two things prove a rate
wrong:
- flight: while both feet are off the ground the centre of mass falls at g, so its height is a parabola whose curvature
  gives r = sqrt(g / fall), whether too fast or too slow;
- pull: the ground can push, but not pull. Where the centre of mass falls clearly faster than g, feet down or not, the
  clip plays too fast; the greatest fall gives an upper limit of the true rate.

Heights, not speeds, say when feet are off the ground, since speeds are what is in doubt. A calm motion proves nothing:
then nothing is said. Hands on bars, water, trampolines and hand-made animation can look like a wrong rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.dynamics.momentum import compute_center_of_mass
from poise.dynamics.tree import GRAVITY, build_tree
from poise.errors import PoiseError
from poise.motion.clip import Clip
from poise.motion.feet import foot_points, leg_length

_G = float(np.linalg.norm(GRAVITY))
_MOST_FRAMES = 20_000
_MOST_VALUES = 2_000_000  # that are worked on at once
# Flight: soles this share of the leg above the ground (4 cm), for this many frames; how far the parabola bends (m), and
# how much of that may be left unexplained; sideways acceleration as a share of the fall.
_CLEARANCE, _SHORTEST_FLIGHT = 0.045, 6
_LEAST_SAG, _LEFT_OVER, _SIDEWAYS = 0.02, 0.06, 0.3
_LEAST_FALL = 1.0  # m/s2: slower than this is no fall, whatever the rate
# Rates within this factor of the stated one are no mistake: masses are guessed, floors give way. (Recordings here that
# are known to be right: 0.97 to 1.01.) Below 1.2, which tells 25 Hz from 30 and 100 from 120.
_TOLERANCE = 1.15
# Pull: parabolas over this long (s) and at least this many frames, falling this many times g. (Recordings known to be
# right reach 1.31 g in runs and jumps, in which the trunk's mass is not where the tables put it.)
_WINDOW, _SHORTEST_WINDOW, _PULL = 0.1, 5, 1.5
_FEWEST_PULLS, _LONG_PULL = 2, 5  # separate stretches, or frames of one
_SURENESS = 4.0  # standard errors beyond the limit
_COMMON = (24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 100.0, 120.0)


@dataclass(frozen=True)
class RateCheck:
    """What the motion says about its frame rate.

    fps       as stated, Hz
    likely    the likely true rate, Hz; None where nothing speaks against the stated one
    fall      m/s2 at the stated rate: how fast the centre of mass falls in flight, or at most; 0 where it cannot tell
    flights   how many flights there were to judge by
    evidence  in words
    """

    fps: float
    likely: float | None
    fall: float
    flights: int
    evidence: str

    @property
    def is_wrong(self) -> bool:
        """Whether the stated rate contradicts gravity."""
        return self.likely is not None


@dataclass(frozen=True)
class _Parabola:
    """A stretch of the centre of mass's height as a parabola: fall (m/s2), its standard error, length (s)."""

    fall: float
    error: float
    length: float


def check_rate(clip: Clip, ground: float | None = None) -> RateCheck:
    """Whether a clip in metres, Y up, falls as gravity makes it fall at its stated rate.

    ground  m, the floor's height; found from the lowest soles if None
    """
    silent = RateCheck(clip.fps, None, 0.0, 0, "the motion has no flight and no fall to judge by")
    if len(clip) < 2 * _SHORTEST_FLIGHT:
        return silent
    clip = clip.pick(slice(0, _MOST_FRAMES))
    try:
        tree = build_tree(Character.from_skeleton(clip.skeleton))
        soles = foot_points(clip)[..., 1].min(axis=(1, 2))
    except PoiseError:
        return silent
    center = compute_center_of_mass(tree, *clip.poses)
    floor = float(np.percentile(soles, 5)) if ground is None else ground
    clear = soles > floor + _CLEARANCE * leg_length(clip.skeleton, "left")
    flights = _find_flights(clip.times, center, clear)
    if flights and (verdict := _judge_flights(clip.fps, flights)) is not None:
        return verdict
    return _judge_pull(clip.fps, clip.times, center[:, 1]) or RateCheck(
        clip.fps,
        None,
        *((_mean_fall(flights), len(flights), "it falls at g") if flights else (0.0, 0, silent.evidence)),
    )


def _find_flights(times: np.ndarray, center: np.ndarray, clear: np.ndarray) -> list[_Parabola]:
    """The stretches with both feet off the ground in which the centre of mass flies: in a parabola, straight on."""
    flights = []
    for first, last in _runs(clear):
        inside = first > 0 and last < len(times) - 1
        if not inside or last - first + 1 < _SHORTEST_FLIGHT:
            continue
        t, places = times[first : last + 1], center[first : last + 1]
        fits = [_fit(t, places[:, axis]) for axis in range(3)]
        fall, left_over = -fits[1][0], fits[1][1]
        sag = fall * (t[-1] - t[0]) ** 2 / 8.0
        sideways = math.hypot(fits[0][0], fits[2][0])
        if fall > _LEAST_FALL and sag > _LEAST_SAG and left_over < _LEFT_OVER * sag and sideways < _SIDEWAYS * fall:
            flights.append(_Parabola(fall, fits[1][2], float(t[-1] - t[0])))
    return flights


def _mean_fall(flights: list[_Parabola]) -> float:
    weights = [flight.length**2 for flight in flights]
    return sum(w * flight.fall for w, flight in zip(weights, flights, strict=True)) / sum(weights)


def _judge_flights(fps: float, flights: list[_Parabola]) -> RateCheck | None:
    """A verdict where the flights agree on another rate than the stated one."""
    fall = _mean_fall(flights)
    ratios = [math.sqrt(_G / flight.fall) for flight in flights]
    off = [ratio for ratio in ratios if not 1.0 / _TOLERANCE < ratio < _TOLERANCE]
    agree = max(ratios) < _TOLERANCE * min(ratios)
    if len(off) < len(ratios) or not agree:
        return None
    count = f"in {len(flights)} flights" if len(flights) > 1 else "in a flight"
    evidence = f"{count} the body falls at {fall:.1f} m/s2 instead of {_G:.2f}"
    return RateCheck(fps, _nearest_rate(fps, fps * math.sqrt(_G / fall)), fall, len(flights), evidence)


def _judge_pull(fps: float, times: np.ndarray, height: np.ndarray) -> RateCheck | None:
    """A verdict where the centre of mass falls faster than g, again and again or for long."""
    frames = max(_SHORTEST_WINDOW, round(_WINDOW * fps) + 1)
    if len(times) < frames:
        return None
    x = (np.arange(frames) - 0.5 * (frames - 1)) / fps
    basis = x**2 - np.mean(x**2)
    curve, left_over = _fit_windows(height, x, basis)
    fall = -2.0 * curve
    error = 2.0 * left_over / math.sqrt(float(basis @ basis))
    sag = fall * (x[-1] - x[0]) ** 2 / 8.0
    # A glitch of one frame is no parabola.
    pulls = (fall - _SURENESS * error > _G) & (fall > _PULL * _G) & (left_over < 2.0 * _LEFT_OVER * sag)
    runs = _runs(pulls)
    if len(runs) < _FEWEST_PULLS and not any(last - first + 1 >= _LONG_PULL for first, last in runs):
        return None
    most = float(np.percentile(fall[pulls], 75))
    limit = fps * math.sqrt(_G / most)
    where = times[int(np.flatnonzero(pulls)[np.argmax(fall[pulls])]) + frames // 2]
    evidence = (
        f"the body falls at up to {float(fall[pulls].max()):.1f} m/s2, about {where:.2f} s, faster than the "
        f"{_G:.2f} of free fall, and no ground can pull"
    )
    return RateCheck(fps, _rate_below(fps, limit), float(fall[pulls].max()), 0, evidence)


def _fit_windows(height: np.ndarray, x: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half the curvature of a parabola through each window of heights, and what it leaves over (std); some at a time,
    since at a high rate a window has thousands of frames."""
    every = np.lib.stride_tricks.sliding_window_view(height, len(x))
    curves, left_overs = [], []
    for windows in np.array_split(every, max(1, every.size // _MOST_VALUES)):
        curve = windows @ basis / (basis @ basis)
        slope = windows @ x / (x @ x)
        fitted = windows.mean(axis=1, keepdims=True) + slope[:, None] * x + curve[:, None] * basis
        curves.append(curve)
        left_overs.append(np.std(windows - fitted, axis=1))
    return np.concatenate(curves), np.concatenate(left_overs)


def _candidates(fps: float) -> list[float]:
    """Rates that are confused with one another: common ones, and halves, quarters and doubles of the stated one."""
    return sorted({*_COMMON, fps / 4.0, fps / 2.0, 2.0 * fps, 4.0 * fps})


def _nearest_rate(fps: float, found: float) -> float:
    near = min(_candidates(fps), key=lambda rate: abs(math.log(rate / found)))
    return near if abs(math.log(near / found)) < math.log(1.1) else found


def _rate_below(fps: float, limit: float) -> float:
    """The likely rate of a clip that cannot be faster than a limit: a half or a quarter first, else a common one."""
    simple = [fps / n for n in (2.0, 4.0) if fps / n <= limit]
    return simple[0] if simple else max((rate for rate in _candidates(fps) if rate <= limit), default=limit)


def _fit(t: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """The acceleration of a parabola through points, what it leaves over (std), and its standard error."""
    x = t - t.mean()
    basis = np.stack([np.ones_like(x), x, x**2], axis=1)
    solution, *_ = np.linalg.lstsq(basis, y, rcond=None)
    left_over = float(np.std(y - basis @ solution))
    spread = x**2 - np.mean(x**2)
    return 2.0 * float(solution[2]), left_over, 2.0 * left_over / math.sqrt(float(spread @ spread))


def _runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """First and last index of each stretch of True."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return list(zip(np.flatnonzero(edges == 1).tolist(), (np.flatnonzero(edges == -1) - 1).tolist(), strict=True))


def describe_rate(check: RateCheck) -> str | None:
    """The warning of a wrong rate, or None."""
    if check.likely is None:
        return None
    return (
        f"frame rate: {check.fps:.4g} Hz as stated cannot be: {check.evidence}. The recording is likely of "
        f"{check.likely:.4g} Hz; correct it with --fps {check.likely:.4g}."
    )
