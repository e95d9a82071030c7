"""A body that has lost its balance is let go: what its drivers play stops, and its joints go limp.

Drivers that `keep` go on: legs that balanced see to themselves, a root that floats stays free, and whatever a user has
asked to keep. What stays given keeps its place in the tree, so a part that could only hang from it stays given too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from poise.body.skeleton import Skeleton
from poise.drivers.driver import MOTION, Claim
from poise.drivers.loose import TONE
from poise.dynamics.tree import Tree
from poise.errors import InputError
from poise.stage.division import FEATHER, Assignment, divide


def let_go(
    assignments: list[Assignment], skeleton: Skeleton, tree: Tree, name: str, is_late: bool = False
) -> list[Assignment]:
    """Assignments with all that does not keep on gone limp, as far as the split that comes of it can be.

    is_late  a coupling that is late: what is given then goes limp even if it is to keep on
    """
    outboard = find_outboard(tree)
    wanted = [
        k
        for k, a in enumerate(assignments)
        if (not a.driver.keeps or (is_late and a.driver.level == MOTION))
        and 0 not in a.claim.moved and a.before is None
        and any(outboard[i] > FEATHER for i in (*a.claim.moved, *a.claim.held))
    ]  # fmt: skip
    limp: list[int] = []
    for group in (wanted, *([k] for k in wanted)):  # all at once, or one by one
        more = sorted({*limp, *group})
        if more == limp:
            continue
        try:
            divide(go_limp(assignments, more, tree), skeleton, tree, name)
        except InputError:
            continue
        limp = more
    return go_limp(assignments, limp, tree) if limp else assignments


def go_limp(assignments: list[Assignment], which: Iterable[int], tree: Tree) -> list[Assignment]:
    """Those numbered limp, and all others as they were before they were let go."""
    chosen, outboard = set(which), find_outboard(tree)
    changed = []
    for k, a in enumerate(assignments):
        if (a.before is not None) == (k in chosen):
            changed.append(a)
        elif a.before is not None:
            changed.append(replace(a.before, player=None))
        else:
            own = sorted({*a.claim.moved, *a.claim.held})
            heavy = tuple(i for i in own if outboard[i] > FEATHER)
            claim = Claim(heavy, tuple(i for i in own if i not in heavy), a.claim.pinned)
            before = replace(a, player=None, heir_of=None)
            changed.append(Assignment(a.part, TONE, claim, before=before))
    return changed


def find_outboard(tree: Tree) -> list[float]:
    """kg that each joint carries."""
    outboard = tree.masses.tolist()
    for i in range(len(tree) - 1, 0, -1):
        outboard[tree.parents[i]] += outboard[i]
    return outboard
