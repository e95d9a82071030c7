"""Is a motion drawn or computed rather than recorded? What a camera sees is never without noise.

Four marks, each of which no recording has:
- curves: between keys a channel is a polynomial of low degree, so its differences of one order more vanish, frame after
  frame; those of a recording do not, even where it has been filtered;
- stillness: a joint that moves in other frames is exactly still in many in which others move; a recording that ends
  with its last pose repeated is still as a whole;
- stops: the whole body comes to rest in one frame and goes on, as curves do that are eased at every key;
- symmetry: left and right mirror each other exactly.
`tests/motion/test_rate.py` has both kinds.
"""

from __future__ import annotations

import numpy as np

from poise.body.roles import mirror_role
from poise.motion.clip import Clip
from poise.spatial import rotation

# A difference vanishes if it is below this share of large ones (90th percentile) of its channel, or below what is left
# of numbers that were written with six digits: in metres, and in radians. The very largest are those of glitches,
# beside which the noise of a recording would vanish.
_SHARE, _LARGE, _METRES, _RADIANS = 0.02, 90.0, 2e-6, 1e-5
_MOVES = 1e-5  # m or rad a frame: a channel that does not move tells nothing
# Recordings here have up to 14 % of such frames, hand-made clips 28 to 65.
_ON_CURVES = 0.2
# Frames in which a joint that moves is still to rounding: recordings up to 9 %.
_EXACT, _STILL, _TURNS = 1e-7, 0.1, 1e-3
_FLIP = 0.5 * np.pi  # rad a frame: no joint turns so fast; markers were exchanged, or angles written another way
# Stops: the share of the speed around them (within s) that is left, and how many a second; recordings up to 0.4.
_LEFT, _AROUND, _FEWEST_STOPS, _STOPS = 0.07, 0.3, 2, 0.66
_MIRRORED, _ALIKE = 0.5, 0.01
_FEWEST = 5


def is_drawn(clip: Clip) -> bool:
    """Whether a motion has what no recording has: hand-made, computed, or filtered until nothing else was left."""
    if len(clip) < 2 * _FEWEST:
        return False
    turns = turn_rates(clip.rotations)
    return (
        compute_smoothness(clip) > _ON_CURVES
        or _compute_stillness(clip, turns) > _STILL
        or _compute_symmetry(clip, turns) > _MIRRORED
        or _count_stops(clip, turns) >= max(_FEWEST_STOPS, _STOPS * clip.duration)
    )


def turn_rates(rotations: np.ndarray) -> np.ndarray:
    """(F-1, J, 3) rad a frame: by what each joint turns from one frame to the next."""
    return rotation.log(rotation.multiply(rotation.conjugate(rotations[:-1]), rotations[1:]))


def find_repeated(clip: Clip) -> np.ndarray:
    """(F-1,) whether a frame is followed by the same one: the whole body is exactly still."""
    turns = np.linalg.norm(turn_rates(clip.rotations), axis=-1).max(axis=1)
    return np.asarray(np.maximum(turns, np.abs(np.diff(clip.root, axis=0)).max(axis=1)) < _EXACT)


def compute_smoothness(clip: Clip) -> float:
    """The share, 0 to 1, of what moves that lies on lines, parabolas or cubics, whichever is most."""
    turns = turn_rates(clip.rotations)
    channels = ((np.diff(clip.root, axis=0), _METRES), (turns.reshape(len(turns), -1), _RADIANS))
    shares = []
    for order in (1, 2, 3):
        counts = np.sum([_count(steps, order, least) for steps, least in channels], axis=0)
        shares.append(counts[0] / max(1, counts[1]))
    return float(max(shares))


def _count(steps: np.ndarray, order: int, least: float) -> tuple[int, int]:
    """How many differences of an order of steps (N, C) vanish where a channel moves, and how many there are."""
    differences = np.abs(np.diff(steps, order, axis=0))
    if not differences.size:
        return 0, 0
    moves = np.max([np.abs(steps[k : k + len(differences)]) for k in range(order + 1)], axis=0) > _MOVES
    moves &= moves.sum(axis=0) > _FEWEST
    small = differences < np.maximum(_SHARE * np.percentile(differences, _LARGE, axis=0), least)
    return int(np.sum(small & moves)), int(np.sum(moves))


def _compute_stillness(clip: Clip, turns: np.ndarray) -> float:
    """The share of frames, of those in which anything moves, in which joints that move are exactly still."""
    speeds = np.linalg.norm(turns, axis=-1)
    moving = speeds[np.ix_(~find_repeated(clip), speeds.max(axis=0) > _TURNS)]
    return float(np.mean(moving < _EXACT)) if moving.size else 0.0


def _compute_symmetry(clip: Clip, turns: np.ndarray) -> float:
    """The share of frames in which left joints turn as the right ones do in a mirror (rest pose facing +Z)."""
    skeleton, shares = clip.skeleton, []
    for role in skeleton.roles:
        left, right = skeleton.find_role(role), skeleton.find_role(mirror_role(role))
        if not role.startswith("left") or left is None or right is None:
            continue
        speed = np.linalg.norm(turns[:, left], axis=1)
        moves = speed > _TURNS
        if moves.sum() > _FEWEST:
            apart = np.linalg.norm(turns[:, left] - turns[:, right] * [1.0, -1.0, -1.0], axis=1)
            shares.append(float(np.mean(apart[moves] < _ALIKE * speed[moves])))
    return float(np.mean(shares)) if shares else 0.0


def _count_stops(clip: Clip, turns: np.ndarray) -> int:
    """How often all joints together nearly stop, between frames in which they move."""
    speeds = np.linalg.norm(turns, axis=-1)
    speed = np.where(speeds < _FLIP, speeds, 0.0).sum(axis=1)
    reach = max(4, round(_AROUND * clip.fps))
    stops = 0
    for i in np.flatnonzero((speed[1:-1] <= speed[:-2]) & (speed[1:-1] < speed[2:])) + 1:
        around = min(speed[max(0, i - reach) : i].max(), speed[i + 1 : i + 1 + reach].max())
        stops += bool(speed[i] < _LEFT * around)
    return stops
