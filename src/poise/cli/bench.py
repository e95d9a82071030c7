"""`poise bench`: speed here, beside the peers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from poise.bench import BENCHES
from poise.bench.harness import check_place_to_save, compare_figures, load_figures, save_figures
from poise.cli.console import lines, plain
from poise.jobs.job import Answer, Run, job
from poise.jobs.shared.outputs import check_outputs, check_suffix
from poise.options import File, JobOptions, Option
from poise.registry import choose

NAMES = ", ".join(BENCHES)


@dataclass(frozen=True, kw_only=True)
class BenchOptions(JobOptions):
    """Options of `bench`."""

    name: Annotated[str, Option(f"One of: {NAMES}; or all.")] = field(default="all", kw_only=False)
    save: Annotated[File | None, Option("Keep the figures in this file.", writes=True)] = None
    compare: Annotated[File | None, Option("Show them beside those of this file, which --save wrote.")] = None


@job(BenchOptions)
def bench(options: BenchOptions, run: Run) -> dict[str, Any]:
    """Measure speed as ratios in one run. --json: one bench's figures; for all, an object a bench.

    With --compare, --json has `old`, `new` and `ratio` instead.
    """
    names = choose("bench", options.name, BENCHES)
    save, compare = (None if path is None else Path(path) for path in (options.save, options.compare))
    check_outputs([compare], {"--save": save}, run.json)
    check_suffix("--save", save, ".json")
    if save is not None:
        check_place_to_save(save)
    before = None if compare is None else load_figures(compare)
    figures: dict[str, dict[str, Any]] = {}
    for each in names:
        run.progress(f"bench {each}: {BENCHES[each].summary}")
        figures[each] = plain(BENCHES[each].load()())
        _say_missing(each, figures[each], run)
    if save is not None:
        save_figures(figures, save)
    text = "\n\n".join(f"{each}: {BENCHES[each].summary}\n{_describe(each, figures, before)}" for each in figures)
    values = figures if options.name == "all" else figures[options.name]
    if before is not None:
        old = before if options.name == "all" else before.get(options.name, {})
        values = {"old": old, "new": values, "ratio": _divide(values, old)}
    run.answer = Answer(values, lambda _: text)
    return values


def _describe(name: str, figures: dict[str, dict[str, Any]], before: dict[str, dict[str, Any]] | None) -> str:
    if before is None:
        return lines(figures[name])
    return compare_figures(before.get(name, {}), figures[name])


def _say_missing(name: str, figures: dict[str, Any], run: Run) -> None:
    missing = figures.get("missing")
    if missing:
        run.note(
            f"bench {name}: {', '.join(missing)} not installed and not measured. Install: pip install 'poise[peers]'"
        )


def _divide(new: Any, old: Any) -> Any:
    """New over old, of every number that both have."""
    if isinstance(new, dict) and isinstance(old, dict):
        return {key: _divide(new[key], old[key]) for key in new if key in old}
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (new, old))
    return new / old if numbers and old else None
