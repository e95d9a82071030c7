"""Walks of 200 steps over grounds, bodies and seeds, judged from outside (`walked`); a run that broke is a failure.

What came of each is kept in out/walk-sweep.jsonl beside the code that it was made with (a hash of the package's
sources), so that a sweep goes on where the last one stopped: what was never walked comes first, then what another code
has walked.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import poise
from helpers import walking
from helpers.walking import Walked, measure_walk
from poise import Character, Ground, Slope
from poise.errors import PoiseError
from poise.walking.gait import Gait
from poise.walking.start import start_walk
from poise.world.ground.moving import MovingGround
from poise.world.ground.terrain import build_terrain
from tools.sweeps.page import table

PAGE = Path(__file__).parents[3] / "docs" / "walking-sweeps.md"
KEPT = Path(__file__).parents[3] / "out" / "walk-sweep.jsonl"
TITLE = """# Walks over ranges

Written by `make sweep NAME=walk`. Kinematics are SciPy's, heights are the grounds' own; of the plan only the times of
the stances are used.
"""
PARTS = ("spatial", "body", "dynamics", "ik", "motion", "world", "walking")
STEPS, SEEDS, FPS = 200, 10, 50
BODIES = {"man 1.78 m": (1.78, 75.0), "child 1.2 m": (1.2, 24.0), "heavy 1.9 m": (1.9, 120.0)}
GROUNDS = ("flat", "slope up", "slope down", "slope aside", "stairs", "random stairs", "stones", "moving")
# m, m, m, m and rad: what is wanted.
SLID, SUNK, GAP, BEYOND = 5e-4, 1e-3, 2e-3, 1e-6


def make_ground(name: str, seed: int) -> Ground:
    """A ground; what is at random in it goes by the seed."""
    angle = math.radians(4.0 + 0.8 * seed)
    if name == "slope up":
        return Slope(angle, 0.0)
    if name == "slope down":
        return Slope(angle, math.pi)
    if name == "slope aside":
        return Slope(angle, 0.5 * math.pi)
    if name == "stairs":
        return build_terrain("stairs", seed, flights=20)
    if name == "random stairs":
        return build_terrain("stairs", seed, flights=20, random=True)
    if name == "stones":
        return build_terrain("rough", seed, stones=0.5, length=99.0, width=6.0)
    if name == "moving":
        return build_terrain("moving", seed, period=8.0 + seed)
    return Ground()


def list_runs() -> Iterator[tuple[str, str, int]]:
    """Every body and ground with one seed, then with the next."""
    for seed in range(SEEDS):
        for ground in GROUNDS:
            for body in BODIES:
                yield ground, body, seed


def run(name: str, who: str, seed: int, steps: int = STEPS) -> dict[str, object]:
    """One walk: how long its steps are and how quick goes by the seed."""
    rng = np.random.default_rng(100 + seed)
    manner = Gait(step=float(rng.uniform(0.35, 0.55)), pace=float(rng.uniform(0.85, 1.1)))
    body = Character.human(*BODIES[who])
    row: dict[str, object] = {"ground": name, "body": who, "seed": seed}
    begin = time.perf_counter()
    try:
        ground = make_ground(name, seed)
        poser = start_walk(body, ground, steps, manner=manner)
        poser.walker.reach(1e9)
        times = np.arange(0.0, poser.walker.end, 1.0 / FPS)
        frames = poser.frames(times)
        judged = measure_walk(body, find_heights(ground), poser.walker.course, times, frames.root, frames.rotations)
    except PoiseError as error:
        return {**row, "broke": str(error)[:200]}
    taken = time.perf_counter() - begin
    finite = bool(np.isfinite(frames.root).all() and np.isfinite(frames.rotations).all())
    return {
        **row, **vars(judged), "steps": len(poser.walker.course.steps), "seconds": float(times[-1]),
        "realtime": float(times[-1]) / taken, "broke": "" if finite else "not finite",
        "lasts": float(np.mean([step.land - step.begin for step in poser.walker.course.steps])),
    }  # fmt: skip


def find_heights(ground: Ground):
    """Its heights where it is at the beginning: a plan is in the ground's own frame."""
    still = ground.ground if isinstance(ground, MovingGround) else ground
    return still.height_at


def find_misses(row: dict[str, object]) -> list[str]:
    """What a walk missed."""
    if row["broke"]:
        return [f"broke: {row['broke']}"]
    judged = Walked(**{name: row[name] for name in Walked.__dataclass_fields__})  # type: ignore[arg-type]
    misses = [] if judged.out == 0 else [f"out in {judged.out} frames, by {-1e3 * judged.margin:.1f} mm"]
    misses += [] if judged.slid <= SLID else [f"slid {1e3 * judged.slid:.2f} mm"]
    misses += [] if judged.sunk <= SUNK else [f"sunk {1e3 * judged.sunk:.2f} mm at {judged.depth}"]
    misses += [] if judged.gap <= GAP else [f"gap {1e3 * judged.gap:.2f} mm"]
    misses += [] if judged.beyond <= BEYOND else [f"beyond {judged.beyond:.1e} rad"]
    return misses + ([] if row["steps"] == STEPS else [f"{row['steps']} steps"])


def hash_code() -> str:
    """What walks are made with: the sources of what plans and poses them, and of what they are judged by."""
    package, digest = Path(poise.__file__).parent, hashlib.sha256()
    files = [path for part in PARTS for path in sorted((package / part).rglob("*.py"))]
    for path in [*files, Path(walking.__file__)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def load_rows() -> dict[tuple[str, str, int], dict[str, object]]:
    """The last row that is kept of each walk."""
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    rows = [json.loads(line) for line in lines]
    return {(row["ground"], row["body"], row["seed"]): row for row in rows}


def sweep(minutes: float = 60.0) -> tuple[str, int]:
    """All walks, or as many as there is time for; those of earlier sweeps count."""
    rows, code, end = load_rows(), hash_code(), time.monotonic() + 60.0 * minutes
    todo = [one for one in list_runs() if one not in rows or rows[one]["code"] != code]
    todo.sort(key=lambda one: 1 if one not in rows else 0 if find_misses(rows[one]) else 2)
    KEPT.parent.mkdir(exist_ok=True)
    for one in todo:
        if time.monotonic() > end:
            break
        rows[one] = {**run(*one), "code": code}
        with KEPT.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[one]) + "\n")
        misses = find_misses(rows[one])
        print(*one, "" if not misses else f"MISSED {misses}", flush=True)
    return tell([rows[one] for one in list_runs() if one in rows], code)


def tell(rows: list[dict[str, object]], code: str) -> tuple[str, int]:
    """The section of the page, and how many walks missed an aim."""
    lines, missed = [], []
    for name in GROUNDS:
        for who in BODIES:
            own = [row for row in rows if row["ground"] == name and row["body"] == who]
            done = [row for row in own if not row["broke"]]
            bad = [row for row in own if find_misses(row)]
            missed += bad
            if not own:
                continue

            def worst(key: str, scale: float, done: list = done, pick=max) -> str:
                return f"{scale * pick(row[key] for row in done):.2f}" if done else "-"

            lines.append([
                name, who, len(own), len(bad), worst("margin", 1e3, pick=min), worst("slid", 1e3), worst("sunk", 1e3),
                worst("gap", 1e3), worst("beyond", 1.0), worst("turning", 1.0), worst("lasts", 1.0),
                worst("realtime", 1.0, pick=min),
            ])  # fmt: skip
    head = ["ground", "body", "walks", "missed", "least margin, mm", "planted feet moved, mm", "under the ground, mm",
            "sole off the ground, mm", "beyond a range, rad", "most of a joint's acceleration, rad/s2",
            "longest mean step, s", "times real time, least"]  # fmt: skip
    notes = [f"- {row['ground']}, {row['body']}, seed {row['seed']}: {'; '.join(find_misses(row))}" for row in missed]
    now = sum(row["code"] == code for row in rows)
    text = (
        f"{len(rows)} of {SEEDS * len(GROUNDS) * len(BODIES)} walks, {'all' if now == len(rows) else now} of them made "
        f"with the code as it was last (`{code}`){'' if now == len(rows) else ', the others with earlier states of it'}"
        f": {STEPS} steps, {FPS} frames a second, 3 bodies; "
        "steps of 0.35 to 0.55 of a leg's length, paces of 0.85 to 1.1, slopes of 4 to 11 degrees, stairs of 17 x 29 "
        "cm and at random (10 to 20 "
        "by 27 to 40 cm), up and down in turn; stones of 50 cm at random heights. Wanted: the centre of mass inside "
        "what is within 2 mm of the ground in every frame, planted feet still to 0.5 mm, nothing of a sole 1 mm under "
        "the ground, soles within 2 mm of it in the median of their points. *Real time*: beside other work."
        "\n\n" + table(head, lines) + ("\n\nMissed:\n\n" + "\n".join(notes) if notes else "")
    )
    return text, len(missed)


if __name__ == "__main__":
    sweep(float(sys.argv[1]))
