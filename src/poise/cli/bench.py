"""`poise bench`: speed here, beside the peers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from poise.bench import BENCHES
from poise.bench.harness import check_place_to_save, compare_figures, load_figures, save_figures
from poise.cli.arguments import read_input, read_path
from poise.cli.console import DEFAULT, Report, lines, plain
from poise.jobs.shared.outputs import check_outputs, check_suffix
from poise.registry import choose

NAMES = ", ".join(BENCHES)


def bench(
    name: Annotated[str, Parameter(help=f"One of: {NAMES}; or all.")] = "all",
    /,
    *,
    save: Annotated[Path | None, Parameter(converter=read_path, help="Keep the figures in this file.")] = None,
    compare: Annotated[
        Path | None, Parameter(converter=read_input, help="Show them beside those of this file, which --save wrote.")
    ] = None,
    report: Report = DEFAULT,
) -> None:
    """Measure speed as ratios in one run. --json: one bench's figures; for all, an object a bench.

    With --compare, --json has `old`, `new` and `ratio` instead.
    """
    names = choose("bench", name, BENCHES)
    report.tell_nothing_random()
    check_outputs([compare], {"--save": save}, report.json)
    check_suffix("--save", save, ".json")
    if save is not None:
        check_place_to_save(save)
    before = None if compare is None else load_figures(compare)
    figures: dict[str, dict[str, Any]] = {}
    for each in names:
        report.progress(f"bench {each}: {BENCHES[each].summary}")
        figures[each] = plain(BENCHES[each].load()())
        _say_missing(each, figures[each], report)
    if save is not None:
        save_figures(figures, save)
    text = "\n\n".join(f"{each}: {BENCHES[each].summary}\n{_describe(each, figures, before)}" for each in figures)
    values = figures if name == "all" else figures[name]
    if before is not None:
        old = before if name == "all" else before.get(name, {})
        values = {"old": old, "new": values, "ratio": _divide(values, old)}
    report.result(values, text)


def _describe(name: str, figures: dict[str, dict[str, Any]], before: dict[str, dict[str, Any]] | None) -> str:
    if before is None:
        return lines(figures[name])
    return compare_figures(before.get(name, {}), figures[name])


def _say_missing(name: str, figures: dict[str, Any], report: Report) -> None:
    missing = figures.get("missing")
    if missing:
        report.note(
            f"bench {name}: {', '.join(missing)} not installed and not measured. Install: pip install 'poise[peers]'"
        )


def _divide(new: Any, old: Any) -> Any:
    """New over old, of every number that both have."""
    if isinstance(new, dict) and isinstance(old, dict):
        return {key: _divide(new[key], old[key]) for key in new if key in old}
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (new, old))
    return new / old if numbers and old else None
