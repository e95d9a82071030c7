"""The motion of one body on another: read, put on, written on the other's own mesh where it has one, and measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from poise.body.character import Character
from poise.body.geometry.skin import SkinnedMesh
from poise.body.skeleton import Skeleton
from poise.errors import FileError, InputError
from poise.files.reading.options import Roles, Source, parse_roles
from poise.files.reading.pipeline import Reading
from poise.files.registry import check_can_save, read_source
from poise.files.reporting import SILENT, RecordingReporter, Reporter
from poise.files.writing.round_trip import Written, judge_result
from poise.jobs.shared.outputs import check_outputs
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.options import File

MODELS = (".glb", ".gltf", ".vrm")
HIGHEST = 10_000.0  # m that a ground may be above or below: higher than any mountain


@dataclass(frozen=True, eq=False)
class Retargeted:
    """The motion on the other body, and its figures under the names of `poise retarget --json`."""

    clip: Clip
    figures: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Retargeting:
    """Whose motion is put on whom.

    clip    a motion, or its file
    target  a skeleton, a character, or a file of either: a model, a body that Poise saved, a motion
    feet    hold standing feet in place, and keep legs within reach
    hands   keep hands where they touch the body, the ground or each other
    ground  m, height of the ground under the target; None: the source's, scaled
    roles   role -> joint of the target, where it is read from a file
    source  how the clip's file is read; `mass` is that of a body that is drawn
    skin    the target's own mesh at rest, where it is no file that has one
    """

    clip: Clip | Path
    target: Skeleton | Character | Path
    feet: bool = True
    hands: bool = True
    ground: float | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    source: Source = field(default_factory=Source)
    skin: SkinnedMesh | None = None

    def check(self, output: Path | None, audience: Reporter = SILENT, json: bool = False) -> None:
        """Refuse a ground that cannot be, and an output that is read or that nothing here can write."""
        if self.ground is not None and not abs(self.ground) <= HIGHEST:
            option = audience.spell("ground")
            raise InputError(f"{option} must be from {-HIGHEST:g} to {HIGHEST:g} m; {self.ground:g} given.")
        if output is not None:
            inputs = [path for path in (self.clip, self.target) if isinstance(path, Path)]
            check_outputs((*inputs, *self.source.list_files()), [(audience.spell("output"), output)], json)
            check_can_save(output, inputs)

    def run(self, output: Path | None = None, audience: Reporter = SILENT, measured: bool = True) -> Retargeted:
        """Put the motion on the target, and write it. measured: whether figures are wanted, which take a while."""
        from poise.motion.retargeting import retarget as put_on
        from poise.motion.retargeting.metrics import measure_retargeting

        reading = None if isinstance(self.clip, Clip) else read_source(self.clip, self.source, audience)
        motion = self.clip if isinstance(self.clip, Clip) else reading.clip  # type: ignore[union-attr]
        target = self._find_target(audience)
        if self.source.mass is not None:
            target = target.weighing(self.source.mass, Path() if output is None else output, audience)
        result = put_on(motion, target.skeleton, feet=self.feet, hands=self.hands, ground=self.ground, skin=target.skin)
        if output is None:
            return Retargeted(result, measure_retargeting(motion, result, self.ground) if measured else {})
        written = target.write(result, output, audience)
        figures = {
            **measure_retargeting(motion, result, self.ground),
            "max_joint_error_m": written.error,
            "notes": list(written.notes),
        }
        if reading is not None:
            errors = judge_result(reading, written.error, len(result))
            for sentence in errors.warnings:
                audience.warn(f"{output}: {sentence}")
            figures |= {
                "max_joint_error_m": errors.error,
                "reading_error_m": errors.reading_error,
                "writing_error_m": errors.writing_error,
                **reading.describe_bones(),
            }
        return Retargeted(result, figures)

    def _find_target(self, audience: Reporter) -> Target:
        if isinstance(self.target, Path):
            return read_target(self.target, self.roles, audience)
        if self.roles:
            option = audience.spell("character_roles")
            raise InputError(f"{option} is for a body that is read from a file; leave it out.")
        if isinstance(self.target, Character):
            from poise.files.formats.gltf.character import find_reading

            return Target(self.target.skeleton, find_reading(self.target), self.target.mass, self.skin)
        return Target(self.target, own_skin=self.skin)


@dataclass(frozen=True, eq=False)
class Target:
    """Whose body moves: its skeleton, how a model was read, and mass (kg) and stature (m) where they are known."""

    skeleton: Skeleton
    reading: Reading | None = None
    mass: float | None = None
    own_skin: SkinnedMesh | None = None
    stature: float | None = None

    @property
    def skin(self) -> SkinnedMesh | None:
        """Its mesh at rest, where it has one."""
        return self.reading.skin if self.own_skin is None and self.reading is not None else self.own_skin

    def weighing(self, mass: float, path: Path, audience: Reporter = SILENT) -> Target:
        """The same body of another mass, kg; refused where none of a given mass is drawn."""
        why = None
        if path.suffix.lower() != ".glb":
            why = f"'{path.suffix}' holds none that can be chosen"
        elif self.skin is not None:
            why = "the character has a mesh of its own"
        elif self.mass is not None:
            why = "the character has a mass of its own"
        if why is not None:
            raise InputError(f"{audience.spell('mass')} is for the body that is drawn, and {why}. Leave it out.")
        return replace(self, mass=mass)

    def write(self, clip: Clip, path: Path, audience: Reporter = SILENT, title: str | None = None) -> Written:
        """Write a clip of this body, onto its own file if it has one; what there is to say goes to the audience.

        title  name of a motion without one, or with one that the body's file has already; the path's if None
        """
        from poise.files.writing.writing import write_result

        written = write_result(clip, self.reading, path, self.mass, self.stature, title)
        for sentence in written.notes:
            audience.note(sentence)
        return written

    def save(self, clip: Clip, path: Path | None, audience: Reporter = SILENT) -> Saved:
        """Write a clip of this body and read it back, before the file takes its name. path: None to write nothing."""
        from poise.files.input import stem_of
        from poise.files.output import checked_output
        from poise.files.writing.writing import find_model
        from poise.jobs.shared.metrics import read_written

        if path is None:
            return Saved()
        with checked_output(path) as draft:
            written = self.write(clip, draft, audience, stem_of(path))
            there = read_written(draft, clip, find_model(self.reading, path))
        measured_on = "the poses: this format cannot be read back" if there is None else "the file"
        return Saved(there, written.error, measured_on, written.notes)


@dataclass(frozen=True, eq=False)
class Saved:
    """A motion as it is in a file.

    clip         as read back, on the skeleton that was written; None if nothing was written or it cannot be read
    error        m, the largest distance of a joint in the file from where it was meant to be; None as above
    measured_on  in words, what figures can be measured on
    notes        what there is to say about the file, a sentence each
    """

    clip: Clip | None = None
    error: float | None = None
    measured_on: str = "the poses: nothing was written"
    notes: tuple[str, ...] = ()


def read_target(path: Path, roles: Mapping[str, str], audience: Reporter = SILENT) -> Target:
    """The body in a file: a character of Poise's own, a model at rest, or whoever moves in a motion file."""
    if path.suffix.lower() == ".json":
        if roles:
            option = audience.spell("character_roles")
            raise FileError(path, f"this body has roles of its own; leave out {option}.")
        return load_body(path)[1]
    from poise.files.formats.gltf.read import read_gltf_rest
    from poise.files.reading.pipeline import normalise
    from poise.files.registry import read_recording

    is_model = path.suffix.lower() in MODELS
    reading = normalise(read_gltf_rest(path) if is_model else read_recording(path), roles=roles)
    for warning in reading.warnings:
        audience.warn(f"{path}: {warning}")
    return Target(reading.clip.skeleton, reading if is_model else None, stature=reading.stature)


def load_body(body: Character | File, audience: Reporter = SILENT) -> tuple[Character, Target]:
    """A character, given or of a file, and how motions of it are written."""
    from poise.files.formats.gltf.character import find_reading, load_character, read_character

    if not isinstance(body, Character) and Path(body).suffix.lower() in MODELS:
        model = read_character(Path(body))
        for warning in model.warnings:
            audience.warn(f"{body}: {warning}")
        return model.character, Target(model.character.skeleton, model.reading)
    character = body if isinstance(body, Character) else load_character(body)
    return character, Target(character.skeleton, find_reading(character), character.mass)


@checked
def retarget(
    clip: Clip | File,
    skeleton: Skeleton | Character | File,
    *,
    feet: bool = True,
    hands: bool = True,
    ground: float | None = None,
    skin: SkinnedMesh | None = None,
    skeleton_roles: Roles = (),
    mass: float | None = None,
    height: float | None = None,
    fps: float | None = None,
    roles: Roles = (),
    take: str | int | None = None,
    scale: float | None = None,
    up: str | None = None,
    bones: str | None = None,
    output: File | None = None,
    tell: Callable[[str, str], None] | None = None,
) -> Clip:
    """The clip's motion on another skeleton, with that skeleton's joints and the clip's times: as `poise retarget`.

    clip      a motion, or its file
    skeleton  the target, in metres, Y up, facing +Z at rest; a character; or a file: a model (.glb, .gltf, .vrm), a
              body that Poise saved, a motion. `skeleton_roles`: role -> joint, where a file's are not found
    feet      hold standing feet and keep legs within reach; False: joint orientations only
    hands     keep hands where they touch; False: arms keep their directions everywhere
    ground    m, height of the target's ground; None: the source's, scaled
    skin      the target's own mesh at rest, if it has one: hands then stay outside of its head, however large
    mass      kg of a body that is drawn
    height, fps, roles, take, scale, up, bones   how the clip's file is read, as for `load_clip`; `take` is its `clip`
    output    a file to write; .glb writes onto a model's own mesh
    tell      called with `note` or `warning` and a sentence as it happens
    """
    source = Source(
        mass=mass, height=height, fps=fps, roles=roles, clip=None if take is None else str(take), scale=scale, up=up,
        bones=bones,
    )  # fmt: skip
    given = (height, fps, roles, take, scale, up, bones)
    if isinstance(clip, Clip) and any(value not in (None, ()) for value in given):
        raise InputError(
            "height, fps, roles, take, scale, up and bones say how a file is read, and the clip is given as it is. "
            "Give its path, or say it to poise.load_clip."
        )
    job = Retargeting(
        clip if isinstance(clip, Clip) else _as_path(clip, "the motion", "a clip"),
        skeleton
        if isinstance(skeleton, Skeleton | Character)
        else _as_path(skeleton, "the target", "a skeleton, a character"),
        feet, hands, ground, parse_roles(skeleton_roles), source, skin,
    )  # fmt: skip
    audience = RecordingReporter(tell)
    place = None if output is None else Path(output)
    job.check(place, audience)
    return job.run(place, audience, measured=place is not None).clip


def _as_path(given: Any, what: str, kinds: str) -> Path:
    if isinstance(given, str | PathLike):
        return Path(given)
    raise InputError(f"{what} of a retargeting is {kinds} or the path of a file; given a {type(given).__name__}.")
