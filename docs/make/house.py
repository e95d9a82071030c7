"""Draws the two pictures of docs/architecture.md: the layers, and one step.

    .venv/bin/python docs/make/house.py

The layers are those of tests/project/test_layers.py; the lines of a step are below, and tests/project/test_docs.py
compares them with `list_step`.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

PICTURES = Path(__file__).parents[1] / "pictures"
# From the top of the house to its ground: what a row is for, its layers from left to right, and its colour. A layer
# imports only layers to its left in its row and layers of the rows below it.
LAYERS = (
    ("use it from outside", ("demos", "bench", "cli"), "#f6d7b0"),
    ("play and show", ("live", "studio", "batch"), "#f6e3b0"),
    ("whole tasks", ("extend", "jobs", "check"), "#e9ecb4"),
    ("simulate", ("engines", "drivers", "stage"), "#c9e7c0"),
    ("what bodies meet and do", ("pictures", "world", "walking", "puppetry"), "#bfe6dc"),
    ("motion and its files", ("motion", "files"), "#c2dff2"),
    ("bodies and algorithms", ("spatial", "body", "dynamics", "ik"), "#cdd5f4"),
    ("ground", ("errors", "lazy", "kinds", "options", "registry", "compiled", "frozen", "findings"), "#dcd6e8"),
)
# Of a step: which calls `list_step` lists, what they do, whose they are ("each" actor's, or "all" of the simulation).
STEP = (
    ("laws.start_clock", "set the clock; motions are evaluated at mid-step", "each"),
    ("_write_motion", "kinematic players write q, w and dw of their joints", "each"),
    ("couple", "inverse dynamics: what that motion does to the bodies that carry it", "each"),
    ("laws.push", "add pushes", "each"),
    ("laws.clear_commands", "reset torques, damping and nudges", "each"),
    ("_write_torques", "torque players write torques and damping: Balance, Track, Loose, ...", "each"),
    ("laws.damp_overspeed", "damp joints that turn so fast that a step would add energy", "each"),
    ("_limit", "keep joints in their ranges", "each"),
    ("_write", "the engine takes prescribed poses, torques and wrenches", "each"),
    ("_advance", "the engine moves the physical parts", "all"),
    ("_note_contacts", "log contacts; pass them to players that need them", "all"),
    ("_read", "read the engine's state of the physical parts", "each"),
    ("_conserve", "in flight, keep the body's momentum", "each"),
    ("_post_step", "players correct the state after the step", "each"),
    ("laws.differentiate", "accelerations for the `paper` coupling", "each"),
    ("laws.advance_clock", "count the step", "each"),
)
INK, QUIET, PAPER, LINE = "#1f2328", "#57606a", "#f6f8fa", "#8c959f"
FONT = "font-family='Helvetica, Arial, sans-serif'"


def text(x: float, y: float, words: str, size: int = 14, fill: str = INK, anchor: str = "start") -> str:
    """One line of text."""
    return f"<text x='{x}' y='{y}' font-size='{size}' fill='{fill}' text-anchor='{anchor}'>{escape(words)}</text>"


def box(x: float, y: float, width: float, height: float, fill: str) -> str:
    """A rounded box."""
    return f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='6' fill='{fill}' stroke='{LINE}'/>"


def frame(width: int, height: int, parts: list[str], title: str) -> str:
    """A picture on paper of its own, so that it is read on dark and on light pages."""
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' {FONT}>"
    paper = f"<rect width='{width}' height='{height}' rx='10' fill='{PAPER}'/>"
    return "\n".join([head, f"<title>{escape(title)}</title>", paper, *parts, "</svg>", ""])


def draw_layers() -> str:
    """The layers as rows of boxes."""
    parts, left, wide, row = [], 210, 510, 46
    for k, (what, names, color) in enumerate(LAYERS):
        y, each = 20 + k * (row + 8), wide / len(names)
        parts.append(text(left - 16, y + 28, what, 13, QUIET, "end"))
        for i, name in enumerate(names):
            parts += [box(left + i * each + 3, y, each - 6, row, color)]
            parts += [text(left + (i + 0.5) * each, y + 29, name, 15, anchor="middle")]
    bottom = 20 + len(LAYERS) * (row + 8) + 16
    rule = "A layer imports only what is to its left in its row, or in a row below."
    parts.append(text(left + 3, bottom, rule, 13, QUIET))
    return frame(left + wide + 20, bottom + 18, parts, "The layers of Poise")


def draw_step() -> str:
    """The list of a step, from top to bottom."""
    parts, row, left = [], 28, 20
    for k, (name, what, whose) in enumerate(STEP):
        y = 52 + k * row
        parts.append(box(left, y, 700, row - 5, "#cdd5f4" if whose == "each" else "#c9e7c0"))
        parts += [text(left + 12, y + 16, name, 13), text(left + 172, y + 16, what, 13)]
    parts.append(box(left, 16, 16, 16, "#cdd5f4"))
    parts.append(text(left + 24, 29, "for each actor of the simulation, in order", 13, QUIET))
    parts.append(box(left + 330, 16, 16, 16, "#c9e7c0"))
    parts.append(text(left + 354, 29, "once for the simulation", 13, QUIET))
    return frame(740, 52 + len(STEP) * row + 15, parts, "One step of a simulation")


def main() -> None:
    """Write both."""
    (PICTURES / "layers.svg").write_text(draw_layers(), encoding="utf-8")
    (PICTURES / "step.svg").write_text(draw_step(), encoding="utf-8")


if __name__ == "__main__":
    main()
