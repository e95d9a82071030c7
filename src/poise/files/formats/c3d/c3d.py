"""C3D in: optical markers, force plates and events, and the motion of the person who wore the markers.

The markers of a standard set become a skeleton and a clip (`motion.markers`); they, the plates' forces and the events
stay at hand as `Recording.source`, a `C3dFile`. A file of several people has a clip for each, named after them.

Not every point of a file is a marker: programs also keep angles, forces, moments and powers there, and unlabelled
points; those are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np

from poise.errors import FileError
from poise.files.formats.c3d.force_plates import ForcePlate, read_force_plates
from poise.files.formats.c3d.tables import C3dTables, read_c3d_tables
from poise.files.formats.markers import MarkerFile, find_unit, find_up, read_markers
from poise.files.reading.recording import Recording
from poise.findings import Finding

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


@dataclass(frozen=True)
class C3dEvent:
    """Something that the file says happened: `time` in s from the first frame, e.g. "Foot Strike" of "Left"."""

    time: float
    label: str
    context: str = ""
    subject: str = ""


@dataclass(frozen=True, eq=False)
class C3dFile(MarkerFile):
    """What a C3D file holds, in metres, newtons and seconds, in the file's axes: markers, and

    plates    what the force plates measured
    events    in the order of time
    """

    plates: tuple[ForcePlate, ...] = ()
    events: tuple[C3dEvent, ...] = ()


def load_c3d(path: str | PathLike[str]) -> C3dFile:
    """Markers, force plates and events of a C3D file, whatever its markers are."""
    tables = read_c3d_tables(path)
    labels, picks = _pick_markers(tables)
    points = tables.points[:, picks]
    word = next(iter(tables.words("POINT", "UNITS")), "")
    unit, odd_unit = find_unit(path, word, labels, points)
    plates, odd_plates = read_force_plates(tables, unit)
    up, odd_up = _find_up(tables, labels, points * unit, plates)
    said = (*tables.findings, *_say_left_out(tables, len(picks)), *odd_unit, *odd_plates)
    return C3dFile(
        str(path),
        labels,
        np.arange(len(points)) / tables.rate,
        points * unit,
        _read_measures(tables),
        unit,
        up,
        (*said, *_say_shared_by_mass(tables, plates), *odd_up),
        None,
        tables.words("SUBJECTS", "LABEL_PREFIXES"),
        plates,
        _read_events(tables),
    )


def read_c3d(path: str | PathLike[str], clip: str | None = None) -> Recording:
    """The motion of the person who wears a C3D file's markers, in the file's unit and axes."""
    return read_markers(load_c3d(path), clip, "C3D")


def _say_left_out(tables: C3dTables, kept: int) -> list[Finding]:
    """The points that are not markers."""
    count = tables.points.shape[1]
    labels = tables.words("POINT", "LABELS")[:count]
    nameless = sum(_is_nameless(label) for label in labels) + count - len(labels)
    others = count - kept - nameless
    parts = [f"{n} {what}" for n, what in ((nameless, "unlabelled"), (others, "computed by another program")) if n]
    message = f"{' and '.join(parts)} of {count} are left out; {kept} are markers."
    return [Finding("points", message, count - kept)] if parts else []


def _say_shared_by_mass(tables: C3dTables, plates: tuple[ForcePlate, ...]) -> list[Finding]:
    """A warning if forces that another program computed are a kilogram's, though the file calls them newtons."""
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
    message = (
        f"the file says newtons, but its ground reaction peaks at {computed:.3g} where a plate measured {measured:.0f} "
        "N; forces, moments and powers among its points are per kilogram."
    )
    return [Finding("computed forces", message, computed)]


def _is_nameless(label: str) -> bool:
    return not label.rpartition(":")[2].strip("*").strip() or label.rpartition(":")[2].startswith("*")


def _pick_markers(tables: C3dTables) -> tuple[tuple[str, ...], list[int]]:
    """Labels and indices of the points that are markers."""
    labels = tables.words("POINT", "LABELS")
    groups = dict.fromkeys((*_OUTPUTS, *(word.upper() for word in tables.words("POINT", "TYPE_GROUPS")[::2])))
    outputs = {label for group in groups for label in tables.words("POINT", group)}
    picks = [
        i
        for i, label in enumerate(labels[: tables.points.shape[1]])
        if label not in outputs and not _is_nameless(label)
    ]
    if not picks:
        raise FileError(tables.path, "none of its points is labelled, so no body can be found. Label the markers.")
    return tuple(labels[i] for i in picks), picks


def _find_up(
    tables: C3dTables, labels: tuple[str, ...], points: np.ndarray, plates: tuple[ForcePlate, ...]
) -> tuple[str | None, list[Finding]]:
    """The vertical: the normal of the force plates, what is up on the file's screen, or how the body stands."""
    if plates:
        diagonals = plates[0].corners[2] - plates[0].corners[0], plates[0].corners[3] - plates[0].corners[1]
        normal = np.abs(np.cross(*diagonals))
        if normal.max() > 0.95 * np.linalg.norm(normal):
            return find_up(labels, points, "XYZ"[int(np.argmax(normal))], sure=True)
    up, said = find_up(labels, points, _read_screen(tables))
    return up or "Z", said  # as laboratories have it, and nothing tells otherwise


def _read_screen(tables: C3dTables) -> str | None:
    """The axis that points up on the screen, "Z" or "-Y", where the file says so and X_SCREEN is another."""
    axes = []
    for name in ("X_SCREEN", "Y_SCREEN"):
        word = next(iter(tables.words("POINT", name)), "").strip().upper()
        axes.append(
            ("-" if word.startswith("-") else "") + word[-1:] if word[-1:] in ("X", "Y", "Z") and word else None
        )
    across, up = axes
    return None if up is None or (across is not None and across[-1] == up[-1]) else up


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
    start = max(tables.first_frame - 1, 0) / tables.rate  # where frames count from 0, the clock does with them
    events = []
    for i, (minutes, seconds) in enumerate(times.T.tolist()):
        time = 60.0 * minutes + seconds - start
        words = [table[i] if i < len(table) else "" for table in (labels, contexts, subjects)]
        if np.isfinite(time):
            events.append(C3dEvent(float(time), *words))
    return tuple(sorted(events, key=lambda event: event.time))
