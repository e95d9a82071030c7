"""Is a clip's frame rate true? Gravity tells: the one acceleration that recordings contain and nobody chose.

A clip whose true rate is r times the stated one shows every acceleration 1/r^2 times as large. Three things prove a
rate wrong:
- flight (`flight`): the centre of mass falls at g, so its height is a parabola whose curvature gives
  r = sqrt(g / fall), whether too fast or too slow;
- pull: the ground can push, but not pull. Where the centre of mass falls clearly faster than g, feet down or not, the
  clip plays too fast; the greatest fall gives an upper limit of the true rate. Flights at g are the better witnesses:
  then no pull counts, as when hard landings shake a skeleton;
- soles: where nothing flies or falls, the ground can push only where the soles are, which holds at half the rate or a
  quarter of it and not at the stated one (`standing_rate.py`).

They prove it for what was recorded. Hand-made motion (`keyed`) falls as somebody drew it: there a pull is said, but no
rate is doubted, and a flight counts only if the limbs move in it as they do in bodies. A calm motion proves nothing:
then nothing is said. Hands on bars, water and trampolines can still look like a wrong rate.

The confidence says how much agrees: one flight 0.75, two 0.9, more 0.95; two stretches of pull 0.6, each further one
0.1 more, up to 0.9; a push outside the soles 0.7 where the feet stay, 0.8 where they step. It is 0.15 less where the
rate that fits is none that cameras and programs have, and 0.1 less for a clip that would be too slow, since whatever
holds a body up makes it fall slower. Below 0.6 nothing is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.dynamics.tree import GRAVITY
from poise.findings import Finding
from poise.motion.clip import Clip
from poise.motion.contacts.flight import SHORTEST, Flight, find_course, find_flights
from poise.motion.contacts.standing_rate import Overreach, find_overreach
from poise.motion.contacts.synthetic import find_repeated, is_drawn, turn_rates
from poise.motion.forces.forces import compute_forces
from poise.motion.parts import find_runs

_G = float(np.linalg.norm(GRAVITY))
_MOST_FRAMES = 20_000
_MOST_VALUES = 2_000_000  # that are worked on at once
# Rates within this factor of the stated one are no mistake: masses are guessed, floors give way. (Recordings here that
# are known to be right: 0.97 to 1.01.) Below 1.2, which tells 25 Hz from 30 and 100 from 120.
_TOLERANCE = 1.15
_FARTHEST = 5.0  # no rate is mistaken by more than this factor: then it is no flight
# Pull: parabolas over this long (s) and at least this many frames, falling this many times g. (Recordings known to be
# right reach 1.31 g in runs and jumps, in which the trunk's mass is not where the tables put it.)
_WINDOW, _SHORTEST_WINDOW, _PULL, _LEFT_OVER = 0.1, 5, 1.5, 0.12
_FEWEST_PULLS, _LONG_PULL = 2, 5  # separate stretches, or frames of one
_SURENESS = 4.0  # standard errors beyond the limit
_COMMON = (24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 72.0, 90.0, 100.0, 120.0, 240.0)
_KNOWN = math.log(1.07)  # a found rate this near to one of them is that
# The confidence, as the header has it.
_BY_FLIGHTS, _BY_PULLS, _BY_SOLES = (0.75, 0.9, 0.95), (0.6, 0.1, 0.9), (0.8, 0.7)
_UNKNOWN_RATE, _TOO_SLOW, _LEAST = 0.15, 0.1, 0.6
_LIVELY, _BENDS = 4, 1e-4  # of a drawn flight: joints that change how fast they turn, by rad a frame


@dataclass(frozen=True)
class RateCheck:
    """What the motion says about its frame rate.

    fps         as stated, Hz
    likely      the likely true rate, Hz; None where nothing speaks against the stated one
    fall        m/s2 at the stated rate: how fast the centre of mass falls in flight, or at most; 0 where it cannot tell
    flights     how many flights there were to judge by
    evidence    in words
    confidence  0 to 1, in the stated rate's being wrong; `reasons`: what it is made of
    drawn       whether the motion is hand-made, so that it falls as it was drawn
    """

    fps: float
    likely: float | None
    fall: float
    flights: int
    evidence: str
    confidence: float = 0.0
    reasons: str = ""
    drawn: bool = False

    @property
    def is_wrong(self) -> bool:
        """Whether the stated rate contradicts gravity."""
        return self.likely is not None


def check_rate(clip: Clip, ground: float | None = None) -> RateCheck:
    """Whether a clip in metres, Y up, falls and stands as gravity makes it at its stated rate.

    ground  m, the floor's height; found from the lowest soles if None
    """
    silent = RateCheck(clip.fps, None, 0.0, 0, "the motion has nothing to judge by")
    if len(clip) < 2 * SHORTEST:
        return silent
    clip = clip.pick(slice(0, _MOST_FRAMES))
    course = find_course(clip)
    if course is None:
        return silent
    drawn = is_drawn(clip)
    flights = find_flights(clip, course, ground)
    if drawn:
        flights = [flight for flight in flights if _is_lively(clip, flight)]
    if flights and (verdict := _judge_flights(clip.fps, flights)) is not None:
        return verdict
    if flights and not drawn and all(_is_at_g(flight) for flight in flights):
        return RateCheck(clip.fps, None, _mean_fall(flights), len(flights), "it falls at g")
    pulled = _judge_pull(clip, course.center[:, 1], drawn)
    if pulled is not None:
        return pulled
    if not flights:
        found = None if drawn else find_overreach(clip)
        return silent if found is None else _judge_soles(clip, found)
    return RateCheck(clip.fps, None, _mean_fall(flights), len(flights), "it falls at g")


def _is_lively(clip: Clip, flight: Flight) -> bool:
    """Whether several joints turn at changing rates all through a flight; keyed bodies are thrown stiff, or jerk."""
    rates = turn_rates(clip.rotations[flight.first : flight.last + 1])
    changes = np.abs(np.diff(rates, axis=0)).max(axis=2) > _BENDS
    return int(np.sum(changes.mean(axis=0) > 0.5)) >= _LIVELY


def _mean_fall(flights: list[Flight]) -> float:
    weights = [flight.sag for flight in flights]
    return sum(w * flight.fall for w, flight in zip(weights, flights, strict=True)) / sum(weights)


def _is_at_g(flight: Flight) -> bool:
    """Whether a flight is as it must be at the stated rate."""
    return 1.0 / _TOLERANCE < math.sqrt(_G / flight.fall) < _TOLERANCE


def _judge_flights(fps: float, flights: list[Flight]) -> RateCheck | None:
    """A verdict where the flights agree on another rate than the stated one."""
    fall = _mean_fall(flights)
    ratios = [math.sqrt(_G / flight.fall) for flight in flights]
    agree = max(ratios) < _TOLERANCE * min(ratios) and 1.0 / _FARTHEST < min(ratios) <= max(ratios) < _FARTHEST
    if any(map(_is_at_g, flights)) or not agree:
        return None
    count = f"in {len(flights)} flights" if len(flights) > 1 else "in a flight"
    evidence = f"{count} the body falls at {fall:.1f} m/s2 instead of {_G:.2f}"
    found = fps * math.sqrt(_G / fall)
    likely, is_known = _nearest_rate(fps, found)
    confidence = _BY_FLIGHTS[min(len(flights), len(_BY_FLIGHTS)) - 1]
    reasons = [f"{len(flights)} flights agree" if len(flights) > 1 else "one clean flight"]
    if not is_known:
        confidence -= _UNKNOWN_RATE
        reasons.append("the rate that fits is no usual one")
    if found > fps:
        confidence -= _TOO_SLOW
        reasons.append("something may have held the body up")
    return _say(RateCheck(fps, likely, fall, len(flights), evidence, confidence, "; ".join(reasons)))


def _say(check: RateCheck) -> RateCheck | None:
    """The verdict, or None where the confidence is too low for one."""
    return check if check.confidence >= _LEAST - 1e-9 else None


def _judge_pull(clip: Clip, height: np.ndarray, drawn: bool) -> RateCheck | None:
    """A verdict where the centre of mass falls faster than g, again and again or for long."""
    fps, times = clip.fps, clip.times
    frames = max(_SHORTEST_WINDOW, round(_WINDOW * fps) + 1)
    if len(times) < frames:
        return None
    x = (np.arange(frames) - 0.5 * (frames - 1)) / fps
    basis = x**2 - np.mean(x**2)
    curve, left_over = _fit_windows(height, x, basis)
    fall = -2.0 * curve
    # Few frames say little of their noise: a parabola takes three of them, and none is thought to have less than most.
    noise = np.maximum(left_over, np.median(left_over)) * math.sqrt(frames / (frames - 3))
    error = 2.0 * noise / math.sqrt(float(basis @ basis))
    sag = fall * (x[-1] - x[0]) ** 2 / 8.0
    # A glitch of one frame is no parabola.
    pulls = (fall - _SURENESS * error > _G) & (fall > _PULL * _G) & (left_over < _LEFT_OVER * sag)
    if not drawn:  # where frames are repeated a recording has stopped, not the body
        pulls &= np.convolve(find_repeated(clip), np.ones(frames - 1), "valid") == 0.0
    stretches = find_runs(pulls).tolist()
    is_long = any(last - first + 1 >= _LONG_PULL for first, last in stretches)
    if len(stretches) < _FEWEST_PULLS and not is_long:
        return None
    most = float(np.percentile(fall[pulls], 75))
    limit = fps * math.sqrt(_G / most)
    where = times[int(np.flatnonzero(pulls)[np.argmax(fall[pulls])]) + frames // 2]
    evidence = (
        f"the body falls at up to {float(fall[pulls].max()):.1f} m/s2, about {where:.2f} s, faster than the "
        f"{_G:.2f} of free fall, and no ground can pull"
    )
    least, more, most_sure = _BY_PULLS
    confidence = min(most_sure, least + more * max(0, len(stretches) - _FEWEST_PULLS))
    count = f"{len(stretches)} stretches of it" if len(stretches) > 1 else "one long stretch of it"
    if drawn:
        return RateCheck(fps, None, float(fall[pulls].max()), 0, evidence, 0.0, "it is not recorded", True)
    check = RateCheck(fps, _rate_below(fps, limit), float(fall[pulls].max()), 0, evidence, confidence, count)
    return _say(check)


def _judge_soles(clip: Clip, found: Overreach) -> RateCheck:
    """A verdict where the ground would have to push outside the soles."""
    likely, known = _nearest_rate(clip.fps, clip.fps / found.factor)
    evidence = (
        f"the ground would have to push {100.0 * found.far:.0f} cm outside the soles, in {found.share:.0%} of the "
        f"frames and most about {found.time:.2f} s, and at {likely:.4g} Hz it pushes inside them"
    )
    spine = clip.skeleton.find_role("spine")
    if spine is not None:
        character = Character.from_skeleton(clip.skeleton)
        slower = clip.replace(times=clip.times * found.factor)
        stated, true = (
            float(np.linalg.norm(compute_forces(each, character).torque[:, spine], axis=1).max())
            for each in (clip, slower)
        )
        evidence += f"; the spine would need {stated:.0f} N m, and {true:.0f} at {likely:.4g} Hz"
    reasons = "feet that stay" if found.stays else "feet that step"
    confidence = _BY_SOLES[found.stays] - (0.0 if known else _UNKNOWN_RATE)
    return RateCheck(clip.fps, likely, 0.0, 0, evidence, confidence, reasons)


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


def _nearest_rate(fps: float, found: float) -> tuple[float, bool]:
    """The rate that is meant by one that was found, and whether it is one that is used."""
    near = min(_candidates(fps), key=lambda rate: abs(math.log(rate / found)))
    is_known = abs(math.log(near / found)) < _KNOWN
    return (near, True) if is_known else (found, False)


def _rate_below(fps: float, limit: float) -> float:
    """The likely rate of a clip that cannot be faster than a limit: a half or a quarter first, else a common one."""
    simple = [fps / n for n in (2.0, 4.0) if fps / n <= limit]
    return simple[0] if simple else max((rate for rate in _candidates(fps) if rate <= limit), default=limit)


def describe_rate(check: RateCheck) -> list[Finding]:
    """A wrong rate, or a motion that was drawn to fall faster than bodies do."""
    if check.likely is not None:
        message = (
            f"{check.fps:.4g} Hz as stated cannot be: {check.evidence}. The recording is likely of {check.likely:.4g} "
            f"Hz (confidence {check.confidence:.2f}: {check.reasons}); correct it with --fps {check.likely:.4g}."
        )
        return [Finding("frame rate", message, check.likely)]
    if check.drawn:
        message = f"{check.evidence}. The motion looks hand-made, so its frame rate is not in doubt."
        return [Finding("gravity", message, check.fall)]
    return []
