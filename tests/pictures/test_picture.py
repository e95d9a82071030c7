"""Pictures of several figures: who is where, what lies on the ground, and one camera that sees it all."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cache

import numpy as np
import pytest

from helpers.bodies import make_human, make_pose
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.polyhedron import check_closed, mass_properties
from poise.body.geometry.primitives import Box, Capsule, Sphere
from poise.body.geometry.skin import SkinnedMesh, build_skin
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.pictures.body import SkinBounds, pose_surface
from poise.pictures.camera import Camera
from poise.pictures.items import (
    BalanceMarks,
    DrawnProp,
    PushArrow,
    find_sample,
    paint_area,
    paint_dot,
    paint_line,
    paint_ring,
)
from poise.pictures.picture import DrawnBody, Picture, film_picture, frame_picture, place_side_by_side, render_picture
from poise.pictures.raster import Paint, Surface, Theme, render, render_room
from poise.pictures.solids import build_arrow, build_solid
from poise.spatial import rotation

HUMAN = make_human()
SIZE = (320, 180)
RED, GREEN, BLUE = (0.9, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.9)
NOTHING = Surface.joined([])
ABOVE = Camera(np.array([0.0, 4.0, 4.0]), np.array([0.0, 0.0, 0.0]))
SQUARE = np.array([[-0.2, -0.2], [0.2, -0.2], [0.2, 0.2], [-0.2, 0.2]])


@cache
def skin() -> SkinnedMesh:
    return build_skin(HUMAN, build_mannequin(HUMAN, 70.0))


def clip_of(travel: float = 0.0, frames: int = 21) -> Clip:
    """An arm that goes up and down sideways while the body drifts forward."""
    times = np.linspace(0.0, 2.0, frames)
    poses = np.stack([make_pose(HUMAN, leftUpperArm=(0, 0, 60 * np.sin(np.pi * t / 2))) for t in times])
    return Clip(HUMAN, times, HUMAN.offsets[0] + times[:, None] * [0.0, 0.0, travel / 2.0], poses)


def is_color(image: np.ndarray, channel: int) -> np.ndarray:
    """(H, W) pixels in which one channel is far above the other two."""
    rest = np.delete(image.astype(int), channel, axis=2).max(axis=2)
    return image[..., channel].astype(int) > rest + 40


def two_figures(**changes) -> Picture:
    left, right = (DrawnBody(clip_of(), skin(), color) for color in (RED, BLUE))
    return Picture([dataclasses.replace(f, **changes) for f in place_side_by_side([left, right])])


def test_both_figures_are_there_the_first_at_the_left():
    image = render_picture(two_figures(), 1.0, SIZE, samples=1)
    red, blue = (np.nonzero(is_color(image, channel)) for channel in (0, 2))
    assert len(red[0]) > 800 and len(blue[0]) > 800
    assert red[1].max() < blue[1].min()
    assert abs(red[0].max() - blue[0].max()) <= 3  # on one line across the picture


def test_an_offset_moves_a_figure_and_all_its_items():
    ball = DrawnProp(Sphere(np.array([0.0, 1.0, 1.0]), 0.1), color=GREEN)
    marks = BalanceMarks(np.zeros(1), support=SQUARE)
    here = DrawnBody(clip_of(), skin(), items=[ball, marks])
    shift = np.array([0.7, 0.0, -0.3])
    there = dataclasses.replace(here, offset=shift)
    np.testing.assert_allclose(Picture([there]).surface(1.0).points, Picture([here]).surface(1.0).points + shift)
    for a, b in zip(Picture([here]).paints(1.0), Picture([there]).paints(1.0), strict=True):
        np.testing.assert_allclose(b.points, a.points + shift[[0, 2]])
    # Items of the picture stay.
    free = Picture([there], [ball]).surface(1.0).points[: len(ball.mesh.vertices)]
    np.testing.assert_allclose(free, ball.mesh.vertices)


def test_side_by_side_leaves_the_gap_at_all_times():
    figures = place_side_by_side([DrawnBody(clip_of(), skin()) for _ in range(3)], gap=0.3, azimuth=0.0)
    spans = []
    for figure in figures:
        points = figure.bounds(np.linspace(0.0, 2.0, 120))
        spans.append((points[..., 0].min(), points[..., 0].max()))
    for before, after in itertools.pairwise(spans):
        assert after[0] - before[1] == pytest.approx(0.3, abs=1e-9)
    assert figures[0].offset + figures[2].offset == pytest.approx(np.zeros(3))


def test_bounds_contain_the_body():
    rotations = rotation.random(np.random.default_rng(3), (4, len(HUMAN)))
    roots = np.random.default_rng(4).normal(size=(4, 3))
    clip = Clip(HUMAN, np.arange(4.0), roots, rotations)
    corners = SkinBounds(HUMAN, skin()).at(clip.pose(clip.times))
    for k in range(4):
        body = pose_surface(HUMAN, skin(), clip.root[k], clip.rotations[k]).points
        for direction in np.random.default_rng(5).normal(size=(40, 3)):
            assert (body @ direction).max() <= (corners[k] @ direction).max() + 1e-9


@pytest.mark.parametrize("travel", [0.0, 4.0])
def test_one_camera_sees_everything_at_all_times(travel):
    picture = Picture(
        place_side_by_side([DrawnBody(clip_of(travel), skin(), RED), DrawnBody(clip_of(travel), skin(), BLUE)])
    )
    times = np.linspace(0.0, 2.0, 41)
    view = frame_picture(picture, times, SIZE)
    assert view.is_following == (travel > 0)
    for t in times[::5]:
        x, y, near = view.camera(t).project(picture.surface(float(t)).points, SIZE).T
        assert (near > 0).all()
        assert x.min() > 0.05 * SIZE[0] and x.max() < 0.95 * SIZE[0]
        assert y.min() > 0.05 * SIZE[1] and y.max() < 0.95 * SIZE[1]


def test_follow_can_be_asked_for_or_refused():
    picture = Picture([DrawnBody(clip_of(4.0), skin())])
    times = np.linspace(0.0, 2.0, 21)
    assert not frame_picture(picture, times, SIZE, follow=False).is_following
    fixed, along = (frame_picture(picture, times, SIZE, follow=f).home for f in (False, True))
    assert np.linalg.norm(fixed.position - fixed.target) > 1.2 * np.linalg.norm(along.position - along.target)
    # At constant speed the camera keeps its distance to the body.
    view = frame_picture(picture, times, SIZE, follow=True)
    np.testing.assert_allclose(np.diff(view.shifts, axis=0), np.tile([0.0, 0.0, 0.2], (20, 1)), atol=1e-3)
    assert not frame_picture(Picture([DrawnBody(clip_of(), skin())]), times, SIZE, follow=True).is_following  # it stays


def test_a_film_is_its_pictures_one_by_one():
    picture, times = two_figures(label="two"), np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    view = frame_picture(picture, times, SIZE)
    film = list(film_picture(picture, times, SIZE, samples=1))
    assert len(film) == 5
    for t, frame in zip(times, film, strict=True):
        np.testing.assert_array_equal(frame, render_picture(picture, float(t), SIZE, view, samples=1))
    assert np.abs(film[0].astype(int) - film[2]).max() > 60


def test_a_film_can_be_left_early():
    film = film_picture(two_figures(), np.linspace(0, 2, 50), SIZE, samples=1)
    next(film)
    film.close()
    with pytest.raises(StopIteration):
        next(film)


def test_labels_and_captions_change_only_their_own_places():
    plain = render_picture(two_figures(), 0.5, SIZE, samples=1, caption="")
    named = render_picture(two_figures(label="mixed"), 0.5, SIZE, samples=1, caption="")
    timed = render_picture(two_figures(), 0.5, SIZE, samples=1)
    changed = np.nonzero((plain != named).any(axis=2))
    assert len(changed[0]) > 60 and changed[0].min() > 0.9 * SIZE[1]
    assert changed[1].min() < SIZE[0] / 2 < changed[1].max()  # one below each
    rows, columns = np.nonzero((plain != timed).any(axis=2))
    assert rows.max() < 0.2 * SIZE[1] and columns.max() < 0.3 * SIZE[0]
    other = render_picture(two_figures(label="other"), 0.5, SIZE, samples=1, caption="")
    assert (other != named).any()


def test_labels_that_would_meet_are_stacked():
    same = Picture([DrawnBody(clip_of(), skin(), c, label="a long name") for c in (RED, BLUE)])
    one = Picture([DrawnBody(clip_of(), skin(), RED, label="a long name"), DrawnBody(clip_of(), skin(), BLUE)])
    both, single = (render_picture(s, 0.5, SIZE, samples=1) for s in (same, one))
    rows = np.nonzero((both != single).any(axis=2))[0]
    assert rows.max() < 0.945 * SIZE[1]


@pytest.mark.parametrize("samples", [1, 2])
def test_a_backdrop_changes_no_pixel(samples):
    picture = two_figures(items=[BalanceMarks(np.zeros(1), np.zeros((1, 3)), SQUARE)])
    view = frame_picture(picture, np.array([0.5]), SIZE)
    for look in (Theme(), Theme(floor=-0.4), Theme(has_ground=False)):
        arguments = (picture.surface(0.5), view.home, SIZE, samples, look, picture.paints(0.5))
        backdrop = render_room(view.home, SIZE, look)
        np.testing.assert_array_equal(render(*arguments, backdrop, threads=1), render(*arguments))
    with pytest.raises(InputError, match="backdrop"):
        render(NOTHING, view.home, SIZE, backdrop=np.zeros((3, 3, 3), np.uint8))


def test_paint_covers_its_area_and_keeps_the_grounds_shadow():
    bare, painted = (render(NOTHING, ABOVE, SIZE, 1, paints=p) for p in ((), [paint_area(SQUARE, BLUE, 1.0)]))
    changed = (bare != painted).any(axis=2)
    # The picture of the square is a quadrangle: its area by the shoelace formula.
    x, y, _ = ABOVE.project(np.insert(SQUARE, 1, 0.0, axis=1), SIZE).T
    area = abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2
    assert changed.sum() == pytest.approx(area, rel=0.03)
    assert is_color(painted, 2)[changed].mean() > 0.9
    wall = DrawnProp(Box(np.array([-0.4, 0.5, 0.2]), np.array([0.1, 0.5, 0.4]), rotation.identity())).surface(0.0)
    dark = render(wall, ABOVE, SIZE, 1, paints=[paint_area(SQUARE, BLUE, 1.0)])
    inside = is_color(dark, 2) & is_color(painted, 2)
    assert (painted.astype(int).sum(axis=2) - dark.astype(int).sum(axis=2))[inside].max() > 60


def test_later_paint_lies_over_earlier_and_under_surfaces():
    low, high = paint_area(SQUARE, RED, 1.0), paint_area(0.5 * SQUARE, BLUE, 1.0)
    middle = tuple(int(v) for v in ABOVE.project(np.zeros(3), SIZE)[:2][::-1])
    assert is_color(render(NOTHING, ABOVE, SIZE, 1, paints=[low, high]), 2)[middle]
    assert is_color(render(NOTHING, ABOVE, SIZE, 1, paints=[high, low]), 0)[middle]
    ball = DrawnProp(Sphere(np.array([0.0, 0.3, 0.0]), 0.3), color=GREEN).surface(0.0)
    assert is_color(render(ball, ABOVE, SIZE, 1, paints=[low, high]), 1)[middle]
    assert (render(NOTHING, ABOVE, SIZE, 1, Theme(has_ground=False), [low]) ==
            render(NOTHING, ABOVE, SIZE, 1, Theme(has_ground=False))).all()  # fmt: skip
    half = render(NOTHING, ABOVE, SIZE, 1, paints=[paint_area(SQUARE, RED, 0.0)])
    np.testing.assert_array_equal(half, render(NOTHING, ABOVE, SIZE, 1))


def area_of(paint: Paint) -> float:
    a, b, c = np.moveaxis(paint.points[paint.faces], 1, 0)
    u, v = b - a, c - a
    return float(np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).sum() / 2)


def test_marks_have_the_areas_they_should():
    assert area_of(paint_area(SQUARE, RED)) == pytest.approx(0.16)
    assert area_of(paint_dot(np.ones(2), 0.1, RED)) == pytest.approx(np.pi * 0.01, rel=0.01)
    assert area_of(paint_line(np.array([[0.0, 0.0], [1.0, 0.0]]), RED, width=0.1)) == pytest.approx(1.1 * 0.1)
    assert area_of(paint_line(SQUARE, RED, width=0.01, closed=True)) == pytest.approx(4 * 0.41 * 0.01)
    assert area_of(paint_ring(np.zeros(2), 0.1, RED, 0.01)) == pytest.approx(2 * np.pi * 0.1 * 0.01, rel=0.6)
    assert area_of(paint_area(SQUARE[:2], RED)) == 0.0
    with pytest.raises(InputError, match=r"\(N, 2\)"):
        paint_area(np.zeros((3, 3)), RED)
    with pytest.raises(InputError, match="finite"):
        paint_dot(np.array([np.nan, 0.0]), 0.1, RED)


SHAPES = [
    Sphere(np.array([0.1, 0.2, 0.3]), 0.2),
    Capsule(np.array([0.0, 0.1, 0.0]), np.array([0.3, 0.5, -0.2]), 0.1),
    Box(np.array([0.1, 0.0, 0.2]), np.array([0.1, 0.2, 0.3]), rotation.from_axis_angle(np.array([0, 0.6, 0.8]), 0.7)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_solids_have_their_shapes_volume_and_face_outward(shape):
    mesh = build_solid(shape)
    check_closed(mesh)
    body = mass_properties(mesh, 1.0)
    assert body.mass == pytest.approx(shape.volume, rel=0.03)
    middle = (shape.start + shape.end) / 2 if isinstance(shape, Capsule) else shape.center
    np.testing.assert_allclose(body.center, middle, atol=1e-3)
    assert (np.einsum("vi,vi->v", mesh.normals, mesh.vertices - middle) > 0).all()


def test_an_arrow_ends_at_its_tip():
    tip, vector = np.array([0.2, 1.0, 0.3]), np.array([0.3, 0.1, -0.2])
    mesh = build_arrow(tip, vector)
    along = (mesh.vertices - tip) @ vector / np.linalg.norm(vector)
    assert along.max() == pytest.approx(0.0, abs=1e-9)
    assert along.min() == pytest.approx(-np.linalg.norm(vector))
    np.testing.assert_allclose(mesh.vertices[along.argmax()], tip, atol=1e-8)
    assert mass_properties(mesh, 1.0).mass > 0
    with pytest.raises(InputError, match="of some length"):
        build_arrow(tip, np.zeros(3))


def test_a_prop_moves_with_its_poses():
    turn = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.pi / 2)
    poses = np.array([[0.0, 1, 0, 1, 0, 0, 0], [2.0, 1, 0, *turn]])
    prop = DrawnProp([SHAPES[2], SHAPES[0]], poses, np.array([0.0, 1.0]))
    rest = prop.mesh.vertices
    np.testing.assert_allclose(prop.surface(0.5).points, rest + [0, 1, 0])
    # A quarter turn about up brings +Z to +X and +X to -Z.
    np.testing.assert_allclose(prop.surface(1.0).points, rest[:, [2, 1, 0]] * [1, 1, -1] + [2, 1, 0], atol=1e-12)
    with pytest.raises(InputError, match="a prop needs"):
        DrawnProp(SHAPES[0], np.zeros((2, 7)), np.zeros(3))


def test_a_push_is_seen_while_it_acts_and_a_little_longer():
    times = np.linspace(0.0, 1.0, 11)
    forces = np.zeros((11, 3))
    forces[3:5] = [50.0, 0.0, 0.0]
    forces[8] = np.nan
    push = PushArrow(times, np.tile([0.0, 1.2, 0.0], (11, 1)), forces, scale=0.01, linger=0.2)
    seen = [len(push.surface(t).points) > 0 for t in times]
    assert seen == [False, False, False, True, True, True, True, False, False, False, False]
    points = push.surface(0.3).points
    assert (points[:, 0].min(), points[:, 0].max()) == pytest.approx((-0.5, 0.0))


def test_an_arrow_on_a_body_ends_on_its_skin():
    figure = DrawnBody(clip_of(), skin())
    chest = HUMAN.pose(*clip_of().pose(0.0))[0][HUMAN.index("chest")]
    push = PushArrow(np.zeros(1), chest[None], np.array([[0.0, 0.0, -80.0]]))
    body = Picture([figure]).surface(0.0).points
    arrow = push.surface(0.0, body).points
    near = body[np.linalg.norm((body - chest)[:, :2], axis=1) < 0.04]
    assert arrow[:, 2].min() == pytest.approx(near[:, 2].max(), abs=1e-9)
    assert arrow[:, 2].min() > chest[2] + 0.03


def test_balance_marks_follow_the_time():
    times = np.array([0.0, 1.0, 2.0])
    center = np.array([[0.0, 1.0, 0.0], [0.1, 1.0, 0.0], [0.2, 1.0, 0.0]])
    marks = BalanceMarks(times, center, [SQUARE, np.zeros((0, 2)), SQUARE + 1.0], np.array([0.0, 0.1]), trail=5.0)
    assert marks.paints(2.0)[0].points == pytest.approx(SQUARE + 1.0)
    assert marks.paints(1.5)[-1].points.mean(axis=0) == pytest.approx([0.1, 0.0])
    assert len(marks.paints(1.5)) == len(marks.paints(2.0)) - 2  # no support while nothing is down
    assert [find_sample(times, t) for t in (-1.0, 0.0, 0.99, 1.0, 9.0)] == [0, 0, 0, 1, 2]
    with pytest.raises(InputError, match="centre of mass"):
        BalanceMarks(times, center[:2])
    with pytest.raises(InputError, match="target"):
        BalanceMarks(times, target=np.zeros(3))
    with pytest.raises(InputError, match="supports"):
        BalanceMarks(times, support=[SQUARE, SQUARE])


def test_pictures_refuse_nonsense():
    with pytest.raises(InputError, match="at least one figure"):
        Picture([])
    with pytest.raises(InputError, match="offset"):
        DrawnBody(clip_of(), skin(), offset=np.zeros(2))
    with pytest.raises(InputError, match="at least one"):
        film_picture(two_figures(), np.zeros(0))
    with pytest.raises(InputError, match="a push needs"):
        PushArrow(np.zeros(2), np.zeros((2, 3)), np.zeros((3, 3)))


def test_the_compiled_pose_is_the_skins_own():
    rotations = rotation.random(np.random.default_rng(7), (len(HUMAN),))
    surface = pose_surface(HUMAN, skin(), np.array([1.0, 2.0, 3.0]), rotations)
    points, normals = skin().pose(HUMAN, *HUMAN.pose(np.array([1.0, 2.0, 3.0]), rotations))
    np.testing.assert_allclose(surface.points, points, atol=1e-12)
    np.testing.assert_allclose(surface.normals, normals, atol=1e-9)


def test_a_ghost_hides_nothing_shades_nothing_and_is_seen_where_it_stands_out():
    shown = DrawnBody(clip_of(), skin(), BLUE)
    ghost = DrawnBody(clip_of(), skin(), RED, offset=np.array([0.15, 0.0, 0.0]), is_ghost=True)
    alone, both = Picture([shown]), Picture([shown, ghost])
    view = frame_picture(both, np.array([1.0]), SIZE)
    of_one = dataclasses.replace(view, middles=view.middles[:1])
    before = render_picture(alone, 1.0, SIZE, of_one, caption="")
    after = render_picture(both, 1.0, SIZE, view, caption="")
    only = render_picture(Picture([dataclasses.replace(ghost, is_ghost=False)]), 1.0, SIZE, of_one, caption="")
    room = render_room(view.camera(1.0), SIZE)
    reached = is_color(only, 0)
    near = np.max([np.roll(reached, (a, b), (0, 1)) for a in (-2, -1, 0, 1, 2) for b in (-2, -1, 0, 1, 2)], axis=0)
    np.testing.assert_array_equal(after[~near], before[~near])  # nor a shadow of the ghost
    assert (
        is_color(before, 2)[reached].any()
        and is_color(after, 2)[reached].sum() > 0.5 * is_color(before, 2)[reached].sum()
    )
    free = reached & (before == room).all(axis=2)
    redder = after[free].astype(int) - before[free]
    assert free.sum() > 100 and (redder[:, 1:] < 0).all()  # it takes green and blue from what is behind it
    assert is_color(after, 0).sum() > 50  # its outline


def test_labels_of_two_lines_stand_above_one_another():
    one, two = (two_figures(label=label) for label in ("one", "one\nand more"))
    times = np.array([0.5])
    view = frame_picture(one, times, SIZE)
    bare = render_picture(two_figures(), 0.5, SIZE, view, caption="")
    rows = [
        np.flatnonzero((render_picture(each, 0.5, SIZE, view, caption="") != bare).any(axis=(1, 2)))
        for each in (one, two)
    ]
    assert rows[1].min() < rows[0].min() - 5 and rows[1].max() <= rows[0].max()
