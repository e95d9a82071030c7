"""Recordings: motions as files have them, in the file's own units, axes, names and frames.

Every format's `read_<format>(path, clip=None) -> Recording` gives this; `normalise` makes a `Reading` of it, in metres,
Y up, facing +Z at rest, with roles. A reader says what its file *states*; it guesses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from poise.body.geometry.skin import SkinnedMesh
from poise.frozen import Portable
from poise.motion.clip import Clip


@dataclass(frozen=True, eq=False)
class Recording(Portable):
    """A motion as its file has it.

    clip        in the file's units and axes. Joint frames are aligned with the file's axes at rest, as in BVH: a reader
                of a format whose rest pose has rotations takes them out
    format      what kind of file it is, as people call it
    path        where it was read
    choices     names of all clips in the file, of which `clip` is one
    unit        metres a unit where the format or the file states it, else None
    up          "X", "Y" or "Z" where the format or the file states it, else None
    roles       VRM role -> joint where the file states them
    has_rate    whether the file states its frame rate; False: the reader assumed one
    skin        the body's own mesh, in the file's units and axes at rest, where there is one
    source      the file's content as read, for writers that keep it as it was
    warnings    what was odd, a sentence each
    all_roles   whether these roles are all there are, so that none need be looked for: a body of one leg has no other
    stature     how tall the body is, in the file's unit, where the file states it, else None
    """

    clip: Clip
    format: str
    path: str
    choices: tuple[str, ...] = ()
    unit: float | None = None
    up: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    has_rate: bool = True
    skin: SkinnedMesh | None = None
    source: Any = None
    warnings: tuple[str, ...] = ()
    all_roles: bool = False
    stature: float | None = None
