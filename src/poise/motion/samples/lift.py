"""Lifting with one hand: down on flat feet, the hand low in front takes hold, and up to in front of the body.

The strength paper's task (O8). It is balanced as it is, with nothing in the hand: the centre of mass stays where it is
in standing. What a load changes is for physics to say.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.motion.clip import Clip
from poise.motion.edits.timing import frame_times
from poise.motion.samples.body import Figure
from poise.motion.samples.curves import rise
from poise.motion.samples.stand import put_hips_under
from poise.motion.samples.tracks import Tracks, build_clip, stand

# When it goes down, takes hold and comes up, as shares of the duration; the arm begins to lift a little later.
_DOWN, _UP, _ARM_UP = (0.02, 0.34), (0.42, 0.80), (0.47, 0.86)
# A whole crouch: hips down by a share of the leg, pelvis and chest forward, arm from the upright, elbow (degrees). It
# is one that the weak figure of the strength paper can do with nothing in its hand.
_DEPTH, _PELVIS, _CHEST, _HANG, _ELBOW = 0.22, 20.0, 30.0, 22.0, 10.0
_DEEPEST = 1.9  # of that: no farther down than this
_HELD_ELBOW = 30.0  # degrees, in the end
_HIGHEST = 120.0  # degrees forward, that an arm is lifted
_HALVINGS = 40


def lift(
    skeleton: Skeleton,
    duration: float = 4.0,
    fps: float = 60.0,
    *,
    low: float = 0.78,
    high: float = 1.45,
    arm: str = "right",
) -> Clip:
    """Crouch, take hold and lift, from quiet standing to standing with the hand in front of the body.

    duration  s, at least 2: a third of it down, four tenths up, and the rest standing still
    low       height of the wrist where it takes hold, in lengths of the leg over the ground: 0.78 is a little
              above the knee, a low table
    high      its height in the end: 1.45 is by the breastbone, 1.65 by the shoulder
    arm       "left" or "right"
    """
    if arm not in SIDES:
        raise unknown_name("arm", arm, SIDES)
    if duration < 2.0:
        raise InputError(f"a lift takes at least 2 s; given {duration:g} s.")
    figure, side = Figure(skeleton, is_whole=True), SIDES.index(arm)
    if f"{arm}Hand" not in skeleton.roles:
        raise InputError(f"a lift needs a hand: no joint has the role {arm}Hand.")
    times = frame_times(duration, fps, len(skeleton))
    share, forward = _find_share(figure, side, low), _find_forward(figure, side, high)
    down, up, arm_up = (rise(times, a * duration, b * duration) for a, b in (_DOWN, _UP, _ARM_UP))
    tracks = stand(figure, times)
    _pose(figure, tracks, side, share * (down - up), down - arm_up, arm_up, share, forward)
    put_hips_under(figure, tracks, (0, 2))
    return build_clip(figure, tracks, "lift")


def _pose(figure: Figure, tracks: Tracks, side: int, crouch: np.ndarray, hang: np.ndarray, held: np.ndarray,
          share: float, forward: float) -> None:  # fmt: skip
    """Crouch by shares (F,) of a whole one, with an arm that hangs, and is held up at last, by shares (F,) of that."""
    arms = tracks.arms
    tracks.hips[:, 1] -= _DEPTH * figure.leg * crouch
    tracks.pelvis[:, 0] += np.radians(_PELVIS) * crouch
    tracks.chest[:, 0] += np.radians(_CHEST) * crouch
    tracks.head[:, 0] += np.radians(0.5 * _CHEST) * crouch
    rest = np.maximum(1.0 - hang - held, 0.0)
    low = np.radians(_CHEST * share + _HANG), np.radians(_ELBOW)
    for track, at_low, at_high in (
        (arms.forward, low[0], forward), (arms.elbow, low[1], np.radians(_HELD_ELBOW)),
        (arms.aside, np.radians(4.0), np.radians(2.0)),
    ):  # fmt: skip
        track[:, side] = track[:, side] * rest + at_low * hang + at_high * held
    other = 1 - side
    arms.forward[:, other] += np.radians(0.6 * _CHEST) * crouch
    arms.elbow[:, other] += np.radians(8.0) * crouch


def _find_share(figure: Figure, side: int, low: float) -> float:
    """How much of a whole crouch brings the wrist to a height, in lengths of the leg."""

    def height(share: float) -> float:
        tracks = stand(figure, np.zeros(1))
        _pose(figure, tracks, side, np.full(1, share), np.ones(1), np.zeros(1), share, 0.0)
        return _find_height(figure, tracks, side)

    return _halve(height, low, (0.0, _DEEPEST), "takes hold")


def _find_forward(figure: Figure, side: int, high: float) -> float:
    """How far forward (rad) the arm has the wrist at a height, standing, in lengths of the leg."""

    def height(forward: float) -> float:
        tracks = stand(figure, np.zeros(1))
        _pose(figure, tracks, side, np.zeros(1), np.zeros(1), np.ones(1), 0.0, forward)
        return _find_height(figure, tracks, side)

    return _halve(height, high, (0.0, float(np.radians(_HIGHEST))), "ends")


def _find_height(figure: Figure, tracks: Tracks, side: int) -> float:
    """Of the wrist, in lengths of the leg."""
    clip = build_clip(figure, tracks, "")
    return float(clip.positions[0, figure.skeleton.index(f"{SIDES[side]}Hand"), 1]) / figure.leg


def _halve(height: Callable[[float], float], wanted: float, span: tuple[float, float], what: str) -> float:
    """Where a height that falls or rises over a span has a value."""
    a, b = span
    ends = height(a), height(b)
    if not min(ends) <= wanted <= max(ends):
        raise InputError(
            f"the hand of this body {what} between {min(ends):.2f} and {max(ends):.2f} lengths of its leg over the "
            f"ground; {wanted:g} was given."
        )
    rises = ends[1] > ends[0]
    for _ in range(_HALVINGS):
        middle = 0.5 * (a + b)
        if (height(middle) < wanted) == rises:
            a = middle
        else:
            b = middle
    return 0.5 * (a + b)
