"""Takes as files: `.take.npz`, plain named arrays that any NumPy program can read.

    format                      text      "poise-take 1"
    times                       (F,)      s on the stage's clock
    events                      text      JSON list of [time, actor, kind, message]
    prop/NAME                   (F, 7)    position m and orientation wxyz
    actor/NAME/character        text      the body, as in `files.character`
    actor/NAME/connectors       text      JSON list of labels
    actor/NAME/ARRAY            one for each of `take.ARRAYS`, shaped as `ActorTake` says; `shifts` only where there are

`take.save_take` writes it. A file is read without pickles, and every size is checked before memory is taken for it.
"""

from __future__ import annotations

import json
import math
from os import PathLike
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.errors import FileError
from poise.files.arrays import NpzFile
from poise.files.character import parse_character
from poise.files.input import shorten
from poise.kinds import checked
from poise.stage.monitor.events import MOST_EVENTS
from poise.stage.take.take import ARRAYS, FORMAT, ActorTake, Event, Take

SUFFIX = ".take.npz"
# Arrays that may have gaps: a foot in the air has no pressure, a body without soles no margin.
_WITH_GAPS = ("torque", "effort", "margin", "pressure", "soles", "wrench")
_MOST = 1e12  # of any number in a take: what turned non-finite was large before


@checked
def load_take(path: str | PathLike[str]) -> Take:
    """Read a take; everything is checked."""
    with NpzFile(path) as file:
        if "format" not in file or file.text_of("format") != FORMAT:
            raise FileError(
                path, f"is no take: it does not say '{FORMAT}'. Takes are what `poise mix -o x{SUFFIX}` writes."
            )
        times = file.numbers("times", (None,))
        if not len(times) or np.any(np.diff(times) <= 0.0):
            raise FileError(path, "the times of a take must increase, and there must be at least one.")
        names = _find_names(file)
        if not names:
            raise FileError(path, "there is no actor in this take.")
        actors = {name: _read_actor(file, name, len(times)) for name in names}
        props = {
            key.removeprefix("prop/"): file.numbers(key, (len(times), 7))
            for key in file.names
            if key.startswith("prop/")
        }
        return Take(times, actors, props, _read_events(file))


def _find_names(file: NpzFile) -> list[str]:
    names: dict[str, None] = {}
    for key in file.names:
        words = key.split("/")
        if len(words) == 3 and words[0] == "actor" and words[1]:
            names[words[1]] = None
        elif key not in ("format", "times", "events") and not (len(words) == 2 and words[0] == "prop" and words[1]):
            raise FileError(file.path, f"array '{shorten(key)}' has no place in a take.")
    return list(names)


def _read_actor(file: NpzFile, name: str, frames: int) -> ActorTake:
    character = parse_character(file.text_of(f"actor/{name}/character"), f"{file.path}: actor '{shorten(name)}'")
    labels = _json_list(file, f"actor/{name}/connectors")
    if not all(isinstance(label, str) for label in labels):
        raise FileError(file.path, f"the connectors of actor '{shorten(name)}' must be names.")
    arrays = {array: _read_array(file, name, array, frames, character, len(labels)) for array in ARRAYS}
    norms = np.linalg.norm(arrays["rotations"], axis=-1)
    if np.any(np.abs(norms - 1.0) > 1e-6):
        raise FileError(file.path, f"the rotations of actor '{shorten(name)}' must be unit quaternions.")
    shifts = f"actor/{name}/shifts"
    if shifts in file:
        arrays["shifts"] = file.numbers(shifts, (frames, len(character.skeleton), 3), _MOST)
    return ActorTake(name, character, connectors=tuple(labels), **arrays)


def _read_array(file: NpzFile, name: str, array: str, frames: int, character: Character, parts: int) -> np.ndarray:
    j = len(character.skeleton)
    shape = {
        "rotations": (frames, j, 4), "angular_velocity": (frames, j, 3), "torque": (frames, j, 3),
        "effort": (frames, j), "margin": (frames,), "feet": (frames, 2, 3), "pressure": (frames, 2, 3),
        "soles": (frames, 2, 4, 3), "wrench": (frames, parts, 6),
    }.get(array, (frames, 3))  # fmt: skip
    key = f"actor/{name}/{array}"
    if array not in _WITH_GAPS:
        return file.numbers(key, shape, _MOST)
    values = file[key]
    if values.dtype.kind not in "iuf" or values.shape != shape:
        raise FileError(file.path, f"array '{shorten(key)}' must be numbers of shape {shape}; it is {values.shape}.")
    values = values.astype(float)
    if np.any(np.abs(values) > _MOST):
        raise FileError(file.path, f"array '{shorten(key)}' has numbers that are too large to be used.")
    return values


def _read_events(file: NpzFile) -> tuple[Event, ...]:
    rows = _json_list(file, "events")
    if len(rows) > MOST_EVENTS:
        raise FileError(file.path, f"there are {len(rows)} events; at most {MOST_EVENTS} are read.")
    events = []
    for row in rows:
        fits = isinstance(row, list) and len(row) in (4, 7, 8, 9)
        if (
            not fits
            or not all(isinstance(word, str) for word in row[1:6])
            or not all(map(_is_number, row[:1] + row[6:]))
        ):
            raise FileError(file.path, "an event of a take must be [time, actor, kind, message] or, about a joint, "
                            "[time, actor, kind, message, joint, other, impulse, effort, force].")  # fmt: skip
        events.append(Event(float(row[0]), *row[1:6], *map(float, row[6:])))
    return tuple(events)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _json_list(file: NpzFile, name: str) -> list[Any]:
    text = file.text_of(name)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise FileError(file.path, f"array '{shorten(name)}' must be a JSON list.")
    return value
