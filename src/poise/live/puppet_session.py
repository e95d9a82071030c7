"""A puppet that a user plays live: practised, recorded layer by layer, played back. It has no clock and no threads.

The caller that has the clock calls `tick` once every TICK with a reading of the hands (`live/puppet_loop.py`). A sample
gets the time of the next frame that the puppet makes, so that a recording, played back, is the motion that was shown
while it was recorded.

To begin in the middle, the puppet has to be as it was there. States are saved along the way, and the rest is played
unseen (`playback.py`): five seconds take one.

A practised puppet that has come to rest under hands that do not move is not simulated until they move.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.jobs.puppet.cued_puppet import TICK
from poise.jobs.puppet.job import LONGEST
from poise.live.hands_input import HandsInput, RestDetector, SplicedHands
from poise.live.playback import Playback, SavedStates
from poise.motion.motion import Pose
from poise.puppetry.cues import LET_GO, STAND, TAKE_BACK, Cue
from poise.puppetry.device import HandsReading
from poise.puppetry.hands import HandsSource, HandsTake
from poise.puppetry.layers import PuppetLayer
from poise.puppetry.mapping import HandMapping, list_mappings
from poise.puppetry.performance import ORDER, Performance, Rehearsal
from poise.world.ground.ground import Ground

LEAD = 2.0  # s, that are played before a retake begins
PRACTISE, PLAY, RECORD = "practise", "play", "record"
_STEADY, _FLAT = 0.05, 0.01  # m/s and rad/2 per s, of a puppet that stands; rad, of feet that are flat
_PATIENCE = 3.0  # s, that it gets to come to stand
_CATCHES_UP = 3  # ticks that a ghost advances in one, after it was hidden


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown after a tick.

    number    of ticks so far
    time      s of the performance
    mode      PRACTISE, PLAY or RECORD
    is_heard  whether the hands of this tick are in it: not while a retake is led up to
    pose      of the puppet
    ghost     pose of the other layers as they were recorded, while one is recorded; None if there are none
    state     what has the puppet if the hands do not: PHYSICS, STANDS or RISES of `playback.py`
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
        """Positions (J, 3) m and orientations (J, 4) of the puppet's joints, computed once for all viewers."""
        return self.skeleton.pose(self.pose.root, self.pose.rotations, self.pose.shifts)


class PuppetSession:
    """A puppet and its rehearsal. All of it belongs to one thread.

    layer     that hands play;  mapping: name of what its hands move
    mode      PRACTISE: hands play one layer alone; PLAY: the performance; RECORD: both
    hands     of the device
    playback  the puppet;  ghost: the other layers as they were recorded, while one is recorded
    with_ghost  whether a viewer shows the ghost: a hidden one is not played
    """

    def __init__(
        self, rehearsal: Rehearsal, character: Character, ground: Ground | None = Ground(), layer: str = "legs",  # noqa: B008
    ):  # fmt: skip
        self.rehearsal, self.character, self.ground = rehearsal, character, ground
        self.layer, self.mapping, self.mode, self.ticks = layer, layer, PRACTISE, 0
        self.hands, self.with_ghost = HandsInput(), True
        self.playback: Playback
        self.ghost: Playback | None = None
        self._rest, self._states = RestDetector(), SavedStates()
        self._slept = 0  # ticks that were not simulated, since the puppet was at rest
        self._standing = 0  # ticks since the puppet was to stand by itself; 0: it was not
        self._is_prepared, self._end = True, LONGEST
        self.choose(layer)

    # What the user does.

    def choose(self, layer: str, mapping: str | None = None) -> None:
        """Play a layer: an existing one, or a new one with a mapping (by default the built-in one of its name)."""
        known = {each.name: each.mapping for each in self.rehearsal.now.layers}
        used = mapping or known.get(layer, layer)
        self._find_mapping(used)
        self.layer, self.mapping = layer, used
        self.practise()

    def _path(self, mapping: str) -> str | Path:
        return self.rehearsal.folder / mapping if mapping.endswith(".toml") else mapping

    def _find_mapping(self, mapping: str) -> HandMapping:
        return self.rehearsal.cache.find_mapping(self._path(mapping))

    @property
    def meaning(self) -> HandMapping:
        """The mapping of the layer, as it was last readable."""
        return self._find_mapping(self.mapping)

    def look(self) -> list[str]:
        """Check the files that are played; return messages if some have changed, are broken or missing.

        A changed mapping is used at once while it is practised, otherwise from the next Stop on.
        """
        recorder = self.hands.recorder
        cache, recorded = self.rehearsal.cache, None if recorder is None else recorder.path
        if recorder is not None and (message := recorder.keep()):
            cache.messages.append(message)
        for layer in self.rehearsal.now.layers:
            for path in (self.rehearsal.folder / piece.file for piece in layer.pieces):
                if path != recorded and cache.has_changed(path):
                    cache.find_hands(path)
        path = Path(self._path(self.mapping))
        if not cache.has_changed(path):
            return cache.take_messages()
        self._find_mapping(self.mapping)
        messages = cache.take_messages()
        if messages:
            return messages
        if self.mode != PRACTISE:
            return [f"{path.name} was read again. It is used from the next Stop on."]
        self.practise()
        return [f"{path.name} was read again."]

    def practise(self) -> None:
        """End playback and recording, and play the layer alone with the hands, from the beginning."""
        self._end_take()
        feel = next((each for each in self.rehearsal.now.layers if each.name == self.layer), None)
        live = self.hands.restart(0.0)
        layer = PuppetLayer(self.meaning, live)
        if feel is not None:
            layer = PuppetLayer(layer.mapping, live, 1.0, 0.0, feel.viscosity, feel.stiffness)
        self.mode, self._end, self.ghost = PRACTISE, np.inf, None
        self._rest.wake()
        self.hands.regain()
        self._slept, self._standing = 0, 0
        self.playback = Playback(self.character, self.ground, [layer])
        self.playback.before_tick = self._play_hands

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
        """Record the layer: all of it again, or from a time on (s), which is led up to."""
        self._end_take()
        if t is not None:
            t = self._check_time(t)
        recorder = self.rehearsal.begin_take(self.layer, self.mapping, t, np.zeros((2, 3)))
        try:
            begin = t or 0.0
            live = self.hands.restart(begin)
            self.hands.recorder = recorder
            hands: HandsSource = live
            if t is not None:
                hands = SplicedHands(self.rehearsal.find_hands(self.layer), live, t)
            elif self.hands.last is not None:
                self.hands.play(self.hands.last, 0.0)  # where hands are as it begins
            self._set_up(RECORD, self.rehearsal.list_layers({self.layer: hands}), max(begin - LEAD, 0.0), LONGEST)
        except BaseException:
            self._end_take()
            self.rehearsal.undo()
            raise

    def let_go(self, balances: bool = False) -> None:
        """Hand the puppet to physics: it falls, or balances on its legs. In PLAY and RECORD the cue is kept.

        Balance takes over a standing puppet: before, hands lose their effect and the puppet comes to stand.
        """
        self._check_cue()
        self._rest.wake()
        if not balances:
            self._cue(LET_GO)
        elif self.playback.cued.has == LET_GO:
            raise InputError(
                "the puppet has fallen; Balance can only take over a standing body. Take it back first."
            )  # fmt: skip
        elif self.playback.player is not None and self.mode != PLAY:
            self._set_standing(1)
        else:
            self._cue(STAND)

    def take_back(self) -> None:
        """Let the hands play it again, from where it is; a lying puppet gets up. In PLAY and RECORD the cue is kept."""
        self._check_cue()
        self._rest.wake()
        self._set_standing(0)
        if self.playback.player is None or self.playback.is_due:
            self._cue(TAKE_BACK)

    def _check_cue(self) -> None:
        if self.mode == RECORD and not self._is_heard:
            begin = self.hands.begin
            raise InputError(f"the retake begins at {begin:g} s, and is led up to. Wait until hands are heard.")

    def _cue(self, do: str) -> None:
        """Do a cue before the next tick; keep it if the puppet is recorded or played back."""
        layer = self.layer if self.mode == RECORD else None
        cue = Cue(max(self.playback.number * TICK, self.hands.begin), do, layer)
        if self.mode == RECORD:  # undone with the take
            self.rehearsal.adjust(self.rehearsal.now.cue(cue))
        elif self.mode == PLAY:
            self.rehearsal.change(self.rehearsal.now.cue(cue))
        self.playback.add(cue)

    def undo(self) -> bool:
        """Undo the last change to the performance; return whether there was one."""
        self.practise()
        return self.rehearsal.undo()

    def redo(self) -> bool:
        """Redo the change that was undone last; return whether there was one."""
        self.practise()
        return self.rehearsal.redo()

    def change(self, performance: Performance) -> None:
        """Replace the performance: a layer is trimmed, muted, blended or removed."""
        self.practise()
        self.rehearsal.change(performance)

    def feel(self, viscosity: float, stiffness: float) -> None:
        """Change viscosity and stiffness of the layer, from now on and in the performance."""
        self._rest.wake()
        if any(each.name == self.layer for each in self.rehearsal.now.layers):
            self.rehearsal.adjust(self.rehearsal.now.feel(self.layer, viscosity, stiffness))
        player = self.playback.player
        if player is not None:
            live = self.hands.live
            player.mixer.adjust([
                PuppetLayer(each.mapping, each.hands, each.weight, each.start, viscosity, stiffness)
                if each.hands is live or getattr(each.hands, "live", None) is live else each
                for each in player.mixer.layers
            ])  # fmt: skip

    def calibrate(self) -> None:
        """Make the present positions of the hands the neutral ones."""
        self._rest.wake()
        self.hands.calibrate()

    @property
    def alpha(self) -> float:
        """Viscosity of the layer's hands."""
        player = self.playback.player
        layers = () if player is None else player.mixer.layers
        mine = [each.alpha for each in layers if not isinstance(each.hands, HandsTake)]
        return mine[0] if mine else self.meaning.viscosity

    @property
    def time(self) -> float:
        """Time (s of the performance) of what is shown."""
        return self.playback.shown + self._slept * TICK

    @property
    def duration(self) -> float:
        """Time (s) of the end of the longest recording."""
        ends = [self.rehearsal.find_hands(each.name).duration for each in self.rehearsal.now.layers if each.pieces]
        return max(ends, default=0.0)

    def close(self) -> None:
        """End the take, if there is one."""
        self._end_take()

    # The tick.

    def tick(self, reading: HandsReading | None) -> Shown:
        """Advance by TICK seconds, with a reading of the hands."""
        self.prepare()
        self.ticks += 1
        if self._rests(reading):
            self._slept += 1
            assert self._rest.pose is not None
            return self._show(self._rest.pose, None, True, "")
        if self._standing:
            reading = reading or self.hands.last
            if self._stands():
                self._cue(STAND)
        is_heard = self._receive(reading)
        self.playback.tick()
        if self.playback.player is None:  # hands have their full effect when they take the puppet back
            self.hands.regain()
            self._standing = 0
        self._is_prepared = False
        if self.playback.horizon > self._end:
            self.practise()
        ghost = None if self.ghost is None or self._is_ghost_behind(self.ghost) else self.ghost.pose()
        pose = self.playback.pose()
        self._rest.update(pose, self.mode == PRACTISE and self.playback.player is not None)
        return self._show(pose, ghost, is_heard, self.playback.state)

    def _receive(self, reading: HandsReading | None) -> bool:
        """Pass a reading on; return whether it will be played."""
        self.hands.receive(reading)
        return self._is_heard

    def _show(self, pose: Pose, ghost: Pose | None, is_heard: bool, state: str) -> Shown:
        return Shown(self.ticks, self.time, self.mode, is_heard, pose, ghost, self.character.skeleton, state)

    @property
    def _is_heard(self) -> bool:
        """Whether hands are played now: not while a retake is led up to."""
        return self.mode != PLAY and self.playback.horizon >= self.hands.begin - 1e-9

    def _play_hands(self) -> None:
        """Play the hands of this tick in the next frame."""
        if self.hands.reading is not None and self._is_heard:
            self.hands.play(self.hands.reading, self.playback.horizon)

    def prepare(self) -> None:
        """Do what can wait until the pose of the last tick was passed on: save a state, advance the ghost."""
        if self._is_prepared:
            return
        self._is_prepared = True
        if self.mode != PRACTISE:
            self._states.keep(self.playback, self.rehearsal.now)
        if self.ghost is not None and self.with_ghost:
            for _ in range(_CATCHES_UP):  # it is one tick ahead
                if self.ghost.stage.time < self.playback.stage.time + 0.5 * TICK:
                    self.ghost.tick()

    def _is_ghost_behind(self, ghost: Playback) -> bool:
        """Return whether the ghost is not at the puppet's time, since it was hidden."""
        return ghost.stage.time < self.playback.stage.time - 0.5 * TICK

    def _rests(self, reading: HandsReading | None) -> bool:
        """Return whether nothing would move: the puppet is at rest, and the hands are as before."""
        is_asked = self._standing or self.hands.effect < 1.0
        if self.mode != PRACTISE or not self._rest.is_at_rest or is_asked:
            return False
        before = None if self.hands.last is None else self.hands.last.received
        if before == (None if reading is None else reading.received):
            return True
        self._rest.wake()
        return False

    def _set_standing(self, ticks: int) -> None:
        """Begin to bring the puppet to stand by itself (1), or stop to (0)."""
        self._standing = ticks
        self.hands.fades = ticks > 0

    def _stands(self) -> bool:
        """Return whether a puppet that is to stand does, with both feet flat and at rest, or has had its time."""
        self._standing += 1
        player = self.playback.player
        if player is None or self._standing * TICK > _PATIENCE:
            return True
        is_flat = player.feet.stands.all() and np.abs(player.marionette.foot_pose[:, 1:3]).max() < _FLAT
        return self.hands.effect <= 0.0 and bool(is_flat) and self._rest.moved < _STEADY * TICK

    def _end_take(self) -> None:
        self.prepare()
        self.hands.end_take()
        self.mode = PRACTISE

    @staticmethod
    def _check_time(t: float) -> float:
        if not 0.0 <= t <= LONGEST:
            raise InputError(f"a performance is played from 0 to {LONGEST:g} s; {t:g} s given.")
        return t

    def _set_up(self, mode: str, layers: list[PuppetLayer], t: float, end: float) -> None:
        """Put layers on a stage, at time t."""
        self.playback = self._wind(layers, t, self.rehearsal.now)
        self.playback.before_tick, self.hands.reading = self._play_hands, None
        self.ghost = None
        others = [each for each in layers if isinstance(each.hands, HandsTake)]
        if mode == RECORD and others:
            self.ghost = self._wind(others, t, None)  # with the same cues
            self.ghost.tick()  # see `prepare`
        self.mode, self._end, self._slept, self._is_prepared = mode, end, 0, True

    def _wind(self, layers: list[PuppetLayer], t: float, performance: Performance | None) -> Playback:
        """Return a playback at time t; a saved state is used if the performance was the same until then."""
        playback = Playback(self.character, self.ground, layers, self.rehearsal.now.cues)
        self._states.wind(playback, t, performance)
        return playback


def list_choices(rehearsal: Rehearsal) -> list[str]:
    """Return the layers that can be played: those of the performance, and those of built-in mappings."""
    mappings = sorted(list_mappings(), key=lambda name: (*ORDER, name).index(name))
    return list(dict.fromkeys([*mappings, *(each.name for each in rehearsal.now.layers)]))
