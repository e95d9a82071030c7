"""A jump on the spot: dip, push over the toes, free flight of the hips at exactly g, landing on the balls, recovery."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.edits.timing import frame_times
from poise.motion.samples.body import REACH, Figure
from poise.motion.samples.curves import rise_and_fall, through
from poise.motion.samples.footfall import Swing, ankle_rates, follow_swings
from poise.motion.samples.tracks import Tracks, build_clip, stand

GRAVITY = 9.81  # m/s^2
_DIP, _LANDING_DIP = 0.26, 0.24  # of the leg's length: how deep the hips go before and after
_REACH = 0.94  # share of the legs' length at take-off; the legs stretch a little more while the feet catch up
_STRETCHED, _TUCKED = 0.965, 0.93  # height of the hip over the ankle, of the leg's length: in the air, and at its top
_TOE_OFF, _TOUCH = np.radians(46.0), np.radians(38.0)  # pitch of the feet
_CATCH_UP = 0.25  # of sqrt(l / g): how long the feet take in the air to gain or lose the hips' speed
_DOWN, _RECOVER = 0.5, 0.75  # s: into the dip, and back to standing


def jump(skeleton: Skeleton, duration: float = 2.6, fps: float = 60.0, *, height: float | None = None) -> Clip:
    """A jump from quiet standing to quiet standing.

    height  m that the hips rise above where they leave the ground; None: 0.3 of the legs' length
    In the air the root is at y0 + v0 t - g t^2 / 2 with g = 9.81.
    """
    figure, times = Figure(skeleton), frame_times(duration, fps, len(skeleton))
    height = 0.3 * figure.leg if height is None else height
    low, high = 0.1 * figure.leg, 0.5 * figure.leg
    if not low <= height <= high:
        raise InputError(f"this body jumps {low:.2f} to {high:.2f} m high; given {height:g} m.")
    jumps = _plan(figure, duration, height)
    tracks = stand(figure, times)
    _throw_hips(figure, tracks, jumps)
    for side in range(2):
        _carry_foot(figure, tracks, jumps, side)
    _use_arms_and_trunk(figure, tracks, jumps)
    return build_clip(figure, tracks, "jump")


@dataclass(frozen=True)
class _Jump:
    """The plan of a jump: its moments in s, the speed at take-off in m/s, and the curve of the hips' height in m."""

    dip: float
    bottom: float
    leave: float
    land: float
    low: float
    end: float
    speed: float
    height: Any
    foot: Swing


def _plan(figure: Figure, duration: float, height: float) -> _Jump:
    v0 = float(np.sqrt(2.0 * GRAVITY * height))
    flight = 2.0 * v0 / GRAVITY
    catch_up = _CATCH_UP * float(np.sqrt(figure.leg / GRAVITY))
    off_ground = [ankle_rates(figure, side, figure.stance[side], _TOE_OFF, 0.0, 0.0)[0] for side in range(2)]
    top = float(figure.highest_hips(np.zeros((1, 3)), np.array([off_ground]), _REACH)[0])
    standing = figure.stand_height
    bottom, low = standing - _DIP * figure.leg, standing - _LANDING_DIP * figure.leg
    # From rest to v0 (and back) along the way, at a mean of half the speed.
    push, catch = 2.0 * (top - bottom) / v0, 2.0 * (top - low) / v0
    shortest = _DOWN + push + flight + catch + _RECOVER
    if duration < shortest:
        raise InputError(f"a jump of {height:.2f} m takes {shortest:.2f} s; given {duration:g} s.")
    dip = 0.4 * (duration - shortest)
    leave = dip + _DOWN + push
    land = leave + flight
    low_at = land + catch
    end = low_at + _RECOVER
    curve = through(
        [
            (dip, standing, 0.0, 0.0), (dip + _DOWN, bottom, 0.0, 0.0), (leave, top, v0, -GRAVITY),
            (land, top, -v0, -GRAVITY), (low_at, low, 0.0, 0.0), (end, standing, 0.0, 0.0),
        ]
    )  # fmt: skip
    # 2.4 times the mean rate is the most that a quintic from rest reaches without first going the other way.
    lift, drop = max(0.6 * push, 2.0 * catch_up), max(0.6 * catch, 2.0 * catch_up)
    share = catch_up / flight
    foot = Swing(
        heel_off=leave - lift, toe_off=leave, land=land, flat=land + drop, toe_off_pitch=_TOE_OFF, land_pitch=_TOUCH,
        toe_off_rate=2.4 * _TOE_OFF / lift, land_rate=-2.4 * _TOUCH / drop,
        air=((share, _TOE_OFF + 0.07, 0.0), (0.5, np.radians(35.0), 0.0), (1.0 - share, _TOUCH + 0.05, 0.0)),
        to=np.zeros(3),
    )  # fmt: skip
    return _Jump(dip, dip + _DOWN, leave, land, low_at, end, v0, curve, foot)


def _throw_hips(figure: Figure, tracks: Tracks, jump: _Jump) -> None:
    t = tracks.times
    tracks.hips[:, 1] = jump.height(np.clip(t, jump.dip, jump.end))
    air = (t >= jump.leave) & (t <= jump.land)
    since = t[air] - jump.leave
    # y = y0 + v0 t - g t^2 / 2: what the quintic is here but for rounding
    tracks.hips[air, 1] = jump.height(jump.leave) + jump.speed * since - 0.5 * GRAVITY * since**2
    back = rise_and_fall(t, jump.dip, jump.bottom, jump.bottom, jump.leave)
    back = back + rise_and_fall(t, jump.land, jump.low, jump.low, jump.end)
    tracks.hips[:, 2] -= 0.07 * figure.leg * back


def _carry_foot(figure: Figure, tracks: Tracks, jump: _Jump, side: int) -> None:
    """On the ground the foot rolls over its toes; in the air it is carried along under the hips."""
    t, flat = tracks.times, figure.stance[side]
    swing = replace(jump.foot, to=flat)
    tracks.ankles[:, side], tracks.feet[:, side], tracks.toes[:, side] = follow_swings(
        figure, side, flat, [swing], t, 0.0
    )
    ends = []
    for at, v, pitch, rate in (
        (swing.toe_off, jump.speed, swing.toe_off_pitch, swing.toe_off_rate),
        (swing.land, -jump.speed, swing.land_pitch, swing.land_rate),
    ):
        hips = np.array([[0.0, jump.height(at), 0.0], [0.0, v, 0.0], [0.0, -GRAVITY, 0.0]])
        ends.append((at, *(np.array(ankle_rates(figure, side, flat, pitch, rate, 0.0)) - hips)))
    below = figure.stand_height - flat[1] - REACH * figure.leg  # from the hips' joint down to the hip
    flight, still = swing.land - swing.toe_off, (np.zeros(3), np.zeros(3))
    inner = []
    for share, length in zip((swing.air[0][0], 0.5, swing.air[-1][0]), (_STRETCHED, _TUCKED, _STRETCHED), strict=True):
        inner.append(
            (swing.toe_off + share * flight, np.array([flat[0], -below - length * figure.leg, flat[2]]), *still)
        )
    air = (t > swing.toe_off) & (t < swing.land)
    tracks.ankles[air, side] = tracks.hips[air] + through([ends[0], *inner, ends[1]])(t[air])


def _use_arms_and_trunk(figure: Figure, tracks: Tracks, jump: _Jump) -> None:
    """Arms back in the dip, up with the push, down on landing; the trunk leans where the knees bend."""
    t = tracks.times
    dip = rise_and_fall(t, jump.dip, jump.bottom, jump.bottom, jump.leave)
    catch = rise_and_fall(t, jump.land - 0.05, jump.low, jump.low, jump.end)
    tracks.pelvis[:, 0] += np.radians(22.0) * dip + np.radians(18.0) * catch
    tracks.chest[:, 0] += np.radians(38.0) * dip + np.radians(26.0) * catch
    tracks.head[:, 0] += np.radians(10.0) * (dip + catch)
    back = rise_and_fall(t, jump.dip, jump.bottom, jump.bottom, jump.leave)
    up = rise_and_fall(t, jump.bottom, jump.leave + 0.05, jump.land - 0.1, jump.end)
    tracks.arms.forward += (np.radians(-45.0) * back + np.radians(120.0) * up)[:, None]
    tracks.arms.elbow += np.radians(25.0) * up[:, None]
    tracks.arms.aside += np.radians(10.0) * up[:, None]
