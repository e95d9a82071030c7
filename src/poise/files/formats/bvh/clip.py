"""BVH in and out.

How the numbers are read (docs of the format disagree; this is what Blender 5.0's importer does with them):
- position channels *replace* the OFFSET of their joint; an axis without channel keeps the OFFSET's. Programs that add
  the two instead agree on files whose root has a zero OFFSET, so that is what is written;
- rotation channels stand in the order in which they are multiplied: `Zrotation Xrotation Yrotation` is Rz Rx Ry.

Other joints than the root may have position channels, too. What moves in them becomes the clip's shifts; programs
differ in whether they replace the OFFSET (`files/formats/bvh/position_channels.py` finds out).

Written files are in metres, Y up, with six channels at the root and at joints that have shifts, whose positions replace
the OFFSET, and rotations ZXY everywhere (one order for all joints: many small readers assume it). Angles are curves
without jumps, numbers have no exponent, and the same clip gives the same bytes.
"""

from __future__ import annotations

from os import PathLike

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError, valid_text
from poise.files.formats.bvh.euler import from_euler_curves, to_euler_curves
from poise.files.formats.bvh.position_channels import AXES, Positions, place_joints, read_positions
from poise.files.formats.bvh.text import BvhFile, BvhJoint, read_bvh_tables
from poise.files.input import find_choice, stem_of
from poise.files.output import write_bytes
from poise.files.reading.recording import Recording
from poise.findings import Finding
from poise.motion.clip import Clip

_ORDER = "ZXY"
# Decimals written. A joint at the end of ten bones of half a metre is then at most 1e-6 m off, a tenth of the 0.01 mm
# that a file read and written again must keep.
_DECIMALS = 6
_UNIFORM = 1e-3  # of a frame: how far a time may lie from the even grid that BVH knows
_SINGLE_FRAME_TIME = 1 / 30
_DEEPEST_INDENT = 64
# A leaf without end site gets one this far on, as a fraction of its own bone, and this long if that has no length (m):
# importers show nothing, or a spike, where a bone has no length.
_TIP_FRACTION, _TIP_LENGTH = 0.3, 0.03
# Position channels of a bone may vary by this fraction of the longest bone before it is worth saying.
_STRETCH = 1e-3


def read_bvh(path: str | PathLike[str], clip: str | None = None) -> Recording:
    """The motion of a BVH file as it stands there: one clip, named after the file, or one a ROOT, named after it."""
    file = read_bvh_tables(path)
    names = name_trees(file)
    tree = find_tree(file, clip)
    motion, findings = compute_clip(file, tree)
    if len(names) > 1:
        message = (
            f"the file has {len(names)} skeletons: {', '.join(names)}. This is '{names[tree]}'; --clip takes another."
        )
        findings = (Finding("clips", message, names), *findings)
    return Recording(motion.replace(name=names[tree]), "BVH", str(path), names, source=file, findings=findings)


def name_trees(file: BvhFile) -> tuple[str, ...]:
    """What the clips of a file are called: after the file where it has one skeleton, else after their roots."""
    if len(file.trees) == 1:
        return (stem_of(file.path),)
    names: list[str] = []
    for tree in file.trees:
        root = file.joints[tree[0]].name
        names.append(root if root not in names else f"{root}_{len(names) + 1}")
    return tuple(names)


def find_tree(file: BvhFile, clip: str | None) -> int:
    """Which of the file's skeletons a clip's name, or its number from 0, means; the one of most joints if None."""
    if clip is None:  # the first of these: a prop may come before its person
        return max(range(len(file.trees)), key=lambda i: len(file.trees[i]))
    return find_choice(clip, name_trees(file), file.path)


def save_bvh(clip: Clip, path: str | PathLike[str]) -> None:
    """Write a clip as BVH. Its first frame is then at time 0; uneven times are refused, since BVH cannot keep them."""
    write_bytes(path, valid_text(format_bvh(clip)).encode())


def compute_clip(file: BvhFile, tree: int = 0) -> tuple[Clip, tuple[Finding, ...]]:
    """The motion of one skeleton in a file's tables, in the file's units and axes, and what was odd about it."""
    picked = file.trees[tree]
    joints = [file.joints[i] for i in picked]
    columns = [file.columns[i] for i in picked]
    found = read_positions(file, joints, columns)
    skeleton = Skeleton(
        tuple(joint.name for joint in joints),
        np.array([joint.parent - picked[0] if joint.parent >= 0 else -1 for joint in joints]),
        found.offsets,
        np.array([joint.tip or (np.nan,) * 3 for joint in joints], float),
    )
    times = np.arange(len(file.values)) * file.frame_time
    rotations = _read_rotations(file, joints, columns)
    clip = Clip(skeleton, times, found.translations[:, 0], rotations, stem_of(file.path), found.shifts)
    return clip, (*file.findings, *_describe_sliding(found, skeleton))


def _describe_sliding(found: Positions, skeleton: Skeleton) -> list[Finding]:
    """Which joints move by their position channels, and how far."""
    if found.shifts is None:
        return []
    reach = np.linalg.norm(np.ptp(found.shifts, axis=0), axis=-1)
    longest = np.linalg.norm(skeleton.offsets[1:], axis=1).max()
    moving = [skeleton.names[j] for j in np.flatnonzero(reach > _STRETCH * longest)]
    if not moving:
        return []
    message = f"they move {', '.join(moving)}, by up to {reach.max():.3g} units, and not only the root; that is kept."
    return [Finding("position channels", message, tuple(moving))]


def _read_rotations(file: BvhFile, joints: list[BvhJoint], columns: list[dict[str, int]]) -> np.ndarray:
    """(F, J, 4) rotations of the joints."""
    angles, orders = read_angles(file, joints, columns)
    return from_euler_curves(angles, orders)


def read_angles(file: BvhFile, joints: list[BvhJoint], columns: list[dict[str, int]]) -> tuple[np.ndarray, list[str]]:
    """(F, J, 3) rad and each joint's order. Axes without channel are appended to the order, with angle zero."""
    blank: int = file.values.shape[1]
    values = np.concatenate([file.values, np.zeros((len(file.values), 1))], axis=1)
    orders: list[str] = []
    picks: list[list[int]] = []
    for joint, column in zip(joints, columns, strict=True):
        given = "".join(channel[0] for channel in joint.channels if channel.endswith("rotation"))
        orders.append(given + "".join(axis for axis in AXES if axis not in given))
        picks.append([column.get(f"{axis}rotation", blank) for axis in orders[-1]])
    return np.radians(values[:, np.array(picks)]), orders


def format_bvh(clip: Clip) -> str:
    """A clip as the text of a BVH file."""
    names = [_clean_name(name) for name in clip.skeleton.names]
    moving = _choose_moving(clip)
    order, lines = _format_hierarchy(clip.skeleton, names, moving)
    frame_time = find_frame_time(clip.times)
    angles = np.degrees(to_euler_curves(clip.rotations[:, order], _ORDER))
    places = _channel_positions(clip)
    # The channels of each joint, in the order of the hierarchy: its position where it has one, and its angles.
    table = np.concatenate(
        [
            np.concatenate([places[:, joint], angles[:, k]], axis=1) if moving[joint] else angles[:, k]
            for k, joint in enumerate(order)
        ],
        axis=1,
    )
    # Rounded first, so that no "-0.000000" is written.
    rows = (np.round(table, _DECIMALS) + 0.0).tolist()
    row_format = " ".join([f"%.{_DECIMALS}f"] * table.shape[1])
    lines += ["MOTION", f"Frames: {len(clip)}", f"Frame Time: {frame_time}"]
    lines += [row_format % tuple(row) for row in rows]
    return "\n".join(lines) + "\n"


def _clean_name(name: str) -> str:
    """A name that survives in a BVH file: without braces, line ends or blanks at its ends. Blanks inside are kept."""
    words = name.replace("{", "_").replace("}", "_").split()
    return " ".join(words) or "joint"


def _channel_positions(clip: Clip) -> np.ndarray:
    """(F, J, 3) m, each joint from its parent, the root from the origin."""
    places = np.tile(clip.skeleton.offsets, (len(clip), 1, 1))
    if clip.shifts is not None:
        places += clip.shifts
    places[:, 0] = clip.root
    return places


def _choose_moving(clip: Clip) -> np.ndarray:
    """(J,) which joints get position channels: the root and those that slide.

    All of them where a reader could take those few for displacements; bones that stay as they are then show that the
    channels replace the OFFSET.
    """
    moving = np.arange(len(clip.skeleton)) == 0
    if clip.shifts is None:
        return moving
    moving |= np.abs(clip.shifts).max(axis=(0, 2)) > 0.0
    declared = clip.skeleton.offsets.copy()
    declared[0] = 0.0
    declared, places = np.round(declared, _DECIMALS), np.round(_channel_positions(clip), _DECIMALS)
    given = np.repeat(moving[:, None], 3, axis=1)
    is_plain = not place_joints(clip.skeleton.parents, declared, given, places).added[moving].any()
    return moving if is_plain else np.ones_like(moving)


def _format_hierarchy(skeleton: Skeleton, names: list[str], moving: np.ndarray) -> tuple[list[int], list[str]]:
    """Joint indices in the order in which BVH lists them, depth first, and the lines of the HIERARCHY."""
    children: list[list[int]] = [[] for _ in names]
    for child, parent in enumerate(skeleton.parents):
        if parent >= 0:
            children[parent].append(child)
    rotations = " ".join(f"{axis}rotation" for axis in _ORDER)
    order: list[int] = []
    lines = ["HIERARCHY"]
    # A stack of what is still to be written: a joint to open (joint, depth), or a block to close (None, depth).
    stack: list[tuple[int | None, int]] = [(0, 0)]
    while stack:
        joint, depth = stack.pop()
        indent = "\t" * min(depth, _DEEPEST_INDENT)
        if joint is None:
            lines.append(f"{indent}}}")
            continue
        order.append(joint)
        offset = np.zeros(3) if joint == 0 else skeleton.offsets[joint]
        channels = f"6 Xposition Yposition Zposition {rotations}" if moving[joint] else f"3 {rotations}"
        lines += [
            f"{indent}{'JOINT' if joint else 'ROOT'} {names[joint]}",
            f"{indent}{{",
            f"{indent}\tOFFSET {_format_vector(offset)}",
            f"{indent}\tCHANNELS {channels}",
        ]
        tip = _find_tip(skeleton, joint, bool(children[joint]))
        if tip is not None:
            end_site = ("End Site", "{", f"\tOFFSET {_format_vector(tip)}", "}")
            lines += [f"{indent}\t{line}" for line in end_site]
        stack.append((None, depth))
        stack += [(child, depth + 1) for child in reversed(children[joint])]
    return order, lines


def _find_tip(skeleton: Skeleton, joint: int, has_children: bool) -> np.ndarray | None:
    if skeleton.has_tip[joint]:
        return np.asarray(skeleton.tips[joint])
    if has_children:
        return None
    tip = _TIP_FRACTION * skeleton.offsets[joint] if joint else np.zeros(3)
    return tip if np.linalg.norm(tip) > 1e-3 else np.array([0.0, _TIP_LENGTH, 0.0])


def _format_vector(vector: np.ndarray) -> str:
    return " ".join(f"{x:.{_DECIMALS}f}" for x in np.round(vector, _DECIMALS) + 0.0)


def find_frame_time(times: np.ndarray) -> str:
    """The frame time in seconds, in the fewest decimals that keep every frame within a nanosecond of its time."""
    if len(times) == 1:
        return f"{_SINGLE_FRAME_TIME:.7f}"
    step = (times[-1] - times[0]) / (len(times) - 1)
    frames = np.arange(len(times))
    off = np.abs(times - times[0] - frames * step)
    if off.max() > _UNIFORM * step:
        frame = int(np.argmax(off))
        raise InputError(
            f"BVH has one frame time for all frames, but frame {frame} of this clip lies {off[frame]:.3g} s off an "
            f"even {step:.3g} s. Resample the clip, or save it as .glb, which keeps uneven times."
        )
    digits = next((d for d in range(6, 16) if abs(round(step, d) - step) * len(times) < 1e-9), 16)
    return f"{step:.{digits}f}"
