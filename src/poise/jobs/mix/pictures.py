"""Pictures of a mix: its film, and its centre of mass over the support."""

from __future__ import annotations

from os import PathLike

import numpy as np

from poise.body.character import Character
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.primitives import Sphere
from poise.body.geometry.skin import build_skin
from poise.drivers.balance.support_polygon import find_outline
from poise.errors import InputError, check_most
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.metrics import find_sole_corners
from poise.jobs.shared.simulation import Mix, find_pushed
from poise.motion.clip import Clip
from poise.pictures.items import BalanceMarks, DrawnProp, Item, PushArrow
from poise.pictures.picture import DrawnBody, Picture
from poise.spatial import rotation

FPS = 30.0  # frames a second of a film
MOST_FRAMES = 110_000  # an hour


def build_mix_picture(found: Mix, character: Character, plan: MixPlan) -> Picture:
    """The result as a picture: the body, its centre of mass over the support, loads, pushes and props."""
    clip, record = found.clip, found.take.actor()
    times = clip.times - clip.times[0]
    shown = clip.replace(times=times, root=clip.root - [0.0, found.ground, 0.0])
    items: list[Item] = [BalanceMarks(times, record.center, _find_outline(found))]
    positions, turns = shown.world
    for load in plan.loads:
        joint = clip.skeleton.index(load.joint)
        middle = positions[:, joint] + rotation.rotate(turns[:, joint], np.array(load.offset))
        still = np.tile([1.0, 0.0, 0.0, 0.0], (len(times), 1))
        items.append(DrawnProp(Sphere(np.zeros(3), load.radius), np.concatenate([middle, still], axis=1), times))
    for push in plan.pushes:
        joint = clip.skeleton.index(find_pushed(clip.skeleton, push.joint))
        acts = (times >= push.start) & (times < push.start + push.seconds)
        items.append(PushArrow(times, positions[:, joint], np.where(acts[:, None], push.force, 0.0)))
    down = np.array([0.0, found.ground, 0.0, 0.0, 0.0, 0.0, 0.0])
    for prop in plan.scenery.props:
        poses = found.take.props[prop.name]
        items.append(DrawnProp(prop.shapes, poses - down, times))
    skin = build_skin(clip.skeleton, build_mannequin(clip.skeleton, character.mass))
    return Picture([DrawnBody(shown, skin, items=tuple(items))])


def check_film(clip: Clip) -> None:
    """Refuse to film what lasts too long, before it is simulated."""
    check_most(f"a film of {clip.duration:g} s has {clip.duration * FPS:.4g} frames", clip.duration * FPS, MOST_FRAMES,
               "Trim the clip, give its true frame rate (--fps), or leave out the film.")  # fmt: skip


def save_mix_film(found: Mix, character: Character, plan: MixPlan, path: str | PathLike[str]) -> int:
    """Film it; how many frames the film has."""
    from poise.pictures.film import save_film
    from poise.pictures.picture import film_picture

    check_film(found.clip)
    picture = build_mix_picture(found, character, plan)
    times = np.arange(int(found.clip.duration * FPS) + 1) / FPS
    return save_film(path, film_picture(picture, times), FPS)


def draw_plot(found: Mix) -> bytes:
    """PNG of the centre of mass over the support."""
    from poise.pictures.mix_plots import plot_center_of_mass

    times = found.clip.times - found.clip.times[0]
    return plot_center_of_mass(times, found.take.actor().center, _find_outline(found), title=found.clip.name)


def _find_outline(found: Mix) -> np.ndarray | None:
    """(N, 2) m, the support at the beginning; None for a body without feet."""
    try:
        return find_outline(find_sole_corners(found.clip)[0]).corners
    except InputError:
        return None
