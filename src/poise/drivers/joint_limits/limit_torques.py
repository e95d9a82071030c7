"""Limit torques: they keep physical joints in their ranges, under any driver and in any engine.

Ligaments and bones, not muscles: they come on top of what drivers ask for, and ask for exactly nothing as long as a
joint is in its range. At its end, with e the angle beyond it (rad; negative before it) and w the speed outwards,

    torque = -k (e + tau w)        where e + tau w > 0, from 5 degrees before the end on

so a joint that comes to its end too fast is braked, to e = 0 with the time constant tau, and one that is pressed beyond
it is held by a spring. One that is on its way back is let go, with as much damping as its spring cancels: tau = -e / w.
The whole of it is taken at the step's end, linearly implicit as in `drivers/loose/kernels.py`: no step makes it
unstable, and it takes energy only.

    k = M g l / HOLD               M g the whole body's weight, l how far what the joint carries is from it
    tau = 2 sqrt(I / k)            critical for the inertia I that the joint carries; two steps at the least

Ranges are those of `Character.limits`, and SLACK more. A joint that begins outside its range is not flung back: its
range is widened to where it is, and closes again, slowly. A range is also as wide as what a driver firmly aims at: the
animator's word goes before anatomy. Joints without limits (fingers, twist joints, joints that a file has besides those
of a person) are free.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.dynamics.kinematics import compute_composites, compute_world_pose
from poise.engines.memory import write_over
from poise.engines.scene import BALL, HINGES, Joint
from poise.spatial import rotation

HOLD = 0.03  # rad beyond the end under the whole body's weight
SLACK = np.radians(1.0)
MOST_SWING = 3.0  # rad: short of half a turn, where a swing is one the other way as well
# rad and rad/s about an axis that a hinge does not have, up to which a joint is built as hinges.
_ASIDE, _STILL = 0.05, 2.0


class LimitTorques:
    """The ranges of one actor's physical joints."""

    def __init__(self, body: Body):
        from poise.drivers.joint_limits.kernels import LIMITS, WORK, keep_ranges

        self.law: Law = keep_ranges
        self._body, skeleton = body, body.skeleton
        known = [i for i in range(1, len(skeleton)) if skeleton.names[i] in body.character.limits]
        self._known, n = np.array(known, np.int64), len(known)
        limits = [body.character.limits[skeleton.names[i]] for i in known]
        room = body.arena
        self.joints, self.quick = room.zeros(n, dtype=np.int64), room.zeros(n, 6)
        self.low, self.high = np.zeros((n, 4)), np.zeros((n, 4))
        self._lower, self._upper = np.zeros((n, 4)), np.full((n, 4), MOST_SWING)
        for k, each in enumerate(limits):
            self._lower[k, :3], self._upper[k, :3] = each.lower - SLACK, each.upper + SLACK
        self._lower[:, 3] = -10.0
        self._P = np.array([each.parent_zero for each in limits]).reshape(n, 4)
        self._C = np.array([each.child_zero for each in limits]).reshape(n, 4)
        self.block = Block(
            LIMITS,
            room,
            joints=self.joints,
            quick=self.quick,
            low=self.low,
            high=self.high,
            work=room.zeros(WORK),
            count=0,
        )

    def begin(self, joints: tuple[Joint, ...], isotropic: bool, standing: Collection[int] = ()) -> None:
        """Keep the joints that an engine moves, from now on, in their ranges, or no farther out than they are.

        joints     how each moves: hinges with ranges of their own are the engine's to keep
        isotropic  whether the engine takes one damping for all axes of a joint
        standing   joints of legs that stand, which are left alone: between a planted foot and the hips nothing swings
                   freely, and what turns a joint back there pushes the body off its feet (a recording that began
                   beyond a range fell as that closed). When they stand no more their ranges begin where they are.
        """
        body = self._body
        body.stops[:] = body.axial[:] = 0.0
        body.firm[:] = 0.0
        rows = [k for k, i in enumerate(self._known.tolist()) if _is_kept(joints[i]) and i not in standing]
        n, kept = len(rows), self._known[rows]
        self.block.set(count=n, isotropic=isotropic)
        self.quick[:, 4] = 0.0  # nothing is known yet
        stiffness, tau, weight = _find_strength(body)
        self.block.set(
            P=self._P[rows].copy(), C=self._C[rows].copy(), turns=rotation.to_matrix(self._C[rows]),
            lower=self._lower[rows].copy(), upper=self._upper[rows].copy(), stiffness=stiffness[kept], tau=tau[kept],
            weight=weight[kept],
        )  # fmt: skip
        self.joints[:n] = kept
        self.widen()

    def widen(self) -> None:
        """Have the ranges include where the joints are."""
        from poise.drivers.joint_limits.kernels import find_angles

        x, work, angles = self.block, np.empty((2, 4)), np.empty(5)
        for k in range(int(x["count"])):
            find_angles(x["P"][k], self._body.state.q[self.joints[k]], x["C"][k], work, angles)
            angles[3] = np.hypot(angles[0], angles[2])
            self.low[k] = np.minimum(x["lower"][k], angles[:4])
            self.high[k] = np.maximum(x["upper"][k], angles[:4])

    def save(self) -> dict[str, np.ndarray]:
        """How wide the ranges are now, and what keeps joints in them, as plain data."""
        return {name: array.copy() for name, array in self._list_numbers().items()}

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Be as wide as when they were saved, for the same joints."""
        write_over(self._list_numbers(), saved)

    def _list_numbers(self) -> dict[str, np.ndarray]:
        n, body = self.count, self._body
        return {
            "low": self.low[:n], "high": self.high[:n], "quick": self.quick[:n], "stops": body.stops,
            "axial": body.axial, "aim": body.aim, "firm": body.firm,
        }  # fmt: skip

    @property
    def count(self) -> int:
        """How many joints it looks after."""
        return int(self.block["count"])


def build_hinges(body: Body, joint: int, aim: np.ndarray | None = None) -> Joint | None:
    """A joint without play about z (elbow, knee, toes) as hinges at the body's pose: about x, and y if it has that.

    None: it has three axes, or is turned, turns or is to be turned (aim) about one that it has not.
    """
    limits = body.character.limits.get(body.skeleton.names[joint])
    if limits is None or limits.lower[2] < limits.upper[2] or limits.lower[0] == limits.upper[0]:
        return None
    count = 2 if limits.lower[1] < limits.upper[1] else 1
    angles = limits.angles(body.state.q[joint])
    wanted = angles if aim is None else limits.angles(aim)
    if np.any(np.abs(angles[count:]) > _ASIDE) or np.any(np.abs(wanted[count:]) > _ASIDE):
        return None
    to_body = rotation.conjugate(limits.child_zero)
    twist = rotation.exp(np.array([0.0, -angles[1], 0.0]))
    axes = rotation.rotate(to_body, np.stack([rotation.rotate(twist, np.eye(3)[0]), np.eye(3)[1]]))[:count]
    w = body.state.w[joint]
    if np.linalg.norm(w - axes.T @ (axes @ w)) > _STILL:
        return None
    return Joint(HINGES, axes, np.full((count, 2), np.nan))


def _is_kept(joint: Joint) -> bool:
    return joint.kind == BALL or (joint.kind == HINGES and len(joint.axes) > 0 and not np.isfinite(joint.ranges).any())


def _find_strength(body: Body) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """k, tau and the moment of what a joint carries, held out level, of all joints; from the rest pose alone."""
    tree = body.tree
    pose = compute_world_pose(tree, np.zeros(3), np.tile(rotation.identity(), (len(tree), 1)))
    mass, center, inertia = compute_composites(tree, pose)
    arm = np.linalg.norm(center - pose.joints, axis=-1)
    gravity = body.weight_per_mass
    stiffness = np.maximum(tree.mass * gravity * arm / HOLD, 1e-3)
    about = np.linalg.eigvalsh(inertia)[..., -1] + mass * arm**2
    return stiffness, np.maximum(2.0 * np.sqrt(about / stiffness), 2.0 * body.dt), mass * gravity * arm
