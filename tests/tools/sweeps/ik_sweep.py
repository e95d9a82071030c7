"""A hand that reaches for 10,000 places about a body, on two feet and on one, in reach or not.

A place is met where the hand is within 1 mm. Where it is not, the centre of mass must be inside the support and the
hand as near as SciPy's SLSQP brings it, from standing and from the pose that was found, within 2 cm; where that meets
it, it should have been met. Asked of 500 of the places that were not met, evenly spread over these. Where everything is
comes from NumPy (`reaching`). Times are the processor's, so that others on the machine count for little.
"""

from __future__ import annotations

from pathlib import Path
from time import thread_time

import numpy as np

from helpers.reaching import BODY, ENOUGH, HAND, NEAR, RIGHT, Optimiser, draw_places, make_stand, place
from poise.ik.goals import PositionGoal
from poise.ik.pose_solver import PoseSolver
from poise.ik.support_polygon import find_margin
from tools.sweeps.page import table

PAGE = Path(__file__).parents[3] / "docs" / "posing-sweeps.md"
TITLE = """# Posing over ranges

Written by `make sweep NAME=ik`. What is measured, and by what, is in the sections.
"""
RUNS, ASKED, TRIES, MARGIN = 10_000, 500, 8, 5e-5


def sweep(runs: int = RUNS, asked: int = ASKED) -> tuple[str, int]:
    """All of it: a page's section, and how many aims were missed."""
    rows, bad, notes = [], 0, []
    for feet in (2, 1):
        stand = make_stand(feet)
        places = draw_places(np.random.default_rng(feet), runs)
        poser = PoseSolver(BODY)
        goals = [PositionGoal("rightHand", places[0]), *stand.feet]
        ready = poser.prepare(goals, stand.corners, MARGIN, enough=ENOUGH / 5, tries=TRIES)
        took, found = np.zeros(runs), []
        for k, target in enumerate(places):
            ready.places[0] = target
            begun = thread_time()
            found.append(ready.solve(stand.root, stand.turns))
            took[k] = thread_time() - begun
        off, inside, moved = np.zeros(runs), np.zeros(runs), np.zeros(runs)
        _, were, _ = place(stand.root, stand.turns)
        for k, pose in enumerate(found):
            _, at, mass = place(pose.root, pose.rotations)
            off[k] = np.linalg.norm(at[HAND] - places[k])
            inside[k] = find_margin(stand.edges, mass[[0, 2]])
            moved[k] = np.linalg.norm(at[RIGHT] - were[RIGHT]) if stand.feet else 0.0
        met = off < ENOUGH
        optimiser = Optimiser(stand)
        picked = np.flatnonzero(~met)
        picked = picked[np.linspace(0, len(picked) - 1, min(asked, len(picked))).astype(int)]
        nearest = np.zeros(len(picked))
        for n, k in enumerate(picked):
            nearest[n] = optimiser.reach(places[k], [optimiser.read(stand.turns), optimiser.read(found[k].rotations)])
            print(feet, k, f"{1000 * off[k]:.1f} mm, SLSQP {1000 * nearest[n]:.1f} mm", flush=True)
        farther = off[picked] - nearest
        reached = nearest < ENOUGH
        missed = int(((farther > NEAR) | reached).sum())
        fell, shifted = int((inside < 0.0).sum()), int((moved > ENOUGH).sum())
        bad += missed + fell + shifted
        times = [f"{1e6 * np.percentile(took[these], q):.0f}" if these.any() else "-"
                 for these in (met, ~met) for q in (50, 99)]  # fmt: skip
        rows.append((feet, runs, f"{100 * met.mean():.1f} %", *times, fell, shifted, f"{1000 * inside.min():.2f}"))
        notes.append(
            f"- {feet} {'feet' if feet == 2 else 'foot'}, {len(picked)} of the {int((~met).sum())} places that were not"
            f" met asked of SLSQP: farther by more than 2 cm, {int((farther > NEAR).sum())}; the hand was at most"
            f" {1000 * farther.max():.1f} mm farther, {1000 * np.median(farther):.1f} mm in the middle, and"
            f" {max(-1000 * farther.min(), 0.0):.1f} mm nearer. It met {int(reached.sum())} of them, which had been"
            f" missed by at most {1000 * off[picked][reached].max(initial=0.0):.1f} mm."
        )
    head = ("feet", "places", "met", "us, met", "99 %", "us, not met", "99 %", "centre outside", "foot moved",
            "least margin (mm)")  # fmt: skip
    return "\n".join([table(head, rows), "", *notes]), bad
