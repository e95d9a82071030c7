"""A folder to convert: which files are in it, and what each of them becomes; all known before any is written."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from poise.errors import FileError, InputError, PoiseError, printable
from poise.files.output import is_temporary
from poise.files.reporting import Reporter
from poise.jobs.convert.job import ConvertOptions, convert_file
from poise.jobs.job import Answer, Run
from poise.jobs.shared.outputs import check_folder, find_companions, identify

DONE, BAD_INPUT, FAULT = 0, 2, 70


@dataclass(frozen=True)
class FolderPlan:
    """What becomes what.

    steps    (source, target) in the order of the sources' names
    refused  (source, sentence) of those that would be written over another file of the run
    closed   folders inside that could not be looked into, and why
    """

    steps: list[tuple[Path, Path]]
    refused: list[tuple[Path, str]] = field(default_factory=list)
    closed: list[OSError] = field(default_factory=list)


def plan_folder(folder: Path, output: Path, to: str | None, options: Iterable[Path] = ()) -> FolderPlan:
    """The files of a folder and what they become in another.

    to       the suffix to write; a file's own format, or .glb where that cannot be written, if None
    options  files that options name, which are read too

    An output folder inside the input is not searched: what an earlier run wrote there is not converted again.
    """
    suffix = None if to is None else check_suffix_word(to)
    if output.exists() and not output.is_dir():
        raise FileError(output, f"is a file, but '{folder}' is a folder. Give a folder to write to.")
    check_folder(output)
    closed: list[OSError] = []
    sources = sorted(_find_files(folder, output, closed))
    if not sources and not closed:
        raise FileError(folder, "there is no file in it that can be read as animation.")
    steps = [(path, output / path.relative_to(folder).with_suffix(suffix or _own_suffix(path))) for path in sources]
    refused = dict(_find_clashes(steps, options))
    if refused and len(refused) == len(steps):
        more = f" So it is with all {len(refused)} files." if len(refused) > 1 else ""
        raise FileError(sources[0], f"{refused[sources[0]]}{more} Nothing was written.")
    return FolderPlan([step for step in steps if step[0] not in refused], list(refused.items()), closed)


def check_suffix_word(word: str) -> str:
    """The suffix that --to names, with its dot; refused unless it is one that can be written, here and now."""
    from poise.files.registry import FORMATS, check_can_save

    suffix = f".{word.removeprefix('.')}"
    known = [entry.suffix for entry in FORMATS if entry.save is not None]
    if suffix.lower() not in known:
        raise InputError(f"--to takes {', '.join(each.removeprefix('.') for each in known)}; '{word}' was given.")
    check_can_save(Path(f"x{suffix}"))
    return suffix


def _find_clashes(steps: list[tuple[Path, Path]], options: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """The sources whose targets are files that the run reads, or that an earlier source becomes."""
    inputs = {identify(path): f"'{path}', which is read" for path in options}
    for source, _ in steps:
        inputs |= {identify(path): f"'{path}', which '{source}' needs" for path in find_companions(source)}
    inputs |= {identify(source): f"'{source}', which is to be converted too" for source, _ in steps}
    taken: dict[Hashable, Path] = {}
    for source, target in steps:
        place = identify(target)
        if place in inputs:
            yield (
                source,
                f"it would be written over {inputs[place]}. Give another folder to write to, or another --to.",
            )
        elif place in taken:
            yield source, f"'{target}' is what '{taken[place]}' becomes. Rename one of the two."
        taken.setdefault(place, source)


def _find_files(folder: Path, output: Path, closed: list[OSError]) -> Iterator[Path]:
    """Every file below a folder whose suffix says that it can be read; those in the output folder are left out.

    Text that is no motion (notes, licences) and the skeletons of AMC files are none, nor is what another run is just
    writing. A link to nothing is one, so that it is said.
    """
    from poise.files.registry import find_format

    own, away = identify(folder), identify(output)
    for place, folders, names in os.walk(folder, onerror=closed.append):
        if own != away:
            folders[:] = [name for name in folders if identify(Path(place, name)) != away]
        has_motions = any(name.lower().endswith(".amc") for name in names)
        for name in names:
            path = Path(place, name)
            entry = find_format(path)
            if entry is None or entry.read is None or is_temporary(path):
                continue
            if not path.is_file() and not (path.is_symlink() and not path.exists()):
                continue
            suffix = path.suffix.lower()
            if not (suffix == ".asf" and has_motions) and (suffix != ".txt" or _begins_with_brace(path)):
                yield path


def _begins_with_brace(path: Path) -> bool:
    """Whether a text is JSON, as DeepMimic's motions are; true also where that cannot be told, so that it is said."""
    from poise.files.input import open_input

    try:
        with open_input(path, may_be_empty=True) as stream:
            return stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    except (FileError, OSError):
        return True


def _own_suffix(path: Path) -> str:
    """What to write for a file where nothing is asked for: its own format, or GLB."""
    from poise.files.registry import find_format

    entry = find_format(path)
    return path.suffix if entry is not None and entry.save is not None else ".glb"


class _Quiet(Reporter):
    """The audience of one file of many: guesses about hundreds of files are for `poise info`."""

    def __init__(self, audience: Reporter):
        self.spell = audience.spell  # type: ignore[method-assign]


def convert_folder(options: ConvertOptions, folder: Path, output: Path, run: Run) -> Answer:
    """Convert every file of a folder, and report those that fail."""
    from poise.files.writing.round_trip import SUSPECT

    plan = plan_folder(folder, output, options.to, options.list_files())
    quiet = _Quiet(run)
    done: list[dict[str, Any]] = []
    failed = [{"source": str(path), "error": f"{path}: {sentence}"} for path, sentence in plan.refused]
    for shut in plan.closed:
        failed.append({"source": str(shut.filename), "error": f"{shut.filename}: cannot be read: {shut.strerror}."})
    code = DONE
    for path, target in plan.steps:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            figures = convert_file(options, path, target, quiet)
        except (PoiseError, OSError) as error:
            failed.append({"source": str(path), "error": " ".join(str(error).split())})
            continue
        except Exception as error:  # the others are converted all the same
            said = f"{path}: a fault in Poise, not in your input: {type(error).__name__}: {error}. Please report it."
            failed.append({"source": str(path), "error": said})
            code = FAULT
            continue
        done.append({"source": str(path), **figures})
        off = _describe_error(figures["max_joint_error_m"])
        run.show(f"{printable(str(path))} -> {printable(str(target))}: {figures['frames']} frames, {off}")
    for row in done:
        if row["max_joint_error_m"] is not None and row["max_joint_error_m"] > SUSPECT:
            run.warn(f"{row['file']}: joints are off by {1e3 * row['max_joint_error_m']:.3g} mm. Convert it alone.")
    for failure in failed:
        run.fail(f"not converted: {failure['error']}")
    summary = f"{len(done)} converted, {len(failed)} failed"
    values = {"done": len(done), "failed": len(failed), "files": done, "failures": failed}
    return Answer(values, lambda _: summary, max(code, BAD_INPUT) if failed else DONE)


def _describe_error(metres: float | None) -> str:
    return "written" if metres is None else f"within {1e3 * metres:.2g} mm"
