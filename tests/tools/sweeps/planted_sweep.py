"""Soles of recordings of people who stand, before and after `poise mix`, measured on the files that it wrote.

Nothing of the balance is used: joints are placed by SciPy's rotations. A foot of the clip is planted while its sole's
middle is within `LOW` of where it rests and slower than `SLOW`, for `LONG` at least; in the mix it may then not travel.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import poise
from helpers import kinematics
from helpers.recordings import data_folder
from poise.errors import PoiseError, SolveError
from poise.files.registry import FORMATS
from poise.motion.clip import Clip
from tools.sweeps.page import table

LOW, SLOW, LONG = 0.02, 0.15, 0.2  # m, m/s, s
MOST = 5.0  # mm
# mm, what this measure gave at c386448, before legs were planned; what was not planted then is left out.
BEFORE = {
    "02_05.amc": (60.18, 98.16),
    "02_05.bvh": (66.44, 97.29),
    "115_01.bvh": (29.23, 29.23),
    "115_06.bvh": (355.50, 373.49),
    "18_15.bvh": (54.26, 92.54),
    "Sample_Static.c3d": (0.00, 0.00),
    "cmu_02_05.c3d": (102.70, 165.08),
    "Med_General.glb: Rig_Medium|Idle_A": (0.00, 0.00),
    "Med_General.glb: Rig_Medium|Idle_B": (0.00, 0.00),
    "Med_General.glb: Rig_Medium|Interact": (0.08, 0.08),
    "Med_General.glb: Rig_Medium|Use_Item": (0.01, 0.01),
    "Med_Simulation.glb: Rig_Medium|Cheering": (1.80, 33.82),
    "Med_Simulation.glb: Rig_Medium|Waving": (0.00, 0.00),
    "RiggedFigure.glb: clip0": (0.00, 0.00),
    "test.vrma": (0.24, 0.24),
}


def sweep() -> tuple[str, int]:
    """Every recording that is mixed on planted feet."""
    folder = data_folder()
    if folder is None:
        return "No recordings here: set POISE_DATA to a folder that has some.", 0
    rows, missed = [], 0
    for name, path, take in find_recordings(folder):
        found = try_recording(path, take)
        if found is None:
            continue
        fell, planted, all_of_it, own, share = found
        missed += fell is not None or not planted <= MOST
        before = BEFORE.get(name, (np.nan, np.nan))
        rows.append((name, f"{100 * share:.0f}", f"{own:.0f}", _show(before[0]), f"{planted:.2f}", _show(before[1]),
                     f"{all_of_it:.2f}", "no" if fell is None else f"at {fell:.1f} s"))  # fmt: skip
        print(*rows[-1], flush=True)
    head = (
        "recording",
        "planted, %",
        "own feet, mm",
        "before, mm",
        "planted feet, mm",
        "before, mm",
        "any, mm",
        "fell",
    )
    text = [
        "`poise mix` as it is, BVH written and read again. `planted` is how much of the time the clip's own feet are"
        " down and still; `own feet` is how far they get all the same. `planted feet` is the farthest that a corner of"
        " a sole travels while the clip has that foot planted, `any` the farthest from where it began, whatever the"
        f" clip does; `before` is what each was before legs were planned. Wanted: {MOST:g} mm. The constants of"
        " `drivers/balance/reference.py` were chosen on these recordings at their own size; the table above has other"
        " sizes.",
        "",
        table(head, rows),
    ]
    return "\n".join(text), missed


def _show(value: float) -> str:
    return f"{value:.1f}" if np.isfinite(value) else "-"


def find_recordings(folder: Path) -> list[tuple[str, Path, str | None]]:
    """Name, file and clip of everything that moves."""
    suffixes = {entry.suffix for entry in FORMATS if entry.read is not None} - {".fbx"}
    found: list[tuple[str, Path, str | None]] = []
    for path in sorted(p for p in folder.rglob("*") if p.suffix.lower() in suffixes):
        try:
            clips = poise.info(path).get("clips") if path.suffix == ".glb" else None
        except PoiseError:
            continue
        found += [(f"{path.name}: {clip}", path, clip) for clip in clips] if clips else [(path.name, path, None)]
    return found


def try_recording(path: Path, take: str | None) -> tuple[float | None, float, float, float, float] | None:
    """When it fell; mm that planted soles travel, that any do, that the clip's own do; share of time planted."""
    try:
        clip = poise.load_clip(path, clip=take) if take else poise.load_clip(path)
        if len(clip) < 4:
            return None
        with tempfile.TemporaryDirectory() as place:
            mixed = poise.mix(clip, outputs=Path(place) / "out.bvh")
            if mixed.figures.get("base", "kinematic" if mixed.stepping else "planted") != "planted":
                return None
            there = poise.load_clip(Path(place) / "out.bvh", scale=1.0, up="Y")
    except SolveError as error:  # it was read, and broke
        print(f"{path.name}: {error}", flush=True)
        return 0.0, np.nan, np.nan, np.nan, np.nan
    except PoiseError as error:
        print(f"{path.name}: {error}", flush=True)
        return None
    own, soles = place_soles(clip), place_soles(there, clip)
    n = len(soles)
    planted = find_planted(own, clip.times)[:n]
    worst = find_travel(soles, planted)
    travel = np.linalg.norm((soles - soles[0])[..., [0, 2]], axis=-1).max()
    moved = np.linalg.norm((own - own[0])[..., [0, 2]], axis=-1).max()
    fell = float(clip.times[n - 1]) if mixed.fell_at is None and mixed.broken is not None else mixed.fell_at
    return fell, 1000.0 * worst, 1000.0 * float(travel), 1000.0 * float(moved), float(planted.mean())


def find_travel(soles: np.ndarray, planted: np.ndarray) -> float:
    """m, the farthest that a corner of a sole (F, 2, 4, 3) gets, seen from above, while its foot is planted (F, 2)."""
    worst = 0.0
    for side in range(2):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], planted[:, side].astype(int), [0]])))
        for first, last in edges.reshape(-1, 2):
            path = soles[first:last, side][..., [0, 2]]
            worst = max(worst, float(np.linalg.norm(path - path[0], axis=-1).max()))
    return worst


def find_planted(soles: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(F, 2) whether each foot is planted in the clip."""
    middle, rate = soles.mean(axis=2), 1.0 / float(np.median(np.diff(times)))
    half = max(1, round(0.05 * rate))
    late, early = np.minimum(np.arange(len(times)) + half, len(times) - 1), np.maximum(np.arange(len(times)) - half, 0)
    speed = np.linalg.norm(middle[late] - middle[early], axis=-1) / (times[late] - times[early])[:, None]
    out = np.zeros(speed.shape, bool)
    for side in range(2):
        still = speed[:, side] < SLOW
        rest = np.median(middle[still, side, 1]) if still.any() else np.inf
        out[:, side] = still & (np.abs(middle[:, side, 1] - rest) < LOW)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], out[:, side].astype(int), [0]])))
        for first, last in edges.reshape(-1, 2):
            if last - first < LONG * rate:
                out[first:last, side] = False
    return out


def place_soles(clip: Clip, like: Clip | None = None) -> np.ndarray:
    """(F, 2, 4, 3) m, corners of both soles. like: whose feet they are, where the file's own are not as well known."""
    return kinematics.place_soles(clip.skeleton, clip.root, clip.rotations, clip.shifts, like and like.skeleton)
