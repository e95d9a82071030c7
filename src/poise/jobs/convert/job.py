"""A motion file in another format, with the error measured on what was written.

`ConvertOptions` is what a conversion does to the motion on its way, what it allows, and what would change nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from poise.errors import FileError, InputError
from poise.files.reading.options import Source
from poise.files.reading.pipeline import Reading
from poise.files.reading.recording import RESTORE
from poise.files.registry import check_can_save, read_source
from poise.files.reporting import Reporter
from poise.files.writing.writing import WITH_BODY, has_mesh
from poise.jobs.job import Run, job
from poise.jobs.shared.body import ClipBody, find_body
from poise.jobs.shared.outputs import check_outputs
from poise.options import File, JobOptions, Option

if TYPE_CHECKING:
    from poise.files.writing.writing import Edits
    from poise.motion.clip import Clip
MOST_POSES = 50_000_000  # joints times frames that may be made of a clip: their rotations take 1.6 GB
NAMES = ("own", "vrm")
ROOTS = ("keep", "in-place")


@dataclass(frozen=True, kw_only=True)
class ChangeOptions:
    """What a conversion does to the motion; nothing by default."""

    title: ClassVar[str] = "What to change"

    start: Annotated[
        float | None, Option("Leave out the motion before this time.", between=(0.0, float("inf")), unit="s")
    ] = None
    end: Annotated[
        float | None, Option("Leave out the motion after this time.", between=(0.0, float("inf")), unit="s")
    ] = None
    resample: Annotated[
        float | None, Option("Frame rate to write.", between=(0.1, 100_000.0), unit="frames a second")
    ] = None
    loop: Annotated[bool, Option("Make it loop: the best stretch, its ends made to meet.")] = False
    root: Annotated[
        Literal["keep", "in-place"],
        Option("in-place: take the way over the ground out; sway and height stay.", choices=ROOTS),
    ] = "keep"


@dataclass(frozen=True, kw_only=True)
class ConvertOptions(JobOptions, Source, ChangeOptions):
    """Options of `convert`."""

    file: Annotated[File, Option("A motion file, or on the command line a folder of them.")] = field(kw_only=False)
    output: Annotated[File, Option("The file or folder to write; its suffix is its format.", writes=True)] = field(
        kw_only=False
    )
    keep: Annotated[
        bool, Option("Keep names, order, channels, units and axes of the input; needs the input's own format.")
    ] = False
    names: Annotated[
        Literal["own", "vrm"],
        Option("own: joints are called as in the input; vrm: by their VRM roles.", choices=NAMES),
    ] = "own"
    to: Annotated[
        str | None, Option("For a folder: the suffix to write (glb, bvh, ...); the input's own if not given.")
    ] = field(default=None, init=False)

    def check_all(self, run: Reporter) -> None:
        """Raise InputError for what can be done to no file, and for options that would do nothing."""
        keep = run.spell("keep")
        if self.start is not None and self.end is not None and self.end < self.start:
            raise InputError(
                f"{run.spell('end')} {self.end:g} is before {run.spell('start')} {self.start:g}; it must be a later "
                "time."
            )
        if self.keep and self.bones == RESTORE:
            raise InputError(
                f"{keep} keeps the input's bones; got {run.spell('bones')} {RESTORE}. Leave out {run.spell('bones')} "
                f"or {keep}."
            )
        if self.keep and self.names != "own":
            raise InputError(
                f"{keep} keeps the input's joint names; leave out {run.spell('names')} {self.names} or {keep}."
            )
        if self.keep:
            self._check_kept(run)
        self.check(run)

    def _check_kept(self, run: Reporter) -> None:
        """Refuse what `keep` leaves as it is; units, axes and roles matter where loops and ways are found."""
        idle = ["mass", "character"]
        if not self.loop and self.root == "keep":
            idle += ["scale", "up", "height", "roles"]
        for option in idle:
            if getattr(self, option) not in (None, ()):
                keep, other = run.spell("keep"), run.spell(option)
                raise InputError(
                    f"{keep} keeps the input as it is, so {other} has no effect. Leave out one of the two."
                )

    def check_in(self, clip: Clip, run: Reporter) -> None:
        """Raise InputError for what cannot be done to this clip, and note what changes nothing about it."""
        spell = run.spell
        first, last = float(clip.times[0]), float(clip.times[-1])
        if self.start is not None and self.start > last:
            raise InputError(f"{spell('start')} {self.start:g} s is after the clip's last frame, at {last:g} s.")
        if self.end is not None and self.end > last:
            run.note(
                f"{spell('end')} {self.end:g} s is after the clip's last frame, at {last:g} s: it leaves nothing out."
            )
        lasts = min(last, self.end if self.end is not None else last) - max(first, self.start or first)
        if self.resample is not None and lasts * self.resample * len(clip.skeleton) > MOST_POSES:
            raise InputError(
                f"{spell('resample')} {self.resample:g} would make {lasts * self.resample:.3g} frames of "
                f"{len(clip.skeleton)} joints, which is more than can be kept. Ask for fewer, or trim the clip."
            )

    def plan(self) -> Edits:
        """Return the changes, as files are written with them."""
        from poise.files.writing.writing import Edits

        return Edits(self.start, self.end, self.resample, self.loop, self.root == "in-place")


@job(ConvertOptions)
def convert(options: ConvertOptions, run: Run) -> Mapping[str, Any]:
    """Write a motion file in another format, and measure how far its joints are from where they were.

    What is written is in metres and Y up, with every joint, frame and bone of the input; --keep writes the input's own
    form instead. A folder is converted file by file, folders inside it too but for the one that is written to: those
    that fail are listed in the end (exit 2), the others are written. No file is written over one that is read.
    """
    file, output = Path(options.file), Path(options.output)
    options.check_all(run)
    if run.given.is_typed and file.is_dir():
        from poise.jobs.convert.folder import convert_folder

        run.answer = convert_folder(options, file, output, run)
        return run.answer.values
    if options.to is not None:
        raise InputError(f"--to is for folders; the suffix of '{output}' names the format of one file.")
    if output.is_dir():
        raise FileError(output, f"is a folder. Give the path of a file in it, such as '{output / file.name}'.")
    read = [file, *options.list_files()]
    check_outputs(read, [("the output", output)], run.json)
    check_can_save(output, read)
    return convert_file(options, file, output, run)


def convert_file(options: ConvertOptions, path: Path, output: Path, audience: Reporter) -> dict[str, Any]:
    """Convert one file; return what was written, measured."""
    from poise.files.writing.writing import keep_as, write_clean

    reading = read_source(path, options, audience, whole=True)
    options.check_in(reading.clip, audience)
    if options.keep:
        written = keep_as(reading, output, options.plan(), options.fps)
    else:
        body = _find_body(options, reading, output, audience)
        if body is None or body.target.reading is reading:
            mass = options.mass if body is None else body.character.mass
            written = write_clean(reading, output, options.plan(), options.names, mass)
        else:
            clip, _, figures = options.plan().apply(body.clip)
            written = dataclasses.replace(body.target.write(clip, output), figures=figures)
    for sentence in written.notes:
        audience.note(f"{output}: {sentence}")
    for sentence in written.warnings:
        audience.warn(f"{output}: {sentence}")
    return {
        "file": str(output),
        "frames": written.frames,
        "max_joint_error_m": written.error,
        "reading_error_m": written.reading_error,
        "writing_error_m": written.writing_error,
        **reading.describe_bones(),
        "joints_left_out": list(written.left_out),
        "notes": list(written.notes),
        **written.figures,
    }


def _find_body(options: ConvertOptions, reading: Reading, output: Path, audience: Reporter) -> ClipBody | None:
    """The body that is given, if one is; refused, as a mass is, if it would change nothing."""
    given = next((option for option in ("character", "mass") if getattr(options, option) is not None), None)
    body = None
    if given == "character":
        body = find_body(reading.clip, reading, options, audience)
        if body.target.reading is not reading:
            if options.names != "own":
                character, names = audience.spell("character"), audience.spell("names")
                raise InputError(
                    f"{character} has joint names of its own; got {names} {options.names}. Leave out {names} or "
                    f"{character}."
                )
            return body
    why = None if given is None else find_why_bodiless(reading, output)
    if why is not None:
        raise InputError(f"{audience.spell(str(given))} is for the body that is drawn, and {why}. Leave it out.")
    return body


def find_why_bodiless(reading: Reading, output: Path) -> str | None:
    """Why no body of a given mass is drawn in a file, in words; None where one is."""
    if output.suffix.lower() not in WITH_BODY:
        return f"'{output.suffix}' holds none"
    if has_mesh(reading):
        return "the input has a mesh of its own"
    if reading.clip.skeleton.find_role("hips") is None:
        return "these joints are no person's, so that only bones are drawn"
    return None
