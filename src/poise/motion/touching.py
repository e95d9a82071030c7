"""When a point that may rest on something is down on it: low, still, and from landing to lift-off.

Low and still each have a strict and a loose limit (hysteresis): a contact is a stretch of time within the loose ones
that somewhere meets the strict ones. A foot that lands fast (a run, a drop) bears before it is still: in a run over
force plates the sole still slides at 2 m/s when the plate first feels it. What is left then of its way down is what
heel and shoe give way by. So a contact begins where the point has come as near as that to the lowest that it reaches,
and ends where it leaves that.
"""

from __future__ import annotations

import numpy as np

from poise.motion.runs import find_runs

_SHORTEST_CONTACT, _SHORTEST_GAP = 0.06, 0.05  # s
_LOOK_BACK = 0.08  # s before a point is slow, in which its landing is sought
_SETTLES = 0.06  # s after it is slow, in which it reaches its lowest


def hold(loose: np.ndarray, strict: np.ndarray) -> np.ndarray:
    """(F, P) the stretches of `loose` along time that hold at least one `strict`."""
    out = np.zeros_like(loose)
    for p in range(loose.shape[1]):
        for first, last in find_runs(loose[:, p]):
            out[first : last + 1, p] = strict[first : last + 1, p].any()
    return out


def extend(times: np.ndarray, down: np.ndarray, above: np.ndarray, give: float) -> np.ndarray:
    """(F, P) the contacts, each from where the point came down to within `give` m of its lowest, to where it left that.

    above  (F, P) m, height of each point over where it rests
    """
    # Time run backwards, a lift-off is a landing.
    lifted = extend_to_landing(-times[::-1], down[::-1], above[::-1], give)[::-1]
    return np.asarray(extend_to_landing(times, down, above, give) | lifted)


def extend_to_landing(times: np.ndarray, down: np.ndarray, above: np.ndarray, give: float) -> np.ndarray:
    """(F, P) the contacts, each from where the point came down to within `give` m of the lowest it then reaches."""
    out = down.copy()
    for p in range(down.shape[1]):
        for first, last in find_runs(down[:, p]):
            begin = int(np.searchsorted(times, times[first] - _LOOK_BACK))
            end = min(int(np.searchsorted(times, times[first] + _SETTLES)), last)
            lowest = above[first : end + 1, p].min()
            away = np.flatnonzero(np.abs(above[begin:first, p] - lowest) > give)  # below it, too: off the edge of a box
            out[begin + (int(away[-1]) + 1 if len(away) else 0) : first, p] = True
    return out


def clean(times: np.ndarray, down: np.ndarray) -> np.ndarray:
    """(F,) without gaps and then without contacts that are too short; those cut off by the clip's ends stay."""
    down = down.copy()
    for value, shortest in ((False, _SHORTEST_GAP), (True, _SHORTEST_CONTACT)):
        for first, last in find_runs(down == value):
            inside = first > 0 and last < len(times) - 1
            if inside and times[last + 1] - times[first] < shortest:
                down[first : last + 1] = not value
    return down
