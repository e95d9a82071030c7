"""What a skeleton says about its body before that has any width: stature, axes, trunk, neck; in the rest pose."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from poise.body.skeleton import Skeleton
from poise.spatial.rotation import length

# Shares of the stature, Drillis and Contini (1966), as in Winter's "Biomechanics and motor control", fig. 4.1.
_BONE_SHARES = (
    ("UpperLeg", "LowerLeg", 0.245),
    ("LowerLeg", "Foot", 0.246),
    ("UpperArm", "LowerArm", 0.186),
    ("LowerArm", "Hand", 0.146),
)
TRUNK_SHARE = 0.288


class RestFrame:
    """Measures of a skeleton with a `hips` role, in the world at rest; missing roles are filled by proportion."""

    def __init__(self, skeleton: Skeleton):
        self.skeleton = skeleton
        self.places = skeleton.rest_positions()

    def at(self, role: str) -> np.ndarray | None:
        """(3,) where a role's joint is, or None."""
        joint = self.skeleton.find_role(role)
        return None if joint is None else self.places[joint]

    def middle(self, role: str) -> np.ndarray | None:
        """(3,) half way between the left and right joint of a role, or None unless both are there."""
        left, right = self.at("left" + role), self.at("right" + role)
        return None if left is None or right is None else (left + right) / 2.0

    def tip(self, role: str) -> np.ndarray | None:
        """(3,) the end site of a role's joint, or None where it has none of any length."""
        joint = self.skeleton.find_role(role)
        if joint is None or not self.skeleton.has_tip[joint]:
            return None
        tip = np.asarray(self.skeleton.tips[joint])
        return self.places[joint] + tip if length(tip) > 0.01 * self.stature else None

    @cached_property
    def trunk(self) -> list[int]:
        """Joints from the hips up to below the neck, whether they have a role or not."""
        roles = ("neck", "head", "upperChest", "chest", "spine", "hips")
        top = next(role for role in roles if self.at(role) is not None)
        path = self.skeleton.chain(self.skeleton.index(top))
        path = path[path.index(self.skeleton.index("hips")) :] if self.skeleton.index("hips") in path else [path[-1]]
        return [joint for joint in path if joint not in (*self.neck, self.skeleton.find_role("head"))]

    @cached_property
    def neck(self) -> list[int]:
        """Joints from the neck's up to below the head, whether they have a role or not."""
        neck, head = self.skeleton.find_role("neck"), self.skeleton.find_role("head")
        if neck is None or head is None:
            return []
        path = self.skeleton.chain(head)
        return path[path.index(neck) : -1] if neck in path else []

    @cached_property
    def stature(self) -> float:
        """m, from the lengths of legs, trunk and arms as shares of the stature (Drillis and Contini 1966)."""
        along_bones, share = 0.0, 0.0
        chains = [(side + a, side + b, s) for side in ("left", "right") for a, b, s in _BONE_SHARES]
        for a, b, part in chains:
            start, end = self.at(a), self.at(b)
            if start is not None and end is not None and length(end - start) > 0.0:
                along_bones, share = along_bones + length(end - start), share + part
        hips, shoulders = self.middle("UpperLeg"), self.middle("UpperArm")
        if hips is not None and shoulders is not None:
            along_bones, share = along_bones + length(shoulders - hips), share + TRUNK_SHARE
        return along_bones / share if share else max(float(np.ptp(self.places, axis=0).max()), 1e-3)

    @cached_property
    def hips(self) -> np.ndarray:
        """(3,) between the hip joints."""
        legs, root = self.middle("UpperLeg"), self.at("hips")
        assert root is not None
        return root if legs is None else legs

    @cached_property
    def shoulders(self) -> np.ndarray:
        """(3,) between the shoulder joints, or where they would be."""
        arms = self.middle("UpperArm")
        if arms is not None and length(arms - self.hips) > 0.1 * self.stature:
            return arms
        for role, below in (("neck", 0.045), ("head", 0.11)):
            joint = self.at(role)
            if joint is not None and length(joint - self.hips) > (below + 0.1) * self.stature:
                return joint - below * self.stature * unit(joint - self.hips)
        return self.hips + np.array([0.0, TRUNK_SHARE * self.stature, 0.0])

    @cached_property
    def axes(self) -> np.ndarray:
        """(3, 3) rows: the body's left, up and front; the world's axes where the body is nearly along them."""
        up = unit(self.shoulders - self.hips)
        up = np.array([0.0, 1.0, 0.0]) if up[1] > np.cos(np.radians(30.0)) else up
        pairs = [(self.at("left" + role), self.at("right" + role)) for role in ("UpperLeg", "UpperArm", "LowerLeg")]
        left = sum((a - b for a, b in pairs if a is not None and b is not None), np.zeros(3))
        left = left - (left @ up) * up
        if length(left) < 1e-3 * self.stature or left[0] > np.cos(np.radians(15.0)) * length(left):
            # the world's left; of a body that lies along it, the world's front
            left = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 0.0, 1.0])
            left = left - (left @ up) * up
        left = unit(left)
        return np.stack([left, up, np.cross(left, up)])

    def half_span(self, role: str) -> float | None:
        """m from the middle to the left or right joint of a role."""
        left, right = self.at("left" + role), self.at("right" + role)
        return None if left is None or right is None else abs(float((left - right) @ self.axes[0])) / 2.0

    @cached_property
    def trunk_line(self) -> np.ndarray:
        """(3,) m, from between the hip joints to between the shoulder joints."""
        return np.asarray(self.shoulders - self.hips)

    def along(self, points: np.ndarray) -> np.ndarray:
        """Where points (..., 3) are along the trunk: 0 at the hip joints, 1 at the shoulder joints."""
        return np.asarray((points - self.hips) @ self.trunk_line / (self.trunk_line @ self.trunk_line))

    @cached_property
    def trunk_cuts(self) -> dict[int, float]:
        """Where each trunk joint's piece begins along the trunk, the hips first, from below.

        A joint too close below the next leaves its piece to it; one near the shoulders has none.
        """
        hips, *others = self.trunk
        cuts = [(hips, -np.inf)]
        for joint in others:
            position = float(self.along(self.places[joint]))
            if position < 0.9:
                place = max(position, 0.12)
                if len(cuts) > 1 and place - cuts[-1][1] < 0.07:
                    place = cuts.pop()[1]
                cuts.append((joint, place))
        return dict(cuts)


def unit(v: np.ndarray) -> np.ndarray:
    """The direction of a vector (3,)."""
    return np.asarray(v / length(v))
