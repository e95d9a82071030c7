"""Terrains by word and from files, against formulas and readers of the tests' own."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

from helpers.errors import rejects
from helpers.files.gltf import Builder
from poise.errors import FileError, InputError, RangeError
from poise.walking.footholds.terrain import Terrain
from poise.walking.path.planner import plan_route
from poise.world.ground.files import load_height_map
from poise.world.ground.ground import Ground, Slope
from poise.world.ground.height_map import HeightMap
from poise.world.ground.moving import MovingGround
from poise.world.ground.profile import Profile
from poise.world.ground.terrain import WORDS, build_terrain
from poise.world.scenery import find_terrain

SOLE = np.array([[-0.05, -0.07], [0.05, -0.07], [0.05, 0.19], [-0.05, 0.19]])


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_the_same_ground_every_time(word: str) -> None:
    first, second, other = (build_terrain(word, seed) for seed in (3, 3, 4))
    x, z = np.random.default_rng(0).uniform(-3.0, 8.0, (2, 500))
    np.testing.assert_array_equal(first.height_at(x, z), second.height_at(x, z))
    assert np.any(first.height_at(x, z) != other.height_at(x, z)) == (word == "rough")
    assert first.height_at(0.0, 0.0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_words_can_be_walked(word: str, seed: int) -> None:
    ground = build_terrain(word, seed)
    route = plan_route(ground, (0.0, 0.0), [(0.0, 9.0)])
    assert route.is_given
    terrain = Terrain(ground)
    for s in np.arange(0.0, 9.0, 0.11):
        assert terrain.find_foothold(0.1, s, 0.0, SOLE)


def test_a_slope_goes_up_and_down_or_on_for_ever() -> None:
    slope = build_terrain("slope", angle=0.2, length=3.0, landing=1.0, start=1.0)
    z = np.array([0.0, 1.0, 2.5, 4.0, 5.0, 6.5, 8.0, 99.0])
    expected = 3.0 * math.tan(0.2) * np.array([0.0, 0.0, 0.5, 1.0, 1.0, 0.5, 0.0, 0.0])
    np.testing.assert_allclose(slope.height_at(5.0, z), expected, atol=1e-12)
    endless = build_terrain("slope", angle=0.2, cross=-0.1, heading=0.5)
    assert isinstance(endless, Slope)
    ahead, left = np.array([math.sin(0.5), math.cos(0.5)]), np.array([math.cos(0.5), -math.sin(0.5)])
    assert endless.height_at(*(2.0 * ahead)) == pytest.approx(2.0 * math.tan(0.2))
    assert endless.height_at(*(2.0 * left)) == pytest.approx(-2.0 * math.tan(0.1))


def test_stairs_go_up_and_down_again() -> None:
    stairs = build_terrain("stairs", count=4, landing=1.0, start=0.5, flights=2)
    z = np.arange(0.0, 12.0, 0.005) + 1e-4
    heights = stairs.height_at(0.0, z)
    steps = np.flatnonzero(np.diff(heights))
    np.testing.assert_allclose(np.abs(np.diff(heights)[steps]), 0.17, atol=1e-12)
    assert np.sign(np.diff(heights)[steps]).tolist() == [1] * 4 + [-1] * 4 + [1] * 4 + [-1] * 4
    runs = np.diff(z[steps])
    long = runs > 0.9
    assert long.sum() == 3
    np.testing.assert_allclose(runs[~long], 0.29, atol=0.006)
    np.testing.assert_allclose(runs[long], 1.0, atol=0.006)
    assert heights[-1] == pytest.approx(0.0, abs=1e-12)
    down = build_terrain("stairs", rise=-0.17, count=3)
    assert down.height_at(0.0, 1.5) == pytest.approx(-3 * 0.17)


@pytest.mark.parametrize("seed", range(5))
def test_random_stairs_are_within_what_people_build(seed: int) -> None:
    stairs = build_terrain("stairs", seed, random=True, count=6)
    assert isinstance(stairs, Profile)
    s, h = stairs.table.T
    rises = np.abs(np.diff(h))[np.diff(s) == 0.0]
    runs = np.diff(s)[np.diff(s) > 0.0]
    assert len(rises) == 12
    assert np.all((rises >= 0.10) & (rises <= 0.20))
    assert np.all((runs >= 0.27) & ((runs <= 0.40) | (runs == 1.5)))
    assert len(np.unique(np.round(rises, 6))) > 8


def test_rough_ground_is_as_rough_as_was_asked_and_ends_level() -> None:
    rough = build_terrain("rough", 5, amplitude=0.08, stones=0.0)
    assert isinstance(rough, HeightMap)
    assert 0.08 < np.ptp(rough.heights) <= 0.16 + 1e-12
    edge = np.concatenate([rough.heights[0], rough.heights[-1], rough.heights[:, 0], rough.heights[:, -1]])
    np.testing.assert_allclose(edge + rough.height, rough.lowest, atol=1e-12)
    slopes = np.hypot(*np.gradient(rough.heights, rough.spacing))
    assert math.degrees(math.atan(float(slopes.max()))) < 40.0
    stones = build_terrain("rough", 5, stones=0.6)
    assert isinstance(stones, HeightMap)
    level = (np.diff(stones.heights, axis=0) == 0.0).mean()
    assert level > 0.8


def test_moving_ground_moves_slowly() -> None:
    for word in ("flat", "stairs", "rough"):
        ground = build_terrain("moving", 2, ground=word)
        assert isinstance(ground, MovingGround)
        speeds = [np.linalg.norm(ground.speed(t)) for t in np.arange(0.0, 12.0, 0.1)]
        assert 0.03 < max(speeds) < 0.15
        still = build_terrain(word, 2)
        shift = ground.shift(3.0)
        assert ground.height_at(0.3 + shift[0], 1.2 + shift[2], 3.0) == pytest.approx(
            float(still.height_at(0.3, 1.2)) + shift[1]
        )


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: build_terrain("stair"), "terrain 'stair' is not known. Did you mean 'stairs'?"),
        (lambda: build_terrain("flat", angle=1.0), "option of terrain 'flat', 'angle'"),
        (lambda: build_terrain("flat", seed=-1), "a seed is a whole number from 0 on; given -1"),
        (lambda: build_terrain("stairs", count=0), "count of steps is 0; it must be a whole number from 1 to 500"),
        (lambda: build_terrain("stairs", count=2.5), "count of steps is 2.5"),
        (lambda: build_terrain("stairs", count=400, flights=400), "at most 3,900 can be had at once"),
        (lambda: build_terrain("rough", length=2000.0, spacing=0.005), "400000 of them; at most 2,000"),
        (lambda: build_terrain("moving", ground="moving"), "does not move by itself"),
        (lambda: find_terrain("stairz"), "Did you mean 'stairs'?"),
        (lambda: find_terrain("nowhere.png"), "there is no such file"),
        (lambda: find_terrain("hill.obj"), "Known: flat, slope"),
        (lambda: find_terrain("a.npz", angle=1.0), "option of a height map, 'angle'"),
    ],
)
def test_what_is_no_terrain_is_refused(ask: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        ask()
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (lambda: build_terrain("slope", angle=1.2), "angle", 1.2),
        (lambda: build_terrain("slope", length=math.nan), "length", math.nan),
        (lambda: build_terrain("stairs", rise=5.0), "rise", 5.0),
        (lambda: build_terrain("rough", amplitude=-1.0), "amplitude", -1.0),
    ],
)
def test_rejects_numbers_out_of_range(make: Callable[[], object], name: str, value: float) -> None:
    assert rejects(make, name, error=RangeError).value == pytest.approx(value, nan_ok=True)


def pixels(rows: int, columns: int, deep: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 2**deep, (rows, columns))


def check_picture(path: Path, image: np.ndarray, deep: int) -> None:
    """Up the picture is +Z and its left +X; black is 0 and white is the scale."""
    ground = load_height_map(path, spacing=0.1, scale=0.6, corner=(-1.0, 2.0))
    rows, columns = image.shape
    for r, c in ((0, 0), (0, columns - 1), (rows - 1, 0), (3, 5), (rows - 1, columns - 1)):
        x, z = -1.0 + 0.1 * (columns - 1 - c), 2.0 + 0.1 * (rows - 1 - r)
        inner = 1e-9 * np.sign([-1.0 + 0.05 * columns - x, 2.0 + 0.05 * rows - z])  # round-off must not leave the map
        height = ground.height_at(x + inner[0], z + inner[1])
        assert height == pytest.approx(0.6 * image[r, c] / (2**deep - 1), abs=1e-6)


@pytest.mark.parametrize("deep", [8, 16])
def test_a_grey_picture_is_a_map(deep: int, tmp_path: Path) -> None:
    image = pixels(9, 12, deep)
    Image.fromarray(image.astype(np.uint8 if deep == 8 else np.uint16)).save(tmp_path / "a.png")
    check_picture(tmp_path / "a.png", image, deep)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(raw: bytes, width: int, height: int, bits: int = 8, kind: int = 0, interlaced: int = 0) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, interlaced)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@pytest.mark.parametrize("deep", [8, 16])
@pytest.mark.parametrize("kind", range(5))
def test_every_filter_of_a_png_is_undone(kind: int, deep: int, tmp_path: Path) -> None:
    """Filtered here by the specification's definitions."""
    image = pixels(7, 11, deep)
    step = deep // 8
    plain = np.frombuffer(image.astype(">u2" if deep == 16 else "u1").tobytes(), np.uint8).reshape(7, -1).astype(int)
    raw = b""
    for r in range(7):
        out = [kind]
        for i in range(plain.shape[1]):
            a = plain[r, i - step] if i >= step else 0
            b = plain[r - 1, i] if r else 0
            c = plain[r - 1, i - step] if r and i >= step else 0
            nearest = min((a, b, c), key=lambda each: abs(a + b - c - each))
            out.append((plain[r, i] - [0, a, b, (a + b) // 2, nearest][kind]) % 256)
        raw += bytes(out)
    data = write_png(raw, 11, 7, deep)
    (tmp_path / "a.png").write_bytes(data)
    check_picture(tmp_path / "a.png", image, deep)


def test_a_picture_with_alpha_is_read_without_it(tmp_path: Path) -> None:
    image = pixels(5, 6, 8)
    Image.fromarray(np.stack([image, 255 - image], axis=-1).astype(np.uint8), mode="LA").save(tmp_path / "a.png")
    check_picture(tmp_path / "a.png", image, 8)


GREY = bytes(2 * 3)  # two rows of two black pixels, each after its filter


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"P5 2 2 255 0000", "must be a PNG"),
        (write_png(GREY, 2, 2)[:-20], "is cut off"),
        (write_png(GREY[:-1], 2, 2), "is damaged"),
        (write_png(GREY, 2, 2).replace(b"IDATx", b"IDATy"), "is damaged"),
        (write_png(GREY, 2, 2, kind=2), "has RGB colours; heights are grey, of 8 or 16 bits. Save it so."),
        (write_png(GREY, 2, 2, bits=1), "1 bits a pixel"),
        (write_png(GREY, 2, 2, bits=16, kind=4), "16 bits a pixel"),
        (write_png(GREY, 31623, 31623), "has 31623 x 31623 pixels; 2 to 2000 along a side are read"),
        (write_png(GREY, 1, 2), "has 1 x 2 pixels"),
        (write_png(b"\x07\0\0\0\0\0", 2, 2), "is damaged"),
        (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"ab") + chunk(b"IEND", b""), "is cut off, or has no header"),
    ],
)
def test_broken_pictures_are_refused(data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(data)
    with pytest.raises(FileError) as error:
        load_height_map(tmp_path / "a.png")
    assert said in str(error.value)


def test_a_small_file_cannot_unpack_to_a_large_one(tmp_path: Path) -> None:
    """A gigabyte of zeros for four pixels: no more is unpacked than they need."""
    (tmp_path / "a.png").write_bytes(write_png(bytes(10_000_000), 2, 2))
    assert load_height_map(tmp_path / "a.png").heights.shape == (2, 2)


def test_arrays_are_a_map(tmp_path: Path) -> None:
    heights = np.random.default_rng(2).normal(size=(5, 7))
    np.savez(tmp_path / "a.npz", heights=heights, spacing=0.2, corner=[1.0, 2.0])
    ground = load_height_map(tmp_path / "a.npz", height=0.5)
    assert (ground.spacing, ground.corner) == (0.2, (1.0, 2.0))
    assert ground.height_at(1.4, 2.6) == pytest.approx(0.5 + heights[3, 2])
    np.savez(tmp_path / "b.npz", heights=(heights * 100).astype(np.int16))
    ground = load_height_map(tmp_path / "b.npz", scale=0.01, spacing=0.1)
    assert ground.corner == pytest.approx((-0.3, -0.2))
    np.testing.assert_allclose(ground.heights, 0.01 * (heights * 100).astype(np.int16))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"other": np.zeros(3)}, "has no array 'heights' (m); it has other"),
        ({"heights": np.zeros(3)}, "heights of shape (3,); 2 to 2000 rows of 2 to 2000 are read"),
        ({"heights": np.zeros((2, 2001))}, "heights of shape (2, 2001)"),
        ({"heights": np.array([[0.0, np.nan], [1.0, np.inf]])},
         "has holes: 2 of its 4 heights are no finite numbers, the first in row 0, column 1. Fill them."),
        ({"heights": np.array([["a", "b"], ["c", "d"]])}, "no numbers"),
        ({"heights": np.full((2, 2), 1e9)}, "finite and at most 100000 m"),
        ({"heights": np.zeros((2, 2)), "spacing": -1.0}, "spacing of a height map must be from 0.001 to 1000 m"),
    ],
)  # fmt: skip
def test_arrays_that_are_no_map_are_refused(arrays: dict[str, Any], said: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(FileError) as error:
        load_height_map(tmp_path / "a.npz")
    assert said in str(error.value)


def test_too_many_heights_are_refused_before_they_are_read(tmp_path: Path) -> None:
    """The header of an array says what would come; the bytes are zeros that pack to little."""
    np.savez_compressed(tmp_path / "a.npz", heights=np.zeros((16_001, 16_001), np.uint8))
    rejects(lambda: load_height_map(tmp_path / "a.npz"), "'heights'", "16001", "256000000", error=FileError)
    with pytest.raises(FileError, match=r"2 to 2000 along a side are read\. Give a wider spacing"):
        load_height_map(save_mesh(tmp_path, *sheet(np.zeros((3, 3)), 2000.0)), spacing=0.05)


def sheet(heights: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and faces of a map, two triangles a cell."""
    rows, columns = heights.shape
    z, x = np.indices(heights.shape) * spacing
    points = np.stack([x, heights, z], axis=-1).reshape(-1, 3)
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    b, c, d = a + 1, a + columns, a + columns + 1
    return points, np.concatenate([np.stack([a, d, b], axis=1), np.stack([a, c, d], axis=1)])


def save_mesh(folder: Path, points: np.ndarray, faces: np.ndarray, **node: Any) -> Path:
    file = Builder()
    primitive = {
        "attributes": {"POSITION": file.accessor(points)},
        "indices": file.accessor(faces.reshape(-1, 1), "u4"),
    }
    file.json["meshes"] = [{"primitives": [primitive]}]
    file.node(mesh=0, **node)
    path = folder / "mesh.glb"
    path.write_bytes(file.glb())
    return path


def test_a_mesh_is_a_map_of_what_is_highest(tmp_path: Path) -> None:
    """A sheet whose points are those of the grid comes back as it was; a table over a part of it hides that part."""
    heights = np.random.default_rng(3).uniform(0.0, 0.5, (9, 12)).astype(np.float32).astype(float)
    points, faces = sheet(heights, 0.25)
    ground = load_height_map(save_mesh(tmp_path, points, faces), spacing=0.25)
    np.testing.assert_allclose(ground.heights, heights, atol=1e-6)
    assert ground.corner == pytest.approx((0.0, 0.0), abs=1e-6)
    top, square = sheet(np.full((2, 2), 1.0), 0.6)
    top = top + [0.4, 0.0, 0.4]
    path = save_mesh(tmp_path, np.concatenate([points, top]), np.concatenate([faces, square + len(points)]))
    ground = load_height_map(path, spacing=0.25)
    z, x = np.indices(heights.shape) * 0.25
    covered = (x >= 0.4) & (x <= 1.0) & (z >= 0.4) & (z <= 1.0)
    np.testing.assert_allclose(ground.heights, np.where(covered, 1.0, heights), atol=1e-6)


def test_a_mesh_is_where_its_node_puts_it_and_as_large(tmp_path: Path) -> None:
    """A tilted plane, turned, moved and scaled: heights by its formula."""
    points, faces = sheet(np.zeros((2, 2)), 4.0)
    turn = Rotation.from_euler("xyz", [0.2, 0.0, -0.1])
    shift = np.array([1.0, 2.0, 3.0])
    path = save_mesh(
        tmp_path, points, faces, rotation=turn.as_quat(), translation=shift, scale=np.array([1.0, 1.0, 2.0])
    )
    ground = load_height_map(path, spacing=0.1, scale=0.5, holes="pit")
    placed = 0.5 * (turn.apply(points * [1.0, 1.0, 2.0]) + shift)
    normal = turn.apply([0.0, 1.0, 0.0])
    x, z = (placed[:, [0, 2]].mean(axis=0) + np.random.default_rng(0).uniform(-0.6, 0.6, (20, 2))).T
    height = placed[0, 1] - ((x - placed[0, 0]) * normal[0] + (z - placed[0, 2]) * normal[2]) / normal[1]
    np.testing.assert_allclose(ground.height_at(x, z), height, atol=1e-6)


def test_holes_are_refused_or_pits_and_outside_is_nothing_to_walk_on(tmp_path: Path) -> None:
    points, faces = sheet(np.zeros((41, 41)), 0.1)
    middle = points[faces].mean(axis=1)
    hole = np.all(np.abs(middle[:, [0, 2]] - 2.0) < 0.5, axis=1)
    with pytest.raises(FileError, match=r"has holes: \d+ of 6561 places have no triangle over them, one at x 1\.55"):
        load_height_map(save_mesh(tmp_path, points, faces[~hole]))
    pit = load_height_map(save_mesh(tmp_path, points, faces[~hole]), holes="pit")
    assert pit.height_at(2.0, 2.0) == -2.0
    assert pit.height_at(1.0, 1.0) == 0.0
    route = plan_route(pit, (2.0, 0.5), [(2.0, 3.5)])
    assert not route.is_given
    np.testing.assert_array_equal(pit.height_at(*route.points.T), 0.0)
    island = np.linalg.norm(middle[:, [0, 2]] - 2.0, axis=1) < 1.8
    ground = load_height_map(save_mesh(tmp_path, points, faces[island]))
    assert ground.height_at(2.0, 2.0) == 0.0
    assert ground.height_at(0.4, 0.4) == -2.0
    assert ground.height_at(9.0, 9.0) == -2.0


@pytest.mark.parametrize(
    ("points", "faces", "said"),
    [
        (np.zeros((3, 3)), np.array([[0, 0, 1]]), "has no triangles"),
        (np.array([[0.0, 0, 0], [0, 1, 0], [0, 1, 1]]), np.array([[0, 1, 2]]), "2 to 2000 along a side are read"),
        (np.array([[0.0, 0, 0], [1, 1, 1], [2, 0, 2]]), np.array([[0, 1, 2]]), "no triangle that is seen from above"),
    ],
)
def test_meshes_that_are_no_ground_are_refused(points: Any, faces: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(FileError) as error:
        load_height_map(save_mesh(tmp_path, points, faces))
    assert said in str(error.value)


def test_a_terrain_is_a_word_a_map_or_a_stage(tmp_path: Path) -> None:
    assert find_terrain("flat").ground == Ground()
    assert isinstance(find_terrain("stairs", 1, random=True).ground, Profile)
    np.savez(tmp_path / "a.npz", heights=np.eye(3))
    assert isinstance(find_terrain(str(tmp_path / "a.npz"), spacing=0.5).ground, HeightMap)
    (tmp_path / "a.toml").write_text('[ground]\nkind = "tilted"\nangle_degrees = 5\n')
    assert isinstance(find_terrain(str(tmp_path / "a.toml")).ground, Slope)
    rejects(lambda: find_terrain(str(tmp_path / "a.toml"), spacing=0.5), "'spacing'")
