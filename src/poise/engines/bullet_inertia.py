"""What each segment weighs in Bullet, which divides by every link's inertia.

A segment without mass has a trace of it, and about a ball joint a little of what it carries. Where GIVEN segments are
bodies of their own (`bullet_moved`), a constraint holds them to what carries them. With a trace on one of its sides no
solver holds the two together: an arm that hung loose from an animated collar bone turned at 200 rad/s from its first
step on, and so did a loose collar bone under an animated arm. So the nearest segment inward that has mass lends such a
one a ball, about the joint that it turns about; where that is too slight, a segment that hangs from it does, about its
own joint:

    m = LENT times what hangs from it,    I = m (l / 3)^2 1        l: m, to the next joint             [lent, eq 1]

and has as much less, where the ball is as the simulation is built. However the collar bone is turned then, the ball
stays where it is: the whole weighs what it weighs, and only the ball's own spin is added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.engines.bullet_moved import WORLD, find_carrier
from poise.engines.bullet_world import TRACE
from poise.engines.scene import BALL, GIVEN, SceneBody
from poise.spatial.inertia import RigidInertia

if TYPE_CHECKING:
    from poise.engines.bullet_body import HeldBody

# Of what a segment without mass carries, at its end: its inertia. With a trace, limbs beyond a massless collar bone
# that is at the end of its range spin up until they are cut off: Bullet's solver does not converge. Between two others
# of a spine it was turned by what the forecast of damping leaves, at 346 rad/s, while its body stood.
LIGHT = 0.05
# A loose arm went as one in MuJoCo does with 0.06 to 2 times its mass, at 1 and 5 ms; with less it was thrown about.
LENT = 0.1
_SCARCE = 0.03  # of what hangs from it: a segment that has less is lent some
_MOST_LENT = 0.5  # of a segment's own mass


def inertia_of(body: SceneBody, i: int) -> RigidInertia:
    """Of a segment by itself."""
    tree = body.tree
    if tree.masses[i] > 0.0:
        return tree.body(i)
    children = np.flatnonzero(tree.parents == i)
    if body.joints[i].kind != BALL or not len(children):
        return TRACE
    size = LIGHT * _find_carried(body, i) * float((tree.offsets[children] ** 2).sum(axis=1).max())
    return RigidInertia(TRACE.mass, np.zeros(3), np.eye(3) * max(size, 1e-12))


def list_inertias(held: HeldBody) -> list[RigidInertia]:
    """Of every segment, as the body is posed; where GIVEN ones are bodies of their own, with what is lent to whom."""
    body, tree, kind = held.body, held.tree, held.kind
    found = [inertia_of(body, i) for i in range(len(tree))]
    if not held.is_moved:
        return found
    for i in range(1, len(tree)):
        nexts = [int(k) for k in np.flatnonzero(tree.parents == i) if (kind[k] == GIVEN) != (kind[i] == GIVEN)]
        carried = sum(_find_carried(body, k) for k in nexts)
        if found[i].mass >= _SCARCE * carried or (kind[i] == GIVEN and find_carrier(body, i) == WORLD):
            continue
        reach = max(float(np.linalg.norm(tree.offsets[k])) for k in nexts) / 3.0
        outer = sorted(nexts, key=lambda k: -tree.masses[k])
        for lender, about in ((_find_lender(body, i), i), *((k, k) for k in outer)):
            mass = min(LENT * carried, _MOST_LENT * found[lender].mass) if lender >= 0 else 0.0
            if mass <= found[i].mass:
                continue
            ball = RigidInertia(mass, np.zeros(3), mass * max(reach, 0.01) ** 2 * np.eye(3))  # [lent, eq 1]
            turn, place = held.R[lender].T @ held.R[i], held.R[lender].T @ (held.p[about] - held.p[lender])
            rest = _subtract(found[lender], ball.moved(turn, place))
            if rest.is_physical():
                at = held.R[i].T @ (held.p[about] - held.p[i])
                found[lender], found[i] = rest, RigidInertia.total([found[i], ball.moved(np.eye(3), at)])
                break
    return found


def _find_carried(body: SceneBody, i: int) -> float:
    """kg, of a segment and all that hangs from it."""
    tree = body.tree
    carried = np.zeros(len(tree), bool)
    carried[i] = True
    for k in range(i + 1, len(tree)):
        carried[k] = carried[tree.parents[k]]
    return float(tree.masses[carried].sum())


def _find_lender(body: SceneBody, i: int) -> int:
    """The nearest segment inward that has mass; -1: there is none."""
    k = int(body.tree.parents[i])
    while k > 0 and body.tree.masses[k] == 0.0:
        k = int(body.tree.parents[k])
    return k if body.tree.masses[k] > 0.0 else -1


def _subtract(whole: RigidInertia, part: RigidInertia) -> RigidInertia:
    """What is left of a body when a part of it is taken away."""
    mass = whole.mass - part.mass
    center = (whole.mass * whole.center - part.mass * part.center) / mass
    return RigidInertia(mass, center, whole.about(center) - part.about(center))
