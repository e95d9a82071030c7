"""Hands that touch: near the body, the ground or each other they keep their place there; elsewhere arms keep their
directions.

A relation is a place in the source's surroundings of the hand, carried over to the target's: beside the same spot of
the same segment, as high above the ground, as far from the other hand. It counts by nearness: fully within one
distance, not at all beyond a second one, smoothly between. Distances are those of the palm from the middle line of a
segment, in shares of the source's stature. Hanging arms pass outside all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.geometry.rest_frame import RestFrame
from poise.body.geometry.skin import SkinnedMesh
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.motion.clip import Clip
from poise.motion.retargeting.draft import Draft, find_trunk
from poise.motion.retargeting.easing import average, soften
from poise.motion.retargeting.feet import reach_to
from poise.motion.retargeting.reference import Reference
from poise.spatial import rotation

X, Y, Z = np.eye(3)
_PALM = 0.054  # of the stature from the wrist: half a hand (0.108, Winter 2009, fig. 4.1)
_HEAD = 0.11  # of the stature, from the head's joint to its top, where no end site says so
# Distances from a segment's middle line within which a palm touches it, and beyond which it is not near.
_NEAR = {"head": (0.09, 0.15), "trunk": (0.10, 0.16), "Leg": (0.065, 0.105)}
_NEAR_GROUND = (0.05, 0.12)
_NEAR_HAND = (0.08, 0.22)
_HAND_THICKNESS = 0.03  # of the stature, between the middle of a palm and what it touches
_LONGEST = 0.985  # of the arm's length, the furthest that a relation stretches it
_SMOOTH = 0.06  # s to either side, over which corrections are averaged


@dataclass(frozen=True, eq=False)
class _Segment:
    """A line through part of a body at every frame: ends (F, 3) m, orientation (F, 4), and its thickness in m."""

    start: np.ndarray
    end: np.ndarray
    turn: np.ndarray
    width: float


@dataclass(frozen=True, eq=False)
class Head:
    """The ellipsoid around a head's mesh: middle (3,) m from the head's joint and half axes (3,) m, in its axes."""

    middle: np.ndarray
    half: np.ndarray


def find_head(target: Reference, skin: SkinnedMesh) -> Head | None:
    """The head of a mesh at rest: what moves with the head's joint; None where nothing does."""
    joint = target.skeleton.find_role("head")
    if joint is None:
        return None
    carried = np.isin(skin.joints, target.skeleton.descendants(joint))
    mine = (carried * skin.weights).sum(axis=1) > 0.5
    if mine.sum() < 4:
        return None
    points = rotation.rotate(target.turns[joint], skin.vertices[mine] - target.original.rest_positions()[joint])
    low, high = points.min(axis=0), points.max(axis=0)
    return Head((low + high) / 2.0, np.maximum((high - low) / 2.0, 1e-6))


def keep_hands(draft: Draft, source: Clip, scale: float, head: Head | None = None) -> None:
    """Correct the draft's arms so that hands stay where they touch, and outside of the head, in place."""
    positions, orientations = draft.world()
    here = _segments(source.skeleton, *source.world)
    there = _segments(draft.skeleton, positions, orientations)
    stature = RestFrame(source.skeleton).stature
    palms, moves = {}, {}
    for side in SIDES:
        arm = [side + stem for stem in ("UpperArm", "LowerArm", "Hand")]
        if not all(role in skeleton.roles for skeleton in (source.skeleton, draft.skeleton) for role in arm):
            continue
        palm, palms[side] = (
            _palm(source.skeleton, *source.world, side),
            _palm(draft.skeleton, positions, orientations, side),
        )
        moves[side] = _near_body(palm, palms[side], here, there, stature, scale)
    if len(moves) == 2:
        _near_each_other(source, palms, moves, stature, RestFrame(draft.skeleton).stature / stature)
    for side in moves if head is not None else ():
        assert head is not None
        moves[side] = moves[side] + _leave_head(draft, positions, orientations, palms[side] + moves[side], head)
    for side, move in moves.items():
        limb = [draft.skeleton.index(side + stem) for stem in ("UpperArm", "LowerArm", "Hand")]
        wrist = positions[:, limb[2]] + average(draft.times, move, _SMOOTH)
        reach_to(draft, limb, wrist, -Y if side == "left" else Y, _LONGEST, keep_straight=True)


def _palm(skeleton: Skeleton, positions: np.ndarray, orientations: np.ndarray, side: str) -> np.ndarray:
    """(F, 3) m, the middle of a hand."""
    hand = skeleton.index(f"{side}Hand")
    along = _PALM * RestFrame(skeleton).stature * (X if side == "left" else -X)
    return np.asarray(positions[:, hand] + rotation.rotate(orientations[:, hand], along))


def _segments(skeleton: Skeleton, positions: np.ndarray, orientations: np.ndarray) -> dict[str, _Segment]:
    """The segments that a hand may touch, by role; those of which joints are missing are left out."""
    frame = RestFrame(skeleton)
    found = {}

    def middle(stem: str) -> np.ndarray | None:
        pair = [joint for side in SIDES if (joint := skeleton.find_role(side + stem)) is not None]
        return positions[:, pair].mean(axis=1) if len(pair) == 2 else None

    hips, shoulders = middle("UpperLeg"), middle("UpperArm")
    if hips is not None and shoulders is not None:
        width = frame.half_span("UpperArm") or frame.stature / 8.0
        found["trunk"] = _Segment(hips, shoulders, orientations[:, find_trunk(skeleton)[-1]], width)
    head = skeleton.find_role("head")
    if head is not None:
        turn = orientations[:, head]
        tip = frame.tip("head")
        height = _HEAD * frame.stature if tip is None else float(np.linalg.norm(tip - frame.places[head]))
        found["head"] = _Segment(
            positions[:, head], positions[:, head] + rotation.rotate(turn, height * Y), turn, height
        )
    for side in SIDES:
        ends = [skeleton.find_role(side + stem) for stem in ("UpperLeg", "LowerLeg")]
        if None not in ends:
            thigh, knee = (int(j) for j in ends if j is not None)
            width = float(np.linalg.norm(frame.places[knee] - frame.places[thigh]))
            found[f"{side}Leg"] = _Segment(positions[:, thigh], positions[:, knee], orientations[:, thigh], width)
    return found


def _near_body(
    palm: np.ndarray,
    own: np.ndarray,
    here: dict[str, _Segment],
    there: dict[str, _Segment],
    stature: float,
    scale: float,
) -> np.ndarray:
    """(F, 3) m, how the target's palm moves to keep the source's relations to body and ground.

    palm, own    (F, 3) m, the source's palm and the target's, as its arm's directions put it
    here, there  segments of the source and of the target
    """
    places, weights = [scale * palm], [_nearness(palm[:, 1] / stature, _NEAR_GROUND)]
    for name, segment in here.items():
        if name not in there:
            continue
        other = there[name]
        share = _nearest(segment, palm)
        off = palm - _at(segment, share)
        local = rotation.rotate(rotation.conjugate(segment.turn), off)
        wider = other.width / segment.width if segment.width > 1e-6 * stature else scale
        places.append(_at(other, share) + rotation.rotate(other.turn, wider * local))
        limits = next(value for key, value in _NEAR.items() if name.endswith(key))
        weights.append(_nearness(np.linalg.norm(off, axis=-1) / stature, limits))
    w = np.stack(weights)
    total = 1.0 - np.prod(1.0 - w, axis=0)
    mean = np.einsum("nf,nfi->fi", w, np.stack(places)) / np.maximum(w.sum(axis=0), 1e-12)[:, None]
    return np.asarray(total[:, None] * (mean - own))


def _near_each_other(
    source: Clip, palms: dict[str, np.ndarray], moves: dict[str, np.ndarray], stature: float, scale: float
) -> None:
    """Let near hands be as far apart as the source's, scaled, about their present middle; changes `moves`."""
    left, right = (_palm(source.skeleton, *source.world, side) for side in SIDES)
    apart = left - right
    near = _nearness(np.linalg.norm(apart, axis=-1) / stature, _NEAR_HAND)[:, None]
    now = palms["left"] + moves["left"] - palms["right"] - moves["right"]
    change = 0.5 * near * (scale * apart - now)
    moves["left"], moves["right"] = moves["left"] + change, moves["right"] - change


def _leave_head(
    draft: Draft, positions: np.ndarray, orientations: np.ndarray, palm: np.ndarray, head: Head
) -> np.ndarray:
    """(F, 3) m, what takes a palm (F, 3) out of the target's head, straight away from its middle."""
    joint = draft.skeleton.index("head")
    half = head.half + _HAND_THICKNESS * RestFrame(draft.skeleton).stature
    local = rotation.rotate(rotation.conjugate(orientations[:, joint]), palm - positions[:, joint]) - head.middle
    depth = np.linalg.norm(local / half, axis=-1)  # 1 on the ellipsoid
    out = soften(1.0 - depth, 0.05) / np.maximum(depth, 0.05)
    return rotation.rotate(orientations[:, joint], out[:, None] * local)


def _nearness(distance: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """1 below the first limit, 0 beyond the second, smooth between."""
    u = np.clip((limits[1] - distance) / (limits[1] - limits[0]), 0.0, 1.0)
    return u * u * (3.0 - 2.0 * u)


def _nearest(segment: _Segment, point: np.ndarray) -> np.ndarray:
    """(F, 1) how far along a segment it is nearest to a point, from 0 to 1."""
    line = segment.end - segment.start
    along = np.sum((point - segment.start) * line, axis=-1) / np.maximum(np.sum(line * line, axis=-1), 1e-12)
    return np.clip(along, 0.0, 1.0)[:, None]


def _at(segment: _Segment, share: np.ndarray) -> np.ndarray:
    return np.asarray(segment.start + share * (segment.end - segment.start))
