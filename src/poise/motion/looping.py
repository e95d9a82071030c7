"""Clips that can be played round and round.

Where a loop may begin and end: at two moments at which the body is in the same pose and moves alike, seen from the hips
and their heading, so that it does not matter where on the ground they are. What then still differs is taken out at
both ends: half of it fades away after the first frame, the other half builds up before the last. A body that travels
goes on from where it came to: height and lean close, place and heading on the ground do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.edits import check_lasts, trim
from poise.motion.heading import clip_heading, compute_heading, ground_position
from poise.spatial import rotation

_UP = np.array([0.0, 1.0, 0.0])
# A loop has at least this share of the clip: shorter ones match better and show less.
_SHORTEST_SHARE = 0.5
# s: how much a difference of velocity counts beside one of place. A tenth to a third finds the same strides.
_VELOCITY_WEIGHT = 0.2
_MOST_FRAMES = 1500  # compared with each other; longer clips are thinned for the search
_FADE = 0.3  # s over which what still differs at the seam fades away, at each end


@dataclass(frozen=True, eq=False)
class Loop:
    """A clip whose last frame is its first again.

    clip   from 0 s; the last frame has the pose of the first, where the body has got to
    start  s on the old clip's clock
    end    s on the old clip's clock
    gap    m, how far joints were from closing before the ends were mended: the largest
    """

    clip: Clip
    start: float
    end: float
    gap: float


def make_loop(clip: Clip, fade: float = _FADE) -> Loop:
    """The best loop in a clip, at least half of it long.

    fade  s over which the remaining difference is taken out, at each end; at most half the loop
    """
    check_lasts(clip, "a loop")
    if not np.isfinite(fade) or fade < 0:
        raise InputError(f"a loop fades over a finite time in seconds, not negative; given {fade:g}.")
    if len(clip) < 4:
        raise InputError(f"clip '{clip.name}' has {len(clip)} frames: a loop needs at least 4.")
    first, last = _find_seam(clip)
    cut = trim(clip, float(clip.times[first]), float(clip.times[last]))
    gap = measure_gap(cut)
    return Loop(_close(cut, min(fade, 0.5 * cut.duration)), float(clip.times[first]), float(clip.times[last]), gap)


def measure_gap(clip: Clip, positions: np.ndarray | None = None) -> float:
    """How far the last pose is from the first, in m: the largest distance of a joint, seen from where the body is.

    positions  (F, J, 3) m, where the joints are in a file that the clip was written to; the clip's own if None
    """
    ends = _seen_from_hips(clip, clip.positions if positions is None else positions)[[0, -1]]
    return float(np.linalg.norm(ends[1] - ends[0], axis=-1).max())


def _seen_from_hips(clip: Clip, positions: np.ndarray) -> np.ndarray:
    """Positions (F, J, 3) from the point below the hips, in axes that turn with their heading."""
    back = rotation.exp(-clip_heading(clip)[:, None] * _UP)
    return rotation.rotate(back[:, None], positions - ground_position(clip)[:, None])


def _find_seam(clip: Clip) -> tuple[int, int]:
    """The frames at which the best loop begins and ends."""
    thin = max(1, -(-len(clip) // _MOST_FRAMES))
    frames = np.arange(0, len(clip), thin)
    places = _seen_from_hips(clip, clip.positions)
    velocities = np.gradient(places, clip.times, axis=0)
    drift = np.gradient(ground_position(clip), clip.times, axis=0)  # of the whole body, in its own heading
    drift = rotation.rotate(rotation.exp(-clip_heading(clip)[:, None] * _UP), drift)
    features = np.concatenate([places, _VELOCITY_WEIGHT * (velocities + drift[:, None])], axis=-1)
    x = features[frames].reshape(len(frames), -1)
    squares = np.sum(x * x, axis=1)
    cost = squares[:, None] + squares[None, :] - 2.0 * x @ x.T
    times = clip.times[frames]
    allowed = times[None, :] - times[:, None] >= _SHORTEST_SHARE * clip.duration
    allowed &= np.arange(len(frames))[None, :] - np.arange(len(frames))[:, None] >= 3
    if not allowed.any():
        return 0, len(clip) - 1
    first, last = np.unravel_index(int(np.argmin(np.where(allowed, cost, np.inf))), cost.shape)
    return int(frames[first]), int(frames[last])


def _close(clip: Clip, fade: float) -> Clip:
    """The clip with the difference between its ends taken out: half at the start, half at the end."""
    turned = float(compute_heading(clip.world[1][-1, _hips(clip)]) - compute_heading(clip.world[1][0, _hips(clip)]))
    back = rotation.exp(-turned * _UP)
    rotations = clip.rotations.copy()
    last = clip.rotations[-1].copy()
    last[0] = rotation.multiply(back, last[0])
    # Each joint, in its own axes: from the first pose to the last.
    step = rotation.log(rotation.multiply(rotation.conjugate(clip.rotations[0]), last))
    spin = _end_spins(clip)
    begin, finish = _fades(clip.times - clip.times[0], fade)
    after = begin[0][:, None, None] * step / 2 + begin[1][:, None, None] * spin / 2
    before = finish[0][:, None, None] * step / 2 + finish[1][:, None, None] * spin / 2
    rotations = rotation.multiply(rotations, rotation.exp(after - before))
    return clip.replace(root=_close_root(clip, begin, finish, back), rotations=rotations)


def _hips(clip: Clip) -> int:
    return clip.skeleton.find_role("hips") or 0


def _end_spins(clip: Clip) -> np.ndarray:
    """(J, 3) rad/s in the joint's axes: how much faster each turns in the last frame than in the first."""
    steps = rotation.log(rotation.multiply(rotation.conjugate(clip.rotations[[0, -2]]), clip.rotations[[1, -1]]))
    rates = steps / np.diff(clip.times)[[0, -1], None, None]
    return np.asarray(rates[1] - rates[0])


def _close_root(
    clip: Clip, begin: tuple[np.ndarray, np.ndarray], finish: tuple[np.ndarray, np.ndarray], back: np.ndarray
) -> np.ndarray:
    """(F, 3) m: the root's height closed, and its velocity over the ground, seen from its heading."""
    velocity = np.diff(clip.root[[0, 1, -2, -1]], axis=0)[[0, 2]] / np.diff(clip.times)[[0, -1], None]
    faster = rotation.rotate(back, velocity[1]) - velocity[0]
    step = (clip.root[-1] - clip.root[0]) * _UP
    after = begin[0][:, None] * step / 2 + begin[1][:, None] * faster / 2
    before = finish[0][:, None] * step / 2 + finish[1][:, None] * faster / 2
    return np.asarray(clip.root + after - rotation.rotate(rotation.conjugate(back), before))


def _fades(times: np.ndarray, fade: float) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Weights (F,) of a difference in place and (s) in velocity: fading after the start, and building up to the end.

    Cubic Hermite curves: value and slope at the seam are the difference's own, and both are zero where it has faded.
    """
    left = times[-1] - times

    def weights(since: np.ndarray, sign: float) -> tuple[np.ndarray, np.ndarray]:
        u = np.clip(since / fade, 0.0, 1.0) if fade > 0 else (since > 0).astype(float)
        return (1 - u) ** 2 * (1 + 2 * u), sign * fade * u * (1 - u) ** 2

    return weights(times, 1.0), weights(left, -1.0)
