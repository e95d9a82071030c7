"""Run sweeps and write their sections of docs/mix-sweeps.md; `files` writes docs/fuzzing-results.md, `cli`
docs/command-line-results.md, `reading` docs/reading-sweep.md, `ik` docs/posing-sweeps.md, `poses` docs/pose-sweeps.md,
`walk` docs/walking-sweeps.md, `track` docs/tracking-sweep.md, `limited` docs/limited-sweep.md, `getup`
and `treads` docs/puppet-sweeps.md, `answers` docs/answering-arms.md.

usage, in the folder tests: python -m tools.sweeps [all | files | cli | reading | bodies | clips | planted | standing |
                                              push | falls | tips | holds | splits | soak | steps | gains | published |
                                              engines | crowd | abuse | ik | poses | walk | track | limited | getup |
                                              treads | answers ...]
                                             [--soak] [--minutes 10] [--seed 0]

Exit 1 if any aim was missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable

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
from tools.sweeps.page import write_section

SWEEPS: dict[str, tuple[str, Callable[[], tuple[str, int]]]] = {
    "bodies": ("Bodies of 1.2 to 2.1 m and 30 to 150 kg", mix_sweep.sweep_bodies),
    "clips": ("Recordings of people who stand", mix_sweep.sweep_clips),
    "planted": ("Soles of standing recordings", planted_sweep.sweep),
    "standing": ("Random standing", standing_sweep.sweep),
    "push": ("Pushes at the chest", push_sweep.sweep),
    "falls": ("Falls", fall_sweep.sweep),
    "tips": ("Falls within strength", tip_sweep.sweep),
    "holds": ("Boxes on forearms", hold_sweep.sweep),
    "splits": ("Any split", split_sweep.sweep),
    "steps": ("Steps of 1 to 10 ms", coupling_sweep.sweep_steps),
    "gains": ("Gains", coupling_sweep.sweep_gains),
    "published": ("The paper's coupling", published_sweep.sweep),
    "engines": ("Two engines", engines_sweep.sweep),
    "soak": ("Conducting for long", soak.sweep),
    "crowd": ("A thousand for a minute", crowd_sweep.sweep),
    "abuse": ("Random switching, pushing and loading", abuse_sweep.sweep),
}


def main() -> int:
    """Run what was asked for, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "names",
        nargs="*",
        default=["all"],
        metavar="name",
        choices=[
            "all",
            "files",
            "cli",
            "reading",
            "ik",
            "poses",
            "walk",
            "track",
            "limited",
            "getup",
            "treads",
            "answers",
            *SWEEPS,
        ],
    )
    parser.add_argument("--soak", action="store_true", help="conduct for an hour, not ten minutes")
    parser.add_argument("--minutes", type=float, default=10.0, help="of the sweeps of files, commands and abuse")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode of the sweep of abuse")
    words = parser.parse_args()
    names = (
        ["files", "cli", "reading", "ik", "poses", "walk", "track", "limited", "getup", "treads", "answers", *SWEEPS]
        if "all" in words.names
        else words.names
    )
    missed = 0
    for name in names:
        if name == "files":
            more = ["--minutes", str(words.minutes), "--results", "../docs/fuzzing-results.md"]
            missed += subprocess.run([sys.executable, "-m", "tools.fuzz.sweep", *more]).returncode
            continue
        if name == "reading":
            bad = reading_sweep.sweep()
            print(f"{name}: {bad} aims missed", flush=True)
            missed += bad
            continue
        if name == "cli":
            text, bad = cli_sweep.sweep(words.minutes)
            body = f"{text}\n\nFindings: {bad or 'none'}."
            write_section("Random commands", body, page=cli_sweep.PAGE, page_title=cli_sweep.TITLE)
            print(f"cli: {bad} findings", flush=True)
            missed += bad
            continue
        if name == "ik":
            text, bad = ik_sweep.sweep()
            body = f"{text}\n\nAims missed: {bad or 'none'}."
            write_section("Hands that reach", body, page=ik_sweep.PAGE, page_title=ik_sweep.TITLE)
            print(f"ik: {bad} aims missed", flush=True)
            missed += bad
            continue
        if name == "poses":
            text, bad = poses_sweep.sweep()
            write_section("Balance, floor and margin", text, page=poses_sweep.PAGE, page_title=poses_sweep.TITLE)
            print(f"poses: {bad} aims missed", flush=True)
            missed += bad
            continue
        if name == "walk":
            text, bad = walk_sweep.sweep(words.minutes)
            body = f"{text}\n\nAims missed: {bad or 'none'}."
            write_section("Two hundred steps", body, page=walk_sweep.PAGE, page_title=walk_sweep.TITLE)
            print(f"walk: {bad} aims missed", flush=True)
            missed += bad
            continue
        if name == "track":
            text, bad = track_sweep.sweep(words.minutes)
            body = f"{text}\n\nAims missed: {bad or 'none'}."
            write_section("Random tracking", body, page=track_sweep.PAGE, page_title=track_sweep.TITLE)
            print(f"track: {bad} aims missed", flush=True)
            missed += bad
            continue
        if name == "limited":
            text, bad = limited_sweep.sweep()
            body = f"{text}\n\nAims missed: {bad or 'none'}."
            write_section("Random problems", body, page=limited_sweep.PAGE, page_title=limited_sweep.TITLE)
            print(f"limited: {bad} aims missed", flush=True)
            missed += bad
            continue
        if name in ("getup", "treads"):
            text, bad = getup_sweep.sweep() if name == "getup" else treads_sweep.sweep()
            title = "Falls and getting up" if name == "getup" else "Stairs at random"
            body = f"{text}\n\nAims missed: {bad or 'none'}."
            write_section(title, body, page=getup_sweep.PAGE, page_title=getup_sweep.TITLE)
            print(f"{name}: {bad} aims missed", flush=True)
            missed += bad
            continue
        if name == "answers":
            text, bad = answers_sweep.sweep()
            write_section(
                answers_sweep.SECTION, f"{text}\n\nAims missed: {bad or 'none'}.", page=answers_sweep.PAGE,
                page_title=answers_sweep.read_title(),
            )  # fmt: skip
            print(f"answers: {bad} aims missed", flush=True)
            missed += bad
            continue
        title, sweep = SWEEPS[name]
        given = {"soak": (words.soak,), "abuse": (words.minutes, words.seed)}.get(name, ())
        text, bad = sweep(*given)  # type: ignore[call-arg]
        write_section(title, f"{text}\n\nAims missed: {bad or 'none'}.", [each for each, _ in SWEEPS.values()])
        print(f"{name}: {bad} aims missed", flush=True)
        missed += bad
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
