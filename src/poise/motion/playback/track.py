"""A motion made ready to be played: cubic splines over its phase, in arrays that compiled code reads.

A clip's phase is its time in seconds, a gesture's is whatever it counts in (beats, swings). The rotations of the curve
pass through the motion's own samples exactly. Rates come from a second spline: that of the same samples for smooth
motions, that of the low-passed samples for recordings, whose noise would otherwise become force, with glitches bridged
(`motion/contacts/glitches.py`). Poses are never filtered.

Quaternion components are splined one by one and normalised, so position, velocity and acceleration are continuous.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion.clip import Clip, find_traces
from poise.motion.motion import as_motion
from poise.spatial.cutoff import choose_cutoff
from poise.spatial.filter import lowpass, lowpass_rotations, uniform_rate


@dataclass(frozen=True, eq=False)
class Track:
    """K joints of a skeleton over N samples of phase; powers of the splines run from the third to the zeroth.

    joints    (K,) indices into the skeleton
    knots     (N,) phase of the samples
    turns     (N - 1, K, 4, 4) coefficients (segment, joint, power, component) of the rotations
    rates     the same, of what velocities and accelerations are taken from
    root      (N - 1, 4, 3) coefficients of the root's place, m; root_rates the same for its rates
    period    phase after which it repeats; 0: it holds its ends
    """

    joints: np.ndarray
    knots: np.ndarray
    turns: np.ndarray
    rates: np.ndarray
    root: np.ndarray
    root_rates: np.ndarray
    period: float = 0.0

    @property
    def begin(self) -> float:
        """The first phase that it has a sample of."""
        return float(self.knots[0])

    @property
    def end(self) -> float:
        """The last one."""
        return float(self.knots[-1])


def build_curve(
    motion: object, joints: Sequence[int], cutoff: float | None = None, skeleton: Skeleton | None = None
) -> Track:
    """The curve of some joints of a motion.

    cutoff    Hz of the low-pass before rates are taken. None: chosen from a recording's own noise; other motions are
              smooth, and the root's place by its own where that is lower. inf: none.
    skeleton  on which it is played; None: its own
    """
    known = as_motion(motion)
    x = known.samples(skeleton or known.skeleton, joints)  # type: ignore[attr-defined]
    if not (np.isfinite(x.turns).all() and np.isfinite(x.root).all()):
        raise InputError(
            "the poses of a motion must be finite; some that this one gives are not. Look at what it computes."
        )
    smooth, smooth_root = (x.turns, x.root) if x.bridged is None else x.bridged()
    if x.traces is not None:
        rate = uniform_rate(x.phase)
        of_turns = choose_cutoff(x.traces(), rate).hz if cutoff is None else cutoff
        of_root = min(of_turns, choose_cutoff(smooth_root, rate).hz) if cutoff is None else cutoff
        if of_turns < rate / 2.0:
            smooth = lowpass_rotations(smooth, rate, of_turns)
        if of_root < rate / 2.0:
            smooth_root = lowpass(smooth_root, rate, of_root)
    whole = _spline_curve(x.joints, x.phase, x.turns, smooth, x.root, smooth_root, x.period)
    return whole if list(x.joints) == list(joints) else _pick(whole, joints)


def choose_shared_cutoff(clip: Clip, lowest: float) -> float:
    """Hz: one cut-off for the rates of a clip's root and all its joints, `lowest` or above, by the noisier of the two.

    Where a spring at the spine follows what the pelvis does not feel, or the other way round, their noise does not
    cancel as it does in the recording: both need the same one.
    """
    rate = uniform_rate(clip.times)
    return min(choose_cutoff(x, rate, lowest).hz for x in (find_traces(clip), clip.bridged.root))


def _pick(whole: Track, joints: Sequence[int]) -> Track:
    """The curve of some of its joints."""
    picks = [list(whole.joints).index(joint) for joint in joints]
    turns = np.ascontiguousarray(whole.turns[:, picks])
    rates = turns if whole.rates is whole.turns else np.ascontiguousarray(whole.rates[:, picks])
    return replace(whole, joints=np.asarray(joints, np.int64), turns=turns, rates=rates)


def _spline_curve(
    joints: Sequence[int],
    knots: np.ndarray,
    turns: np.ndarray,
    smooth: np.ndarray,
    root: np.ndarray,
    smooth_root: np.ndarray,
    period: float = 0.0,
) -> Track:
    from scipy.interpolate import CubicSpline

    ends = "periodic" if period else "not-a-knot"

    def fit(samples: np.ndarray) -> np.ndarray:
        if not samples.any():  # a gesture's root: the curve through nothing but zeros is zero
            return np.zeros((len(knots) - 1, 4, *samples.shape[1:]))
        columns = samples.reshape(len(knots), -1)
        found = CubicSpline(knots, columns, bc_type=ends).c
        return np.ascontiguousarray(np.moveaxis(found.reshape(4, len(knots) - 1, *samples.shape[1:]), 0, -2))

    # What is the same curve is the same array: one that is played is read from memory once and not twice.
    first, place, knots = fit(turns), fit(root), np.ascontiguousarray(knots)
    second = first if smooth is turns else fit(smooth)
    place_rates = place if smooth_root is root else fit(smooth_root)
    return Track(np.asarray(joints, np.int64), knots, first, second, place, place_rates, period)
