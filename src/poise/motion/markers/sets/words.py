"""Labels that say in words where the marker is, as people invent them: LeftKneeLateral, Medial_Malleolus_R, heel L.

Source: anatomy's own words for the places of the sets above, and their usual abbreviations.
"""

from __future__ import annotations

from poise.motion.markers.sets.table import MarkerSet


def _both(place: str, *words: str) -> tuple[str, ...]:
    """A place's words before and after the thing: LATERALKNEE and KNEELATERAL."""
    sides = {
        "outer": ("LATERAL", "LAT", "OUTER", "OUTSIDE", "OUT"),
        "inner": ("MEDIAL", "MED", "INNER", "INSIDE", "IN"),
    }
    return tuple(spelled for word in words for side in sides[place] for spelled in (side + word, word + side))


PLAIN = MarkerSet(
    "plain words",
    "anatomy's words",
    {
        "*ASI": ("ASIS", "ANTERIORSUPERIORILIACSPINE", "FRONTHIP", "HIPFRONT", "FRONTWAIST", "WAISTFRONT"),
        "*PSI": ("PSIS", "POSTERIORSUPERIORILIACSPINE", "BACKHIP", "HIPBACK", "BACKWAIST", "WAISTBACK"),
        "*ICR": ("ICR", "ILIACCREST", "CREST"),
        "*GTR": ("GTR", "TRO", "TROC", "TROCHANTER", "GREATERTROCHANTER", "HIP"),
        "SACR": ("SACRUM", "SACRAL", "MIDPSIS", "LUMBOSACRAL"),
        "*KNE": _both("outer", "KNEE", "FEMORALEPICONDYLE", "FEMORALCONDYLE", "EPICONDYLE", "CONDYLE", "FEM"),
        "*KNM": _both("inner", "KNEE", "FEMORALEPICONDYLE", "FEMORALCONDYLE", "EPICONDYLE", "CONDYLE", "FEM"),
        "*ANK": _both("outer", "ANKLE", "MALLEOLUS", "MAL"),
        "*ANM": _both("inner", "ANKLE", "MALLEOLUS", "MAL"),
        "*HEE": ("HEEL", "CALCANEUS"),
        "*TOE": ("TOE", "METATARSAL2", "2NDMETATARSAL", "SECONDMETATARSAL", "META2", "2META", "FOREFOOT"),
        "*MT1": ("METATARSAL1", "1STMETATARSAL", "FIRSTMETATARSAL", "META1", "1META", "MTH1", "MET1"),
        "*MT5": ("METATARSAL5", "5THMETATARSAL", "FIFTHMETATARSAL", "META5", "5META", "MTH5", "MET5"),
        "*HLX": ("BIGTOE", "TOETIP", "GREATTOE"),
        "*SHO": ("SHOULDER", "ACROMION", "ACROMIUM"),
        "*ELB": ("ELBOW", *_both("outer", "ELBOW", "HUMERALEPICONDYLE")),
        "*ELM": _both("inner", "ELBOW", "HUMERALEPICONDYLE"),
        "*RSP": ("RADIALSTYLOID", "RADIUS", "WRISTRADIAL", "WRISTRAD", "RADIALWRIST", "WRISTTHUMB", "WRR", "RAD"),
        "*USP": ("ULNARSTYLOID", "ULNA", "WRISTULNAR", "WRISTULN", "ULNARWRIST", "WRISTPINKY", "WRU", "ULN"),
        "*FIN": ("HAND", "KNUCKLE", "METACARPAL3", "METACARPAL2"),
        "HTOP": ("HEADTOP", "TOPHEAD", "VERTEX", "TOPOFHEAD"),
        "HFRO": ("FOREHEAD", "HEADFRONT"),
        "C7": ("CERVICAL7", "7THCERVICAL", "NECKBACK"),
        "T10": ("THORACIC10", "T8", "THORACIC8"),
        "CLAV": ("CLAVICLE", "JUGULARNOTCH", "SUPRASTERNALNOTCH", "MANUBRIUM", "STRNUP", "STERNUMTOP"),
        "STRN": ("STERNUM", "XIPHOID", "XIPHOIDPROCESS", "STERNUMBOTTOM"),
    },
)

SETS = (PLAIN,)
