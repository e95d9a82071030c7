"""Gait laboratories: Plug-in Gait and its relatives, CGM2, Helen Hayes, Cleveland Clinic.

Sources
  Plug-in Gait     Vicon, Plug-in Gait Reference Guide, marker sets of the lower and of the full body; Davis, Ounpuu,
                   Tyburski, Gage (1991), Human Movement Science 10, 575-587.
  CGM2             pyCGM2's documentation (pycgm2.github.io): medial KNM and MED, clusters THAP THAD TIAP TIAD, foot SMH
                   FMH VMH. Leboeuf et al. (2019), Gait & Posture 69, 235-241.
  Helen Hayes      Kadaba, Ramakrishnan, Wootten (1990), J. Orthopaedic Research 8, 383-392: sacrum, wands on thigh and
                   shank; labels as Motion Analysis' programs write them.
  Cleveland Clinic Motion Analysis, OrthoTrak: clusters Upper, Front and Rear on thigh and shank; labels as in OpenSim's
                   gait2392 example (subject01).
"""

from __future__ import annotations

from poise.motion.markers.sets.table import MarkerSet

PLUG_IN_GAIT = MarkerSet(
    "Plug-in Gait",
    "Vicon, Plug-in Gait Reference Guide",
    {
        "*ASI": ("ASI", "ASIS"),
        "*PSI": ("PSI", "PSIS"),
        "SACR": ("SACR", "SAC", "SACRUM"),
        "*THI": ("THI", "THIGH", "THGH"),
        "*KNE": ("KNE", "KNEE", "KNL", "KNEL", "KNEELAT", "LKNE", "KNEO"),
        "*KNM": ("KNM", "KNEM", "KNEEMED", "MKNE", "KNI", "MEDKNEE", "KMED", "KNEEMEDIAL"),
        "*TIB": ("TIB", "SHIN", "SHANK", "TIBIA"),
        "*ANK": ("ANK", "ANKLE", "ANL", "ANKL", "ANKLELAT", "LMAL", "LATMAL"),
        "*ANM": ("MED", "ANM", "ANKM", "ANKLEMED", "MMAL", "MEDMAL", "ANKLEMEDIAL", "MANK", "MMA", "DMAL"),
        "*HEE": ("HEE", "HEEL", "CAL", "CALC"),
        "*TOE": ("TOE", "TOES", "MT2", "MTP2", "TOE2"),
        "*MT1": ("MT1", "MTP1", "D1M", "P1M"),
        "*MT5": ("MT5", "MTP5", "D5M", "P5M"),
        "*HLX": ("HLX", "HALLUX"),
        "*SHO": ("SHO", "SHOULDER", "ACR", "ACROMION", "SHLD"),
        "*BAK": ("BAK", "BACK"),
        "*UPA": ("UPA", "UPARM", "UPPERARM"),
        "*ELB": ("ELB", "ELBOW", "ELBL", "ELBOWLAT"),
        "*ELM": ("ELM", "ELBM", "MELB", "ELBOWMED", "MEP"),
        "*FRM": ("FRM", "FRA", "FOREARM", "FARM"),
        "*WRA": ("WRA", "WRIA", "WRISTA", "WRT"),
        "*WRB": ("WRB", "WRIB", "WRISTB", "WRP"),
        "*WRI": ("WRI", "WRIST"),
        "*FIN": ("FIN", "HAND", "KNU"),
        "*FHD": ("FHD", "FHEAD", "FRONTHEAD", "HEADF"),
        "*BHD": ("BHD", "BHEAD", "BACKHEAD", "HEADB"),
        "C7": ("C7", "C7S"),
        "T10": ("T10",),
        "CLAV": ("CLAV", "CLA"),
        "STRN": ("STRN", "STER"),
    },
)

CGM2 = MarkerSet(
    "CGM2",
    "pycgm2.github.io",
    {
        "*ASI": ("*ASI",),
        "*PSI": ("*PSI",),
        "*THI": ("*THI",),
        "*THA": ("*THAP",),
        "*THB": ("*THAD",),
        "*KNE": ("*KNE",),
        "*KNM": ("*KNM",),
        "*TIB": ("*TIB",),
        "*SHA": ("*TIAP",),
        "*SHB": ("*TIAD",),
        "*ANK": ("*ANK",),
        "*ANM": ("*MED",),
        "*HEE": ("*HEE",),
        "*TOE": ("*SMH", "*TOE"),
        "*MT1": ("*FMH",),
        "*MT5": ("*VMH",),
        "*SHO": ("*SHO",),
        "*ELB": ("*ELB",),
        "*WRA": ("*WRA",),
        "*WRB": ("*WRB",),
        "*FIN": ("*FIN",),
        "*FHD": ("*FHD",),
        "*BHD": ("*BHD",),
        "*HJC": ("*HJC",),
        "C7": ("C7",),
        "T10": ("T10",),
        "CLAV": ("CLAV",),
        "STRN": ("STRN",),
    },
)

HELEN_HAYES = MarkerSet(
    "Helen Hayes",
    "Kadaba et al. (1990); labels of Motion Analysis' programs",
    {
        "*ASI": ("ASIS",),
        "SACR": ("VSACRAL", "SACRAL", "VSACR", "SACRALV"),
        "*THI": ("THIGH", "THIGHWAND", "THWAND", "BAR1"),
        "*KNE": ("KNEE", "KNEELAT", "LATKNEE"),
        "*KNM": ("KNEEMEDIAL", "KNEEMED"),
        "*TIB": ("SHANK", "SHANKWAND", "SHWAND", "BAR2"),
        "*ANK": ("ANKLE", "ANKLELAT"),
        "*ANM": ("ANKLEMEDIAL", "ANKLEMED"),
        "*HEE": ("HEEL",),
        "*TOE": ("TOE",),
        "*SHO": ("SHOULDER",),
        "*ELB": ("ELBOW",),
        "*WRI": ("WRIST",),
        "*BAK": ("OFFSET",),
        "HTOP": ("TOPHEAD", "HEADTOP"),
        "HFRO": ("FRONTHEAD", "HEADFRONT"),
        "HBAK": ("REARHEAD", "HEADREAR"),
    },
)

CLEVELAND = MarkerSet(
    "Cleveland Clinic",
    "Motion Analysis, OrthoTrak; OpenSim's example gait2392 (subject01)",
    {
        "*ASI": ("ASIS",),
        "SACR": ("VSACRAL", "SACRAL"),
        "*THA": ("THIGHUPPER", "UPPERTHIGH"),
        "*THB": ("THIGHFRONT", "FRONTTHIGH"),
        "*THC": ("THIGHREAR", "REARTHIGH"),
        "*KNE": ("KNEELAT",),
        "*KNM": ("KNEEMED",),
        "*SHA": ("SHANKUPPER", "UPPERSHANK"),
        "*SHB": ("SHANKFRONT", "FRONTSHANK"),
        "*SHC": ("SHANKREAR", "REARSHANK"),
        "*ANK": ("ANKLELAT",),
        "*ANM": ("ANKLEMED",),
        "*HEE": ("HEEL",),
        "*MID": ("MIDFOOTSUP",),
        "*MIL": ("MIDFOOTLAT",),
        "*HLX": ("TOETIP",),
        "*MT5": ("TOELAT",),
        "*MT1": ("TOEMED",),
        "STRN": ("STERNUM",),
        "*SHO": ("ACROMIUM", "ACROMION"),
        "*UPA": ("BICEP", "BICEPS"),
        "*ELB": ("ELBOW", "ELBOWLAT"),
        "*ELM": ("ELBOWMED",),
        "*FRM": ("FOREARM",),
        "*RSP": ("WRISTLAT",),
        "*USP": ("WRISTMED",),
        "*HDS": ("TEMPLE",),
        "HTOP": ("TOPHEAD",),
    },
)

SETS = (PLUG_IN_GAIT, CGM2, HELEN_HAYES, CLEVELAND)
