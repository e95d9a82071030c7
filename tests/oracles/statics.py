"""What it takes of an arm to hold a load still: levers, weights and strengths, by SciPy.

Nothing of any driver, engine or kernel has a part in it: the rows of strength are read as numbers, and what they mean
([strength, eq 5], at rest) is worked out here. A ratio is the torque that a pose asks of an axis of elbow or shoulder
over what its muscles have there at rest. The arm carries half of the load, on the line from elbow to wrist, as far
ahead as the load's centre is.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from helpers.kinematics import place_joints
from poise import Character, JointStrength, Pose
from tools.sweeps.abuse_watch import Figure

G = 9.81


def read_turns(quaternions: np.ndarray) -> Rotation:
    """Rotations, of (..., 4) with the real part first."""
    return Rotation.from_quat(quaternions, scalar_first=True)


def find_strengths(muscles: JointStrength, row: int, turn: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Of a joint turned by (4,): an axis (3,) in the carried segment's frame, and N m about it at rest, both ways.

    P turn C^-1 = swing twist, the twist about y; axes are those after the swing.
    """
    before, after = (read_turns(each) for each in muscles.frames[row])
    turned = before * read_turns(turn) * after.inv()
    _, y, _, w = turned.as_quat()
    twist = Rotation.from_quat([0.0, y, 0.0, w])
    angles = (turned * twist.inv()).as_rotvec()
    letter = "xyz".index(muscles.axes[row])
    angle = twist.as_rotvec()[1] if letter == 1 else angles[letter]
    strengths = []
    for most, width, peak, _, _, _, below, above in muscles.curves[row]:
        left = np.cos(min(abs(width * (angle - peak)), np.pi / 2.0))
        strengths.append(float(most * max(left, above if angle > peak else below)))
    return (twist * after).inv().apply(np.eye(3)[letter]), strengths[0], strengths[1]


def find_ratios(body: Character, pose: Pose, mass: float, behind: float) -> dict[str, float]:
    """Joint and axis of the right arm -> its ratio at full strength, with a load (kg) so far behind the wrists (m)."""
    figure, index, muscles = Figure(body), body.skeleton.index, JointStrength.from_character(body)
    joints, centers = figure.place(pose)
    elbow, wrist = joints[index("rightLowerArm")], joints[index("rightHand")]
    at = wrist - behind * (wrist - elbow) / np.linalg.norm(wrist - elbow)
    _, turns = place_joints(body.skeleton, pose.root, pose.rotations)
    found = {}
    for joint in ("rightUpperArm", "rightLowerArm"):
        i = index(joint)
        moment = np.cross(at - joints[i], [0.0, -G * mass / 2.0, 0.0])
        for k in np.flatnonzero(figure.carries[i]):
            moment += np.cross(centers[k] - joints[i], [0.0, -G * figure.masses[k], 0.0])
        for row in muscles.rows(joint):
            axis, low, high = find_strengths(muscles, row, pose.rotations[i])
            torque = -float(moment @ turns[i].apply(axis))
            found[f"{joint} {muscles.axes[row]}"] = abs(torque) / (high if torque > 0.0 else low)
    return found


def find_sinking(body: Character, pose: Pose, mass: float, behind: float, strength: float) -> float:
    """m, by which the wrist of an arm with a share of its strength is lower where its shoulder has swung back until it

    holds the load; that of an arm that swung back by a radian, if it never does.
    """
    figure, i, wrist = Figure(body), body.skeleton.index("rightUpperArm"), body.skeleton.index("rightHand")
    start = figure.place(pose)[0][wrist, 1]
    above = Rotation.identity()
    for k in np.flatnonzero(figure.carries[:, i])[:-1]:
        above *= read_turns(pose.rotations[k])
    sunk = 0.0
    for angle in np.arange(0.0, 1.0, 0.005):
        turns = pose.rotations.copy()
        swing = above.inv() * Rotation.from_rotvec([angle, 0.0, 0.0]) * above  # +x: what is ahead goes down
        turns[i] = (swing * read_turns(turns[i])).as_quat(scalar_first=True)
        now = Pose(pose.root, turns)
        sunk = float(start - figure.place(now)[0][wrist, 1])
        if find_ratios(body, now, mass, behind)["rightUpperArm x"] <= strength:
            break
    return sunk
