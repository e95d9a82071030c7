"""Makes the table and the picture of docs/grounds.md: standing and conducting for 20 s on every kind of ground.

    .venv/bin/python docs/make/grounds.py

Slips are read off the takes' poses, heights under the soles off the grounds' own formulas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import poise
from poise import rotation
from poise.body.geometry.mesh import Mesh
from poise.demos.shared.show import BLUE, Shot, build_picture
from poise.jobs.shared.metrics import find_sole_corners
from poise.pictures.image import save_png
from poise.pictures.items import DrawnProp as Drawn
from poise.pictures.picture import frame_picture, render_picture

PAGE = Path(__file__).parents[1] / "grounds.md"
PICTURE = Path(__file__).parents[1] / "pictures" / "grounds.png"
SECONDS, BPM = 20.0, 100.0
WAYS = 8
TILTS = (2, 4, 6, 8, 10)  # degrees
CELL = (480, 400)
PATCH, CELLS = 0.7, 56  # m from the middle, and cells across, of what is drawn of a ground


def build_box(top: float, size: float = 1.0) -> poise.Prop:
    """A fixed box under the origin."""
    half = np.array([size / 2, top / 2, size / 2])
    return poise.Prop(
        "box", (poise.Box(np.zeros(3), half, rotation.identity()),), position=np.array([0.0, top / 2, 0.0])
    )


def conduct(ground: poise.Ground, props: Sequence[poise.Prop] = (), seconds: float = SECONDS) -> poise.Take:
    """A conductor, put where there is floor."""
    stage = poise.Stage(ground=ground)
    for prop in props:
        stage.add_prop(prop)
    actor = stage.add(poise.Character.human())
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Kinematic(poise.gestures.conduct(bpm=BPM)))
    return stage.run(seconds)


def measure(take: poise.Take, ground: poise.Ground, top: float = 0.0) -> tuple[bool, float, float, float]:
    """Whether it fell; how far any corner of a sole got (mm); how high the hips are over the floor between the feet (m,
    mean), and the least margin of the centre of mass (m).

    top  m, of the box that it stands on
    """
    record, clip = take.actor(), take.clip()
    corners = find_sole_corners(clip)
    shifts = np.stack([ground.shift(t) if isinstance(ground, poise.MovingGround) else np.zeros(3) for t in take.times])
    corners = corners - shifts[:, None, None]
    slip = float(np.linalg.norm((corners - corners[0])[..., [0, 2]], axis=-1).max())
    soles = corners[0].mean(axis=1)
    floor = np.maximum(ground.height_at(soles[:, 0], soles[:, 2]), top)
    hips = float(np.mean(record.root[:, 1] - shifts[:, 1])) - 0.5 * float(floor.min() + floor.max())
    return take.fell_at() is not None, 1000.0 * slip, hips, float(np.nanmin(record.margin))


def describe(name: str, found: Sequence[tuple[bool, float, float, float]]) -> str:
    """A row of the table: the worst of several."""
    fell, slips, hips, margins = zip(*found, strict=True)
    span = f"{min(hips):.3f}" if max(hips) - min(hips) < 5e-4 else f"{min(hips):.3f} to {max(hips):.3f}"
    return f"| {name} | {sum(fell)} of {len(fell)} | {max(slips):.2f} | {span} | {min(margins):.3f} |"


def make_table() -> list[str]:
    """Rows of the table."""
    tilted = {degrees: [poise.Slope(math.radians(degrees), 2.0 * math.pi * k / WAYS) for k in range(WAYS)]
              for degrees in TILTS}  # fmt: skip
    kerbs = [poise.Stairs(0.1, 5.0, 1, 0.0, sign * math.pi / 2) for sign in (1, -1)]
    cases: list[tuple[str, list[poise.Ground], float]] = [
        ("level", [poise.Ground()], 0.0),
        ("level, 0.3 m high", [poise.Ground(0.3)], 0.0),
        ("level, 1 m high", [poise.Ground(1.0)], 0.0),
        *((f"tilted by {degrees} degrees, {WAYS} ways", list(several), 0.0) for degrees, several in tilted.items()),
        ("one foot on a step of 0.1 m, left and right", list(kerbs), 0.0),
        ("stairs of 0.17 by 0.29 m", [poise.Stairs(start=-0.6)], 0.0),
        ("a box 0.5 m high", [poise.Ground()], 0.5),
        ("a belt at 1 m/s", [poise.MovingGround(velocity=(0.0, 0.0, 1.0))], 0.0),
        ("a lift, 0.5 m up and down in 3 s", [poise.MovingGround(sway=(0.0, 0.5, 0.0), period=3.0)], 0.0),
        ("a deck, tilted by 6 degrees, that sways 0.2 m in 4 s",
         [poise.MovingGround(poise.Slope(math.radians(6.0), 0.5), sway=(0.2, 0.0, 0.2))], 0.0),
    ]  # fmt: skip
    rows = ["| ground | fell | slip, mm | hips over it, m | margin, m |", "|---|---|---|---|---|"]
    for name, grounds, top in cases:
        props = [build_box(top)] if top else []
        rows.append(describe(name, [measure(conduct(ground, props), ground, top) for ground in grounds]))
        print(rows[-1], flush=True)
    return rows


def draw_patch(ground: poise.Ground) -> Mesh:
    """A piece of a ground as a block that stands on the picture's floor."""
    n = CELLS + 1
    x, z = np.meshgrid(np.linspace(-PATCH, PATCH, n), np.linspace(-PATCH, PATCH, n), indexing="xy")
    top = np.stack([x, ground.height_at(x, z), z], axis=-1).reshape(-1, 3)
    bottom = top * [1.0, 0.0, 1.0]
    a = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    upper = np.concatenate([np.stack([a, a + n + 1, a + 1], 1), np.stack([a, a + n, a + n + 1], 1)])
    rim = np.concatenate([np.arange(n - 1), np.arange(n - 1) * n + n - 1, n * n - 1 - np.arange(n - 1),
                          n * (n - 1) - np.arange(n - 1) * n])  # fmt: skip
    follow = np.roll(rim, -1)
    walls = np.concatenate([np.stack([rim, follow, rim + n * n], 1),
                            np.stack([follow, follow + n * n, rim + n * n], 1)])  # fmt: skip
    lower = upper[:, ::-1] + n * n
    return Mesh(np.concatenate([top, bottom]), np.concatenate([upper, walls, lower]))


def draw_picture() -> np.ndarray:
    """(H, W, 3) uint8, one cell a ground."""
    wavy = np.linspace(-1.0, 1.0, 21)
    cases: list[tuple[str, poise.Ground, float]] = [
        ("0.3 m high", poise.Ground(0.3), 0.0),
        ("10 degrees ahead", poise.Slope(math.radians(10.0), height=0.2), 0.0),
        ("10 degrees sideways", poise.Slope(math.radians(10.0), math.pi / 2, height=0.2), 0.0),
        ("one foot on a step of 0.1 m", poise.Stairs(0.1, 5.0, 1, 0.0, math.pi / 2, height=0.1), 0.0),
        ("a box", poise.Ground(), 0.5),
        ("a height map", poise.HeightMap(0.1 + 0.03 * np.sin(4.0 * wavy)[None] + 0.03 * np.cos(5.0 * wavy)[:, None],
                                         height=0.1), 0.0),
    ]  # fmt: skip
    cells = []
    for name, ground, top in cases:
        props = [build_box(top)] if top else []
        take = conduct(ground, props, 3.0)
        shape = props[0].shapes[0] if props else draw_patch(ground)
        poses = np.array([0.0, top / 2, 0.0, 1.0, 0.0, 0.0, 0.0])
        drawn = Drawn(shape, poses if props else None, color=(0.72, 0.74, 0.76))
        picture = build_picture([Shot(take, None, name, BLUE, (drawn,))])
        view = frame_picture(picture, take.times, CELL, azimuth=math.radians(35.0))
        cells.append(render_picture(picture, 2.4, CELL, view))
    return np.concatenate([np.concatenate(cells[k : k + 3], axis=1) for k in range(0, len(cells), 3)])


def main() -> None:
    """Rewrite the table between the marks, and the picture."""
    save_png(PICTURE, draw_picture())
    text = PAGE.read_text()
    before, rest = text.split("<!-- table -->\n")[:2]
    after = rest.split("<!-- end -->")[1]
    PAGE.write_text(before + "<!-- table -->\n" + "\n".join(make_table()) + "\n<!-- end -->" + after)


if __name__ == "__main__":
    main()
