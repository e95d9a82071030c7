"""A thousand conductors for a minute, on any threads: does one fall, does memory grow, are the bits the same?

python -m tools.sweeps.crowd_sweep COUNT SECONDS THREADS    one run, its figures as JSON
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
from typing import Any

from poise.demos.shared.conductors import build_stage, draw_bodies, draw_conductors
from poise.stage.crowd.crowd_take import run_crowd
from tools.sweeps.page import table

COUNT, SECONDS = 1000, 60.0
THREADS = (1, 2, 2)
MOST_GROWTH = 4.0  # MB that a minute may add


def run_once(count: int, seconds: float, threads: int) -> dict[str, Any]:
    """Figures of one run; `bits` is a digest of everybody's pose ten times a second."""
    stage = build_stage(draw_conductors(count), draw_bodies(count), threads)
    run_crowd(stage, 1.0, keep_every=None)
    peak, digest, wall, fell = _peak_mb(), hashlib.sha256(), 0.0, 0
    for _ in range(round(10.0 * (seconds - 1.0))):
        take = run_crowd(stage, 0.1, keep_every=None)
        digest.update(take.last_root.tobytes())
        digest.update(take.last_rotations.tobytes())
        wall, fell = wall + take.wall_seconds, fell + len(take.fell)
    return {
        "threads": threads,
        "fell": fell,
        "memory_mb": peak,
        "growth_mb": _peak_mb() - peak,
        "times_real_time": (seconds - 1.0) / wall,
        "us": 1e6 * wall / (count * (seconds - 1.0) / stage.dt),
        "bits": digest.hexdigest()[:16],
    }


def _peak_mb() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def sweep() -> tuple[str, int]:
    """The section, and how many aims were missed."""
    found = []
    for threads in THREADS:
        words = [sys.executable, "-m", "tools.sweeps.crowd_sweep", str(COUNT), str(SECONDS), str(threads)]
        ran = subprocess.run(words, capture_output=True, text=True)
        if ran.returncode != 0:
            return f"With {threads} threads it broke off: {ran.stderr.strip().splitlines()[-1][:200]}", 1
        found.append(json.loads(ran.stdout))
        print(f"crowd: {found[-1]}", flush=True)
    rows = [
        (
            x["threads"], x["fell"], f"{x['memory_mb']:.0f}", f"{x['growth_mb']:.1f}", f"{x['times_real_time']:.2f}",
            f"{x['us']:.1f}", f"`{x['bits']}`",
        )
        for x in found
    ]  # fmt: skip
    head = ("threads", "fell", "memory, MB", "grew by, MB", "times real time", "us a character and step", "bits")
    missed = sum(x["fell"] > 0 for x in found) + sum(not x["growth_mb"] <= MOST_GROWTH for x in found)
    missed += len({x["bits"] for x in found}) - 1
    text = (
        f"{COUNT} conductors, each his own body, for {SECONDS:g} s at 200 steps and 50 frames a second, each run in its"
        " own process. `bits` is a digest of the poses of all, ten times a second: it must be the same in every run."
        f" Memory is the most that the process held, after a second and how much more at the end (at most"
        f" {MOST_GROWTH:g})."
    )
    return f"{text}\n\n{table(head, rows)}", int(missed)


if __name__ == "__main__":
    print(json.dumps(run_once(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))
