"""A performance: layers of recorded hands that are played together, retaken, trimmed, muted and blended.

It is a folder with recordings (`*.hands`) and `performance.toml`, which lists what is played of them:

    [[layers]]
    name = "legs"
    mapping = "legs"            # built in, or a file beside this one (.toml)
    weight = 1.0                # 0 to 1, relative to the layers before it
    muted = false
    viscosity = 0.45            # by default the mapping's
    stiffness = 1.0             # of the joints that it moves: 0.1 slack, 9 tense

    [[pieces]]
    layer = "legs"
    file = "legs-1.hands"
    begin = 0.0                 # s of the recording
    end = 31.5                  # by default the end of the recording
    at = 0.0                    # s of the performance, where `begin` is

    [[cues]]                    # of the whole performance: `cues.py`
    at = 12.5                   # s of the performance
    do = "let go"               # or "stand", "take back"
    layer = "legs"              # whose recording it was made with; by default none

A cue is dropped when the recording that it was made with is retaken, trimmed or removed. Recordings are never changed:
a retake ends the piece before it. So every change can be undone, and what a killed program had recorded is there when
the folder is opened again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import FileError, InputError, finite_number, unknown_name
from poise.files.output import write_bytes
from poise.files.toml import Table, TomlFile, format_toml
from poise.puppetry.cues import CUES, MOST_CUES, Cue, sort_cues
from poise.puppetry.hands import HandsSource, HandsTake, join
from poise.puppetry.hands_file import SUFFIX, HandsRecorder, load_hands
from poise.puppetry.layers import PuppetLayer, check_feel
from poise.puppetry.mapping import HandMapping, load_mapping

FILE = "performance.toml"
ORDER = ("legs", "trunk", "arms")
MOST_LAYERS, MOST_PIECES = 64, 5000
MOST_UNDO = 1000
_SAME = 1e-6  # s, within which two times are the same


@dataclass(frozen=True)
class Piece:
    """A stretch of a recording: from `begin` to `end` (s of it), played from `at` on (s of the performance)."""

    file: str
    begin: float = 0.0
    end: float = math.inf
    at: float = 0.0

    def __post_init__(self) -> None:
        for name in ("begin", "at"):
            finite_number(getattr(self, name), f"'{name}' of a piece")
        if not self.end > self.begin:
            raise InputError(f"a piece ends after it begins; from {self.begin:g} to {self.end:g} s given.")
        if Path(self.file).name != self.file or not self.file.endswith(SUFFIX):
            raise InputError(
                f"a piece is of a recording ({SUFFIX}) in the performance's folder; '{self.file:.60}' given."
            )


@dataclass(frozen=True)
class RecordedLayer:
    """One layer. pieces: in order of time, without overlap"""

    name: str
    mapping: str
    pieces: tuple[Piece, ...] = ()
    weight: float = 1.0
    muted: bool = False
    viscosity: float | None = None
    stiffness: float = 1.0

    def __post_init__(self) -> None:
        check_feel(self.viscosity, self.stiffness)
        if not 0.0 <= finite_number(self.weight, "the weight of a layer") <= 1.0:
            raise InputError(f"the weight of a layer must be from 0 to 1; got {self.weight:g}.")


@dataclass(frozen=True)
class Performance:
    """Layers, lowest first, and cues in order of time. It is frozen: every change returns a new one."""

    layers: tuple[RecordedLayer, ...] = field(default_factory=tuple)
    cues: tuple[Cue, ...] = ()

    def find(self, name: str) -> RecordedLayer:
        """Return a layer by its name."""
        found = next((layer for layer in self.layers if layer.name == name), None)
        if found is None:
            raise unknown_name("layer", name, [layer.name for layer in self.layers])
        return found

    def _with(self, layer: RecordedLayer) -> Performance:
        if all(each.name != layer.name for each in self.layers):
            return replace(self, layers=(*self.layers, layer))
        return replace(self, layers=tuple(layer if each.name == layer.name else each for each in self.layers))

    def _without_cues(self, layer: str, begin: float = 0.0, end: float = math.inf) -> Performance:
        """Remove the cues that were made with a layer from `begin` on and before `end` (s)."""
        kept = (cue for cue in self.cues if cue.layer != layer or not begin - _SAME <= cue.at < end - _SAME)
        return replace(self, cues=tuple(kept))

    def cue(self, cue: Cue) -> Performance:
        """Add a cue."""
        if len(self.cues) >= MOST_CUES:
            raise InputError(f"a performance has {MOST_CUES} cues at most. Retake what has too many.")
        return replace(self, cues=sort_cues((*self.cues, cue)))

    def record(self, name: str, mapping: str, file: str) -> Performance:
        """Play a layer, new or existing, by one recording from its beginning."""
        had = next((layer for layer in self.layers if layer.name == name), RecordedLayer(name, mapping))
        anew = self._without_cues(name)
        return anew._with(replace(had, mapping=mapping, pieces=(Piece(file),), muted=False))

    def retake(self, name: str, t: float, file: str) -> Performance:
        """Continue a layer from time t (s) on with another recording, whose time 0 is then."""
        layer = self.find(name)
        if not (math.isfinite(t) and t >= 0.0):
            raise InputError(f"a layer is retaken from a time of 0 s or more on; {t:g} given.")
        before = self._without_cues(name, t)
        return before._with(replace(layer, pieces=(*_cut(layer.pieces, -math.inf, t), Piece(file, at=t))))

    def trim(self, name: str, begin: float, end: float) -> Performance:
        """Remove what a layer has before `begin` and after `end` (s): its hands rest there."""
        if not end > begin:
            raise InputError(f"a layer is trimmed to a stretch of time; from {begin:g} to {end:g} s given.")
        layer = self.find(name)
        kept = self._without_cues(name, 0.0, begin)._without_cues(name, end)
        return kept._with(replace(layer, pieces=_cut(layer.pieces, begin, end)))

    def mute(self, name: str, muted: bool = True) -> Performance:
        """Mute a layer, or play it again."""
        return self._with(replace(self.find(name), muted=muted))

    def blend(self, name: str, weight: float) -> Performance:
        """Set the weight of a layer, 0 to 1, relative to those below."""
        return self._with(replace(self.find(name), weight=weight))

    def feel(self, name: str, viscosity: float | None, stiffness: float = 1.0) -> Performance:
        """Set the viscosity (None: the mapping's) and the stiffness of a layer."""
        return self._with(replace(self.find(name), viscosity=viscosity, stiffness=stiffness))

    def until(self, t: float) -> Performance:
        """Return the part of it that determines the puppet's state at time t (s)."""
        layers = tuple(replace(each, pieces=_cut(each.pieces, -math.inf, t)) for each in self.layers)
        return Performance(layers, tuple(cue for cue in self.cues if cue.at < t - _SAME))

    def remove(self, name: str) -> Performance:
        """Remove a layer and the cues that were made with it; its recordings stay in the folder."""
        self.find(name)
        left = tuple(layer for layer in self.layers if layer.name != name)
        return replace(self._without_cues(name), layers=left)


def _cut(pieces: tuple[Piece, ...], begin: float, end: float) -> tuple[Piece, ...]:
    """Return the parts of pieces that are played from `begin` to `end`, s of the performance."""
    found = []
    for piece in pieces:
        first = max(piece.begin, piece.begin + begin - piece.at)
        last = min(piece.end, piece.begin + end - piece.at)
        if last > first:
            found.append(replace(piece, begin=first, end=last, at=piece.at + first - piece.begin))
    return tuple(found)


class Rehearsal:
    """A performance in its folder, with its history. Every change is on the disk when the call returns.

    now    the present performance
    cache  of its files
    """

    def __init__(self, folder: str | PathLike[str]):
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(folder, f"cannot be a performance's folder: {error.strerror or error}.") from error
        path = self.folder / FILE
        self.now = load_performance(path) if path.exists() else Performance()
        self._past, self._future = list[Performance](), list[Performance]()
        self._recorder: HandsRecorder | None = None
        self.cache = HandsCache()

    def change(self, performance: Performance) -> None:
        """Replace the performance; this can be undone."""
        self._past = [*self._past[-MOST_UNDO + 1 :], self.now]
        self._future.clear()
        self._set(performance)

    def _set(self, performance: Performance) -> None:
        write_bytes(self.folder / FILE, format_performance(performance).encode())
        self.now = performance

    def adjust(self, performance: Performance) -> None:
        """Like `change`, but without a step of its own in the history, as when a slider moves."""
        self._set(performance)

    def undo(self) -> bool:
        """Undo the last change; return False if there is none."""
        if not self._past:
            return False
        self._future.append(self.now)
        self._set(self._past.pop())
        return True

    def redo(self) -> bool:
        """Redo the change that was undone last; return False if there is none."""
        if not self._future:
            return False
        self._past.append(self.now)
        self._set(self._future.pop())
        return True

    def begin_take(
        self, layer: str, mapping: str | None = None, t: float | None = None, neutral: np.ndarray | None = None
    ) -> HandsRecorder:
        """Begin to record a layer, from the start or from time t (s) on; return the recorder.

        mapping  None: the layer's present one, or for a new layer the built-in one of its name
        """
        known = any(each.name == layer for each in self.now.layers)
        used = mapping or (self.now.find(layer).mapping if known else layer)
        self.cache.find_mapping(self._beside(used))
        if t is not None and not known:
            raise unknown_name("layer", layer, [each.name for each in self.now.layers])
        # A recording that was removed by hand keeps its name, since it may come back.
        versions = (self.now, *self._past, *self._future)
        taken = {piece.file for version in versions for each in version.layers for piece in each.pieces}
        number = 1
        while (name := f"{_plain(layer)}-{number}{SUFFIX}") in taken or (self.folder / name).exists():
            number += 1
        file = f"{_plain(layer)}-{number}{SUFFIX}"
        recorder = HandsRecorder(self.folder / file, neutral)
        self.change(self.now.record(layer, used, file) if t is None else self.now.retake(layer, t, file))
        return recorder

    def _beside(self, mapping: str) -> str | Path:
        return self.folder / mapping if mapping.endswith(".toml") else mapping

    def list_layers(self, live: Mapping[str, HandsSource] | None = None) -> list[PuppetLayer]:
        """Return the layers that are played, for a `Puppet`.

        live  by layer: hands that replace the recorded ones
        """
        return build_layers(self.now, self.folder, live, self.cache)

    def find_hands(self, layer: str) -> HandsTake:
        """Return the recordings of a layer as they are played."""
        return _join_pieces(self.now.find(layer), self.folder, self.cache)


def _plain(name: str) -> str:
    """Return a name as a valid file name."""
    kept = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "-" for letter in name)
    return kept[:40].strip("-") or "layer"


def build_layers(
    performance: Performance, folder: Path, live: Mapping[str, HandsSource] | None = None,
    cache: HandsCache | None = None,
) -> list[PuppetLayer]:  # fmt: skip
    """Return the layers with their recordings, except mute and empty ones, in the order of `sort_layers`."""
    found, cache = [], HandsCache() if cache is None else cache
    for layer in performance.layers:
        played = (live or {}).get(layer.name)
        if played is None and (layer.muted or not layer.pieces):
            continue
        hands = played or _join_pieces(layer, folder, cache)
        mapping = cache.find_mapping(folder / layer.mapping if layer.mapping.endswith(".toml") else layer.mapping)
        found.append(PuppetLayer(mapping, hands, layer.weight, 0.0, layer.viscosity, layer.stiffness))
    return sort_layers(found)


def sort_layers(layers: Iterable[PuppetLayer]) -> list[PuppetLayer]:
    """Return layers from the lowest: legs, trunk, arms, and others in their order."""
    return sorted(layers, key=lambda layer: ORDER.index(layer.mapping.name) if layer.mapping.name in ORDER else 9)


def _join_pieces(layer: RecordedLayer, folder: Path, cache: HandsCache) -> HandsTake:
    """Return the pieces of a layer as one recording."""
    cuts = [(cache.find_hands(folder / each.file), each) for each in layer.pieces]
    return join(take.cut(each.begin, each.end, each.at - each.begin) for take, each in cuts)


def format_performance(performance: Performance) -> str:
    """Return a performance as TOML."""
    layers: list[dict[str, Any]] = [
        {"name": layer.name, "mapping": layer.mapping, "weight": layer.weight, "muted": layer.muted,
         "viscosity": layer.viscosity, "stiffness": None if layer.stiffness == 1.0 else layer.stiffness}
        for layer in performance.layers
    ]  # fmt: skip
    pieces: list[dict[str, Any]] = [
        {"layer": layer.name, "file": piece.file, "begin": piece.begin,
         "end": None if math.isinf(piece.end) else piece.end, "at": piece.at}
        for layer in performance.layers
        for piece in layer.pieces
    ]  # fmt: skip
    cues: list[dict[str, Any]] = [{"at": cue.at, "do": cue.do, "layer": cue.layer} for cue in performance.cues]
    return format_toml({"layers": layers, "pieces": pieces, "cues": cues})


def load_performance(path: str | PathLike[str]) -> Performance:
    """Return the performance in a file."""
    with TomlFile(path) as file:
        top = Table("a performance", file.plain)
        layers: dict[str, RecordedLayer] = {}
        for table in top.tables("layers", MOST_LAYERS):
            _read_layer(table, layers)
        for table in top.tables("pieces", MOST_PIECES):
            _read_piece(table, layers)
        cues = [_read_cue(table, layers) for table in top.tables("cues", MOST_CUES)]
        top.check_all_read()
        return Performance(tuple(layers.values()), sort_cues(cues))


def _read_layer(table: Table, layers: dict[str, RecordedLayer]) -> None:
    """Read a layer, still without its pieces."""
    name, mapping = table.needed_text("name"), table.needed_text("mapping")
    weight, muted = table.number("weight"), table.flag("muted")
    viscosity, stiffness = table.number("viscosity"), table.number("stiffness")
    table.check_all_read()
    if name in layers:
        raise table.wrong("name", f"two layers have the name '{name:.60}'.")
    weight, stiffness = 1.0 if weight is None else weight, 1.0 if stiffness is None else stiffness
    with table.reading("viscosity" if viscosity is not None else "stiffness"):
        check_feel(viscosity, stiffness)
    with table.reading("weight"):
        layers[name] = RecordedLayer(name, mapping, (), weight, bool(muted), viscosity, stiffness)


def _read_piece(table: Table, layers: dict[str, RecordedLayer]) -> None:
    """Read a piece, and append it to its layer."""
    name, recorded = table.needed_text("layer"), table.needed_text("file")
    begin, end, at = (table.number(key) for key in ("begin", "end", "at"))
    table.check_all_read()
    _check_layer(table, name, layers)
    with table.reading():
        piece = Piece(recorded, begin or 0.0, math.inf if end is None else end, at or 0.0)
        before = layers[name].pieces[-1:]
        if before and piece.at < before[0].at + before[0].end - before[0].begin - 1e-9:
            raise InputError(f"a piece of '{name:.60}' begins at {piece.at:g} s, before the one before it ends.")
    layers[name] = replace(layers[name], pieces=(*layers[name].pieces, piece))


def _read_cue(table: Table, layers: dict[str, RecordedLayer]) -> Cue:
    at, do, owner = table.needed_number("at"), table.needed_text("do"), table.text("layer")
    table.check_all_read()
    if owner is not None:
        _check_layer(table, owner, layers)
    with table.reading("do" if do not in CUES else "at"):
        return Cue(at, do, owner)


def _check_layer(table: Table, name: str, layers: dict[str, RecordedLayer]) -> None:
    """Raise InputError unless there is a layer of that name."""
    with table.reading("layer"):
        if name not in layers:
            raise unknown_name("layer", name, layers)


_Stamp = tuple[int, int, int] | None
_KEPT = " What it said before is played on."


class HandsCache:
    """Mappings and recordings that were read: playback goes on with the last valid version if a file breaks.

    A file is read again after it has changed. If it is broken or missing then, that is reported once, and the previous
    version is used. A file that was never readable raises InputError.

    messages  for the user, that were not taken yet: see `take_messages`
    """

    def __init__(self) -> None:
        self._read: dict[str, tuple[_Stamp, Any]] = {}
        self._broken: dict[str, _Stamp] = {}  # stamps of the versions that were reported
        self.messages: list[str] = []

    def find_mapping(self, mapping: str | PathLike[str]) -> HandMapping:
        """See `load_mapping`."""
        return self._find(mapping, load_mapping)

    def find_hands(self, path: str | PathLike[str]) -> HandsTake:
        """See `load_hands`."""
        return self._find(path, load_hands)

    def has_changed(self, path: str | PathLike[str]) -> bool:
        """Return whether a file has changed since it was read, and that was not reported yet."""
        known = str(path) in self._read
        now = _stamp(path)
        return known and now != self._read[str(path)][0] and self._broken.get(str(path), ()) != now

    def take_messages(self) -> list[str]:
        """Return the messages since the last call."""
        found, self.messages = self.messages, []
        return found

    def _find(self, path: str | PathLike[str], load: Callable[[Any], Any]) -> Any:
        name, stamp = str(path), _stamp(path)
        had = self._read.get(name)
        if had is not None and had[0] == stamp:
            return had[1]
        try:
            found = load(path)
        except InputError as error:
            if had is None:
                raise
            if self._broken.get(name, ()) != stamp:
                self.messages.append(f"{error}{_KEPT}")
            self._broken[name] = stamp
            return had[1]
        self._read[name] = stamp, found
        self._broken.pop(name, None)
        return found


def _stamp(path: str | PathLike[str]) -> _Stamp:
    """Return what changes when a file does; None if there is no file, and for built-in mappings (`legs`)."""
    if not Path(path).suffix:
        return None
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
