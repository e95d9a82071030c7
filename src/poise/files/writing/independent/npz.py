"""Named arrays: Poise's own and their like, and AMASS's, whose body is not in the file."""

from __future__ import annotations

from os import PathLike

import numpy as np

from poise.files.writing.independent.tree import PlainMotion, UnreadableError, move, revolve, spin, turn

_QUATERNIONS = ("rotations", "local_quat_wxyz", "local_quat_xyzw")  # the last has its w last
_ARRAYS = ("names", "parents", "offsets", "local_offsets", "root", "root_translation", "shifts", *_QUATERNIONS)
_PIECES = ("root_orient", "pose_body", "pose_jaw", "pose_eye", "pose_hand")


def read_npz_motion(path: str | PathLike[str]) -> PlainMotion:
    """Joints with offsets and quaternions."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: np.asarray(file[name]) for name in file.files if name in _ARRAYS}

    def pick(*names: str) -> np.ndarray:
        found = next((arrays[name] for name in names if name in arrays), None)
        if found is None:
            raise UnreadableError(f"it has no array {' or '.join(names)}")
        return found

    quaternions = pick(*_QUATERNIONS).astype(float)
    is_last = not any(name in arrays for name in _QUATERNIONS[:2])
    w, x, y, z = np.moveaxis(quaternions[..., [3, 0, 1, 2]] if is_last else quaternions, -1, 0)
    root, offsets = pick("root", "root_translation").astype(float), pick("offsets", "local_offsets").astype(float)
    shifts = arrays.get("shifts")

    def local(i: int, rows: slice) -> np.ndarray:
        place = root[rows] if i == 0 else offsets[i][None]
        if shifts is not None and i > 0:
            place = place + shifts[rows, i].astype(float)
        return np.asarray(move(place) @ turn(w[rows, i], x[rows, i], y[rows, i], z[rows, i]))

    names = tuple(n.decode("latin-1") if isinstance(n, bytes) else str(n) for n in pick("names").tolist())
    parents = tuple(int(parent) for parent in pick("parents"))
    return PlainMotion(names, parents, len(root), local, tuple(range(len(names))))


def read_amass_motion(
    path: str | PathLike[str], names: tuple[str, ...], parents: tuple[int, ...], offsets: np.ndarray
) -> PlainMotion:
    """SMPL's rotation vectors on a body that is given: offsets (J, 3) of a rest pose with Z up.

    In the model's own axes Y is up at rest; the world has Z up.
    """
    with np.load(path, allow_pickle=False) as file:
        pieces = ("poses",) if "poses" in file.files else tuple(name for name in _PIECES if name in file.files)
        poses = np.concatenate([file[name].reshape(len(file[name]), -1) for name in pieces], axis=1)
        root = np.asarray(file["trans"], float)
    poses = np.asarray(poses, float).reshape(len(root), -1, 3)
    lying = np.asarray(offsets, float) @ spin("x", -0.5 * np.pi)[0, :3, :3].T

    def local(i: int, rows: slice) -> np.ndarray:
        return np.asarray(move(root[rows] if i == 0 else lying[i]) @ revolve(poses[rows, i]))

    return PlainMotion(names, parents, len(root), local, tuple(range(len(names))))
