"""A skeleton and its motion from labelled optical markers on the skin.

    labels -> the markers they stand for -> gaps filled -> axes of each segment from its markers, joint centres inside
    the body from regressions -> bones of constant length (medians) -> rotations

Which markers: those of Plug-in-Gait and its many relatives (Vicon, CMU, ISB and others by alias). Pelvis markers are
needed; legs, trunk, arms and head are built as far as their markers go.

Sources
  hips      M. Harrington et al. (2007), J. Biomechanics 40(3), 595-602: from pelvic width W and depth D, as seen from
            the middle of the front spines: 0.24 D + 9.9 mm behind, 0.30 W + 10.9 mm below, 0.33 W + 7.3 mm aside.
  knee,     half the joint's breadth (and the marker's radius) from the outer marker along the axis about which the
  ankle,    joint bends. Breadths as fractions of the stature: W. Ross, N. Wilson (1974), A stratagem for proportional
  elbow     growth assessment, Acta Paediatrica Belgica 28, 169-182 (the "phantom": 9.52, 6.68, 6.48 cm of 170.18).
  shoulder, M. Reed, M. Manary, L. Schneider (1999), SAE 1999-01-0959: from C7's and the breastbone's markers, depth d:
  neck      shoulder 0.42 d from the acromion's marker, 67 degrees below the way to the front; C7/T1 0.55 d in front of
            C7's marker (their 8 degrees of slope left out).
  pelvis    the plane through the four spines is tilted forward by 11.3 degrees when standing: D. Levine, M. Whittle
            (1996), J. Orthopaedic and Sports Physical Therapy 24(3), 130-135.
Where nothing is cited, a number is a plain estimate; those move a joint by a centimetre or two.

The bending axis of knee and elbow is fixed in the upper segment: the normal of the plane through the three joints,
averaged over the frames in which the joint is bent. It is turned with the segment by a marker on it (thigh, upper arm);
without one it is found frame by frame. In a motion where the joint never bends, it is as in a T-pose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from poise.body.proportions import ANKLE_HEIGHT, HIP_HEIGHT, SKULL_BELOW_VERTEX
from poise.body.roles import BODY_ROLES, SIDES
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.spatial import rotation

# Plug-in-Gait's name without its side -> other names for it, as `clean_label` gives them.
SIDED: Mapping[str, tuple[str, ...]] = {
    "ASI": ("ASIS", "FWT", "IAS", "FWST"),
    "PSI": ("PSIS", "BWT", "IPS", "BWST"),
    "THI": ("THIGH", "THGH"),
    "KNE": ("KNEE", "KNL", "KNEL", "KNEELAT", "LKNE", "FLE", "KNEO", "KNEOUT"),
    "KNM": ("KNEM", "KNEEMED", "MKNE", "FME", "KNI", "KNEEIN", "MEDKNEE", "KMED"),
    "TIB": ("SHN", "SHIN", "SHANK"),
    "ANK": ("ANKLE", "ANL", "ANKL", "ANKLELAT", "FAL", "LM", "LMAL", "ANKOUT"),
    "ANM": ("ANKM", "ANKLEMED", "MED", "TAM", "MM", "MMAL", "ANKIN"),
    "HEE": ("HEEL", "FCC", "CAL"),
    "TOE": ("MT2", "FM2", "TOE2", "TOES"),
    "SHO": ("SHOULDER", "ACR", "ACROMION", "SAE", "SHLD"),
    "UPA": ("UPARM", "UPPERARM"),
    "ELB": ("ELBOW", "ELBL", "HLE", "ELBOWLAT", "ELBOUT"),
    "ELM": ("ELBM", "MELB", "HME", "ELBOWMED", "ELBIN"),
    "WRA": ("WRIA", "WRISTA", "WRT", "IWR"),
    "WRB": ("WRIB", "WRISTB", "WRP", "OWR"),
    "RSP": ("WRISTRAD", "WRR"),
    "USP": ("WRISTULN", "WRU"),
    "WRI": ("WRIST",),
    "FIN": ("HAND", "HM2", "HM3", "KNU"),
    "FHD": ("FHEAD", "FRONTHEAD", "HEADF"),
    "BHD": ("BHEAD", "BACKHEAD", "HEADB"),
}
MIDDLE: Mapping[str, tuple[str, ...]] = {
    "C7": ("CV7", "C7S", "VC7"),
    "T10": ("TV10", "T8", "TV8"),
    "CLAV": ("CLA", "SJN", "IJ", "JUG", "STRNUP"),
    "STRN": ("STER", "SXS", "XIPH", "PX", "STERNUM"),
    "SACR": ("SAC", "SACRUM", "VSACR"),
}

_LETTERS = {"left": "L", "right": "R"}
_SIGNS = {"left": 1.0, "right": -1.0}
_PELVIS = ("LASI", "RASI", "LPSI", "RPSI")

_KNEE, _ANKLE, _ELBOW = 9.52 / 170.18, 6.68 / 170.18, 6.48 / 170.18  # breadths, of the stature
_WRIST = 0.024  # its depth, back to palm, of the stature (a plain estimate)
_FOOT = 0.152  # its length, of the stature: Drillis and Contini (1966), as in Winter (2009), fig 4.1
_MARKER_RADIUS = 0.007  # m: the usual ball of 14 mm
_PELVIC_TILT = np.radians(11.3)
_LEG = 0.523  # of the stature: front spine to ankle along the leg (a plain estimate)
_HAND = 0.55  # of the hand's length: wrist to the knuckle's marker
_STATURES = (0.5, 2.5)  # m, that a body from markers may have
_UPRIGHT = np.cos(np.radians(30.0))
_LARGEST_TILT = np.radians(35.0)
LONGEST_GAP = 0.2  # s: a longer one is filled too, but said
_BENT = np.sin(np.radians(15.0))
_FEWEST_BENT = 10  # frames


@dataclass(frozen=True, eq=False)
class MarkerMotion:
    """What markers gave.

    clip      in the markers' metres, Y up; joints have canonical names, each its own role
    centers   joint -> (F, 3) m, centre as the markers give it, before the bones were made constant
    used      markers that were used, by their standard names
    gaps      marker -> s, its longest gap, where it has any
    warnings  what was odd, a sentence each
    """

    clip: Clip
    centers: Mapping[str, np.ndarray]
    used: tuple[str, ...]
    gaps: Mapping[str, float]
    warnings: tuple[str, ...]


def clean_label(label: str) -> str:
    """A label without its subject's prefix, blanks and marks, in capitals: `Takeo:L_Knee` to LKNEE."""
    return "".join(c for c in label.rpartition(":")[2].upper() if c.isalnum())


def find_markers(labels: Sequence[str]) -> dict[str, int]:
    """Standard name -> index of the label that means it. Each label means one marker; exact names win over aliases."""
    meaning: dict[str, str] = {}
    for rank in range(2):
        for name, others in MIDDLE.items():
            for alias in (name,) if rank == 0 else others:
                meaning.setdefault(alias, name)
        for letter, word in (("L", "LEFT"), ("R", "RIGHT")):
            for name, others in SIDED.items():
                for alias in (name,) if rank == 0 else (name, *others):
                    for spelled in (letter + alias, word + alias, alias + letter, alias + word):
                        meaning.setdefault(spelled, letter + name)
    found: dict[str, int] = {}
    cleaned = [clean_label(label) for label in labels]
    for exact in (True, False):
        for i, label in enumerate(cleaned):
            marker = meaning.get(label)
            if marker is not None and (label == marker) == exact:
                found.setdefault(marker, i)
    return found


def fit_markers(
    labels: Sequence[str],
    times: np.ndarray,
    positions: np.ndarray,
    measures: Mapping[str, float] | None = None,
    name: str = "",
) -> MarkerMotion:
    """The motion of the person who wears the markers.

    labels     (M) as recorded
    times      (F,) s
    positions  (F, M, 3) m, Y up, NaN where a marker was not seen
    measures   what is known of the body: `height`, `leftKnee`, `rightAnkle`, `leftElbow`, ... breadths, in metres
    """
    found = find_markers(labels)
    seen = {marker: i for marker, i in found.items() if np.isfinite(positions[:, i]).all(axis=-1).any()}
    _check_pelvis(seen)
    markers, gaps = _fill_gaps({marker: positions[:, i] for marker, i in seen.items()}, times)
    body = _Body(markers, dict(measures or {}))
    clip = body.build_clip(times, name)
    warnings = []
    long = {marker: gap for marker, gap in gaps.items() if gap > LONGEST_GAP}
    if long:
        worst = ", ".join(f"{m} {gap:.2f} s" for m, gap in sorted(long.items(), key=lambda item: -item[1])[:6])
        warnings.append(
            f"markers were unseen for longer than {LONGEST_GAP} s ({worst}{', ...' if len(long) > 6 else ''}); "
            "the motion there is interpolated."
        )
    elif gaps:
        warnings.append(f"gaps of up to {max(gaps.values()):.2f} s in {len(gaps)} markers were filled.")
    return MarkerMotion(clip, body.centers, tuple(markers), gaps, tuple(warnings))


def _check_pelvis(seen: Iterable[str]) -> None:
    if {"LASI", "RASI"} <= set(seen) and ({"LPSI", "RPSI"} <= set(seen) or "SACR" in seen):
        return
    missing = [marker for marker in _PELVIS if marker not in seen]
    raise InputError(
        f"no skeleton can be built without the pelvis: markers {', '.join(missing)} (or SACR for LPSI and RPSI) are "
        "not among the labels. Rename the pelvis's markers to these."
    )


def _fill_gaps(markers: dict[str, np.ndarray], times: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Every marker at every time, and the longest gap of each that had one, in s.

    A marker is interpolated relative to the middle of the body, so that one that is lost while the body travels travels
    with it; at the ends it is held there.
    """
    from scipy.interpolate import PchipInterpolator

    known = {marker: np.isfinite(p).all(axis=1) for marker, p in markers.items()}
    whole = [marker for marker in markers if known[marker].all()] or list(markers)
    rough = [
        np.stack([np.interp(times, times[known[m]], markers[m][known[m], k]) for k in range(3)], axis=1) for m in whole
    ]
    middle = np.mean(rough, axis=0)
    filled, gaps = {}, {}
    for marker, p in markers.items():
        there = known[marker]
        if there.all():
            filled[marker] = p
            continue
        relative = p[there] - middle[there]
        inside = np.clip(times, times[there][0], times[there][-1])
        curve = PchipInterpolator(times[there], relative)(inside) if there.sum() > 1 else relative
        filled[marker] = np.where(there[:, None], p, middle + curve)
        gaps[marker] = _longest_gap(there, times)
    return filled, gaps


def _longest_gap(there: np.ndarray, times: np.ndarray) -> float:
    """s, of the longest run of frames without the marker."""
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    runs = np.diff(np.flatnonzero(np.concatenate([[True], there, [True]]))) - 1
    return float(runs.max()) * step


@dataclass(frozen=True, eq=False)
class _Segment:
    """A joint with its segment: where it is, its axes, and its parent's joint."""

    parent: str | None
    center: np.ndarray  # (F, 3) m
    axes: np.ndarray  # (F, 3, 3) columns: the body's left, up and front as the segment carries them
    tip: np.ndarray | None = None  # (3,) m in those axes


class _Body:
    """Segments from markers, the pelvis first."""

    def __init__(self, markers: dict[str, np.ndarray], measures: dict[str, float]):
        self.m = markers
        self.measures = measures
        self.segments: dict[str, _Segment] = {}
        self.stature = self._estimate_stature()
        self._add_pelvis()
        for side in SIDES:
            self._add_leg(side)
        if self._add_trunk():
            for side in SIDES:
                self._add_arm(side)
            self._add_head()

    @property
    def centers(self) -> dict[str, np.ndarray]:
        return {role: segment.center for role, segment in self.segments.items()}

    def build_clip(self, times: np.ndarray, name: str) -> Clip:
        """Bones of constant length, and the rotations that lay them along the segments."""
        names = tuple(role for role in BODY_ROLES if role in self.segments)
        offsets, tips, parents = [], [], []
        for role in names:
            segment = self.segments[role]
            if segment.parent is None:
                parents.append(-1)
                offsets.append(np.array([0.0, self._rest_height(), 0.0]))
            else:
                parents.append(names.index(segment.parent))
                above = self.segments[segment.parent]
                offsets.append(np.median(_into(above.axes, segment.center - above.center), axis=0))
            tips.append(np.full(3, np.nan) if segment.tip is None else segment.tip)
        skeleton = Skeleton(names, np.array(parents), np.array(offsets), np.array(tips), {n: n for n in names})
        world = np.stack([rotation.from_matrix(self.segments[role].axes) for role in names], axis=1)
        local = world.copy()
        local[:, 1:] = rotation.multiply(rotation.conjugate(world[:, parents[1:]]), world[:, 1:])
        return Clip(skeleton, times, self.segments["hips"].center, local, name)

    def _rest_height(self) -> float:
        """m, the hips above the soles in the rest pose."""
        legs = [
            sum(self._length(side + a, side + b) for a, b in (("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot")))
            for side in SIDES
            if side + "Foot" in self.segments
        ]
        return max(legs) + ANKLE_HEIGHT * self.stature if legs else HIP_HEIGHT * self.stature

    def _length(self, start: str, end: str) -> float:
        """m between two joints, the median."""
        return float(np.median(np.linalg.norm(self.segments[start].center - self.segments[end].center, axis=1)))

    def _estimate_stature(self) -> float:
        """m: given, or from the length of the legs' markers, or 1.7."""
        given = self.measures.get("height")
        if given is not None and _STATURES[0] <= given <= _STATURES[1]:
            return given
        legs = []
        for letter in _LETTERS.values():
            chain = [self.m.get(letter + stem) for stem in ("ASI", "KNE", "ANK")]
            if all(p is not None for p in chain):
                hip, knee, ankle = (p for p in chain if p is not None)
                legs.append(np.median(np.linalg.norm(hip - knee, axis=1) + np.linalg.norm(knee - ankle, axis=1)))
        stature = float(np.mean(legs)) / _LEG if legs else 1.7
        if not _STATURES[0] <= stature <= _STATURES[1]:
            raise InputError(
                f"the markers of the legs belong to a body {stature:.3g} m tall; "
                f"{_STATURES[0]:g} to {_STATURES[1]:g} m are possible. Is the unit right?"
            )
        return stature

    def _half(self, joint: str, side: str, fraction: float) -> float:
        """m from a joint's outer marker to its centre."""
        breadth = self.measures.get(side + joint, fraction * self.stature)
        return 0.5 * breadth + _MARKER_RADIUS

    def _add_pelvis(self) -> None:
        left, right = self.m["LASI"], self.m["RASI"]
        back = 0.5 * (self.m["LPSI"] + self.m["RPSI"]) if {"LPSI", "RPSI"} <= self.m.keys() else self.m["SACR"]
        front = 0.5 * (left + right)
        plane = _axes(x=left - right, z=front - back, first="x")
        width = float(np.median(np.linalg.norm(left - right, axis=1)))
        depth = float(np.median(np.linalg.norm(front - back, axis=1)))
        self.hip_joints = {}
        for side, sign in _SIGNS.items():
            # [Harrington], in mm there
            local = np.array([sign * (0.33 * width + 0.0073), -0.30 * width - 0.0109, -0.24 * depth - 0.0099])
            self.hip_joints[side] = front + plane @ local
        tilt = rotation.to_matrix(rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), -_PELVIC_TILT))
        axes = plane @ tilt
        center = 0.5 * (self.hip_joints["left"] + self.hip_joints["right"])
        self.segments["hips"] = _Segment(None, center, axes)
        # L5/S1: a third of the pelvis's depth in front of the back spines, a little above them.
        local = np.array([0.0, 0.03 * self.stature, 0.33 * depth])
        self.lumbar = back + axes @ local

    def _add_leg(self, side: str) -> None:
        letter, sign = _LETTERS[side], _SIGNS[side]
        knee, ankle = self.m.get(letter + "KNE"), self.m.get(letter + "ANK")
        if knee is None or ankle is None:
            return
        hip, pelvis = self.hip_joints[side], self.segments["hips"].axes
        half = self._half("Knee", side, _KNEE)
        medial = self.m.get(letter + "KNM")
        if medial is not None:
            knee_joint, axis = 0.5 * (knee + medial), sign * (knee - medial)
        else:
            # Thigh x shank is the body's left when the shank is bent back; hip and ankle are moved out
            # as far as the marker is.
            axis = pelvis[..., 0]
            for _ in range(3):
                thigh = knee - (hip + sign * half * axis)
                shank = ankle + sign * (half - self._half("Ankle", side, _ANKLE)) * axis - knee
                axis = _bending_axis(thigh, shank, self.m.get(letter + "THI"), knee, pelvis[..., 0])
            knee_joint = knee - sign * half * axis
        ankle_medial = self.m.get(letter + "ANM")
        if ankle_medial is not None:
            ankle_joint = 0.5 * (ankle + ankle_medial)
        else:
            ankle_joint = ankle
            for _ in range(3):
                across = _across(axis, knee_joint - ankle_joint)
                ankle_joint = ankle - sign * self._half("Ankle", side, _ANKLE) * across
        thigh_axes = _axes(y=hip - knee_joint, x=axis, first="y")
        shank_axes = _axes(y=knee_joint - ankle_joint, x=axis, first="y")
        self.segments[side + "UpperLeg"] = _Segment("hips", hip, thigh_axes)
        self.segments[side + "LowerLeg"] = _Segment(side + "UpperLeg", knee_joint, shank_axes)
        self._add_foot(side, ankle_joint, shank_axes)

    def _add_foot(self, side: str, ankle: np.ndarray, shank: np.ndarray) -> None:
        letter = _LETTERS[side]
        toe, heel = self.m.get(letter + "TOE"), self.m.get(letter + "HEE")
        if toe is None:
            self.segments[side + "Foot"] = _Segment(side + "LowerLeg", ankle, shank)
            return
        # Heel's and toe's markers are put on at the same height; without a heel its place is guessed below the ankle.
        behind = ankle - 0.02 * self.stature * shank[..., 1] if heel is None else heel
        axes = _axes(z=toe - behind, x=shank[..., 0], first="z")
        ball = np.median(_into(axes, toe - ankle), axis=0)
        length = float(np.median(np.linalg.norm(toe - behind, axis=1))) - _MARKER_RADIUS
        # The toe's marker is on the second metatarsal or, in other sets, on the toe itself.
        ahead = max(0.0, _FOOT * self.stature - length) if heel is not None else 0.05 * self.stature
        tip = np.array([ball[0], ball[1] - _MARKER_RADIUS, ball[2] + ahead])
        self.segments[side + "Foot"] = _Segment(side + "LowerLeg", ankle, axes, tip)

    def _mean(self, *names: str) -> np.ndarray | None:
        """(F, 3) the middle of those of these markers that are there, or None."""
        there = [self.m[name] for name in names if name in self.m]
        return np.mean(there, axis=0) if there else None

    def _add_trunk(self) -> bool:
        """spine, chest and neck; False where the markers do not give them."""
        top, front, back = self._mean("C7", "CLAV"), self._mean("CLAV", "STRN"), self._mean("C7", "T10")
        low = self._mean("T10", "STRN")
        if top is None:
            return False
        pelvis = self.segments["hips"]
        up = top - (pelvis.center if low is None else low)
        if front is not None and back is not None:
            ahead = front - back
        elif {"LSHO", "RSHO"} <= self.m.keys():
            ahead = np.cross(self.m["LSHO"] - self.m["RSHO"], up)
        else:
            ahead = pelvis.axes[..., 2]
        axes = _axes(y=up, z=ahead, first="y")
        self.depth = 0.07 * self.stature
        if {"C7", "CLAV"} <= self.m.keys():
            self.depth = float(np.median(np.linalg.norm(self.m["CLAV"] - self.m["C7"], axis=1)))
            neck = self.m["C7"] + 0.55 * (self.m["CLAV"] - self.m["C7"])
        else:
            sign = 0.55 if "C7" in self.m else -0.45
            neck = top + sign * self.depth * axes[..., 2]
        if {"T10", "STRN"} <= self.m.keys():
            chest = 0.65 * self.m["T10"] + 0.35 * self.m["STRN"]
        else:
            chest = neck - 0.16 * self.stature * axes[..., 1]
        between = pelvis.axes[..., 0] + axes[..., 0]
        spine_axes = _axes(y=chest - self.lumbar, x=between, first="y")
        self.segments["spine"] = _Segment("hips", self.lumbar, spine_axes)
        self.segments["chest"] = _Segment("spine", chest, axes)
        self.segments["neck"] = _Segment("chest", neck, axes)
        return True

    def _add_arm(self, side: str) -> None:
        letter, sign = _LETTERS[side], _SIGNS[side]
        acromion = self.m.get(letter + "SHO")
        if acromion is None:
            return
        chest, neck = self.segments["chest"].axes, self.segments["neck"].center
        down = np.radians(67.0)  # [Reed]
        shoulder = acromion + chest @ (0.42 * self.depth * np.array([0.0, -np.sin(down), np.cos(down)]))
        breastbone = self.m.get("CLAV", neck)
        collar = breastbone + chest @ np.array([sign * 0.012 * self.stature, 0.0, -0.01 * self.stature])
        self.segments[side + "Shoulder"] = _Segment(
            "chest", collar, _axes(x=sign * (shoulder - collar), y=chest[..., 1], first="x")
        )
        elbow = self.m.get(letter + "ELB")
        if elbow is None:
            return
        wrist = self._find_wrist(side, elbow)
        # From a T-pose the arm goes the shortest way to where it is, and takes the upward direction with it.
        swing = rotation.between(sign * chest[..., 0], elbow - shoulder)
        upward = rotation.rotate(swing, chest[..., 1])
        medial = self.m.get(letter + "ELM")
        if medial is not None:
            elbow_joint, axis = 0.5 * (elbow + medial), elbow - medial
        elif wrist is None:
            axis = _across(upward, elbow - shoulder)
            elbow_joint = elbow - self._half("Elbow", side, _ELBOW) * axis
        else:
            # Upper arm x forearm points down on the left, up on the right, when the elbow is bent forward.
            half, axis = self._half("Elbow", side, _ELBOW), upward
            for _ in range(3):
                arm = elbow - (shoulder + half * axis)
                forearm = wrist + half * axis - elbow
                axis = _bending_axis(arm, forearm, self.m.get(letter + "UPA"), elbow, upward, -sign)
            elbow_joint = elbow - half * axis
        arm_axes = _axes(x=sign * (elbow_joint - shoulder), y=axis, first="x")
        self.segments[side + "UpperArm"] = _Segment(side + "Shoulder", shoulder, arm_axes)
        if wrist is None:
            self.segments[side + "LowerArm"] = _Segment(side + "UpperArm", elbow_joint, arm_axes)
            return
        forearm = _axes(x=sign * (wrist - elbow_joint), y=axis, first="x")
        self.segments[side + "LowerArm"] = _Segment(side + "UpperArm", elbow_joint, forearm)
        self._add_hand(side, wrist, forearm)

    def _thumbward(self, letter: str) -> np.ndarray | None:
        """(F, 3) across the wrist to the thumb's side, or None."""
        for thumb, little in (("RSP", "USP"), ("WRA", "WRB")):
            if {letter + thumb, letter + little} <= self.m.keys():
                return self.m[letter + thumb] - self.m[letter + little]
        return None

    def _find_wrist(self, side: str, elbow: np.ndarray) -> np.ndarray | None:
        """(F, 3) between the styloid processes, or below the pair of markers on the wrist's back."""
        letter, sign = _LETTERS[side], _SIGNS[side]
        middle = self._mean(letter + "RSP", letter + "USP")
        if middle is not None:
            return middle
        middle = self._mean(letter + "WRA", letter + "WRB")
        thumbward = self._thumbward(letter)
        if middle is None or thumbward is None:
            return self.m.get(letter + "WRI", middle)
        back = _axes(x=sign * (middle - elbow), z=thumbward, first="x")[..., 1]
        return middle - self._half("Wrist", side, _WRIST) * back

    def _add_hand(self, side: str, wrist: np.ndarray, forearm: np.ndarray) -> None:
        letter, sign = _LETTERS[side], _SIGNS[side]
        along, tip = sign * forearm[..., 0], np.array([sign * 0.108 * self.stature, 0.0, 0.0])
        knuckle = self.m.get(letter + "FIN")
        if knuckle is not None:
            along = knuckle - wrist
            tip = np.array([sign * float(np.median(np.linalg.norm(along, axis=1))) / _HAND, 0.0, 0.0])
        thumbward = self._thumbward(letter)
        if thumbward is not None:
            axes = _axes(x=sign * along, z=thumbward, first="x")
        else:
            axes = _axes(x=sign * along, y=forearm[..., 1], first="x")
        self.segments[side + "Hand"] = _Segment(side + "LowerArm", wrist, axes, tip)

    def _add_head(self) -> None:
        names = ("LFHD", "RFHD", "LBHD", "RBHD")
        here = {name: self.m[name] for name in names if name in self.m}
        if len(here) < 3:
            return
        if len(here) == 3:  # the fourth corner of the parallelogram
            (missing,) = (name for name in names if name not in here)
            opposite = names[3 - names.index(missing)]
            here[missing] = sum((p for name, p in here.items() if name != opposite), -here[opposite])
        left_front, right_front, left_back, right_back = (here[name] for name in names)
        axes = _axes(
            x=left_front + left_back - right_front - right_back,
            z=left_front + right_front - left_back - right_back,
            first="x",
        )
        axes = axes @ self._find_band_tilt(axes)
        band = 0.25 * (left_front + right_front + left_back + right_back)
        # The band lies about 0.03 of the stature above the ear canals, between which the skull turns.
        head = band - 0.03 * self.stature * axes[..., 1]
        neck = self.segments["neck"]
        neck_axes = _axes(y=head - neck.center, x=neck.axes[..., 0] + axes[..., 0], first="y")
        self.segments["neck"] = _Segment(neck.parent, neck.center, neck_axes)
        tip = np.array([0.0, SKULL_BELOW_VERTEX * self.stature, 0.0])
        self.segments["head"] = _Segment("neck", head, axes, tip)

    def _find_band_tilt(self, band: np.ndarray) -> np.ndarray:
        """(3, 3) from the head's axes to those of its markers, which sit higher in front or behind.

        People who stand look straight ahead in the median; where nobody stands, nothing is known and nothing is done.
        """
        upright = self.segments["chest"].axes[:, 1, 1] > _UPRIGHT
        if not upright.any():
            return np.eye(3)
        raised = np.median(np.arcsin(np.clip(band[upright, 1, 2], -1.0, 1.0)))
        tilt = float(np.clip(raised, -_LARGEST_TILT, _LARGEST_TILT))
        return rotation.to_matrix(rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), tilt))


def _into(axes: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (F, 3) in axes (F, 3, 3) whose columns are given in the world."""
    return np.einsum("fij,fi->fj", axes, vectors)


def _unit(v: np.ndarray) -> np.ndarray:
    """(F, 3) directions; a vector of no length takes its neighbours' place by the caller's weights, and is 0 here."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return v / np.where(length > 1e-9, length, 1.0)


def _across(v: np.ndarray, along: np.ndarray) -> np.ndarray:
    """(F, 3) unit: the part of v that is normal to `along`."""
    d = _unit(along)
    return _unit(v - np.sum(v * d, axis=-1, keepdims=True) * d)


def _axes(
    first: str, x: np.ndarray | None = None, y: np.ndarray | None = None, z: np.ndarray | None = None
) -> np.ndarray:
    """(F, 3, 3) columns left, up, front from two of the three directions; the `first` is kept as it is.

    Where two directions are parallel the axes are undefined; those frames take the nearest before or after them.
    """
    given = {key: value for key, value in (("x", x), ("y", y), ("z", z)) if value is not None}
    main = _unit(given.pop(first))
    ((second, direction),) = given.items()
    other = _across(direction, main)
    columns = {first: main, second: other}
    (third,) = {"x", "y", "z"} - set(columns)
    before, after = {"x": ("y", "z"), "y": ("z", "x"), "z": ("x", "y")}[third]
    columns[third] = np.cross(columns[before], columns[after])
    axes = np.stack([columns["x"], columns["y"], columns["z"]], axis=-1)
    good = np.abs(np.linalg.det(axes) - 1.0) < 1e-6
    return axes if good.all() else axes[_nearest(good)] if good.any() else np.tile(np.eye(3), (len(axes), 1, 1))


def _nearest(good: np.ndarray) -> np.ndarray:
    """(F,) index of each frame itself where it is good, else of the good frame nearest to it."""
    there = np.flatnonzero(good)
    frames = np.arange(len(good))
    after = np.clip(np.searchsorted(there, frames), 0, len(there) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.abs(there[before] - frames) < np.abs(there[after] - frames)
    return np.asarray(np.where(nearer, there[before], there[after]))


def _bending_axis(
    upper: np.ndarray,
    lower: np.ndarray,
    on_segment: np.ndarray | None,
    hinge: np.ndarray,
    fallback: np.ndarray,
    sign: float = 1.0,
) -> np.ndarray:
    """(F, 3) unit: sign times the axis upper x lower about which a hinge bends, normal to the upper segment.

    upper, lower  (F, 3) m, along the two segments
    on_segment    (F, 3) m, a marker on the upper segment that turns with it, or None
    hinge         (F, 3) m, the hinge's marker
    fallback      (F, 3) the axis where the hinge is straight
    """
    along = _unit(upper)
    normal = sign * np.cross(along, _unit(lower))
    bend = np.linalg.norm(normal, axis=-1)
    straight = _across(fallback, along)
    if on_segment is None:
        # Trust in the plane grows with the bend; 15 degrees count as much as the fallback.
        return _across(normal + _BENT * straight, along)
    reference = _across(on_segment - hinge, along)
    aside = np.cross(along, reference)
    source = normal if np.sum(bend > _BENT) >= _FEWEST_BENT else straight
    weight = np.where(bend > _BENT, 1.0, 0.0)[:, None] if source is normal else 1.0
    # The axis is at one angle from the marker's direction, about the segment: the mean over the frames, as a vector.
    c = float(np.sum(weight * source * reference))
    s = float(np.sum(weight * source * aside))
    length = np.hypot(c, s)
    if length < 1e-9:
        return straight
    return _across((c * reference + s * aside) / length, along)
