"""How a child pumps a swing, sitting: it leans back with its legs out while the swing goes forward, and sits up with
its legs under the seat while it goes back. The hands stay on the ropes.

Why that works (W. Case and M. Swanson 1990, "The pumping of a swing from the seated position"): with h the angular
momentum of the rider's limbs relative to the swing and I the inertia of everything about the bar,

    d/dt (I a' + h) = moment of gravity        so        I a'' + m g l a = -h' + ...

A lean b makes h = J b', and for b in step with the swing's velocity -h' is in step with it too: it feeds energy in. The
other way round it takes it out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.ik.twobone import solve_two_bone
from poise.motion.gestures.gesture import Gesture
from poise.spatial import rotation

SEATED = np.array([0.0, 0.085, -0.07])  # m, of the hips in the swing's frame: on the plank, a hand behind the ropes
_PALM = 0.07  # m from wrist to palm
# Degrees at the two ends, legs under the seat and legs out. Angles about +X: back is negative for trunk and thighs.
_ENDS = {"spine": (12.0, -42.0), "head": (-8.0, 30.0), "UpperLeg": (-78.0, -100.0), "LowerLeg": (98.0, 14.0),
         "Foot": (8.0, 28.0)}  # fmt: skip


@dataclass(frozen=True)
class Pump(Gesture):
    """Phase counts swings: at 0 the swing is furthest back, at 1/2 furthest forward.

    rate   swings a second
    late   phase by which the rider is behind: 0 pumps, 1/2 brakes
    effort of the lean and of the legs: 0 sits still, 1 is a keen child
    grip   m, where the left hand holds its rope, from the hips; the right one mirrors it
    """

    rate: float = 0.35
    late: float = 0.0
    effort: float = 1.0
    grip: tuple[float, float, float] = (0.22, 0.40, 0.07)

    @property
    def period(self) -> float:
        """One swing."""
        return 1.0

    def joints(self, skeleton: Skeleton) -> list[int]:
        """Trunk, head, arms without hands, and legs."""
        limbs = [side + joint for side in SIDES for joint in ("UpperArm", "LowerArm", "UpperLeg", "LowerLeg", "Foot")]
        return sorted(skeleton.index(role) for role in ("spine", "head", *limbs))

    def rotations(self, skeleton: Skeleton, phase: np.ndarray) -> np.ndarray:
        """See `Gesture.rotations`."""
        phase = np.atleast_1d(np.asarray(phase, float))
        x = 2.0 * np.pi * (phase - self.late)
        # Flat at its top, so that both ends are held for a while: sin x + sin 3x / 9 has no curvature there.
        out = 0.5 + 0.5 * self.effort * (np.sin(x) + np.sin(3.0 * x) / 9.0) * 9.0 / 8.0
        turns: dict[int, np.ndarray] = {}
        for role, (under, far) in _ENDS.items():
            angle = np.radians(under + (far - under) * out)
            for name in [role] if role in skeleton.roles else [side + role for side in SIDES]:
                turns[skeleton.index(name)] = rotation.exp(angle[:, None] * [1.0, 0.0, 0.0])
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            turns |= self._hold_rope(skeleton, side, sign, turns[skeleton.index("spine")])
        return rotation.make_continuous(np.stack([turns[i] for i in self.joints(skeleton)], axis=1))

    def _hold_rope(self, skeleton: Skeleton, side: str, sign: float, trunk: np.ndarray) -> dict[int, np.ndarray]:
        spine, upper, lower, hand = (
            skeleton.index(role) for role in ("spine", f"{side}UpperArm", f"{side}LowerArm", f"{side}Hand")
        )
        shoulder = skeleton.offsets[spine] + rotation.rotate(trunk, skeleton.offsets[upper])
        forearm = skeleton.offsets[hand]
        palm = forearm * (1.0 + _PALM / np.linalg.norm(forearm))
        target = np.broadcast_to(np.array(self.grip) * [sign, 1.0, 1.0], shoulder.shape)
        # Elbows go down and a little out.
        arm = solve_two_bone(
            shoulder,
            target,
            np.array([-1.0, 0.0, 0.6 * sign]),
            skeleton.offsets[lower],
            palm,
            np.array([0.0, -sign, 0.0]),
        )
        back = rotation.conjugate(trunk)
        return {
            upper: rotation.multiply(back, arm.upper),
            lower: rotation.multiply(rotation.conjugate(arm.upper), arm.lower),
        }
