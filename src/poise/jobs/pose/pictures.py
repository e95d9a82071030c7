"""Pictures of a body that stands: itself, what it reaches for, its support and its centre of mass on the ground."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from poise.body.character import Character
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.primitives import Sphere
from poise.body.geometry.skin import SkinnedMesh, build_skin
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.jobs.shared.metrics import find_supports
from poise.motion.clip import Clip
from poise.pictures.body import BODY_COLOR
from poise.pictures.items import BalanceMarks, DrawnProp, Item
from poise.pictures.picture import DrawnBody, Picture, frame_picture, render_picture
from poise.spatial import rotation

_TARGET = (0.82, 0.42, 0.36)
SIZE, CELL = (960, 540), (480, 360)
FPS = 30.0


def list_changes(supports: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Those outlines that differ from the one before."""
    kept: list[np.ndarray] = []
    for outline in supports:
        if len(outline) and (not kept or len(kept[-1]) != len(outline) or np.abs(kept[-1] - outline).max() > 0.01):
            kept.append(outline)
    return kept


def draw_body(
    clip: Clip,
    character: Character,
    down: np.ndarray,
    targets: Iterable[np.ndarray] = (),
    balls: Iterable[tuple[str, Sphere, float]] = (),
    label: str = "",
    color: tuple[float, float, float] = BODY_COLOR,
    skin: SkinnedMesh | None = None,
    mass: float | None = None,
) -> DrawnBody:
    """A body in a picture.

    character  what is weighed: with all that it carries
    down       (F, 2) which feet carry
    targets    (3,) m, or (F, 3): what is reached for
    balls      joint, ball in its frame, kg: what is carried
    skin       its own mesh; None: a mannequin of `mass` (kg)
    """
    times = clip.times - clip.times[0]
    shown = clip.replace(times=times)
    center = compute_center_of_mass(build_tree(character), *clip.poses)
    items: list[Item] = [BalanceMarks(times, center, find_supports(clip, down))]
    still = np.array([1.0, 0.0, 0.0, 0.0])
    for place in targets:
        at = np.broadcast_to(np.asarray(place, float), (len(times), 3))
        poses = np.concatenate([at, np.tile(still, (len(times), 1))], axis=1)
        items.append(DrawnProp(Sphere(np.zeros(3), 0.035), poses, times, _TARGET))
    positions, turns = clip.world
    for joint, ball, _ in balls:
        i = clip.skeleton.index(joint)
        middle = positions[:, i] + rotation.rotate(turns[:, i], ball.center)
        poses = np.concatenate([middle, np.tile(still, (len(times), 1))], axis=1)
        items.append(DrawnProp(Sphere(np.zeros(3), ball.radius), poses, times))
    if skin is None:
        skin = build_skin(clip.skeleton, build_mannequin(clip.skeleton, character.mass if mass is None else mass))
    return DrawnBody(shown, skin, color, label=label, items=tuple(items))


def draw_still(picture: Picture, times: Sequence[float], azimuth: float | None = None) -> np.ndarray:
    """(H, W, 3) uint8: one moment, or several in rows of three."""
    whole = np.asarray(times, float)
    if len(whole) == 1:
        view = frame_picture(picture, whole, SIZE, azimuth=azimuth)
        return render_picture(picture, float(whole[0]), SIZE, view, caption="")
    view = frame_picture(picture, whole, CELL, azimuth=azimuth)
    cells = [render_picture(picture, float(t), CELL, view) for t in whole]
    cells += [np.full_like(cells[0], 255)] * (-len(cells) % 3)
    return np.concatenate([np.concatenate(cells[k : k + 3], axis=1) for k in range(0, len(cells), 3)])
