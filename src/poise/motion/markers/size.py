"""How tall the body is that wears the markers: what breadths and regressions go by.

Given, or by the first measure that the markers allow. Fractions of the stature: R. Drillis, R. Contini (1966), as in
`body/segments/proportions.py`, for joints; for markers plain estimates from them, 2 to 3 % off from person to person.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from poise.body.segments.proportions import ANKLE_HEIGHT, HIP_HEIGHT, compute_proportions
from poise.errors import InputError
from poise.motion.markers.body import LETTERS, MARKER_RADIUS

STATURES = (0.5, 2.5)  # m, that a body from markers may have
_BREADTHS = (0.03, 0.2)  # m, of a knee, an ankle or an elbow
USUAL = 1.7  # m, where nothing tells
_LEG = 0.523  # of the stature: front spine to knee to ankle, along the outer markers
_HEEL_TO_SPINE = 0.56  # of the stature: front spine to heel's marker, standing or at heel strike
_VERTEX_TO_FOOT = 0.975  # of the stature: top of the head to the lowest marker of the feet, standing
_STANDING = ("ASI", "HEE")
_MARKERS_ON_ARM = 0.345  # of the stature: acromion to elbow to wrist, along the outer markers


def estimate_size(markers: Mapping[str, np.ndarray], measures: Mapping[str, float]) -> float:
    """m, the stature. Raises InputError where the markers belong to no human body."""
    given = measures.get("height")
    if given is not None and STATURES[0] <= given <= STATURES[1]:
        return given
    usual = compute_proportions()
    chains = (
        (("ASI", "KNE", "ANK"), _LEG, "legs", 0.5),
        (("HJC", "KJC", "AJC"), HIP_HEIGHT - ANKLE_HEIGHT, "legs", 0.5),
        (_STANDING, _HEEL_TO_SPINE, "legs", 0.9),
        (("SJC", "EJC", "WJC"), usual.upper_arm + usual.forearm, "arms", 0.5),
        *(
            (("SHO", "ELB", wrist), _MARKERS_ON_ARM, "arms", 0.5)
            for wrist in ("WRA", "RSP", "WRI", "WIN", "USP", "WRB")
        ),
    )
    for stems, fraction, part, quantile in chains:
        if stems == _STANDING and "HTOP" in markers and any(letter + "HEE" in markers for letter in "LR"):
            return _check(_measure_height(markers) / _VERTEX_TO_FOOT, "head and feet")
        lengths = [_measure(markers, letter, stems, quantile) for letter in "LR"]
        known = [length for length in lengths if length is not None]
        if known:
            return _check(float(np.mean(known)) / fraction, part)
    return USUAL


def measure_breadths(markers: Mapping[str, np.ndarray]) -> dict[str, float]:
    """m, `leftKnee` and so on, of joints with markers on both sides in some frames. (F, 3), NaN where hidden."""
    found = {}
    for joint, outer, inner in (("Knee", "KNE", "KNM"), ("Ankle", "ANK", "ANM"), ("Elbow", "ELB", "ELM")):
        for side, letter in LETTERS.items():
            if letter + outer in markers and letter + inner in markers:
                apart = np.linalg.norm(markers[letter + outer] - markers[letter + inner], axis=1)
                apart = apart[np.isfinite(apart)]
                breadth = float(np.median(apart)) - 2.0 * MARKER_RADIUS if len(apart) else 0.0
                if _BREADTHS[0] < breadth < _BREADTHS[1]:
                    found[side + joint] = breadth
    return found


def _measure(markers: Mapping[str, np.ndarray], letter: str, stems: tuple[str, ...], quantile: float) -> float | None:
    """m along a chain of one side's markers."""
    points = [markers.get(letter + stem) for stem in stems]
    there = [p for p in points if p is not None]
    if len(there) < len(points):
        return None
    length = sum(np.linalg.norm(b - a, axis=1) for a, b in itertools.pairwise(there))
    return float(np.quantile(length, quantile))


def _measure_height(markers: Mapping[str, np.ndarray]) -> float:
    """m, from the top of the head down to the lowest marker, at its greatest."""
    heights = markers["HTOP"][:, 1] - np.min([p[:, 1] for p in markers.values()], axis=0)
    return float(np.quantile(heights, 0.95))


def _check(stature: float, part: str) -> float:
    if not STATURES[0] <= stature <= STATURES[1]:
        raise InputError(
            f"the markers of the {part} belong to a body {stature:.3g} m tall; "
            f"{STATURES[0]:g} to {STATURES[1]:g} m are possible. Is the unit right?"
        )
    return stature
