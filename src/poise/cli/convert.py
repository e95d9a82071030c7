"""`poise convert`: any format to any, with the error measured on what was written."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from poise.cli import report as speaking
from poise.cli import source as sources
from poise.cli.outputs import check_outputs
from poise.cli.report import Report
from poise.cli.source import Source
from poise.errors import FileError, InputError, PoiseError

if TYPE_CHECKING:
    from poise.files.writing import Edits

DONE, BAD_INPUT = 0, 2
CHANGES = Group("What to change", sort_key=40)


@Parameter(name="*", group=CHANGES)
@dataclasses.dataclass(frozen=True)
class Changes:
    """What a conversion does to the motion; nothing by default."""

    start: Annotated[float | None, Parameter(help="Seconds: leave out what is before.")] = None
    end: Annotated[float | None, Parameter(help="Seconds: leave out what is after.")] = None
    resample: Annotated[float | None, Parameter(help="Frames a second to write.")] = None
    loop: Annotated[
        bool, Parameter(negative="", show_default=False, help="Make it loop: the best stretch, its ends made to meet.")
    ] = False
    root: Annotated[
        Literal["keep", "in-place"], Parameter(help="in-place: take the way over the ground out; sway and height stay.")
    ] = "keep"

    def plan(self) -> Edits:
        """The same, as files are written with it."""
        from poise.files.writing import Edits

        return Edits(self.start, self.end, self.resample, self.loop, self.root == "in-place")


NONE = Changes()


def convert(
    file: Annotated[Path, Parameter(help="A motion file, or a folder of them.")],
    output: Annotated[Path, Parameter(help="What to write; its suffix names the format. A folder for a folder.")],
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
    form instead. A folder is converted file by file, folders inside it too: those that fail are listed in the end
    (exit 2), the others are written.
    """
    if keep and mend:
        raise InputError("--keep keeps the input as it is; leave out --mend or --keep.")
    if keep and names != "own":
        raise InputError(f"--keep keeps the input's joint names; leave out --names {names} or --keep.")
    job = _Job(keep, mend, names, changes, source)
    if file.is_dir():
        return _convert_folder(job, file, output, to, report)
    if to is not None:
        raise InputError(f"--to is for folders; the suffix of '{output}' names the format of one file.")
    if output.is_dir():
        raise FileError(output, f"is a folder. Give the path of a file in it, such as '{output / file.name}'.")
    report.result(job.run(file, output, report))
    return DONE


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

        check_outputs([path], {"the output": output})
        reading = self.source.read(path, report, self.mend)
        if self.keep:
            written = keep_as(reading, output, self.changes.plan(), self.source.fps)
        else:
            written = write_clean(reading, output, self.changes.plan(), self.names, self.source.mass)
        for sentence in written.notes:
            report.note(f"{output}: {sentence}")
        return {
            "file": str(output),
            "frames": written.frames,
            "max_joint_error_m": written.error,
            **written.figures,
        }


def _convert_folder(job: _Job, folder: Path, output: Path, to: str | None, report: Report) -> int:
    if output.exists() and not output.is_dir():
        raise FileError(output, f"is a file, but '{folder}' is a folder. Give a folder to write to.")
    quiet = dataclasses.replace(report, quiet=True)  # guesses about hundreds of files are for `poise info`
    done: list[dict[str, Any]] = []
    failed: list[dict[str, str]] = []
    taken: dict[Path, Path] = {}
    paths = list(_find_files(folder))
    if not paths:
        raise FileError(folder, "there is no file in it that can be read as animation.")
    for path in paths:
        target = output / path.relative_to(folder).with_suffix(_choose_suffix(path, to))
        try:
            if target in taken:
                raise FileError(path, f"'{target}' is what '{taken[target]}' became. Rename one of the two.")
            target.parent.mkdir(parents=True, exist_ok=True)
            figures = job.run(path, target, quiet)
        except (PoiseError, OSError) as error:
            failed.append({"source": str(path), "error": " ".join(str(error).split())})
            continue
        taken[target] = path
        done.append({"source": str(path), **figures})
        if not report.json:
            print(f"{path} -> {target}: {figures['frames']} frames, {_describe_error(figures['max_joint_error_m'])}")
    for failure in failed:
        report.warn(f"not converted: {failure['error']}")
    summary = f"{len(done)} converted, {len(failed)} failed"
    report.result({"done": len(done), "failed": len(failed), "files": done, "failures": failed}, summary)
    return BAD_INPUT if failed else DONE


def _describe_error(metres: float | None) -> str:
    return "written" if metres is None else f"within {1e3 * metres:.2g} mm"


def _find_files(folder: Path) -> Iterator[Path]:
    """Every file below a folder whose suffix says that it can be read, in the order of their names.

    Text that is no motion (notes, licences) and the skeletons of AMC files are none.
    """
    from poise.files.formats import find_format

    for path in sorted(folder.rglob("*")):
        entry = find_format(path)
        if entry is None or entry.read is None or not path.is_file():
            continue
        suffix = path.suffix.lower()
        is_skeleton = suffix == ".asf" and any(path.parent.glob("*.[aA][mM][cC]"))
        if not is_skeleton and (suffix != ".txt" or _begins_with_brace(path)):
            yield path


def _begins_with_brace(path: Path) -> bool:
    """Whether a text is JSON, as DeepMimic's motions are; true also where that cannot be told, so that it is said."""
    from poise.files.loading import open_input

    try:
        with open_input(path) as stream:
            return stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    except (FileError, OSError):
        return True


def _choose_suffix(path: Path, to: str | None) -> str:
    """What to write for a file of a folder: what is asked for, else its own format, else GLB."""
    from poise.files.formats import find_format

    if to is not None:
        return f".{to.removeprefix('.')}"
    entry = find_format(path)
    return path.suffix if entry is not None and entry.save is not None else ".glb"
