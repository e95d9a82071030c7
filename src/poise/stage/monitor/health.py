"""Whether a body has fallen, and whose numbers are not finite.

A body has fallen if its hips sank, or if it tipped over.

An engine that is given a number that is not finite may hide it, or explode steps later elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from poise.drivers.driver import MotionPlayer, Player
from poise.errors import SolveError

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
    found = (player.status(actor.body, t) for player in actor.players)
    upright, sunk = next(((each.upright, each.sunk) for each in found if each.upright is not None), (None, 0.0))
    if upright is None:
        q = actor.body.state.q[0]
        return 1.0 - 2.0 * float(q[1] ** 2 + q[3] ** 2), 0.6 * actor.start_height
    return upright, 0.6 * (actor.start_height + sunk)


def check_written(actor: Actor, player: Player) -> None:
    """Raise SolveError, with the player's name, where what it wrote last is not finite."""
    for what, array in _list_written(actor, player):
        if not np.isfinite(array[player.joints]).all():
            raise SolveError(_describe(actor, player, what, array))


def check_after(method: Callable[[], None], actor: Actor, player: Player) -> Callable[[], None]:
    """A player's method with that check behind it."""

    def run() -> None:
        method()
        check_written(actor, player)

    return run


def find_exploded(actor: Actor) -> str | None:
    """Return a sentence about an actor whose state is not finite or absurdly large, None if it is sound."""
    from poise.stage.step.program_kernels import ENDLESS

    state = actor.body.state
    size = sum(float(np.abs(array).sum()) for array in (state.root, state.q, state.v, state.w))
    if size < ENDLESS:  # False for NaN, too
        return None
    bad = np.flatnonzero(~(np.abs(state.w) < ENDLESS).all(axis=1) | ~np.isfinite(state.q).all(axis=1))
    joint = actor.character.skeleton.labels[int(bad[0])] if len(bad) else "the root"
    return (
        f"simulation became non-finite at t={actor.stage.time:.4g} s (velocity of {joint} of '{actor.name}'). "
        f"{find_suspects(actor)}"
    )


def find_suspects(actor: Actor) -> str:
    """Return a sentence about custom players whose output is not finite, if a body is not; or nothing.

    In a body that is not finite nothing is for long: which law was the first cannot be told.
    """
    found = []
    for player in actor.players:
        is_foreign = not type(player).__module__.startswith("poise.")
        if is_foreign and any(not np.isfinite(array[player.joints]).all() for _, array in _list_written(actor, player)):
            found.append(type(player).__name__)
    return f"Look first at what {' and '.join(found)} computes. " if found else ""


def _list_written(actor: Actor, player: Player) -> list[tuple[str, np.ndarray]]:
    body = actor.body
    if isinstance(player, MotionPlayer):
        return [("rotation", body.state.q), ("angular velocity", body.state.w), ("angular acceleration", body.dw)]
    return [("torque", body.torque), ("damping", body.damping), ("angular acceleration", body.dw)]


def _describe(actor: Actor, player: Player, what: str, array: np.ndarray) -> str:
    rows = array[player.joints].reshape(len(player.joints), -1)
    bad = int(player.joints[int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])])
    return (
        f"{type(player).__name__} gave '{actor.character.skeleton.labels[bad]}' of '{actor.name}' "
        f"{'an' if what[0] in 'aeiou' else 'a'} {what} that is not finite at t={float(actor.body.block['t']):.4g} s. "
        "Look at what it computes there."
    )
