"""`poise demo`: what Poise does, shown with motions of its own."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from poise.cli.arguments import read_input, read_number, read_path, read_whole
from poise.cli.console import DEFAULT, Report, lines
from poise.demos import DEMOS
from poise.errors import FileError, InputError
from poise.files.registry import load_clip
from poise.jobs.shared.outputs import check_folder, identify
from poise.registry import choose

NAMES = ", ".join(DEMOS)


def demo(
    name: Annotated[str, Parameter(help=f"One of: {NAMES}; or all.")] = "all",
    /,
    *,
    output: Annotated[
        Path, Parameter(name=("--output", "-o"), converter=read_path, help="Folder for what it writes.")
    ] = Path("out/demo"),
    minutes: Annotated[
        float | None,
        Parameter(
            converter=read_number,
            help="Conductor: go on for so many simulated minutes and say how far the feet crept.",
        ),
    ] = None,
    soak: Annotated[
        bool | None, Parameter(negative="", show_default=False, help="Conductor: go on for an hour.")
    ] = None,
    clip: Annotated[
        Path | None, Parameter(converter=read_input, help="Mocap: a motion file instead of a motion of Poise's own.")
    ] = None,
    count: Annotated[
        int | None, Parameter(converter=read_whole, help="Crowd: how many conductors; 30 if not given.")
    ] = None,
    seconds: Annotated[
        float | None, Parameter(converter=read_number, help="Crowd: simulated seconds; 10 if not given.")
    ] = None,
    threads: Annotated[
        int | None,
        Parameter(converter=read_whole, help="Crowd: threads that share the work; one a core if not given."),
    ] = None,
    report: Report = DEFAULT,
) -> int:
    """Run a demo and write its files, named after it, into a folder. --json: its figures; for all, an object a demo.

    Exit 1 if somebody fell.
    """
    names = choose("demo", name, DEMOS)
    if minutes is not None and not 0.0 < minutes <= 1e5:
        raise InputError(f"--minutes must be above 0 and at most 100000; given {minutes:g}.")
    if minutes is not None and soak:
        raise InputError("--soak is an hour; leave out --minutes or --soak.")
    given = {"minutes": minutes, "soak": soak, "clip": clip, "count": count, "seconds": seconds, "threads": threads}
    asked = {key: value for key, value in given.items() if value is not None}
    options = {each: _find_options(each, asked) for each in names}
    for key in asked:
        if not any(key in each for each in options.values()):
            raise InputError(f"demo '{name}' has no option --{key}; it is for another demo. Leave it out.")
    if report.seed is not None and not any(_find_options(each, {"seed": report.seed}) for each in names):
        report.tell_nothing_random()
    _check_output(output, names, clip)
    _check_asked(names, options, clip)
    output.mkdir(parents=True, exist_ok=True)
    figures = {}
    for each in names:
        report.progress(f"demo {each}: {DEMOS[each].summary}")
        seeded = {} if report.seed is None else {"seed": report.seed}
        common = _find_options(each, {"say": report.progress, **seeded})
        figures[each] = DEMOS[each].load()(output, **options[each], **common)
    text = "\n\n".join(f"{each}: {DEMOS[each].summary}\n{lines(values)}" for each, values in figures.items())
    report.result(figures if name == "all" else figures[name], text)
    if any(values.get("fell") for values in figures.values()):
        return 1
    return 0


def _check_output(folder: Path, names: list[str], clip: Path | None) -> None:
    """Refuse a folder that cannot be written into, or in which a demo's files would lie over its input or a folder."""
    check_folder(folder)
    read = None if clip is None else identify(clip)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        named = [name for name in names if path.name.startswith((f"{name}.", f"{name}-"))]
        if not named:
            continue
        if path.is_dir():
            _check_own_folder(path, named)
        elif identify(path) == read:
            raise InputError(f"--clip {clip} is a file that the demo may write, '{path}'. Give another folder with -o.")


def _check_own_folder(path: Path, names: list[str]) -> None:
    """Refuse a folder that no demo writes, or that has other files than those: `FOLDERS` of the demo's module."""
    modules = [inspect.getmodule(DEMOS[name].load()) for name in names]
    own = [files for module in modules for name, files in getattr(module, "FOLDERS", {}).items() if name == path.name]
    if not own:
        raise FileError(path, "is a folder where a demo writes a file. Give another folder with -o.")
    for each in sorted(path.iterdir()):
        if each.name not in own[0] or each.is_dir():
            raise FileError(each, "is not a file of the demo, which writes this folder anew. Give another one with -o.")


def _check_asked(names: list[str], options: dict[str, dict[str, Any]], clip: Path | None) -> None:
    """Refuse now what a demo cannot do, not when its turn comes: its module may have a `check` beside its `run`."""
    if clip is not None:
        load_clip(clip)
    for name in names:
        check = getattr(inspect.getmodule(DEMOS[name].load()), "check", None)
        if check is not None:
            check(**options[name])


def _find_options(name: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Those options that a demo has."""
    known = inspect.signature(DEMOS[name].load()).parameters
    return {key: value for key, value in asked.items() if key in known}
