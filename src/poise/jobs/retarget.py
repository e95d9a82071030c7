"""The motion of one body on another: read, put on, written on the other's own mesh where it has one, and measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from poise.body.character import Character
from poise.body.geometry.skin import SkinnedMesh
from poise.body.skeleton import Skeleton
from poise.errors import FileError, InputError
from poise.files.reading.options import Roles, TakeOptions, parse_roles, take_roles
from poise.files.reading.pipeline import Reading
from poise.files.registry import check_can_save, read_source
from poise.files.reporting import SILENT, Reporter
from poise.files.writing.round_trip import Written, judge_result
from poise.jobs.job import Answer, Run, job
from poise.jobs.shared.outputs import check_outputs
from poise.motion.clip import Clip
from poise.options import File, JobOptions, Option

MODELS = (".glb", ".gltf", ".vrm")
HIGHEST = 10_000.0  # m that a ground may be above or below: higher than any mountain


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
    from poise.files.reading.pipeline import interpret
    from poise.files.registry import read_recording

    is_model = path.suffix.lower() in MODELS
    reading = interpret(read_gltf_rest(path) if is_model else read_recording(path), roles=roles)
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


@dataclass(frozen=True, kw_only=True)
class RetargetOptions(JobOptions, TakeOptions):
    """Options of `retarget`."""

    clip: Annotated[Clip | File, Option("A motion file.")] = field(kw_only=False)
    skeleton: Annotated[
        Skeleton | Character | File,
        Option("Whose body moves: a model (.glb, .gltf, .vrm), a body that Poise saved, or a motion file."),
    ] = field(kw_only=False)
    character: Annotated[Character | File | None, Option("Has no effect here: the body is the second argument.")] = (
        field(default=None, init=False)
    )
    output: Annotated[
        File | None,
        Option(
            "What to write; .glb and .vrm are the model's own file with the motion in it.",
            short="-o",
            writes=True,
            is_needed=True,
        ),
    ] = None
    feet: Annotated[bool, Option("Hold standing feet in place, and keep legs within reach.")] = True
    hands: Annotated[bool, Option("Keep hands where they touch the body, the ground or each other.")] = True
    ground: Annotated[
        float | None,
        Option(
            "Height of the ground under the character.",
            between=(-HIGHEST, HIGHEST),
            unit="m",
            default="0; in Python the height of the clip's ground, scaled",
        ),
    ] = None
    skin: Annotated[SkinnedMesh | None, Option("The character's mesh at rest, if its file has none.", flag="")] = None
    skeleton_roles: Annotated[
        Roles,
        Option(
            "role=joint of the character, as --roles is for the clip.",
            flag="--character-roles",
            several=True,
            accept=take_roles,
        ),
    ] = ()


@job(RetargetOptions)
def retarget(options: RetargetOptions, run: Run) -> Clip:
    """Put the motion of one body on another: other rest pose, joints and proportions.

    What is written has the character's joints and the clip's frame times. Travel is scaled by the legs' length.
    """
    from poise.motion.retargeting import retarget as put_on
    from poise.motion.retargeting.metrics import measure_retargeting

    output = None if options.output is None else Path(options.output)
    source = options.source
    _check(options, output, run)
    reading = None if isinstance(options.clip, Clip) else read_source(options.clip, source, run)
    motion = options.clip if isinstance(options.clip, Clip) else reading.clip  # type: ignore[union-attr]
    target = _find_target(options, run)
    if options.mass is not None:
        target = target.weighing(options.mass, Path() if output is None else output, run)
    ground = 0.0 if options.ground is None and run.given.is_typed else options.ground
    result = put_on(motion, target.skeleton, feet=options.feet, hands=options.hands, ground=ground, skin=target.skin)
    if output is None:
        return result
    written = target.write(result, output, run)
    figures = {
        **measure_retargeting(motion, result, ground),
        "max_joint_error_m": written.error,
        "notes": list(written.notes),
    }
    if reading is not None:
        errors = judge_result(reading, written.error, len(result))
        for sentence in errors.warnings:
            run.warn(f"{output}: {sentence}")
        figures |= {
            "max_joint_error_m": errors.error,
            "reading_error_m": errors.reading_error,
            "writing_error_m": errors.writing_error,
            **reading.describe_bones(),
        }
    run.answer = Answer({**figures, "file": str(output)})
    return result


def _check(options: RetargetOptions, output: Path | None, run: Run) -> None:
    """Raise InputError for options without effect, and for an output that is read or that nothing here can write."""
    if options.character is not None:
        raise InputError("--character has no effect here: the body is the second argument. Leave it out.")
    of_files = ("height", "fps", "roles", "take", "scale", "up", "bones")
    if isinstance(options.clip, Clip) and any(getattr(options, name) not in (None, ()) for name in of_files):
        raise InputError(
            "height, fps, roles, take, scale, up and bones say how a file is read, and the clip is given as it is. "
            "Give its path, or say it to poise.load_clip."
        )
    if output is not None:
        inputs = [path for path in (options.clip, options.skeleton) if isinstance(path, Path)]
        check_outputs((*inputs, *options.source.list_files()), [(run.spell("output"), output)], run.json)
        check_can_save(output, inputs)


def _find_target(options: RetargetOptions, run: Run) -> Target:
    given, roles = options.skeleton, parse_roles(options.skeleton_roles, run)
    if not isinstance(given, Skeleton | Character):
        return read_target(Path(given), roles, run)
    if roles:
        raise InputError(f"{run.spell('character_roles')} is for a body that is read from a file; leave it out.")
    if isinstance(given, Character):
        from poise.files.formats.gltf.character import find_reading

        return Target(given.skeleton, find_reading(given), given.mass, options.skin)
    return Target(given, own_skin=options.skin)
