"""The long run: every reader under broken files for minutes, hostile files one by one, odd bodies, and a soak.

usage, in the folder tests: python -m tools.fuzz.sweep [--minutes 10] [--seed 0] [--keep FOLDER] [--results FILE]

Exit 1 if anything was found.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from poise.errors import printable
from poise.files.registry import FORMATS
from tools.fuzz.bodies import USES, try_bodies
from tools.fuzz.hostile import write_hostile
from tools.fuzz.soak import soak

ROOT = Path(__file__).parents[3]
SLOW_S, LARGE_MB = 20.0, 2000.0  # a hostile file that takes more than this is a finding


def readers() -> list[str]:
    """Suffixes of all formats that are read in this process: FBX is Blender's to read."""
    return [entry.suffix for entry in FORMATS if entry.read is not None and entry.suffix != ".fbx"]


def run_worker(*words: object) -> dict[str, Any]:
    """What a worker tells; a worker that died is a finding of its own."""
    command = [sys.executable, "-m", "tools.fuzz.worker", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "tests")
    if done.returncode != 0 or not done.stdout.strip():
        said = f"the process died with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"
        return {"what": "finding", "said": said, "s": 0.0, "mb": 0.0, "died": said}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def fuzz_all(minutes: float, seed: int, keep: Path) -> list[dict[str, Any]]:
    """One worker a format after the other; each has its share of the time."""
    results = []
    for suffix in readers():
        words = (suffix, "--seconds", 60 * minutes / len(readers()), "--seed", seed, "--keep", keep.resolve())
        result = run_worker(*words)
        if "died" in result:
            result = {"suffix": suffix, "runs": 0, "findings": {result["died"]: {"times": 1, "file": None}}}
        results.append(result)
        print(f"{suffix}: {result['runs']} files, {len(result['findings'])} findings", flush=True)
        for said, found in result["findings"].items():
            print(f"   {said} ({found['times']} times; {found['file']})", flush=True)
    return results


def try_hostile() -> list[dict[str, Any]]:
    """Each hostile file in a process of its own: what it did, how long it took and how much memory."""
    results = []
    with tempfile.TemporaryDirectory(prefix="poise-hostile-") as folder:
        for path in write_hostile(Path(folder)):
            result = {
                "name": printable(path.name),
                "kb": path.lstat().st_size / 1e3,
                **run_worker(path.suffix, "--file", path),
            }
            result["said"] = result["said"].replace(folder, "").lstrip(": ")
            if result["s"] > SLOW_S or result["mb"] > LARGE_MB:
                result["what"] = "finding"
            results.append(result)
            print(f"{result['name']}: {result['what']}, {result['s']:.2f} s, {result['mb']:.0f} MB", flush=True)
            path.unlink()
    return results


def try_odd(minutes: float, seed: int) -> dict[str, Any]:
    """Odd bodies through everything that takes a body, for a while."""
    start, counts, findings, bodies = time.monotonic(), Counter[str](), dict[str, str](), 0
    while time.monotonic() - start < 60.0 * minutes:
        more, found = try_bodies([1000 * seed + bodies])
        counts, findings, bodies = counts + more, {**found, **findings}, bodies + 1
    print(f"odd bodies: {bodies}, {len(findings)} findings", flush=True)
    for said, where in findings.items():
        print(f"   {said} ({where})", flush=True)
    return {"bodies": bodies, "done": counts["done"], "refused": counts["refused"], "findings": findings}


def format_results(
    fuzzed: list[dict[str, Any]], hostile: list[dict[str, Any]], odd: dict[str, Any], soaked: dict[str, Any]
) -> str:
    """All of it as a page."""
    now = datetime.datetime.now(datetime.UTC).date()
    n_runs = sum(each["runs"] for each in fuzzed)
    n_found = sum(len(each["findings"]) for each in fuzzed) + sum(each["what"] == "finding" for each in hostile)
    n_found += len(odd["findings"])
    lines = [
        "# What broken files did",
        "",
        f"Written by `make sweep NAME=files` on {now}, Python {platform.python_version()}: {n_runs} broken files, "
        f"{len(hostile)} hostile ones, {odd['bodies']} odd bodies, {n_found} findings. [How](fuzzing.md).",
        "",
        "## Broken files",
        "",
        "| format | files | read | refused | sentences | a second | slowest, s | peak, MB | findings |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for each in fuzzed:
        rate = each["runs"] / max(each.get("seconds", 0), 1e-9)
        lines.append(
            f"| {each['suffix']} | {each['runs']} | {each.get('read', 0)} | {each.get('refused', 0)} | "
            f"{each.get('sentences', 0)} | {rate:.0f} | {each.get('slowest_s', 0):.2f} | "
            f"{each.get('peak_mb', 0):.0f} | {len(each['findings']) or 'none'} |"
        )
    lines += ["", "The peak is that of the whole process, libraries too.", ""]
    found = [(each["suffix"], said, more["times"]) for each in fuzzed for said, more in each["findings"].items()]
    lines += [f"- {suffix}: {_escape(said)} ({times} times)" for suffix, said, times in found]
    lines += ["", "## Hostile files", "", "| file | kB | what | s | MB more | said |", "|---|---|---|---|---|---|"]
    for each in hostile:
        said = _escape(each["said"][:110])
        lines.append(
            f"| {each['name']} | {each['kb']:.0f} | {each['what']} | {each['s']:.2f} | {each['mb']:.0f} | {said} |"
        )
    lines += [
        "",
        "## Odd bodies",
        "",
        f"{odd['bodies']} bodies, each put to {len(USES)} uses: {odd['done']} times something came of it, "
        f"{odd['refused']} times a sentence.",
        *(f"- {_escape(said)} ({where})" for said, where in odd["findings"].items()),
    ]
    lines += ["", "## Soak", "", *(f"- {key}: {value}" for key, value in soaked.items()), ""]
    return "\n".join(lines)


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


def main() -> int:
    """Run all of it and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=ROOT / "out" / "fuzz")
    parser.add_argument("--results", type=Path)
    words = parser.parse_args()
    fuzzed = fuzz_all(words.minutes, words.seed, words.keep)
    hostile = try_hostile()
    odd = try_odd(words.minutes / 5.0, words.seed)
    soaked = soak(30.0 * min(words.minutes, 10.0) / 10.0)
    text = format_results(fuzzed, hostile, odd, soaked)
    if words.results is not None:
        words.results.write_text(text, encoding="utf-8")
    else:
        print(text)
    bad = any(each["findings"] for each in fuzzed) or any(each["what"] == "finding" for each in hostile)
    bad = bad or bool(odd["findings"])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
