"""A puppet that somebody plays: practised, recorded layer by layer, played again. No clock and no threads of its own.

Whoever has the clock calls `tick` once every TICK with what the hands do (`live/puppet_loop.py`). A sample gets the
time of the next frame that the puppet makes, so that a recording, played again, is the motion that was seen while it
was made.

To begin in the middle the puppet has to be as it was there. States are kept along the way, and the rest is played
unseen: five seconds take one.

A puppet that is practised and has come to rest under hands that do nothing is left alone until they do something.

What is shown is two frames ahead of the stage (`PuppetPlayer.newest`). Physics knows nothing ahead: before it gets the
puppet the stage goes on to what was shown last, and after it was taken back what is shown runs ahead again, within
_RUNS. Cues that were recorded are done in the same way at the same time, so that what follows is the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.drivers.puppet.player import PuppetPlayer
from poise.drivers.puppet.puppet import Puppet
from poise.errors import InputError
from poise.jobs.puppet.cued_puppet import HANDS, STEPS, TICK, CuedPuppet, find_tick
from poise.jobs.puppet.job import LONGEST
from poise.motion.motion import Pose
from poise.puppetry.cues import LET_GO, STAND, TAKE_BACK, Cue, sort_cues
from poise.puppetry.device import HandsReading
from poise.puppetry.hands import HandsSample, HandsSource, HandsTake, LiveHands
from poise.puppetry.hands_file import HandsRecorder
from poise.puppetry.layers import PuppetLayer
from poise.puppetry.mapping import HandMapping, list_mappings
from poise.puppetry.performance import ORDER, Performance, Rehearsal
from poise.spatial import rotation
from poise.stage.stage import Stage
from poise.world.ground.ground import Ground

LEAD = 2.0  # s, that are played before a retake begins
PRACTISE, PLAY, RECORD = "practise", "play", "record"
_EVERY, _MOST_KEPT = 2.0, 300  # s between states that are kept, and how many
_RESTS, _LEAST = 60, 1e-9  # ticks in which it moved by less than so many m and half of a rad each: it is at rest
_DROPS, _STEADY = 0.6, 0.05  # s, in which hands come to mean nothing; m/s, and rad/2 a s, of who has come to stand
_PATIENCE, _FLAT = 3.0, 0.01  # s, that it gets to come to stand;  rad, of feet that are flat
_CATCHES_UP = 3  # ticks that a ghost goes on by in one, after it was hidden
_AHEAD, _RUNS = 2, 0.5  # frames, that what is shown is ahead of the stage; s, in which it gets there
# Who has the puppet, in words for people.
PHYSICS, STANDS, RISES = "physics has it", "it stands by itself", "getting up"


@dataclass(frozen=True, eq=False)
class Shown:
    """What is to be seen after a tick.

    number  of ticks so far;  time: s of the performance;  mode: practise, play or record
    is_heard  whether hands of now are in it: not while a retake is led up to
    pose    of the puppet;  ghost: of the other layers as they were recorded, while one is; None: there are none
    state   who has it, where that is not the hands: PHYSICS, STANDS, RISES
    """

    number: int
    time: float
    mode: str
    is_heard: bool
    pose: Pose
    ghost: Pose | None
    skeleton: Skeleton
    state: str = ""

    @cached_property
    def world(self) -> tuple[np.ndarray, np.ndarray]:
        """Places (J, 3) m and orientations (J, 4) of the puppet's joints: found once for all who show it."""
        return self.skeleton.pose(self.pose.root, self.pose.rotations, self.pose.shifts)


class Spliced:
    """Hands as they were recorded, until a time; from then on those that play now."""

    def __init__(self, before: HandsTake, live: LiveHands, at: float):
        self.before, self.live, self.at = before.cut(-np.inf, at), live, at

    @property
    def neutral(self) -> np.ndarray | None:
        """See `HandsSource.neutral`."""
        return np.zeros((2, 3))

    def between(self, after: float, until: float) -> list[HandsSample]:
        """See `HandsSource.between`."""
        recorded = [_from_neutral(each, self.before.neutral) for each in self.before.between(after, until)]
        return recorded + self.live.between(after, until)


def _from_neutral(sample: HandsSample, neutral: np.ndarray | None) -> HandsSample:
    return sample if neutral is None else sample._replace(places=sample.places - neutral)


class _Played:
    """A puppet on a stage of its own.

    cues    that are still to be done, in order
    passed  the tick of the last one that was done
    hear    called before every tick: what hands do then
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
        self.hear: Callable[[], None] = lambda: None

    @property
    def player(self) -> PuppetPlayer | None:
        return self.cued.player

    @property
    def horizon(self) -> float:
        return self.stage.time if self.player is None else self.player.horizon

    @property
    def ahead(self) -> float:
        """Frames, that what is shown is ahead of the stage."""
        if self.player is None:
            return 0.0
        if self.cued.since is None:
            return float(_AHEAD)
        u = min((self.stage.time - self.cued.since) / _RUNS, 1.0)
        return _AHEAD * u * u * (3.0 - 2.0 * u)

    @property
    def number(self) -> int:
        """The tick whose pose is shown, or nearly."""
        return self.stage.steps // STEPS + round(self.ahead)

    @property
    def shown(self) -> float:
        """s, of what is shown."""
        ahead = self.ahead
        return self.horizon - TICK if ahead == _AHEAD else self.stage.time + ahead * TICK

    @property
    def state(self) -> str:
        """In words who has it, where that is not the hands."""
        if self.player is None:
            return STANDS if self.cued.has == STAND and self.actor.fallen is None else PHYSICS
        return RISES if self.player.drawn is not None else ""

    def tick(self) -> None:
        self.follow_cues()
        self._tick()

    def _tick(self) -> None:
        self.hear()
        for _ in range(STEPS):
            self.stage.step()

    @property
    def is_due(self) -> bool:
        """Whether a cue is to be done before the next tick."""
        return bool(self.cues) and find_tick(self.cues[0]) <= self.number

    def follow_cues(self) -> None:
        """Do the cues of what is shown: the stage goes on to there."""
        while self.is_due:
            cue = self.cues.pop(0)
            at = find_tick(cue)
            if at < self.passed:
                continue
            while self.player is not None and self.stage.steps < STEPS * at:
                self._tick()
            self.cued.do(cue.do)
            self.passed = at

    def add(self, cue: Cue) -> None:
        self.cues = list(sort_cues([*self.cues, cue]))

    def pose(self) -> Pose:
        player, ahead = self.player, self.ahead
        newest = player.newest() if player is not None and ahead == _AHEAD else None
        if newest is not None:
            return newest
        return self.actor.pose() if player is None else player.find_pose(self.stage.time + ahead * TICK)

    def save(self) -> dict[str, Any]:
        return {"has": self.cued.has, "since": self.cued.since, "passed": self.passed, "stage": self.stage.save()}

    def restore(self, saved: dict[str, Any]) -> None:
        if saved["has"] != HANDS:
            self.cued.drive(saved["has"])
        self.stage.restore(saved["stage"])
        self.cued.since, self.passed = saved["since"], saved["passed"]
        self.cues = [cue for cue in self.cues if find_tick(cue) > self.passed]


class PuppetSession:
    """A puppet and its rehearsal, as somebody plays them. All of it belongs to one thread.

    layer     that hands play;  mapping: what they mean
    mode      practise: hands play one layer alone; play: what was recorded; record: both
    neutral   (2, 3) m, where the hands of the device mean nothing; None: where they are first seen
    with_ghost  whether somebody sees the ghost: one that is hidden is not played
    """

    def __init__(
        self, rehearsal: Rehearsal, character: Character, ground: Ground | None = Ground(), layer: str = "legs",  # noqa: B008
    ):  # fmt: skip
        self.rehearsal, self.character, self.ground = rehearsal, character, ground
        self.layer, self.mapping, self.mode, self.ticks = layer, layer, PRACTISE, 0
        self.neutral: np.ndarray | None = None
        self.with_ghost = True
        self._pose: Pose | None = None
        self._still, self._slept, self._is_prepared = 0, 0, True
        self._moved = np.inf  # m and half of a rad, in the last tick
        self._held, self._waited = 1.0, 0  # how much hands mean;  ticks since it was to stand: 0, it is not
        self._recorder: HandsRecorder | None = None
        self._kept: list[tuple[float, Performance, Any]] = []
        self._ghost: _Played | None = None
        self._live, self._from, self._end = LiveHands(np.zeros((2, 3))), 0.0, LONGEST
        self._last: HandsReading | None = None
        self._reading: HandsReading | None = None
        self.choose(layer)

    # What is asked of it.

    def choose(self, layer: str, mapping: str | None = None) -> None:
        """Have hands play a layer: one that is there, or a new one with a mapping (by its name: that comes along)."""
        known = {each.name: each.mapping for each in self.rehearsal.now.layers}
        used = mapping or known.get(layer, layer)
        self._find_mapping(used)
        self.layer, self.mapping = layer, used
        self.practise()

    def _path(self, mapping: str) -> str | Path:
        return self.rehearsal.folder / mapping if mapping.endswith(".toml") else mapping

    def _find_mapping(self, mapping: str) -> HandMapping:
        return self.rehearsal.shelf.find_mapping(self._path(mapping))

    @property
    def meaning(self) -> HandMapping:
        """What hands mean, as it was last readable."""
        return self._find_mapping(self.mapping)

    def look(self) -> list[str]:
        """See whether files that are played are others by now, broken or gone; sentences for people.

        A mapping that was changed is used at once while it is practised, else from the next Stop on.
        """
        shelf, recorded = self.rehearsal.shelf, None if self._recorder is None else self._recorder.path
        if self._recorder is not None and (sentence := self._recorder.keep()):
            shelf.told.append(sentence)
        for layer in self.rehearsal.now.layers:
            for path in (self.rehearsal.folder / piece.file for piece in layer.pieces):
                if path != recorded and shelf.has_changed(path):
                    shelf.find_hands(path)
        path = Path(self._path(self.mapping))
        if not shelf.has_changed(path):
            return shelf.ask()
        self._find_mapping(self.mapping)
        told = shelf.ask()
        if told:
            return told
        if self.mode != PRACTISE:
            return [f"{path.name} was read again. It is used from the next Stop on."]
        self.practise()
        return [f"{path.name} was read again."]

    def practise(self) -> None:
        """End what is played or recorded, and have hands play the layer alone, from the beginning."""
        self._end_take()
        feel = next((each for each in self.rehearsal.now.layers if each.name == self.layer), None)
        self._live = LiveHands(np.zeros((2, 3)))
        layer = PuppetLayer(self.meaning, self._live)
        if feel is not None:
            layer = PuppetLayer(layer.mapping, self._live, 1.0, 0.0, feel.viscosity, feel.stiffness)
        self.mode, self._from, self._end, self._ghost = PRACTISE, 0.0, np.inf, None
        self._wake()
        self._slept, self._held, self._waited = 0, 1.0, 0
        self._played = _Played(self.character, self.ground, [layer])
        self._played.hear = self._listen

    def play(self, t: float = 0.0) -> None:
        """Play what was recorded, from a time on (s)."""
        t = self._check_time(t)
        layers = self.rehearsal.list_layers()
        if not layers:
            raise InputError("nothing is recorded yet, or all of it is mute. Record a layer first.")
        end = max(each.hands.duration for each in layers if isinstance(each.hands, HandsTake))
        if t >= end:
            raise InputError(f"the performance ends at {end:.1f} s; {t:g} s given. Play from an earlier time.")
        self._end_take()
        self._set_up(PLAY, layers, t, end)

    def record(self, t: float | None = None) -> None:
        """Record the layer: all of it anew, or from a time on (s), which is led up to."""
        self._end_take()
        if t is not None:
            t = self._check_time(t)
        recorder = self.rehearsal.begin_take(self.layer, self.mapping, t, np.zeros((2, 3)))
        try:
            self._live, self._from = LiveHands(np.zeros((2, 3))), t or 0.0
            self._recorder = recorder
            hands: HandsSource = self._live
            if t is not None:
                hands = Spliced(self.rehearsal.find_hands(self.layer), self._live, t)
            elif self._last is not None:
                self._hear(self._last, 0.0)  # where hands are as it begins
            self._set_up(RECORD, self.rehearsal.list_layers({self.layer: hands}), max(self._from - LEAD, 0.0), LONGEST)
        except BaseException:
            self._end_take()
            self.rehearsal.undo()
            raise

    def let_go(self, balances: bool = False) -> None:
        """Hand the puppet to physics: it falls, or its legs keep it up. While it is recorded or played that is kept.

        Legs keep up who stands: before they have it, hands come to mean nothing, and it is put on its feet.
        """
        self._check_cue()
        self._wake()
        if not balances:
            self._cue(LET_GO)
        elif self._played.cued.has == LET_GO:
            raise InputError("who was let go lies somewhere: legs keep up who stands. Take it back first.")
        elif self._played.player is not None and self.mode != PLAY:
            self._waited = 1
        else:
            self._cue(STAND)

    def take_back(self) -> None:
        """Have hands play it again, from where it is; who lies is drawn up. While it is recorded or played: kept."""
        self._check_cue()
        self._wake()
        self._waited = 0
        if self._played.player is None or self._played.is_due:
            self._cue(TAKE_BACK)

    def _check_cue(self) -> None:
        if self.mode == RECORD and not self._is_heard:
            raise InputError(f"the retake begins at {self._from:g} s, and is led up to. Wait until hands are heard.")

    def _cue(self, do: str) -> None:
        """Do a cue before the next tick, and keep it where the puppet is recorded or played."""
        layer = self.layer if self.mode == RECORD else None
        cue = Cue(max(self._played.number * TICK, self._from), do, layer)
        if self.mode == RECORD:  # it is undone with the take
            self.rehearsal.adjust(self.rehearsal.now.cue(cue))
        elif self.mode == PLAY:
            self.rehearsal.change(self.rehearsal.now.cue(cue))
        self._played.add(cue)

    def undo(self) -> bool:
        """Take back the last change to the performance."""
        self.practise()
        return self.rehearsal.undo()

    def redo(self) -> bool:
        """Do again what was taken back."""
        self.practise()
        return self.rehearsal.redo()

    def change(self, performance: Performance) -> None:
        """Have another performance: a layer trimmed, muted, blended, taken away."""
        self.practise()
        self.rehearsal.change(performance)

    def feel(self, viscosity: float, stiffness: float) -> None:
        """Have the layer's hands go through another viscosity, and its joints be stiffer: from now on, and kept."""
        self._wake()
        if any(each.name == self.layer for each in self.rehearsal.now.layers):
            self.rehearsal.adjust(self.rehearsal.now.feel(self.layer, viscosity, stiffness))
        player = self._played.player
        if player is not None:
            hands = self._live
            player.mixer.adjust([
                PuppetLayer(each.mapping, each.hands, each.weight, each.start, viscosity, stiffness)
                if each.hands is hands or getattr(each.hands, "live", None) is hands else each
                for each in player.mixer.layers
            ])  # fmt: skip

    def calibrate(self) -> None:
        """Have both hands mean nothing where they are now."""
        self._wake()
        if self._last is not None:
            seen = np.isfinite(self._last.places)
            before = np.zeros((2, 3)) if self.neutral is None else self.neutral
            self.neutral = np.where(seen, self._last.places, before)

    @property
    def alpha(self) -> float:
        """The viscosity that the layer's hands go through."""
        player = self._played.player
        layers = () if player is None else player.mixer.layers
        mine = [each.alpha for each in layers if not isinstance(each.hands, HandsTake)]
        return mine[0] if mine else self.meaning.viscosity

    @property
    def time(self) -> float:
        """s of the performance, of what is shown."""
        return self._played.shown + self._slept * TICK

    @property
    def duration(self) -> float:
        """s, to the end of the longest recording."""
        ends = [self.rehearsal.find_hands(each.name).duration for each in self.rehearsal.now.layers if each.pieces]
        return max(ends, default=0.0)

    def close(self) -> None:
        """End the take, if there is one."""
        self._end_take()

    # What it does.

    def tick(self, reading: HandsReading | None) -> Shown:
        """Go on by TICK seconds, with what hands do now."""
        self.prepare()
        self.ticks += 1
        if self._rests(reading):
            assert self._pose is not None
            self._slept += 1
            return Shown(self.ticks, self.time, self.mode, True, self._pose, None, self.character.skeleton)
        if self._waited:
            reading = reading or self._last
            if self._stands():
                self._cue(STAND)
        if reading is not None:
            self._last = reading
            if self.neutral is None and np.isfinite(reading.places).all():
                self.neutral = reading.places.copy()
        is_heard = self._is_heard
        self._reading = reading
        self._played.tick()
        if self._played.player is None:  # physics has it: hands mean what they do when it is taken back
            self._held, self._waited = 1.0, 0
        self._is_prepared = False
        if self._played.horizon > self._end:
            self.practise()
        ghost = None if self._ghost is None or self._is_behind else self._ghost.pose()
        pose = self._played.pose()
        self._compare(pose)
        state = self._played.state
        return Shown(self.ticks, self.time, self.mode, is_heard, pose, ghost, self.character.skeleton, state)

    @property
    def _is_heard(self) -> bool:
        """Whether what hands do now is played: not while a retake is led up to."""
        return self.mode != PLAY and self._played.horizon >= self._from - 1e-9

    def _listen(self) -> None:
        """Hear what hands do, for the next frame."""
        if self._reading is not None and self._is_heard:
            self._hear(self._reading, self._played.horizon)

    def prepare(self) -> None:
        """Do what has time until the next tick: a pose that is waited for was handed on."""
        if self._is_prepared:
            return
        self._is_prepared = True
        self._keep()
        if self._ghost is not None and self.with_ghost:
            for _ in range(_CATCHES_UP):  # it is one tick ahead
                if self._ghost.stage.time < self._played.stage.time + 0.5 * TICK:
                    self._ghost.tick()

    @property
    def _is_behind(self) -> bool:
        """Whether the ghost is not where the puppet is: it was hidden."""
        assert self._ghost is not None
        return self._ghost.stage.time < self._played.stage.time - 0.5 * TICK

    def _wake(self) -> None:
        """Be at rest no longer."""
        self._still = 0

    def _compare(self, pose: Pose) -> None:
        """See whether the puppet has moved."""
        last, self._pose = self._pose, pose
        if last is None or self.mode != PRACTISE or self._played.player is None:
            self._still, self._moved = 0, np.inf
            return
        pairs = ((last.root, pose.root), (last.rotations, pose.rotations))
        self._moved = max(float(np.abs(a - b).max()) for a, b in pairs)
        self._still = self._still + 1 if self._moved < _LEAST else 0

    def _rests(self, reading: HandsReading | None) -> bool:
        """Whether nothing would move, since nothing has moved and no hand does anything."""
        if self.mode != PRACTISE or self._still < _RESTS or self._waited or self._held < 1.0:
            return False
        before = None if self._last is None else self._last.received
        if before == (None if reading is None else reading.received):
            return True
        self._wake()
        return False

    def _hear(self, reading: HandsReading, t: float) -> None:
        """Have what hands do be played at time t (s), and recorded where it is.

        What was heard for frames that were made before physics got the puppet is not heard again.
        """
        places, turns = reading.places - (0.0 if self.neutral is None else self.neutral), reading.turns
        way = -TICK / _DROPS if self._waited else TICK / _DROPS
        self._held = min(max(self._held + way, 0.0), 1.0)
        if self._held < 1.0:
            share = self._held**2 * (3.0 - 2.0 * self._held)
            places, turns = share * places, rotation.exp(share * rotation.log(turns))
        if not self._live.put(t, places, turns, reading.grips, reading.buttons):
            return
        if self._recorder is not None:
            self._recorder.put(t - self._from, places, turns, reading.grips, reading.buttons)

    def _stands(self) -> bool:
        """Whether a puppet that is to stand does: both feet down, at rest. Who cannot is not waited for."""
        self._waited += 1
        player = self._played.player
        if player is None or self._waited * TICK > _PATIENCE:
            return True
        is_flat = player.feet.stands.all() and np.abs(player.puppet.foot_pose[:, 1:3]).max() < _FLAT
        return self._held <= 0.0 and bool(is_flat) and self._moved < _STEADY * TICK

    def _end_take(self) -> None:
        self.prepare()
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None
        self.mode = PRACTISE

    @staticmethod
    def _check_time(t: float) -> float:
        if not 0.0 <= t <= LONGEST:
            raise InputError(f"a performance is played from 0 to {LONGEST:g} s; {t:g} s given.")
        return t

    def _set_up(self, mode: str, layers: list[PuppetLayer], t: float, end: float) -> None:
        """Be on a stage with layers, at time t."""
        self._played = self._wind(layers, t, self.rehearsal.now)
        self._played.hear, self._reading = self._listen, None
        self._ghost = None
        others = [each for each in layers if isinstance(each.hands, HandsTake)]
        if mode == RECORD and others:
            self._ghost = self._wind(others, t, None)  # which has the same cues
            self._ghost.tick()  # see `prepare`
        self.mode, self._end, self._slept, self._is_prepared = mode, end, 0, True

    def _wind(self, layers: list[PuppetLayer], t: float, performance: Performance | None) -> _Played:
        """A puppet as it is at time t; from a state that was kept where the performance is the same until then."""
        played = _Played(self.character, self.ground, layers, self.rehearsal.now.cues)
        fitting = [
            (at, state) for at, until, state in self._kept
            if performance is not None and at <= t and until == performance.until(at)
        ]  # fmt: skip
        if fitting:
            played.restore(max(fitting, key=lambda each: each[0])[1])
        while played.stage.time < t - 1e-9:
            played.tick()
        return played

    def _keep(self) -> None:
        """Keep a state now and then, to begin from."""
        at = self._played.stage.time
        if self.mode == PRACTISE or at < _EVERY or round(at / TICK) % round(_EVERY / TICK):
            return
        # frames up to the horizon were made already: what follows depends on nothing that comes before it
        until = self.rehearsal.now.until(self._played.horizon)
        self._kept = [each for each in self._kept if each[0] != self._played.horizon][-_MOST_KEPT:]
        self._kept.append((self._played.horizon, until, self._played.save()))


def list_choices(rehearsal: Rehearsal) -> list[str]:
    """Layers that can be played: those that are there, and those that mappings that come along are for."""
    mappings = sorted(list_mappings(), key=lambda name: (*ORDER, name).index(name))
    return list(dict.fromkeys([*mappings, *(each.name for each in rehearsal.now.layers)]))
