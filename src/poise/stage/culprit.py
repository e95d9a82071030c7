"""Whose numbers are not finite. An engine that is given such a number may hide it, or explode steps later elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from poise.drivers.driver import MotionPlayer, Player
from poise.errors import SolveError

if TYPE_CHECKING:
    from poise.stage.actor import Actor


def check_after(method: Callable[[], None], actor: Actor, player: Player) -> Callable[[], None]:
    """A player's method, after which what it wrote must be finite; SolveError names it otherwise."""
    written = list(_list_written(actor, player))

    def run() -> None:
        method()
        for what, array in written:
            if not np.isfinite(array[player.joints]).all():
                raise SolveError(_describe(actor, player, what, array))

    return run


def find_culprit(actor: Actor) -> str:
    """The sentence about the player that wrote a number that is not finite, or nothing."""
    for player in actor.players:
        for what, array in _list_written(actor, player):
            if not np.isfinite(array[player.joints]).all():
                return _describe(actor, player, what, array)
    return ""


def _list_written(actor: Actor, player: Player) -> list[tuple[str, np.ndarray]]:
    rig = actor.rig
    if isinstance(player, MotionPlayer):
        return [("rotation", rig.state.q), ("angular velocity", rig.state.w), ("angular acceleration", rig.dw)]
    return [("torque", rig.torque), ("damping", rig.damping), ("angular acceleration", rig.dw)]


def _describe(actor: Actor, player: Player, what: str, array: np.ndarray) -> str:
    rows = array[player.joints].reshape(len(player.joints), -1)
    bad = int(player.joints[int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])])
    return (
        f"{type(player).__name__} gave '{actor.character.skeleton.labels[bad]}' of '{actor.name}' "
        f"{'an' if what[0] in 'aeiou' else 'a'} {what} that is not finite at t={float(actor.rig.block['t']):.4g} s. "
        "Look at what it computes there."
    )
