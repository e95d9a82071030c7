"""Makes the picture and the table of recordings of docs/strength.md.

    .venv/bin/python docs/make/strength.py FOLDER

FOLDER holds bvh-cmu/ and bvh-other/.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from poise.body.character import Character
from poise.body.muscles import Muscles
from poise.files.atomic import write_bytes
from poise.files.source import Source
from poise.jobs.strength import find_rows, run_find
from poise.pictures.strength_plots import plot_muscles
from poise.world.load import Load

DOCS = Path(__file__).parents[1]
PAGE, PICTURE = DOCS / "strength.md", DOCS / "pictures" / "strength.png"
MARKS = "<!-- recordings -->\n", "<!-- end -->\n"
SHOWN = ("spine", "leftUpperArm", "leftLowerArm", "leftUpperLeg", "leftLowerLeg", "leftFoot")
# file, frames a second where the file's are doubted, kg in each hand, what it is
CLIPS = (
    ("bvh-cmu/115_01", 60.0, 0.0, "lifts a box, bending the back"),
    ("bvh-cmu/115_01", 60.0, 5.0, "the same, 5 kg in each hand"),
    ("bvh-cmu/115_06", 60.0, 0.0, "lifts a box, bending the knees to 125 degrees"),
    ("bvh-cmu/115_06", 60.0, 5.0, "the same, 5 kg in each hand"),
    ("bvh-other/test_mocapbank", None, 0.0, "down to the floor and up again, knees to 150 degrees"),
    ("bvh-cmu/18_15", None, 0.0, "squats in a dance"),
    ("bvh-cmu/13_11", None, 0.0, "a standing jump"),
    ("bvh-cmu/111_28", None, 0.0, "stands and fidgets"),
)


def measure(path: Path, fps: float | None, load: float) -> list[str]:
    """The cells of a clip's row."""
    loads = [Load(f"{side}Hand", load) for side in ("left", "right")] if load else []
    needed, body = run_find(path, Source(fps=fps), loads)
    muscles, cells, ratios = needed.muscles, [], []
    for stem, way in (("LowerLeg", 0), ("UpperLeg", 1)):
        rows = [muscles.row(side + stem, "x") for side in ("left", "right")]
        peaks = [max(0.0, float(np.max((2 * way - 1) * needed.torque[:, row]))) / body.mass for row in rows]
        cells.append(" / ".join(f"{peak:.1f}" for peak in peaks))
        ratios.append(needed.held[:, way, rows].max())
    back = muscles.row("spine", "x")
    cells.append(f"{-needed.torque[:, back].min():.0f}")
    ratios.append(needed.held[:, 0, back].max())
    way, row = np.unravel_index(np.argmax(needed.held.max(axis=0)), needed.held.shape[1:])
    limiting = f"{muscles.labels[row]} {'-+'[way]}{muscles.axes[row]}"
    return [*cells, *(f"{ratio:.2f}" for ratio in ratios), f"{needed.scale:.1f}, {limiting}"]


def main(folder: Path) -> None:
    """Draw, measure, and write both into the page."""
    man = Muscles.from_character(Character.human(1.75, 70.0, sex="male", age=25.0))
    rows = [row for row in find_rows(man, SHOWN) if man.axes[row] == "x"]
    write_bytes(PICTURE, plot_muscles(man, rows, "a man of 25 years, 1.75 m, 70 kg"))
    lines = ["| clip | what | knee | hip | back, N m | ratio: knee | hip | back | `scale`, by |", "|---" * 9 + "|"]
    for name, fps, load, what in CLIPS:
        clip = name.split("/")[1] + ("" if fps is None else f" `--fps {fps:g}`")
        lines.append("| " + " | ".join([clip, what, *measure(folder / f"{name}.bvh", fps, load)]) + " |")
    before, rest = PAGE.read_text().split(MARKS[0])
    PAGE.write_text(before + MARKS[0] + "\n".join(lines) + "\n" + MARKS[1] + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
