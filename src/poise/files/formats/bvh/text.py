"""The text of a BVH file and the tables in it, in the file's own units, axes and channel order.

The reader takes what is found in the wild: any line ends, tabs, a byte-order mark, Latin-1, exponents, `Frames:200`,
names with blanks or colons, braces on any line, joints without channels or End Site, frames wrapped over lines. It
refuses what it cannot be sure of, naming the line.

Decimal numbers are read many at once.

The digits of a plain number ("-12.5", "+3", ".5") are gathered column by column over all numbers together. A mantissa
below 2^53 divided by a power of ten up to 10^22 is correctly rounded, both being exact (Clinger 1990, "How to read
floating point numbers accurately", section 4), so the result is bit for bit that of `float`, at half the time. Whatever
else a number can look like (an exponent, 17 digits, "nan") goes to `float` itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike

import numpy as np

from poise.errors import FileError
from poise.files.input import check_poses, read_bytes, shorten
from poise.findings import Finding
from poise.frozen import Portable

CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation")
_CHANNEL_OF = {name.lower(): name for name in CHANNELS}
_KEYWORDS = ("ROOT", "JOINT", "END", "OFFSET", "CHANNELS", "HIERARCHY", "MOTION")
# Bounds on what a file may ask for, far outside anything recorded, so that garbage is refused and not computed with.
_MOST_JOINTS = 10_000
_MOST_BYTES = 1_000_000_000  # an hour and a half of 60 joints at 120 Hz
_MOST_FRAMES = 2_000_000  # four hours at 120 Hz
_MOST_WARNINGS = 10  # of one kind
_LARGEST_VALUE = 1e9
_SHORTEST_FRAME, _LONGEST_FRAME = 1e-6, 10.0  # s


@dataclass(frozen=True)
class BvhJoint:
    """One joint as declared.

    name      unique in its tree
    parent    index of the parent, -1 for a root
    offset    rest vector from the parent, in the file's units
    channels  of "Xposition" ... "Zrotation", in the file's order
    tip       rest vector to the End Site, in the file's units; None where there is none, or only one of no length
    """

    name: str
    parent: int
    offset: tuple[float, float, float]
    channels: tuple[str, ...] = ()
    tip: tuple[float, float, float] | None = None


@dataclass(frozen=True, eq=False)
class BvhFile(Portable):
    """A BVH file as it stands: nothing is scaled, turned or renamed, but for double names.

    joints      parents before children, one tree after the other
    frame_time  s
    values      (F, C) of all channels of all joints, in their order; degrees and the file's units
    findings    what was odd but could be read
    head        the text before the first frame: HIERARCHY, `Frames:` and `Frame Time:`, line ends as they were
    """

    path: str
    joints: tuple[BvhJoint, ...]
    frame_time: float
    values: np.ndarray
    findings: tuple[Finding, ...] = ()
    head: bytes = b""

    @cached_property
    def columns(self) -> tuple[dict[str, int], ...]:
        """Where each joint's channels stand in `values`: a mapping of channel name to column for each joint."""
        starts = np.cumsum([0, *(len(joint.channels) for joint in self.joints)]).tolist()
        return tuple(
            {channel: start + i for i, channel in enumerate(joint.channels)}
            for start, joint in zip(starts, self.joints, strict=False)
        )

    @cached_property
    def trees(self) -> tuple[range, ...]:
        """The joints of each skeleton: most files have one, files of several people one a ROOT."""
        roots = [i for i, joint in enumerate(self.joints) if joint.parent < 0]
        return tuple(range(a, b) for a, b in zip(roots, [*roots[1:], len(self.joints)], strict=True))


def read_bvh_tables(path: str | PathLike[str]) -> BvhFile:
    """Read the tables of a BVH file. Raises FileError, with the line, on anything that is not one."""
    return parse_bvh(read_bytes(path, _MOST_BYTES), path)


def read_plain_text(path: str | PathLike[str]) -> bytes:
    """The text of a BVH file as `parse_bvh` sees it, of which `BvhFile.head` is the beginning."""
    return _to_plain_text(read_bytes(path, _MOST_BYTES), path)


def parse_bvh(data: bytes, path: str | PathLike[str] = "<bytes>") -> BvhFile:
    """The tables of a BVH file whose bytes are at hand; `path` is for messages."""
    text = _to_plain_text(data, path)
    if not text.strip():
        raise FileError(path, "the file is empty. Export it again.")
    if not re.match(rb"\s*HIERARCHY\b", text, re.IGNORECASE):
        begin = text.lstrip()[:20].decode("ascii", "replace").split("\n")[0]
        raise FileError(path, f"not a BVH file: it begins with {begin!r}, a BVH begins with HIERARCHY.", 1)
    motion = re.search(rb"^[ \t}]*MOTION\b", text, re.IGNORECASE | re.MULTILINE)
    hierarchy = text[: motion.end()] if motion else text
    joints, findings = _HierarchyReader(path).read(hierarchy)
    if motion is None:
        raise FileError(path, "there is no MOTION section. The file is cut off.", _count_lines(text))
    frame_time, values, start = _read_motion(text, motion.end(), joints, path, findings)
    return BvhFile(str(path), tuple(joints), frame_time, values, tuple(findings), text[:start])


def _to_plain_text(data: bytes, path: str | PathLike[str]) -> bytes:
    """The same text without byte-order mark, in an encoding that extends ASCII, lines ended by a line feed."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            data = data.decode("utf-16").encode()
        except UnicodeDecodeError:
            raise FileError(path, "not a BVH file: it begins like UTF-16 text but is not.", 1) from None
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data if b"\n" in data else data.replace(b"\r", b"\n")


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _count_lines(text: bytes, end: int | None = None) -> int:
    """The number, from 1, of the line that the byte at `end` is on; of the last line that is not empty by default."""
    return text.count(b"\n", 0, len(text.rstrip()) if end is None else end) + 1


@dataclass
class _Draft:
    """A joint while its block is open."""

    name: str
    parent: int
    line: int
    offset: tuple[float, float, float] | None = None
    channels: tuple[str, ...] = ()
    tips: list[tuple[float, float, float]] = field(default_factory=list)

    def finish(self) -> BvhJoint:
        tip = next((tip for tip in self.tips if any(tip)), None)
        assert self.offset is not None
        return BvhJoint(self.name, self.parent, self.offset, self.channels, tip)


class _HierarchyReader:
    """The HIERARCHY section, word by word. The open blocks are a list, so that nesting may be of any depth."""

    def __init__(self, path: str | PathLike[str]):
        self.path = path
        self.drafts: list[_Draft] = []
        self.open: list[int | None] = []  # joint of each open block; None for an End Site
        self.line = 1

    def read(self, hierarchy: bytes) -> tuple[list[BvhJoint], list[Finding]]:
        """All joints, and what was odd."""
        self.words = self._split(_decode(hierarchy))
        self._next()  # HIERARCHY
        for word in self.words:
            match word.upper():
                case "ROOT" | "JOINT":
                    self._open_joint(word)
                case "END":
                    self._open_end_site()
                case "OFFSET":
                    self._read_offset()
                case "CHANNELS":
                    self._read_channels()
                case "}":
                    self._close()
                case "MOTION":
                    break
                case _:
                    raise self._error(f"'{shorten(word)}' is not understood here. Known: {', '.join(_KEYWORDS)}.")
        if self.open:
            raise self._error(f"{len(self.open)} blocks are not closed by '}}'. The file is cut off.")
        if not self.drafts:
            raise self._error("there is no ROOT joint in the HIERARCHY. Export the file again.")
        findings = self._make_names_unique()
        return [draft.finish() for draft in self.drafts], findings

    def _split(self, text: str) -> Iterator[str]:
        for self.line, line in enumerate(text.split("\n"), 1):
            self.rest = line.replace("{", " { ").replace("}", " } ").split()
            while self.rest:
                yield self.rest.pop(0)

    def _next(self) -> str:
        word = next(self.words, None)
        if word is None:
            raise self._error("the file ends inside the HIERARCHY. It is cut off.")
        return word

    def _error(self, message: str) -> FileError:
        return FileError(self.path, message, self.line)

    def _expect_brace(self, what: str) -> None:
        word = self._next()
        if word != "{":
            raise self._error(f"{what} must be followed by '{{', not by '{shorten(word)}'.")

    def _joint(self, what: str) -> _Draft:
        if not self.open or self.open[-1] is None:
            raise self._error(f"{what} stands outside a joint's block.")
        return self.drafts[self.open[-1]]

    def _open_joint(self, keyword: str) -> None:
        words = []
        while self.rest and self.rest[0] != "{":
            words.append(self.rest.pop(0))
        if not words:
            raise self._error(f"{keyword} has no name.")
        name, line = " ".join(words), self.line
        is_root = keyword.upper() == "ROOT"
        if is_root and self.open:
            raise self._error(
                f"ROOT '{shorten(name)}' is a second root, inside a joint's block. Split the file, or call it JOINT."
            )
        if not is_root:
            self._joint(f"JOINT '{shorten(name)}'")
        if len(self.drafts) == _MOST_JOINTS:
            raise self._error(f"there are more than {_MOST_JOINTS} joints. The file is not an animation.")
        self._expect_brace(f"{keyword} {shorten(name)}")
        parent = -1 if is_root else self.open[-1]
        assert parent is not None
        self.open.append(len(self.drafts))
        self.drafts.append(_Draft(name, parent, line))

    def _open_end_site(self) -> None:
        self._joint("End Site")
        while self.rest and self.rest[0] != "{":  # "Site", and sometimes a name
            self.rest.pop(0)
        self._expect_brace("End Site")
        self.open.append(None)

    def _close(self) -> None:
        if not self.open:
            raise self._error("there is a '}' too many.")
        index = self.open.pop()
        if index is not None and self.drafts[index].offset is None:
            draft = self.drafts[index]
            raise FileError(self.path, f"joint '{shorten(draft.name)}' has no OFFSET.", draft.line)

    def _read_offset(self) -> None:
        numbers = []
        for _ in range(3):
            word = self._next()
            try:
                numbers.append(float(word))
            except ValueError:
                raise self._error(f"OFFSET needs three numbers; '{shorten(word)}' is not one.") from None
        if not all(abs(x) <= _LARGEST_VALUE for x in numbers):
            raise self._error(f"OFFSET {numbers} is not a length that a bone can have.")
        offset = (numbers[0], numbers[1], numbers[2])
        if self.open and self.open[-1] is None:
            owner = self.open[-2]
            assert owner is not None
            self.drafts[owner].tips.append(offset)
        else:
            self._joint("OFFSET").offset = offset

    def _read_channels(self) -> None:
        draft = self._joint("CHANNELS")
        count = self._next()
        if not re.fullmatch("[0-9]{1,3}", count):
            raise self._error(f"CHANNELS needs a number of channels first; '{shorten(count)}' is not one.")
        names = []
        for _ in range(int(count)):
            word = self._next()
            if word.lower() not in _CHANNEL_OF:
                raise self._error(
                    f"CHANNELS announces {count} channels; '{shorten(word)}' is none of {', '.join(CHANNELS)}."
                )
            names.append(_CHANNEL_OF[word.lower()])
        if self.rest and self.rest[0].lower() in _CHANNEL_OF:
            raise self._error(f"CHANNELS announces {count} channels, but lists more.")
        if len(set(names)) != len(names):
            raise self._error(f"joint '{shorten(draft.name)}' lists a channel twice.")
        draft.channels = tuple(names)

    def _make_names_unique(self) -> list[Finding]:
        found = []
        taken = {draft.name for draft in self.drafts}
        next_number: dict[str, int] = {}
        seen: set[str] = set()
        for draft in self.drafts:
            if draft.parent < 0:
                seen = set()  # another tree
            if draft.name in seen:
                number = next_number.get(draft.name, 2)
                while f"{draft.name}_{number}" in taken:
                    number += 1
                next_number[draft.name] = number + 1
                new = f"{draft.name}_{number}"
                message = f"a second joint '{draft.name}' (line {draft.line}) is called '{new}' here."
                found.append(Finding("joint names", message, new))
                taken.add(new)
                draft.name = new
            seen.add(draft.name)
        more = len(found) - _MOST_WARNINGS
        if more > 0:
            message = f"{more} more joints are called as others are, and were given numbers."
            found[_MOST_WARNINGS:] = [Finding("joint names", message, more)]
        return found


def _read_motion(
    text: bytes, start: int, joints: list[BvhJoint], path: str | PathLike[str], findings: list[Finding]
) -> tuple[float, np.ndarray, int]:
    """Frame time in seconds, the table (F, C) of values, and where it begins. `start`: the offset behind MOTION."""

    def find_field(pattern: bytes, name: str, example: str, position: int) -> tuple[str, int]:
        found = re.compile(rb"\s*" + pattern + rb"\s*:[ \t]*(\S*)", re.IGNORECASE).match(text, position)
        if found is None:
            next_word = re.compile(rb"\s*").match(text, position)
            line = _count_lines(text, next_word.end() if next_word else position)
            raise FileError(path, f"'{name}:' should stand here, e.g. '{name}: {example}'. The file is cut off.", line)
        return _decode(found[1]), found.end()

    frames_word, position = find_field(b"Frames", "Frames", "200", start)
    frames_line = _count_lines(text, position)
    if not re.fullmatch("[0-9]{1,18}", frames_word) or int(frames_word) == 0:
        message = f"'Frames: {shorten(frames_word)}' is not a number of frames; at least 1 is needed."
        raise FileError(path, message, frames_line)
    time_word, position = find_field(rb"Frame\s*Time", "Frame Time", "0.0333333", position)
    frame_time = _read_frame_time(time_word, path, _count_lines(text, position))
    end_of_line = text.find(b"\n", position)
    start = len(text) if end_of_line < 0 else end_of_line + 1
    n_channels = sum(len(joint.channels) for joint in joints)
    values = _read_frames(text, start, n_channels, int(frames_word), path)
    if len(values) > _MOST_FRAMES:
        message = f"{len(values)} frames are more than the {_MOST_FRAMES} that can be read. Split the recording."
        raise FileError(path, message, frames_line)
    if len(values) > int(frames_word):
        message = f"'Frames: {frames_word}' (line {frames_line}) but {len(values)} follow; all were read."
        findings.append(Finding("frames", message, len(values)))
    if len(values) * len(joints) > 1_000_000 + 4 * values.size:
        message = f"{len(joints)} joints have only {n_channels} channels. The file is not an animation."
        raise FileError(path, message, frames_line)
    check_poses(path, len(values), len(joints))
    return frame_time, values, start


def _read_frame_time(word: str, path: str | PathLike[str], line: int) -> float:
    try:
        seconds = float(word)
    except ValueError:
        message = f"Frame Time '{shorten(word)}' is not a number of seconds, e.g. 0.0333333."
        raise FileError(path, message, line) from None
    if not _SHORTEST_FRAME <= seconds <= _LONGEST_FRAME:
        hint = f" If it is frames a second, write {1 / seconds:.7f}." if _LONGEST_FRAME < seconds < 1e6 else ""
        message = f"Frame Time {shorten(word)} s is outside {_SHORTEST_FRAME:g} to {_LONGEST_FRAME:g} s.{hint}"
        raise FileError(path, message, line)
    return seconds


def _read_frames(text: bytes, start: int, n_channels: int, n_frames: int, path: str | PathLike[str]) -> np.ndarray:
    """The table (F, n_channels) that begins at byte `start`; at least n_frames rows, or an error that says the line."""
    if n_channels == 0:
        raise FileError(path, "no joint has CHANNELS: nothing moves. Export the file again.", _count_lines(text, start))
    block = text[start:]
    numbers = parse_numbers(block)

    def line_of(value: int) -> int:
        return _count_lines(text, start + int(numbers.starts[value]))

    if len(numbers.bad):
        first = int(numbers.bad[0])
        word = shorten(_decode(block[numbers.starts[first] :].split(None, 1)[0]))
        raise FileError(path, f"'{word}' is not a number. Mend or export the file again.", line_of(first))
    line_ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    # Wherever a frame is complete, a line must end: frames begin on later lines than the one before them ended on.
    begins = np.searchsorted(line_ends, numbers.starts[n_channels::n_channels])
    ends = np.searchsorted(line_ends, numbers.starts[n_channels - 1 : -1 : n_channels])
    if len(numbers.values) % n_channels or not np.all(begins > ends):
        before = np.unique(np.concatenate([[0], np.searchsorted(numbers.starts, line_ends), [len(numbers.values)]]))
        wrong = int(np.flatnonzero(np.diff(before) != n_channels)[0])
        message = f"frame has {before[wrong + 1] - before[wrong]} values, the HIERARCHY declares {n_channels}."
        raise FileError(path, f"{message} The file is cut off or was edited by hand.", line_of(int(before[wrong])))
    values = numbers.values.reshape(-1, n_channels)
    if len(values) < n_frames:
        message = f"the file ends after {len(values)} of {n_frames} frames. It is cut off."
        raise FileError(path, message, _count_lines(text))
    unusable = ~(np.abs(values) <= _LARGEST_VALUE)  # NaN and infinity too
    if unusable.any():
        first = int(np.argmax(unusable))
        message = f"value {values.flat[first]:g} is neither an angle nor a position. Mend or trim the clip there."
        raise FileError(path, message, line_of(first))
    return values


_MOST_DIGITS = 15  # 10^15 < 2^53
_BLANK = re.compile(rb"[\x00-\x20]")
_POWERS = 10.0 ** np.arange(_MOST_DIGITS + 1)
# Bytes of text handled at a time: the working arrays then stay in the processor's cache, and take little memory beside
# the numbers themselves. Half as much is a tenth slower, twice as much as fast.
_CHUNK = 1 << 19
_WIDEST = _MOST_DIGITS + 2  # sign and point


@dataclass(frozen=True, eq=False)
class Numbers:
    """The words of a text read as numbers.

    values  (N,) NaN where a word is no number
    starts  (N,) offset of each word in the text, in bytes
    bad     (M,) indices of the words that are no number. Reading ends soon after the first
    """

    values: np.ndarray
    starts: np.ndarray
    bad: np.ndarray


def parse_numbers(text: bytes) -> Numbers:
    """All words of a text, separated by spaces, tabs and line ends, as numbers."""
    values, starts, bad = [np.empty(0)], [np.empty(0, np.int64)], []
    n_before = 0
    for begin, end in _split(text):
        chunk_values, chunk_starts, chunk_bad = _parse_chunk(text[begin:end])
        values.append(chunk_values)
        starts.append(chunk_starts + begin)
        bad += [n_before + i for i in chunk_bad]
        n_before += len(chunk_values)
        if bad:
            break
    return Numbers(np.concatenate(values), np.concatenate(starts), np.array(bad, int))


def _split(text: bytes) -> Iterator[tuple[int, int]]:
    """Where to cut a text into chunks that end with a blank, or with the text."""
    begin = 0
    while begin < len(text):
        blank = _BLANK.search(text, begin + _CHUNK)
        end = blank.end() if blank else len(text)
        yield begin, end
        begin = end


def _parse_chunk(text: bytes) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Values and starts of the words of a text, and which are no numbers."""
    # A blank before and a margin behind: every word has both edges, and _WIDEST bytes can be read from each start.
    padded = np.frombuffer(b" " + text + b" " * (_WIDEST + 1), np.uint8)
    ink = padded > ord(" ")
    edges = np.flatnonzero(ink[1:] != ink[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    values, plain = _parse_plain(padded, starts, ends)
    bad = []
    for i in np.flatnonzero(~plain).tolist():
        word = text[starts[i] - 1 : ends[i] - 1]
        try:
            values[i] = float(word if b"_" not in word else "")  # Python alone reads 1_000
        except ValueError:
            values[i] = np.nan
            bad.append(i)
    return values, starts - 1, bad


def _parse_plain(text: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values of the words text[start:end], and whether each was a plain number; otherwise its value means nothing."""
    first = text[starts]
    negative = first == ord("-")
    starts = starts + (negative | (first == ord("+")))
    lengths = ends - starts
    mantissa = np.zeros(len(starts), np.int64)
    n_digits = np.zeros(len(starts), np.uint8)
    n_points = np.zeros(len(starts), np.uint8)
    n_decimals = np.zeros(len(starts), np.int64)
    for k in range(min(int(lengths.max(initial=0)), _WIDEST)):
        inside = lengths > k
        character = text[starts + k]
        digit = character - np.uint8(ord("0"))
        is_digit = (digit < 10) & inside
        is_point = (character == ord(".")) & inside
        mantissa = np.where(is_digit, mantissa * 10 + digit, mantissa)
        n_digits += is_digit
        n_points += is_point
        n_decimals[is_point] = lengths[is_point] - 1 - k
    plain = (n_digits + n_points == lengths) & (n_points <= 1) & (n_digits > 0) & (n_digits <= _MOST_DIGITS)
    values = mantissa / _POWERS[np.where(plain, n_decimals, 0)]
    return np.where(negative, -values, values), plain
