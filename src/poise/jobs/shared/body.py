"""The body that performs a clip (Z4): the clip's own, or another that the motion is retargeted onto first."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from poise.body.character import Character
from poise.errors import InputError
from poise.files.reading.options import Source
from poise.files.reading.pipeline import Reading
from poise.files.reporting import SILENT, Reporter
from poise.jobs.retarget import Target, load_body
from poise.motion.clip import Clip


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


def find_body(clip: Clip, reading: Reading | None, source: Source, audience: Reporter = SILENT) -> ClipBody:
    """The body that performs a clip. One that is given as a character, or its file, moves as its own bones allow."""
    if source.character is None:
        character = source.build_character(clip if reading is None else reading, audience)
        return ClipBody(clip, character, Target(clip.skeleton, reading, character.mass))
    for option in ("mass", "height"):
        if getattr(source, option) is not None:
            own = audience.spell("character")
            raise InputError(f"{own} has a {option} of its own; leave out {audience.spell(option)} or {own}.")
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
