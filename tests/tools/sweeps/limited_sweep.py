"""Accelerations within torque ranges: 10,000 problems of all kinds against the conditions of the nearest and DAQP.

Then goals: against damped levels by least distances and NNLS, and what damping does to bodies.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from helpers.qp_problems import KINDS, Problem, draw
from oracles.limiting import find_breach, solve_damped, solve_levels
from oracles.paper_limiting import limit_as_the_paper
from poise.dynamics.qp.limited import DAMPING, LimitedAccelerations, limit_accelerations
from tools.sweeps.page import table

PAGE = Path(__file__).parents[3] / "docs" / "limited-sweep.md"
TITLE = """# Accelerations within torque ranges, over ranges

Written by `make sweep NAME=limited`. What the kinds are is said in `tests/helpers/qp_problems.py`.
"""
COUNT, WITH_GOALS, BODIES = 10_000, 60, 100
DAMPINGS = (0.0001, 0.001, 0.003, 0.005, 0.01, 0.03, 0.1)
BEYOND = ("ill", "equal", "huge")  # what least distances by NNLS cannot do
NUDGE = 1e-8  # relative, of every number that is given


def solve(problem: Problem, **options: Any) -> LimitedAccelerations:
    return limit_accelerations(**problem._asdict(), **options)


def sweep() -> tuple[str, int]:
    """All three tables, and how many aims were missed."""
    parts = [sweep_limits(COUNT), sweep_goals(WITH_GOALS), sweep_damping(BODIES)]
    return "\n\n".join(text for text, _ in parts), sum(missed for _, missed in parts)


def sweep_limits(count: int) -> tuple[str, int]:
    """Without goals."""
    rng = np.random.default_rng(2000)
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    missed = 0
    for k in range(count):
        kind = KINDS[k % len(KINDS)]
        problem = draw(kind, rng)._replace(goals=())
        ours, paper = solve(problem), limit_as_the_paper(*problem)
        out, wrong = find_breach(*problem[:5], ours.acceleration, problem.weights)
        bad = not (out <= 1e-9 and wrong <= 1e-6) or ours.is_clipped or not ours.is_within
        missed += bad
        if bad:
            print(kind, k, out, wrong, ours.is_clipped, ours.is_within, flush=True)
        size = max(float(np.abs(ours.acceleration).max()), 1e-300)
        each = found[kind]
        each["out"].append(out)
        each["wrong"].append(wrong)
        each["clipped"].append(ours.is_clipped)
        each["peer"].append(ask_daqp(problem, ours.acceleration) / size)
        each["rounds"].append(ours.rounds)
        each["limited"].append(np.count_nonzero(ours.at_bound))
        if ours.rounds > 1:
            each["same"].append(float(np.abs(paper.acceleration - ours.acceleration).max() < 1e-6 * size))
            farther = distance(problem, paper.acceleration) / distance(problem, ours.acceleration) - 1.0
            each["farther"].append(farther)
    rows = []
    for kind, each in found.items():
        rows.append(
            (
                kind,
                len(each["out"]),
                f"{np.mean(each['limited']):.1f}",
                f"{np.mean(each['rounds']):.1f}, {max(each['rounds']):.0f}",
                f"{max(each['out']):.0e}",
                f"{max(each['wrong']):.0e}",
                f"{np.nanmax(each['peer']):.0e}" if np.isfinite(each["peer"]).any() else "",
                f"{sum(each['clipped']):.0f}",
                f"{100.0 * np.mean(each['same']):.0f} %" if each["same"] else "",
                f"{100.0 * np.percentile(each['farther'], 90):.0f} %" if each["farther"] else "",
            )
        )
    same = [value for each in found.values() for value in each["same"]]
    text = (
        f"{count} problems without goals. Beyond range: the most that a torque is out of its range, over the range,"
        " beside rounding. Wrong: the largest multiplier of the wrong sign over the largest of all (Karush, Kuhn and"
        " Tucker, by NumPy). DAQP: the largest difference of x over the largest x. The paper's way, which drops nobody:"
        " how often it finds the same x where more than one round is taken, and how much farther from what is target it"
        f" is, in 9 of 10 problems at most. It finds the same in {100.0 * np.mean(same):.0f} % of all of these."
    )
    head = ("kind", "problems", "limited", "rounds, most", "beyond range", "wrong", "DAQP", "clipped")
    return f"{text}\n\n{table((*head, 'paper: same', 'farther'), rows)}", missed


def distance(problem: Problem, x: np.ndarray) -> float:
    """Of x from what is target, in the problem's norm."""
    return float(np.sqrt(np.sum(problem.weights * (x - problem.target) ** 2)))


def ask_daqp(problem: Problem, x: np.ndarray) -> float:
    """The largest difference of DAQP's answer; NaN where it is not installed or gives up."""
    try:
        import daqp
    except ImportError:
        return np.nan
    H, b, low, high, target, _, w = problem
    sense = np.zeros(len(b), np.int32)
    theirs, _, flag, _ = daqp.solve(np.diag(w), -w * target, H, high - b, low - b, sense, primal_tol=1e-10)
    return float(np.abs(x - theirs).max()) if flag == 1 else np.nan


def sweep_goals(count: int) -> tuple[str, int]:
    """Up to three levels: x of the definition, and what later levels change of the first."""
    rng = np.random.default_rng(2001)
    rows, missed = [], 0
    for kind in KINDS:
        off, changed, rounds, clipped = [], [], [], 0
        for _ in range(count):
            problem = draw(kind, rng)
            ours = solve(problem)
            if kind not in BEYOND:
                x = solve_damped(*problem, DAMPING)
                off.append(np.abs(ours.acceleration - x).max() / np.abs(x).max())
            first = solve(problem._replace(goals=problem.goals[:1]))
            A, y = problem.goals[0]
            away = np.abs([A @ problem.target - y, A @ ours.acceleration]).max(initial=0.0)
            changed.append(np.abs(ours.residuals[0] - first.residuals[0]).max(initial=0.0) / max(away, 1e-300))
            rounds.append(ours.rounds)
            clipped += ours.is_clipped or not ours.is_within
        missed += sum(value > 1e-5 for value in off) + clipped
        told = (f"{np.median(off):.0e}", f"{max(off):.0e}") if off else ("", "")
        rows.append((kind, count, f"{np.mean(rounds):.0f}, {max(rounds)}", *told, f"{max(changed):.0e}", clipped))
    text = (
        "Up to three levels of goals, with rows that are zero, twice there, and of earlier levels again. Off: the"
        " largest difference of x from the definition's, by least distances and NNLS, over the largest x, but for kinds"
        " that those cannot do. Changed: what later levels change of the first, over the largest of A x and of what it"
        " was to change."
    )
    head = ("kind", "problems", "rounds, most", "off: median", "most", "changed", "clipped")
    return f"{text}\n\n{table(head, rows)}", missed


def sweep_damping(count: int) -> tuple[str, int]:
    """Bodies at several dampings: what levels miss, how hard joints are accelerated, and how sharply that changes."""
    rows = []
    for kind in ("body", "weak body"):
        rng = np.random.default_rng(2002)
        problems = [draw(kind, rng) for _ in range(count)]
        best = [solve_levels(*problem) for problem in problems]
        for damping in DAMPINGS:
            misses, sizes, gains = [], [], []
            for problem, levels in zip(problems, best, strict=True):
                ours = solve(problem, damping=damping)
                (A, y), least = problem.goals[1], np.linalg.norm(levels[1] - problem.goals[1][1])
                misses.append((np.linalg.norm(ours.residuals[1]) - least) / np.linalg.norm(A @ problem.target - y))
                sizes.append(np.sqrt(np.mean((ours.acceleration - problem.target) ** 2)))
                moved = solve(nudge(problem, rng), damping=damping).acceleration - ours.acceleration
                gains.append(np.linalg.norm(moved) / np.linalg.norm(ours.acceleration) / NUDGE)
            rows.append(
                (
                    kind,
                    f"{damping:g}",
                    f"{100.0 * np.median(misses):.2g} %",
                    f"{100.0 * np.percentile(misses, 90):.2g} %",
                    f"{np.median(sizes):.0f}",
                    f"{np.percentile(sizes, 90):.0f}",
                    f"{np.median(gains):.0f}",
                    f"{max(gains):.0f}",
                )
            )
    text = (
        f"{count} standing bodies each, at several dampings (m/rad). Missed: by how much the centre of mass is farther"
        " from what is asked of it than it could be without any damping, over what it was to change. Change: of the"
        " joints' accelerations, root mean square, rad/s2. Gain: the relative change of x over that of everything given"
        " (1e-8)."
    )
    head = ("kind", "damping", "missed: median", "9 of 10", "change: median", "9 of 10", "gain: median", "most")
    return f"{text}\n\n{table(head, rows)}", 0


def nudge(problem: Problem, rng: np.random.Generator) -> Problem:
    """Every number a little different."""

    def move(a: np.ndarray) -> np.ndarray:
        return a * (1.0 + NUDGE * rng.normal(size=a.shape))

    H, b, low, high, target, goals, weights = problem
    return Problem(
        move(H), move(b), move(low), move(high), move(target), tuple((move(A), move(y)) for A, y in goals), weights
    )
