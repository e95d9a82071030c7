"""A file format of one's own: a line for each joint, and a line for each frame.

joint hips - 0 1 0                         name, parent, offset in metres
joint chest hips 0 0.3 0
frame 0.02  0 1 0  1 0 0 0  1 0 0 0        seconds, the root's place, a quaternion (w x y z) for each joint
"""

import numpy as np

import poise


def read_steps(path):
    joints, frames = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        word, *rest = line.split() or ["empty"]
        if word == "joint" and len(rest) == 5:
            joints.append((rest[0], rest[1], [float(x) for x in rest[2:]]))
        elif word == "frame" and len(rest) == 4 + 4 * len(joints):
            frames.append([float(x) for x in rest])
        else:
            raise poise.FileError(path, f"'{word}' is no joint, and no frame of {len(joints)} joints.", number)
    names = [name for name, _, _ in joints]
    parents = [-1 if parent == "-" else names.index(parent) for _, parent, _ in joints]
    skeleton = poise.Skeleton(tuple(names), parents, [offset for _, _, offset in joints])
    table = np.array(frames)
    return poise.Clip(skeleton, table[:, 0], table[:, 1:4], table[:, 4:].reshape(len(table), -1, 4))


def save_steps(clip, path):
    skeleton, lines = clip.skeleton, []
    for name, parent, offset in zip(skeleton.names, skeleton.parents, skeleton.offsets, strict=True):
        above = "-" if parent < 0 else skeleton.names[parent]
        lines.append(" ".join(["joint", name, above, *(repr(float(x)) for x in offset)]))
    for t, root, turns in zip(clip.times, clip.root, clip.rotations, strict=True):
        lines.append(" ".join(["frame", *(repr(float(x)) for x in (t, *root, *turns.ravel()))]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


poise.extend.register_format("Steps", ".steps", read_steps, save_steps)
