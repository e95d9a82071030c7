"""Makes the picture and the tables of docs/strength.md: points that were measured, and recordings.

    PYTHONPATH=tests .venv/bin/python docs/make/strength.py FOLDER

FOLDER holds bvh-cmu/ and bvh-other/. The points are those of tests/oracles/cited_strength.py.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import poise
from helpers.strength import find_torque
from oracles.cited_strength import POINTS, Point
from poise.files.output import write_bytes
from poise.files.reading.options import Source
from poise.files.registry import read_source
from poise.jobs.shared.body import find_body
from poise.jobs.strength.needed import find_needed, find_rows
from poise.pictures.plots import plot_muscles

DOCS = Path(__file__).parents[1]
PAGE, PICTURE = DOCS / "strength.md", DOCS / "pictures" / "strength.png"
SHOWN = ("spine", "leftUpperArm", "leftLowerArm", "leftUpperLeg", "leftLowerLeg", "leftFoot")


class Recording(NamedTuple):
    """A row: file, what it is, frames a second where the file's are doubted, kg in each hand, and from when to when.

    Figures are of that stretch alone: before it or after it hands and knees carry, which the feet's forces leave out.
    """

    file: str
    what: str
    fps: float | None = None
    load: float = 0.0
    start: float = 0.0
    end: float = np.inf


RECORDINGS = (
    Recording("bvh-cmu/115_01", "lifts a box, bending the back", 60.0),
    Recording("bvh-cmu/115_01", "the same, 5 kg in each hand", 60.0, 5.0),
    Recording("bvh-cmu/115_06", "lifts a box, bending the knees to 125 degrees", 60.0),
    Recording("bvh-cmu/115_06", "the same, 5 kg in each hand", 60.0, 5.0),
    Recording("bvh-cmu/18_15", "squats in a dance"),
    Recording("bvh-other/test_mocapbank", "goes down on one knee", end=4.5),
    Recording("bvh-other/test_mocapbank", "stands up from one knee", start=11.2),
    Recording("bvh-cmu/140_01", "gets up, once its hands have left the floor", start=3.7),
    Recording("bvh-cmu/111_02", "bows deeply, one leg back"),
    Recording("bvh-cmu/13_11", "a standing jump"),
    Recording("bvh-cmu/111_28", "stands and fidgets"),
)
# Those that stand on both feet: a body follows them with so many times what was found, joint by joint.
FOLLOWED = RECORDINGS[0], RECORDINGS[2], RECORDINGS[4]
SCALES = (0.5, 0.7, 0.85, 1.0, 1.25, 1.5)
LEAST = 0.02  # times the usual strength: of joints that the recording hardly uses
# role without its side, which way extends about x (0 lower, 1 upper)
EXTENSORS = (("LowerLeg", 0), ("UpperLeg", 1), ("Foot", 1))


def measure(path: Path, row: Recording) -> list[str]:
    """The cells of a clip's row."""
    loads = [poise.Load(f"{side}Hand", row.load) for side in ("left", "right")] if row.load else []
    source = Source(fps=row.fps)
    reading = read_source(path, source)
    own = find_body(reading.clip, reading, source)
    needed, body = find_needed(own.clip, own.character, loads=loads), own.character
    times = needed.times - needed.times[0]
    inside = (times >= row.start) & (times <= row.end)
    torque, held = needed.torque[inside], needed.held[inside]
    muscles, cells, ratios = needed.muscles, [], []
    for stem, way in EXTENSORS:
        rows = [muscles.row(side + stem, "x") for side in ("left", "right")]
        peaks = [max(0.0, float(np.max((2 * way - 1) * torque[:, row]))) / body.mass for row in rows]
        cells.append(" / ".join(f"{peak:.1f}" for peak in peaks))
        ratios.append(held[:, way, rows].max())
    back = muscles.row("spine", "x")
    cells.append(f"{-torque[:, back].min() / body.mass:.1f}")
    ratios.append(held[:, 0, back].max())
    way, most = np.unravel_index(np.argmax(held.max(axis=0)), held.shape[1:])
    limiting = f"{muscles.labels[most]} {'-+'[way]}{muscles.axes[most]}"
    return [*cells, *(f"{ratio:.2f}" for ratio in ratios), f"{held.max():.1f}, {limiting}"]


def follow(path: Path, row: Recording) -> list[str]:
    """The cells of a clip that is followed with more and less than what it needs: errors, and joints at their limit."""
    needed = poise.strength(path, fps=row.fps)["joints"]
    cells = []
    for scale in SCALES:
        joints = {joint: max(LEAST, scale * each["ratio"]) for joint, each in needed.items()}
        found = poise.lift(path, fps=row.fps, strength=joints)
        error = np.degrees(found.figures["tracking_error_rad"])
        told = f"falls at {found.figures['fell_at_s']:.1f} s" if found.fell else f"{error:.1f}"
        cells.append(f"{told}, {len(found.figures['limited_joints'])}")
    return cells


def compare(point: Point) -> str:
    """A row of the table of points: what was measured, and what the model has there."""
    place = "strongest" if point.degrees is None else f"{point.degrees:g}"
    spread = "" if point.spread is None else f" +- {point.spread:g}"
    cells = [point.what, point.who, place, f"{point.speed:g}", f"{point.torque:g}{spread}"]
    digits = 2 if point.a_kg else 1
    return "| " + " | ".join([*cells, f"{find_torque(point):.{digits}f}", point.source.split(" (")[0]]) + " |"


def put(mark: str, lines: list[str]) -> None:
    """Lines between a mark and the next `<!-- end -->` of the page."""
    before, rest = PAGE.read_text(encoding="utf-8").split(f"<!-- {mark} -->\n")
    after = rest.split("<!-- end -->\n", 1)[1]
    text = "\n".join(lines)
    PAGE.write_text(f"{before}<!-- {mark} -->\n{text}\n<!-- end -->\n{after}", encoding="utf-8")


def main(folder: Path) -> None:
    """Draw, measure, and write both into the page."""
    man = poise.JointStrength.from_character(poise.Character.human(1.75, 70.0, sex="male", age=25.0))
    rows = [row for row in find_rows(man, SHOWN) if man.axes[row] == "x"]
    write_bytes(PICTURE, plot_muscles(man, rows, "a man of 25 years, 1.75 m, 70 kg"))
    lines = [
        "| clip | what | knee | hip | ankle | back | ratio: knee | hip | ankle | back | scale, by |",
        "|---" * 11 + "|",
    ]
    for row in RECORDINGS:
        clip = row.file.split("/")[1] + ("" if row.fps is None else f" `--fps {row.fps:g}`")
        clip += f", from {row.start:g} s" if row.start else f", to {row.end:g} s" if np.isfinite(row.end) else ""
        lines.append("| " + " | ".join([clip, row.what, *measure(folder / f"{row.file}.bvh", row)]) + " |")
    put("recordings", lines)
    lines = [f"| clip | {' | '.join(f'{scale:g}' for scale in SCALES)} |", "|---" * (1 + len(SCALES)) + "|"]
    for row in FOLLOWED:
        clip = row.file.split("/")[1] + ("" if row.fps is None else f" `--fps {row.fps:g}`")
        lines.append("| " + " | ".join([clip, *follow(folder / f"{row.file}.bvh", row)]) + " |")
    put("followed", lines)
    head = ["| what | who | degrees | degrees a second | measured, N m | here | source |", "|---" * 7 + "|"]
    put("points", head + [compare(point) for point in POINTS])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
