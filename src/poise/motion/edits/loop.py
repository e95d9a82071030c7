"""Clips that can be played round and round.

Where a loop may begin and end: at two moments at which the body is in the same pose and moves alike, seen from the hips
and their heading, so that it does not matter where on the ground they are. What then still differs is taken out at
both ends: half of it fades away after the first frame, the other half builds up before the last. A body that travels
goes on from where it came to: height and lean close, place and heading on the ground do not. Both belong to the joints
that carry the body (`carrying`), which need not be the root.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.edits.ground import clip_heading, compute_heading, ground_position
from poise.motion.edits.in_place import find_heading_carrier, find_travel_carrier
from poise.motion.edits.timing import check_lasts, trim
from poise.spatial import rotation

_UP = np.array([0.0, 1.0, 0.0])
# A loop has at least this share of the clip: shorter ones match better and show less.
_SHORTEST_SHARE = 0.5
# s: how much a difference of velocity counts beside one of place. A tenth to a third finds the same strides.
_VELOCITY_WEIGHT = 0.2
_MOST_FRAMES = 1500  # compared with each other; longer clips are thinned for the search
# Weights of a difference in place and in velocity, after the start and before the end.
_Fades = tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
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
    """Positions (F, K, 3) from the point below the hips, in axes that turn with their heading.

    Of the joints that travel: a reference that stands still behind them is not part of the pose.
    """
    back = rotation.exp(-clip_heading(clip)[:, None] * _UP)
    joints = clip.skeleton.descendants(find_travel_carrier(clip))
    return rotation.rotate(back[:, None], positions[:, joints] - ground_position(clip)[:, None])


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
    fades = _fades(clip.times - clip.times[0], fade)
    turner = find_heading_carrier(clip)
    turned = float(np.diff(compute_heading(clip.world[1][[0, -1], turner]))[0])
    back = rotation.exp(-turned * _UP)
    rotations = clip.rotations.copy()
    last = clip.rotations[-1].copy()
    # The carrier as if it had not turned about the vertical, which lies so in its parent's axes:
    above = _above(clip, turner)[-1]
    about = rotation.multiply(rotation.multiply(rotation.conjugate(above), back), above)
    last[turner] = rotation.multiply(about, last[turner])
    # Each joint, in its own axes: from the first pose to the last.
    step = rotation.log(rotation.multiply(rotation.conjugate(clip.rotations[0]), last))
    after, before = _halves(fades, step, _end_spins(clip))
    rotations = rotation.multiply(rotations, rotation.exp(after - before))
    turned_clip = clip.replace(rotations=rotations)
    if clip.shifts is None:
        return turned_clip.replace(root=_close_travel(clip.root, clip.times, fades, back))
    # Joints that do not carry the body close altogether; the one that does closes in the world.
    mover, offsets = find_travel_carrier(clip), clip.skeleton.offsets
    root, shifts = _close_curve(clip.root, clip.times, fades), _close_curve(clip.shifts, clip.times, fades)
    if mover == 0:
        root = _close_travel(clip.root, clip.times, fades, back)
    else:
        path = rotation.rotate(_above(clip, mover), offsets[mover] + clip.shifts[:, mover])
        path = _close_travel(path, clip.times, fades, back)
        shifts[:, mover] = rotation.rotate(rotation.conjugate(_above(turned_clip, mover)), path) - offsets[mover]
    return turned_clip.replace(root=root, shifts=shifts)


def _above(clip: Clip, joint: int) -> np.ndarray:
    """(F, 4) the orientation of what carries a joint, in the world."""
    return clip.world[1][:, clip.skeleton.parents[joint]] if joint else rotation.identity((len(clip),))


def _hips(clip: Clip) -> int:
    return clip.skeleton.find_role("hips") or 0


def _end_spins(clip: Clip) -> np.ndarray:
    """(J, 3) rad/s in the joint's axes: how much faster each turns in the last frame than in the first."""
    steps = rotation.log(rotation.multiply(rotation.conjugate(clip.rotations[[0, -2]]), clip.rotations[[1, -1]]))
    rates = steps / np.diff(clip.times)[[0, -1], None, None]
    return np.asarray(rates[1] - rates[0])


def _end_rates(curve: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(2, ...) the velocities of a curve (F, ...) in its first frame and its last."""
    steps = np.diff(curve[[0, 1, -2, -1]], axis=0)[[0, 2]]
    return np.asarray(steps / np.diff(times)[[0, -1]].reshape(2, *[1] * (curve.ndim - 1)))


def _halves(fades: _Fades, step: np.ndarray, faster: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(F, ...) what is added after the start and taken away before the end of a difference in place and velocity."""
    (begin, begin_rate), (finish, finish_rate) = (
        tuple(w.reshape(-1, *[1] * np.ndim(step)) for w in pair) for pair in fades
    )
    return begin * step / 2 + begin_rate * faster / 2, finish * step / 2 + finish_rate * faster / 2


def _close_curve(curve: np.ndarray, times: np.ndarray, fades: _Fades) -> np.ndarray:
    """A curve (F, ...) that ends where, and as fast as, it begins."""
    velocity = _end_rates(curve, times)
    after, before = _halves(fades, curve[-1] - curve[0], velocity[1] - velocity[0])
    return np.asarray(curve + after - before)


def _close_travel(path: np.ndarray, times: np.ndarray, fades: _Fades, back: np.ndarray) -> np.ndarray:
    """A path (F, 3) m with its height closed, and its velocity over the ground, seen from its heading."""
    velocity = _end_rates(path, times)
    faster = rotation.rotate(back, velocity[1]) - velocity[0]
    after, before = _halves(fades, (path[-1] - path[0]) * _UP, faster)
    return np.asarray(path + after - rotation.rotate(rotation.conjugate(back), before))


def _fades(times: np.ndarray, fade: float) -> _Fades:
    """Weights (F,) of a difference in place and (s) in velocity: fading after the start, and building up to the end.

    Cubic Hermite curves: value and slope at the seam are the difference's own, and both are zero where it has faded.
    """
    left = times[-1] - times

    def weights(since: np.ndarray, sign: float) -> tuple[np.ndarray, np.ndarray]:
        u = np.clip(since / fade, 0.0, 1.0) if fade > 0 else (since > 0).astype(float)
        return (1 - u) ** 2 * (1 + 2 * u), sign * fade * u * (1 - u) ** 2

    return weights(times, 1.0), weights(left, -1.0)
