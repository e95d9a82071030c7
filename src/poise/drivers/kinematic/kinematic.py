"""Joints moved by a clip, a gesture or any other motion: exactly, with no lag.

Whatever is played goes through a `Curve` (splines over phase) and a clock (phase over time). On top of it may lie

    a change   the tempo glides to its new value; any other parameter fades from the old track to the new one
    a take-over   the joints were somewhere else when this driver took them: the difference in pose and in velocity
                  dies away on a quintic, so that neither jumps and the acceleration stays finite. So does the root's

`motion/playback/part_kernels.py` has the formulas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.compiled.arena import Arena
from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.drivers.checks import LIVE, check_idle, check_playable
from poise.drivers.counterpoise.taking_part import Offer
from poise.drivers.driver import MOTION, WRITE, Claim, Driver, MotionPlayer, Player
from poise.drivers.kinematic.live import LivePlayer
from poise.drivers.transition.transition import TAKE_OVER, Transition, find_offset, find_root_span, find_span
from poise.errors import InputError
from poise.frozen import Portable
from poise.kinds import checked
from poise.motion.motion import Motion, as_motion
from poise.motion.playback.track import Track, build_curve

_MOST_TRACKS = 256  # that a driver keeps for actors to come; those that are played are their players'


@checked
@dataclass(frozen=True, eq=False)
class Kinematic(Driver, Portable):
    """Plays a motion on its joints.

    motion     a clip, a gesture, or anything else that gives a pose at a time; a live one is followed: see `live.py`.
               A clip of one frame, or what `poise.pose` returns, is a pose that is held
    start      s of the stage's clock at which the motion's own time is 0
    cutoff     Hz of the low-pass under the rates of a recording; None: chosen from its noise. Poses are not filtered
    take_over  s that a hand-over from another driver takes, or up to twice that for a long way; 0: jump
               Neither is for a live motion, which takes over in its own delay, or longer for a long way
    active_after_fall  whether it plays on when the body has lost its balance; else its joints go limp then. What moves
               the root plays on in any case, so that it matters there only once the root is given to another driver
    """

    motion: Motion
    start: float = 0.0
    cutoff: float | None = None
    take_over: float = TAKE_OVER
    active_after_fall: bool = False
    level = MOTION
    root = "also"
    _tracks: dict = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        check_playable(self.motion, "Kinematic")
        object.__setattr__(self, "motion", as_motion(self.motion))
        if self.cutoff is not None and math.isnan(self.cutoff):
            raise InputError("the low-pass of a kinematic driver begins at a number of hertz; NaN given.")
        if not (math.isfinite(self.start) and math.isfinite(self.take_over) and self.take_over >= 0.0):
            raise InputError(
                f"a kinematic driver starts at a finite time and takes over in 0 s or more; "
                f"given {self.start:g} and {self.take_over:g} s."
            )
        if self.motion.is_live:
            check_idle(self, ["cutoff", "take_over"], *LIVE)

    def __getstate__(self) -> dict[str, Any]:
        """Without the tracks, which go by where things are in this process' memory."""
        return {**super().__getstate__(), "_tracks": {}}

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """It moves those joints that the motion has, and holds the others."""
        own = set(self.motion.joints(character.skeleton))
        moved = tuple(joint for joint in joints if joint in own)
        if not moved:
            names = ", ".join(character.skeleton.labels[i] for i in sorted(own))
            raise InputError(f"this gesture moves {names}, none of which is in '{part}'. Drive a part that has it.")
        self.motion.check_bones(moved)
        follows = getattr(self.motion, "source", None) or self.motion if self.motion.is_live else None
        return Claim(moved, tuple(joint for joint in joints if joint not in own), follows=follows)

    def build(self, body: Body, joints: np.ndarray, t: float) -> KinematicPlayer | LivePlayer:
        """See `Driver.build`."""
        if self.motion.is_live:
            return LivePlayer(self.motion, self.start, body, np.asarray(joints, np.int64), t)
        return KinematicPlayer(self, body, np.asarray(joints, np.int64), t)

    def track(self, body: Body, joints: np.ndarray, motion: Motion) -> Track:
        """The track of the joints; made once."""
        key = (id(motion), tuple(joints), body.skeleton.names, body.skeleton.offsets.tobytes())
        if key not in self._tracks:
            made = build_curve(motion, [int(joint) for joint in joints], self.cutoff, body.skeleton)
            self._tracks[key] = (made, motion)  # the motion is kept so that its id stays its own
            if len(self._tracks) > _MOST_TRACKS:
                del self._tracks[next(iter(self._tracks))]
        return self._tracks[key][0]


class KinematicPlayer(MotionPlayer):
    """A motion on the joints of one actor. The letters of `part` are those of `part_kernels`."""

    def __init__(self, driver: Kinematic, body: Body, joints: np.ndarray, t: float):
        from poise.drivers.kinematic import kernels as kinematic_law
        from poise.motion.playback import part_kernels as kernels

        self._kernels, self._law = kernels, kinematic_law
        self.driver, self.joints, self.motion, self._body = driver, joints, driver.motion, body
        self._made_of = self._old_made_of = self.motion  # what the two tracks are of
        self.moves_root = bool(len(joints) and joints[0] == 0) and driver.motion.moves_root
        self.track = self.old = driver.track(body, joints, driver.motion)
        rate = driver.motion.rate
        room, k = body.arena, len(joints)
        self.clock = room.copy(np.array([driver.start, 0.0, rate, 0.0, rate, 0.0]))
        self.old_clock = room.copy(self.clock)
        self.part = room.copy(np.array([self.track.period, np.nan, 0.0, np.nan, driver.take_over]))
        self.offset = room.zeros(3, k, 3)
        self.q, self.w, self.dw = room.zeros(k, 4), room.zeros(k, 3), room.zeros(k, 3)
        self.block = Block(
            kinematic_law.PART, room, joints=joints, count=k, q=self.q, w=self.w, dw=self.dw, **self.numbers(),
        )  # fmt: skip
        law = kinematic_law
        self._write_law = law.write_root if self.moves_root else law.write
        self._set_tracks()

    def _mingle(self) -> None:
        """Have the laws look at fades and take-overs from now on: before the first, nobody compiles them."""
        if not self.block["mingle"]:
            self.block["mingle"] = self._law.mingle.address

    def _set_tracks(self) -> None:
        """Tell the laws which tracks there are."""
        x, old = self.track, self.old
        self.block.set(
            knots=x.knots, turns=x.turns, rates=x.rates, root=x.root, root_rates=x.root_rates, knot_count=len(x.knots),
            old_knots=old.knots, old_turns=old.turns, old_knot_count=len(old.knots),
        )  # fmt: skip

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """See `Player.laws`."""
        return {WRITE: (self._write_law, self.block)}

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """Begin in the motion's own pose, or at the body's pose and velocity, and go over to the motion's."""
        if starting:
            self.pose(body, t)
        else:
            self._join(body.state.q[self.joints], body.state.w[self.joints], body.turning[self.joints], t)
            self._join_root(np.stack([body.state.root, body.state.v, body.pulling]), t)

    def _make_transition(self, room: Arena | None) -> Transition:
        """See `MotionPlayer`: of the root's position alone; the part itself takes the rotations over."""
        return Transition(room, self.joints[:0], moves_root=True)

    def _join_root(self, now: np.ndarray, t: float) -> None:
        """Have the root at a place, a velocity and an acceleration (3, 3) at time t, and go over to the motion's."""
        if not self.moves_root or self.driver.take_over == 0.0:
            return
        self.transition = self.transition or self._make_transition(self._body.arena)
        self.transition.set_root(now, self._find_root(t))
        self.transition.span[:] = t, find_root_span(self.transition.root[0], self.driver.take_over)

    def _join(self, q0: np.ndarray, w0: np.ndarray, dw0: np.ndarray, t: float) -> None:
        """Be at q0 (K, 4) with velocities w0 and accelerations dw0 (K, 3) at time t, and go over to the motion's."""
        self.part[self._kernels.TAKEN] = np.nan
        if self.driver.take_over == 0.0:
            return
        self._give(t)
        self.offset[:] = find_offset(self.q, self.w, self.dw, q0, w0, dw0)
        self.part[self._kernels.SPAN] = find_span(self.offset[0], self.driver.take_over)
        self.part[self._kernels.TAKEN] = t
        self._mingle()

    @property
    def gesture(self) -> Offer | None:
        """See `Player.gesture`."""
        track = self.motion.body_track(self._body.skeleton)
        return None if track is None else (track, self.clock)

    def check_change(self, **parameters: Any) -> None:
        """Raise InputError where `change` would."""
        if self._is_of_speed(parameters):
            _check_rate(float(parameters["speed"]))
            return
        changed, skeleton = self.motion.changed(**parameters), self._body.skeleton
        more = [skeleton.labels[i] for i in changed.joints(skeleton) if i not in self.motion.joints(skeleton)]
        if more:
            raise InputError(f"so changed, it would move {', '.join(more)} too. Drive the part anew instead.")

    def _is_of_speed(self, parameters: dict[str, Any]) -> bool:
        """Whether only the speed of a motion without parameters is changed."""
        return not self.motion.parameters and set(parameters) == {"speed"}

    def change(self, t: float, **parameters: Any) -> None:
        """Change parameters of the motion from time t on, without a jump."""
        self.check_change(**parameters)
        if self._is_of_speed(parameters):
            self._glide(t, float(parameters["speed"]))
            return
        changed = self.motion.changed(**parameters)
        kernels, rates = self._kernels, (changed.rate, self.motion.rate)
        fresh = self.driver.track(self._body, self.joints, changed) if self._is_new_way(changed) else self.track
        self.motion = changed
        if fresh is not self.track:
            busy = (
                t < self.part[kernels.FADE] + kernels.CHANGE or t < self.part[kernels.TAKEN] + self.part[kernels.SPAN]
            )
            self._give(t)
            q, w, dw = self.q.copy(), self.w.copy(), self.dw.copy()
            root = self._find_smooth_root(t)
            self.old, self._old_made_of = self.track, self._made_of
            self.old_clock[:] = self.clock
            self.track, self._made_of = fresh, changed
            self.part[kernels.OLD_PERIOD], self.part[kernels.PERIOD] = self.part[kernels.PERIOD], fresh.period
            self.part[kernels.FADE] = t
            self._mingle()
            self._set_tracks()
            if busy:
                # A fade or a hand-over was going on: what it was on the way from dies away on top of the new fade.
                self._join(q, w, dw, t)
            self._join_root(root, t)
        if rates[0] != rates[1]:
            self._glide(t, changed.rate)

    def _is_new_way(self, changed: Motion) -> bool:
        """Whether a changed motion goes another way, and not only faster or slower."""
        return not changed.goes_like(self.motion, self._body.skeleton, self.track.end)

    def _glide(self, t: float, rate: float) -> None:
        from poise.motion.playback.kernels import phase_at

        _check_rate(rate)
        phase, now, slope = phase_at(self.clock, t)
        self.clock[:] = t, phase, now, slope, rate, self._kernels.CHANGE

    def pose(self, body: Body, t: float) -> None:
        """Put the body where the motion is at time t, without its speed."""
        self._give(t)
        body.state.q[self.joints] = self.q
        if self.moves_root:
            body.state.root[:], body.state.v[:], body.a[:] = self._find_root(t)

    def sample(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (K, 4) and angular velocities (K, 3) of its joints at time t; the next call writes over them."""
        self._give(t)
        return self.q, self.w

    def _give(self, t: float) -> None:
        x, old = self.track, self.old
        if not self.block["mingle"]:
            self._kernels.play_alone(self.part, x.knots, x.turns, x.rates, self.clock, t, self.q, self.w, self.dw)
            return
        self._kernels.play_part(
            self.part, x.knots, x.turns, x.rates, self.clock, old.knots, old.turns, self.old_clock, self.offset, t,
            self.q, self.w, self.dw,
        )  # fmt: skip

    def _find_root(self, t: float) -> np.ndarray:
        """(3, 3) place, velocity and acceleration of the motion's root at time t."""
        from poise.motion.playback import kernels

        x, found = self.track, np.zeros((3, 3))
        phase, rate, slope = kernels.phase_at(self.clock, t)
        kernels.play_root(x.knots, x.root, x.root_rates, x.period, phase, rate, slope, *found)
        return found

    def _find_smooth_root(self, t: float) -> np.ndarray:
        """The same with what is left of a hand-over."""
        if not self.moves_root:
            return np.zeros((3, 3))
        found = self._find_root(t)
        return found if self.transition is None else found + self.transition.find_root(t)

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {name: getattr(self, name) for name in ("part", "clock", "old_clock", "offset")}

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        motions = {"motion": self.motion, "track": self._made_of, "old": self._old_made_of}
        return {**super().save(), **{name: self._parameters(motion) for name, motion in motions.items()}}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        super().restore(saved)
        self.motion = self._find(saved["motion"], self.motion)
        self._made_of = self._find(saved["track"], self._made_of)
        self._old_made_of = self._find(saved["old"], self._old_made_of)
        self.track = self.driver.track(self._body, self.joints, self._made_of)
        self.old = self.driver.track(self._body, self.joints, self._old_made_of)
        self._set_tracks()
        if not np.isnan(self.part[[self._kernels.FADE, self._kernels.TAKEN]]).all():
            self._mingle()

    def _parameters(self, motion: Motion) -> dict[str, Any]:
        """What of a motion is other than in the driver's, by name."""
        first = self.driver.motion.parameters
        return {name: value for name, value in motion.parameters.items() if value != first[name]}

    def _find(self, parameters: dict[str, Any], present: Motion) -> Motion:
        """The driver's motion with parameters that were saved; the present one where it has them."""
        if not parameters:
            return self.driver.motion
        return present if self._parameters(present) == parameters else self.driver.motion.restored(parameters)


def _check_rate(rate: float) -> None:
    if not (math.isfinite(rate) and rate > 0.0):
        raise InputError(f"a motion is played at a positive speed; {rate:g} given.")
