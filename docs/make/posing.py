"""Makes the table and the picture of docs/posing.md: goals that conflict, by every way to keep a body up.

    .venv/bin/python docs/make/posing.py

Rewrites the table between the marks, and docs/pictures/posing-ways.png: the body from its left, its centre of mass, the
ends of its support, and what the hand reaches for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np

from poise import Character, rotation
from poise.bench.ik import find_places, find_start
from poise.ik.goals import OrientationGoal, PositionGoal
from poise.ik.pose_solver import PoseSolution, PoseSolver
from poise.ik.support_polygon import find_edges, find_margin

mpl.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[1]
SOLE = np.array([[0.05, -0.06], [-0.05, -0.06], [0.05, 0.2], [-0.05, 0.2]])
BODY = Character.human()
INDEX = BODY.skeleton.index
ROOT, TURNS = np.zeros(3), find_start(BODY)
R, PLACES, MASS = find_places(BODY, ROOT, TURNS)
CORNERS = np.concatenate([PLACES[INDEX(f"{side}Foot")][[0, 2]] + SOLE for side in ("left", "right")])
EDGES = find_edges(CORNERS)
TARGET = PLACES[INDEX("rightHand")] + [0.0, 0.3, 1.3]
HAND, HIPS = PositionGoal("rightHand", TARGET), PositionGoal("hips", PLACES[INDEX("hips")], first=True)


def keep(first: bool) -> list[PositionGoal | OrientationGoal]:
    """Goals that keep the right foot; the left one is held."""
    i = INDEX("rightFoot")
    return [
        PositionGoal("rightFoot", PLACES[i], first=first),
        OrientationGoal("rightFoot", rotation.from_matrix(R[i]), first=first),
    ]


def solve(*goals: PositionGoal | OrientationGoal, **options: object) -> PoseSolution:
    return PoseSolver(BODY).solve(goals, ROOT, TURNS, **options)  # type: ignore[arg-type]


OVER = (float(MASS[0]), None, float(MASS[2]))
WAYS: dict[str, Callable[[], PoseSolution]] = {
    "the hand alone": lambda: solve(HAND, *keep(True)),
    "the pelvis over the feet": lambda: solve(HAND, HIPS, *keep(True)),
    "all as equals, centre of mass at its place": lambda: solve(HAND, *keep(False), center=OVER, center_first=False),
    "error-fed bias, centre of mass at its place": lambda: solve(HAND, *keep(True), center=OVER),
    "error-fed bias, inside the support": lambda: solve(HAND, *keep(True), support=CORNERS),
    "the same, eight starts more": lambda: solve(HAND, *keep(True), support=CORNERS, tries=8),
    "row by row, as published": lambda: solve(HAND, *keep(True), support=CORNERS, method="rows"),
    "null space": lambda: solve(HAND, *keep(True), support=CORNERS, method="null-space"),
}


def main() -> None:
    rows = [
        "| way | hand off (mm) | centre of mass inside by (mm) | right foot off (mm) | rounds |",
        "|---|---|---|---|---|",
    ]
    poses = {}
    for name, way in WAYS.items():
        found = way()
        _, at, mass = find_places(BODY, found.root, found.rotations)
        poses[name] = at, mass
        hand = np.linalg.norm(at[INDEX("rightHand")] - TARGET)
        foot = np.linalg.norm(at[INDEX("rightFoot")] - PLACES[INDEX("rightFoot")])
        inside = find_margin(EDGES, mass[[0, 2]])
        rows.append(f"| {name} | {1e3 * hand:.0f} | {1e3 * inside:.1f} | {1e3 * foot:.1f} | {found.rounds} |")
    page = DOCS / "posing.md"
    text = page.read_text(encoding="utf-8")
    table = "\n".join(rows)
    text = re.sub(r"(<!-- conflict -->\n).*?(\n<!-- /conflict -->)", rf"\g<1>{table}\g<2>", text, flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")
    draw(poses)


def draw(poses: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    figure, axes = plt.subplots(2, 4, figsize=(12, 5), sharex=True, sharey=True)
    low = PLACES[:, 1].min()
    for panel, (name, (at, mass)) in zip(axes.ravel(), poses.items(), strict=True):
        for i, parent in enumerate(BODY.skeleton.parents):
            if parent >= 0:
                panel.plot(at[[parent, i], 2], at[[parent, i], 1], color="0.3", lw=2)
        panel.plot(CORNERS[:, 1][[0, 2]], [low, low], color="tab:green", lw=5, solid_capstyle="butt")
        panel.plot([mass[2], mass[2]], [low, mass[1]], color="tab:blue", lw=1, ls=":")
        panel.plot(mass[2], mass[1], "o", color="tab:blue")
        panel.plot(TARGET[2], TARGET[1], "x", color="tab:red", ms=9, mew=2)
        panel.set_title(name, fontsize=7)
        panel.set_aspect("equal")
    figure.supxlabel("forward (m)")
    figure.supylabel("up (m)")
    figure.tight_layout()
    figure.savefig(DOCS / "pictures" / "posing-ways.png", dpi=70)


if __name__ == "__main__":
    main()
