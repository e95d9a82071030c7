"""Fair timing on a noisy machine: contenders take turns, and ratios are taken within a turn.

A slow second hits whoever runs in it. When contenders are interleaved, it hits all of one round, and the median over
rounds of the ratio within a round hardly moves; the ratio of two separate averages does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from poise.errors import InputError, unknown_name


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
        raise InputError(
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
