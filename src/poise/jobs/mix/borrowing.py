"""Parts of a mix that come from other clips: `--from arms=gestures.bvh`.

The body plays its own clip with these parts exchanged (`motion/edits/borrow.py`). Its legs balance that motion with the
own clip's arms: other arms are for the body to answer, as a load is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from poise.errors import FileError, InputError
from poise.files.reading.options import Source
from poise.files.registry import read_source
from poise.files.reporting import SILENT, Reporter
from poise.jobs.shared.body import ClipBody
from poise.motion.clip import Clip
from poise.motion.edits.borrow import RETURN, borrow, find_borrowed, is_same_body

_SAME_TIME = 1e-6  # s


class _Warned(Reporter):
    """An audience that hears warnings only."""

    def __init__(self, audience: Reporter):
        self.warn = audience.warn  # type: ignore[method-assign]


@dataclass(frozen=True)
class Borrowed:
    """A part, joint or role of the body that moves as in another clip, given as it is or as the path of its file."""

    part: str
    clip: Path | Clip


def parse_from(text: str) -> tuple[Borrowed, ...]:
    """Parts of another clip out of words, as in `arms=gestures.bvh` or `leftArm,head=gestures.bvh`."""
    parts, _, file = text.partition("=")
    if not file.strip():
        raise _wrong_words(text)
    return name_parts(parts, Path(file.strip()))


def name_parts(words: str, clip: Path | Clip) -> tuple[Borrowed, ...]:
    """Parts of another clip, several with commas between."""
    parts = [part.strip() for part in words.split(",")]
    if not all(parts):
        raise _wrong_words(f"{words}={clip if isinstance(clip, Path) else ''}")
    return tuple(Borrowed(part, clip) for part in parts)


def _wrong_words(given: str) -> InputError:
    return InputError(f"parts of another clip are written as part=file, as in arms=gestures.bvh; '{given}' was given.")


def borrow_parts(
    body: ClipBody, borrowed: Iterable[Borrowed], audience: Reporter = SILENT
) -> tuple[ClipBody, list[dict[str, Any]]]:
    """Return the body with what it plays, and what came from where, for JSON.

    A body whose own clip is a single pose holds it for as long as the longest of the others lasts.
    """
    parts_of = _sort(body, borrowed)
    others = {source: _read(source, audience) for source in parts_of}
    clip = body.clip
    if len(clip) == 1 and others:
        clip = _hold(clip, max(others.values(), key=lambda other: other.duration))
    played, told = clip, []
    for source, parts in parts_of.items():
        other = others[source]
        try:
            played = borrow(played, other, parts)
        except InputError as error:
            raise _of(source, error) from None
        own = is_same_body(clip.skeleton, other.skeleton)
        audience.note(_describe(clip, other, source, parts, own))
        name = str(source) if isinstance(source, Path) else other.name
        told.append(
            {"parts": parts, "file": name, "fps": other.fps, "duration_s": other.duration, "retargeted": not own}
        )
    return dataclasses.replace(body, clip=clip, played=played if told else None), told


def _sort(body: ClipBody, borrowed: Iterable[Borrowed]) -> dict[Path | Clip, list[str]]:
    """Clip -> the parts that come from it. Raise InputError if a part does not exist or two have a joint in common."""
    parts_of: dict[Path | Clip, list[str]] = {}
    taken: dict[int, str] = {}
    for each in borrowed:
        for joint in find_borrowed(body.clip.skeleton, each.part):
            if joint in taken:
                both = f"'{taken[joint]}' and '{each.part}' both include {body.clip.skeleton.labels[joint]}"
                if taken[joint] == each.part:
                    both = f"'{each.part}' is named twice"
                raise InputError(f"each joint comes from one clip, but {both}. Remove one of them.")
            taken[joint] = each.part
        parts_of.setdefault(each.clip, []).append(each.part)
    return parts_of


def _read(source: Path | Clip, audience: Reporter) -> Clip:
    """Return the clip. Only warnings are passed on: guesses about units and axes do not change limb directions."""
    return source if isinstance(source, Clip) else read_source(source, Source(), _Warned(audience)).clip


def _of(source: Path | Clip, error: InputError) -> InputError:
    """An error about a clip, with its file or name."""
    if isinstance(source, Path):
        return FileError(source, str(error))
    return InputError(f"clip '{source.name}': {error}")


def _hold(pose: Clip, other: Clip) -> Clip:
    """A clip of one frame, held at the frames of another."""
    times = other.times - other.times[0]
    return pose.replace(times=times, **pose.pose(pose.times[0] + 0.0 * times)._asdict())


def _describe(clip: Clip, other: Clip, source: Path | Clip, parts: list[str], own: bool) -> str:
    """One sentence: what comes from where, and what was done about its body, rate and length."""
    done = [] if own else ["retargeted onto this body"]
    if len(other) > 1 and abs(other.fps / clip.fps - 1.0) > 1e-3:
        done.append(f"resampled from {other.fps:.4g} to {clip.fps:.4g} frames a second")
    if len(other) == 1:
        done.append("a single pose, which is held")
    elif other.duration < clip.duration - _SAME_TIME:
        end = f"{other.duration:.2f} s"
        done.append(f"until it ends at {end}; then they return to the clip's own motion within {RETURN:g} s")
    elif other.duration > clip.duration + _SAME_TIME:
        done.append(f"the first {clip.duration:.2f} s of {other.duration:.2f} s, as long as the clip")
    where = str(source) if isinstance(source, Path) else f"clip '{other.name}'"
    return f"{', '.join(parts)}: the motion of {where}{''.join(f', {each}' for each in done)}."


def read_mapping(given: Mapping[Any, Any]) -> tuple[Borrowed, ...]:
    """Parts of other clips out of a mapping from parts to clips, or the paths of their files."""
    found: list[Borrowed] = []
    for parts, clip in given.items():
        if not isinstance(parts, str) or not isinstance(clip, Clip | str | PathLike):
            raise InputError(
                "from_ of a mix maps a part to a Clip or the path of its file, as in {'arms': 'gestures.bvh'}; given "
                f"{parts!r}: {clip!r:.60}."
            )
        found += name_parts(parts, clip if isinstance(clip, Clip) else Path(clip))
    return tuple(found)
