"""A puppet that goes from hand to hand: its cues, done on an actor of a stage."""

from __future__ import annotations

import math
from collections.abc import Sequence

from poise.drivers.balance.balance import Balance
from poise.drivers.loose.loose import Limp, Loose
from poise.drivers.puppet.player import PuppetPlayer
from poise.drivers.puppet.puppet import Puppet
from poise.drivers.puppet.settings import FRAME
from poise.drivers.root.root import Free
from poise.puppetry.cues import LET_GO, STAND, TAKE_BACK, Cue
from poise.puppetry.layers import PuppetLayer
from poise.stage.actor import Actor

TICK, STEPS = FRAME, 2  # s; steps of the stage in it
HANDS = "hands"  # have it, as after TAKE_BACK


def find_tick(cue: Cue) -> int:
    """The number of the tick that a cue is done before: the first that does not begin before it."""
    return math.ceil(cue.at / TICK - 1e-6)


class CuedPuppet:
    """Who has an actor: hands, or physics.

    has      HANDS, LET_GO or STAND;  since: s of the stage's clock, when that began; None: from the beginning
    falls    how often it was let go;  in_physics: s that physics had it, but for the time that it has it now
    stances  (side, from, to) s, of feet that hands put down: not those of physics
    """

    def __init__(self, actor: Actor, layers: Sequence[PuppetLayer]):
        self.actor, self.layers = actor, tuple(layers)
        self.has, self.since = HANDS, None
        self.falls, self.in_physics, self.lost = 0, 0.0, 0
        self.stances: list[tuple[int, float, float]] = []

    has: str
    since: float | None

    @property
    def player(self) -> PuppetPlayer | None:
        """What hands play; None: physics has it."""
        return next((each for each in self.actor.players if isinstance(each, PuppetPlayer)), None)

    def do(self, word: str) -> None:
        """Do a cue, now."""
        wanted = HANDS if word == TAKE_BACK else word
        if wanted == self.has or (wanted == STAND and self.has == LET_GO):
            return
        now = self.actor.stage.time
        if self.has == HANDS:
            self._note(now)
        elif wanted == HANDS:
            self.in_physics += now - (self.since or 0.0)
        self.falls += wanted == LET_GO
        self.since = now if HANDS in (wanted, self.has) else self.since
        self.drive(wanted)

    def drive(self, has: str) -> None:
        """Hand it to somebody."""
        self.has = has
        if has == HANDS:
            self.actor.drive("body", Puppet(self.layers))
        elif has == STAND:
            self.actor.drive("body", Loose(1.0))
            self.actor.drive("legs", Balance())
        else:
            self.actor.drive("root", Free())
            self.actor.drive("body", Limp())
        self.actor.stage.build()  # who asks for its player gets the new one

    def end(self, t: float) -> None:
        """It is over at time t (s)."""
        if self.has == HANDS:
            self._note(t)
        else:
            self.in_physics += max(t - (self.since or 0.0), 0.0)

    def _note(self, t: float) -> None:
        """Remember what its player found out until time t, which ends there."""
        player = self.player
        assert player is not None
        self.lost += player.mixer.lost
        self.stances += [(int(side), begin, min(end, t)) for side, begin, end in player.stances if begin < min(end, t)]
