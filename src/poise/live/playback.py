"""A puppet on a separate stage: layers and cues are played on it, ahead of the stage, from any time.

What is shown is two frames ahead of the stage (`PuppetPlayer.newest`). Physics cannot be known ahead: before it takes
over the puppet, the stage advances to what was shown last, and after the hands have it again, what is shown runs ahead
again within _RUNS. Recorded cues are done in the same way at the same time, so that the result is bit-identical.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from poise.body.character import Character
from poise.drivers.puppet.player import PuppetPlayer
from poise.drivers.puppet.puppet import Puppet
from poise.jobs.puppet.cued_puppet import HANDS, STEPS, TICK, CuedPuppet, find_tick
from poise.motion.motion import Pose
from poise.puppetry.cues import STAND, Cue, sort_cues
from poise.puppetry.layers import PuppetLayer
from poise.puppetry.performance import Performance
from poise.stage.stage import Stage
from poise.world.ground.ground import Ground

_AHEAD, _RUNS = 2, 0.5  # frames, that what is shown is ahead of the stage; s, in which it gets there
_EVERY, _MOST_SAVED = 2.0, 300  # s between states that are saved, and how many
# Messages: what has the puppet if the hands do not.
PHYSICS, STANDS, RISES = "physics has it", "it stands by itself", "getting up"


class Playback:
    """A puppet on its stage.

    cues         that are still to be done, in order
    passed       tick of the last cue that was done
    before_tick  called before every tick: it reads the hands
    """

    def __init__(
        self, character: Character, ground: Ground | None, layers: Sequence[PuppetLayer], cues: Sequence[Cue] = (),
    ):  # fmt: skip
        self.layers = tuple(layers)
        self.stage = Stage(dt=TICK / STEPS, ground=ground)
        self.actor = self.stage.add(character)
        self.actor.drive("body", Puppet(self.layers))
        self.stage.build()
        self.cued, self.cues, self.passed = CuedPuppet(self.actor, self.layers), list(cues), -1
        self.before_tick: Callable[[], None] = lambda: None

    @property
    def player(self) -> PuppetPlayer | None:
        """What the hands play; None if physics has the puppet."""
        return self.cued.player

    @property
    def horizon(self) -> float:
        """Time (s) of the next frame that is made."""
        return self.stage.time if self.player is None else self.player.horizon

    @property
    def ahead(self) -> float:
        """Frames by which what is shown is ahead of the stage."""
        if self.player is None:
            return 0.0
        if self.cued.since is None:
            return float(_AHEAD)
        u = min((self.stage.time - self.cued.since) / _RUNS, 1.0)
        return _AHEAD * u * u * (3.0 - 2.0 * u)

    @property
    def number(self) -> int:
        """The tick whose pose is shown, rounded."""
        return self.stage.steps // STEPS + round(self.ahead)

    @property
    def shown(self) -> float:
        """Time (s) of what is shown."""
        ahead = self.ahead
        return self.horizon - TICK if ahead == _AHEAD else self.stage.time + ahead * TICK

    @property
    def state(self) -> str:
        """What has the puppet, as a message; empty if the hands do."""
        if self.player is None:
            return STANDS if self.cued.has == STAND and self.actor.fallen is None else PHYSICS
        return RISES if self.player.get_up is not None else ""

    def tick(self) -> None:
        """Do the cues that are due, and advance by a tick."""
        self.follow_cues()
        self._advance()

    def _advance(self) -> None:
        self.before_tick()
        for _ in range(STEPS):
            self.stage.step()

    @property
    def is_due(self) -> bool:
        """Whether a cue is to be done before the next tick."""
        return bool(self.cues) and find_tick(self.cues[0]) <= self.number

    def follow_cues(self) -> None:
        """Do the cues up to what is shown: the stage advances to there."""
        while self.is_due:
            cue = self.cues.pop(0)
            at = find_tick(cue)
            if at < self.passed:
                continue
            while self.player is not None and self.stage.steps < STEPS * at:
                self._advance()
            self.cued.do(cue.do)
            self.passed = at

    def add(self, cue: Cue) -> None:
        """Add a cue to those that are to be done."""
        self.cues = list(sort_cues([*self.cues, cue]))

    def pose(self) -> Pose:
        """Return the pose that is shown."""
        player, ahead = self.player, self.ahead
        newest = player.newest() if player is not None and ahead == _AHEAD else None
        if newest is not None:
            return newest
        return self.actor.pose() if player is None else player.find_pose(self.stage.time + ahead * TICK)

    def save(self) -> dict[str, Any]:
        """Return its state as plain data."""
        return {"has": self.cued.has, "since": self.cued.since, "passed": self.passed, "stage": self.stage.save()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore what `save` returned; cues that were done by then are dropped."""
        if saved["has"] != HANDS:
            self.cued.drive(saved["has"])
        self.stage.restore(saved["stage"])
        self.cued.since, self.passed = saved["since"], saved["passed"]
        self.cues = [cue for cue in self.cues if find_tick(cue) > self.passed]


class SavedStates:
    """States along performances, to begin in the middle: without one, everything before is played unseen."""

    def __init__(self) -> None:
        self._saved: list[tuple[float, Performance, Any]] = []

    def keep(self, playback: Playback, performance: Performance) -> None:
        """Save the state of a playback if it is time to."""
        at = playback.stage.time
        if at < _EVERY or round(at / TICK) % round(_EVERY / TICK):
            return
        # Frames up to the horizon have been made: what follows depends only on what comes after it.
        horizon = playback.horizon
        self._saved = [each for each in self._saved if each[0] != horizon][-_MOST_SAVED:]
        self._saved.append((horizon, performance.until(horizon), playback.save()))

    def wind(self, playback: Playback, t: float, performance: Performance | None) -> None:
        """Advance a new playback to time t (s), from the latest state at which the performance was the same.

        performance  None: states of other playbacks do not fit
        """
        fitting = [
            (at, state) for at, until, state in self._saved
            if performance is not None and at <= t and until == performance.until(at)
        ]  # fmt: skip
        if fitting:
            playback.restore(max(fitting, key=lambda each: each[0])[1])
        while playback.stage.time < t - 1e-9:
            playback.tick()
