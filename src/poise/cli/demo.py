"""`poise demo`: what Poise does, shown with motions of its own."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from poise.cli.console import lines
from poise.demos import DEMOS
from poise.errors import FileError, InputError
from poise.files.registry import load_clip
from poise.jobs.job import Answer, Run, job
from poise.jobs.shared.outputs import check_folder, identify
from poise.options import File, JobOptions, Option
from poise.registry import choose

NAMES = ", ".join(DEMOS)
_OF_DEMOS = ("minutes", "soak", "clip", "count", "seconds", "threads")  # options that some demos have


@dataclass(frozen=True, kw_only=True)
class DemoOptions(JobOptions):
    """Options of `demo`, with those that only some demos have."""

    name: Annotated[str, Option(f"One of: {NAMES}; or all.")] = field(default="all", kw_only=False)
    output: Annotated[File, Option("Folder for what it writes.", short="-o", writes=True)] = Path("out/demo")
    minutes: Annotated[
        float | None, Option("Conductor: go on for so many simulated minutes and say how far the feet crept.")
    ] = None
    soak: Annotated[bool, Option("Conductor: go on for an hour.")] = False
    clip: Annotated[File | None, Option("Mocap: a motion file instead of a motion of Poise's own.")] = None
    count: Annotated[int | None, Option("Crowd: how many conductors.", default="30")] = None
    seconds: Annotated[float | None, Option("Crowd: simulated seconds.", default="10")] = None
    threads: Annotated[int | None, Option("Crowd: threads that share the work.", default="one per core")] = None
    seed: Annotated[int | None, Option("Seed of everything random.", flag="")] = None


@job(DemoOptions, is_random=True)
def demo(options: DemoOptions, run: Run) -> dict[str, Any]:
    """Run a demo and write its files, named after it, into a folder. --json: its figures; for all, an object a demo.

    Exit 1 if somebody fell.
    """
    names, output = choose("demo", options.name, DEMOS), Path(options.output)
    given = {name: getattr(options, name) for name in _OF_DEMOS if run.is_given(name)}
    of_demos = {each: _find_options(each, given) for each in names}
    _check_options(options, given, of_demos)
    seeded = {} if options.seed is None else {"seed": options.seed}
    if seeded and not any(_find_options(each, seeded) for each in names):
        run.note("nothing is random here, so --seed changes nothing.")
    clip = given.get("clip")
    _check_output(output, names, clip)
    _check_given(names, of_demos, clip)
    output.mkdir(parents=True, exist_ok=True)
    figures = {}
    for each in names:
        run.progress(f"demo {each}: {DEMOS[each].summary}")
        common = _find_options(each, {"say": run.progress, **seeded})
        figures[each] = DEMOS[each].load()(output, **of_demos[each], **common)
    text = "\n\n".join(f"{each}: {DEMOS[each].summary}\n{lines(values)}" for each, values in figures.items())
    shown = figures if options.name == "all" else figures[options.name]
    fell = any(values.get("fell") for values in figures.values())
    run.answer = Answer(shown, lambda _: text, exit_code=int(fell))
    return shown


def _check_options(options: DemoOptions, given: Iterable[str], of_demos: Mapping[str, Iterable[str]]) -> None:
    """Refuse options that are out of range, or that none of the demos has."""
    if options.minutes is not None and not 0.0 < options.minutes <= 1e5:
        raise InputError(f"--minutes must be above 0 and at most 100000; given {options.minutes:g}.")
    if options.minutes is not None and options.soak:
        raise InputError("--soak is an hour; leave out --minutes or --soak.")
    for key in given:
        if not any(key in each for each in of_demos.values()):
            raise InputError(f"demo '{options.name}' has no option --{key}; it is for another demo. Leave it out.")


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


def _check_given(names: list[str], options: dict[str, dict[str, Any]], clip: Path | None) -> None:
    """Refuse now what a demo cannot do, not when its turn comes: its module may have a `check` beside its `run`."""
    if clip is not None:
        load_clip(clip)
    for name in names:
        check = getattr(inspect.getmodule(DEMOS[name].load()), "check", None)
        if check is not None:
            check(**options[name])


def _find_options(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return those options that a demo has."""
    known = inspect.signature(DEMOS[name].load()).parameters
    return {key: value for key, value in given.items() if key in known}
