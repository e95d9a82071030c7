"""Six-channel twins of a clip as BVH text, and a plain reader of where BVH joints are. Shares no code with Poise's.

A twin has joints above the hips, six channels on every joint, its travel on the joint of choice, positions that replace
the OFFSET or are added to it, and units, axes and Euler orders of choice.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from helpers.kinematics import matrix
from poise import Clip

ABOVE = ("Reference", "Root", "Armature")
_AXIS = {"X": 0, "Y": 1, "Z": 2}
# Poise's axes as the file has them: rows are the file's x, y, z.
AXES = {
    "Y": np.eye(3),
    "Z": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
    "X": np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]),
}


def write_twin(
    clip: Clip,
    above: int = 1,
    carrier: int = 1,
    adds: bool = False,
    unit: float = 0.01,
    up: str = "Y",
    orders: tuple[str, ...] = ("ZXY",),
    stretch: float = 0.0,
    hips_offset: bool = True,
    others: str = "six",
) -> str:
    """The text of a twin of a clip whose root is the hips.

    above        how many joints stand above the hips
    carrier      which joint has the travel: 0 the file's first, `above` the hips
    adds         whether positions are added to the OFFSET
    stretch      m by which lower legs and arms slide to and fro
    hips_offset  whether the hips' OFFSET is their height at rest, or zero
    others       "six": all joints have positions, "three": only those from the root to the hips and those that slide
    """
    skeleton, turn = clip.skeleton, AXES[up]
    names = [*ABOVE[:above], *skeleton.names]
    parents = [-1, *range(above)] + [int(p) + above for p in skeleton.parents[1:]]
    offsets = np.concatenate([np.zeros((above, 3)), skeleton.offsets])
    if above or not hips_offset:
        offsets[above] = skeleton.offsets[0] if hips_offset else 0.0
    frames = len(clip)
    places = np.tile(offsets, (frames, 1, 1))
    places[:, : above + 1] = 0.0
    places[:, carrier] += clip.root
    for j, name in enumerate(names):
        if stretch and "Lower" in name:
            phase = 2 * np.pi * 0.8 * clip.times[:, None] + j + np.array([0.0, 1.0, 2.0])
            places[:, j] += stretch * np.sin(phase)
    turns = np.tile(np.eye(3), (frames, len(names), 1, 1))
    turns[:, above:] = [[matrix(q) for q in row] for row in clip.rotations]
    offsets, places = offsets @ turn.T / unit, places @ turn.T / unit
    turns = turn @ turns @ turn.T
    tips = np.where(skeleton.has_tip[:, None], np.nan_to_num(skeleton.tips), [0.0, 0.05, 0.0]) @ turn.T / unit
    lines, columns = ["HIERARCHY"], []

    def add(j: int, depth: int) -> None:
        order = orders[j % len(orders)]
        moves = others == "six" or j <= above or (stretch and "Lower" in names[j])
        pad = "  " * depth
        channels = [f"{axis}position" for axis in "XYZ"] * bool(moves) + [f"{axis}rotation" for axis in order]
        lines.extend([f"{pad}{'JOINT' if j else 'ROOT'} {names[j]}", pad + "{"])
        lines.append(f"{pad}  OFFSET " + " ".join(f"{x:.9f}" for x in offsets[j]))
        lines.append(f"{pad}  CHANNELS {len(channels)} {' '.join(channels)}")
        if moves:
            columns.append(places[:, j] - (offsets[j] if adds else 0.0))
        columns.append(Rotation.from_matrix(turns[:, j]).as_euler(order, degrees=True))  # capitals: about turned axes
        children = [k for k, p in enumerate(parents) if p == j]
        for child in children:
            add(child, depth + 1)
        if not children:
            lines.extend([f"{pad}  End Site", pad + "  {"])
            lines.append(f"{pad}    OFFSET " + " ".join(f"{x:.9f}" for x in tips[j - above]))
            lines.append(pad + "  }")
        lines.append(pad + "}")

    add(0, 0)
    rows = [" ".join(f"{x:.9f}" for x in row) for row in np.concatenate(columns, axis=1)]
    return "\n".join([*lines, "MOTION", f"Frames: {frames}", f"Frame Time: {1 / clip.fps:.9f}", *rows]) + "\n"


def plain_bvh(text: str, adds: bool = False) -> dict[str, np.ndarray]:
    """Joint -> (F, 3) where it is, in the file's units and axes: by words and matrices."""
    head, motion = text.split("MOTION")
    stack, joints, name = [], [], ""
    words = iter(head.split()[1:])
    for word in words:
        if word in ("ROOT", "JOINT"):
            name = next(words)
            joints.append([name, stack[-1] if stack else None, None, []])
        elif word == "End":
            next(words)
            name = ""
        elif word == "{":
            stack.append(name)
        elif word == "}":
            stack.pop()
        elif word == "OFFSET":
            offset = np.array([float(next(words)) for _ in range(3)])
            if stack[-1]:
                joints[-1][2] = offset
        elif word == "CHANNELS":
            joints[-1][3] = [next(words) for _ in range(int(next(words)))]
    lines = [line for line in motion.strip().splitlines() if ":" not in line]
    table = iter(np.array([[float(x) for x in line.split()] for line in lines]).T)
    poses: dict[str, np.ndarray] = {}
    for joint, parent, offset, channels in joints:
        pose = np.tile(np.eye(4), (len(lines), 1, 1))
        pose[:, :3, 3] = offset
        for channel in channels:
            values, axis = next(table), _AXIS[channel[0]]
            if channel.endswith("position"):
                pose[:, axis, 3] = values + (offset[axis] if adds else 0.0)
                continue
            c, s = np.cos(np.radians(values)), np.sin(np.radians(values))
            a, b = (axis + 1) % 3, (axis + 2) % 3
            turn = np.tile(np.eye(4), (len(lines), 1, 1))
            turn[:, a, a], turn[:, a, b], turn[:, b, a], turn[:, b, b] = c, -s, s, c
            pose = pose @ turn
        poses[joint] = poses[parent] @ pose if parent else pose
    return {joint: pose[:, :3, 3] for joint, pose in poses.items()}
