"""OpenSim's examples and what is built on them: Rajagopal's full body, the torque-driven walker's set, OpenCap.

Sources
  Rajagopal  Rajagopal et al. (2016), IEEE Trans. Biomed. Eng. 63(10): the marker set of the model as it is published.
  walk3d     OpenSim's Moco example exampleMocoTrack3DWalking: labels of its markers.
  OpenCap    Uhlrich et al. (2023), PLoS Computational Biology 19(10), e1011462: the augmented markers (..._study).
Thigh and shank carry clusters in all of them; which of a cluster is where does not matter, only that it is rigid.
"""

from __future__ import annotations

from poise.motion.markers.sets.table import MarkerSet

RAJAGOPAL = MarkerSet(
    "Rajagopal",
    "Rajagopal et al. (2016)",
    {
        "*ASI": ("*ASI", "*ASIS"),
        "*PSI": ("*PSI", "*PSIS"),
        "*THA": ("TH1",),
        "*THB": ("TH2",),
        "*THC": ("TH3",),
        "*THD": ("TH4",),
        "*KNE": ("LFC", "LFEMCON"),
        "*KNM": ("MFC", "MFEMCON"),
        "*SHA": ("TB1", "SH1"),
        "*SHB": ("TB2", "SH2"),
        "*SHC": ("TB3", "SH3"),
        "*SHD": ("TB4", "SH4"),
        "*ANK": ("LMAL",),
        "*ANM": ("MMAL",),
        "*HEE": ("CAL", "CALC"),
        "*TOE": ("TOE",),
        "*MT1": ("MT1",),
        "*MT5": ("MT5",),
        "*SHO": ("ACR", "ACROMION"),
        "*UPA": ("UA1", "BICEPS"),
        "*ELB": ("LEL",),
        "*ELM": ("MEL",),
        "*RSP": ("FARADIUS",),
        "*USP": ("FAULNA",),
        "*FRM": ("FASUPERIOR",),
        "*CLA": ("CLAVICLE",),
        "*HJC": ("*HJC",),
        "C7": ("C7",),
        "CLAV": ("CLAV",),
        "SACR": ("S2",),
    },
)

OPENCAP = MarkerSet(
    "OpenCap",
    "Uhlrich et al. (2023)",
    {
        "*ASI": ("*ASISSTUDY",),
        "*PSI": ("*PSISSTUDY",),
        "*HJC": ("*HJCSTUDY",),
        "*THA": ("*THIGH1STUDY",),
        "*THB": ("*THIGH2STUDY",),
        "*THC": ("*THIGH3STUDY",),
        "*KNE": ("*KNEESTUDY",),
        "*KNM": ("*MKNEESTUDY",),
        "*SHA": ("*SH1STUDY",),
        "*SHB": ("*SH2STUDY",),
        "*SHC": ("*SH3STUDY",),
        "*ANK": ("*ANKLESTUDY",),
        "*ANM": ("*MANKLESTUDY",),
        "*HEE": ("*CALCSTUDY",),
        "*MT1": ("*TOESTUDY",),  # on the big toe's side of the forefoot
        "*MT5": ("*5METASTUDY",),
        "*SHO": ("*SHOULDERSTUDY",),
        "*ELB": ("*LELBOWSTUDY",),
        "*ELM": ("*MELBOWSTUDY",),
        "*RSP": ("*LWRISTSTUDY",),
        "*USP": ("*MWRISTSTUDY",),
        "C7": ("C7STUDY",),
    },
)

SETS = (RAJAGOPAL, OPENCAP)
