"""AMASS: named arrays of rotation vectors, whose body is not in the file."""

from __future__ import annotations

from os import PathLike

import numpy as np

from poise.files.writing.independent.tree import PlainMotion, blank, move, spin

_PIECES = ("root_orient", "pose_body", "pose_jaw", "pose_eye", "pose_hand")


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


def revolve(vectors: np.ndarray) -> np.ndarray:
    """Rotations of rotation vectors (F, 3): about the vector, by its length in radians [Rodrigues]."""
    vectors = np.atleast_2d(np.asarray(vectors, float))
    angles = np.sqrt((vectors**2).sum(axis=1))
    cross = np.zeros((len(vectors), 3, 3))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        cross[:, k, j], cross[:, j, k] = vectors[:, i], -vectors[:, i]
    # R = 1 + sin(a)/a K + (1 - cos a)/a^2 K^2; the factors are 1 and 1/2 where a vanishes.
    small = angles < 1e-6
    safe = np.where(small, 1.0, angles)
    first = np.where(small, 1.0, np.sin(safe) / safe)[:, None, None]
    second = np.where(small, 0.5, (1.0 - np.cos(safe)) / safe**2)[:, None, None]
    matrices = blank(len(vectors))
    matrices[:, :3, :3] += first * cross + second * (cross @ cross)
    return matrices
