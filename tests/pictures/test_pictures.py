"""Cameras, pixels, PNG files, labels and contact sheets against closed forms and other readers."""

from __future__ import annotations

import struct
import zlib
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.bodies import make_human, make_pose
from helpers.meshes import make_sphere
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.mesh import Mesh
from poise.body.geometry.skin import build_skin
from poise.compiled import kernel as compile_module
from poise.compiled.kernel import kernel
from poise.errors import FileError, InputError
from poise.motion.clip import Clip
from poise.pictures.body import find_heading, pose_surface
from poise.pictures.camera import Camera
from poise.pictures.image import draw_text, encode_png, measure_text, save_png
from poise.pictures.raster import Surface, Theme, linear, render
from poise.pictures.sheet import draw_contact_sheet
from poise.spatial import rotation

HUMAN = make_human()
BARE = Theme(has_ground=False)
NOTHING = Surface(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), int))
FRONT = Camera(np.array([0.0, 1.0, 5.0]), np.array([0.0, 1.0, 0.0]), fov=0.6)


@cache
def meshes() -> dict[str, Mesh]:
    return build_mannequin(HUMAN, 70.0)


def surface_of(mesh: Mesh, center=(0.0, 0.0, 0.0), color=(0.5, 0.5, 0.5)) -> Surface:
    return Surface(mesh.vertices + center, mesh.normals, np.tile(color, (len(mesh.vertices), 1)), mesh.faces)


def figure_mask(surface: Surface, camera: Camera, size: tuple[int, int]) -> np.ndarray:
    """(H, W) which pixels a surface changes."""
    difference = render(surface, camera, size, look=BARE).astype(int) - render(NOTHING, camera, size, look=BARE)
    return np.abs(difference).max(axis=2) > 1


def test_camera_looks_along_its_axes():
    assert FRONT.project(np.array([0.0, 1.0, 0.0]), (640, 480)) == pytest.approx([320, 240, 1 / 5])
    # A point at the edge of the field of view: y = 5 tan(fov / 2) above the target.
    top = FRONT.project(np.array([0.0, 1.0 + 5 * np.tan(0.3), 0.0]), (640, 480))
    assert top[:2] == pytest.approx([320, 0])
    # From the front, the character's left (+X) is on the right.
    assert FRONT.project(np.array([1.0, 1.0, 0.0]), (640, 480))[0] > 320
    assert FRONT.project(np.array([0.0, 1.0, 9.0]), (640, 480))[2] < 0


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), azimuth=st.floats(-4, 4), elevation=st.floats(-1.2, 1.2), wide=st.booleans())
def test_framing_is_tight_and_cuts_nothing(seed, azimuth, elevation, wide):
    points = np.random.default_rng(seed).normal(size=(30, 3)) * [0.5, 1.5, 0.4] + [3, 1, -2]
    size = (800, 300) if wide else (300, 800)
    x, y, near = Camera.frame(points, size, azimuth, elevation, margin=0.1).project(points, size).T
    assert (near > 0).all()
    slack = np.array([x.min() / size[0], 1 - x.max() / size[0], y.min() / size[1], 1 - y.max() / size[1]])
    assert slack.min() == pytest.approx(0.1, abs=1e-9)
    # Tight along one axis at both ends.
    assert min(slack[:2].max(), slack[2:].max()) == pytest.approx(0.1, abs=1e-9)


def test_camera_refuses_nonsense():
    with pytest.raises(InputError, match="another point to look at"):
        Camera(np.zeros(3), np.zeros(3))
    with pytest.raises(InputError, match="between 0 and pi"):
        Camera(np.ones(3), np.zeros(3), fov=4.0)
    with pytest.raises(InputError, match="finite points"):
        Camera.frame(np.zeros((0, 3)), (10, 10))


@pytest.mark.parametrize("samples", [1, 3])
def test_a_sphere_covers_its_disc(samples):
    """Seen from distance d, a sphere of radius r fills a circle of slope r / sqrt(d^2 - r^2)."""
    mesh = make_sphere(40)
    red = surface_of(Mesh(0.5 * mesh.vertices, mesh.faces), (0, 1, 0), (0.9, 0.0, 0.0))
    image = render(red, FRONT, (400, 300), samples, BARE).astype(int)
    covered = (image[..., 0] > image[..., 2] + 10).sum()  # the room is bluish
    radius = 0.5 / np.sqrt(25 - 0.25) * 300 / (2 * np.tan(0.3))
    assert covered == pytest.approx(np.pi * radius**2, rel=0.02)


def test_the_nearer_surface_hides_the_farther():
    mesh = make_sphere(16)
    far, near = surface_of(mesh, (0, 1, -3), (0.9, 0.05, 0.05)), surface_of(mesh, (0, 1, 0), (0.05, 0.05, 0.9))
    for order in ((far, near), (near, far)):
        image = render(Surface.joined(order), FRONT, (120, 90), 1, BARE)
        red, _, blue = image[45, 60].astype(int)
        assert blue > red + 60


def test_behind_the_camera_nothing_is_drawn():
    camera = Camera(np.array([0.0, 1.0, -5.0]), np.array([0.0, 1.0, -9.0]), fov=0.6)
    assert not figure_mask(surface_of(make_sphere(16), (0, 1, 0)), camera, (80, 60)).any()


def test_light_comes_from_above_left_and_shadow_falls_on_the_ground():
    ball = make_sphere(24)
    ball = surface_of(Mesh(0.3 * ball.vertices, ball.faces), (0, 0.6, 0))
    camera = Camera(np.array([0.0, 3.0, 6.0]), np.array([0.0, 0.3, 0.0]), fov=0.6)
    with_ball, without = (render(s, camera, (320, 240)) for s in (ball, NOTHING))
    ball_x, ball_y, _ = camera.project(np.array([0.0, 0.6, 0.0]), (320, 240))
    bright = with_ball[int(ball_y) - 8, int(ball_x) - 8].sum()
    assert bright > with_ball[int(ball_y) + 9, int(ball_x) + 9].sum() + 60
    # The light leans 0.55 back and 0.6 left for each 1 up: the shadow's middle lies that much the other way.
    shadow = camera.project(np.array([0.6 * 0.6, 0.0, -0.55 * 0.6]), (320, 240)).astype(int)
    away = camera.project(np.array([-1.0, 0.0, 0.6]), (320, 240)).astype(int)
    darker = without.astype(int).sum(axis=2) - with_ball.astype(int).sum(axis=2)
    assert darker[shadow[1], shadow[0]] > 60
    assert abs(darker[away[1], away[0]]) <= 3


def test_raising_floor_and_figure_together_changes_nothing():
    ball = make_sphere(12)
    lift = np.array([0.0, 2.5, 0.0])
    camera = Camera(np.array([0.0, 3.0, 6.0]), np.array([0.0, 0.3, 0.0]))
    raised = Camera(camera.position + lift, camera.target + lift)
    low = render(surface_of(ball, (0, 1, 0)), camera, (90, 60))
    high = render(surface_of(ball, lift + (0, 1, 0)), raised, (90, 60), look=Theme(floor=2.5))
    assert np.abs(low.astype(int) - high).max() <= 1


def test_same_input_same_bytes():
    args = (HUMAN, meshes(), HUMAN.offsets[0], make_pose(HUMAN, leftUpperArm=(0, 0, -60)))
    first, second = (render(pose_surface(*args), FRONT, (160, 200)) for _ in range(2))
    assert first.shape == (200, 160, 3)
    assert first.dtype == np.uint8
    assert first.tobytes() == second.tobytes()


def test_a_limb_moves_rigidly_with_its_joint():
    rotations = rotation.random(np.random.default_rng(1), (len(HUMAN),))
    limb = {"leftLowerArm": meshes()["leftLowerArm"]}
    surface = pose_surface(HUMAN, limb, np.array([1.0, 2.0, 3.0]), rotations)
    positions, orientations = HUMAN.pose(np.array([1.0, 2.0, 3.0]), rotations)
    joint, mesh = HUMAN.index("leftLowerArm"), limb["leftLowerArm"]
    wanted = positions[joint] + rotation.rotate(orientations[joint], mesh.vertices)
    np.testing.assert_allclose(surface.points, wanted, atol=1e-12)
    np.testing.assert_allclose(surface.normals, rotation.rotate(orientations[joint], mesh.normals), atol=1e-12)


def test_meshes_and_their_skin_give_the_same_surface():
    pose = (np.zeros(3), make_pose(HUMAN, spine=(20, 10, 0)))
    from_meshes = pose_surface(HUMAN, meshes(), *pose)
    from_skin = pose_surface(HUMAN, build_skin(HUMAN, meshes()), *pose)
    np.testing.assert_array_equal(from_meshes.points, from_skin.points)
    np.testing.assert_array_equal(from_meshes.normals, from_skin.normals)


@pytest.mark.parametrize("heading", [0.0, 1.0, -2.5, np.pi - 1e-3])
def test_heading_is_the_turn_about_up(heading):
    rotations = make_pose(HUMAN)
    rotations[0] = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), heading)
    positions, _ = HUMAN.pose(np.zeros(3), rotations)
    assert find_heading(HUMAN, positions) == pytest.approx(heading)


def test_three_quarter_view_keeps_the_whole_body_in_the_picture():
    size = (200, 200)
    for joint_turns in ({}, {"leftUpperArm": (0, 0, 80), "rightUpperArm": (0, 0, -80)}):
        surface = pose_surface(HUMAN, meshes(), HUMAN.offsets[0], make_pose(HUMAN, **joint_turns))
        mask = figure_mask(surface, Camera.frame(surface.points, size), size)
        assert mask.sum() > 1000
        assert not mask[[0, -1]].any() and not mask[:, [0, -1]].any()


def walk_of(frames: int) -> Clip:
    """A body that swings its left leg while it drifts and turns a little."""
    times = np.linspace(0.0, 3.0, frames)
    swing = np.stack([make_pose(HUMAN, leftUpperLeg=(40 * np.sin(3 * t), 0, 0), hips=(0, 10 * t, 0)) for t in times])
    return Clip(HUMAN, times, HUMAN.offsets[0] + times[:, None] * [0.4, 0.0, 1.3], swing)


def test_contact_sheet_has_its_cells_and_follows_the_figure():
    sheet = draw_contact_sheet(walk_of(61), meshes(), count=5, columns=3, cell=(80, 100), samples=1)
    assert sheet.shape == (2 * 100 + 2, 3 * 80 + 4, 3)
    assert (sheet[102:, 164:] == 255).all()  # five of six cells
    bare = draw_contact_sheet(walk_of(61), meshes(), count=5, columns=3, cell=(80, 100), samples=1, look=BARE)
    for i in range(5):
        top, left = i // 3 * 102, i % 3 * 82
        cell = bare[top : top + 100, left : left + 80].astype(int)
        figure = (cell[..., 0] - cell[..., 2]) > 10  # warm, where the room is cold
        assert figure.sum() > 500
        assert not figure[[0, -1]].any() and not figure[:, [0, -1]].any()


def test_contact_sheet_of_one_frame_and_its_refusals():
    assert draw_contact_sheet(walk_of(1), meshes(), cell=(40, 50), samples=1).shape == (50, 40, 3)
    with pytest.raises(InputError, match="1 frame, 1 column"):
        draw_contact_sheet(walk_of(1), meshes(), count=0)
    with pytest.raises(InputError, match="at least 1"):
        render(surface_of(make_sphere(8)), FRONT, (0, 10))


def decode_png(data: bytes) -> np.ndarray:
    """A reader of its own, for 8-bit pictures with the filter "up", by the chunks of the PNG specification."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    width, height, depth, color = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert depth == 8
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert (rows[:, 0] == 2).all()
    return np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, 3 if color == 2 else 4)


@pytest.mark.parametrize("channels", [3, 4])
def test_png_is_read_back_alike(channels, tmp_path):
    image = np.random.default_rng(2).integers(0, 256, (37, 23, channels), np.uint8)
    np.testing.assert_array_equal(decode_png(encode_png(image)), image)
    save_png(tmp_path / "a.png", image)
    from matplotlib.image import imread

    np.testing.assert_array_equal(np.round(imread(tmp_path / "a.png") * 255).astype(np.uint8), image)
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_png_refusals(tmp_path):
    with pytest.raises(InputError, match="of uint8; given"):
        encode_png(np.zeros((4, 4, 3)))
    with pytest.raises(FileError, match="nowhere"):
        save_png(tmp_path / "nowhere" / "a.png", np.zeros((4, 4, 3), np.uint8))


def test_labels_are_drawn_where_they_are_measured():
    image = np.full((60, 300, 3), 255, np.uint8)
    draw_text(image, "0123456789.-s", (10.0, 20.0), height=18.0, color=(0, 0, 0))
    rows, columns = np.nonzero(image[..., 0] < 128)
    assert rows.min() == pytest.approx(20, abs=2) and rows.max() == pytest.approx(38, abs=2)
    assert columns.min() == pytest.approx(10, abs=2)
    assert columns.max() <= 10 + measure_text("0123456789.-s", 18.0) + 2
    # Every figure looks different.
    glyphs = []
    for digit in "0123456789":
        glyph = np.full((40, 40, 3), 255, np.uint8)
        draw_text(glyph, digit, (5.0, 5.0), 24.0)
        glyphs.append(glyph.astype(int))
    assert all(np.abs(a - b).sum() > 5000 for i, a in enumerate(glyphs) for b in glyphs[:i])


def test_labels_off_the_picture_leave_it_alone():
    image = np.full((20, 20, 3), 9, np.uint8)
    draw_text(image, "off", (500.0, -80.0))
    assert (image == 9).all()


def test_srgb_to_linear_has_its_two_pieces():
    # IEC 61966-2-1: 0.5 is 0.21404 in linear light, and the straight piece has slope 1 / 12.92.
    np.testing.assert_allclose(linear((0.0, 0.02, 1.0)), [0.0, 0.02 / 12.92, 1.0])
    assert linear((0.5,))[0] == pytest.approx(0.21404, abs=1e-5)


def test_kernels_compile_where_no_cache_can_be_written(monkeypatch):
    import numba

    njit, tried = numba.njit, []

    def refuse_cache(function=None, **flags):
        if "cache" not in flags:  # a module of Numba's own that is first imported now
            return njit(function, **flags)
        tried.append(flags)
        if flags["cache"]:
            raise RuntimeError("cannot cache function 'half': no locator available for file 'x.py'")
        return njit(**flags)

    monkeypatch.setattr(numba, "njit", refuse_cache)

    @kernel(fastmath=True)
    def half(x: float) -> float:
        return x / 2.0

    assert half(3.0) == 1.5
    assert [flags["cache"] for flags in tried] == [True, False]
    assert all(flags["fastmath"] and flags["nogil"] for flags in tried)
    assert compile_module._DEFAULTS["error_model"] == "numpy"


def test_kernels_divide_like_numpy():
    @kernel(cache=False)
    def divide(x: float, y: float) -> float:
        return x / y

    assert divide(1.0, 0.0) == np.inf
