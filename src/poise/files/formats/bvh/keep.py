"""BVH out in the manner of the BVH that came in: its text up to the first frame stays as it is.

Names (double ones too), order, offsets, channels, Euler orders, line ends and the frame time's digits are therefore the
source's. What changes are the numbers of the frames: the text of a frame that did not change is the source's own, to
the last digit and blank; others are printed with as many decimals, six at least. A byte-order mark, UTF-16 and lines
that end with a carriage return alone are not kept.

The frames are kept as text, too: `0`, `-0.0000` and every blank.
"""

from __future__ import annotations

import itertools
import re
from os import PathLike

import numpy as np

from poise.errors import FileError, InputError
from poise.files.formats.bvh.clip import find_frame_time, read_angles
from poise.files.formats.bvh.euler import from_euler_curves, to_euler_curves, to_euler_near
from poise.files.formats.bvh.position_channels import AXES, read_positions
from poise.files.formats.bvh.text import BvhFile, parse_numbers, read_plain_text
from poise.files.output import write_bytes
from poise.motion.clip import Clip
from poise.spatial import rotation

_FEWEST_DECIMALS, _MOST_DECIMALS = 6, 15
# A pose within this of the source's is the source's: rad, and a share of a position. Scaling, turning and coming back
# costs 1e-15; the seventh decimal of a degree is 2e-9.
_SAME = 1e-10
# A joint that is nowhere farther than this (rad) from the source takes its angles frame by frame nearest to the
# source's; farther away the nearest triple may change from frame to frame.
_NEAR = np.radians(60.0)


def save_bvh_as(
    clip: Clip, source: BvhFile, path: str | PathLike[str], *, tree: int = 0, frames: np.ndarray | None = None
) -> None:
    """Write a clip in the manner of a BVH file.

    clip    in the file's units and axes (`Placement.to_file`), with the joints of one of its skeletons
    source  the file, as `Recording.source` of one that was read
    tree    which of its skeletons; the others keep their motion
    frames  (F,) the source's frame that each of the clip's comes from, for the branch of its angles and for what a
            clip does not hold (other skeletons); the nearest in time if None

    A joint turns only about the axes that it has channels for, and moves only along those.
    """
    write_bytes(path, format_bvh_as(clip, source, tree=tree, frames=frames))


def format_bvh_as(clip: Clip, source: BvhFile, *, tree: int = 0, frames: np.ndarray | None = None) -> bytes:
    """The bytes of such a file; the arguments as for save_bvh_as."""
    joints = [source.joints[i] for i in source.trees[tree]]
    if clip.skeleton.names != tuple(joint.name for joint in joints):
        raise InputError(
            f"a clip with joints {', '.join(clip.skeleton.names[:4])}, ... cannot be written in the manner of "
            f"{source.path}, which has {', '.join(joint.name for joint in joints[:4])}, ... Retarget it first."
        )
    if frames is None:
        frames = np.rint((clip.times - clip.times[0]) / source.frame_time).astype(int)
    frames = np.clip(frames, 0, len(source.values) - 1)
    values = source.values[frames]
    same = _set_positions(values, clip, source, tree, frames) & _set_angles(values, clip, source, tree, frames)
    decimals = count_decimals(source.values)
    if not same:
        decimals = max(decimals, _FEWEST_DECIMALS)
    head, own = _format_head(clip, source), read_rows(source)
    end = b"\r\n" if (head if own is None else own[0]).endswith(b"\r\n") else b"\n"
    is_own = (values == source.values[frames]).all(axis=1) & (own is not None)
    made = iter(_format_rows(values[~is_own], decimals))
    rows = [
        own[frame] if kept and own is not None else next(made) + end for frame, kept in zip(frames, is_own, strict=True)
    ]
    for i, piece in enumerate(rows[:-1]):  # the source's last may end with the file
        rows[i] = piece if piece.endswith(b"\n") else piece + end
    return b"".join([head if head.endswith(b"\n") else head + end, *rows])


def count_decimals(values: np.ndarray) -> int:
    """The fewest decimals in which every value can be written and read again without change; 15 at most."""
    for decimals in range(_MOST_DECIMALS):
        power = 10.0**decimals
        # Correctly rounded, as both are exact below 2^53: equal only if this decimal number is the one that was read.
        if np.array_equal(np.rint(values * power) / power, values):
            return decimals
    return _MOST_DECIMALS


def _set_positions(values: np.ndarray, clip: Clip, source: BvhFile, tree: int, frames: np.ndarray) -> bool:
    """Put the joints' positions into their channels, in place; whether nothing changed."""
    picked = source.trees[tree]
    columns = [source.columns[i] for i in picked]
    found = read_positions(source, [source.joints[i] for i in picked], columns)
    # Where they were read to be, and where they are now.
    was, now = (np.tile(offsets, (len(clip), 1, 1)) for offsets in (found.offsets, clip.skeleton.offsets))
    if found.shifts is not None:
        was += found.shifts[frames]
    if clip.shifts is not None:
        now += clip.shifts
    was[:, 0], now[:, 0] = found.translations[frames, 0], clip.root
    same = True
    for joint, column in enumerate(columns):
        for axis, letter in enumerate(AXES):
            channel = column.get(f"{letter}position")
            if channel is None:
                continue
            old, new = was[:, joint, axis], now[:, joint, axis]
            kept = np.abs(new - old) <= _SAME * np.maximum(1.0, np.abs(old))
            values[:, channel] = np.where(kept, values[:, channel], new - found.added[joint, axis])
            same &= bool(kept.all())
    return same


def _set_angles(values: np.ndarray, clip: Clip, source: BvhFile, tree: int, frames: np.ndarray) -> bool:
    """Put the rotations into their channels, in place; whether nothing changed."""
    picked = source.trees[tree]
    joints = [source.joints[i] for i in picked]
    columns = [source.columns[i] for i in picked]
    angles, orders = read_angles(source, joints, columns)
    old = angles[frames]
    off = rotation.angle(from_euler_curves(old, orders), clip.rotations)
    for joint in np.flatnonzero(off.max(axis=0) > _SAME).tolist():
        order, q = orders[joint], clip.rotations[:, joint]
        if off[:, joint].max() <= _NEAR:
            new = to_euler_near(q, order, old[:, joint])
        else:
            new = to_euler_curves(q, order)
            first = to_euler_near(q[:1], order, old[:1, joint])
            new = _begin_at(new, first[0])
        kept = off[:, joint] <= _SAME
        for i, axis in enumerate(order):
            column = columns[joint].get(f"{axis}rotation")
            if column is not None:
                values[:, column] = np.where(kept, values[:, column], np.degrees(new[:, i]))
    return bool(off.max() <= _SAME)


def _begin_at(angles: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The same curves (F, 3) on the branch that begins at another triple (3,) of their first rotation."""
    direct = np.abs(np.sin(0.5 * (first - angles[0]))).sum()
    if direct > 1e-6:  # the other triple, and so on all of the curve
        angles = np.stack([angles[:, 0] + np.pi, np.pi - angles[:, 1], angles[:, 2] + np.pi], axis=1)
    return angles + 2 * np.pi * np.round((first - angles[0]) / (2 * np.pi))


def _format_head(clip: Clip, source: BvhFile) -> bytes:
    """The source's lines before the first frame, with the number of frames and their time as they are now."""
    start = [m.end() for m in re.finditer(rb"\bMOTION\b", source.head, re.IGNORECASE)][-1]
    hierarchy, motion = source.head[:start], source.head[start:]
    count = re.search(rb"(?i)Frames\s*:[ \t]*(\S+)", motion)
    if count is not None and int(count[1]) != len(clip):
        motion = motion[: count.start(1)] + b"%d" % len(clip) + motion[count.end(1) :]
    if len(clip) > 1:
        step = clip.duration / (len(clip) - 1)
        if abs(step - source.frame_time) * len(clip) > 1e-6 * step:
            text = find_frame_time(clip.times).encode()
            motion = re.sub(rb"(?i)(Frame\s*Time\s*:[ \t]*)\S+", lambda m: m[1] + text, motion, count=1)
    return hierarchy + motion


def _format_rows(values: np.ndarray, decimals: int) -> list[bytes]:
    if decimals == _MOST_DECIMALS:  # binary fractions, or exponents: the shortest text that gives the number back
        return [" ".join(np.format_float_positional(x, trim="-") for x in row).encode() for row in values]
    row_format = b" ".join([b"%%.%df" % decimals] * values.shape[1])
    # Rounded first, so that no "-0.000000" is written.
    return [row_format % tuple(row) for row in (np.round(values, decimals) + 0.0).tolist()]


def read_rows(source: BvhFile) -> list[bytes] | None:
    """The text of each frame with its line end; None where the file is no longer the one that was read.

    It is read anew, since nobody else needs so much text. Together with `source.head` the rows are the whole file.
    """
    try:
        text = read_plain_text(source.path)
    except FileError:
        return None
    if not text.startswith(source.head):
        return None
    block = text[len(source.head) :]
    numbers = parse_numbers(block)
    if len(numbers.bad) or not np.array_equal(numbers.values, source.values.ravel()):
        return None
    channels = source.values.shape[1]
    line_ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    # A line ends wherever a frame does; what comes after the last is the last's.
    ends = line_ends[np.searchsorted(line_ends, numbers.starts[channels - 1 : -1 : channels])] + 1
    return [block[begin:end] for begin, end in itertools.pairwise([0, *ends.tolist(), len(block)])]
