"""Pictures of walks: films and moments with the ground under them, and plots of balance and legs."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import numpy as np

from poise.body.roles import SIDES
from poise.jobs.shared.pictures import Color, check_film_length, draw_body, draw_ground, find_heights, is_uneven, tile
from poise.jobs.walk.job import WalkResult
from poise.jobs.walk.metrics import find_soles
from poise.pictures.body import BODY_COLOR
from poise.pictures.items import DrawnProp, Item
from poise.pictures.picture import Picture, film_picture, frame_picture, place_side_by_side, render_picture
from poise.pictures.raster import Theme
from poise.pictures.relief import ReliefMarks
from poise.world.ground.moving import MovingGround

SIZE, CELL, MOMENTS = (960, 540), (480, 360), 12
AZIMUTH, ELEVATION = -1.05, 0.22  # rad: from the side and a little ahead, so that steps are seen
_PRINTS = (0.45, 0.62, 0.55), (0.68, 0.55, 0.63)  # sRGB, left and right


def _draw_marks(result: WalkResult) -> ReliefMarks:
    clip, ground = result.clip, result.scenery.ground
    times = clip.times - clip.times[0]
    return ReliefMarks(
        times, find_heights(ground), result.balance.center, result.balance.outlines, find_prints(result),
        ground.shift if isinstance(ground, MovingGround) else None,
    )  # fmt: skip


def find_prints(result: WalkResult) -> list[tuple[float, np.ndarray, Color]]:
    """When a foot came to stand, the outline (4, 3) m of its sole there as seen from the ground, and a colour."""
    times = result.clip.times - result.clip.times[0]
    soles = find_soles(result.clip)
    ground, prints = result.scenery.ground, []
    for fall in result.footfalls:
        frame = min(int(np.searchsorted(times, fall.flat)), len(times) - 1)
        if times[frame] > fall.rise + 0.02:
            continue
        corners = soles.points[frame, fall.side, soles.corners]
        if isinstance(ground, MovingGround):
            corners = corners - ground.shift(float(times[frame]))
        prints.append((float(times[frame]), corners, _PRINTS[fall.side]))
    return prints


def build_walk_picture(
    walks: Sequence[WalkResult], labels: Sequence[str] = (), colors: Sequence[Color] = (), azimuth: float = AZIMUTH
) -> Picture:
    """Walks in one picture, with the ground of the first under them; several side by side across it."""
    first = walks[0]
    figures = [
        draw_body(
            walk.clip,
            walk.body,
            [_draw_marks(walk)],
            labels[k] if labels else "",
            colors[k % len(colors)] if colors else BODY_COLOR,
        )
        for k, walk in enumerate(walks)
    ]
    if len(figures) > 1:
        figures = list(place_side_by_side(figures, azimuth=azimuth))
    scenery: list[Item] = [
        DrawnProp(prop.shapes, np.array([*prop.position, *prop.turn])) for prop in first.scenery.props
    ]
    look = Theme()
    ground = first.scenery.ground
    if is_uneven(ground):
        clip = max(walks, key=lambda walk: walk.clip.duration).clip
        hips = clip.positions[:, clip.skeleton.index("hips")]
        relief, floor = draw_ground(ground, hips, clip.times - clip.times[0])
        scenery.append(relief)
        look = Theme(floor=floor)
    elif ground.height != 0.0:
        look = Theme(floor=ground.height)
    return Picture(figures, look=look, scenery=tuple(scenery))


def draw_walk_sheet(walks: Sequence[WalkResult], labels: Sequence[str] = (), colors: Sequence[Color] = (),
                    moments: int = MOMENTS, azimuth: float = AZIMUTH, cell: tuple[int, int] = CELL,
                    columns: int = 3) -> np.ndarray:  # fmt: skip
    """(H, W, 3) uint8, moments of walks in rows."""
    picture = build_walk_picture(walks, labels, colors, azimuth)
    end = max(walk.clip.duration for walk in walks)
    whole = np.linspace(0.0, end, moments + 2)[1:-1]
    # A way over time, so that the camera follows smoothly between far moments.
    dense = np.unique(np.concatenate([np.linspace(0.0, end, 200), whole]))
    view = frame_picture(picture, dense, cell, azimuth=azimuth, elevation=ELEVATION, climb=True)
    return tile([render_picture(picture, float(t), cell, view) for t in whole], columns)


def film_walk(walks: Sequence[WalkResult], path: str | PathLike[str], fps: float = 30.0, labels: Sequence[str] = (),
              colors: Sequence[Color] = (), speed: float = 1.0, size: tuple[int, int] = SIZE,
              azimuth: float = AZIMUTH) -> int:  # fmt: skip
    """Film walks; how many frames the film has. speed: of the film, 2 is twice as fast as it happened."""
    from poise.pictures.film import save_film

    end = max(walk.clip.duration for walk in walks)
    check_film_length(end, fps / speed, "Take fewer steps, or leave out the film.")
    picture = build_walk_picture(walks, labels, colors, azimuth)
    times = np.arange(int(end / speed * fps) + 1) * speed / fps
    view = frame_picture(picture, times, size, azimuth=azimuth, elevation=ELEVATION, climb=True)
    return save_film(path, film_picture(picture, times, size, view), fps)


def plot_walk(result: WalkResult, title: str = "") -> bytes:
    """PNG of the centre of mass over the support: from above with all footprints, along each axis, and its margin."""
    from poise.pictures.plots import plot_support

    times = result.clip.times - result.clip.times[0]
    prints = [corners[:, [0, 2]] for _, corners, _ in find_prints(result)]
    sides = [fall.side for fall in result.footfalls][: len(prints)]
    return plot_support(
        times, result.balance.center, result.balance.outlines, result.balance.margins, prints, sides, title
    )


def plot_leg_angles(result: WalkResult, title: str = "") -> bytes:
    """PNG of hips, knees, ankles and toes over time."""
    from poise.pictures.plots import plot_angles

    clip, limits = result.clip, result.character.limits
    angles: dict[str, dict[str, np.ndarray]] = {}
    for part in ("UpperLeg", "LowerLeg", "Foot", "Toes"):
        for side in SIDES:
            i = clip.skeleton.find_role(side + part)
            ends = None if i is None else limits.get(clip.skeleton.names[i])
            if i is not None and ends is not None:
                angles.setdefault(part, {})[side] = np.degrees(ends.angles(clip.rotations[:, i])[:, 0])
    return plot_angles(clip.times - clip.times[0], angles, title)
