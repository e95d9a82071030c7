"""An arm: collar bone, shoulder, elbow, wrist and hand of one side.

Sources
  shoulder  M. Reed, M. Manary, L. Schneider (1999), SAE 1999-01-0959: 0.42 d from the acromion's marker, 67 degrees
            below the way to the front, with d the depth from C7's to the breastbone's marker.
  elbow     half its breadth from the outer marker along the bending axis; 6.48 of 170.18 cm: Ross, Wilson (1974).
Where nothing is cited, a number is a plain estimate; those move a joint by a centimetre or two.
"""

from __future__ import annotations

import numpy as np

from poise.motion.markers.body import LETTERS, SIGNS, JointEstimator, JointFrame, MarkerBody, follow
from poise.motion.markers.geometry import across, axes_from, bending_axis, median_length
from poise.motion.markers.trunk import Chest
from poise.spatial import rotation

_ELBOW = 6.48 / 170.18  # its breadth, of the stature
_WRIST = 0.024  # its depth, back to palm, of the stature (a plain estimate)
_HAND = 0.55  # of the hand's length: wrist to the knuckle's marker
_HAND_LENGTH = 0.108  # of the stature
_DOWN = np.radians(67.0)  # [Reed]


def _given_shoulder(cast: MarkerBody, chest: Chest, side: str) -> np.ndarray:
    return cast.m[LETTERS[side] + "SJC"]


def _from_acromion(cast: MarkerBody, chest: Chest, side: str) -> np.ndarray:
    way = 0.42 * chest.depth * np.array([0.0, -np.sin(_DOWN), np.cos(_DOWN)])
    return np.asarray(cast.m[LETTERS[side] + "SHO"] + chest.axes @ way)


SHOULDERS: tuple[JointEstimator[np.ndarray], ...] = (
    JointEstimator(("*SJC",), _given_shoulder, "the shoulder's own point"),
    JointEstimator(("*SHO",), _from_acromion, "below the acromion"),
)

Elbow = tuple[np.ndarray, np.ndarray]  # its centre (F, 3) m and the axis (F, 3), up in a T-pose, about which it bends


def _given_elbow(
    cast: MarkerBody, shoulder: np.ndarray, upward: np.ndarray, wrist: np.ndarray | None, side: str
) -> Elbow:
    elbow = cast.m[LETTERS[side] + "EJC"]
    if wrist is None:
        return elbow, across(upward, elbow - shoulder)
    on_arm = cast.m.get(LETTERS[side] + "UPA")
    return elbow, bending_axis(elbow - shoulder, wrist - elbow, on_arm, elbow, upward, -SIGNS[side])


def _both_sides(
    cast: MarkerBody, shoulder: np.ndarray, upward: np.ndarray, wrist: np.ndarray | None, side: str
) -> Elbow:
    outer, inner = (cast.m[LETTERS[side] + stem] for stem in ("ELB", "ELM"))
    return 0.5 * (outer + inner), outer - inner


def _outer_side(
    cast: MarkerBody, shoulder: np.ndarray, upward: np.ndarray, wrist: np.ndarray | None, side: str
) -> Elbow:
    elbow = cast.m[LETTERS[side] + "ELB"]
    half = cast.half("Elbow", side, _ELBOW)
    if wrist is None:
        axis = across(upward, elbow - shoulder)
        return elbow - half * axis, axis
    axis = upward
    # Upper arm x forearm points down on the left, up on the right, when the elbow is bent forward.
    for _ in range(3):
        arm = elbow - (shoulder + half * axis)
        forearm = wrist + half * axis - elbow
        axis = bending_axis(arm, forearm, cast.m.get(LETTERS[side] + "UPA"), elbow, upward, -SIGNS[side])
    return elbow - half * axis, axis


ELBOWS: tuple[JointEstimator[Elbow], ...] = (
    JointEstimator(("*EJC",), _given_elbow, "the elbow's own point"),
    JointEstimator(("*ELB", "*ELM"), _both_sides, "between the elbow's two sides"),
    JointEstimator(("*ELB",), _outer_side, "inwards from the elbow's outer side"),
)


def _pair(first: str, second: str) -> JointEstimator[np.ndarray]:
    def middle(cast: MarkerBody, elbow: np.ndarray, side: str) -> np.ndarray:
        letter = LETTERS[side]
        return np.asarray(0.5 * (cast.m[letter + first] + cast.m[letter + second]))

    return JointEstimator((f"*{first}", f"*{second}"), middle, "between the wrist's two sides")


def _below_bar(cast: MarkerBody, elbow: np.ndarray, side: str) -> np.ndarray:
    """Below the pair of markers on the wrist's back."""
    letter, sign = LETTERS[side], SIGNS[side]
    middle = 0.5 * (cast.m[letter + "WRA"] + cast.m[letter + "WRB"])
    thumbward = cast.m[letter + "WRA"] - cast.m[letter + "WRB"]
    back = axes_from(x=sign * (middle - elbow), z=thumbward, first="x")[..., 1]
    return np.asarray(middle - cast.half("Wrist", side, _WRIST) * back)


def _alone(stem: str, how: str) -> JointEstimator[np.ndarray]:
    return JointEstimator((f"*{stem}",), lambda cast, elbow, side: cast.m[LETTERS[side] + stem], how)


WRISTS: tuple[JointEstimator[np.ndarray], ...] = (
    _alone("WJC", "the wrist's own point"),
    _pair("RSP", "USP"),
    _pair("WIN", "WOU"),
    JointEstimator(("*WRA", "*WRB"), _below_bar, "below the markers on the wrist"),
    *(_alone(stem, "the wrist's only marker") for stem in ("WRI", "RSP", "USP", "WRA", "WRB", "WIN", "WOU")),
)


def add_arm(cast: MarkerBody, side: str, chest: Chest) -> None:
    """Collar bone, upper arm, forearm and hand of one side, as far as the markers go."""
    letter, sign = LETTERS[side], SIGNS[side]
    found = follow(SHOULDERS, cast.m, side, cast, chest)
    if found is None:
        return
    shoulder, shoulder_way = found
    axes = chest.axes
    breastbone = cast.m.get("CLAV", chest.neck)
    collar = breastbone + axes @ np.array([sign * 0.012 * cast.stature, 0.0, -0.01 * cast.stature])
    clavicle = axes_from(x=sign * (shoulder - collar), y=axes[..., 1], first="x")
    cast.add(side + "Shoulder", JointFrame("chest", collar, clavicle))
    rough = next((cast.m[letter + stem] for stem in ("EJC", "ELB") if letter + stem in cast.m), None)
    if rough is None:
        return
    end = follow(WRISTS, cast.m, side, cast, rough)
    wrist = None if end is None else end[0]
    # From a T-pose the arm goes the shortest way to where it is, and takes the upward direction with it.
    swing = rotation.between(sign * axes[..., 0], rough - shoulder)
    upward = rotation.rotate(swing, axes[..., 1])
    bend = follow(ELBOWS, cast.m, side, cast, shoulder, upward, wrist)
    assert bend is not None
    (elbow, axis), elbow_way = bend
    upper = axes_from(x=sign * (elbow - shoulder), y=axis, first="x")
    cast.add(side + "UpperArm", JointFrame(side + "Shoulder", shoulder, upper), shoulder_way)
    if end is None or wrist is None:
        cast.add(side + "LowerArm", JointFrame(side + "UpperArm", elbow, upper), elbow_way)
        return
    forearm = axes_from(x=sign * (wrist - elbow), y=axis, first="x")
    cast.add(side + "LowerArm", JointFrame(side + "UpperArm", elbow, forearm), elbow_way)
    _add_hand(cast, side, wrist, forearm)
    cast.how[side + "Hand"] = end[1].how


def _find_knuckle(cast: MarkerBody, letter: str) -> np.ndarray | None:
    """(F, 3) m the knuckle of the middle fingers, or None."""
    if letter + "FIN" in cast.m:
        return cast.m[letter + "FIN"]
    return cast.mean(letter + "HM2", letter + "HM5")


def _thumbward(cast: MarkerBody, letter: str, wrist: np.ndarray) -> np.ndarray | None:
    """(F, 3) across hand or wrist to the thumb's side, or None.

    Inner and outer mean one thing to one maker and the other to another; the little finger's knuckle decides.
    """
    for thumb, little in (("RSP", "USP"), ("WRA", "WRB"), ("HM2", "HM5")):
        if cast.has(letter + thumb, letter + little):
            return np.asarray(cast.m[letter + thumb] - cast.m[letter + little])
    if not cast.has(letter + "WOU", letter + "WIN"):
        return None
    outward = cast.m[letter + "WOU"] - cast.m[letter + "WIN"]
    pinky = cast.m.get(letter + "HM5")
    if pinky is None:
        return np.asarray(outward)
    side = np.median(np.sum(outward * (pinky - wrist), axis=1))
    return np.asarray(outward if side < 0 else -outward)


def _add_hand(cast: MarkerBody, side: str, wrist: np.ndarray, forearm: np.ndarray) -> None:
    letter, sign = LETTERS[side], SIGNS[side]
    along, tip = sign * forearm[..., 0], np.array([sign * _HAND_LENGTH * cast.stature, 0.0, 0.0])
    knuckle = _find_knuckle(cast, letter)
    if knuckle is not None:
        along = knuckle - wrist
        tip = np.array([sign * median_length(along) / _HAND, 0.0, 0.0])
    thumbward = _thumbward(cast, letter, wrist)
    if thumbward is not None:
        axes = axes_from(x=sign * along, z=thumbward, first="x")
    else:
        axes = axes_from(x=sign * along, y=forearm[..., 1], first="x")
    cast.add(side + "Hand", JointFrame(side + "LowerArm", wrist, axes, tip))
