"""Bodies of every size, and every standing recording: what falls, sways, creeps. One setting for all."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from helpers.recordings import data_folder
from poise import Character, Stage
from poise.body.geometry.soles import find_soles
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.errors import PoiseError
from poise.files.registry import FORMATS, load_clip
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.simulation import simulate as mix
from poise.motion.clip import Clip
from poise.motion.contacts.stepping import find_steps
from poise.spatial import rotation
from poise.spatial.filter import lowpass, uniform_rate
from tools.sweeps.page import table
from tools.sweeps.planted_sweep import find_planted, place_soles
from tools.sweeps.planted_sweep import find_travel as find_planted_travel
from tools.sweeps.runs import GESTURES, SETTLED, Figures, run, stand

STATURES, MASSES = (1.2, 1.4, 1.6, 1.75, 1.9, 2.1), (30.0, 50.0, 75.0, 110.0, 150.0)
FULL = ((1.2, 30.0), (1.75, 75.0), (2.1, 150.0))  # bodies that are tried with all their joints, too
SECONDS = 12.0
CREPT = 1.0  # mm, in a run of that length
SKATED = 5.0  # mm, in a recording


def sweep_bodies() -> tuple[str, int]:
    """Every gesture on every body."""
    bodies = [(h, m, "mix") for h in STATURES for m in MASSES] + [(h, m, "full") for h, m in FULL]
    cells = {(body, name): try_gesture(*body, name) for body in bodies for name in GESTURES}
    fallen = [(body, name, cell) for (body, name), cell in cells.items() if cell.fell_at is not None]
    crept = sum(not cell.creep <= CREPT for cell in cells.values())
    rows: dict[tuple[str, ...], list[str]] = {}
    for h, m, preset in bodies:
        size = f"{h:g}" if preset == "mix" else f"{h:g} {preset}"
        shown = (size, *(show(cells[(h, m, preset), name]) for name in GESTURES))
        rows.setdefault(shown, []).append(f"{m:g}")
    text = [
        f"{len(cells)} runs of {SECONDS:g} s at 5 ms: {len(fallen)} fell, {crept} crept more than {CREPT:g} mm. Each"
        " cell is sway, creep and margin in mm; **fell** where it did. Masses that came to the same share a row:"
        " all is in units of the body's own mass, so a heavier body of the same stature moves alike.",
        "",
        table(("m", "kg", *GESTURES), [(shown[0], ", ".join(kg), *shown[1:]) for shown, kg in rows.items()]),
        *([""] if fallen else []),
        *(f"- {h:g} m, {m:g} kg, {name}: {cell.why}" for (h, m, _), name, cell in fallen),
    ]
    return "\n".join(text), len(fallen) + crept


def try_gesture(height: float, mass: float, preset: str, name: str) -> Figures:
    """One body making one gesture."""
    stage = Stage()
    figures = run(stage, stand(stage, Character.human(height, mass, preset=preset), GESTURES[name]), SECONDS)
    print(f"{height:g} m {mass:g} kg {preset} {name}: {show(figures)} {figures.why}", flush=True)
    return figures


def show(cell: Figures) -> str:
    """Sway, creep and margin, mm."""
    return cell.ending or f"{cell.sway:.1f} {cell.creep:.2f} {1000 * cell.margin:.0f}"


# Recordings.

SHUFFLE = 0.7  # m
SCALES, WEIGHTS = (1.2, 1.75, 2.1), (30.0, 75.0, 150.0)


def find_clips(folder: Path) -> dict[str, Clip]:
    """Every recording whose feet stay within `SHUFFLE` of where they first are."""
    suffixes = {entry.suffix for entry in FORMATS if entry.read is not None} - {".fbx"}
    found: dict[str, Clip] = {}
    for path in sorted(p for p in folder.rglob("*") if p.suffix.lower() in suffixes):
        try:
            clip = load_clip(path)
            if len(clip) > 3 and find_travel(clip) < SHUFFLE:
                found[path.name] = clip
        except PoiseError as error:
            print(f"{path.name}: {error}", flush=True)
    return found


def find_travel(clip: Clip) -> float:
    """m, the farthest that the ball of either foot gets from where it first was."""
    positions, orientations = clip.world
    most = 0.0
    for sole in find_soles(clip.skeleton):
        front = sole.foot if sole.toes is None else sole.toes
        ball = positions[:, front] + rotation.rotate(orientations[:, front], sole.ball)
        most = max(most, float(np.linalg.norm(ball - ball[0], axis=1).max()))
    return most


def find_least_force(clip: Clip) -> float:
    """The least upward force that the clip asks of the ground, in body weights, of what is slower than 6 Hz."""
    rate = uniform_rate(clip.times)
    if rate < 15.0 or len(clip) < 10:
        return np.nan
    tree = build_tree(Character.from_skeleton(clip.skeleton, 75.0))
    height = lowpass(compute_center_of_mass(tree, clip.root, clip.rotations)[:, 1], rate, 6.0)
    return 1.0 + float(np.gradient(np.gradient(height, 1.0 / rate), 1.0 / rate).min()) / 9.81


def sweep_clips() -> tuple[str, int]:
    """Every standing recording on its own skeleton, and on that skeleton made smaller and larger."""
    folder = data_folder()
    if folder is None:
        return "No recordings here: set POISE_DATA to a folder that has some.", 0
    rows, stepping, missed = [], [], 0
    for name, clip in find_clips(folder).items():
        own = Character.from_skeleton(clip.skeleton, 75.0).height
        bodies = [(own, mass) for mass in WEIGHTS] + list(zip(SCALES, WEIGHTS, strict=True))
        facts = (
            name,
            f"{clip.duration:.1f}",
            f"{own:.2f}",
            f"{1000 * find_travel(clip):.0f}",
            f"{find_least_force(clip):.2f}",
        )
        if find_steps(clip):
            cell = try_clip(name, clip, own, 75.0)
            missed += cell.is_broken
            stepping.append((*facts, show(cell)))
            continue
        cells = [try_clip(name, clip, *body) for body in bodies]
        missed += sum(cell.fell_at is not None or not cell.creep <= SKATED for cell in cells)
        rows.append((*facts, *(show(cell) for cell in cells)))
    facts_head = ("clip", "s", "m", "feet, mm", "least force")
    head = [f"own, {m:g} kg" for m in WEIGHTS] + [f"{h:g} m, {m:g} kg" for h, m in zip(SCALES, WEIGHTS, strict=True)]
    text = [
        "What `poise mix` makes of them: legs physical, feet planted, everything above as recorded. Each cell is sway,"
        " creep and margin in mm; creep is the farthest that a corner of a sole gets while the clip has that foot"
        f" planted, as in the next section, and {SKATED:g} mm are wanted. `feet` is how far the clip's own feet get,"
        " `least force` the least upward force that it asks of the ground, in body weights: near 0 it all but jumps."
        " Scaled bodies keep the clip's times: what is larger is livelier.",
        "",
        table((*facts_head, *head), rows),
        "",
        f"Recordings that shift their feet, by less than {SHUFFLE:g} m: with `--base planted`, which does not"
        " follow the clip's hips. People who made these motions took steps; that some fall without is no fault.",
        "",
        table((*facts_head, "own, 75 kg"), stepping),
    ]
    return "\n".join(text), missed


def try_clip(name: str, clip: Clip, height: float, mass: float) -> Figures:
    """A clip with physical legs, on its own skeleton at another stature."""
    scale = height / Character.from_skeleton(clip.skeleton, mass).height
    if abs(scale - 1.0) > 1e-6:
        clip = Clip(clip.skeleton.scaled(scale), clip.times, scale * clip.root, clip.rotations, clip.name)
    try:
        found = mix(clip, Character.from_skeleton(clip.skeleton, mass), MixPlan(base="planted"))
    except PoiseError as error:
        print(f"{name} {height:.2f} m {mass:g} kg: {error}", flush=True)
        return Figures(0.0, f"refused: {error}")
    record, late = found.take.actor(), found.take.times >= min(SETTLED, 0.2 * clip.duration)
    figures = Figures(found.fell_at, found.broken or found.fell_why)
    if found.broken is not None:  # without a fall, too
        figures.fell_at = float(found.take.times[-1])
    if len(record.soles) == 0 or not late.any():
        return figures
    planted = find_planted(place_soles(clip), clip.times)[: len(found.clip)]
    figures.creep = 1000.0 * find_planted_travel(place_soles(found.clip), planted)
    figures.margin = float(record.margin[late].min())
    figures.centers = [record.center[late][:, [0, 2]]]
    print(f"{name} {height:.2f} m {mass:g} kg: {show(figures)} {figures.why}", flush=True)
    return figures
