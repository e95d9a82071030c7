"""Breathing at rest: the chest lifts and opens, the shoulders rise a little, the head stays level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.roles import SIDES, TRUNK_ROLES
from poise.body.skeleton import Skeleton
from poise.errors import InputError, check_range
from poise.motion.gestures.gesture import Gesture
from poise.motion.retargeting.reference import find_turns
from poise.spatial import rotation

X, Z = np.eye(3)[[0, 2]]
_CHEST = np.radians(1.6)  # the trunk straightens by this in a quiet breath
_HEAD = 0.8  # of it taken back by neck and head
_SHOULDERS = np.radians(2.0)
_LEAN = 0.45  # breathing in takes 0.4 of the time


@dataclass(frozen=True)
class Breathe(Gesture):
    """Trunk, collar bones, neck and head, as far as they have joints. Phase counts breaths; at 0 the lungs are empty.

    rate   breaths a second, 0.05 to 1.5; 0.25 at rest
    depth  0 (none) to 4 (out of breath)
    """

    rate: float = 0.25
    depth: float = 1.0

    def __post_init__(self) -> None:
        check_range("breathe: rate", self.rate, 0.05, 1.5, "breaths a second")
        check_range("breathe: depth", self.depth, 0.0, 4.0)

    @property
    def period(self) -> float:
        """One breath."""
        return 1.0

    def joints(self, skeleton: Skeleton) -> list[int]:
        """Indices of the joints of trunk, collar bones, neck and head, in order."""
        return sorted(skeleton.index(role) for role in self._turns(skeleton))

    def rotations(self, skeleton: Skeleton, phase: np.ndarray) -> np.ndarray:
        """(N, K, 4) of `joints` at phases (N,)."""
        turns, reference = self._turns(skeleton), find_turns(skeleton)
        phase = np.atleast_1d(np.asarray(phase, float))
        turn = 2.0 * np.pi * phase
        air = self.depth * (0.5 - 0.5 * np.cos(turn + _LEAN * (1.0 - np.cos(turn))))
        made = {}
        for role, rotvec in turns.items():
            joint = skeleton.index(role)
            # A turn in the body's axes, as seen from the joint's axes at rest, which are those of its parent.
            own = rotation.rotate(rotation.conjugate(reference[joint]), rotvec)
            made[joint] = rotation.exp(air[:, None] * own)
        return np.stack([made[joint] for joint in sorted(made)], axis=1)

    @staticmethod
    def _turns(skeleton: Skeleton) -> dict[str, np.ndarray]:
        """Role -> rotation vector (3,) in the body's axes with the lungs full."""
        trunk = [role for role in TRUNK_ROLES if role in skeleton.roles]
        if not trunk or "hips" not in skeleton.roles:
            needed = "hips" if trunk else ", ".join(TRUNK_ROLES)
            raise InputError(f"breathing needs a trunk, and no joint has the roles {needed}. Name one of them.")
        neck = [role for role in ("neck", "head") if role in skeleton.roles]
        turns = {role: -_CHEST / len(trunk) * X for role in trunk}
        turns |= {role: _HEAD * _CHEST / len(neck) * X for role in neck}
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            if f"{side}Shoulder" in skeleton.roles:
                turns[f"{side}Shoulder"] = sign * _SHOULDERS * Z
        return turns


def breathe(rate: float = 0.25, depth: float = 1.0) -> Breathe:
    """Quiet breathing, `rate` times a second; see `Breathe`."""
    return Breathe(rate, depth)
