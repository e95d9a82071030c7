"""Walking straight ahead from standing to standing.

The hips travel smoothly; a foot is put down where the hips will be in the middle of its stance, and rolls from heel
to toes. Proportions: stance 60 % of the stride, heel off at 38 %, foot flat at 9 % (Perry & Burnfield 2010, Gait
Analysis); the pelvis turns by 5 and lists by 4 degrees and sways by 2 cm to either side (Saunders, Inman & Eberhart
1953; Inman, Ralston & Todd 1981, Human Walking); how it rises and falls follows from the legs; arms swing against the
legs. Bodies of different size walk alike at the same Froude number, v^2 / (g l): the default 0.41 sqrt(g l) is 1.2 m/s
for a leg of 0.86 m.

`wave_squat_walk` is the person of the demo: it waves, squats, and walks away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.edits.blend import concatenate
from poise.motion.edits.timing import frame_times
from poise.motion.samples.body import Figure
from poise.motion.samples.curves import rise, through
from poise.motion.samples.footfall import Swing, follow_swings
from poise.motion.samples.stand import squat, wave
from poise.motion.samples.tracks import Tracks, build_clip, stand

_GRAVITY = 9.81
_SPEED, _STEP = 0.41, 0.73  # of sqrt(g l) and of l, at that speed; a step grows with the root of the speed
# Moments of a step, in steps (half strides), counted from the landing of the foot that makes it.
_TOE_OFF, _HEEL_OFF, _FLAT, _MIDDLE = -0.8, -1.24, 0.18, -0.4
_LEAD, _SETTLE = 0.7, 0.8  # steps: before the first swing begins and after the last foot is down
_WIDTH = 0.06  # of l: each ankle from the line of walking
_FINE, _SMOOTH = 64, 14  # samples a step for the hips' height, and half the window it is smoothed over
_GIVE = 0.012  # of l: how far the hips sink as a leg takes the weight
_CLEARANCE = 0.02  # of l


@dataclass(frozen=True)
class _Gait:
    """The plan of one walk.

    step_time    s, from one foot's landing to the other's
    landings     (N,) s, of the left and the right foot in turn
    path, speed  curves over time: how far the hips have come (m), and how fast (m/s); top_speed m/s
    """

    step_time: float
    landings: np.ndarray
    path: Any
    speed: Any
    top_speed: float

    def vigour(self, t: float) -> float:
        """From 0, standing, to 1, walking at full speed, at time t."""
        return float(self.speed(t)) / self.top_speed


def walk(skeleton: Skeleton, duration: float = 6.0, fps: float = 60.0, *, speed: float | None = None) -> Clip:
    """A walk along +Z that starts and ends in quiet standing.

    duration  s; at least four steps must fit in, about 3 s for an adult
    speed     m/s at full stride; None: what is natural for the length of the legs
    """
    figure, times = Figure(skeleton), frame_times(duration, fps, len(skeleton))
    gait = _plan(figure, duration, speed)
    tracks = stand(figure, times)
    tracks.ankles, tracks.feet, tracks.toes = _step(figure, gait, times)
    _move_trunk(figure, gait, tracks)
    _swing_arms(gait, tracks)
    return build_clip(figure, tracks, "walk")


def _plan(figure: Figure, duration: float, speed: float | None) -> _Gait:
    natural = _SPEED * np.sqrt(_GRAVITY * figure.leg)
    v = natural if speed is None else speed
    if not 0.4 * natural <= v <= 1.2 * natural:
        raise InputError(f"this body walks at {0.4 * natural:.2f} to {1.2 * natural:.2f} m/s; given {v:g} m/s.")
    step_time = _STEP * figure.leg * np.sqrt(v / natural) / v
    count = int(np.floor(duration / step_time - _LEAD - _SETTLE))
    if count < 4:
        raise InputError(f"a walk of four steps takes {(4 + _LEAD + _SETTLE) * step_time:.2f} s; given {duration:g} s.")
    spare = duration - (count + _LEAD + _SETTLE) * step_time
    landings = 0.5 * spare + (_LEAD + 1 + np.arange(count)) * step_time
    # Speed rises during the first step and a half, and falls from the landing before the last two.
    first, last = landings[0] - step_time, landings[-1]
    knots = [
        (first - 0.2 * step_time, 0.0),
        (first + 1.3 * step_time, v),
        (last - 1.5 * step_time, v),
        (last + 0.3 * step_time, 0.0),
    ]
    edges = [(min(0.0, knots[0][0]) - 1.0, 0.0), *knots, (duration + 1.0, 0.0)]
    speed_curve = through([(t, value, 0.0, 0.0) for t, value in edges])
    return _Gait(step_time, landings, speed_curve.antiderivative(), speed_curve, v)


def _step(figure: Figure, gait: _Gait, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ankles (F, 2, 3), feet (F, 2, 4) and toes (F, 2); the left foot goes first."""
    feet = []
    for side in range(2):
        landings = gait.landings[side::2]
        swings = [_swing(figure, gait, side, i, landings) for i in range(len(landings))]
        feet.append(follow_swings(figure, side, figure.stance[side], swings, times, _CLEARANCE * figure.leg))
    ankles, turns, toes = (np.stack(both, axis=1) for both in zip(*feet, strict=True))
    return ankles, turns, toes


def _swing(figure: Figure, gait: _Gait, side: int, i: int, landings: np.ndarray) -> Swing:
    land, h = float(landings[i]), gait.step_time
    toe_off = land + _TOE_OFF * h
    to = figure.stance[side].copy()
    if i == len(landings) - 1:
        to[2] += float(gait.path(gait.landings[-1] + h))
    else:
        leaves = float(landings[i + 1]) + _TOE_OFF * h
        to[0] = np.sign(to[0]) * _WIDTH * figure.leg
        to[2] += 0.5 * float(gait.path(land) + gait.path(leaves)) - 0.055 * figure.leg
    push, strike = gait.vigour(toe_off), gait.vigour(land)
    leave_pitch = np.radians(28.0 + 27.0 * push)
    return Swing(
        heel_off=land + _HEEL_OFF * h, toe_off=toe_off, land=land, flat=land + _FLAT * h,
        toe_off_pitch=leave_pitch, land_pitch=np.radians(-20.0) * strike,
        toe_off_rate=1.6 * leave_pitch / ((_TOE_OFF - _HEEL_OFF) * h),
        land_rate=np.radians(10.0) * strike / (_FLAT * h),
        air=((0.5, np.radians(24.0) * push, -1.9 * leave_pitch / h),), to=to,
    )  # fmt: skip


def _waves(gait: _Gait, times: np.ndarray) -> tuple[np.ndarray, Any]:
    """How much it walks, (F,) from 0 to 1, and wave(x): +1 at x steps after a left landing, -1 after a right one."""
    h, first, last = gait.step_time, gait.landings[0], gait.landings[-1]
    envelope = rise(times, first - 1.5 * h, first - 0.5 * h) * (1.0 - rise(times, last - 0.7 * h, last + 0.5 * h))

    def wave(after: float) -> np.ndarray:
        return np.asarray(envelope * np.cos(np.pi * ((times - first) / h - after)))

    return envelope, wave


def _hips_on_ground(figure: Figure, gait: _Gait, times: np.ndarray) -> np.ndarray:
    """(F, 3) m, the hips' path at height 0: ahead, and in the middle of a swing towards the standing foot."""
    _, wave = _waves(gait, times)
    return np.stack([-0.022 * figure.leg * wave(_MIDDLE), np.zeros_like(times), gait.path(times)], axis=1)


def _hips_height(figure: Figure, gait: _Gait, times: np.ndarray) -> np.ndarray:
    """(F,) m, as high as the legs allow, smoothly: high over the standing leg, low between two feet.

    The ceiling that the legs set is lowered to its least value within a window and then averaged over that window,
    which cannot rise above it again.
    """
    from scipy.interpolate import CubicSpline
    from scipy.ndimage import minimum_filter1d

    grid = np.arange(-1.0, gait.landings[-1] / gait.step_time + 2.0, 1.0 / _FINE) * gait.step_time
    ceiling = figure.highest_hips(_hips_on_ground(figure, gait, grid), _step(figure, gait, grid)[0])
    kernel = (1.0 - np.linspace(-1.0, 1.0, 2 * _SMOOTH + 1) ** 2) ** 3
    low = minimum_filter1d(np.minimum(ceiling, figure.stand_height), 2 * _SMOOTH + 1)
    smooth = np.convolve(np.pad(low, _SMOOTH, mode="edge"), kernel / kernel.sum(), mode="valid")
    # The knee gives way a little as it takes the weight.
    envelope, _ = _waves(gait, times)
    give = 0.5 + 0.5 * np.cos(2.0 * np.pi * ((times - gait.landings[0]) / gait.step_time - 0.3))
    height = CubicSpline(grid, smooth)(np.clip(times, grid[0], grid[-1]))
    return np.asarray(height - _GIVE * figure.leg * envelope * give)


def _move_trunk(figure: Figure, gait: _Gait, tracks: Tracks) -> None:
    _, wave = _waves(gait, tracks.times)
    effort = gait.speed(tracks.times) / gait.top_speed
    tracks.hips = _hips_on_ground(figure, gait, tracks.times)
    tracks.hips[:, 1] = _hips_height(figure, gait, tracks.times)
    tracks.pelvis[:, 0] = np.radians(2.0) * effort
    tracks.pelvis[:, 1] = np.radians(-5.0) * wave(0.0)  # the landing leg's side is ahead
    tracks.pelvis[:, 2] = np.radians(-4.0) * wave(-0.55)  # and dropped when it has left the ground
    tracks.chest[:, 0] = np.radians(3.5) * effort
    tracks.chest[:, 1] = -0.9 * tracks.pelvis[:, 1]
    tracks.chest[:, 2] = -0.35 * tracks.pelvis[:, 2]
    tracks.head[:, 0] = np.radians(1.0) * effort
    tracks.head[:, 1] = 0.15 * tracks.chest[:, 1]


def _swing_arms(gait: _Gait, tracks: Tracks) -> None:
    """Each arm forward with the other side's leg, the elbow bending as it comes."""
    envelope, wave = _waves(gait, tracks.times)
    for side, sign in enumerate((-1.0, 1.0)):
        swing = sign * wave(0.05)
        tracks.arms.forward[:, side] += np.radians(20.0) * swing - np.radians(3.0) * envelope
        tracks.arms.elbow[:, side] += np.radians(9.0) * envelope + np.radians(11.0) * sign * wave(0.15)
        tracks.arms.aside[:, side] += np.radians(1.5) * envelope


def wave_squat_walk(skeleton: Skeleton, fps: float = 60.0) -> Clip:
    """About 12 s: a wave, a squat and a walk of 6 s, each going over into the next."""
    clips = [wave(skeleton, 3.2, fps), squat(skeleton, 3.2, fps), walk(skeleton, 6.0, fps)]
    return concatenate(clips, blend=0.2).replace(name="wave, squat, walk")
