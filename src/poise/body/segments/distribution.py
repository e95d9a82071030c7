"""A table's masses laid on any human skeleton: which matter moves with which joint.

  limbs  The row lies on the straight line from its joint to the next role's joint, whatever joints are in between.
  foot   On the line from heel to toe tip; the heel is behind the ankle by a fixed part of the foot's length (see
         `proportions`), the toe tip where an end site says or where the ball's place says. Cut at the toe joint.
  hand   From the wrist to the fingertip that the file shows, or on along the forearm. An end too near the wrist for a
         fingertip is a knuckle.
  trunk  The three slabs end to end on the line from mid-hip to the base of the neck, in the table's own proportion,
         then cut at the heights of the trunk's joints: a joint gets what lies between itself and the next. Clavicles
         get nothing: the slabs hold it.
  head   From the base of the neck to the vertex, cut at the joints of neck and head.
Where a joint is missing, its matter moves with the one before it: no hand, then the forearm has it; no arms, then they
hang at the trunk's sides; no head, then it stands on the trunk. The masses always add up to the body's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from poise.body.roles import SIDES
from poise.body.segments import tables
from poise.body.segments.proportions import ANKLE_HEIGHT, BALL_HEIGHT, Proportions, compute_proportions
from poise.body.segments.solid import SegmentSolid, solid_profile
from poise.body.segments.stature import find_mid_hip, find_neck_base, find_trunk_top, find_vertex
from poise.body.segments.tables import ANKLE_FROM_HEEL, BALL_FROM_HEEL, EAR_ABOVE_C7, TRUNK, BodyTable
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia

# The neck, below the skull's joint, has 0.19 of the mass of head and neck: McConville et al. (1980), AFAMRL-TR-80-119.
HEAD_PROFILE = ((0.0, 0.0), (1.0 - EAR_ABOVE_C7, 0.81), (1.0, 1.0))
# The foot's long axis runs below the ankle by this part of the ankle's height over the sole, as high as the ball.
_FOOT_AXIS_DROP = 1.0 - BALL_HEIGHT
# The pelvis keeps at least this part of the lower trunk: the lumbosacral joint cannot be lower, though a file may set
# a joint of the spine on the hips.
PELVIS_SHARE = 1.0 / 3.0
# An end nearer the wrist than this part of the way to an expected fingertip is a knuckle.
_KNUCKLE_LIMIT = 0.5 * (1.0 + tables.knuckle_fraction())


def lay_table(skeleton: Skeleton, mass: float, table: BodyTable, stature: float) -> list[RigidInertia]:
    """The inertia of each joint's segment in the joint's frame, for a skeleton with roles; massless joints have zero.

    mass     kg, the whole body
    stature  m, the length of what the skeleton does not show
    """
    laid = _Body(skeleton, mass, table, stature)
    pieces: list[list[RigidInertia]] = [[] for _ in skeleton.names]
    for joint, piece in (*laid.trunk(), *laid.head(), *laid.arms(), *laid.legs()):
        pieces[joint].append(piece)
    rest = skeleton.rest_positions()
    welded = [RigidInertia.total(parts) for parts in pieces]
    return [body.moved(np.eye(3), -at) if body.mass > 0.0 else body for body, at in zip(welded, rest, strict=True)]


class _Body:
    """The points and directions of a skeleton at rest that the table's rows are laid on."""

    def __init__(self, skeleton: Skeleton, mass: float, table: BodyTable, stature: float):
        self.skeleton, self.mass, self.table, self.stature = skeleton, mass, table, stature
        self.rest = skeleton.rest_positions()
        self.usual: Proportions = compute_proportions()
        left, right = (self.rest[skeleton.index(side + "UpperLeg")] for side in SIDES)
        self.mid_hip = find_mid_hip(skeleton)
        self.neck_joints = self._find_neck_joints()
        self.trunk_joints = self._find_trunk_joints()
        self.trunk_top = self._find_trunk_top()
        neck_base = find_neck_base(skeleton)
        self.neck_base = self.trunk_top if neck_base is None else neck_base
        self.up = _direction(self.trunk_top - self.mid_hip, "hips", "the base of the neck")
        across = (left - right) - ((left - right) @ self.up) * self.up
        self.left = _direction(across, "rightUpperLeg", "leftUpperLeg")
        self.forward = rotation.cross(self.left, self.up)
        self.vertex = self._find_vertex()

    def trunk(self) -> Iterator[tuple[int, RigidInertia]]:
        """The three slabs of the trunk, cut at its joints."""
        line = self.trunk_top - self.mid_hip
        lengths = np.array([self.table[part].length for part in TRUNK])
        levels = 1.0 - np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum()  # from the neck down to the hips
        cuts = self._cut_heights(self.trunk_joints, self.mid_hip, line)
        if len(cuts) > 1:
            cuts[1:] = np.maximum(cuts[1:], PELVIS_SHARE * levels[-2])
        cuts = np.append(cuts, 1.0)
        for part, top, bottom in zip(TRUNK, levels[:-1], levels[1:], strict=True):
            start, end = self.mid_hip + top * line, self.mid_hip + bottom * line
            slab = SegmentSolid.from_row(self.table[part], self.mass, start, end, self.forward)
            for joint, low, high in zip(self.trunk_joints, cuts[:-1], cuts[1:], strict=True):
                # Slabs run downwards, cuts upwards.
                yield joint, slab.cut((top - high) / (top - bottom), (top - low) / (top - bottom))

    def head(self) -> Iterator[tuple[int, RigidInertia]]:
        """Head and neck, cut at their joints; on the trunk's uppermost joint where they have none."""
        joints = self.neck_joints or self.trunk_joints[-1:]
        line = self.vertex - self.neck_base
        _direction(line, "the base of the neck", "the top of the head")
        slab = SegmentSolid.from_row(
            self.table["head"], self.mass, self.vertex, self.neck_base, self.forward, profile=HEAD_PROFILE
        )
        cuts = np.append(self._cut_heights(joints, self.neck_base, line), 1.0)
        for joint, low, high in zip(joints, cuts[:-1], cuts[1:], strict=True):
            yield joint, slab.cut(1.0 - high, 1.0 - low)

    def arms(self) -> Iterator[tuple[int, RigidInertia]]:
        """Upper arms, forearms and hands."""
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            owners = [self.skeleton.find_role(side + stem) for stem in ("UpperArm", "LowerArm", "Hand")]
            points = self._find_arm_points(sign, owners)
            owner = self._trunk_joint_at(points[0])
            for k, segment in enumerate(("upperArm", "forearm", "hand")):
                found = owners[k]
                owner = owner if found is None else found
                # The palm faces the thigh when the arm hangs and the floor in a T: its normal is across `forward`.
                line = points[k + 1] - points[k]
                forward = self.forward if abs(_unit(line) @ self.forward) < 0.9 else self.up
                sagittal = rotation.cross(line, forward) if segment == "hand" else forward
                yield (
                    owner,
                    SegmentSolid.from_row(self.table[segment], self.mass, points[k], points[k + 1], sagittal).whole(),
                )

    def legs(self) -> Iterator[tuple[int, RigidInertia]]:
        """Thighs, shanks and feet."""
        for side in SIDES:
            hip, knee, ankle = (self.skeleton.index(side + stem) for stem in ("UpperLeg", "LowerLeg", "Foot"))
            toes = self.skeleton.find_role(side + "Toes")
            for segment, upper, lower in (("thigh", hip, knee), ("shank", knee, ankle)):
                line = _direction(
                    self.rest[lower] - self.rest[upper], *(self.skeleton.labels[i] for i in (upper, lower))
                )
                sagittal = rotation.cross(self.left, line)
                slab = SegmentSolid.from_row(
                    self.table[segment], self.mass, self.rest[upper], self.rest[lower], sagittal
                )
                yield upper, slab.whole()
            up = _unit(self.rest[knee] - self.rest[ankle])
            heel, tip = self._find_foot_line(ankle, toes, up)
            row = self.table["foot"]
            slab = SegmentSolid.from_row(row, self.mass, heel, tip, up, profile=solid_profile(row))
            if toes is None:
                yield ankle, slab.whole()
            else:
                ball = float((self.rest[toes] - heel) @ (tip - heel) / ((tip - heel) @ (tip - heel)))
                yield ankle, slab.cut(-np.inf, ball)
                yield toes, slab.cut(ball, np.inf)

    def _find_neck_joints(self) -> list[int]:
        """Joints from the base of the neck (or the head) up to the head."""
        found = [self.skeleton.find_role(role) for role in ("neck", "head")]
        ends = [joint for joint in found if joint is not None]
        if len(ends) < 2:
            return ends
        chain = self.skeleton.chain(ends[1])
        return chain[chain.index(ends[0]) :] if ends[0] in chain else ends

    def _find_trunk_joints(self) -> list[int]:
        """Joints from the hips up to where the neck begins, or to the highest trunk role."""
        hips = self.skeleton.index("hips")
        roles = ("upperChest", "chest", "spine")
        tops = [joint for joint in map(self.skeleton.find_role, roles) if joint is not None]
        top = int(self.skeleton.parents[self.neck_joints[0]]) if self.neck_joints else (tops or [hips])[0]
        chain = self.skeleton.chain(top) if top >= 0 else []
        return chain[chain.index(hips) :] if hips in chain else [hips]

    def _find_trunk_top(self) -> np.ndarray:
        top = find_trunk_top(self.skeleton)
        if top is not None:
            return top
        shoulders = [i for i in (self.skeleton.find_role(side + "UpperArm") for side in SIDES) if i is not None]
        if len(shoulders) == 2:
            middle = 0.5 * (self.rest[shoulders[0]] + self.rest[shoulders[1]])
            return np.asarray(self.mid_hip + (middle - self.mid_hip) / self.usual.shoulder)
        knees = [self.rest[self.skeleton.index(side + "LowerLeg")] for side in SIDES]
        up = _direction(self.mid_hip - 0.5 * (knees[0] + knees[1]), "hips", "knees")
        return np.asarray(self.mid_hip + self.usual.trunk * self.stature * up)

    def _find_vertex(self) -> np.ndarray:
        head = self.skeleton.find_role("head")
        if head is None:
            return self.neck_base + self.usual.head * self.stature * self.up
        top = find_vertex(self.skeleton, head)
        if top is not None:
            return np.asarray(self.rest[head] + top)
        height = self.usual.skull if np.any(self.neck_base != self.rest[head]) else self.usual.head
        return np.asarray(self.rest[head] + height * self.stature * self.up)

    def _cut_heights(self, joints: list[int], base: np.ndarray, line: np.ndarray) -> np.ndarray:
        """Where joints lie along a line: fractions from its base that never fall, beginning with 0."""
        heights = (self.rest[joints] - base) @ line / (line @ line)
        heights[0] = 0.0
        return np.clip(np.maximum.accumulate(heights), 0.0, 1.0)

    def _trunk_joint_at(self, point: np.ndarray) -> int:
        """The trunk joint that holds the matter at a point's height."""
        line = self.trunk_top - self.mid_hip
        cuts = self._cut_heights(self.trunk_joints, self.mid_hip, line)
        height = float((point - self.mid_hip) @ line / (line @ line))
        return self.trunk_joints[int(np.searchsorted(cuts, max(height, 0.0), side="right")) - 1]

    def _find_arm_points(self, sign: float, owners: list[int | None]) -> list[np.ndarray]:
        """Shoulder, elbow, wrist and fingertip; what has no joint continues the arm, or hangs where there is none."""
        lengths = [self.stature * self.table[segment].length for segment in ("upperArm", "forearm", "hand")]
        line = self.trunk_top - self.mid_hip
        shoulder = self.mid_hip + self.usual.shoulder * line
        shoulder = shoulder + sign * self.usual.shoulder_offset * self.stature * self.left
        points = [shoulder if owners[0] is None else self.rest[owners[0]]]
        direction = -self.up
        for k in range(3):
            here, after = owners[k], owners[k + 1] if k < 2 else None
            end = None
            if after is not None:
                end = self.rest[after]
                start = "the shoulder" if here is None else self.skeleton.labels[here]
                _direction(end - points[-1], start, self.skeleton.labels[after])
            elif here is not None:
                end = self._find_arm_end(here, lengths[k], last=k == 2)
            if end is None:
                end = points[-1] + lengths[k] * direction
            direction = _unit(end - points[-1])
            points.append(end)
        return points

    def _find_arm_end(self, joint: int, length: float, last: bool) -> np.ndarray | None:
        """The farthest point that a limb's last joint carries; a hand's is kept within a fifth of `length`."""
        carried = self.skeleton.descendants(joint)
        ends = [self.rest[i] - self.rest[joint] for i in carried[1:]]
        ends += [self.rest[i] + self.skeleton.tips[i] - self.rest[joint] for i in carried if self.skeleton.has_tip[i]]
        if not ends:
            return None
        reach = max(ends, key=lambda end: float(end @ end))
        distance = float(np.linalg.norm(reach))
        if distance < 0.1 * length:
            return None
        if last:
            tip = distance if distance > _KNUCKLE_LIMIT * length else distance / tables.knuckle_fraction()
            reach = reach / distance * min(max(tip, 0.8 * length), 1.2 * length)
        return np.asarray(self.rest[joint] + reach)

    def _find_foot_line(self, ankle: int, toes: int | None, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Heel and toe tip, both on the foot's long axis. `up` points from the ankle to the knee."""
        at = self.rest[ankle]
        end = ankle if toes is None else toes
        tip = self.rest[end] + self.skeleton.tips[end] - at if self.skeleton.has_tip[end] else None
        ball = None if toes is None else self.rest[toes] - at
        forward = tip if tip is not None else ball if ball is not None else self.forward
        forward = forward - (forward @ up) * up
        flat = 0.05 * self.stature * self.table["foot"].length
        if float(np.linalg.norm(forward)) < flat:  # an end straight below the ankle says nothing
            along = float(self.forward @ up)
            tip, ball, forward = None, None, self.forward - along * up
            if abs(along) > 0.99:  # a shank that lies: its foot points as it would after such a turn
                forward = -along * (self.up - (self.up @ up) * up)
        forward = _unit(forward)
        if tip is not None:
            length = float(tip @ forward) / (1.0 - ANKLE_FROM_HEEL)
        elif ball is not None:
            length = float(ball @ forward) / (BALL_FROM_HEEL - ANKLE_FROM_HEEL)
        else:
            length = self.stature * self.table["foot"].length
        if ball is not None:
            drop = -float(ball @ up)
        else:
            usual = _FOOT_AXIS_DROP * ANKLE_HEIGHT * self.stature
            drop = usual if tip is None else min(max(-float(tip @ up), 0.0), usual)
        heel = at - ANKLE_FROM_HEEL * length * forward - drop * up
        return heel, heel + length * forward


def _unit(v: np.ndarray) -> np.ndarray:
    return np.asarray(v / math.sqrt(v @ v))


def _direction(v: np.ndarray, start: str, end: str) -> np.ndarray:
    """v as a unit vector; an error that names its ends where it has no length."""
    if math.sqrt(v @ v) < 1e-6:
        raise InputError(
            f"{start} and {end} are in one place, so the segment between them has no length. Mend the skeleton."
        )
    return _unit(v)
