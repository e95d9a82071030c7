"""Every marker at every time: hidden ones from their segment, then along time.

A marker that its rigid segment shows is put back from there (`rigid`). Others are interpolated relative to the middle
of the body, so that one that is lost while the body travels travels with it, and then once more relative to the markers
nearest to it; at the ends it is held there.
"""

from __future__ import annotations

import numpy as np

from poise.findings import Finding
from poise.motion.markers.rigid import put_back

LONGEST_GAP = 0.2  # s: a longer one is filled too, but said
_NEIGHBOURS, _SAMPLES = 3, 200  # markers beside one, and frames that tell which they are
_LEAST_SEEN = 0.1  # of the frames: a marker seen less, that its segment does not show, is left out
# Inner markers are put on to calibrate and taken off to walk. Their joint is found without them, too: better than with
# one that is not there for most of the time.
_INNER, _LEAST_INNER = ("KNM", "ANM", "ELM"), 0.5


def fill_gaps(
    markers: dict[str, np.ndarray], times: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, float], tuple[str, ...]]:
    """Every marker (F, 3) at every time, the longest gap in s of each that had one, and the markers left out."""
    gaps = {m: longest_gap(there, times) for m, p in markers.items() if not (there := _seen(p)).all()}
    back = put_back(markers)
    rare = tuple(m for m, p in back.items() if _seen(p).mean() < (_LEAST_INNER if m[1:] in _INNER else _LEAST_SEEN))
    kept = {m: p for m, p in back.items() if m not in rare}
    if not kept:
        return {}, gaps, rare
    return _interpolate(kept, times), {m: gap for m, gap in gaps.items() if m in kept}, rare


def _seen(points: np.ndarray) -> np.ndarray:
    return np.asarray(np.isfinite(points).all(axis=1))


def _interpolate(markers: dict[str, np.ndarray], times: np.ndarray) -> dict[str, np.ndarray]:
    known = {marker: _seen(p) for marker, p in markers.items()}
    whole = [marker for marker in markers if known[marker].all()] or list(markers)
    rough = [
        np.stack([np.interp(times, times[known[m]], markers[m][known[m], k]) for k in range(3)], axis=1) for m in whole
    ]
    middle = np.mean(rough, axis=0)
    filled = {marker: _follow(p, known[marker], middle, times) for marker, p in markers.items()}
    if len(markers) <= _NEIGHBOURS:
        return filled
    names = list(filled)
    some = np.unique(np.linspace(0, len(times) - 1, min(len(times), _SAMPLES)).astype(int))
    cloud = np.stack([filled[name][some] for name in names], axis=1)
    better = dict(filled)
    for k, name in enumerate(names):
        if not known[name].all():
            apart = np.median(np.linalg.norm(cloud - cloud[:, k, None], axis=2), axis=0)
            near = [names[i] for i in np.argsort(apart)[1 : 1 + _NEIGHBOURS]]
            beside = np.mean([filled[other] for other in near], axis=0)
            better[name] = _follow(markers[name], known[name], beside, times)
    return better


def _follow(p: np.ndarray, there: np.ndarray, reference: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(F, 3) a marker whose gaps are interpolated relative to a point (F, 3) that is always there."""
    from scipy.interpolate import PchipInterpolator

    if there.all():
        return p
    relative = p[there] - reference[there]
    inside = np.clip(times, times[there][0], times[there][-1])
    curve = PchipInterpolator(times[there], relative)(inside) if there.sum() > 1 else relative
    return np.where(there[:, None], p, reference + curve)


def longest_gap(there: np.ndarray, times: np.ndarray) -> float:
    """s, of the longest run of frames without the marker."""
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    runs = np.diff(np.flatnonzero(np.concatenate([[True], there, [True]]))) - 1
    return float(runs.max()) * step


def describe_gaps(gaps: dict[str, float], rare: tuple[str, ...]) -> list[Finding]:
    """Gaps, and markers that were hardly ever seen."""
    found = []
    if rare:
        are = "is" if len(rare) == 1 else "are"
        message = f"{', '.join(rare)} {are} seen in too few of the frames and left out."
        found.append(Finding("markers", message, rare))
    long = {marker: gap for marker, gap in gaps.items() if gap > LONGEST_GAP}
    if long:
        worst = ", ".join(f"{m} {gap:.2f} s" for m, gap in sorted(long.items(), key=lambda item: -item[1])[:6])
        message = (
            f"some markers were unseen for longer than {LONGEST_GAP} s ({worst}{', ...' if len(long) > 6 else ''}); "
            "the motion there is interpolated."
        )
        found.append(Finding("gaps", message, max(long.values())))
    elif gaps:
        longest = max(gaps.values())
        found.append(Finding("gaps", f"those of up to {longest:.2f} s in {len(gaps)} markers were filled.", longest))
    return found
