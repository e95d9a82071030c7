"""A motion as a tree of local matrices, and where that puts its joints.

4x4 matrices, one a frame: (F, 4, 4), or (1, 4, 4) of what never changes. Columns are images of the axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

_BLOCK = 100_000  # joints times frames that are multiplied at once


class UnreadableError(Exception):
    """A file that this plain code cannot follow; the message is the end of a sentence."""


@dataclass(frozen=True, eq=False)
class PlainMotion:
    """Joints or nodes in the file's own order, units and axes.

    names    as the file has them: some may be alike, some empty
    parents  index of each one's parent, -1 at the top; children may come before parents
    frames   how many
    local    (joint, rows) -> matrices (n, 4, 4), or (1, 4, 4), from the joint's axes to its parent's in these frames
    wanted   the joints that whoever reads the file should find
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    frames: int
    local: Callable[[int, slice], np.ndarray]
    wanted: tuple[int, ...]

    def places(self, joints: Sequence[int]) -> np.ndarray:
        """(F, len(joints), 3) where some joints are in the world, frame by frame."""
        order = self._list_needed(joints)
        found = np.empty((self.frames, len(joints), 3))
        step = max(1, _BLOCK // max(len(order), 1))
        for start in range(0, self.frames, step):
            rows = slice(start, min(start + step, self.frames))
            worlds = {-1: blank()}
            for joint in order:
                worlds[joint] = worlds[self.parents[joint]] @ self.local(joint, rows)
            for k, joint in enumerate(joints):
                found[rows, k] = worlds[joint][:, :3, 3]
        return found

    def above(self, joint: int) -> list[int]:
        """The joints over one, the nearest first."""
        found: list[int] = []
        while (joint := self.parents[joint]) >= 0:
            found.append(joint)
            if len(found) > len(self.names):
                raise UnreadableError("its joints carry each other in a circle")
        return found

    def _list_needed(self, joints: Sequence[int]) -> list[int]:
        """The joints and all that carry them, parents first."""
        depths: dict[int, int] = {}
        for joint in joints:
            chain = [joint]
            while chain[-1] not in depths and self.parents[chain[-1]] >= 0:
                chain.append(self.parents[chain[-1]])
                if len(chain) > len(self.names):
                    raise UnreadableError("its joints carry each other in a circle")
            for one in reversed(chain):
                depths.setdefault(one, depths[self.parents[one]] + 1 if self.parents[one] >= 0 else 0)
        return sorted(depths, key=lambda one: depths[one])


def blank(frames: int = 1) -> np.ndarray:
    """Identity matrices."""
    return np.tile(np.eye(4), (frames, 1, 1))


def move(vectors: np.ndarray) -> np.ndarray:
    """Translations by vectors (F, 3) or (3,)."""
    vectors = np.atleast_2d(np.asarray(vectors, float))
    matrices = blank(len(vectors))
    matrices[:, :3, 3] = vectors
    return matrices


def stretch(factors: np.ndarray) -> np.ndarray:
    """Scales by factors (F, 3) or (3,) along the axes."""
    factors = np.atleast_2d(np.asarray(factors, float))
    matrices = blank(len(factors))
    for axis in range(3):
        matrices[:, axis, axis] = factors[:, axis]
    return matrices


def spin(axis: str, radians: np.ndarray | float) -> np.ndarray:
    """Rotations about X, Y or Z by angles (F,)."""
    angles = np.atleast_1d(np.asarray(radians, float))
    i = "XYZ".index(axis.upper())
    j, k = (i + 1) % 3, (i + 2) % 3
    matrices = blank(len(angles))
    matrices[:, j, j] = matrices[:, k, k] = np.cos(angles)
    matrices[:, k, j] = np.sin(angles)
    matrices[:, j, k] = -np.sin(angles)
    return matrices


def turn(w: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Rotations of quaternions given by their components (F,), of any length but zero."""
    w, x, y, z = (np.atleast_1d(np.asarray(part, float)) for part in (w, x, y, z))
    s = 2.0 / (w * w + x * x + y * y + z * z)
    matrices = blank(len(w))
    matrices[:, 0, 0], matrices[:, 0, 1], matrices[:, 0, 2] = (
        1 - s * (y * y + z * z),
        s * (x * y - w * z),
        s * (x * z + w * y),
    )
    matrices[:, 1, 0], matrices[:, 1, 1], matrices[:, 1, 2] = (
        s * (x * y + w * z),
        1 - s * (x * x + z * z),
        s * (y * z - w * x),
    )
    matrices[:, 2, 0], matrices[:, 2, 1], matrices[:, 2, 2] = (
        s * (x * z - w * y),
        s * (y * z + w * x),
        1 - s * (x * x + y * y),
    )
    return matrices
