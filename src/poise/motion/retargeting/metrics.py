"""How well a motion sits on another body: figures measured on the result."""

from __future__ import annotations

import numpy as np

from poise.body.roles import SIDES
from poise.motion.clip import Clip
from poise.motion.contacts.points import foot_points
from poise.motion.parts import find_runs
from poise.motion.retargeting.feet import Stance
from poise.motion.retargeting.transfer import compute_scale, find_reference, find_same_body, has_legs, stand_source
from poise.spatial import rotation


def measure_retargeting(source: Clip, result: Clip, ground: float | None = None) -> dict[str, float | int | None]:
    """Figures of a retargeted clip beside its source; None where a body lacks the joints for one.

    ground  m, height of the result's ground; None: the source's, scaled

    frames                  of the result
    scale                   target over source, by the length of the legs
    foot_skate_mm           the furthest that a held point of a sole travels from where it came down
    source_foot_skate_mm    the same on the source, in its own size
    ground_gap_mm           the furthest that a held point is above or below the ground
    hand_error_m            RMS distance of the wrists from the source's, from between the shoulders, scaled by reach
    knee_speed_rad_s        the fastest bend of a knee; source_knee_speed_rad_s the source's
    """
    motion, stance = stand_source(source)
    reference = find_reference(result.skeleton, "the result")
    # Onto a body of the source's own proportions soles are what they are on the source.
    is_same = find_same_body(find_reference(source.skeleton, "the clip").skeleton, reference.skeleton) is not None
    placed = stand_source(result)[0] if is_same else reference.enter(result)
    figures: dict[str, float | int | None] = {
        "frames": len(result),
        "scale": compute_scale(motion.skeleton, placed.skeleton),
        "hand_error_m": _hand_error(motion, placed),
    }
    if stance is None or not has_legs(placed.skeleton):
        return figures | dict.fromkeys(("foot_skate_mm", "source_foot_skate_mm", "ground_gap_mm", "knee_speed_rad_s"))
    scale = compute_scale(motion.skeleton, placed.skeleton)
    held = _held_points(placed, stance, scale)
    own = _held_points(motion, stance, 1.0)
    level = scale * stance.ground if ground is None else ground
    return figures | {
        "foot_skate_mm": 1e3 * max((_travel(p) for p in held), default=0.0),
        "source_foot_skate_mm": 1e3 * max((_travel(p) for p in own), default=0.0),
        "ground_gap_mm": 1e3 * max((float(np.abs(p[:, 1] - level).max()) for p in held), default=0.0),
        "knee_speed_rad_s": _knee_speed(placed),
        "source_knee_speed_rad_s": _knee_speed(motion),
    }


def _held_points(clip: Clip, stance: Stance, scale: float) -> list[np.ndarray]:
    """(N, 3) m a contact: the sole's held point while it is held, on ground that stands still."""
    points = foot_points(clip) - scale * stance.belt[:, None, None]
    toes = [clip.skeleton.find_role(f"{side}Toes") is not None for side in SIDES]
    paths = []
    for side in range(2):
        for mask, point in ((stance.heel, 0), (stance.front, 1 if toes[side] else 2)):
            paths += [points[first : last + 1, side, point] for first, last in find_runs(mask[:, side])]
    return paths


def _travel(path: np.ndarray) -> float:
    """m, the furthest from the first point."""
    return float(np.linalg.norm(path - path[0], axis=-1).max())


def _hand_error(source: Clip, result: Clip) -> float | None:
    roles = [side + stem for side in SIDES for stem in ("UpperArm", "LowerArm", "Hand")]
    if not all(role in clip.skeleton.roles for clip in (source, result) for role in roles):
        return None
    (here, reach), (there, wide) = (_hands(clip) for clip in (source, result))
    return float(np.sqrt(np.mean(np.sum((there - wide / reach * here) ** 2, axis=-1))))


def _hands(clip: Clip) -> tuple[np.ndarray, float]:
    """(F, 2, 3) m, wrists from between the shoulders; and the reach of an arm from there, in the reference pose."""
    index = clip.skeleton.index
    shoulders, wrists = ([index(side + stem) for side in SIDES] for stem in ("UpperArm", "Hand"))
    rest = clip.skeleton.rest_positions()
    span = float(np.linalg.norm(rest[wrists[0]] - rest[wrists[1]]))
    return clip.positions[:, wrists] - clip.positions[:, shoulders].mean(axis=1, keepdims=True), span


def _knee_speed(clip: Clip) -> float:
    """rad/s, the fastest change of a knee's bend from frame to frame."""
    if len(clip) < 2:
        return 0.0
    fastest = 0.0
    for side in SIDES:
        hip, knee, ankle = (clip.positions[:, clip.skeleton.index(side + s)] for s in ("UpperLeg", "LowerLeg", "Foot"))
        bend = rotation.angle(rotation.identity(), rotation.between(knee - hip, ankle - knee))
        fastest = max(fastest, float(np.abs(np.diff(bend) / np.diff(clip.times)).max()))
    return fastest
