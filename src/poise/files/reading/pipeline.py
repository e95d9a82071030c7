"""From a file's units, axes and rest pose to Poise's: metres, Y up, facing +Z at rest, with roles.

One pipeline for all formats, `interpret`: each of `STEPS` changes an `Interpretation`, and returns what it decided and
what was odd as findings. The recording itself stays as it was read, for writers that keep it. `OBSERVATIONS` look at
the result and change nothing; they take time, and run when a reading is asked for its warnings. docs/files.md describes
both lists.

The joints of the motion may be fewer or more than the file's, as those of a result on the user's character are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poise.body.geometry.skin import SkinnedMesh
from poise.body.role_finding.guess import RoleGuess, describe_doubts, guess_roles, with_roles
from poise.body.segments.stature import MEASURED, STATED, STATURES, find_stature
from poise.files.reading import observations
from poise.files.reading.observations import FloorLevels
from poise.files.reading.recording import KEEP, RESTORE, Given, Interpretation, Recording
from poise.files.reading.reframe import UNCHANGED, Placement, Reframe
from poise.files.reading.repairs import leave_out_frames, restore_bones, restore_lost_bones
from poise.files.reading.rest_pose import name_rest_pose, orient_rest_pose
from poise.files.reading.unit import choose_unit, compute_stature
from poise.files.reading.up_axis import choose_up_axis
from poise.findings import Finding, Origin, list_warnings
from poise.frozen import Portable
from poise.motion.clip import Clip

_POSES = 16  # frames that help to tell left from right
# A skin this much taller or shorter than the bones say is no measure of the body (hats, capes, a cut mesh).
_SKIN_STATURES = (0.7, 2.0)


def set_rate(motion: Interpretation) -> list[Finding]:
    """Set the frame rate: as given, as the file states it, or as its reader assumed it."""
    if motion.given.fps is not None:
        motion.clip = motion.clip.replace(times=np.arange(len(motion.clip)) / motion.given.fps)
        return [Finding("frame rate", "given", motion.given.fps, "given")]
    if motion.recording.has_rate:
        return [Finding("frame rate", "the file says so", motion.clip.fps, "stated")]
    return [Finding("frame rate", "the file states none", motion.clip.fps, "guessed")]


def assign_roles(motion: Interpretation) -> list[Finding]:
    """Assign VRM roles to joints: those given, those that the file states, and those found from names and shape."""
    recording, clip, roles = motion.recording, motion.recording.clip, motion.given.roles
    frames = np.unique(np.linspace(0, len(clip) - 1, min(len(clip), _POSES)).astype(int))
    poses, _ = clip.skeleton.pose(*clip.pick(frames).poses)
    stated = {**(recording.roles or clip.skeleton.roles), **roles}
    origin: Origin = "given" if roles else "stated" if recording.all_roles else "guessed"
    if recording.all_roles:
        guess = RoleGuess(stated, 1.0, "the file", stated)
    else:
        guess = guess_roles(clip.skeleton, stated, poses)
    skeleton = clip.skeleton.replace(roles=guess.sure)
    if roles:
        skeleton = with_roles(skeleton, roles)
    motion.clip = motion.clip.replace(skeleton=skeleton)
    reason = f"given, {guess.reason}" if roles else guess.reason
    return [Finding("roles", reason, guess.confidence, origin), *describe_doubts(guess)]


# In this order; each returns findings: its decision first, if it makes one, then warnings.
STEPS = (
    assign_roles,
    set_rate,
    leave_out_frames,
    restore_bones,
    choose_unit,
    choose_up_axis,
    orient_rest_pose,
    name_rest_pose,
)
# Each returns warnings about a reading, and changes nothing.
OBSERVATIONS = (
    observations.describe_lost_bones,
    observations.describe_stature,
    observations.describe_ground,
    observations.describe_heading,
    observations.find_flat_joints,
    observations.find_still_joints,
    observations.find_mirrored_names,
    observations.find_crossed_roles,
    observations.find_euler_orders,
    observations.check_frame_rate,
    observations.list_glitches,
)


def interpret(
    recording: Recording,
    scale: float | None = None,
    up: str | None = None,
    roles: Mapping[str, str] | None = None,
    fps: float | None = None,
    bones: str = KEEP,
    whole: bool = False,
) -> Reading:
    """Bring a recording to metres, Y up and a rest pose that faces +Z, by given values (see `Given`) or found ones."""
    given = Given(scale, up, roles or {}, fps, bones, whole)
    motion = Interpretation(recording, given, recording.clip, recording.clip.skeleton)
    findings = list(recording.findings)
    for step in STEPS:
        findings += step(motion)
    return Reading(motion.clip, recording, motion.frame, tuple(findings), motion.dropped, bones, motion.lost_bones)


@dataclass(frozen=True, eq=False)
class Reading(Portable):
    """A clip as read, and what was found about its file.

    clip        in metres, Y up, facing +Z at rest, with roles
    recording   what was read, as the file has it
    frame       the scale and turns between the file's clip and this one; `frame.undo` is the way back
    findings    of the reader and of each step: decisions, and what was odd on the way; `find` asks for one
    dropped     how many of the file's first frames are left out (an added T-pose, frames without data)
    bones       "keep": bones have the file's lengths; "restore": lost ones were restored from proportions
    lost_bones  joints of the file that have lost the length of the bone after them

    What takes time to find (`ground`, `heading`, `observations`, `skin`, `stature`) is found when it is asked for.
    """

    clip: Clip
    recording: Recording
    frame: Reframe = UNCHANGED
    findings: tuple[Finding, ...] = ()
    dropped: int = 0
    bones: str = KEEP
    lost_bones: tuple[str, ...] = ()

    def find(self, kind: str) -> Finding:
        """Return the decision of a kind: "unit", "up axis", "roles", "frame rate", "rest facing" or "rest pose"."""
        return next(each for each in self.findings if each.kind == kind and each.origin is not None)

    @property
    def scale(self) -> float:
        """Metres a unit of the file."""
        return self.frame.scale

    @property
    def up(self) -> str:
        """The file's vertical axis: "Y", "Z", "X", "-Y", ..."""
        return str(self.find("up axis").value)

    @property
    def placement(self) -> Placement:
        """How the clip lies in the coordinates of its recording."""
        frame, skeleton = self.frame, self.clip.skeleton
        if len(frame.rest) != len(skeleton):
            frame = dataclasses.replace(frame, rest=np.tile(frame.rest[:1], (len(skeleton), 1)))
        return Placement(frame, skeleton)

    def scaled(self, factor: float) -> Reading:
        """Return the reading with its clip larger by a factor, as if the file's unit were."""
        frame = dataclasses.replace(self.frame, scale=self.frame.scale * factor)
        unit = Finding("unit", "--height", frame.scale, "given")
        findings = tuple(unit if each is self.find("unit") else each for each in self.findings)
        return dataclasses.replace(self, clip=self.clip.scaled(factor), frame=frame, findings=findings)

    @property
    def is_changed(self) -> bool:
        """Whether frames were left out or bones restored."""
        return bool(self.dropped or (self.bones == RESTORE and self.lost_bones))

    @cached_property
    def restored_error(self) -> float:
        """Largest distance (m) in any frame between a joint and its place with the bones of the file."""
        if self.bones != RESTORE or not self.lost_bones:
            return 0.0
        kept = self.frame.apply(self.recording.clip.pick(slice(self.dropped, None)))
        return float(np.linalg.norm(self.clip.positions - kept.positions, axis=-1).max())

    def describe_bones(self) -> dict[str, Any]:
        """Return `bones`, `lost_bones` and `restored_bones_error_m`, which every command that reads a clip reports."""
        return {
            "bones": self.bones,
            "lost_bones": list(self.lost_bones),
            "restored_bones_error_m": self.restored_error,
        }

    @cached_property
    def ground(self) -> FloorLevels | None:
        """Where the feet stand, None where they do not."""
        return observations.find_ground(self.clip)

    @cached_property
    def heading(self) -> float | None:
        """Degrees from +Z that the first frame faces, None where it is not upright."""
        return observations.find_heading(self.clip)

    @cached_property
    def observations(self) -> tuple[Finding, ...]:
        """What the motion itself shows: the findings of all `OBSERVATIONS`."""
        return tuple(finding for observe in OBSERVATIONS for finding in observe(self))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Everything odd about the recording, a sentence each."""
        return list_warnings((*self.findings, *self.observations))

    @cached_property
    def skin(self) -> SkinnedMesh | None:
        """The file's own mesh for the clip's skeleton: metres, in its rest pose."""
        if self.recording.skin is None:
            return None
        return self.frame.apply_to_skin(self.recording.skin, self.recording.clip.skeleton)

    @property
    def stature(self) -> float:
        """m: the height of the file's mesh where it has one that fits its bones, else what bones and file say.

        Every job goes by it: `Source.build_character`, and the bodies that are drawn.
        """
        return self._find_stature[0]

    @property
    def stature_source(self) -> str | None:
        """How the stature is known: "measured", "stated by the file", "estimated from the legs", ...

        None where nothing but the size of the skeleton tells, which is no stature.
        """
        return self._find_stature[1]

    def find_height(self) -> float | None:
        """m, the stature where it is known and can be a person's, else None."""
        known = self.stature_source is not None and STATURES[0] <= self.stature <= STATURES[1]
        return self.stature if known else None

    @cached_property
    def _find_stature(self) -> tuple[float, str | None]:
        skeleton = restore_lost_bones(self.clip.skeleton)[0] if self.lost_bones else self.clip.skeleton
        found = find_stature(skeleton)
        bones, source = (compute_stature(skeleton), None if found is None else found[1])
        if self.skin is not None and len(self.skin.vertices):
            height = float(np.ptp(self.skin.vertices[:, 1]))
            if _SKIN_STATURES[0] * bones < height < _SKIN_STATURES[1] * bones and _is_person(height, bones):
                return height, MEASURED
        if source != MEASURED and self.recording.stature is not None:
            stated = self.recording.stature * self.scale
            if _is_person(stated, bones):
                return stated, STATED
        return bones, source


def _is_person(height: float, bones: float) -> bool:
    """Whether a height can be a body's; always where the bones' own cannot be either, and nothing is lost."""
    least, most = STATURES
    return least <= height <= most or not least <= bones <= most
