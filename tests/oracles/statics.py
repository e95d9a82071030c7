"""What it takes of an arm to hold a load still: levers and weights, by SciPy, and nothing of any driver or engine.

A ratio is the torque that a pose asks of an axis of elbow or shoulder over what its muscles have there at rest. The arm
carries half of the load, on the line from elbow to wrist, as far ahead as the load's centre is.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from poise import Character, Muscles, Pose
from sweeps.abuse_watch import Figure

G = 9.81


def find_ratios(body: Character, pose: Pose, mass: float, behind: float) -> dict[str, float]:
    """Joint and axis of the right arm -> its ratio at full strength, with a load (kg) so far behind the wrists (m)."""
    figure, index = Figure(body), body.skeleton.index
    joints, centers = figure.place(pose)
    elbow, wrist = joints[index("rightLowerArm")], joints[index("rightHand")]
    way = (wrist - elbow) / np.linalg.norm(wrist - elbow)
    at = wrist - behind * way
    turns: list[Rotation] = []
    for own, parent in zip(Rotation.from_quat(pose.rotations, scalar_first=True), figure.parents, strict=True):
        turns.append(own if parent < 0 else turns[parent] * own)
    muscles, found = Muscles.from_character(body), {}
    angles, rates, axes = muscles.find_state(pose.rotations, np.zeros((len(joints), 3)))
    low, high = muscles.torque_range(angles, rates)
    for joint in ("rightUpperArm", "rightLowerArm"):
        i = index(joint)
        moment = np.cross(at - joints[i], [0.0, -G * mass / 2.0, 0.0])
        for k in np.flatnonzero(figure.carries[i]):
            moment += np.cross(centers[k] - joints[i], [0.0, -G * figure.masses[k], 0.0])
        for row in muscles.rows(joint):
            torque = -float(moment @ turns[i].apply(axes[row]))
            found[f"{joint} {muscles.axes[row]}"] = abs(torque) / float(high[row] if torque > 0.0 else -low[row])
    return found


def find_sinking(body: Character, pose: Pose, mass: float, behind: float, strength: float) -> float:
    """m, by which the wrist of an arm with a share of its strength is lower where its shoulder has swung back until it

    holds the load; that of an arm that swung back by a radian, if it never does.
    """
    figure, i, wrist = Figure(body), body.skeleton.index("rightUpperArm"), body.skeleton.index("rightHand")
    start = figure.place(pose)[0][wrist, 1]
    above = Rotation.identity()
    for k in np.flatnonzero(figure.carries[:, i])[:-1]:
        above *= Rotation.from_quat(pose.rotations[k], scalar_first=True)
    sunk = 0.0
    for angle in np.arange(0.0, 1.0, 0.005):
        turns = pose.rotations.copy()
        swing = above.inv() * Rotation.from_rotvec([angle, 0.0, 0.0]) * above  # +x: what is ahead goes down
        turns[i] = (swing * Rotation.from_quat(turns[i], scalar_first=True)).as_quat(scalar_first=True)
        now = Pose(pose.root, turns)
        sunk = float(start - figure.place(now)[0][wrist, 1])
        if find_ratios(body, now, mass, behind)["rightUpperArm x"] <= strength:
            break
    return sunk
