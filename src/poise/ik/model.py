"""A body as inverse kinematics sees it: a tree with masses whose joints turn by angles in their ranges.

Compiled from a character: plain arrays in joint order, derived once and thrown away. The angles are those of
`body/joints.py`; joints that have no range or no freedom there (fingers, twist joints) stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from poise.body.character import Character
from poise.dynamics.tree import build_tree
from poise.errors import InputError
from poise.ik.solver.row_kernels import NOBODY, FigureArrays, Room
from poise.spatial import rotation

_ALONG = 0.5  # of a free axis, that an angle's own has at least: 60 degrees off it is not free


class IkModel:
    """A body that can be posed.

    character  whose it is
    arrays     what kernels read: see `FigureArrays`
    """

    def __init__(self, character: Character, is_free: bool, stiffness: Mapping[str, float], comfort: float):
        self.character = character
        tree, count = build_tree(character), len(character.skeleton)
        before, after = rotation.identity((count,)), rotation.identity((count,))
        stiff = _read_stiffness(character, stiffness)
        rows: list[tuple[int, int, float, float, float]] = []  # joint, which angle, its ends, its stiffness
        if is_free:
            rows += [(kind, a, -np.inf, np.inf, 1.0) for kind in (-1, -2) for a in range(3)]
        for i, name in enumerate(tree.names):
            if i == 0 or name not in character.limits or name not in character.freedoms:
                continue
            ends = character.limits[name]
            before[i], after[i] = rotation.conjugate(ends.parent_zero), ends.child_zero
            along = np.linalg.norm(ends.axes @ character.freedoms[name].T, axis=1)
            rows += [
                (i, a, float(ends.lower[a]), float(ends.upper[a]), stiff[i])
                for a in range(3) if ends.upper[a] > ends.lower[a] and along[a] > _ALONG and math.isfinite(stiff[i])
            ]  # fmt: skip
        joint, which = np.array([row[0] for row in rows], np.int64), np.array([row[1] for row in rows], np.int64)
        low, high, hard = (np.array([row[k] for row in rows], float) for k in (2, 3, 4))
        turns = np.zeros(count, np.bool_)
        turns[joint[joint >= 0]] = True
        self.arrays = FigureArrays(
            tree.parents.copy(), tree.offsets.copy(), tree.masses.copy(), tree.centers.copy(),
            _list_under(tree.parents), before, after, rotation.to_matrix(before), turns, joint, which, low, high,
            1.0 / hard, np.clip(0.0, low, high), np.where(joint >= 0, comfort, 0.0),
        )  # fmt: skip

        self._own = tree.masses.copy(), tree.centers.copy()

    def angles(self, rotations: np.ndarray) -> np.ndarray:
        """(..., J, 3) angles of joint rotations (..., J, 4); 0 of joints that do not turn."""
        out = np.zeros((*np.shape(rotations)[:-1], 3))
        for i, name in enumerate(self.character.skeleton.names):
            if self.arrays.turns[i]:
                out[..., i, :] = self.character.limits[name].angles(rotations[..., i, :])
        return out

    def load(self, loads: Mapping[str, tuple[float, Sequence[float]]]) -> None:
        """Have joints carry point masses besides their own: joint or role -> kg, and (3,) m in its frame."""
        masses, centers = self._own[0].copy(), self._own[1].copy()
        for name, (mass, where) in loads.items():
            place = np.asarray(where, float)
            if not (math.isfinite(mass) and mass >= 0.0 and place.shape == (3,) and np.isfinite(place).all()):
                raise InputError(f"a load is kg, 0 or more, and a place (3,) m; that of '{name}' is {mass} at {where}.")
            i = self.character.skeleton.index(name)
            whole = masses[i] + mass
            if whole > 0.0:
                centers[i] = (masses[i] * centers[i] + mass * place) / whole
            masses[i] = whole
        self.arrays.masses[:], self.arrays.centers[:] = masses, centers

    def widened(self, angles: np.ndarray) -> FigureArrays:
        """The arrays with ranges that have room for angles (J, 3): a pose beyond its range is not flung back."""
        arrays = self.arrays
        own = np.where(arrays.joint >= 0, angles[np.maximum(arrays.joint, 0), arrays.which], 0.0)
        return arrays._replace(low=np.minimum(arrays.low, own), high=np.maximum(arrays.high, own))

    def place(self, root: np.ndarray, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """World orientations (J, 3, 3) and places (J, 3) m of a pose."""
        from poise.ik.solver.model_kernels import FREE, place_figure

        arrays, local = self.arrays, rotation.to_matrix(rotations)
        R, p = np.empty_like(local), np.empty((len(local), 3))
        place_figure(arrays.parents, arrays.offsets, local, FREE, root, local[0].copy(), R, p)
        return R, p

    def make_room(
        self, rows: int, goals: int, angles: np.ndarray, local: np.ndarray, place: np.ndarray, turn: np.ndarray
    ) -> Room:
        """Room for a solve of some rows of some goals, from a pose on."""
        count, n, none = len(local), len(self.arrays.joint), np.zeros
        return Room(
            angles.copy(), local.copy(), place.copy(), turn.copy(), none((count, 3, 3)), none((count, 3)),
            none((count, 3, 3)), none((count, 4)), none((n, 6)), none((1 + goals, n)), np.array([NOBODY]),
            none((3, n)), none((rows, n)), none(rows), none(rows, np.int64), none(rows), none(rows, np.bool_), none(n),
            none(n), none(n), none(n), none(n), none(rows, np.int64), none(n, np.int64), none(rows),
        )  # fmt: skip


def _list_under(parents: np.ndarray) -> np.ndarray:
    """(J, J) whether body b is under joint k, or its own."""
    under = np.eye(len(parents), dtype=np.uint8)
    for i in range(len(parents) - 1, 0, -1):
        under[parents[i]] |= under[i]
    return under


def _read_stiffness(character: Character, stiffness: Mapping[str, float]) -> np.ndarray:
    """(J,) how much harder than others each joint is turned."""
    out = np.ones(len(character.skeleton))
    for name, value in stiffness.items():
        if not value > 0.0:
            raise InputError(f"a joint's stiffness is more than 0, or inf; that of '{name}' is {value}.")
        out[character.skeleton.index(name)] = value
    return out
