"""Makes the figures of docs/forces.md: ground force and joint moments beside force plates and OpenSim.

    .venv/bin/python docs/make/forces.py FOLDER

FOLDER holds, for each trial, NAME.bvh, NAME.json (subject_mass_kg), NAME_grf.csv (measured) and NAME_reference.csv
(OpenSim). Rewrites the tables between the marks in docs/forces.md, and the picture.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np

import poise
from poise.body.roles import SIDES
from poise.dynamics.kinematics import compute_center_of_mass
from poise.files import load_clip
from poise.motion.forces.forces import ClipForces
from poise.pictures.plots import COLORS
from poise.spatial.cutoff import choose_cutoff
from poise.spatial.filter import uniform_rate

DOCS = Path(__file__).parents[1]
# Trials without a filter have moments that are noise: the filtered twin's stand in for them.
REFERENCE_OF = {"walk3d_raw": "walk3d", "walk3d_ik_raw": "walk3d_ik", "hamner_run_raw": "hamner_run_overground"}
JOINTS = {"hip": "UpperLeg", "knee": "LowerLeg", "ankle": "Foot"}


def read_table(path: Path) -> dict[str, np.ndarray]:
    """Columns of a CSV by name; empty cells are NaN."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0]}


def rms(x: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(x))))


def apart(forces: ClipForces, plates: dict[str, np.ndarray], mass: float) -> np.ndarray:
    """(F, 3) differences of the net force in % of body weight: lateral, vertical, fore-aft."""
    measured = np.stack([plates[f"total_f{axis}"] for axis in "xyz"], axis=1)
    return 100 * (forces.reaction.force - measured) / (mass * 9.81)


def measured_contacts(plates: dict[str, np.ndarray]) -> np.ndarray:
    """(F, 2) whether each foot is on a plate."""
    return np.stack([plates["left_contact"], plates["right_contact"]], axis=1) == 1


def force_row(name: str, plain: ClipForces, forces: ClipForces, plates: dict[str, np.ndarray], mass: float) -> str:
    """RMS differences of the net force in % of body weight, and of the pressure centre in single support in cm.

    plain  the same motion under a low-pass filter alone
    """
    valid, down = plates["valid"] == 1, measured_contacts(plates)
    stance, flight = valid & down.any(axis=1), valid & ~down.any(axis=1)
    cells = []
    for each in (plain, forces):
        off = apart(each, plates, mass)
        left = 100 * each.reaction.force[flight, 1] / (mass * 9.81)  # what is found where the plates feel nothing
        cells += [f"{each.path.hz if each.path else each.cutoff:.1f}"]
        cells += [
            f"{rms(off[valid, 1]):.1f}",
            f"{rms(off[stance, 1]):.1f}",
            f"{rms(left):.1f}" if flight.any() else "-",
        ]
        cells += [f"{rms(off[valid, 2]):.1f}", f"{rms(off[valid, 0]):.1f}"]
    off_center = []
    for side, word in enumerate(("left", "right")):
        single = valid & down[:, side] & ~down[:, 1 - side] & np.isfinite(plates[f"{word}_cop_z"])
        off_center.append(forces.reaction.pressure[single, 2] - plates[f"{word}_cop_z"][single])
    found = np.concatenate(off_center)
    return f"| {name} | " + " | ".join(cells) + f" | {100 * rms(found[np.isfinite(found)]):.1f} |"


def contact_row(name: str, forces: ClipForces, plates: dict[str, np.ndarray]) -> str:
    """Share of frames in contact, frames that agree, and errors of onsets and ends in ms, mean and spread."""
    down, whole, times = measured_contacts(plates), plates["plates_whole_body"] == 1, forces.times
    found = forces.contacts.foot
    begins: list[float] = []
    ends: list[float] = []
    for side in range(2):
        for sign, errors in ((1, begins), (-1, ends)):
            true, ours = (times[1:][np.diff(mask[:, side].astype(int)) == sign] for mask in (down, found))
            for moment in true:
                if whole[np.searchsorted(times, moment)] and len(ours) and np.abs(ours - moment).min() < 0.15:
                    errors.append(1e3 * float(ours[np.argmin(np.abs(ours - moment))] - moment))
    shares = [100 * mask.any(axis=1)[whole].mean() for mask in (found, down)]
    agree = 100 * (found == down)[whole].mean()
    said = [f"{np.mean(e):.0f} +- {np.std(e):.0f} ({len(e)})" if e else "-" for e in (begins, ends)]
    return f"| {name} | {shares[0]:.0f} | {shares[1]:.0f} | {agree:.1f} | {said[0]} | {said[1]} |"


def share_row(name: str, found: dict[str, ClipForces], plates: dict[str, np.ndarray], mass: float) -> str | None:
    """In double support: RMS of the left foot's share in %, and of each foot's force in % of body weight, both ways.

    None where both feet are never down. Beside them the share that is always one half, and the moment at the root that
    the feet leave unexplained: its median in N m.
    """
    both = (plates["valid"] == 1) & measured_contacts(plates).all(axis=1)
    if not both.any():
        return None
    measured = np.stack([np.stack([plates[f"{side}_f{axis}"] for axis in "xyz"], axis=1) for side in SIDES], axis=1)
    share = measured[both, 0, 1] / measured[both, :, 1].sum(axis=1)
    cells = [f"{100 * rms(each.feet.share[both, 0] - share):.1f}" for each in found.values()]
    cells.append(f"{100 * rms(0.5 - share):.1f}")
    for axis in (1, 2, 0):
        off = [100 * rms((each.feet.force - measured)[both, :, axis]) / (mass * 9.81) for each in found.values()]
        cells.append(" / ".join(f"{value:.1f}" for value in off))
    left = [np.median(np.linalg.norm(each.torque[both, 0], axis=-1)) for each in found.values()]
    cells.append(" / ".join(f"{value:.0f}" for value in left))
    return f"| {name} | {both.sum()} | " + " | ".join(cells) + " |"


def moment_row(name: str, forces: ClipForces, reference: dict[str, np.ndarray], index) -> str:
    """Largest hip, knee and ankle moment, ours / OpenSim's, in N m, and RMS difference of their sizes."""
    valid = reference["valid"] == 1
    cells = []
    for joint, role in JOINTS.items():
        for side in ("left", "right"):
            ours = np.linalg.norm(forces.torque[valid, index(side + role)], axis=-1)
            theirs = reference[f"{side}_{joint}_norm"][valid]
            cells.append(f"{ours.max():.0f} / {theirs.max():.0f} ({rms(ours - theirs):.0f})")
    return f"| {name} | " + " | ".join(cells) + " |"


def draw(trials: list[tuple[str, ClipForces, dict[str, np.ndarray], float]], path: Path) -> None:
    """Every trial's net force beside the plates' curve; the stretch where all contacts are on a plate is shaded."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 2.1 * len(trials)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(trials), 2, sharex="row", squeeze=False)
    for row, (name, forces, plates, mass) in zip(panels, trials, strict=True):
        valid = plates["valid"] == 1
        for panel, axis, letter in ((row[0], 1, "y"), (row[1], 2, "z")):
            measured = np.where(plates["plates_whole_body"] == 1, plates[f"total_f{letter}"], np.nan)
            panel.fill_between(
                plates["time"], 0, 1, where=valid, color="0.93", lw=0, transform=panel.get_xaxis_transform()
            )
            panel.plot(plates["time"], measured / (mass * 9.81), color="black", lw=2.2, label="force plates")
            ours = forces.reaction.force[:, axis] / (mass * 9.81)
            panel.plot(forces.times, ours, color=COLORS["x"], lw=1.3, label="Poise, from motion alone")
            panel.set_title(f"{name}, {'vertical' if letter == 'y' else 'fore-aft'}", fontsize=9, loc="left")
            panel.grid(alpha=0.25)
            panel.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel("body weights", fontsize=8)
    panels[0][0].legend(frameon=False, fontsize=8)
    for panel in panels[-1]:
        panel.set_xlabel("time, s", fontsize=8)
    figure.savefig(path, dpi=80, metadata={"Software": None})


def replace_between(path: Path, mark: str, lines: list[str]) -> None:
    """Put lines between `<!-- mark -->` and `<!-- /mark -->`."""
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(f"<!-- {mark} -->\n")
    _, after = rest.split(f"<!-- /{mark} -->")
    path.write_text(before + f"<!-- {mark} -->\n" + "\n".join(lines) + f"\n<!-- /{mark} -->" + after, encoding="utf-8")


def main(folder: Path) -> None:
    """All trials of a folder."""
    forces_rows = [
        "| trial | filter alone: Hz | vertical % | in stance | in flight | fore-aft | lateral "
        "| with the laws: Hz | vertical % | in stance | in flight | fore-aft | lateral | pressure centre cm |",
        "|" + "---|" * 14,
    ]
    contact_rows = [
        "| trial | in contact % | plates | frames that agree % | onset ms | end ms |",
        "|---|---|---|---|---|---|",
    ]
    moment_rows = [
        "| trial | left hip | right hip | left knee | right knee | left ankle | right ankle |",
        "|---|---|---|---|---|---|---|",
    ]
    share_rows = [
        "| trial | frames | share: moments % | paper % | half % | vertical: moments / paper | fore-aft | lateral "
        "| unexplained N m |",
        "|" + "---|" * 9,
    ]
    trials = []
    for path in sorted(folder.glob("*.bvh")):
        name, mass = path.stem, json.loads(path.with_suffix(".json").read_text())["subject_mass_kg"]
        clip, plates = load_clip(path), read_table(folder / f"{path.stem}_grf.csv")
        body = poise.Character.from_skeleton(clip.skeleton, mass=mass)
        forces = poise.compute_forces(clip, body)
        center = compute_center_of_mass(forces.tree, *clip.poses)
        plain = poise.compute_forces(clip, body, choose_cutoff(center, uniform_rate(clip.times)).hz)
        forces_rows.append(force_row(name, plain, forces, plates, mass))
        contact_rows.append(contact_row(name, forces, plates))
        shared = {"moments": forces, "paper": poise.compute_forces(clip, body, shares="paper")}
        share_rows += filter(None, [share_row(name, shared, plates, mass)])
        reference = read_table(folder / f"{REFERENCE_OF.get(name, name)}_reference.csv")
        moment_rows.append(moment_row(name, forces, reference, clip.skeleton.index))
        trials.append((name, forces, plates, mass))
    draw(trials, DOCS / "pictures" / "forces-beside-plates.png")
    replace_between(DOCS / "forces.md", "forces", forces_rows)
    replace_between(DOCS / "forces.md", "contacts", contact_rows)
    replace_between(DOCS / "forces.md", "shares", share_rows)
    replace_between(DOCS / "forces.md", "moments", moment_rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
