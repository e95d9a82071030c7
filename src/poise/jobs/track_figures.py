"""How well a motion follows another: how far off its joints are, and by how much it is late."""

from __future__ import annotations

import numpy as np

from poise.motion.clip import Clip
from poise.spatial import rotation

LONGEST = 0.5  # s, the longest lag that is looked for
_FINER = 8  # times a frame, at which a correlation is looked at
_STILL = 1e-6  # rad/s RMS: what turns no more than this has no lag


def find_angles(result: Clip, clip: Clip, joints: list[int]) -> np.ndarray:
    """(F, K) rad, the geodesic angles of some joints between two clips."""
    apart = rotation.multiply(rotation.conjugate(clip.rotations[:, joints]), result.rotations[:, joints])
    return np.asarray(np.linalg.norm(rotation.log(apart), axis=-1))


def sum_error(result: Clip, clip: Clip, joints: list[int]) -> float:
    """rad, over joints and frames.   [tracking, eq 3]"""
    return float(find_angles(result, clip, joints).sum())


def find_spins(clip: Clip, joints: list[int]) -> np.ndarray:
    """(F - 1, K, 3) rad/s of some joints between frames, in their axes."""
    turns = clip.rotations[:, joints]
    steps = rotation.log(rotation.multiply(rotation.conjugate(turns[:-1]), turns[1:]))
    return np.asarray(steps / np.diff(clip.times)[:, None, None])


def find_lag(result: Clip, clip: Clip, joints: list[int]) -> float | None:
    """s by which the joints of one clip turn later than those of another; None where nothing turns.

    Where the correlation of their angular velocities, summed over joints and axes, is greatest. It is made from its
    spectrum at eighths of a frame, and a parabola finds its peak between those.
    """
    n = len(clip)
    if n < 3 or not joints:
        return None
    wanted, found = (find_spins(each, joints).reshape(n - 1, -1) for each in (clip, result))
    if min(np.sqrt(np.mean(each**2)) for each in (wanted, found)) < _STILL:
        return None
    size = 1 << int(np.ceil(np.log2(2 * n)))
    spectrum = np.sum(np.conj(np.fft.rfft(wanted, size, axis=0)) * np.fft.rfft(found, size, axis=0), axis=1)
    curve = np.fft.irfft(spectrum, _FINER * size)
    rate = _FINER / float(np.mean(np.diff(clip.times)))
    reach = int(min(LONGEST, 0.5 * clip.duration) * rate)
    near = np.concatenate([curve[-reach:], curve[: reach + 1]])
    k = int(np.clip(np.argmax(near), 1, len(near) - 2))
    a, b, c = near[k - 1 : k + 2]
    bend = a - 2.0 * b + c
    return float((k - reach + (0.5 * (a - c) / bend if bend < 0.0 else 0.0)) / rate)
