"""Markers on a figure whose joints are known: it walks on a curve, bends knees and elbows, sways and looks around.

Marker places follow the published relations that the fit inverts, so that a right fit finds the joints again.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

STATURE = 1.75
KNEE, ANKLE, ELBOW = 0.104, 0.072, 0.070  # m, breadths
RADIUS = 0.007
WIDTH, DEPTH = 0.25, 0.15  # m, pelvis: between the front spines, front to back
HARRINGTON = np.array([0.33 * WIDTH + 0.0073, -0.30 * WIDTH - 0.0109, -0.24 * DEPTH - 0.0099])
THIGH, SHANK, ARM, FOREARM = 0.43, 0.42, 0.30, 0.26
RATE, FRAMES = 100.0, 240
MEASURES = {"height": STATURE} | {
    side + joint: size
    for side in ("left", "right")
    for joint, size in (("Knee", KNEE), ("Ankle", ANKLE), ("Elbow", ELBOW))
}
LABELS = [
    *(side + name for side in "LR" for name in ("ASI", "PSI", "THI", "KNE", "ANK", "HEE", "TOE")),
    *(side + name for side in "LR" for name in ("SHO", "UPA", "ELB", "WRA", "WRB", "FIN", "FHD", "BHD")),
    *("C7", "CLAV", "T10", "STRN"),
]


def _euler(order: str, *angles: np.ndarray) -> Rotation:
    return Rotation.from_euler(order, np.stack(angles, axis=-1))


def walk() -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray], dict[str, Rotation]]:
    """Times (F,), markers and true joint centres by name (F, 3) in m, Y up, and the segments' true orientations."""
    t = np.arange(FRAMES) / RATE
    phase = 2 * np.pi * 0.9 * t
    heading = 0.4 * t
    zero = 0.0 * t
    pelvis = _euler("YXZ", heading + 0.1 * np.sin(phase), 0.1 + 0.03 * np.cos(phase), 0.05 * np.sin(phase))
    front = np.stack([np.sin(heading), 0.95 + 0.02 * np.cos(2 * phase), 2.0 - 2 * np.cos(heading)], axis=1)
    m: dict[str, np.ndarray] = {}
    joints: dict[str, np.ndarray] = {}
    turns: dict[str, Rotation] = {"hips": pelvis}
    for letter, side, sign in (("L", "left", 1.0), ("R", "right", -1.0)):
        swing = phase if side == "left" else phase + np.pi
        m[letter + "ASI"] = front + pelvis.apply([sign * WIDTH / 2, 0, 0])
        m[letter + "PSI"] = front + pelvis.apply([sign * 0.04, 0, -DEPTH])
        hip = front + pelvis.apply(HARRINGTON * [sign, 1, 1])
        thigh = pelvis * _euler("XYZ", -0.1 + 0.45 * np.sin(swing), sign * 0.1 + zero, sign * 0.04 + zero)
        knee = hip + thigh.apply([0, -THIGH, 0])
        shank = thigh * Rotation.from_rotvec(np.outer(0.5 + 0.45 * np.sin(swing + 1.2), [1.0, 0, 0]))
        ankle = knee + shank.apply([0, -SHANK, 0])
        foot = shank * Rotation.from_rotvec(np.outer(-0.2 + 0.2 * np.sin(swing), [1.0, 0, 0]))
        m[letter + "KNE"] = knee + thigh.apply([sign * (KNEE / 2 + RADIUS), 0, 0])
        m[letter + "THI"] = hip + thigh.apply([sign * 0.07, -0.25, 0.06])
        m[letter + "ANK"] = ankle + shank.apply([sign * (ANKLE / 2 + RADIUS), 0, 0])
        m[letter + "HEE"] = ankle + foot.apply([0, -0.04, -0.06])
        m[letter + "TOE"] = ankle + foot.apply([0, -0.04, 0.13])
        joints |= {side + "UpperLeg": hip, side + "LowerLeg": knee, side + "Foot": ankle}
        turns |= {side + "UpperLeg": thigh, side + "LowerLeg": shank, side + "Foot": foot}
    joints["hips"] = 0.5 * (joints["leftUpperLeg"] + joints["rightUpperLeg"])
    chest = pelvis * _euler("YXZ", -0.2 * np.sin(phase), -0.15 + 0.05 * np.sin(phase), 0.03 * np.cos(phase))
    low = front + pelvis.apply([0, 0.10, -0.08]) + chest.apply([0, 0.14, 0])
    # The middles of the upper and of the lower pair are one above the other, and the pairs point straight ahead.
    m |= {"T10": low + chest.apply([0, 0, -0.1]), "STRN": low + chest.apply([0, 0, 0.1])}
    m |= {"C7": low + chest.apply([0, 0.22, -0.065]), "CLAV": low + chest.apply([0, 0.22, 0.065])}
    joints["neck"] = m["C7"] + 0.55 * (m["CLAV"] - m["C7"])
    turns["chest"] = chest
    down = np.radians(67.0)
    for letter, side, sign in (("L", "left", 1.0), ("R", "right", -1.0)):
        shoulder = low + chest.apply([sign * 0.18, 0.14, 0.0])
        m[letter + "SHO"] = shoulder - chest.apply(0.42 * 0.13 * np.array([0, -np.sin(down), np.cos(down)]))
        # Down from the T-pose, then swung; the elbow bends about the upper arm's own Y, forwards.
        swung = 0.5 * np.sin(phase if side == "right" else phase + np.pi)
        arm = chest * _euler("XZ", -swung, zero - sign * 1.3)
        elbow = shoulder + arm.apply([sign * ARM, 0, 0])
        forearm = arm * Rotation.from_rotvec(np.outer(0.7 + 0.5 * np.sin(phase), [0, -sign, 0]))
        wrist = elbow + forearm.apply([sign * FOREARM, 0, 0])
        hand = forearm * Rotation.from_rotvec(np.outer(0.2 * np.sin(phase), [0, 0, 1.0]))
        m[letter + "ELB"] = elbow + arm.apply([0, ELBOW / 2 + RADIUS, 0])
        m[letter + "UPA"] = shoulder + arm.apply([sign * 0.14, 0.03, 0.03])
        back = forearm.apply([0, 0.5 * 0.024 * STATURE + RADIUS, 0])
        m[letter + "WRA"] = wrist + back + forearm.apply([0, 0, 0.035])
        m[letter + "WRB"] = wrist + back - forearm.apply([0, 0, 0.035])
        m[letter + "FIN"] = wrist + hand.apply([sign * 0.09, 0, 0])
        joints |= {side + "UpperArm": shoulder, side + "LowerArm": elbow, side + "Hand": wrist}
        turns |= {side + "UpperArm": arm, side + "LowerArm": forearm}
    # As often up as down, so that the figure looks straight ahead in the median.
    head = _euler("YX", heading + 0.6 * np.sin(0.5 * phase), 0.2 * np.sin(5.0 * (t - t.mean())))
    joints["head"] = joints["neck"] + chest.apply([0, 0.09, 0.01])
    band = joints["head"] + head.apply([0, 0.03 * STATURE, 0])
    for letter, sign in (("L", 1.0), ("R", -1.0)):
        m[letter + "FHD"] = band + head.apply([sign * 0.07, 0, 0.09])
        m[letter + "BHD"] = band + head.apply([sign * 0.07, 0, -0.09])
    turns["head"] = head
    return t, m, joints, turns


def walk_markers() -> tuple[np.ndarray, np.ndarray]:
    """Times (F,) and markers (F, M, 3) in the order of LABELS."""
    t, m, _, _ = walk()
    return t, np.stack([m[label] for label in LABELS], axis=1)
