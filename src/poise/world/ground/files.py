"""Height maps out of files: grey pictures (PNG), arrays (npz), and meshes seen from above (GLB, glTF)."""

from __future__ import annotations

import io
import struct
from os import PathLike
from pathlib import Path

import numpy as np

from poise.errors import FileError, InputError, check_range, unknown_name
from poise.files.input import read_bytes
from poise.world.ground.height_map import MOST, HeightMap

ENDINGS = (".png", ".npz", ".glb", ".gltf")
SPACING = 0.05  # m, where nothing says it
WHITE = 1.0  # m, how high white is over black where nothing says it
PIT = 2.0  # m, how deep a hole is under the lowest point
_HOLES = ("refuse", "pit")
_PNG, _PNG_END, _MOST_BYTES = b"\x89PNG\r\n\x1a\n", b"\0\0\0\0IEND\xaeB`\x82", 64_000_000
_GREY = ((8, 0), (16, 0), (8, 4))  # bits and kind; 16 bits with alpha would be read as 8


def load_height_map(
    path: str | PathLike[str], spacing: float | None = None, scale: float | None = None,
    corner: tuple[float, float] | None = None, holes: str = "refuse", height: float = 0.0, friction: float = 0.8,
) -> HeightMap:  # fmt: skip
    """The ground that a file describes.

    png       grey, 8 or 16 bits: black is at 0 m, white at `scale` (1 m). Seen from above with +Z, ahead, up the
              picture and so +X to its left; a pixel is a height
    npz       arrays `heights` (R, C) m, rows along +Z and columns along +X, and may be `spacing` (m) and `corner` (2,)
    glb, gltf the highest triangle at each place of a grid; metres, +Y up, where its nodes put it

    spacing  m, between heights; 5 cm where neither this nor the file says it
    scale    heights are so many times what the file says; of a mesh, metres a unit
    corner   m, the least x and z; without it the middle of a picture or of an array is over the origin, and a mesh is
             where it is
    holes    of a mesh: places without a triangle that are enclosed by others are refused, or are pits 2 m deep. What is
             outside of its outline is such a pit anyway: nobody steps there
    """
    kind = Path(path).suffix.lower()
    if kind not in ENDINGS:
        raise FileError(path, f"is no height map by its ending '{kind}'. Known: {', '.join(ENDINGS)}.")
    if holes not in _HOLES:
        raise unknown_name("way with holes", holes, _HOLES)
    for what, value, low, high in (("spacing", spacing, 0.001, 1000.0), ("scale", scale, 1e-6, 1e6)):
        if value is not None:
            check_range(f"the {what} of a height map", value, low, high)
    if kind == ".png":
        heights = _load_png(path)
        scale = WHITE if scale is None else scale
    elif kind == ".npz":
        heights, spacing, corner = _load_npz(path, spacing, corner)
    else:
        spacing = SPACING if spacing is None else spacing
        heights, corner = _load_mesh(path, spacing / (scale or 1.0), corner, holes, scale or 1.0)
    try:
        return HeightMap(
            heights * (scale or 1.0), SPACING if spacing is None else spacing, corner, height=height, friction=friction
        )
    except InputError as error:
        raise FileError(path, str(error)) from None


def _load_png(path: str | PathLike[str]) -> np.ndarray:
    """Return heights (R, C) from 0 (black) to 1 (white); alpha is ignored."""
    from PIL import Image

    data = read_bytes(path, _MOST_BYTES)
    if not data.startswith(_PNG):
        raise FileError(path, "must be a PNG; its first bytes are not those of one.")
    if data[8:16] != b"\0\0\0\rIHDR" or _PNG_END not in data:
        raise FileError(path, "is cut off, or has no header.")
    width, height, bits, kind = struct.unpack(">IIBB", data[16:26])
    if (bits, kind) not in _GREY:
        found = {2: "RGB colours", 3: "a palette", 6: "RGB colours"}.get(kind, f"{bits} bits a pixel")
        raise FileError(path, f"has {found}; heights are grey, of 8 or 16 bits. Save it so.")
    if not (2 <= width <= MOST and 2 <= height <= MOST):
        raise FileError(path, f"has {width} x {height} pixels; 2 to {MOST} along a side are read. Make it smaller.")
    try:
        with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
            pixels = np.asarray(image)
    except (OSError, SyntaxError, ValueError) as error:
        raise FileError(path, f"is damaged: {error}.") from None
    grey = pixels if pixels.ndim == 2 else pixels[..., 0]
    return np.asarray(grey / (255.0 if bits == 8 else 65535.0))[::-1, ::-1]


def _load_npz(
    path: str | PathLike[str], spacing: float | None, corner: tuple[float, float] | None
) -> tuple[np.ndarray, float | None, tuple[float, float] | None]:
    from poise.files.arrays import NpzFile

    with NpzFile(path) as file:
        if "heights" not in file:
            raise FileError(path, f"has no array 'heights' (m); it has {', '.join(file.names)[:120] or 'none'}.")
        shape = file.shape("heights")
        if len(shape) != 2 or not all(2 <= size <= MOST for size in shape):
            raise FileError(path, f"has heights of shape {shape}; 2 to {MOST} rows of 2 to {MOST} are read.")
        heights = np.asarray(file["heights"])
        if heights.dtype.kind not in "fiu":
            raise FileError(path, "has heights that are no numbers.")
        heights = heights.astype(float)
        bad = int(np.sum(~np.isfinite(heights)))
        if bad:
            at = np.argwhere(~np.isfinite(heights))[0].tolist()
            raise FileError(
                path, f"has holes: {bad} of its {heights.size} heights are no finite numbers, the first in row "
                f"{at[0]}, column {at[1]}. Fill them."
            )  # fmt: skip
        if spacing is None and "spacing" in file:
            spacing = file.number("spacing")
        if corner is None and "corner" in file:
            x, z = file.numbers("corner", (2,))
            corner = (float(x), float(z))
    return heights, spacing, corner


def _load_mesh(
    path: str | PathLike[str], spacing: float, corner: tuple[float, float] | None, holes: str, scale: float
) -> tuple[np.ndarray, tuple[float, float]]:
    """Heights (R, C) in the file's unit, and the corner (m). The grid ends at or within the mesh's outline."""
    from poise.files.formats.gltf.document import read_document
    from poise.files.formats.gltf.skin import read_surface
    from poise.world.ground.kernels import raise_heights

    mesh = read_surface(read_document(path))
    if len(mesh.faces) == 0:
        raise FileError(path, "has no triangles that could be ground.")
    points = np.ascontiguousarray(mesh.vertices[np.unique(mesh.faces)])
    low, high = points.min(axis=0)[[0, 2]], points.max(axis=0)[[0, 2]]
    columns, rows = (int(min(size / spacing + 1e-6, 1e9)) + 1 for size in high - low)
    if not all(2 <= size <= MOST for size in (rows, columns)):
        wide, long = scale * (high - low)
        raise FileError(
            path, f"is {wide:.3g} x {long:.3g} m, which with heights every {scale * spacing:g} m is {rows} x {columns} "
            f"of them; 2 to {MOST} along a side are read. Give a wider spacing or another scale."
        )  # fmt: skip
    begin = low + 0.5 * ((high - low) - spacing * np.array([columns - 1, rows - 1]))
    heights = np.full((rows, columns), -np.inf)
    raise_heights(mesh.vertices, mesh.faces, begin, spacing, heights)
    empty = ~np.isfinite(heights)
    if empty.all():
        raise FileError(path, "has no triangle that is seen from above. Is +Y up?")
    inner = _find_enclosed(empty)
    if holes == "refuse" and inner.any():
        i, j = np.argwhere(inner)[0]
        x, z = scale * (begin + spacing * np.array([j, i]))
        raise FileError(
            path, f"has holes: {int(inner.sum())} of {heights.size} places have no triangle over them, one at x "
            f"{x:.2f}, z {z:.2f} m. Close them, or take them for pits (holes 'pit')."
        )  # fmt: skip
    if empty.any():
        heights[empty] = heights[~empty].min() - PIT / scale
    first = scale * begin if corner is None else np.asarray(corner, float)
    return heights, (float(first[0]), float(first[1]))


def _find_enclosed(empty: np.ndarray) -> np.ndarray:
    """(R, C) which of the empty places have no way out over other empty ones."""
    from scipy.ndimage import label

    parts, _ = label(empty)
    border = np.unique(np.concatenate([parts[0], parts[-1], parts[:, 0], parts[:, -1]]))
    return empty & ~np.isin(parts, border)
