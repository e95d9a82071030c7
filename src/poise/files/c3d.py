"""C3D in: optical markers, force plates and events, and the motion of the person who wore the markers.

The markers of a standard set become a skeleton and a clip (`motion.markers`); they, the plates' forces and the events
stay at hand as `Recording.source`, a `C3dFile`. A file of several people has a clip for each, named after them.

Not every point of a file is a marker: programs also keep angles, forces, moments and powers there, and unlabelled
points; those are left out. Units lie (a file in metres that says mm): they are checked against the size of a leg.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike

import numpy as np

from poise.errors import FileError, InputError
from poise.files.c3d_tables import C3dTables, read_c3d_tables
from poise.files.force_plates import ForcePlate, read_force_plates
from poise.files.loading import find_choice, shorten
from poise.files.naming import stem_of
from poise.files.normalise import turn_clip
from poise.files.recording import Recording
from poise.motion.markers import MarkerMotion, find_markers, fit_markers
from poise.spatial import rotation

_UNITS = {"mm": 1e-3, "cm": 1e-2, "dm": 0.1, "m": 1.0, "in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048}
_UNITS |= {"millimeters": 1e-3, "millimetres": 1e-3, "centimeters": 1e-2, "meters": 1.0, "metres": 1.0}
_SHANK = (0.2, 0.6)  # m, knee's to ankle's marker: a child of three to a giant
_REACTION = "groundreactionforce"  # Plug-in Gait's word, after a side
_LIGHTEST = 10.0  # kg: a plate that measured this many times a computed reaction measured a whole body, not a kilogram
_OUTPUTS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
# What PROCESSING calls a body's measures -> ours.
_MEASURES = {
    "HEIGHT": "height",
    **{
        f"{s[0].upper()}{joint.upper()}WIDTH": s + joint
        for s in ("left", "right")
        for joint in ("Knee", "Ankle", "Elbow")
    },
}
# Turns the file's axes so that its vertical is Y and the handedness stays.
_TO_Y_UP = {
    "Y": rotation.identity(),
    "Z": rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), -0.5 * np.pi),
    "X": rotation.from_axis_angle(np.array([0.0, 0.0, 1.0]), 0.5 * np.pi),
}


@dataclass(frozen=True)
class C3dEvent:
    """Something that the file says happened: `time` in s from the first frame, e.g. "Foot Strike" of "Left"."""

    time: float
    label: str
    context: str = ""
    subject: str = ""


@dataclass(frozen=True, eq=False)
class C3dFile:
    """What a C3D file holds, in metres, newtons and seconds, in the file's axes.

    labels    of the markers, with their subject's prefix
    times     (F,) s from the first frame
    markers   (F, M, 3) m, NaN where a marker was not seen
    plates    what the force plates measured
    events    in the order of time
    measures  of the body, m, where the file states them: `height`, `leftKnee` (breadth), ...
    unit      metres a unit of the file
    motion    what the markers gave; None where it was not asked for
    """

    path: str
    labels: tuple[str, ...]
    times: np.ndarray
    markers: np.ndarray
    plates: tuple[ForcePlate, ...]
    events: tuple[C3dEvent, ...]
    measures: Mapping[str, float]
    unit: float
    up: str | None
    warnings: tuple[str, ...] = ()
    motion: MarkerMotion | None = field(default=None, repr=False)

    @property
    def subjects(self) -> tuple[str, ...]:
        """Prefixes of the labels of those who wear at least three markers; one empty one where there are none."""
        prefixes = [label.rpartition(":")[0] for label in self.labels]
        return tuple(p for p in dict.fromkeys(prefixes) if prefixes.count(p) >= 3) or ("",)


def load_c3d(path: str | PathLike[str]) -> C3dFile:
    """Markers, force plates and events of a C3D file, whatever its markers are."""
    tables = read_c3d_tables(path)
    labels, picks = _pick_markers(tables)
    points = tables.points[:, picks]
    unit, warnings = _find_unit(tables, labels, points)
    warnings = [*_say_left_out(tables, len(picks)), *warnings]
    plates, odd = read_force_plates(tables, unit)
    odd = [*odd, *_say_shared_by_mass(tables, plates)]
    times = np.arange(len(points)) / tables.rate
    measures = _read_measures(tables)
    up = _find_up(tables, labels, points, plates)
    events = _read_events(tables)
    return C3dFile(str(path), labels, times, points * unit, plates, events, measures, unit, up, (*warnings, *odd))


def read_c3d(path: str | PathLike[str], clip: str | None = None) -> Recording:
    """The motion of the person who wears a C3D file's markers, in the file's unit and axes."""
    file = load_c3d(path)
    stem = stem_of(path)
    names = file.subjects if len(file.subjects) > 1 else (stem,)
    chosen = find_choice(clip, names, path)
    subject = file.subjects[chosen]
    mine = [i for i, label in enumerate(file.labels) if label.rpartition(":")[0] == subject]
    turn = _TO_Y_UP[file.up or "Z"]
    measures = file.measures if len(names) == 1 else {}
    try:
        motion = fit_markers(
            [file.labels[i] for i in mine],
            file.times,
            rotation.rotate(turn, file.markers[:, mine]),
            measures,
            names[chosen],
        )
    except InputError as error:
        have = shorten(", ".join(label.rpartition(":")[2] for label in file.labels), 160)
        raise FileError(path, f"{error} It has {have or 'none'}.") from None
    skeleton = motion.clip.skeleton.scaled(1.0 / file.unit)
    in_file = turn_clip(
        motion.clip.replace(skeleton=skeleton, root=motion.clip.root / file.unit), rotation.conjugate(turn)
    )
    source = C3dFile(**{**file.__dict__, "motion": motion})
    return Recording(
        in_file.replace(name=names[chosen]),
        "C3D",
        str(path),
        names,
        file.unit,
        file.up,
        dict(skeleton.roles),
        source=source,
        warnings=(*_say_subjects(names, chosen), *file.warnings, *motion.warnings),
    )


def _say_left_out(tables: C3dTables, kept: int) -> list[str]:
    """A sentence on the points that are no markers."""
    count = tables.points.shape[1]
    nameless = sum(label.rpartition(":")[2].startswith("*") for label in tables.words("POINT", "LABELS")[:count])
    others = count - kept - nameless
    parts = [f"{n} {what}" for n, what in ((nameless, "unlabelled"), (others, "computed by another program")) if n]
    return [f"points: {' and '.join(parts)} of {count} are left out; {kept} are markers."] if parts else []


def _say_shared_by_mass(tables: C3dTables, plates: tuple[ForcePlate, ...]) -> list[str]:
    """A sentence where forces that another program computed are a kilogram's, though the file calls them newtons."""
    labels = tables.words("POINT", "LABELS")[: tables.points.shape[1]]
    named = [label for label in tables.words("POINT", "FORCES") if label in labels and _REACTION in label.lower()]
    stated = next(iter(tables.words("POINT", "FORCE_UNITS")), "")
    if not named or not plates or stated.upper() != "N":
        return []
    sizes = np.linalg.norm(tables.points[:, [labels.index(label) for label in named]], axis=-1)
    computed = float(np.nanmax(sizes, initial=0.0))
    measured = max(float(np.nanmax(np.linalg.norm(plate.force, axis=-1), initial=0.0)) for plate in plates)
    if not 0.0 < _LIGHTEST * computed < measured:
        return []
    return [
        f"computed forces: the file says newtons, but its ground reaction peaks at {computed:.3g} where a plate "
        f"measured {measured:.0f} N; forces, moments and powers among its points are per kilogram."
    ]


def _say_subjects(names: tuple[str, ...], chosen: int) -> tuple[str, ...]:
    if len(names) == 1:
        return ()
    return (f"the file has {len(names)} people: {', '.join(names)}. This is '{names[chosen]}'; --clip takes another.",)


def _pick_markers(tables: C3dTables) -> tuple[tuple[str, ...], list[int]]:
    """Labels and indices of the points that are markers."""
    labels = tables.words("POINT", "LABELS")
    groups = dict.fromkeys((*_OUTPUTS, *(word.upper() for word in tables.words("POINT", "TYPE_GROUPS")[::2])))
    outputs = {label for group in groups for label in tables.words("POINT", group)}
    picks = [
        i
        for i, label in enumerate(labels[: tables.points.shape[1]])
        if label and label not in outputs and not label.rpartition(":")[2].startswith("*")
    ]
    if not picks:
        raise FileError(tables.path, "none of its points is labelled, so no body can be found. Label the markers.")
    return tuple(labels[i] for i in picks), picks


def _find_unit(tables: C3dTables, labels: tuple[str, ...], points: np.ndarray) -> tuple[float, list[str]]:
    """Metres a unit: as the file says, unless a leg would then be of no human size."""
    word = next(iter(tables.words("POINT", "UNITS")), "").lower()
    stated = _UNITS.get(word)
    length = _measure_shank(labels, points)
    if length is None:
        return (stated, []) if stated else (1e-3, [f"the unit '{shorten(word)}' is not known; mm are taken."])
    if stated is not None and _SHANK[0] <= length * stated <= _SHANK[1]:
        return stated, []
    for unit in (1e-3, 1.0, 1e-2, 0.0254):
        if _SHANK[0] <= length * unit <= _SHANK[1]:
            said = f"the file says '{shorten(word)}'" if word else "the file names no unit"
            return unit, [f"{said}, but by the length of a shank a unit is {unit:g} m; that is taken."]
    raise FileError(tables.path, f"a shank of {length:.4g} units is of no human size in any unit. Is it a person?")


def _measure_shank(labels: tuple[str, ...], points: np.ndarray) -> float | None:
    """Knee's to ankle's marker in the file's unit, or None where they are not there."""
    found = find_markers(labels)
    lengths = []
    for letter in "LR":
        if letter + "KNE" in found and letter + "ANK" in found:
            shank = np.linalg.norm(points[:, found[letter + "KNE"]] - points[:, found[letter + "ANK"]], axis=1)
            lengths += shank[np.isfinite(shank)].tolist()
    return float(np.median(lengths)) if lengths and np.median(lengths) > 0 else None


def _find_up(
    tables: C3dTables, labels: tuple[str, ...], points: np.ndarray, plates: tuple[ForcePlate, ...]
) -> str | None:
    """The vertical axis: normal of the force plates; else along which the pelvis is above the feet in most frames."""
    if plates:
        diagonals = plates[0].corners[2] - plates[0].corners[0], plates[0].corners[3] - plates[0].corners[1]
        normal = np.abs(np.cross(*diagonals))
        if normal.max() > 0.95 * np.linalg.norm(normal):
            return "XYZ"[int(np.argmax(normal))]
    found = find_markers(labels)
    high = [found[name] for name in ("LASI", "RASI") if name in found]
    low = [found[side + name] for side in "LR" for name in ("ANK", "HEE", "TOE") if side + name in found]
    if high and low:
        body = points[:, high].mean(axis=1) - points[:, low].mean(axis=1)
        body = body[np.isfinite(body).all(axis=1)]
        if len(body):
            return "XYZ"[int(np.argmax(np.abs(np.median(body, axis=0))))]
    screen = next(iter(tables.words("POINT", "Y_SCREEN")), "")[-1:].upper()
    return screen if screen in ("X", "Y", "Z") else None


def _read_measures(tables: C3dTables) -> dict[str, float]:
    """Measures of the body that a program has left in the file, in metres."""
    found = {}
    for name, ours in _MEASURES.items():
        value = tables.number("PROCESSING", name)
        if value is not None and 0.02 < value * 1e-3 < 2.5:
            found[ours] = value * 1e-3
    return found


def _read_events(tables: C3dTables) -> tuple[C3dEvent, ...]:
    """Events by time. The file's clock starts with frame 1, which may have been cut off."""
    times = tables.numbers("EVENT", "TIMES")
    if times.ndim != 2 or times.shape[0] != 2:
        return ()
    labels, contexts, subjects = (tables.words("EVENT", name) for name in ("LABELS", "CONTEXTS", "SUBJECTS"))
    start = (tables.first_frame - 1) / tables.rate
    events = []
    for i, (minutes, seconds) in enumerate(times.T.tolist()):
        time = 60.0 * minutes + seconds - start
        words = [table[i] if i < len(table) else "" for table in (labels, contexts, subjects)]
        if np.isfinite(time):
            events.append(C3dEvent(float(time), *words))
    return tuple(sorted(events, key=lambda event: event.time))
