"""A leg: knee, ankle, foot and toes of one side.

Sources
  knee,   half the joint's breadth (and the marker's radius) from the outer marker along the axis about which the joint
  ankle   bends. Breadths as fractions of the stature: W. Ross, N. Wilson (1974), A stratagem for proportional growth
          assessment, Acta Paediatrica Belgica 28, 169-182 (the "phantom": 9.52, 6.68 cm of 170.18).
  foot    its length 0.152 of the stature: Drillis and Contini (1966), as in Winter (2009), fig 4.1; the ankle 0.2255 of
          that in front of the heel: Rajagopal et al. (2016), IEEE Trans. Biomed. Eng. 63(10).

The bending axis is fixed in the thigh: the normal of the plane through the three joints, averaged over the frames in
which the knee is bent. It is turned with the thigh by a marker on it; without one it is found frame by frame. In a
motion where the knee never bends, it is the pelvis's left.
"""

from __future__ import annotations

import numpy as np

from poise.body.segments.proportions import ANKLE_HEIGHT
from poise.body.segments.tables import ANKLE_FROM_HEEL
from poise.motion.markers.body import LETTERS, MARKER_RADIUS, SIGNS, JointEstimator, JointFrame, MarkerBody, follow
from poise.motion.markers.geometry import across, axes_from, bending_axis, into, median_length, unit
from poise.motion.markers.rigid import find_hinge

_KNEE, _ANKLE = 9.52 / 170.18, 6.68 / 170.18  # breadths, of the stature
_FOOT = 0.152  # its length, of the stature
_THIGH = ("THI", "THA", "THB", "THC", "THD", "KNE", "KNM")
_SHANK = ("TIB", "SHA", "SHB", "SHC", "SHD", "FIB", "TUB", "ANK", "ANM")
_ON_THIGH = ("THI", "THA", "THB", "THC", "THD")
_HEEL_HEIGHT = 0.02  # of the stature: the heel's marker over the sole

Knee = tuple[
    np.ndarray, np.ndarray
]  # its centre (F, 3) m and the axis (F, 3), to the body's left, about which it bends


def _given_knee(cast: MarkerBody, hip: np.ndarray, left: np.ndarray, side: str) -> Knee:
    letter = LETTERS[side]
    knee = cast.m[letter + "KJC"]
    ankle = cast.m.get(letter + "AJC")
    ankle = cast.m.get(letter + "ANK") if ankle is None else ankle
    if ankle is None:
        return knee, across(left, hip - knee)
    return knee, bending_axis(knee - hip, ankle - knee, _on_thigh(cast, hip, knee, letter), knee, left)


def _both_sides(cast: MarkerBody, hip: np.ndarray, left: np.ndarray, side: str) -> Knee:
    outer, inner = (cast.m[LETTERS[side] + stem] for stem in ("KNE", "KNM"))
    return 0.5 * (outer + inner), SIGNS[side] * (outer - inner)


def _outer_side(cast: MarkerBody, hip: np.ndarray, left: np.ndarray, side: str) -> Knee | None:
    return _from_one_side(cast, hip, left, side, "KNE", SIGNS[side])


def _inner_side(cast: MarkerBody, hip: np.ndarray, left: np.ndarray, side: str) -> Knee | None:
    return _from_one_side(cast, hip, left, side, "KNM", -SIGNS[side])


def _from_one_side(
    cast: MarkerBody, hip: np.ndarray, left: np.ndarray, side: str, stem: str, outward: float
) -> Knee | None:
    """outward: 1 where the marker is on the joint's left, -1 on its right."""
    letter = LETTERS[side]
    marker = cast.m[letter + stem]
    half = cast.half("Knee", side, _KNEE)
    ankle, beside = _find_shank_end(cast, side)
    if ankle is None:
        axis = across(left, hip - marker)
        return marker - outward * half * axis, axis
    axis = left
    # Thigh x shank is the body's left when the shank is bent back; hip and ankle are moved out as far as the marker is.
    for _ in range(3):
        thigh = marker - (hip + outward * half * axis)
        shank = ankle + (outward * half - beside) * axis - marker
        axis = bending_axis(thigh, shank, _on_thigh(cast, hip, marker, letter), marker, left)
    return marker - outward * half * axis, axis


def _find_shank_end(cast: MarkerBody, side: str) -> tuple[np.ndarray | None, float]:
    """(F, 3) m a point at the ankle, and by how many m it is left of the joint."""
    letter, sign = LETTERS[side], SIGNS[side]
    half = cast.half("Ankle", side, _ANKLE)
    if letter + "AJC" in cast.m:
        return cast.m[letter + "AJC"], 0.0
    if cast.has(letter + "ANK", letter + "ANM"):
        return cast.mean(letter + "ANK", letter + "ANM"), 0.0
    if letter + "ANK" in cast.m:
        return cast.m[letter + "ANK"], sign * half
    if letter + "ANM" in cast.m:
        return cast.m[letter + "ANM"], -sign * half
    return cast.m.get(letter + "HEE"), 0.0


def _on_thigh(cast: MarkerBody, hip: np.ndarray, knee: np.ndarray, letter: str) -> np.ndarray | None:
    """(F, 3) m, of the markers that turn with the thigh the one farthest from its line, or None."""
    there = [cast.m[letter + stem] for stem in _ON_THIGH if letter + stem in cast.m]
    d = unit(knee - hip)

    def reach(p: np.ndarray) -> float:
        return median_length((p - knee) - np.sum((p - knee) * d, axis=1, keepdims=True) * d)

    return max(there, key=reach, default=None)


def _turning(cast: MarkerBody, hip: np.ndarray, left: np.ndarray, side: str) -> Knee | None:
    """From how clusters on thigh and shank turn against each other: the point of the axis nearest to the hip."""
    thigh, shank = cast.cloud(LETTERS[side], _THIGH), cast.cloud(LETTERS[side], _SHANK)
    hinge = None if thigh is None or shank is None else find_hinge(thigh, shank)
    if hinge is None:
        return None
    point, axis = hinge
    axis = axis * np.where(np.median(np.sum(axis * left, axis=1)) < 0, -1.0, 1.0)
    return point + np.sum((hip - point) * axis, axis=1, keepdims=True) * axis, axis


KNEES: tuple[JointEstimator[Knee], ...] = (
    JointEstimator(("*KJC",), _given_knee, "the knee's own point"),
    JointEstimator(("*KNE", "*KNM"), _both_sides, "between the knee's two sides"),
    JointEstimator(("*KNE",), _outer_side, "inwards from the knee's outer side"),
    JointEstimator(("*KNM",), _inner_side, "outwards from the knee's inner side"),
    JointEstimator((), _turning, "how the shank turns against the thigh"),
)


def _given_ankle(cast: MarkerBody, knee: np.ndarray, axis: np.ndarray, side: str) -> np.ndarray:
    return cast.m[LETTERS[side] + "AJC"]


def _between_malleoli(cast: MarkerBody, knee: np.ndarray, axis: np.ndarray, side: str) -> np.ndarray:
    letter = LETTERS[side]
    return np.asarray(0.5 * (cast.m[letter + "ANK"] + cast.m[letter + "ANM"]))


def _from_malleolus(cast: MarkerBody, knee: np.ndarray, axis: np.ndarray, side: str) -> np.ndarray:
    outer = LETTERS[side] + "ANK" in cast.m
    marker = cast.m[LETTERS[side] + ("ANK" if outer else "ANM")]
    outward = SIGNS[side] if outer else -SIGNS[side]
    ankle = marker
    for _ in range(3):
        ankle = marker - outward * cast.half("Ankle", side, _ANKLE) * across(axis, knee - ankle)
    return ankle


def _from_foot(cast: MarkerBody, knee: np.ndarray, axis: np.ndarray, side: str) -> np.ndarray:
    """Above the sole and in front of the heel, as far as in a foot of usual proportions."""
    letter = LETTERS[side]
    heel = cast.m[letter + "HEE"]
    ball = _find_ball(cast, letter)
    ahead = _find_forefoot(cast, letter) if ball is None else ball
    assert ahead is not None
    foot = axes_from(z=ahead - heel, x=axis, first="z")
    up, front = (ANKLE_HEIGHT - _HEEL_HEIGHT) * cast.stature, ANKLE_FROM_HEEL * _FOOT * cast.stature + MARKER_RADIUS
    return np.asarray(heel + up * foot[..., 1] + front * foot[..., 2])


ANKLES: tuple[JointEstimator[np.ndarray], ...] = (
    JointEstimator(("*AJC",), _given_ankle, "the ankle's own point"),
    JointEstimator(("*ANK", "*ANM"), _between_malleoli, "between the malleoli"),
    JointEstimator(("*ANK",), _from_malleolus, "inwards from the outer malleolus"),
    JointEstimator(("*ANM",), _from_malleolus, "outwards from the inner malleolus"),
    *(
        JointEstimator(("*HEE", toe), _from_foot, "heel and toes, by usual proportions")
        for toe in ("*TOE", "*MT5", "*HLX")
    ),
)


def add_leg(cast: MarkerBody, side: str, hip: np.ndarray) -> None:
    """Thigh, shank and foot of one side, as far as the markers go."""
    pelvis = cast.segments["hips"].axes
    found = follow(KNEES, cast.m, side, cast, hip, pelvis[..., 0])
    if found is None:
        return
    (knee, axis), knee_way = found
    thigh = axes_from(y=hip - knee, x=axis, first="y")
    cast.add(side + "UpperLeg", JointFrame("hips", hip, thigh))
    cast.how[side + "UpperLeg"] = cast.how["hips"]
    end = follow(ANKLES, cast.m, side, cast, knee, axis)
    if end is None:
        cast.add(side + "LowerLeg", JointFrame(side + "UpperLeg", knee, thigh), knee_way)
        return
    ankle, ankle_way = end
    shank = axes_from(y=knee - ankle, x=axis, first="y")
    cast.add(side + "LowerLeg", JointFrame(side + "UpperLeg", knee, shank), knee_way)
    _add_foot(cast, side, ankle, shank, ankle_way)


def _find_ball(cast: MarkerBody, letter: str) -> np.ndarray | None:
    """(F, 3) m the forefoot at the metatarsal heads: its own point, the second, or the middle of first and fifth."""
    for stem in ("FJC", "TOE"):
        if letter + stem in cast.m:
            return cast.m[letter + stem]
    return cast.mean(letter + "MT1", letter + "MT5") if cast.has(letter + "MT1", letter + "MT5") else None


def _find_forefoot(cast: MarkerBody, letter: str) -> np.ndarray | None:
    """(F, 3) m any point that shows where the foot points, or None."""
    return next((cast.m[letter + stem] for stem in ("HLX", "MT1", "MT5") if letter + stem in cast.m), None)


def _add_foot(
    cast: MarkerBody, side: str, ankle: np.ndarray, shank: np.ndarray, way: JointEstimator[np.ndarray]
) -> None:
    letter = LETTERS[side]
    ball, heel = _find_ball(cast, letter), cast.m.get(letter + "HEE")
    toe = _find_forefoot(cast, letter) if ball is None else ball
    if toe is None:
        cast.add(side + "Foot", JointFrame(side + "LowerLeg", ankle, shank), way)
        return
    # Heel's and toe's markers are put on at the same height; without a heel its place is guessed below the ankle.
    behind = ankle - 0.02 * cast.stature * shank[..., 1] if heel is None else heel
    left = shank[..., 0]
    if cast.has(letter + "MT1", letter + "MT5"):
        left = SIGNS[side] * (cast.m[letter + "MT5"] - cast.m[letter + "MT1"])
    axes = axes_from(z=toe - behind, x=left, first="z")
    front = np.median(into(axes, toe - ankle), axis=0)
    length = median_length(toe - behind) - MARKER_RADIUS
    # The toe's marker is on the second metatarsal or, in other sets, on the toe itself.
    ahead = max(0.0, _FOOT * cast.stature - length) if heel is not None else 0.05 * cast.stature
    tip = np.array([front[0], front[1] - MARKER_RADIUS, front[2] + ahead])
    end = cast.m.get(letter + "HLX")
    if ball is None or end is None:
        cast.add(side + "Foot", JointFrame(side + "LowerLeg", ankle, axes, tip), way)
        return
    cast.add(side + "Foot", JointFrame(side + "LowerLeg", ankle, axes), way)
    toes = axes_from(z=end - ball, x=axes[..., 0], first="z")
    reach = np.array([0.0, 0.0, median_length(end - ball)])
    cast.add(side + "Toes", JointFrame(side + "Foot", ball, toes, reach))
    cast.how[side + "Toes"] = "the metatarsal heads"
