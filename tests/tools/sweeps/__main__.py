"""Run sweeps and write their sections of pages in docs.

usage, in the folder tests: python -m tools.sweeps [all | NAME ...] [--soak] [--minutes 10] [--seed 0]

`SWEEPS` lists the names and the pages. Exit 1 if any aim was missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.sweeps import (
    abuse_sweep,
    answers_sweep,
    cli_sweep,
    coupling_sweep,
    crowd_sweep,
    engines_sweep,
    fall_sweep,
    getup_sweep,
    hold_sweep,
    ik_sweep,
    limited_sweep,
    mix_sweep,
    planted_sweep,
    poses_sweep,
    published_sweep,
    push_sweep,
    reading_sweep,
    soak,
    split_sweep,
    standing_sweep,
    tip_sweep,
    track_sweep,
    treads_sweep,
    walk_sweep,
)
from tools.sweeps.page import PAGE, TITLE, write_section


@dataclass(frozen=True)
class Sweep:
    """A sweep, and the section of a page that it writes.

    title       of the section
    run         options -> text of the section and how many aims were missed
    page_title  what stands before the first section
    """

    name: str
    title: str
    run: Callable[[argparse.Namespace], tuple[str, int]]
    page: Path = PAGE
    page_title: str | Callable[[], str] = TITLE


SWEEPS = (
    Sweep("cli", "Random commands", lambda given: cli_sweep.sweep(given.minutes), cli_sweep.PAGE, cli_sweep.TITLE),
    Sweep("reading", "Converted", lambda _: reading_sweep.sweep(), reading_sweep.PAGE, reading_sweep.TITLE),
    Sweep("ik", "Hands that reach", lambda _: ik_sweep.sweep(), ik_sweep.PAGE, ik_sweep.TITLE),
    Sweep("poses", "Balance, floor and margin", lambda _: poses_sweep.sweep(), poses_sweep.PAGE, poses_sweep.TITLE),
    Sweep("walk", "Two hundred steps", lambda given: walk_sweep.sweep(given.minutes), walk_sweep.PAGE,
          walk_sweep.TITLE),
    Sweep("track", "Random tracking", lambda given: track_sweep.sweep(given.minutes), track_sweep.PAGE,
          track_sweep.TITLE),
    Sweep("limited", "Random problems", lambda _: limited_sweep.sweep(), limited_sweep.PAGE, limited_sweep.TITLE),
    Sweep("getup", "Falls and getting up", lambda _: getup_sweep.sweep(), getup_sweep.PAGE, getup_sweep.TITLE),
    Sweep("treads", "Stairs at random", lambda _: treads_sweep.sweep(), getup_sweep.PAGE, getup_sweep.TITLE),
    Sweep("answers", "Measured", lambda _: answers_sweep.sweep(), answers_sweep.PAGE, answers_sweep.read_title),
    Sweep("bodies", "Bodies of 1.2 to 2.1 m and 30 to 150 kg", lambda _: mix_sweep.sweep_bodies()),
    Sweep("clips", "Recordings of people who stand", lambda _: mix_sweep.sweep_clips()),
    Sweep("planted", "Soles of standing recordings", lambda _: planted_sweep.sweep()),
    Sweep("standing", "Random standing", lambda _: standing_sweep.sweep()),
    Sweep("push", "Pushes at the chest", lambda _: push_sweep.sweep()),
    Sweep("falls", "Falls", lambda _: fall_sweep.sweep()),
    Sweep("tips", "Falls within strength", lambda _: tip_sweep.sweep()),
    Sweep("holds", "Boxes on forearms", lambda _: hold_sweep.sweep()),
    Sweep("splits", "Any split", lambda _: split_sweep.sweep()),
    Sweep("steps", "Steps of 1 to 10 ms", lambda _: coupling_sweep.sweep_steps()),
    Sweep("gains", "Gains", lambda _: coupling_sweep.sweep_gains()),
    Sweep("published", "The paper's coupling", lambda _: published_sweep.sweep()),
    Sweep("engines", "Two engines", lambda _: engines_sweep.sweep()),
    Sweep("soak", "Conducting for long", lambda given: soak.sweep(given.soak)),
    Sweep("crowd", "A thousand for a minute", lambda _: crowd_sweep.sweep()),
    Sweep("abuse", "Random switching, pushing and loading", lambda given: abuse_sweep.sweep(given.minutes, given.seed)),
)  # fmt: skip
FILES = "files"  # broken files of every format: a program of its own, which writes docs/fuzzing-results.md


def main() -> int:
    """Run the sweeps that are named, one after the other."""
    names = [FILES, *(each.name for each in SWEEPS)]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=["all"], metavar="name", choices=["all", *names])
    parser.add_argument("--soak", action="store_true", help="conduct for an hour, not ten minutes")
    parser.add_argument("--minutes", type=float, default=10.0, help="of the sweeps of files, commands and abuse")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode of the sweep of abuse")
    given = parser.parse_args()
    wanted = names if "all" in given.names else given.names
    missed = 0
    if FILES in wanted:
        more = ["--minutes", str(given.minutes), "--results", "../docs/fuzzing-results.md"]
        missed += subprocess.run([sys.executable, "-m", "tools.fuzz.sweep", *more]).returncode
    for each in SWEEPS:
        if each.name in wanted:
            text, bad = each.run(given)
            order = [other.title for other in SWEEPS if other.page == each.page]
            page_title = each.page_title if isinstance(each.page_title, str) else each.page_title()
            write_section(each.title, f"{text}\n\nAims missed: {bad or 'none'}.", order, each.page, page_title)
            print(f"{each.name}: {bad} aims missed", flush=True)
            missed += bad
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
