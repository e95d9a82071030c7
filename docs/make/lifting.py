"""Makes the table of loads of docs/lifting.md: recordings of lifting, by a man and a child.

    .venv/bin/python docs/make/lifting.py FOLDER

FOLDER holds bvh-cmu/. The files say 120 frames a second; people fall and swing in them as if it were 60.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise

PAGE = Path(__file__).parents[1] / "lifting.md"
CLIPS = {"115_01": "bends the back", "115_06": "bends the knees"}
LOADS = (0.0, 10.0, 20.0, 40.0, 80.0)
FPS = 60.0


def list_people() -> dict[str, poise.Character]:
    """Who lifts."""
    return {
        "man, 1.78 m, 75 kg": poise.Character.human(1.78, 75.0, sex="male", age=25),
        "child, 1.2 m, 23 kg, 7 years": poise.Character.human(1.2, 23.0, age=7.0),
    }


def make_rows(folder: Path) -> list[str]:
    """A row a person, clip and load; the load is shared by both hands."""
    rows = []
    for who, body in list_people().items():
        for clip, what in CLIPS.items():
            for kg in LOADS:
                loads = [f"{side}Hand={kg / 2:g}" for side in ("left", "right")] if kg else []
                found = poise.lift(folder / "bvh-cmu" / f"{clip}.bvh", character=body, loads=loads, fps=FPS)
                told, ratio = found.figures, found.efforts.ratio
                changes = ", ".join(
                    f"{told['changes_degrees'].get(part, 0.0):+.0f}" for part in ("back", "hips", "knees")
                )
                fell = "no" if not told["fell"] else f"{told['fell_at_s']:.1f} s"
                rows.append(
                    f"| {who} | {clip}, {what} | {kg:g} | {fell} | {np.degrees(told['tracking_error_rad']):.1f} "
                    f"| {changes} | {len(told['limited_joints'])} | {told['foot_slip_mm']:.1f} | {ratio.max():.6f} |"
                )
                print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Write it."""
    head = [
        "| who | clip | kg | fell | RMS, degrees | back, hips, knees more, degrees | joints at their limit | slip, mm "
        "| torque over strength, most |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    page = PAGE.read_text(encoding="utf-8")
    start, end = page.index("<!-- loads -->"), page.index("<!-- end -->")
    table = "\n".join([*head, *make_rows(Path(sys.argv[1]))])
    PAGE.write_text(page[:start] + "<!-- loads -->\n" + table + "\n" + page[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
