"""From a file's units, axes and rest pose to Poise's: metres, Y up, facing +Z at rest, with roles.

One pipeline for all formats, `normalise`; each step says what it found. The recording itself stays as it was read, for
writers that keep it. In order:

    roles          what each joint is                     body/role_finding/guess.py
    added T-pose   left out, or kept                      files/reading/repairs.py
    unit           stated, or found from the stature      files/reading/unit.py
    lost bones     kept, or restored from proportions     files/reading/repairs.py
    up axis        stated, or as rest and motion stand    files/reading/up_axis.py
    rest pose      told facing +Z                         files/reading/rest_pose.py
    the rest       floor, heading, odd joints, rate,      files/reading/observations.py,
                   glitches                               motion/contacts/frame_rate.py, motion/contacts/glitches.py

`Placement` is the way back: a motion in metres and Y up, expressed in the units, axes and rest pose of its file.

The joints of the motion may be fewer or more than the file's, as those of a result on the user's character are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from poise.body.geometry.skin import SkinnedMesh
from poise.body.role_finding.guess import RoleGuess, describe_doubts, guess_roles, with_roles
from poise.body.segments.stature import MEASURED, STATURES, find_stature
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.files.reading import observations
from poise.files.reading.observations import FloorLevels
from poise.files.reading.options import KEEP, RESTORE
from poise.files.reading.recording import Recording
from poise.files.reading.reframe import Reframe, turn_clip
from poise.files.reading.repairs import count_empty_frames, find_added_tpose, restore_lost_bones
from poise.files.reading.rest_pose import find_arm_drop, find_rest_turns, name_rest_pose
from poise.files.reading.unit import compute_stature, find_unit
from poise.files.reading.up_axis import check_up, find_up, turn_to_y
from poise.frozen import Portable
from poise.motion.clip import Clip
from poise.motion.contacts.glitches import describe_glitches
from poise.spatial import rotation

__all__ = ["Reading", "compute_stature", "normalise", "turn_clip"]
_POSES = 16  # frames that help to tell left from right
# A skin this much taller or shorter than the bones say is no measure of the body (hats, capes, a cut mesh).
_SKIN_STATURES = (0.7, 2.0)


@dataclass(frozen=True, eq=False)
class Reading(Portable):
    """A clip as read, and what was found about its file.

    clip          in metres, Y up, facing +Z at rest, with roles
    scale         metres a unit of the file
    scale_reason  how that is known, a sentence without full stop
    up            the file's vertical axis: "Y", "Z", "X", "-Y", ...
    up_reason     how that is known
    recording     what was read, as the file has it
    found         what was odd on the way, a sentence each; `warnings` has what the motion itself shows, too
    confidence    0 to 1, in the roles; `roles_reason`: where they are from
    frame         the scale and turns between the file's clip and this one; `frame.undo` is the way back
    dropped       how many of the file's first frames are left out (an added T-pose, frames without data)
    rest          the rest pose's kind by its arms: "T", "A", "arms down", "other", "unknown"
    facing        degrees from +Z that the file's rest pose faces, None where it does not stand
    given_rate    whether the frame rate was given, so that it needs no check
    bones         "keep": bones have the file's lengths; "restore": lost ones were restored from proportions
    lost_bones    joints of the file that have lost the length of the bone after them

    What takes time to find (`ground`, `heading`, `warnings`, `skin`, `stature`) is found when it is asked for.
    """

    clip: Clip
    scale: float
    scale_reason: str
    up: str
    up_reason: str
    recording: Recording
    found: tuple[str, ...] = ()
    confidence: float = 1.0
    roles_reason: str = ""
    frame: Reframe = field(default_factory=lambda: Reframe(1.0, rotation.identity(), rotation.identity((1,))))
    dropped: int = 0
    rest: str = "unknown"
    facing: float | None = None
    given_rate: bool = False
    bones: str = KEEP
    lost_bones: tuple[str, ...] = ()

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
    def warnings(self) -> tuple[str, ...]:
        """Everything odd about the recording, a sentence each."""
        skeleton = self.clip.skeleton
        return (
            *self.found,
            *self._describe_bones(),
            *self._describe_stature(),
            *observations.describe_ground(self.ground),
            *observations.describe_heading(self.heading),
            *observations.find_flat_joints(skeleton, compute_stature(skeleton)),
            *observations.find_still_joints(self.clip),
            *observations.find_mirrored_names(skeleton),
            *observations.find_crossed_roles(skeleton),
            *observations.find_euler_orders(self.recording.source),
            *self._describe_rate(),
            *describe_glitches(self.clip, self.clip.glitches),
        )

    def _describe_bones(self) -> list[str]:
        if not self.lost_bones:
            return []
        lost = f"lost bones: the bones after {', '.join(self.lost_bones)} have no length in the file"
        if self.bones == KEEP:
            return [f"{lost} and are kept so. Use --bones {RESTORE} to give them a length from proportions."]
        return [
            f"{lost}; they were restored from proportions, which moves joints by up to {1e3 * self.restored_error:.0f} "
            f"mm from where the file has them. Use --bones {KEEP} to keep the file's lengths."
        ]

    def _describe_stature(self) -> list[str]:
        if self.stature_source is None:
            return ["stature: unknown, since the joints are of no whole leg or arm. Give --scale where units matter."]
        if not self.stature_source.startswith("estimated"):
            return []
        return [f"stature: {self.stature:.2f} m, {self.stature_source}. Give --height where it is known."]

    def _describe_rate(self) -> list[str]:
        if self.given_rate or len(self.clip) < 2:
            return []
        if not self.recording.has_rate:
            return [f"frame rate: the file states none; {self.clip.fps:.4g} Hz is assumed. Give --fps."]
        from poise.motion.contacts.frame_rate import check_rate, describe_rate

        # Where bones lost their length the body is judged with it: forces go by where its mass is.
        whole = self.clip
        if self.recording.skin is None:
            whole = whole.replace(skeleton=restore_lost_bones(whole.skeleton)[0])
        wrong = describe_rate(check_rate(whole, None if self.ground is None else self.ground.height))
        return [] if wrong is None else [wrong]

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
                return stated, "stated by the file"
        return bones, source


def _is_person(height: float, bones: float) -> bool:
    """Whether a height can be a body's; always where the bones' own cannot be either, and nothing is lost."""
    least, most = STATURES
    return least <= height <= most or not least <= bones <= most


def normalise(
    recording: Recording,
    scale: float | None = None,
    up: str | None = None,
    roles: Mapping[str, str] | None = None,
    fps: float | None = None,
    bones: str = KEEP,
    whole: bool = False,
) -> Reading:
    """A recording brought to metres, Y up and a rest pose that faces +Z. Given values are used, others found.

    scale  metres a unit of the file
    up     the file's vertical axis, "X", "Y" or "Z", or "-X", ...
    roles  role -> joint, before those that the file states and those found
    fps    the true frame rate, where the file's is wrong or it has none
    bones  "keep": bones have the file's lengths; "restore": bones that lost their length get it from proportions
    whole  keep an added T-pose, which is left out otherwise
    """
    if scale is not None and not (np.isfinite(scale) and scale > 0):
        raise InputError(f"scale {scale} is not a positive number of metres a unit. Leave it out to have it found.")
    if fps is not None and not (np.isfinite(fps) and fps > 0):
        raise InputError(f"fps {fps} is not a positive number of frames a second. Leave it out to use the file's.")
    if up is not None:
        check_up(up)
    warnings = list(recording.warnings)
    clip, guess = _with_roles(recording, roles)
    if fps is not None:
        clip = clip.replace(times=np.arange(len(clip)) / fps)

    dropped, added = find_added_tpose(clip)
    if added is None and (dropped := count_empty_frames(clip)):
        added = f"empty frames: the first {dropped} hold no data, all channels at 0."
    if added is not None and whole:
        warnings.append(f"{added} It is kept. Use --start to leave it out.")
        dropped = 0
    elif added is not None:
        warnings.append(f"{added} The frames before are left out.")
        clip = clip.pick(slice(dropped, None))
    warnings += describe_doubts(guess)

    skeleton, lost = (clip.skeleton, ()) if recording.skin is not None else restore_lost_bones(clip.skeleton)
    odd_unit = None
    if scale is None:
        scale, scale_reason, odd_unit = find_unit(skeleton, recording.unit)
    else:
        scale_reason = "given"
    if bones == RESTORE:
        clip = clip.replace(skeleton=skeleton)
    odd_axis = None
    if up is None:
        up, up_reason, odd_axis = find_up(clip, compute_stature(skeleton), recording.up)
    else:
        up_reason = "given"
    world = turn_to_y(up)
    rest_turns, facing, odd_rest = find_rest_turns(clip, world)
    frame = Reframe(scale, world, rest_turns)
    clip = frame.apply(clip)
    kind, odd_arms = name_rest_pose(find_arm_drop(clip.skeleton))
    warnings += [w for w in (odd_unit, odd_axis, odd_rest, odd_arms) if w is not None]
    return Reading(
        clip,
        scale,
        scale_reason,
        up,
        up_reason,
        recording,
        tuple(warnings),
        guess.confidence,
        guess.reason,
        frame,
        dropped,
        kind,
        facing,
        fps is not None,
        bones,
        lost,
    )


def _with_roles(recording: Recording, roles: Mapping[str, str] | None) -> tuple[Clip, RoleGuess]:
    clip = recording.clip
    frames = np.unique(np.linspace(0, len(clip) - 1, min(len(clip), _POSES)).astype(int))
    poses, _ = clip.skeleton.pose(*clip.pick(frames).poses)
    stated = {**(recording.roles or clip.skeleton.roles), **(roles or {})}
    guess = (
        RoleGuess(stated, 1.0, "the file", stated) if recording.all_roles else guess_roles(clip.skeleton, stated, poses)
    )
    skeleton = clip.skeleton.replace(roles=guess.sure)
    if roles:
        skeleton = with_roles(skeleton, roles)
        guess = dataclasses.replace(guess, reason=f"given, {guess.reason}")
    return clip.replace(skeleton=skeleton), guess


@dataclass(frozen=True, eq=False)
class Placement:
    """How what was read lies in the coordinates of its file.

    frame   the scale and turns from the file's clip to the one that was made of it
    joints  the file's, in the order of `frame.rest`
    """

    frame: Reframe
    joints: Skeleton

    @property
    def scale(self) -> float:
        """Metres a unit of the file."""
        return self.frame.scale

    @property
    def turn(self) -> np.ndarray:
        """(4,) from the file's axes at rest to Poise's: the root's, where joints differ."""
        return np.asarray(self.frame.rest[0])

    def to_file(self, clip: Clip) -> Clip:
        """A clip in the file's units, axes and rest pose. Its skeleton keeps its own joints and lengths of bones."""
        return self._fit(clip.skeleton).undo(clip)

    def from_file(self, clip: Clip) -> Clip:
        """A clip that has the file's units, axes and rest pose in metres, Y up: `to_file` backwards."""
        return self._fit(clip.skeleton).apply(clip)

    def _fit(self, skeleton: Skeleton) -> Reframe:
        """The frame with a rest turn for each joint of a skeleton."""
        known = {name: i for i, name in enumerate(self.joints.names)}
        rest = np.empty((len(skeleton), 4))
        for i, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents, strict=True)):
            if name in known:
                rest[i] = self.frame.rest[known[name]]
            else:  # a joint that the file does not have goes with the one that carries it
                rest[i] = rest[parent] if parent >= 0 else self.frame.rest[0]
        return dataclasses.replace(self.frame, rest=rest)


def find_placement(reading: Reading) -> Placement:
    """How a reading's clip lies in the coordinates of its recording, in the reading's own scale."""
    frame = dataclasses.replace(reading.frame, scale=reading.scale)
    if len(frame.rest) != len(reading.clip.skeleton):
        frame = dataclasses.replace(frame, rest=np.tile(frame.rest[:1], (len(reading.clip.skeleton), 1)))
    return Placement(frame, reading.clip.skeleton)
