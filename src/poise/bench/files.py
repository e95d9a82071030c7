"""Reading and writing files, beside the fastest other Python library that reads BVH right (pybvh).

Like with like: the tables of a file (hierarchy and channel values) against pybvh's reading, which stops there, and the
motion as quaternions against pybvh's reading and its conversion to them. A whole clip (in metres, Y up, with roles and
all observations made) has no counterpart there and is measured beside the latter too. What both read is compared. GLB
out of a minute is measured beside the reading of that same minute.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.bench.harness import measure
from poise.files.formats.bvh.clip import read_bvh, save_bvh
from poise.files.formats.bvh.text import read_bvh_tables
from poise.files.formats.gltf.write import save_glb

_BYTES = 10_000_000
_MINUTE, _RATE = 60.0, 60.0


def run(rounds: int = 9, size: int = _BYTES) -> dict[str, Any]:
    """Milliseconds, and `ratio`: how many times as long pybvh takes; null where it is missing, then `missing` names it.

    rounds  how often each is timed
    size    bytes of the BVH file, about
    """
    with tempfile.TemporaryDirectory(prefix="poise-bench-") as folder:
        big, minute = Path(folder) / "big.bvh", Path(folder) / "minute.bvh"
        frames_of_minute = int(_MINUTE * _RATE)
        sample = make_motion(frames_of_minute)
        save_bvh(sample, minute)
        save_bvh(make_motion(round(frames_of_minute * size / minute.stat().st_size)), big)
        return {
            "megabytes": big.stat().st_size / 1e6,
            **_time_reading(big, rounds),
            **_time_writing(minute, sample, rounds),
        }


def make_motion(frames: int, seed: int = 0) -> poise.Clip:
    """A human whose joints all turn all the time, so that every channel has numbers of a recording's length."""
    rng = np.random.default_rng(seed)
    skeleton = poise.Character.human().skeleton
    times = np.arange(frames) / _RATE
    phase, pace = rng.uniform(0, 2 * np.pi, (2, len(skeleton), 3))
    turns = 0.4 * np.sin(times[:, None, None] * pace + phase)
    root = np.array([0.0, 0.95, 0.0]) + 0.1 * np.sin(times[:, None] * [1.0, 1.3, 0.7])
    return poise.Clip(skeleton, times, root, rotation.exp(turns), "bench")


def _time_reading(path: Path, rounds: int) -> dict[str, Any]:
    contenders: dict[str, Callable[[], object]] = {
        "tables": lambda: read_bvh_tables(path),
        "recording": lambda: read_bvh(path),
        "clip": lambda: poise.load_clip(path),
    }
    peer = _find_peer()
    if peer is not None:
        contenders["pybvh"] = lambda: peer(str(path))
        contenders["pybvh_quaternions"] = lambda: peer(str(path)).to_quat()
    timings = measure(contenders, rounds)
    found = {f"read_{name}_ms": 1e3 * timings.median(name) for name in ("tables", "recording", "clip")}
    if peer is None:
        none = dict.fromkeys(("pybvh_ms", "pybvh_quaternions_ms", "ratio", "quaternions_ratio", "clip_ratio"))
        return {**found, **none, "missing": ["pybvh"]}
    return {
        **found,
        "pybvh_ms": 1e3 * timings.median("pybvh"),
        "pybvh_quaternions_ms": 1e3 * timings.median("pybvh_quaternions"),
        "ratio": timings.ratio("pybvh", to="tables"),
        "quaternions_ratio": timings.ratio("pybvh_quaternions", to="recording"),
        "clip_ratio": timings.ratio("pybvh_quaternions", to="clip"),
        "largest_difference": _compare(path, peer),
        "spread": max(timings.spread(name) for name in contenders),
        "missing": [],
    }


def _find_peer() -> Callable[[str], Any] | None:
    try:
        from pybvh import read_bvh_file
    except ImportError:
        return None
    read: Callable[[str], Any] = read_bvh_file
    return read


def _compare(path: Path, peer: Callable[[str], Any]) -> float:
    """The largest difference between the channel values that both read: the root's position, and angles in radians."""
    theirs, ours = peer(str(path)), read_bvh_tables(path).values
    angles = np.radians(ours[:, 3:]).reshape(len(ours), -1, 3)
    wanted = np.asarray(theirs.joint_angles)
    return float(max(np.abs(theirs.root_pos - ours[:, :3]).max(), np.abs(wanted - angles).max()))


def _time_writing(minute: Path, clip: poise.Clip, rounds: int) -> dict[str, float]:
    """GLB and BVH out of a minute; the ratio is the time of writing the GLB to that of reading the minute's BVH."""
    glb, again = minute.with_name("out.glb"), minute.with_name("out.bvh")
    timings = measure(
        {
            "read": lambda: poise.load_clip(minute),
            "glb": lambda: save_glb(clip, glb),
            "bvh": lambda: save_bvh(clip, again),
        },
        rounds,
    )
    return {
        "minute_read_ms": 1e3 * timings.median("read"),
        "minute_glb_ms": 1e3 * timings.median("glb"),
        "minute_bvh_ms": 1e3 * timings.median("bvh"),
        "glb_ratio": timings.ratio("glb", to="read"),
    }
