"""Markers that ride on one rigid segment: its pose frame by frame, hidden markers put back, joints from two of them.

Sources
  pose   the rotation of the least squares fit: W. Kabsch (1976), Acta Crystallographica A32, 922-923.
  joint  R. Ehrig, W. Taylor, G. Duda, M. Heller (2006), J. Biomechanics 39(15), 2798-2809 (SCoRE) and (2007), 40(10),
         2150-2157 (SARA): the points c1, c2 fixed in two segments that stay together,
             R1 c1 + t1 = R2 c2 + t2 in every frame, by least squares; a hinge leaves one direction open: its axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

FEWEST = 3  # markers that fix a pose
# m: markers of one segment that move more than this against each other are not on one rigid body.
_SOFTEST = 0.025
_FLATTEST = 0.01  # m: three markers nearer than this to one line fix no pose
_LEAST_TURN = np.radians(20.0)  # by which two segments must turn against each other to show their joint

# Segments and the standard names of markers on them; "*" is a side's letter.
SEGMENTS: Mapping[str, tuple[str, ...]] = {
    "pelvis": ("LASI", "RASI", "LPSI", "RPSI", "SACR", "LICR", "RICR"),
    "head": ("LFHD", "RFHD", "LBHD", "RBHD", "LHDS", "RHDS", "HTOP", "HFRO", "HBAK", "HANY"),
    "trunk": ("C7", "T10", "CLAV", "STRN", "LCLA", "RCLA", "LBAK", "RBAK"),
    **{f"thigh {s}": tuple(s + stem for stem in ("THI", "THA", "THB", "THC", "THD", "KNE", "KNM")) for s in "LR"},
    **{
        f"shank {s}": tuple(s + stem for stem in ("TIB", "SHA", "SHB", "SHC", "SHD", "FIB", "TUB", "ANK", "ANM"))
        for s in "LR"
    },
    **{f"foot {s}": tuple(s + stem for stem in ("HEE", "TOE", "MT1", "MT5", "MID", "MIL")) for s in "LR"},
}


@dataclass(frozen=True, eq=False)
class RigidPose:
    """Where a rigid segment is: world = turn @ template + at; `template` (M, 3) m, turn (F, 3, 3), at (F, 3) m."""

    template: np.ndarray
    turn: np.ndarray
    at: np.ndarray


def find_template(points: np.ndarray) -> np.ndarray | None:
    """(M, 3) m, the shape of a cloud (F, M, 3); None where it is not rigid, or never seen whole.

    That of the frame that differs least from the median of all distances.
    """
    whole = points[np.isfinite(points).all(axis=(1, 2))]
    if not len(whole):
        return None
    if len(whole) > 400:
        whole = whole[np.linspace(0, len(whole) - 1, 400).astype(int)]
    distances = np.linalg.norm(whole[:, :, None] - whole[:, None], axis=-1)
    off = np.abs(distances - np.median(distances, axis=0))
    if float(np.sqrt(np.mean(off**2))) > _SOFTEST:
        return None
    best = whole[int(np.argmin(np.sum(off**2, axis=(1, 2))))]
    return np.asarray(best - best.mean(axis=0))


def fit_pose(template: np.ndarray, points: np.ndarray) -> RigidPose:
    """The pose (Kabsch) that lays a template (M, 3) onto points (F, M, 3)."""
    middle = template.mean(axis=0)
    center = points.mean(axis=1)
    h = np.einsum("mi,fmj->fij", template - middle, points - center[:, None])
    u, _, vt = np.linalg.svd(h)
    sign = np.sign(np.linalg.det(u @ vt))
    vt[:, 2] *= np.where(sign == 0, 1.0, sign)[:, None]
    turn = np.swapaxes(u @ vt, 1, 2)
    return RigidPose(template, turn, center - turn @ middle)


def is_spread(template: np.ndarray) -> bool:
    """Whether points (M, 3) are not all near one line, so that they fix a rotation."""
    if len(template) < FEWEST:
        return False
    sizes = np.linalg.svd(template - template.mean(axis=0), compute_uv=False)
    return bool(sizes[1] > _FLATTEST)


def put_back(markers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Markers (F, 3), NaN where hidden, with those put back that at least three others of their rigid segment show.

    What the segment's pose foretells is corrected so that it meets the marker where it vanishes and where it returns.
    """
    out = dict(markers)
    for names in SEGMENTS.values():
        here = [name for name in names if name in markers]
        if len(here) <= FEWEST or all(np.isfinite(markers[name]).all() for name in here):
            continue
        cloud = np.stack([markers[name] for name in here], axis=1)
        template = find_template(cloud)
        if template is None:
            continue
        seen = np.isfinite(cloud).all(axis=-1)
        for k, name in enumerate(here):
            guess = _foretell(template, cloud, seen, k)
            out[name] = _join(cloud[:, k], guess)
    return out


def _foretell(template: np.ndarray, cloud: np.ndarray, seen: np.ndarray, k: int) -> np.ndarray:
    """(F, 3) where marker k should be by the others, in its gaps and beside them; NaN where too few are seen."""
    guess = np.full(cloud[:, k].shape, np.nan)
    hidden = ~seen[:, k]
    wanted = hidden | np.append(hidden[1:], False) | np.append(False, hidden[:-1])
    others = seen.copy()
    others[:, k] = False
    codes = others @ (1 << np.arange(others.shape[1]))  # who is seen, as one number a frame
    for code in np.unique(codes):
        frames = (codes == code) & wanted
        if not frames.any():
            continue
        pattern = others[np.argmax(frames)]
        if not is_spread(template[pattern]):
            continue
        pose = fit_pose(template[pattern], cloud[frames][:, pattern])
        guess[frames] = pose.turn @ template[k] + pose.at
    return guess


def _join(marker: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """(F, 3) the marker, and in its gaps the guess plus the error it has at their ends."""
    there = np.isfinite(marker).all(axis=1)
    both = there & np.isfinite(guess).all(axis=1)
    fill = ~there & np.isfinite(guess).all(axis=1)
    if not both.any() or not fill.any():
        return marker
    frames = np.arange(len(marker))
    error = marker[both] - guess[both]
    correction = np.stack([np.interp(frames[fill], frames[both], error[:, i]) for i in range(3)], axis=1)
    out = marker.copy()
    out[fill] = guess[fill] + correction
    return out


def find_hinge(upper: np.ndarray, lower: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(F, 3) m a point on the axis about which two clouds (F, M, 3) turn against each other, and (F, 3) the axis.

    In the upper segment's motion. None where a cloud is not rigid or they hardly turn.
    """
    templates = [find_template(cloud) for cloud in (upper, lower)]
    if any(template is None or not is_spread(template) for template in templates):
        return None
    one, two = (fit_pose(t, c) for t, c in zip(templates, (upper, lower), strict=True) if t is not None)
    relative = np.swapaxes(one.turn, 1, 2) @ two.turn
    mean = _mean_rotation(relative)
    turned = np.arccos(np.clip(0.5 * (np.trace(mean.T @ relative, axis1=1, axis2=2) - 1.0), -1.0, 1.0))
    if np.quantile(turned, 0.95) < 0.5 * _LEAST_TURN:
        return None
    rows = np.concatenate([one.turn, -two.turn], axis=2).reshape(-1, 6)
    right = (two.at - one.at).reshape(-1)
    u, sizes, vt = np.linalg.svd(rows, full_matrices=False)
    keep = sizes > 1e-9 * sizes[0]
    keep[5] = False  # along the axis nothing is known; the point nearest to the segments' middles is as good as any
    solution = vt.T[:, keep] @ ((u.T[keep] @ right) / sizes[keep])
    axis = vt[5, :3]
    length = np.linalg.norm(axis)
    if length < 1e-6:
        return None
    point = one.turn @ solution[:3] + one.at
    return point, one.turn @ (axis / length)


def _mean_rotation(turns: np.ndarray) -> np.ndarray:
    """(3, 3) the rotation nearest to the mean of (F, 3, 3)."""
    u, _, vt = np.linalg.svd(turns.mean(axis=0))
    return np.asarray(u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt)) or 1.0]) @ vt)
