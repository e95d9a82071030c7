"""Sets that name the bone under the marker: IOR (Leardini), OptiTrack's Biomech and Rizzoli, Qualisys' sports set.

Sources
  names     S. van Sint Jan (2007), Color Atlas of Skeletal Landmark Definitions: IAS, IPS, FLE, FME, FAX, TTC, FAL, ...
  IOR       A. Leardini et al. (2007), Gait & Posture 26, 560-571; (2011), Clinical Biomechanics 26, 562-571.
  OptiTrack docs.optitrack.com, marker sets Rizzoli (26 to 49) and Biomech (57).
  Qualisys  Qualisys, Sports Marker Set: L_HEAD, R_HEAD, SGL, SME, TV2, TV12, PAS and the names above.
  others    KIT Whole-Body Human Motion Database, motion-database.humanoids.kit.edu: AEL, WTS, WPS, HTS, HPS.
"""

from __future__ import annotations

from poise.motion.markers.sets.table import MarkerSet

IOR = MarkerSet(
    "IOR",
    "Leardini et al. (2007, 2011)",
    {
        "*ASI": ("IAS", "SIA"),
        "*PSI": ("IPS", "SIPS"),
        "*ICR": ("ICT",),
        "*GTR": ("FTC", "GT", "TROCH", "GTROCH", "TROCHANTER"),
        "*THI": ("TH", "SK"),
        "*KNE": ("FLE", "LE", "EPL"),
        "*KNM": ("FME", "ME", "EPM"),
        "*FIB": ("FAX", "HF"),
        "*TUB": ("TTC", "TT"),
        "*ANK": ("FAL", "LM", "MALL"),
        "*ANM": ("TAM", "MM", "MALM"),
        "*HEE": ("FCC", "CA"),
        "*TOE": ("FM2", "SM"),
        "*MT1": ("FM1", "FM"),
        "*MT5": ("FM5", "VM"),
        "*HLX": ("HAL", "DP1"),
        "*SHO": ("SAE", "CAJ", "ACR", "AC"),
        "*UPA": ("UA", "HUM"),
        "*ELB": ("HLE", "AEL"),
        "*ELM": ("HME", "AEM"),
        "*RSP": ("RSP", "WTS", "RS"),
        "*USP": ("USP", "WPS", "US"),
        "*FIN": ("HM2", "HM3"),
        "*HM2": ("HTS",),
        "*HM5": ("HM5", "HPS"),
        "*FHD": ("AH",),
        "*BHD": ("PH",),
        "*HDS": ("HEAD",),
        "HFRO": ("SGL", "GLABELLA"),
        "C7": ("CV7", "VC7"),
        "T10": ("TV10", "TV8", "T8", "TV7", "MAI", "TV12"),
        "CLAV": ("SJN", "IJ", "SME", "JUG", "INCJ"),
        "STRN": ("SXS", "PX", "XIPH", "XP"),
        "SACR": ("SACR", "S1", "S2", "LV5"),
    },
)

SETS = (IOR,)
