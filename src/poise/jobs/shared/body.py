"""The body of a job: a clip's own, or another that the motion is retargeted onto first (Z4); or one without a clip."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.bodies import HEIGHT, MASS, PHYSIQUES, build_body, list_extras
from poise.body.character import Character
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.primitives import Sphere
from poise.body.geometry.skin import SkinnedMesh, build_skin
from poise.body.reshape import add_mass
from poise.errors import InputError, unknown_name
from poise.files.reading.options import ReadingOptions, Source, TakeOptions
from poise.files.reading.pipeline import Reading
from poise.files.registry import read_source
from poise.files.reporting import SILENT, Reporter
from poise.jobs.retarget import Target, load_body
from poise.jobs.shared.body_options import BodyOptions
from poise.motion.clip import Clip
from poise.world.forces import Load

_OF_FILES = ("fps", "height", "roles", "take", "scale", "up", "bones")  # what says how a file is read


@dataclass(frozen=True, eq=False)
class ClipBody:
    """A motion on the body that performs it.

    clip       on the character's skeleton
    played     the clip with parts of other clips (`borrowing`), which its joints follow; None: the clip itself
    target     how motions of this body are written
    is_own     whether the motion is as it was read, on the clip's own joints
    """

    clip: Clip
    character: Character
    target: Target
    is_own: bool = True
    played: Clip | None = None

    @property
    def wanted(self) -> Clip:
        """What the joints are to do."""
        return self.clip if self.played is None else self.played


def read_motion(clip: Any, options: TakeOptions, reporter: Reporter) -> tuple[Clip, Reading | None]:
    """Return a job's clip, and how its file was read if it has one."""
    source = options.source
    if not isinstance(clip, Clip):
        reading = read_source(clip, source, reporter)
        return reading.clip, reading
    said = [option for option in _OF_FILES if getattr(options, option) not in (None, ())]
    if said:
        raise InputError(
            f"{', '.join(said)} says how a file is read, and the clip is given as it is. Give its path, or say it to "
            "poise.load_clip."
        )
    source.check(reporter)
    return clip, None


def find_body(clip: Clip, reading: Reading | None, source: Source, audience: Reporter = SILENT) -> ClipBody:
    """The body that performs a clip. One that is given as a character, or its file, moves as its own bones allow."""
    if source.character is None:
        character = source.build_character(clip if reading is None else reading, audience)
        return ClipBody(clip, character, Target(clip.skeleton, reading, character.mass))
    check_own_size(source, audience)
    character, target = load_body(source.character, audience)
    if clip.skeleton.has_bones_of(character.skeleton):
        if target.reading is None:
            target = Target(clip.skeleton, reading, character.mass)
        # Segments, limits and degrees of freedom go by name.
        return ClipBody(clip, dataclasses.replace(character, skeleton=clip.skeleton), target)
    from poise.motion.retargeting import retarget

    moved = retarget(clip, character.skeleton, ground=None, skin=target.skin)
    audience.note(f"the motion is put on '{character.name}', whose bones are other than the clip's.")
    return ClipBody(moved, character, target, is_own=False)


def check_own_size(options: ReadingOptions | BodyOptions, audience: Reporter) -> None:
    """Raise InputError if a character comes with a mass or a height, which it has itself."""
    for option in ("mass", "height"):
        if getattr(options, option) is not None:
            own = audience.spell("character")
            raise InputError(f"{own} has a {option} of its own; leave out {audience.spell(option)} or {own}.")


@dataclass(frozen=True, eq=False)
class LoadedBody:
    """A body with its loads.

    character  with the loads
    target     how motions of it are written
    balls      (joint, ball in its frame, kg) of each load
    """

    character: Character
    target: Target
    balls: tuple[tuple[str, Sphere, float], ...] = ()

    @property
    def skin(self) -> SkinnedMesh:
        """Its own mesh, or a mannequin of its mass without the loads."""
        if self.target.skin is not None:
            return self.target.skin
        skeleton = self.target.skeleton
        return build_skin(skeleton, build_mannequin(skeleton, self.target.mass or self.character.mass))


def check_body(options: BodyOptions, audience: Reporter) -> None:
    """Raise InputError for a kind of body that is not known, or that comes with a character."""
    if options.body is None:
        return
    if options.body not in PHYSIQUES:
        raise unknown_name("body", options.body, PHYSIQUES)
    if options.character is not None:
        own = audience.spell("character")
        raise InputError(f"{own} has a body of its own; leave out {audience.spell('body')} or {own}.")


def build_loaded_body(options: BodyOptions, loads: Iterable[Load], audience: Reporter = SILENT) -> LoadedBody:
    """Return the body of the options, with loads."""
    check_body(options, audience)
    if options.character is not None:
        check_own_size(options, audience)
        return add_loads(LoadedBody(*load_body(options.character, audience)), loads)
    height, mass = (
        (HEIGHT if options.height is None else options.height),
        (MASS if options.mass is None else options.mass),
    )
    name = options.body or "average"
    character, balls = build_body(name, height, mass), tuple(list_extras(name, height, mass))
    target = Target(character.skeleton, mass=character.mass - sum(weight for _, _, weight in balls))
    return add_loads(LoadedBody(character, target, balls), loads)


def add_loads(body: LoadedBody, loads: Iterable[Load]) -> LoadedBody:
    """Return the body with more loads."""
    character, balls = body.character, body.balls
    for load in loads:
        balls += ((load.joint, Sphere(np.array(load.offset), load.radius), load.mass),)
        character = add_mass(character, load.joint, load.mass, load.offset, load.radius)
    return LoadedBody(character, body.target, balls)
