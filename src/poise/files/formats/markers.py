"""What files of optical markers share: their unit and vertical by the body that wears them, and the way to a clip.

Files lie about both. Lengths between markers of one body tell the unit: they lie within a factor of three from child to
giant, and units differ by more, but for inches and centimetres. The vertical is where the pelvis is above the feet, or
the head above the pelvis, in most frames; whoever lies has the floor, at height zero, right below.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike

import numpy as np

from poise.errors import FileError, InputError
from poise.files.input import find_choice, shorten, stem_of
from poise.files.reading.recording import Recording
from poise.files.reading.reframe import AXES, turn_clip, turn_to_y
from poise.findings import Finding
from poise.motion.markers import MarkerMotion, find_markers, fit_markers, share_seen, split_subjects
from poise.spatial import rotation

UNITS = {"mm": 1e-3, "cm": 1e-2, "dm": 0.1, "m": 1.0, "in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048}
UNITS |= {"millimeters": 1e-3, "millimetres": 1e-3, "centimeters": 1e-2, "centimetres": 1e-2, "feet": 0.3048}
UNITS |= {"meters": 1.0, "metres": 1.0, "meter": 1.0, "metre": 1.0, "millimeter": 1e-3, "millimetre": 1e-3}
_TRIED = (1e-3, 1.0, 1e-2, 0.0254)
# m between two markers: from a child of three to a giant. Knee to ankle first: it is the surest.
_LENGTHS: tuple[tuple[str, str, float, float], ...] = (
    ("*KNE", "*ANK", 0.2, 0.6),
    ("*KJC", "*AJC", 0.2, 0.6),
    ("LASI", "RASI", 0.12, 0.42),
    ("LSHO", "RSHO", 0.18, 0.6),
    ("*SHO", "*ELB", 0.13, 0.45),
    ("LHJC", "RHJC", 0.08, 0.26),
    ("LSJC", "RSJC", 0.16, 0.55),
)
_LENGTH_NAMES = {"*KNE": "a shank", "*KJC": "a shank", "LASI": "the pelvis", "LHJC": "the pelvis"}
_HIGH = (
    ("LASI", "RASI", "LPSI", "RPSI", "SACR", "LHJC", "RHJC"),
    ("C7", "CLAV", "LSHO", "RSHO", "NJC", "LSJC", "RSJC"),
)
_LOW = tuple(side + stem for side in "LR" for stem in ("ANK", "AJC", "HEE", "TOE", "MT5", "HLX"))
_STANDING = 0.6  # of the frames
_UPRIGHT = np.cos(np.radians(35.0))
_LYING = 0.35  # m: the middle of a lying body over the floor, at most
_BELOW = 0.05  # m: markers are not farther than this below the floor


@dataclass(frozen=True, eq=False)
class MarkerFile:
    """What a file of markers holds, in metres and seconds, in the file's axes.

    labels    of the markers, with their subject's prefix
    times     (F,) s from the first frame
    markers   (F, M, 3) m, NaN where a marker was not seen
    measures  of the body, m, where the file states them: `height`, `leftKnee` (breadth), ...
    unit      metres a unit of the file
    up        the vertical: "Y", "Z", "-Z", ...; None where nothing tells
    motion    what the markers gave; None where it was not asked for
    prefixes  words before labels that the file says are a subject's
    """

    path: str
    labels: tuple[str, ...]
    times: np.ndarray
    markers: np.ndarray
    measures: Mapping[str, float]
    unit: float
    up: str | None
    findings: tuple[Finding, ...] = ()
    motion: MarkerMotion | None = field(default=None, repr=False)
    prefixes: tuple[str, ...] = ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """Prefixes of the labels of those who wear at least three markers; one empty one where there are none."""
        prefixes = [subject for subject, _ in split_subjects(self.labels, self.prefixes)]
        return tuple(p for p in dict.fromkeys(prefixes) if prefixes.count(p) >= 3) or ("",)


def read_markers(file: MarkerFile, clip: str | None, form: str) -> Recording:
    """The motion of the person who wears a file's markers, in the file's unit and axes."""
    split = split_subjects(file.labels, file.prefixes)
    subjects = file.subjects
    names = subjects if len(subjects) > 1 else (stem_of(file.path),)
    chosen = find_choice(clip, names, file.path)
    mine = [i for i, (subject, _) in enumerate(split) if subject == subjects[chosen]]
    turn = turn_to_y(file.up or "Y")
    points = rotation.rotate(turn, file.markers[:, mine])
    measures = file.measures if len(names) == 1 else {}
    try:
        motion = fit_markers([split[i][1] for i in mine], file.times, points, measures, names[chosen])
    except InputError as error:
        have = shorten(", ".join(bare for _, bare in split), 100)
        raise FileError(file.path, f"{error} It has {have or 'none'}.") from None
    skeleton = motion.clip.skeleton.scaled(1.0 / file.unit)
    scaled = motion.clip.replace(skeleton=skeleton, root=motion.clip.root / file.unit)
    in_file = turn_clip(scaled, rotation.conjugate(turn))
    return Recording(
        in_file.replace(name=names[chosen]),
        form,
        file.path,
        names,
        file.unit,
        file.up,
        dict(skeleton.roles),
        all_roles=True,
        stature=None if "height" not in measures else measures["height"] / file.unit,
        source=dataclasses.replace(file, motion=motion),
        findings=(*_list_subjects(names, chosen), *file.findings, *motion.findings),
    )


def _list_subjects(names: tuple[str, ...], chosen: int) -> tuple[Finding, ...]:
    if len(names) == 1:
        return ()
    message = f"the file has {len(names)} people: {', '.join(names)}. This is '{names[chosen]}'; --clip takes another."
    return (Finding("clips", message, names),)


def find_unit(
    path: str | PathLike[str], word: str, labels: Sequence[str], points: np.ndarray
) -> tuple[float, list[Finding]]:
    """Metres a unit: as the file says, unless the body would then be of no human size.

    points  (F, M, 3) in the file's unit
    """
    stated = UNITS.get(word.strip().lower())
    lengths = _measure_lengths(labels, points)
    if not lengths:
        said = "names no unit" if not word.strip() else f"says '{shorten(word)}', which is not known"
        return (stated, []) if stated else (1e-3, [Finding("unit", f"the file {said}; mm are taken.", 1e-3)])
    if stated is not None and _fits(lengths, stated):
        return stated, []
    what, length = _LENGTH_NAMES.get(lengths[0][0], "its limbs"), lengths[0][1]
    for unit in _TRIED:
        if _fits(lengths, unit):
            said = f"the file says '{shorten(word)}'" if word else "the file names no unit"
            message = f"{said}, but by the length of {what} a unit is {unit:g} m; that is taken."
            return unit, [Finding("unit", message, unit)]
    raise FileError(path, f"{what} of {length:.4g} units is of no human size in any unit. Is it a person?")


def _fits(lengths: list[tuple[str, float, float, float]], unit: float) -> bool:
    """Whether most of the lengths are a person's in this unit, and the first, the surest, is."""
    good = [least <= length * unit <= most for _, length, least, most in lengths]
    return good[0] and 2 * sum(good) >= len(good)


def _measure_lengths(labels: Sequence[str], points: np.ndarray) -> list[tuple[str, float, float, float]]:
    """(first marker, median length in the file's unit, least and most m) of every pair that is there."""
    found = _find_one(labels, points)
    out = []
    for a, b, least, most in _LENGTHS:
        lengths: list[float] = []
        for letter in "LR" if "*" in a else "L":
            one, two = (found.get(name.replace("*", letter)) for name in (a, b))
            if one is not None and two is not None:
                apart = np.linalg.norm(points[:, one] - points[:, two], axis=1)
                lengths += apart[np.isfinite(apart)].tolist()
        if lengths and np.median(lengths) > 0:
            out.append((a, float(np.median(lengths)), least, most))
    return out


def _find_one(labels: Sequence[str], points: np.ndarray) -> dict[str, int]:
    """Standard name -> index, of the person who wears most markers."""
    split = split_subjects(labels)
    subjects = [subject for subject, _ in split]
    most = max(dict.fromkeys(subjects), key=subjects.count, default="")
    mine = [i for i, subject in enumerate(subjects) if subject == most]
    seen = share_seen(points[:, mine])
    return {name: mine[i] for name, i in find_markers([split[i][1] for i in mine], seen.tolist()).items()}


def find_up(
    labels: Sequence[str], points: np.ndarray, stated: str | None, sure: bool = False
) -> tuple[str | None, list[Finding]]:
    """The vertical axis, and a warning if the body contradicts the file.

    points  (F, M, 3) m
    stated  "Y", "-Z", ... as the file or its format says, or None
    sure    the axis itself is known (of force plates, say), only its sign may be wrong
    """
    standing = _find_standing(labels, points)
    if standing is None or standing == stated:
        return stated, []
    if stated is None:
        return standing, []
    if standing[-1] == stated[-1]:  # nobody walks on the ceiling
        return standing, []
    if sure or _lies(points, stated):
        return stated, []
    message = f"the file says {stated}, but the body stands along {standing}; that is taken."
    return standing, [Finding("up axis", message, standing)]


def _find_standing(labels: Sequence[str], points: np.ndarray) -> str | None:
    """The axis along which the body stands in most frames, or None."""
    found = _find_one(labels, points)
    low = [found[name] for name in _LOW if name in found]
    groups = [[found[name] for name in names if name in found] for names in _HIGH]
    pairs = [(high, low) for high in groups] if low else [(groups[1], groups[0])]
    for top, bottom in pairs:
        if not top or not bottom:
            continue
        body = _mean_seen(points[:, top]) - _mean_seen(points[:, bottom])
        body = body[np.isfinite(body).all(axis=1)]
        size = np.linalg.norm(body, axis=1)
        if not len(body) or not (size > 0).any():
            continue
        along = body[size > 0] / size[size > 0, None]
        axis = int(np.argmax(np.abs(np.median(along, axis=0))))
        sign = np.sign(np.median(along[:, axis])) or 1.0
        if (sign * along[:, axis] > _UPRIGHT).mean() >= _STANDING:
            return AXES[axis + (0 if sign > 0 else 3)]
    return None


def _mean_seen(points: np.ndarray) -> np.ndarray:
    """(F, 3) the mean of those of (F, K, 3) that are seen, NaN where none is."""
    seen = np.isfinite(points).all(axis=-1, keepdims=True)
    count = seen.sum(axis=1)
    total = np.where(seen, points, 0.0).sum(axis=1)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def _lies(points: np.ndarray, up: str) -> bool:
    """Whether the body is right above the floor, at height zero along this axis: its middle near, no marker below."""
    along = points[..., "XYZ".index(up[-1])] * (-1.0 if up.startswith("-") else 1.0)
    along = along[np.isfinite(along).any(axis=1)]
    if not len(along):
        return False
    middle, lowest = np.nanmean(along, axis=1), np.nanmin(along, axis=1)
    return bool(np.median(middle) < _LYING and np.quantile(lowest, 0.05) > -_BELOW)
