"""The keys of a glTF animation and what lies between them.

    STEP         the last key before
    LINEAR       a straight line; for rotations the shorter great arc (slerp)
    CUBICSPLINE  v(t) = (2u^3 - 3u^2 + 1) v_k + d (u^3 - 2u^2 + u) b_k + (-2u^3 + 3u^2) v_k+1 + d (u^3 - u^2) a_k+1
                 with d = t_k+1 - t_k, u = (t - t_k)/d, a_k and b_k the tangents before and after a key
                                                                                   [glTF 2.0, 3.11 and appendix C]
Before the first key and after the last one the value is held.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from poise.files.formats.gltf.document import Document
from poise.files.formats.gltf.entry import JsonObject
from poise.spatial import rotation

PATHS = {"translation": 3, "rotation": 4, "scale": 3}
# Rates that animators use, Hz, in the order in which keys are tried on them.
_RATES = (30.0, 60.0, 24.0, 25.0, 120.0, 50.0, 48.0, 100.0, 90.0, 240.0)
_OFF_GRID = 0.02  # of a frame: how far a key may lie off a grid
_SNAP = 0.25  # of a frame: a key nearer than this to a frame of its own grid is that frame's
_SAME_MOMENT = 1e-3  # of a frame: keys nearer than this to each other are one
_SLOWEST, _FASTEST = 20.0, 1000.0  # Hz: keys farther apart are poses to be blended, not frames
_USUAL_RATE = 30.0
_MOST_KEYS_TRIED = 100_000


@dataclass(frozen=True, eq=False)
class FrameTimes:
    """When a clip has its frames.

    times  (F,) s from 0, evenly spaced
    at     (F,) s, the same on the animation's clock, exactly at a key where there is one
    rate   Hz, where the keys themselves lie on an even grid, else None
    """

    times: np.ndarray
    at: np.ndarray
    rate: float | None


@dataclass(frozen=True, eq=False)
class Channel:
    """The keys of one channel.

    times      (K,) s, never falling
    values     (K, W); rotations wxyz
    before     (K, W) tangents into each key, after (K, W) out of it; None unless cubic
    how        STEP, LINEAR or CUBICSPLINE
    is_turn    whether the values are rotations
    """

    times: np.ndarray
    values: np.ndarray
    before: np.ndarray | None
    after: np.ndarray | None
    how: str
    is_turn: bool

    def sample(self, t: np.ndarray) -> np.ndarray:
        """The values (F, W) at times (F,)."""
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 1)
        if self.how == "STEP" or len(self.times) == 1 or np.array_equal(self.times[k], t):  # the last: at keys only
            return rotation.normalize(self.values[k]) if self.is_turn else np.asarray(self.values[k])
        k = np.minimum(k, len(self.times) - 2)
        step = self.times[k + 1] - self.times[k]
        u = np.clip((t - self.times[k]) / np.where(step > 0.0, step, 1.0), 0.0, 1.0)
        u = np.where(step > 0.0, u, 1.0)
        here, there = self.values[k], self.values[k + 1]
        if self.before is None or self.after is None:
            return rotation.slerp(here, there, u) if self.is_turn else here + u[:, None] * (there - here)
        u, step = u[:, None], step[:, None]
        curve = (2 * u**3 - 3 * u**2 + 1) * here + step * (u**3 - 2 * u**2 + u) * self.after[k]
        curve += (3 * u**2 - 2 * u**3) * there + step * (u**3 - u**2) * self.before[k + 1]
        if not self.is_turn:
            return curve
        # A curve that goes through zero has no direction there: the nearer key's stands in.
        lost = np.linalg.norm(curve, axis=1, keepdims=True) < 1e-9
        return rotation.normalize(np.where(lost, np.where(u < 0.5, here, there), curve))


def read_tracks(document: Document, animation: JsonObject, nodes: Collection[int]) -> dict[tuple[int, str], Channel]:
    """(node, path) -> its keys, for the paths `translation`, `rotation` and `scale` of some nodes.

    Of two channels for the same thing the first counts.
    """
    samplers = animation.entries("samplers", f"{animation.what}, sampler")
    tracks: dict[tuple[int, str], Channel] = {}
    for channel in animation.entries("channels", f"{animation.what}, channel"):
        target = channel.entry("target")
        node = None if target is None else target.find_index("node", len(document.nodes))
        path = None if target is None else target.text("path")
        if node is None or node not in nodes or path not in PATHS or (node, path) in tracks:
            continue
        tracks[node, path] = _read_track(document, samplers[channel.index("sampler", len(samplers))], path)
    return tracks


def find_moving(document: Document, animation: JsonObject) -> set[int]:
    """The nodes that an animation moves, without reading its keys."""
    targets = [channel.entry("target") for channel in animation.entries("channels", f"{animation.what}, channel")]
    found = [t.find_index("node", len(document.nodes)) for t in targets if t is not None and t.text("path") in PATHS]
    return {node for node in found if node is not None}


def _read_track(document: Document, sampler: JsonObject, path: str) -> Channel:
    how = sampler.text("interpolation") or "LINEAR"
    if how not in ("STEP", "LINEAR", "CUBICSPLINE"):
        raise sampler.error(f"has the interpolation '{how:.20}'; known are STEP, LINEAR and CUBICSPLINE.")
    count = len(document.accessors)
    times = document.array(sampler.index("input", count), "SCALAR")[:, 0].astype(float)
    kind = "VEC4" if PATHS[path] == 4 else "VEC3"
    values = document.array(sampler.index("output", count), kind).astype(float)
    rows = 3 if how == "CUBICSPLINE" else 1
    if not len(times) or len(values) != rows * len(times):
        raise sampler.error(f"has {len(times)} times and {len(values)} values; {rows} values a time are needed.")
    if np.any(np.diff(times) < 0.0):
        bad = int(np.flatnonzero(np.diff(times) < 0.0)[0]) + 1
        raise sampler.error(f"has a key at {times[bad]:g} s after one at {times[bad - 1]:g} s. Times must increase.")
    if path == "rotation":
        values = values[:, [3, 0, 1, 2]]
    before, keys, after = values[0::3], values[1::3], values[2::3]
    if rows == 1:
        keys = values
    if path == "rotation":
        lengths = np.linalg.norm(keys, axis=1, keepdims=True)
        if lengths.min() < 1e-6:
            raise sampler.error(f"has a rotation of no direction, zero, at key {int(lengths.argmin())}.")
        keys = keys if rows == 3 else keys / lengths
    is_turn = path == "rotation"
    if rows == 1:
        return Channel(times, keys, None, None, how, is_turn)
    return Channel(times, keys, before, after, how, is_turn)


def choose_frames(tracks: Iterable[Channel], most: int) -> FrameTimes:
    """Evenly spaced frames from the first key to the last.

    The rate is that of the closest keys where all others are a whole number of frames apart, else the first usual one
    that all keys lie on. Keys on no grid are sampled at 30 Hz, or as densely as they lie, both ends included.

    most  frames that can be afforded; more raise ValueError
    """
    keys = [track.times for track in tracks]
    times = np.unique(np.concatenate(keys)) if keys else np.zeros(1)
    start, end = float(times[0]), float(times[-1])
    if end - start < 1e-4:
        return FrameTimes(np.zeros(1), np.array([start]), None)
    rate = _find_rate(times)
    gap = float(np.median(np.diff(times)))
    wanted = (end - start) * (rate or min(max(_USUAL_RATE, 1.0 / gap), _RATES[-1]))
    if wanted >= most:
        raise ValueError(f"it lasts {end - start:.4g} s, which makes more than {most} frames of this body")
    count = max(1, round(wanted))
    if rate is None:
        at = np.linspace(start, end, count + 1)
        return FrameTimes(at - start, at, None)
    step = (end - start) / count
    if abs(rate - round(rate)) < 1e-4 * rate:  # single precision blurs it
        step = 1.0 / round(rate)
    at = np.linspace(start, end, count + 1)
    near = times[np.clip(np.searchsorted(times, at - 0.5 * step), 0, len(times) - 1)]
    # One moment may have slightly different times in several tracks: at the last of them, all have come to their keys.
    near = times[np.searchsorted(times, near + _SAME_MOMENT * step, side="right") - 1]
    return FrameTimes(np.arange(count + 1) * step, np.where(np.abs(near - at) < _SNAP * step, near, at), 1.0 / step)


def _find_rate(times: np.ndarray) -> float | None:
    """The rate (Hz) of a grid that begins and ends with these times and that all lie on, or None."""
    times = times[:_MOST_KEYS_TRIED]
    span = float(times[-1] - times[0])
    gaps = np.diff(times)
    closest = float(gaps[gaps > 0.1 * np.median(gaps)].min())
    # Single precision keeps a time to 6e-8 of itself.
    blur = 2e-7 * max(abs(float(times[0])), abs(float(times[-1])))
    for rate in (1.0 / closest, *_RATES):
        frames = round(span * rate)
        if not _SLOWEST <= rate <= _FASTEST or frames < 1 or frames > 50 * _MOST_KEYS_TRIED:
            continue
        if rate == 1.0 / closest:  # known only as well as one gap is
            rate = frames / span
        places = (times - times[0]) * rate
        if float(np.abs(places - np.round(places)).max()) < min(_OFF_GRID + blur * rate, 0.2):
            return float(rate)
    return None
