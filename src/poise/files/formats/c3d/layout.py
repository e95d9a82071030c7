"""Where the frames of a C3D file lie, when header and parameters disagree: the bytes that are there decide.

The header's words have 16 bits, and programs write them, or the parameters, wrongly: frames from 0, counts that
overflowed, points or channels that were added without one of the two being told. Every reading that header and
parameters allow is a candidate; the first that fills the file to its last block is taken, the header's own first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from poise.findings import Finding

BLOCK = 512
_MOST_FRAMES = 2**31


@dataclass(frozen=True)
class Counts:
    """What one place of the file says. None where it says nothing.

    first, frames   number of the first frame, how many there are
    points, analog  points and analog values a frame
    start           byte where the data begins
    scale           negative: floats; else what 16-bit integers are multiplied by
    """

    first: int | None = None
    frames: int | None = None
    points: int | None = None
    analog: int | None = None
    start: int | None = None
    scale: float | None = None


@dataclass(frozen=True)
class Layout:
    """Where the frames are: as `Counts`, all known, with the analog samples a channel and frame."""

    first: int
    frames: int
    points: int
    analog: int
    start: int
    scale: float

    @property
    def width(self) -> int:
        """Bytes a number."""
        return 4 if self.scale < 0 else 2

    @property
    def frame_bytes(self) -> int:
        return self.width * (4 * self.points + self.analog)

    def left_over(self, size: int) -> int:
        """Bytes behind the last frame of a file of this size; negative where it ends before."""
        return size - self.start - self.frames * self.frame_bytes


def find_layout(header: Counts, others: tuple[Counts, ...], size: int) -> tuple[Layout | None, list[Finding]]:
    """The layout that fits a file of `size` bytes, and warnings about it; None if none can be right."""
    candidates = list(_candidates(header, others))
    if not candidates:
        return None, []
    own = candidates[0]
    if 0 <= own.left_over(size) < BLOCK:
        return own, _describe_frames(header, others, own)
    exact = [c for c in candidates if 0 <= c.left_over(size) < BLOCK]
    if exact:
        return exact[0], _describe(own, exact[0])
    if own.left_over(size) >= 0:  # more than was announced: programs append blocks of their own
        return own, _describe_frames(header, others, own)
    # Not filled, but not cut off either, with the header's frames of another number only.
    fitting = [c for c in candidates if c.left_over(size) >= 0 and c.frame_bytes == own.frame_bytes]
    return (fitting[0], _describe(own, fitting[0])) if fitting else (own, [])


def _candidates(header: Counts, others: tuple[Counts, ...]) -> Iterator[Layout]:
    """Every combination of what is said, what the header says first."""
    every = (header, *others)

    def said(name: str) -> list:
        return list(dict.fromkeys(v for c in every if (v := getattr(c, name)) is not None))

    spans = list(dict.fromkeys((c.first, c.frames) for c in every if c.frames is not None))
    first = next((c.first for c in every if c.first is not None), 1)
    for scale, start, points, analog, span in itertools.product(
        said("scale"), said("start"), said("points"), said("analog") or [0], spans
    ):
        frames = span[1]
        # Two words tell a number that 16 bits have cut off.
        begin = max((b for b, f in spans if f == frames and b is not None), default=first)
        if (
            scale
            and math.isfinite(scale)
            and points > 0
            and analog >= 0
            and start >= BLOCK
            and 0 < frames < _MOST_FRAMES
        ):
            yield Layout(begin, frames, points, analog, start, scale)


def _describe(own: Layout, taken: Layout) -> list[Finding]:
    """A warning if the parameters are believed, and not the header."""
    parts = [
        f"{getattr(taken, name)} {what} (not {getattr(own, name)})"
        for name, what in (("frames", "frames"), ("points", "points"), ("analog", "analog values a frame"))
        if getattr(taken, name) != getattr(own, name)
    ]
    if taken.width != own.width:
        parts.append("floats (not integers)" if taken.width == 4 else "integers (not floats)")
    if taken.start != own.start:
        parts.append(f"data from byte {taken.start} (not {own.start})")
    what = ", ".join(parts)
    message = f"it contradicts the parameters; by the file's size there are {what}."
    return [Finding("header", message, taken.frames)] if parts else []


def _describe_frames(header: Counts, others: tuple[Counts, ...], own: Layout) -> list[Finding]:
    """A warning if the header is believed, and not the parameters."""
    wrong = sorted({c.frames for c in others if c.frames is not None and c.frames != own.frames})
    if not wrong or header.frames != own.frames:
        return []
    others_say = ", ".join(map(str, wrong))
    message = f"the parameters contradict it; by the file's size there are {own.frames} frames (not {others_say})."
    return [Finding("header", message, own.frames)]
