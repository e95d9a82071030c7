"""Stretches of clips one after the other, with transitions between them.   [tracking, section 5.2: Z8]

    segments = [Segment(clap, 0.0, 1.0), Segment(clap, 2.0, 3.0, speed=1.33), Segment(slap)]
    joined = join_segments(segments, transition=0.4)

Around each join both motions go on, lined up on one clock, and the pose goes from one to the other by slerp with the
sinusoidal ease, eq 4 as meant. A transition is centred on the join and takes what the clips have beyond their cuts, so
that it takes no time of its own: what happens at a cut happens at the join, and all lasts as long as its stretches.
Where a clip ends at its cut it coasts: on at the speed it had, which fades to none. Place and speed never jump, unless
the transition takes no time at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.kinds import checked
from poise.motion.clip import Clip, How
from poise.motion.edits.blend import check_same_joints, ease, mix_poses, on_bones
from poise.motion.edits.ground import compute_heading, place
from poise.motion.edits.mirror import mirror
from poise.motion.edits.timing import frame_times
from poise.motion.motion import Pose
from poise.spatial import rotation

TRANSITION = 0.3  # s
SPEEDS = (0.01, 100.0)
_SAME_TIME = 1e-6


@checked
@dataclass(frozen=True, eq=False)
class Segment:
    """A stretch of a clip, and how it is played.

    start, end  s on the clip's clock; None: the clip's own
    speed       1.33: a third faster
    reverse     from its end to its start;  mirrored: left and right exchanged
    still       s for which the pose at `start` is held; None: it is played
    transition  s of the transition from the one before; None: as for all
    name        what it is called; empty: as the clip
    """

    clip: Clip
    start: float | None = None
    end: float | None = None
    speed: float = 1.0
    reverse: bool = False
    mirrored: bool = False
    still: float | None = None
    transition: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        first, last = float(self.clip.times[0]), float(self.clip.times[-1])
        start, end = first if self.start is None else self.start, last if self.end is None else self.end
        if self.still is not None:
            end = start
        for what, value in (("starts", start), ("ends", end)):
            if not (np.isfinite(value) and first - _SAME_TIME <= value <= last + _SAME_TIME):
                raise InputError(f"{self.told} {what} at {value:g} s; its clip runs from {first:g} s to {last:g} s.")
        if not SPEEDS[0] <= self.speed <= SPEEDS[1]:
            raise InputError(f"the speed of {self.told} is {SPEEDS[0]:g} to {SPEEDS[1]:g}; given {self.speed:g}.")
        if self.still is None and end - start < _SAME_TIME:
            raise InputError(f"{self.told} goes from {start:g} s to {end:g} s: it must end after it starts.")
        for what, seconds in (("still", self.still), ("transition", self.transition)):
            if seconds is not None and not 0.0 <= seconds <= 3600.0:
                raise InputError(f"'{what}' of {self.told} is 0 to 3600 s; given {seconds:g}.")
        object.__setattr__(self, "start", min(max(start, first), last))
        object.__setattr__(self, "end", min(max(end, first), last))

    @property
    def told(self) -> str:
        """It, in a sentence."""
        return f"stretch '{self.name or self.clip.name}'"

    @property
    def duration(self) -> float:
        """s that it lasts as it is played."""
        assert self.start is not None
        assert self.end is not None
        return (self.end - self.start) / self.speed if self.still is None else self.still

    def sources(self, s: np.ndarray) -> np.ndarray:
        """(N,) s on the clip's clock, at times s from its beginning; beyond it, too."""
        assert self.start is not None
        assert self.end is not None
        if self.still is not None:
            return np.full_like(s, self.start)
        return self.end - self.speed * s if self.reverse else self.start + self.speed * s


@dataclass(frozen=True, eq=False)
class Join:
    """Where one stretch goes over into the next.

    time        s, the middle of it;  transition: s that it takes
    before, after  names of the two
    gap         m, the farthest that a joint is from where the next stretch has it, at the cut
    frames      indices of the result's frames within it
    alone       the two motions by themselves at those frames, where they stand in the result
    """

    time: float
    transition: float
    before: str
    after: str
    gap: float
    frames: np.ndarray = field(repr=False)
    alone: tuple[Clip, Clip] | None = field(repr=False, default=None)


@dataclass(frozen=True, eq=False)
class JoinedClip:
    """A clip made of stretches, its joins, and when each stretch begins: `starts` (N,) s."""

    clip: Clip
    joins: tuple[Join, ...]
    starts: np.ndarray


@checked
def join_segments(
    cuts: Sequence[Segment],
    transition: float = TRANSITION,
    fps: float | None = None,
    align: bool = True,
    how: How = "spline",
) -> JoinedClip:
    """Stretches one after the other; the clips may be of different rates, places and headings.

    transition  s from each to the next, where a stretch does not say
    fps         frames a second of the result; None: those of the first clip
    align       move and turn each stretch on the ground so that its hips go on from where those before came to; False:
                all stay where they are
    how         "spline" or "slerp": what is between the frames of the clips
    """
    if not cuts:
        raise InputError("there are no stretches to put together. Give at least one.")
    if not (np.isfinite(transition) and transition >= 0.0):
        raise InputError(f"a transition takes a finite number of seconds, not negative; given {transition:g}.")
    for cut in cuts:
        check_same_joints(cuts[0].clip.skeleton, cut.clip.skeleton)
    lasts = [0.0, *(transition if c.transition is None else c.transition for c in cuts[1:]), 0.0]
    for k, cut in enumerate(cuts):
        if 0.5 * (lasts[k] + lasts[k + 1]) > cut.duration + _SAME_TIME:
            raise InputError(
                f"{cut.told} lasts {cut.duration:g} s, too short for halves of transitions of {lasts[k]:g} s and "
                f"{lasts[k + 1]:g} s. Shorten them."
            )
    rate = cuts[0].clip.fps if fps is None else fps
    if rate == 0.0:
        raise InputError(f"clip '{cuts[0].clip.name}' has a single frame, and so no frame rate. Say how many fps.")
    starts = np.concatenate([[0.0], np.cumsum([cut.duration for cut in cuts])])
    skeleton = cuts[0].clip.skeleton
    times = frame_times(float(starts[-1]), rate, len(skeleton), sum(len(cut.clip) for cut in cuts))
    plays = [_Play(cuts[0], how, lasts[1])]
    for k, cut in enumerate(cuts[1:], 1):
        play = _Play(cut, how, max(lasts[k], lasts[k + 1]))
        plays.append(play.placed(plays[-1]) if align else play)
    return _lay(plays, starts, lasts, times, skeleton, cuts[0].clip.name)


def _lay(
    plays: list[_Play], starts: np.ndarray, lasts: list[float], times: np.ndarray, skeleton: Skeleton, name: str
) -> JoinedClip:
    """All stretches on one clock."""
    of = np.clip(np.searchsorted(starts[1:-1], times, side="right"), 0, len(plays) - 1)
    parts = [play.pose(times[of == k] - starts[k], skeleton) for k, play in enumerate(plays)]
    root, turns = (np.concatenate([part[i] for part in parts]) for i in range(2))
    has_shifts = any(part.shifts is not None for part in parts)
    shifts = np.concatenate([_or_zeros(part) for part in parts]) if has_shifts else None
    joins = []
    for k in range(1, len(plays)):
        at, span = float(starts[k]), lasts[k]
        within = np.flatnonzero(np.abs(times - at) < 0.5 * span - 1e-12) if span > 0.0 else np.zeros(0, int)
        before, after = plays[k - 1], plays[k]
        ends = [play.pose(np.array([since]), skeleton) for play, since in ((before, before.cut.duration), (after, 0.0))]
        places = [skeleton.pose(*pose)[0][0] for pose in ends]
        gap = float(np.linalg.norm(places[1] - places[0], axis=-1).max())
        alone = None
        if len(within):
            here = before.pose(times[within] - starts[k - 1], skeleton)
            there = after.pose(times[within] - at, skeleton)
            mixed = mix_poses(here, there, ease((times[within] - at) / span + 0.5))
            root[within], turns[within] = mixed.root, mixed.rotations
            if shifts is not None:
                shifts[within] = _or_zeros(mixed)
            first, second = (Clip(skeleton, times[within], *pose[:2], name, pose.shifts) for pose in (here, there))
            alone = first, second
        joins.append(Join(at, span, before.name, after.name, gap, within, alone))
    return JoinedClip(Clip(skeleton, times, root, turns, name, shifts), tuple(joins), starts[:-1].copy())


def _or_zeros(pose: Pose) -> np.ndarray:
    return np.zeros((*pose.rotations.shape[:-1], 3)) if pose.shifts is None else pose.shifts


class _Play:
    """A stretch as it is played, where it stands: also a while before it begins and after it ends."""

    def __init__(self, cut: Segment, how: How, handle: float):
        self.cut, self.how, self.name = cut, how, cut.name or cut.clip.name
        self.clip = mirror(cut.clip, "character") if cut.mirrored else cut.clip
        self.handle = handle

    def placed(self, before: _Play) -> _Play:
        """The same, moved and turned on the ground to go on where another ends."""
        cut = before.cut
        end = float(cut.sources(np.array([cut.duration]))[0])
        skeleton = before.clip.skeleton
        positions, orientations = skeleton.pose(*before.clip.pose(end, self.how))
        hips = skeleton.find_role("hips") or 0
        other = _Play(self.cut, self.how, self.handle)
        begin = float(self.cut.sources(np.zeros(1))[0])
        other.clip = place(self.clip, positions[hips], float(compute_heading(orientations[hips])), begin)
        return other

    def pose(self, s: np.ndarray, skeleton: Skeleton) -> Pose:
        """Poses at times s (N,) from its beginning, on the bones of a skeleton of the same joints."""
        at = self.cut.sources(s)
        first, last = self.clip.times[0], self.clip.times[-1]
        inside = np.clip(at, first, last)
        pose = self.clip.pose(inside, self.how)
        beyond = at - inside
        if np.any(np.abs(beyond) > 0.0) and len(self.clip) > 1:
            pose = self._coast(pose, inside, beyond)
        return on_bones(pose, self.clip.skeleton, skeleton)

    def _coast(self, pose: Pose, inside: np.ndarray, beyond: np.ndarray) -> Pose:
        """Poses that go on beyond the clip's ends at the speed they had there, which fades to none.

        e s beyond it has gone on by e - e^2 / 2 H, up to H, the time that it is needed for.
        """
        room = max(0.5 * self.handle * self.cut.speed, _SAME_TIME)
        e = np.minimum(np.abs(beyond), room)
        on = np.sign(beyond) * (e - e * e / (2.0 * room))
        if self.how == "slerp":  # as the last two frames have it
            step = min(float(np.diff(self.clip.times).min()), 1e-3)
            inner = np.where(beyond > 0.0, inside - step, inside + step)
            there = self.clip.pose(inner, "slerp")
            side = np.where(beyond > 0.0, 1.0, -1.0)
            rate = (side / step)[:, None] * (pose.root - there.root)
            spin = rotation.log(rotation.multiply(rotation.conjugate(there.rotations), pose.rotations))
            spin = (side / step)[:, None, None] * spin
            slide = None
        else:
            rates = self.clip.spline.velocity(inside)
            rate, spin, slide = rates.root, rates.rotation, rates.shift
        turns = rotation.multiply(pose.rotations, rotation.exp(on[:, None, None] * spin))
        shifts = pose.shifts
        if shifts is not None and slide is not None:
            shifts = shifts + on[:, None, None] * slide
        return Pose(pose.root + on[:, None] * rate, turns, shifts)


def measure_jumps(times: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(F,) m and (F,) m/s: how much place and speed jump just before each frame, at most over joints: by differences.

    positions  (F, J, 3) m at times (F,) s, evenly spaced

    From three frames on each side, with none in common: where parabolas through them would be half way between. What is
    smooth leaves what its acceleration changes by in a frame. The first and last three frames have none.
    """
    place, speed = np.zeros(len(times)), np.zeros(len(times))
    if len(times) < 6:
        return place, speed
    step = float(times[-1] - times[0]) / (len(times) - 1)
    x = [positions[k : len(positions) - 5 + k] for k in range(6)]
    # Half a step on from the last of three, half a step back from the first.
    left, right = (15 * x[2] - 10 * x[1] + 3 * x[0]) / 8.0, (15 * x[3] - 10 * x[4] + 3 * x[5]) / 8.0
    before, after = (2 * x[2] - 3 * x[1] + x[0]) / step, (-2 * x[3] + 3 * x[4] - x[5]) / step
    place[3 : len(times) - 2] = np.linalg.norm(right - left, axis=-1).max(axis=-1)
    speed[3 : len(times) - 2] = np.linalg.norm(after - before, axis=-1).max(axis=-1)
    return place, speed


def pick_frames(times: np.ndarray, moments: Sequence[float]) -> np.ndarray:
    """The frames about moments, s: those at which a jump there would show."""
    found = np.searchsorted(times, np.asarray(moments, float)[:, None] + np.array([-1e-9, 1e-9]))
    return np.unique(np.clip(found, 0, len(times) - 1))
