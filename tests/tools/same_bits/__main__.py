"""`make same-bits BEFORE=revision`: run the cases on a revision and on the working tree, and say what differs."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .cases import load_cases
from .compare import Report, compare, describe, format_report
from .functions import list_functions_run
from .revisions import ROOT, Side, checked_out, find_commit, find_key, is_committed, run_sides
from .worker import file_name, work

LOOKED_AT = 12  # cases that differ of which both revisions are run again, for the size of the difference


def main() -> int:
    parser = argparse.ArgumentParser(prog="same_bits", description=__doc__)
    parser.add_argument("before", nargs="?", help="the revision that the working tree is compared with")
    parser.add_argument("--only", action="append", metavar="WORD", help="cases whose name has it; may be repeated")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="that run at once (default 2)")
    parser.add_argument("--texts", action="store_true", help="list the messages that were rewritten")
    parser.add_argument("--fresh", action="store_true", help="run the revision anew, though its results are kept")
    parser.add_argument("--list", action="store_true", help="say which cases there are")
    parser.add_argument("--coverage", action="store_true", help="count the functions that the working tree's cases run")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="list the cases that took longest")
    parser.add_argument("--quiet", action="store_true", help="tell nothing while it runs")
    parser.add_argument("--tree", type=Path, default=ROOT, help=argparse.SUPPRESS)
    for name in ("--work", "--arrays", "--functions"):
        parser.add_argument(name, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work is not None:
        work(options.work, options.arrays, options.functions)
        return 0
    names = [name for name in load_cases() if not options.only or any(word in name for word in options.only)]
    if not names:
        parser.error(f"no case has {options.only} in its name; --list says which there are")
    if options.list:
        print("\n".join(names))
        return 0
    if options.coverage and options.before is None:
        return count_functions(names, options)
    if options.before is None:
        parser.error("write the revision to compare with: make same-bits BEFORE=main")
    return compare_with(options.before, names, options)


def compare_with(revision: str, names: list[str], options: argparse.Namespace) -> int:
    """Run what has to be run, compare, and look closer at what differs."""
    commit, began = find_commit(revision), time.perf_counter()
    own = find_key(find_commit("HEAD")) if options.tree == ROOT and is_committed() else None
    with checked_out(commit) as tree, tempfile.TemporaryDirectory() as text:
        counted = Path(text) if options.coverage else None
        before = Side(tree, names, find_key(commit), options.fresh)
        now = Side(options.tree, names, own, options.fresh or options.coverage, functions=counted)
        if not options.quiet:
            print(f"same-bits: {len(names)} cases; to be run: {len(before.waiting)} of {commit[:12]}, "
                  f"{len(now.waiting)} of the working tree", flush=True)  # fmt: skip
        try:
            run_sides([side for side in (before, now) if side.waiting], options.processes, Teller(options.quiet))
        finally:  # what was run is kept, should somebody stop it
            for side in (before, now):
                side.keep()
        report = compare(before.results, now.results)
        details = look_closer(report, tree, options.tree, options.processes) if report.differ else {}
        lines = format_report(report, details, options.texts)
        lines += list_functions_run(options.tree / "src", counted) if counted else []
    print("\n".join(lines))
    took = time.perf_counter() - began
    print(f"{took:.0f} s; the cases took {_sum(before):.0f} s of a core before and {_sum(now):.0f} s now")
    print_slowest(now, options.slowest)
    return 0 if report.is_same else 1


def look_closer(report: Report, before: Path, now: Path, processes: int) -> dict[tuple[str, str], str]:
    """How far the arrays of the first cases that differ are apart: they are run again, and keep their arrays."""
    names = list(report.differ)[:LOOKED_AT]
    with tempfile.TemporaryDirectory() as text:
        sides = [Side(tree, names, arrays=Path(text) / name) for tree, name in ((before, "before"), (now, "now"))]
        for side in sides:
            assert side.arrays is not None
            side.arrays.mkdir()
        run_sides(sides, processes, Teller(True))
        details = {}
        for name in names:
            old, new = (Path(text) / folder / f"{file_name(name)}.npz" for folder in ("before", "now"))
            for part in report.differ[name]:
                details[name, part] = describe(
                    report, name, part, (old, new) if old.exists() and new.exists() else None
                )
    return details


def count_functions(names: list[str], options: argparse.Namespace) -> int:
    """Run the working tree's cases and print which share of its functions they run."""
    with tempfile.TemporaryDirectory() as text:
        side = Side(options.tree, names, functions=Path(text))
        run_sides([side], options.processes, Teller(options.quiet))
        print("\n".join(list_functions_run(options.tree / "src", Path(text))))
    failed = {name: result["reason"] for name, result in side.results.items() if result["state"] == "failed"}
    print("".join(f"FAILED {name}: {reason}\n" for name, reason in failed.items()), end="")
    print(f"{len(names)} cases, {len(failed)} failed, {_sum(side):.0f} s")
    print_slowest(side, options.slowest)
    return 1 if failed else 0


def print_slowest(side: Side, count: int) -> None:
    rows = sorted(side.results.items(), key=lambda row: -row[1]["seconds"])[:count]
    print("".join(f"{result['seconds']:8.2f} s  {name}\n" for name, result in rows), end="")


def _sum(side: Side) -> float:
    return float(sum(result["seconds"] for result in side.results.values()))


class Teller:
    """Says how far it is, a line for every failure and for every fifty cases."""

    def __init__(self, quiet: bool):
        self.quiet, self.count = quiet, 0

    def __call__(self, side: Side, name: str, result: dict[str, Any]) -> None:
        self.count += 1
        if self.quiet:
            return
        if result["state"] == "failed":
            print(f"  failed on {side.tree.name}: {name}: {result['reason'][:300]}", flush=True)
        if self.count % 50 == 0:
            print(f"  {self.count} run", flush=True)


if __name__ == "__main__":
    sys.exit(main())
