"""Makes the picture and the table of footholds in docs/grounds.md: ways over terrains and soles put down along them.

    .venv/bin/python docs/make/footholds.py

The table's gaps are measured over the grounds' own heights, on a grid of the test's own.
"""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np

import poise
from poise import rotation
from poise.pictures.camera import Camera
from poise.pictures.image import draw_labels, save_png
from poise.pictures.raster import Surface, Theme, linear, render
from poise.pictures.solids import build_solid
from poise.walking.footholds.terrain import Foothold, Terrain
from poise.walking.path.planner import Route, StepLimits, plan_route
from poise.world.ground.floor import Floor
from poise.world.ground.terrain import build_terrain

PAGE = Path(__file__).parents[1] / "grounds.md"
PICTURE = Path(__file__).parents[1] / "pictures" / "footholds.png"
CELL = (560, 420)
SOLE = np.array([[-0.05, -0.07], [0.05, -0.07], [0.05, 0.19], [-0.05, 0.19]])  # m
STEP, ASIDE = 0.27, 0.09  # m from one foot to the other, ahead and to the side
GROUND, LEFT, RIGHT, WAY, THING = (0.74, 0.76, 0.78), (0.0, 0.447, 0.698), (0.835, 0.369, 0.0), (0.2, 0.2, 0.22), (
    0.62, 0.52, 0.42,
)  # fmt: skip


def put_feet(terrain: Terrain, route: Route, limits: StepLimits) -> list[tuple[int, Foothold]]:
    """Soles along a way, side by side in turn; which foot (0 left, 1 right), and where."""
    feet, level = [], None
    for k, s in enumerate(np.arange(0.0, route.length + 1e-9, STEP)):
        place, heading = route.at(float(s))
        side = k % 2
        aside = ASIDE * (1 - 2 * side) * np.array([math.cos(heading), -math.sin(heading)])
        found = terrain.find_foothold(
            *(place + aside), heading, SOLE, level=level, up=2.0 * limits.up, down=2.0 * limits.down
        )
        if isinstance(found, Foothold):
            feet.append((side, found))
            level = float(found.place[1])
        else:
            print("   ", found.text)
    return feet


def flat_surface(points: np.ndarray, faces: np.ndarray, color: tuple[float, float, float]) -> Surface:
    """Triangles with a normal each."""
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    flat = corners.reshape(-1, 3)
    return Surface(flat, np.repeat(normals, 3, axis=0), np.broadcast_to(linear(color), flat.shape),
                   np.arange(len(flat)).reshape(-1, 3))  # fmt: skip


def draw_ground(ground: poise.Ground, low: np.ndarray, high: np.ndarray) -> Surface:
    """A piece of a ground from above, and walls down to the picture's floor."""
    columns, rows = (int((b - a) / 0.02) + 1 for a, b in zip(low, high, strict=True))
    x, z = np.meshgrid(np.linspace(low[0], high[0], columns), np.linspace(low[1], high[1], rows))
    top = np.stack([x, ground.height_at(x, z), z], axis=-1).reshape(-1, 3)
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    upper = np.concatenate([np.stack([a, a + columns + 1, a + 1], 1), np.stack([a, a + columns, a + columns + 1], 1)])
    rim = np.concatenate([np.arange(columns), np.arange(1, rows) * columns + columns - 1,
                          (rows - 1) * columns + np.arange(columns - 1)[::-1],
                          np.arange(1, rows - 1)[::-1] * columns])  # fmt: skip
    base = top.copy()
    base[:, 1] = top[:, 1].min() - 0.1
    follow, n = np.roll(rim, -1), len(top)
    walls = np.concatenate([np.stack([rim, follow, rim + n], 1), np.stack([follow, follow + n, rim + n], 1)])
    return flat_surface(np.concatenate([top, base]), np.concatenate([upper, walls]), GROUND)


def draw_box(box: poise.Box, place: np.ndarray, turn: np.ndarray, color: tuple[float, float, float]) -> Surface:
    mesh = build_solid(box)
    return flat_surface(place + rotation.rotate(turn, mesh.vertices), mesh.faces, color)


def draw_cell(
    name: str, floor: Floor, props: list[poise.Prop], route: Route, feet: list[tuple[int, Foothold]]
) -> np.ndarray:
    """(H, W, 3) uint8."""
    low, high = route.points.min(axis=0) - [0.7, 0.4], route.points.max(axis=0) + [0.7, 0.4]
    assert floor.ground is not None
    parts = [draw_ground(floor.ground, low, high)]
    for prop in props:
        for shape in prop.shapes:
            assert isinstance(shape, poise.Box)
            parts.append(draw_box(shape, prop.position, prop.turn, THING))
    middle = SOLE.mean(axis=0)
    half = 0.5 * np.ptp(SOLE, axis=0)
    for side, foot in feet:
        box = poise.Box(
            np.array([middle[0], 0.012, middle[1]]), np.array([half[0], 0.011, half[1]]), rotation.identity()
        )
        parts.append(draw_box(box, foot.place, foot.turn, RIGHT if side else LEFT))
    for x, z in route.points[::2]:
        y = floor.find(x, z, 2.5)[0]
        dot = poise.Box(np.zeros(3), np.full(3, 0.012), rotation.identity())
        parts.append(draw_box(dot, np.array([x, y + 0.01, z]), rotation.identity(), WAY))
    surface = Surface.joined(parts)
    camera = Camera.frame(surface.points, CELL, azimuth=math.radians(-132.0), elevation=math.radians(33.0))
    image = render(surface, camera, CELL, samples=3, look=Theme(has_ground=False))
    draw_labels(image, name, [])
    return image


def measure(ground: poise.Ground, feet: list[tuple[int, Foothold]]) -> tuple[float, float, float]:
    """mm: deepest of any sole in the ground, farthest that any is over it, and the widest gap under a whole one."""
    u, w = np.meshgrid(np.linspace(-0.05, 0.05, 31), np.linspace(-0.07, 0.19, 79))
    points = np.stack([u, 0.0 * u, w], axis=-1)
    deep, away, gap = 0.0, 0.0, 0.0
    for _, foot in feet:
        sole = foot.place + rotation.rotate(foot.turn, points)
        over = sole[..., 1] - ground.height_at(sole[..., 0], sole[..., 2])
        deep, away = max(deep, -float(over.min())), max(away, float(over.min()))
        if np.linalg.norm(foot.support[3] - foot.support[0]) > 0.2599:
            gap = max(gap, float(over.max()))
    return 1000.0 * deep, 1000.0 * away, 1000.0 * gap


def make_table() -> list[str]:
    """Rows: footholds round 2000 places of each terrain."""
    cases = [
        ("flat", build_terrain("flat")), ("slope of 8 degrees", build_terrain("slope", length=0)),
        ("stairs of 17 x 29 cm", build_terrain("stairs", flights=4)),
        ("stairs of 17 x 22 cm", build_terrain("stairs", run=0.22, flights=4)),
        ("stairs at random", build_terrain("stairs", 1, random=True, flights=4)),
        ("rough, 5 cm up and down", build_terrain("rough", 1, stones=0.0)),
        ("rough, 10 cm up and down", build_terrain("rough", 1, amplitude=0.1, stones=0.0)),
        ("stones of 40 cm, 5 cm up and down", build_terrain("rough", 1, stones=0.4)),
        ("moving, rough", poise.MovingGround(build_terrain("rough", 1, stones=0.0), sway=(0.25, 0.06, 0.15),
                                              period=12.0)),
    ]  # fmt: skip
    rows = ["| terrain | found | whole sole | turned | moved, cm | sunk in, mm | over it, mm | gap, mm | time, us |",
            "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for name, ground in cases:
        terrain, rng = Terrain(ground), np.random.default_rng(0)
        terrain.find_foothold(0.0, 0.0, 0.0, SOLE)
        feet, moved, spent = [], [], []
        asked = rng.uniform([-2.0, 0.0, -0.3], [2.0, 12.0, 0.3], (2000, 3))
        for x, z, heading in asked:
            begin = time.thread_time()
            found = terrain.find_foothold(x, z, heading, SOLE)
            spent.append(time.thread_time() - begin)
            if isinstance(found, Foothold):
                feet.append((0, found))
                moved.append((math.hypot(found.place[0] - x, found.place[2] - z), found.heading != heading))
        whole = np.mean([np.linalg.norm(foot.support[3] - foot.support[0]) > 0.2599 for _, foot in feet])
        far, turned = np.array(moved).mean(axis=0)
        deep, away, gap = measure(ground, feet)
        rows.append(
            f"| {name} | {100 * len(feet) / len(asked):.1f} % | {100 * whole:.1f} % | {100 * turned:.1f} % "
            f"| {100 * far:.1f} | {deep:.1f} | {away:.1f} | {gap:.1f} | {1e6 * np.median(spent):.0f} |"
        )
        print(rows[-1], flush=True)
    return rows


def draw_picture() -> np.ndarray:
    """(H, W, 3) uint8, one cell a terrain."""
    log = poise.Prop.box("log", [2.4, 0.2, 0.2], position=[0.0, 0.1, 1.4])
    wall = poise.Prop.box("wall", [1.6, 1.2, 0.2], position=[0.35, 0.6, 3.2])
    bench = poise.Prop.box("bench", [0.4, 0.42, 1.0], position=[-0.1, 0.21, 5.2])
    things: list[poise.Prop] = [log, wall, bench]
    cases: list[tuple[str, poise.Ground, list[poise.Prop], float]] = [
        ("slope", build_terrain("slope", angle=math.radians(12.0), length=2.0, landing=1.0), [], 6.2),
        ("stairs", build_terrain("stairs", count=5, landing=1.0), [], 5.2),
        ("stairs at random", build_terrain("stairs", 3, count=5, random=True, landing=1.0), [], 5.6),
        ("rough", build_terrain("rough", 2, amplitude=0.12, stones=0.0), [], 5.0),
        ("rough: stones", build_terrain("rough", 4, stones=0.45, amplitude=0.08), [], 5.0),
        ("a log, a wall and a bench", build_terrain("flat"), things, 6.6),
    ]  # fmt: skip
    cells, limits = [], StepLimits()
    for name, ground, props, far in cases:
        floor = Floor(ground, props)
        route = plan_route(floor, (0.0, 0.0), [(0.0, far)], limits)
        feet = put_feet(Terrain(floor), route, limits)
        print(f"{name}: {len(feet)} soles, way of {route.length:.2f} m")
        cells.append(draw_cell(name, floor, props, route, feet))
    return np.concatenate([np.concatenate(cells[k : k + 3], axis=1) for k in range(0, len(cells), 3)])


def main() -> None:
    """Rewrite the table between the marks, and the picture."""
    save_png(PICTURE, draw_picture())
    rows = make_table()
    text = PAGE.read_text()
    before, rest = text.split("<!-- footholds -->\n")[:2]
    after = rest.split("<!-- end of footholds -->")[1]
    PAGE.write_text(before + "<!-- footholds -->\n" + "\n".join(rows) + "\n<!-- end of footholds -->" + after)


if __name__ == "__main__":
    main()
