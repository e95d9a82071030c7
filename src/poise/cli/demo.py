"""`poise demo`: what Poise does, shown with motions of its own."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from poise.cli.report import DEFAULT, Report, lines, read_whole
from poise.demos import DEMOS
from poise.errors import InputError
from poise.registry import choose

NAMES = ", ".join(DEMOS)


def demo(
    name: Annotated[str, Parameter(help=f"One of: {NAMES}; or all.")] = "all",
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"), help="Folder for what it writes.")] = Path("out/demo"),
    minutes: Annotated[
        float | None, Parameter(help="Conductor: go on for so many simulated minutes and say how far the feet crept.")
    ] = None,
    soak: Annotated[
        bool | None, Parameter(negative="", show_default=False, help="Conductor: go on for an hour.")
    ] = None,
    clip: Annotated[Path | None, Parameter(help="Mocap: a motion file instead of a motion of Poise's own.")] = None,
    count: Annotated[
        int | None, Parameter(converter=read_whole, help="Crowd: how many conductors; 30 if not given.")
    ] = None,
    seconds: Annotated[float | None, Parameter(help="Crowd: simulated seconds; 10 if not given.")] = None,
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
    given = {"minutes": minutes, "soak": soak, "clip": clip, "count": count, "seconds": seconds, "threads": threads}
    asked = {key: value for key, value in given.items() if value is not None}
    options = {each: _find_options(each, asked) for each in names}
    for key in asked:
        if not any(key in each for each in options.values()):
            raise InputError(f"demo '{name}' has no option --{key}; it is for another demo. Leave it out.")
    output.mkdir(parents=True, exist_ok=True)
    figures = {}
    for each in names:
        report.progress(f"demo {each}: {DEMOS[each].summary}")
        common = _find_options(each, {"seed": report.seed, "say": report.progress})
        figures[each] = DEMOS[each].load()(output, **options[each], **common)
    text = "\n\n".join(f"{each}: {DEMOS[each].summary}\n{lines(values)}" for each, values in figures.items())
    report.result(figures if name == "all" else figures[name], text)
    if any(values.get("fell") for values in figures.values()):
        return 1
    return 0


def _find_options(name: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Those options that a demo has."""
    known = inspect.signature(DEMOS[name].load()).parameters
    return {key: value for key, value in asked.items() if key in known}
