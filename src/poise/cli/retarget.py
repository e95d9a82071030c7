"""`poise retarget`: the motion of one body on another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from poise.cli import report as speaking
from poise.cli import source as sources
from poise.cli.report import Report
from poise.cli.source import Source
from poise.cli.words import read_input, read_number, read_path
from poise.errors import FileError, InputError
from poise.jobs.outputs import check_outputs

if TYPE_CHECKING:
    from poise.body.skeleton import Skeleton
    from poise.body.skin import SkinnedMesh
    from poise.files.normalise import Reading
    from poise.motion.clip import Clip

MODELS = (".glb", ".gltf", ".vrm")
HIGHEST = 10_000.0  # m that a ground may be above or below: higher than any mountain


def retarget(
    clip: Annotated[Path, Parameter(converter=read_input, help="A motion file.")],
    character: Annotated[
        Path,
        Parameter(
            converter=read_input,
            help="Whose body moves: a model (.glb, .gltf, .vrm), a body that Poise saved, or a motion file.",
        ),
    ],
    /,
    *,
    output: Annotated[
        Path,
        Parameter(
            name=["-o", "--output"],
            converter=read_path,
            help="What to write; .glb writes onto the model's own mesh.",
        ),
    ],
    feet: Annotated[bool, Parameter(help="Hold standing feet in place, and keep legs within reach.")] = True,
    hands: Annotated[bool, Parameter(help="Keep hands where they touch the body, the ground or each other.")] = True,
    ground: Annotated[
        float, Parameter(converter=read_number, help="Height of the ground under the character, m.")
    ] = 0.0,
    character_roles: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="role=joint of the character, as --roles is for the clip."),
    ] = (),
    source: Source = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> None:
    """Put the motion of one body on another: other rest pose, joints and proportions.

    What is written has the character's joints and the clip's frame times. Travel is scaled by the legs' length.
    """
    from poise.files.formats import check_can_save
    from poise.files.source import parse_roles
    from poise.files.written import judge_result
    from poise.motion.retargeting import retarget as put_on
    from poise.motion.retargeting_measures import measure_retargeting

    report.tell_nothing_random()
    if source.character is not None:
        raise InputError("--character has no effect here: the body is the second argument. Leave it out.")
    if not abs(ground) <= HIGHEST:
        raise InputError(f"--ground must be from {-HIGHEST:g} to {HIGHEST:g} m; {ground:g} given.")
    check_outputs((clip, character, *source.list_files()), {"-o": output}, report.json)
    check_can_save(output)
    reading = source.read(clip, report)
    motion = reading.clip
    target = _read_target(character, parse_roles(character_roles, report), report)
    if source.mass is not None:
        target = target.weighing(source.mass, output)
    result = put_on(motion, target.skeleton, feet=feet, hands=hands, ground=ground, skin=target.skin)
    written = target.write(result, output)
    errors = judge_result(reading, written, len(result))
    for sentence in errors.warnings:
        report.warn(f"{output}: {sentence}")
    report.result(
        {
            **measure_retargeting(motion, result),
            "max_joint_error_m": errors.error,
            "reading_error_m": errors.reading_error,
            "writing_error_m": errors.writing_error,
            "file": str(output),
        }
    )


@dataclass(frozen=True, eq=False)
class _Target:
    """Whose body moves: its skeleton, how a model was read, and the mass in kg of a body that has one."""

    skeleton: Skeleton
    reading: Reading | None = None
    mass: float | None = None

    @property
    def skin(self) -> SkinnedMesh | None:
        return None if self.reading is None else self.reading.skin

    def weighing(self, mass: float, path: Path) -> _Target:
        """The same body of another mass, kg; refused where none of a given mass is drawn."""
        why = None
        if path.suffix.lower() != ".glb":
            why = f"'{path.suffix}' holds none that can be chosen"
        elif self.skin is not None:
            why = "the character has a mesh of its own"
        elif self.mass is not None:
            why = "the character has a mass of its own"
        if why is not None:
            raise InputError(f"--mass is for the body that is drawn, and {why}. Leave it out.")
        return replace(self, mass=mass)

    def write(self, clip: Clip, path: Path) -> float | None:
        """Write a clip of this body; m, how far the joints in what was written are from the clip's."""
        from poise.files.writing import write_made, write_on_model

        if path.suffix.lower() == ".glb" and self.reading is not None and self.skin is not None:
            return write_on_model(clip, self.reading, path)
        return write_made(clip, path, **self._meshes(clip, path))

    def _meshes(self, clip: Clip, path: Path) -> dict[str, Any]:
        """What a GLB shows: a mannequin, or bones where that cannot be made."""
        if path.suffix.lower() != ".glb":
            return {}
        from poise.body.mannequin import build_mannequin
        from poise.body.stature import estimate_mass
        from poise.files.normalise import compute_stature

        try:
            mass = self.mass if self.mass is not None else estimate_mass(compute_stature(clip.skeleton))
            return {"meshes": build_mannequin(clip.skeleton, mass)}
        except InputError:
            return {}


def _read_target(path: Path, roles: dict[str, str], report: Report) -> _Target:
    """The body in a file: a character of Poise's own, a model at rest, or whoever moves in a motion file."""
    if path.suffix.lower() == ".json":
        from poise.files.character import load_character

        if roles:
            raise FileError(path, "this body has roles of its own; leave out --character-roles.")
        body = load_character(path)
        return _Target(body.skeleton, mass=body.mass)
    from poise.files.formats import read_recording
    from poise.files.gltf import read_gltf_rest
    from poise.files.normalise import normalise

    is_model = path.suffix.lower() in MODELS
    reading = normalise(read_gltf_rest(path) if is_model else read_recording(path), roles=roles)
    for warning in reading.warnings:
        report.warn(f"{path}: {warning}")
    return _Target(reading.clip.skeleton, reading if is_model else None)
