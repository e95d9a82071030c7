"""Files that a job writes: sorted by suffix, and checked before the work begins.

An output must not be an input or another output, must be where a file can be, and must have a suffix that is written.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import cast

from poise.errors import FileError, InputError
from poise.files.output import check_place, is_stream
from poise.files.reporting import Reporter
from poise.jobs.job import Run
from poise.jobs.shared.options import OutputOptions
from poise.options import File

FILMS = (".mp4", ".webm", ".webp", ".gif")
TAKE = ".take.npz"
# Option -> the suffixes of its files; "output" is a motion.
SUFFIXES = {"film": FILMS, "picture": (".png",), "plot": (".png",), "joints": (".png",), "save_recipe": (".toml",)}
_PROBES = 50  # entries of a folder that are asked whether it tells capitals apart


@dataclass(frozen=True)
class Outputs:
    """Files to write, each with the option that names its kind: `output` of a motion, or one of `SUFFIXES`.

    Metrics are measured on the first motion.
    """

    named: tuple[tuple[str, Path], ...] = ()

    def __iter__(self) -> Iterator[Path]:
        return (path for _, path in self.named)

    def __getitem__(self, option: str) -> tuple[Path, ...]:
        return tuple(path for name, path in self.named if name == option)

    def has_any(self, *options: str) -> bool:
        """Return whether there is a file of one of these options."""
        return any(name in options for name, _ in self.named)

    @property
    def more_motions(self) -> tuple[Path, ...]:
        """The motions besides the first."""
        return self["output"][1:]

    @property
    def motion(self) -> Path | None:
        """The motion on which metrics are measured; None if none is written."""
        return next(iter(self["output"]), None)

    def check(self, inputs: Iterable[object], reporter: Reporter, what: str, more: str = "") -> None:
        """Raise InputError for outputs that are inputs or each other, that cannot be there, or cannot be written.

        inputs  paths of files that are read, among values that are no paths
        what    is written, as in "a walk";  more: suffixes that it is written as besides those of motions
        """
        read = [path for path in inputs if isinstance(path, Path)]
        check_outputs(read, [(reporter.spell(option), path) for option, path in self.named], reporter.json)
        for option, path in self.named:
            if option == "output":
                check_motion(path, read, what, more)
            else:
                check_suffix(reporter.spell(option), path, *SUFFIXES[option])
        if self.has_any("film"):
            from poise.pictures.film import check_film

            for path in self["film"]:
                check_film(path)


def sort_outputs(paths: Iterable[Path], kinds: Mapping[str, str], film: Path | None = None) -> Outputs:
    """Return outputs by their suffixes: motions, films, and the others.

    kinds  suffix -> option, of files that are neither motions nor films;  film: one more film
    """
    found: dict[str, list[Path]] = {option: [] for option in ("output", "film", *kinds.values())}
    for path in paths:
        suffix = path.suffix.lower()
        found["film" if suffix in FILMS else kinds.get(suffix, "output")].append(path)
    found["film"] += [] if film is None else [film]
    return Outputs(tuple((option, path) for option, each in found.items() for path in each))


def list_outputs(options: OutputOptions, save_recipe: File | None = None) -> Outputs:
    """Return the files of a simulation: those of Python's list, and of kinds that it lacks the one that is named."""
    listed = sort_outputs(cast("tuple[Path, ...]", options.outputs), {".png": "plot", ".toml": "save_recipe"})
    named = {"output": options.output, "film": options.film, "plot": options.plot, "save_recipe": save_recipe}
    return Outputs(
        tuple(
            (option, path)
            for option, file in named.items()
            for path in listed[option] or (() if file is None else (Path(file),))
        )
    )


def check_named(options: OutputOptions, outputs: Outputs, run: Run, job: str) -> None:
    """Raise InputError if the command line names no output, or if a job that has no recipes is to write one."""
    if run.given.is_typed and options.output is None:
        raise InputError("-o is missing. Name the motion to write, such as -o out.glb.")
    for path in outputs["save_recipe"]:
        raise InputError(f"{job} writes no recipe; got '{path}'. Name a motion, a film or a picture.")


def check_motion(path: Path, inputs: Iterable[Path], what: str, more: str = "") -> None:
    """Raise FileError if no motion can be written to a path; see `Outputs.check`."""
    from poise.files.registry import FORMATS, check_can_save, find_format

    if more == TAKE and path.name.endswith(TAKE):
        return
    entry = find_format(path)
    if entry is None or entry.save is None:
        known = ", ".join(each.suffix for each in FORMATS if each.save is not None)
        also = f" or {more}" if more else ""
        raise FileError(path, f"'{path.suffix}' cannot be written; {what} is written as {known}{also}.")
    check_can_save(path, inputs)


def check_outputs(
    inputs: Iterable[Path | None], outputs: Mapping[str, Path | None] | Iterable[tuple[str, Path]], json: bool = False
) -> None:
    """Refuse outputs (by option) that are an input or each other, or that no file can be written to.

    Files are compared, not names: links, `..` and capitals that the file system does not tell apart hide nothing.
    json  whether standard output is to have one object and nothing else
    """
    read = [path for path in inputs if path is not None]
    taken = {identify(path): f"the input {path}" for path in read}
    taken |= {identify(path): f"{path}, which the input needs" for each in read for path in find_companions(each)}
    for option, path in outputs.items() if isinstance(outputs, Mapping) else outputs:
        if path is None:
            continue
        if is_stream(path):
            if json and _is_standard_output(path):
                raise InputError(f"{option} {path} is where --json prints. Give another path, or leave out --json.")
            continue
        place = identify(path)
        if place in taken:
            raise InputError(f"{option} {path} would overwrite {taken[place]}. Give another path.")
        taken[place] = f"{option} {path}"
        check_place(path)


def check_suffix(option: str, path: Path | None, *suffixes: str) -> None:
    """Refuse an output whose suffix promises something else than what is written."""
    if path is not None and not is_stream(path) and path.suffix.lower() not in suffixes:
        raise InputError(f"{option} writes {' or '.join(suffixes)}; '{path}' was given.")


def check_folder(path: Path) -> None:
    """Refuse a folder that cannot be made or written into, before there is anything to put there."""
    try:
        above = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    except (OSError, ValueError) as error:
        raise FileError(path, f"cannot be a folder: {getattr(error, 'strerror', None) or error}.") from error
    if not above.is_dir():
        raise FileError(path, f"cannot be a folder: '{above}' is a file. Give another folder to write to.")
    if not os.access(above, os.W_OK | os.X_OK):
        raise FileError(path, f"cannot be written into: folder '{above}' does not allow it. Give another one.")


def identify(path: Path) -> Hashable:
    """What is equal for two paths exactly if they are one file, or would be.

    A file that is there is known by its number on its device, whatever it is called (links, hard links). One that is
    not, by the nearest folder that is and the names below it.
    """
    try:
        place = Path(os.path.realpath(path))
        status = find_status(place)
        if status is not None:
            return (status.st_dev, status.st_ino)
        names: list[str] = []
        while status is None and place != place.parent:
            names.insert(0, place.name)
            place = place.parent
            status = find_status(place)
    except (OSError, ValueError):  # no path that anything could be at; whoever writes there says so
        return str(path)
    if status is None:
        return str(path)
    if is_blind_to_case(place):
        names = [unicodedata.normalize("NFC", name).casefold() for name in names]
    return (status.st_dev, status.st_ino, *names)


def find_status(path: Path) -> os.stat_result | None:
    """What the system knows of a file, or None where there is none."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_blind_to_case(folder: Path) -> bool:
    """Whether a.glb and A.glb are one file in a folder, by what it says about names that it has."""
    try:
        with os.scandir(folder) as entries:
            inside = [folder / entry.name for entry in islice(entries, _PROBES)]
    except OSError:
        inside = []
    for path in (*inside, folder):
        other = path.with_name(path.name.swapcase()) if path.name else path
        if other.name != path.name:
            try:
                return path.samefile(other)
            except OSError:
                return False
    return False


def find_companions(path: Path) -> list[Path]:
    """Files beside an input that belong to it: the buffers and pictures of a .gltf. None of one that cannot be read."""
    if path.suffix.lower() != ".gltf":
        return []
    from poise.files.formats.gltf.document import find_files_beside, read_document

    try:
        return find_files_beside(read_document(path))
    except FileError:
        return []


def _is_standard_output(path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False
