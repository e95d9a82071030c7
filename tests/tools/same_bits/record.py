"""What a case came to: its arrays, figures and files by name, each as a hash.

Texts of messages are kept apart (`Words`): a message may be rewritten, a number may not change. NaN counts as one
number, whatever its bits. Figures that the machine's speed decides are left out.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import re
import struct
import time
import tomllib
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Case, Skip

# Keys of figures that change from run to run.
BY_SPEED = re.compile(r"realtime|wall|us_per|_us$|ms_a_step|build_s|total_s|threads|seconds_to|took|solve_us")
PICTURES = (".png", ".gif", ".webp")


class Words(str):
    """A text for people: compared apart."""


def run_case(case: Case, keep: Path | None = None) -> dict[str, Any]:
    """The result of a case: whether it ran, and each part's digest. keep: a file for its arrays."""
    began = time.process_time()
    parts: dict[str, Any] = {}
    try:
        parts = dict(list_parts(case.run()))
        found: dict[str, Any] = {"state": "ran"}
        if case.raises:
            found = {"state": "failed", "reason": f"it raised nothing, but must raise {case.raises}"}
    except Skip as reason:
        found = {"state": "skipped", "reason": str(reason)}
    except Exception as error:
        if case.raises in [kind.__name__ for kind in type(error).__mro__]:
            parts, found = {"error": case.raises, "message": Words(error)}, {"state": "ran"}
        else:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            found = {"state": "failed", "reason": f"{type(error).__name__} in {place}: {error}"}
    if keep is not None:
        arrays = {
            name: each for name, each in parts.items() if isinstance(each, np.ndarray) and each.dtype.kind in "fiub"
        }
        np.savez(keep, **{name.replace("/", "\\"): array for name, array in arrays.items()})
    found["parts"] = {name: digest(parts[name]) for name in sorted(parts)}
    found["seconds"] = round(time.process_time() - began, 2)
    return found


def list_parts(thing: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All arrays and texts of a take, or of anything made of them, each with its name."""
    if isinstance(thing, np.ndarray | np.generic):
        yield name, np.asarray(thing)
    elif isinstance(thing, Mapping):
        for key, value in thing.items():
            if not BY_SPEED.search(str(key)):
                yield from list_parts(value, f"{name}/{key}")
    elif hasattr(thing, "kind") and hasattr(thing, "message"):  # an event
        yield f"{name}/event", f"{thing.time!r} {thing.actor} {thing.kind}"
        yield f"{name}/message", Words(thing.message)
    elif isinstance(thing, list | tuple):
        for k, value in enumerate(thing):
            yield from list_parts(value, f"{name}/{k}")
    elif isinstance(thing, set | frozenset):
        yield from list_parts(sorted(thing, key=str), name)
    elif type(thing).__name__ == "Character":  # it goes in, and does not come out
        return
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            if not BY_SPEED.search(field.name) and not field.name.startswith("_"):
                yield from list_parts(getattr(thing, field.name), f"{name}/{field.name}")
    elif isinstance(thing, bytes):
        yield name, np.frombuffer(thing, np.uint8)
    elif isinstance(thing, str | int | float | bool | complex):
        yield name, thing if isinstance(thing, str) else repr(thing)
    elif isinstance(thing, Path):
        yield name, thing.name
    elif thing is not None:
        raise TypeError(f"part '{name}' of a result is a {type(thing).__name__}, which has no digest. Give arrays.")


def digest(value: Any) -> dict[str, Any]:
    """The SHA-256 of an array or text, and what shows how far two of them are apart."""
    if not isinstance(value, np.ndarray):
        found = {
            "sha256": hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()[:32],
            "text": value[:300],
        }
        return {**found, "words": True} if isinstance(value, Words) else found
    array = np.ascontiguousarray(value)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    head = f"{array.dtype.str} {array.shape} ".encode()
    return {"sha256": hashlib.sha256(head + array.tobytes()).hexdigest()[:32], "shape": list(array.shape)}


def read_text(text: str, folder: Path) -> Any:
    """A text as a part: one that is a sentence is for people, another is a result."""
    text = text.replace(str(folder), ".")
    return Words(text) if len(text.split()) > 3 or text.endswith(".") else text


def read_figures(figures: Any, folder: Path) -> Any:
    """Figures out of a JSON object: numbers as texts, sentences apart."""
    if isinstance(figures, Mapping):
        return {
            str(key): read_figures(value, folder) for key, value in figures.items() if not BY_SPEED.search(str(key))
        }
    if isinstance(figures, list):
        if all(isinstance(each, int | float) for each in figures):
            return json.dumps(figures)
        return [read_figures(value, folder) for value in figures]
    if isinstance(figures, np.ndarray):
        return figures
    if isinstance(figures, tuple | np.generic | Path):
        return read_figures(list(figures) if isinstance(figures, tuple) else str(figures), folder)
    return read_text(figures, folder) if isinstance(figures, str) else json.dumps(figures)


def read_file(path: Path, folder: Path) -> Any:
    """What a file holds: arrays of an NPZ, figures of a JSON or TOML, pixels of a picture, the bytes of others."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return {key: read_array(arrays[key], folder) for key in arrays.files if not BY_SPEED.search(key)}
    if path.suffix in (".json", ".gltf"):
        return read_figures(json.loads(path.read_text(encoding="utf-8")), folder)
    if path.suffix == ".toml":
        return read_figures(
            json.loads(json.dumps(tomllib.loads(path.read_text(encoding="utf-8")), default=str)), folder
        )
    if path.suffix in PICTURES:
        return read_picture(path)
    if path.suffix in (".glb", ".vrm"):
        return read_glb(path.read_bytes(), folder)
    return np.frombuffer(path.read_bytes(), np.uint8)


def read_array(array: np.ndarray, folder: Path) -> Any:
    """An array of an NPZ; a text in it may be a JSON object."""
    if array.dtype.kind != "U" or array.ndim:
        return array
    try:
        return read_figures(json.loads(str(array)), folder)
    except ValueError:
        return read_text(str(array), folder)


def read_glb(data: bytes, folder: Path) -> Any:
    """The object and the buffer of a GLB."""
    (length,) = struct.unpack_from("<I", data, 12)
    return {"object": read_figures(json.loads(data[20 : 20 + length]), folder), "buffer": data[28 + length :]}


def read_picture(path: Path) -> Any:
    """The pixels of all frames: a file may be packed otherwise."""
    from PIL import Image, ImageSequence

    with Image.open(io.BytesIO(path.read_bytes())) as image:
        return [np.asarray(frame.convert("RGBA")) for frame in ImageSequence.Iterator(image)]


def read_files(folder: Path, names: list[str] | None = None) -> dict[str, Any]:
    """Contents of files in a folder: all, or those of some names."""
    paths = sorted(folder.rglob("*") if names is None else (folder / name for name in names))
    return {path.relative_to(folder).as_posix(): read_file(path, folder) for path in paths if path.is_file()}
