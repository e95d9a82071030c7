"""`poise demo`: what Poise does, shown with motions of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from poise.cli.report import DEFAULT, Report, lines
from poise.demos import DEMOS
from poise.registry import choose

NAMES = ", ".join(DEMOS)


def demo(
    name: Annotated[str, Parameter(help=f"One of: {NAMES}; or all.")] = "all",
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"), help="Folder for what it writes.")] = Path("out/demo"),
    report: Report = DEFAULT,
) -> None:
    """Run a demo and write its files, named after it, into a folder. --json: its figures; for all, an object a demo."""
    names = choose("demo", name, DEMOS)
    output.mkdir(parents=True, exist_ok=True)
    figures = {}
    for each in names:
        report.progress(f"demo {each}: {DEMOS[each].summary}")
        figures[each] = DEMOS[each].load()(output)
    text = "\n\n".join(f"{each}: {DEMOS[each].summary}\n{lines(values)}" for each, values in figures.items())
    report.result(figures if name == "all" else figures[name], text)
