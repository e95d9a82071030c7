"""Whose body tracks a clip (Z4): the clip's own, or another that the motion is put on first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poise.body.character import Character
from poise.body.skin import SkinnedMesh
from poise.errors import InputError
from poise.files.audience import Audience
from poise.files.normalise import Reading
from poise.files.source import Source
from poise.jobs.retarget import MODELS, Target
from poise.motion.clip import Clip

_SAME = 1e-4  # m: bones whose ends are this near are the same


@dataclass(frozen=True, eq=False)
class TrackedBody:
    """A motion on the body that tracks it.

    clip       what is followed, on the character's skeleton
    reading    how its file was read, where the body is the clip's own
    target     how a motion is written where the body is not the clip's own; None: as the clip's own
    """

    clip: Clip
    character: Character
    reading: Reading | None
    target: Target | None = None


def find_body(clip: Clip, reading: Reading | None, source: Source, audience: Audience) -> TrackedBody:
    """The body that tracks a clip. One that is given by a file, or as it is, moves as its own bones allow."""
    if source.character is None:
        return TrackedBody(clip, source.build_character(clip if reading is None else reading, audience), reading)
    for option in ("mass", "height"):
        if getattr(source, option) is not None:
            own = audience.spell("character")
            raise InputError(f"{own} has a {option} of its own; leave out {audience.spell(option)} or {own}.")
    character, target = _load(source.character, audience)
    if _is_same(clip, character):
        return TrackedBody(clip, character, reading, None if target.reading is None else target)
    from poise.motion.retargeting import retarget

    moved = retarget(clip, character.skeleton, ground=None, skin=target.skin)
    audience.note(f"the motion is put on '{character.name}', whose bones are other than the clip's.")
    return TrackedBody(moved, character, None, target)


def _load(body: Character | Path, audience: Audience) -> tuple[Character, Target]:
    """A character, and how motions are written on it."""
    if isinstance(body, Character):
        return body, Target(body.skeleton, mass=body.mass)
    if body.suffix.lower() not in MODELS:
        from poise.files.gltf.character import load_character

        found = load_character(body)
        return found, Target(found.skeleton, mass=found.mass)
    from poise.files.gltf.character import read_character

    model = read_character(body)
    for warning in model.warnings:
        audience.warn(f"{body}: {warning}")
    skin: SkinnedMesh = model.skin
    return model.character, Target(model.character.skeleton, model.reading, own_skin=skin)


def _is_same(clip: Clip, character: Character) -> bool:
    """Whether a clip is one of a character's own skeleton."""
    one, other = clip.skeleton, character.skeleton
    return one.names == other.names and np.allclose(one.offsets, other.offsets, atol=_SAME)
