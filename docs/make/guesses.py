"""Makes the tables of docs/files.md about guesses: roles without names, the up axis, and frame rates, on made bodies.

    .venv/bin/python docs/make/guesses.py

The bodies and motions are those of the tests. Rewrites what is between the marks in docs/files.md.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from files import DOCS, replace_between

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from helpers import postures, random_bodies
from helpers.bodies import make_human
from poise.files.reading.pipeline import interpret
from poise.motion.contacts.frame_rate import check_rate
from poise.motion.edits.ground import translate, turn
from poise.motion.samples import jump, walk

AXES = ("Y", "Z", "X", "-Z", "-Y")
UNITS = (1.0, 100.0, 39.37, 1000.0)
EDGES = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.001)


def tabulate_confidence(people: int = 400, others: int = 200) -> list[str]:
    """How often a guess of some confidence is right in every main role."""
    rng = np.random.default_rng(10)
    rows = []
    for n in range(people):
        plan = random_bodies.random_plan(rng, 0 if n % 4 == 0 else int(rng.integers(1, 4)))
        found, wrong = random_bodies.guess(random_bodies.make_person(rng, plan), rng, n % 2 == 0)
        rows.append((found.confidence, not wrong, True))
    for _ in range(others):
        found, _ = random_bodies.guess(random_bodies.make_beast(rng), rng, False)
        rows.append((found.confidence, False, False))
    table = ["| confidence | people | right in all main roles | animals and machines |", "|---|---|---|---|"]
    for low, high in itertools.pairwise(EDGES):
        inside = [row for row in rows if low <= row[0] < high]
        persons = [row for row in inside if row[2]]
        share = f"{sum(row[1] for row in persons) / len(persons):.0%}" if persons else "-"
        table.append(f"| {low:.1f} to {min(high, 1.0):.1f} | {len(persons)} | {share} | {len(inside) - len(persons)} |")
    return table


def tabulate_oddities(each: int = 20) -> list[str]:
    """One oddity at a time: right, and believed."""
    table = ["| oddity | right | believed, of these wrong |", "|---|---|---|"]
    for oddity in ("none", *random_bodies.ODDITIES, *random_bodies.BUILDS):
        rng = np.random.default_rng(11)
        right = trusted = wrongly = 0
        for n in range(each):
            plan = random_bodies.random_plan(rng, 0)
            plan = replace(plan, oddities=(oddity,), head=3.0 if oddity == "big head" else plan.head)
            plan = replace(plan, leg=0.55 if oddity == "stub legs" else plan.leg)
            found, wrong = random_bodies.guess(random_bodies.make_person(rng, plan), rng, n % 2 == 0)
            right += not wrong
            trusted += found.is_trusted
            wrongly += found.is_trusted and bool(wrong)
        table.append(f"| {oddity} | {right} of {each} | {trusted}, {wrongly} |")
    return table


def tabulate_up() -> list[str]:
    """Rest pose and motion along every pair of axes, in four units, facing four ways, at the origin and elsewhere."""
    human, rng = make_human(1.75), np.random.default_rng(12)
    table = ["| motion | files | up axis right | wrong, doubt said | wrong, unsaid |", "|---|---|---|---|---|"]
    for name, make in {**postures.STANDING, "fall": postures.fall_back, **postures.FLOOR}.items():
        clip, counts = make(human), [0, 0, 0]
        for n, (rest, motion, degrees) in enumerate(itertools.product(AXES, AXES, (0.0, 90.0, 180.0, 37.0))):
            if name in postures.FLOOR and rest != motion:
                continue
            spot = rng.uniform(-1.5, 1.5, 3) * [1.0, 0.0, 1.0] * (degrees > 0)
            faced = translate(turn(clip, np.radians(degrees), np.zeros(3)), spot)
            reading = interpret(postures.told(faced, rest, motion, UNITS[n % 4]))
            doubts = any("taken to lie" in warning for warning in reading.warnings)
            counts[0 if reading.up == motion else 1 if doubts else 2] += 1
        table.append(f"| {name} | {sum(counts)} | {counts[0]} | {counts[1]} | {counts[2]} |")
    return table


def tabulate_rates() -> list[str]:
    """Made motions at 24, 30, 60 and 120 Hz, with and without noise, said to be a quarter to four times as fast."""
    human = make_human(1.75)
    kinds = {
        "jump": lambda fps: jump(human, fps=fps),
        "hop on one leg": lambda fps: postures.hop(human, fps),
        "stand on one leg": lambda fps: postures.one_legged(human, fps),
        "the same, without toes": lambda fps: postures.one_legged(make_human(1.75, without=("Toes",)), fps),
        "walk": lambda fps: walk(human, 4.0, fps=fps),
    }
    rows = ["| motion | clips | true rate told | nothing said | another rate told | accused at its true rate |"]
    rows.append("|---|---|---|---|---|---|")
    for name, make in kinds.items():
        told = silent = other = false = 0
        for fps, noise in itertools.product((24.0, 30.0, 60.0, 120.0), (0.0, 0.0005, 0.002)):
            clip = postures.shaken(make(fps), noise)
            false += check_rate(clip).is_wrong
            for factor in (0.25, 0.5, 0.8, 1.25, 2.0, 4.0):
                likely = check_rate(postures.played(clip, factor)).likely
                silent += likely is None
                told += likely is not None and abs(likely / fps - 1.0) < 0.08
                other += likely is not None and abs(likely / fps - 1.0) >= 0.08
        rows.append(f"| {name} | {told + silent + other} | {told} | {silent} | {other} | {false} of 12 |")
    accused = count = 0
    for ease, arc in itertools.product(postures.EASES, (None, "sine", "throw")):
        for fps, height in itertools.product((24.0, 30.0, 60.0, 120.0), (0.3, 0.6, 1.0, 1.6, 2.5)):
            accused += check_rate(postures.drawn_jump(human, ease, fps, height, arc)).is_wrong
            count += 1
    rows.append(f"| hand-made jumps, as drawn | {count} | - | {count - accused} | {accused} | - |")
    return rows


def main() -> None:
    """All four tables."""
    replace_between(DOCS / "files.md", "confidence", tabulate_confidence())
    replace_between(DOCS / "files.md", "oddities", tabulate_oddities())
    replace_between(DOCS / "files.md", "up", tabulate_up())
    replace_between(DOCS / "files.md", "rates", tabulate_rates())


if __name__ == "__main__":
    main()
