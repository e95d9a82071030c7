"""Pictures and tables of docs/tracking.md: POISE_DATA=folder python docs/make/tracking.py [curves] [clips] [bodies]"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.body.reshape import lengthen
from poise.drivers.track.track import LAWS
from poise.jobs.track.plan import TrackPlan
from poise.jobs.track.stiffness_search import find_best
from poise.pictures.plot_style import new_figure, to_png
from poise.pictures.plots import draw_curve

HERE = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("POISE_DATA", "."))
CURVES = ("bvh-cmu/111_02.bvh", "bvh-cmu/02_05.bvh", "bvh-cmu/93_03.bvh")
BODIES_OF = "bvh-cmu/115_01.bvh"
SUFFIXES = (".bvh", ".amc", ".c3d", ".trc", ".glb", ".gltf", ".vrma", ".npz", ".txt")
LONGEST = 8.0  # s of a clip that curves are of


def plot_stiffness(
    curves: Mapping[str, tuple[Mapping[str, np.ndarray], float | None]], title: str = "", columns: int = 1
) -> bytes:
    """Error and lag over the stiffness, a panel for each label, so many in a row, and what was chosen."""
    rows = -(-len(curves) // columns)
    figure = new_figure(4.6 * columns + 1.4, 2.9 * rows, title)
    panels = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
    for k, (label, (curve, chosen)) in enumerate(curves.items()):
        draw_curve(panels[k], curve, chosen, has_legend=k == columns - 1)
        panels[k].set_title(label, fontsize=9, loc="left")
    return to_png(figure)


def write_table(name: str, head: list[str], rows: list[list[Any]]) -> None:
    """Put a table in its place on the page."""
    page = HERE / "tracking.md"
    before, rest = page.read_text().split(f"<!-- {name} -->\n")
    after = rest.split("<!-- end -->", 1)[1]
    lines = [" | ".join(map(str, row)) for row in [head, ["---"] * len(head), *rows]]
    text = "\n".join(f"| {line} |" for line in lines)
    page.write_text(f"{before}<!-- {name} -->\n{text}\n<!-- end -->{after}")


def make_curves() -> None:
    """Error and lag over stiffness, for three clips and three laws."""
    rows, pictures = [], {}
    for name in CURVES:
        clip = poise.load_clip(DATA / name)
        clip = clip.pick(np.flatnonzero(clip.times <= clip.times[0] + LONGEST))
        character = poise.Character.from_skeleton(clip.skeleton)
        for law in LAWS:
            best, trials = find_best(clip, character, TrackPlan(law=law, base="kinematic"))
            at = next(each for each in trials if each.stiffness == best)
            curve = {
                "stiffness": [each.stiffness for each in trials],
                "error_rad": [each.error for each in trials],
                "lag_ms": [1000.0 * (each.lag or 0.0) for each in trials],
            }
            pictures[f"{Path(name).stem}, {law}"] = ({key: np.array(x) for key, x in curve.items()}, best)
            low, high = trials[0], trials[-1]
            rows.append([Path(name).stem, law, f"{best:.4g}", f"{at.error:.4f}", f"{1000.0 * (at.lag or 0.0):.1f}",
                         f"{low.error:.3f}", f"{high.error:.4f}"])  # fmt: skip
            print(rows[-1], flush=True)
    (HERE / "pictures" / "track-stiffness.png").write_bytes(plot_stiffness(pictures, columns=len(LAWS)))
    head = ["clip", "law", "found, 1/s²", "RMS, rad", "lag, ms", "RMS at 10", "RMS at 100,000"]
    write_table("curves", head, rows)


def make_clips() -> None:
    """Every clip of the data, with no option; those that stand in both engines."""
    rows, standing = [], []
    for path in sorted(path for path in DATA.rglob("*") if path.suffix in SUFFIXES):
        try:
            found = poise.track(path).figures
        except poise.PoiseError as error:
            print(path, error, flush=True)
            continue
        error, lag = found["tracking_error_rad"], found["lag_ms"]
        rows.append([
            path.relative_to(DATA), found["base"], say_fell(found),
            "nothing is tracked" if error is None else f"{error:.4f}",
            "" if lag is None else f"{lag:.1f}", found["tracked_joints"],
        ])  # fmt: skip
        print(*rows[-1], flush=True)
        if found["base"] == "balance":
            row = [path.relative_to(DATA)]
            for each in (found, poise.track(path, engine="bullet").figures):
                row += [say_fell(each), f"{each['tracking_error_rad']:.4f}", f"{each['sway_mm']:.0f}",
                        f"{each['foot_slip_mm']:.1f}"]  # fmt: skip
            standing.append(row)
            print(*row, flush=True)
    write_table("clips", ["clip", "on", "fell", "RMS, rad", "lag, ms", "joints"], rows)
    columns = ["fell", "RMS, rad", "sway, mm", "slip, mm"]
    write_table("engines", ["clip", *columns, *(f"Bullet: {column}" for column in columns)], standing)


def say_fell(found: Mapping[str, Any]) -> str:
    """Whether, and when."""
    return f"{found['fell_at_s']:.2f} s" if found["fell"] else "no"


def make_bodies() -> None:
    """One clip on four bodies."""
    alien = poise.Character.human(2.1, 60.0, name="alien")
    for joint, factor in (("leftLowerArm", 1.6), ("rightLowerArm", 1.6), ("leftLowerLeg", 1.3), ("rightLowerLeg", 1.3)):
        alien = lengthen(alien, factor, joint)
    bodies = {
        "man, 1.82 m, 85 kg": poise.Character.human(1.82, 85.0, sex="male"),
        "woman, 1.65 m, 60 kg": poise.Character.human(1.65, 60.0, sex="female"),
        "child, 1.20 m, 22 kg": poise.Character.human(1.2, 22.0, age=7.0),
        "alien, long forearms and shins": alien,
    }
    rows = []
    for name, body in bodies.items():
        found = poise.track(DATA / BODIES_OF, character=body).figures
        rows.append([name, found["base"], "yes" if found["fell"] else "no", f"{found['tracking_error_rad']:.4f}",
                     f"{found['lag_ms']:.1f}", f"{found['peak_torque_nm']:.0f}", f"{found['peak_effort']:.1f}",
                     f"{found['sway_mm']:.0f}"])  # fmt: skip
        print(*rows[-1], flush=True)
    head = ["body", "on", "fell", "RMS, rad", "lag, ms", "peak torque, N m", "of its strength", "sway, mm"]
    write_table("bodies", head, rows)


if __name__ == "__main__":
    asked = sys.argv[1:] or ["curves", "clips", "bodies"]
    for what, make in (("curves", make_curves), ("clips", make_clips), ("bodies", make_bodies)):
        if what in asked:
            make()
