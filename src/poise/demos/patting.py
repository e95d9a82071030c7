"""Patty cake as an adult plays it: own hands together, then the right ones, the left ones, and both with a partner's.

What `pattycake` and `slap` are made of. Hands are at home, before the chest, between the claps. Places are in arm
lengths, out, up and forward from between the shoulders, so that two of one size who stand `2 REACH` arm lengths and the
thickness of a hand apart meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.body.shape import Capsule
from poise.body.skeleton import Skeleton
from poise.demos.show import stand_still
from poise.motion.clip import Clip
from poise.motion.edits import frame_times
from poise.motion.gestures.arm import Arm, ArmPath
from poise.motion.gestures.gesture import ArmGesture
from poise.motion.retargeting.reference import find_turns
from poise.spatial import rotation
from poise.world.bulk import build_bulk

BEAT = 0.5  # s from clap to clap
OWN, RIGHT, LEFT, BOTH = "own", "right", "left", "both"
ROUND = (OWN, RIGHT, OWN, LEFT, OWN, BOTH)
REACH = 0.84  # arm lengths, of the wrist forward where palms meet a partner's
_APART = (0.30, -0.36, 0.50)  # between claps
_TOGETHER = (0.125, -0.30, 0.50)
_ACROSS, _AHEAD = (0.0, -0.14, REACH), (0.33, -0.14, REACH)
_INWARD, _DOWN = (-1.0, 0.3, 0.2), (-0.15, -1.0, 0.0)
_BENT = -1.25  # rad, of a wrist that holds its palm to the front


@dataclass(frozen=True)
class Patting(ArmGesture):
    """A row of claps, one every `BEAT` s of phase, from home to home. Phase counts seconds.

    claps  what is clapped: "own" hands, the "right", the "left" or "both" with a partner
    """

    claps: tuple[str, ...] = ROUND

    @property
    def period(self) -> None:
        """It is played once."""
        return

    @property
    def rate(self) -> float:
        """Phase is seconds."""
        return 1.0

    @property
    def length(self) -> float:
        """A beat from home to the first clap, and half of one home after the last."""
        return BEAT * (len(self.claps) + 0.5)

    @property
    def sides(self) -> tuple[str, ...]:
        """Both arms."""
        return ("left", "right")

    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """Through home, clap, home, clap, ..."""
        numbers = _fit(self.claps, arm.sign < 0.0)(np.clip(phase, 0.0, self.length))
        return ArmPath(arm.length * numbers[:, :3], numbers[:, 3:6], numbers[:, 6])


@lru_cache(maxsize=32)
def _fit(claps: tuple[str, ...], is_right: bool) -> Any:
    """A spline of the wrist's place (3), the palm (3) and the wrist's bend over time."""
    from scipy.interpolate import CubicSpline

    home = (*_APART, *_INWARD, 0.0)
    rows = [home]
    for clap in claps:
        meets = clap == BOTH or (clap == RIGHT) == is_right
        if clap == OWN:
            rows.append((*_TOGETHER, *_INWARD, 0.0))
        elif meets and clap != OWN:
            rows.append((*(_AHEAD if clap == BOTH else _ACROSS), *_DOWN, _BENT))
        else:
            rows.append(home)
        rows.append(home)
    times = [0.0, *(0.5 * BEAT * (k + 2) for k in range(2 * len(claps)))]
    return CubicSpline(times, np.array(rows), bc_type="clamped")


def clap_times(claps: tuple[str, ...] = ROUND) -> np.ndarray:
    """(N,) s, when each clap is."""
    return BEAT * (1.0 + np.arange(len(claps)))


def record_adult(skeleton: Skeleton, still: Clip, claps: tuple[str, ...] = ROUND, fps: float = 120.0) -> Clip:
    """The adult's motion: a clip of the whole body, standing."""
    patting = Patting(claps)
    times = frame_times(patting.length, fps, len(skeleton))
    turns = np.tile(still.rotations[0], (len(times), 1, 1))
    turns[:, patting.joints(skeleton)] = patting.rotations(skeleton, times)
    return Clip(skeleton, times, np.tile(still.root[0], (len(times), 1)), rotation.make_continuous(turns), "pattycake")


def play_on(clip: Clip, character: Character) -> Clip:
    """The same joint angles on another body, which stands."""
    still = stand_still(character)
    return Clip(character.skeleton, clip.times, np.tile(still.root[0], (len(clip), 1)), clip.rotations, clip.name)


def find_palm(character: Character, side: str) -> tuple[np.ndarray, np.ndarray]:
    """(3,) m where the palm of a hand's shape is, and (3,) which way it faces, in the hand's frame."""
    hand = character.skeleton.index(side + "Hand")
    shape = build_bulk(character)[hand]
    turn = find_turns(character.skeleton)[hand]
    out = rotation.rotate(rotation.conjugate(turn), np.array([0.0, -1.0, 0.0]))
    if isinstance(shape, Capsule):
        along = (shape.end - shape.start) / max(shape.length, 1e-9)
        out = out - (out @ along) * along
        out = out / np.linalg.norm(out)
        return 0.5 * (shape.start + shape.end) + shape.radius * out, out
    return shape.center + shape.radius * out, out  # type: ignore[union-attr]


def find_palms(clip: Clip, character: Character, t: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Of each side: where its palm is (3,) m and which way it faces (3,), in the world at a time."""
    positions, turns = character.skeleton.pose(*clip.pose(t))
    found = {}
    for side in SIDES:
        hand = character.skeleton.index(side + "Hand")
        point, out = find_palm(character, side)
        found[side] = (positions[hand] + rotation.rotate(turns[hand], point), rotation.rotate(turns[hand], out))
    return found
