"""Named arrays: Poise's own and their like."""

from __future__ import annotations

from os import PathLike

import numpy as np

from poise.files.writing.independent.tree import PlainMotion, UnreadableError, move, turn

_QUATERNIONS = ("rotations", "local_quat_wxyz", "local_quat_xyzw")  # the last has its w last
_ARRAYS = ("names", "parents", "offsets", "local_offsets", "root", "root_translation", "shifts", *_QUATERNIONS)


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
