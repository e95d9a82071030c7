"""Points that are joint centres already: Xsens, keypoints of markerless systems, centres that a program computed.

Sources
  Xsens       MVN User Manual, joint names (jL5S1, jT1C7, jRightHip, ...).
  keypoints   OpenPose (Cao et al. 2021), BODY_25; MediaPipe Pose (left_hip, left_foot_index, ...).
  centres     *HJC, *KJC, *AJC, *SJC, *EJC, *WJC, as Visual3D, Vicon's BodyBuilder and OpenSim's models label them.

A plain `LKnee` is a marker on the skin in most files. It is a centre where both hips have a point and the pelvis has no
spines: no set of skin markers goes without those.
"""

from __future__ import annotations

from poise.motion.markers.sets.table import MarkerSet


def _center(*words: str) -> tuple[str, ...]:
    """Ways in which a joint is said to be meant itself."""
    ends = ("JC", "JOINT", "CENTER", "CENTRE", "JOINTCENTER", "JOINTCENTRE", "JNT")
    return (*(word + end for word in words for end in ends), *(f"J*{word}" for word in words))


_STATED = {
    "*HJC": ("HJC", *_center("HIP")),
    "*KJC": ("KJC", *_center("KNEE")),
    "*AJC": ("AJC", *_center("ANKLE")),
    "*SJC": ("SJC", "GHJC", "GH", *_center("SHOULDER")),
    "*EJC": ("EJC", *_center("ELBOW")),
    "*WJC": ("WJC", *_center("WRIST")),
    "NJC": ("NJC", "NECKJC", "NECKJOINT"),
}

STATED = MarkerSet("joint centres", "labels of Visual3D, BodyBuilder and OpenSim", _STATED)

_XSENS_WORDS = {
    "*HJC": "HIP",
    "*KJC": "KNEE",
    "*AJC": "ANKLE",
    "*FJC": "BALLFOOT",
    "*SJC": "SHOULDER",
    "*EJC": "ELBOW",
    "*WJC": "WRIST",
}

XSENS = MarkerSet(
    "Xsens",
    "MVN User Manual",
    {
        **{
            f"{side}{standard[1:]}": (f"J{word}{joint}",)
            for side, word in (("L", "LEFT"), ("R", "RIGHT"))
            for standard, joint in _XSENS_WORDS.items()
        },
        "LUMB": ("JL5S1",),
        "NJC": ("JT1C7",),
        "HJP": ("JC1HEAD",),
    },
)

KEYPOINTS = MarkerSet(
    "keypoints",
    "OpenPose BODY_25; MediaPipe Pose",
    {
        "*HJC": ("HIP", "UPLEG", "UPPERLEG"),
        "*KJC": ("KNEE", "LOWERLEG"),
        "*AJC": ("ANKLE", "FOOT"),
        "*HEE": ("HEEL",),
        "*FJC": ("BALL", "TOEBASE"),
        "*MT5": ("SMALLTOE",),
        "*HLX": ("BIGTOE", "FOOTINDEX", "TOE", "TOES", "TOETIP"),
        "*SJC": ("SHOULDER", "UPPERARM"),
        "*EJC": ("ELBOW", "FOREARM", "LOWERARM"),
        "*WJC": ("WRIST",),
        "*FIN": ("HAND", "INDEX"),
        "*HDS": ("EAR",),
        "NJC": ("NECK",),
        "HFRO": ("NOSE",),
        "HJP": ("HEAD",),
    },
    only_with=frozenset({"LHJC", "RHJC"}),
)

SETS = (STATED, XSENS, KEYPOINTS)
