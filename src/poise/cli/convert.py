"""`poise convert`: any format to any, with the error measured on what was written."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from poise.cli import report as speaking
from poise.cli import source as sources
from poise.cli.changes import NONE, Changes
from poise.cli.folder import plan_folder
from poise.cli.report import Report
from poise.cli.source import Source
from poise.cli.streams import tell
from poise.cli.words import read_input, read_path
from poise.errors import FileError, InputError, PoiseError, printable
from poise.jobs.outputs import check_outputs

if TYPE_CHECKING:
    from poise.files.normalise import Reading

DONE, BAD_INPUT, FAULT = 0, 2, 70
WITH_BODY = (".glb", ".usd", ".usda", ".usdc", ".fbx")  # formats that carry a body beside the motion


def convert(
    file: Annotated[Path, Parameter(converter=read_input, help="A motion file, or a folder of them.")],
    output: Annotated[
        Path, Parameter(converter=read_path, help="What to write; its suffix names the format. A folder for a folder.")
    ],
    /,
    *,
    keep: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="Keep names, order, channels, units and axes of the input; needs the input's own format.",
        ),
    ] = False,
    mend: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="Leave out an added T-pose and give lost bones back, as every other command does.",
        ),
    ] = False,
    names: Annotated[
        Literal["own", "vrm"], Parameter(help="own: joints are called as in the input; vrm: by their VRM roles.")
    ] = "own",
    to: Annotated[
        str | None, Parameter(help="For a folder: the suffix to write (glb, bvh, ...); the input's own if not given.")
    ] = None,
    changes: Changes = NONE,
    source: Source = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> int:
    """Write a motion file in another format, and measure how far its joints are from where they were.

    What is written is in metres and Y up, with every joint, frame and bone of the input; --keep writes the input's own
    form instead. A folder is converted file by file, folders inside it too but for the one that is written to: those
    that fail are listed in the end (exit 2), the others are written. No file is written over one that is read.
    """
    from poise.files.formats import check_can_save

    if keep and mend:
        raise InputError("--keep keeps the input as it is; leave out --mend or --keep.")
    if keep and names != "own":
        raise InputError(f"--keep keeps the input's joint names; leave out --names {names} or --keep.")
    if keep:
        _check_kept(source, changes)
    report.tell_nothing_random()
    changes.check()
    source.check(report)
    job = _Job(keep, mend, names, changes, source)
    if file.is_dir():
        return _convert_folder(job, file, output, to, report)
    if to is not None:
        raise InputError(f"--to is for folders; the suffix of '{output}' names the format of one file.")
    if output.is_dir():
        raise FileError(output, f"is a folder. Give the path of a file in it, such as '{output / file.name}'.")
    check_outputs([file, *source.list_files()], {"the output": output}, report.json)
    check_can_save(output)
    report.result(job.run(file, output, report))
    return DONE


def _check_kept(source: Source, changes: Changes) -> None:
    """Refuse options that say what --keep leaves as it is; units, axes and roles matter where the motion is changed."""
    idle = ["mass", "character"]
    if changes.plan().only_trims:
        idle += ["scale", "up", "height", "roles"]
    for option in idle:
        if getattr(source, option) not in (None, ()):
            raise InputError(f"--keep keeps the input as it is, so --{option} has no effect. Leave out one of the two.")


@dataclasses.dataclass(frozen=True)
class _Job:
    """What is done to every file."""

    keep: bool
    mend: bool
    names: Literal["own", "vrm"]
    changes: Changes
    source: Source

    def run(self, path: Path, output: Path, report: Report) -> dict[str, Any]:
        """Convert one file; what was written, in figures."""
        from poise.files.writing import keep_as, write_clean

        reading = self.source.read(path, report, self.mend)
        self.changes.check_in(reading.clip, report)
        if self.keep:
            written = keep_as(reading, output, self.changes.plan(), self.source.fps)
        else:
            written = write_clean(reading, output, self.changes.plan(), self.names, self.find_mass(reading, output))
        for sentence in written.notes:
            report.note(f"{output}: {sentence}")
        for sentence in written.warnings:
            report.warn(f"{output}: {sentence}")
        return {
            "file": str(output),
            "frames": written.frames,
            "max_joint_error_m": written.error,
            "reading_error_m": written.reading_error,
            "writing_error_m": written.writing_error,
            "joints_left_out": list(written.left_out),
            **written.figures,
        }

    def find_mass(self, reading: Reading, output: Path) -> float | None:
        """kg of the body that is drawn, where one is asked for; refused where none is drawn."""
        given = next((option for option in ("character", "mass") if getattr(self.source, option) is not None), None)
        if given is None:
            return None
        why = find_why_bodiless(reading, output)
        if why is not None:
            raise InputError(f"--{given} is for the body that is drawn, and {why}. Leave it out.")
        return self.source.mass if given == "mass" else self.source.load_body(reading.clip).mass


def find_why_bodiless(reading: Reading, output: Path) -> str | None:
    """Why no body of a given mass is drawn in a file, in words; None where one is."""
    if output.suffix.lower() not in WITH_BODY:
        return f"'{output.suffix}' holds none"
    if reading.skin is not None:
        return "the input has a mesh of its own"
    if reading.clip.skeleton.find_role("hips") is None:
        return "these joints are no person's, so that only bones are drawn"
    return None


def _convert_folder(job: _Job, folder: Path, output: Path, to: str | None, report: Report) -> int:
    from poise.files.fidelity import SUSPECT

    plan = plan_folder(folder, output, to, job.source.list_files())
    quiet = dataclasses.replace(report, quiet=True)  # guesses about hundreds of files are for `poise info`
    done: list[dict[str, Any]] = []
    failed = [{"source": str(path), "error": f"{path}: {sentence}"} for path, sentence in plan.refused]
    for shut in plan.closed:
        failed.append({"source": str(shut.filename), "error": f"{shut.filename}: cannot be read: {shut.strerror}."})
    code = DONE
    for path, target in plan.steps:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            figures = job.run(path, target, quiet)
        except (PoiseError, OSError) as error:
            failed.append({"source": str(path), "error": " ".join(str(error).split())})
            continue
        except Exception as error:  # the others are converted all the same
            said = f"{path}: a fault in Poise, not in your input: {type(error).__name__}: {error}. Please report it."
            failed.append({"source": str(path), "error": said})
            code = FAULT
            continue
        done.append({"source": str(path), **figures})
        if not report.json:
            off = _describe_error(figures["max_joint_error_m"])
            tell(f"{printable(str(path))} -> {printable(str(target))}: {figures['frames']} frames, {off}")
    for row in done:
        if row["max_joint_error_m"] is not None and row["max_joint_error_m"] > SUSPECT:
            report.warn(f"{row['file']}: joints are off by {1e3 * row['max_joint_error_m']:.3g} mm. Convert it alone.")
    for failure in failed:
        report.fail(f"not converted: {failure['error']}")
    summary = f"{len(done)} converted, {len(failed)} failed"
    report.result({"done": len(done), "failed": len(failed), "files": done, "failures": failed}, summary)
    return max(code, BAD_INPUT) if failed else DONE


def _describe_error(metres: float | None) -> str:
    return "written" if metres is None else f"within {1e3 * metres:.2g} mm"
