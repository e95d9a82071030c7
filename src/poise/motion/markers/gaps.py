"""Every marker at every time: hidden ones from their segment, then along time.

A marker that its rigid segment shows is put back from there (`rigid`). Others are interpolated relative to the middle
of the body, so that one that is lost while the body travels travels with it; at the ends it is held there.
"""

from __future__ import annotations

import numpy as np

from poise.motion.markers.rigid import put_back

LONGEST_GAP = 0.2  # s: a longer one is filled too, but said
_LEAST_SEEN = 0.1  # of the frames: a marker seen less, that its segment does not show, is left out


def fill_gaps(
    markers: dict[str, np.ndarray], times: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, float], tuple[str, ...]]:
    """Every marker (F, 3) at every time, the longest gap in s of each that had one, and the markers left out."""
    gaps = {m: longest_gap(there, times) for m, p in markers.items() if not (there := _seen(p)).all()}
    back = put_back(markers)
    rare = tuple(m for m, p in back.items() if _seen(p).mean() < _LEAST_SEEN)
    kept = {m: p for m, p in back.items() if m not in rare}
    if not kept:
        return {}, gaps, rare
    return _interpolate(kept, times), {m: gap for m, gap in gaps.items() if m in kept}, rare


def _seen(points: np.ndarray) -> np.ndarray:
    return np.asarray(np.isfinite(points).all(axis=1))


def _interpolate(markers: dict[str, np.ndarray], times: np.ndarray) -> dict[str, np.ndarray]:
    from scipy.interpolate import PchipInterpolator

    known = {marker: _seen(p) for marker, p in markers.items()}
    whole = [marker for marker in markers if known[marker].all()] or list(markers)
    rough = [
        np.stack([np.interp(times, times[known[m]], markers[m][known[m], k]) for k in range(3)], axis=1) for m in whole
    ]
    middle = np.mean(rough, axis=0)
    filled = {}
    for marker, p in markers.items():
        there = known[marker]
        if there.all():
            filled[marker] = p
            continue
        relative = p[there] - middle[there]
        inside = np.clip(times, times[there][0], times[there][-1])
        curve = PchipInterpolator(times[there], relative)(inside) if there.sum() > 1 else relative
        filled[marker] = np.where(there[:, None], p, middle + curve)
    return filled


def longest_gap(there: np.ndarray, times: np.ndarray) -> float:
    """s, of the longest run of frames without the marker."""
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    runs = np.diff(np.flatnonzero(np.concatenate([[True], there, [True]]))) - 1
    return float(runs.max()) * step


def describe_gaps(gaps: dict[str, float], rare: tuple[str, ...]) -> list[str]:
    """Sentences on gaps, and on markers that were hardly ever seen."""
    said = []
    if rare:
        said.append(
            f"markers: {', '.join(rare)} {'is' if len(rare) == 1 else 'are'} seen in less than "
            f"{100 * _LEAST_SEEN:.0f} % of the frames and left out."
        )
    long = {marker: gap for marker, gap in gaps.items() if gap > LONGEST_GAP}
    if long:
        worst = ", ".join(f"{m} {gap:.2f} s" for m, gap in sorted(long.items(), key=lambda item: -item[1])[:6])
        said.append(
            f"markers were unseen for longer than {LONGEST_GAP} s ({worst}{', ...' if len(long) > 6 else ''}); "
            "the motion there is interpolated."
        )
    elif gaps:
        said.append(f"gaps of up to {max(gaps.values()):.2f} s in {len(gaps)} markers were filled.")
    return said
