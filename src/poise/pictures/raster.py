"""Surfaces to pixels without a graphics card: a z-buffer, a shadow map, and a ground that catches both.

Deterministic: the same surface and camera give the same bytes. Faces that reach behind the camera are left out.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.errors import InputError, check_most
from poise.pictures.camera import Camera

if TYPE_CHECKING:
    from poise.pictures.kernels import Geometry

MOST_SAMPLES = 300_000_000  # 8192 x 8192 pixels with 2 x 2 samples; some 4 GB while it is drawn
_SHADOW_SAMPLES = 640
_GROUND_SAMPLES = 320
# Maps of what is wider than this (m) get more samples, up to so many times as many: else they are coarser than limbs.
_WIDE, _MOST_TIMES = 6.0, 6.0
# Things higher than this above the ground (m) leave no contact shade: about a hand's breadth.
_CONTACT_HEIGHT = 0.10


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles in the world, ready to draw.

    points   (V, 3) m
    normals  (V, 3) unit, outward
    colors   (V, 3) linear light, 0 to 1
    faces    (F, 3)
    """

    points: np.ndarray
    normals: np.ndarray
    colors: np.ndarray
    faces: np.ndarray

    @staticmethod
    def joined(surfaces: Iterable[Surface]) -> Surface:
        """Several surfaces as one."""
        surfaces = list(surfaces)
        starts = np.cumsum([0] + [len(surface.points) for surface in surfaces])
        empty = np.zeros((0, 3))
        return Surface(
            np.concatenate([empty, *(s.points for s in surfaces)]),
            np.concatenate([empty, *(s.normals for s in surfaces)]),
            np.concatenate([empty, *(s.colors for s in surfaces)]),
            np.concatenate([empty.astype(int), *(s.faces + i for s, i in zip(surfaces, starts, strict=False))]),
        )


@dataclass(frozen=True)
class Theme:
    """Colours of a picture, as sRGB 0 to 1.

    sky, horizon, ground  the room
    bounce                what lights a surface from below
    has_ground            draw the ground, with its grid and shadows
    floor                 m, the ground's height
    """

    sky: tuple[float, float, float] = (0.945, 0.955, 0.970)
    horizon: tuple[float, float, float] = (0.885, 0.900, 0.920)
    ground: tuple[float, float, float] = (0.800, 0.815, 0.835)
    bounce: tuple[float, float, float] = (0.600, 0.575, 0.550)
    has_ground: bool = True
    floor: float = 0.0


def linear(srgb: Iterable[float]) -> np.ndarray:
    """sRGB, 0 to 1, to linear light."""
    c = np.asarray(tuple(srgb), float)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


@dataclass(frozen=True, eq=False)
class Paint:
    """A patch painted on the ground: it takes the ground's shadows and grid, and casts none.

    points  (V, 2) m, x and z
    faces   (F, 3)
    color   sRGB 0 to 1
    cover   0 leaves the ground's own colour, 1 replaces it
    """

    points: np.ndarray
    faces: np.ndarray
    color: tuple[float, float, float]
    cover: float = 1.0


def check_pixels(width: int, height: int, samples: int = 1) -> None:
    """Raise InputError for a picture without pixels, or larger than any screen or print, before memory is taken."""
    if width < 1 or height < 1 or samples < 1:
        raise InputError(
            f"a picture needs a size and samples of at least 1; given {width} x {height}, {samples} samples."
        )
    asked = f"a picture of {width} x {height} pixels with {samples} x {samples} samples each has"
    count = int(width) * int(height) * int(samples) ** 2
    check_most(f"{asked} {count:.4g} samples", count, MOST_SAMPLES, "Make it smaller, or take fewer samples.")


def render(
    surface: Surface,
    camera: Camera,
    size: tuple[int, int],
    samples: int = 2,
    look: Theme | None = None,
    paints: Sequence[Paint] = (),
    backdrop: np.ndarray | None = None,
    threads: int | None = None,
) -> np.ndarray:
    """A picture (H, W, 3) uint8 of a surface on the ground, sRGB.

    size      width and height in pixels
    samples   along each side of a pixel: 1 is jagged and quick, 3 smooth; the cost grows with its square
    paints    on the ground, later ones over earlier ones; unseen where the look has no ground
    backdrop  (H, W, 3) uint8, `render_room` of the same camera, size and look: saves a sixth of the time and changes
              nothing else
    threads   that share the work; None for one a core. The picture is the same
    """
    from poise.pictures import kernels

    width, height = size
    check_pixels(width, height, samples)
    _check_backdrop(backdrop, size)
    look = look or Theme()
    down = np.array([0.0, look.floor, 0.0])
    camera = Camera(camera.position - down, camera.target - down, camera.fov)
    fine = (width * samples, height * samples)
    geometry = _build_geometry(surface, down, camera, fine)
    seen = kernels.Samples(np.zeros(fine[::-1], np.float32), np.full(fine[::-1], -1, np.int32))
    light_axes = _light_axes(camera)
    image = np.zeros((height, width, 3), np.uint8) if backdrop is None else np.array(backdrop)
    view = kernels.Viewpoint(camera.position, camera.axes, height / (2.0 * np.tan(camera.fov / 2.0)), samples)
    palette = np.stack([linear(c) for c in (look.sky, look.horizon, look.ground, look.bounce)])

    # Kernels leave the GIL: what the eye, the light and the ground see goes on all cores, then bands of rows do. Pixels
    # do not depend on one another, nor on how they are split.
    cores = threads or os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        filled = pool.submit(kernels.fill_triangles, geometry.corners, geometry.faces, *seen)
        maps = pool.submit(_ground_maps, geometry, light_axes[2])
        light = kernels.Light(light_axes, *_light_picture(geometry, light_axes))
        ground = kernels.GroundMaps(*maps.result(), look.has_ground)
        paint = _paint(paints if look.has_ground else (), camera, fine, palette[2])
        filled.result()
        bare = np.zeros((0, 0), np.bool_)
        if backdrop is not None:
            bare = np.zeros((height, width), np.bool_)
            part = np.array(_changed_part(ground, paints, camera, size))
            kernels.find_bare(bare, seen.owner, paint.owner, view, ground, part)
        scene = kernels.Scene(view, geometry, light, ground, paint, palette)

        def resolve(rows: tuple[int, int]) -> None:
            kernels.resolve(image, seen, scene, bare, *rows)

        edges = np.linspace(0, height, min(4 * cores, height) + 1).astype(int).tolist()
        list(pool.map(resolve, itertools.pairwise(edges)))
    return image


def _check_backdrop(backdrop: np.ndarray | None, size: tuple[int, int]) -> None:
    width, height = size
    if backdrop is not None and (backdrop.shape != (height, width, 3) or backdrop.dtype != np.uint8):
        raise InputError(
            f"a backdrop for {width} x {height} pixels has shape ({height}, {width}, 3) and uint8; given "
            f"{backdrop.shape} of {backdrop.dtype}."
        )


def _build_geometry(surface: Surface, down: np.ndarray, camera: Camera, fine: tuple[int, int]) -> Geometry:
    """Return a surface that is moved by -down (3,) m, as the kernels take it. fine: width and height in samples"""
    from poise.pictures import kernels

    points = np.ascontiguousarray(surface.points - down, float)
    return kernels.Geometry(
        np.ascontiguousarray(camera.project(points, fine)),
        np.ascontiguousarray(surface.faces, np.int32),
        points,
        np.ascontiguousarray(surface.normals, float),
        np.ascontiguousarray(surface.colors, float),
    )


def render_room(camera: Camera, size: tuple[int, int], look: Theme | None = None) -> np.ndarray:
    """A picture (H, W, 3) uint8 of ground and sky with nothing there: the backdrop of all pictures by one camera."""
    return render(Surface.joined([]), camera, size, 1, look)


def _paint(paints: Sequence[Paint], camera: Camera, fine: tuple[int, int], ground: np.ndarray) -> Any:
    """The kernels' `Paint` of patches on the ground: which one each sample shows, and what it does to ground (3,)."""
    from poise.pictures import kernels

    if not paints:
        return kernels.PaintMap(np.zeros((0, 0), np.int32), np.ones((1, 3)))
    patches, all_faces, start = [], [], 0
    for order, patch in enumerate(paints, 1):
        points = np.asarray(patch.points, float)
        corners = camera.project(np.insert(points, 1, 0.0, axis=1), fine)
        # All lie in one plane: the later one is "nearer".
        corners[:, 2] = np.where(corners[:, 2] > 0.0, order, -1.0)
        patches.append(corners)
        all_faces.append(np.asarray(patch.faces, np.int32).reshape(-1, 3) + start)
        start += len(points)
    faces = np.ascontiguousarray(np.concatenate(all_faces), np.int32)
    owner = np.full(fine[::-1], -1, np.int32)
    kernels.fill_triangles(np.concatenate(patches), faces, np.zeros(fine[::-1], np.float32), owner)
    tints = np.stack([1.0 - p.cover + p.cover * linear(p.color) / ground for p in paints])
    return kernels.PaintMap(owner, np.repeat(tints, [len(f) for f in all_faces], axis=0))


def _changed_part(
    ground: Any, paints: Sequence[Paint], camera: Camera, size: tuple[int, int]
) -> tuple[int, int, int, int]:
    """Top, bottom, left and right of the pixels of the room that shadows or paint may have changed."""
    width, height = size
    low, reach = ground.place[:2], ground.shadow.shape[0] / ground.place[2]
    shaded = low + reach * np.array([(0, 0), (0, 1), (1, 1), (1, 0)])
    flat = np.concatenate([shaded, *(np.asarray(paint.points, float) for paint in paints)])
    x, y, near = camera.project(np.insert(flat, 1, 0.0, axis=1), size).T
    if (near <= 0.0).any():
        return 0, height, 0, width
    top, bottom = max(int(y.min()) - 1, 0), min(int(y.max()) + 2, height)
    left, right = max(int(x.min()) - 1, 0), min(int(x.max()) + 2, width)
    return top, bottom, left, right


def _light_axes(camera: Camera) -> np.ndarray:
    """(3, 3) rows: x and y of the key light's own picture, and the way towards it, over the camera's left shoulder."""
    right, _, forward = camera.axes
    level = np.array([forward[0], 0.0, forward[2]])
    level /= max(float(np.linalg.norm(level)), 1e-9)
    towards = -0.55 * level - 0.60 * right + np.array([0.0, 1.0, 0.0])
    towards /= np.linalg.norm(towards)
    x = np.cross([0.0, 1.0, 0.0], towards)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(towards, x), towards])


def _light_picture(surface: Geometry, light_axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the light sees: nearness (N, N), and its place (4,): corner x, y in m, samples per m, zero of nearness."""
    from poise.pictures import kernels

    if not len(surface.points):
        return np.zeros((_SHADOW_SAMPLES, _SHADOW_SAMPLES), np.float32), np.array([0.0, 0.0, 1.0, 0.0])
    seen = surface.points @ light_axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    width = max(high[0] - low[0], high[1] - low[1], 1e-6)
    samples = _count_samples(_SHADOW_SAMPLES, width)
    nearness = np.zeros((samples, samples), np.float32)
    scale = (samples - 8) / width
    place = np.array([low[0] - 4.0 / scale, low[1] - 4.0 / scale, scale, low[2] - 1.0])
    corners = np.column_stack([(seen[:, :2] - place[:2]) * scale, seen[:, 2] - place[3]])
    kernels.fill_triangles(np.ascontiguousarray(corners), surface.faces, nearness, np.empty(nearness.shape, np.int32))
    return nearness, place


def _ground_maps(surface: Geometry, towards: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shade on the ground (N, N) from the light and from close above, and its place (3,): x, z, samples per m."""
    from poise.pictures import kernels

    shape = (_GROUND_SAMPLES, _GROUND_SAMPLES)
    if not len(surface.points):
        return np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.array([0.0, 0.0, 1.0])
    height = np.maximum(surface.points[:, 1], 0.0)
    cast = surface.points[:, [0, 2]] - height[:, None] * (towards[[0, 2]] / towards[1])
    below = surface.points[:, [0, 2]]
    both = np.concatenate([cast, below])
    low, high = both.min(axis=0), both.max(axis=0)
    border = 0.25
    width = max((high - low).max() + 2.0 * border, 1e-6)
    samples = _count_samples(_GROUND_SAMPLES, width)
    shape = (samples, samples)
    scale = (samples - 2) / width
    place = np.array([*(low - border), scale])

    maps = []
    for where, softness in ((cast, 0.022), (below, 0.045)):
        nearness = np.zeros(shape, np.float32)
        owner = np.full(shape, -1, np.int32)
        # Nearness to the ground: the lowest point over each sample wins.
        corners = np.column_stack([(where - place[:2]) * scale, 1.0 / (1.0 + height)])
        kernels.fill_triangles(np.ascontiguousarray(corners), surface.faces, nearness, owner)
        if where is cast:
            cover = (owner >= 0).astype(np.float32)
        else:
            gap = 1.0 / np.maximum(nearness, 1e-6) - 1.0
            cover = np.where(owner >= 0, np.exp(-gap / _CONTACT_HEIGHT), 0.0).astype(np.float32)
        maps.append(kernels.blur(cover, _bell(softness * scale)))
    return maps[0], maps[1], place


def _count_samples(usual: int, width: float) -> int:
    """Along a side of a map of something so wide (m)."""
    return round(usual * min(max(width / _WIDE, 1.0), _MOST_TIMES))


def _bell(deviation: float) -> np.ndarray:
    """Half of a Gaussian (n,), middle first, that sums to 1 over both sides."""
    deviation = max(deviation, 0.3)
    steps = np.arange(int(np.ceil(3.0 * deviation)) + 1)
    weights = np.exp(-0.5 * (steps / deviation) ** 2)
    return (weights / (2.0 * weights.sum() - weights[0])).astype(np.float32)
