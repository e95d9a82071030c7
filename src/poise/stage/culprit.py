"""Whose numbers are not finite. An engine that is given such a number may hide it, or explode steps later elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from poise.drivers.driver import MotionPlayer, Player
from poise.errors import SolveError

if TYPE_CHECKING:
    from poise.stage.actor import Actor


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
    from poise.stage.program_kernels import ENDLESS

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
    """A sentence about players with laws of somebody else's that are not finite, where a body is not; or nothing.

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
