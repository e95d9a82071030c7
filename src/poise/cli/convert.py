"""`poise convert`: any format to any, with the error measured on what was written."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from poise.cli import report as speaking
from poise.cli import source as sources
from poise.cli.changes import NONE, ChangeOptions
from poise.cli.folder import plan_folder
from poise.cli.report import Report
from poise.cli.source import SourceOptions
from poise.cli.streams import tell
from poise.cli.words import read_input, read_path
from poise.errors import InputError, PoiseError, printable

if TYPE_CHECKING:
    from poise.jobs.convert import Conversion

DONE, BAD_INPUT, FAULT = 0, 2, 70


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
    names: Annotated[
        Literal["own", "vrm"], Parameter(help="own: joints are called as in the input; vrm: by their VRM roles.")
    ] = "own",
    to: Annotated[
        str | None, Parameter(help="For a folder: the suffix to write (glb, bvh, ...); the input's own if not given.")
    ] = None,
    changes: ChangeOptions = NONE,
    source: SourceOptions = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> int:
    """Write a motion file in another format, and measure how far its joints are from where they were.

    What is written is in metres and Y up, with every joint, frame and bone of the input; --keep writes the input's own
    form instead. A folder is converted file by file, folders inside it too but for the one that is written to: those
    that fail are listed in the end (exit 2), the others are written. No file is written over one that is read.
    """
    from poise.jobs.convert import Conversion

    job = Conversion(keep, names, changes, source)
    job.check(report)
    report.tell_nothing_random()
    job.check_values(report)
    if file.is_dir():
        return _convert_folder(job, file, output, to, report)
    if to is not None:
        raise InputError(f"--to is for folders; the suffix of '{output}' names the format of one file.")
    job.check_files(file, output, report, report.json)
    report.result(job.run(file, output, report))
    return DONE


def _convert_folder(job: Conversion, folder: Path, output: Path, to: str | None, report: Report) -> int:
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
