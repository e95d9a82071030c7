"""Whether a body has fallen: its hips sank, or it tipped over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from poise.stage.actor import Actor


def find_fall(actor: Actor, t: float) -> str | None:
    """Why an actor has fallen by time t (s), in words; None: it has not."""
    if actor.body.floor.ground is None or actor.given[0]:
        return None
    height = hips_over_floor(actor)
    up, least = _find_least(actor, t)
    # A deep bow is not a fall, as long as the hips stay up; hips upside down are one.
    if height < least or (up < 0.4 and height < 1.4 * least) or up < 0.0:
        return f"{'its hips sank' if height < least else 'it tipped over'}: hips at {height:.2f} m"
    return None


def hips_over_floor(actor: Actor) -> float:
    """m, of the hips over what is under them; over 0 where nothing is.

    A root may be far below the hips; where they are not the root, they are as of the last step's beginning.
    """
    body, hips = actor.body, actor.character.skeleton.find_role("hips") or 0
    height = float(body.p[hips, 1] if hips else body.state.root[1])
    body.floor.move(actor.stage.time)
    floor = body.floor.find(body.state.root[0], body.state.root[2], height)[0]
    return height - (floor if np.isfinite(floor) else 0.0)


def _find_least(actor: Actor, t: float) -> tuple[float, float]:
    """Cosine of the hips' tilt, and the least height (m) of the hips of a body that stands.

    Both count from what its players aim at: one that follows a crouch or a bow has not fallen.
    """
    found = (player.find_bearing(actor.body, t) for player in actor.players)
    bearing = next((each for each in found if each is not None), None)
    if bearing is None:
        q = actor.body.state.q[0]
        return 1.0 - 2.0 * float(q[1] ** 2 + q[3] ** 2), 0.6 * actor.start_height
    return bearing.upright, 0.6 * (actor.start_height + bearing.sunk)
