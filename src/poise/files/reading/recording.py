"""Recordings: motions as files have them, in the file's own units, axes, names and frames.

Every format's `read_<format>(path, clip=None) -> Recording` returns one; `pipeline.interpret` makes a `Reading` of it,
in metres, Y up, facing +Z at rest, with roles. A reader reports what its file *states*; it guesses nothing.
`Interpretation` is a recording between the steps of that pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.body.geometry.skin import SkinnedMesh
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.files.reading.reframe import UNCHANGED, Reframe, check_up
from poise.findings import Finding, list_warnings
from poise.frozen import Portable
from poise.motion.clip import Clip

KEEP, RESTORE = BONES = ("keep", "restore")


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
    findings    what was odd
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
    findings: tuple[Finding, ...] = ()
    all_roles: bool = False
    stature: float | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was odd, a sentence each."""
        return list_warnings(self.findings)


@dataclass(frozen=True)
class Given:
    """What the caller knows of a file; it is used instead of what would be found.

    scale  metres a unit of the file
    up     the file's vertical axis, "X", "Y" or "Z", or "-X", ...
    roles  role -> joint, before those that the file states and those found
    fps    the true frame rate, where the file's is wrong or it has none
    bones  "keep": bones have the file's lengths; "restore": bones that lost their length get it from proportions
    whole  keep an added T-pose, which is left out otherwise
    """

    scale: float | None = None
    up: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    fps: float | None = None
    bones: str = KEEP
    whole: bool = False

    def __post_init__(self) -> None:
        if self.scale is not None and not (np.isfinite(self.scale) and self.scale > 0):
            raise InputError(f"scale must be a positive number of metres a unit; got {self.scale}. Leave it out.")
        if self.fps is not None and not (np.isfinite(self.fps) and self.fps > 0):
            raise InputError(f"fps must be a positive number of frames a second; got {self.fps}. Leave it out.")
        if self.up is not None:
            check_up(self.up)


@dataclass(eq=False)
class Interpretation:
    """A recording on its way through the steps of the pipeline, each of which changes some of these.

    clip        in the file's units and axes until the last step
    body        the skeleton with its lost bones restored, by which the body is measured
    dropped     how many of the file's first frames are left out
    lost_bones  joints that have lost the length of the bone after them
    scale, up   metres a unit, and the vertical axis
    frame       the scale and turns from the file's clip to Poise's
    """

    recording: Recording
    given: Given
    clip: Clip
    body: Skeleton
    dropped: int = 0
    lost_bones: tuple[str, ...] = ()
    scale: float = 1.0
    up: str = "Y"
    frame: Reframe = UNCHANGED
