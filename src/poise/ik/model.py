"""A body as inverse kinematics sees it: a tree with masses whose joints turn by angles in their ranges.

Compiled from a character into an `IkModel`: arrays in joint order. The angles are those of `body/joints.py`; joints
without a range or a degree of freedom there (fingers, twist joints) keep their rotations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from poise.body.character import Character
from poise.dynamics.tree import build_tree
from poise.errors import InputError
from poise.ik.solver.records import UNKNOWN, IkGoals, IkModel, IkWorkspace, LinearSystem
from poise.spatial import rotation

RADIAN_LENGTH = 0.12  # of the height: m that a radian counts as, about what it moves a hand or foot by
_ALONG = 0.5  # of a free axis, that an angle's own has at least: 60 degrees off it is not free


class CharacterModel:
    """A character that can be posed.

    character  the character
    arrays     the model that kernels read
    """

    def __init__(self, character: Character, is_free: bool, stiffness: Mapping[str, float], comfort: float):
        self.character = character
        tree, count = build_tree(character), len(character.skeleton)
        before, after = rotation.identity((count,)), rotation.identity((count,))
        stiff = _read_stiffness(character, stiffness)
        rows: list[tuple[int, int, float, float, float]] = []  # joint, axis, its range, its stiffness
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
        joint, axis = np.array([row[0] for row in rows], np.int64), np.array([row[1] for row in rows], np.int64)
        low, high, hard = (np.array([row[k] for row in rows], float) for k in (2, 3, 4))
        has_angles = np.zeros(count, np.bool_)
        has_angles[joint[joint >= 0]] = True
        self.arrays = IkModel(
            joints=count, dofs=len(joint), radian_length=RADIAN_LENGTH * character.height,
            parents=np.array(tree.parents, np.int64), offsets=tree.offsets.copy(), masses=tree.masses.copy(),
            centers=tree.centers.copy(), is_under=_list_under(tree.parents), before=before, after=after,
            before_matrix=rotation.to_matrix(before), has_angles=has_angles, joint=joint, axis=axis, low=low, high=high,
            compliance=1.0 / hard, rest=np.clip(0.0, low, high), comfort=np.where(joint >= 0, comfort, 0.0),
        )  # fmt: skip
        self._own = tree.masses.copy(), tree.centers.copy()

    def angles(self, rotations: np.ndarray) -> np.ndarray:
        """Return the angles (..., J, 3) of joint rotations (..., J, 4); 0 of joints without any."""
        out = np.zeros((*np.shape(rotations)[:-1], 3))
        for i, name in enumerate(self.character.skeleton.names):
            if self.arrays.has_angles[i]:
                out[..., i, :] = self.character.limits[name].angles(rotations[..., i, :])
        return out

    def load(self, loads: Mapping[str, tuple[float, Sequence[float]]]) -> None:
        """Add point masses to joints, and remove those of before: joint or role -> kg, and (3,) m in its frame."""
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

    def widened(self, angles: np.ndarray) -> IkModel:
        """Return the model with ranges that contain angles (J, 3): a pose outside its range is not flung back."""
        arrays = self.arrays
        own = np.where(arrays.joint >= 0, angles[np.maximum(arrays.joint, 0), arrays.axis], 0.0)
        return arrays.replace(low=np.minimum(arrays.low, own), high=np.maximum(arrays.high, own))

    def begin(self, root: np.ndarray, rotations: np.ndarray, base: int, goals: int) -> IkWorkspace:
        """Return a workspace for so many goals, at a pose of which the base stays where it is."""
        from poise.ik.solver.model_kernels import place_root

        work = build_workspace(self.arrays, base, goals)
        work.angles[:], work.local[:] = self.angles(rotations), rotation.to_matrix(rotations)
        place_root(self.arrays, np.array(root, float), work.local[0].copy(), work)
        work.base_position[:], work.base_orientation[:] = work.p[max(base, 0)], work.R[max(base, 0)]
        return work


def build_workspace(model: IkModel, base: int, goals: int) -> IkWorkspace:
    """Return a workspace of zeros for so many goals, whose pose is one row of numbers."""
    j = model.joints
    pose = np.zeros(12 * j + 12)
    ends = np.cumsum([3 * j, 9 * j, 3])
    angles, local, position, orientation = np.split(pose, ends)
    return IkWorkspace(
        joints=j, dofs=model.dofs, bodies=1 + goals, pose_size=len(pose), base=base, signs_base=UNKNOWN, pose=pose,
        angles=angles.reshape(j, 3), local=local.reshape(j, 3, 3), base_position=position,
        base_orientation=orientation.reshape(3, 3),
    )  # fmt: skip


def build_system(model: IkModel, goals: IkGoals) -> LinearSystem:
    """Return the rows of goals, empty."""
    from poise.ik.solver.row_kernels import count_rows

    return LinearSystem(rows=count_rows(goals), dofs=model.dofs)


def _list_under(parents: np.ndarray) -> np.ndarray:
    """Return (J, J), whether body b is under joint k, or its own."""
    under = np.eye(len(parents), dtype=bool)
    for i in range(len(parents) - 1, 0, -1):
        under[parents[i]] |= under[i]
    return under


def _read_stiffness(character: Character, stiffness: Mapping[str, float]) -> np.ndarray:
    """Return (J,), the stiffness of each joint, 1 being usual."""
    out = np.ones(len(character.skeleton))
    for name, value in stiffness.items():
        if not value > 0.0:
            raise InputError(f"a joint's stiffness is more than 0, or inf; that of '{name}' is {value}.")
        out[character.skeleton.index(name)] = value
    return out
