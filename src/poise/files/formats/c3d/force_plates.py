"""Ground force, pressure centre and free moment out of the channels of force plates in a C3D file.

Source: the C3D file format user guide (c3d.org), FORCE_PLATFORM. Types, by the channels that a plate has:
    1   Fx Fy Fz Px Py Mz: force, pressure centre on the surface, free moment
    2   Fx Fy Fz Mx My Mz: force and moment about the sensors' origin
    3   Fx12 Fx34 Fy14 Fy23 Fz1 Fz2 Fz3 Fz4: four three-axis sensors at (+-a, +-b)
    4   as 2, after a 6 x 6 calibration matrix

Plate axes: X and Y along the edges, by the corners, which stand in the quadrants ++, -+, --, +-; Z = X x Y is down.
ORIGIN r goes from the sensors' origin to the middle of the surface, in plate axes, so its z is negative; programs
often write it the other way round, and then it is turned round. The channels are the force *on* the plate, and its
opposite acts on the body; where the ground would then pull, they are the force on the body. With M about the sensors'
origin and p on the surface from there:

    p_x = (r_z Fx - My) / Fz,   p_y = (r_z Fy + Mx) / Fz,   T_z = Mz - p_x Fy + p_y Fx
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.files.formats.c3d.tables import C3dTables
from poise.findings import Finding

_LOADED = 20.0  # N: below it a pressure centre is noise
# N: the mean over the frames that the file calls unloaded may be this large for it to be an offset and not a person.
_LARGEST_OFFSET = 50.0
_CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6}


@dataclass(frozen=True, eq=False)
class ForcePlate:
    """What one plate measured, in the file's axes.

    corners      (4, 3) m
    times        (N,) s from the file's first frame
    force        (N, 3) N, of the ground on the body
    point        (N, 3) m, pressure centre on the plate; NaN where less than 20 N push
    free_moment  (N,) N m, of the ground on the body about the plate's upward normal
    """

    corners: np.ndarray
    times: np.ndarray
    force: np.ndarray
    point: np.ndarray
    free_moment: np.ndarray


def read_force_plates(tables: C3dTables, unit: float) -> tuple[tuple[ForcePlate, ...], list[Finding]]:
    """All plates of a file, and what was odd. unit: metres a unit of the points."""
    used = tables.number("FORCE_PLATFORM", "USED")
    plates: list[ForcePlate] = []
    plates_of: dict[str, list[str]] = {}
    for index in range(min(int(used or 0), 255)):
        try:
            plate, odd = _read_plate(tables, index, unit)
        except _UnreadablePlate as reason:
            odd = [f"left out, for {reason}."]
        else:
            plates.append(plate)
        for sentence in odd:
            plates_of.setdefault(sentence, []).append(str(index + 1))
    found = [
        Finding("force plates", f"{sentence.rstrip('.')} (plate {', '.join(numbers)}).", tuple(numbers))
        for sentence, numbers in plates_of.items()
    ]
    return tuple(plates), found


class _UnreadablePlate(Exception):
    """Why a plate cannot be used."""


def _read_plate(tables: C3dTables, index: int, unit: float) -> tuple[ForcePlate, list[str]]:
    kind, channels = _read_channels(tables, index)
    corners = _pick(tables.numbers("FORCE_PLATFORM", "CORNERS"), index, (3, 4)).T * unit
    origin = _pick(tables.numbers("FORCE_PLATFORM", "ORIGIN"), index, (3,)) * unit
    axes, warnings = _find_axes(corners), []
    if kind != 1 and origin[2] > 0:
        warnings.append("ORIGIN points down from the surface to the sensors; it was turned round.")
        if kind == 3:
            origin[2] = -origin[2]
        else:
            origin = -origin
    values = _to_si(tables, channels, tables.analog[:, channels], kind, unit)
    values = _remove_offset(tables, values)
    force, moment = _combine(tables, index, kind, values, origin)
    point, free = _find_pressure(kind, values, force, moment, origin)
    if kind in (2, 4):
        point, moment_scale = _check_moment_unit(point, moment, force, origin, corners)
        if moment_scale != 1.0:
            warnings.append(f"the moments' unit lies: times {moment_scale:g} the pressure centre is on the plate.")
            free = _find_pressure(kind, values, force, moment_scale * moment, origin)[1]
    # -F acts on the body; the plate's Z is down, so about the upward normal the body feels +T_z.
    world = -force @ axes
    loaded = np.abs(force[:, 2]) > _LOADED
    if np.any(loaded) and np.median(force[loaded, 2]) < 0:
        # The ground cannot pull: these channels hold the force on the body, as Vicon writes it.
        world, free = -world, -free
    place = corners.mean(axis=0) + point @ axes
    times = np.arange(len(values)) / tables.analog_rate
    return ForcePlate(corners, times, world, np.where(loaded[:, None], place, np.nan), free), warnings


def _read_channels(tables: C3dTables, index: int) -> tuple[int, np.ndarray]:
    """A plate's type and its channels, from 0."""
    types = tables.integers("FORCE_PLATFORM", "TYPE").reshape(-1)
    kind = int(types[index]) if index < len(types) else 0
    if kind not in _CHANNELS:
        raise _UnreadablePlate(f"it is of type {kind}; types 1 to 4 are read")
    table = tables.integers("FORCE_PLATFORM", "CHANNEL")
    if table.ndim != 2 or index >= table.shape[1] or table.shape[0] < _CHANNELS[kind]:
        raise _UnreadablePlate("the file does not say which channels are its")
    channels = table[: _CHANNELS[kind], index] - 1
    if np.any(channels < 0) or np.any(channels >= tables.analog.shape[1]):
        raise _UnreadablePlate("it names channels that the file has not")
    return kind, channels


def _pick(values: np.ndarray, index: int, shape: tuple[int, ...]) -> np.ndarray:
    """The table of one plate, whose index comes last."""
    if values.ndim != len(shape) + 1 or values.shape[:-1] != shape or index >= values.shape[-1]:
        raise _UnreadablePlate("the file does not say where it is")
    picked = np.array(values[..., index], float)
    if not np.all(np.abs(picked) < 1e7):
        raise _UnreadablePlate("its corners or origin are no numbers")
    return picked


def _find_axes(corners: np.ndarray) -> np.ndarray:
    """(3, 3) rows: the plate's X, Y and Z in the file's axes."""
    x = corners[0] + corners[3] - corners[1] - corners[2]
    y = corners[0] + corners[1] - corners[2] - corners[3]
    z = np.cross(x, y)
    if not np.linalg.norm(z) > 1e-6:
        raise _UnreadablePlate("its corners do not span a surface")
    x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
    return np.stack([x, np.cross(z, x), z])


def _to_si(tables: C3dTables, channels: np.ndarray, values: np.ndarray, kind: int, unit: float) -> np.ndarray:
    """Channels in newtons, newton metres and metres."""
    words = tables.words("ANALOG", "UNITS")
    factors = np.ones(len(channels))
    for i, channel in enumerate(channels):
        word = words[channel].lower().replace(".", "").replace("*", "") if channel < len(words) else ""
        is_length = kind == 1 and i in (3, 4)
        is_moment = not is_length and kind != 3 and i >= 3
        if word in ("nmm", "ncm", "nm", "mm", "cm", "m"):
            factors[i] = {"m": 1.0, "mm": 1e-3, "cm": 1e-2}[word.removeprefix("n")]
        elif is_moment or is_length:
            factors[i] = unit
    return values * factors


def _remove_offset(tables: C3dTables, values: np.ndarray) -> np.ndarray:
    """Without the mean over the frames that ZERO calls unloaded, where nobody stands there."""
    zero = tables.numbers("FORCE_PLATFORM", "ZERO").reshape(-1)
    if len(zero) < 2 or not 1 <= zero[0] <= zero[1] <= len(values):
        return values
    mean = values[int(zero[0]) - 1 : int(zero[1])].mean(axis=0)
    return values - mean if np.abs(mean[:3]).max() < _LARGEST_OFFSET else values


def _combine(
    tables: C3dTables, index: int, kind: int, values: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment (N, 3) about the sensors' origin, in plate axes, on the plate."""
    if kind == 4:
        matrix = _pick(tables.numbers("FORCE_PLATFORM", "CAL_MATRIX")[:6, :6], index, (6, 6))
        values = values @ matrix.T
    if kind == 3:
        fx12, fx34, fy14, fy23, fz1, fz2, fz3, fz4 = values.T
        a, b = abs(origin[0]), abs(origin[1])
        force = np.stack([fx12 + fx34, fy14 + fy23, fz1 + fz2 + fz3 + fz4], axis=1)
        moment = np.stack(
            [
                b * (fz1 + fz2 - fz3 - fz4),
                a * (-fz1 + fz2 + fz3 - fz4),
                b * (-fx12 + fx34) + a * (fy14 - fy23),
            ],
            axis=1,
        )
        return force, moment
    return values[:, :3], values[:, 3:6]


def _find_pressure(
    kind: int, values: np.ndarray, force: np.ndarray, moment: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pressure centre (N, 3) from the surface's middle in plate axes, and free moment (N,) about the plate's Z."""
    point = np.zeros_like(force)
    if kind == 1:
        point[:, :2] = values[:, 3:5]
        return point, values[:, 5]
    fx, fy, fz = force.T
    safe = np.where(np.abs(fz) > _LOADED, fz, np.inf)
    rz = origin[2]
    x, y = (rz * fx - moment[:, 1]) / safe, (rz * fy + moment[:, 0]) / safe
    center = np.zeros(2) if kind == 3 else origin[:2]
    point[:, 0], point[:, 1] = x - center[0], y - center[1]
    return point, moment[:, 2] - x * fy + y * fx


def _check_moment_unit(
    point: np.ndarray, moment: np.ndarray, force: np.ndarray, origin: np.ndarray, corners: np.ndarray
) -> tuple[np.ndarray, float]:
    """The pressure centre, and what the moments had to be multiplied with for it to be on the plate."""
    loaded = np.abs(force[:, 2]) > _LOADED
    if not np.any(loaded):
        return point, 1.0
    reach = 0.6 * float(np.linalg.norm(corners[0] - corners[2]))  # a little more than half the diagonal
    for scale in (1.0, 1e-3, 1e3):
        candidate = _find_pressure(2, moment, force, scale * moment, origin)[0]
        away = float(np.median(np.linalg.norm(candidate[loaded], axis=1)))
        # A unit too small puts everything in the middle: a thousandth is believed only where the stated one is off.
        if away <= reach and (scale <= 1.0 or away > 0.01 * reach):
            return candidate, scale
    return point, 1.0
