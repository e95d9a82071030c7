"""A skeleton and its motion from labelled optical markers on the skin, or from points that are joints already.

    labels -> the markers they stand for -> gaps filled -> for each joint the first way that the markers support ->
    bones of constant length (medians) -> rotations

The pelvis is the root; without one, the chest. Legs, trunk, arms and head are built as far as their markers go: nothing
is invented, and what is not there is said.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from poise.body.roles import BODY_ROLES, SIDES
from poise.body.segments.proportions import ANKLE_HEIGHT, HIP_HEIGHT, compute_proportions
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.findings import Finding
from poise.motion.clip import Clip
from poise.motion.markers.arm import add_arm
from poise.motion.markers.body import LETTERS, MARKER_RADIUS, MarkerBody
from poise.motion.markers.gaps import describe_gaps, fill_gaps
from poise.motion.markers.geometry import into, median_length
from poise.motion.markers.head import add_head
from poise.motion.markers.labels import find_markers, share_seen
from poise.motion.markers.leg import add_leg
from poise.motion.markers.pelvis import add_pelvis
from poise.motion.markers.trunk import add_trunk
from poise.spatial import rotation

# What a whole body has, part by part, and the joints by which a part is missed.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "trunk": ("spine", "chest", "neck"),
    "head": ("head",),
    **{f"{s} arm": tuple(s + stem for stem in ("Shoulder", "UpperArm", "LowerArm", "Hand")) for s in SIDES},
    **{f"{s} leg": tuple(s + stem for stem in ("UpperLeg", "LowerLeg", "Foot")) for s in SIDES},
}
_UPPER = ("trunk", "head", "left arm", "right arm")
_LOWER = ("left leg", "right leg")
_GUESSED = ("by usual proportions", "mirrored", "turns against")


@dataclass(frozen=True, eq=False)
class MarkerMotion:
    """What markers gave.

    clip      in the markers' metres, Y up; joints have canonical names, each its own role
    centers   joint -> (F, 3) m, centre as the markers give it, before the bones were made constant
    used      markers that were used, by their standard names
    gaps      marker -> s, its longest gap, where it has any
    findings  what was odd
    how       joint -> how its centre was found, a few words
    stature   m, that breadths and regressions went by
    """

    clip: Clip
    centers: Mapping[str, np.ndarray]
    used: tuple[str, ...]
    gaps: Mapping[str, float]
    findings: tuple[Finding, ...]
    how: Mapping[str, str] = field(default_factory=dict)
    stature: float = 0.0


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
    shares = share_seen(positions)
    there = [i for i in range(len(labels)) if shares[i] > 0]
    found = find_markers([labels[i] for i in there], shares[there].tolist())
    recorded = {marker: positions[:, there[i]] for marker, i in found.items()}
    markers, gaps, rare = fill_gaps(recorded, times)
    known = {**measure_breadths(recorded), **(measures or {})}
    cast = MarkerBody(dict(markers), known, estimate_size(markers, known))
    _build(cast)
    if not cast.segments:
        raise _nothing(markers)
    return MarkerMotion(
        _make_clip(cast, times, name),
        {role: segment.center for role, segment in cast.segments.items()},
        tuple(markers),
        gaps,
        (*describe_gaps(gaps, rare), *_list_missing(cast.segments), *_list_guessed(cast.how)),
        cast.how,
        cast.stature,
    )


def _build(cast: MarkerBody) -> None:
    pelvis = add_pelvis(cast)
    if pelvis is not None:
        for side in SIDES:
            add_leg(cast, side, pelvis.hips[side])
    chest = add_trunk(cast, pelvis)
    if chest is not None:
        for side in SIDES:
            add_arm(cast, side, chest)
        add_head(cast, chest)
    if len(cast.segments) == 1 or (pelvis is None and not _has_limb(cast.segments)):
        cast.segments.clear()  # a root alone, or a trunk alone: no body


def _has_limb(roles: Iterable[str]) -> bool:
    return any(role == "head" or role.endswith("UpperArm") for role in roles)


def _nothing(markers: Iterable[str]) -> InputError:
    known = list(markers)
    shown = f" ({', '.join(known[:6])}{', ...' if len(known) > 6 else ''} are known)" if known else ""
    return InputError(
        f"no body can be built from these markers{shown}: it takes the pelvis (LASI, RASI and LPSI, RPSI or SACR) with "
        "a knee, or the trunk (C7, CLAV, LSHO, RSHO) with an elbow or the head. Rename the labels to these."
    )


def _list_missing(roles: Iterable[str]) -> list[Finding]:
    """The parts of a whole body that were not built."""
    here = set(roles)
    missing = {part: [role for role in joints if role not in here] for part, joints in _PARTS.items()}
    if "hips" not in here:
        missing["trunk"] = [role for role in missing["trunk"] if role != "spine"]
    joints = [role for roles in missing.values() for role in roles]
    if not joints:
        return []
    gone = _name_parts([p for p, all_ in _PARTS.items() if missing[p] and len(missing[p]) == len(all_)], "hips" in here)
    what = f"no {', no '.join(gone)}; " if gone else ""
    message = f"{what}{_join(joints)} {'is' if len(joints) == 1 else 'are'} not built."
    return [Finding("markers", message, tuple(joints))]


def _name_parts(gone: list[str], has_hips: bool) -> list[str]:
    """Return parts that are missing as a whole, with one name for the upper and the lower body."""
    for word, parts in (("upper body", _UPPER), ("legs" if has_hips else "pelvis or legs", _LOWER)):
        if set(parts) <= set(gone):
            gone = [word, *(part for part in gone if part not in parts)]
    return gone


def _join(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _list_guessed(how: Mapping[str, str]) -> list[Finding]:
    """Joints that no marker shows directly."""
    ways: dict[str, list[str]] = {}
    for role, words in how.items():
        if any(mark in words for mark in _GUESSED) and not role.endswith("UpperLeg"):
            ways.setdefault(words, []).append(role)
    return [
        Finding("markers", f"{_join(roles)} {'is' if len(roles) == 1 else 'are'} found from {words}.", tuple(roles))
        for words, roles in ways.items()
    ]


def _make_clip(cast: MarkerBody, times: np.ndarray, name: str) -> Clip:
    """Bones of constant length, and the rotations that lay them along the segments."""
    segments = cast.segments
    names = tuple(role for role in BODY_ROLES if role in segments)
    offsets, tips, parents = [], [], []
    for role in names:
        segment = segments[role]
        if segment.parent is None:
            parents.append(-1)
            offsets.append(np.array([0.0, _rest_height(cast, role), 0.0]))
        else:
            parents.append(names.index(segment.parent))
            above = segments[segment.parent]
            offsets.append(np.median(into(above.axes, segment.center - above.center), axis=0))
        tips.append(np.full(3, np.nan) if segment.tip is None else segment.tip)
    skeleton = Skeleton(names, np.array(parents), np.array(offsets), np.array(tips), {n: n for n in names})
    world = np.stack([rotation.from_matrix(segments[role].axes) for role in names], axis=1)
    local = world.copy()
    local[:, 1:] = rotation.multiply(rotation.conjugate(world[:, parents[1:]]), world[:, 1:])
    return Clip(skeleton, times, segments[names[0]].center, local, name)


def _rest_height(cast: MarkerBody, root: str) -> float:
    """m, the root above the soles in the rest pose."""
    usual = compute_proportions()
    if root != "hips":
        return (HIP_HEIGHT + usual.trunk_parts[1] * usual.trunk) * cast.stature
    centers = {role: segment.center for role, segment in cast.segments.items()}
    legs = [
        sum(
            median_length(centers[side + a] - centers[side + b])
            for a, b in (("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot"))
        )
        for side in SIDES
        if side + "Foot" in centers
    ]
    return max(legs) + ANKLE_HEIGHT * cast.stature if legs else HIP_HEIGHT * cast.stature


STATURES = (0.5, 2.5)  # m, that a body from markers may have
_BREADTHS = (0.03, 0.2)  # m, of a knee, an ankle or an elbow
USUAL = 1.7  # m, where nothing tells
# Fractions of the stature: R. Drillis, R. Contini (1966), as in `body/segments/proportions.py`, for joints; for markers
# plain estimates from them, 2 to 3 % off from person to person.
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
