"""Joints of a body on strings: targets in, rotations out, with the physics of the marionette paper in between.

It needs no stage and no hands: the caller sets the joints' targets and which feet are on the ground, and advances it
frame by frame. `drivers/root/anchored.py` moves the root.   [marionette, 5 and 6]
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields

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
_FASTEST = 30.0  # rad/s: joints of a pose that is taken over with its speeds are at most this fast
_SAVED = (
    "target_kind", "target", "target_orientation", "tension", "in_contact", "slope", "angles", "speeds", "world",
    "foot_pose", "foot_speed", "contact", "contact_yaw", "toes_flat",
)  # fmt: skip


class Marionette:
    """The joints of one character that have a role, as rows, parents first; row 0 is the root.

    labels             roles (R,), "root" the first
    indices            index (R,) of each row's joint in the skeleton
    joints, state      layouts of `kernels.py`: what each joint is like, and targets and state
    target             angles (R, 3) rad, as in `body/joints.py`
    target_kind, target_orientation   (R,), (R, 4): a row whose kind is not ANGLES has an orientation as its target
    tension            factor (R,) of the springs' stiffness
    in_contact, slope  whether each foot (2,) is on the ground, and the orientation (2, 4) of the ground there
    angles, speeds     (R, 3) rad, rad/s
    foot_pose          yaw, pitch and roll (2, 3) rad of each foot relative to the ground
    """

    def __init__(self, character: Character, springs: Mapping[str, Spring] = SPRINGS, gravity: float = GRAVITY):
        from poise.puppetry import kernels

        self._kernels, self.character, self.gravity = kernels, character, gravity
        self.indices, self.labels = self._find_rows()
        count = len(self.indices)
        self.joints = kernels.Joints(
            count=count, gravity=gravity, side=np.full(count, -1, np.int64), parent_zero=rotation.identity((count,)),
            child_zero=rotation.identity((count,)), lower=np.full((count, 3), -np.inf),
            upper=np.full((count, 3), np.inf), levers=self._find_levers(),
        )  # fmt: skip
        row_of = {joint: row for row, joint in enumerate(self.indices.tolist())}
        for row in range(count):
            self._set_joint(row, row_of, springs)
        self.state = state = kernels.State(
            count=count, target_orientation=rotation.identity((count,)), tension=np.ones(count),
            slope=rotation.identity((2,)), world=rotation.identity((count,)), rotations=rotation.identity((count,)),
        )  # fmt: skip
        self.target, self.target_kind, self.tension = state.target, state.target_kind, state.tension
        self.target_orientation, self.in_contact, self.slope = state.target_orientation, state.in_contact, state.slope
        self.angles, self.speeds, self.foot_pose = state.angles, state.speeds, state.foot_pose

    def _find_rows(self) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return index and role of the root and of each joint that has a role and limits."""
        skeleton = self.character.skeleton
        roles = {skeleton.names[skeleton.index(role)]: role for role in skeleton.roles}
        rows = [i for i in range(1, len(skeleton)) if skeleton.names[i] in roles and self._limits(i) is not None]
        legs = [side + stem for side in SIDES for stem in ("UpperLeg", "LowerLeg", "Foot")]
        missing = [role for role in legs if skeleton.find_role(role) not in rows]
        if missing:
            raise InputError(
                f"a marionette stands on two legs: character '{self.character.name}' has no {', '.join(missing)}. Name "
                "them with roles."
            )
        return np.array([0, *rows], np.int64), ("root", *(roles[skeleton.names[i]] for i in rows))

    def _set_joint(self, row: int, row_of: Mapping[int, int], springs: Mapping[str, Spring]) -> None:
        """Write what a row's joint is like: its place in the tree, limits, spring and load."""
        kernels, joints, skeleton = self._kernels, self.joints, self.character.skeleton
        index, label = int(self.indices[row]), self.labels[row]
        stem = next((label.removeprefix(side) for side in SIDES if label.startswith(side)), label)
        spring = springs.get(stem) or springs["others"]
        for field in fields(Spring):
            joints.arrays[field.name][row] = getattr(spring, field.name)
        if row == 0:
            joints.parents[row] = -1
            return
        joints.parents[row] = next(row_of[i] for i in reversed(skeleton.chain(index)[:-1]) if i in row_of)
        limits = self._limits(index)
        assert limits is not None
        joints.parent_zero[row], joints.child_zero[row] = limits.parent_zero, limits.child_zero
        joints.lower[row], joints.upper[row] = limits.lower, limits.upper
        kinds = {"LowerLeg": kernels.HINGE, "LowerArm": kernels.HINGE, "Foot": kernels.FOOT, "Toes": kernels.TOES}
        joints.kind[row] = kinds.get(stem, kernels.BALL)
        if stem in ("LowerLeg", "Foot", "Toes"):
            joints.side[row] = 0 if label.startswith("left") else 1
        if joints.kind[row] == kernels.HINGE:
            joints.mass[row], joints.inertia[row], *joints.center[row] = self._weigh(index, limits.child_zero)

    def _limits(self, joint: int) -> JointLimits | None:
        return self.character.limits.get(self.character.skeleton.names[joint])

    def _weigh(self, joint: int, zero: np.ndarray) -> tuple[float, float, float, float]:
        """Return what a hinge carries as it hangs: kg, kg m2 about its x axis, and y, z (m) of its centre of mass."""
        skeleton, rest = self.character.skeleton, self.character.skeleton.rest_positions()
        parts = [
            self.character.inertias[i].moved(np.eye(3), rest[i] - rest[joint]) for i in skeleton.descendants(joint)
        ]
        body = RigidInertia.total(parts).moved(rotation.to_matrix(zero), np.zeros(3))
        inertia = float(body.about(np.zeros(3))[0, 0])
        if not (body.mass > 0.0 and inertia > 0.0):  # a body without masses there: a rod as long as the next bone
            ends = [float(np.linalg.norm(skeleton.offsets[i])) for i in skeleton.children(joint)]
            size = max([*ends, 0.05])
            return 1.0, size**2 / 3.0, -0.5 * size, 0.0
        return body.mass, inertia, float(body.center[1]), float(body.center[2])

    def _find_levers(self) -> np.ndarray:
        """Return y and z (m) from heel and from ball (tip, if it has no toes) to the ankle of each foot, (2, 2, 2)."""
        rest, found = self.character.skeleton.rest_positions(), np.zeros((2, 2, 2))
        for side, sole in enumerate(find_soles(self.character.skeleton)):
            front = sole.tip if sole.toes is None else rest[sole.toes] - rest[sole.foot] + sole.ball
            for k, point in enumerate((sole.heel, front)):
                ahead = -math.hypot(point[0], point[2]) if k == 0 else math.hypot(point[0], point[2])
                found[side, k] = -point[1], -ahead
        return found

    def __len__(self) -> int:
        return len(self.indices)

    def row(self, label: str) -> int:
        """Return the row of a role."""
        if label not in self.labels:
            raise unknown_name("joint", label, self.labels, f"marionette '{self.character.name}'")
        return self.labels.index(label)

    def step(self, dt: float) -> None:
        """Advance every joint by a frame of dt seconds."""
        if not 0.0 < dt <= LONGEST:
            raise InputError(f"a marionette's frame lasts up to {LONGEST:g} s; {dt:g} s given.")
        self._kernels.step(self.joints, self.state, dt)

    def lay_ground(self, side: int, slope: np.ndarray) -> None:
        """Change the orientation (4,) of the ground under a foot; the foot keeps its orientation in the world."""
        turn = np.empty(4)
        self._kernels.set_foot_orientation(self.slope[side], self.foot_pose[side], turn)
        self.slope[side] = slope
        self._kernels.find_foot_pose(self.slope[side], turn, self.foot_pose[side])

    def put(self, rotations: np.ndarray, speeds: np.ndarray | None = None, dt: float = 1e-3) -> None:
        """Take over a pose (J, 4) with angular velocities (J, 3) in body axes, and make it the target."""
        for row, joint in enumerate(self.indices):
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
            self.speeds[row] = 0.0 if speeds is None else np.clip((found[1] - found[0]) / dt, -_FASTEST, _FASTEST)
        for name in ("foot_pose", "foot_speed", "contact", "contact_yaw", "toes_flat"):
            self.state.arrays[name][:] = 0
        self.target[:], self.target_kind[:] = self.angles, self._kernels.ANGLES

    def pose(self, rotations: np.ndarray) -> None:
        """Write the rotations of its joints into those of a body (J, 4)."""
        rotations[self.indices] = self.state.rotations

    def save(self) -> dict[str, np.ndarray]:
        """Return its targets and state as plain data."""
        return {name: self.state.arrays[name].copy() for name in _SAVED}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned."""
        for name in _SAVED:
            self.state.arrays[name][...] = saved[name]


def _find_root_angles(q: np.ndarray) -> np.ndarray:
    """Return lean, facing and tilt (3,) of q = Ry(y) exp(x, 0, z)."""
    norm = math.hypot(float(q[0]), float(q[2]))
    yaw = 2.0 * math.atan2(float(q[2]), float(q[0])) if norm > 1e-12 else 0.0
    lean = rotation.log(rotation.multiply(rotation.exp(np.array([0.0, -yaw, 0.0])), q))
    return np.array([lean[0], math.remainder(yaw, 2.0 * math.pi), lean[2]])
