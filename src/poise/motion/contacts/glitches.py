"""Recording glitches: a root that jumps, a joint that flips from one frame to the next.

Files are full of them: frames of a T-pose before the motion, a marker that is taken for another, Euler angles that go
past a pole. Differentiated twice, one such frame is thousands of newton metres. Nothing changes the poses; what is
differentiated is bridged:

    raw      q_0 ... q_k | q_k+1 ...        | a step that no body makes
    bridged  increments q_i^-1 q_i+1 as they are, those of glitches interpolated between their neighbours, added up

After a glitch the bridged rotation is the raw one behind a constant turn (q = C b), and rates in the child's axes do
not depend on C. So the rates are those of the motion before and after it, whether the joint flips back or not. What
springs follow (`ease`) goes over from one side to the other in `EASE` seconds.

A step of a joint is a glitch where it is faster than any joint of a person turns, or wide and `ISOLATED` times as wide
as the step before it or after it. A frame of the root is one where it accelerates more than hips do in the hardest
landing, and `OUTLYING` times as much as in most frames: noise all over a clip is no glitch, but for filters.
Where the root jumps or many joints flip at once, the whole frame is bridged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.findings import Finding
from poise.motion.parts import find_runs
from poise.spatial import rotation

if TYPE_CHECKING:
    from poise.motion.clip import Clip
# rad/s: a pitcher's shoulder, the fastest joint measured, turns at up to 7,000 to 9,000 degrees/s (Fleisig et al.,
# J. Biomech. 1999); nothing else comes near.
FASTEST = 160.0
WIDE, ISOLATED = np.radians(45.0), 4.0
# m/s2: hips in landings have about 100 (10 g). 200 is more than any; at 120 Hz its second difference is 14 mm.
HARDEST, OUTLYING = 200.0, 8.0
NEAR = 0.01  # m, that its second difference is at least, at any rate: below, it is noise
FARTHEST = 0.25  # m, that a root goes while a glitch lasts: further, it does not come back from it
SUDDEN, _FEW = 1.0, 3  # m/s, by which it is faster or slower after one that is a cut; steps that say how fast it is
MANY = 4  # joints that flip at once: the frame is wrong
# Steps next to a flip that belong to it: wide, and times what is usual there.
_BESIDE, _RAISED = np.radians(15.0), 5.0
_ABOUT = 12  # frames on either side that say what is usual
EASE = 0.35  # s, over which springs go from one side of a glitch to the other
MOST = 3  # that are described one by one


@dataclass(frozen=True)
class Glitch:
    """A glitch: the joint (index), the frame that is off, and by how much: m/s2 for a jump of the root, else rad."""

    joint: int
    frame: int
    size: float
    is_jump: bool


@dataclass(frozen=True, eq=False)
class Glitches:
    """All glitches of a clip.

    found  one for each stretch of steps, the worst first: jumps of the root, then flips
    steps  (F - 1, 1 + J) bool, the steps from frame to frame that are glitches: of the root's place, and of the joints
    about  (F - 1, 1 + J) bool, the steps that rates are bridged over: those, and what lies about cuts
    """

    found: tuple[Glitch, ...]
    steps: np.ndarray
    about: np.ndarray

    def __bool__(self) -> bool:
        return bool(self.found)


def find_glitches(clip: Clip) -> Glitches:
    """The glitches of a clip in metres."""
    f, j = len(clip), len(clip.skeleton)
    steps = np.zeros((max(f - 1, 0), 1 + j), bool)
    if f < 4:
        return Glitches((), steps, steps)
    dt = np.diff(clip.times)
    found: list[Glitch] = []
    pull = np.diff(np.diff(clip.root, axis=0) / dt[:, None], axis=0) / (0.5 * (dt[1:] + dt[:-1]))[:, None]
    pull_size = np.linalg.norm(pull, axis=1)
    least = max(HARDEST, OUTLYING * float(np.median(pull_size)))
    jumps = (pull_size > least) & (pull_size * dt[1:] * dt[:-1] > NEAR)
    for first, last in find_runs(jumps):
        worst = first + int(np.argmax(pull_size[first : last + 1]))
        found.append(Glitch(0, worst + 1, float(pull_size[worst]), True))
    steps[:-1, 0] |= jumps
    steps[1:, 0] |= jumps
    wide = rotation.angle(clip.rotations[1:], clip.rotations[:-1])
    steps[:, 1:] = _find_flips(wide, dt)
    whole = steps[:, 0] | (steps[:, 1:].sum(axis=1) >= MANY)
    flips = []
    for joint in np.flatnonzero(steps[:, 1:].any(axis=0)):
        for first, last in find_runs(steps[:, 1 + joint]):
            worst = first + int(np.argmax(wide[first : last + 1, joint]))
            flips.append(Glitch(int(joint), worst + 1, float(wide[worst, joint]), False))
    # Joints that nobody knows, thumbs and finger ends, come last: few recordings have them right.
    known = {clip.skeleton.index(role) for role in clip.skeleton.roles}
    found.sort(key=lambda glitch: -glitch.size)
    flips.sort(key=lambda glitch: (glitch.joint not in known, -round(glitch.size, 2), glitch.frame))
    steps[whole] = True
    about = steps | _find_surroundings(clip, steps, max(1, round(0.5 * EASE * clip.fps)))
    for each in (steps, about):
        each[:, each.all(axis=0)] = False  # nothing is left to bridge from
    return Glitches((*found, *flips), steps, about)


def _find_surroundings(clip: Clip, steps: np.ndarray, reach: int) -> np.ndarray:
    """(F - 1, 1 + J) bool: what lies about cuts, from which the root or a joint does not come back as fast as it was.

    What comes after one is another motion, or a recording that froze: speeds go from one to the other slowly.
    """
    about = np.zeros_like(steps)
    speeds = np.diff(clip.root, axis=0) / np.diff(clip.times)[:, None]
    for column in np.flatnonzero(steps.any(axis=0)):
        for first, last in find_runs(steps[:, column]):
            if column == 0:
                before, after = speeds[max(first - _FEW, 0) : first], speeds[last + 1 : last + 1 + _FEW]
                change = after.mean(axis=0) - before.mean(axis=0) if len(before) and len(after) else np.zeros(3)
                away = clip.root[last + 1] - clip.root[first]
                is_cut = np.linalg.norm(away) > FARTHEST or np.linalg.norm(change) > SUDDEN
            else:
                turns = clip.rotations[:, column - 1]
                is_cut = rotation.angle(turns[last + 1], turns[first]) > 0.5 * WIDE
            if is_cut:
                near = slice(max(first - reach, 0), last + reach + 1)
                about[near, slice(None) if column == 0 else column] = True
    return about


def _find_flips(wide: np.ndarray, dt: np.ndarray) -> np.ndarray:
    """(F - 1, J) bool: the steps, as wide as they are (rad), that no joint makes."""
    least = np.minimum(WIDE, FASTEST * dt)[:, None]
    beside = np.full((2, *wide.shape), np.inf)
    beside[0, 1:], beside[1, :-1] = wide[:-1], wide[1:]
    core = (wide > FASTEST * dt[:, None]) | ((wide > least) & (wide > ISOLATED * beside.min(axis=0)))
    flips = core.copy()
    for joint in np.flatnonzero(core.any(axis=0)):
        for k in np.flatnonzero(core[:, joint]):
            about = wide[max(k - _ABOUT, 0) : k + _ABOUT + 1, joint]
            usual = max(float(_BESIDE), _RAISED * float(np.median(about)))
            for way in (-1, 1):
                i = k + way
                while 0 <= i < len(wide) and abs(i - k) <= _ABOUT and wide[i, joint] > usual:
                    flips[i, joint] = True
                    i += way
    return flips


def bridge_places(places: np.ndarray, bad: np.ndarray) -> np.ndarray:
    """Places (F, 3) m whose bad steps (F - 1,) are as those about them."""
    if not bad.any():
        return places
    steps = _fill(np.diff(places, axis=0), bad)
    return np.concatenate([places[:1], places[0] + np.cumsum(steps, axis=0)])


def bridge_turns(turns: np.ndarray, bad: np.ndarray) -> np.ndarray:
    """Rotations (F, K, 4) whose bad steps (F - 1, K) are as those about them; signs continuous."""
    bridged = turns
    for k in np.flatnonzero(bad.any(axis=0)):
        bridged = bridged.copy() if bridged is turns else bridged
        steps = rotation.log(rotation.multiply(rotation.conjugate(turns[:-1, k]), turns[1:, k]))
        by = rotation.exp(_fill(steps, bad[:, k]))
        # C, which stays from one glitch to the next: each glitch puts its own turn behind those before it.
        behind = rotation.identity()
        for first, last in find_runs(bad[:, k]):
            for i in range(first, last + 1):
                bridged[i + 1, k] = rotation.multiply(bridged[i, k], by[i])
            behind = rotation.multiply(bridged[last + 1, k], rotation.conjugate(turns[last + 1, k]))
            bridged[last + 1 :, k] = rotation.multiply(behind, turns[last + 1 :, k])
    return bridged if bridged is turns else rotation.make_continuous(rotation.normalize(bridged))


def _fill(steps: np.ndarray, bad: np.ndarray) -> np.ndarray:
    """Steps (N, 3) with the bad ones interpolated between the good."""
    at, good = np.arange(len(steps)), np.flatnonzero(~bad)
    return np.stack([np.interp(at, good, steps[good, axis]) for axis in range(3)], axis=1)


def ease(clip: Clip) -> Clip:
    """A clip whose joints go through its glitches within `EASE` seconds, as springs can follow; the root as it was."""
    bad, turns = clip.glitches.steps[:, 1:], clip.rotations.copy()
    if not bad.any():
        return clip
    bridged = bridge_turns(clip.rotations, bad)
    frames = max(1, round(EASE * clip.fps))
    for k in np.flatnonzero(bad.any(axis=0)):
        for first, last in find_runs(bad[:, k]):
            # How far the motion as it goes on from here is off the one that comes, and what is left of that later on.
            ahead = rotation.multiply(turns[first, k], rotation.conjugate(bridged[first, k]))
            turns[first + 1 : last + 2, k] = rotation.multiply(ahead, bridged[first + 1 : last + 2, k])
            end = min(last + 2 + frames, len(turns))
            left = rotation.log(rotation.multiply(turns[last + 1, k], rotation.conjugate(clip.rotations[last + 1, k])))
            u = (np.arange(last + 1, end) - (last + 1)) / frames
            share = 1.0 - u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
            turns[last + 1 : end, k] = rotation.multiply(
                rotation.exp(share[:, None] * left), clip.rotations[last + 1 : end, k]
            )
    return clip.replace(rotations=turns)


def describe_glitches(clip: Clip, glitches: Glitches) -> list[Finding]:
    """The worst glitches, one by one; and the number of the others, with what is done about all."""
    said = []
    for glitch in glitches.found[:MOST]:
        label, when = clip.skeleton.labels[glitch.joint], f"at {clip.times[glitch.frame]:.2f} s"
        if glitch.is_jump:
            message = f"{when} the root, {label}, jumps at {glitch.size:.0f} m/s2, more than in any landing."
        else:
            turn = np.degrees(glitch.size)
            message = f"{when} {label} turns by {turn:.0f} degrees from one frame to the next."
        said.append(Finding("glitch", message, glitch.size))
    more = len(glitches.found) - len(said)
    if said:
        count = f"there are {more} more; " if more > 0 else ""
        message = f"{count}forces and simulations bridge them, and the poses are kept."
        said.append(Finding("glitches", message, len(glitches.found)))
    return said
