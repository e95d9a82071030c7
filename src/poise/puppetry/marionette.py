"""A body on strings: targets in, rotations out, and the little physics of the marionette paper in between.

It needs no stage and no hands: whoever has targets for its joints, and knows which feet are down, moves it frame by
frame. Where the root is, is not its business (`drivers/root/anchored.py`).   [marionette, 5 and 6]
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import find_soles
from poise.body.joints import JointLimits
from poise.body.roles import SIDES
from poise.errors import InputError, unknown_name
from poise.puppetry.springs import SPRINGS, Spring
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia

GRAVITY = 9.81
LONGEST = 0.25  # s, of a frame
_KEPT = ("sort", "target", "aim", "tension", "down", "slope", "angles", "speeds", "W", "foot")


class Marionette:
    """The joints of one character that have a role, as rows, carriers first; row 0 is the root.

    labels    (R,) roles, "root" the first;  joints (R,): their numbers in the skeleton
    target    (R, 3) rad, angles as of `body/joints.py`;  aim (R, 4): an orientation instead, where `sort` (R,) says so
    tension   (R,) of the springs: 0 slack, 1 usual
    down      (2,) whether each foot is on the ground;  slope (2, 4): how that is turned there
    angles    (R, 3) rad, where joints are;  speeds (R, 3)
    """

    def __init__(self, character: Character, springs: Mapping[str, Spring] = SPRINGS, gravity: float = GRAVITY):
        from poise.puppetry import kernels

        self._kernels, self.character, self.gravity = kernels, character, gravity
        skeleton = character.skeleton
        roles = {skeleton.names[skeleton.index(role)]: role for role in skeleton.roles}
        rows = [i for i in range(1, len(skeleton)) if skeleton.names[i] in roles and self._limits(i) is not None]
        missing = [side + stem for side in SIDES for stem in ("UpperLeg", "LowerLeg", "Foot")
                   if skeleton.find_role(side + stem) not in rows]  # fmt: skip
        if missing:
            raise InputError(
                f"a marionette stands on two legs: character '{character.name}' has no {', '.join(missing)}. Name them "
                "with roles."
            )
        self.joints = np.array([0, *rows], np.int64)
        self.labels = ("root", *(roles[skeleton.names[i]] for i in rows))
        of = {joint: row for row, joint in enumerate(self.joints.tolist())}
        count = len(self.joints)
        self.carrier, self.kind, self.side = np.zeros((3, count), np.int64)
        self.P, self.C = rotation.identity((count,)), rotation.identity((count,))
        self.lower, self.upper = np.full((count, 3), -np.inf), np.full((count, 3), np.inf)
        self.weight, self.tune = np.zeros((count, 4)), np.zeros((count, len(astuple(Spring()))))
        self.side[:] = -1
        for row, (joint, label) in enumerate(zip(self.joints.tolist(), self.labels, strict=True)):
            stem = next((label.removeprefix(side) for side in SIDES if label.startswith(side)), label)
            self.tune[row] = astuple(springs.get(stem) or springs["others"])
            if row == 0:
                self.carrier[row], self.kind[row] = -1, kernels.ROOT
                continue
            self.carrier[row] = next(of[i] for i in reversed(skeleton.chain(joint)[:-1]) if i in of)
            limits = self._limits(joint)
            assert limits is not None
            self.P[row], self.C[row] = limits.parent_zero, limits.child_zero
            self.lower[row], self.upper[row] = limits.lower, limits.upper
            kinds = {"LowerLeg": kernels.HINGE, "LowerArm": kernels.HINGE, "Foot": kernels.FOOT, "Toes": kernels.TOES}
            self.kind[row] = kinds.get(stem, kernels.BALL)
            if stem in ("LowerLeg", "Foot", "Toes"):
                self.side[row] = 0 if label.startswith("left") else 1
            if self.kind[row] == kernels.HINGE:
                self.weight[row] = self._weigh(joint, self.C[row])
        self.levers = self._find_levers()
        self.sort, self.target, self.aim = np.zeros(count, np.int64), np.zeros((count, 3)), rotation.identity((count,))
        self.tension, self.down, self.slope = np.ones(count), np.zeros(2, np.bool_), rotation.identity((2,))
        self.angles, self.speeds, self.W = np.zeros((count, 3)), np.zeros((count, 3)), rotation.identity((count,))
        self.foot, self.q = np.zeros((2, 12)), rotation.identity((count,))

    def _limits(self, joint: int) -> JointLimits | None:
        return self.character.limits.get(self.character.skeleton.names[joint])

    def _weigh(self, joint: int, zero: np.ndarray) -> np.ndarray:
        """(4,) what a hinge carries as it hangs: kg, kg m2 about its x, and y, z (m) of its centre."""
        skeleton, rest = self.character.skeleton, self.character.skeleton.rest_positions()
        parts = [
            self.character.inertias[i].moved(np.eye(3), rest[i] - rest[joint]) for i in skeleton.descendants(joint)
        ]
        body = RigidInertia.total(parts).moved(rotation.to_matrix(zero), np.zeros(3))
        inertia = float(body.about(np.zeros(3))[0, 0])
        if not (body.mass > 0.0 and inertia > 0.0):  # a body without masses there: a rod as long as the next bone
            ends = [float(np.linalg.norm(skeleton.offsets[i])) for i in skeleton.children(joint)]
            size = max([*ends, 0.05])
            return np.array([1.0, size**2 / 3.0, -0.5 * size, 0.0])
        return np.array([body.mass, inertia, body.center[1], body.center[2]])

    def _find_levers(self) -> np.ndarray:
        """(2, 2, 2) m: of each foot, from heel and from ball (tip, where it has no toes) to the ankle, y and z."""
        rest, found = self.character.skeleton.rest_positions(), np.zeros((2, 2, 2))
        for side, sole in enumerate(find_soles(self.character.skeleton)):
            front = sole.tip if sole.toes is None else rest[sole.toes] - rest[sole.foot] + sole.ball
            for k, point in enumerate((sole.heel, front)):
                ahead = -math.hypot(point[0], point[2]) if k == 0 else math.hypot(point[0], point[2])
                found[side, k] = -point[1], -ahead
        return found

    def __len__(self) -> int:
        return len(self.joints)

    def row(self, label: str) -> int:
        """The row of a role."""
        if label not in self.labels:
            raise unknown_name("joint", label, self.labels, f"marionette '{self.character.name}'")
        return self.labels.index(label)

    def step(self, dt: float) -> None:
        """Move every joint a frame of dt seconds further; `q` (R, 4) are their rotations then."""
        if not 0.0 < dt <= LONGEST:
            raise InputError(f"a marionette's frame lasts up to {LONGEST:g} s; {dt:g} s given.")
        self._kernels.step(
            dt, self.gravity, self.carrier, self.kind, self.side, self.P, self.C, self.lower, self.upper, self.weight,
            self.tune, self.levers, self.sort, self.target, self.aim, self.tension, self.down, self.slope, self.angles,
            self.speeds, self.W, self.foot, self.q,
        )  # fmt: skip

    def lay_ground(self, side: int, slope: np.ndarray) -> None:
        """Have the ground under a foot be turned by (4,); the foot stays as it is in the world."""
        turn = np.empty(4)
        self._kernels._set_pose(self.slope[side], self.foot[side], turn)
        self.slope[side] = slope
        self._kernels._find_pose(self.slope[side], turn, self.foot[side])

    def put(self, rotations: np.ndarray, speeds: np.ndarray | None = None, dt: float = 1e-3) -> None:
        """Be in a pose (J, 4), with angular velocities (J, 3) in body axes; joints that it has no row for are left."""
        for row, joint in enumerate(self.joints):
            pair = [rotations[joint]]
            if speeds is not None:
                pair.append(rotation.multiply(rotations[joint], rotation.exp(dt * speeds[joint])))
            if row == 0:
                found = [_find_root_angles(q) for q in pair]
            else:
                limits = self._limits(int(joint))
                assert limits is not None
                found = [limits.angles(q) for q in pair]
            self.angles[row] = found[0]
            self.speeds[row] = 0.0 if speeds is None else np.clip((found[1] - found[0]) / dt, -30.0, 30.0)
        self.foot[:] = 0.0
        self.target[:], self.sort[:] = self.angles, 0

    def pose(self, rotations: np.ndarray) -> None:
        """Write the rotations of its joints into those of a whole body (J, 4)."""
        rotations[self.joints] = self.q

    def numbers(self) -> dict[str, np.ndarray]:
        """All that changes, by name: to be copied and written back."""
        return {name: getattr(self, name) for name in _KEPT}


def _find_root_angles(q: np.ndarray) -> np.ndarray:
    """(3,) lean, facing and tilt of q = Ry(y) exp(x, 0, z)."""
    norm = math.hypot(float(q[0]), float(q[2]))
    yaw = 2.0 * math.atan2(float(q[2]), float(q[0])) if norm > 1e-12 else 0.0
    lean = rotation.log(rotation.multiply(rotation.exp(np.array([0.0, -yaw, 0.0])), q))
    return np.array([lean[0], math.remainder(yaw, 2.0 * math.pi), lean[2]])
