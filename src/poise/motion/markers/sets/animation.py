"""Studios: CMU's 41 and Vicon's front-waist sets, OptiTrack's Baseline, Qualisys' animation set.

Sources
  CMU        mocap.cs.cmu.edu, marker placement guide (41 markers).
  Vicon      Vicon, Blade and Shogun: the 53-marker set (ARIEL, *IEL, *OWR, *IHAND, ...).
  OptiTrack  docs.optitrack.com, marker sets Baseline (37, 41) and their 13 additional markers.
  Qualisys   Qualisys, Animation Marker Set (42 markers; with SpineThoracic2 and SpineThoracic12 since 2020).
Inner and outer markers of the wrist are told apart by the hand's (`motion/markers/arm.py`), since makers disagree on
which is which.
"""

from __future__ import annotations

from poise.motion.markers.sets.table import MarkerSet

CMU = MarkerSet(
    "CMU",
    "mocap.cs.cmu.edu, marker placement guide",
    {
        "*ASI": ("*FWT", "*FWST"),
        "*PSI": ("*BWT", "*BWST"),
        "SACR": ("MBWT",),
        "*THI": ("*THI",),
        "*KNE": ("*KNE",),
        "*KNM": ("*KNI", "*IKNE"),
        "*TIB": ("*SHN",),
        "*ANK": ("*ANK",),
        "*ANM": ("*IANK",),
        "*HEE": ("*HEE", "*HEL"),
        "*TOE": ("*TOE",),
        "*MT1": ("*MT1",),
        "*MT5": ("*MT5",),
        "*SHO": ("*SHO",),
        "*UPA": ("*UPA",),
        "*ELB": ("*ELB",),
        "*ELM": ("*IEL",),
        "*FRM": ("*FRM",),
        "*WRA": ("*WRA", "*IWR"),
        "*WRB": ("*WRB", "*OWR"),
        "*FIN": ("*FIN",),
        "*HM2": ("*IHAND",),
        "*HM5": ("*OHAND",),
        "*BAK": ("*BAC",),
        "*FHD": ("*FHD",),
        "*BHD": ("*BHD",),
        "HTOP": ("ARIEL",),
        "C7": ("C7",),
        "T10": ("T10",),
        "CLAV": ("CLAV",),
        "STRN": ("STRN",),
    },
)

_SHARED = {
    "*ASI": ("WAIST*FRONT",),
    "*PSI": ("WAIST*BACK",),
    "*THI": ("*THIGH", "*THIGHSIDE"),
    "*KNE": ("*KNEEOUT", "*KNEE"),
    "*KNM": ("*KNEEIN",),
    "*TIB": ("*SHIN", "*SHINFRONTHIGH"),
    "*ANK": ("*ANKLEOUT",),
    "*ANM": ("*ANKLEIN",),
    "*HLX": ("*TOETIP",),
    "*SHO": ("*SHOULDERTOP",),
    "*BAK": ("*SHOULDERBACK",),
    "*ELB": ("*ELBOWOUT",),
    "*ELM": ("*ELBOWIN",),
    "*WIN": ("*WRISTIN",),
    "*WOU": ("*WRISTOUT",),
    "*HM2": ("*HANDIN",),
    "*HM5": ("*HANDOUT",),
    "HTOP": ("HEADTOP",),
    "HFRO": ("HEADFRONT",),
}

OPTITRACK = MarkerSet(
    "OptiTrack Baseline",
    "docs.optitrack.com, Baseline (37) and (41)",
    {
        **_SHARED,
        "SACR": ("WAISTCBACK",),
        "*HEE": ("*HEEL", "*HEELBACK"),
        "*MT1": ("*TOEIN",),
        "*MT5": ("*TOEOUT",),
        "*UPA": ("*UARMHIGH", "*UARM"),
        "*FRM": ("*FARM", "*FARMHIGH"),
        "*HDS": ("HEADSIDE*",),
        "HANY": ("HEADSIDE",),
        "C7": ("BACKTOP",),
        "CLAV": ("CHEST", "CHESTTOP"),
        "STRN": ("CHESTLOW",),
    },
)

QUALISYS = MarkerSet(
    "Qualisys animation",
    "Qualisys, Animation Marker Set",
    {
        **_SHARED,
        "SACR": ("WAISTBACK",),
        "*ICR": ("WAIST*",),
        "*HEE": ("*HEELBACK",),
        "*MT1": ("*FOREFOOTIN", "*FOREFOOT2"),
        "*MT5": ("*FOREFOOTOUT", "*FOREFOOT5"),
        "*UPA": ("*ARM",),
        "*FIN": ("*HAND2",),
        "*HDS": ("HEAD*",),
        "C7": ("SPINETOP", "SPINETHORACIC2"),
        "T10": ("SPINETHORACIC12",),
        "CLAV": ("CHEST",),
    },
)

SETS = (CMU, OPTITRACK, QUALISYS)
