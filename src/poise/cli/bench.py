"""`poise bench`: speed here, beside the peers."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from poise.bench import BENCHES
from poise.cli.report import DEFAULT, Report, lines
from poise.registry import choose

NAMES = ", ".join(BENCHES)


def bench(
    name: Annotated[str, Parameter(help=f"One of: {NAMES}; or all.")] = "all",
    /,
    *,
    report: Report = DEFAULT,
) -> None:
    """Measure speed as ratios in one run. --json: one bench's figures; for all, an object a bench."""
    names = choose("bench", name, BENCHES)
    figures = {}
    for each in names:
        report.progress(f"bench {each}: {BENCHES[each].summary}")
        figures[each] = BENCHES[each].load()()
    text = "\n\n".join(f"{each}: {BENCHES[each].summary}\n{lines(values)}" for each, values in figures.items())
    report.result(figures if name == "all" else figures[name], text)
