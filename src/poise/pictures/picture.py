"""Several figures in one picture or film: one ground, one light, one camera.

A `Picture` is the description; `frame_picture` places a camera that sees all of it over all times; `render_picture`
draws one moment and `film_picture` many.
"""

from __future__ import annotations

import dataclasses
import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from poise.body.geometry.skin import SkinnedMesh
from poise.errors import InputError
from poise.motion.motion import BodyMotion
from poise.pictures.body import (
    BODY_COLOR,
    VIEW_AZIMUTH,
    VIEW_ELEVATION,
    SkinBounds,
    draw_ghosts,
    find_heading,
    pose_surface,
)
from poise.pictures.camera import FOV, PictureView, frame_points
from poise.pictures.image import draw_labels
from poise.pictures.items import Item
from poise.pictures.raster import Paint, Surface, Theme, render, render_room

Color = tuple[float, float, float]
# sRGB: bodies told apart beside each other and in grey, the first the usual clay.
FIGURE_COLORS: tuple[Color, ...] = (BODY_COLOR, (0.52, 0.66, 0.80), (0.60, 0.75, 0.58), (0.78, 0.62, 0.74))
# rad: high enough to tell a few centimetres on the ground under the feet, low enough that bodies look like bodies.
_MARKS_ELEVATION = 0.34
_MOST_FRAMED = 1500  # moments looked at to place a camera: of a minute at 30 Hz nearly all


@dataclass(frozen=True, eq=False)
class DrawnBody:
    """One body in a picture.

    motion  a clip, or anything that gives a pose at a time
    skin    from `build_skin`, once
    color   sRGB 0 to 1
    offset  (3,) m, added to where the motion is
    label   written below it, in lines of which the first is larger; none for ""
    items   props, pushes and marks of its own: the offset moves them too
    is_ghost  whether it is a pale silhouette with an outline, over what is solid
    """

    motion: BodyMotion
    skin: SkinnedMesh
    color: Color = BODY_COLOR
    offset: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))
    label: str = ""
    items: Sequence[Item] = ()
    is_ghost: bool = False

    def __post_init__(self) -> None:
        offset = np.array(self.offset, float)
        if offset.shape != (3,) or not np.isfinite(offset).all():
            raise InputError(f"a figure's offset is (3,) metres; given {offset}.")
        object.__setattr__(self, "offset", offset)

    def surface(self, t: float) -> Surface:
        """All that is solid of it at time t (s), in the world."""
        pose = self.motion.pose(t)
        body = pose_surface(self.motion.skeleton, self.skin, pose.root, pose.rotations, self.color, pose.shifts)
        whole = Surface.joined([body, *(item.surface(t, body.points) for item in self.items)])
        return dataclasses.replace(whole, points=whole.points + self.offset)

    def places(self, times: np.ndarray) -> np.ndarray:
        """(F, 3) m, where its hips are at each of times (F,) s, before its offset."""
        pose, hips = self.motion.pose(times), self.motion.skeleton.find_role("hips") or 0
        return pose.root if hips == 0 else self.motion.skeleton.pose(*pose)[0][:, hips]

    def bounds(self, times: np.ndarray) -> np.ndarray:
        """(F, N, 3) m, points around its body at each of times (F,) s, none of the body outside their hull."""
        return SkinBounds(self.motion.skeleton, self.skin).at(self.motion.pose(times)) + self.offset


@dataclass(frozen=True, eq=False)
class Picture:
    """figures, drawn with their own items; items that belong to none of them; look of the room.

    scenery  what is drawn, too, though no camera is placed to see all of it: uneven ground
    note     written after the time in the upper left corner
    """

    figures: Sequence[DrawnBody]
    items: Sequence[Item] = ()
    look: Theme = dataclasses.field(default_factory=Theme)
    scenery: Sequence[Item] = ()
    note: str = ""

    def __post_init__(self) -> None:
        if not self.figures:
            raise InputError("a picture needs at least one figure; none given.")

    @property
    def duration(self) -> float:
        """s, of its longest motion."""
        return max(figure.motion.duration for figure in self.figures)

    def surface(self, t: float) -> Surface:
        """All that is solid at time t (s), in the world; no ghosts."""
        parts = [item.surface(t) for item in (*self.scenery, *self.items)]
        return Surface.joined([*parts, *(figure.surface(t) for figure in self.figures if not figure.is_ghost)])

    def paints(self, t: float) -> list[Paint]:
        """All that is painted on the ground at time t (s)."""
        marks = [mark for item in self.items for mark in item.paints(t)]
        for figure in self.figures:
            if figure.is_ghost:
                continue
            shift = figure.offset[[0, 2]]
            own = [mark for item in figure.items for mark in item.paints(t)]
            marks += [dataclasses.replace(mark, points=mark.points + shift) for mark in own]
        return marks


def place_side_by_side(
    figures: Sequence[DrawnBody], gap: float = 0.25, azimuth: float | None = None
) -> tuple[DrawnBody, ...]:
    """The figures in a row across the picture, the first at the left, so far apart that none reaches into another.

    gap      m between the places that two neighbours need at any time
    azimuth  rad, of the camera they are placed for; None for the usual one, three quarters in front of the first

    Where they travel together, only what they do beside that counts.
    """
    picture = Picture(figures)
    times = np.linspace(0.0, picture.duration, 120)
    azimuth = _usual_azimuth(picture) if azimuth is None else azimuth
    right = np.array([np.cos(azimuth), 0.0, -np.sin(azimuth)])
    shared = np.mean([figure.places(times) for figure in figures], axis=0)
    placed, edge = [], 0.0
    for figure in figures:
        across = (figure.bounds(times) - figure.offset - shared[:, None]) @ right
        placed.append(edge - float(across.min()))
        edge = placed[-1] + float(across.max()) + gap
    middle = (placed[0] + placed[-1]) / 2.0
    return tuple(
        dataclasses.replace(figure, offset=(place - middle) * right)
        for figure, place in zip(figures, placed, strict=True)
    )


def frame_picture(
    picture: Picture,
    times: np.ndarray,
    size: tuple[int, int] = (960, 540),
    follow: bool | None = None,
    azimuth: float | None = None,
    elevation: float | None = None,
    climb: bool = False,
    fov: float = FOV,
) -> PictureView:
    """A camera that sees all figures and what is solid beside them at all times (F,) s.

    follow     whether it goes along over the ground; None: only where the figures travel more than 1.5 m
    azimuth    rad about +Y from +Z towards +X; None: three quarters in front of the first figure as it first stands
    elevation  rad above the horizon; None: from about eye level, and higher where there are marks on the ground to see
    climb      whether it goes up and down with them, too, where it goes along
    fov        rad, from the picture's bottom to its top: the smaller, the farther away, and the less does place change
               how a figure is seen
    """
    times = _check_times(times)
    times = times[np.unique(np.linspace(0, len(times) - 1, _MOST_FRAMED).astype(int))]
    azimuth = _usual_azimuth(picture) if azimuth is None else azimuth
    bodies = np.concatenate([figure.bounds(times) for figure in picture.figures], axis=1)
    few = np.unique(np.linspace(0, len(times) - 1, 40).astype(int))
    beside = {int(k): _points_beside(picture, float(times[k])) for k in few}
    roots = np.stack([figure.places(times) + figure.offset for figure in picture.figures])
    if elevation is None:
        elevation = _MARKS_ELEVATION if any(picture.paints(float(times[k])) for k in few) else VIEW_ELEVATION
    return frame_points(
        times, bodies, beside, roots, size, follow=follow, azimuth=azimuth, elevation=elevation, climb=climb, fov=fov
    )


def render_picture(
    picture: Picture,
    t: float,
    size: tuple[int, int] = (960, 540),
    view: PictureView | None = None,
    samples: int = 2,
    backdrop: np.ndarray | None = None,
    caption: str | None = None,
    threads: int | None = None,
) -> np.ndarray:
    """An image (H, W, 3) uint8 of a picture at time t (s), with the figures' labels and a caption.

    view      the camera, from `frame_picture`; None for one that fits this moment
    backdrop  see `render`
    caption   in the upper left corner; None for the time and the picture's note, "" for nothing
    threads   see `render`
    """
    view = view or frame_picture(picture, np.array([t]), size)
    camera = view.camera(t)
    solid = picture.surface(t)
    image = render(solid, camera, size, samples, picture.look, picture.paints(t), backdrop, threads)
    draw_ghosts(image, [(f.surface(t), f.color) for f in picture.figures if f.is_ghost], solid, camera)
    caption = f"{t:.2f} s  {picture.note}".rstrip() if caption is None else caption
    middles = (view.middles * size[0]).tolist()
    draw_labels(image, caption, [(f.label, f.color, x) for f, x in zip(picture.figures, middles, strict=True)])
    return image


def film_picture(
    picture: Picture,
    times: np.ndarray,
    size: tuple[int, int] = (960, 540),
    view: PictureView | None = None,
    samples: int = 2,
) -> Iterator[np.ndarray]:
    """Images (H, W, 3) uint8 of a picture at times (F,) s, one after the other, by one camera; for `save_film`.

    A few frames are drawn ahead on the other cores; never more than that is held.
    """
    times = _check_times(times)
    view = view or frame_picture(picture, times, size)
    backdrop = None if view.is_following else render_room(view.camera(float(times[0])), size, picture.look)

    def draw() -> Iterator[np.ndarray]:
        ahead = os.cpu_count() or 1
        with ThreadPoolExecutor(ahead) as pool:
            waiting: deque[Future[np.ndarray]] = deque()
            try:
                for t in times:
                    # A frame a core is quicker than all cores on one frame.
                    waiting.append(
                        pool.submit(render_picture, picture, float(t), size, view, samples, backdrop, None, 1)
                    )
                    if len(waiting) > ahead:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for left in waiting:
                    left.cancel()

    return draw()


def _usual_azimuth(picture: Picture) -> float:
    first = picture.figures[0].motion
    positions, _ = first.skeleton.pose(*first.pose(0.0))
    return find_heading(first.skeleton, positions) + VIEW_AZIMUTH


def _points_beside(picture: Picture, t: float) -> np.ndarray:
    """(N, 3) m, of all items' surfaces and marks at time t (s)."""
    points = [np.zeros((0, 3))]
    for items, offset in [(picture.items, np.zeros(3))] + [(figure.items, figure.offset) for figure in picture.figures]:
        for item in items:
            if not item.is_framed:
                continue
            points.append(item.surface(t).points + offset)
            points += [np.insert(mark.points, 1, 0.0, axis=1) + offset * [1, 0, 1] for mark in item.paints(t)]
    return np.concatenate(points)


def _check_times(times: np.ndarray) -> np.ndarray:
    times = np.asarray(times, float)
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all():
        raise InputError(f"a picture is drawn at times (F,) in seconds, finite and at least one; given {times.shape}.")
    return times
