"""Fair timing of contenders on a noisy machine, and a file of earlier figures to compare with.

Contenders take turns, and ratios are taken within a turn.

A slow second hits whoever runs in it. When contenders are interleaved, it hits all of one round, and the median over
rounds of the ratio within a round hardly moves; the ratio of two separate averages does.

Figures are kept in a file, so that later ones can be compared with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import poise
from poise.errors import unknown_name
from poise.files.input import MOST_SETTINGS_BYTES, read_bytes
from poise.files.output import write_bytes


@dataclass(frozen=True)
class Timings:
    """Seconds each contender took, round by round. rounds: name -> (R,) s."""

    rounds: Mapping[str, np.ndarray]

    def median(self, name: str) -> float:
        """The median time of one contender, in seconds."""
        return float(np.median(self._of(name)))

    def spread(self, name: str) -> float:
        """Half the interquartile range over the median: 0.05 means half the rounds lay within 5 % or so."""
        low, high = np.percentile(self._of(name), (25, 75))
        return float((high - low) / 2 / self.median(name))

    def ratio(self, name: str, to: str) -> float:
        """How many times as long as another it took: the median of the ratios within each round."""
        return float(np.median(self._of(name) / self._of(to)))

    def _of(self, name: str) -> np.ndarray:
        if name not in self.rounds:
            raise unknown_name("contender", name, self.rounds, "this bench")
        return self.rounds[name]


def measure(
    contenders: Mapping[str, Callable[[], object]],
    rounds: int = 11,
    warmups: int = 1,
    calls: int = 1,
    clock: Callable[[], float] = perf_counter,
) -> Timings:
    """Time contenders in turn, and in the opposite order every other round.

    rounds   how often each is timed; odd, so that the median is a measured value
    warmups  untimed rounds before: compiling, caches
    calls    calls in one timing, for contenders shorter than the clock can tell; times are of one call
    """
    if rounds < 1 or calls < 1 or warmups < 0:
        raise poise.InputError(
            f"a bench needs at least 1 round and 1 call, and no negative warm-ups; given {rounds}, {calls}, {warmups}."
        )
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders.items())
    for turn in range(-warmups, rounds):
        for name, call in order if turn % 2 == 0 else reversed(order):
            start = clock()
            for _ in range(calls):
                call()
            taken = (clock() - start) / calls
            if turn >= 0:
                seconds[name].append(taken)
    return Timings({name: np.array(taken) for name, taken in seconds.items()})


_KIND = "poise bench"


def save_figures(figures: Mapping[str, Mapping[str, Any]], path: str | PathLike[str]) -> None:
    """Write the figures (bench -> key -> value, plain JSON) of one run, whole or not at all."""
    content = {"kind": _KIND, "version": 1, "benches": figures}
    write_bytes(path, (json.dumps(content, indent=2, allow_nan=False) + "\n").encode())


def check_place_to_save(path: str | PathLike[str]) -> None:
    """Refuse to write figures over a file that holds something else."""
    if Path(path).is_file() and Path(path).stat().st_size:
        try:
            load_figures(path)
        except poise.FileError:
            raise poise.FileError(path, "is there already and holds no bench figures. Give another path.") from None


def load_figures(path: str | PathLike[str]) -> dict[str, dict[str, Any]]:
    """Read what `save_figures` wrote; FileError where it is something else."""
    try:
        content = json.loads(read_bytes(path, MOST_SETTINGS_BYTES, may_be_empty=True))
    except poise.FileError:
        raise
    except (ValueError, RecursionError):
        content = None
    benches = content.get("benches") if isinstance(content, dict) and content.get("kind") == _KIND else None
    if not isinstance(benches, dict) or not all(isinstance(each, dict) for each in benches.values()):
        raise poise.FileError(path, "is not a file of bench figures. Save some first, by another name, with --save.")
    return benches


def compare_figures(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """A line a number that both have: its name, the old value, the new one, and new over old."""
    then, now = dict(_numbers(old)), dict(_numbers(new))
    rows = [("", "old", "new", "new / old")]
    for key, value in now.items():
        if key in then:
            ratio = f"{value / then[key]:.3f}" if then[key] else "-"
            rows.append((key, f"{then[key]:.4g}", f"{value:.4g}", ratio))
    rows += [(key, "-", f"{now[key]:.4g}", "-") for key in now if key not in then]
    rows += [(key, f"{then[key]:.4g}", "-", "-") for key in then if key not in now]
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    return "\n".join(
        row[0].ljust(widths[0])
        + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    )


def _numbers(figures: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    """All numbers with their names, those of an object inside as `object.name`."""
    for key, value in figures.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{above}{key}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{above}{key}", float(value)
