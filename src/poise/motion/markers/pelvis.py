"""The pelvis: its axes, both hip joints, and where the spine begins.

Sources
  hips    M. Harrington et al. (2007), J. Biomechanics 40(3), 595-602: from pelvic width W and depth D, as seen from the
          middle of the front spines: 0.24 D + 9.9 mm behind, 0.30 W + 10.9 mm below, 0.33 W + 7.3 mm aside.
          From the greater trochanters: a quarter of the way between them, J. Weinhandl, K. O'Connor (2010), J.
          Biomechanics 43(13), 2633-2636.
  tilt    the plane through the four spines is tilted forward by 11.3 degrees when standing: D. Levine, M. Whittle
          (1996), J. Orthopaedic and Sports Physical Therapy 24(3), 130-135.
  L5/S1   a third of the pelvis's depth in front of the back spines and a little above them; from the hips alone 0.06 of
          the stature above their middle (plain estimates).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.motion.markers.body import LETTERS, SIGNS, JointEstimator, JointFrame, MarkerBody, follow
from poise.motion.markers.geometry import axes_from, median_length, unit
from poise.spatial import rotation

_TILT = np.radians(11.3)
_LUMBAR = 0.06  # of the stature, above mid-hip


@dataclass(frozen=True, eq=False)
class Pelvis:
    """axes (F, 3, 3), the hip joints by side (F, 3) m, and the joint L5/S1 (F, 3) m."""

    axes: np.ndarray
    hips: dict[str, np.ndarray]
    lumbar: np.ndarray


def _from_spines(cast: MarkerBody, left: np.ndarray, right: np.ndarray, back: np.ndarray) -> Pelvis:
    front = 0.5 * (left + right)
    plane = axes_from(x=left - right, z=front - back, first="x")
    width, depth = median_length(left - right), median_length(front - back)
    hips = {}
    for side, sign in SIGNS.items():
        # [Harrington], in mm there
        local = np.array([sign * (0.33 * width + 0.0073), -0.30 * width - 0.0109, -0.24 * depth - 0.0099])
        hips[side] = front + plane @ local
    axes = plane @ rotation.to_matrix(rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), -_TILT))
    local = np.array([0.0, 0.03 * cast.stature, 0.33 * depth])
    return Pelvis(axes, hips, back + axes @ local)


def _four_spines(cast: MarkerBody) -> Pelvis:
    m = cast.m
    return _from_spines(cast, m["LASI"], m["RASI"], 0.5 * (m["LPSI"] + m["RPSI"]))


def _sacrum(cast: MarkerBody) -> Pelvis:
    return _from_spines(cast, cast.m["LASI"], cast.m["RASI"], cast.m["SACR"])


def _one_back_spine(cast: MarkerBody) -> Pelvis:
    """The other back spine is its mirror image, so that their middle is what is left without its way aside."""
    left, right = cast.m["LASI"], cast.m["RASI"]
    back = cast.m["LPSI"] if "LPSI" in cast.m else cast.m["RPSI"]
    front, x = 0.5 * (left + right), unit(left - right)
    aside = np.sum((back - front) * x, axis=1, keepdims=True) * x
    return _from_spines(cast, left, right, back - aside)


def _one_front_spine(cast: MarkerBody) -> Pelvis:
    """The other front spine is its mirror image in the plane between the back spines."""
    middle = 0.5 * (cast.m["LPSI"] + cast.m["RPSI"])
    x = unit(cast.m["LPSI"] - cast.m["RPSI"])
    here = cast.m["LASI"] if "LASI" in cast.m else cast.m["RASI"]
    other = here - 2.0 * np.sum((here - middle) * x, axis=1, keepdims=True) * x
    left, right = (here, other) if "LASI" in cast.m else (other, here)
    return _from_spines(cast, left, right, middle)


def _hip_joints(cast: MarkerBody) -> Pelvis | None:
    return _from_hips(cast, {side: cast.m[letter + "HJC"] for side, letter in LETTERS.items()})


def _trochanters(cast: MarkerBody) -> Pelvis | None:
    left, right = cast.m["LGTR"], cast.m["RGTR"]
    return _from_hips(cast, {"left": left + 0.25 * (right - left), "right": right + 0.25 * (left - right)})


def _from_hips(cast: MarkerBody, hips: dict[str, np.ndarray]) -> Pelvis | None:
    """Left and right are the hips'; up is what is above them, or away from the knees."""
    center = 0.5 * (hips["left"] + hips["right"])
    above = next(
        (p for p in (cast.mean("LICR", "RICR"), cast.m.get("LUMB"), cast.m.get("SACR"), *_tops(cast)) if p is not None),
        None,
    )
    if above is None:
        knees = [cast.m[letter + stem] for letter in "LR" for stem in ("KJC", "KNE") if letter + stem in cast.m]
        if not knees:
            return None
        above = 2.0 * center - np.mean(knees, axis=0)
    axes = axes_from(x=hips["left"] - hips["right"], y=above - center, first="x")
    lumbar = cast.m.get("LUMB", center + _LUMBAR * cast.stature * axes[..., 1])
    return Pelvis(axes, hips, lumbar)


def _tops(cast: MarkerBody) -> list[np.ndarray | None]:
    both = [cast.mean("L" + stem, "R" + stem) if cast.has("L" + stem, "R" + stem) else None for stem in ("SJC", "SHO")]
    return [cast.m.get("NJC"), *both, cast.m.get("C7")]


RECIPES: tuple[JointEstimator[Pelvis], ...] = (
    JointEstimator(("LASI", "RASI", "LPSI", "RPSI"), _four_spines, "the four spines of the pelvis"),
    JointEstimator(("LASI", "RASI", "SACR"), _sacrum, "the front spines and the sacrum"),
    JointEstimator(("LASI", "RASI", "LPSI"), _one_back_spine, "the front spines and one back spine, mirrored"),
    JointEstimator(("LASI", "RASI", "RPSI"), _one_back_spine, "the front spines and one back spine, mirrored"),
    JointEstimator(("LASI", "LPSI", "RPSI"), _one_front_spine, "the back spines and one front spine, mirrored"),
    JointEstimator(("RASI", "LPSI", "RPSI"), _one_front_spine, "the back spines and one front spine, mirrored"),
    JointEstimator(("LHJC", "RHJC"), _hip_joints, "the hip joints' own points"),
    JointEstimator(("LGTR", "RGTR"), _trochanters, "the greater trochanters"),
)


def add_pelvis(cast: MarkerBody) -> Pelvis | None:
    """The segment `hips`, the root; None where the markers do not give it. Points labelled as hip joints win."""
    found = follow(RECIPES, cast.m, None, cast)
    if found is None:
        return None
    pelvis, way = found
    if cast.has("LHJC", "RHJC"):
        pelvis = Pelvis(pelvis.axes, {side: cast.m[letter + "HJC"] for side, letter in LETTERS.items()}, pelvis.lumbar)
    center = 0.5 * (pelvis.hips["left"] + pelvis.hips["right"])
    cast.add("hips", JointFrame(None, center, pelvis.axes), way)
    return pelvis
